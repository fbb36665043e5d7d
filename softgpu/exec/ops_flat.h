/*
 * ops_flat: flat, global and scratch memory.
 *
 * Operands: D vdst, S0 vaddr, S1 vdata; the scalar base is scalar operand S0. The three segments of
 * an opcode share a handler; i->inner tells them apart.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_FLAT_H
#define WS_SOFTGPU_EXEC_OPS_FLAT_H

#include "softgpu/exec/amo.h"

#define WS_S_FLAT_SCRATCH 102
#define WS_SCRATCH_STEP (WS_LANES * 4u) /* private memory interleaves the lanes dword by dword */

/* The host address of 64 consecutive elements, or NULL. */
WS_NOINLINE uint8_t *ws_flat_row(const struct ws_wave *w, const struct ws_inst *i, unsigned size)
{
	const uint32_t *lo = ws_src(w, i, WS_S0), *hi = lo + WS_LANES;
	uint64_t first;

	if (ws_exec(w) != ~0ull || i->inner & (WS_MEM_SEG_SCRATCH | WS_MEM_LDS) ||
	    !ws_rises(lo, size))
		return NULL;
	if (i->inner & WS_MEM_SADDR) {
		if (lo[0] > lo[WS_LANES - 1])
			return NULL;
		first = ws_scalar64(w, i, WS_S0) + lo[0];
	} else {
		if (!ws_rises(hi, 0))
			return NULL;
		if (i->inner & WS_MEM_SEG_FLAT && (hi[0] == w->shared_hi || hi[0] == w->private_hi))
			return NULL;
		first = lo[0] | (uint64_t)hi[0] << 32;
	}
	first += (uint64_t)(int64_t)i->imm;
	if (!ws_reachable(w->mem, first, WS_LANES * size))
		return NULL;
	return ws_host(w->mem, first);
}

/* Lanes of the scratch segment, or those of a flat access that are in the private aperture. */
static inline enum ws_stop ws_private_lanes(struct ws_wave *w, const struct ws_inst *i,
					    const uint64_t *offset, uint64_t mask, unsigned size,
					    bool write, struct ws_lanes *a)
{
	const uint64_t base = ws_s64(w, WS_S_FLAT_SCRATCH);
	unsigned l;

	a->odd = mask;
	a->step = WS_SCRATCH_STEP;
	WS_FOR_ACTIVE(l, mask) {
		uint64_t at = base + (offset[l] >> 2) * WS_SCRATCH_STEP + 4 * l + (offset[l] & 3);
		uint64_t extent = ws_odd_extent(at, WS_SCRATCH_STEP, size);

		if (!ws_reachable(w->mem, at, extent))
			return ws_wave_fault(w, i, WS_FAULT_MEMORY, at, write);
		a->at[l] = ws_host(w->mem, at);
		a->n_bytes[l] = (uint8_t)size;
	}
	return WS_GO;
}

/* Which active lanes point into LDS or private memory; they get their host pointers here. */
static inline enum ws_stop ws_flat_apertures(struct ws_wave *w, const struct ws_inst *i,
					     uint64_t *addr, unsigned size, bool write,
					     struct ws_lanes *a)
{
	uint64_t exec = ws_exec(w), shared = 0, private = 0;
	unsigned l;

	for (l = 0; l < WS_LANES; l++) {
		uint32_t hi = (uint32_t)(addr[l] >> 32);

		shared |= (uint64_t)(hi == w->shared_hi) << l;
		private |= (uint64_t)(hi == w->private_hi) << l;
	}
	shared &= exec;
	private &= exec;
	a->plain = exec & ~private;
	if (!(shared | private))
		return ws_check_lanes(w, i, addr, exec, size, write);
	WS_FOR_ACTIVE(l, shared) {
		if ((uint64_t)(uint32_t)addr[l] + size > w->lds_bytes)
			return ws_wave_fault(w, i, WS_FAULT_APERTURE, addr[l], write);
	}
	WS_FOR_ACTIVE(l, private) {
		uint64_t bytes = w->scratch_bytes / WS_LANES;

		if ((uint64_t)(uint32_t)addr[l] + size > bytes)
			return ws_wave_fault(w, i, WS_FAULT_APERTURE, addr[l], write);
		addr[l] = (uint32_t)addr[l];
	}
	if (ws_check_lanes(w, i, addr, exec & ~shared & ~private, size, write) != WS_GO ||
	    ws_private_lanes(w, i, addr, private, size, write, a) != WS_GO)
		return WS_STOP_FAULT;
	WS_FOR_ACTIVE(l, shared)
		addr[l] = (uint64_t)(uintptr_t)(w->lds + (uint32_t)addr[l]) - w->mem->host_base;
	return WS_GO;
}

