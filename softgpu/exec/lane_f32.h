/*
 * lane_f32: single precision operations of one lane.
 *
 * Plain C arithmetic rounds and flushes as the host's MXCSR says, which the run loop sets from
 * MODE. Where an operation only moves bits (min, max) or flushes whatever MODE says (mad), it is
 * done here.
 * NaN: the device does what x86 does, a propagated one keeps its payload and becomes quiet, a new
 * one is 0xffc00000.
 *
 * No polynomial here uses fused operations: every level has to give the same bits.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_F32_H
#define WS_SOFTGPU_EXEC_LANE_F32_H

#include <math.h>

#include "softgpu/exec/lane_int.h"

#define F32_SIGN 0x80000000u
#define F32_EXP 0x7f800000u
#define F32_QUIET 0x00400000u
#define F32_NAN sg_as_f32(0xffc00000u) /* what an invalid operation makes */
#define F32_INF sg_as_f32(F32_EXP)

LANE float f32_quiet(float a)
{
	return sg_as_f32(sg_f32_bits(a) | F32_QUIET);
}

LANE float f32_sel(bool cond, float a, float b) /* see sel32() */
{
	return sg_as_f32(sel32(cond, sg_f32_bits(a), sg_f32_bits(b)));
}

LANE float f32_fma(float a, float b, float c)
{
	return __builtin_fmaf(a, b, c);
}

/* ---- legacy: mad and mac round the product and never keep denormals ---- */

LANE float f32_flush(float a)
{
	uint32_t bits = sg_f32_bits(a);

	return sg_as_f32(bits & F32_EXP ? bits : bits & F32_SIGN);
}

LANE float f32_mad(float a, float b, float c)
{
	float product = f32_flush(f32_flush(a) * f32_flush(b));

	return f32_flush(product + f32_flush(c));
}

/* Zero times anything is +0. */
LANE float f32_mul_legacy(float a, float b)
{
	return a == 0 || b == 0 ? 0 : a * b;
}

LANE float f32_mad_legacy(float a, float b, float c)
{
	float x = f32_flush(a), y = f32_flush(b);
	float product = x == 0 || y == 0 ? 0 : f32_flush(x * y);

	return f32_flush(product + f32_flush(c));
}

/* ---- min, max: on the bits, as an order with -0 below +0 ---- */

