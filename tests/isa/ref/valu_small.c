/*
 * Floats of 8 bits and what else came with gfx942 and gfx950. A conversion to 8 bits tries every code:
 * the nearest number, of two the one with an even code; stochastic rounding counts in units of the
 * last place of the format.
 */
#include "tests/isa/ref/fp.h"

#include <quadmath.h>

struct tiny {
	int n_exponent, n_mantissa, bias;
	bool has_infinity, is_fnuz;
};

static const struct tiny fp8_fnuz = { 4, 3, 8, false, true }, bf8_fnuz = { 5, 2, 16, false, true };
static const struct tiny fp8_ocp = { 4, 3, 7, false, false }, bf8_ocp = { 5, 2, 15, true, false };

static const struct tiny *fp8(in_t *in)
{
	return in->target == REF_GFX942 ? &fp8_fnuz : &fp8_ocp;
}

static const struct tiny *bf8(in_t *in)
{
	return in->target == REF_GFX942 ? &bf8_fnuz : &bf8_ocp;
}

/* A code without sign: its value, infinite for infinity and NaN for NaN. */
static quad tiny_value(const struct tiny *t, unsigned code)
{
	int exponent = (int)code >> t->n_mantissa, mantissa = (int)code % (1 << t->n_mantissa);

	if (t->has_infinity && exponent == (1 << t->n_exponent) - 1)
		return mantissa ? nanq("") : HUGE_VALQ;
	if (!t->has_infinity && !t->is_fnuz && code == 0x7f)
		return nanq("");
	if (exponent == 0)
		return ldexpq(mantissa, 1 - t->bias - t->n_mantissa);
	return ldexpq(1 + ldexpq(mantissa, -t->n_mantissa), exponent - t->bias);
}

static uint32_t decoded(const struct tiny *t, uint32_t byte)
{
	quad v = tiny_value(t, byte & 0x7f);

	if (isnanq(v) || (t->is_fnuz && (byte & 0xff) == 0x80))
		return 0x7fc00000;
	return (uint32_t)fp_rounded(F32, byte & 0x80 ? -v : v, ROUND_NEAREST);
}

static unsigned largest(const struct tiny *t)
{
	unsigned code = 0x7f;

	while (!finiteq(tiny_value(t, code)))
		code--;
	return code;
}

static uint32_t overflowed(const struct tiny *t, bool negative, bool saturate)
{
	if (saturate)
		return largest(t) | (negative ? 0x80 : 0);
	if (t->is_fnuz)
		return 0x80;
	return (t->has_infinity ? 0x7c : 0x7f) | (negative ? 0x80 : 0);
}

static uint32_t with_sign(const struct tiny *t, unsigned code, bool negative)
{
	return code | (negative && !(t->is_fnuz && code == 0) ? 0x80 : 0);
}

static uint32_t nearest(const struct tiny *t, uint32_t bits, uint32_t mode)
{
	bool negative = bits >> 31, saturate = mode >> 23 & 1;
	quad v = fabsq(fp_value(F32, bits)), top = tiny_value(t, largest(t)), step;
	unsigned best = 0;

	if (isnanq(v))
		return t->is_fnuz ? 0x80 : 0x7f | (negative ? 0x80 : 0);
	step = top - tiny_value(t, largest(t) - 1);
	if (v > top + step / 2 || (v == top + step / 2 && largest(t) % 2))
		return overflowed(t, negative, saturate);
	for (unsigned code = 1; code <= largest(t); code++) {
		quad a = fabsq(tiny_value(t, best) - v), b = fabsq(tiny_value(t, code) - v);

		if (b < a || (b == a && code % 2 == 0))
			best = code;
	}
	return with_sign(t, best, negative);
}

