/*
 * record: the addresses that a memory instruction is about to reach, for the wave's trace.
 *
 * They are computed from its operands just before it runs. Included by what is compiled once per SIMD level.
 */
#ifndef WS_SOFTGPU_EXEC_RECORD_H
#define WS_SOFTGPU_EXEC_RECORD_H

#include "softgpu/exec/mem.h"
#include "softgpu/exec/ops_flat.h"
#include "softgpu/exec/ops_smem.h"
#undef SG_OP_cache_control /* the buffers have the same one */
#include "softgpu/exec/ops_buffer.h"
#include "softgpu/exec/traced_run.h"
#include "softgpu/trace/trace_lanes.h"

static inline unsigned sg_record_register(const struct sg_exec_insn *i)
{
	return i->off[SG_S0] / SG_LANES;
}

SG_NOINLINE void sg_record_lanes(const struct sg_exec_insn *i, struct sg_wave_trace *t,
				 enum sg_trace_space space, uint64_t mask,
				 const uint64_t addr[SG_LANES])
{
	uint32_t only[SG_LANES] __attribute__((aligned(64)));

	if (mask == ~0ull) {
		sg_trace_put_lanes(t, sg_record_register(i), space, ~0ull, NULL, addr);
		return;
	}
	sg_expand(only, mask);
	sg_trace_put_lanes(t, sg_record_register(i), space, mask, only, addr);
}

static inline void sg_record_scalar(struct sg_wave *w, const struct sg_exec_insn *i,
				    struct sg_wave_trace *t)
{
	uint64_t addr;

	sg_smem_reach(w, i, 1, &addr);
	sg_trace_put_affine(t, SG_SPACE_SCALAR, t->exec_now, addr, 0);
}

/* Most scalar loads: no buffer. False: another one, or no room; and nothing was written. */
SG_ALWAYS_INLINE bool sg_record_plain_scalar(struct sg_wave *w, const struct sg_exec_insn *i,
					     struct sg_wave_trace *t)
{
	if (i->inner & (SG_MEM_DESCRIPTOR | SG_MEM_SEG_SCRATCH) ||
	    !sg_trace_has_room(t, SG_TRACE_SHORT_PAYLOAD))
		return false;
	sg_trace_add_affine(t, SG_SPACE_SCALAR, t->exec_now, sg_smem_address(w, i, 1), 0);
	return true;
}

/* The models add the two offsets of a pair. */
static inline uint32_t sg_record_offset(const struct sg_exec_insn *i)
{
	return i->inner & SG_MEM_PAIR ? 0 : (uint32_t)i->imm;
}

/* What most of them are while all lanes are active. False: something else, or no room; and nothing was written. */
SG_ALWAYS_INLINE bool sg_record_plain_local(struct sg_wave *w, const struct sg_exec_insn *i,
					    struct sg_wave_trace *t)
{
	return !(i->inner & SG_MEM_NO_VADDR) &&
	       sg_trace_add_local(t, sg_record_register(i), ~0ull, NULL, sg_src(w, i, SG_S0),
				  sg_record_offset(i));
}

/* Some lanes are off: seldom, and with masks in all of it. */
SG_NOINLINE void sg_record_some_local(struct sg_wave *w, const struct sg_exec_insn *i,
				      struct sg_wave_trace *t, const uint32_t *lane)
{
	sg_trace_put_local(t, sg_record_register(i), sg_exec(w), sg_lane_mask(w), lane,
			   sg_record_offset(i));
}

SG_NOINLINE void sg_record_local(struct sg_wave *w, const struct sg_exec_insn *i,
				 struct sg_wave_trace *t)
{
	const uint32_t *lane = sg_src(w, i, SG_S0);
	uint32_t va[SG_LANES];

	if (i->inner & SG_MEM_NO_VADDR) {
		for (unsigned l = 0; l < SG_LANES; l++)
			va[l] = (w->s[SG_S_M0] & 0xffff) + 4 * l;
		lane = va;
	}
	if (sg_exec(w) == ~0ull)
		sg_trace_put_local(t, sg_record_register(i), ~0ull, NULL, lane,
				   sg_record_offset(i));
	else
		sg_record_some_local(w, i, t, lane);
}

/* ---- flat ---- */

/*
 * Which slice of scratch a wave has depends on which host thread ran it, and where the queue's scratch is on
 * which queue was first to need some. A trace counts from the wave's slice; the model puts waves where it
 * runs them. False: not all of the lanes are in it, and nothing was changed.
 */
static inline bool sg_from_slice(const struct sg_wave *w, uint64_t *addr, uint64_t mask)
{
	unsigned l;

	SG_FOR_ACTIVE(l, mask)
		if (addr[l] - w->scratch >= w->scratch_bytes)
			return false;
	SG_FOR_ACTIVE(l, mask)
		addr[l] -= w->scratch;
	return true;
}

static inline void sg_swizzle(const struct sg_wave *w, uint64_t *addr, uint64_t mask)
{
	uint64_t base = sg_s64(w, SG_S_FLAT_SCRATCH);
	unsigned l;

	SG_FOR_ACTIVE(l, mask) {
		uint64_t offset = (uint32_t)addr[l];

		addr[l] = base + (offset >> 2) * SG_SCRATCH_STEP + 4 * l + (offset & 3);
	}
}

