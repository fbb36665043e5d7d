/* VOP3P without the matrix instructions: packed pairs, mixed precision, dot products. */
#include "tests/isa/ref/fp.h"

#include <math.h>
#include <quadmath.h>

/* --- one half of a packed instruction ---------------------------------------------------------- */

static uint64_t fit16(int32_t v, bool is_signed, bool clamp)
{
	int32_t high = is_signed ? INT16_MAX : UINT16_MAX, low = is_signed ? INT16_MIN : 0;

	if (clamp)
		v = v > high ? high : v < low ? low : v;
	return (uint16_t)v;
}

#define U(k) ((int32_t)(uint16_t)in->s[k])
#define I(k) ((int32_t)(int16_t)in->s[k])
#define HALF(name, is_signed, expression)                                                          \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d = fit16((int32_t)(expression), is_signed, in->clamp);                       \
	}
/* u16 products overflow int32: a product that large saturates anyway, so cap it */
static int64_t cap(int64_t v)
{
	return v > INT32_MAX ? (v & 0xffff) | 0x7fff0000 : v;
}

HALF(pk_mad_i16, true, I(0) * I(1) + I(2))
HALF(pk_mad_u16, false, cap((int64_t)U(0) * U(1) + U(2)))
HALF(pk_mul_lo_u16, false, (uint16_t)((uint32_t)U(0) * (uint32_t)U(1)))
HALF(pk_add_i16, true, I(0) + I(1))
HALF(pk_sub_i16, true, I(0) - I(1))
HALF(pk_add_u16, false, U(0) + U(1))
HALF(pk_sub_u16, false, U(0) - U(1))
HALF(pk_lshlrev_b16, false, (uint16_t)(U(1) << (U(0) & 15)))
HALF(pk_lshrrev_b16, false, U(1) >> (U(0) & 15))
HALF(pk_ashrrev_i16, true, I(1) >> (U(0) & 15))
HALF(pk_max_i16, true, I(0) > I(1) ? I(0) : I(1))
HALF(pk_min_i16, true, I(0) < I(1) ? I(0) : I(1))
HALF(pk_max_u16, false, U(0) > U(1) ? U(0) : U(1))
HALF(pk_min_u16, false, U(0) < U(1) ? U(0) : U(1))

#define FLOAT_PART(name, call)                                                                     \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d = call;                                                                     \
	}
FLOAT_PART(pk_fma_f16, fp_fma(F16, in->s[0], in->s[1], in->s[2], in->mode))
FLOAT_PART(pk_fmac_f16, fp_fma(F16, in->s[0], in->s[1], in->d_old, in->mode))
FLOAT_PART(pk_add_f16, fp_add(F16, in->s[0], in->s[1], in->mode))
FLOAT_PART(pk_mul_f16, fp_mul(F16, in->s[0], in->s[1], in->mode))
FLOAT_PART(pk_min_f16, fp_min(F16, in->s[0], in->s[1], in->mode))
FLOAT_PART(pk_max_f16, fp_max2(F16, in->s[0], in->s[1], in->mode))
FLOAT_PART(pk_fma_f32, fp_fma(F32, in->s[0], in->s[1], in->s[2], in->mode))
FLOAT_PART(pk_mul_f32, fp_mul(F32, in->s[0], in->s[1], in->mode))
FLOAT_PART(pk_add_f32, fp_add(F32, in->s[0], in->s[1], in->mode))

/* The low result comes from src0, the high one from src1; op_sel picks each one's register. */
static void pk_mov_b32(in_t *in, out_t *out)
{
	uint64_t low = in->s[0] >> (in->op_sel & 1 ? 32 : 0) & UINT32_MAX;
	uint64_t high = in->s[1] >> (in->op_sel & 2 ? 32 : 0) & UINT32_MAX;

	out->d = low | high << 32;
}

