/*
 * step: runs a few instruction words on one wave, outside of any device. For tests and tools.
 *
 * Everything the wave can see is in struct sg_step: fill it, run, look at it. The words need no
 * s_endpgm. Memory instructions reach what `mem` allows; without it, all of the process.
 *
 * Threads  one sg_step_run() at a time per thread.
 */
#ifndef WS_SOFTGPU_EXEC_STEP_H
#define WS_SOFTGPU_EXEC_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "softgpu/exec/launch.h"

struct sg_step {
	uint32_t vgpr[256][64] __attribute__((aligned(64)));
	uint32_t agpr[256][64] __attribute__((aligned(64)));
	uint32_t sgpr[128]; /* by operand number: vcc 106, m0 124, exec 126 */
	uint32_t scc, mode;
	uint8_t *lds; /* lds_bytes of it, NULL: none; at most 65536 */
	uint32_t lds_bytes;
	uint32_t shared_hi, private_hi; /* upper halves of the flat apertures */
	uint64_t scratch;               /* GPU address of the wave's scratch slice */
	uint32_t scratch_bytes;
	const struct sg_mem_map *mem; /* NULL: everything, at its own address */
	const struct sg_exec_hooks *hooks;
	struct sg_gws *gws;
	uint32_t barriers, waits; /* out: how often it stopped at s_barrier; at s_sleep or GWS */
	struct sg_fault fault;    /* out */
};

/* mode: round to nearest, denormals kept, IEEE and DX10 clamp on; exec: all lanes; the rest zero */
void sg_step_init(struct sg_step *step);
enum sg_fault_kind sg_step_run(enum sg_isa_target target, const uint32_t *words, size_t n_words,
			       struct sg_step *step);

#endif
