/*
 * mfma_sparse: D += A * B where A has at most two numbers in each four consecutive k.
 *
 * A lane holds `per` numbers of one row of A, which stand for 2 * per consecutive k: numbers 2 g and
 * 2 g + 1 are two of the g-th four, and two bits for each, in the row's lane of the index register, say
 * which. It also holds 2 * per elements of one column of B: consecutive ones (gfx942's shapes, four
 * registers), or two runs of four registers, each one of a half of K (gfx950's larger shapes). Elements
 * that no number meets are not read: their NaNs do not count. Two numbers of the same place both count.
 *
 * The index register has 32 / (2 * per) parts. abid chooses one while cbsz is 0; else it is the first.
 * Lanes of rows and columns and the layout of D are those of mfma.h, and so is the order of the sum.
 * There is neither blgp nor a constant accumulator.
 *
 * Evidence  AMD's matrix calculator for gfx942; composable_kernel's layouts for gfx950.
 */
#ifndef WS_SOFTGPU_EXEC_MFMA_SPARSE_H
#define WS_SOFTGPU_EXEC_MFMA_SPARSE_H

#include "softgpu/exec/mfma.h"

#define SG_SMFMAC_PRODUCT(kind, type, vector, madd)                                                \
	static inline __attribute__((always_inline)) void smfmac_product_##kind(                   \
		uint32_t *d, type(*a)[SG_LANES], type(*b)[SG_LANES], const uint32_t *index,        \
		unsigned m, unsigned k, unsigned per, unsigned runs)                               \
	{                                                                                          \
		const unsigned slices = k / (2 * per), run = 2 * per / runs;                       \
		for (unsigned r = 0; r < m * m / SG_LANES; r++)                                    \
			for (unsigned g = 0; g < MFMA_SLICES(m); g++) {                            \
				unsigned row = mfma_row(m, r, g);                                  \
				uint32_t *at = d + r * SG_LANES + g * m;                           \
				vector acc[32 / MV_N];                                             \
				for (unsigned j = 0; j < m / MV_N; j++)                            \
					acc[j] = *(const vector *)(at + j * MV_N);                 \
				for (unsigned n = 0; n < slices * per; n++) {                      \
					unsigned s = n / per, e = n % per, lane = row + m * s;     \
					unsigned met = 2 * per * s + e / 2 * 4 +                   \
						       (index[lane] >> 2 * e & 3);                 \
					unsigned half = met / (k / runs), at_k = met % (k / runs); \
					const type *bv =                                           \
						b[half * run + at_k % run] + m * (at_k / run);     \
					for (unsigned j = 0; j < m / MV_N; j++)                    \
						acc[j] = madd(a[e][lane],                          \
							      *(const vector *)(bv + j * MV_N),    \
							      acc[j]);                             \
				}                                                                  \
				for (unsigned j = 0; j < m / MV_N; j++)                            \
					*(vector *)(at + j * MV_N) = acc[j];                       \
			}                                                                          \
	}
SG_SMFMAC_PRODUCT(fused, float, mfma_f32, mfma_fused)
SG_SMFMAC_PRODUCT(exact, float, mfma_f32, mfma_exact)
SG_SMFMAC_PRODUCT(int, uint32_t, mfma_u32, mfma_int)

/* The part of the index register that counts, in the low bits. A copy: it may be a register of D. */
static inline void smfmac_index(uint32_t *to, const struct sg_wave *w, const struct sg_exec_insn *i,
				unsigned per)
{
	const uint32_t *from = sg_src(w, i, SG_S2);
	const struct sg_decoded_insn *f = i->fields;
	const unsigned part = f->cbsz & 3 ? 0 : f->abid % (16 / per);

	SG_EACH_LANE
	to[l] = from[l] >> part * 2 * per;
}

/* how many runs B is: those of its registers, in fours */
#define SMFMAC_RUNS_f16x4 1
#define SMFMAC_RUNS_f16x8 2
#define SMFMAC_RUNS_bf16x4 1
#define SMFMAC_RUNS_bf16x8 2
#define SMFMAC_RUNS_i8x8 1
#define SMFMAC_RUNS_i8x16 2

/* type: of a lane's numbers of A; B has twice as many. */
#define SG_OP_smfmac(name, type, m, k)                                                             \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		MFMA_TYPE(MFMA_KIND_##type) a[MFMA_PER_##type][SG_LANES];                          \
		MFMA_TYPE(MFMA_KIND_##type) b[2 * MFMA_PER_##type][SG_LANES];                      \
		uint32_t index[SG_LANES];                                                          \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		smfmac_index(index, w, i, MFMA_PER_##type);                                        \
		MFMA_LOAD_##type(a, sg_src(w, i, SG_S0), MFMA_PER_##type);                         \
		MFMA_LOAD_##type(b, sg_src(w, i, SG_S1), 2 * MFMA_PER_##type);                     \
		MFMA_CAT(smfmac_product_, MFMA_KIND_##type)                                        \
		(sg_dst(w, i), a, b, index, m, k, MFMA_PER_##type, SMFMAC_RUNS_##type);            \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

/* 8-bit floats, `per` a lane. */
#define SG_OP_smfmac_f8(name, fa, fb, m, k, per)                                                   \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		float a[per][SG_LANES], b[2 * (per)][SG_LANES];                                    \
		uint32_t index[SG_LANES];                                                          \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		smfmac_index(index, w, i, per);                                                    \
		mfma_load_##fa(w, a, sg_src(w, i, SG_S0), per);                                    \
		mfma_load_##fb(w, b, sg_src(w, i, SG_S1), 2 * (per));                              \
		smfmac_product_exact(sg_dst(w, i), a, b, index, m, k, per, (per) / 8);             \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

#endif
