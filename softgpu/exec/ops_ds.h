/*
 * ops_ds: the local data share, exchanges between lanes, and global wave sync.
 *
 * Operands: D vdst, S0 vaddr, S1 data0, S2 data1; i->imm is the 16-bit offset, or the two 8-bit
 * ones. A workgroup's waves run on one thread at a time, so LDS needs no atomics. Accesses need no
 * alignment (amdhsa runs in unaligned mode), atomics ignore the low bits of the address. What is
 * outside of the workgroup's LDS reads as 0 and is not written.
 *
 * GDS: the driver gives compute processes none of it, so there every address is outside.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_DS_H
#define WS_SOFTGPU_EXEC_OPS_DS_H

#include "softgpu/exec/amo.h"
#include "softgpu/exec/gws.h"

#define WS_OP_nothing(name)                                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return WS_GO;                                                                      \
	}

static inline uint32_t ws_ds_bytes(const struct ws_wave *w, const struct ws_inst *i)
{
	return i->inner & WS_MEM_GDS ? 0 : w->lds_bytes;
}

/* The active lanes whose [address, +size) exists. */
WS_ALWAYS_INLINE uint64_t ws_ds_inside(const struct ws_wave *w, const struct ws_inst *i,
				       const uint32_t *va, uint32_t offset, unsigned size)
{
	const uint64_t exec = ws_exec(w);
	const uint32_t bytes = ws_ds_bytes(w, i), last = bytes - size;
	uint64_t inside = 0;
	uint32_t outside = 0;
	unsigned l;

	if (bytes < size)
		return 0;
	for (l = 0; l < WS_LANES; l++)
		outside |= va[l] + offset > last ? 1 : 0;
	if (!outside)
		return exec;
	WS_FOR_ACTIVE(l, exec)
		inside |= (uint64_t)(va[l] + offset <= last) << l;
	return inside;
}

/* ---- reads and writes ---- */

WS_ALWAYS_INLINE void ws_ds_load(const struct ws_wave *w, const struct ws_inst *i,
				 const uint32_t *va, uint32_t *dst, uint32_t offset,
				 enum ws_load kind)
{
	static const uint8_t nothing[16];
	const unsigned size = ws_load_bytes(kind);
	uint64_t inside = ws_ds_inside(w, i, va, offset, size);
	unsigned l;

	if (inside == ~0ull) {
		if (kind >= WS_LD_B32 && ws_rises(va, size)) {
			ws_load_row(dst, w->lds + (uint32_t)(va[0] + offset), kind);
			return;
		}
		for (l = 0; l < WS_LANES; l++)
			ws_load_lane(dst + l, w->lds + (uint32_t)(va[l] + offset), kind);
		return;
	}
	WS_FOR_ACTIVE(l, inside)
		ws_load_lane(dst + l, w->lds + (uint32_t)(va[l] + offset), kind);
	WS_FOR_ACTIVE(l, ws_exec(w) & ~inside)
		ws_load_lane(dst + l, nothing, kind);
}

WS_ALWAYS_INLINE void ws_ds_store(const struct ws_wave *w, const struct ws_inst *i,
				  const uint32_t *src, uint32_t offset, enum ws_store kind)
{
	const uint32_t *va = ws_src(w, i, WS_S0);
	const unsigned size = ws_store_bytes(kind);
	uint64_t inside = ws_ds_inside(w, i, va, offset, size);
	unsigned l;

	if (inside == ~0ull && kind >= WS_ST_B32 && ws_rises(va, size)) {
		ws_store_row(w->lds + (uint32_t)(va[0] + offset), src, kind);
		return;
	}
	WS_FOR_ACTIVE(l, inside)
		ws_store_lane(w->lds + (uint32_t)(va[l] + offset), src + l, kind);
}

#define WS_OP_ds_read(name, kind)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_ds_load(w, i, ws_src(w, i, WS_S0), ws_dst(w, i), (uint32_t)i->imm,              \
			   WS_LD_##kind);                                                          \
		return WS_GO;                                                                      \
	}

#define WS_OP_ds_write(name, kind)                                                                 \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_ds_store(w, i, ws_src(w, i, WS_S1), (uint32_t)i->imm, WS_ST_##kind);            \
		return WS_GO;                                                                      \
	}

/* Two elements; their offsets count in elements, or in 64 of them. */
static inline uint32_t ws_ds_offset(const struct ws_inst *i, unsigned which, unsigned unit)
{
	return ((uint32_t)i->imm >> 8 * which & 0xff) * unit;
}

