/*
 * mfma: the matrix instructions, D = A * B + C on tiles spread over the lanes.
 *
 * A shape is (M, K, blocks): M x K times K x M, `blocks` of them side by side, N = M. A lane holds
 * `per` consecutive k of one row of A (column of B), so 64 lanes are 64 / M slices of M rows:
 *
 *	A[row][k] of block b    lane = row + M * slice, element k % per,
 *	                        slice = b * (K / per) + k / per; B the same with its column
 *	D of M = 32             lane = column + 32 * (row / 4 % 2),
 *	                        register = 16 b + 4 * (row / 8) + row % 4
 *	D of M = 16             lane = column + 16 * (row / 4), register = 4 b + row % 4
 *	D of M = 4              lane = column + 4 b, register = row
 *	f64, M = 16             D: lane = column + 16 * (row % 4), register pair = row / 4
 *	f64, M = 4, 4 blocks    A, B: lane = row + 4 b + 16 k; D: lane = column + 4 b + 16 * row
 *
 * From gfx942 on there are 8-bit floats, xf32 (f32 rounded to ten bits of mantissa), neg of the f64
 * matrices in the bits of blgp, and larger K in more elements a lane, always consecutive ones.
 *
 * cbsz, abid: 2^cbsz neighbouring blocks all use the A of number abid among them (numbers that a
 * shape does not have wrap around). blgp rearranges the lanes of B. EXEC does not count.
 *
 * Arithmetic: per element one chain of fused multiply-adds over ascending k that starts with C, in
 * IEEE single (f64: double; i8: wrapping 32-bit) precision. The order is fixed, so a result does
 * not depend on the level or the thread; real chips add the products of a group of k in a wider
 * adder, and last bits may differ from theirs. Denormals are kept, except that MI200 takes those of
 * f16 and bf16 sources, of their C and of their result for zero.
 */
#ifndef WS_SOFTGPU_EXEC_MFMA_H
#define WS_SOFTGPU_EXEC_MFMA_H

#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/lane_small.h"
#include "softgpu/isa/isa.h"

#define MFMA_SLICES(m) (SG_LANES / (m))

/* Matrix and dot product units round to nearest and keep denormals, whatever MODE says. Returns
 * what sg_fixed_end() puts back; 0 when MODE says the same. */
static inline uint32_t sg_fixed_begin(const struct sg_wave *w)
{
	uint32_t fpmode;

	if ((w->mode & SG_MODE_FP_MASK) == SG_MODE_FP_DEFAULT)
		return 0;
	fpmode = sg_fpmode_get();
	sg_fpmode_set(SG_FPMODE_DEFAULT);
	return fpmode;
}

static inline void sg_fixed_end(uint32_t fpmode)
{
	if (fpmode)
		sg_fpmode_set(fpmode);
}

/* ---- vectors of columns ---- */

#if defined(__AVX512F__)
#define MV_N 16
#elif defined(__AVX2__)
#define MV_N 8
#else
#define MV_N 4
#endif
typedef float mfma_f32 __attribute__((vector_size(MV_N * 4), aligned(4), may_alias));
typedef uint32_t mfma_u32 __attribute__((vector_size(MV_N * 4), aligned(4), may_alias));

static inline mfma_f32 mfma_fused(float a, mfma_f32 b, mfma_f32 c)
{
#if defined(__AVX512F__)
	return (mfma_f32)_mm512_fmadd_ps(_mm512_set1_ps(a), (__m512)b, (__m512)c);
#elif defined(__AVX2__)
	return (mfma_f32)_mm256_fmadd_ps(_mm256_set1_ps(a), (__m256)b, (__m256)c);
#else
	for (unsigned j = 0; j < MV_N; j++)
		c[j] = __builtin_fmaf(a, b[j], c[j]);
	return c;
#endif
}

/* The product of two halves is exact in single precision: nothing to fuse, on hosts without FMA. */
static inline mfma_f32 mfma_exact(float a, mfma_f32 b, mfma_f32 c)
{
#if defined(__AVX2__)
	return mfma_fused(a, b, c);
#else
	return a * b + c;
#endif
}

static inline mfma_u32 mfma_int(uint32_t a, mfma_u32 b, mfma_u32 c)
{
	return a * b + c;
}

/* ---- elements of A and B: x[e][lane] ---- */

static inline void mfma_load_f32(float (*x)[SG_LANES], const uint32_t *p, unsigned n)
{
	memcpy(x, p, n * sizeof(x[0]));
}

