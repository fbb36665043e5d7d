/*
 * queue: the program's queues and their packets.
 *
 * When dispatches are recorded, queues are created with ROCr's interception interface, unless
 * the GPU reports its kernels (queue_reported.c). The program writes to a proxy queue. When it
 * rings the doorbell, our handler gets the packets on the program's own thread, inside the call
 * that submitted them. Kernel dispatches get a slot in pending.c; other packets are passed on
 * unchanged.
 */
#include "collector/count/intervals.h"
#include "collector/hsa/pcs.h"
#include "collector/hsa/queue_priv.h"
#include "collector/hsa/ranges.h"
#include "collector/hsa/turns.h"

#include <errno.h>
#include <hsa/amd_hsa_signal.h>
#include <string.h>

#define QUEUES_MAX 4096u
#define PACKETS_AT_ONCE 32u

struct col_lock col_queues_lock;

static struct {
	struct col_queue *all; /* QUEUES_MAX; never moved: handlers point into it */
	uint32_t n;
	uint64_t n_dispatches;
} queues;

__thread bool col_queue_onlooking __attribute__((tls_model("initial-exec")));

/* ---- packets ---- */

static void count(enum cap_domain domain, enum cap_ledger_column column)
{
	struct cap_writer *writer = col_capture_now();

	if (writer)
		cap_writer_count(writer, domain, column, 1);
}

/* For every service that would have had it. */
static void count_lost(enum cap_ledger_column column, bool traced, bool counted)
{
	if (traced)
		count(CAP_DOMAIN_KERNEL_DISPATCH, column);
	if (counted)
		count(CAP_DOMAIN_COUNTER_COLLECTION, column);
}

uint64_t col_queue_number(void)
{
	return __atomic_add_fetch(&queues.n_dispatches, 1, __ATOMIC_RELAXED);
}

void col_queue_number_again(void)
{
	__atomic_store_n(&queues.n_dispatches, 0, __ATOMIC_RELAXED);
}

void col_queue_count_lost(void)
{
	count_lost(CAP_LEDGER_FAILED, col_on(COL_SERVICE_KERNEL),
		   col_asked(COL_SERVICE_COUNTERS) && col_count_on());
}

/* Decide which signal shows its completion. false: it cannot be observed. */
static bool arrange(struct col_queue *queue, struct col_pending *p,
		    hsa_kernel_dispatch_packet_t *packet, bool reusable)
{
	struct col_pending_ring *ring = queue->ring;
	uint64_t signal = packet->completion_signal.handle;
	amd_signal_t *at = (amd_signal_t *)(uintptr_t)signal;

	p->looked = col_queue_onlooking;
	if (queue->takes_turns && !col_queue_onlooking) {
		queue->turn = col_turn_take(queue, p, packet);
		return queue->turn != NULL;
	}
	if (!signal) {
		packet->completion_signal.handle = col_pending_own_signal(ring, p);
		return packet->completion_signal.handle != 0;
	}
	if (!reusable || !col_pending_mark(signal, p)) {
		if (col_queue_onlooking)
			return false; /* the packet is not ours to change */
		signal = col_pending_forward(p, signal);
		if (signal)
			packet->completion_signal.handle = signal;
		return signal != 0;
	}
	p->own = 0;
	p->value = 1;
	p->signal = signal;
	if (col_queue_onlooking)
		return true; /* the GPU may be ahead of the doorbell, and have written them */
	__atomic_store_n(&at->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&at->end_ts, 0, __ATOMIC_RELAXED);
	return true;
}

