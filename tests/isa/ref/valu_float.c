/* Floating-point arithmetic of one lane: VOP1, VOP2, VOP3. */
#include "tests/isa/ref/fp.h"

#include <math.h>
#include <quadmath.h>

/* --- add, multiply, fused and unfused multiply-add --------------------------------------------- */

static void add(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_add(f, in->s[0], in->s[1], in->mode);
}

static void sub(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_add(f, in->s[0], fp_negate(f, in->s[1]), in->mode);
}

static void subrev(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_add(f, in->s[1], fp_negate(f, in->s[0]), in->mode);
}

static void mul(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_mul(f, in->s[0], in->s[1], in->mode);
}

static void fma3(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_fma(f, in->s[0], in->s[1], in->s[2], in->mode);
}

static void fmac(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_fma(f, in->s[0], in->s[1], in->d_old, in->mode);
}

/*
 * The multiply-add that is not fused rounds twice and has no denormals at all, whatever MODE says:
 * the manual lists "round mode, exception flags, saturation" for it, without "denormals".
 */
static uint64_t unfused(enum fp_format f, uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
	uint32_t flush = FP_MODE_FLUSH_ALL(mode);

	return fp_add(f, fp_mul(f, a, b, flush), c, flush);
}

static void mad(enum fp_format f, in_t *in, out_t *out)
{
	out->d = unfused(f, in->s[0], in->s[1], in->s[2], in->mode);
}

static void mac(enum fp_format f, in_t *in, out_t *out)
{
	out->d = unfused(f, in->s[0], in->s[1], in->d_old, in->mode);
}

static void madmk(enum fp_format f, in_t *in, out_t *out) /* s[2] is the literal */
{
	out->d = unfused(f, in->s[0], in->s[2], in->s[1], in->mode);
}

static void fmamk_f32(in_t *in, out_t *out) /* s[2] is the literal */
{
	out->d = fp_fma(F32, in->s[0], in->s[2], in->s[1], in->mode);
}

/* DX9: zero times anything is zero. The sign of that zero is not documented. */
static uint64_t mul_dx9(uint64_t a, uint64_t b, uint32_t mode, bool signed_zero)
{
	a = fp_flush_in(F32, a, mode);
	b = fp_flush_in(F32, b, mode);
	if (fp_is_zero(F32, a) || fp_is_zero(F32, b))
		return fp_signed_zero(F32, signed_zero && fp_sign(F32, a) != fp_sign(F32, b));
	return fp_mul(F32, a, b, mode);
}

static void mul_legacy(in_t *in, out_t *out)
{
	out->d = mul_dx9(in->s[0], in->s[1], in->mode, false);
	out->alt = mul_dx9(in->s[0], in->s[1], in->mode, true);
	out->has_alt = true;
}

static void mad_legacy(in_t *in, out_t *out)
{
	uint32_t flush = FP_MODE_FLUSH_ALL(in->mode);

	out->d = fp_add(F32, mul_dx9(in->s[0], in->s[1], flush, false), in->s[2], flush);
	out->alt = fp_add(F32, mul_dx9(in->s[0], in->s[1], flush, true), in->s[2], flush);
	out->has_alt = true;
}

FOR_FORMATS(add)
FOR_FORMATS(sub)
FOR_FORMATS(subrev)
FOR_FORMATS(mul)
FOR_FORMATS(fma3)
FOR_FORMATS(fmac)
FOR_FORMATS(mad)
FOR_FORMATS(mac)
FOR_FORMATS(madmk)

/* --- minimum, maximum, median ------------------------------------------------------------------ */

static void min2(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_min(f, in->s[0], in->s[1], in->mode);
}

static void max2(enum fp_format f, in_t *in, out_t *out)
{
	out->d = fp_max2(f, in->s[0], in->s[1], in->mode);
}

static uint64_t min_of_3(enum fp_format f, in_t *in)
{
	return fp_min(f, fp_min(f, in->s[0], in->s[1], in->mode), in->s[2], in->mode);
}

static uint64_t max_of_3(enum fp_format f, in_t *in)
{
	return fp_max2(f, fp_max2(f, in->s[0], in->s[1], in->mode), in->s[2], in->mode);
}