#define WS_OP_ds_read2(name, bits, stride)                                                         \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t va[WS_LANES] __attribute__((aligned(64)));                                \
		uint32_t *dst = ws_dst(w, i);                                                      \
                                                                                                   \
		memcpy(va, ws_src(w, i, WS_S0), sizeof(va)); /* the first half may overwrite it */ \
		ws_ds_load(w, i, va, dst, ws_ds_offset(i, 0, bits / 8 * stride), WS_LD_B##bits);   \
		ws_ds_load(w, i, va, dst + bits / 32 * WS_LANES,                                   \
			   ws_ds_offset(i, 1, bits / 8 * stride), WS_LD_B##bits);                  \
		return WS_GO;                                                                      \
	}

#define WS_OP_ds_write2(name, bits, stride)                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_ds_store(w, i, ws_src(w, i, WS_S1), ws_ds_offset(i, 0, bits / 8 * stride),      \
			    WS_ST_B##bits);                                                        \
		ws_ds_store(w, i, ws_src(w, i, WS_S2), ws_ds_offset(i, 1, bits / 8 * stride),      \
			    WS_ST_B##bits);                                                        \
		return WS_GO;                                                                      \
	}

/* The address is M0 + offset + 4 * lane. */
static inline void ws_ds_lane_addresses(const struct ws_wave *w, uint32_t *va)
{
	for (unsigned l = 0; l < WS_LANES; l++)
		va[l] = (w->s[WS_S_M0] & 0xffff) + 4 * l;
}

#define WS_OP_ds_read_addtid(name)                                                                 \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t va[WS_LANES] __attribute__((aligned(64)));                                \
                                                                                                   \
		ws_ds_lane_addresses(w, va);                                                       \
		ws_ds_load(w, i, va, ws_dst(w, i), (uint32_t)i->imm, WS_LD_B32);                   \
		return WS_GO;                                                                      \
	}

#define WS_OP_ds_write_addtid(name)                                                                \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = ws_src(w, i, WS_S1);                                         \
		uint32_t va[WS_LANES] __attribute__((aligned(64)));                                \
		unsigned l;                                                                        \
                                                                                                   \
		ws_ds_lane_addresses(w, va);                                                       \
		WS_FOR_ACTIVE(l, ws_ds_inside(w, i, va, (uint32_t)i->imm, 4))                      \
			ws_poke32(w->lds + va[l] + i->imm, src[l]);                                \
		return WS_GO;                                                                      \
	}

/* ---- atomics ---- */

/* Lane by lane, in order. A place outside of LDS reads as 0 and stays. */
#define WS_DS_AMO(bits, op, offset, src, src2, dst)                                                \
	do {                                                                                       \
		const uint32_t *va_ = ws_src(w, i, WS_S0);                                         \
		const uint32_t bytes_ = ws_ds_bytes(w, i);                                         \
		uint32_t *to_ = dst;                                                               \
		unsigned l;                                                                        \
                                                                                                   \
		WS_FOR_ACTIVE(l, ws_exec(w)) {                                                     \
			uint32_t at_ = (va_[l] + (uint32_t)(offset)) & ~(bits / 8 - 1u);           \
			uint##bits##_t data_ = get_b##bits(src, l), data2_ = get_b##bits(src2, l); \
			uint##bits##_t was_ = 0;                                                   \
                                                                                                   \
			if ((uint64_t)at_ + bits / 8 <= bytes_) {                                  \
				was_ = ws_peek##bits(w->lds + at_);                                \
				ws_poke##bits(w->lds + at_,                                        \
					      amo_##op##_##bits(was_, data_, data2_));             \
			}                                                                          \
			if (to_)                                                                   \
				put_b##bits(to_, l, was_);                                         \
		}                                                                                  \
	} while (0)

#define WS_DS_AMO_BODY(op, bits, rtn)                                                              \
	const uint32_t *src = ws_src(w, i, WS_S1), *src2 = ws_src(w, i, WS_S2);                    \
	uint32_t *dst = rtn ? ws_dst(w, i) : NULL;                                                 \
                                                                                                   \
	WS_DS_AMO(bits, op, i->imm, src, src2, dst);

#define WS_OP_ds_atomic(name, op, bits)                                                            \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		WS_DS_AMO_BODY(op, bits, false)                                                    \
		return WS_GO;                                                                      \
	}

#define WS_OP_ds_atomic_rtn(name, op, bits)                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		WS_DS_AMO_BODY(op, bits, true)                                                     \
		return WS_GO;                                                                      \
	}