LANE int32_t f32_key(float a)
{
	int32_t bits = (int32_t)sg_f32_bits(a);

	return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

/* Moves pass denormals through unless MODE flushes results of single precision. */
LANE float f32_moved(float a, uint32_t mode)
{
	uint32_t bits = sg_f32_bits(a);

	return sg_as_f32(sel32(((mode & 0x30) != 0x30) & !(bits & F32_EXP), bits & F32_SIGN, bits));
}

/* The rule of both: a signalling NaN wins in IEEE mode, any other NaN loses. */
LANE float f32_pick(float a, float b, bool a_wins, uint32_t mode)
{
	uint32_t x = sg_f32_bits(a), y = sg_f32_bits(b);
	uint32_t quiets = mode & SG_MODE_IEEE ? F32_QUIET : 0;
	bool a_nan = (x & ~F32_SIGN) > F32_EXP, b_nan = (y & ~F32_SIGN) > F32_EXP;
	uint32_t r = sel32(a_nan, y, sel32(b_nan, x, sel32(a_wins, x, y)));

	r = sel32(b_nan & !(y & F32_QUIET) & (quiets != 0), y | quiets, r);
	r = sel32(a_nan & !(x & F32_QUIET) & (quiets != 0), x | quiets, r);
	return f32_moved(sg_as_f32(r), mode);
}

LANE float f32_min(float a, float b, uint32_t mode)
{
	return f32_pick(a, b, f32_key(a) < f32_key(b), mode);
}

LANE float f32_max(float a, float b, uint32_t mode)
{
	return f32_pick(a, b, f32_key(a) > f32_key(b), mode);
}

LANE float f32_min3(float a, float b, float c, uint32_t mode)
{
	return f32_min(f32_min(a, b, mode), c, mode);
}

LANE float f32_max3(float a, float b, float c, uint32_t mode)
{
	return f32_max(f32_max(a, b, mode), c, mode);
}

LANE float f32_med3(float a, float b, float c, uint32_t mode)
{
	int32_t x = f32_key(a), y = f32_key(b), z = f32_key(c);
	float low = x < y ? a : b, high = x < y ? b : a;
	float middle = f32_key(high) < z ? high : f32_key(low) > z ? low : c;

	return a != a || b != b || c != c ? f32_min3(a, b, c, mode) : f32_moved(middle, mode);
}

/* ---- to and from integers: toward zero, out of range saturates, NaN is 0 ---- */

LANE int32_t f32_to_i32(float a)
{
	/* the largest float below 2^31 stands in for what does not fit */
	int32_t v = (int32_t)(a >= -0x1p31f && a < 0x1p31f ? a : 0);

	return a >= 0x1p31f ? INT32_MAX : a < -0x1p31f ? INT32_MIN : v;
}

LANE uint32_t f32_to_u32(float a)
{
	float top = a >= 0x1p31f && a < 0x1p32f ? a - 0x1p31f : 0;
	uint32_t low = (uint32_t)(int32_t)(a >= 0 && a < 0x1p31f ? a : 0);
	uint32_t high = (uint32_t)(int32_t)top | 0x80000000u;

	return a >= 0x1p32f ? UINT32_MAX : a >= 0x1p31f ? high : low;
}

LANE uint32_t f32_to_u8(float a)
{
	float inside = a > 0 ? a : 0;

	return (uint32_t)(int32_t)(inside < 255 ? inside : 255);
}

LANE int32_t f64_to_i32(double a)
{
	double inside = a > -0x1p31 ? a : -0x1p31;

	inside = inside < 0x1.fffffffcp30 ? inside : 0x1.fffffffcp30;
	return (int32_t)(a == a ? inside : 0);
}

LANE uint32_t f64_to_u32(double a)
{
	double inside = a > 0 ? a : 0;

	inside = inside < 0x1.fffffffep31 ? inside : 0x1.fffffffep31;
	/* through the signed conversion, which every level has for vectors */
	return (uint32_t)(int32_t)(inside >= 0x1p31 ? inside - 0x1p31 : inside) ^
	       (inside >= 0x1p31 ? 0x80000000u : 0);
}

LANE int32_t f32_floor_to_i32(double a)
{
	return f64_to_i32(__builtin_floor(a));
}

/* The plain level has no instruction for these; what compilers do instead leaves signalling NaNs as
 * they are, and the sign of a zero to the host's rounding. */
#define SG_ROUND(name, type, to, suffix)                                                           \
	LANE type name(type a)                                                                     \
	{                                                                                          \
		return a == a ? __builtin_copysign##suffix(__builtin_##to##suffix(a), a) : a + a;  \
	}
SG_ROUND(f32_trunc, float, trunc, f)
SG_ROUND(f32_ceil, float, ceil, f)
SG_ROUND(f32_floor, float, floor, f)
SG_ROUND(f64_trunc, double, trunc, )
SG_ROUND(f64_ceil, double, ceil, )
SG_ROUND(f64_floor, double, floor, )

/* ---- to the nearest integer, ties to even, whatever the host's rounding is ----
 *
 * From truncation, which exists for vectors; compilers call roundeven() lane by lane.
 */
#define SG_ROUNDEVEN(name, type, suffix)                                                           \
	LANE type name(type a)                                                                     \
	{                                                                                          \
		type whole = __builtin_trunc##suffix(a), half = whole * (type)0.5;                 \
		type rest = __builtin_fabs##suffix(a - whole);                                     \
		bool odd = __builtin_trunc##suffix(half) != half;                                  \
		bool up = rest > (type)0.5 || (rest == (type)0.5 && odd);                          \
		type away = __builtin_fabs##suffix(whole) + (up ? 1 : 0);                          \
		return __builtin_copysign##suffix(away, a);                                        \
	}
SG_ROUNDEVEN(f32_roundeven, float, f)
SG_ROUNDEVEN(f64_roundeven, double, )

/* a is at most 2^16. */
LANE int32_t f32_nearest_i32(float a)
{
	return (int32_t)f32_roundeven(a);
}

LANE int16_t f32_to_snorm16(float a)
{
	float inside = f32_sel(a > -1, a, a == a ? -1 : 0);

	return (int16_t)f32_nearest_i32(f32_sel(inside < 1, inside, 1) * 32767.0f);
}

LANE uint16_t f32_to_unorm16(float a)
{
	float inside = f32_sel(a > 0, a, 0);

	return (uint16_t)f32_nearest_i32(f32_sel(inside < 1, inside, 1) * 65535.0f);
}

/* ---- parts ---- */

LANE float f32_fract(float a)
{
	float r = a - __builtin_floorf(a);

	return r >= 1 ? 0x1.fffffep-1f : r; /* a tiny negative number must not give 1 */
}

/* Denormals are made normal first; with flushed inputs the product, and so the result, is zero. */
LANE int32_t f32_frexp_exp(float a)
{
	bool small = !(sg_f32_bits(a) & F32_EXP);
	uint32_t bits = sg_f32_bits(small ? a * 0x1p32f : a);
	int32_t exponent = (int32_t)(bits >> 23 & 0xff);

	return exponent == 0 || exponent == 255 ? 0 : exponent - 126 - (small ? 32 : 0);
}

LANE float f32_frexp_mant(float a)
{
	uint32_t bits = sg_f32_bits(sg_f32_bits(a) & F32_EXP ? a : a * 0x1p32f);
	uint32_t exponent = bits & F32_EXP;

	return exponent == F32_EXP ? (a != a ? f32_quiet(a) : a)
				   : sg_as_f32(exponent ? (bits & ~F32_EXP) | 0x3f000000u : bits);
}

/* Exact in double for any exponent that matters, so that only the last step rounds. */
LANE float f32_ldexp(float a, int32_t exponent)
{
	int32_t e = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;

	return (float)((double)a * sg_as_f64((uint64_t)(uint32_t)(e + 1023) << 52));
}

/* One bit per class, as v_cmp_class numbers them, of a number given by its magnitude's order. */
LANE uint32_t class_bit(bool nan, bool quiet, bool inf, bool normal, bool zero, bool negative)
{
	uint32_t plus = sel32(inf, 1u << 9, sel32(normal, 1u << 8, sel32(zero, 1u << 6, 1u << 7)));
	uint32_t minus = sel32(inf, 1u << 2, sel32(normal, 1u << 3, sel32(zero, 1u << 5, 1u << 4)));

	return sel32(nan, sel32(quiet, 1u << 1, 1u << 0), sel32(negative, minus, plus));
}

LANE bool f32_class(float a, uint32_t mask)
{
	uint32_t bits = sg_f32_bits(a), magnitude = bits & ~F32_SIGN;

	return mask & class_bit(magnitude > F32_EXP, magnitude & F32_QUIET, magnitude == F32_EXP,
				magnitude >= 0x00800000u, magnitude == 0, bits >> 31);
}

/* ---- cube map coordinates: which axis is longest ---- */

LANE bool cube_is_z(float x, float y, float z)
{
	return __builtin_fabsf(z) >= __builtin_fabsf(x) && __builtin_fabsf(z) >= __builtin_fabsf(y);
}

LANE bool cube_is_y(float x, float y)
{
	return __builtin_fabsf(y) >= __builtin_fabsf(x);
}

LANE float cube_id(float x, float y, float z)
{
	return cube_is_z(x, y, z) ? (z < 0 ? 5 : 4) : cube_is_y(x, y) ? (y < 0 ? 3 : 2) : x < 0;
}

LANE float cube_sc(float x, float y, float z)
{
	return cube_is_z(x, y, z) ? (z < 0 ? -x : x) : cube_is_y(x, y) ? x : x < 0 ? z : -z;
}

LANE float cube_tc(float x, float y, float z)
{
	return cube_is_z(x, y, z) ? -y : cube_is_y(x, y) ? (y < 0 ? -z : z) : -y;
}

LANE float cube_ma(float x, float y, float z)
{
	return 2 * (cube_is_z(x, y, z) ? z : cube_is_y(x, y) ? y : x);
}

#endif
