/*
 * Conversions of gfx950 with a scale, v_cvt_scalef32_*. A number is divided by the scale exactly, then every
 * code of the small format is tried: the nearest, of two the one with an even code. On the way back a code's
 * value is multiplied exactly. Stochastic rounding counts in units of single precision below the last place
 * of the format.
 */
#include <math.h>
#include <quadmath.h>
#include <string.h>

#include "tests/isa/ref/fp.h"

static const struct small {
	enum ref_mfma_type type;
	int n_mantissa, lowest; /* exponent of a normal number */
} fp8 = { REF_MFMA_FP8, 3, -6 }, bf8 = { REF_MFMA_BF8, 2, -14 }, fp6 = { REF_MFMA_FP6, 3, 0 },
  bf6 = { REF_MFMA_BF6, 2, -2 }, fp4 = { REF_MFMA_FP4, 1, 0 };

enum { SCALE_NAN = 255, SCALE_ONE = 127 };

static unsigned sign_bit(const struct small *f)
{
	return 1u << (ref_mfma_bits(f->type) - 1);
}

static quad code_value(const struct small *f, unsigned code)
{
	return ref_mfma_value(f->type, REF_GFX950, code);
}

static unsigned largest(const struct small *f)
{
	unsigned code = sign_bit(f) - 1;

	while (!finiteq(code_value(f, code)))
		code--;
	return code;
}

/* Formats without infinity or NaN have the largest number instead. */
static unsigned overflowed(const struct small *f, uint32_t mode)
{
	if (mode >> 23 & 1 || finiteq(code_value(f, sign_bit(f) - 1)))
		return largest(f);
	return f == &bf8 ? 0x7c : 0x7f;
}

static unsigned nearest(const struct small *f, quad v, uint32_t mode)
{
	unsigned best = 0, last = largest(f);
	quad top = code_value(f, last), step = top - code_value(f, last - 1);

	/* halfway to what would be the next number */
	if (v > top + step / 2 || (v == top + step / 2 && last % 2))
		return overflowed(f, mode);
	for (unsigned code = 1; code <= last; code++) {
		quad a = fabsq(code_value(f, best) - v), b = fabsq(code_value(f, code) - v);

		if (b < a || (b == a && code % 2 == 0))
			best = code;
	}
	return best;
}

static unsigned stochastic(const struct small *f, quad v, uint32_t random, uint32_t mode)
{
	int exponent = v == 0 ? f->lowest : ilogbq(v), spare = 23 - f->n_mantissa;
	quad sum;

	if (exponent < f->lowest)
		exponent = f->lowest;
	/* the top `spare` bits of the random number */
	sum = floorq(ldexpq(v, 23 - exponent)) + (random >> (32 - spare));
	sum = ldexpq(floorq(ldexpq(sum, -spare)), exponent - f->n_mantissa);
	return sum > code_value(f, largest(f)) ? overflowed(f, mode) : nearest(f, sum, mode);
}

/* A number of type `from`, as F32's bits. random: NULL, or stochastic. */
static uint32_t to_code(const struct small *f, uint32_t bits, uint32_t scale_bits,
			const uint32_t *random, uint32_t mode)
{
	int scale = scale_bits >> 23 & 0xff;
	uint32_t sign = bits >> 31 ? sign_bit(f) : 0;
	quad v = fabsq(fp_value(F32, bits));

	if (isnanq(v) || scale == SCALE_NAN)
		return sign | (sign_bit(f) - 1);
	if (isinfq(v))
		return sign | overflowed(f, mode);
	v = ldexpq(v, SCALE_ONE - scale);
	return sign | (random ? stochastic(f, v, *random, mode) : nearest(f, v, mode));
}

static uint32_t f16_bits(uint64_t half) /* as F32's */
{
	quad v = fp_value(F16, half & 0xffff);

	if (isnanq(v))
		return 0x7fc00000 | (half & 0x8000) << 16;
	return (uint32_t)(fp_rounded(F32, fabsq(v), ROUND_NEAREST) | (half & 0x8000) << 16);
}

