/* Conversions between formats, integers and packed normalized numbers. */
#include "tests/isa/ref/fp.h"

#include <quadmath.h>

/* v, already integral, into [low, high]; NaN is 0. */
static int64_t saturate(quad v, int64_t low, int64_t high)
{
	if (isnanq(v))
		return 0;
	if (v <= (quad)low)
		return low;
	return v >= (quad)high ? high : (int64_t)v;
}

static quad flushed(enum fp_format f, in_t *in)
{
	return fp_value(f, fp_flush_in(f, in->s[0], in->mode));
}

static quad round_by(quad v, enum fp_round round)
{
	quad low = floorq(v), rest = v - low;

	if (isnanq(v) || isinfq(v) || rest == 0)
		return v;
	switch (round) {
	case ROUND_UP:
		return low + 1;
	case ROUND_DOWN:
		return low;
	case ROUND_ZERO:
		return truncq(v);
	default:
		return rest > 0.5Q || (rest == 0.5Q && fmodq(low, 2) != 0) ? low + 1 : low;
	}
}

/* --- to integers: toward zero, saturating, NaN is 0 -------------------------------------------- */

#define TO_INT(name, format, low, high, mask)                                                      \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d = (uint64_t)saturate(truncq(flushed(format, in)), low, high) & (mask);      \
	}
TO_INT(i32_f32, F32, INT32_MIN, INT32_MAX, UINT32_MAX)
TO_INT(u32_f32, F32, 0, UINT32_MAX, UINT32_MAX)
TO_INT(i32_f64, F64, INT32_MIN, INT32_MAX, UINT32_MAX)
TO_INT(u32_f64, F64, 0, UINT32_MAX, UINT32_MAX)
TO_INT(i16_f16, F16, INT16_MIN, INT16_MAX, UINT16_MAX)
TO_INT(u16_f16, F16, 0, UINT16_MAX, UINT16_MAX)

static void rpi(in_t *in, out_t *out)
{
	/* floor(x + 0.5); the sum may be rounded to f32 before the floor, or not. */
	quad v = flushed(F32, in);
	uint64_t half = fp_add(F32, in->s[0], 0x3f000000, in->mode);

	out->d = (uint32_t)saturate(floorq(v + 0.5Q), INT32_MIN, INT32_MAX);
	out->alt = (uint32_t)saturate(floorq(fp_value(F32, half)), INT32_MIN, INT32_MAX);
	out->has_alt = true;
}

static void flr(in_t *in, out_t *out)
{
	out->d = (uint32_t)saturate(floorq(flushed(F32, in)), INT32_MIN, INT32_MAX);
}

/* --- from integers ----------------------------------------------------------------------------- */

#define FROM_INT(name, format, type)                                                               \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d =                                                                           \
			fp_rounded(format, (quad)(type)in->s[0], fp_mode_round(format, in->mode)); \
	}
FROM_INT(f32_i32, F32, int32_t)
FROM_INT(f32_u32, F32, uint32_t)
FROM_INT(f64_i32, F64, int32_t)
FROM_INT(f64_u32, F64, uint32_t)
FROM_INT(f16_i16, F16, int16_t)
FROM_INT(f16_u16, F16, uint16_t)

#define UBYTE(n)                                                                                   \
	static void ubyte##n(in_t *in, out_t *out)                                                 \
	{                                                                                          \
		out->d = fp_rounded(F32, (quad)(in->s[0] >> 8 * n & 0xff), ROUND_NEAREST);         \
	}
UBYTE(0)
UBYTE(1)
UBYTE(2)
UBYTE(3)

static void off_i4(in_t *in, out_t *out) /* 4-bit signed sixteenths */
{
	int v = (int)(in->s[0] & 15);

	out->d = fp_rounded(F32, (quad)(v >= 8 ? v - 16 : v) / 16, ROUND_NEAREST);
}

/* --- between float formats --------------------------------------------------------------------- */

#define FLOAT_TO_FLOAT(name, to, from)                                                             \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d = fp_convert(to, from, in->s[0], fp_mode_round(to, in->mode), in->mode);    \
	}
FLOAT_TO_FLOAT(f16_f32, F16, F32)
FLOAT_TO_FLOAT(f32_f16, F32, F16)
FLOAT_TO_FLOAT(f32_f64, F32, F64)

