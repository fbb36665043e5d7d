/*
 * Matrix instructions. Layout (the MI300 manual gives these formulas for all generations; AMD's matrix
 * instruction calculator prints the same):
 *
 *	A[i][k] of block b   lane i + M * (b + blocks * (k / k_per_lane)), element k % k_per_lane
 *	B[k][j] of block b   lane j + N * (b + blocks * (k / k_per_lane)), the same element
 *	D[i][j] of block b   H rows stay together in one lane's registers: H = 4, for f64 1;
 *	                     f64 4x4: lane j + 4 * b + 16 * i
 *
 * cbsz and abid replace A's block, blgp the lanes of B. The f64 shapes have none of them on gfx90a.
 * EXEC does not matter.
 */
#include "tests/isa/ref/fp.h"

#include <math.h>
#include <quadmath.h>
#include <string.h>

static const struct ref_mfma shapes[] = {
	{ "v_mfma_f32_32x32x1f32", REF_MFMA_F32, 32, 32, 1, 2, 1 },
	{ "v_mfma_f32_16x16x1f32", REF_MFMA_F32, 16, 16, 1, 4, 1 },
	{ "v_mfma_f32_4x4x1f32", REF_MFMA_F32, 4, 4, 1, 16, 1 },
	{ "v_mfma_f32_32x32x2f32", REF_MFMA_F32, 32, 32, 2, 1, 1 },
	{ "v_mfma_f32_16x16x4f32", REF_MFMA_F32, 16, 16, 4, 1, 1 },
	{ "v_mfma_f32_32x32x4f16", REF_MFMA_F16, 32, 32, 4, 2, 4 },
	{ "v_mfma_f32_16x16x4f16", REF_MFMA_F16, 16, 16, 4, 4, 4 },
	{ "v_mfma_f32_4x4x4f16", REF_MFMA_F16, 4, 4, 4, 16, 4 },
	{ "v_mfma_f32_32x32x8f16", REF_MFMA_F16, 32, 32, 8, 1, 4 },
	{ "v_mfma_f32_16x16x16f16", REF_MFMA_F16, 16, 16, 16, 1, 4 },
	{ "v_mfma_i32_32x32x4i8", REF_MFMA_I8, 32, 32, 4, 2, 4 },
	{ "v_mfma_i32_16x16x4i8", REF_MFMA_I8, 16, 16, 4, 4, 4 },
	{ "v_mfma_i32_4x4x4i8", REF_MFMA_I8, 4, 4, 4, 16, 4 },
	{ "v_mfma_i32_32x32x8i8", REF_MFMA_I8, 32, 32, 8, 1, 4 },
	{ "v_mfma_i32_16x16x16i8", REF_MFMA_I8, 16, 16, 16, 1, 4 },
	{ "v_mfma_f32_32x32x2bf16", REF_MFMA_BF16, 32, 32, 2, 2, 2 },
	{ "v_mfma_f32_16x16x2bf16", REF_MFMA_BF16, 16, 16, 2, 4, 2 },
	{ "v_mfma_f32_4x4x2bf16", REF_MFMA_BF16, 4, 4, 2, 16, 2 },
	{ "v_mfma_f32_32x32x4bf16", REF_MFMA_BF16, 32, 32, 4, 1, 2 },
	{ "v_mfma_f32_16x16x8bf16", REF_MFMA_BF16, 16, 16, 8, 1, 2 },
	{ "v_mfma_f32_32x32x4bf16_1k", REF_MFMA_BF16, 32, 32, 4, 2, 4 },
	{ "v_mfma_f32_16x16x4bf16_1k", REF_MFMA_BF16, 16, 16, 4, 4, 4 },
	{ "v_mfma_f32_4x4x4bf16_1k", REF_MFMA_BF16, 4, 4, 4, 16, 4 },
	{ "v_mfma_f32_32x32x8bf16_1k", REF_MFMA_BF16, 32, 32, 8, 1, 4 },
	{ "v_mfma_f32_16x16x16bf16_1k", REF_MFMA_BF16, 16, 16, 16, 1, 4 },
	{ "v_mfma_f64_16x16x4f64", REF_MFMA_F64, 16, 16, 4, 1, 1 },
	{ "v_mfma_f64_4x4x4f64", REF_MFMA_F64, 4, 4, 4, 4, 1 },
};

const struct ref_mfma *ref_mfma_find(const char *mnemonic)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].mnemonic, mnemonic) == 0)
			return &shapes[i];
	return NULL;
}

