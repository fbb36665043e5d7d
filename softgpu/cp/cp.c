/* The life of queues, and the thread that looks after them. */
#include "softgpu/cp/cp.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/cp_priv.h"
#include "softgpu/cp/progress.h"
#include "softgpu/mem/guard.h"

/*
 * Doorbells are plain stores, so they have to be polled. While packets arrive the poller spins. Then it
 * sleeps an eighth of the time since the last packet, so that latency is proportional to idle time. A
 * thread that waits for the device kicks the poller awake, which bounds the cost of long sleeps. The
 * poller never yields: on a busy machine that costs whole time slices, while a thread that wakes up
 * runs at once. A worker without kernels polls, too, before it sleeps; meanwhile the poller leaves the
 * queues to it.
 */
#define SPIN_NS 20000ull
#define SLEEP_LEAST_NS 20000ull
#define AWAKE_NS 400000ull       /* a kick makes it as alert as this long after a packet */
#define SLEEP_MOST_NS 1000000ull /* in the first second without a packet */
#define DEEP_SLEEP_NS 4000000ull /* later */
#define DEEP_AFTER_NS 1000000000ull
#define RELIEVED_NS 200000ull /* while a worker looks: it may be stopped at any time */
#define PACKETS_PER_STEP 64
#define TURN_NS 1000000ull

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static const struct {
	bool (*ready)(const struct sg_queue *queue);
	enum sg_queue_progress (*step)(struct sg_queue *queue);
} queue_types[] = {
	[SG_QUEUE_AQL] = { sg_aql_ready, sg_aql_step },
	[SG_QUEUE_SDMA] = { sg_sdma_ready, sg_sdma_step },
};

struct sg_amd_signal *sg_cp_signal(const struct sg_cp *cp, uint64_t handle)
{
	if (handle % 8 || !sg_cp_accessible(cp, handle, sizeof(struct sg_amd_signal)))
		return NULL;
	return sg_cp_pointer(cp, handle);
}

bool sg_cp_complete(struct sg_cp *cp, uint64_t handle, uint64_t start_ticks, uint64_t end_ticks)
{
	struct sg_amd_signal *signal;
	uint64_t mailbox;
	uint32_t event_id;

	if (!handle)
		return true;
	signal = sg_cp_signal(cp, handle);
	if (!signal)
		return false;
	atomic_store_explicit(&signal->start_ts, start_ticks, memory_order_relaxed);
	atomic_store_explicit(&signal->end_ts, end_ticks, memory_order_relaxed);
	/* Once it is counted down the host may recycle the signal: read first. */
	mailbox = signal->event_mailbox;
	event_id = signal->event_id;
	atomic_fetch_sub_explicit(&signal->value, 1, memory_order_release);
	if (!mailbox)
		return true;
	if (mailbox % 8 == 0 && sg_cp_accessible(cp, mailbox, 8))
		atomic_store_explicit((_Atomic uint64_t *)sg_cp_pointer(cp, mailbox), event_id,
				      memory_order_release);
	cp->host.interrupt(cp->host.ctx, event_id);
	return true;
}

static bool can_start(const struct sg_queue *queue)
{
	return atomic_load(&queue->active) && !atomic_load(&queue->dying) &&
	       !atomic_load(&queue->halted);
}

enum sg_queue_progress sg_queue_advance(struct sg_queue *queue, uint32_t n)
{
	const struct sg_cp_host *host = &queue->cp->host;
	enum sg_queue_progress result = SG_STEP_IDLE;
	bool copies = queue->desc.type == SG_QUEUE_SDMA;
	uint64_t until = copies ? now_ns() + TURN_NS : 0;

	while (n-- && can_start(queue)) {
		enum sg_queue_progress step;

		if (host->enter)
			host->enter(host->ctx);
		step = queue_types[queue->desc.type].step(queue);
		if (host->leave)
			host->leave(host->ctx);
		if (step == SG_STEP_IDLE)
			break;
		result = step;
		/* Copies take long: after a while the others have their turn. */
		if (copies && now_ns() >= until)
			break;
	}
	return result;
}

/*
 * Hardware counters belong to the GPU and not to a queue, so profilers of hardware serialise kernels, and
 * programs behave differently then. A queue takes its turn when its kernel is next and all dependencies of the
 * kernel are met, so no queue holds the GPU while it waits for a barrier or signal. Turns are first come,
 * first served: a queue that is never empty does not starve another.
 */
bool sg_cp_take_turn(struct sg_queue *queue)
{
	struct sg_cp *cp = queue->cp;
	bool mine = true;

	if (!sg_counting_alone(queue->gpu->counting)) {
		sg_cp_leave_turn(queue);
		atomic_store(&queue->dispatching, true);
		return true;
	}
	pthread_mutex_lock(&cp->lock);
	if (!queue->turn)
		queue->turn = ++cp->n_turns;
	for (const struct sg_queue *q = cp->queues; q && mine; q = q->next)
		mine = q->gpu != queue->gpu || q == queue ||
		       !(atomic_load(&q->dispatching) ||
			 (q->turn && q->turn < queue->turn && can_start(q)));
	if (mine) {
		queue->turn = 0;
		atomic_store(&queue->dispatching, true);
	}
	pthread_mutex_unlock(&cp->lock);
	return mine;
}

