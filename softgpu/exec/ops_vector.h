/*
 * ops_vector: everything the rows of the vector tables use: the lane functions, and templates for
 * what is not a function of one lane.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_VECTOR_H
#define WS_SOFTGPU_EXEC_OPS_VECTOR_H

#include "softgpu/exec/cvt_pk32.h"
#include "softgpu/exec/lane_scaled.h"
#include "softgpu/exec/lane_special.h"
#include "softgpu/exec/mfma.h"
#include "softgpu/exec/mfma_scaled.h"
#include "softgpu/exec/mfma_sparse.h"

#define SG_OP_nop(name)                                                                            \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		(void)w;                                                                           \
		(void)i;                                                                           \
		return SG_GO;                                                                      \
	}

/* The first active lane; lane 0 when none is. */
#define SG_OP_readfirstlane(name)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t exec = sg_exec(w);                                                        \
		SG_SPLAT();                                                                        \
		w->s[i->sdst] = sg_src(w, i, SG_S0)[exec ? __builtin_ctzll(exec) : 0];             \
		return SG_GO;                                                                      \
	}

/* These two ignore EXEC; the lane number is a scalar, so any lane of the splat has it. */
#define SG_OP_readlane(name)                                                                       \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		SG_SPLAT();                                                                        \
		w->s[i->sdst] = sg_src(w, i, SG_S0)[sg_src(w, i, SG_S1)[0] % SG_LANES];            \
		return SG_GO;                                                                      \
	}

#define SG_OP_writelane(name)                                                                      \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		SG_SPLAT();                                                                        \
		sg_dst(w, i)[sg_src(w, i, SG_S1)[0] % SG_LANES] = sg_src(w, i, SG_S0)[0];          \
		return SG_GO;                                                                      \
	}

#define SG_OP_swap(name)                                                                           \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t *mask = sg_lane_mask(w);                                            \
		uint32_t *p = w->base[i->base[SG_S0]] + i->off[SG_S0], *q = sg_dst(w, i);          \
		SG_EACH_LANE                                                                       \
		{                                                                                  \
			uint32_t differ = (p[l] ^ q[l]) & mask[l];                                 \
			p[l] ^= differ;                                                            \
			q[l] ^= differ;                                                            \
		}                                                                                  \
		return SG_GO;                                                                      \
	}

/* Four 32-bit sums: the only vector result of four registers. */
#define SG_OP_mqsad_u32(name)                                                                      \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		SG_SPLAT();                                                                        \
		const uint32_t *p0 = sg_src(w, i, SG_S0), *p1 = sg_src(w, i, SG_S1);               \
		const uint32_t *p2 = sg_src(w, i, SG_S2);                                          \
		uint32_t *dst = sg_dst(w, i);                                                      \
		const bool clamp = i->clamp;                                                       \
		SG_EACH_LANE                                                                       \
		{                                                                                  \
			const uint64_t a = get_b64(p0, l);                                         \
			const uint32_t b = p1[l];                                                  \
			for (unsigned j = 0; j < 4; j++)                                           \
				w->result[j * SG_LANES + l] =                                      \
					add_u32(msad4((uint32_t)(a >> 8 * j), b),                  \
						p2[j * SG_LANES + l], clamp);                      \
		}                                                                                  \
		sg_merge(sg_lane_mask(w), dst, w->result, 4);                                      \
		return SG_GO;                                                                      \
	}

/* ---- v_dot2_f32_f16 ---- */

/* Both products are exact in single precision, so two roundings remain: c + lo, then + hi. MI200
 * takes denormals for zero here (`flush`), MI100 does not. */
LANE float f16_dot2(uint32_t a, uint32_t b, float c, bool flush)
{
	const uint32_t mode = flush ? 0 : F16_KEEP;
	float sum = flush ? f32_flush(c) : c;

	sum = f32_fma(f16_f32(LO16(a), mode), f16_f32(LO16(b), mode), sum);
	sum = f32_fma(f16_f32(HI16(a), mode), f16_f32(HI16(b), mode), sum);
	return flush ? f32_flush(sum) : sum;
}

