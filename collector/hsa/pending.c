/*
 * pending: GPU work in flight.
 *
 * The GPU writes the start and end of a dispatch into its completion signal, just
 * before it decrements the signal. The program's signals are not changed to read
 * them:
 *
 *   no signal in the packet   one of ours is added, which raises no interrupts
 *   a signal of the program   it is kept. Its times are read after completion and
 *                             before anything else is submitted with it: all such
 *                             submissions pass here, see col_pending_before_reuse()
 *   the same, and earlier     a signal of ours with a handler that decrements the
 *   work still runs on it     program's: the only case in which its wait gets longer
 *
 * No thread is woken when work completes. A helper thread polls every few milliseconds
 * while there is work. A queue with frequent launches is polled by the launching thread, in
 * batches, and the helper skips it. A thread that launches that quickly will wait for the
 * GPU anyway, so the polling costs it nothing, and it runs on the core that has the
 * slots in its cache, not on one that the software GPU uses.
 *
 * A signal of ours is never reset: the GPU decrements it from launch to launch, and its
 * slot knows the current value. So its cache line travels to the GPU and back once per
 * launch.
 *
 * A slot goes FREE -> FILLING -> PENDING -> TAKEN -> FREE. The thread that moves it to
 * TAKEN reads the signal and writes the record. Memory of slots is never unmapped,
 * so that a stale pointer still points to a slot, perhaps reused. No other thread has
 * pointers to a slot whose signal is ours. It is OURS instead of PENDING, and the thread
 * that polls the ring frees it directly.
 */
#include "collector/hsa/pending_priv.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NEAR_PLACES 256u /* stays in cache while the GPU keeps up; powers of two */
#define FAR_PLACES 8192u /* when it does not */
#define COPY_PLACES 1024u
#define FEW 3u    /* running dispatches that make a launching thread stop looking */
#define BATCH 64u /* it looks once per this many launches */
#define AHEAD 12u /* places between prefetch and use */
#define MANY 256u /* running dispatches that make the thread stop looking, mostly */
#define LOOK_NS 2000000u
#define THOROUGH_LOOKS 100u /* one look in so many goes through everything */
#define IDLE_LOOKS 100u     /* without work, then the thread sleeps until it is woken */
#define STUCK_NS 300000000u /* at exit: no progress for this long */

struct level {
	struct col_pending *places;
	uint32_t n;
	uint64_t head; /* everything before is FREE; moved under the ring's look */
	uint64_t tail; /* next to fill; the producer's */
	uint64_t last; /* at exit: what is before this is waited for */
};

struct col_pending_ring {
	struct level level[2];
	uint32_t looking;    /* a thread harvests this ring */
	uint32_t n_launched; /* the producer's; how many the thread knew of when it came last */
	uint32_t n_known;
	bool in_use;
	struct col_pending_ring *next;
	struct col_gpu_clock clock; /* of the polling thread */
};

static struct {
	struct col_lock lock; /* of the list */
	struct col_pending_ring *rings;
	struct col_pending *copies; /* COPY_PLACES */
	uint32_t n_copies;          /* places that were ever used */
	uint64_t *waited; /* COPY_PLACES: at exit, correlation ids of copies to wait for */
	uint32_t running; /* the thread exists */
	uint32_t asleep;  /* futex: it waits for work */
	uint32_t n_looks; /* how often it has looked */
	uint32_t hurry;   /* the program is dying: look at everything */
	uint32_t unloaded;
} air;

/* ---- looking ---- */

/* Only for who looks after the ring. */
static bool take(struct col_pending *p)
{
	return col_pending_state(p) == OURS || col_pending_move_state(p, PENDING, TAKEN);
}

/*
 * Number of slots still in flight, as far as was polled. Dispatches of a
 * queue complete in order, mostly: a thread with other things to do stops after a few
 * that run, and the one that has time goes through all.
 */