void sg_cp_leave_turn(struct sg_queue *queue)
{
	if (!queue->turn)
		return;
	pthread_mutex_lock(&queue->cp->lock);
	queue->turn = 0;
	pthread_mutex_unlock(&queue->cp->lock);
}

/*
 * One look at every queue, or until there is a kernel to run. The list is locked only while looking,
 * not while a queue works.
 */
static bool sweep(struct sg_cp *cp, bool for_kernel)
{
	bool progress = false;
	struct sg_queue *queue;

	pthread_mutex_lock(&cp->lock);
	for (queue = cp->queues; queue && !(for_kernel && sg_pool_busy(cp->pool));
	     queue = queue->next) {
		if (!queue_types[queue->desc.type].ready(queue))
			continue;
		/* Busy ending a dispatch: who does that also looks at what comes next. */
		if (pthread_mutex_trylock(&queue->lock))
			continue;
		/* The queue's lock keeps it alive, and its place in the list. */
		pthread_mutex_unlock(&cp->lock);
		progress |= sg_queue_advance(queue, PACKETS_PER_STEP) == SG_STEP_PROGRESS;
		pthread_mutex_lock(&cp->lock);
		pthread_mutex_unlock(&queue->lock);
	}
	pthread_mutex_unlock(&cp->lock);
	return progress;
}

/* Without queues nothing can come but a new one, which kicks: a process that only looks at the GPUs
 * or holds memory costs nothing. */
static void sleep_until_kicked(struct sg_cp *cp, uint32_t seen, uint64_t ns)
{
	struct timespec ts = { .tv_sec = 0, .tv_nsec = (long)ns };
	bool has_queues;

	pthread_mutex_lock(&cp->lock);
	has_queues = cp->n_queues;
	pthread_mutex_unlock(&cp->lock);
	atomic_store(&cp->asleep, true);
	syscall(SYS_futex, &cp->kicks, FUTEX_WAIT_PRIVATE, seen, has_queues ? &ts : NULL, NULL, 0);
	atomic_store(&cp->asleep, false);
}

uint64_t sg_cp_n_instructions(const struct sg_cp *cp)
{
	return atomic_load_explicit(&cp->n_instructions, memory_order_relaxed);
}

void sg_cp_watch(struct sg_cp *cp, softgpu_watcher *watcher)
{
	atomic_store(&cp->watcher, watcher);
}

