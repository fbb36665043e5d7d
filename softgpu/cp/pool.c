#include "softgpu/cp/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/counters/counting.h"
#include "softgpu/exec/counting.h"

#define BUDGET 200000ull              /* wave-instructions of one turn: some milliseconds */
#define SLICE_NS 2000000ull           /* then another dispatch, if there is one */
#define NAP_LEAST_NS 50000ull         /* when all that runs waits */
#define NAP_MOST_NS 1000000ull
#define LINGER_NS 20000ull            /* a worker without work looks for some before it sleeps */

struct ws_resident {
	struct ws_wg *wg;
	struct ws_resident *next;
	uint32_t slot, n_waves;
	uint64_t index;               /* of the workgroup that runs in it */
	struct ws_wg_traces *traces;  /* what it leaves, while it is counted */
};

struct ws_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct ws_dispatch *dispatches; /* a ring; points at the one whose turn it is */
	_Atomic uint32_t n_dispatches;
	uint32_t n_sleeping;
	bool lingers;                 /* a worker looks for work */
	_Atomic uint32_t n_looks;     /* how often that was done */
	_Atomic bool stop;
	struct ws_pool_looker looker;
	uint32_t n_workers;
	pthread_t *threads;

	/* Storage left over from earlier dispatches, one per low slot: small kernels start faster. */
	pthread_mutex_t spare_lock;
	struct ws_resident **spares;
};

/* Whether the calling thread is one of the workers. */
static _Thread_local bool is_worker __attribute__((tls_model("initial-exec")));