void col_queue_watch(struct col_queue *queue, hsa_kernel_dispatch_packet_t *packet, bool reusable)
{
	/* Pauses and periods switch tracing; counting goes on, as it does in AMD's tool. */
	bool traced = col_on(COL_SERVICE_KERNEL), counting = col_counting(), counted;
	uint32_t kernel = col_kernel_by_object(packet->kernel_object);
	struct col_count_ticket ticket = { .set = COL_COUNT_NOTHING };
	struct cap_writer *writer = col_capture_now();
	struct col_pending *p;
	struct col_thread *t;
	uint64_t id = 0;

	if (!traced && col_asked(COL_SERVICE_KERNEL))
		count(CAP_DOMAIN_KERNEL_DISPATCH, CAP_LEDGER_PAUSED);
	if (!traced && !counting)
		return;
	id = col_queue_number();
	if (traced && writer)
		cap_writer_submitted(writer);
	if (counting)
		col_queue_decide(&ticket, queue->rec.agent, kernel, packet, false);
	counted = ticket.set != COL_COUNT_NOTHING;
	if (!traced && !counted)
		return;
	t = col_thread();
	p = t ? col_pending_dispatch(queue->ring) : NULL;
	if (!p) {
		count_lost(CAP_LEDGER_DROPPED, traced, counted);
		return;
	}
	col_queue_describe(queue, kernel, packet, col_cause(t), &p->dispatch);
	p->dispatch.dispatch_id = id;
	p->dispatch.flags = traced ? 0 : CAP_DISPATCH_UNASKED;
	if (counted && queue->is_sampled)
		queue->sampled = p->dispatch;
	if (arrange(queue, p, packet, reusable)) {
		/* One that is not counted, too: the GPU reports it by the same table. */
		if (counting && col_count_on() && !queue->is_sampled) {
			p->ticket = ticket;
			p->noted = col_count_expect(&p->ticket, p->signal);
			if (counted && !p->noted)
				count(CAP_DOMAIN_COUNTER_COLLECTION, CAP_LEDGER_DROPPED);
		}
		col_pending_publish(queue->ring, p);
	} else {
		count_lost(CAP_LEDGER_FAILED, traced, counted);
		col_pending_cancel(p);
	}
}

/* ---- packets ---- */

/* Kernels of a GPU that packets count on run one at a time: counted, recorded or neither. */
static uint32_t emit_turn(struct col_queue *queue, hsa_kernel_dispatch_packet_t *packet,
			  union col_packet *to)
{
	queue->turn = NULL;
	if (!queue->has_dispatched)
		col_count_first(queue->rec.agent);
	queue->has_dispatched = true;
	col_ranges_signal_reused(packet->completion_signal.handle);
	col_ranges_kernarg((uint64_t)(uintptr_t)packet->kernarg_address);
	col_queue_watch(queue, packet, true);
	if (!queue->turn)
		queue->turn = col_turn_take(queue, NULL, packet);
	if (queue->turn)
		return col_turn_emit(queue->turn, packet, to);
	to->dispatch = *packet; /* a loss, and counted as one */
	return 1;
}

/* A kernel of a GPU that the runtime samples: the packet in front of it says which one it is. */
static uint32_t emit_sampled(struct col_queue *queue, union col_packet *packet, bool reusable,
			     union col_packet *to)
{
	if (!queue->has_dispatched)
		col_pcs_first(queue->rec.agent);
	queue->has_dispatched = true;
	queue->sampled.dispatch_id = 0;
	col_queue_watch(queue, &packet->dispatch, reusable);
	col_pcs_mark(queue->sampled.dispatch_id ? &queue->sampled : NULL, queue->rec.agent, to);
	to[1] = *packet;
	return 2;
}

