#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/cp/pool_priv.h"

#define NAP_LEAST_NS 50000ull /* when all that runs waits */
#define NAP_MOST_NS 1000000ull
#define NAP_SHARE 256      /* of the time that it has waited already */
#define LINGER_NS 20000ull /* a worker without work looks for some before it sleeps */

/* Whether the calling thread is one of the workers. */
static _Thread_local bool is_worker __attribute__((tls_model("initial-exec")));

bool sg_pool_thread(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
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

/* --- the ring of dispatches; the pool's lock is held --- */

static void link_dispatch(struct sg_pool *pool, struct sg_dispatch *d)
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

static void unlink_dispatch(struct sg_pool *pool, struct sg_dispatch *d)
{
	d->next->prev = d->prev;
	d->prev->next = d->next;
	if (pool->dispatches == d)
		pool->dispatches = d->next == d ? NULL : d->next;
	atomic_fetch_sub(&pool->n_dispatches, 1);
}

static bool has_work(struct sg_dispatch *d)
{
	return sg_dispatch_has_new(d) || sg_relaxed32(&d->n_suspended) ||
	       (sg_dispatch_stopped(d) && !d->n_users);
}

/* Round robin, so that every queue gets its share. */
static struct sg_dispatch *choose(struct sg_pool *pool)
{
	struct sg_dispatch *d = pool->dispatches;

	for (uint32_t n = sg_relaxed32(&pool->n_dispatches); n; n--, d = d->next) {
		if (has_work(d)) {
			pool->dispatches = d->next;
			return d;
		}
	}
	return NULL;
}

static bool is_over(struct sg_dispatch *d)
{
	return !d->n_users && (sg_dispatch_stopped(d) || atomic_load(&d->n_done) == d->n_wgs);
}

static void end_dispatch(struct sg_pool *pool, struct sg_dispatch *d)
{
	sg_dispatch_clear(pool, d);
	d->ended(d);
}

/* --- workers --- */

/* Sleeps in proportion to the time since *since; 0: that is now. The pool's lock is held. */
static void nap(struct sg_pool *pool, uint64_t *since)
{
	uint64_t now = sg_pool_now_ns(), ns;
	struct timespec ts = { .tv_sec = (time_t)(now / 1000000000u),
			       .tv_nsec = (long)(now % 1000000000u) };

	if (!*since)
		*since = now;
	ns = (now - *since) / NAP_SHARE;
	ns = ns < NAP_LEAST_NS ? NAP_LEAST_NS : ns > NAP_MOST_NS ? NAP_MOST_NS : ns;
	ts.tv_nsec += (long)ns;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	pool->n_sleeping++;
	pthread_cond_timedwait(&pool->work, &pool->lock, &ts);
	pool->n_sleeping--;
}

void sg_pool_pause(void)
{
	for (int i = 0; i < 64; i++)
		__builtin_ia32_pause();
}

/*
 * A program that launches small kernels one by one has the next one ready soon: to look for it costs
 * less than to sleep and be woken, which takes the program's own core on a small machine. One worker
 * does so, the others sleep. The pool's lock is held, but not while looking. True: look again.
 */
static bool linger(struct sg_pool *pool)
{
	uint64_t until = sg_pool_now_ns() + LINGER_NS;
	bool found = false;

	if (!pool->looker.look || pool->lingers || sg_pool_busy(pool))
		return false;
	pool->lingers = true;
	pthread_mutex_unlock(&pool->lock);
	while (!found && !atomic_load_explicit(&pool->stop, memory_order_relaxed) &&
	       sg_pool_now_ns() < until) {
		atomic_fetch_add_explicit(&pool->n_looks, 1, memory_order_relaxed);
		if (pool->looker.look(pool->looker.ctx))
			until = sg_pool_now_ns() + LINGER_NS;
		found = sg_relaxed32(&pool->n_dispatches) != 0;
		if (!found)
			sg_pool_pause();
	}
	pthread_mutex_lock(&pool->lock);
	pool->lingers = false;
	found = sg_relaxed32(&pool->n_dispatches) != 0;
	if (!found)
		pool->looker.rest(pool->looker.ctx);
	return found;
}

static void *worker_main(void *arg)
{
	struct sg_pool *pool = arg;
	uint32_t n_fruitless = 0;
	uint64_t waits_since = 0;
	bool rested = true;

	is_worker = true;
	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		struct sg_dispatch *d = choose(pool);
		bool fruitful, over;

		if (!d) {
			if (!rested && linger(pool))
				continue;
			if (pool->stop) /* while it lingered: nobody would wake it */
				break;
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
		fruitful = sg_dispatch_turn(pool, d);
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
			waits_since = 0;
		} else if (++n_fruitless > sg_relaxed32(&pool->n_dispatches)) {
			/* Every kernel waits for the host or for time: so do we. */
			nap(pool, &waits_since);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct sg_pool *sg_pool_create(uint32_t n_workers, const struct sg_pool_looker *looker)
{
	long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n = n_workers ? n_workers : n_cores > 0 ? (uint32_t)n_cores : 1;
	struct sg_pool *pool = calloc(1, sizeof(*pool));
	pthread_condattr_t attr;

	if (!pool)
		return NULL;
	if (looker)
		pool->looker = *looker;
	pool->threads = calloc(n, sizeof(*pool->threads));
	pool->spares = calloc(n, sizeof(struct sg_resident *));
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_init(&pool->spare_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->work, &attr);
	pthread_condattr_destroy(&attr);
	/* Held until all are there: workers look at their number. */
	pthread_mutex_lock(&pool->lock);
	for (; pool->threads && pool->spares && pool->n_workers < n; pool->n_workers++) {
		if (!sg_pool_thread(&pool->threads[pool->n_workers], "ws-gpu-worker", worker_main,
				    pool))
			break;
	}
	pthread_mutex_unlock(&pool->lock);
	if (!pool->n_workers) {
		sg_pool_destroy(pool);
		return NULL;
	}
	return pool;
}

void sg_pool_destroy(struct sg_pool *pool)
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
		sg_resident_destroy(pool->spares[i]);
	free(pool->spares);
	free(pool->threads);
	pthread_mutex_destroy(&pool->spare_lock);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void sg_pool_kick(struct sg_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

uint32_t sg_pool_n_workers(const struct sg_pool *pool)
{
	return pool->n_workers;
}

bool sg_pool_busy(struct sg_pool *pool)
{
	return sg_relaxed32(&pool->n_dispatches) != 0;
}

uint32_t sg_pool_n_looks(struct sg_pool *pool)
{
	return sg_relaxed32(&pool->n_looks);
}

/* The pool's lock is held. A worker that starts a dispatch comes for it next. */
static void wake_for(struct sg_pool *pool, const struct sg_dispatch *d)
{
	if (d->n_wgs > 1 || sg_relaxed32(&pool->n_dispatches) > 1)
		pthread_cond_broadcast(&pool->work);
	else if (!is_worker)
		pthread_cond_signal(&pool->work);
}

void sg_pool_start(struct sg_pool *pool, struct sg_dispatch *d)
{
	d->failed = false;
	d->fault = (struct sg_fault){ .kind = SG_FAULT_NONE };
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

void sg_pool_stop(struct sg_pool *pool, struct sg_dispatch *d)
{
	atomic_store(&d->launch.stop, true);
	pthread_mutex_lock(&pool->lock);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

static void view_dispatch(struct sg_dispatch *d, struct sg_dispatch_view *v)
{
	*v = (struct sg_dispatch_view){ .dispatch = d,
					.id = d->launch.dispatch_id,
					.kernel_object = d->launch.kernel_object,
					.n_wgs = d->n_wgs,
					.n_done = atomic_load(&d->n_done),
					.n_instructions = atomic_load(&d->launch.n_instructions) };
	pthread_mutex_lock(&d->lock);
	v->n_residents = d->n_residents;
	v->waits = sg_relaxed32(&d->n_fruitless) > 1;
	if (v->waits && d->first)
		sg_wg_get_wait(d->first->wg, &v->wait);
	pthread_mutex_unlock(&d->lock);
}

uint32_t sg_pool_view(struct sg_pool *pool, struct sg_dispatch_view *views, uint32_t max)
{
	struct sg_dispatch *d;
	uint32_t n = 0;

	pthread_mutex_lock(&pool->lock);
	d = pool->dispatches;
	for (uint32_t left = sg_relaxed32(&pool->n_dispatches); left && n < max;
	     left--, d = d->next)
		view_dispatch(d, &views[n++]);
	pthread_mutex_unlock(&pool->lock);
	return n;
}