/* The number in units of the format's last place, with the bits of f32 behind it; then + random. */
static uint32_t stochastic(const struct tiny *t, uint32_t bits, uint32_t random, uint32_t mode)
{
	bool negative = bits >> 31, saturate = mode >> 23 & 1;
	quad v = fabsq(fp_value(F32, bits)), fine, sum;
	int exponent, spare = 23 - t->n_mantissa;

	if (isnanq(v))
		return t->is_fnuz ? 0x80 : 0x7f | (negative ? 0x80 : 0);
	if (isinfq(v))
		return overflowed(t, negative, saturate);
	exponent = v == 0 ? -200 : ilogbq(v);
	if (exponent < 1 - t->bias)
		exponent = 1 - t->bias;
	fine = floorq(ldexpq(v, spare + t->n_mantissa - exponent)) + random % (1u << spare);
	sum = ldexpq(floorq(ldexpq(fine, -spare)), exponent - t->n_mantissa);
	if (sum > tiny_value(t, largest(t)))
		return overflowed(t, negative, saturate);
	return nearest(t, (uint32_t)fp_rounded(F32, negative ? -sum : sum, ROUND_NEAREST), mode);
}

#define DECODE(name)                                                                               \
	static void f32_##name(in_t *in, out_t *out)                                               \
	{                                                                                          \
		out->d = decoded(name(in), (uint32_t)in->s[0]);                                    \
	}                                                                                          \
	static void pk_f32_##name(in_t *in, out_t *out)                                            \
	{                                                                                          \
		uint32_t pair = (uint32_t)in->s[0];                                                \
                                                                                                   \
		out->d = decoded(name(in), pair) | (uint64_t)decoded(name(in), pair >> 8) << 32;   \
	}
DECODE(fp8)
DECODE(bf8)

/* op_sel bit 3: which half of the register; the other stays. */
static uint64_t into_half(in_t *in, uint32_t half)
{
	uint32_t old = (uint32_t)in->d_old;

	return in->op_sel & 8 ? (old & 0xffff) | half << 16 : (old & 0xffff0000) | (half & 0xffff);
}

static uint64_t into_byte(in_t *in, uint32_t byte) /* op_sel bits 2 and 3: which one */
{
	uint32_t out = (uint32_t)in->d_old;
	unsigned at = (in->op_sel & 4 ? 8 : 0) + (in->op_sel & 8 ? 16 : 0);

	for (unsigned b = 0; b < 8; b++) {
		out &= ~(1u << (at + b));
		out |= (byte >> b & 1) << (at + b);
	}
	return out;
}

#define ENCODE(name)                                                                               \
	static void pk_##name##_f32(in_t *in, out_t *out)                                          \
	{                                                                                          \
		uint32_t lo = nearest(name(in), (uint32_t)in->s[0], in->mode);                     \
		uint32_t hi = nearest(name(in), (uint32_t)in->s[1], in->mode);                     \
                                                                                                   \
		out->d = into_half(in, lo | hi << 8);                                              \
	}                                                                                          \
	static void sr_##name##_f32(in_t *in, out_t *out)                                          \
	{                                                                                          \
		out->d = into_byte(in, stochastic(name(in), (uint32_t)in->s[0],                    \
						  (uint32_t)in->s[1], in->mode));                  \
	}
ENCODE(fp8)
ENCODE(bf8)

/* --- 16 bits ----------------------------------------------------------------------------------- */

static void f32_bf16(in_t *in, out_t *out)
{
	out->d = (in->s[0] & 0xffff) << 16;
}

static uint32_t to_bf16(uint32_t bits)
{
	quad v = fp_value(F32, bits), low, step;
	uint32_t kept = bits >> 16;

	if (isnanq(v))
		return kept | 0x40;
	if (isinfq(v))
		return kept;
	low = fp_value(F32, (uint64_t)kept << 16);
	/* the distance to the next bf16 away from zero; infinity is as far as a number would be */
	step = ldexpq(1, (int)(kept >> 7 & 0xff ? (kept >> 7 & 0xff) : 1) - 127 - 7);
	if (fabsq(v) - fabsq(low) > step / 2 || (fabsq(v) - fabsq(low) == step / 2 && kept % 2))
		kept++;
	return kept & 0xffff;
}

static void pk_bf16_f32(in_t *in, out_t *out)
{
	out->d = to_bf16((uint32_t)in->s[0]) | (uint64_t)to_bf16((uint32_t)in->s[1]) << 16;
}

static void pk_f16_f32(in_t *in, out_t *out)
{
	enum fp_round round = fp_mode_round(F16, in->mode);

	out->d = fp_convert(F16, F32, in->s[0], round, in->mode) |
		 fp_convert(F16, F32, in->s[1], round, in->mode) << 16;
}