void ref_packed(const struct ref_row *row, const struct ref_in *in, struct ref_out *out)
{
	unsigned bits = row->flags & REF_PK16 ? 16 : 32;
	uint64_t mask = bits == 16 ? UINT16_MAX : UINT32_MAX;
	bool is_float = row->result == REF_V2F16 || row->result == REF_V2F32;

	for (unsigned half = 0; half < 2; half++) {
		struct ref_in part = *in;
		struct ref_out result = { 0 };

		for (unsigned k = 0; k < 3; k++) {
			bool high = (half ? in->op_sel_hi : in->op_sel) >> k & 1;
			bool neg = (half ? in->neg_hi : in->neg_lo) >> k & 1;

			part.s[k] = in->s[k] >> (high ? bits : 0) & mask;
			if (is_float && neg)
				part.s[k] ^= 1ull << (bits - 1);
		}
		part.d_old = in->d_old >> (half ? bits : 0) & mask;
		row->fn(&part, &result);
		if (is_float && in->clamp)
			result.d = ref_dst_mod(bits, result.d, 0, true, in->mode);
		out->d |= (result.d & mask) << (half ? bits : 0);
	}
}

/* --- mixed precision: op_sel_hi says f16, op_sel which half; neg_hi is abs, neg_lo is neg ------ */

static uint64_t mix_source(in_t *in, unsigned k)
{
	uint64_t x = in->s[k] & UINT32_MAX;

	if (in->op_sel_hi >> k & 1) {
		x = (in->op_sel >> k & 1 ? x >> 16 : x) & 0xffff;
		x = ref_src_mod(16, x, in->neg_lo >> k & 1, in->neg_hi >> k & 1);
		/* widening is exact, and an f16 denormal is an f32 normal number */
		return fp_rounded(F32, fp_value(F16, fp_flush_in(F16, x, in->mode)), ROUND_NEAREST);
	}
	return ref_src_mod(32, x, in->neg_lo >> k & 1, in->neg_hi >> k & 1);
}

static void fma_mix(in_t *in, out_t *out)
{
	out->d = fp_fma(F32, mix_source(in, 0), mix_source(in, 1), mix_source(in, 2), in->mode);
	if (in->clamp)
		out->d = ref_dst_mod(32, out->d, 0, true, in->mode);
}

/* Rounded to f32 and then to f16, or once: LLVM uses it for the first, the manual shows the second. */
static void mix_f16(in_t *in, out_t *out)
{
	enum fp_round round = fp_mode_round(F16, in->mode);
	uint64_t a = mix_source(in, 0), b = mix_source(in, 1), c = mix_source(in, 2), wide;
	quad exact;

	wide = fp_fma(F32, a, b, c, in->mode);
	out->d = fp_convert(F16, F32, wide, round, in->mode);
	a = fp_flush_in(F32, a, in->mode);
	b = fp_flush_in(F32, b, in->mode);
	c = fp_flush_in(F32, c, in->mode);
	exact = fp_add_odd(fp_value(F32, a) * fp_value(F32, b), fp_value(F32, c), round);
	out->alt = fp_flush_out(F16, fp_rounded(F16, exact, round), in->mode);
	if (in->clamp) {
		out->d = ref_dst_mod(16, out->d, 0, true, in->mode);
		out->alt = ref_dst_mod(16, out->alt, 0, true, in->mode);
	}
	out->has_alt = true;
}

static void fma_mixlo(in_t *in, out_t *out)
{
	uint64_t keep = in->d_old & 0xffff0000;

	mix_f16(in, out);
	out->d |= keep;
	out->alt |= keep;
}

static void fma_mixhi(in_t *in, out_t *out)
{
	uint64_t keep = in->d_old & 0xffff;

	mix_f16(in, out);
	out->d = out->d << 16 | keep;
	out->alt = out->alt << 16 | keep;
}

/* --- dot products ------------------------------------------------------------------------------ */

/*
 * The order and the number of roundings are not documented; slack is what they can make. MI200 flushes
 * f16 and f32 denormals here (documented for the matrix cores and V_DOT2), MI100 does not.
 */