/* LDS adds floats as MODE says: bits 4-5 keep denormals of 32 bits. */
#define WS_OP_ds_add_f32(name, rtn)                                                                \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		if (w->mode & 0x30) {                                                              \
			WS_DS_AMO_BODY(fadd, 32, rtn)                                              \
		} else {                                                                           \
			WS_DS_AMO_BODY(fadd_ftz, 32, rtn)                                          \
		}                                                                                  \
		return WS_GO;                                                                      \
	}

#define WS_OP_ds_wrxchg2(name, bits, stride)                                                       \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = ws_src(w, i, WS_S1), *src2 = ws_src(w, i, WS_S2);            \
		uint32_t old[2 * bits / 32 * WS_LANES] __attribute__((aligned(64)));               \
		uint32_t *second = old + bits / 32 * WS_LANES;                                     \
                                                                                                   \
		/* beside the destination, which may be the address or the data of the second half \
		 */                                                                                \
		WS_DS_AMO(bits, swap, ws_ds_offset(i, 0, bits / 8 * stride), src, src, old);       \
		WS_DS_AMO(bits, swap, ws_ds_offset(i, 1, bits / 8 * stride), src2, src2, second);  \
		ws_merge(ws_lane_mask(w), ws_dst(w, i), old, 2 * bits / 32);                       \
		return WS_GO;                                                                      \
	}

/* DS[A] = DS[A] op DS[B]; B is A plus a signed distance in dwords: the offset, or A's top bits. */
static inline uint32_t ws_ds_src2_distance(const struct ws_inst *i, uint32_t va)
{
	uint32_t field = (uint32_t)i->imm;

	return field & 0x8000 ? (uint32_t)((int32_t)va >> 17) * 4
			      : (uint32_t)((int32_t)(field << 17) >> 17) * 4;
}

#define WS_OP_ds_src2(name, op, bits)                                                              \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *va = ws_src(w, i, WS_S0);                                          \
		const uint32_t bytes = ws_ds_bytes(w, i);                                          \
		unsigned l;                                                                        \
                                                                                                   \
		WS_FOR_ACTIVE(l, ws_exec(w)) {                                                     \
			uint32_t a = va[l] & 0x1ffff & ~(bits / 8 - 1u);                           \
			uint32_t b = (a + ws_ds_src2_distance(i, va[l])) & ~(bits / 8 - 1u);       \
			uint##bits##_t v = 0;                                                      \
                                                                                                   \
			if ((uint64_t)b + bits / 8 <= bytes)                                       \
				v = ws_peek##bits(w->lds + b);                                     \
			if ((uint64_t)a + bits / 8 <= bytes)                                       \
				ws_poke##bits(w->lds + a,                                          \
					      amo_##op##_##bits(ws_peek##bits(w->lds + a), v, 0)); \
		}                                                                                  \
		return WS_GO;                                                                      \
	}

/* Two dwords, each written only if the top bit of its data is set, without that bit. */
WS_AMO_SIZED(condxchg, 32, v >> 31 ? v & 0x7fffffffu : m)

static inline uint64_t amo_condxchg_64(uint64_t m, uint64_t v, uint64_t c)
{
	return amo_condxchg_32((uint32_t)m, (uint32_t)v, 0) |
	       (uint64_t)amo_condxchg_32((uint32_t)(m >> 32), (uint32_t)(v >> 32), 0) << 32;
}

/* A counter at M0 + offset, moved by the number of active lanes; all of them get its old value. */
#define WS_OP_ds_counter(name, op)                                                                 \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t at = ((w->s[WS_S_M0] & 0xffff) + (uint64_t)i->imm) & ~3ull;               \
		uint32_t *dst = ws_dst(w, i), was = 0;                                             \
		unsigned l;                                                                        \
                                                                                                   \
		if (at + 4 <= ws_ds_bytes(w, i)) {                                                 \
			was = ws_peek32(w->lds + at);                                              \
			ws_poke32(w->lds + at, was op(uint32_t) __builtin_popcountll(ws_exec(w))); \
		}                                                                                  \
		WS_FOR_ACTIVE(l, ws_exec(w))                                                       \
			dst[l] = was;                                                              \
		return WS_GO;                                                                      \
	}

/*
 * Ordered append needs GDS and the graphics pipeline's wave order; a compute queue has neither, and
 * the read of a counter that does not exist is 0.
 */