static uint32_t look_level(struct level *level, struct col_gpu_clock *clock, uint32_t give_up)
{
	uint64_t head = level->head, tail = __atomic_load_n(&level->tail, __ATOMIC_ACQUIRE);
	uint32_t n_open = 0, mask = level->n - 1;

	/* The GPU wrote the signals: without this every one of them is a miss. */
	for (uint64_t at = head; at < tail && at < head + AHEAD; at++)
		__builtin_prefetch(col_pending_signal(level->places[at & mask].signal));
	for (uint64_t at = head; at < tail && n_open < give_up; at++) {
		struct col_pending *p = &level->places[at & mask];
		uint32_t state = col_pending_state(p);

		if (at + AHEAD < tail)
			__builtin_prefetch(
				col_pending_signal(level->places[(at + AHEAD) & mask].signal));
		/*
		 * Looking before taking: most that are not done need no bus lock to know. Values
		 * are read by those who have time: it takes the GPU's lock.
		 */
		if ((state == PENDING || state == OURS) &&
		    (give_up != FEW || !col_pending_is_counted(p) ||
		     col_pending_timed(p) == COL_TIMED_WRITTEN) &&
		    col_done_dispatch(p) && take(p)) {
			col_done_finish(p, clock, COL_DONE_ALL);
			state = col_pending_state(p);
		}
		if (state != FREE)
			n_open++;
		else if (at == head)
			head++;
	}
	__atomic_store_n(&level->head, head, __ATOMIC_RELEASE);
	return n_open;
}

static uint32_t look_ring(struct col_pending_ring *ring, uint32_t give_up)
{
	uint32_t n_open;

	if (__atomic_exchange_n(&ring->looking, 1, __ATOMIC_ACQUIRE))
		return 1; /* another thread polls, because there is work */
	n_open = look_level(&ring->level[0], &ring->clock, give_up) +
		 look_level(&ring->level[1], &ring->clock, give_up);
	__atomic_store_n(&ring->looking, 0, __ATOMIC_RELEASE);
	return n_open;
}

void col_pending_look(struct col_pending_ring *ring)
{
	if (ring)
		look_ring(ring, FEW);
}

static uint32_t look_copies(void)
{
	uint32_t n = __atomic_load_n(&air.n_copies, __ATOMIC_ACQUIRE), n_open = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct col_pending *p = &air.copies[i];

		if (col_pending_state(p) == PENDING && col_pending_move_state(p, PENDING, TAKEN))
			col_done_finish(p, NULL, COL_DONE_ALL);
		n_open += col_pending_state(p) != FREE;
	}
	return n_open;
}

/* The launching thread polled since, and will again; if it stops, this thread takes over. */
static bool looked_after(struct col_pending_ring *ring)
{
	uint32_t n = __atomic_load_n(&ring->n_launched, __ATOMIC_RELAXED), n_known = ring->n_known;

	ring->n_known = n;
	return n - n_known >= 2 * BATCH;
}

static uint32_t look(bool thorough)
{
	uint32_t n_open;

	col_lock(&air.lock);
	n_open = look_copies();
	for (struct col_pending_ring *ring = air.rings; ring; ring = ring->next) {
		if (looked_after(ring) && !thorough)
			n_open++;
		else
			n_open += look_ring(ring, thorough ? UINT32_MAX : MANY);
	}
	col_unlock(&air.lock);
	return n_open;
}

static void nap(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	nanosleep(&t, NULL);
}

