/*
 * scratch_locks: scratch memory of a ROCr without scratch events (before 6.0).
 *
 * The GPU stops a queue by writing a code into its "inactive" signal: 1 (or 0x400, for waves of
 * 32), a dispatch needs more scratch; 512, scratch for one use was used. ROCr's events thread
 * handles it and writes 0. Freed memory is cached and reused without a call of the
 * driver, so driver calls show only the first allocation. But ROCr always takes a lock of the
 * GPU's scratch around it, on that thread, and takes another lock when it is done with a round
 * of signals. So ROCr's own references to the lock and unlock functions are replaced (base/got.h),
 * and at each lock on the events thread the signals are read: the first lock that sees a code is
 * inside the handler, and the first that no longer sees it comes after its end. The queue's
 * scratch is then in its amd_queue_t, which is the GPU's interface and the same in all versions.
 *
 * The driver's queue functions show which queues exist; the program's handles may be
 * proxies (queue.c). The events thread is known when it first waits for
 * the queues' event. Until then, and if ROCr does not wait for signals (HSA_ENABLE_INTERRUPT=0),
 * the locks of every thread are observed.
 */
#include "base/got.h"
#include "collector/hsa/queue_priv.h"
#include "collector/hsa/scratch.h"

#include <errno.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsakmt.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define WATCHED_MAX 1024u
#define EVENTS_AT_ONCE 8u

enum { CODE_NEED = 0x401, CODE_USED = 512 };

/* The parts of an amd_queue_t that ROCr sets with each allocation. */
struct given {
	uint64_t base, n_bytes;
	uint32_t lane_bytes, tmpring;
};

struct locked {
	const void *mutex;
	uint64_t start_ticks, end_ticks;
};

struct watched {
	const amd_queue_t *amd;
	HSA_QUEUEID driver_id;
	bool from_before;        /* the driver's id is not known */
	uint32_t queue, agent;   /* our ids; 0: not known */
	enum cap_scratch_op now; /* what its code asks for */
	struct given had;        /* when that was seen */
	struct locked last[2];   /* locks since then, the latest first */
};

static struct {
	struct col_lock lock;
	struct watched *all; /* WATCHED_MAX */
	uint32_t n;
	const struct col_thread *looker; /* whose signals they are; NULL: not known */
	uint32_t n_writing;              /* records that are seen and not written yet */
	bool told_full;
} watch;

static struct {
	int (*lock)(pthread_mutex_t *mutex);
	int (*unlock)(pthread_mutex_t *mutex);
	HSAKMT_STATUS(*create_queue)
	(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
	 void *ring, HSAuint64 n_bytes, HsaEvent *event, HsaQueueResource *queue);
	HSAKMT_STATUS (*destroy_queue)(HSA_QUEUEID id);
	HSAKMT_STATUS (*wait)(HsaEvent *events[], HSAuint32 n, bool all, HSAuint32 ms);
} real;

/* ---- looking ---- */

static const amd_signal_t *inactive_signal(const amd_queue_t *amd)
{
	return (const amd_signal_t *)(uintptr_t)amd->queue_inactive_signal.handle;
}

static enum cap_scratch_op asked_of(const amd_queue_t *amd)
{
	const amd_signal_t *signal = inactive_signal(amd);
	int64_t value = signal ? __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) : 0;

	if (value == -1) /* ROCr: the queue has failed, or goes away */
		return CAP_SCRATCH_NONE;
	value &= INT64_MAX; /* the sign: try again, there may be room now */
	if (value == CODE_USED)
		return CAP_SCRATCH_FREE;
	return value & CODE_NEED ? CAP_SCRATCH_ALLOC : CAP_SCRATCH_NONE;
}

static struct given given_to(const amd_queue_t *amd)
{
	return (struct given){ amd->scratch_backing_memory_location,
			       amd->scratch_backing_memory_byte_size,
			       amd->scratch_wave64_lane_byte_size, amd->compute_tmpring_size };
}

static bool is_same(const struct given *a, const struct given *b)
{
	return a->base == b->base && a->n_bytes == b->n_bytes && a->lane_bytes == b->lane_bytes &&
	       a->tmpring == b->tmpring;
}

