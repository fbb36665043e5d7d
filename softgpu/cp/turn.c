/* One worker in one dispatch: which workgroup is next, and what becomes of those that cannot go on. */
#include <stdlib.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/pool_priv.h"
#include "softgpu/exec/traced_run.h"

#define BUDGET 200000ull    /* wave-instructions of one turn: some milliseconds */
#define SLICE_NS 2000000ull /* then another dispatch, if there is one */

/*
 * s_sleep takes time on the device and none on the host. A workgroup whose waves all sleep lets others run,
 * because it may wait for them. When all workgroups sleep, they continue at once, many sleeps per turn, for
 * a number of turns. After that only one worker continues them, for short times with naps in between, because
 * the kernel may poll for something that the host has not done yet. In a counted kernel each sleep is simulated
 * time, which must not exceed real time: the kernel continues while it has slept less than it has waited.
 */
#define SLEEPS 64
#define SLEEPS_COUNTED 32
#define COUNTED_TURN_NS 160000ull /* so many of the longest sleep take that long at 1.7 GHz */
#define TURNS_EACH 1024u          /* some milliseconds of a workgroup that only sleeps */
#define TURNS_MOST 16384u
#define PATIENCE_NS 200000ull

/* --- storage of workgroups; the dispatch's lock is held --- */

static void push_suspended(struct sg_dispatch *d, struct sg_resident *r)
{
	r->next = NULL;
	if (d->last)
		d->last->next = r;
	else
		d->first = r;
	d->last = r;
	atomic_fetch_add(&d->n_suspended, 1);
}

static struct sg_resident *pop_suspended(struct sg_dispatch *d)
{
	struct sg_resident *r = d->first;

	if (!r)
		return NULL;
	d->first = r->next;
	if (!d->first)
		d->last = NULL;
	atomic_fetch_sub(&d->n_suspended, 1);
	return r;
}

static void put_idle(struct sg_dispatch *d, struct sg_resident *r)
{
	if (!r)
		return;
	r->next = d->idle;
	d->idle = r;
}

static struct sg_resident *take_spare(struct sg_pool *pool, uint32_t slot, uint32_t n_waves)
{
	struct sg_resident *r;

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

static void discard_traces(struct sg_resident *r)
{
	sg_counted_dispatch_discard(r->traces);
	sg_counted_dispatch_discard(r->spare);
	r->traces = r->spare = NULL;
}

void sg_resident_destroy(struct sg_resident *r)
{
	if (!r)
		return;
	if (r->wg)
		sg_wg_destroy(r->wg);
	discard_traces(r);
	free(r);
}

/* The newest one stays: what ran last is what probably comes next. */
static void keep_spares(struct sg_pool *pool, struct sg_resident *r)
{
	while (r) {
		struct sg_resident *next = r->next, *old = r;

		discard_traces(r);
		if (r->slot < pool->n_workers) {
			pthread_mutex_lock(&pool->spare_lock);
			old = pool->spares[r->slot];
			pool->spares[r->slot] = r;
			pthread_mutex_unlock(&pool->spare_lock);
		}
		sg_resident_destroy(old);
		r = next;
	}
}

static struct sg_resident *new_resident(struct sg_pool *pool, struct sg_dispatch *d)
{
	uint32_t slot = d->n_residents, n_waves = d->launch.n_waves_per_wg;
	struct sg_resident *r = take_spare(pool, slot, n_waves);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct sg_resident){ .wg = sg_wg_create(&d->launch, slot),
				   .slot = slot,
				   .n_waves = n_waves };
	if (!r->wg) {
		free(r);
		return NULL;
	}
	return r;
}

