/*
 * lane_f16: half precision operations of one lane, on the bits.
 *
 * Computed in single precision and rounded to half: 24 bits are enough for add, multiply, divide
 * and square root to come out as if rounded once; fma goes through double with its lost bits kept
 * sticky.
 * Rounding and flushing are MODE's, given as `mode`: the host has no register for them.
 *
 * F16C is not used here: the conversions below become vector code at every level, and they flush.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_F16_H
#define WS_SOFTGPU_EXEC_LANE_F16_H

#include "softgpu/exec/lane_f64.h"

#define F16_ROUND(mode) ((mode) >> 2 & 3) /* 0 nearest even, 1 up, 2 down, 3 toward zero */
#define F16_FLUSH_IN(mode) (!((mode)&0x40))
#define F16_FLUSH_OUT(mode) (!((mode)&0x80))
#define F16_TO_ZERO(mode) ((mode) | 0xcu)
#define F16_KEEP 0xc0u /* a mode that keeps denormals */

LANE float f16_exact_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fffu;
	uint32_t normal = (magnitude << 13) + 0x38000000u;
	/* as a number, not by the sign of the float subtraction: that depends on the rounding */
	uint32_t denormal = sg_f32_bits((float)(int32_t)magnitude * 0x1p-24f);
	uint32_t special = (magnitude << 13) | F32_EXP | (magnitude > 0x7c00 ? F32_QUIET : 0);
	uint32_t finite = sel32(magnitude >= 0x400, normal, denormal);

	return sg_as_f32(sign | sel32(magnitude >= 0x7c00, special, finite));
}

LANE float f16_f32(uint16_t h, uint32_t mode)
{
	return f16_exact_f32((uint16_t)sel32(F16_FLUSH_IN(mode) & !(h & 0x7c00), h & 0x8000, h));
}

/* Adds one to the kept bits q when what was cut off (rem of a unit 2 * half) says so. */
LANE uint32_t f16_round_up(uint32_t q, uint32_t rem, uint32_t half, uint32_t sign, uint32_t mode)
{
	uint32_t round = F16_ROUND(mode);
	uint32_t nearest = (rem > half) | ((rem == half) & q);
	uint32_t directed = (rem != 0) & (round == 1 + sign);

	return (round == 0 ? nearest : directed) & 1;
}

LANE uint16_t f16_pack(uint32_t sign, uint32_t magnitude, uint32_t mode)
{
	uint32_t round = F16_ROUND(mode);
	uint32_t largest = 0x7bff + ((round == 0) | (round == 1 + sign));

	magnitude = sel32(magnitude >= 0x7c00, largest, magnitude);
	magnitude = sel32(F16_FLUSH_OUT(mode) & (magnitude < 0x400), 0, magnitude);
	return (uint16_t)(magnitude | sign << 15);
}

/*
 * Rounds a number given as its exponent relative to that of single precision (127 is 2^0; at most
 * 1 << 20 either way) and 24 bits of mantissa, of which the last is sticky when it came from
 * double.
 */
LANE uint16_t f16_rounded(uint32_t sign, int32_t exponent, uint32_t mantissa, uint32_t mode)
{
	/* a unit of the result is 2^13 of the mantissa's, and more below 2^-14 */
	uint32_t cut = (uint32_t)max_i32(13, min_i32(126 - exponent, 25));
	uint32_t base = (uint32_t)max_i32(min_i32(exponent, 143) - 113, 0) << 10;
	uint32_t q = mantissa >> cut, rem = mantissa & ((1u << cut) - 1);
	uint32_t finite = base + q + f16_round_up(q, rem, 1u << (cut - 1), sign, mode);

	return f16_pack(sign, sel32(exponent > 142, 0x7c00, finite), mode);
}

LANE uint16_t f32_f16(float a, uint32_t mode)
{
	uint32_t bits = sg_f32_bits(a), magnitude = bits & ~F32_SIGN, sign = bits >> 31;
	uint32_t exponent = magnitude >> 23;
	uint32_t mantissa = (magnitude & 0x7fffff) | (uint32_t)(exponent != 0) << 23;
	uint32_t nan = sign << 15 | 0x7e00 | (bits >> 13 & 0x1ff), inf = sign << 15 | 0x7c00;
	uint32_t finite = f16_rounded(sign, (int32_t)exponent, mantissa, mode);

	return (uint16_t)sel32(magnitude > F32_EXP, nan, sel32(magnitude == F32_EXP, inf, finite));
}

/* The double holds the exact result, or a neighbour of it with the last bit set (see f16_fma). */
LANE uint16_t f64_f16(double a, uint32_t mode)
{
	uint64_t bits = sg_f64_bits(a);
	uint32_t high = (uint32_t)(bits >> 32), low = (uint32_t)bits;
	uint32_t sign = high >> 31, exponent = high >> 20 & 0x7ff;
	/* 24 bits of mantissa are enough when the rest of them is or-ed into the last */
	uint32_t mantissa = (uint32_t)(exponent != 0) << 23 | (high & 0xfffff) << 3 | low >> 29 |
			    ((low & 0x1fffffff) != 0);
	uint32_t special = sign << 15 | 0x7c00, nan = special | 0x200 | (high >> 10 & 0x1ff);
	bool is_nan = (mantissa & 0x7fffff) != 0;
	uint32_t finite = f16_rounded(sign, (int32_t)exponent - 896, mantissa, mode);

	return (uint16_t)sel32(exponent == 0x7ff, sel32(is_nan, nan, special), finite);
}

