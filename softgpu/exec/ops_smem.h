/*
 * ops_smem: scalar memory.
 *
 * Operands: i->sdst the first data register, scalar operand S0 the base (64-bit address or buffer
 * descriptor), S1 the register offset if WS_MEM_SADDR is set, i->imm the constant one. All accesses
 * are of whole dwords; the low two bits of an address do not count.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_SMEM_H
#define WS_SOFTGPU_EXEC_OPS_SMEM_H

#include "softgpu/exec/amo.h"
#include "softgpu/exec/hwreg.h"

#define WS_OP_cache_control(name)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return WS_GO;                                                                      \
	}

#define WS_OP_clock(name, ticks)                                                                   \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_s64_put(w, i->sdst, ticks);                                                     \
		return WS_GO;                                                                      \
	}

static inline uint64_t ws_smem_register(const struct ws_wave *w, const struct ws_inst *i)
{
	return i->inner & WS_MEM_SADDR ? ws_scalar32(w, i, WS_S1) : 0;
}

static inline uint64_t ws_smem_address(const struct ws_wave *w, const struct ws_inst *i,
				       unsigned scale)
{
	uint64_t offset = (uint64_t)(int64_t)i->imm + ws_smem_register(w, i) * scale;

	return (ws_scalar64(w, i, WS_S0) + offset) & ~3ull;
}

/* Registers behind the last one do not exist: the decoder refuses such an instruction. */
WS_ALWAYS_INLINE enum ws_stop ws_scalar_load(struct ws_wave *w, const struct ws_inst *i,
					     uint64_t addr, unsigned n)
{
	if (!ws_reachable(w->mem, addr, 4 * n))
		return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr, false);
	memcpy(&w->s[i->sdst], ws_host(w->mem, addr), 4 * n);
	return WS_GO;
}

WS_ALWAYS_INLINE enum ws_stop ws_scalar_store(struct ws_wave *w, const struct ws_inst *i,
					      uint64_t addr, unsigned n)
{
	if (!ws_reachable(w->mem, addr, 4 * n))
		return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr, true);
	memcpy(ws_host(w->mem, addr), &w->s[i->sdst], 4 * n);
	return WS_GO;
}

#define WS_OP_scalar_load(name, n)                                                                 \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_scalar_load(w, i, ws_smem_address(w, i, 1), n);                          \
	}
#define WS_OP_scalar_store(name, n)                                                                \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_scalar_store(w, i, ws_smem_address(w, i, 1), n);                         \
	}
/* scratch: the register offset counts in units of 64 bytes */
#define WS_OP_scalar_scratch_load(name, n)                                                         \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_scalar_load(w, i, ws_smem_address(w, i, 64), n);                         \
	}
#define WS_OP_scalar_scratch_store(name, n)                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_scalar_store(w, i, ws_smem_address(w, i, 64), n);                        \
	}

/* ---- buffers: dwords outside of the descriptor's range read as 0 and are not written ---- */

/* Returns how many of the n dwords are inside, from the first on. */
static inline unsigned ws_smem_buffer(const struct ws_wave *w, const struct ws_inst *i, unsigned n,
				      uint64_t *out_addr)
{
	uint32_t d[4];
	uint64_t offset = ((uint64_t)(uint32_t)i->imm + ws_smem_register(w, i)) & ~3ull;
	uint64_t bytes, left;

	memcpy(d, ws_scalar(w, i, WS_S0), sizeof(d));
	uint32_t stride = d[1] >> 16 & 0x3fff;

	bytes = stride ? (uint64_t)stride * d[2] : d[2];
	*out_addr = (d[0] | (uint64_t)(d[1] & 0xffff) << 32) + offset;
	*out_addr &= ~3ull;
	if (offset >= bytes)
		return 0;
	left = (bytes - offset + 3) / 4;
	return left < n ? (unsigned)left : n;
}

#define WS_OP_scalar_buffer_load(name, n)                                                          \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t data[n] = { 0 };                                                          \
		uint64_t addr;                                                                     \
		unsigned inside = ws_smem_buffer(w, i, n, &addr);                                  \
                                                                                                   \
		if (inside && !ws_reachable(w->mem, addr, 4 * inside))                             \
			return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr, false);                  \
		if (inside)                                                                        \
			memcpy(data, ws_host(w->mem, addr), 4 * inside);                           \
		memcpy(&w->s[i->sdst], data, sizeof(data));                                        \
		return WS_GO;                                                                      \
	}

#define WS_OP_scalar_buffer_store(name, n)                                                         \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t addr;                                                                     \
		unsigned inside = ws_smem_buffer(w, i, n, &addr);                                  \
                                                                                                   \
		if (inside && !ws_reachable(w->mem, addr, 4 * inside))                             \
			return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr, true);                   \
		if (inside)                                                                        \
			memcpy(ws_host(w->mem, addr), &w->s[i->sdst], 4 * inside);                 \
		return WS_GO;                                                                      \
	}

/* ---- atomics; the data register receives the old value when glc is set ---- */

#define WS_SCALAR_AMO(bits, op, addr)                                                              \
	do {                                                                                       \
		uint##bits##_t v_, c_, was_;                                                       \
                                                                                                   \
		if ((addr) & (bits / 8 - 1) || !ws_reachable(w->mem, addr, bits / 8))              \
			return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr, true);                   \
		memcpy(&v_, &w->s[i->sdst], sizeof(v_));                                           \
		memcpy(&c_, &w->s[i->sdst + bits / 32], sizeof(c_));                               \
		was_ = WS_AMO_AT(bits, op, ws_host(w->mem, addr), v_, c_);                         \
		if (i->inner & WS_MEM_RETURN)                                                      \
			memcpy(&w->s[i->sdst], &was_, sizeof(was_));                               \
	} while (0)

#define WS_OP_scalar_atomic(name, op, bits)                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t addr = ws_smem_address(w, i, 1);                                          \
                                                                                                   \
		WS_SCALAR_AMO(bits, op, addr);                                                     \
		return WS_GO;                                                                      \
	}

#define WS_OP_scalar_buffer_atomic(name, op, bits)                                                 \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t addr;                                                                     \
                                                                                                   \
		if (ws_smem_buffer(w, i, bits / 32, &addr) == bits / 32)                           \
			WS_SCALAR_AMO(bits, op, addr);                                             \
		else if (i->inner & WS_MEM_RETURN)                                                 \
			memset(&w->s[i->sdst], 0, bits / 8);                                       \
		return WS_GO;                                                                      \
	}

#endif