/* The writer may be called once per call of this, so all packets have to be in one place. */
static void on_packets(const void *packets, uint64_t n, uint64_t index, void *data,
		       hsa_amd_queue_intercept_packet_writer write)
{
	struct col_queue *queue = data;
	int saved_errno = errno;
	uint32_t n_each = queue->takes_turns  ? COL_TURN_PACKETS
			  : queue->is_sampled ? 2
					      : 1,
		 n_out = 0;
	union col_packet few[PACKETS_AT_ONCE + 1];
	union col_packet *copy = n * n_each > PACKETS_AT_ONCE ? queue->copy : few;

	col_queue_wait_for_room(queue, n * n_each + 1);
	if (n * n_each > PACKETS_AT_ONCE && n * n_each > queue->rec.n_packets) {
		/* More than the queue can hold: ROCr does not do that. */
		for (uint64_t i = 0; i < n; i++) {
			uint16_t header = ((const union col_packet *)packets)[i].header;

			if ((header >> HSA_PACKET_HEADER_TYPE & 0xff) ==
			    HSA_PACKET_TYPE_KERNEL_DISPATCH)
				col_queue_count_lost();
		}
		queue->n_written += n;
		errno = saved_errno;
		write(packets, n);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint16_t type;
		bool reusable;

		union col_packet packet = ((const union col_packet *)packets)[i];

		type = packet.header >> HSA_PACKET_HEADER_TYPE & 0xff;
		if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH && queue->takes_turns) {
			n_out += emit_turn(queue, &packet.dispatch, &copy[n_out]);
			continue;
		}
		if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
			reusable =
				col_pending_before_reuse(packet.dispatch.completion_signal.handle);
			if (queue->is_sampled) {
				n_out += emit_sampled(queue, &packet, reusable, &copy[n_out]);
				continue;
			}
			col_queue_watch(queue, &packet.dispatch, reusable);
		} else if (type == HSA_PACKET_TYPE_BARRIER_AND ||
			   type == HSA_PACKET_TYPE_BARRIER_OR) {
			col_pending_before_reuse(packet.barrier.completion_signal.handle);
			if (queue->takes_turns && packet.header >> HSA_PACKET_HEADER_BARRIER & 1)
				col_turns_barrier(queue, packet.barrier.completion_signal.handle);
		}
		copy[n_out++] = packet;
	}
	n_out += col_queue_add_probe(queue, n_out, &copy[n_out]);
	queue->n_written += n_out;
	errno = saved_errno;
	write(copy, n_out);
}

/* ---- queues ---- */

/* Under the lock. A place of a queue that is gone is used again, its id is not. */
struct col_queue *col_queue_new(void)
{
	static uint32_t n_ids;
	struct col_queue *queue = NULL;

	if (!queues.all)
		queues.all = col_pages(QUEUES_MAX * sizeof(*queues.all));
	for (uint32_t i = 0; queues.all && i < WS_MIN(queues.n + 1, QUEUES_MAX); i++) {
		if (!queues.all[i].handle) {
			queue = &queues.all[i];
			if (i == queues.n)
				queues.n++;
			break;
		}
	}
	if (queue) {
		memset(queue, 0, sizeof(*queue));
		queue->rec.h.tag = CAP_REC_FIXED_TAG(QUEUE, struct cap_rec_queue);
		queue->rec.h.what = ++n_ids;
	}
	return queue;
}

static size_t copy_bytes(const struct col_queue *queue)
{
	return (queue->rec.n_packets + 1) * sizeof(*queue->copy);
}

static bool intercept(struct col_queue *queue, hsa_queue_t *handle)
{
	queue->takes_turns = col_count_by_packets();
	queue->is_sampled = col_count_by_runtime();
	queue->ring = col_pending_ring_create();
	/* Now, so that there is nothing that can fail when the program launches; touched when needed. */
	queue->copy = col_pages(copy_bytes(queue));
	return queue->ring && queue->copy &&
	       col_hsa.hsa_amd_profiling_set_profiler_enabled(handle, 1) == HSA_STATUS_SUCCESS &&
	       col_hsa.hsa_amd_queue_intercept_register(handle, on_packets, queue) ==
		       HSA_STATUS_SUCCESS;
}

static bool can_intercept(hsa_agent_t agent)
{
	return col_dispatches_asked() && !col_gpu_reports() &&
	       col_hsa.hsa_amd_queue_intercept_create && col_hsa.hsa_amd_queue_intercept_register &&
	       col_hsa.hsa_amd_signal_create && col_hsa.hsa_amd_profiling_get_dispatch_time &&
	       col_agent_is_gpu(col_agent_by_handle(agent.handle));
}