#define SG_F16_OP2(name, op)                                                                       \
	LANE uint16_t name(uint16_t a, uint16_t b, uint32_t mode)                                  \
	{                                                                                          \
		return f32_f16(f16_f32(a, mode) op f16_f32(b, mode), mode);                        \
	}
SG_F16_OP2(f16_add, +)
SG_F16_OP2(f16_sub, -)
SG_F16_OP2(f16_mul, *)

/*
 * The product is exact in double; the sum may not be, and rounding it to half would round twice.
 * So it is rounded to odd: what the addition lost (two-sum) sets the last bit, on the right side.
 */
LANE uint16_t f16_fma(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	double x = f16_f32(a, mode), y = f16_f32(b, mode), z = f16_f32(c, mode);
	double product = x * y, sum = product + z;
	double back = sum - product, lost = (product - (sum - back)) + (z - back);
	uint64_t bits = sg_f64_bits(sum), rest = sg_f64_bits(lost), size = rest & ~F64_SIGN;
	/* infinities leave NaN */
	uint64_t zero = (size - 1) >> 63, nan = (size + (1ull << 52)) >> 63;
	uint64_t nudge = ~(bits | zero | nan) & 1, inward = (bits ^ rest) >> 63;
	double odd = sg_as_f64(bits + nudge - ((nudge & inward) << 1));

	return f64_f16(odd, mode);
}

/* Unfused, and without denormals whatever MODE says, as mad of single precision. */
LANE uint16_t f16_mad(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	uint32_t flushing = mode & ~0xc0u;

	return f16_add(f16_mul(a, b, flushing), c, flushing);
}

LANE bool f16_is_nan(uint16_t a)
{
	return (a & 0x7fff) > 0x7c00;
}

LANE int32_t f16_key(uint16_t a)
{
	return (int16_t)a ^ ((int16_t)a >> 15 & 0x7fff);
}

LANE uint16_t f16_moved(uint16_t a, uint32_t mode)
{
	return (uint16_t)sel32(((mode & 0xc0) != 0xc0) & !(a & 0x7c00), a & 0x8000, a);
}

LANE uint16_t f16_pick(uint16_t a, uint16_t b, bool a_wins, uint32_t mode)
{
	bool ieee = mode & SG_MODE_IEEE, a_nan = f16_is_nan(a), b_nan = f16_is_nan(b);
	uint32_t r = sel32(a_nan, b, sel32(b_nan, a, sel32(a_wins, a, b)));

	r = sel32(b_nan & !(b & 0x200) & ieee, b | 0x200, r);
	r = sel32(a_nan & !(a & 0x200) & ieee, a | 0x200, r);
	return f16_moved((uint16_t)r, mode);
}

LANE uint16_t f16_min(uint16_t a, uint16_t b, uint32_t mode)
{
	return f16_pick(a, b, f16_key(a) < f16_key(b), mode);
}

LANE uint16_t f16_max(uint16_t a, uint16_t b, uint32_t mode)
{
	return f16_pick(a, b, f16_key(a) > f16_key(b), mode);
}

LANE uint16_t f16_min3(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	return f16_min(f16_min(a, b, mode), c, mode);
}

LANE uint16_t f16_max3(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	return f16_max(f16_max(a, b, mode), c, mode);
}

LANE uint16_t f16_med3(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	int32_t x = f16_key(a), y = f16_key(b), z = f16_key(c);
	uint16_t low = x < y ? a : b, high = x < y ? b : a;
	uint16_t middle = f16_key(high) < z ? high : f16_key(low) > z ? low : c;

	return (uint16_t)sel32(f16_is_nan(a) | f16_is_nan(b) | f16_is_nan(c),
			       f16_min3(a, b, c, mode), f16_moved(middle, mode));
}

LANE int16_t f16_to_i16(uint16_t a)
{
	float f = f16_exact_f32(a);

	f = f < 32767 ? f : 32767; /* NaN ends up here too */
	f = f > -32768 ? f : -32768;
	return f16_is_nan(a) ? 0 : (int16_t)(int32_t)f;
}

LANE uint16_t f16_to_u16(uint16_t a)
{
	float f = f16_exact_f32(a);

	f = f > 0 ? f : 0;
	return (uint16_t)(int32_t)(f < 65535 ? f : 65535);
}

LANE int16_t f16_frexp_exp(uint16_t a)
{
	return (int16_t)f32_frexp_exp(f16_exact_f32(a));
}

LANE uint16_t f16_frexp_mant(uint16_t a, uint32_t mode)
{
	return f32_f16(f32_frexp_mant(f16_f32(a, mode)), mode);
}

LANE uint16_t f16_ldexp(uint16_t a, int16_t exponent, uint32_t mode)
{
	int32_t e = exponent < -60 ? -60 : exponent > 60 ? 60 : exponent;

	/* exact: 2^-24 and the 60 below it are far from the denormals of single precision */
	return f32_f16(f16_f32(a, mode) * sg_as_f32((uint32_t)(e + 127) << 23), mode);
}

/* Below 1 also after rounding: 1 - 2^-11 is the largest half there. */
LANE uint16_t f16_fract(uint16_t a, uint32_t mode)
{
	uint16_t r = f32_f16(f32_fract(f16_f32(a, mode)), mode);

	return (uint16_t)sel32(r == 0x3c00, 0x3bff, r);
}

LANE bool f16_class(uint16_t a, uint32_t mask)
{
	uint32_t magnitude = a & 0x7fffu;

	return mask & class_bit(magnitude > 0x7c00, magnitude & 0x200, magnitude == 0x7c00,
				magnitude >= 0x400, magnitude == 0, a >> 15);
}

#endif
