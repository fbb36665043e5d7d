/*
 * cvt_pk32: gfx950's conversions of 32 numbers per lane from and to floats of six bits, with a scale.
 *
 * The 32 codes follow each other without gaps in six registers. Single precision takes 32 registers, half
 * precision and bf16 take 16; v_cvt_scalef32_2xpk16_* has the even numbers in its first source and the odd ones
 * in its second. Sources are read before the destination is written, so that they may overlap.
 */
#ifndef WS_SOFTGPU_EXEC_CVT_PK32_H
#define WS_SOFTGPU_EXEC_CVT_PK32_H

#include "softgpu/exec/handler.h"
#include "softgpu/exec/lane_scaled.h"

enum { PK32_N = 32, PK32_BITS = 6, PK32_CODE_REGS = PK32_N * PK32_BITS / 32 };
enum pk32_type { PK32_F32, PK32_2XF32, PK32_F16, PK32_BF16 };

/* Number e of lane l. */
LANE float pk32_number(const uint32_t *p0, const uint32_t *p1, unsigned e, unsigned l,
		       enum pk32_type type)
{
	const uint32_t pair = p0[e / 2 * SG_LANES + l];

	switch (type) {
	case PK32_F32:
		return get_f32(p0, e * SG_LANES + l);
	case PK32_2XF32:
		return get_f32(e % 2 ? p1 : p0, e / 2 * SG_LANES + l);
	case PK32_F16:
		return f16_exact_f32((uint16_t)(pair >> e % 2 * 16));
	default:
		return bf16_f32((uint16_t)(pair >> e % 2 * 16));
	}
}

static inline __attribute__((always_inline)) enum sg_stop pk32_to_codes(
	struct sg_wave *w, const struct sg_exec_insn *i, enum pk32_type type, struct small_format f,
	bool is_random)
{
	uint32_t out[PK32_CODE_REGS * SG_LANES] __attribute__((aligned(64))) = { 0 };
	const uint32_t mode = w->mode;

	SG_SPLAT();

	const uint32_t *p0 = sg_src(w, i, SG_S0), *p1 = sg_src(w, i, SG_S1);
	const uint32_t *scale = is_random || type == PK32_2XF32 ? sg_src(w, i, SG_S2) : p1;

	for (unsigned e = 0; e < PK32_N; e++) {
		const unsigned at = e * PK32_BITS % 32;
		uint32_t *low = out + e * PK32_BITS / 32 * SG_LANES;

		SG_EACH_LANE
		{
			const float v = pk32_number(p0, p1, e, l, type), by = get_f32(scale, l);
			const uint32_t code = is_random ? f32_scaled_random(v, p1[l], by, f, mode)
							: f32_scaled(v, by, f, mode);

			low[l] |= code << at;
			if (at + PK32_BITS > 32)
				low[SG_LANES + l] = code >> (32 - at);
		}
	}
	sg_merge(sg_lane_mask(w), sg_dst(w, i), out, PK32_CODE_REGS);
	return SG_GO;
}

static inline __attribute__((always_inline)) enum sg_stop pk32_from_codes(
	struct sg_wave *w, const struct sg_exec_insn *i, enum pk32_type type, struct small_format f)
{
	uint32_t out[PK32_N * SG_LANES] __attribute__((aligned(64)));
	const uint32_t mode = w->mode;

	SG_SPLAT();

	const uint32_t *p = sg_src(w, i, SG_S0), *scale = sg_src(w, i, SG_S1);

	for (unsigned e = 0; e < PK32_N; e++) {
		const unsigned at = e * PK32_BITS % 32;
		const uint32_t *low = p + e * PK32_BITS / 32 * SG_LANES;
		uint32_t *to = out + (type == PK32_F32 ? e : e / 2) * SG_LANES;

		SG_EACH_LANE
		{
			const uint32_t high = at + PK32_BITS > 32 ? low[SG_LANES + l] : 0;
			const uint32_t code = (uint32_t)(((uint64_t)high << 32 | low[l]) >> at);
			const float v = scaled_f32(code, get_f32(scale, l), f);
			const uint32_t half = type == PK32_F16 ? f32_f16(v, mode) : f32_bf16(v);

			if (type == PK32_F32)
				put_f32(to, l, v);
			else
				to[l] = e % 2 ? PACK16(to[l], half) : half;
		}
	}
	sg_merge(sg_lane_mask(w), sg_dst(w, i), out, type == PK32_F32 ? PK32_N : PK32_N / 2);
	return SG_GO;
}

/* type: of the numbers, PK32_*; rounding: NEAREST or RANDOM */
#define PK32_ROUND_NEAREST false
#define PK32_ROUND_RANDOM true
#define SG_OP_pk32_to_codes(name, type, format, rounding)                                          \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return pk32_to_codes(w, i, PK32_##type, format, PK32_ROUND_##rounding);            \
	}
#define SG_OP_pk32_from_codes(name, type, format)                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return pk32_from_codes(w, i, PK32_##type, format);                                 \
	}

#endif
