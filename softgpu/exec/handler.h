/*
 * handler: what the generated and the hand-written instruction handlers are made of.
 *
 * Included by translation units that are compiled once per SIMD level (plain, AVX2, AVX-512); SG_FN
 * gives every level its own symbols. A vector handler is this pattern:
 *
 *	SG_HANDLER(vop2_v_add_f32)
 *	{
 *		SG_SPLAT();
 *		const uint32_t *p0 = sg_src(w, i, SG_S0), *p1 = sg_src(w, i, SG_S1);
 *		uint32_t *dst = sg_dst(w, i), *out = sg_out(w, dst);
 *
 *		SG_EACH_LANE
 *			put_f32(out, l, get_f32(p0, l) + get_f32(p1, l));
 *		sg_commit(w, dst, out, 1);
 *		return SG_GO;
 *	}
 *
 * The loop always runs over 64 lanes. While EXEC is partial it writes beside the destination, and
 * sg_commit() moves the active lanes: one loop per instruction to compile, and the common case, all
 * lanes active, pays nothing.
 */
#ifndef WS_SOFTGPU_EXEC_HANDLER_H
#define WS_SOFTGPU_EXEC_HANDLER_H

#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "softgpu/exec/wave.h"

#ifndef SG_LEVEL
#error "compile with -DSG_LEVEL=plain, avx2 or avx512"
#endif
#define SG_PASTE2(level, name) sg_##level##_##name
#define SG_PASTE(level, name) SG_PASTE2(level, name)
#define SG_FN(name) SG_PASTE(SG_LEVEL, name)
#define SG_HANDLER(name)                                                                           \
	enum sg_stop SG_FN(name)(struct sg_wave * w, const struct sg_exec_insn *i);                \
	enum sg_stop SG_FN(name)(struct sg_wave * w, const struct sg_exec_insn *i)

/* A row of a table whose result is still '?': tests/isa fails on it. */
#define SG_OP_unwritten(name)                                                                      \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_wave_fault(w, i, SG_FAULT_ILLEGAL, 0, false);                            \
	}

#define SG_EACH_LANE _Pragma("GCC ivdep") for (unsigned l = 0; l < SG_LANES; l++)

/* ---- vector operands ---- */

static inline void sg_splat32(uint32_t *restrict to, uint32_t v)
{
	for (unsigned l = 0; l < SG_LANES; l++)
		to[l] = v;
}

/* Scalar registers among the sources become lane arrays; s_off says which. */
static inline void sg_splat_sources(struct sg_wave *w, const struct sg_exec_insn *i)
{
	for (unsigned k = SG_S0; k <= SG_S2; k++) {
		const uint32_t *from = (const uint32_t *)((const char *)w + i->s_off[k]);

		if (!(i->splat & 1u << k))
			continue;
		sg_splat32(w->tmp[k], from[0]);
		if (i->splat & 0x10u << k)
			sg_splat32(w->tmp[k] + SG_LANES, from[1]);
		if (__builtin_expect(i->n_regs == 4,
				     0)) { /* v_mqsad_u32_u8: its src2 has as many */
			sg_splat32(w->tmp[k] + 2 * SG_LANES, from[2]);
			sg_splat32(w->tmp[k] + 3 * SG_LANES, from[3]);
		}
	}
}

#define SG_SPLAT()                                                                                 \
	do {                                                                                       \
		if (i->splat)                                                                      \
			sg_splat_sources(w, i);                                                    \
	} while (0)

static inline const uint32_t *sg_src(const struct sg_wave *w, const struct sg_exec_insn *i,
				     unsigned k)
{
	return __builtin_assume_aligned(w->base[i->base[k]] + i->off[k], 64);
}

static inline uint32_t *sg_dst(const struct sg_wave *w, const struct sg_exec_insn *i)
{
	return __builtin_assume_aligned(w->base[i->base[SG_D]] + i->off[SG_D], 64);
}

static inline uint32_t *sg_out(struct sg_wave *w, uint32_t *dst)
{
	return __builtin_assume_aligned(sg_exec(w) == ~0ull ? dst : w->result, 64);
}

/* ---- masks: one bit per lane <-> one word per lane ---- */

static inline void sg_expand(uint32_t *restrict to, uint64_t mask)
{
#if defined(__AVX512F__)
	for (unsigned l = 0; l < SG_LANES; l += 16)
		_mm512_store_si512(to + l, _mm512_maskz_set1_epi32((__mmask16)(mask >> l), -1));
#elif defined(__AVX2__)
	const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

	for (unsigned l = 0; l < SG_LANES; l += 8) {
		__m256i byte = _mm256_set1_epi32((int)(mask >> l & 0xff));

		_mm256_store_si256((__m256i *)(to + l),
				   _mm256_cmpeq_epi32(_mm256_and_si256(byte, bit), bit));
	}
#else
	for (unsigned l = 0; l < SG_LANES; l++)
		to[l] = -(uint32_t)(mask >> l & 1);
#endif
}

