/*
 * lane_small: floats of 8, 6 and 4 bits, bf16, xf32 and scales, of one lane.
 *
 * A format is its fields and what its last codes mean; one pair of functions converts between all of
 * them and single precision. gfx942 has the FNUZ formats: no infinity, no negative zero, and its
 * code is the NaN. gfx950 has OCP's.
 *
 * Evidence  AMD's CDNA3 and CDNA4 ISA documents, the chapters on 8-bit and smaller formats: overflow
 *           with and without MODE.FP16_OVFL, saturation of fp6 and fp4, denormals always kept.
 *           docs/isa-notes.md has what they leave open.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_SMALL_H
#define WS_SOFTGPU_EXEC_LANE_SMALL_H

#include "softgpu/exec/lane_f16.h"

enum small_kind {
	SMALL_FNUZ,   /* NaN is the code of -0; there is no infinity */
	SMALL_IEEE,   /* infinity and NaNs have the last exponent */
	SMALL_FN,     /* the last code of either sign is a NaN; there is no infinity */
	SMALL_FINITE, /* numbers only */
};

struct small_format {
	uint8_t n_exponent, n_mantissa, bias, kind;
};

#define SMALL_FORMAT(e, m, b, k) ((struct small_format){ e, m, b, k })
#define FP8_FNUZ SMALL_FORMAT(4, 3, 8, SMALL_FNUZ)
#define BF8_FNUZ SMALL_FORMAT(5, 2, 16, SMALL_FNUZ)
#define FP8_OCP SMALL_FORMAT(4, 3, 7, SMALL_FN)
#define BF8_OCP SMALL_FORMAT(5, 2, 15, SMALL_IEEE)
#define FP6_OCP SMALL_FORMAT(2, 3, 1, SMALL_FINITE)
#define BF6_OCP SMALL_FORMAT(3, 2, 3, SMALL_FINITE)
#define FP4_OCP SMALL_FORMAT(2, 1, 1, SMALL_FINITE)

#define MODE_FP16_OVFL(mode) ((mode) >> 23 & 1) /* overflow gives the largest number */

LANE float small_power(int exponent) /* 2 to the exponent, which is one of a normal number */
{
	return sg_as_f32((uint32_t)(exponent + 127) << 23);
}

/* Bits above the format's are ignored. */
LANE float small_f32(uint32_t code, struct small_format f)
{
	const unsigned n = f.n_exponent + f.n_mantissa;
	const uint32_t magnitude = code & ((1u << n) - 1), sign = code >> n & 1;
	const uint32_t exponent = magnitude >> f.n_mantissa;
	const uint32_t mantissa = magnitude & ((1u << f.n_mantissa) - 1);
	const uint32_t last = (1u << f.n_exponent) - 1;
	const int scale = (int)(exponent ? exponent : 1) - f.bias - f.n_mantissa;
	const uint32_t whole = mantissa | (uint32_t)(exponent != 0) << f.n_mantissa;
	const float v = (float)(int32_t)whole * small_power(scale);
	const uint32_t infinite = (f.kind == SMALL_IEEE) & (exponent == last);
	/* without branches, so that a loop over lanes is a vector loop */
	const uint32_t is_nan = (infinite & (mantissa != 0)) |
				((f.kind == SMALL_FN) & (magnitude == (1u << n) - 1)) |
				((f.kind == SMALL_FNUZ) & sign & (magnitude == 0));
	const uint32_t bits = sel32(infinite, 0x7f800000, sg_f32_bits(v));

	return sg_as_f32(sel32(is_nan, 0x7fc00000, bits) | sign << 31);
}

/* Codes without sign. */
LANE uint32_t small_largest(struct small_format f)
{
	const uint32_t all = (1u << (f.n_exponent + f.n_mantissa)) - 1;

	if (f.kind == SMALL_IEEE)
		return all - (1u << f.n_mantissa);
	return f.kind == SMALL_FN ? all - 1 : all;
}

/* What becomes of NaN, and of an overflow that is not saturated. With sign; fp6 and fp4 have neither. */
LANE uint32_t small_nan(struct small_format f, uint32_t sign)
{
	const unsigned n = f.n_exponent + f.n_mantissa;

	if (f.kind == SMALL_FNUZ)
		return 1u << n;
	return sign << n | (f.kind == SMALL_FINITE ? small_largest(f) : (1u << n) - 1);
}

LANE uint32_t small_overflow(struct small_format f, uint32_t sign, bool saturate)
{
	const unsigned n = f.n_exponent + f.n_mantissa;

	if (saturate || f.kind == SMALL_FINITE)
		return sign << n | small_largest(f);
	if (f.kind == SMALL_IEEE)
		return sign << n | (small_largest(f) + 1);
	return small_nan(f, sign);
}