/* acc: the operand it is added to, SG_S2 or SG_D */
#define SG_OP_dot2(name, acc)                                                                      \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const bool flush = w->launch->target == SG_ISA_GFX90A;                             \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		SG_SPLAT();                                                                        \
		const uint32_t *p0 = sg_src(w, i, SG_S0), *p1 = sg_src(w, i, SG_S1);               \
		const uint32_t *p2 = sg_src(w, i, acc);                                            \
		uint32_t *dst = sg_dst(w, i), *out = sg_out(w, dst);                               \
		SG_EACH_LANE                                                                       \
		put_f32(out, l, f16_dot2(p0[l], p1[l], get_f32(p2, l), flush));                    \
		sg_commit(w, dst, out, 1);                                                         \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

/* ---- v_fma_mix: sources are f32 or either half of a register ---- */

enum { MIX_F32, MIX_LO, MIX_HI };

static inline void mix_source(float *restrict to, const uint32_t *p,
			      const struct sg_decoded_insn *f, unsigned k, uint32_t mode)
{
	const bool half = f->op_sel_hi >> k & 1;
	const unsigned shift = f->op_sel >> k & 1 ? 16 : 0;
	const uint32_t keep = f->neg_hi >> k & 1 ? ~F32_SIGN : ~0u; /* neg_hi means abs here */
	const uint32_t flip = f->neg >> k & 1 ? F32_SIGN : 0;

	SG_EACH_LANE
	{
		float v = half ? f16_f32((uint16_t)(p[l] >> shift), mode) : get_f32(p, l);

		to[l] = sg_as_f32((sg_f32_bits(v) & keep) ^ flip);
	}
}

static inline float f32_clamped(float v, uint32_t mode)
{
	float inside = v > 0 ? v : 0;

	inside = inside < 1 ? inside : 1;
	return v != v && !(mode & SG_MODE_DX10_CLAMP) ? v : inside;
}

#define SG_OP_fma_mix(name, to)                                                                    \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		float s[3][SG_LANES] __attribute__((aligned(64)));                                 \
		const uint32_t mode = w->mode;                                                     \
		const bool clamp = i->fields->clamp;                                               \
		SG_SPLAT();                                                                        \
		for (unsigned k = 0; k < 3; k++)                                                   \
			mix_source(s[k], sg_src(w, i, SG_S0 + k), i->fields, k, mode);             \
		uint32_t *dst = sg_dst(w, i), *out = sg_out(w, dst);                               \
		SG_EACH_LANE                                                                       \
		{                                                                                  \
			float v = f32_fma(s[0][l], s[1][l], s[2][l]);                              \
			uint32_t old = dst[l];                                                     \
			v = clamp ? f32_clamped(v, mode) : v;                                      \
			out[l] = to == MIX_F32 ? sg_f32_bits(v)                                    \
				 : to == MIX_LO                                                    \
					 ? (old & 0xffff0000u) | f32_f16(v, mode)                  \
					 : (old & 0xffffu) | (uint32_t)f32_f16(v, mode) << 16;     \
		}                                                                                  \
		sg_commit(w, dst, out, 1);                                                         \
		return SG_GO;                                                                      \
	}

/* ---- v_dot2_f32_bf16 ---- */

LANE float bf16_dot2(uint32_t a, uint32_t b, float c)
{
	const float sum = f32_fma(bf16_f32(LO16(a)), bf16_f32(LO16(b)), c);

	return f32_fma(bf16_f32(HI16(a)), bf16_f32(HI16(b)), sum);
}

