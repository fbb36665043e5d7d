/*
 * Matrix instructions. Layout (the MI300 manual gives these formulas for all generations; AMD's matrix
 * instruction calculator prints the same):
 *
 *	A[i][k] of block b   lane i + M * (b + blocks * (k / k_per_lane)), element k % k_per_lane
 *	B[k][j] of block b   lane j + M * (b + blocks * (k / k_per_lane)), the same element
 *	D[i][j] of block b   H rows stay together in one lane's registers: H = 4, for f64 1;
 *	                     f64 4x4: lane j + 4 * b + 16 * i
 *	sparse A             two elements of four consecutive k; two bits of the index register's lane say
 *	                     for each where it belongs. gfx950's B of eight registers: see place_sparse_b()
 *	f8f6f4               8-bit elements 0 to 15 of a lane are of the lower half of k, 16 to 31 of the
 *	                     upper one, 16 consecutive k in each; smaller elements are consecutive
 *	scales               row i, k: lane i + M * (k / 32)
 *
 * cbsz and abid replace A's block, blgp the lanes of B. The f64 shapes have none of them, but neg from
 * gfx942 on. EXEC does not matter.
 */
#include "tests/isa/ref/fp.h"

#include <math.h>
#include <quadmath.h>
#include <string.h>

/* clang-format off */
static const struct ref_mfma shapes[] = {
	{ "v_mfma_f32_32x32x1f32", REF_MFMA_F32, REF_MFMA_F32, 32, 1, 2, 1 },
	{ "v_mfma_f32_16x16x1f32", REF_MFMA_F32, REF_MFMA_F32, 16, 1, 4, 1 },
	{ "v_mfma_f32_4x4x1f32", REF_MFMA_F32, REF_MFMA_F32, 4, 1, 16, 1 },
	{ "v_mfma_f32_32x32x2f32", REF_MFMA_F32, REF_MFMA_F32, 32, 2, 1, 1 },
	{ "v_mfma_f32_16x16x4f32", REF_MFMA_F32, REF_MFMA_F32, 16, 4, 1, 1 },
	{ "v_mfma_f32_32x32x4f16", REF_MFMA_F16, REF_MFMA_F16, 32, 4, 2, 4 },
	{ "v_mfma_f32_16x16x4f16", REF_MFMA_F16, REF_MFMA_F16, 16, 4, 4, 4 },
	{ "v_mfma_f32_4x4x4f16", REF_MFMA_F16, REF_MFMA_F16, 4, 4, 16, 4 },
	{ "v_mfma_f32_32x32x8f16", REF_MFMA_F16, REF_MFMA_F16, 32, 8, 1, 4 },
	{ "v_mfma_f32_16x16x16f16", REF_MFMA_F16, REF_MFMA_F16, 16, 16, 1, 4 },
	{ "v_mfma_i32_32x32x4i8", REF_MFMA_I8, REF_MFMA_I8, 32, 4, 2, 4 },
	{ "v_mfma_i32_16x16x4i8", REF_MFMA_I8, REF_MFMA_I8, 16, 4, 4, 4 },
	{ "v_mfma_i32_4x4x4i8", REF_MFMA_I8, REF_MFMA_I8, 4, 4, 16, 4 },
	{ "v_mfma_i32_32x32x8i8", REF_MFMA_I8, REF_MFMA_I8, 32, 8, 1, 4 },
	{ "v_mfma_i32_16x16x16i8", REF_MFMA_I8, REF_MFMA_I8, 16, 16, 1, 4 },
	{ "v_mfma_f32_32x32x2bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 2, 2, 2 },
	{ "v_mfma_f32_16x16x2bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 2, 4, 2 },
	{ "v_mfma_f32_4x4x2bf16", REF_MFMA_BF16, REF_MFMA_BF16, 4, 2, 16, 2 },
	{ "v_mfma_f32_32x32x4bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 4, 1, 2 },
	{ "v_mfma_f32_16x16x8bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 8, 1, 2 },
	{ "v_mfma_f32_32x32x4bf16_1k", REF_MFMA_BF16, REF_MFMA_BF16, 32, 4, 2, 4 },
	{ "v_mfma_f32_16x16x4bf16_1k", REF_MFMA_BF16, REF_MFMA_BF16, 16, 4, 4, 4 },
	{ "v_mfma_f32_4x4x4bf16_1k", REF_MFMA_BF16, REF_MFMA_BF16, 4, 4, 16, 4 },
	{ "v_mfma_f32_32x32x8bf16_1k", REF_MFMA_BF16, REF_MFMA_BF16, 32, 8, 1, 4 },
	{ "v_mfma_f32_16x16x16bf16_1k", REF_MFMA_BF16, REF_MFMA_BF16, 16, 16, 1, 4 },
	{ "v_mfma_f64_16x16x4f64", REF_MFMA_F64, REF_MFMA_F64, 16, 4, 1, 1 },
	{ "v_mfma_f64_4x4x4f64", REF_MFMA_F64, REF_MFMA_F64, 4, 4, 4, 1 },
	{ "v_mfma_f32_16x16x8_xf32", REF_MFMA_XF32, REF_MFMA_XF32, 16, 8, 1, 2 },
	{ "v_mfma_f32_32x32x4_xf32", REF_MFMA_XF32, REF_MFMA_XF32, 32, 4, 1, 2 },
	{ "v_mfma_f32_32x32x1_2b_f32", REF_MFMA_F32, REF_MFMA_F32, 32, 1, 2, 1 },
	{ "v_mfma_f32_16x16x1_4b_f32", REF_MFMA_F32, REF_MFMA_F32, 16, 1, 4, 1 },
	{ "v_mfma_f32_4x4x1_16b_f32", REF_MFMA_F32, REF_MFMA_F32, 4, 1, 16, 1 },
	{ "v_mfma_f32_32x32x2_f32", REF_MFMA_F32, REF_MFMA_F32, 32, 2, 1, 1 },
	{ "v_mfma_f32_16x16x4_f32", REF_MFMA_F32, REF_MFMA_F32, 16, 4, 1, 1 },
	{ "v_mfma_f32_32x32x4_2b_f16", REF_MFMA_F16, REF_MFMA_F16, 32, 4, 2, 4 },
	{ "v_mfma_f32_16x16x4_4b_f16", REF_MFMA_F16, REF_MFMA_F16, 16, 4, 4, 4 },
	{ "v_mfma_f32_4x4x4_16b_f16", REF_MFMA_F16, REF_MFMA_F16, 4, 4, 16, 4 },
	{ "v_mfma_f32_32x32x8_f16", REF_MFMA_F16, REF_MFMA_F16, 32, 8, 1, 4 },
	{ "v_mfma_f32_16x16x16_f16", REF_MFMA_F16, REF_MFMA_F16, 16, 16, 1, 4 },
	{ "v_mfma_f32_16x16x32_f16", REF_MFMA_F16, REF_MFMA_F16, 16, 32, 1, 8 },
	{ "v_mfma_f32_32x32x16_f16", REF_MFMA_F16, REF_MFMA_F16, 32, 16, 1, 8 },
	{ "v_mfma_f32_32x32x4_2b_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 4, 2, 4 },
	{ "v_mfma_f32_16x16x4_4b_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 4, 4, 4 },
	{ "v_mfma_f32_4x4x4_16b_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 4, 4, 16, 4 },
	{ "v_mfma_f32_32x32x8_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 8, 1, 4 },
	{ "v_mfma_f32_16x16x16_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 16, 1, 4 },
	{ "v_mfma_f32_16x16x32_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 32, 1, 8 },
	{ "v_mfma_f32_32x32x16_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 16, 1, 8 },
	{ "v_mfma_i32_32x32x4_2b_i8", REF_MFMA_I8, REF_MFMA_I8, 32, 4, 2, 4 },
	{ "v_mfma_i32_16x16x4_4b_i8", REF_MFMA_I8, REF_MFMA_I8, 16, 4, 4, 4 },
	{ "v_mfma_i32_4x4x4_16b_i8", REF_MFMA_I8, REF_MFMA_I8, 4, 4, 16, 4 },
	{ "v_mfma_i32_32x32x16_i8", REF_MFMA_I8, REF_MFMA_I8, 32, 16, 1, 8 },
	{ "v_mfma_i32_16x16x32_i8", REF_MFMA_I8, REF_MFMA_I8, 16, 32, 1, 8 },
	{ "v_mfma_i32_16x16x64_i8", REF_MFMA_I8, REF_MFMA_I8, 16, 64, 1, 16 },
	{ "v_mfma_i32_32x32x32_i8", REF_MFMA_I8, REF_MFMA_I8, 32, 32, 1, 16 },
	{ "v_mfma_f64_16x16x4_f64", REF_MFMA_F64, REF_MFMA_F64, 16, 4, 1, 1 },
	{ "v_mfma_f64_4x4x4_4b_f64", REF_MFMA_F64, REF_MFMA_F64, 4, 4, 4, 1 },
	{ "v_mfma_f32_16x16x32_bf8_bf8", REF_MFMA_BF8, REF_MFMA_BF8, 16, 32, 1, 8 },
	{ "v_mfma_f32_16x16x32_bf8_fp8", REF_MFMA_BF8, REF_MFMA_FP8, 16, 32, 1, 8 },
	{ "v_mfma_f32_16x16x32_fp8_bf8", REF_MFMA_FP8, REF_MFMA_BF8, 16, 32, 1, 8 },
	{ "v_mfma_f32_16x16x32_fp8_fp8", REF_MFMA_FP8, REF_MFMA_FP8, 16, 32, 1, 8 },
	{ "v_mfma_f32_32x32x16_bf8_bf8", REF_MFMA_BF8, REF_MFMA_BF8, 32, 16, 1, 8 },
	{ "v_mfma_f32_32x32x16_bf8_fp8", REF_MFMA_BF8, REF_MFMA_FP8, 32, 16, 1, 8 },
	{ "v_mfma_f32_32x32x16_fp8_bf8", REF_MFMA_FP8, REF_MFMA_BF8, 32, 16, 1, 8 },
	{ "v_mfma_f32_32x32x16_fp8_fp8", REF_MFMA_FP8, REF_MFMA_FP8, 32, 16, 1, 8 },
	{ "v_smfmac_f32_16x16x32_f16", REF_MFMA_F16, REF_MFMA_F16, 16, 32, 1, 8, .sparse = true },
	{ "v_smfmac_f32_32x32x16_f16", REF_MFMA_F16, REF_MFMA_F16, 32, 16, 1, 8, .sparse = true },
	{ "v_smfmac_f32_16x16x64_f16", REF_MFMA_F16, REF_MFMA_F16, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_f32_32x32x32_f16", REF_MFMA_F16, REF_MFMA_F16, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_f32_16x16x32_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 32, 1, 8, .sparse = true },
	{ "v_smfmac_f32_32x32x16_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 16, 1, 8, .sparse = true },
	{ "v_smfmac_f32_16x16x64_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_f32_32x32x32_bf16", REF_MFMA_BF16, REF_MFMA_BF16, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_i32_16x16x64_i8", REF_MFMA_I8, REF_MFMA_I8, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_i32_32x32x32_i8", REF_MFMA_I8, REF_MFMA_I8, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_i32_16x16x128_i8", REF_MFMA_I8, REF_MFMA_I8, 16, 128, 1, 32, .sparse = true },
	{ "v_smfmac_i32_32x32x64_i8", REF_MFMA_I8, REF_MFMA_I8, 32, 64, 1, 32, .sparse = true },
	{ "v_smfmac_f32_16x16x64_bf8_bf8", REF_MFMA_BF8, REF_MFMA_BF8, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_f32_16x16x64_bf8_fp8", REF_MFMA_BF8, REF_MFMA_FP8, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_f32_16x16x64_fp8_bf8", REF_MFMA_FP8, REF_MFMA_BF8, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_f32_16x16x64_fp8_fp8", REF_MFMA_FP8, REF_MFMA_FP8, 16, 64, 1, 16, .sparse = true },
	{ "v_smfmac_f32_32x32x32_bf8_bf8", REF_MFMA_BF8, REF_MFMA_BF8, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_f32_32x32x32_bf8_fp8", REF_MFMA_BF8, REF_MFMA_FP8, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_f32_32x32x32_fp8_bf8", REF_MFMA_FP8, REF_MFMA_BF8, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_f32_32x32x32_fp8_fp8", REF_MFMA_FP8, REF_MFMA_FP8, 32, 32, 1, 16, .sparse = true },
	{ "v_smfmac_f32_16x16x128_bf8_bf8", REF_MFMA_BF8, REF_MFMA_BF8, 16, 128, 1, 32, .sparse = true },
	{ "v_smfmac_f32_16x16x128_bf8_fp8", REF_MFMA_BF8, REF_MFMA_FP8, 16, 128, 1, 32, .sparse = true },
	{ "v_smfmac_f32_16x16x128_fp8_bf8", REF_MFMA_FP8, REF_MFMA_BF8, 16, 128, 1, 32, .sparse = true },
	{ "v_smfmac_f32_16x16x128_fp8_fp8", REF_MFMA_FP8, REF_MFMA_FP8, 16, 128, 1, 32, .sparse = true },
	{ "v_smfmac_f32_32x32x64_bf8_bf8", REF_MFMA_BF8, REF_MFMA_BF8, 32, 64, 1, 32, .sparse = true },
	{ "v_smfmac_f32_32x32x64_bf8_fp8", REF_MFMA_BF8, REF_MFMA_FP8, 32, 64, 1, 32, .sparse = true },
	{ "v_smfmac_f32_32x32x64_fp8_bf8", REF_MFMA_FP8, REF_MFMA_BF8, 32, 64, 1, 32, .sparse = true },
	{ "v_smfmac_f32_32x32x64_fp8_fp8", REF_MFMA_FP8, REF_MFMA_FP8, 32, 64, 1, 32, .sparse = true },
	{ "v_mfma_f32_16x16x128_f8f6f4", REF_MFMA_FP8, REF_MFMA_FP8, 16, 128, 1, 32, .f8f6f4 = true },
	{ "v_mfma_scale_f32_16x16x128_f8f6f4", REF_MFMA_FP8, REF_MFMA_FP8, 16, 128, 1, 32, .f8f6f4 = true, .scaled = true },
	{ "v_mfma_f32_32x32x64_f8f6f4", REF_MFMA_FP8, REF_MFMA_FP8, 32, 64, 1, 32, .f8f6f4 = true },
	{ "v_mfma_scale_f32_32x32x64_f8f6f4", REF_MFMA_FP8, REF_MFMA_FP8, 32, 64, 1, 32, .f8f6f4 = true, .scaled = true },
};
/* clang-format on */

const struct ref_mfma *ref_mfma_find(const char *mnemonic)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].mnemonic, mnemonic) == 0)
			return &shapes[i];
	return NULL;
}

unsigned ref_mfma_bits(enum ref_mfma_type type)
{
	static const uint8_t bits[REF_MFMA_N_TYPES] = {
		[REF_MFMA_F32] = 32, [REF_MFMA_F16] = 16,  [REF_MFMA_BF16] = 16, [REF_MFMA_I8] = 8,
		[REF_MFMA_F64] = 64, [REF_MFMA_XF32] = 32, [REF_MFMA_FP8] = 8,   [REF_MFMA_BF8] = 8,
		[REF_MFMA_FP6] = 6,  [REF_MFMA_BF6] = 6,   [REF_MFMA_FP4] = 4,
	};

	return bits[type];
}

enum ref_mfma_type ref_mfma_f8f6f4_type(unsigned field)
{
	return REF_MFMA_FP8 + field;
}

unsigned ref_mfma_regs_cd(const struct ref_mfma *op)
{
	return op->m * op->m * op->blocks / 64u * (op->a == REF_MFMA_F64 ? 2 : 1);
}

/* To a multiple of the eleventh bit's weight; rintq() goes to the even one. */
static double xf32_value(uint32_t bits)
{
	quad v = fp_value(F32, bits), unit;
	int exponent = bits >> 23 & 0xff;

	if (exponent == 0xff)
		return (double)v;
	unit = ldexpq(1, (exponent ? exponent : 1) - 127 - 10);
	v = rintq(v / unit) * unit;
	return fabsq(v) >= 0x1p128Q ? (double)v * (double)INFINITY : (double)v;
}

/* Sign, exponent and mantissa of a number. */
static double small_value(unsigned code, int n_bits, int n_mantissa, int bias)
{
	int magnitude = (int)code & ((1 << (n_bits - 1)) - 1);
	int exponent = magnitude >> n_mantissa, mantissa = magnitude & ((1 << n_mantissa) - 1);
	double v = exponent ? ldexp((1 << n_mantissa) + mantissa, exponent - bias - n_mantissa)
			    : ldexp(mantissa, 1 - bias - n_mantissa);

	return code >> (n_bits - 1) & 1 ? -v : v;
}

double ref_mfma_value(enum ref_mfma_type type, enum ref_target target, uint64_t bits)
{
	bool fnuz = target == REF_GFX942;
	unsigned code = (unsigned)(bits & ((1ull << (ref_mfma_bits(type) % 64)) - 1));

	switch (type) {
	case REF_MFMA_F64:
		return (double)fp_value(F64, bits);
	case REF_MFMA_F32:
		return (double)fp_value(F32, code);
	case REF_MFMA_XF32:
		return xf32_value(code);
	case REF_MFMA_F16: /* MI200 takes 16-bit denormals for zero */
		return (double)fp_value(F16, target == REF_GFX90A ? fp_flush(F16, code) : code);
	case REF_MFMA_BF16: /* the upper half of an f32 */
		bits = (uint64_t)code << 16;
		return (double)fp_value(F32, target == REF_GFX90A ? fp_flush(F32, bits) : bits);
	case REF_MFMA_FP8:
		if (fnuz ? code == 0x80 : (code & 0x7f) == 0x7f)
			return NAN;
		return small_value(code, 8, 3, fnuz ? 8 : 7);
	case REF_MFMA_BF8:
		if (fnuz ? code == 0x80 : (code & 0x7f) > 0x7c)
			return NAN;
		if (!fnuz && (code & 0x7f) == 0x7c)
			return code & 0x80 ? -INFINITY : INFINITY;
		return small_value(code, 8, 2, fnuz ? 16 : 15);
	case REF_MFMA_FP6:
		return small_value(code, 6, 3, 1);
	case REF_MFMA_BF6:
		return small_value(code, 6, 2, 3);
	case REF_MFMA_FP4:
		return small_value(code, 4, 1, 1);
	default:
		return (int8_t)code;
	}
}

/* The values of a lane's first n elements; the bits of one may lie in two registers. */
static void read_elements(enum ref_mfma_type type, enum ref_target target,
			  const uint32_t (*regs)[64], unsigned n, double (*out)[64])
{
	unsigned bits = ref_mfma_bits(type);

	for (unsigned e = 0; e < n; e++)
		for (unsigned lane = 0; lane < 64; lane++) {
			unsigned at = e * bits;
			uint64_t raw = regs[at / 32][lane];

			if (at % 32 + bits > 32)
				raw |= (uint64_t)regs[at / 32 + 1][lane] << 32;
			out[e][lane] = ref_mfma_value(type, target, raw >> at % 32);
		}
}

static unsigned blgp_lane(unsigned lane, unsigned blgp)
{
	switch (blgp) {
	case 0:
		return lane;
	case 1:
	case 2: /* one half to both */
		return lane % 32 + 32 * (blgp - 1);
	case 3: /* rotate down by 16 */
		return (lane + 16) % 64;
	default: /* one quarter to all */
		return lane % 16 + 16 * (blgp - 4);
	}
}

struct place {
	unsigned item, lane;
};

static struct place place_of(const struct ref_mfma *op, unsigned block, unsigned i, unsigned j)
{
	unsigned h = op->a == REF_MFMA_F64 ? 1 : 4;
	unsigned per_item =
		op->m * op->m / h; /* lanes that one block fills with one group of h rows */
	unsigned blocks_wide = per_item >= 64 ? 1 : 64 / per_item;
	unsigned groups_wide = 64 / blocks_wide / op->m, groups = op->m / (h * groups_wide);

	if (h == 1 && op->m == 4) /* blocks inside of rows, unlike all others */
		return (struct place){ 0, j + 4 * block + 16 * i };
	return (struct place){
		i % h + h * (i / (h * groups_wide) + groups * (block / blocks_wide)),
		j + op->m * (i / h % groups_wide + groups_wide * (block % blocks_wide)),
	};
}

/* One product: which elements of A and B, and by what it is scaled. */
struct term {
	unsigned a_lane, a_element, b_lane, b_element;
	double scale;
};

static double scale_value(const uint32_t *reg, unsigned lane, unsigned byte)
{
	unsigned code = reg[lane] >> 8 * byte & 0xff;

	return code == 0xff ? NAN : ldexp(1, (int)code - 127);
}

/* Where k is in a lane's f8f6f4 registers. */
static void place_f8f6f4(const struct ref_mfma *op, enum ref_mfma_type type, unsigned k,
			 unsigned *out_group, unsigned *out_element)
{
	unsigned half = op->k / 2u;

	if (ref_mfma_bits(type) == 8) {
		*out_group = k % half / 16;
		*out_element = k % 16 + k / half * 16;
	} else {
		*out_group = k / 32;
		*out_element = k % 32;
	}
}

/* B of eight registers: the first four are of the lower half of k, the last four of the upper one. */
static void place_sparse_b(const struct ref_mfma *op, unsigned k, unsigned *out_group,
			   unsigned *out_element)
{
	unsigned per = op->k_per_lane;

	if (per * ref_mfma_bits(op->b) == 8 * 32) {
		bool upper = k >= op->k / 2u;

		k -= upper ? op->k / 2u : 0;
		*out_group = k / (per / 2);
		*out_element = k % (per / 2) + (upper ? per / 2 : 0);
	} else {
		*out_group = k / per;
		*out_element = k % per;
	}
}

/* Term n of the sum for row i and column j. */
static struct term term_of(const struct ref_mfma *op, const struct ref_mfma_in *in, unsigned block,
			   unsigned i, unsigned j, unsigned n)
{
	unsigned group = 1u << in->cbsz, per = op->k_per_lane;
	unsigned a_block = block / group * group + in->abid % group;
	struct term t = { .scale = 1 };

	if (op->f8f6f4) {
		unsigned a_group, b_group;

		place_f8f6f4(op, ref_mfma_f8f6f4_type(in->cbsz), n, &a_group, &t.a_element);
		place_f8f6f4(op, ref_mfma_f8f6f4_type(in->blgp), n, &b_group, &t.b_element);
		t.a_lane = i + op->m * a_group;
		t.b_lane = j + op->m * b_group;
		if (op->scaled)
			t.scale = scale_value(in->scale_a, i + op->m * (n / 32), in->scale_byte_a) *
				  scale_value(in->scale_b, j + op->m * (n / 32), in->scale_byte_b);
	} else if (op->sparse) {
		unsigned per_a = per / 2, n_sets = 16 / per_a,
			 set = in->cbsz % 4 ? 0 : in->abid % n_sets;
		unsigned row = n / per_a, e = n % per_a, bit = 2 * per_a * set + 2 * e, b_group;

		unsigned k = per * row + e / 2 * 4;

		t.a_lane = i + op->m * row;
		t.a_element = e;
		k += in->index[t.a_lane] >> bit & 3;
		place_sparse_b(op, k, &b_group, &t.b_element);
		t.b_lane = j + op->m * b_group;
	} else {
		unsigned row = n / per;

		t.a_lane = i + op->m * (a_block + op->blocks * row);
		t.b_lane = blgp_lane(j + op->m * (block + op->blocks * row), in->blgp);
		t.a_element = t.b_element = n % per;
	}
	return t;
}

void ref_mfma_run(const struct ref_mfma *op, enum ref_target target, const struct ref_mfma_in *in,
		  uint32_t (*d)[64], double (*slack)[64])
{
	static double a[32][64], b[32][64]; /* a lane has 32 elements at most */
	enum ref_mfma_type a_type = op->f8f6f4 ? ref_mfma_f8f6f4_type(in->cbsz) : op->a;
	enum ref_mfma_type b_type = op->f8f6f4 ? ref_mfma_f8f6f4_type(in->blgp) : op->b;
	bool flush = target == REF_GFX90A && (op->a == REF_MFMA_F16 || op->a == REF_MFMA_BF16);
	bool is_f64 = op->a == REF_MFMA_F64;
	double sign = (in->neg ^ in->neg >> 1) & 1 ? -1 : 1;
	quad ulp = is_f64 ? 0x1p-52Q : 0x1p-23Q, smallest = is_f64 ? 0x1p-1021Q : 0x1p-125Q;

	read_elements(a_type, target, in->a, op->k_per_lane / (op->sparse ? 2u : 1u), a);
	read_elements(b_type, target, in->b, op->k_per_lane, b);
	for (unsigned block = 0; block < op->blocks; block++)
		for (unsigned ij = 0; ij < (unsigned)op->m * op->m; ij++) {
			unsigned i = ij / op->m, j = ij % op->m;
			struct place at = place_of(op, block, i, j);
			uint64_t raw = is_f64 ? in->c[2 * at.item][at.lane] |
							(uint64_t)in->c[2 * at.item + 1][at.lane]
								<< 32
					      : in->c[at.item][at.lane];
			int64_t whole = (int32_t)raw;
			quad sum = fp_value(is_f64 ? F64 : F32, flush ? fp_flush(F32, raw) : raw);
			double size;

			if (in->neg & 4)
				sum = -sum;
			size = (double)fabsq(sum);
			for (unsigned n = 0; n < op->k / (op->sparse ? 2u : 1u); n++) {
				struct term t = term_of(op, in, block, i, j, n);
				double x = sign * a[t.a_element][t.a_lane];
				double y = b[t.b_element][t.b_lane];

				/* exact in double precision, but for f64 */
				sum += is_f64 ? (quad)x * y : (quad)(x * y * t.scale);
				size += fabs(x * y * t.scale);
				whole += op->a == REF_MFMA_I8 ? (int64_t)(x * y) : 0;
			}
			if (op->a == REF_MFMA_I8) {
				d[at.item][at.lane] = (uint32_t)whole;
				slack[at.item][at.lane] = 0;
			} else if (is_f64) {
				raw = fp_rounded(F64, sum, ROUND_NEAREST);
				d[2 * at.item][at.lane] = (uint32_t)raw;
				d[2 * at.item + 1][at.lane] = (uint32_t)(raw >> 32);
				slack[2 * at.item][at.lane] =
					(double)(size * ulp * op->k + smallest);
			} else {
				raw = fp_rounded(F32, sum, ROUND_NEAREST);
				d[at.item][at.lane] = (uint32_t)(flush ? fp_flush(F32, raw) : raw);
				slack[at.item][at.lane] =
					(double)(size * ulp * (op->k + 1) + smallest);
			}
		}
}