LANE uint32_t small_packed(struct small_format f, uint32_t sign, int exponent, uint32_t kept,
			   bool saturate)
{
	/* kept has the leading one of a normal number, which counts as one more exponent */
	const int above = max_i32(exponent - (1 - f.bias), 0);
	const uint32_t magnitude = ((uint32_t)above << f.n_mantissa) + kept;

	if (magnitude > small_largest(f))
		return small_overflow(f, sign, saturate);
	if (f.kind == SMALL_FNUZ && !magnitude)
		return 0;
	return sign << (f.n_exponent + f.n_mantissa) | magnitude;
}

/*
 * A float in single precision as fields: sign, mantissa * 2^(exponent - 23), with the leading one in bit 23.
 * Denormals have none: without a scale they are below all formats.
 */
struct small_parts {
	uint32_t sign, mantissa;
	int exponent;
};

LANE struct small_parts small_split(float v)
{
	const uint32_t bits = sg_f32_bits(v), magnitude = bits & ~F32_SIGN;

	return (struct small_parts){
		.sign = bits >> 31,
		.mantissa = (magnitude & 0x7fffff) | (uint32_t)(magnitude >= 0x800000) << 23,
		.exponent = max_i32((int)(magnitude >> 23), 1) - 127,
	};
}

/* To nearest even. saturate: an overflow gives the largest number. */
LANE uint32_t small_nearest(struct small_parts v, struct small_format f, bool saturate)
{
	const int below = max_i32(1 - f.bias - v.exponent, 0);
	const uint32_t cut = (uint32_t)min_i32(23 - f.n_mantissa + below, 25);
	const uint32_t kept = v.mantissa >> cut, rest = v.mantissa & ((1u << cut) - 1);
	const uint32_t half = 1u << (cut - 1);
	const uint32_t up = (rest > half) | ((rest == half) & kept & 1);

	return small_packed(f, v.sign, v.exponent, kept + up, saturate);
}

/* Adds random bits where the format has none, and cuts off. */
LANE uint32_t small_random(struct small_parts v, uint32_t random, struct small_format f,
			   bool saturate)
{
	const uint32_t below = (uint32_t)min_i32(max_i32(1 - f.bias - v.exponent, 0), 31);
	const uint32_t sum = (v.mantissa >> below) + random;

	return small_packed(f, v.sign, v.exponent, sum >> (23 - f.n_mantissa), saturate);
}

LANE uint32_t f32_small(float v, struct small_format f, bool saturate)
{
	const uint32_t bits = sg_f32_bits(v);

	if ((bits & ~F32_SIGN) > F32_EXP)
		return small_nan(f, bits >> 31);
	return small_nearest(small_split(v), f, saturate);
}

/* The low bits of `random` are taken. */
LANE uint32_t f32_small_random(float v, uint32_t random, struct small_format f, bool saturate)
{
	const uint32_t bits = sg_f32_bits(v), magnitude = bits & ~F32_SIGN, sign = bits >> 31;

	if (magnitude > F32_EXP)
		return small_nan(f, sign);
	if (magnitude == F32_EXP)
		return small_overflow(f, sign, saturate);
	return small_random(small_split(v), random & ((1u << (23 - f.n_mantissa)) - 1), f,
			    saturate);
}

/* ---- bf16 ---- */

LANE float bf16_f32(uint32_t bits)
{
	return sg_as_f32(bits << 16);
}

LANE uint16_t f32_bf16(float v) /* to nearest even */
{
	const uint32_t bits = sg_f32_bits(v);
	const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;

	return (uint16_t)sel32((bits & ~F32_SIGN) > F32_EXP, bits >> 16 | 0x40, rounded);
}

/* ---- xf32, and scales ---- */

/* The matrix units' xf32 has the exponent of f32 and ten bits of mantissa: to nearest even. */
LANE float f32_xf32(float v)
{
	const uint32_t bits = sg_f32_bits(v);
	const uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;

	return sg_as_f32(
		sel32((bits & ~F32_SIGN) > F32_EXP, (bits | 0x400000) & ~0x1fffu, rounded));
}

/* E8M0, the scale of 32 numbers: a power of two, and one NaN. */
LANE float e8m0_f32(uint32_t code)
{
	const uint32_t exponent = code & 0xff;
	const uint32_t number = sel32(exponent == 0, 1u << 22, exponent << 23); /* 0: 2^-127 */

	return sg_as_f32(sel32(exponent == 0xff, 0x7fc00000, number));
}

/* ---- results in a part of the register ---- */

LANE uint32_t insert_part(uint32_t into, uint32_t at, uint32_t n_bits, uint32_t v)
{
	const uint32_t mask = (uint32_t)((1ull << n_bits) - 1) << at;

	return (into & ~mask) | (v << at & mask);
}

#endif