#define SG_OP_dot2_bf16(name, acc)                                                                 \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		const uint32_t fpmode = sg_fixed_begin(w);                                         \
		SG_SPLAT();                                                                        \
		const uint32_t *p0 = sg_src(w, i, SG_S0), *p1 = sg_src(w, i, SG_S1);               \
		const uint32_t *p2 = sg_src(w, i, acc);                                            \
		uint32_t *dst = sg_dst(w, i), *out = sg_out(w, dst);                               \
		SG_EACH_LANE                                                                       \
		put_f32(out, l, bf16_dot2(p0[l], p1[l], get_f32(p2, l)));                          \
		sg_commit(w, dst, out, 1);                                                         \
		sg_fixed_end(fpmode);                                                              \
		return SG_GO;                                                                      \
	}

/* ---- v_permlane16_swap_b32, v_permlane32_swap_b32 ---- */

/* What a lane gets from another one, `from`: op_sel bit 0 is fi, bit 1 bound_ctrl. */
LANE uint32_t swapped(uint32_t old, uint32_t theirs, bool active, bool they_active, uint32_t op_sel)
{
	if (!active || (!they_active && !(op_sel & 3)))
		return old;
	return they_active || (op_sel & 1) ? theirs : 0;
}

/* The upper n of every 2n lanes of vdst against the lower n of src0. */
#define SG_OP_permlane_swap(name, n)                                                               \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t *p = w->base[i->base[SG_S0]] + i->off[SG_S0], *q = sg_dst(w, i);          \
		const uint64_t exec = sg_exec(w);                                                  \
		const uint32_t op_sel = i->fields->op_sel;                                         \
		for (unsigned l = 0; l < SG_LANES; l++) {                                          \
			const uint32_t lower = p[l], upper = q[l + n];                             \
			const bool lower_on = exec >> l & 1, upper_on = exec >> (l + n) & 1;       \
			p[l] = swapped(lower, upper, lower_on, upper_on, op_sel);                  \
			q[l + n] = swapped(upper, lower, upper_on, lower_on, op_sel);              \
			if (l % n == n - 1)                                                        \
				l += n;                                                            \
		}                                                                                  \
		return SG_GO;                                                                      \
	}

/* ---- small things that only one or two rows use ---- */

/* D's bit is the bit of the truth table that the three sources' bits number. */
LANE uint32_t bitop3_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
	uint32_t out = 0;

	for (unsigned row = 0; row < 8; row++)
		if (table >> row & 1)
			out |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
	return out;
}

LANE uint32_t ashr_pk(int32_t a, int32_t b, uint32_t by, int32_t least, int32_t most)
{
	const int32_t lo = max_i32(min_i32(a >> (by & 31), most), least);
	const int32_t hi = max_i32(min_i32(b >> (by & 31), most), least);

	return (uint32_t)(lo & 0xff) | (uint32_t)(hi & 0xff) << 8;
}

/* The least or largest of IEEE 754-2019: a NaN is the result, and -0 is below 0. */
LANE float f32_minimum(float a, float b, uint32_t mode)
{
	if (a != a || b != b)
		return a != a ? a + a : b + b;
	return f32_moved(f32_key(a) < f32_key(b) ? a : b, mode);
}

LANE float f32_maximum(float a, float b, uint32_t mode)
{
	if (a != a || b != b)
		return a != a ? a + a : b + b;
	return f32_moved(f32_key(a) > f32_key(b) ? a : b, mode);
}

LANE uint16_t f16_minimum(uint16_t a, uint16_t b, uint32_t mode)
{
	return f32_f16(f32_minimum(f16_f32(a, mode), f16_f32(b, mode), mode), mode);
}

LANE uint16_t f16_maximum(uint16_t a, uint16_t b, uint32_t mode)
{
	return f32_f16(f32_maximum(f16_f32(a, mode), f16_f32(b, mode), mode), mode);
}

LANE uint16_t f16_minimum3(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	return f16_minimum(f16_minimum(a, b, mode), c, mode);
}

LANE uint16_t f16_maximum3(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
	return f16_maximum(f16_maximum(a, b, mode), c, mode);
}

#define F16_AS_SMALL SMALL_FORMAT(5, 10, 15, SMALL_IEEE)
#define BF16_AS_SMALL SMALL_FORMAT(8, 7, 127, SMALL_IEEE)