static uint32_t bf16_bits(uint64_t half)
{
	return (uint32_t)(half & 0xffff) << 16;
}

static uint32_t from_code(const struct small *f, uint32_t code, uint32_t scale_bits)
{
	int scale = scale_bits >> 23 & 0xff;
	uint32_t sign = code & sign_bit(f) ? 0x80000000 : 0;
	quad v = code_value(f, code & (sign_bit(f) - 1));

	if (isnanq(v) || scale == SCALE_NAN)
		return sign | 0x7fc00000;
	return sign | (uint32_t)fp_rounded(F32, ldexpq(v, scale - SCALE_ONE), ROUND_NEAREST);
}

static uint32_t to_f16(uint32_t bits, uint32_t mode)
{
	uint64_t half;

	if (fp_is_nan(F32, bits))
		return 0x7e00 | bits >> 31 << 15;
	if (fp_is_inf(F32, bits) || fp_is_zero(F32, bits))
		return (fp_is_inf(F32, bits) ? 0x7c00 : 0) | bits >> 31 << 15;
	half = fp_rounded(F16, fp_value(F32, bits), fp_mode_round(F16, mode));
	return (uint32_t)fp_flush_out(F16, half, mode);
}

/* A number of four bits at most, so that bf16 rounds denormals only. */
static uint32_t to_bf16(uint32_t bits)
{
	uint32_t kept = bits >> 16, rest = bits & 0xffff;

	return (kept + (rest > 0x8000 || (rest == 0x8000 && kept % 2))) & 0xffff;
}

/* ---- where op_sel puts a result, and takes a source from ---- */

static uint64_t into(uint64_t old, unsigned at, unsigned n_bits, uint32_t v)
{
	for (unsigned b = 0; b < n_bits; b++) {
		old &= ~(1ull << (at + b));
		old |= (uint64_t)(v >> b & 1) << (at + b);
	}
	return old & UINT32_MAX;
}

static uint64_t into_half(in_t *in, uint32_t v)
{
	return into(in->d_old, in->op_sel & 8 ? 16 : 0, 16, v);
}

static uint64_t into_byte(in_t *in, uint32_t v)
{
	return into(in->d_old, (in->op_sel & 8 ? 16 : 0) + (in->op_sel & 4 ? 8 : 0), 8, v);
}

static uint32_t from_half(in_t *in)
{
	return (uint32_t)in->s[0] >> (in->op_sel & 1 ? 16 : 0);
}

static uint32_t from_byte(in_t *in)
{
	return (uint32_t)in->s[0] >> ((in->op_sel & 1 ? 8 : 0) + (in->op_sel & 2 ? 16 : 0));
}

/* ---- to eight and four bits ---- */

#define TO_8(f)                                                                                    \
	static void pk_##f##_f32(in_t *in, out_t *out)                                             \
	{                                                                                          \
		uint32_t lo = to_code(&f, (uint32_t)in->s[0], (uint32_t)in->s[2], NULL, in->mode); \
		uint32_t hi = to_code(&f, (uint32_t)in->s[1], (uint32_t)in->s[2], NULL, in->mode); \
                                                                                                   \
		out->d = into_half(in, lo | hi << 8);                                              \
	}                                                                                          \
	TO_8_OF(f, f16)                                                                            \
	TO_8_OF(f, bf16)                                                                           \
	TO_8_RANDOM(f, f32, (uint32_t)in->s[0])                                                    \
	TO_8_RANDOM(f, f16, f16_bits(in->s[0]))                                                    \
	TO_8_RANDOM(f, bf16, bf16_bits(in->s[0]))