static inline void mfma_load_xf32(float (*x)[SG_LANES], const uint32_t *p, unsigned n)
{
	for (unsigned e = 0; e < n; e++)
		SG_EACH_LANE
	x[e][l] = f32_xf32(get_f32(p + e * SG_LANES, l));
}

static inline void mfma_load_f16(float (*x)[SG_LANES], const uint32_t *p, unsigned n)
{
	for (unsigned e = 0; e < n; e++) {
		const uint32_t *from = p + (e / 2) * SG_LANES;
		const unsigned shift = e % 2 * 16;

#if defined(__AVX512F__)
		for (unsigned l = 0; l < SG_LANES; l += 16) {
			__m512i v = _mm512_srli_epi32(_mm512_loadu_si512(from + l), shift);

			_mm512_storeu_ps(x[e] + l, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)));
		}
#elif defined(__AVX2__) && defined(__F16C__)
		for (unsigned l = 0; l < SG_LANES; l += 8) {
			__m256i v = _mm256_loadu_si256((const __m256i *)(from + l));

			v = _mm256_srli_epi32(v, (int)shift);
			v = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
			v = _mm256_permute4x64_epi64(_mm256_packus_epi32(v, v), 0x08);
			_mm256_storeu_ps(x[e] + l, _mm256_cvtph_ps(_mm256_castsi256_si128(v)));
		}
#else
		SG_EACH_LANE
		x[e][l] = f16_exact_f32((uint16_t)(from[l] >> shift));
#endif
	}
}

static inline void mfma_load_bf16(float (*x)[SG_LANES], const uint32_t *p, unsigned n)
{
	for (unsigned e = 0; e < n; e++) {
		const uint32_t *from = p + e / 2 * SG_LANES;
		const unsigned shift = e % 2 ? 0 : 16;

		SG_EACH_LANE
		x[e][l] = sg_as_f32((from[l] << shift) & 0xffff0000u);
	}
}

static inline void mfma_load_i8(uint32_t (*x)[SG_LANES], const uint32_t *p, unsigned n)
{
	for (unsigned e = 0; e < n; e++)
		SG_EACH_LANE
	x[e][l] = (uint32_t)((int32_t)(p[e / 4 * SG_LANES + l] << (24 - 8 * (e % 4))) >> 24);
}

/* ---- MI200: denormals of 16-bit types ---- */

static inline void mfma_flush(float *to, const float *from, unsigned n, float least)
{
#pragma GCC ivdep
	for (unsigned l = 0; l < n; l++)
		to[l] = __builtin_fabsf(from[l]) < least ? __builtin_copysignf(0, from[l])
							 : from[l];
}

/* blgp: which lane of B a lane gets. */
static inline unsigned mfma_b_lane(unsigned lane, unsigned blgp)
{
	switch (blgp) {
	case 1:
	case 2:
		return lane % 32 + (blgp - 1) * 32;
	case 3:
		return (lane + 16) % SG_LANES;
	case 4:
	case 5:
	case 6:
	case 7:
		return lane % 16 + (blgp - 4) * 16;
	}
	return lane;
}

static inline void mfma_permute_b(uint32_t (*x)[SG_LANES], unsigned per, unsigned blgp)
{
	uint32_t from[SG_LANES];

	for (unsigned e = 0; e < per; e++) {
		memcpy(from, x[e], sizeof(from));
		for (unsigned l = 0; l < SG_LANES; l++)
			x[e][l] = from[mfma_b_lane(l, blgp)];
	}
}

/* ---- the product ---- */

/* Row of D, for its register r in lane group g (a group is M lanes). */
static inline unsigned mfma_row(unsigned m, unsigned r, unsigned g)
{
	return m == 32 ? r % 16 / 4 * 8 + 4 * g + r % 4 : m == 16 ? 4 * g + r % 4 : r;
}

static inline unsigned mfma_block(unsigned m, unsigned r, unsigned g)
{
	return m == 32 ? r / 16 : m == 16 ? r / 4 : g;
}

/*
 * One register of D in one lane group is M columns of one row. For M = 4 a group is too narrow for
 * a vector: there the groups of a register are done together, with A spread over the lanes first.
 */
