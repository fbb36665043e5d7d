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

#define SG_OP_nothing(name)                                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return SG_GO;                                                                      \
	}

static inline uint32_t sg_ds_bytes(const struct sg_wave *w, const struct sg_exec_insn *i)
{
	return i->inner & SG_MEM_GDS ? 0 : w->lds_bytes;
}

/* The active lanes whose [address, +size) exists. */
SG_ALWAYS_INLINE uint64_t sg_ds_inside(const struct sg_wave *w, const struct sg_exec_insn *i,
				       const uint32_t *va, uint32_t offset, unsigned size)
{
	const uint64_t exec = sg_exec(w);
	const uint32_t bytes = sg_ds_bytes(w, i), last = bytes - size;
	uint64_t inside = 0;
	uint32_t outside = 0;
	unsigned l;

	if (bytes < size)
		return 0;
	for (l = 0; l < SG_LANES; l++)
		outside |= va[l] + offset > last ? 1 : 0;
	if (!outside)
		return exec;
	SG_FOR_ACTIVE(l, exec)
		inside |= (uint64_t)(va[l] + offset <= last) << l;
	return inside;
}

/* ---- reads and writes ---- */

SG_ALWAYS_INLINE void sg_ds_load(const struct sg_wave *w, const struct sg_exec_insn *i,
				 const uint32_t *va, uint32_t *dst, uint32_t offset,
				 enum sg_load kind)
{
	static const uint8_t nothing[16];
	const unsigned size = sg_load_bytes(kind);
	uint64_t inside = sg_ds_inside(w, i, va, offset, size);
	unsigned l;

	if (inside == ~0ull) {
		if (kind >= SG_LD_B32 && sg_rises(va, size)) {
			sg_load_row(dst, w->lds + (uint32_t)(va[0] + offset), kind);
			return;
		}
		for (l = 0; l < SG_LANES; l++)
			sg_load_lane(dst + l, w->lds + (uint32_t)(va[l] + offset), kind);
		return;
	}
	SG_FOR_ACTIVE(l, inside)
		sg_load_lane(dst + l, w->lds + (uint32_t)(va[l] + offset), kind);
	SG_FOR_ACTIVE(l, sg_exec(w) & ~inside)
		sg_load_lane(dst + l, nothing, kind);
}

SG_ALWAYS_INLINE void sg_ds_store(const struct sg_wave *w, const struct sg_exec_insn *i,
				  const uint32_t *src, uint32_t offset, enum sg_store kind)
{
	const uint32_t *va = sg_src(w, i, SG_S0);
	const unsigned size = sg_store_bytes(kind);
	uint64_t inside = sg_ds_inside(w, i, va, offset, size);
	unsigned l;

	if (inside == ~0ull && kind >= SG_ST_B32 && sg_rises(va, size)) {
		sg_store_row(w->lds + (uint32_t)(va[0] + offset), src, kind);
		return;
	}
	SG_FOR_ACTIVE(l, inside)
		sg_store_lane(w->lds + (uint32_t)(va[l] + offset), src + l, kind);
}

#define SG_OP_ds_read(name, kind)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_ds_load(w, i, sg_src(w, i, SG_S0), sg_dst(w, i), (uint32_t)i->imm,              \
			   SG_LD_##kind);                                                          \
		return SG_GO;                                                                      \
	}

/* Element k, of `bits` bits, of a lane's registers. */
static inline uint32_t sg_ds_element(const uint32_t *regs, unsigned lane, unsigned k, unsigned bits)
{
	const unsigned at = k * bits, reg = at / 32;
	uint64_t pair = regs[reg * SG_LANES + lane];

	if (at % 32 + bits > 32)
		pair |= (uint64_t)regs[(reg + 1) * SG_LANES + lane] << 32;
	return (uint32_t)(pair >> at % 32) & ((1u << bits) - 1);
}

/*
 * 16 lanes read a matrix of 16 columns, row after row, as many elements each as a register pair
 * (or three) holds; each gets one column. Lanes that are off read nothing.
 */
