/*
 * mfma_scaled: gfx950's matrices of 8, 6 and 4-bit floats, with or without scales.
 *
 * A and B each have one of five formats, cbsz is A's and blgp is B's. A lane holds 32 elements of one
 * row of A (column of B), in as many registers as their bits take: G = lane / M is its group, and
 *
 *	8 bits       elements 0 to 15 are k = 16 G and up, elements 16 to 31 are k = K / 2 + 16 G and up
 *	6, 4 bits    elements are k = 32 G and up; 6-bit ones follow each other without gaps
 *
 * A scale is a power of two (E8M0) for 32 consecutive k of one row or column: that of row r and
 * k / 32 = G is in lane r + M * G of a register, in the byte that op_sel (bit 0) and op_sel_hi (bit 1)
 * name.
 *
 * Arithmetic: products are exact, and are added over ascending k in double precision, starting with C;
 * the sum is rounded once. Scales reach beyond what single precision holds, so that a chain of single
 * precision would overflow where the sum does not.
 */
#ifndef WS_SOFTGPU_EXEC_MFMA_SCALED_H
#define WS_SOFTGPU_EXEC_MFMA_SCALED_H

#include "softgpu/exec/mfma.h"

enum { F8F6F4_PER = 32, F8F6F4_ELEMENTS = F8F6F4_PER * SG_LANES };

/* Element e of every lane. */
static inline __attribute__((always_inline)) void f8f6f4_decode(float *restrict to,
								const uint32_t *p, unsigned e,
								struct small_format f)
{
	const unsigned bits = 1u + f.n_exponent + f.n_mantissa, at = e * bits % 32;
	const uint32_t *low = p + e * bits / 32 * SG_LANES;

	if (at + bits <= 32) {
		SG_EACH_LANE
		to[l] = small_f32(low[l] >> at, f);
	} else {
		SG_EACH_LANE
		to[l] = small_f32(low[l] >> at | low[SG_LANES + l] << (32 - at), f);
	}
}

/* format: cbsz or blgp; 5 to 7 are reserved, and read as 0. */
static inline void f8f6f4_decode_as(float *restrict to, const uint32_t *p, unsigned e,
				    unsigned format)
{
	switch (format) { /* constant formats: see mfma.h */
	case 1:
		f8f6f4_decode(to, p, e, BF8_OCP);
		break;
	case 2:
		f8f6f4_decode(to, p, e, FP6_OCP);
		break;
	case 3:
		f8f6f4_decode(to, p, e, BF6_OCP);
		break;
	case 4:
		f8f6f4_decode(to, p, e, FP4_OCP);
		break;
	default:
		f8f6f4_decode(to, p, e, FP8_OCP);
	}
}

/* x[k][row]: the matrix, with its scales applied. */
static __attribute__((noinline)) void f8f6f4_load(double *restrict x, const uint32_t *p,
						  unsigned format, unsigned m, unsigned k,
						  const double *scale)
{
	const bool is_split = format < 2 || format > 4;

	for (unsigned e = 0; e < F8F6F4_PER; e++) {
		float v[SG_LANES];

		f8f6f4_decode_as(v, p, e, format);
		for (unsigned g = 0; g < MFMA_SLICES(m); g++) {
			unsigned at = is_split ? 16 * g + e % 16 + e / 16 * (k / 2) : 32 * g + e;

			for (unsigned r = 0; r < m; r++)
				x[at * m + r] = (double)v[g * m + r] * scale[at / 32 * m + r];
		}
	}
}

/* Four registers of D in one lane group are four consecutive rows: sums that do not wait for each other. */
static inline void f8f6f4_product(uint32_t *d, const uint32_t *c, const double *a, const double *b,
				  unsigned m, unsigned k)
{
	for (unsigned r = 0; r < m * m / SG_LANES; r += 4)
		for (unsigned g = 0; g < MFMA_SLICES(m); g++) {
			const double *rows = a + mfma_row(m, r, g);
			unsigned at = r * SG_LANES + g * m;
			double acc[4][32];

			for (unsigned q = 0; q < 4; q++)
				for (unsigned j = 0; j < m; j++)
					acc[q][j] = (double)get_f32(c, at + q * SG_LANES + j);
			for (unsigned n = 0; n < k; n++)
				for (unsigned q = 0; q < 4; q++)
					for (unsigned j = 0; j < m; j++)
						acc[q][j] += rows[n * m + q] * b[n * m + j];
			for (unsigned q = 0; q < 4; q++)
				for (unsigned j = 0; j < m; j++)
					put_f32(d, at + q * SG_LANES + j, (float)acc[q][j]);
		}
}

/* The scales of A (0) or B (1): a vector register, or one value for all lanes. */
static inline void f8f6f4_scales(double *to, const struct sg_wave *w, const struct sg_exec_insn *i,
				 unsigned k, bool is_scaled)
{
	const struct sg_decoded_insn *f = i->fields;
	const unsigned operand = f->scale[k];
	const unsigned byte = (f->op_sel >> k & 1) | (f->op_sel_hi >> k & 1) << 1;
	uint32_t same[SG_LANES];
	const uint32_t *from = same;

	if (!is_scaled) {
		SG_EACH_LANE
		to[l] = 1;
		return;
	}
	if (operand >= SG_OPND_VGPR0)
		from = w->base[SG_BASE_VGPR] + (operand - SG_OPND_VGPR0) * SG_LANES;
	else if (operand < SG_OPND_INT_0)
		sg_splat32(same, w->s[operand]);
	else
		sg_splat32(same, (uint32_t)(i->target >> 32 * k));
	SG_EACH_LANE
	to[l] = (double)e8m0_f32(from[l] >> 8 * byte);
}

#define SG_OP_mfma_f8f6f4(name, m, k, is_scaled)                                                   \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		double a[F8F6F4_ELEMENTS], b[F8F6F4_ELEMENTS], scale[SG_LANES];                    \
		uint32_t room[16 * SG_LANES];                                                      \
		const uint32_t *c = mfma_c(w, i, room, m * m / SG_LANES, false);                   \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		f8f6f4_scales(scale, w, i, 0, is_scaled);                                          \
		f8f6f4_load(a, sg_src(w, i, SG_S0), i->fields->cbsz, m, k, scale);                 \
		f8f6f4_scales(scale, w, i, 1, is_scaled);                                          \
		f8f6f4_load(b, sg_src(w, i, SG_S1), i->fields->blgp, m, k, scale);                 \
		f8f6f4_product(sg_dst(w, i), c, a, b, m, k);                                       \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

#endif