#define SG_MFMA_PRODUCT(kind, type, vector, madd)                                                  \
	static inline __attribute__((always_inline)) void mfma_product_##kind(                     \
		uint32_t *d, const uint32_t *c, type(*a)[SG_LANES], type(*b)[SG_LANES],            \
		unsigned m, unsigned k, unsigned blocks, unsigned per, unsigned cbsz,              \
		unsigned abid)                                                                     \
	{                                                                                          \
		const unsigned slices = k / per, n_regs = m * m * blocks / SG_LANES;               \
		for (unsigned r = 0; r < n_regs; r++)                                              \
			for (unsigned g = 0; g < MFMA_SLICES(m); g++) {                            \
				unsigned block = mfma_block(m, r, g), row = mfma_row(m, r, g);     \
				unsigned a_block = ((block >> cbsz << cbsz) + abid) % blocks;      \
				unsigned at = r * SG_LANES + g * m;                                \
				vector acc[32 / MV_N];                                             \
				for (unsigned j = 0; j < m / MV_N; j++)                            \
					acc[j] = *(const vector *)(c + at + j * MV_N);             \
				for (unsigned s = 0; s < slices; s++)                              \
					for (unsigned e = 0; e < per; e++) {                       \
						type av = a[e][row + m * (a_block * slices + s)];  \
						const type *bv = b[e] + m * (block * slices + s);  \
						for (unsigned j = 0; j < m / MV_N; j++)            \
							acc[j] = madd(av,                          \
								      *(const vector *)(bv +       \
											j * MV_N), \
								      acc[j]);                     \
					}                                                          \
				for (unsigned j = 0; j < m / MV_N; j++)                            \
					*(vector *)(d + at + j * MV_N) = acc[j];                   \
			}                                                                          \
	}
SG_MFMA_PRODUCT(fused, float, mfma_f32, mfma_fused)
SG_MFMA_PRODUCT(exact, float, mfma_f32, mfma_exact)
SG_MFMA_PRODUCT(int, uint32_t, mfma_u32, mfma_int)

static inline unsigned mfma_a_group(unsigned g, unsigned cbsz, unsigned abid)
{
	return ((g >> cbsz << cbsz) + abid) % (SG_LANES / 4);
}

#define SG_MFMA_NARROW(kind, type, madd)                                                           \
	static inline void mfma_narrow_##kind(uint32_t *d, const uint32_t *c, type(*a)[SG_LANES],  \
					      type(*b)[SG_LANES], unsigned k, unsigned cbsz,       \
					      unsigned abid)                                       \
	{                                                                                          \
		for (unsigned r = 0; r < 4; r++) {                                                 \
			type acc[SG_LANES];                                                        \
			memcpy(acc, c + r * SG_LANES, sizeof(acc));                                \
			for (unsigned e = 0; e < k; e++) {                                         \
				type spread[SG_LANES];                                             \
				for (unsigned g = 0; g < SG_LANES / 4; g++)                        \
					for (unsigned j = 0; j < 4; j++)                           \
						spread[4 * g + j] =                                \
							a[e][r + 4 * mfma_a_group(g, cbsz, abid)]; \
				SG_EACH_LANE                                                       \
				acc[l] = madd(spread[l], b[e][l], acc[l]);                         \
			}                                                                          \
			memcpy(d + r * SG_LANES, acc, sizeof(acc));                                \
		}                                                                                  \
	}

#define MFMA_MADD_LANE(a, b, c) ((a) * (b) + (c))
SG_MFMA_NARROW(fused, float, __builtin_fmaf)
SG_MFMA_NARROW(exact, float, MFMA_MADD_LANE)
SG_MFMA_NARROW(int, uint32_t, MFMA_MADD_LANE)

/* ---- handlers ---- */

/* C as an array of lanes: a constant is spread into `room`, and so is a C whose registers are partly
 * those of D, which is written while C is still read. */
static inline const uint32_t *mfma_c(const struct sg_wave *w, const struct sg_exec_insn *i,
				     uint32_t *room, unsigned n_regs, bool wide)
{
	if (!(i->s_const & 1u << SG_S2)) {
		const uint32_t *c = sg_src(w, i, SG_S2), *d = sg_dst(w, i);
		const size_t n = (size_t)n_regs * SG_LANES;

		if (c == d || c + n <= d || d + n <= c)
			return c;
		return memcpy(room, c, n * sizeof(*c));
	}
	for (unsigned r = 0; r < n_regs; r++)
		sg_splat32(room + r * SG_LANES,
			   !wide ? i->literal : (uint32_t)(i->target >> r % 2 * 32));
	return room;
}

/*
 * The types of elements: the function that loads a lane's, how many they are, which product, and the
 * smallest number that MI200 does not take for zero (0: its denormals count, or it has no such type).
 */
