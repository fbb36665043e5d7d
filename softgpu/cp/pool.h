/*
 * pool: the worker threads and the kernels they run.
 *
 * Workgroups of a dispatch start in increasing order. One that has used up its budget is put last and
 * others run, so a workgroup that spins does not block what it waits for: an earlier workgroup, a
 * later one (as far as the device could hold both), another queue, or the host. The device's size and
 * its scratch slots bound the number of resident workgroups. Within that bound few are started at
 * first, and more only when none of them makes progress.
 *
 * Threads  start, stop: any. The `ended` callback runs on a worker, once, when no worker touches the
 *          dispatch any more.
 */
#ifndef WS_SOFTGPU_CP_POOL_H
#define WS_SOFTGPU_CP_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softgpu/exec/launch.h"

struct sg_pool;
struct sg_resident;
struct sg_counted_dispatch;

struct sg_dispatch {
	struct sg_launch launch; /* initialised; the pool does not finish it */
	uint32_t max_resident;   /* workgroups; at least 1 */
	void (*ended)(struct sg_dispatch *dispatch);
	struct sg_counted_dispatch *count; /* NULL: it is not counted */
	uint64_t n_wgs, stride;            /* workgroups to run, every stride-th of the launch's */

	/* results */
	bool failed; /* `fault` says why; a fault of kind NONE is lack of memory */
	struct sg_fault fault;

	/* --- private to the pool --- */
	struct sg_dispatch *next, *prev;
	uint32_t n_users; /* workers inside; the pool's lock */
	_Atomic uint64_t next_wg;
	_Atomic uint64_t n_done;
	_Atomic uint32_t n_suspended;
	_Atomic uint32_t n_fruitless;     /* turns since the last that made progress */
	_Atomic uint64_t waits_since_ns;  /* when the first of them began */
	pthread_mutex_t lock;             /* what follows */
	struct sg_resident *first, *last; /* suspended, oldest first */
	struct sg_resident *idle;         /* storage without a workgroup */
	uint32_t n_residents;             /* storages created */
	uint32_t allowance;               /* how many there may be at present */
	uint32_t n_turns;                 /* used-up budgets since a workgroup ended */
	bool new_one_next;
};

/* Called by a worker without work. */
struct sg_pool_looker {
	bool (*look)(
		void *ctx); /* polls for a while and may start a dispatch; true: it did something */
	void (*rest)(
		void *ctx); /* nothing found: others have to poll from now on. Must take no lock */
	void *ctx;
};

/* n_workers 0: number of cores. looker NULL: workers do not poll. */
struct sg_pool *sg_pool_create(uint32_t n_workers, const struct sg_pool_looker *looker);
void sg_pool_destroy(struct sg_pool *pool); /* no dispatch is running */

/* Fields above the line are set; the rest is initialised here. */
void sg_pool_start(struct sg_pool *pool, struct sg_dispatch *dispatch);
/* End it soon, finished or not. */
void sg_pool_stop(struct sg_pool *pool, struct sg_dispatch *dispatch);
/* Workgroups that had to wait for the model may start now. */
void sg_pool_kick(struct sg_pool *pool);
/* The state of a dispatch, for reports. */
struct sg_dispatch_view {
	const struct sg_dispatch *dispatch; /* to compare only */
	uint64_t id, kernel_object;
	uint64_t n_wgs, n_done, n_instructions;
	uint32_t n_residents;
	bool waits;             /* no workgroup made progress in its last turn */
	struct sg_wg_wait wait; /* of one of them; n_waves 0: each is on a worker at the moment */
};

/* Those that run, at most max of them. Returns how many. */
uint32_t sg_pool_view(struct sg_pool *pool, struct sg_dispatch_view *views, uint32_t max);

uint32_t sg_pool_n_workers(const struct sg_pool *pool);
bool sg_pool_busy(struct sg_pool *pool);
uint32_t sg_pool_n_looks(struct sg_pool *pool); /* how often workers have polled for work */

/* Between two reads of memory that another core writes. */
void sg_pool_pause(void);

/* Starts a named thread with all signals blocked, so that it receives none of the program's. */
bool sg_pool_thread(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
