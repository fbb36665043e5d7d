/*
 * lane_special: transcendental functions, and the helpers of division and of argument reduction.
 *
 * The device's transcendental unit is specified to 1 ulp; here they are computed in double by short
 * polynomials and rounded once, which is within 0.51 ulp, and cost a few vector operations. Series
 * are used as they stand (no minimax fit): the intervals are small and a reader can check them.
 * Their coefficients are spelled as rounded: no constant here is left to the compiler's rounding.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_SPECIAL_H
#define WS_SOFTGPU_EXEC_LANE_SPECIAL_H

#include "softgpu/exec/lane_f16.h"

/* ---- 2^x, log2, sine and cosine of turns ---- */

/* ln(2)^k / k!: on [-1/2, 1/2] the first term left out is below 2^-38. */
LANE float f32_exp2(float a)
{
	float inside = f32_sel(a > -200, a, -200); /* NaN too */
	float x = f32_sel(inside < 200, inside, 200), n = f32_roundeven(x);
	double f = x - n;
	double p = 0x1.b5253d395e7c4p-24;

	p = p * f + 0x1.62c0223a5c824p-20;
	p = p * f + 0x1.ffcbfc588b0c7p-17;
	p = p * f + 0x1.430912f86c787p-13;
	p = p * f + 0x1.5d87fe78a6731p-10;
	p = p * f + 0x1.3b2ab6fba4e77p-7;
	p = p * f + 0x1.c6b08d704a0c0p-5;
	p = p * f + 0x1.ebfbdff82c58fp-3;
	p = p * f + 0x1.62e42fefa39efp-1;
	p = p * f + 1;
	/* the scaled double is normal; the conversion rounds into the denormals of f32 */
	return a == a ? (float)(p * f64_pow2((int32_t)n)) : a + a;
}

/*
 * a = m * 2^e with m in [sqrt(1/2), sqrt(2)); log2(m) = 2/ln(2) * atanh(s), s = (m - 1) / (m + 1).
 * |s| < 0.172: the first term of the series left out, s^16 / 17, is below 2^-44 of the sum.
 */
LANE float f32_log2(float a)
{
	bool usable = (a > 0) & (a < F32_INF);
	/* infinity and NaN: a + a leaves them as they are */
	uint32_t other = sel32(a < 0, 0xffc00000u, sg_f32_bits(a + a));
	uint32_t special = sel32(a == 0, 0xff800000u, other);
	float x = usable ? a : 1;
	uint64_t bits = sg_f64_bits(x);
	uint64_t high = bits - 0x3fe6a09e667f3bcdull; /* sqrt(1/2) */
	int32_t exponent = (int32_t)((int32_t)(high >> 32) >> 20);
	double m = sg_as_f64(bits - ((uint64_t)(uint32_t)exponent << 52));
	double s = (m - 1) / (m + 1), t = s * s;
	double p = 0x1.1111111111111p-4; /* 1/15 */

	p = p * t + 0x1.3b13b13b13b14p-4; /* 1/13 */
	p = p * t + 0x1.745d1745d1746p-4; /* 1/11 */
	p = p * t + 0x1.c71c71c71c71cp-4; /* 1/9 */
	p = p * t + 0x1.2492492492492p-3; /* 1/7 */
	p = p * t + 0x1.999999999999ap-3; /* 1/5 */
	p = p * t + 0x1.5555555555555p-2; /* 1/3 */
	p = p * t + 1;
	p = (double)exponent + s * 0x1.71547652b82fep+1 * p;
	return sg_as_f32(sel32(usable, sg_f32_bits((float)p), special));
}