#define MFMA_LOAD_f32x1 mfma_load_f32
#define MFMA_LOAD_xf32x2 mfma_load_xf32
#define MFMA_LOAD_f16x4 mfma_load_f16
#define MFMA_LOAD_f16x8 mfma_load_f16
#define MFMA_LOAD_bf16x2 mfma_load_bf16
#define MFMA_LOAD_bf16x4 mfma_load_bf16
#define MFMA_LOAD_bf16x8 mfma_load_bf16
#define MFMA_LOAD_i8x4 mfma_load_i8
#define MFMA_LOAD_i8x8 mfma_load_i8
#define MFMA_LOAD_i8x16 mfma_load_i8
#define MFMA_PER_f32x1 1
#define MFMA_PER_xf32x2 2
#define MFMA_PER_f16x4 4
#define MFMA_PER_f16x8 8
#define MFMA_PER_bf16x2 2
#define MFMA_PER_bf16x4 4
#define MFMA_PER_bf16x8 8
#define MFMA_PER_i8x4 4
#define MFMA_PER_i8x8 8
#define MFMA_PER_i8x16 16
#define MFMA_KIND_f32x1 fused
#define MFMA_KIND_xf32x2 fused
#define MFMA_KIND_f16x4 exact
#define MFMA_KIND_f16x8 exact
#define MFMA_KIND_bf16x2 fused
#define MFMA_KIND_bf16x4 fused
#define MFMA_KIND_bf16x8 fused
#define MFMA_KIND_i8x4 int
#define MFMA_KIND_i8x8 int
#define MFMA_KIND_i8x16 int
#define MFMA_LEAST_f32x1 0
#define MFMA_LEAST_xf32x2 0
#define MFMA_LEAST_f16x4 0x1p-14f
#define MFMA_LEAST_f16x8 0
#define MFMA_LEAST_bf16x2 0x1p-126f
#define MFMA_LEAST_bf16x4 0x1p-126f
#define MFMA_LEAST_bf16x8 0
#define MFMA_LEAST_i8x4 0
#define MFMA_LEAST_i8x8 0
#define MFMA_LEAST_i8x16 0
#define MFMA_TYPE_fused float
#define MFMA_TYPE_exact float
#define MFMA_TYPE_int uint32_t
#define MFMA_CAT2(a, b) a##b
#define MFMA_CAT(a, b) MFMA_CAT2(a, b)
#define MFMA_TYPE(kind) MFMA_CAT(MFMA_TYPE_, kind)