/* Cuts n bits off after adding random ones; below the normal numbers of f16 the bits move first. */
static void sr_f16_f32(in_t *in, out_t *out)
{
	static const struct tiny f16 = { 5, 10, 15, true, false };
	uint32_t bits = (uint32_t)in->s[0];
	quad v = fabsq(fp_value(F32, bits)), fine;
	uint32_t code, sign = bits >> 31 << 15;
	int exponent = v == 0 || !finiteq(v) ? -200 : ilogbq(v);

	if (exponent < 1 - f16.bias)
		exponent = 1 - f16.bias;
	if (isnanq(v)) {
		code = 0x7fff;
	} else if (isinfq(v)) {
		code = in->mode >> 23 & 1 ? 0x7bff : 0x7c00;
	} else {
		fine = floorq(ldexpq(v, 23 - exponent)) + (uint32_t)in->s[1] % (1u << 13);
		fine = ldexpq(floorq(ldexpq(fine, -13)), exponent - 10);
		code = fine >= 65536 ? (in->mode >> 23 & 1 ? 0x7bff : 0x7c00)
				     : (uint32_t)fp_rounded(F16, fine, ROUND_ZERO);
	}
	out->d = into_half(in, code | sign);
}

static void sr_bf16_f32(in_t *in, out_t *out)
{
	uint32_t bits = (uint32_t)in->s[0], random = (uint32_t)in->s[1] % (1u << 16);

	if ((bits & 0x7fffffff) > 0x7f800000)
		out->d = into_half(in, bits >> 16 | 0x7fff);
	else if ((bits & 0x7fffffff) == 0x7f800000)
		out->d = into_half(in, bits >> 16);
	else
		out->d = into_half(in, (bits + random) >> 16);
}

static uint64_t least(enum fp_format f, uint64_t a, uint64_t b, bool greatest, uint32_t mode)
{
	quad x, y;

	a = fp_flush_in(f, a, mode);
	b = fp_flush_in(f, b, mode);
	if (fp_is_nan(f, a) || fp_is_nan(f, b))
		return fp_nan(f);
	x = fp_value(f, a);
	y = fp_value(f, b);
	if (x == y)
		return fp_sign(f, a) != greatest ? a : b;
	return (x < y) != greatest ? a : b;
}

#define LEAST3(name, f, greatest)                                                                  \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		uint64_t d = least(f, in->s[0], in->s[1], greatest, in->mode);                     \
                                                                                                   \
		d = least(f, d, in->s[2], greatest, in->mode);                                     \
		out->d = fp_flush_out(f, d, in->mode);                                             \
	}
LEAST3(minimum3_f32, F32, false)
LEAST3(maximum3_f32, F32, true)
LEAST3(minimum3_f16, F16, false)
LEAST3(maximum3_f16, F16, true)

/* --- integers ---------------------------------------------------------------------------------- */

/* x^32 + x^7 + x^6 + x^2 + 1, one step to the left. */
static void prng(in_t *in, out_t *out)
{
	uint32_t v = (uint32_t)in->s[0], next = 0;

	for (unsigned bit = 1; bit < 32; bit++)
		next |= (v >> (bit - 1) & 1) << bit;
	if (v >> 31)
		next ^= 1u << 7 | 1u << 6 | 1u << 2 | 1u << 0;
	out->d = next;
}

static uint32_t saturated(int64_t v, uint64_t by, int64_t low, int64_t high)
{
	int64_t shifted = (int64_t)floorq(ldexpq((quad)v, -(int)(by % 32)));

	return (uint32_t)(shifted < low ? low : shifted > high ? high : shifted) & 0xff;
}

#define ASHR_PK(name, low, high)                                                                   \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		uint32_t lo = saturated((int32_t)in->s[0], in->s[2], low, high);                   \
		uint32_t hi = saturated((int32_t)in->s[1], in->s[2], low, high);                   \
                                                                                                   \
		out->d = into_half(in, lo | hi << 8);                                              \
	}
ASHR_PK(ashr_pk_i8, -128, 127)
ASHR_PK(ashr_pk_u8, 0, 255)

/* --- dot products ------------------------------------------------------------------------------ */

