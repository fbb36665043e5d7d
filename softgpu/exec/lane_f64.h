/*
 * lane_f64: double precision operations of one lane; the rules are those of lane_f32.h.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_F64_H
#define WS_SOFTGPU_EXEC_LANE_F64_H

#include "softgpu/exec/lane_f32.h"

#define F64_SIGN 0x8000000000000000ull
#define F64_EXP 0x7ff0000000000000ull
#define F64_QUIET 0x0008000000000000ull
#define F64_NAN sg_as_f64(0xfff8000000000000ull)
#define F64_INF sg_as_f64(F64_EXP)

LANE double f64_quiet(double a)
{
	return sg_as_f64(sg_f64_bits(a) | F64_QUIET);
}

LANE double f64_fma(double a, double b, double c)
{
	return __builtin_fma(a, b, c);
}

LANE int64_t f64_key(double a)
{
	uint64_t bits = sg_f64_bits(a);

	return (int64_t)(bits ^ ((0 - (bits >> 63)) >> 1));
}

LANE double f64_moved(double a, uint32_t mode)
{
	uint64_t bits = sg_f64_bits(a);

	return sg_as_f64(sel64(((mode & 0xc0) != 0xc0) & !(bits & F64_EXP), bits & F64_SIGN, bits));
}

LANE double f64_pick(double a, double b, bool a_wins, uint32_t mode)
{
	uint64_t x = sg_f64_bits(a), y = sg_f64_bits(b);
	uint64_t quiets = mode & SG_MODE_IEEE ? F64_QUIET : 0;
	bool a_nan = (x & ~F64_SIGN) > F64_EXP, b_nan = (y & ~F64_SIGN) > F64_EXP;
	uint64_t r = sel64(a_nan, y, sel64(b_nan, x, sel64(a_wins, x, y)));

	r = sel64(b_nan & !(y & F64_QUIET) & (quiets != 0), y | quiets, r);
	r = sel64(a_nan & !(x & F64_QUIET) & (quiets != 0), x | quiets, r);
	return f64_moved(sg_as_f64(r), mode);
}

LANE double f64_min(double a, double b, uint32_t mode)
{
	return f64_pick(a, b, f64_key(a) < f64_key(b), mode);
}

LANE double f64_max(double a, double b, uint32_t mode)
{
	return f64_pick(a, b, f64_key(a) > f64_key(b), mode);
}

LANE double f64_fract(double a)
{
	double r = a - __builtin_floor(a);

	return r >= 1 ? 0x1.fffffffffffffp-1 : r;
}

LANE int32_t f64_frexp_exp(double a)
{
	bool small = !(sg_f64_bits(a) & F64_EXP);
	uint64_t bits = sg_f64_bits(small ? a * 0x1p64 : a);
	int32_t exponent = (int32_t)(bits >> 52 & 0x7ff);

	return exponent == 0 || exponent == 2047 ? 0 : exponent - 1022 - (small ? 64 : 0);
}

LANE double f64_frexp_mant(double a)
{
	uint64_t bits = sg_f64_bits(sg_f64_bits(a) & F64_EXP ? a : a * 0x1p64);
	uint64_t exponent = bits & F64_EXP;

	return exponent == F64_EXP
		       ? (a != a ? f64_quiet(a) : a)
		       : sg_as_f64(exponent ? (bits & ~F64_EXP) | 0x3fe0000000000000ull : bits);
}

LANE double f64_pow2(int32_t exponent) /* -1022..1023 */
{
	return sg_as_f64((uint64_t)(uint32_t)(exponent + 1023) << 52);
}

/* In three steps, because the factor may lie outside the normal range. On the way down the first
 * two keep 53 bits free, so that a denormal result is rounded once. */
LANE double f64_ldexp(double a, int32_t exponent)
{
	int32_t e = exponent < -2200 ? -2200 : exponent > 2200 ? 2200 : exponent;

	for (unsigned step = 0; step < 2; step++) {
		int32_t part = e > 1023 ? 1023 : e < -1022 ? -969 : 0;

		double scaled = a * f64_pow2(part);

		a = part ? scaled : a; /* times one would already flush a denormal */
		e -= part;
	}
	return a * f64_pow2(e < -1022 ? -1022 : e > 1023 ? 1023 : e);
}

LANE bool f64_class(double a, uint32_t mask)
{
	uint64_t bits = sg_f64_bits(a), magnitude = bits & ~F64_SIGN;

	return mask & class_bit(magnitude > F64_EXP, magnitude & F64_QUIET, magnitude == F64_EXP,
				magnitude >= 0x0010000000000000ull, magnitude == 0, bits >> 63);
}

#endif