SG_ALWAYS_INLINE void sg_ds_transpose(struct sg_wave *w, const struct sg_exec_insn *i,
				      unsigned bits, enum sg_load kind)
{
	const unsigned n = sg_load_bytes(kind) * 8 / bits, lanes_per_row = 16 / n;
	const unsigned n_regs = sg_load_bytes(kind) / 4;
	uint32_t *dst = sg_dst(w, i), *raw = w->result;
	unsigned l;

	memset(raw, 0, n_regs * SG_LANES * sizeof(*raw));
	sg_ds_load(w, i, sg_src(w, i, SG_S0), raw, (uint32_t)i->imm, kind);
	SG_FOR_ACTIVE(l, sg_exec(w)) {
		const unsigned group = l & ~15u, column = l & 15;
		uint64_t out[2] = { 0 }; /* three registers at most */

		for (unsigned k = 0; k < n; k++) {
			const unsigned from = group + k * lanes_per_row + column / n;
			const uint64_t v = sg_ds_element(raw, from, column % n, bits);
			const unsigned at = k * bits;

			out[at / 64] |= v << at % 64;
			if (at % 64 + bits > 64)
				out[1] |= v >> (64 - at % 64);
		}
		for (unsigned r = 0; r < n_regs; r++)
			dst[r * SG_LANES + l] = (uint32_t)(out[r / 2] >> r % 2 * 32);
	}
}

#define SG_OP_ds_read_tr(name, bits, kind)                                                         \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_ds_transpose(w, i, bits, SG_LD_##kind);                                         \
		return SG_GO;                                                                      \
	}

#define SG_OP_ds_write(name, kind)                                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_ds_store(w, i, sg_src(w, i, SG_S1), (uint32_t)i->imm, SG_ST_##kind);            \
		return SG_GO;                                                                      \
	}

/* Two elements; their offsets count in elements, or in 64 of them. */
static inline uint32_t sg_ds_offset(const struct sg_exec_insn *i, unsigned which, unsigned unit)
{
	return ((uint32_t)i->imm >> 8 * which & 0xff) * unit;
}

#define SG_OP_ds_read2(name, bits, stride)                                                         \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t va[SG_LANES] __attribute__((aligned(64)));                                \
		uint32_t *dst = sg_dst(w, i);                                                      \
                                                                                                   \
		memcpy(va, sg_src(w, i, SG_S0), sizeof(va)); /* the first half may overwrite it */ \
		sg_ds_load(w, i, va, dst, sg_ds_offset(i, 0, bits / 8 * stride), SG_LD_B##bits);   \
		sg_ds_load(w, i, va, dst + bits / 32 * SG_LANES,                                   \
			   sg_ds_offset(i, 1, bits / 8 * stride), SG_LD_B##bits);                  \
		return SG_GO;                                                                      \
	}

#define SG_OP_ds_write2(name, bits, stride)                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_ds_store(w, i, sg_src(w, i, SG_S1), sg_ds_offset(i, 0, bits / 8 * stride),      \
			    SG_ST_B##bits);                                                        \
		sg_ds_store(w, i, sg_src(w, i, SG_S2), sg_ds_offset(i, 1, bits / 8 * stride),      \
			    SG_ST_B##bits);                                                        \
		return SG_GO;                                                                      \
	}

/* The address is M0 + offset + 4 * lane. */
static inline void sg_ds_lane_addresses(const struct sg_wave *w, uint32_t *va)
{
	for (unsigned l = 0; l < SG_LANES; l++)
		va[l] = (w->s[SG_S_M0] & 0xffff) + 4 * l;
}

#define SG_OP_ds_read_addtid(name)                                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t va[SG_LANES] __attribute__((aligned(64)));                                \
                                                                                                   \
		sg_ds_lane_addresses(w, va);                                                       \
		sg_ds_load(w, i, va, sg_dst(w, i), (uint32_t)i->imm, SG_LD_B32);                   \
		return SG_GO;                                                                      \
	}

#define SG_OP_ds_write_addtid(name)                                                                \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = sg_src(w, i, SG_S1);                                         \
		uint32_t va[SG_LANES] __attribute__((aligned(64)));                                \
		unsigned l;                                                                        \
                                                                                                   \
		sg_ds_lane_addresses(w, va);                                                       \
		SG_FOR_ACTIVE(l, sg_ds_inside(w, i, va, (uint32_t)i->imm, 4))                      \
			sg_poke32(w->lds + va[l] + i->imm, src[l]);                                \
		return SG_GO;                                                                      \
	}

/* ---- atomics ---- */

/* Lane by lane, in order. A place outside of LDS reads as 0 and stays. */
#define SG_DS_AMO(bits, op, offset, src, src2, dst)                                                \
	do {                                                                                       \
		const uint32_t *va_ = sg_src(w, i, SG_S0);                                         \
		const uint32_t bytes_ = sg_ds_bytes(w, i);                                         \
		uint32_t *to_ = dst;                                                               \
		unsigned l;                                                                        \
                                                                                                   \
		SG_FOR_ACTIVE(l, sg_exec(w)) {                                                     \
			uint32_t at_ = (va_[l] + (uint32_t)(offset)) & ~(bits / 8 - 1u);           \
			uint##bits##_t data_ = get_b##bits(src, l), data2_ = get_b##bits(src2, l); \
			uint##bits##_t was_ = 0;                                                   \
                                                                                                   \
			if ((uint64_t)at_ + bits / 8 <= bytes_) {                                  \
				was_ = sg_peek##bits(w->lds + at_);                                \
				sg_poke##bits(w->lds + at_,                                        \
					      amo_##op##_##bits(was_, data_, data2_));             \
			}                                                                          \
			if (to_)                                                                   \
				put_b##bits(to_, l, was_);                                         \
		}                                                                                  \
	} while (0)