/* sin(2 pi (a + quarter / 4)). After whole turns and quarters at most 1/8 is left, exactly. */
LANE float f32_sin_turns(float a, int32_t quarter)
{
	bool inside = __builtin_fabsf(a) <= 256;
	float x = f32_sel(inside, a, 0), r = x - f32_roundeven(x), q = f32_roundeven(r * 4);
	double y = (double)(r - q * 0.25f) * 0x1.921fb54442d18p+2, t = y * y;
	bool odd = __builtin_fabsf(q) == 1; /* q is -2..2 */
	bool negative = (__builtin_fabsf(q) == 2) | (q == (quarter ? 1 : -1));
	double s = -0x1.ae64567f544e4p-26, c = -0x1.27e4fb7789f5cp-22; /* 1/39916800, 1/3628800 */
	float sine, cosine, v;

	s = s * t + 0x1.71de3a556c734p-19; /* 1/362880 */
	s = s * t - 0x1.a01a01a01a01ap-13; /* 1/5040 */
	s = s * t + 0x1.1111111111111p-7;  /* 1/120 */
	s = s * t - 0x1.5555555555555p-3;  /* 1/6 */
	s = s * t * y + y;
	c = c * t + 0x1.a01a01a01a01ap-16; /* 1/40320 */
	c = c * t - 0x1.6c16c16c16c17p-10; /* 1/720 */
	c = c * t + 0x1.5555555555555p-5;  /* 1/24 */
	c = c * t - 0.5;
	c = c * t + 1;
	sine = (float)s;
	cosine = (float)c;
	v = odd != (quarter != 0) ? cosine : sine;
	v = negative ? -v : v;
	/* beyond 256 turns the device gives up: sin is 0, cos is 1 */
	v = f32_sel(inside, v, quarter ? 1 : 0);
	return f32_sel(__builtin_fabsf(a) < F32_INF, v, a - a); /* otherwise a NaN */
}

LANE float f32_sin(float a)
{
	return f32_sin_turns(a, 0);
}

LANE float f32_cos(float a)
{
	return f32_sin_turns(a, 1);
}

LANE float f32_rcp(float a)
{
	return 1.0f / a;
}

LANE float f32_sqrt(float a)
{
	return __builtin_sqrtf(a);
}

LANE float f32_rsq(float a)
{
	return (float)(1.0 / __builtin_sqrt((double)a));
}

LANE double f64_sqrt(double a)
{
	return __builtin_sqrt(a);
}

LANE double f64_rsq(double a)
{
	return 1.0 / __builtin_sqrt(a);
}

/* fn of single precision, rounded to half */
#define F16_VIA(fn, a, mode) f32_f16(fn(f16_f32(a, mode)), mode)

/* ---- division: v_div_scale, v_div_fmas, v_div_fixup ---- */

/*
 * The quotient of numerator n and denominator d is found by Newton's method on operands scaled away
 * from overflow and denormals; `a` is the one of them that is being scaled. The mask bit asks
 * v_div_fmas to scale the quotient back.
 */