#define SG_OP_mfma(name, type, m, k, blocks)                                                       \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		MFMA_TYPE(MFMA_KIND_##type) a[MFMA_PER_##type][SG_LANES];                          \
		MFMA_TYPE(MFMA_KIND_##type) b[MFMA_PER_##type][SG_LANES];                          \
		uint32_t room[32 * SG_LANES];                                                      \
		const struct sg_decoded_insn *f = i->fields;                                       \
		const unsigned n_regs = m * m * blocks / SG_LANES;                                 \
		const bool flush = MFMA_LEAST_##type > 0 && w->launch->target == SG_ISA_GFX90A;    \
		const uint32_t *c = mfma_c(w, i, room, n_regs, false);                             \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		uint32_t *d = sg_dst(w, i);                                                        \
		MFMA_LOAD_##type(a, sg_src(w, i, SG_S0), MFMA_PER_##type);                         \
		MFMA_LOAD_##type(b, sg_src(w, i, SG_S1), MFMA_PER_##type);                         \
		if (flush) {                                                                       \
			mfma_flush((float *)a, (float *)a, MFMA_PER_##type *SG_LANES,              \
				   MFMA_LEAST_##type);                                             \
			mfma_flush((float *)b, (float *)b, MFMA_PER_##type *SG_LANES,              \
				   MFMA_LEAST_##type);                                             \
			mfma_flush((float *)room, (const float *)c, n_regs *SG_LANES, 0x1p-126f);  \
			c = room;                                                                  \
		}                                                                                  \
		if (f->blgp)                                                                       \
			mfma_permute_b((uint32_t(*)[SG_LANES])b, MFMA_PER_##type, f->blgp);        \
		if (m == 4)                                                                        \
			MFMA_CAT(mfma_narrow_, MFMA_KIND_##type)(d, c, a, b, k, f->cbsz, f->abid); \
		else                                                                               \
			MFMA_CAT(mfma_product_, MFMA_KIND_##type)                                  \
		(d, c, a, b, m, k, blocks, MFMA_PER_##type, f->cbsz, f->abid);                     \
		if (flush)                                                                         \
			mfma_flush((float *)d, (float *)d, n_regs *SG_LANES, 0x1p-126f);           \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

/* ---- 8-bit floats ---- */

/* With a constant format the loop is a few vector instructions; once for all handlers. */
#define SG_MFMA_LOAD_F8(name, gfx942_format, gfx950_format)                                        \
	static __attribute__((noinline)) void mfma_load_##name(const struct sg_wave *w,            \
							       float(*restrict x)[SG_LANES],       \
							       const uint32_t *p, unsigned n)      \
	{                                                                                          \
		const bool is_gfx950 = w->launch->target >= SG_ISA_GFX950;                         \
		for (unsigned e = 0; e < n; e++) {                                                 \
			const uint32_t *from = p + e / 4 * SG_LANES;                               \
			const unsigned shift = e % 4 * 8;                                          \
			if (is_gfx950) {                                                           \
				SG_EACH_LANE                                                       \
				x[e][l] = small_f32(from[l] >> shift, gfx950_format);              \
			} else {                                                                   \
				SG_EACH_LANE                                                       \
				x[e][l] = small_f32(from[l] >> shift, gfx942_format);              \
			}                                                                          \
		}                                                                                  \
	}
SG_MFMA_LOAD_F8(fp8, FP8_FNUZ, FP8_OCP)
SG_MFMA_LOAD_F8(bf8, BF8_FNUZ, BF8_OCP)

/* Eight elements a lane; A and B are fp8 or bf8 each. */
#define SG_OP_mfma_f8(name, fa, fb, m, k)                                                          \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		float a[8][SG_LANES], b[8][SG_LANES];                                              \
		uint32_t room[16 * SG_LANES];                                                      \
		const uint32_t *c = mfma_c(w, i, room, m * m / SG_LANES, false);                   \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		mfma_load_##fa(w, a, sg_src(w, i, SG_S0), 8);                                      \
		mfma_load_##fb(w, b, sg_src(w, i, SG_S1), 8);                                      \
		mfma_product_exact(sg_dst(w, i), c, a, b, m, k, 1, 8, 0, 0);                       \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

/* ---- f64 ---- */

static inline void mfma_get_f64(double *restrict to, const uint32_t *p, bool negate)
{
	SG_EACH_LANE
	to[l] = negate ? -get_f64(p, l) : get_f64(p, l);
}

static inline void mfma_put_f64(uint32_t *p, const double *restrict from)
{
	SG_EACH_LANE
	put_f64(p, l, from[l]);
}

/* Registers of D: M = 16 has four pairs, one row in each group of 16 lanes; M = 4 has one. */
#define SG_OP_mfma_f64(name, m, k, blocks)                                                                          \
	SG_HANDLER(name)                                                                                            \
	{                                                                                                           \
		double a[SG_LANES], b[SG_LANES], acc[SG_LANES];                                                     \
		uint32_t room[8 * SG_LANES];                                                                        \
		const uint32_t neg = i->fields->neg;                                                                \
		const uint32_t *c = mfma_c(w, i, room, m == 16 ? 8 : 2, true);                                      \
		uint32_t *d = sg_dst(w, i);                                                                         \
		const uint32_t fpmode = sg_fixed_begin(w);                                                          \
		mfma_get_f64(a, sg_src(w, i, SG_S0), neg & 1);                                                      \
		mfma_get_f64(b, sg_src(w, i, SG_S1), neg & 2);                                                      \
		for (unsigned r = 0; r < m * m * blocks / SG_LANES; r++) {                                          \
			mfma_get_f64(acc, c + r * 2 * SG_LANES, neg & 4);                                           \
			for (unsigned s = 0; s < k; s++)                                                            \
				for (unsigned g = 0; g < SG_LANES; g += m) {                                        \
					/* of 4 rows: group g of 16 lanes; of 4x4 blocks: g / 4 % 4 is the block */ \
					double av = m == 16 ? a[4 * r + g / 16 + 16 * s]                            \
							    : a[g / 16 + g % 16 + 16 * s];                          \
					const double *bv = b + 16 * s + (m == 16 ? 0 : g % 16);                     \
					for (unsigned j = 0; j < m; j++)                                            \
						acc[g + j] = __builtin_fma(av, bv[j], acc[g + j]);                  \
				}                                                                                   \
			mfma_put_f64(d + r * 2 * SG_LANES, acc);                                                    \
		}                                                                                                   \
		sg_fixed_end(fpmode);                                                                               \
		return SG_GO;                                                                                       \
	}

#endif
