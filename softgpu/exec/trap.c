#include "softgpu/exec/trap.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/const_pool.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/hwreg.h"
#include "softgpu/exec/levels.h"
#include "softgpu/mem/guard.h"

#define MAX_INSTRUCTIONS 100000 /* AMD's take about a hundred */
#define LANE_REG_BYTES (2u * SG_N_VGPRS * SG_LANES * 4)

/* TTMP1 beside the upper half of the PC, see ROCr's trap_handler.s */
#define PC_HI_MASK 0xffffu
#define HOST_TRAP (1u << 24)
#define HOST_TRAP_ID                                                                               \
	(4u << 16) /* the driver's number for it; the handler wants one that is not 0 */

#define TTMP(n) (SG_OPND_TTMP0 + (n))

struct sg_trap_unit {
	struct sg_launch launch;
	struct sg_wave *wave;
	uint32_t *lane_registers;
};

/* s_memrealtime reads a clock without a context. */
static _Thread_local uint64_t sampled_clock;

static uint64_t read_clock(void)
{
	return sampled_clock;
}

struct sg_trap_unit *sg_trap_unit_create(enum sg_isa_target target, const struct sg_mem_map *mem,
					 const struct sg_exec_hooks *hooks,
					 struct sg_code_cache *code_cache)
{
	struct sg_trap_unit *unit = calloc(1, sizeof(*unit));

	if (!unit)
		return NULL;
	unit->wave = aligned_alloc(64, (sizeof(*unit->wave) + 63) / 64 * 64);
	unit->lane_registers = aligned_alloc(64, LANE_REG_BYTES);
	if (!unit->wave || !unit->lane_registers) {
		sg_trap_unit_destroy(unit);
		return NULL;
	}
	memset(unit->wave, 0, sizeof(*unit->wave));
	memset(unit->lane_registers, 0, LANE_REG_BYTES);
	unit->launch = (struct sg_launch){ .target = target,
					   .mem = mem,
					   .hooks = hooks,
					   .code_cache = code_cache,
					   .n_waves_per_wg = 1,
					   .clock = read_clock };
	return unit;
}

void sg_trap_unit_destroy(struct sg_trap_unit *unit)
{
	if (!unit)
		return;
	free(unit->wave);
	free(unit->lane_registers);
	free(unit);
}

/* Where gfx942's first handler leaves the packet and the wave is another place than gfx90a's. */
static void put_registers(struct sg_wave *w, uint64_t tma, const struct sg_trap_wave *t)
{
	bool is_later = w->launch->target >= SG_ISA_GFX942;
	uint32_t packet = t->packet & 0x1ffffff, wave = t->wave & 0x3f;

	w->s[TTMP(0)] = (uint32_t)t->pc;
	w->s[TTMP(1)] = (uint32_t)(t->pc >> 32 & PC_HI_MASK) |
			(t->stochastic ? 0 : HOST_TRAP | HOST_TRAP_ID);
	w->s[TTMP(6)] = is_later ? 0 : packet;
	for (unsigned d = 0; d < 3; d++)
		w->s[TTMP(8 + d)] = t->workgroup[d];
	w->s[TTMP(11)] = is_later ? packet << 6 | wave : wave;
	sg_s64_put(w, TTMP(14), tma);
	sg_s64_put(w, SG_S_EXEC, t->exec);
	w->hw_id = t->hw_id;
	w->xcc_id = t->xcc_id;
	w->trap_sts = t->stochastic ? SG_TRAPSTS_PERF_SNAPSHOT : SG_TRAPSTS_HOST_TRAP;
}

static void start_wave(struct sg_trap_unit *unit, uint64_t handler, uint64_t tma,
		       const struct sg_trap_wave *trap)
{
	struct sg_wave *w = unit->wave;

	memset(w, 0, offsetof(struct sg_wave, mask_of));
	w->base[SG_BASE_VGPR] = unit->lane_registers;
	w->base[SG_BASE_AGPR] = unit->lane_registers + SG_N_VGPRS * SG_LANES;
	w->base[SG_BASE_CONST] = sg_const_pool();
	w->base[SG_BASE_TMP] = w->tmp[0];
	w->handlers = sg_level_handlers();
	w->launch = &unit->launch;
	w->mem = unit->launch.mem;
	w->mode = SG_MODE_FP_DEFAULT;
	put_registers(w, tma, trap);
	w->window = sg_code_window(unit->launch.code, handler);
	if (w->window)
		w->pc = &w->window->slots[(handler - w->window->gpu_base) / 4];
}

static enum sg_stop run(struct sg_wave *w)
{
	volatile enum sg_stop stop = SG_STOP_FAULT;

	if (sigsetjmp(sg_guard_enter(), 0) == 0)
		stop = sg_wave_run(w, MAX_INSTRUCTIONS);
	else
		sg_wave_fault(w, w->at, SG_FAULT_MEMORY, sg_guard_address() - w->mem->host_base,
			      sg_guard_was_write());
	sg_guard_leave();
	return stop;
}

bool sg_trap_unit_run(struct sg_trap_unit *unit, uint64_t handler, uint64_t tma,
		      const struct sg_trap_wave *trap, bool *out_interrupted,
		      struct sg_fault *out_fault)
{
	struct sg_wave *w = unit->wave;
	uint32_t fpmode = sg_fpmode_get();
	enum sg_stop stop = SG_STOP_FAULT;

	sampled_clock = trap->clock;
	unit->launch.trap = trap;
	unit->launch.code = sg_code_get(unit->launch.code_cache);
	atomic_store(&unit->launch.sent_interrupt, false);
	start_wave(unit, handler, tma, trap);
	sg_fpmode_set(SG_FPMODE_DEFAULT);
	if (handler & 3 || !w->window)
		w->fault = (struct sg_fault){ .kind = SG_FAULT_MEMORY, .pc = handler };
	else
		stop = run(w);
	sg_fpmode_set(fpmode);
	sg_code_put(unit->launch.code);
	*out_interrupted = atomic_load(&unit->launch.sent_interrupt);
	*out_fault = w->fault;
	return stop == SG_STOP_END;
}