static inline void ws_flat_addresses(const struct ws_wave *w, const struct ws_inst *i,
				     uint64_t *addr)
{
	const uint32_t *lo = ws_src(w, i, WS_S0), *hi = lo + WS_LANES;
	const uint64_t imm = (uint64_t)(int64_t)i->imm;

	if (i->inner & WS_MEM_SEG_SCRATCH) {
		uint32_t saddr = i->inner & WS_MEM_SADDR ? ws_scalar32(w, i, WS_S0) : 0;

		for (unsigned l = 0; l < WS_LANES; l++)
			addr[l] = (uint32_t)((i->inner & WS_MEM_SADDR ? saddr : lo[l]) +
					     (uint32_t)imm);
	} else if (i->inner & WS_MEM_SADDR) {
		uint64_t base = ws_scalar64(w, i, WS_S0) + imm;

		for (unsigned l = 0; l < WS_LANES; l++)
			addr[l] = base + lo[l];
	} else {
		for (unsigned l = 0; l < WS_LANES; l++)
			addr[l] = (lo[l] | (uint64_t)hi[l] << 32) + imm;
	}
}

WS_NOINLINE enum ws_stop ws_flat_lanes(struct ws_wave *w, const struct ws_inst *i, unsigned size,
				       bool write, struct ws_lanes *a)
{
	uint64_t addr[WS_LANES] __attribute__((aligned(64)));
	uint64_t host_base = w->mem->host_base;
	enum ws_stop stop;

	a->plain = ws_exec(w);
	a->odd = 0;
	ws_flat_addresses(w, i, addr);
	if (i->inner & WS_MEM_SEG_SCRATCH) {
		a->plain = 0;
		return ws_private_lanes(w, i, addr, ws_exec(w), size, write, a);
	}
	if (i->inner & WS_MEM_SEG_FLAT)
		stop = ws_flat_apertures(w, i, addr, size, write, a);
	else
		stop = ws_check_lanes(w, i, addr, a->plain, size, write);
	if (stop != WS_GO)
		return stop;
	if (!a->odd) {
		for (unsigned l = 0; l < WS_LANES; l++)
			a->at[l] = (uint8_t *)(uintptr_t)((addr[l] + host_base) & ~WS_PINNED_ALIAS);
		return WS_GO;
	}
	unsigned l;

	WS_FOR_ACTIVE(l, a->plain)
		a->at[l] = (uint8_t *)(uintptr_t)((addr[l] + host_base) & ~WS_PINNED_ALIAS);
	return WS_GO;
}

WS_ALWAYS_INLINE enum ws_stop ws_flat_load(struct ws_wave *w, const struct ws_inst *i,
					   enum ws_load kind)
{
	uint32_t *dst = i->inner & WS_MEM_LDS ? w->result : ws_dst(w, i);
	const uint8_t *row = ws_flat_row(w, i, ws_load_bytes(kind));
	struct ws_lanes a;

	if (row) {
		ws_load_row(dst, row, kind);
		return WS_GO;
	}
	if (ws_flat_lanes(w, i, ws_load_bytes(kind), false, &a) != WS_GO)
		return WS_STOP_FAULT;
	ws_load_lanes(&a, dst, kind);
	if (i->inner & WS_MEM_LDS)
		ws_lanes_to_lds(w, i, dst);
	return WS_GO;
}

WS_ALWAYS_INLINE enum ws_stop ws_flat_store(struct ws_wave *w, const struct ws_inst *i,
					    enum ws_store kind)
{
	const uint32_t *src = ws_src(w, i, WS_S1);
	uint8_t *row = ws_flat_row(w, i, ws_store_bytes(kind));
	struct ws_lanes a;

	if (row) {
		ws_store_row(row, src, kind);
		return WS_GO;
	}
	if (ws_flat_lanes(w, i, ws_store_bytes(kind), true, &a) != WS_GO)
		return WS_STOP_FAULT;
	ws_store_lanes(&a, src, kind);
	return WS_GO;
}

#define WS_OP_flat_load(name, kind)                                                                \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_flat_load(w, i, WS_LD_##kind);                                           \
	}

#define WS_OP_flat_store(name, kind)                                                               \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_flat_store(w, i, WS_ST_##kind);                                          \
	}

#define WS_OP_flat_atomic(name, op, bits)                                                          \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = ws_src(w, i, WS_S1);                                         \
		uint32_t *dst = i->inner & WS_MEM_RETURN ? ws_dst(w, i) : NULL;                    \
		struct ws_lanes a;                                                                 \
                                                                                                   \
		if (ws_flat_lanes(w, i, bits / 8, true, &a) != WS_GO ||                            \
		    ws_check_alignment(w, i, &a, bits / 8) != WS_GO)                               \
			return WS_STOP_FAULT;                                                      \
		WS_AMO_LANES(bits, op, &a, src, src + bits / 32 * WS_LANES, dst);                  \
		return WS_GO;                                                                      \
	}

#endif
