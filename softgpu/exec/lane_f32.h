/*
 * lane_f32: single precision operations of one lane.
 *
 * Plain C arithmetic rounds and flushes as the host's MXCSR says, which the run loop sets from MODE.
 * Where an operation only moves bits (min, max) or flushes whatever MODE says (mad), it is done here.
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
#define F32_NAN ws_as_f32(0xffc00000u) /* what an invalid operation makes */
#define F32_INF ws_as_f32(F32_EXP)

static inline bool f32_is_nan(float a)
{
	return a != a;
}

static inline bool f32_is_snan(float a)
{
	return a != a && !(ws_f32_bits(a) & F32_QUIET);
}

static inline float f32_quiet(float a)
{
	return ws_as_f32(ws_f32_bits(a) | F32_QUIET);
}

static inline float f32_fma(float a, float b, float c)
{
	return __builtin_fmaf(a, b, c);
}

/* ---- legacy: mad and mac round the product and never keep denormals ---- */

static inline float f32_flush(float a)
{
	uint32_t bits = ws_f32_bits(a);

	return ws_as_f32(bits & F32_EXP ? bits : bits & F32_SIGN);
}

static inline float f32_mad(float a, float b, float c)
{
	float product = f32_flush(f32_flush(a) * f32_flush(b));

	return f32_flush(product + f32_flush(c));
}

/* Zero times anything is +0. */
static inline float f32_mul_legacy(float a, float b)
{
	return a == 0 || b == 0 ? 0 : a * b;
}

static inline float f32_mad_legacy(float a, float b, float c)
{
	float x = f32_flush(a), y = f32_flush(b);
	float product = x == 0 || y == 0 ? 0 : f32_flush(x * y);

	return f32_flush(product + f32_flush(c));
}

/* ---- min, max: on the bits, as an order with -0 below +0 ---- */

static inline int32_t f32_key(float a)
{
	int32_t bits = (int32_t)ws_f32_bits(a);

	return bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
}

/* Moves pass denormals through unless MODE flushes results of single precision. */
static inline float f32_moved(float a, uint32_t mode)
{
	uint32_t bits = ws_f32_bits(a);

	return ws_as_f32((mode & 0x30) == 0x30 || bits & F32_EXP ? bits : bits & F32_SIGN);
}

/* The rule of both: a signalling NaN wins in IEEE mode, any other NaN loses. */
static inline float f32_pick(float a, float b, bool a_wins, uint32_t mode)
{
	bool ieee = mode & WS_MODE_IEEE;
	float r = a_wins ? a : b;

	r = b != b ? a : r;
	r = a != a ? b : r;
	r = ieee && f32_is_snan(b) ? f32_quiet(b) : r;
	r = ieee && f32_is_snan(a) ? f32_quiet(a) : r;
	return f32_moved(r, mode);
}

static inline float f32_min(float a, float b, uint32_t mode)
{
	return f32_pick(a, b, f32_key(a) < f32_key(b), mode);
}

static inline float f32_max(float a, float b, uint32_t mode)
{
	return f32_pick(a, b, f32_key(a) > f32_key(b), mode);
}

static inline float f32_min3(float a, float b, float c, uint32_t mode)
{
	return f32_min(f32_min(a, b, mode), c, mode);
}

static inline float f32_max3(float a, float b, float c, uint32_t mode)
{
	return f32_max(f32_max(a, b, mode), c, mode);
}

static inline float f32_med3(float a, float b, float c, uint32_t mode)
{
	int32_t x = f32_key(a), y = f32_key(b), z = f32_key(c);
	float low = x < y ? a : b, high = x < y ? b : a;
	float middle = f32_key(high) < z ? high : f32_key(low) > z ? low : c;

	return a != a || b != b || c != c ? f32_min3(a, b, c, mode) : f32_moved(middle, mode);
}

/* ---- to and from integers: toward zero, out of range saturates, NaN is 0 ---- */

static inline int32_t f32_to_i32(float a)
{
	/* the largest float below 2^31 stands in for what does not fit */
	int32_t v = (int32_t)(a >= -0x1p31f && a < 0x1p31f ? a : 0);

	return a >= 0x1p31f ? INT32_MAX : a < -0x1p31f ? INT32_MIN : v;
}

static inline uint32_t f32_to_u32(float a)
{
	float top = a >= 0x1p31f && a < 0x1p32f ? a - 0x1p31f : 0;
	uint32_t low = (uint32_t)(int32_t)(a >= 0 && a < 0x1p31f ? a : 0);
	uint32_t high = (uint32_t)(int32_t)top | 0x80000000u;

	return a >= 0x1p32f ? UINT32_MAX : a >= 0x1p31f ? high : low;
}

