/*
 * handler: what the generated and the hand-written instruction handlers are made of.
 *
 * Included by translation units that are compiled once per SIMD level (plain, AVX2, AVX-512); WS_FN
 * gives every level its own symbols. A vector handler is this pattern:
 *
 *	WS_HANDLER(vop2_v_add_f32)
 *	{
 *		WS_SPLAT();
 *		const uint32_t *p0 = ws_src(w, i, WS_S0), *p1 = ws_src(w, i, WS_S1);
 *		uint32_t *dst = ws_dst(w, i), *out = ws_out(w, dst);
 *
 *		WS_EACH_LANE
 *			put_f32(out, l, get_f32(p0, l) + get_f32(p1, l));
 *		ws_commit(w, dst, out, 1);
 *		return WS_GO;
 *	}
 *
 * The loop always runs over 64 lanes. While EXEC is partial it writes beside the destination, and
 * ws_commit() moves the active lanes: one loop per instruction to compile, and the common case, all
 * lanes active, pays nothing.
 */
#ifndef WS_SOFTGPU_EXEC_HANDLER_H
#define WS_SOFTGPU_EXEC_HANDLER_H

#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "softgpu/exec/wave.h"

#ifndef WS_LEVEL
#error "compile with -DWS_LEVEL=plain, avx2 or avx512"
#endif
#define WS_PASTE2(level, name) ws_##level##_##name
#define WS_PASTE(level, name) WS_PASTE2(level, name)
#define WS_FN(name) WS_PASTE(WS_LEVEL, name)
#define WS_HANDLER(name) \
	enum ws_stop WS_FN(name)(struct ws_wave * w, const struct ws_inst *i); \
	enum ws_stop WS_FN(name)(struct ws_wave * w, const struct ws_inst *i)

/* A row of a table whose result is still '?': tests/isa fails on it. */
#define WS_OP_unwritten(name) \
	WS_HANDLER(name) { return ws_wave_fault(w, i, WS_FAULT_ILLEGAL, 0, false); }

#define WS_EACH_LANE _Pragma("GCC ivdep") for (unsigned l = 0; l < WS_LANES; l++)

/* ---- vector operands ---- */

static inline void ws_splat32(uint32_t *restrict to, uint32_t v)
{
	for (unsigned l = 0; l < WS_LANES; l++)
		to[l] = v;
}

/* Scalar registers among the sources become lane arrays; s_off says which. */
static inline void ws_splat_sources(struct ws_wave *w, const struct ws_inst *i)
{
	for (unsigned k = WS_S0; k <= WS_S2; k++) {
		const uint32_t *from = (const uint32_t *)((const char *)w + i->s_off[k]);

		if (!(i->splat & 1u << k))
			continue;
		ws_splat32(w->tmp[k], from[0]);
		if (i->splat & 0x10u << k)
			ws_splat32(w->tmp[k] + WS_LANES, from[1]);
		if (__builtin_expect(i->n_regs == 4, 0)) { /* v_mqsad_u32_u8: its src2 has as many */
			ws_splat32(w->tmp[k] + 2 * WS_LANES, from[2]);
			ws_splat32(w->tmp[k] + 3 * WS_LANES, from[3]);
		}
	}
}

#define WS_SPLAT() \
	do { \
		if (i->splat) \
			ws_splat_sources(w, i); \
	} while (0)

static inline const uint32_t *ws_src(const struct ws_wave *w, const struct ws_inst *i, unsigned k)
{
	return __builtin_assume_aligned(w->base[i->base[k]] + i->off[k], 64);
}

static inline uint32_t *ws_dst(const struct ws_wave *w, const struct ws_inst *i)
{
	return __builtin_assume_aligned(w->base[i->base[WS_D]] + i->off[WS_D], 64);
}

static inline uint32_t *ws_out(struct ws_wave *w, uint32_t *dst)
{
	return __builtin_assume_aligned(ws_exec(w) == ~0ull ? dst : w->result, 64);
}

/* ---- masks: one bit per lane <-> one word per lane ---- */

static inline void ws_expand(uint32_t *restrict to, uint64_t mask)
{
#if defined(__AVX512F__)
	for (unsigned l = 0; l < WS_LANES; l += 16)
		_mm512_store_si512(to + l, _mm512_maskz_set1_epi32((__mmask16)(mask >> l), -1));
#elif defined(__AVX2__)
	const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

	for (unsigned l = 0; l < WS_LANES; l += 8) {
		__m256i byte = _mm256_set1_epi32((int)(mask >> l & 0xff));

		_mm256_store_si256((__m256i *)(to + l),
				   _mm256_cmpeq_epi32(_mm256_and_si256(byte, bit), bit));
	}
#else
	for (unsigned l = 0; l < WS_LANES; l++)
		to[l] = -(uint32_t)(mask >> l & 1);
#endif
}

