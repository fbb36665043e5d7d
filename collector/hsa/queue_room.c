/*
 * queue_room: free slots of an intercepted queue.
 *
 * ROCr 5.2's interception aborts the program, or changes the order of packets, when
 * the queue behind the proxy is full and more than one packet is waiting
 * (InterceptQueue::StoreRelaxed() goes on after an overflow). So it never gets full:
 * now and then a barrier that waits for nothing is put in with a signal of ours, and
 * packets are held back while too many follow the last one that came through. A bare
 * program waits for room in the same place, only later.
 */
#include "collector/hsa/queue_priv.h"
#include "collector/hsa/turns.h"

#include <hsa/amd_hsa_signal.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define SOFT_NS 20000000u     /* half full and nothing moves: the program may be about to move it */
#define HARD_NS 1000000000ull /* full and nothing moves: let ROCr have it */
#define TURN_NS                                                                                    \
	60000000000ull /* the same, where each dispatch is several packets and waits for its turn */
#define SPIN_NS 3000000u /* this long the core is kept; a quarter of HIP's queue of empty kernels */
#define SPIN_TURNS 500u  /* a look at the probes each, some 10 us */

static void see_probes(struct col_queue *queue)
{
	for (;;) {
		struct col_probe *probe = &queue->probes[queue->n_seen % PROBES];
		const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)probe->signal;

		if (queue->n_seen == queue->n_probes ||
		    __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) > 0)
			return;
		queue->n_through = probe->at + 1;
		queue->n_seen++;
	}
}

static void spin(void)
{
	for (unsigned i = 0; i < SPIN_TURNS; i++) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
}

void col_queue_wait_for_room(struct col_queue *queue, uint64_t n)
{
	uint64_t size = queue->rec.n_packets, start_ns = 0, through = queue->n_through;

	if (queue->n_written + n - queue->n_through < size / 2 || col_turns_handles())
		return;
	for (unsigned turn = 0;; turn++) {
		uint64_t behind, limit_ns, now_ns;

		see_probes(queue);
		behind = queue->n_written + n - queue->n_through;
		if (behind < size / 2)
			return;
		/* In a small queue all else is too long. */
		if (turn < 4 || (size < 1024 && turn < 1000)) {
			sched_yield();
			continue;
		}
		now_ns = col_now_ns();
		if (start_ns == 0 || through != queue->n_through)
			start_ns = now_ns;
		through = queue->n_through;
		limit_ns = behind + 2 * PROBES < size ? SOFT_NS
			   : queue->takes_turns       ? TURN_NS
						      : HARD_NS;
		if (now_ns - start_ns > limit_ns)
			return;
		col_pending_look(queue->ring);
		/*
		 * HIP spins when a queue is full, and a software GPU with two threads is the
		 * slower for a core that falls idle: they wake each other there, kernel by kernel.
		 * When it takes longer, kernels are long, and sleeping starves nobody: a quarter
		 * of the queue is still to be processed when the next probe comes through.
		 */
		if (now_ns - start_ns < SPIN_NS) {
			spin();
			sched_yield();
		} else {
			nanosleep(&(struct timespec){ 0, 100000 }, NULL);
		}
	}
}

uint32_t col_queue_add_probe(struct col_queue *queue, uint64_t n, union col_packet *to)
{
	struct col_probe *probe = &queue->probes[queue->n_probes % PROBES];
	uint64_t last = queue->n_probes ? queue->probes[(queue->n_probes - 1) % PROBES].at : 0;

	if (queue->n_written + n - last < queue->rec.n_packets / 4 ||
	    queue->n_probes - queue->n_seen >= PROBES)
		return 0;
	if (!probe->signal) {
		hsa_signal_t signal;

		if (col_hsa.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY,
						  &signal) != HSA_STATUS_SUCCESS)
			return 0;
		probe->signal = signal.handle;
	}
	__atomic_store_n(&((amd_signal_t *)(uintptr_t)probe->signal)->value, 1, __ATOMIC_RELAXED);
	probe->at = queue->n_written + n;
	queue->n_probes++;
	memset(to, 0, sizeof(*to));
	to->barrier.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
	to->barrier.completion_signal.handle = probe->signal;
	return 1;
}