static void dot2_f16(in_t *in, out_t *out, uint64_t acc)
{
	bool flush = in->target == REF_GFX90A;
	quad sum = fp_value(F32, flush ? fp_flush(F32, acc) : acc), size = fabsq(sum);

	for (unsigned half = 0; half < 2; half++) {
		quad product = 1;

		for (unsigned k = 0; k < 2; k++) {
			bool high = (half ? in->op_sel_hi : in->op_sel) >> k & 1;
			bool neg = (half ? in->neg_hi : in->neg_lo) >> k & 1;
			uint64_t x = in->s[k] >> (high ? 16 : 0) & 0xffff;

			if (neg)
				x ^= 0x8000;
			product *= fp_value(F16, flush ? fp_flush(F16, x) : x);
		}
		sum += product;
		size += fabsq(product);
	}
	out->d = fp_rounded(F32, sum, ROUND_NEAREST);
	if (flush)
		out->d = fp_flush(F32, out->d);
	out->slack = (double)(size * 0x1p-22Q) + 0x1p-125;
	if (in->clamp)
		out->d = ref_dst_mod(32, out->d, 0, true, in->mode);
}

static void dot2_f32_f16(in_t *in, out_t *out)
{
	uint64_t acc = in->s[2] & UINT32_MAX;

	if (in->neg_lo & 4)
		acc ^= 0x80000000;
	if (in->neg_hi & 4) /* src2 is a single f32: neg_hi is its abs */
		out->skip = true;
	dot2_f16(in, out, acc);
}

static void dot2c_f32_f16(in_t *in, out_t *out)
{
	dot2_f16(in, out, in->d_old & UINT32_MAX);
}

static void dot_int(in_t *in, out_t *out, unsigned bits, bool is_signed, uint64_t acc, bool selects)
{
	__int128 sum = is_signed ? (__int128)(int32_t)acc : (__int128)(uint32_t)acc;

	for (unsigned i = 0; i < 32 / bits; i++) {
		int64_t x[2];

		for (unsigned k = 0; k < 2; k++) {
			unsigned at = i * bits;

			if (selects) /* dot2: halves are chosen by op_sel and op_sel_hi */
				at = (i ? in->op_sel_hi : in->op_sel) >> k & 1 ? 16 : 0;
			x[k] = (int64_t)(in->s[k] >> at & ((1u << bits) - 1));
			if (is_signed && x[k] >> (bits - 1))
				x[k] -= 1ll << bits;
		}
		sum += x[0] * x[1];
	}
	if (in->clamp && is_signed)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	else if (in->clamp)
		sum = sum > UINT32_MAX ? UINT32_MAX : sum;
	out->d = (uint32_t)sum;
}

#define DOT(name, bits, is_signed, acc, selects)                                                   \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		dot_int(in, out, bits, is_signed, acc, selects);                                   \
	}
DOT(dot2_i32_i16, 16, true, in->s[2], true)
DOT(dot2_u32_u16, 16, false, in->s[2], true)
DOT(dot4_i32_i8, 8, true, in->s[2], false)
DOT(dot4_u32_u8, 8, false, in->s[2], false)
DOT(dot8_i32_i4, 4, true, in->s[2], false)
DOT(dot8_u32_u4, 4, false, in->s[2], false)
DOT(dot2c_i32_i16, 16, true, in->d_old, true)
DOT(dot4c_i32_i8, 8, true, in->d_old, false)
DOT(dot8c_i32_i4, 4, true, in->d_old, false)

