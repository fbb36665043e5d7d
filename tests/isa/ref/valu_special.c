/* Instructions that exist for one purpose: division, reduction of large angles, cube maps. */
#include "tests/isa/ref/fp.h"

#include <math.h>
#include <quadmath.h>

/* --- division helpers -------------------------------------------------------------------------- */

/* s[1] denominator, s[2] numerator, s[0] one of the two: the one to be scaled. */
static void div_scale(enum fp_format f, in_t *in, out_t *out)
{
	unsigned denorm = f == F32 ? REF_MODE_DENORM_F32(in->mode) : REF_MODE_DENORM_F64(in->mode);
	int near_max = f == F32 ? 96 : 768, shift = f == F32 ? 64 : 128, tiny = f == F32 ? 23 : 53;
	uint32_t keep = in->mode;
	uint64_t x = fp_flush_in(f, in->s[0], keep), den = fp_flush_in(f, in->s[1], keep);
	uint64_t num = fp_flush_in(f, in->s[2], keep);
	int difference = (int)fp_exponent(f, num) - (int)fp_exponent(f, den);
	quad limit = ldexpq(1, 1 - fp_bias(f)), quotient; /* limit: smallest normal number */
	bool reciprocal_tiny, quotient_tiny;

	/*
	 * Only meant for a pair of finite numbers of which s[0] is one, and defined by denormals:
	 * compilers turn them on around it.
	 */
	if (denorm != 3 || fp_is_nan(f, x) || fp_is_inf(f, x) || fp_is_nan(f, den) ||
	    fp_is_inf(f, den) || fp_is_nan(f, num) || fp_is_inf(f, num) || (x != den && x != num)) {
		out->skip = true;
		return;
	}
	out->d = x;
	if (fp_is_zero(f, num) || fp_is_zero(f, den)) {
		out->d = fp_nan(f);
		return;
	}
	if (fp_is_zero(f, fp_rounded(f, fp_value(f, num) / fp_value(f, den), ROUND_ZERO))) {
		out->skip = true; /* less than any denormal: div_fixup decides alone */
		return;
	}
	quotient = fabsq(fp_value(f, num) / fp_value(f, den));
	if (quotient < limit && fp_value(f, fp_rounded(f, quotient, ROUND_UP)) == limit) {
		out->skip = true; /* a denormal or not: depends on when it is rounded */
		return;
	}
	reciprocal_tiny = 1 / fabsq(fp_value(f, den)) < limit;
	quotient_tiny = quotient < limit;
	if (difference >= near_max) {
		out->co = true;
		if (x == den)
			out->d = fp_scale(f, x, shift, keep);
	} else if (fp_is_denorm(f, den)) {
		out->d = fp_scale(f, x, shift, keep);
	} else if (reciprocal_tiny && quotient_tiny) {
		/* The manual scales up here too, which makes an infinity of any such denominator. */
		out->co = true;
		if (x == den) {
			out->d = fp_scale(f, x, -shift, keep);
			out->alt = fp_scale(f, x, shift, keep);
			out->has_alt = true;
		}
	} else if (reciprocal_tiny) {
		out->d = fp_scale(f, x, -shift, keep);
	} else if (quotient_tiny) {
		out->co = true;
		if (x == num)
			out->d = fp_scale(f, x, shift, keep);
	} else if ((int)fp_exponent(f, num) <= tiny) {
		out->d = fp_scale(f, x, shift, keep);
	}
}

/*
 * The MI100/MI200 manuals print 2^32 (2^64); with div_scale's factors only 2^+-64 (2^+-128), the
 * direction taken from the exponent of s[2], makes the division sequence divide: tests/isa/ref/test_ref
 * runs it. Later manuals print that form.
 */
static void div_fmas(enum fp_format f, in_t *in, out_t *out)
{
	int shift = f == F32 ? 64 : 128;
	uint64_t r = fp_fma(f, in->s[0], in->s[1], in->s[2], in->mode);
	quad a, b, c;

	if (!in->ci) {
		out->d = r;
		return;
	}
	if ((int)fp_exponent(f, in->s[2]) <= fp_bias(f))
		shift = -shift;
	/* One rounding: a denormal quotient must not be rounded a second time. */
	a = fp_value(f, fp_flush_in(f, in->s[0], in->mode));
	b = fp_value(f, fp_flush_in(f, in->s[1], in->mode));
	c = fp_value(f, fp_flush_in(f, in->s[2], in->mode));
	out->d = fp_flush_out(
		f,
		fp_rounded(f, ldexpq(fp_add_odd(a * b, c, fp_mode_round(f, in->mode)), shift),
			   fp_mode_round(f, in->mode)),
		in->mode);
	out->alt = fp_scale(f, r, shift, in->mode);
	out->has_alt = true;
}