static const unsigned element_bits[] = {
	[REF_MFMA_F32] = 32, [REF_MFMA_F16] = 16, [REF_MFMA_BF16] = 16,
	[REF_MFMA_I8] = 8,   [REF_MFMA_F64] = 64,
};

unsigned ref_mfma_regs_ab(const struct ref_mfma *op)
{
	return op->k_per_lane * element_bits[op->type] / 32;
}

unsigned ref_mfma_regs_cd(const struct ref_mfma *op)
{
	return op->m * op->n * op->blocks / 64u * (op->type == REF_MFMA_F64 ? 2 : 1);
}

/* Element e of a lane's A or B registers. MI200 takes 16-bit denormals for zero. */
static quad element(const struct ref_mfma *op, enum ref_target target, const uint32_t (*regs)[64],
		    unsigned lane, unsigned e)
{
	bool flush = target == REF_GFX90A;
	unsigned bits = element_bits[op->type], at = e * bits;
	uint64_t raw = regs[at / 32][lane] >> at % 32;

	switch (op->type) {
	case REF_MFMA_F64:
		return fp_value(F64, regs[0][lane] | (uint64_t)regs[1][lane] << 32);
	case REF_MFMA_F32:
		return fp_value(F32, raw);
	case REF_MFMA_F16:
		raw &= 0xffff;
		return fp_value(F16, flush ? fp_flush(F16, raw) : raw);
	case REF_MFMA_BF16: /* the upper half of an f32 */
		raw = raw << 16 & UINT32_MAX;
		return fp_value(F32, flush ? fp_flush(F32, raw) : raw);
	default:
		return (quad)(int8_t)raw;
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
	unsigned h = op->type == REF_MFMA_F64 ? 1 : 4;
	unsigned per_item =
		op->n * op->m / h; /* lanes that one block fills with one group of h rows */
	unsigned blocks_wide = per_item >= 64 ? 1 : 64 / per_item;
	unsigned groups_wide = 64 / blocks_wide / op->n, groups = op->m / (h * groups_wide);

	if (h == 1 && op->m == 4) /* blocks inside of rows, unlike all others */
		return (struct place){ 0, j + 4 * block + 16 * i };
	return (struct place){
		i % h + h * (i / (h * groups_wide) + groups * (block / blocks_wide)),
		j + op->n * (i / h % groups_wide + groups_wide * (block % blocks_wide)),
	};
}

void ref_mfma_run(const struct ref_mfma *op, enum ref_target target, const uint32_t (*a)[64],
		  const uint32_t (*b)[64], const uint32_t (*c)[64], unsigned cbsz, unsigned abid,
		  unsigned blgp, uint32_t (*d)[64], double (*slack)[64])
{
	bool flush =
		target == REF_GFX90A && (op->type == REF_MFMA_F16 || op->type == REF_MFMA_BF16);
	bool is_f64 = op->type == REF_MFMA_F64;
	quad ulp = is_f64 ? 0x1p-52Q : 0x1p-23Q, smallest = is_f64 ? 0x1p-1021Q : 0x1p-125Q;

	for (unsigned block = 0; block < op->blocks; block++) {
		unsigned group = 1u << cbsz, a_block = block / group * group + abid % group;

		for (unsigned ij = 0; ij < op->m * op->n; ij++) {
			unsigned i = ij / op->n, j = ij % op->n;
			struct place at = place_of(op, block, i, j);
			uint64_t raw = is_f64 ? c[2 * at.item][at.lane] |
							(uint64_t)c[2 * at.item + 1][at.lane] << 32
					      : c[at.item][at.lane];
			int64_t whole = (int32_t)raw;
			quad sum = fp_value(is_f64 ? F64 : F32, flush ? fp_flush(F32, raw) : raw);
			quad size = fabsq(sum);

			for (unsigned k = 0; k < op->k; k++) {
				unsigned row = k / op->k_per_lane, e = k % op->k_per_lane;
				quad x = element(op, target, a,
						 i + op->m * (a_block + op->blocks * row), e);
				quad y = element(
					op, target, b,
					blgp_lane(j + op->n * (block + op->blocks * row), blgp), e);

				sum += x * y;
				size += fabsq(x * y);
				whole += op->type == REF_MFMA_I8 ? (int64_t)x * (int64_t)y : 0;
			}
			if (op->type == REF_MFMA_I8) {
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
}
