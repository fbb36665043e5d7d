/*
 * cp: the command processor. It watches the rings of all queues, executes their packets in order,
 * and deals the workgroups of kernels out to worker threads.
 *
 * One command processor serves all GPUs of a process: one thread polls, n workers run waves. A
 * packet that cannot go on (a barrier, a poll, a kernel under way) leaves its queue where it is and
 * never holds up another. Nothing here waits for the host.
 *
 * The world outside is struct ws_cp_host: whether memory may be touched, whom to interrupt, whom to
 * tell of a fault. GPU address A is at host address mem->host_base + A everywhere.
 *
 * Threads  all functions: any thread. Callbacks arrive on device threads; they must not call back
 *          into a queue. ws_cp_queue_destroy() is synchronous: afterwards nothing touches the ring,
 *          the pointers or the doorbell, also when a kernel was running.
 */
#ifndef WS_SOFTGPU_CP_CP_H
#define WS_SOFTGPU_CP_CP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softgpu/counters/mem_block.h"
#include "softgpu/cp/watch.h"
#include "softgpu/exec/launch.h"

struct ws_counting;
struct ws_cp;
struct ws_queue;

struct ws_cp_fault {
	uint32_t node;
	uint64_t address;
	bool write;
	bool hang;               /* a queue met a packet it cannot execute */
};

/* The allocation next to an address. */
struct ws_cp_nearest {
	uint64_t start, size;
	const char *what;             /* which kind of memory, for a message */
};

struct ws_cp_host {
	const struct ws_mem_map *mem;
	/* May the device touch [addr, addr + size)? Must take no lock. */
	bool (*accessible)(void *ctx, uint64_t addr, uint64_t size);
	/* Around accesses: what is accessible inside stays mapped until leave. NULL: always so. */
	void (*enter)(void *ctx);
	void (*leave)(void *ctx);
	void (*interrupt)(void *ctx, uint32_t event_id);
	void (*memory_fault)(void *ctx, const struct ws_cp_fault *fault);
	/* The block around an address, as the GPU that is `node` sees it; of no size when there is none. NULL:
	 * everything is the device's. */
	void (*find_block)(void *ctx, uint32_t node, uint64_t addr, struct ws_mem_block *out);
	/* For messages: the allocation nearest to an address. NULL, or false: there is none. */
	bool (*nearest)(void *ctx, uint64_t addr, struct ws_cp_nearest *out);
	void *ctx;
};

/* One GPU, as far as packets need to know it. Lives longer than its queues. */
struct ws_cp_gpu {
	uint32_t node;
	enum ws_target target;
	uint32_t n_cus;
	struct ws_code_cache *code_cache;
	struct ws_gws *gws;
	struct ws_counting *counting; /* NULL: cannot count */
};

enum ws_queue_type { WS_QUEUE_AQL, WS_QUEUE_SDMA };

struct ws_queue_desc {
	enum ws_queue_type type;
	void *ring;                   /* host addresses, all of them */
	uint64_t size_bytes;          /* a power of two */
	_Atomic uint64_t *write_ptr;  /* AQL: packets; SDMA: bytes; neither wraps */
	_Atomic uint64_t *read_ptr;   /* AQL: the one in amd_queue_t */
	_Atomic uint64_t *doorbell;   /* NULL: the write pointer is all there is */
};

/* n_workers 0: as many as the machine has cores. NULL: no memory or no threads. */
struct ws_cp *ws_cp_create(const struct ws_cp_host *host, uint32_t n_workers);
void ws_cp_destroy(struct ws_cp *cp); /* all queues are destroyed already */

/* Somebody may have rung a doorbell, or waits for an answer: look soon. Cheap. */
void ws_cp_kick(struct ws_cp *cp);

/* Tell of packets that end, see watch.h. */
void ws_cp_watch(struct ws_cp *cp, ws_softgpu_watcher *watcher);

/* Wave-instructions executed by all dispatches that have ended. */
uint64_t ws_cp_n_instructions(const struct ws_cp *cp);

/* NULL: bad description or no memory. */
struct ws_queue *ws_cp_queue_create(struct ws_cp *cp, const struct ws_cp_gpu *gpu,
				    const struct ws_queue_desc *desc);
void ws_cp_queue_destroy(struct ws_queue *queue);
/* Not active: the queue starts no further packet. */
void ws_cp_queue_set_active(struct ws_queue *queue, bool active);
void ws_cp_queue_use_gws(struct ws_queue *queue);

#endif