static inline int32_t mul_i24(int32_t a, int32_t b, bool clamp)
{
	return clamp ? sat_i32((int64_t)a * b) : (int32_t)((uint32_t)a * (uint32_t)b);
}

static inline uint32_t mul_u24(uint32_t a, uint32_t b, bool clamp)
{
	return clamp ? sat_u32((uint64_t)a * b) : a * b;
}

static inline int32_t mad_i24(int32_t a, int32_t b, int32_t c, bool clamp)
{
	return clamp ? sat_i32((int64_t)a * b + c)
		     : (int32_t)((uint32_t)a * (uint32_t)b + (uint32_t)c);
}

static inline uint32_t mad_u24(uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
	return clamp ? sat_u32((uint64_t)a * b + c) : a * b + c;
}

static inline uint32_t insert_u8(uint32_t into, uint32_t byte, uint32_t v)
{
	uint32_t at = (byte & 3) * 8;

	return (into & ~(0xffu << at)) | v << at;
}

#define PK32_LO(v) sg_as_f32((uint32_t)(v))
#define PK32_HI(v) sg_as_f32((uint32_t)((v) >> 32))
#define PK32(lo, hi) (sg_f32_bits(lo) | (uint64_t)sg_f32_bits(hi) << 32)

/* v_screen_partition_4se_b32: the table in the Vega manual, one row of it per line. */
static const uint8_t sg_screen_partition_4se[256] = {
	0x1, 0x3, 0x7, 0xf, 0x5, 0xf, 0xf, 0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x2,
	0x6, 0xe, 0xf, 0xa, 0xf, 0xf, 0xf, 0xb, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xd, 0xf, 0x4, 0xc,
	0xf, 0xf, 0x5, 0xf, 0xf, 0xf, 0xd, 0xf, 0xf, 0xf, 0xf, 0xf, 0x9, 0xb, 0xf, 0x8, 0xf, 0xf,
	0xf, 0xa, 0xf, 0xf, 0xf, 0xe, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x4, 0xc, 0xd, 0xf,
	0x6, 0xf, 0xf, 0xf, 0xe, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x8, 0x9, 0xb, 0xf, 0x9,
	0x9, 0xf, 0xf, 0xd, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x7, 0xf, 0x1, 0x3, 0xf, 0xf, 0x9, 0xf,
	0xf, 0xf, 0xb, 0xf, 0xf, 0xf, 0xf, 0xf, 0x6, 0xe, 0xf, 0x2, 0x6, 0xf, 0xf, 0x6, 0xf, 0xf,
	0xf, 0x7, 0xb, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x2, 0x3, 0xb, 0xf, 0xa, 0xf, 0xf, 0xf,
	0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x1, 0x9, 0xd, 0xf, 0x5, 0xf, 0xf, 0xf, 0xf,
	0xe, 0xf, 0xf, 0xf, 0xf, 0xf, 0xe, 0xf, 0x8, 0xc, 0xf, 0xf, 0xa, 0xf, 0xf, 0xf, 0xf, 0xd,
	0xf, 0xf, 0xf, 0xf, 0x6, 0x7, 0xf, 0x4, 0xf, 0xf, 0xf, 0x5, 0x9, 0xf, 0xf, 0xf, 0xd, 0xf,
	0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x8, 0xc, 0xe, 0xf, 0xf, 0x6, 0x6, 0xf, 0xf, 0xe, 0xf, 0xf,
	0xf, 0xf, 0xf, 0xf, 0xf, 0x4, 0x6, 0x7, 0xf, 0xf, 0x6, 0xf, 0xf, 0xf, 0x7, 0xf, 0xf, 0xf,
	0xf, 0xf, 0xb, 0xf, 0x2, 0x3, 0x9, 0xf, 0xf, 0x9, 0xf, 0xf, 0xf, 0xb, 0xf, 0xf, 0xf, 0xf,
	0x9, 0xd, 0xf, 0x1,
};

#endif