/*
 * A GPU has one cooperative queue, and ROCr counts who uses it. Destroying what intercepts it frees it without
 * counting, and the end of the runtime frees it again (ROCr 7.2, where HIP ends the runtime). So it is used
 * once more, as it is; destroy_cooperative() gives both uses back, and what intercepts it stays.
 */
static hsa_queue_t *use_cooperative(hsa_agent_t agent, uint32_t size)
{
	hsa_queue_t *queue;

	return col_hsa.hsa_queue_create(agent, size, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL,
					UINT32_MAX, UINT32_MAX, &queue) == HSA_STATUS_SUCCESS
		       ? queue
		       : NULL;
}

static hsa_status_t destroy_cooperative(hsa_queue_t *queue)
{
	hsa_status_t status = col_hsa.hsa_queue_destroy(queue);

	return status == HSA_STATUS_SUCCESS ? col_hsa.hsa_queue_destroy(queue) : status;
}

hsa_status_t col_hsa_hook_hsa_queue_create(
	hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **out_queue)
{
	bool asked = can_intercept(agent), watched = asked;
	hsa_status_t status = HSA_STATUS_ERROR;
	int saved_errno = errno;
	hsa_queue_t *cooperative = NULL;
	struct cap_writer *writer;
	struct col_queue *queue;

	if (watched) {
		col_pending_start();
		status = col_hsa.hsa_amd_queue_intercept_create(agent, size, type, callback, data,
								private_segment_size,
								group_segment_size, out_queue);
		watched = status == HSA_STATUS_SUCCESS;
		if (watched && type == HSA_QUEUE_TYPE_COOPERATIVE)
			cooperative = use_cooperative(agent, size);
	}
	if (!watched)
		status = col_hsa.hsa_queue_create(agent, size, type, callback, data,
						  private_segment_size, group_segment_size,
						  out_queue);
	if (status != HSA_STATUS_SUCCESS || !col_agent_is_gpu(col_agent_by_handle(agent.handle)))
		return status;
	col_ranges_queue(col_agent_by_handle(agent.handle));
	col_intervals_queue(col_agent_by_handle(agent.handle));
	/* Between two attaches: the next one finds a queue that was there before. */
	if (!asked && col_hsa_attached())
		return status;

	writer = col_capture(); /* before the lock: a fresh capture asks for the queues there are */
	col_lock(&col_queues_lock);
	queue = col_queue_new();
	if (queue) {
		queue->handle = *out_queue;
		queue->agent = agent.handle;
		queue->on_error = callback;
		queue->on_error_data = data;
		queue->cooperative = cooperative;
		queue->rec.h.time = cap_ticks();
		queue->rec.hsa_id = (*out_queue)->id;
		queue->rec.address = (uint64_t)(uintptr_t)*out_queue;
		queue->rec.agent = col_agent_by_handle(agent.handle);
		queue->rec.type = type;
		queue->rec.n_packets = (*out_queue)->size;
		if (writer)
			cap_writer_meta(writer, &queue->rec.h);
		col_scratch_queue(*out_queue, queue->rec.h.what, queue->rec.agent);
	}
	col_unlock(&col_queues_lock);
	if (col_gpu_reports() && (!queue || !col_reported_queue(queue)))
		col_note("a queue could not be observed: its kernels are not recorded");
	else if (!col_gpu_reports() && col_dispatches_asked() &&
		 (!queue || !watched || !intercept(queue, *out_queue)))
		col_note("a queue could not be intercepted: its kernels are not recorded");
	errno = saved_errno;
	return status;
}

struct col_queue *col_queue_find(const hsa_queue_t *handle)
{
	for (uint32_t i = 0; i < queues.n; i++) {
		if (queues.all[i].handle == handle)
			return &queues.all[i];
	}
	return NULL;
}

/* The next in the list, used or not. Under the lock. */
struct col_queue *col_queue_next(struct col_queue *queue)
{
	uint32_t at = queue ? (uint32_t)(queue - queues.all) + 1 : 0;

