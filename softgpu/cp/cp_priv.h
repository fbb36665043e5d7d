/* What the files of the command processor share. */
#ifndef WS_SOFTGPU_CP_PRIV_H
#define WS_SOFTGPU_CP_PRIV_H

#include <pthread.h>

#include "softgpu/cp/cp.h"
#include "softgpu/cp/pool.h"
#include "softgpu/cp/abi.h"

struct ws_cp {
	struct ws_cp_host host;
	struct ws_exec_hooks hooks;
	struct ws_pool *pool;

	pthread_t poller;
	bool poller_runs;
	_Atomic bool stop;
	_Atomic uint32_t kicks;       /* a futex: the poller sleeps on it */
	_Atomic bool asleep;
	ws_softgpu_watcher *_Atomic watcher; /* or NULL */
	_Atomic uint64_t n_instructions; /* wave-instructions of the dispatches that have ended */

	struct ws_progress *progress; /* the poller's; NULL: nobody wants to know */

	pthread_mutex_t lock;         /* the list */
	struct ws_queue *queues;
	uint32_t n_queues;
	uint64_t n_turns;             /* given out, see ws_cp_take_turn() */
};

enum ws_step {
	WS_STEP_IDLE,                 /* nothing in the ring, or what is there has to wait */
	WS_STEP_PROGRESS,
};

struct ws_queue {
	struct ws_cp *cp;
	const struct ws_cp_gpu *gpu;
	struct ws_queue_desc desc;
	struct ws_queue *next, **back;

	pthread_mutex_t lock;         /* everything below; held for a bounded time only */
	pthread_cond_t quiet;         /* the dispatch has ended */
	_Atomic bool active;
	_Atomic bool dying;
	_Atomic bool halted;          /* failed for good */
	struct ws_gws *gws;

	/* AQL */
	struct ws_amd_queue *amd;
	_Atomic bool dispatching;     /* `dispatch` belongs to the pool */
	uint64_t turn;                /* its kernel waits for those of others; 0: no. The list's lock */
	struct ws_dispatch dispatch;
	uint64_t start_ticks;
	void *kept;                   /* by the watcher */
	uint32_t n_passes;            /* of a replayed dispatch, ended so far */
	uint64_t replay_from_ns;

	/* the poller's, see progress.c */
	uint64_t seen_index, seen_ns; /* the packet it was at, and since when */
	bool told;

	/* SDMA */
	uint64_t done;                /* bytes, or rows, of the packet at the read pointer */
	uint64_t stamp_ticks;         /* written by the last time stamp that began something */
	uint64_t copy_ns;             /* simulated, of the copies since; 0: there was none */
};

static inline void *ws_cp_pointer(const struct ws_cp *cp, uint64_t addr)
{
	return (void *)(uintptr_t)((addr + cp->host.mem->host_base) & ~WS_PINNED_ALIAS);
}

static inline uint64_t ws_cp_address(const struct ws_cp *cp, const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer - cp->host.mem->host_base;
}

static inline bool ws_cp_accessible(const struct ws_cp *cp, uint64_t addr, uint64_t size)
{
	return cp->host.accessible(cp->host.ctx, addr, size);
}

/* The same for what a guard is around: memory of the program that may be unmapped at any time. */
static inline bool ws_cp_reachable(const struct ws_cp *cp, uint64_t addr, uint64_t size)
{
	const struct ws_mem_map *mem = cp->host.mem;

	return mem->reachable && (addr < mem->start || addr >= mem->end) && mem->reachable(mem->ctx, addr, size);
}

/* The structure behind a signal handle; NULL: not a signal. */
struct ws_amd_signal *ws_cp_signal(const struct ws_cp *cp, uint64_t handle);
/* Write the times, count down and wake. False: a handle that is not a signal; 0 is fine. */
bool ws_cp_complete(struct ws_cp *cp, uint64_t handle, uint64_t start_ticks, uint64_t end_ticks);

/*
 * A kernel is about to start, and the queue is `dispatching` from here on. False: counters are wanted,
 * and another queue of the GPU runs a kernel or has waited longer for its turn. Queue locked.
 */
bool ws_cp_take_turn(struct ws_queue *queue);
/* It cannot start for another reason: others need not wait for it. Queue locked. */
void ws_cp_leave_turn(struct ws_queue *queue);

/* The queue can start a packet. Cheap; without the queue's lock. */
bool ws_aql_ready(const struct ws_queue *queue);
bool ws_sdma_ready(const struct ws_queue *queue);
/* Execute something, a bounded amount of it. Queue locked. */
enum ws_step ws_aql_step(struct ws_queue *queue);
enum ws_step ws_sdma_step(struct ws_queue *queue);
/* The dispatch of this queue has ended. Pool thread, queue not locked. */
void ws_aql_dispatch_ended(struct ws_dispatch *dispatch);

/* Step until there is no more to do at once, at most n times. Queue locked. */
enum ws_step ws_queue_advance(struct ws_queue *queue, uint32_t n);

#endif