static void dot2_bf16(in_t *in, out_t *out, uint64_t acc)
{
	quad sum = fp_value(F32, acc), size = fabsq(sum);

	for (unsigned half = 0; half < 2; half++) {
		quad product = 1;

		for (unsigned k = 0; k < 2; k++) {
			bool high = (half ? in->op_sel_hi : in->op_sel) >> k & 1;
			bool neg = (half ? in->neg_hi : in->neg_lo) >> k & 1;
			uint64_t x = in->s[k] >> (high ? 16 : 0) & 0xffff;

			product *= fp_value(F32, (neg ? x ^ 0x8000 : x) << 16);
		}
		sum += product;
		size += fabsq(product);
	}
	out->d = fp_rounded(F32, sum, ROUND_NEAREST);
	/* a partial sum may be infinite where the whole is not */
	out->skip = size > 0x1p127Q || isnanq(size);
	out->slack = (double)(size * 0x1p-22Q) + 0x1p-125;
	if (in->clamp)
		out->d = ref_dst_mod(32, out->d, 0, true, in->mode);
}

static void dot2_f32_bf16(in_t *in, out_t *out)
{
	uint64_t acc = in->s[2] & UINT32_MAX;

	dot2_bf16(in, out, in->neg_lo & 4 ? acc ^ 0x80000000 : acc);
	if (in->neg_hi & 4) /* src2 is a single f32: neg_hi is its abs */
		out->skip = true;
}

static void dot2c_f32_bf16(in_t *in, out_t *out)
{
	dot2_bf16(in, out, in->d_old & UINT32_MAX);
}

/* clang-format off */
const struct ref_row ref_small_rows[] = {
	{ "v_cvt_f32_fp8", f32_fp8, REF_F32 },
	{ "v_cvt_f32_bf8", f32_bf8, REF_F32 },
	{ "v_cvt_pk_f32_fp8", pk_f32_fp8, REF_V2F32, 0, REF_NO_OMOD },
	{ "v_cvt_pk_f32_bf8", pk_f32_bf8, REF_V2F32, 0, REF_NO_OMOD },
	{ "v_cvt_pk_fp8_f32", pk_fp8_f32, REF_INT },
	{ "v_cvt_pk_bf8_f32", pk_bf8_f32, REF_INT },
	{ "v_cvt_sr_fp8_f32", sr_fp8_f32, REF_INT, 0, 0, "which bits of the random number count" },
	{ "v_cvt_sr_bf8_f32", sr_bf8_f32, REF_INT, 0, 0, "which bits of the random number count" },
	{ "v_cvt_f32_bf16", f32_bf16, REF_F32, 0, REF_ANY_NAN },
	{ "v_cvt_pk_f16_f32", pk_f16_f32, REF_V2F16, 0, REF_NO_OMOD },
	{ "v_cvt_pk_bf16_f32", pk_bf16_f32, REF_INT, 0, REF_NO_OMOD },
	{ "v_cvt_sr_f16_f32", sr_f16_f32, REF_INT, 0, 0, "which bits of the random number count" },
	{ "v_cvt_sr_bf16_f32", sr_bf16_f32, REF_INT, 0, 0, "which bits of the random number count" },
	{ "v_minimum3_f32", minimum3_f32, REF_F32 },
	{ "v_maximum3_f32", maximum3_f32, REF_F32 },
	{ "v_pk_minimum3_f16", minimum3_f16, REF_V2F16, 0, REF_PK16 },
	{ "v_pk_maximum3_f16", maximum3_f16, REF_V2F16, 0, REF_PK16 },
	{ "v_prng_b32", prng, REF_INT },
	{ "v_ashr_pk_i8_i32", ashr_pk_i8, REF_INT },
	{ "v_ashr_pk_u8_i32", ashr_pk_u8, REF_INT },
	{ "v_dot2_f32_bf16", dot2_f32_bf16, REF_F32, 0, REF_SLACK | REF_NO_OMOD, "order of the sum" },
	{ "v_dot2c_f32_bf16", dot2c_f32_bf16, REF_F32, 0, REF_SLACK | REF_NO_OMOD, "order of the sum" },
	{ 0 },
};
/* clang-format on */