/* It was handled. false: the allocation failed; ROCr reports that to the program. */
static bool describe(const struct watched *w, uint64_t now_ticks, struct col_scratch_event *event)
{
	const struct locked *last = &w->last[0], *before = &w->last[1];
	struct given has = given_to(w->amd);

	*event = (struct col_scratch_event){
		.op = w->now,
		.agent = w->agent,
		.queue = w->queue,
		.flags = CAP_SCRATCH_USE_ONCE,
		/* What the queue had is given back first, under the same lock. */
		.start_ticks =
			before->mutex == last->mutex ? before->start_ticks : last->start_ticks,
		/* If all threads are observed, the lock may belong to another thread and still be held. */
		.end_ticks = last->end_ticks ? last->end_ticks : now_ticks,
	};
	if (w->now == CAP_SCRATCH_FREE)
		return true;
	event->n_bytes = has.n_bytes;
	if (!(w->amd->queue_properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE))
		event->flags = 0;
	return has.n_bytes != 0 && !is_same(&has, &w->had);
}

/* Under the lock. What was handled since the last look. */
static uint32_t look(uint64_t now_ticks, struct col_scratch_event *events)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < watch.n && n < EVENTS_AT_ONCE; i++) {
		struct watched *w = &watch.all[i];
		enum cap_scratch_op asked = asked_of(w->amd);
		struct given has;

		if (asked == CAP_SCRATCH_NONE && w->now == CAP_SCRATCH_NONE)
			continue;
		has = given_to(w->amd);
		/* The next dispatch may have requested more in the meantime. */
		if (asked == w->now && (asked == CAP_SCRATCH_FREE || is_same(&has, &w->had)))
			continue;
		if (w->now != CAP_SCRATCH_NONE && describe(w, now_ticks, &events[n]))
			n++;
		w->now = asked;
		w->had = has;
		memset(w->last, 0, sizeof(w->last));
	}
	return n;
}

static bool is_mine(void)
{
	const struct col_thread *looker = __atomic_load_n(&watch.looker, __ATOMIC_RELAXED);

	return (!looker || looker == &col_thread_self_) &&
	       __atomic_load_n(&watch.n, __ATOMIC_RELAXED) && col_on(COL_SERVICE_SCRATCH_MEMORY);
}

static void before_lock(const void *mutex)
{
	struct col_scratch_event events[EVENTS_AT_ONCE];
	uint64_t now_ticks = cap_ticks();
	int saved_errno = errno;
	uint32_t n;

	col_lock(&watch.lock);
	n = look(now_ticks, events);
	for (uint32_t i = 0; i < watch.n; i++) {
		struct watched *w = &watch.all[i];

		if (w->now == CAP_SCRATCH_NONE)
			continue;
		w->last[1] = w->last[0];
		w->last[0] = (struct locked){ mutex, now_ticks, 0 };
	}
	watch.n_writing += n;
	col_unlock(&watch.lock);
	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		col_scratch_write(&events[i]); /* may open a lane: not under the lock */
	col_lock(&watch.lock);
	watch.n_writing -= n;
	col_unlock(&watch.lock);
	errno = saved_errno;
}

static void before_unlock(const void *mutex)
{
	uint64_t now_ticks = cap_ticks();

	col_lock(&watch.lock);
	for (uint32_t i = 0; i < watch.n; i++)
		if (watch.all[i].last[0].mutex == mutex)
			watch.all[i].last[0].end_ticks = now_ticks;
	col_unlock(&watch.lock);
}

/* ---- queues ---- */

/* Under the lock. */
static struct watched *add(const amd_queue_t *amd)
{
	struct watched *w;

	if (!watch.all)
		watch.all = col_pages(WATCHED_MAX * sizeof(*watch.all));
	if (!watch.all || watch.n == WATCHED_MAX)
		return NULL;
	w = &watch.all[watch.n];
	memset(w, 0, sizeof(*w));
	w->amd = amd;
	__atomic_store_n(&watch.n, watch.n + 1, __ATOMIC_RELEASE);
	return w;
}

/* Under the lock. */
static void drop(struct watched *w)
{
	*w = watch.all[watch.n - 1];
	__atomic_store_n(&watch.n, watch.n - 1, __ATOMIC_RELEASE);
}

void col_scratch_queue(const hsa_queue_t *handle, uint32_t queue, uint32_t agent)
{
	struct watched *w = NULL;

	if (!col_asked(COL_SERVICE_SCRATCH_MEMORY) || !real.lock)
		return;
	col_lock(&watch.lock);
	for (uint32_t i = 0; i < watch.n && !w; i++)
		if (watch.all[i].amd->hsa_queue.id == handle->id)
			w = &watch.all[i];
	if (!w) {
		/* From before we were attached, and thus no proxy: an amd_queue_t begins with
		 * it. */
		w = add((const amd_queue_t *)handle);
		if (w)
			w->from_before = true;
	}
	if (w) {
		w->queue = queue;
		w->agent = agent;
	}
	col_unlock(&watch.lock);
}