#define WS_OP_ds_ordered_count(name)                                                               \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t *dst = ws_dst(w, i);                                                      \
		unsigned l;                                                                        \
                                                                                                   \
		WS_FOR_ACTIVE(l, ws_exec(w))                                                       \
			dst[l] = 0;                                                                \
		return WS_GO;                                                                      \
	}

/* ---- between lanes; these use the LDS crossbar only ---- */

/* The lane that lane l reads from. */
static inline unsigned ws_swizzle_lane(uint32_t mode, unsigned l)
{
	unsigned half = l & 0x20, in = l & 0x1f, out;

	if (mode >= 0xe000) { /* FFT: bit reversal, above the masked bits */
		unsigned mask = mode & 0x1f, reversed = 0;

		for (unsigned b = 0; b < 5; b++)
			reversed |= (in >> b & 1) << (4 - b);
		out = (reversed >> __builtin_popcount(mask)) | (in & mask);
	} else if (mode >= 0xc000) { /* rotate, inside groups given by the mask */
		unsigned mask = mode & 0x1f, by = mode >> 5 & 0x1f;

		if (mode >> 10 & 1)
			by = 0u - by;
		out = (in & mask) | ((in + by) & ~mask);
	} else if (mode & 0x8000) { /* quad permutation */
		out = (in & ~3u) | (mode >> 2 * (in & 3) & 3);
	} else { /* and, or, xor */
		out = ((in & (mode & 0x1f)) | (mode >> 5 & 0x1f)) ^ (mode >> 10 & 0x1f);
	}
	return (out & 0x1f) | half;
}

#define WS_DS_EXCHANGE(from_lane)                                                                  \
	do {                                                                                       \
		const uint64_t exec = ws_exec(w);                                                  \
		uint32_t *dst = ws_dst(w, i);                                                      \
		uint32_t got[WS_LANES] __attribute__((aligned(64)));                               \
                                                                                                   \
		for (unsigned l = 0; l < WS_LANES; l++) {                                          \
			unsigned from = (from_lane)&63;                                            \
                                                                                                   \
			got[l] = exec >> from & 1 ? src[from] : 0;                                 \
		}                                                                                  \
		ws_merge(ws_lane_mask(w), dst, got, 1);                                            \
	} while (0)

#define WS_OP_ds_swizzle(name)                                                                     \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = ws_src(w, i, WS_S0);                                         \
                                                                                                   \
		WS_DS_EXCHANGE(ws_swizzle_lane((uint32_t)i->imm & 0xffff, l));                     \
		return WS_GO;                                                                      \
	}

#define WS_OP_ds_bpermute(name)                                                                    \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *va = ws_src(w, i, WS_S0), *src = ws_src(w, i, WS_S1);              \
                                                                                                   \
		WS_DS_EXCHANGE((va[l] + (uint32_t)i->imm) >> 2);                                   \
		return WS_GO;                                                                      \
	}

/* Lanes send; of two that name the same receiver the higher one wins. */
#define WS_OP_ds_permute(name)                                                                     \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *va = ws_src(w, i, WS_S0), *src = ws_src(w, i, WS_S1);              \
		uint32_t got[WS_LANES] __attribute__((aligned(64))) = { 0 };                       \
		unsigned l;                                                                        \
                                                                                                   \
		WS_FOR_ACTIVE(l, ws_exec(w))                                                       \
			got[(va[l] + (uint32_t)i->imm) >> 2 & 63] = src[l];                        \
		ws_merge(ws_lane_mask(w), ws_dst(w, i), got, 1);                                   \
		return WS_GO;                                                                      \
	}

/* ---- global wave sync ---- */

static inline enum ws_stop ws_ds_gws(struct ws_wave *w, const struct ws_inst *i, enum ws_gws_op op)
{
	const uint32_t *value = ws_src(w, i, WS_S0);
	unsigned first = ws_exec(w) ? (unsigned)__builtin_ctzll(ws_exec(w)) : 0;
	unsigned resource = ((w->s[WS_S_M0] >> 16) + (uint32_t)i->imm) & (WS_GWS_RESOURCES - 1);

	if (!w->launch->gws) /* the queue was given none */
		return ws_wave_fault(w, i, WS_FAULT_APERTURE, 0, false);
	if (ws_gws_do(w->launch->gws, op, resource, value[first], &w->gws_wait))
		return WS_GO;
	w->pc = i;
	return WS_STOP_WAIT;
}

#define WS_OP_ds_gws(name, op)                                                                     \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_ds_gws(w, i, WS_GWS_##op);                                               \
	}

#endif