void sg_cp_kick(struct sg_cp *cp)
{
	atomic_fetch_add(&cp->kicks, 1);
	if (atomic_load(&cp->asleep))
		syscall(SYS_futex, &cp->kicks, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* What a worker does that ran out of kernels; then it sleeps, and the poller has to look again. */
static bool look_for_kernel(void *ctx)
{
	return sweep(ctx, true);
}

static void give_up_looking(void *ctx)
{
	sg_cp_kick(ctx);
}

static void *poller_main(void *arg)
{
	struct sg_cp *cp = arg;
	uint64_t last = now_ns();
	uint32_t n_seen = 0;

	prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0); /* short sleeps are meant to be short */
	while (!atomic_load_explicit(&cp->stop, memory_order_relaxed)) {
		uint32_t kicks = atomic_load(&cp->kicks), n_looks = sg_pool_n_looks(cp->pool);
		bool relieved = n_looks != n_seen; /* a worker looks, and is not held up itself */
		uint64_t now, idle;

		n_seen = n_looks;
		if (!relieved && sweep(cp, false)) {
			last = now_ns();
			sg_progress_tick(cp, last);
			continue;
		}
		now = now_ns();
		sg_progress_tick(cp, now);
		idle = now - last;
		if (idle < SPIN_NS && !sg_pool_busy(cp->pool) && !relieved) {
			sg_pool_pause();
		} else {
			uint64_t ns = idle / 8;

			ns = ns < SLEEP_LEAST_NS ? SLEEP_LEAST_NS : ns;
			ns = ns > SLEEP_MOST_NS ? SLEEP_MOST_NS : ns;
			ns = idle > DEEP_AFTER_NS ? DEEP_SLEEP_NS : ns;
			ns = relieved ? RELIEVED_NS : ns;
			sleep_until_kicked(cp, kicks, ns);
			/* A thread waits for the device: poll more often again. */
			if (atomic_load(&cp->kicks) != kicks && idle > AWAKE_NS)
				last = now_ns() - AWAKE_NS;
		}
	}
	return NULL;
}

static void interrupt(void *ctx, uint32_t event_id)
{
	struct sg_cp *cp = ctx;

	cp->host.interrupt(cp->host.ctx, event_id);
}

struct sg_cp *sg_cp_create(const struct sg_cp_host *host, uint32_t n_workers)
{
	struct sg_cp *cp = calloc(1, sizeof(*cp));

	if (!cp)
		return NULL;
	cp->host = *host;
	cp->hooks = (struct sg_exec_hooks){ .interrupt = interrupt, .ctx = cp };
	pthread_mutex_init(&cp->lock, NULL);
	cp->pool = sg_pool_create(n_workers, &(struct sg_pool_looker){ .look = look_for_kernel,
								       .rest = give_up_looking,
								       .ctx = cp });
	cp->progress = sg_progress_create();
	cp->poller_runs = cp->pool && sg_pool_thread(&cp->poller, "ws-gpu-cp", poller_main, cp);
	if (!cp->poller_runs) {
		sg_cp_destroy(cp);
		return NULL;
	}
	return cp;
}

void sg_cp_destroy(struct sg_cp *cp)
{
	if (!cp)
		return;
	atomic_store(&cp->stop, true);
	if (cp->poller_runs) {
		sg_cp_kick(cp);
		pthread_join(cp->poller, NULL);
	}
	sg_pool_destroy(cp->pool);
	sg_progress_destroy(cp->progress);
	pthread_mutex_destroy(&cp->lock);
	free(cp);
}

static bool plausible(const struct sg_cp *cp, const struct sg_queue_desc *desc)
{
	uint64_t least = desc->type == SG_QUEUE_AQL ? sizeof(union sg_aql_packet) : 4096;

	return desc->type <= SG_QUEUE_SDMA && desc->ring && desc->write_ptr && desc->read_ptr &&
	       (uintptr_t)desc->ring % 64 == 0 && (uintptr_t)desc->write_ptr % 8 == 0 &&
	       (uintptr_t)desc->read_ptr % 8 == 0 && desc->size_bytes >= least &&
	       !(desc->size_bytes & (desc->size_bytes - 1)) &&
	       sg_cp_accessible(cp, sg_cp_address(cp, desc->ring), desc->size_bytes) &&
	       sg_cp_accessible(cp, sg_cp_address(cp, desc->write_ptr), 8) &&
	       sg_cp_accessible(cp, sg_cp_address(cp, desc->read_ptr), 8);
}

struct sg_queue *sg_cp_queue_create(struct sg_cp *cp, const struct sg_cp_gpu *gpu,
				    const struct sg_queue_desc *desc)
{
	struct sg_queue *queue;

	if (!plausible(cp, desc))
		return NULL;
	if (desc->type == SG_QUEUE_AQL &&
	    !sg_cp_accessible(cp, sg_cp_address(cp, desc->read_ptr) - SG_AMD_QUEUE_READ_OFFSET,
			      sizeof(struct sg_amd_queue)))
		return NULL;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	queue->cp = cp;
	queue->gpu = gpu;
	queue->desc = *desc;
	atomic_init(&queue->active, true);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->quiet, NULL);
	if (desc->type == SG_QUEUE_AQL)
		queue->amd = (void *)((uint8_t *)desc->read_ptr - SG_AMD_QUEUE_READ_OFFSET);

	pthread_mutex_lock(&cp->lock);
	queue->next = cp->queues;
	queue->back = &cp->queues;
	if (queue->next)
		queue->next->back = &queue->next;
	cp->queues = queue;
	cp->n_queues++;
	pthread_mutex_unlock(&cp->lock);
	if (gpu->n_queues)
		atomic_fetch_add(gpu->n_queues, 1);
	sg_guard_install();
	sg_cp_kick(cp);
	return queue;
}

void sg_cp_queue_destroy(struct sg_queue *queue)
{
	struct sg_cp *cp;

	if (!queue)
		return;
	cp = queue->cp;
	atomic_store(&queue->dying, true);
	if (queue->gpu->n_queues)
		atomic_fetch_sub(queue->gpu->n_queues, 1);

	/* Locks in the poller's order: its own queue first, then the list. */
	pthread_mutex_lock(&queue->lock);
	while (atomic_load(&queue->dispatching)) {
		sg_pool_stop(cp->pool, &queue->dispatch);
		pthread_cond_wait(&queue->quiet, &queue->lock);
	}
	pthread_mutex_lock(&cp->lock);
	*queue->back = queue->next;
	if (queue->next)
		queue->next->back = queue->back;
	cp->n_queues--;
	pthread_mutex_unlock(&cp->lock);
	pthread_mutex_unlock(&queue->lock);

	pthread_cond_destroy(&queue->quiet);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

void sg_cp_queue_set_active(struct sg_queue *queue, bool active)
{
	/* Who has the lock may be starting a packet: afterwards none is started that was not active. */
	pthread_mutex_lock(&queue->lock);
	atomic_store(&queue->active, active);
	pthread_mutex_unlock(&queue->lock);
	sg_cp_kick(queue->cp);
}

void sg_cp_queue_use_gws(struct sg_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->gws = queue->gpu->gws;
	pthread_mutex_unlock(&queue->lock);
}
