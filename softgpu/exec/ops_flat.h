/*
 * ops_flat: flat, global and scratch memory.
 *
 * Operands: D vdst, S0 vaddr, S1 vdata; the scalar base is scalar operand S0. The three segments of
 * an opcode share a handler; i->inner tells them apart.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_FLAT_H
#define WS_SOFTGPU_EXEC_OPS_FLAT_H

#include "softgpu/exec/amo.h"

#define SG_S_FLAT_SCRATCH 102
#define SG_SCRATCH_STEP (SG_LANES * 4u) /* private memory interleaves the lanes dword by dword */

/* The host address of 64 consecutive elements, or NULL. */
SG_NOINLINE uint8_t *sg_flat_row(const struct sg_wave *w, const struct sg_exec_insn *i,
				 unsigned size)
{
	const uint32_t *lo = sg_src(w, i, SG_S0), *hi = lo + SG_LANES;
	uint64_t first;

	if (sg_exec(w) != ~0ull || i->inner & (SG_MEM_SEG_SCRATCH | SG_MEM_LDS) ||
	    !sg_rises(lo, size))
		return NULL;
	if (i->inner & SG_MEM_SADDR) {
		if (lo[0] > lo[SG_LANES - 1])
			return NULL;
		first = sg_scalar64(w, i, SG_S0) + lo[0];
	} else {
		if (!sg_rises(hi, 0))
			return NULL;
		if (i->inner & SG_MEM_SEG_FLAT && (hi[0] == w->shared_hi || hi[0] == w->private_hi))
			return NULL;
		first = lo[0] | (uint64_t)hi[0] << 32;
	}
	first += (uint64_t)(int64_t)i->imm;
	if (!sg_reachable(w->mem, first, SG_LANES * size))
		return NULL;
	return sg_host(w->mem, first);
}

/* Lanes of the scratch segment, or those of a flat access that are in the private aperture. */
static inline enum sg_stop sg_private_lanes(struct sg_wave *w, const struct sg_exec_insn *i,
					    const uint64_t *offset, uint64_t mask, unsigned size,
					    bool write, struct sg_lanes *a)
{
	const uint64_t base = sg_s64(w, SG_S_FLAT_SCRATCH);
	unsigned l;

	a->odd = mask;
	a->step = SG_SCRATCH_STEP;
	SG_FOR_ACTIVE(l, mask) {
		uint64_t at = base + (offset[l] >> 2) * SG_SCRATCH_STEP + 4 * l + (offset[l] & 3);
		uint64_t extent = sg_odd_extent(at, SG_SCRATCH_STEP, size);

		if (!sg_reachable(w->mem, at, extent))
			return sg_wave_fault(w, i, SG_FAULT_MEMORY, at, write);
		a->at[l] = sg_host(w->mem, at);
		a->n_bytes[l] = (uint8_t)size;
	}
	return SG_GO;
}

/* Which active lanes point into LDS or private memory; they get their host pointers here. */
static inline enum sg_stop sg_flat_apertures(struct sg_wave *w, const struct sg_exec_insn *i,
					     uint64_t *addr, unsigned size, bool write,
					     struct sg_lanes *a)
{
	uint64_t exec = sg_exec(w), shared = 0, private = 0;
	unsigned l;

	for (l = 0; l < SG_LANES; l++) {
		uint32_t hi = (uint32_t)(addr[l] >> 32);

		shared |= (uint64_t)(hi == w->shared_hi) << l;
		private |= (uint64_t)(hi == w->private_hi) << l;
	}
	shared &= exec;
	private &= exec;
	a->plain = exec & ~private;
	if (!(shared | private))
		return sg_check_lanes(w, i, addr, exec, size, write);
	SG_FOR_ACTIVE(l, shared) {
		if ((uint64_t)(uint32_t)addr[l] + size > w->lds_bytes)
			return sg_wave_fault(w, i, SG_FAULT_APERTURE, addr[l], write);
	}
	SG_FOR_ACTIVE(l, private) {
		uint64_t bytes = w->scratch_bytes / SG_LANES;

		if ((uint64_t)(uint32_t)addr[l] + size > bytes)
			return sg_wave_fault(w, i, SG_FAULT_APERTURE, addr[l], write);
		addr[l] = (uint32_t)addr[l];
	}
	if (sg_check_lanes(w, i, addr, exec & ~shared & ~private, size, write) != SG_GO ||
	    sg_private_lanes(w, i, addr, private, size, write, a) != SG_GO)
		return SG_STOP_FAULT;
	SG_FOR_ACTIVE(l, shared)
		addr[l] = (uint64_t)(uintptr_t)(w->lds + (uint32_t)addr[l]) - w->mem->host_base;
	return SG_GO;
}