/* Bit l of the result is the top bit of from[l]. */
static inline uint64_t sg_pack(const uint32_t *from)
{
	uint64_t mask = 0;

#if defined(__AVX512DQ__)
	for (unsigned l = 0; l < SG_LANES; l += 16)
		mask |= (uint64_t)_mm512_movepi32_mask(_mm512_load_si512(from + l)) << l;
#elif defined(__AVX2__)
	for (unsigned l = 0; l < SG_LANES; l += 8)
		mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(
				_mm256_load_ps((const float *)from + l))
			<< l;
#else
	for (unsigned l = 0; l < SG_LANES; l++)
		mask |= (uint64_t)(from[l] >> 31) << l;
#endif
	return mask;
}

static inline const uint32_t *sg_lane_mask(struct sg_wave *w)
{
	uint64_t exec = sg_exec(w);

	if (w->mask_of != exec) {
		sg_expand(w->lane_mask, exec);
		w->mask_of = exec;
	}
	return __builtin_assume_aligned(w->lane_mask, 64);
}

static inline void sg_merge(const uint32_t *mask, uint32_t *dst, const uint32_t *from,
			    unsigned n_regs)
{
	for (unsigned r = 0; r < n_regs; r++)
		SG_EACH_LANE
	dst[r * SG_LANES + l] =
		(from[r * SG_LANES + l] & mask[l]) | (dst[r * SG_LANES + l] & ~mask[l]);
}

static inline void sg_commit(struct sg_wave *w, uint32_t *dst, const uint32_t *out, unsigned n_regs)
{
	if (out != dst)
		sg_merge(sg_lane_mask(w), dst, out, n_regs);
}

/* ---- typed lane access ---- */

#define SG_BITS_AS(name, from, to)                                                                 \
	static inline to name(from bits)                                                           \
	{                                                                                          \
		to v;                                                                              \
		memcpy(&v, &bits, sizeof(v));                                                      \
		return v;                                                                          \
	}
SG_BITS_AS(sg_as_f32, uint32_t, float)
SG_BITS_AS(sg_as_f64, uint64_t, double)
SG_BITS_AS(sg_f32_bits, float, uint32_t)
SG_BITS_AS(sg_f64_bits, double, uint64_t)

#define get_b32(p, l) ((p)[l])
#define get_u32(p, l) ((p)[l])
#define get_i32(p, l) ((int32_t)(p)[l])
#define get_u16(p, l) ((uint16_t)(p)[l])
#define get_b16(p, l) ((uint16_t)(p)[l])
#define get_i16(p, l) ((int16_t)(p)[l])
#define get_f16(p, l) ((uint16_t)(p)[l]) /* the bits; lane_f16.h computes with them */
#define get_bf16(p, l) ((uint16_t)(p)[l])
#define get_u8(p, l) ((p)[l])
#define get_i8(p, l) ((p)[l])
#define get_u24(p, l) ((p)[l] & 0xffffffu)
#define get_i24(p, l) ((int32_t)((p)[l] << 8) >> 8)
#define get_f32(p, l) sg_as_f32((p)[l])
#define get_b64(p, l) ((p)[l] | (uint64_t)(p)[(l) + SG_LANES] << 32)
#define get_u64(p, l) get_b64(p, l)
#define get_i64(p, l) ((int64_t)get_b64(p, l))
#define get_f64(p, l) sg_as_f64(get_b64(p, l))

#define put_b32(p, l, v) ((p)[l] = (uint32_t)(v))
#define put_u32(p, l, v) put_b32(p, l, v)
#define put_i32(p, l, v) put_b32(p, l, v)
#define put_u24(p, l, v) put_b32(p, l, v)
#define put_i24(p, l, v) put_b32(p, l, v)
/* gfx9: a 16-bit result clears the upper half of its register */
#define put_b16(p, l, v) ((p)[l] = (uint16_t)(v))
#define put_u16(p, l, v) put_b16(p, l, v)
#define put_i16(p, l, v) put_b16(p, l, v)
#define put_f16(p, l, v) put_b16(p, l, v)
#define put_f32(p, l, v) ((p)[l] = sg_f32_bits(v))
#define put_b64(p, l, v)                                                                           \
	do {                                                                                       \
		uint64_t v_ = (uint64_t)(v);                                                       \
		(p)[l] = (uint32_t)v_;                                                             \
		(p)[(l) + SG_LANES] = (uint32_t)(v_ >> 32);                                        \
	} while (0)
#define put_u64(p, l, v) put_b64(p, l, v)
#define put_i64(p, l, v) put_b64(p, l, v)
#define put_f64(p, l, v) put_b64(p, l, sg_f64_bits(v))

/* ---- scalar operands ---- */

static inline const void *sg_scalar(const struct sg_wave *w, const struct sg_exec_insn *i,
				    unsigned k)
{
	const char *in = i->s_const & 1u << k ? (const char *)i : (const char *)w;

	return in + i->s_off[k];
}

static inline uint32_t sg_scalar32(const struct sg_wave *w, const struct sg_exec_insn *i,
				   unsigned k)
{
	uint32_t v;

	memcpy(&v, sg_scalar(w, i, k), sizeof(v));
	return v;
}

static inline uint64_t sg_scalar64(const struct sg_wave *w, const struct sg_exec_insn *i,
				   unsigned k)
{
	uint64_t v;

	memcpy(&v, sg_scalar(w, i, k), sizeof(v));
	return v;
}

#endif
