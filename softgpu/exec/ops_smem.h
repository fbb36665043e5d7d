/*
 * ops_smem: scalar memory.
 *
 * Operands: i->sdst the first data register, scalar operand S0 the base (64-bit address or buffer
 * descriptor), S1 the register offset if SG_MEM_SADDR is set, i->imm the constant one. All accesses
 * are of whole dwords; the low two bits of an address do not count.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_SMEM_H
#define WS_SOFTGPU_EXEC_OPS_SMEM_H

#include "softgpu/exec/amo.h"
#include "softgpu/exec/hwreg.h"
#include "softgpu/isa/isa.h"

#define SG_OP_cache_control(name)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return SG_GO;                                                                      \
	}

#define SG_OP_clock(name, ticks)                                                                   \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_s64_put(w, i->sdst, ticks);                                                     \
		return SG_GO;                                                                      \
	}

static inline uint64_t sg_smem_register(const struct sg_wave *w, const struct sg_exec_insn *i)
{
	return i->inner & SG_MEM_SADDR ? sg_scalar32(w, i, SG_S1) : 0;
}

static inline uint64_t sg_smem_address(const struct sg_wave *w, const struct sg_exec_insn *i,
				       unsigned scale)
{
	uint64_t offset = (uint64_t)(int64_t)i->imm + sg_smem_register(w, i) * scale;

	return (sg_scalar64(w, i, SG_S0) + offset) & ~3ull;
}

/* Registers behind the last one do not exist: the decoder refuses such an instruction. */
SG_ALWAYS_INLINE enum sg_stop sg_scalar_load(struct sg_wave *w, const struct sg_exec_insn *i,
					     uint64_t addr, unsigned n)
{
	if (!sg_reachable(w->mem, addr, 4 * n))
		return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr, false);
	memcpy(&w->s[i->sdst], sg_host(w->mem, addr), 4 * n);
	return SG_GO;
}

SG_ALWAYS_INLINE enum sg_stop sg_scalar_store(struct sg_wave *w, const struct sg_exec_insn *i,
					      uint64_t addr, unsigned n)
{
	if (!sg_reachable(w->mem, addr, 4 * n))
		return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr, true);
	memcpy(sg_host(w->mem, addr), &w->s[i->sdst], 4 * n);
	return SG_GO;
}

#define SG_OP_scalar_load(name, n)                                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_scalar_load(w, i, sg_smem_address(w, i, 1), n);                          \
	}
#define SG_OP_scalar_store(name, n)                                                                \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_scalar_store(w, i, sg_smem_address(w, i, 1), n);                         \
	}
/* scratch: the register offset counts in units of 64 bytes */
#define SG_OP_scalar_scratch_load(name, n)                                                         \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_scalar_load(w, i, sg_smem_address(w, i, 64), n);                         \
	}
#define SG_OP_scalar_scratch_store(name, n)                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_scalar_store(w, i, sg_smem_address(w, i, 64), n);                        \
	}

/* ---- buffers: dwords outside of the descriptor's range read as 0 and are not written ---- */

/* Returns how many of the n dwords are inside, from the first on. */
static inline unsigned sg_smem_buffer(const struct sg_wave *w, const struct sg_exec_insn *i,
				      unsigned n, uint64_t *out_addr)
{
	uint32_t d[4];
	uint64_t offset = ((uint64_t)(uint32_t)i->imm + sg_smem_register(w, i)) & ~3ull;
	uint64_t bytes, left;

	memcpy(d, sg_scalar(w, i, SG_S0), sizeof(d));
	uint32_t stride = d[1] >> 16 & 0x3fff;

	bytes = stride ? (uint64_t)stride * d[2] : d[2];
	*out_addr = (d[0] | (uint64_t)(d[1] & 0xffff) << 32) + offset;
	*out_addr &= ~3ull;
	if (offset >= bytes)
		return 0;
	left = (bytes - offset + 3) / 4;
	return left < n ? (unsigned)left : n;
}

/*
 * The address that a memory instruction of any addressing reaches, for those who look at it before it
 * runs. Returns how many of the n dwords are inside.
 */
static inline unsigned sg_smem_reach(const struct sg_wave *w, const struct sg_exec_insn *i,
				     unsigned n, uint64_t *out_addr)
{
	if (i->inner & SG_MEM_DESCRIPTOR)
		return sg_smem_buffer(w, i, n, out_addr);
	*out_addr = sg_smem_address(w, i, i->inner & SG_MEM_SEG_SCRATCH ? 64 : 1);
	return n;
}

#define SG_OP_scalar_buffer_load(name, n)                                                          \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t data[n] = { 0 };                                                          \
		uint64_t addr;                                                                     \
		unsigned inside = sg_smem_buffer(w, i, n, &addr);                                  \
                                                                                                   \
		if (inside && !sg_reachable(w->mem, addr, 4 * inside))                             \
			return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr, false);                  \
		if (inside)                                                                        \
			memcpy(data, sg_host(w->mem, addr), 4 * inside);                           \
		memcpy(&w->s[i->sdst], data, sizeof(data));                                        \
		return SG_GO;                                                                      \
	}

#define SG_OP_scalar_buffer_store(name, n)                                                         \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t addr;                                                                     \
		unsigned inside = sg_smem_buffer(w, i, n, &addr);                                  \
                                                                                                   \
		if (inside && !sg_reachable(w->mem, addr, 4 * inside))                             \
			return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr, true);                   \
		if (inside)                                                                        \
			memcpy(sg_host(w->mem, addr), &w->s[i->sdst], 4 * inside);                 \
		return SG_GO;                                                                      \
	}

/* ---- atomics; the data register receives the old value when glc is set ---- */

#define SG_SCALAR_AMO(bits, op, addr)                                                              \
	do {                                                                                       \
		uint##bits##_t v_, c_, was_;                                                       \
                                                                                                   \
		if ((addr) & (bits / 8 - 1) || !sg_reachable(w->mem, addr, bits / 8))              \
			return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr, true);                   \
		memcpy(&v_, &w->s[i->sdst], sizeof(v_));                                           \
		memcpy(&c_, &w->s[i->sdst + bits / 32], sizeof(c_));                               \
		was_ = SG_AMO_AT(bits, op, sg_host(w->mem, addr), v_, c_);                         \
		if (i->inner & SG_MEM_RETURN)                                                      \
			memcpy(&w->s[i->sdst], &was_, sizeof(was_));                               \
	} while (0)

#define SG_OP_scalar_atomic(name, op, bits)                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t addr = sg_smem_address(w, i, 1);                                          \
                                                                                                   \
		SG_SCALAR_AMO(bits, op, addr);                                                     \
		return SG_GO;                                                                      \
	}

#define SG_OP_scalar_buffer_atomic(name, op, bits)                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t addr;                                                                     \
                                                                                                   \
		if (sg_smem_buffer(w, i, bits / 32, &addr) == bits / 32)                           \
			SG_SCALAR_AMO(bits, op, addr);                                             \
		else if (i->inner & SG_MEM_RETURN)                                                 \
			memset(&w->s[i->sdst], 0, bits / 8);                                       \
		return SG_GO;                                                                      \
	}

#endif