/* f32 denormals are normal here; whether the input flush of f32 or of f64 counts is not documented. */
static void f64_f32(in_t *in, out_t *out)
{
	uint32_t as_f64 = (in->mode & ~0x30u) | (in->mode >> 2 & 0x30);

	out->d = fp_convert(F64, F32, in->s[0], ROUND_NEAREST, in->mode);
	out->alt = fp_convert(F64, F32, in->s[0], ROUND_NEAREST, as_f64);
	out->has_alt = true;
}

static void pkrtz(in_t *in, out_t *out)
{
	out->d = fp_convert(F16, F32, in->s[0], ROUND_ZERO, in->mode) |
		 fp_convert(F16, F32, in->s[1], ROUND_ZERO, in->mode) << 16;
}

/* --- packing ----------------------------------------------------------------------------------- */

static uint16_t norm(quad v, bool is_signed)
{
	quad scaled;

	if (isnanq(v))
		return 0;
	v = v > 1 ? 1 : v;
	if (is_signed)
		v = v < -1 ? -1 : v;
	else
		v = v < 0 ? 0 : v;
	scaled = round_by(v * (is_signed ? 32767 : 65535), ROUND_NEAREST);
	return (uint16_t)(int32_t)scaled;
}

static void norm_i16_f16(in_t *in, out_t *out)
{
	out->d = norm(flushed(F16, in), true);
}
static void norm_u16_f16(in_t *in, out_t *out)
{
	out->d = norm(flushed(F16, in), false);
}

#define PKNORM(name, format, is_signed)                                                            \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d = norm(fp_value(format, fp_flush_in(format, in->s[0], in->mode)),           \
			      is_signed) |                                                         \
			 (uint32_t)norm(fp_value(format, fp_flush_in(format, in->s[1], in->mode)), \
					is_signed)                                                 \
				 << 16;                                                            \
	}
PKNORM(pknorm_i16_f32, F32, true)
PKNORM(pknorm_u16_f32, F32, false)
PKNORM(pknorm_i16_f16, F16, true)
PKNORM(pknorm_u16_f16, F16, false)

static void pk_u16_u32(in_t *in, out_t *out)
{
	uint32_t a = (uint32_t)in->s[0], b = (uint32_t)in->s[1];

	out->d = (a > 0xffff ? 0xffff : a) | (b > 0xffff ? 0xffffu : b) << 16;
}