#define TO_8_OF(f, t)                                                                              \
	static void pk_##f##_##t(in_t *in, out_t *out)                                             \
	{                                                                                          \
		uint32_t scale = (uint32_t)in->s[1];                                               \
		uint32_t lo = to_code(&f, t##_bits(in->s[0]), scale, NULL, in->mode);              \
		uint32_t hi = to_code(&f, t##_bits(in->s[0] >> 16), scale, NULL, in->mode);        \
                                                                                                   \
		out->d = into_half(in, lo | hi << 8);                                              \
	}
#define TO_8_RANDOM(f, t, number)                                                                  \
	static void sr_##f##_##t(in_t *in, out_t *out)                                             \
	{                                                                                          \
		uint32_t random = (uint32_t)in->s[1];                                              \
                                                                                                   \
		out->d =                                                                           \
			into_byte(in, to_code(&f, number, (uint32_t)in->s[2], &random, in->mode)); \
	}
TO_8(fp8)
TO_8(bf8)

#define TO_4(name, first, second, scale, is_random)                                                \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		uint32_t random = (uint32_t)in->s[1], *r = is_random ? &random : NULL;             \
		uint32_t lo = to_code(&fp4, first, (uint32_t)in->s[scale], r, in->mode);           \
		uint32_t hi = to_code(&fp4, second, (uint32_t)in->s[scale], r, in->mode);          \
                                                                                                   \
		out->d = into_byte(in, lo | hi << 4);                                              \
	}
TO_4(pk_fp4_f32, (uint32_t)in->s[0], (uint32_t)in->s[1], 2, false)
TO_4(sr_pk_fp4_f32, (uint32_t)in->s[0], (uint32_t)(in->s[0] >> 32), 2, true)
TO_4(pk_fp4_f16, f16_bits(in->s[0]), f16_bits(in->s[0] >> 16), 1, false)
TO_4(pk_fp4_bf16, bf16_bits(in->s[0]), bf16_bits(in->s[0] >> 16), 1, false)
TO_4(sr_pk_fp4_f16, f16_bits(in->s[0]), f16_bits(in->s[0] >> 16), 2, true)
TO_4(sr_pk_fp4_bf16, bf16_bits(in->s[0]), bf16_bits(in->s[0] >> 16), 2, true)

/* ---- from eight and four bits ---- */

#define FROM_PAIR(f, part, bits)                                                                   \
	static void pk_f32_##f(in_t *in, out_t *out)                                               \
	{                                                                                          \
		uint32_t codes = part(in), scale = (uint32_t)in->s[1];                             \
                                                                                                   \
		out->d = from_code(&f, codes, scale) |                                             \
			 (uint64_t)from_code(&f, codes >> (bits), scale) << 32;                    \
	}                                                                                          \
	static void pk_f16_##f(in_t *in, out_t *out)                                               \
	{                                                                                          \
		uint32_t codes = part(in), scale = (uint32_t)in->s[1];                             \
                                                                                                   \
		out->d = to_f16(from_code(&f, codes, scale), in->mode) |                           \
			 to_f16(from_code(&f, codes >> (bits), scale), in->mode) << 16;            \
	}                                                                                          \
	static void pk_bf16_##f(in_t *in, out_t *out)                                              \
	{                                                                                          \
		uint32_t codes = part(in), scale = (uint32_t)in->s[1];                             \
                                                                                                   \
		out->d = to_bf16(from_code(&f, codes, scale)) |                                    \
			 to_bf16(from_code(&f, codes >> (bits), scale)) << 16;                     \
	}
FROM_PAIR(fp8, from_half, 8)
FROM_PAIR(bf8, from_half, 8)
FROM_PAIR(fp4, from_byte, 4)

#define FROM_ONE(f)                                                                                \
	static void f32_##f(in_t *in, out_t *out)                                                  \
	{                                                                                          \
		out->d = from_code(&f, from_byte(in), (uint32_t)in->s[1]);                         \
	}                                                                                          \
	static void f16_##f(in_t *in, out_t *out)                                                  \
	{                                                                                          \
		out->d = to_f16(from_code(&f, from_byte(in), (uint32_t)in->s[1]), in->mode);       \
	}
FROM_ONE(fp8)
FROM_ONE(bf8)

#define BITS "which bits of the random number count"
/* clang-format off */
const struct ref_row ref_scaled_rows[] = {
	{ "v_cvt_scalef32_pk_fp8_f32", pk_fp8_f32, REF_INT },
	{ "v_cvt_scalef32_pk_bf8_f32", pk_bf8_f32, REF_INT },
	{ "v_cvt_scalef32_sr_fp8_f32", sr_fp8_f32, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_sr_bf8_f32", sr_bf8_f32, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_pk_f32_fp8", pk_f32_fp8, REF_V2F32, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_f32_bf8", pk_f32_bf8, REF_V2F32, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_f32_fp8", f32_fp8, REF_F32, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_f32_bf8", f32_bf8, REF_F32, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_fp4_f32", pk_fp4_f32, REF_INT },
	{ "v_cvt_scalef32_sr_pk_fp4_f32", sr_pk_fp4_f32, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_pk_f32_fp4", pk_f32_fp4, REF_V2F32, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_fp8_f16", pk_fp8_f16, REF_INT },
	{ "v_cvt_scalef32_pk_bf8_f16", pk_bf8_f16, REF_INT },
	{ "v_cvt_scalef32_sr_fp8_f16", sr_fp8_f16, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_sr_bf8_f16", sr_bf8_f16, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_pk_fp8_bf16", pk_fp8_bf16, REF_INT },
	{ "v_cvt_scalef32_pk_bf8_bf16", pk_bf8_bf16, REF_INT },
	{ "v_cvt_scalef32_sr_fp8_bf16", sr_fp8_bf16, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_sr_bf8_bf16", sr_bf8_bf16, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_pk_f16_fp8", pk_f16_fp8, REF_V2F16, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_f16_bf8", pk_f16_bf8, REF_V2F16, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_f16_fp8", f16_fp8, REF_F16, 0, REF_D16_KEEP | REF_NO_OMOD },
	{ "v_cvt_scalef32_f16_bf8", f16_bf8, REF_F16, 0, REF_D16_KEEP | REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_fp4_f16", pk_fp4_f16, REF_INT },
	{ "v_cvt_scalef32_pk_fp4_bf16", pk_fp4_bf16, REF_INT },
	{ "v_cvt_scalef32_sr_pk_fp4_f16", sr_pk_fp4_f16, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_sr_pk_fp4_bf16", sr_pk_fp4_bf16, REF_INT, 0, 0, BITS },
	{ "v_cvt_scalef32_pk_f16_fp4", pk_f16_fp4, REF_V2F16, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_bf16_fp4", pk_bf16_fp4, REF_INT, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_bf16_fp8", pk_bf16_fp8, REF_INT, 0, REF_NO_OMOD },
	{ "v_cvt_scalef32_pk_bf16_bf8", pk_bf16_bf8, REF_INT, 0, REF_NO_OMOD },
	{ 0 },
};

/* ---- 32 numbers of six bits ---- */

static const struct ref_pk32 pk32_rows[] = {
	{ "v_cvt_scalef32_2xpk16_fp6_f32", REF_MFMA_FP6, REF_MFMA_F32, REF_PK32_INTERLEAVED },
	{ "v_cvt_scalef32_2xpk16_bf6_f32", REF_MFMA_BF6, REF_MFMA_F32, REF_PK32_INTERLEAVED },
	{ "v_cvt_scalef32_sr_pk32_fp6_f32", REF_MFMA_FP6, REF_MFMA_F32, REF_PK32_RANDOM },
	{ "v_cvt_scalef32_sr_pk32_bf6_f32", REF_MFMA_BF6, REF_MFMA_F32, REF_PK32_RANDOM },
	{ "v_cvt_scalef32_pk32_f32_fp6", REF_MFMA_FP6, REF_MFMA_F32, REF_PK32_FROM },
	{ "v_cvt_scalef32_pk32_f32_bf6", REF_MFMA_BF6, REF_MFMA_F32, REF_PK32_FROM },
	{ "v_cvt_scalef32_pk32_fp6_f16", REF_MFMA_FP6, REF_MFMA_F16, REF_PK32_NEAREST },
	{ "v_cvt_scalef32_pk32_fp6_bf16", REF_MFMA_FP6, REF_MFMA_BF16, REF_PK32_NEAREST },
	{ "v_cvt_scalef32_pk32_bf6_f16", REF_MFMA_BF6, REF_MFMA_F16, REF_PK32_NEAREST },
	{ "v_cvt_scalef32_pk32_bf6_bf16", REF_MFMA_BF6, REF_MFMA_BF16, REF_PK32_NEAREST },
	{ "v_cvt_scalef32_sr_pk32_fp6_f16", REF_MFMA_FP6, REF_MFMA_F16, REF_PK32_RANDOM },
	{ "v_cvt_scalef32_sr_pk32_fp6_bf16", REF_MFMA_FP6, REF_MFMA_BF16, REF_PK32_RANDOM },
	{ "v_cvt_scalef32_sr_pk32_bf6_f16", REF_MFMA_BF6, REF_MFMA_F16, REF_PK32_RANDOM },
	{ "v_cvt_scalef32_sr_pk32_bf6_bf16", REF_MFMA_BF6, REF_MFMA_BF16, REF_PK32_RANDOM },
	{ "v_cvt_scalef32_pk32_f16_fp6", REF_MFMA_FP6, REF_MFMA_F16, REF_PK32_FROM },
	{ "v_cvt_scalef32_pk32_bf16_fp6", REF_MFMA_FP6, REF_MFMA_BF16, REF_PK32_FROM },
	{ "v_cvt_scalef32_pk32_f16_bf6", REF_MFMA_BF6, REF_MFMA_F16, REF_PK32_FROM },
	{ "v_cvt_scalef32_pk32_bf16_bf6", REF_MFMA_BF6, REF_MFMA_BF16, REF_PK32_FROM },
};
/* clang-format on */

const struct ref_pk32 *ref_pk32_find(const char *mnemonic)
{
	for (size_t i = 0; i < sizeof(pk32_rows) / sizeof(pk32_rows[0]); i++)
		if (strcmp(pk32_rows[i].mnemonic, mnemonic) == 0)
			return &pk32_rows[i];
	return NULL;
}

/* Number n of a lane's source, as F32's bits. */
static uint32_t pk32_number(const struct ref_pk32 *op, const struct ref_pk32_in *in, unsigned n)
{
	if (op->kind == REF_PK32_INTERLEAVED)
		return n % 2 ? in->s1[n / 2] : in->s0[n / 2];
	if (op->number == REF_MFMA_F32)
		return in->s0[n];
	return op->number == REF_MFMA_F16 ? f16_bits(in->s0[n / 2] >> n % 2 * 16)
					  : bf16_bits(in->s0[n / 2] >> n % 2 * 16);
}

void ref_pk32_run(const struct ref_pk32 *op, const struct ref_pk32_in *in, uint32_t *d)
{
	const struct small *f = op->code == REF_MFMA_FP6 ? &fp6 : &bf6;

	memset(d, 0, 32 * sizeof(*d));
	for (unsigned n = 0; n < 32; n++) {
		uint32_t code = 0, v;

		if (op->kind != REF_PK32_FROM) {
			code = to_code(f, pk32_number(op, in, n), in->scale,
				       op->kind == REF_PK32_RANDOM ? &in->random : NULL, in->mode);
			for (unsigned b = 0; b < 6; b++)
				d[(6 * n + b) / 32] |= (code >> b & 1) << (6 * n + b) % 32;
			continue;
		}
		for (unsigned b = 0; b < 6; b++)
			code |= (in->s0[(6 * n + b) / 32] >> (6 * n + b) % 32 & 1) << b;
		v = from_code(f, code, in->scale);
		if (op->number == REF_MFMA_F32)
			d[n] = v;
		else
			d[n / 2] |= (op->number == REF_MFMA_F16 ? to_f16(v, in->mode) : to_bf16(v))
				    << n % 2 * 16;
	}
}