#define PK_INT (REF_PK16 | REF_ICLAMP)
/* f32 arithmetic, f16 result: which fields of MODE govern the f32 part is not documented */
#define MIX_F16 (REF_NO_OMOD | REF_FIXED_ROUND | REF_ANY_DENORM)
const struct ref_row ref_packed_rows[] = {
	{ "v_pk_mad_i16", pk_mad_i16, REF_INT, 0, PK_INT },
	{ "v_pk_mad_u16", pk_mad_u16, REF_INT, 0, PK_INT },
	{ "v_pk_mul_lo_u16", pk_mul_lo_u16, REF_INT, 0, REF_PK16 },
	{ "v_pk_add_i16", pk_add_i16, REF_INT, 0, PK_INT },
	{ "v_pk_sub_i16", pk_sub_i16, REF_INT, 0, PK_INT },
	{ "v_pk_add_u16", pk_add_u16, REF_INT, 0, PK_INT },
	{ "v_pk_sub_u16", pk_sub_u16, REF_INT, 0, PK_INT },
	{ "v_pk_lshlrev_b16", pk_lshlrev_b16, REF_INT, 0, REF_PK16 },
	{ "v_pk_lshrrev_b16", pk_lshrrev_b16, REF_INT, 0, REF_PK16 },
	{ "v_pk_ashrrev_i16", pk_ashrrev_i16, REF_INT, 0, REF_PK16 },
	{ "v_pk_max_i16", pk_max_i16, REF_INT, 0, REF_PK16 },
	{ "v_pk_min_i16", pk_min_i16, REF_INT, 0, REF_PK16 },
	{ "v_pk_max_u16", pk_max_u16, REF_INT, 0, REF_PK16 },
	{ "v_pk_min_u16", pk_min_u16, REF_INT, 0, REF_PK16 },
	{ "v_pk_fma_f16", pk_fma_f16, REF_V2F16, 0, REF_PK16 },
	{ "v_pk_fmac_f16", pk_fmac_f16, REF_V2F16, 0, REF_PK16 },
	{ "v_pk_add_f16", pk_add_f16, REF_V2F16, 0, REF_PK16 },
	{ "v_pk_mul_f16", pk_mul_f16, REF_V2F16, 0, REF_PK16 },
	{ "v_pk_min_f16", pk_min_f16, REF_V2F16, 0, REF_PK16 | REF_ANY_NAN },
	{ "v_pk_max_f16", pk_max_f16, REF_V2F16, 0, REF_PK16 | REF_ANY_NAN },
	{ "v_pk_fma_f32", pk_fma_f32, REF_V2F32, 0, REF_PK32 },
	{ "v_pk_mul_f32", pk_mul_f32, REF_V2F32, 0, REF_PK32 },
	{ "v_pk_add_f32", pk_add_f32, REF_V2F32, 0, REF_PK32 },
	{ "v_pk_mov_b32", pk_mov_b32, REF_INT },
	{ "v_fma_mix_f32", fma_mix, REF_F32, 0, REF_NO_OMOD },
	{ "v_fma_mixlo_f16", fma_mixlo, REF_V2F16, 0, MIX_F16, "one rounding or two" },
	{ "v_fma_mixhi_f16", fma_mixhi, REF_V2F16, 0, MIX_F16, "one rounding or two" },
	{ "v_dot2_f32_f16", dot2_f32_f16, REF_F32, 0, REF_SLACK | REF_NO_OMOD, "order of the sum" },
	{ "v_dot2c_f32_f16", dot2c_f32_f16, REF_F32, 0, REF_SLACK | REF_NO_OMOD,
	  "order of the sum" },
	{ "v_dot2_i32_i16", dot2_i32_i16, REF_INT, 0, REF_ICLAMP },
	{ "v_dot2_u32_u16", dot2_u32_u16, REF_INT, 0, REF_ICLAMP },
	{ "v_dot4_i32_i8", dot4_i32_i8, REF_INT, 0, REF_ICLAMP },
	{ "v_dot4_u32_u8", dot4_u32_u8, REF_INT, 0, REF_ICLAMP },
	{ "v_dot8_i32_i4", dot8_i32_i4, REF_INT, 0, REF_ICLAMP },
	{ "v_dot8_u32_u4", dot8_u32_u4, REF_INT, 0, REF_ICLAMP },
	{ "v_dot2c_i32_i16", dot2c_i32_i16, REF_INT },
	{ "v_dot4c_i32_i8", dot4c_i32_i8, REF_INT },
	{ "v_dot8c_i32_i4", dot8c_i32_i4, REF_INT },
	{ 0 }
};