static void *looker(void *arg)
{
	uint32_t idle = 0;

	while (!__atomic_load_n(&air.unloaded, __ATOMIC_ACQUIRE)) {
		bool thorough = air.n_looks % THOROUGH_LOOKS == 0 ||
				__atomic_load_n(&air.hurry, __ATOMIC_ACQUIRE);

		idle = look(thorough) ? 0 : idle + 1;
		__atomic_add_fetch(&air.n_looks, 1, __ATOMIC_RELEASE);
		if (idle < IDLE_LOOKS) {
			nap(LOOK_NS);
			continue;
		}
		/* A wake that comes in between is found by the time-out. */
		struct timespec limit = { 1, 0 };

		__atomic_store_n(&air.asleep, 1, __ATOMIC_SEQ_CST);
		if (!look(true))
			syscall(SYS_futex, &air.asleep, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
		__atomic_store_n(&air.asleep, 0, __ATOMIC_RELAXED);
		idle = 0;
	}
	__atomic_store_n(&air.running, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void wake_looker(void)
{
	int saved_errno = errno;

	if (__atomic_exchange_n(&air.asleep, 0, __ATOMIC_RELAXED))
		syscall(SYS_futex, &air.asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved_errno;
}

/*
 * The calling thread is about to die, perhaps with any lock in its hands: it takes none and
 * waits for the thread that looks to have gone round once. That takes it 2 ms, and seconds on
 * a machine that has other things to do. A thread that waits for a lock of the dying one never
 * comes: there is an end to patience.
 */
#define HURRY_NS 3000000000u
void col_pending_hurry(void)
{
	uint32_t n;

	__atomic_store_n(&air.hurry, 1, __ATOMIC_SEQ_CST);
	n = __atomic_load_n(&air.n_looks, __ATOMIC_ACQUIRE);
	for (uint64_t waited = 0; waited < HURRY_NS; waited += LOOK_NS / 8) {
		if (!__atomic_load_n(&air.running, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&air.n_looks, __ATOMIC_ACQUIRE) - n > 1)
			return;
		wake_looker();
		nap(LOOK_NS / 8);
	}
}

void col_pending_start(void)
{
	col_lock(&air.lock);
	__atomic_store_n(&air.unloaded, 0, __ATOMIC_RELEASE);
	if (col_done_start() && !air.copies)
		air.copies = col_pages(COPY_PLACES * sizeof(*air.copies));
	if (!air.waited)
		air.waited = col_pages(COPY_PLACES * sizeof(*air.waited));
	if (!__atomic_exchange_n(&air.running, 1, __ATOMIC_ACQ_REL) &&
	    !col_spawn(looker, NULL, "wavescope-gpu")) {
		__atomic_store_n(&air.running, 0, __ATOMIC_RELEASE);
		col_note("GPU work: cannot start a thread, records are written late");
	}
	col_unlock(&air.lock);
}

/* ---- places ---- */

static bool make_level(struct level *level, uint32_t n)
{
	level->places = col_pages(n * sizeof(*level->places));
	level->n = n;
	return level->places != NULL;
}

struct col_pending_ring *col_pending_ring_create(void)
{
	struct col_pending_ring *ring;

	col_lock(&air.lock);
	for (ring = air.rings; ring && ring->in_use; ring = ring->next)
		;
	if (!ring) {
		ring = col_pages(sizeof(*ring));
		/* Far places are pages that are touched when they are needed. */
		if (!ring || !make_level(&ring->level[0], NEAR_PLACES) ||
		    !make_level(&ring->level[1], FAR_PLACES)) {
			col_unlock(&air.lock);
			return NULL; /* a few pages less: there is no memory anyway */
		}
		ring->next = air.rings;
		air.rings = ring;
	}
	ring->in_use = true;
	col_unlock(&air.lock);
	return ring;
}

/* What is still there will not be done any more: its queue is gone. */
static void abandon_level(struct level *level)
{
	for (uint64_t at = level->head; at < level->tail; at++) {
		struct col_pending *p = &level->places[at & (level->n - 1)];

		if (!take(p) || col_done_finish(p, NULL, COL_DONE_ALL) || !take(p))
			continue;
		col_done_count(p, CAP_LEDGER_FAILED);
		col_done_let_go(p);
		/* The GPU may still write to a signal of ours: leave it alone. */
		if (p->own)
			p->own = p->own_signal = 0;
		col_pending_set_state(p, FREE);
	}
	look_level(level, NULL, UINT32_MAX);
}

void col_pending_ring_retire(struct col_pending_ring *ring)
{
	if (!ring)
		return;
	col_lock(&air.lock);
	while (__atomic_exchange_n(&ring->looking, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	abandon_level(&ring->level[0]);
	abandon_level(&ring->level[1]);
	/* A place that a handler still has to come back to keeps the ring. */
	ring->in_use = ring->level[0].head != ring->level[0].tail ||
		       ring->level[1].head != ring->level[1].tail;
	__atomic_store_n(&ring->looking, 0, __ATOMIC_RELEASE);
	col_unlock(&air.lock);
}

/*
 * A level is used for the first time: all its pages now. One by one each would be looked at
 * before it is written to, which takes two faults, and an interrupt of every other core.
 */
static void touch_level(struct level *level)
{
#ifdef MADV_POPULATE_WRITE
	int saved_errno = errno;

	madvise(level->places, level->n * sizeof(*level->places), MADV_POPULATE_WRITE);
	errno = saved_errno;
#endif
}

static struct col_pending *take_place(struct level *level)
{
	struct col_pending *p = &level->places[level->tail & (level->n - 1)];

	if (__builtin_expect(level->tail == 0, 0))
		touch_level(level);
	if (level->tail - __atomic_load_n(&level->head, __ATOMIC_ACQUIRE) >= level->n ||
	    col_pending_state(p) != FREE)
		return NULL;
	/* No atomic operation: only the one producer uses a free slot. */
	__atomic_store_n(&p->state, FILLING, __ATOMIC_RELAXED);
	/* The next one; it was used thousands of launches ago. */
	__builtin_prefetch(&level->places[(level->tail + 1) & (level->n - 1)], 1);
	__builtin_prefetch(&level->places[(level->tail + 1) & (level->n - 1)].dispatch.tid, 1);
	return p;
}

struct col_pending *col_pending_dispatch(struct col_pending_ring *ring)
{
	uint32_t n_launched = ring->n_launched + 1;
	struct col_pending *p;

	__atomic_store_n(&ring->n_launched, n_launched, __ATOMIC_RELAXED);
	if (n_launched % BATCH == 0)
		look_ring(ring, FEW);
	p = take_place(&ring->level[0]);
	if (!p)
		p = take_place(&ring->level[1]);
	if (!p) {
		look_ring(ring, UINT32_MAX);
		p = take_place(&ring->level[0]);
	}
	if (p) {
		if (p->forwards)
			p->own = p->forwards = 0; /* that signal is gone */
		if (!p->own)
			p->signal = 0; /* nor is it the program's any more */
		p->is_copy = p->timed = p->noted = 0;
	}
	return p;
}

struct col_pending *col_pending_copy(void)
{
	for (uint32_t i = 0; air.copies && i < COPY_PLACES; i++) {
		struct col_pending *p = &air.copies[i];
		uint32_t n = __atomic_load_n(&air.n_copies, __ATOMIC_RELAXED);

		if (col_pending_state(p) != FREE || !col_pending_move_state(p, FREE, FILLING))
			continue;
		while (n <= i && !__atomic_compare_exchange_n(&air.n_copies, &n, i + 1, false,
							      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			;
		p->is_copy = 1;
		p->own = p->forwards = p->timed = p->noted = 0;
		return p;
	}
	return NULL;
}

static struct level *level_of(struct col_pending_ring *ring, const struct col_pending *p)
{
	struct level *near = &ring->level[0];

	return p >= near->places && p < near->places + near->n ? near : &ring->level[1];
}

/*
 * ROCr takes signals from memory one after the other. Used in that order they make a stream
 * that a core fetches ahead for reading; when it comes to write one, the other core has to be
 * asked again: 160 ns per kernel for a software GPU, which knows the next signal itself. So
 * neighbours in a ring get signals that are no neighbours.
 */
static bool make_signals(struct level *level, const struct col_pending *p)
{
	static const uint8_t scattered[] = {
		11, 26, 4, 19, 30, 8,  23, 1, 14, 28, 6,  17, 3, 21, 10, 25,
		31, 13, 0, 18, 7,  27, 15, 2, 22, 9,  29, 16, 5, 24, 12, 20,
	};
	struct col_pending *group = &level->places[(p - level->places) / WS_ARRAY_LEN(scattered) *
						   WS_ARRAY_LEN(scattered)];

	for (uint32_t i = 0; i < WS_ARRAY_LEN(scattered); i++) {
		struct col_pending *q = &group[scattered[i]];
		hsa_signal_t signal = { 0 };

		if (!q->own_signal &&
		    col_hsa.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY,
						  &signal) == HSA_STATUS_SUCCESS)
			q->own_signal = signal.handle;
	}
	return p->own_signal != 0;
}

uint64_t col_pending_own_signal(struct col_pending_ring *ring, struct col_pending *p)
{
	if (p->own) {
		p->value--; /* as the GPU did when the place was used last */
		return p->signal;
	}
	if (!p->own_signal && !make_signals(level_of(ring, p), p))
		return 0;
	__atomic_store_n(&col_pending_signal(p->own_signal)->value, 1, __ATOMIC_RELAXED);
	p->own = 1;
	p->value = 1;
	p->signal = p->own_signal;
	return p->signal;
}

void col_pending_publish(struct col_pending_ring *ring, struct col_pending *p)
{
	col_pending_set_state(p, p->forwards ? FORWARDED : p->own ? OURS : PENDING);
	if (ring) {
		struct level *level = level_of(ring, p);

		__atomic_store_n(&level->tail, level->tail + 1, __ATOMIC_RELEASE);
	}
	if (__builtin_expect(__atomic_load_n(&air.asleep, __ATOMIC_RELAXED), 0))
		wake_looker();
	if (__builtin_expect(!__atomic_load_n(&air.running, __ATOMIC_RELAXED), 0))
		col_pending_start(); /* the child of a fork that goes on using the GPU */
}

void col_pending_cancel(struct col_pending *p)
{
	if (col_pending_state(p) == FORWARDED)
		return; /* its handler is waiting; the signal stays with it */
	if (col_pending_state(p) == PENDING && !col_pending_move_state(p, PENDING, TAKEN))
		return;
	col_done_let_go(p);
	col_pending_set_state(p, FREE);
}

/* ---- ends ---- */

/* Other threads may go on submitting: what they submit from now on is not waited for. */
static void note_last(void)
{
	col_lock(&air.lock);
	for (uint32_t i = 0; air.copies && air.waited && i < COPY_PLACES; i++)
		air.waited[i] =
			col_pending_state(&air.copies[i]) == FREE ? 0 : air.copies[i].copy.corr_id;
	for (struct col_pending_ring *ring = air.rings; ring; ring = ring->next) {
		for (unsigned i = 0; i < 2; i++)
			ring->level[i].last =
				__atomic_load_n(&ring->level[i].tail, __ATOMIC_ACQUIRE);
	}
	col_unlock(&air.lock);
}

static uint64_t n_left(void)
{
	uint64_t n = 0;

	col_lock(&air.lock);
	for (uint32_t i = 0; air.copies && air.waited && i < COPY_PLACES; i++)
		n += air.waited[i] && col_pending_state(&air.copies[i]) != FREE &&
		     air.copies[i].copy.corr_id == air.waited[i];
	for (struct col_pending_ring *ring = air.rings; ring; ring = ring->next) {
		for (unsigned i = 0; i < 2; i++) {
			uint64_t head = __atomic_load_n(&ring->level[i].head, __ATOMIC_ACQUIRE);

			n += ring->level[i].last > head ? ring->level[i].last - head : 0;
		}
	}
	col_unlock(&air.lock);
	return n;
}

void col_pending_drain(uint64_t deadline_ns)
{
	bool counting = col_count_on();
	uint64_t now = col_now_ns(), patience_ns = counting ? COL_COUNTING_NS : STUCK_NS;
	uint64_t stuck_ns = now + patience_ns, n_before = UINT64_MAX, n;

	if (counting)
		deadline_ns = WS_MAX(deadline_ns, now + COL_COUNTING_NS);
	note_last();
	while (look(true) != 0 && (n = n_left()) != 0 && now < deadline_ns && now < stuck_ns) {
		nap(200000);
		now = col_now_ns();
		if (n < n_before)
			stuck_ns = now + patience_ns;
		n_before = n;
	}
}

static void forget_level(struct level *level, bool destroy)
{
	for (uint32_t i = 0; i < level->n; i++) {
		struct col_pending *p = &level->places[i];
		hsa_signal_t signal = { p->own_signal };

		if (!p->own_signal && col_pending_state(p) == FREE) {
			if (i >= level->tail)
				break; /* never used, and none behind it were */
			continue;
		}
		if (destroy && signal.handle && col_pending_state(p) == FREE)
			col_hsa.hsa_signal_destroy(signal);
		memset(p, 0, sizeof(*p));
	}
	level->head = level->tail;
}

static void forget(bool destroy)
{
	for (struct col_pending_ring *ring = air.rings; ring; ring = ring->next) {
		forget_level(&ring->level[0], destroy);
		forget_level(&ring->level[1], destroy);
		ring->looking = 0;
	}
	if (air.copies)
		memset(air.copies, 0, air.n_copies * sizeof(*air.copies));
	col_done_forget();
}

void col_pending_unload(void)
{
	__atomic_store_n(&air.unloaded, 1, __ATOMIC_RELEASE);
	wake_looker();
	while (__atomic_load_n(&air.running, __ATOMIC_ACQUIRE))
		nap(100000);
	col_lock(&air.lock);
	forget(true);
	for (struct col_pending_ring *ring = air.rings; ring; ring = ring->next)
		ring->in_use = false; /* their queues go with the runtime */
	col_unlock(&air.lock);
}

/* In the child no work of the parent is in flight, and its signals belong to the parent. */
void col_pending_forked(void)
{
	air.lock = (struct col_lock){ 0 };
	air.running = air.asleep = air.hurry = 0;
	forget(false);
}
