/*
 * lane_scaled: gfx950's v_cvt_scalef32_*, conversions from and to floats of 8, 6 and 4 bits with a scale.
 *
 * The scale is the exponent of a single-precision number, a power of two from 2^-127 (exponent 0) to
 * 2^127; its sign and mantissa mean nothing, and the exponent 255 makes the result NaN. Numbers are divided
 * by it on their way to the small format, and multiplied on their way back. Everything works on the fields of
 * the numbers: the product would leave the range of single precision, and MODE's flushing does not apply.
 *
 * Evidence  AMD's CDNA4 ISA document; LLVM's intrinsics for what op_sel picks; HIP's amd_hip_ocp_host.hpp for
 *           the arithmetic, and that random numbers are aligned at their top bit. docs/isa-notes.md has
 *           what they leave open.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_SCALED_H
#define WS_SOFTGPU_EXEC_LANE_SCALED_H

#include "softgpu/exec/lane_small.h"

LANE uint32_t scale_field(float scale)
{
	return sg_f32_bits(scale) >> 23 & 0xff;
}

/* v divided by the scale; v is a number. Its own denormals get a leading one: a scale may lift them. */
LANE struct small_parts scaled_down(float v, uint32_t scale)
{
	struct small_parts parts = small_split(v);
	const int missing = __builtin_clz(parts.mantissa | 1) - 8;

	parts.mantissa <<= missing;
	parts.exponent -= missing + (int)scale - 127;
	return parts;
}

/* `number`, unless v or the scale is none. */
LANE uint32_t scaled_code(float v, uint32_t scale, struct small_format f, bool saturate,
			  uint32_t number)
{
	const uint32_t magnitude = sg_f32_bits(v) & ~F32_SIGN, sign = sg_f32_bits(v) >> 31;
	const uint32_t finite =
		sel32(magnitude == F32_EXP, small_overflow(f, sign, saturate), number);

	return sel32((magnitude > F32_EXP) | (scale == 0xff), small_nan(f, sign), finite);
}

/* To nearest even. MODE.FP16_OVFL: an overflow gives the largest number. */
LANE uint32_t f32_scaled(float v, float by, struct small_format f, uint32_t mode)
{
	const uint32_t scale = scale_field(by);
	const bool saturate = MODE_FP16_OVFL(mode);

	return scaled_code(v, scale, f, saturate,
			   small_nearest(scaled_down(v, scale), f, saturate));
}

/* The top bits of `random` are taken. */
LANE uint32_t f32_scaled_random(float v, uint32_t random, float by, struct small_format f,
				uint32_t mode)
{
	const uint32_t scale = scale_field(by), bits = random >> (9 + f.n_mantissa);
	const bool saturate = MODE_FP16_OVFL(mode);

	return scaled_code(v, scale, f, saturate,
			   small_random(scaled_down(v, scale), bits, f, saturate));
}

/* A code multiplied by the scale: exact, denormals kept, infinite beyond single precision. */
LANE float scaled_f32(uint32_t code, float by, struct small_format f)
{
	const uint32_t scale = scale_field(by), bits = sg_f32_bits(small_f32(code, f));
	const uint32_t sign = bits & F32_SIGN, magnitude = bits & ~F32_SIGN;
	const int exponent = (int)(magnitude >> 23) + (int)scale - 127;
	/* the lowest exponent is -16: no bit is lost, as small formats have four at most */
	const uint32_t below = (uint32_t)min_i32(max_i32(1 - exponent, 0), 20);
	const uint32_t denormal = ((magnitude & 0x7fffff) | 0x800000) >> below;
	const uint32_t normal = (magnitude & 0x7fffff) | (uint32_t)exponent << 23;
	const uint32_t finite =
		sel32(exponent >= 255, F32_EXP, sel32(exponent > 0, normal, denormal));
	const uint32_t number = sel32(magnitude == 0, 0, finite);
	const uint32_t special = sel32(scale == 0xff, 0x7fc00000, magnitude);

	return sg_as_f32(sign | sel32((scale == 0xff) | (magnitude >= F32_EXP), special, number));
}

/* ---- pairs ---- */

#define PACK8(lo, hi) ((lo) | (hi) << 8)
#define PACK4(lo, hi) ((lo) | (hi) << 4)
/* The byte, or the half, of the destination that op_sel names, and of the source. */
#define INTO_BYTE(d, op_sel, v) insert_part(d, (op_sel) >> 2 << 3, 8, v)
#define INTO_HALF(d, op_sel, v) insert_part(d, (op_sel) >> 3 << 4, 16, v)
#define FROM_BYTE(s, op_sel) ((s) >> ((op_sel)&3) * 8)
#define FROM_HALF(s, op_sel) ((s) >> ((op_sel)&1) * 16)

/* Both numbers of a pair as single precision, then fn. */
#define OF_F16(fn, pack, s, ...)                                                                   \
	pack(fn(f16_exact_f32(LO16(s)), __VA_ARGS__), fn(f16_exact_f32(HI16(s)), __VA_ARGS__))
#define OF_BF16(fn, pack, s, ...)                                                                  \
	pack(fn(bf16_f32(LO16(s)), __VA_ARGS__), fn(bf16_f32(HI16(s)), __VA_ARGS__))
#define OF_F32(fn, pack, s, ...)                                                                   \
	pack(fn(sg_as_f32((uint32_t)(s)), __VA_ARGS__),                                            \
	     fn(sg_as_f32((uint32_t)((s) >> 32)), __VA_ARGS__))

/* Two neighbouring codes of `bits` bits, as numbers in single, half precision and bf16. */
#define TO_F32(s, bits, by, f) PK32(scaled_f32(s, by, f), scaled_f32((s) >> (bits), by, f))
#define TO_F16(s, bits, by, f, mode)                                                               \
	PACK16(f32_f16(scaled_f32(s, by, f), mode), f32_f16(scaled_f32((s) >> (bits), by, f), mode))
#define TO_BF16(s, bits, by, f)                                                                    \
	PACK16(f32_bf16(scaled_f32(s, by, f)), f32_bf16(scaled_f32((s) >> (bits), by, f)))

#endif