SG_NOINLINE void sg_record_any_flat(struct sg_wave *w, const struct sg_exec_insn *i,
				    struct sg_wave_trace *t)
{
	uint64_t addr[SG_LANES] __attribute__((aligned(64))), exec = sg_exec(w), shared = 0,
							      private = 0;
	uint64_t memory;
	unsigned l;

	sg_flat_addresses(w, i, addr);
	if (i->inner & SG_MEM_SEG_SCRATCH) {
		sg_swizzle(w, addr, exec);
		sg_record_lanes(i, t,
				sg_from_slice(w, addr, exec) ? SG_SPACE_SCRATCH : SG_SPACE_GLOBAL,
				exec, addr);
		return;
	}
	if (i->inner & SG_MEM_SEG_FLAT)
		SG_FOR_ACTIVE(l, exec) {
			uint32_t hi = (uint32_t)(addr[l] >> 32);

			shared |= (uint64_t)(hi == w->shared_hi) << l;
			private |= (uint64_t)(hi == w->private_hi) << l;
		}
	sg_swizzle(w, addr, private);
	memory = exec & ~shared;
	if (shared) {
		SG_FOR_ACTIVE(l, shared)
			addr[l] = (uint32_t)addr[l];
		sg_record_lanes(i, t, memory ? SG_SPACE_LDS_TOO : SG_SPACE_LDS, shared, addr);
		if (!memory)
			return;
	}
	sg_record_lanes(i, t,
			private && private == memory && sg_from_slice(w, addr, memory)
				? SG_SPACE_SCRATCH
				: SG_SPACE_GLOBAL,
			memory, addr);
}

/*
 * Most accesses to global memory: the address rises evenly over the lanes, within 4 GiB of memory. Then two
 * registers are compared and no address is computed. False: something else, or no room; and nothing was written.
 */
SG_ALWAYS_INLINE bool sg_record_row(struct sg_wave *w, const struct sg_exec_insn *i,
				    struct sg_wave_trace *t, uint64_t exec, const uint32_t *only)
{
	const uint32_t *lo = sg_src(w, i, SG_S0), *hi = lo + SG_LANES;
	unsigned first = sg_trace_first(exec);
	int32_t stride;
	uint64_t base;

	if (i->inner & SG_MEM_SEG_SCRATCH || !sg_trace_has_room(t, SG_TRACE_SHORT_PAYLOAD) ||
	    !sg_trace_even32(lo, exec, only, &stride))
		return false;
	if (i->inner & SG_MEM_SADDR) {
		base = sg_scalar64(w, i, SG_S0);
	} else {
		if (!sg_trace_equal32(hi, exec, only))
			return false;
		base = (uint64_t)hi[first] << 32;
	}
	base += lo[first] + (uint64_t)(int64_t)i->imm;
	if (i->inner & SG_MEM_SEG_FLAT) { /* not if a lane may be in an aperture */
		unsigned n = sg_trace_last(exec) - first;
		uint32_t from = (uint32_t)(base >> 32);
		uint32_t to = (uint32_t)((base + (uint64_t)((int64_t)stride * (int)n)) >> 32);

		if (from != to || from == w->shared_hi || from == w->private_hi)
			return false;
	}
	sg_trace_add_affine(t, SG_SPACE_GLOBAL, exec,
			    base - (uint64_t)((int64_t)stride * (int)first), stride);
	return true;
}

static inline void sg_record_flat(struct sg_wave *w, const struct sg_exec_insn *i,
				  struct sg_wave_trace *t)
{
	uint64_t exec = sg_exec(w);
	bool row = exec == ~0ull ? sg_record_row(w, i, t, ~0ull, NULL)
				 : exec && sg_record_row(w, i, t, exec, sg_lane_mask(w));

	if (!row)
		sg_record_any_flat(w, i, t);
}

/* ---- buffers ---- */

SG_NOINLINE void sg_record_buffer(struct sg_wave *w, const struct sg_exec_insn *i,
				  struct sg_wave_trace *t)
{
	struct sg_fault before = w->fault;
	uint64_t addr[SG_LANES] __attribute__((aligned(64))), mask;
	struct sg_lanes a;
	unsigned l;

	if (sg_buffer_lanes(w, i, 4, false, false, &a) != SG_GO) {
		w->fault = before; /* the instruction itself will meet it */
		sg_trace_put_affine(t, SG_SPACE_GLOBAL, 0, 0, 0);
		return;
	}
	mask = a.plain;
	SG_FOR_ACTIVE(l, a.odd)
		mask |= (uint64_t)(a.n_bytes[l] != 0) << l;
	SG_FOR_ACTIVE(l, mask)
		addr[l] = (uint64_t)(uintptr_t)a.at[l] - w->mem->host_base;
	sg_record_lanes(i, t,
			a.odd && a.step == SG_SCRATCH_STEP && sg_from_slice(w, addr, mask)
				? SG_SPACE_SCRATCH
				: SG_SPACE_GLOBAL,
			mask, addr);
}

static inline void sg_record(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head,
			     struct sg_wave_trace *t)
{
	switch (SG_HEAD_MEMORY_KIND(head)) {
	case SG_MEMORY_SCALAR:
		sg_record_scalar(w, i, t);
		break;
	case SG_MEMORY_LOCAL:
		sg_record_local(w, i, t);
		break;
	case SG_MEMORY_FLAT:
		sg_record_flat(w, i, t);
		break;
	case SG_MEMORY_BUFFER:
		sg_record_buffer(w, i, t);
		break;
	}
}

#endif