#define SG_DS_AMO_BODY(op, bits, rtn)                                                              \
	const uint32_t *src = sg_src(w, i, SG_S1), *src2 = sg_src(w, i, SG_S2);                    \
	uint32_t *dst = rtn ? sg_dst(w, i) : NULL;                                                 \
                                                                                                   \
	SG_DS_AMO(bits, op, i->imm, src, src2, dst);

#define SG_OP_ds_atomic(name, op, bits)                                                            \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		SG_DS_AMO_BODY(op, bits, false)                                                    \
		return SG_GO;                                                                      \
	}

#define SG_OP_ds_atomic_rtn(name, op, bits)                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		SG_DS_AMO_BODY(op, bits, true)                                                     \
		return SG_GO;                                                                      \
	}

/* LDS adds floats as MODE says: bits 4-5 keep denormals of 32 bits. */
#define SG_OP_ds_add_f32(name, rtn)                                                                \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		if (w->mode & 0x30) {                                                              \
			SG_DS_AMO_BODY(fadd, 32, rtn)                                              \
		} else {                                                                           \
			SG_DS_AMO_BODY(fadd_ftz, 32, rtn)                                          \
		}                                                                                  \
		return SG_GO;                                                                      \
	}

#define SG_OP_ds_wrxchg2(name, bits, stride)                                                         \
	SG_HANDLER(name)                                                                             \
	{                                                                                            \
		const uint32_t *src = sg_src(w, i, SG_S1), *src2 = sg_src(w, i, SG_S2);              \
		uint32_t old[2 * bits / 32 * SG_LANES] __attribute__((aligned(64)));                 \
		uint32_t *second = old + bits / 32 * SG_LANES;                                       \
                                                                                                     \
		/* beside the destination, which may be the address or the data of the second half \
		 */ \
		SG_DS_AMO(bits, swap, sg_ds_offset(i, 0, bits / 8 * stride), src, src, old);         \
		SG_DS_AMO(bits, swap, sg_ds_offset(i, 1, bits / 8 * stride), src2, src2, second);    \
		sg_merge(sg_lane_mask(w), sg_dst(w, i), old, 2 * bits / 32);                         \
		return SG_GO;                                                                        \
	}

/* DS[A] = DS[A] op DS[B]; B is A plus a signed distance in dwords: the offset, or A's top bits. */
static inline uint32_t sg_ds_src2_distance(const struct sg_exec_insn *i, uint32_t va)
{
	uint32_t field = (uint32_t)i->imm;

	return field & 0x8000 ? (uint32_t)((int32_t)va >> 17) * 4
			      : (uint32_t)((int32_t)(field << 17) >> 17) * 4;
}

#define SG_OP_ds_src2(name, op, bits)                                                              \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *va = sg_src(w, i, SG_S0);                                          \
		const uint32_t bytes = sg_ds_bytes(w, i);                                          \
		unsigned l;                                                                        \
                                                                                                   \
		SG_FOR_ACTIVE(l, sg_exec(w)) {                                                     \
			uint32_t a = va[l] & 0x1ffff & ~(bits / 8 - 1u);                           \
			uint32_t b = (a + sg_ds_src2_distance(i, va[l])) & ~(bits / 8 - 1u);       \
			uint##bits##_t v = 0;                                                      \
                                                                                                   \
			if ((uint64_t)b + bits / 8 <= bytes)                                       \
				v = sg_peek##bits(w->lds + b);                                     \
			if ((uint64_t)a + bits / 8 <= bytes)                                       \
				sg_poke##bits(w->lds + a,                                          \
					      amo_##op##_##bits(sg_peek##bits(w->lds + a), v, 0)); \
		}                                                                                  \
		return SG_GO;                                                                      \
	}

/* Two dwords, each written only if the top bit of its data is set, without that bit. */
SG_AMO_SIZED(condxchg, 32, v >> 31 ? v & 0x7fffffffu : m)

static inline uint64_t amo_condxchg_64(uint64_t m, uint64_t v, uint64_t c)
{
	return amo_condxchg_32((uint32_t)m, (uint32_t)v, 0) |
	       (uint64_t)amo_condxchg_32((uint32_t)(m >> 32), (uint32_t)(v >> 32), 0) << 32;
}