static struct sg_resident *get_idle(struct sg_pool *pool, struct sg_dispatch *d)
{
	struct sg_resident *r = d->idle;

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
static bool leaves_trace(const struct sg_dispatch *d, uint64_t index)
{
	return d->count && (sg_counted_dispatch_models(d->count, index) || d->launch.undo);
}

static void load(struct sg_dispatch *d, struct sg_resident *r, uint64_t index)
{
	const uint32_t *n = d->launch.n_wg;
	uint32_t id[3] = {
		(uint32_t)(index % n[0]),
		(uint32_t)(index / n[0] % n[1]),
		(uint32_t)(index / n[0] / n[1]),
	};

	r->index = index;
	if (leaves_trace(d, index)) {
		r->traces = r->spare ? r->spare : sg_counted_dispatch_start(d->count);
		r->spare = NULL;
	}
	sg_wg_set_traces(r->wg, r->traces ? r->traces->waves : NULL);
	sg_wg_start(r->wg, &d->launch, id);
}

/* The workgroup is done: the model has it from here. */
static void hand_over(struct sg_dispatch *d, struct sg_resident *r)
{
	if (!d->count)
		return;
	if (!r->traces && leaves_trace(d, r->index))
		sg_counted_dispatch_cancel(
			d->count); /* out of memory: no counters, but the results are right */
	else if (r->traces &&
		 (!sg_counted_dispatch_models(d->count, r->index) ||
		  sg_counted_dispatch_done(d->count, r->index, r->traces, sg_wg_n_waves(r->wg))))
		r->spare = r->traces;
	r->traces = NULL;
}

bool sg_dispatch_has_new(struct sg_dispatch *d)
{
	uint64_t next = atomic_load_explicit(&d->next_wg, memory_order_relaxed);

	return next < d->n_wgs &&
	       (!d->count || sg_counted_dispatch_may_start(d->count, next * d->stride));
}

static bool load_next(struct sg_dispatch *d, struct sg_resident *r)
{
	uint64_t index;

	if (!sg_dispatch_has_new(d))
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
static bool pick(struct sg_pool *pool, struct sg_dispatch *d, struct sg_resident **r)
{
	bool found = false;

	if (*r && !sg_relaxed32(&d->n_suspended))
		return load_next(d, *r);

	pthread_mutex_lock(&d->lock);
	d->new_one_next = !d->new_one_next;
	if ((d->new_one_next || !d->first) && sg_dispatch_has_new(d)) {
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
static uint32_t suspend(struct sg_dispatch *d, struct sg_resident *r, bool waiting)
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

static void fail(struct sg_dispatch *d, const struct sg_fault *fault)
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
static void call_help(struct sg_pool *pool, struct sg_dispatch *d)
{
	if (sg_relaxed32(&d->n_suspended) < 2)
		return;
	pthread_mutex_lock(&pool->lock);
	if (pool->n_sleeping)
		pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

/* Whether the time slice is over. A dispatch that runs alone needs no slices, and reads no clock. */
static bool slice_over(uint64_t *until)
{
	uint64_t now = sg_pool_now_ns();

	if (!*until)
		*until = now + SLICE_NS;
	return now >= *until;
}

static bool has_slept_too_long(struct sg_dispatch *d, uint32_t n_residents)
{
	uint64_t since = atomic_load_explicit(&d->waits_since_ns, memory_order_relaxed);
	uint64_t n_turns = sg_relaxed32(&d->n_fruitless) / n_residents;

	return n_turns * COUNTED_TURN_NS > sg_pool_now_ns() - since;
}

/* All workgroups of the dispatch wait. Shall this worker go on all the same? */
static bool is_patient(struct sg_pool *pool, struct sg_dispatch *d, uint32_t n_residents,
		       uint64_t *until)
{
	if (sg_relaxed32(&pool->n_dispatches) > 1)
		return false;
	if (d->count)
		return !has_slept_too_long(d, n_residents);
	if (sg_relaxed32(&d->n_fruitless) <
	    (n_residents < TURNS_MOST / TURNS_EACH ? n_residents * TURNS_EACH : TURNS_MOST))
		return true;
	if (!*until) {
		if (atomic_exchange_explicit(&pool->patient, true, memory_order_acquire))
			return false;
		*until = sg_pool_now_ns() + PATIENCE_NS;
	}
	return sg_pool_now_ns() < *until;
}

static void got_somewhere(struct sg_dispatch *d)
{
	if (sg_relaxed32(&d->n_fruitless))
		atomic_store_explicit(&d->n_fruitless, 0, memory_order_relaxed);
}

/* A workgroup whose waves all wait. False: so do all others; leave the dispatch for a while. */
static bool waits(struct sg_pool *pool, struct sg_dispatch *d, struct sg_resident *r,
		  uint64_t *patient_until)
{
	uint32_t allowance = suspend(d, r, true);
	uint32_t n_before = atomic_fetch_add(&d->n_fruitless, 1);

	if (!n_before && d->count)
		atomic_store_explicit(&d->waits_since_ns, sg_pool_now_ns(), memory_order_relaxed);
	/* Not before all residents, and new ones if they may come, were tried. */
	if (2 * allowance <= n_before)
		return is_patient(pool, d, allowance, patient_until);
	call_help(pool, d);
	return true;
}

bool sg_dispatch_turn(struct sg_pool *pool, struct sg_dispatch *d)
{
	struct sg_resident *r = NULL;
	uint64_t n_done = 0, until = 0, patient_until = 0;
	uint32_t n_sleeps = d->count ? SLEEPS_COUNTED : SLEEPS;
	bool fruitful = false, starved = false;

	while (!sg_dispatch_stopped(d) && !starved && pick(pool, d, &r)) {
		/* Who is alone sleeps as long as it likes; among others, once they were seen to sleep. */
		bool asleep = sg_relaxed32(&d->n_fruitless) > 2 * sg_relaxed32(&d->n_suspended);

		switch (sg_wg_run(r->wg, BUDGET, asleep ? n_sleeps : 0)) {
		case SG_WG_DONE:
			hand_over(d, r);
			n_done++;
			atomic_fetch_add_explicit(&d->n_done, 1, memory_order_relaxed);
			fruitful = true;
			got_somewhere(d);
			break;
		case SG_WG_RUNNABLE:
			suspend(d, r, false);
			r = NULL;
			fruitful = true;
			got_somewhere(d);
			call_help(pool, d);
			break;
		case SG_WG_WAITING:
			starved = !waits(pool, d, r, &patient_until);
			r = NULL;
			break;
		case SG_WG_FAULT:
			fail(d, sg_wg_fault(r->wg));
			break;
		}
		if (sg_relaxed32(&pool->n_dispatches) > 1 && slice_over(&until))
			break;
	}
	if (patient_until)
		atomic_store_explicit(&pool->patient, false, memory_order_release);
	pthread_mutex_lock(&d->lock);
	put_idle(d, r);
	if (n_done)
		d->n_turns = 0;
	pthread_mutex_unlock(&d->lock);
	return fruitful;
}

void sg_dispatch_clear(struct sg_pool *pool, struct sg_dispatch *d)
{
	keep_spares(pool, d->first);
	keep_spares(pool, d->idle);
	d->first = d->last = d->idle = NULL;
	pthread_mutex_destroy(&d->lock);
}
