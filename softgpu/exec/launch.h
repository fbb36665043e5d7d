/*
 * launch: one kernel dispatch as its waves see it, and the workgroups that run it.
 *
 * The command processor fills the inputs from the packet, the kernel descriptor and the queue,
 * calls sg_launch_init(), and then hands workgroups to as many threads as it likes:
 *
 *	wg = sg_wg_create(launch, slot)     storage of one resident workgroup; reused
 *	sg_wg_start(wg, id)                 put workgroup `id` at its first instruction
 *	sg_wg_run(wg, budget, n_sleeps)     run it for about `budget` wave-instructions
 *
 * A workgroup is suspended between two calls of sg_wg_run() and may continue on another thread.
 * Nothing here starts threads, waits or sleeps: who runs what, and when, is the caller's decision.
 *
 * Threads  launch: init and fini by one thread; read-only in between, except what is marked atomic.
 *          wg: one thread at a time.
 * Faults   an access that the device may not make ends sg_wg_run() with SG_WG_FAULT; the process
 *          lives on. Needs sg_guard_install() once per process (mem/guard.h).
 */
#ifndef WS_SOFTGPU_EXEC_LAUNCH_H
#define WS_SOFTGPU_EXEC_LAUNCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softgpu/isa/isa.h"
#include "softgpu/mem/address.h"

struct sg_code;
struct sg_code_cache;
struct sg_code_window;
struct sg_gws;
struct sg_trap_wave;
struct sg_undo;
struct sg_wg;

/* What the waves can reach. GPU address A is at host address host_base + A, without SG_PINNED_ALIAS. */
struct sg_mem_map {
	uint64_t host_base;  /* 0: the two address spaces are one */
	uint64_t start, end; /* device aperture, GPU addresses; unmapped pages inside it fault */
	/* Outside the aperture: may the device access [addr, addr + size)? (pinned host memory) */
	bool (*reachable)(void *ctx, uint64_t addr, uint64_t size);
	/* Addresses from `end` to `alias_end` stand for other ones of the host. alias_end 0: there are none. */
	uint64_t alias_end;
	uint64_t (*host_of)(void *ctx, uint64_t addr);
	void *ctx;
};

/* Calls of the waves to the rest of the device. */
struct sg_exec_hooks {
	/* s_sendmsg(interrupt): wake the event of this id */
	void (*interrupt)(void *ctx, uint32_t event_id);
	void *ctx;
};

enum sg_fault_kind {
	SG_FAULT_NONE,
	SG_FAULT_MEMORY,   /* access to an address that is not mapped for the device */
	SG_FAULT_ILLEGAL,  /* not an instruction of this target */
	SG_FAULT_TRAP,     /* s_trap: device abort(), assert */
	SG_FAULT_APERTURE, /* outside of LDS or scratch through a flat address */
};

struct sg_fault {
	enum sg_fault_kind kind;
	uint64_t pc;      /* GPU address of the instruction */
	uint64_t address; /* memory faults: the first address that failed */
	bool write;
	uint32_t trap_id;
	uint32_t wg[3]; /* workgroup, wave in it, and lane; -1: not of one lane */
	uint32_t wave;
	int32_t lane;
	char text[120]; /* the instruction, disassembled; empty: not one */
};

#define SG_LAUNCH_MAX_PRELOADED 16 /* as many user SGPRs as there are */

struct sg_launch {
	/* --- inputs, filled by the caller --- */
	enum sg_isa_target target;
	const struct sg_mem_map *mem;
	const struct sg_exec_hooks *hooks;
	struct sg_code_cache *code_cache;
	struct sg_gws *gws;         /* NULL: the queue has no global wave sync */
	uint32_t n_xccs, first_xcc; /* dies of the GPU, which a wave can ask for; 0: it has none */

	uint64_t kernel_object;       /* GPU address of the kernel descriptor */
	uint64_t entry;               /* GPU address of the first instruction */
	uint32_t rsrc1, rsrc2, rsrc3; /* compute_pgm_rsrc1..3 of the descriptor */
	uint16_t properties;          /* kernel code properties */

	uint32_t grid_size[3]; /* in work-items */
	uint16_t wg_size[3];
	uint32_t private_bytes; /* scratch per lane */
	uint32_t lds_bytes;
	uint64_t kernarg;
	uint32_t preloaded[SG_LAUNCH_MAX_PRELOADED]; /* kernel arguments, behind the user SGPRs */
	uint32_t n_preloaded;
	uint64_t dispatch_ptr; /* GPU address of the AQL packet */
	uint64_t queue_ptr;    /* GPU address of amd_queue_t */
	uint64_t dispatch_id;

