#include "softgpu/exec/hwreg.h"

#include "softgpu/exec/trap.h"
#include "softgpu/exec/wave.h"

/* TRAPSTS: the exceptions so far, and the address of the wave's instruction in an aborted replay */
#define TRAPSTS_WRITABLE 0x1ffu

static uint32_t status(const struct sg_wave *w)
{
	const uint32_t valid = 1u << 16;
	const uint32_t in_tg = w->launch->n_waves_per_wg > 1 ? 1u << 11 : 0;

	return w->scc | (sg_exec(w) ? 0 : 1u << 9) | (sg_s64(w, SG_S_VCC) ? 0 : 1u << 10) | in_tg |
	       valid | w->status_priv;
}

static uint32_t gpr_alloc(const struct sg_wave *w)
{
	/* sizes in granules less one; the bases are those of the first wave of a SIMD */
	uint32_t vgpr_granule = w->launch->target >= SG_ISA_GFX90A ? 8 : 4;
	uint32_t n_vgprs = w->launch->n_vgprs + w->launch->n_agprs;
	uint32_t vgpr_size = n_vgprs ? (n_vgprs - 1) / vgpr_granule : 0;
	uint32_t sgpr_size = 112 / 16 - 1; /* gfx9 allocates all waves the same */

	return (vgpr_size & 0x3f) << 8 | sgpr_size << 24;
}

static uint32_t lds_alloc(const struct sg_wave *w)
{
	return (w->lds_bytes / sg_launch_lds_granule(w->launch->target) & 0x1ff) << 12;
}

/* Registers that only a trap handler of gfx942 and later can read. */
static uint32_t snapshot(const struct sg_wave *w, unsigned reg)
{
	const struct sg_trap_wave *trap = w->launch->trap;

	if (!trap || w->launch->target < SG_ISA_GFX942)
		return 0;
	switch (reg) {
	case SG_HWREG_SNAPSHOT_DATA:
		return trap->snapshot;
	case SG_HWREG_SNAPSHOT_DATA1:
		return trap->snapshot1;
	case SG_HWREG_SNAPSHOT_PC_LO:
		return (uint32_t)trap->pc;
	default:
		return (uint32_t)(trap->pc >> 32);
	}
}

static uint32_t whole(const struct sg_wave *w, const struct sg_exec_insn *i, unsigned reg)
{
	switch (reg) {
	case SG_HWREG_MODE:
		return w->mode;
	case SG_HWREG_STATUS:
		return status(w);
	case SG_HWREG_TRAPSTS:
		return w->trap_sts;
	case SG_HWREG_HW_ID:
		return w->hw_id;
	case SG_HWREG_GPR_ALLOC:
		return gpr_alloc(w);
	case SG_HWREG_LDS_ALLOC:
		return lds_alloc(w);
	case SG_HWREG_PC_LO:
		return (uint32_t)sg_wave_pc(w, i);
	case SG_HWREG_PC_HI:
		return (uint32_t)(sg_wave_pc(w, i) >> 32);
	case SG_HWREG_XCC_ID:
		return w->xcc_id;
	case SG_HWREG_SH_MEM_BASES:
		return w->private_hi >> 16 | (w->shared_hi & 0xffff0000u);
	case SG_HWREG_SNAPSHOT_DATA ... SG_HWREG_SNAPSHOT_PC_HI:
		return snapshot(w, reg);
	default:
		return 0;
	}
}

struct bits {
	unsigned reg, at;
	uint32_t mask; /* in place */
};

static struct bits bits_of(uint32_t field)
{
	struct bits b = { .reg = field & 0x3f, .at = field >> 6 & 0x1f };
	unsigned width = (field >> 11 & 0x1f) + 1;

	b.mask = (uint32_t)((1ull << width) - 1) << b.at;
	return b;
}

uint32_t sg_hwreg_read(const struct sg_wave *w, const struct sg_exec_insn *i, uint32_t field)
{
	struct bits b = bits_of(field);

	return (whole(w, i, b.reg) & b.mask) >> b.at;
}

bool sg_hwreg_write(struct sg_wave *w, uint32_t field, uint32_t value)
{
	struct bits b = bits_of(field);
	uint32_t moved = value << b.at & b.mask;

	if (b.reg == SG_HWREG_TRAPSTS) {
		b.mask &= w->launch->trap ? UINT32_MAX : TRAPSTS_WRITABLE;
		w->trap_sts = (w->trap_sts & ~b.mask) | (moved & b.mask);
	}
	if (b.reg != SG_HWREG_MODE)
		return false;
	w->mode = (w->mode & ~b.mask) | moved;
	return true;
}

uint64_t sg_wave_core_clock(const struct sg_wave *w)
{
	/* MHz by target: what MI100, MI210, MI300X and MI355X report as their largest engine clock */
	static const uint16_t mhz[SG_ISA_N_TARGETS] = { 1502, 1700, 2100, 2400 };

	return w->launch->clock() * mhz[__builtin_ctz(w->launch->target)] / 100;
}