static inline void sg_flat_addresses(const struct sg_wave *w, const struct sg_exec_insn *i,
				     uint64_t *addr)
{
	const uint32_t *lo = sg_src(w, i, SG_S0), *hi = lo + SG_LANES;
	const uint64_t imm = (uint64_t)(int64_t)i->imm;

	if (i->inner & SG_MEM_SEG_SCRATCH) {
		uint32_t saddr = i->inner & SG_MEM_SADDR ? sg_scalar32(w, i, SG_S0) : 0;

		for (unsigned l = 0; l < SG_LANES; l++)
			addr[l] = (uint32_t)((i->inner & SG_MEM_NO_VADDR ? 0 : lo[l]) + saddr +
					     (uint32_t)imm);
	} else if (i->inner & SG_MEM_SADDR) {
		uint64_t base = sg_scalar64(w, i, SG_S0) + imm;

		for (unsigned l = 0; l < SG_LANES; l++)
			addr[l] = base + lo[l];
	} else {
		for (unsigned l = 0; l < SG_LANES; l++)
			addr[l] = (lo[l] | (uint64_t)hi[l] << 32) + imm;
	}
}

SG_NOINLINE enum sg_stop sg_flat_lanes(struct sg_wave *w, const struct sg_exec_insn *i,
				       unsigned size, bool write, struct sg_lanes *a)
{
	uint64_t addr[SG_LANES] __attribute__((aligned(64)));
	uint64_t host_base = w->mem->host_base;
	enum sg_stop stop;

	a->plain = sg_exec(w);
	a->odd = 0;
	sg_flat_addresses(w, i, addr);
	if (i->inner & SG_MEM_SEG_SCRATCH) {
		a->plain = 0;
		return sg_private_lanes(w, i, addr, sg_exec(w), size, write, a);
	}
	if (i->inner & SG_MEM_SEG_FLAT)
		stop = sg_flat_apertures(w, i, addr, size, write, a);
	else
		stop = sg_check_lanes(w, i, addr, a->plain, size, write);
	if (stop != SG_GO)
		return stop;
	if (!a->odd) {
		for (unsigned l = 0; l < SG_LANES; l++)
			a->at[l] = (uint8_t *)(uintptr_t)((addr[l] + host_base) & ~SG_PINNED_ALIAS);
		return SG_GO;
	}
	unsigned l;

	SG_FOR_ACTIVE(l, a->plain)
		a->at[l] = (uint8_t *)(uintptr_t)((addr[l] + host_base) & ~SG_PINNED_ALIAS);
	return SG_GO;
}

SG_ALWAYS_INLINE enum sg_stop sg_flat_load(struct sg_wave *w, const struct sg_exec_insn *i,
					   enum sg_load kind)
{
	uint32_t *dst = i->inner & SG_MEM_LDS ? w->result : sg_dst(w, i);
	const uint8_t *row = sg_flat_row(w, i, sg_load_bytes(kind));
	struct sg_lanes a;

	if (row) {
		sg_load_row(dst, row, kind);
		return SG_GO;
	}
	if (sg_flat_lanes(w, i, sg_load_bytes(kind), false, &a) != SG_GO)
		return SG_STOP_FAULT;
	sg_load_lanes(&a, dst, kind);
	if (i->inner & SG_MEM_LDS)
		sg_lanes_to_lds(w, i, dst, (sg_load_bytes(kind) + 3) / 4);
	return SG_GO;
}

SG_ALWAYS_INLINE enum sg_stop sg_flat_store(struct sg_wave *w, const struct sg_exec_insn *i,
					    enum sg_store kind)
{
	const uint32_t *src = sg_src(w, i, SG_S1);
	uint8_t *row = sg_flat_row(w, i, sg_store_bytes(kind));
	struct sg_lanes a;

	if (row) {
		sg_store_row(row, src, kind);
		return SG_GO;
	}
	if (sg_flat_lanes(w, i, sg_store_bytes(kind), true, &a) != SG_GO)
		return SG_STOP_FAULT;
	sg_store_lanes(&a, src, kind);
	return SG_GO;
}

#define SG_OP_flat_load(name, kind)                                                                \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_flat_load(w, i, SG_LD_##kind);                                           \
	}

#define SG_OP_flat_store(name, kind)                                                               \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_flat_store(w, i, SG_ST_##kind);                                          \
	}

#define SG_OP_flat_atomic(name, op, bits)                                                          \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = sg_src(w, i, SG_S1);                                         \
		uint32_t *dst = i->inner & SG_MEM_RETURN ? sg_dst(w, i) : NULL;                    \
		struct sg_lanes a;                                                                 \
                                                                                                   \
		if (sg_flat_lanes(w, i, bits / 8, true, &a) != SG_GO ||                            \
		    sg_check_alignment(w, i, &a, bits / 8) != SG_GO)                               \
			return SG_STOP_FAULT;                                                      \
		SG_AMO_LANES(bits, op, &a, src, src + bits / 32 * SG_LANES, dst);                  \
		return SG_GO;                                                                      \
	}

#endif