static uint16_t sat_i16(int32_t v)
{
	return (uint16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

static void pk_i16_i32(in_t *in, out_t *out)
{
	out->d = sat_i16((int32_t)in->s[0]) | (uint32_t)sat_i16((int32_t)in->s[1]) << 16;
}

/* Whether the conversion to a byte rounds by MODE or truncates is not documented. */
static uint32_t to_u8(in_t *in, bool by_mode)
{
	quad v = flushed(F32, in);

	v = by_mode ? round_by(v, fp_mode_round(F32, in->mode)) : truncq(v);
	return (uint32_t)saturate(v, 0, 255);
}

static uint32_t insert_byte(uint32_t into, unsigned byte, uint32_t value)
{
	return (into & ~(0xffu << 8 * byte)) | value << 8 * byte;
}

static void pk_u8_f32(in_t *in, out_t *out)
{
	out->d = insert_byte((uint32_t)in->s[2], in->s[1] & 3, to_u8(in, true));
	out->alt = insert_byte((uint32_t)in->s[2], in->s[1] & 3, to_u8(in, false));
	out->has_alt = true;
}

static void pkaccum_u8_f32(in_t *in, out_t *out)
{
	out->d = insert_byte((uint32_t)in->d_old, in->s[1] & 3, to_u8(in, true));
	out->alt = insert_byte((uint32_t)in->d_old, in->s[1] & 3, to_u8(in, false));
	out->has_alt = true;
}

static uint32_t sat_u8(int32_t v)
{
	return v < 0 ? 0 : v > 255 ? 255 : (uint32_t)v;
}

static void sat_pk_u8_i16(in_t *in, out_t *out)
{
	out->d = sat_u8((int16_t)in->s[0]) | sat_u8((int16_t)(in->s[0] >> 16)) << 8;
}

/* LLVM takes it for a canonicalizing instruction; the manual shows a plain concatenation. */
static uint64_t canonical_f16(uint64_t x, uint32_t mode)
{
	if (fp_is_nan(F16, x))
		return fp_quiet(F16, x);
	return fp_flush_out(F16, fp_flush_in(F16, x, mode), mode);
}

static void pack_b32_f16(in_t *in, out_t *out)
{
	uint64_t a = in->s[0] & 0xffff, b = in->s[1] & 0xffff;

	out->d = canonical_f16(a, in->mode) | canonical_f16(b, in->mode) << 16;
	out->alt = a | b << 16;
	out->has_alt = true;
}

const struct ref_row ref_convert_rows[] = {
	{ "v_cvt_i32_f32", i32_f32, REF_INT },
	{ "v_cvt_u32_f32", u32_f32, REF_INT },
	{ "v_cvt_i32_f64", i32_f64, REF_INT },
	{ "v_cvt_u32_f64", u32_f64, REF_INT },
	{ "v_cvt_i16_f16", i16_f16, REF_INT, 0, REF_D16_EITHER },
	{ "v_cvt_u16_f16", u16_f16, REF_INT, 0, REF_D16_EITHER },
	{ "v_cvt_rpi_i32_f32", rpi, REF_INT, 0, 0, "x + 0.5 exact or rounded" },
	{ "v_cvt_flr_i32_f32", flr, REF_INT },
	{ "v_cvt_f32_i32", f32_i32, REF_F32 },
	{ "v_cvt_f32_u32", f32_u32, REF_F32 },
	{ "v_cvt_f64_i32", f64_i32, REF_F64 },
	{ "v_cvt_f64_u32", f64_u32, REF_F64 },
	{ "v_cvt_f16_i16", f16_i16, REF_F16, 0, REF_D16 },
	{ "v_cvt_f16_u16", f16_u16, REF_F16, 0, REF_D16 },
	{ "v_cvt_f32_ubyte0", ubyte0, REF_F32 },
	{ "v_cvt_f32_ubyte1", ubyte1, REF_F32 },
	{ "v_cvt_f32_ubyte2", ubyte2, REF_F32 },
	{ "v_cvt_f32_ubyte3", ubyte3, REF_F32 },
	{ "v_cvt_off_f32_i4", off_i4, REF_F32 },
	{ "v_cvt_f16_f32", f16_f32, REF_F16, 0, REF_D16 | REF_FIXED_ROUND },
	{ "v_cvt_f32_f16", f32_f16, REF_F32, 0, REF_FIXED_ROUND },
	{ "v_cvt_f32_f64", f32_f64, REF_F32, 0, REF_FIXED_ROUND },
	{ "v_cvt_f64_f32", f64_f32, REF_F64, 0, REF_FIXED_ROUND },
	{ "v_cvt_pkrtz_f16_f32", pkrtz, REF_V2F16, 0, REF_NO_OMOD },
	{ "v_cvt_norm_i16_f16", norm_i16_f16, REF_INT, 0, REF_NORM16 | REF_D16_EITHER },
	{ "v_cvt_norm_u16_f16", norm_u16_f16, REF_INT, 0, REF_NORM16 | REF_D16_EITHER },
	{ "v_cvt_pknorm_i16_f32", pknorm_i16_f32, REF_INT, 0, REF_NORM16 },
	{ "v_cvt_pknorm_u16_f32", pknorm_u16_f32, REF_INT, 0, REF_NORM16 },
	{ "v_cvt_pknorm_i16_f16", pknorm_i16_f16, REF_INT, 0, REF_NORM16 },
	{ "v_cvt_pknorm_u16_f16", pknorm_u16_f16, REF_INT, 0, REF_NORM16 },
	{ "v_cvt_pk_u16_u32", pk_u16_u32, REF_INT },
	{ "v_cvt_pk_i16_i32", pk_i16_i32, REF_INT },
	{ "v_cvt_pk_u8_f32", pk_u8_f32, REF_INT, 0, 0, "rounding" },
	{ "v_cvt_pkaccum_u8_f32", pkaccum_u8_f32, REF_INT, 0, 0, "rounding" },
	{ "v_sat_pk_u8_i16", sat_pk_u8_i16, REF_INT, 0, REF_D16_EITHER },
	{ "v_pack_b32_f16", pack_b32_f16, REF_V2F16, 0, REF_NO_OMOD, "canonicalizing or not" },
	{ 0 }
};