static void min3(enum fp_format f, in_t *in, out_t *out)
{
	out->d = min_of_3(f, in);
}
static void max3(enum fp_format f, in_t *in, out_t *out)
{
	out->d = max_of_3(f, in);
}

static void med3(enum fp_format f, in_t *in, out_t *out)
{
	uint64_t a = fp_flush_in(f, in->s[0], in->mode), b = fp_flush_in(f, in->s[1], in->mode);
	uint64_t c = fp_flush_in(f, in->s[2], in->mode);
	quad max;

	if (fp_is_nan(f, a) || fp_is_nan(f, b) || fp_is_nan(f, c)) {
		out->d = min_of_3(f, in);
		return;
	}
	max = fmaxq(fmaxq(fp_value(f, a), fp_value(f, b)), fp_value(f, c));
	/* The manual compares values, so -0 and +0 are one maximum: which one is dropped may differ. */
	if (max == fp_value(f, a))
		out->d = fp_max2(f, b, c, in->mode);
	else if (max == fp_value(f, b))
		out->d = fp_max2(f, a, c, in->mode);
	else
		out->d = fp_max2(f, a, b, in->mode);
	if (fp_is_zero(f, out->d)) {
		out->alt = fp_negate(f, out->d);
		out->has_alt = true;
	}
}

FOR_FORMATS(min2)
FOR_FORMATS(max2)
FOR_FORMATS(min3)
FOR_FORMATS(max3)
FOR_FORMATS(med3)

/* --- rounding to integers, fractions, exponents ------------------------------------------------ */

typedef quad integral_fn(quad);

static void integral(enum fp_format f, in_t *in, out_t *out, integral_fn *fn)
{
	uint64_t x = fp_flush_in(f, in->s[0], in->mode);
	quad v;

	if (fp_is_nan(f, x) || fp_is_inf(f, x)) {
		out->d = fp_is_nan(f, x) ? fp_quiet(f, x) : x;
		return;
	}
	v = fn(fp_value(f, x));
	out->d = fp_rounded(f, v == 0 ? copysignq(0, fp_value(f, x)) : v, ROUND_NEAREST);
}

static quad nearest_even(quad v)
{
	quad low = floorq(v), rest = v - low;

	if (rest != 0.5Q)
		return rest < 0.5Q ? low : low + 1;
	return fmodq(low, 2) == 0 ? low : low + 1;
}

static void trunc1(enum fp_format f, in_t *in, out_t *out)
{
	integral(f, in, out, truncq);
}
static void ceil1(enum fp_format f, in_t *in, out_t *out)
{
	integral(f, in, out, ceilq);
}
static void floor1(enum fp_format f, in_t *in, out_t *out)
{
	integral(f, in, out, floorq);
}
static void rndne(enum fp_format f, in_t *in, out_t *out)
{
	integral(f, in, out, nearest_even);
}

static void fract(enum fp_format f, in_t *in, out_t *out)
{
	uint64_t x = fp_flush_in(f, in->s[0], in->mode), below_one = fp_one(f) - 1;
	quad v = fp_value(f, x), low;

	if (fp_is_nan(f, x) || fp_is_inf(f, x)) { /* inf - inf */
		out->d = fp_nan(f);
		return;
	}
	low = floorq(v);
	out->d = fp_flush_out(f,
			      fp_rounded(f, fp_add_odd(v, -low, fp_mode_round(f, in->mode)),
					 fp_mode_round(f, in->mode)),
			      in->mode);
	if (out->d >= fp_one(f) && !fp_sign(f, out->d)) /* a tiny negative number rounds to 1 */
		out->d = below_one;
	if (v == low) { /* the sign of an exact zero is that of x - x, or x's own */
		out->has_alt = true;
		out->alt = fp_negate(f, out->d);
	}
}

static uint64_t mantissa_of(enum fp_format f, uint64_t x)
{
	int e;

	if (fp_is_nan(f, x))
		return fp_quiet(f, x);
	if (fp_is_inf(f, x) || fp_is_zero(f, x))
		return x;
	return fp_rounded(f, frexpq(fp_value(f, x), &e), ROUND_NEAREST);
}