	return at < queues.n ? &queues.all[at] : NULL;
}

hsa_status_t col_hsa_hook_hsa_queue_destroy(hsa_queue_t *handle)
{
	struct col_pending_ring *ring = NULL;
	struct col_probe probes[PROBES] = { { 0 } };
	uint64_t n_launched = 0;
	hsa_queue_t *cooperative = NULL;
	hsa_status_t status;
	struct col_queue *queue;

	col_lock(&col_queues_lock);
	queue = col_queue_find(handle);
	if (queue)
		cooperative = queue->cooperative;
	if (queue && queue->notes)
		n_launched = col_reported_before_destroy(queue);
	col_unlock(&col_queues_lock);
	status = cooperative ? destroy_cooperative(cooperative) : col_hsa.hsa_queue_destroy(handle);
	/* Another queue may have this address by now: it is the one that was found that is gone. */
	col_lock(&col_queues_lock);
	if (queue && status != HSA_STATUS_SUCCESS) {
		col_reported_not_destroyed(queue);
	} else if (queue) {
		if (queue->notes)
			col_reported_destroyed(queue, n_launched);
		ring = queue->ring;
		memcpy(probes, queue->probes, sizeof(probes));
		if (queue->takes_turns)
			col_turns_queue_gone(queue);
		col_pages_free(queue->copy, copy_bytes(queue));
		queue->copy = NULL;
		queue->ring = NULL;
		queue->handle = queue->cooperative = NULL;
	}
	col_unlock(&col_queues_lock);
	col_pending_ring_retire(ring);
	for (uint32_t i = 0; i < PROBES; i++) {
		if (probes[i].signal)
			col_hsa.hsa_signal_destroy((hsa_signal_t){ probes[i].signal });
	}
	return status;
}

/* The program may switch its own use of the times off, but not ours. */
hsa_status_t col_hsa_hook_hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *handle, int enable)
{
	struct col_queue *queue;

	col_lock(&col_queues_lock);
	queue = col_queue_find(handle);
	if (queue && queue->ring)
		enable = 1;
	col_unlock(&col_queues_lock);
	return col_hsa.hsa_amd_profiling_set_profiler_enabled(handle, enable);
}

hsa_status_t col_hsa_hook_hsa_amd_queue_cu_set_mask(const hsa_queue_t *handle,
						    uint32_t num_cu_mask_count,
						    const uint32_t *cu_mask)
{
	struct col_queue *queue;

	col_lock(&col_queues_lock);
	queue = col_queue_find(handle);
	if (queue)
		queue->has_cu_mask = num_cu_mask_count != 0;
	col_unlock(&col_queues_lock);
	return col_hsa.hsa_amd_queue_cu_set_mask(handle, num_cu_mask_count, cu_mask);
}

hsa_status_t col_hsa_hook_hsa_signal_destroy(hsa_signal_t signal)
{
	if (!col_pending_before_reuse(signal.handle))
		col_pending_give_up(signal.handle);
	return col_hsa.hsa_signal_destroy(signal);
}

/* ---- facts and ends ---- */

void col_queues_state(struct cap_writer *writer)
{
	col_lock(&col_queues_lock);
	for (uint32_t i = 0; i < queues.n; i++) {
		if (queues.all[i].handle && queues.all[i].rec.agent)
			cap_writer_meta(writer, &queues.all[i].rec.h);
	}
	col_unlock(&col_queues_lock);
}

void col_queues_unload(void)
{
	col_lock(&col_queues_lock);
	for (uint32_t i = 0; i < queues.n; i++) {
		queues.all[i].notes = NULL; /* not unmapped: a kernel may be running still */
		queues.all[i].handle = NULL;
		queues.all[i].ring = NULL;
	}
	col_unlock(&col_queues_lock);
}

void col_queues_forked(void)
{
	col_queues_lock = (struct col_lock){ 0 };
	queues.n_dispatches = 0;
}
