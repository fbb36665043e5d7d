/*
 * pool: the worker threads and the kernels they run.
 *
 * Workgroups of a dispatch start in increasing order. One that used up its budget goes to the back
 * and others get their turn, so whatever a workgroup spins on comes to pass: an earlier workgroup, a
 * later one (as far as the device could hold both), another queue, or the host. How many workgroups
 * are resident is bounded by the device's size and its scratch slots; within that, few are started
 * at once, and more only when those that run get nowhere.
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

	/* --- the pool's --- */
	struct sg_dispatch *next, *prev;
	uint32_t n_users; /* workers inside; the pool's lock */
	_Atomic uint64_t next_wg;
	_Atomic uint64_t n_done;
	_Atomic uint32_t n_suspended;
	_Atomic uint32_t n_fruitless;     /* turns since one got somewhere */
	_Atomic uint64_t waits_since_ns;  /* the first of them */
	pthread_mutex_t lock;             /* what follows */
	struct sg_resident *first, *last; /* suspended, oldest first */
	struct sg_resident *idle;         /* storage without a workgroup */
	uint32_t n_residents;             /* storages created */
	uint32_t allowance;               /* how many there may be by now */
	uint32_t n_turns;                 /* used-up budgets since a workgroup ended */
	bool new_one_next;
};

/* What a worker calls that ran out of work. */
struct sg_pool_looker {
	bool (*look)(void *ctx); /* for a while: it may start a dispatch; whether it did anything */
	void (*rest)(void *ctx); /* nothing came: others have to look now. Must take no lock */
	void *ctx;
};

/* n_workers 0: number of cores. looker NULL: nobody looks. */
struct sg_pool *sg_pool_create(uint32_t n_workers, const struct sg_pool_looker *looker);
void sg_pool_destroy(struct sg_pool *pool); /* no dispatch is running */

/* Fields above the line are set; the rest is initialised here. */
void sg_pool_start(struct sg_pool *pool, struct sg_dispatch *dispatch);
/* End it soon, finished or not. */
void sg_pool_stop(struct sg_pool *pool, struct sg_dispatch *dispatch);
/* Workgroups that had to wait for the model may start now. */
void sg_pool_kick(struct sg_pool *pool);
/* A dispatch as somebody sees it who watches. */
struct sg_dispatch_view {
	const struct sg_dispatch *dispatch; /* to compare only */
	uint64_t id, kernel_object;
	uint64_t n_wgs, n_done, n_instructions;
	uint32_t n_residents;
	bool waits;             /* no workgroup got anywhere in its last turn */
	struct sg_wg_wait wait; /* of one of them; of no waves: each has a worker just now */
};

/* Those that run, at most max of them. Returns how many. */
uint32_t sg_pool_view(struct sg_pool *pool, struct sg_dispatch_view *views, uint32_t max);

uint32_t sg_pool_n_workers(const struct sg_pool *pool);
bool sg_pool_busy(struct sg_pool *pool);
uint32_t sg_pool_n_looks(struct sg_pool *pool); /* how often workers have looked for work */

/* Between two looks at memory that another core writes. */
void sg_pool_pause(void);

/* Start a thread that stays out of the program's way: named, and with its signals blocked. */
bool sg_pool_thread(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