static uint64_t exponent_of(enum fp_format f, uint64_t x)
{
	int e = 0;

	if (!fp_is_nan(f, x) && !fp_is_inf(f, x) && !fp_is_zero(f, x))
		frexpq(fp_value(f, x), &e);
	return f == F16 ? (uint16_t)e : (uint32_t)e;
}

static void frexp_mant(enum fp_format f, in_t *in, out_t *out)
{
	out->d = mantissa_of(f, fp_flush_in(f, in->s[0], in->mode));
}

static void frexp_exp(enum fp_format f, in_t *in, out_t *out)
{
	out->d = exponent_of(f, fp_flush_in(f, in->s[0], in->mode));
}

static void ldexp_f16(in_t *in, out_t *out)
{
	out->d = fp_scale(F16, in->s[0], (int16_t)in->s[1], in->mode);
}

static void ldexp_f32(in_t *in, out_t *out)
{
	out->d = fp_scale(F32, in->s[0], (int32_t)in->s[1], in->mode);
}

static void ldexp_f64(in_t *in, out_t *out)
{
	out->d = fp_scale(F64, in->s[0], (int32_t)in->s[1], in->mode);
}

FOR_FORMATS(trunc1)
FOR_FORMATS(ceil1)
FOR_FORMATS(floor1)
FOR_FORMATS(rndne)
FOR_FORMATS(fract)
FOR_FORMATS(frexp_mant)
FOR_FORMATS(frexp_exp)

/* --- the approximating unit: compared within the row's tolerance ------------------------------- */

static void approximate(enum fp_format f, in_t *in, out_t *out, quad (*fn)(quad))
{
	quad v = fp_value(f, fp_flush_in(f, in->s[0], in->mode));

	out->d = fp_flush_out(f, fp_rounded(f, fn(v), ROUND_NEAREST), in->mode);
}

static quad q_rcp(quad v)
{
	return 1 / v;
}
static quad q_rsq(quad v)
{
	return v == 0 ? 1 / v : 1 / sqrtq(v);
} /* sign of zero stays */
static quad q_exp2(quad v)
{
	return v > 20000 ? HUGE_VALQ : v < -20000 ? 0 : exp2q(v);
}
static quad q_log2(quad v)
{
	return log2q(v);
}

static void rcp(enum fp_format f, in_t *in, out_t *out)
{
	approximate(f, in, out, q_rcp);
}
static void rsq(enum fp_format f, in_t *in, out_t *out)
{
	approximate(f, in, out, q_rsq);
}
static void sqrt1(enum fp_format f, in_t *in, out_t *out)
{
	approximate(f, in, out, sqrtq);
}
static void exp2_1(enum fp_format f, in_t *in, out_t *out)
{
	approximate(f, in, out, q_exp2);
}
static void log2_1(enum fp_format f, in_t *in, out_t *out)
{
	approximate(f, in, out, q_log2);
}

/* Input in revolutions. Beyond +-256 the manual promises 0 (sin) and 1 (cos); accurate is as good. */
static void turn(enum fp_format f, in_t *in, out_t *out, quad (*fn)(quad), uint64_t out_of_range)
{
	uint64_t x = fp_flush_in(f, in->s[0], in->mode);
	quad v = fp_value(f, x), part;

	if (isnanq(v) || isinfq(v)) {
		out->d = fp_nan(f);
		return;
	}
	if (fn == sinq && v == 0) {
		out->d = x;
		return;
	}
	part = v - nearest_even(v); /* exact, and keeps the argument of fn small */
	out->d = fp_flush_out(f, fp_rounded(f, fn(2 * M_PIq * part), ROUND_NEAREST), in->mode);
	out->slack = f == F16 ? 0x1p-12 : 0x1p-22;
	if (fabsq(v) > 256) {
		out->alt = out->d;
		out->has_alt = true;
		out->d = out_of_range;
	}
}

static void sin_turn(enum fp_format f, in_t *in, out_t *out)
{
	turn(f, in, out, sinq, fp_signed_zero(f, false));
}

static void cos_turn(enum fp_format f, in_t *in, out_t *out)
{
	turn(f, in, out, cosq, fp_one(f));
}

FOR_FORMATS(rcp)
FOR_FORMATS(rsq)
FOR_FORMATS(sqrt1)
FOR_FORMATS(exp2_1)
FOR_FORMATS(log2_1)
FOR_FORMATS(sin_turn)
FOR_FORMATS(cos_turn)

