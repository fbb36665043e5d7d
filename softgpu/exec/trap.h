/*
 * trap: runs the runtime's trap handler on a wave that was sampled.
 *
 * PC sampling on hardware: a wave is interrupted, by the driver (host trap) or by the SQ itself (stochastic). The
 * driver's first handler calls the runtime's, which finds the state of the wave in registers, writes a sample to memory, and
 * returns. Here the wave has gone on long ago when the timing model says where it was; so the handler runs on
 * a wave of its own, with the registers that the first handler would have left: TTMP registers, HW_ID, XCC_ID,
 * TRAPSTS, SQ_PERF_SNAPSHOT_*. What it writes is what it writes on hardware: nothing here knows the layout.
 *
 * Threads  a unit belongs to one thread at a time.
 * Faults   as a kernel's: the process lives on.
 */
#ifndef WS_SOFTGPU_EXEC_TRAP_H
#define WS_SOFTGPU_EXEC_TRAP_H

#include "softgpu/exec/launch.h"

/* The wave, at the time of the sample. */
struct sg_trap_wave {
	bool stochastic; /* the SQ's trap, with a snapshot; else the driver's */
	uint64_t pc, exec;
	uint64_t clock; /* what s_memrealtime reads */
	uint32_t workgroup[3];
	uint32_t wave;     /* in the workgroup */
	uint32_t packet;   /* index of its packet in the queue's ring */
	uint32_t doorbell; /* of its queue, what s_sendmsg(MSG_GET_DOORBELL) answers */
	uint32_t hw_id, xcc_id, snapshot, snapshot1;
};

struct sg_trap_unit;

/* NULL: no memory. */
struct sg_trap_unit *sg_trap_unit_create(enum sg_isa_target target, const struct sg_mem_map *mem,
					 const struct sg_exec_hooks *hooks,
					 struct sg_code_cache *code_cache);
void sg_trap_unit_destroy(struct sg_trap_unit *unit);

/*
 * The handler at GPU address @handler, with @tma in its registers, until it returns. False: it did not (a fault, or it
 * ran too long), and @out_fault says where. *out_interrupted: it sent an interrupt to the host.
 */
bool sg_trap_unit_run(struct sg_trap_unit *unit, uint64_t handler, uint64_t tma,
		      const struct sg_trap_wave *wave, bool *out_interrupted,
		      struct sg_fault *out_fault);

#endif