static bool is_open(const struct watched *w)
{
	return w->now != CAP_SCRATCH_NONE || asked_of(w->amd) != CAP_SCRATCH_NONE ||
	       w->amd->queue_properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE;
}

/* Scratch for one use is given back when the program knows already that its kernel is done. */
void col_scratch_drain(uint64_t deadline_ns)
{
	bool open = col_on(COL_SERVICE_SCRATCH_MEMORY);

	while (open && col_now_ns() < deadline_ns) {
		col_lock(&watch.lock);
		open = watch.n_writing != 0;
		for (uint32_t i = 0; i < watch.n && !open; i++)
			open = is_open(&watch.all[i]);
		col_unlock(&watch.lock);
		if (open)
			nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	}
}

void col_scratch_forked(void)
{
	memset(&watch, 0, sizeof(watch));
}

/* ---- what ROCr calls instead ---- */

static int our_lock(pthread_mutex_t *mutex)
{
	if (is_mine())
		before_lock(mutex);
	return real.lock(mutex);
}

static int our_unlock(pthread_mutex_t *mutex)
{
	if (is_mine())
		before_unlock(mutex);
	return real.unlock(mutex);
}

static HSAKMT_STATUS our_create_queue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
				      HSA_QUEUE_PRIORITY priority, void *ring, HSAuint64 n_bytes,
				      HsaEvent *event, HsaQueueResource *queue)
{
	HSAKMT_STATUS status =
		real.create_queue(node, type, percentage, priority, ring, n_bytes, event, queue);
	struct watched *w;
	bool full = false;

	if (status != HSAKMT_STATUS_SUCCESS || type != HSA_QUEUE_COMPUTE_AQL)
		return status;
	col_lock(&watch.lock);
	w = add((const amd_queue_t *)((const char *)queue->Queue_read_ptr_aql -
				      offsetof(amd_queue_t, read_dispatch_id)));
	if (w) {
		w->driver_id = queue->QueueId;
		w->agent = col_agent_by_node(node);
	} else {
		full = !watch.told_full;
		watch.told_full = true;
	}
	col_unlock(&watch.lock);
	if (full)
		col_note("scratch memory: too many queues, the last ones are not recorded");
	return status;
}

static HSAKMT_STATUS our_destroy_queue(HSA_QUEUEID id)
{
	bool known = false;

	col_lock(&watch.lock);
	for (uint32_t i = 0; i < watch.n && !known; i++) {
		known = !watch.all[i].from_before && watch.all[i].driver_id == id;
		if (known)
			drop(&watch.all[i]);
	}
	/* One of those from before; which, is not known, and the memory goes away. */
	for (uint32_t i = watch.n; !known && i-- > 0;)
		if (watch.all[i].from_before)
			drop(&watch.all[i]);
	col_unlock(&watch.lock);
	return real.destroy_queue(id);
}

/* The thread that waits for the event of a queue's signal is the events thread. */
static HSAKMT_STATUS our_wait(HsaEvent *events[], HSAuint32 n, bool all, HSAuint32 ms)
{
	if (__atomic_load_n(&watch.looker, __ATOMIC_RELAXED) != &col_thread_self_ &&
	    __atomic_load_n(&watch.n, __ATOMIC_RELAXED)) {
		uint32_t event_id = 0;

		col_lock(&watch.lock);
		for (uint32_t i = 0; i < watch.n && !event_id; i++)
			if (inactive_signal(watch.all[i].amd))
				event_id = inactive_signal(watch.all[i].amd)->event_id;
		col_unlock(&watch.lock);
		for (uint32_t i = 0; event_id && i < n; i++)
			if (events[i] && events[i]->EventId == event_id)
				__atomic_store_n(&watch.looker, &col_thread_self_,
						 __ATOMIC_RELAXED);
	}
	return real.wait(events, n, all, ms);
}

bool col_scratch_locks_install(void)
{
	const struct ws_got_row rows[] = {
		{ "pthread_mutex_lock", (void *)our_lock, (void **)&real.lock },
		{ "pthread_mutex_unlock", (void *)our_unlock, (void **)&real.unlock },
		{ "hsaKmtCreateQueue", (void *)our_create_queue, (void **)&real.create_queue },
		{ "hsaKmtDestroyQueue", (void *)our_destroy_queue, (void **)&real.destroy_queue },
		{ "hsaKmtWaitOnMultipleEvents", (void *)our_wait, (void **)&real.wait },
	};
	const size_t n_rows = sizeof(rows) / sizeof(rows[0]);

	return ws_got_replace("libhsa-runtime64.so", rows, n_rows) == n_rows;
}