/* A counter at M0 + offset, moved by the number of active lanes; all of them get its old value. */
#define SG_OP_ds_counter(name, op)                                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t at = ((w->s[SG_S_M0] & 0xffff) + (uint64_t)i->imm) & ~3ull;               \
		uint32_t *dst = sg_dst(w, i), was = 0;                                             \
		unsigned l;                                                                        \
                                                                                                   \
		if (at + 4 <= sg_ds_bytes(w, i)) {                                                 \
			was = sg_peek32(w->lds + at);                                              \
			sg_poke32(w->lds + at, was op(uint32_t) __builtin_popcountll(sg_exec(w))); \
		}                                                                                  \
		SG_FOR_ACTIVE(l, sg_exec(w))                                                       \
			dst[l] = was;                                                              \
		return SG_GO;                                                                      \
	}

/*
 * Ordered append needs GDS and the graphics pipeline's wave order; a compute queue has neither, and
 * the read of a counter that does not exist is 0.
 */
#define SG_OP_ds_ordered_count(name)                                                               \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t *dst = sg_dst(w, i);                                                      \
		unsigned l;                                                                        \
                                                                                                   \
		SG_FOR_ACTIVE(l, sg_exec(w))                                                       \
			dst[l] = 0;                                                                \
		return SG_GO;                                                                      \
	}

/* ---- between lanes; these use the LDS crossbar only ---- */

/* The lane that lane l reads from. */
static inline unsigned sg_swizzle_lane(uint32_t mode, unsigned l)
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

#define SG_DS_EXCHANGE(from_lane)                                                                  \
	do {                                                                                       \
		const uint64_t exec = sg_exec(w);                                                  \
		uint32_t *dst = sg_dst(w, i);                                                      \
		uint32_t got[SG_LANES] __attribute__((aligned(64)));                               \
                                                                                                   \
		for (unsigned l = 0; l < SG_LANES; l++) {                                          \
			unsigned from = (from_lane)&63;                                            \
                                                                                                   \
			got[l] = exec >> from & 1 ? src[from] : 0;                                 \
		}                                                                                  \
		sg_merge(sg_lane_mask(w), dst, got, 1);                                            \
	} while (0)

#define SG_OP_ds_swizzle(name)                                                                     \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *src = sg_src(w, i, SG_S0);                                         \
                                                                                                   \
		SG_DS_EXCHANGE(sg_swizzle_lane((uint32_t)i->imm & 0xffff, l));                     \
		return SG_GO;                                                                      \
	}

#define SG_OP_ds_bpermute(name)                                                                    \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *va = sg_src(w, i, SG_S0), *src = sg_src(w, i, SG_S1);              \
                                                                                                   \
		SG_DS_EXCHANGE((va[l] + (uint32_t)i->imm) >> 2);                                   \
		return SG_GO;                                                                      \
	}

/* Lanes send; of two that name the same receiver the higher one wins. */
#define SG_OP_ds_permute(name)                                                                     \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *va = sg_src(w, i, SG_S0), *src = sg_src(w, i, SG_S1);              \
		uint32_t got[SG_LANES] __attribute__((aligned(64))) = { 0 };                       \
		unsigned l;                                                                        \
                                                                                                   \
		SG_FOR_ACTIVE(l, sg_exec(w))                                                       \
			got[(va[l] + (uint32_t)i->imm) >> 2 & 63] = src[l];                        \
		sg_merge(sg_lane_mask(w), sg_dst(w, i), got, 1);                                   \
		return SG_GO;                                                                      \
	}

/* ---- global wave sync ---- */

static inline enum sg_stop sg_ds_gws(struct sg_wave *w, const struct sg_exec_insn *i,
				     enum sg_gws_op op)
{
	const uint32_t *value = sg_src(w, i, SG_S0);
	unsigned first = sg_exec(w) ? (unsigned)__builtin_ctzll(sg_exec(w)) : 0;
	unsigned resource = ((w->s[SG_S_M0] >> 16) + (uint32_t)i->imm) & (SG_GWS_RESOURCES - 1);

	if (!w->launch->gws) /* the queue was given none */
		return sg_wave_fault(w, i, SG_FAULT_APERTURE, 0, false);
	if (sg_gws_do(w->launch->gws, op, resource, value[first], &w->gws_wait))
		return SG_GO;
	w->pc = i;
	return SG_STOP_WAIT;
}

#define SG_OP_ds_gws(name, op)                                                                     \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_ds_gws(w, i, SG_GWS_##op);                                               \
	}

#endif