	uint32_t scratch_descriptor[4];
	uint64_t scratch_base; /* scratch_backing_memory_location */
	uint32_t scratch_wave_bytes;
	uint32_t n_scratch_waves; /* wave slots that the backing memory has room for */
	uint32_t shared_aperture_hi, private_aperture_hi;
	uint64_t (*clock)(void);   /* 100 MHz device clock, for s_memrealtime and s_memtime */
	struct sg_undo *undo;      /* NULL, or (counting mode) what is overwritten is saved here */
	uint64_t max_instructions; /* 0, or `stop` is set after so many wave-instructions */
	const struct sg_trap_wave *trap; /* NULL: no trap handler, see trap.h */

	/* --- set by sg_launch_init() --- */
	uint32_t n_wg[3]; /* workgroups per dimension, partial ones included */
	uint64_t n_wgs;
	uint32_t n_waves_per_wg;
	uint32_t n_vgprs, n_agprs;     /* allocated per lane */
	struct sg_code *code;          /* decoded instructions */
	struct sg_code_window *window; /* those around `entry` */

	/* --- results --- */
	_Atomic uint64_t n_instructions; /* wave-instructions executed so far */
	_Atomic bool stop;               /* set by anyone: workgroups return SG_WG_RUNNABLE soon */
	_Atomic bool sent_interrupt;     /* running the kernel again would send another */
};

/* why a dispatch cannot run; the queue error codes map one to one */
enum sg_launch_error {
	SG_LAUNCH_OK,
	SG_LAUNCH_BAD_DIMENSIONS,
	SG_LAUNCH_BAD_GROUP_MEMORY,
	SG_LAUNCH_BAD_CODE, /* entry not aligned, or no memory to decode it into */
	SG_LAUNCH_BAD_GROUP_SIZE,
};

enum sg_launch_error sg_launch_init(struct sg_launch *launch);
void sg_launch_fini(struct sg_launch *launch);

/* The LDS of a compute unit, and the steps in which workgroups get it. */
uint32_t sg_launch_lds_limit(enum sg_isa_target target);
uint32_t sg_launch_lds_granule(enum sg_isa_target target);

/* How many workgroups fit on one compute unit at once (waves, registers, LDS, barriers). */
uint32_t sg_launch_wgs_per_cu(const struct sg_launch *launch);

enum sg_wg_state {
	SG_WG_DONE,     /* all waves ended; start another one with the same storage */
	SG_WG_RUNNABLE, /* the budget is used up */
	SG_WG_WAITING,  /* every wave sleeps or waits (s_sleep, GWS): try others first */
	SG_WG_FAULT,    /* sg_wg_fault() says which; the workgroup cannot continue */
};

/* Slot: index of the resident workgroup; decides its scratch waves [slot * n_waves_per_wg, ...). */
struct sg_wg *sg_wg_create(const struct sg_launch *launch, uint32_t slot); /* NULL: out of memory */
void sg_wg_destroy(struct sg_wg *wg);
void sg_wg_start(struct sg_wg *wg, struct sg_launch *launch, const uint32_t id[3]);
/* n_sleeps: how often it may go on although every wave waits, before it returns SG_WG_WAITING. */
enum sg_wg_state sg_wg_run(struct sg_wg *wg, uint64_t budget, uint32_t n_sleeps);
const struct sg_fault *sg_wg_fault(const struct sg_wg *wg);

/* What the waves of a suspended workgroup wait for. */
struct sg_wg_wait {
	uint32_t id[3];
	uint32_t n_waves; /* that have not ended */
	uint32_t n_at_barrier, n_asleep, n_at_gws, n_halted;
	uint64_t pc; /* of one of them: not of a barrier, if another kind waits, too */
};
void sg_wg_get_wait(const struct sg_wg *wg, struct sg_wg_wait *out);

/* Decoded code, shared by all launches of a device. */
struct sg_code_cache *sg_code_cache_create(const struct sg_mem_map *mem, enum sg_isa_target target);
void sg_code_cache_destroy(struct sg_code_cache *cache);
/* Memory may hold other instructions now. Running launches keep what they decoded. */
void sg_code_cache_invalidate(struct sg_code_cache *cache);

/* Global wave sync: 64 barrier/semaphore resources, shared by the queues of a process and device. */
struct sg_gws *sg_gws_create(void);
void sg_gws_destroy(struct sg_gws *gws);

#endif
