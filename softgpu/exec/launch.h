/*
 * launch: one kernel dispatch as its waves see it, and the workgroups that run it.
 *
 * The command processor fills the inputs from the packet, the kernel descriptor and the queue,
 * calls ws_launch_init(), and then hands workgroups to as many threads as it likes:
 *
 *	wg = ws_wg_create(launch, slot)     storage of one resident workgroup; reused
 *	ws_wg_start(wg, id)                 put workgroup `id` at its first instruction
 *	ws_wg_run(wg, budget, n_sleeps)     run it for about `budget` wave-instructions
 *
 * A workgroup is suspended between two calls of ws_wg_run() and may continue on another thread.
 * Nothing here starts threads, waits or sleeps: who runs what, and when, is the caller's decision.
 *
 * Threads  launch: init and fini by one thread; read-only in between, except what is marked atomic.
 *          wg: one thread at a time.
 * Faults   an access that the device may not make ends ws_wg_run() with WS_WG_FAULT; the process
 *          lives on. Needs ws_guard_install() once per process (guard.h).
 */
#ifndef WS_SOFTGPU_EXEC_LAUNCH_H
#define WS_SOFTGPU_EXEC_LAUNCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ws_code;
struct ws_code_cache;
struct ws_code_window;
struct ws_gws;
struct ws_undo;
struct ws_wg;

/*
 * Pinned host memory has a second address on the device, this far above its own: AMD's driver maps it
 * elsewhere, too, and HIP 5 relies on the two being different. No host address has this bit.
 */
#define WS_PINNED_ALIAS (1ull << 47)

/* What the waves can reach. GPU address A is at host address host_base + A, without the bit above. */
struct ws_mem_map {
	uint64_t host_base;           /* 0: the two address spaces are one */
	uint64_t start, end;          /* the device aperture, GPU addresses; inside it unmapped pages fault */
	/* Outside the aperture: may the device access [addr, addr + size)? (pinned host memory) */
	bool (*reachable)(void *ctx, uint64_t addr, uint64_t size);
	void *ctx;
};

/* What the waves can ask of the world outside. */
struct ws_exec_hooks {
	/* s_sendmsg(interrupt): wake the event of this id */
	void (*interrupt)(void *ctx, uint32_t event_id);
	void *ctx;
};

enum ws_target { WS_GFX908, WS_GFX90A };

enum ws_fault_kind {
	WS_FAULT_NONE,
	WS_FAULT_MEMORY,      /* access to an address that is not mapped for the device */
	WS_FAULT_ILLEGAL,     /* not an instruction of this target */
	WS_FAULT_TRAP,        /* s_trap: device abort(), assert */
	WS_FAULT_APERTURE,    /* outside of LDS or scratch through a flat address */
};

struct ws_fault {
	enum ws_fault_kind kind;
	uint64_t pc;          /* GPU address of the instruction */
	uint64_t address;     /* memory faults: the first address that failed */
	bool write;
	uint32_t trap_id;
	uint32_t wg[3];       /* workgroup, wave in it, and lane; -1: not one lane's doing */
	uint32_t wave;
	int32_t lane;
	char text[120];       /* the instruction, disassembled; empty: not one */
};

struct ws_launch {
	/* --- inputs, filled by the caller --- */
	enum ws_target target;
	const struct ws_mem_map *mem;
	const struct ws_exec_hooks *hooks;
	struct ws_code_cache *code_cache;
	struct ws_gws *gws;           /* NULL: the queue has no global wave sync */

	uint64_t kernel_object;       /* GPU address of the kernel descriptor */
	uint64_t entry;               /* GPU address of the first instruction */
	uint32_t rsrc1, rsrc2, rsrc3; /* compute_pgm_rsrc1..3 of the descriptor */
	uint16_t properties;          /* kernel code properties */

	uint32_t grid_size[3];        /* in work-items */
	uint16_t wg_size[3];
	uint32_t private_bytes;       /* scratch per lane */
	uint32_t lds_bytes;
	uint64_t kernarg;
	uint64_t dispatch_ptr;        /* GPU address of the AQL packet */
	uint64_t queue_ptr;           /* GPU address of amd_queue_t */
	uint64_t dispatch_id;

