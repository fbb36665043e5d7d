/* Shared by the files of the command processor. */
#ifndef WS_SOFTGPU_CP_CP_PRIV_H
#define WS_SOFTGPU_CP_CP_PRIV_H

#include <pthread.h>

#include "softgpu/cp/abi.h"
#include "softgpu/cp/cp.h"
#include "softgpu/cp/pool.h"
#include "softgpu/cp/traps.h"
#include "softgpu/pm4/pm4.h"

struct sg_cp {
	struct sg_cp_host host;
	struct sg_exec_hooks hooks;
	struct sg_pool *pool;

	pthread_t poller;
	bool poller_runs;
	_Atomic bool stop;
	_Atomic uint32_t kicks; /* a futex: the poller sleeps on it */
	_Atomic bool asleep;
	softgpu_watcher *_Atomic watcher; /* or NULL */
	_Atomic uint64_t n_instructions;  /* wave-instructions of the dispatches that have ended */

	struct sg_progress *progress; /* used by the poller; NULL: off */

	pthread_mutex_t lock; /* the list */
	struct sg_queue *queues;
	uint32_t n_queues;
	uint64_t n_turns; /* given out, see sg_cp_take_turn() */
};

enum sg_queue_progress {
	SG_STEP_IDLE, /* nothing in the ring, or what is there has to wait */
	SG_STEP_PROGRESS,
};

struct sg_queue {
	struct sg_cp *cp;
	const struct sg_cp_gpu *gpu;
	struct sg_queue_desc desc;
	struct sg_queue *next, **back;

	pthread_mutex_t lock; /* everything below; held for a bounded time only */
	pthread_cond_t quiet; /* the dispatch has ended */
	_Atomic bool active;
	_Atomic bool dying;
	_Atomic bool halted; /* failed permanently */
	struct sg_gws *gws;

	/* AQL */
	struct sg_amd_queue *amd;
	_Atomic bool dispatching; /* `dispatch` belongs to the pool */
	uint64_t turn;            /* its kernel waits for those of others; 0: no. The list's lock */
	struct sg_dispatch dispatch;
	uint64_t start_ticks;
	bool measured;     /* see busy.h */
	void *kept;        /* by the watcher */
	uint32_t n_passes; /* of a replayed dispatch, ended so far */
	uint64_t replay_from_ns;
	uint64_t pass_instructions; /* a pass that executes more is lost */
	struct sg_trapped trapped;

	/* used by the poller, see progress.c */
	uint64_t seen_index, seen_ns; /* the packet it was at, and since when */
	bool reported;

	struct sg_pm4_run pm4; /* the vendor packet at the read index, while it is active */

	/* SDMA */
	uint64_t done;        /* bytes, or rows, of the packet at the read pointer */
	uint64_t stamp_ticks; /* written by the last time stamp that began something */
	uint64_t copy_ns;     /* simulated, of the copies since; 0: there was none */
};

static inline void *sg_cp_pointer(const struct sg_cp *cp, uint64_t addr)
{
	const struct sg_mem_map *mem = cp->host.mem;

	if (addr >= mem->end && addr < mem->alias_end)
		return (void *)(uintptr_t)mem->host_of(mem->ctx, addr);
	return (void *)(uintptr_t)((addr + mem->host_base) & ~SG_PINNED_ALIAS);
}

static inline uint64_t sg_cp_address(const struct sg_cp *cp, const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer - cp->host.mem->host_base;
}

static inline bool sg_cp_accessible(const struct sg_cp *cp, uint64_t addr, uint64_t size)
{
	return cp->host.accessible(cp->host.ctx, addr, size);
}

/* The same for what a guard is around: memory of the program that may be unmapped at any time. */
static inline bool sg_cp_reachable(const struct sg_cp *cp, uint64_t addr, uint64_t size)
{
	const struct sg_mem_map *mem = cp->host.mem;

	return mem->reachable && (addr < mem->start || addr >= mem->end) &&
	       mem->reachable(mem->ctx, addr, size);
}

/* The structure behind a signal handle; NULL: not a signal. */
struct sg_amd_signal *sg_cp_signal(const struct sg_cp *cp, uint64_t handle);
/* Write the times, count down and wake. False: a handle that is not a signal; 0 is fine. */
bool sg_cp_complete(struct sg_cp *cp, uint64_t handle, uint64_t start_ticks, uint64_t end_ticks);

/*
 * A kernel is about to start, and the queue is `dispatching` from here on. False: counters are wanted,
 * and another queue of the GPU runs a kernel or has waited longer for its turn. Queue locked.
 */
bool sg_cp_take_turn(struct sg_queue *queue);
/* It cannot start for another reason: others need not wait for it. Queue locked. */
void sg_cp_leave_turn(struct sg_queue *queue);

/* The queue can start a packet. Cheap; without the queue's lock. */
bool sg_aql_ready(const struct sg_queue *queue);
bool sg_sdma_ready(const struct sg_queue *queue);
/* A vendor packet with a PM4 command buffer. Queue locked. */
enum sg_pm4_result sg_cp_pm4(struct sg_queue *queue, const union sg_aql_packet *packet);
/* Execute something, a bounded amount of it. Queue locked. */
enum sg_queue_progress sg_aql_step(struct sg_queue *queue);
enum sg_queue_progress sg_sdma_step(struct sg_queue *queue);
/* The dispatch of this queue has ended. Pool thread, queue not locked. */
void sg_aql_dispatch_ended(struct sg_dispatch *dispatch);

/* Step until there is no more to do at once, at most n times. Queue locked. */
enum sg_queue_progress sg_queue_advance(struct sg_queue *queue, uint32_t n);

#endif
