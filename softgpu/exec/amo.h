/*
 * amo: what the atomic instructions make of memory's value.
 *
 * amo_<op>_<bits>(m, v, c): m is memory's value, v the first data operand, c the second one. The
 * same functions serve vector memory, LDS and scalar memory; only the data share names its operands
 * of a compare-and-store the other way round (cmpst: v is compared, c is stored).
 */
#ifndef WS_SOFTGPU_EXEC_AMO_H
#define WS_SOFTGPU_EXEC_AMO_H

#include "softgpu/exec/lane_small.h"
#include "softgpu/exec/mem.h"

#define SG_AMO_SIZED(op, bits, expr)                                                               \
	static inline uint##bits##_t amo_##op##_##bits(uint##bits##_t m, uint##bits##_t v,         \
						       uint##bits##_t c)                           \
	{                                                                                          \
		typedef int##bits##_t S __attribute__((unused));                                   \
                                                                                                   \
		return expr;                                                                       \
	}
#define SG_AMO(op, expr) SG_AMO_SIZED(op, 32, expr) SG_AMO_SIZED(op, 64, expr)

/* clang-format off */
SG_AMO(swap, v)
SG_AMO(cmpswap, m == c ? v : m)
SG_AMO(cmpst, m == v ? c : m)
SG_AMO(add, m + v)
SG_AMO(sub, m - v)
SG_AMO(rsub, v - m)
SG_AMO(smin, (S)v < (S)m ? v : m)
SG_AMO(umin, v < m ? v : m)
SG_AMO(smax, (S)v > (S)m ? v : m)
SG_AMO(umax, v > m ? v : m)
SG_AMO(and, m & v)
SG_AMO(or, m | v)
SG_AMO(xor, m ^ v)
SG_AMO(inc, m >= v ? 0 : m + 1)
SG_AMO(dec, m == 0 || m > v ? v : m - 1)
SG_AMO(mskor, (m & ~v) | c)
SG_AMO(wrap, m >= v ? m - v : m + c)
/* clang-format on */

/* ---- floats ---- */

/* Prefers the number to the NaN; of two zeros memory's stays. */
#define SG_AMO_FLOAT(bits)                                                                         \
	static inline uint##bits##_t amo_fadd_##bits(uint##bits##_t m, uint##bits##_t v,           \
						     uint##bits##_t c)                             \
	{                                                                                          \
		return sg_f##bits##_bits(sg_as_f##bits(m) + sg_as_f##bits(v));                     \
	}                                                                                          \
	static inline uint##bits##_t amo_fmin_##bits(uint##bits##_t m, uint##bits##_t v,           \
						     uint##bits##_t c)                             \
	{                                                                                          \
		return sg_as_f##bits(v) < sg_as_f##bits(m) || sg_as_f##bits(m) != sg_as_f##bits(m) \
			       ? v                                                                 \
			       : m;                                                                \
	}                                                                                          \
	static inline uint##bits##_t amo_fmax_##bits(uint##bits##_t m, uint##bits##_t v,           \
						     uint##bits##_t c)                             \
	{                                                                                          \
		return sg_as_f##bits(v) > sg_as_f##bits(m) || sg_as_f##bits(m) != sg_as_f##bits(m) \
			       ? v                                                                 \
			       : m;                                                                \
	}                                                                                          \
	static inline uint##bits##_t amo_fcmpst_##bits(uint##bits##_t m, uint##bits##_t v,         \
						       uint##bits##_t c)                           \
	{                                                                                          \
		return sg_as_f##bits(m) == sg_as_f##bits(v) ? c : m;                               \
	}
SG_AMO_FLOAT(32)
SG_AMO_FLOAT(64)

static inline uint32_t sg_flush_f32(uint32_t v)
{
	return v & 0x7f800000u ? v : v & 0x80000000u;
}

/* The L2 cache's adder has no denormals of 32 bits, whatever MODE says. */
static inline uint32_t amo_fadd_ftz_32(uint32_t m, uint32_t v, uint32_t c)
{
	return sg_flush_f32(amo_fadd_32(sg_flush_f32(m), sg_flush_f32(v), c));
}