	uint32_t scratch_descriptor[4];
	uint64_t scratch_base;        /* scratch_backing_memory_location */
	uint32_t scratch_wave_bytes;
	uint32_t n_scratch_waves;     /* wave slots that the backing memory has room for */
	uint32_t shared_aperture_hi, private_aperture_hi;
	uint64_t (*clock)(void);      /* 100 MHz device clock, for s_memrealtime and s_memtime */
	struct ws_undo *undo;         /* NULL, or (counting mode) what is overwritten is saved here */
	uint64_t max_instructions;    /* 0, or `stop` is set when so many wave-instructions were executed */

	/* --- set by ws_launch_init() --- */
	uint32_t n_wg[3];             /* workgroups per dimension, partial ones included */
	uint64_t n_wgs;
	uint32_t n_waves_per_wg;
	uint32_t n_vgprs, n_agprs;    /* allocated per lane */
	struct ws_code *code;         /* decoded instructions */
	struct ws_code_window *window; /* those around `entry` */

	/* --- results --- */
	_Atomic uint64_t n_instructions; /* wave-instructions executed so far */
	_Atomic bool stop;            /* set by anyone: workgroups return WS_WG_RUNNABLE soon */
	_Atomic bool told_host;       /* it sent an interrupt: running it again would send another */
};

enum ws_launch_error { /* why a dispatch cannot run; the queue error codes map one to one */
	WS_LAUNCH_OK,
	WS_LAUNCH_BAD_DIMENSIONS,
	WS_LAUNCH_BAD_GROUP_MEMORY,
	WS_LAUNCH_BAD_CODE,           /* entry not aligned, or no memory to decode it into */
	WS_LAUNCH_BAD_GROUP_SIZE,
};

enum ws_launch_error ws_launch_init(struct ws_launch *launch);
void ws_launch_fini(struct ws_launch *launch);

/* How many workgroups fit on one compute unit at once (waves, registers, LDS, barriers). */
uint32_t ws_launch_wgs_per_cu(const struct ws_launch *launch);

enum ws_wg_state {
	WS_WG_DONE,           /* all waves ended; start another one with the same storage */
	WS_WG_RUNNABLE,       /* the budget is used up */
	WS_WG_WAITING,        /* every wave sleeps or waits (s_sleep, GWS): try others first */
	WS_WG_FAULT,          /* ws_wg_fault() says which; the workgroup cannot continue */
};

/* Slot: index of the resident workgroup; decides its scratch waves [slot * n_waves_per_wg, ...). */
struct ws_wg *ws_wg_create(const struct ws_launch *launch, uint32_t slot); /* NULL: out of memory */
void ws_wg_destroy(struct ws_wg *wg);
void ws_wg_start(struct ws_wg *wg, struct ws_launch *launch, const uint32_t id[3]);
/* n_sleeps: how often it may go on although every wave waits, before it returns WS_WG_WAITING. */
enum ws_wg_state ws_wg_run(struct ws_wg *wg, uint64_t budget, uint32_t n_sleeps);
const struct ws_fault *ws_wg_fault(const struct ws_wg *wg);

/* What the waves of a suspended workgroup wait for. */
struct ws_wg_wait {
	uint32_t id[3];
	uint32_t n_waves;             /* that have not ended */
	uint32_t n_at_barrier, n_asleep, n_at_gws, n_halted;
	uint64_t pc;                  /* of one of them: not of a barrier, if another kind waits, too */
};
void ws_wg_get_wait(const struct ws_wg *wg, struct ws_wg_wait *out);

/* Decoded code, shared by all launches of a device. */
struct ws_code_cache *ws_code_cache_create(const struct ws_mem_map *mem, enum ws_target target);
void ws_code_cache_destroy(struct ws_code_cache *cache);
/* Memory may hold other instructions now. Running launches keep what they decoded. */
void ws_code_cache_invalidate(struct ws_code_cache *cache);

/* Global wave sync: 64 barrier/semaphore resources, shared by the queues of a process and device. */
struct ws_gws *ws_gws_create(void);
void ws_gws_destroy(struct ws_gws *gws);

#endif