bool ws_pool_thread(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t blocked, before;
	int error;

	/* The program's handlers run on the program's threads; faults are our own. */
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&blocked, own[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_setname_np(*thread, name);
	return !error;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static uint32_t relaxed32(_Atomic uint32_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static bool stopped(struct ws_dispatch *d)
{
	return atomic_load_explicit(&d->launch.stop, memory_order_relaxed);
}

/* --- storage of workgroups; the dispatch's lock is held --- */

static void push_suspended(struct ws_dispatch *d, struct ws_resident *r)
{
	r->next = NULL;
	if (d->last)
		d->last->next = r;
	else
		d->first = r;
	d->last = r;
	atomic_fetch_add(&d->n_suspended, 1);
}

static struct ws_resident *pop_suspended(struct ws_dispatch *d)
{
	struct ws_resident *r = d->first;

	if (!r)
		return NULL;
	d->first = r->next;
	if (!d->first)
		d->last = NULL;
	atomic_fetch_sub(&d->n_suspended, 1);
	return r;
}

static void put_idle(struct ws_dispatch *d, struct ws_resident *r)
{
	if (!r)
		return;
	r->next = d->idle;
	d->idle = r;
}

static struct ws_resident *take_spare(struct ws_pool *pool, uint32_t slot, uint32_t n_waves)
{
	struct ws_resident *r;

	if (slot >= pool->n_workers)
		return NULL;
	pthread_mutex_lock(&pool->spare_lock);
	r = pool->spares[slot];
	if (r && r->n_waves == n_waves)
		pool->spares[slot] = NULL;
	else
		r = NULL;
	pthread_mutex_unlock(&pool->spare_lock);
	return r;
}

static void destroy_resident(struct ws_resident *r)
{
	if (!r)
		return;
	if (r->wg)
		ws_wg_destroy(r->wg);
	ws_count_run_discard(r->traces);
	free(r);
}

/* The newest one stays: what ran last is what probably comes next. */
static void keep_spares(struct ws_pool *pool, struct ws_resident *r)
{
	while (r) {
		struct ws_resident *next = r->next, *old = r;

		ws_count_run_discard(r->traces);
		r->traces = NULL;
		if (r->slot < pool->n_workers) {
			pthread_mutex_lock(&pool->spare_lock);
			old = pool->spares[r->slot];
			pool->spares[r->slot] = r;
			pthread_mutex_unlock(&pool->spare_lock);
		}
		destroy_resident(old);
		r = next;
	}
}

static struct ws_resident *new_resident(struct ws_pool *pool, struct ws_dispatch *d)
{
	uint32_t slot = d->n_residents, n_waves = d->launch.n_waves_per_wg;
	struct ws_resident *r = take_spare(pool, slot, n_waves);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct ws_resident){ .wg = ws_wg_create(&d->launch, slot), .slot = slot,
				   .n_waves = n_waves };
	if (!r->wg) {
		free(r);
		return NULL;
	}
	return r;
}

static struct ws_resident *get_idle(struct ws_pool *pool, struct ws_dispatch *d)
{
	struct ws_resident *r = d->idle;

	if (r) {
		d->idle = r->next;
		return r;
	}
	if (d->n_residents >= d->allowance)
		return NULL;
	r = new_resident(pool, d);
	if (r) {
		d->n_residents++;
	} else if (!d->n_residents) {
		d->failed = true;
		atomic_store(&d->launch.stop, true);
	} else {
		d->allowance = d->max_resident = d->n_residents; /* as many as memory allows */
	}
	return r;
}

/* --- one worker in one dispatch --- */

/* Also when it is not modelled: saving what is overwritten is the counting loop's business. */
static bool leaves_trace(const struct ws_dispatch *d, uint64_t index)
{
	return d->count && (ws_count_run_models(d->count, index) || d->launch.undo);
}

static void load(struct ws_dispatch *d, struct ws_resident *r, uint64_t index)
{
	const uint32_t *n = d->launch.n_wg;
	uint32_t id[3] = {
		(uint32_t)(index % n[0]),
		(uint32_t)(index / n[0] % n[1]),
		(uint32_t)(index / n[0] / n[1]),
	};

	r->index = index;
	r->traces = leaves_trace(d, index) ? ws_count_run_start(d->count) : NULL;
	ws_wg_set_traces(r->wg, r->traces ? r->traces->waves : NULL);
	ws_wg_start(r->wg, &d->launch, id);
}

/* The workgroup is done: the model has it from here. */
static void hand_over(struct ws_dispatch *d, struct ws_resident *r)
{
	if (!d->count)
		return;
	if (!r->traces && leaves_trace(d, r->index))
		ws_count_run_cancel(d->count); /* out of memory: no counters, but the results are right */
	else if (r->traces && ws_count_run_models(d->count, r->index))
		ws_count_run_done(d->count, r->index, r->traces, ws_wg_n_waves(r->wg));
	else
		ws_count_run_discard(r->traces);
	r->traces = NULL;
}

static bool has_new(struct ws_dispatch *d)
{
	uint64_t next = atomic_load_explicit(&d->next_wg, memory_order_relaxed);

	return next < d->n_wgs && (!d->count || ws_count_run_may_start(d->count, next * d->stride));
}

static bool load_next(struct ws_dispatch *d, struct ws_resident *r)
{
	uint64_t index;

	if (!has_new(d))
		return false;
	index = atomic_fetch_add_explicit(&d->next_wg, 1, memory_order_relaxed);
	if (index >= d->n_wgs)
		return false;
	load(d, r, index * d->stride);
	return true;
}

/*
 * Find the next workgroup to run. *r is idle storage that the worker holds, or NULL; on success it
 * is a workgroup. As long as none is suspended this takes no lock.
 */
static bool pick(struct ws_pool *pool, struct ws_dispatch *d, struct ws_resident **r)
{
	bool found = false;

	if (*r && !relaxed32(&d->n_suspended))
		return load_next(d, *r);

	pthread_mutex_lock(&d->lock);
	d->new_one_next = !d->new_one_next;
	if ((d->new_one_next || !d->first) && has_new(d)) {
		if (!*r)
			*r = get_idle(pool, d);
		found = *r && load_next(d, *r);
	}
	if (!found && d->first) {
		put_idle(d, *r);
		*r = pop_suspended(d);
		found = true;
	}
	pthread_mutex_unlock(&d->lock);
	return found;
}

/* Returns how many workgroups may be resident by now. */
static uint32_t suspend(struct ws_dispatch *d, struct ws_resident *r, bool waiting)
{
	uint32_t allowance;

	pthread_mutex_lock(&d->lock);
	push_suspended(d, r);
	/*
	 * A workgroup that waits may wait for one that is not resident yet: let another in. One
	 * that computes may also spin; when all have had their turns and none ended, assume so.
	 */
	if (waiting) {
		d->allowance++;
	} else if (++d->n_turns >= d->allowance) {
		d->n_turns = 0;
		d->allowance *= 2;
	}
	if (d->allowance > d->max_resident)
		d->allowance = d->max_resident;
	allowance = d->allowance;
	pthread_mutex_unlock(&d->lock);
	return allowance;
}

static void fail(struct ws_dispatch *d, const struct ws_fault *fault)
{
	pthread_mutex_lock(&d->lock);
	if (!d->failed) {
		d->failed = true;
		d->fault = *fault;
	}
	pthread_mutex_unlock(&d->lock);
	atomic_store(&d->launch.stop, true);
}

/* Wake another worker if there is more to do than this one does. */
static void call_help(struct ws_pool *pool, struct ws_dispatch *d)
{
	if (relaxed32(&d->n_suspended) < 2)
		return;
	pthread_mutex_lock(&pool->lock);
	if (pool->n_sleeping)
		pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

/* From when on there is another dispatch: alone, nobody has to ask for the time. */
static bool slice_over(uint64_t *until)
{
	uint64_t now = now_ns();

	if (!*until)
		*until = now + SLICE_NS;
	return now >= *until;
}

/* Run workgroups for a while. False: all there is waits. */
static bool run_turn(struct ws_pool *pool, struct ws_dispatch *d)
{
	struct ws_resident *r = NULL;
	uint64_t n_done = 0, until = 0;
	bool fruitful = false, starved = false;

	while (!stopped(d) && !starved && pick(pool, d, &r)) {
		switch (ws_wg_run(r->wg, BUDGET)) {
		case WS_WG_DONE:
			hand_over(d, r);
			n_done++;
			fruitful = true;
			if (relaxed32(&d->n_fruitless))
				atomic_store_explicit(&d->n_fruitless, 0, memory_order_relaxed);
			break;
		case WS_WG_RUNNABLE:
			suspend(d, r, false);
			r = NULL;
			fruitful = true;
			atomic_store_explicit(&d->n_fruitless, 0, memory_order_relaxed);
			call_help(pool, d);
			break;
		case WS_WG_WAITING:
			/* Not before all residents, and new ones if they may come, were tried. */
			starved = 2 * suspend(d, r, true) <= atomic_fetch_add(&d->n_fruitless, 1);
			r = NULL;
			call_help(pool, d);
			break;
		case WS_WG_FAULT:
			fail(d, ws_wg_fault(r->wg));
			break;
		}
		if (relaxed32(&pool->n_dispatches) > 1 && slice_over(&until))
			break;
	}
	pthread_mutex_lock(&d->lock);
	put_idle(d, r);
	if (n_done)
		d->n_turns = 0;
	pthread_mutex_unlock(&d->lock);
	if (n_done)
		atomic_fetch_add(&d->n_done, n_done);
	return fruitful;
}

/* --- the ring of dispatches; the pool's lock is held --- */

static void link_dispatch(struct ws_pool *pool, struct ws_dispatch *d)
{
	if (pool->dispatches) {
		d->next = pool->dispatches;
		d->prev = pool->dispatches->prev;
		d->prev->next = d->next->prev = d;
	} else {
		d->next = d->prev = pool->dispatches = d;
	}
	atomic_fetch_add(&pool->n_dispatches, 1);
}

static void unlink_dispatch(struct ws_pool *pool, struct ws_dispatch *d)
{
	d->next->prev = d->prev;
	d->prev->next = d->next;
	if (pool->dispatches == d)
		pool->dispatches = d->next == d ? NULL : d->next;
	atomic_fetch_sub(&pool->n_dispatches, 1);
}

static bool has_work(struct ws_dispatch *d)
{
	return has_new(d) || relaxed32(&d->n_suspended) || (stopped(d) && !d->n_users);
}

/* Round robin, so that every queue gets its share. */
static struct ws_dispatch *choose(struct ws_pool *pool)
{
	struct ws_dispatch *d = pool->dispatches;

	for (uint32_t n = relaxed32(&pool->n_dispatches); n; n--, d = d->next) {
		if (has_work(d)) {
			pool->dispatches = d->next;
			return d;
		}
	}
	return NULL;
}

static bool is_over(struct ws_dispatch *d)
{
	return !d->n_users && (stopped(d) || atomic_load(&d->n_done) == d->n_wgs);
}

static void end_dispatch(struct ws_pool *pool, struct ws_dispatch *d)
{
	keep_spares(pool, d->first);
	keep_spares(pool, d->idle);
	d->first = d->last = d->idle = NULL;
	pthread_mutex_destroy(&d->lock);
	d->ended(d);
}

/* --- workers --- */

static void nap(struct ws_pool *pool, uint64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += (long)ns;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	pool->n_sleeping++;
	pthread_cond_timedwait(&pool->work, &pool->lock, &ts);
	pool->n_sleeping--;
}

void ws_pool_pause(void)
{
	for (int i = 0; i < 64; i++)
		__builtin_ia32_pause();
}

/*
 * A program that launches small kernels one by one has the next one ready soon: to look for it costs
 * less than to sleep and be woken, which takes the program's own core on a small machine. One worker
 * does so, the others sleep. The pool's lock is held, but not while looking. True: look again.
 */
static bool linger(struct ws_pool *pool)
{
	uint64_t until = now_ns() + LINGER_NS;
	bool found = false;

	if (!pool->looker.look || pool->lingers || ws_pool_busy(pool))
		return false;
	pool->lingers = true;
	pthread_mutex_unlock(&pool->lock);
	while (!found && !atomic_load_explicit(&pool->stop, memory_order_relaxed) && now_ns() < until) {
		atomic_fetch_add_explicit(&pool->n_looks, 1, memory_order_relaxed);
		if (pool->looker.look(pool->looker.ctx))
			until = now_ns() + LINGER_NS;
		found = relaxed32(&pool->n_dispatches) != 0;
		if (!found)
			ws_pool_pause();
	}
	pthread_mutex_lock(&pool->lock);
	pool->lingers = false;
	found = relaxed32(&pool->n_dispatches) != 0;
	if (!found)
		pool->looker.rest(pool->looker.ctx);
	return found;
}

static void *worker_main(void *arg)
{
	struct ws_pool *pool = arg;
	uint32_t n_fruitless = 0;
	uint64_t nap_ns = NAP_LEAST_NS;
	bool rested = true;

	is_worker = true;
	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		struct ws_dispatch *d = choose(pool);
		bool fruitful, over;

		if (!d) {
			if (!rested && linger(pool))
				continue;
			rested = true;
			pool->n_sleeping++;
			pthread_cond_wait(&pool->work, &pool->lock);
			pool->n_sleeping--;
			n_fruitless = 0;
			continue;
		}
		rested = false;
		d->n_users++;
		pthread_mutex_unlock(&pool->lock);
		fruitful = run_turn(pool, d);
		pthread_mutex_lock(&pool->lock);
		d->n_users--;
		over = is_over(d);
		if (over) {
			unlink_dispatch(pool, d);
			pthread_mutex_unlock(&pool->lock);
			end_dispatch(pool, d);
			pthread_mutex_lock(&pool->lock);
		}
		if (fruitful || over) {
			n_fruitless = 0;
			nap_ns = NAP_LEAST_NS;
		} else if (++n_fruitless > relaxed32(&pool->n_dispatches)) {
			/* Every kernel waits for the host or for time: so do we. */
			nap(pool, nap_ns);
			nap_ns = nap_ns * 2 > NAP_MOST_NS ? NAP_MOST_NS : nap_ns * 2;
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct ws_pool *ws_pool_create(uint32_t n_workers, const struct ws_pool_looker *looker)
{
	long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n = n_workers ? n_workers : n_cores > 0 ? (uint32_t)n_cores : 1;
	struct ws_pool *pool = calloc(1, sizeof(*pool));
	pthread_condattr_t attr;

	if (!pool)
		return NULL;
	if (looker)
		pool->looker = *looker;
	pool->threads = calloc(n, sizeof(*pool->threads));
	pool->spares = calloc(n, sizeof(struct ws_resident *));
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_init(&pool->spare_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->work, &attr);
	pthread_condattr_destroy(&attr);
	/* Held until all are there: workers look at their number. */
	pthread_mutex_lock(&pool->lock);
	for (; pool->threads && pool->spares && pool->n_workers < n; pool->n_workers++) {
		if (!ws_pool_thread(&pool->threads[pool->n_workers], "ws-gpu-worker", worker_main,
				    pool))
			break;
	}
	pthread_mutex_unlock(&pool->lock);
	if (!pool->n_workers) {
		ws_pool_destroy(pool);
		return NULL;
	}
	return pool;
}

void ws_pool_destroy(struct ws_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (uint32_t i = 0; i < pool->n_workers; i++)
		pthread_join(pool->threads[i], NULL);
	for (uint32_t i = 0; i < pool->n_workers; i++)
		destroy_resident(pool->spares[i]);
	free(pool->spares);
	free(pool->threads);
	pthread_mutex_destroy(&pool->spare_lock);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void ws_pool_kick(struct ws_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

uint32_t ws_pool_n_workers(const struct ws_pool *pool)
{
	return pool->n_workers;
}

bool ws_pool_busy(struct ws_pool *pool)
{
	return relaxed32(&pool->n_dispatches) != 0;
}

uint32_t ws_pool_n_looks(struct ws_pool *pool)
{
	return relaxed32(&pool->n_looks);
}

/* The pool's lock is held. A worker that starts a dispatch comes for it next. */
static void wake_for(struct ws_pool *pool, const struct ws_dispatch *d)
{
	if (d->n_wgs > 1 || relaxed32(&pool->n_dispatches) > 1)
		pthread_cond_broadcast(&pool->work);
	else if (!is_worker)
		pthread_cond_signal(&pool->work);
}

void ws_pool_start(struct ws_pool *pool, struct ws_dispatch *d)
{
	d->failed = false;
	d->fault = (struct ws_fault){ .kind = WS_FAULT_NONE };
	d->n_users = 0;
	atomic_init(&d->next_wg, 0);
	atomic_init(&d->n_done, 0);
	atomic_init(&d->n_suspended, 0);
	atomic_init(&d->n_fruitless, 0);
	pthread_mutex_init(&d->lock, NULL);
	d->first = d->last = d->idle = NULL;
	d->n_residents = d->n_turns = 0;
	if (d->n_wgs < d->max_resident)
		d->max_resident = (uint32_t)d->n_wgs;
	d->allowance = pool->n_workers < d->max_resident ? pool->n_workers : d->max_resident;
	d->new_one_next = false;

	pthread_mutex_lock(&pool->lock);
	link_dispatch(pool, d);
	wake_for(pool, d);
	pthread_mutex_unlock(&pool->lock);
}

void ws_pool_stop(struct ws_pool *pool, struct ws_dispatch *d)
{
	atomic_store(&d->launch.stop, true);
	pthread_mutex_lock(&pool->lock);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}