static void div_fixup(enum fp_format f, in_t *in, out_t *out)
{
	uint64_t q = fp_flush_in(f, in->s[0], in->mode), den = fp_flush_in(f, in->s[1], in->mode);
	uint64_t num = fp_flush_in(f, in->s[2], in->mode);
	bool sign = fp_sign(f, den) != fp_sign(f, num);
	int difference = (int)fp_exponent(f, num) - (int)fp_exponent(f, den);
	int too_small = f == F32 ? -150 : f == F64 ? -1075 : -10000;

	if (fp_is_nan(f, num) || fp_is_nan(f, den)) {
		out->d = fp_quiet(f, fp_is_nan(f, num) ? num : den);
	} else if ((fp_is_zero(f, num) && fp_is_zero(f, den)) ||
		   (fp_is_inf(f, num) && fp_is_inf(f, den))) {
		out->d = fp_nan(f);
	} else if (fp_is_zero(f, den) || fp_is_inf(f, num)) {
		out->d = fp_inf(f, sign);
	} else if (fp_is_inf(f, den) || fp_is_zero(f, num)) {
		out->d = fp_signed_zero(f, sign);
	} else if (difference < too_small) {
		/* "underflow": a quotient that rounds to zero, or to the smallest number */
		quad tiny = ldexpq(sign ? -1 : 1, -8000);

		out->d = fp_flush_out(f, fp_rounded(f, tiny, fp_mode_round(f, in->mode)), in->mode);
		out->alt = fp_signed_zero(f, sign);
		out->has_alt = true;
	} else if (fp_is_nan(f, q)) {
		/*
		 * The steps before turn a quotient beyond the largest number into inf - inf. The
		 * manual hands that NaN on; the division comes out right only if it becomes the
		 * overflow it was.
		 */
		out->d = fp_rounded(f, ldexpq(sign ? -1 : 1, 8000), fp_mode_round(f, in->mode));
		out->alt = fp_nan(f);
		out->has_alt = true;
	} else {
		out->d = fp_flush_out(f, fp_absolute(f, q) | fp_signed_zero(f, sign), in->mode);
	}
}

FOR_FORMATS(div_scale)
FOR_FORMATS(div_fmas)
FOR_FORMATS(div_fixup)

/* --- range reduction --------------------------------------------------------------------------- */

/* 2/pi, 1216 bits behind the point; the hardware holds 1201. */
static const uint32_t two_over_pi[38] = {
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
	0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
	0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
	0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
	0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
	0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

static void trig_preop(in_t *in, out_t *out)
{
	unsigned e = fp_exponent(F64, in->s[0]), shift = (in->s[1] & 31) * 53;
	uint64_t segment = 0;
	int scale;

	if (e > 1077)
		shift += e - 1077;
	for (unsigned i = 0; i < 53; i++) {
		unsigned bit = shift + i; /* 0: the first one behind the point */
		bool one = bit < 1201 && (two_over_pi[bit / 32] >> (31 - bit % 32) & 1);

		segment = segment << 1 | one;
	}
	scale = -53 - (int)shift;
	if (e >= 1968)
		scale += 128;
	out->d = fp_flush_out(
		F64, fp_rounded(F64, ldexpq((quad)segment, scale), fp_mode_round(F64, in->mode)),
		in->mode);
	/* A segment so far behind that it is a denormal: rounded by MODE, or as it is. */
	out->alt = fp_flush_out(F64, fp_rounded(F64, ldexpq((quad)segment, scale), ROUND_NEAREST),
				in->mode);
	out->has_alt = true;
}

/* --- cube maps --------------------------------------------------------------------------------- */

struct cube {
	quad face, sc, tc, ma;
};

static bool cube_of(in_t *in, struct cube *c)
{
	quad x = fp_value(F32, in->s[0]), y = fp_value(F32, in->s[1]), z = fp_value(F32, in->s[2]);

	for (int i = 0; i < 3; i++) /* directions are ordinary numbers */
		if (fp_is_nan(F32, in->s[i]) || fp_is_inf(F32, in->s[i]) ||
		    fp_is_denorm(F32, in->s[i]))
			return false;
	if (fabsq(z) >= fabsq(x) && fabsq(z) >= fabsq(y))
		*c = (struct cube){ z < 0 ? 5 : 4, z < 0 ? -x : x, -y, 2 * z };
	else if (fabsq(y) >= fabsq(x))
		*c = (struct cube){ y < 0 ? 3 : 2, x, y < 0 ? -z : z, 2 * y };
	else
		*c = (struct cube){ x < 0 ? 1 : 0, x < 0 ? z : -z, -y, 2 * x };
	return true;
}

#define CUBE(name, field)                                                                          \
	static void cube##name(in_t *in, out_t *out)                                               \
	{                                                                                          \
		struct cube c;                                                                     \
                                                                                                   \
		out->skip = !cube_of(in, &c);                                                      \
		if (!out->skip)                                                                    \
			out->d = fp_rounded(F32, c.field, fp_mode_round(F32, in->mode));           \
	}
CUBE(id, face)
CUBE(sc, sc)
CUBE(tc, tc)
CUBE(ma, ma)

const struct ref_row ref_special_rows[] = {
	{ "v_div_scale_f32", div_scale_f32, REF_F32, 0, REF_NO_OMOD },
	{ "v_div_scale_f64", div_scale_f64, REF_F64, 0, REF_NO_OMOD },
	{ "v_div_fmas_f32", div_fmas_f32, REF_F32, 0, 0, "scaled before or after the rounding" },
	{ "v_div_fmas_f64", div_fmas_f64, REF_F64, 0, 0, "scaled before or after the rounding" },
	{ "v_div_fixup_f32", div_fixup_f32, REF_F32, 0, REF_ANY_DENORM | REF_ANY_NAN },
	{ "v_div_fixup_f64", div_fixup_f64, REF_F64, 0, REF_ANY_DENORM | REF_ANY_NAN },
	{ "v_div_fixup_f16", div_fixup_f16, REF_F16, 0,
	  REF_D16_KEEP | REF_ANY_DENORM | REF_ANY_NAN },
	{ "v_div_fixup_legacy_f16", div_fixup_f16, REF_F16, 0,
	  REF_D16 | REF_ANY_DENORM | REF_ANY_NAN },
	{ "v_trig_preop_f64", trig_preop, REF_F64 },
	{ "v_cubeid_f32", cubeid, REF_F32 },
	{ "v_cubesc_f32", cubesc, REF_F32 },
	{ "v_cubetc_f32", cubetc, REF_F32 },
	{ "v_cubema_f32", cubema, REF_F32 },
	{ 0 }
};