static inline float sg_f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exp = h >> 10 & 31, man = h & 0x3ffu;

	if (exp == 31)
		return sg_as_f32(sign | 0x7f800000u | man << 13);
	if (exp == 0) /* a denormal is its fraction times 2^-24, exactly */
		return sg_as_f32(sign | sg_f32_bits((float)man * 0x1p-24f));
	return sg_as_f32(sign | (exp + 112) << 23 | man << 13);
}

/* Round to nearest even. */
static inline uint16_t sg_f32_to_f16(float f)
{
	uint32_t u = sg_f32_bits(f), sign = u >> 16 & 0x8000u, mag = u & 0x7fffffffu;

	if (mag > 0x7f800000u)
		return (uint16_t)(sign | 0x7e00u | (mag >> 13 & 0x1ffu));
	if (mag >= 0x477ff000u) /* 65520 and up */
		return (uint16_t)(sign | 0x7c00u);
	if (mag < 0x38800000u) /* below 2^-14: adding 0.5 leaves the fraction in the low bits */
		return (uint16_t)(sign | (sg_f32_bits(sg_as_f32(mag) + 0.5f) - 0x3f000000u));
	return (uint16_t)(sign | ((mag + 0xfffu + (mag >> 13 & 1) - 0x38000000u) >> 13));
}

/* Sums of halves are exact in 32 bits or round the same way twice. */
static inline uint32_t amo_pk_add_f16_32(uint32_t m, uint32_t v, uint32_t c)
{
	uint32_t lo = sg_f32_to_f16(sg_f16_to_f32((uint16_t)m) + sg_f16_to_f32((uint16_t)v));
	uint32_t hi = sg_f32_to_f16(sg_f16_to_f32((uint16_t)(m >> 16)) +
				    sg_f16_to_f32((uint16_t)(v >> 16)));

	return lo | hi << 16;
}

/* Sums of two bf16 have bits to spare in 32, as with halves. */
static inline uint32_t amo_pk_add_bf16_32(uint32_t m, uint32_t v, uint32_t c)
{
	(void)c;
	return f32_bf16(bf16_f32(m & 0xffff) + bf16_f32(v & 0xffff)) |
	       (uint32_t)f32_bf16(bf16_f32(m >> 16) + bf16_f32(v >> 16)) << 16;
}

/* ---- doing it ---- */

/* Compare-and-swap until nobody came between; yields the old value. */
#define SG_AMO_AT(bits, op, p, v, c)                                                               \
	({                                                                                         \
		uint##bits##_t *at_ = (void *)(p), old_ = __atomic_load_n(at_, __ATOMIC_RELAXED);  \
                                                                                                   \
		while (!__atomic_compare_exchange_n(at_, &old_, amo_##op##_##bits(old_, v, c),     \
						    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))     \
			;                                                                          \
		old_;                                                                              \
	})

/* src: first data register, src2: second data operand; dst: NULL, or where old values go. */
#define SG_AMO_LANES(bits, op, a, src, src2, dst)                                                  \
	do {                                                                                       \
		unsigned l;                                                                        \
                                                                                                   \
		SG_FOR_ACTIVE(l, (a)->plain) {                                                     \
			uint##bits##_t data_ = get_b##bits(src, l), data2_ = get_b##bits(src2, l); \
			uint##bits##_t was_ = SG_AMO_AT(bits, op, (a)->at[l], data_, data2_);      \
                                                                                                   \
			if (dst)                                                                   \
				put_b##bits(dst, l, was_);                                         \
		}                                                                                  \
		SG_FOR_ACTIVE(l, (a)->odd) {                                                       \
			uint##bits##_t data_ = get_b##bits(src, l), data2_ = get_b##bits(src2, l); \
			uint##bits##_t was_ = 0, now_;                                             \
                                                                                                   \
			sg_odd_copy(a, l, (uint8_t *)&was_, sizeof(was_), false);                  \
			now_ = amo_##op##_##bits(was_, data_, data2_);                             \
			sg_odd_copy(a, l, (uint8_t *)&now_, sizeof(now_), true);                   \
			if (dst)                                                                   \
				put_b##bits(dst, l, was_);                                         \
		}                                                                                  \
	} while (0)

#endif