const struct ref_row ref_float_rows[] = {
	{ "v_add_f32", add_f32, REF_F32 },
	{ "v_add_f16", add_f16, REF_F16, 0, REF_D16 },
	{ "v_add_f64", add_f64, REF_F64 },
	{ "v_sub_f32", sub_f32, REF_F32 },
	{ "v_sub_f16", sub_f16, REF_F16, 0, REF_D16 },
	{ "v_subrev_f32", subrev_f32, REF_F32 },
	{ "v_subrev_f16", subrev_f16, REF_F16, 0, REF_D16 },
	{ "v_mul_f32", mul_f32, REF_F32 },
	{ "v_mul_f16", mul_f16, REF_F16, 0, REF_D16 },
	{ "v_mul_f64", mul_f64, REF_F64 },
	{ "v_mul_legacy_f32", mul_legacy, REF_F32, 0, 0, "sign of 0 * x" },
	{ "v_fma_f32", fma3_f32, REF_F32 },
	{ "v_fma_f64", fma3_f64, REF_F64 },
	{ "v_fma_f16", fma3_f16, REF_F16, 0, REF_D16_KEEP },
	{ "v_fma_legacy_f16", fma3_f16, REF_F16, 0, REF_D16 },
	{ "v_fmac_f32", fmac_f32, REF_F32 },
	{ "v_fmac_f64", fmac_f64, REF_F64 },
	{ "v_mad_f32", mad_f32, REF_F32 },
	{ "v_mad_f16", mad_f16, REF_F16, 0, REF_D16_KEEP },
	{ "v_mad_legacy_f16", mad_f16, REF_F16, 0, REF_D16 },
	{ "v_mad_legacy_f32", mad_legacy, REF_F32, 0, 0, "sign of 0 * x" },
	{ "v_mac_f32", mac_f32, REF_F32 },
	{ "v_mac_f16", mac_f16, REF_F16, 0, REF_D16_KEEP, "gfx9 keeps the upper half here" },
	{ "v_madmk_f32", madmk_f32, REF_F32 },
	{ "v_fmamk_f32", fmamk_f32, REF_F32 },
	{ "v_fmaak_f32", fma3_f32, REF_F32 },
	{ "v_madak_f32", mad_f32, REF_F32 },
	{ "v_madmk_f16", madmk_f16, REF_F16, 0, REF_D16_KEEP, "gfx9 keeps the upper half here" },
	{ "v_madak_f16", mad_f16, REF_F16, 0, REF_D16_KEEP, "gfx9 keeps the upper half here" },

	{ "v_min_f32", min2_f32, REF_F32, 0, REF_ANY_NAN },
	{ "v_max_f32", max2_f32, REF_F32, 0, REF_ANY_NAN },
	{ "v_min_f16", min2_f16, REF_F16, 0, REF_ANY_NAN | REF_D16 },
	{ "v_max_f16", max2_f16, REF_F16, 0, REF_ANY_NAN | REF_D16 },
	{ "v_min_f64", min2_f64, REF_F64, 0, REF_ANY_NAN },
	{ "v_max_f64", max2_f64, REF_F64, 0, REF_ANY_NAN },
	{ "v_min3_f32", min3_f32, REF_F32, 0, REF_ANY_NAN },
	{ "v_max3_f32", max3_f32, REF_F32, 0, REF_ANY_NAN },
	{ "v_med3_f32", med3_f32, REF_F32, 0, REF_ANY_NAN },
	{ "v_min3_f16", min3_f16, REF_F16, 0, REF_ANY_NAN | REF_D16_KEEP },
	{ "v_max3_f16", max3_f16, REF_F16, 0, REF_ANY_NAN | REF_D16_KEEP },
	{ "v_med3_f16", med3_f16, REF_F16, 0, REF_ANY_NAN | REF_D16_KEEP },

	{ "v_trunc_f32", trunc1_f32, REF_F32 },
	{ "v_trunc_f16", trunc1_f16, REF_F16, 0, REF_D16 },
	{ "v_trunc_f64", trunc1_f64, REF_F64 },
	{ "v_ceil_f32", ceil1_f32, REF_F32 },
	{ "v_ceil_f16", ceil1_f16, REF_F16, 0, REF_D16 },
	{ "v_ceil_f64", ceil1_f64, REF_F64 },
	{ "v_floor_f32", floor1_f32, REF_F32 },
	{ "v_floor_f16", floor1_f16, REF_F16, 0, REF_D16 },
	{ "v_floor_f64", floor1_f64, REF_F64 },
	{ "v_rndne_f32", rndne_f32, REF_F32 },
	{ "v_rndne_f16", rndne_f16, REF_F16, 0, REF_D16 },
	{ "v_rndne_f64", rndne_f64, REF_F64 },
	{ "v_fract_f32", fract_f32, REF_F32 },
	{ "v_fract_f16", fract_f16, REF_F16, 0, REF_D16 },
	{ "v_fract_f64", fract_f64, REF_F64 },
	{ "v_frexp_mant_f32", frexp_mant_f32, REF_F32, 0, REF_ANY_DENORM },
	{ "v_frexp_mant_f16", frexp_mant_f16, REF_F16, 0, REF_D16 | REF_ANY_DENORM },
	{ "v_frexp_mant_f64", frexp_mant_f64, REF_F64, 0, REF_ANY_DENORM },
	{ "v_frexp_exp_i32_f32", frexp_exp_f32, REF_INT, 0, REF_ANY_DENORM },
	{ "v_frexp_exp_i16_f16", frexp_exp_f16, REF_INT, 0, REF_D16 | REF_ANY_DENORM },
	{ "v_frexp_exp_i32_f64", frexp_exp_f64, REF_INT, 0, REF_ANY_DENORM },
	{ "v_ldexp_f32", ldexp_f32, REF_F32 },
	{ "v_ldexp_f16", ldexp_f16, REF_F16, 0, REF_D16 },
	{ "v_ldexp_f64", ldexp_f64, REF_F64 },

	/* f64: the manual promises 2^29 ulp only; compilers refine. */
	{ "v_rcp_f32", rcp_f32, REF_F32, 1, REF_APPROX },
	{ "v_rcp_iflag_f32", rcp_f32, REF_F32, 1, REF_APPROX },
	{ "v_rcp_f16", rcp_f16, REF_F16, 1, REF_APPROX | REF_D16 },
	{ "v_rcp_f64", rcp_f64, REF_F64, 1ull << 29, REF_APPROX },
	{ "v_rsq_f32", rsq_f32, REF_F32, 1, REF_APPROX },
	{ "v_rsq_f16", rsq_f16, REF_F16, 1, REF_APPROX | REF_D16 },
	{ "v_rsq_f64", rsq_f64, REF_F64, 1ull << 29, REF_APPROX },
	{ "v_sqrt_f32", sqrt1_f32, REF_F32, 1, REF_APPROX },
	{ "v_sqrt_f16", sqrt1_f16, REF_F16, 1, REF_APPROX | REF_D16 },
	{ "v_sqrt_f64", sqrt1_f64, REF_F64, 1ull << 29, REF_APPROX },
	{ "v_exp_f32", exp2_1_f32, REF_F32, 1, REF_APPROX },
	{ "v_exp_f16", exp2_1_f16, REF_F16, 1, REF_APPROX | REF_D16 },
	{ "v_exp_legacy_f32", exp2_1_f32, REF_F32, 2, REF_APPROX },
	{ "v_log_f32", log2_1_f32, REF_F32, 1, REF_APPROX },
	{ "v_log_f16", log2_1_f16, REF_F16, 1, REF_APPROX | REF_D16 },
	{ "v_log_legacy_f32", log2_1_f32, REF_F32, 2, REF_APPROX },
	{ "v_sin_f32", sin_turn_f32, REF_F32, 1, REF_APPROX | REF_SLACK },
	{ "v_sin_f16", sin_turn_f16, REF_F16, 1, REF_APPROX | REF_SLACK | REF_D16 },
	{ "v_cos_f32", cos_turn_f32, REF_F32, 1, REF_APPROX | REF_SLACK },
	{ "v_cos_f16", cos_turn_f16, REF_F16, 1, REF_APPROX | REF_SLACK | REF_D16 },
	{ 0 }
};