#define SG_DIV_SCALE(f, type, wide, exp_of, far, step, tiny, least_normal, half_least)             \
	struct f##_div_scale {                                                                     \
		type value;                                                                        \
		bool post;                                                                         \
	};                                                                                         \
	LANE struct f##_div_scale f##_div_scaled(type a, type d, type n)                           \
	{                                                                                          \
		wide q = (wide)n / d, inverse = 1 / (wide)d;                                       \
		wide q_abs = q < 0 ? -q : q, inverse_abs = inverse < 0 ? -inverse : inverse;       \
		bool q_small = (q_abs < least_normal) & (q_abs > half_least);                      \
		bool inverse_small = (inverse_abs < least_normal) & (inverse_abs > half_least);    \
		bool zero = (n == 0) | (d == 0);                                                   \
		bool large = exp_of(n) - exp_of(d) >= far;                                         \
		bool d_denormal = exp_of(d) == 0;                                                  \
		bool both = q_small & inverse_small;                                               \
		uint32_t up = step, down = 0 - up, of_n = a == n ? up : 0, of_d = a == d;          \
		uint32_t by;                                                                       \
		/* from the weakest rule to the strongest */                                       \
		by = sel32(exp_of(n) <= tiny, up, 0);                                              \
		by = sel32(q_small, of_n, by);                                                     \
		by = sel32(inverse_small, down, by);                                               \
		by = sel32(both, of_d * down, by);                                                 \
		by = sel32(d_denormal, up, by);                                                    \
		by = sel32(large, of_d * up, by);                                                  \
		bool post = large | ((both | (q_small & !inverse_small)) & !d_denormal);           \
		type value = zero ? f##_new_nan : f##_ldexp(a, (int32_t)by);                       \
		return (struct f##_div_scale){ value, post & !zero };                              \
	}

#define f32_new_nan F32_NAN
#define f64_new_nan F64_NAN

LANE int32_t f32_biased(float a)
{
	return (int32_t)(sg_f32_bits(a) >> 23 & 0xff);
}

LANE int32_t f64_biased(double a)
{
	return (int32_t)(sg_f64_bits(a) >> 52 & 0x7ff);
}

/* In double a quotient of floats shows its size even when MODE would flush it. Between the bounds
 * it rounds to a denormal. */
SG_DIV_SCALE(f32, float, double, f32_biased, 96, 64, 23, (0x1p-126 - 0x1p-150), 0x1p-150)
SG_DIV_SCALE(f64, double, double, f64_biased, 768, 128, 53, 0x1p-1022, 0.0)

/*
 * The quotient that was scaled down is large and the one that was scaled up is small, so the size
 * of the estimate c tells which way to go back. (The manuals of older chips print one factor, 2^32
 * or 2^64; it would return wrong quotients in both cases.)
 */
#define SG_DIV_FMAS(f, type, uint, sign, select, bias, up, down, half_least, nearest)                \
	LANE type f##_div_fmas(type a, type b, type c, bool post, uint32_t mode)                     \
	{                                                                                            \
		type r = f##_fma(a, b, c), lost = f##_fma(a, b, c - r);                              \
		type small = r * down, rest = r - small * up;                                        \
		uint s = sg_##f##_bits(small), d = sg_##f##_bits(rest), e = sg_##f##_bits(lost);     \
		/* A denormal is rounded here for the second time. That went wrong if it was a tie \
		 * only because the fma had rounded: then what that lost decides. */ \
		bool tie = ((d & ~sign) == sg_##f##_bits(half_least)) & !((d ^ e) & sign) &          \
			   (lost != 0) & nearest(mode);                                              \
		uint away = (uint)1 - ((s ^ d) & sign ? 2 : 0);                                      \
		uint low = s + (tie ? away : 0);                                                     \
		uint high = sg_##f##_bits(r * up);                                                   \
		return sg_as_##f(                                                                    \
			select(post, select(f##_biased(c) > bias, high, low), sg_##f##_bits(r)));    \
	}
#define F32_NEAREST(mode) (((mode)&3) == 0)
#define F64_NEAREST(mode) (((mode)&0xc) == 0)
SG_DIV_FMAS(f32, float, uint32_t, F32_SIGN, sel32, 127, 0x1p64f, 0x1p-64f, 0x1p-86f, F32_NEAREST)
SG_DIV_FMAS(f64, double, uint64_t, F64_SIGN, sel64, 1023, 0x1p128, 0x1p-128, 0x1p-947, F64_NEAREST)

/* q is the quotient but for the special cases of n / d, which are settled here. A q that is NaN
 * although neither n nor d is comes from the Newton steps of a quotient that overflows. */

/* 0 if a number of that sign overflows to infinity, 1 if to the largest number just below. */
LANE uint32_t overflow_below(uint32_t round, uint32_t negative)
{
	return (round != 0) & (round != 1 + negative);
}

LANE float f32_div_fixup(float q, float d, float n, uint32_t mode)
{
	uint32_t sign = (sg_f32_bits(d) ^ sg_f32_bits(n)) & F32_SIGN;
	bool d_inf = __builtin_fabsf(d) == F32_INF, n_inf = __builtin_fabsf(n) == F32_INF;
	uint32_t r = sg_f32_bits(q) & ~F32_SIGN;

	r = q != q ? F32_EXP - overflow_below(mode & 3, (uint32_t)(sign >> 31)) : r;
	r = f32_biased(n) - f32_biased(d) < -150 ? 0 : r;
	r = d_inf || n == 0 ? 0 : r;
	r = d == 0 || n_inf ? F32_EXP : r;
	r |= sign;
	r = (d == 0 && n == 0) || (d_inf && n_inf) ? 0xffc00000u : r;
	r = d != d ? sg_f32_bits(f32_quiet(d)) : r;
	r = n != n ? sg_f32_bits(f32_quiet(n)) : r;
	return sg_as_f32(r);
}

LANE double f64_div_fixup(double q, double d, double n, uint32_t mode)
{
	uint64_t sign = (sg_f64_bits(d) ^ sg_f64_bits(n)) & F64_SIGN;
	bool d_inf = __builtin_fabs(d) == F64_INF, n_inf = __builtin_fabs(n) == F64_INF;
	uint64_t r = sg_f64_bits(q) & ~F64_SIGN;

	r = q != q ? F64_EXP - overflow_below(mode >> 2 & 3, (uint32_t)(sign >> 63)) : r;
	r = f64_biased(n) - f64_biased(d) < -1075 ? 0 : r;
	r = d_inf || n == 0 ? 0 : r;
	r = d == 0 || n_inf ? F64_EXP : r;
	r |= sign;
	r = (d == 0 && n == 0) || (d_inf && n_inf) ? 0xfff8000000000000ull : r;
	r = d != d ? sg_f64_bits(f64_quiet(d)) : r;
	r = n != n ? sg_f64_bits(f64_quiet(n)) : r;
	return sg_as_f64(r);
}

LANE uint16_t f16_div_fixup(uint16_t q, uint16_t d, uint16_t n, uint32_t mode)
{
	uint32_t sign = (d ^ n) & 0x8000u, d_abs = d & 0x7fffu, n_abs = n & 0x7fffu;
	uint32_t r = q & 0x7fffu;

	r = sel32(r > 0x7c00, 0x7c00 - overflow_below(F16_ROUND(mode), sign >> 15), r);
	r = d_abs == 0x7c00 || n_abs == 0 ? 0 : r;
	r = d_abs == 0 || n_abs == 0x7c00 ? 0x7c00 : r;
	r |= sign;
	r = (d_abs == 0 && n_abs == 0) || (d_abs == 0x7c00 && n_abs == 0x7c00) ? 0xfe00 : r;
	r = d_abs > 0x7c00 ? d | 0x200u : r;
	r = n_abs > 0x7c00 ? n | 0x200u : r;
	return (uint16_t)r;
}

/* ---- v_trig_preop_f64: the bits of 2/pi that matter for an argument ---- */

/* 2/pi = 0.b1200 b1199 ... b0, first bit first; the last word is filled up with zeros. */
static const uint32_t sg_two_over_pi[38] = {
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
	0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
	0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
	0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
	0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
	0x1f8d5d08, 0x56033046, 0xfc7b0000,
};

LANE uint64_t two_over_pi_word(uint32_t word)
{
	return word < 38 ? sg_two_over_pi[word] : 0;
}

/* 53 bits from `at` on, cut off (never rounded), as a number of that weight. */
LANE double f64_trig_preop(double a, uint32_t segment)
{
	int32_t exponent = f64_biased(a);
	uint32_t at = (segment & 31) * 53 + (exponent > 1077 ? (uint32_t)(exponent - 1077) : 0);
	uint32_t word = at / 32, bit = at % 32;
	uint64_t top = two_over_pi_word(word) << 32 | two_over_pi_word(word + 1);
	uint64_t bits = (bit ? top << bit | two_over_pi_word(word + 2) >> (32 - bit) : top) >> 11;
	int32_t scale = -53 - (int32_t)at + (exponent >= 1968 ? 128 : 0);
	/* bits that no denormal has */
	uint32_t below = scale < -1074 ? (uint32_t)(-1074 - scale) : 0;

	bits = below < 64 ? bits >> below << below : 0;
	return f64_ldexp((double)(int64_t)bits, scale);
}

#endif