/* Bit l of the result is the top bit of from[l]. */
static inline uint64_t ws_pack(const uint32_t *from)
{
	uint64_t mask = 0;

#if defined(__AVX512DQ__)
	for (unsigned l = 0; l < WS_LANES; l += 16)
		mask |= (uint64_t)_mm512_movepi32_mask(_mm512_load_si512(from + l)) << l;
#elif defined(__AVX2__)
	for (unsigned l = 0; l < WS_LANES; l += 8)
		mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)from + l)) << l;
#else
	for (unsigned l = 0; l < WS_LANES; l++)
		mask |= (uint64_t)(from[l] >> 31) << l;
#endif
	return mask;
}

static inline const uint32_t *ws_lane_mask(struct ws_wave *w)
{
	uint64_t exec = ws_exec(w);

	if (w->mask_of != exec) {
		ws_expand(w->lane_mask, exec);
		w->mask_of = exec;
	}
	return __builtin_assume_aligned(w->lane_mask, 64);
}

static inline void ws_merge(const uint32_t *mask, uint32_t *dst, const uint32_t *from, unsigned n_regs)
{
	for (unsigned r = 0; r < n_regs; r++)
		WS_EACH_LANE
			dst[r * WS_LANES + l] = (from[r * WS_LANES + l] & mask[l]) |
						(dst[r * WS_LANES + l] & ~mask[l]);
}

static inline void ws_commit(struct ws_wave *w, uint32_t *dst, const uint32_t *out, unsigned n_regs)
{
	if (out != dst)
		ws_merge(ws_lane_mask(w), dst, out, n_regs);
}

/* ---- typed lane access ---- */

#define WS_BITS_AS(name, from, to) \
	static inline to name(from bits) \
	{ \
		to v; \
		memcpy(&v, &bits, sizeof(v)); \
		return v; \
	}
WS_BITS_AS(ws_as_f32, uint32_t, float)
WS_BITS_AS(ws_as_f64, uint64_t, double)
WS_BITS_AS(ws_f32_bits, float, uint32_t)
WS_BITS_AS(ws_f64_bits, double, uint64_t)

#define get_b32(p, l) ((p)[l])
#define get_u32(p, l) ((p)[l])
#define get_i32(p, l) ((int32_t)(p)[l])
#define get_u16(p, l) ((uint16_t)(p)[l])
#define get_b16(p, l) ((uint16_t)(p)[l])
#define get_i16(p, l) ((int16_t)(p)[l])
#define get_f16(p, l) ((uint16_t)(p)[l]) /* the bits; lane_f16.h computes with them */
#define get_u8(p, l) ((p)[l])
#define get_i8(p, l) ((p)[l])
#define get_u24(p, l) ((p)[l] & 0xffffffu)
#define get_i24(p, l) ((int32_t)((p)[l] << 8) >> 8)
#define get_f32(p, l) ws_as_f32((p)[l])
#define get_b64(p, l) ((p)[l] | (uint64_t)(p)[(l) + WS_LANES] << 32)
#define get_u64(p, l) get_b64(p, l)
#define get_i64(p, l) ((int64_t)get_b64(p, l))
#define get_f64(p, l) ws_as_f64(get_b64(p, l))

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
#define put_f32(p, l, v) ((p)[l] = ws_f32_bits(v))
#define put_b64(p, l, v) \
	do { \
		uint64_t v_ = (uint64_t)(v); \
		(p)[l] = (uint32_t)v_; \
		(p)[(l) + WS_LANES] = (uint32_t)(v_ >> 32); \
	} while (0)
#define put_u64(p, l, v) put_b64(p, l, v)
#define put_i64(p, l, v) put_b64(p, l, v)
#define put_f64(p, l, v) put_b64(p, l, ws_f64_bits(v))

/* ---- scalar operands ---- */

static inline const void *ws_scalar(const struct ws_wave *w, const struct ws_inst *i, unsigned k)
{
	const char *in = i->s_const & 1u << k ? (const char *)i : (const char *)w;

	return in + i->s_off[k];
}

static inline uint32_t ws_scalar32(const struct ws_wave *w, const struct ws_inst *i, unsigned k)
{
	uint32_t v;

	memcpy(&v, ws_scalar(w, i, k), sizeof(v));
	return v;
}

static inline uint64_t ws_scalar64(const struct ws_wave *w, const struct ws_inst *i, unsigned k)
{
	uint64_t v;

	memcpy(&v, ws_scalar(w, i, k), sizeof(v));
	return v;
}

#endif
