/* Shared by pool.c (threads and dispatches) and turn.c (what a worker does in one dispatch). */
#ifndef WS_SOFTGPU_CP_POOL_PRIV_H
#define WS_SOFTGPU_CP_POOL_PRIV_H

#include <time.h>

#include "softgpu/cp/pool.h"

struct sg_resident {
	struct sg_wg *wg;
	struct sg_resident *next;
	uint32_t slot, n_waves;
	uint64_t index;              /* of the workgroup that runs in it */
	struct sg_wg_traces *traces; /* what it leaves, while it is counted */
	struct sg_wg_traces *spare;  /* for the next one to leave */
};

struct sg_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct sg_dispatch *dispatches; /* a ring; points at the one whose turn it is */
	_Atomic uint32_t n_dispatches;
	uint32_t n_sleeping;
	bool lingers;             /* a worker looks for work */
	_Atomic bool patient;     /* a worker continues although all workgroups wait */
	_Atomic uint32_t n_looks; /* number of polls */
	_Atomic bool stop;
	struct sg_pool_looker looker;
	uint32_t n_workers;
	pthread_t *threads;

	/* Storage left over from earlier dispatches, one per low slot: small kernels start faster. */
	pthread_mutex_t spare_lock;
	struct sg_resident **spares;
};

static inline uint64_t sg_pool_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint32_t sg_relaxed32(_Atomic uint32_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static inline bool sg_dispatch_stopped(struct sg_dispatch *d)
{
	return atomic_load_explicit(&d->launch.stop, memory_order_relaxed);
}

/* Runs workgroups for a while. False: all of them wait. */
bool sg_dispatch_turn(struct sg_pool *pool, struct sg_dispatch *d);
/* Is there a workgroup that was not started and may be? */
bool sg_dispatch_has_new(struct sg_dispatch *d);
/* The dispatch is over: its storage goes back to the pool. */
void sg_dispatch_clear(struct sg_pool *pool, struct sg_dispatch *d);
void sg_resident_destroy(struct sg_resident *r); /* NULL is fine */

#endif
