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

/* By cbsz or blgp; 5 to 7 are reserved, and read as 0. */
static const struct small_format f8f6f4_formats[8] = {
	{ 4, 3, 7, SMALL_FN },     { 5, 2, 15, SMALL_IEEE },  { 2, 3, 1, SMALL_FINITE },
	{ 3, 2, 3, SMALL_FINITE }, { 2, 1, 1, SMALL_FINITE }, { 4, 3, 7, SMALL_FN },
	{ 4, 3, 7, SMALL_FN },     { 4, 3, 7, SMALL_FN },
};

/* Element e of every lane. */
static inline void f8f6f4_decode(float *restrict to, const uint32_t *p, unsigned e,
				 struct small_format f)
{
	const unsigned bits = 1u + f.n_exponent + f.n_mantissa, at = e * bits % 32;
	const uint32_t *low = p + e * bits / 32 * SG_LANES;
	const uint32_t *high = at + bits > 32 ? low + SG_LANES : low;

	SG_EACH_LANE
	to[l] = small_f32((uint32_t)((low[l] | (uint64_t)high[l] << 32) >> at), f);
}

/* x[k][row]: the matrix, with its scales applied. */
static inline void f8f6f4_load(double *restrict x, const uint32_t *p, unsigned format, unsigned m,
			       unsigned k, const double *scale)
{
	const struct small_format f = f8f6f4_formats[format];
	const bool is_split = f.n_exponent + f.n_mantissa == 7;

	for (unsigned e = 0; e < F8F6F4_PER; e++) {
		float v[SG_LANES];

		f8f6f4_decode(v, p, e, f);
		for (unsigned g = 0; g < MFMA_SLICES(m); g++) {
			unsigned at = is_split ? 16 * g + e % 16 + e / 16 * (k / 2) : 32 * g + e;

			for (unsigned r = 0; r < m; r++)
				x[at * m + r] = (double)v[g * m + r] * scale[at / 32 * m + r];
		}
	}
}

static inline void f8f6f4_product(uint32_t *d, const uint32_t *c, const double *a, const double *b,
				  unsigned m, unsigned k)
{
	for (unsigned r = 0; r < m * m / SG_LANES; r++)
		for (unsigned g = 0; g < MFMA_SLICES(m); g++) {
			unsigned row = mfma_row(m, r, g), at = r * SG_LANES + g * m;
			double acc[32];

			for (unsigned j = 0; j < m; j++)
				acc[j] = (double)get_f32(c, at + j);
			for (unsigned n = 0; n < k; n++)
				for (unsigned j = 0; j < m; j++)
					acc[j] += a[n * m + row] * b[n * m + j];
			for (unsigned j = 0; j < m; j++)
				put_f32(d, at + j, (float)acc[j]);
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