static inline uint32_t f32_to_u8(float a)
{
	float inside = a > 0 ? a : 0;

	return (uint32_t)(int32_t)(inside < 255 ? inside : 255);
}

static inline int32_t f64_to_i32(double a)
{
	double inside = a > -0x1p31 ? a : -0x1p31;

	inside = inside < 0x1.fffffffcp30 ? inside : 0x1.fffffffcp30;
	return (int32_t)(a == a ? inside : 0);
}

static inline uint32_t f64_to_u32(double a)
{
	double inside = a > 0 ? a : 0;

	inside = inside < 0x1.fffffffep31 ? inside : 0x1.fffffffep31;
	/* through the signed conversion, which every level has for vectors */
	return (uint32_t)(int32_t)(inside >= 0x1p31 ? inside - 0x1p31 : inside) ^
	       (inside >= 0x1p31 ? 0x80000000u : 0);
}

static inline int32_t f32_floor_to_i32(double a)
{
	return f64_to_i32(__builtin_floor(a));
}

/* Nearest, ties to even; a is at most 2^16. */
static inline int32_t f32_nearest_i32(float a)
{
	return (int32_t)__builtin_roundevenf(a);
}

static inline int16_t f32_to_snorm16(float a)
{
	float inside = a > -1 ? a : -1;

	return (int16_t)f32_nearest_i32(a == a ? (inside < 1 ? inside : 1) * 32767.0f : 0);
}

static inline uint16_t f32_to_unorm16(float a)
{
	float inside = a > 0 ? a : 0;

	return (uint16_t)f32_nearest_i32((inside < 1 ? inside : 1) * 65535.0f);
}

/* ---- parts ---- */

static inline float f32_fract(float a)
{
	float r = a - __builtin_floorf(a);

	return r >= 1 ? 0x1.fffffep-1f : r; /* a tiny negative number must not give 1 */
}

/* Denormals are made normal first; with flushed inputs the product is zero, and so is the result. */
static inline int32_t f32_frexp_exp(float a)
{
	bool small = !(ws_f32_bits(a) & F32_EXP);
	uint32_t bits = ws_f32_bits(small ? a * 0x1p32f : a);
	int32_t exponent = (int32_t)(bits >> 23 & 0xff);

	return exponent == 0 || exponent == 255 ? 0 : exponent - 126 - (small ? 32 : 0);
}

static inline float f32_frexp_mant(float a)
{
	uint32_t bits = ws_f32_bits(ws_f32_bits(a) & F32_EXP ? a : a * 0x1p32f);
	uint32_t exponent = bits & F32_EXP;

	return exponent == F32_EXP ? (a != a ? f32_quiet(a) : a) :
	       ws_as_f32(exponent ? (bits & ~F32_EXP) | 0x3f000000u : bits);
}

/* Exact in double for any exponent that matters, so that only the last step rounds. */
static inline float f32_ldexp(float a, int32_t exponent)
{
	int32_t e = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;

	return (float)((double)a * ws_as_f64((uint64_t)(uint32_t)(e + 1023) << 52));
}

static inline bool f32_class(float a, uint32_t mask)
{
	uint32_t bits = ws_f32_bits(a), magnitude = bits & ~F32_SIGN;
	uint32_t negative = bits >> 31;
	uint32_t kind = magnitude > F32_EXP ? (magnitude & F32_QUIET ? 1 : 0) :
			magnitude == F32_EXP ? (negative ? 2 : 9) :
			magnitude >= 0x00800000u ? (negative ? 3 : 8) :
			magnitude ? (negative ? 4 : 7) : (negative ? 5 : 6);

	return mask >> kind & 1;
}

/* ---- cube map coordinates: which axis is longest ---- */

static inline bool cube_is_z(float x, float y, float z)
{
	return __builtin_fabsf(z) >= __builtin_fabsf(x) && __builtin_fabsf(z) >= __builtin_fabsf(y);
}

static inline bool cube_is_y(float x, float y)
{
	return __builtin_fabsf(y) >= __builtin_fabsf(x);
}

static inline float cube_id(float x, float y, float z)
{
	return cube_is_z(x, y, z) ? (z < 0 ? 5 : 4) : cube_is_y(x, y) ? (y < 0 ? 3 : 2) : x < 0 ? 1 : 0;
}

static inline float cube_sc(float x, float y, float z)
{
	return cube_is_z(x, y, z) ? (z < 0 ? -x : x) : cube_is_y(x, y) ? x : x < 0 ? z : -z;
}

static inline float cube_tc(float x, float y, float z)
{
	return cube_is_z(x, y, z) ? -y : cube_is_y(x, y) ? (y < 0 ? -z : z) : -y;
}

static inline float cube_ma(float x, float y, float z)
{
	return 2 * (cube_is_z(x, y, z) ? z : cube_is_y(x, y) ? y : x);
}

#endif
