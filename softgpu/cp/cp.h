/*
 * cp: the command processor. It polls the rings of all queues, executes their packets in order, and
 * distributes the workgroups of kernels to worker threads.
 *
 * One command processor serves all GPUs of a process: one thread polls, n workers run waves. A
 * packet that has to wait (a barrier, a poll, a running kernel) blocks its own queue only. Nothing
 * here waits for the host.
 *
 * struct sg_cp_host is the interface to everything else: which memory is accessible, whom to
 * interrupt, where faults are reported. GPU address A is at host address mem->host_base + A.
 *
 * Threads  all functions: any thread. Callbacks arrive on device threads; they must not call back
 *          into a queue. sg_cp_queue_destroy() is synchronous: afterwards nothing touches the ring,
 *          the pointers or the doorbell, also when a kernel was running.
 */
#ifndef WS_SOFTGPU_CP_CP_H
#define WS_SOFTGPU_CP_CP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softgpu/cp/watch.h"
#include "softgpu/exec/launch.h"
#include "softgpu/mem/mem_block.h"

struct sg_counting;
struct sg_pm4;
struct sg_cp;
struct sg_busy_time;
struct sg_traps;
struct sg_queue;

struct sg_cp_fault {
	uint32_t node;
	uint64_t address;
	bool write;
	bool hang; /* a queue is at a packet that it cannot execute */
};

/* The allocation next to an address. */
struct sg_cp_nearest {
	uint64_t start, size;
	const char *what; /* which kind of memory, for a message */
};

struct sg_cp_host {
	const struct sg_mem_map *mem;
	/* May the device touch [addr, addr + size)? Must take no lock. */
	bool (*accessible)(void *ctx, uint64_t addr, uint64_t size);
	/* Called around accesses: accessible memory stays mapped until leave. NULL: it always does. */
	void (*enter)(void *ctx);
	void (*leave)(void *ctx);
	void (*interrupt)(void *ctx, uint32_t event_id);
	void (*memory_fault)(void *ctx, const struct sg_cp_fault *fault);
	/* The block around an address, as GPU `node` sees it; size 0: there is none. NULL: all memory is
	 * the device's. */
	void (*find_block)(void *ctx, uint32_t node, uint64_t addr, struct sg_mem_block *out);
	/* For messages: the allocation nearest to an address. NULL, or false: there is none. */
	bool (*nearest)(void *ctx, uint64_t addr, struct sg_cp_nearest *out);
	void *ctx;
};

/* What packets use of one GPU. Outlives its queues. */
struct sg_cp_gpu {
	uint32_t node;
	enum sg_isa_target target;
	uint32_t n_cus; /* of all dies */
	uint32_t n_xccs,
		first_xcc; /* dies, from gfx942 on; of a partition, which ones of the board */
	struct sg_code_cache *code_cache;
	struct sg_gws *gws;
	struct sg_counting *counting; /* NULL: cannot count */
	struct sg_pm4 *pm4;           /* NULL: PM4 packets do nothing but invalidate code */
	struct sg_traps *traps;       /* NULL: there are no trap handlers */
	struct sg_busy_time *busy;    /* NULL: not measured */
	_Atomic uint32_t *n_queues;   /* counted there; NULL: nowhere */
};

enum sg_queue_type { SG_QUEUE_AQL, SG_QUEUE_SDMA };

struct sg_queue_desc {
	enum sg_queue_type type;
	void *ring;                  /* host addresses, all of them */
	uint64_t size_bytes;         /* a power of two */
	_Atomic uint64_t *write_ptr; /* AQL: packets; SDMA: bytes; neither wraps */
	_Atomic uint64_t *read_ptr;  /* AQL: the one in amd_queue_t */
	_Atomic uint64_t *doorbell;  /* NULL: only the write pointer is used */
	uint64_t error_addr;  /* of a word for exceptions; 0: errors go to the queue's signal */
	uint32_t error_event; /* signaled after the word was written */
};

/* n_workers 0: as many as the machine has cores. NULL: no memory or no threads. */
struct sg_cp *sg_cp_create(const struct sg_cp_host *host, uint32_t n_workers);
void sg_cp_destroy(struct sg_cp *cp); /* all queues are destroyed already */

/* A doorbell may have been rung, or somebody waits: poll soon. Cheap. */
void sg_cp_kick(struct sg_cp *cp);

/* Reports packets that end, see watch.h. */
void sg_cp_watch(struct sg_cp *cp, softgpu_watcher *watcher);

/* Wave-instructions executed by all dispatches that have ended. */
uint64_t sg_cp_n_instructions(const struct sg_cp *cp);

/* NULL: bad description or no memory. */
struct sg_queue *sg_cp_queue_create(struct sg_cp *cp, const struct sg_cp_gpu *gpu,
				    const struct sg_queue_desc *desc);
void sg_cp_queue_destroy(struct sg_queue *queue);
/* Not active: the queue starts no further packet once this has returned. */
void sg_cp_queue_set_active(struct sg_queue *queue, bool active);
void sg_cp_queue_use_gws(struct sg_queue *queue);

#endif
