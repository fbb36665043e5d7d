/*
 * known_matrices: matrix instructions, 16 of each kind: what counts them, their operations, and how long they keep
 * the matrix unit.
 */
#include "programs/fidelity/known_priv.h"

#define WAVES 4
#define MATRICES 16 /* instructions of a wave, in kernels.s */

/* clang-format off */
/*
 * Operations: 2 x M x N x K x blocks. Passes of four cycles, from the ISA manuals and AMD's matrix instruction
 * calculator: on gfx908 and gfx90a, on gfx942, on gfx950; 0: it has none.
 */
static const struct {
	const char *kernel;
	enum fid_class class;
	uint32_t operations, passes[3];
} matrices[] = {
	{ "mfma_32x32x8f16",       FID_MFMA_F16,  16384, { 16, 8, 8 } },
	{ "mfma_16x16x16f16",      FID_MFMA_F16,  8192,  { 8, 4, 4 } },
	{ "mfma_4x4x4f16",         FID_MFMA_F16,  2048,  { 2, 2, 2 } }, /* 16 blocks */
	{ "mfma_32x32x4f16",       FID_MFMA_F16,  16384, { 16, 16, 16 } }, /* 2 blocks */
	{ "mfma_16x16x4f16",       FID_MFMA_F16,  8192,  { 8, 8, 8 } }, /* 4 blocks */
	{ "mfma_16x16x32_f16",     FID_MFMA_F16,  16384, { 0, 0, 4 } },
	{ "mfma_32x32x16_f16",     FID_MFMA_F16,  32768, { 0, 0, 8 } },
	{ "mfma_32x32x4bf16",      FID_MFMA_BF16, 8192,  { 16 } },
	{ "mfma_32x32x2bf16",      FID_MFMA_BF16, 8192,  { 16 } }, /* 2 blocks */
	{ "mfma_16x16x8bf16",      FID_MFMA_BF16, 4096,  { 8 } },
	{ "mfma_4x4x2bf16",        FID_MFMA_BF16, 1024,  { 2 } }, /* 16 blocks */
	{ "mfma_4x4x4bf16_1k",     FID_MFMA_BF16, 2048,  { 2, 2, 2 } }, /* 16 blocks */
	{ "mfma_32x32x8bf16_1k",   FID_MFMA_BF16, 16384, { 16, 8, 8 } },
	{ "mfma_16x16x16bf16_1k",  FID_MFMA_BF16, 8192,  { 8, 4, 4 } },
	{ "mfma_32x32x4_2b_bf16",  FID_MFMA_BF16, 16384, { 0, 16, 16 } },
	{ "mfma_16x16x4_4b_bf16",  FID_MFMA_BF16, 8192,  { 0, 8, 8 } },
	{ "mfma_16x16x32_bf16",    FID_MFMA_BF16, 16384, { 0, 0, 4 } },
	{ "mfma_32x32x16_bf16",    FID_MFMA_BF16, 32768, { 0, 0, 8 } },
	{ "mfma_32x32x2f32",       FID_MFMA_F32,  4096,  { 16, 16, 16 } },
	{ "mfma_16x16x4f32",       FID_MFMA_F32,  2048,  { 8, 8, 8 } },
	{ "mfma_32x32x1f32",       FID_MFMA_F32,  4096,  { 16, 16, 16 } }, /* 2 blocks */
	{ "mfma_16x16x1f32",       FID_MFMA_F32,  2048,  { 8, 8, 8 } }, /* 4 blocks */
	{ "mfma_4x4x1f32",         FID_MFMA_F32,  512,   { 2, 2, 2 } }, /* 16 blocks */
	{ "mfma_32x32x4_xf32",     FID_OTHER,     8192,  { 0, 8 } }, /* gfx942 has no counter of XF32 */
	{ "mfma_16x16x8_xf32",     FID_OTHER,     4096,  { 0, 4 } },
	{ "mfma_16x16x4f64",       FID_MFMA_F64,  2048,  { 8, 8, 16 } },
	{ "mfma_4x4x4f64",         FID_MFMA_F64,  512,   { 4, 4, 4 } }, /* 4 blocks */
	{ "mfma_32x32x8i8",        FID_MFMA_I8,   16384, { 16 } },
	{ "mfma_16x16x16i8",       FID_MFMA_I8,   8192,  { 8 } },
	{ "mfma_32x32x4i8",        FID_MFMA_I8,   16384, { 16, 16, 16 } }, /* 2 blocks */
	{ "mfma_4x4x4i8",          FID_MFMA_I8,   2048,  { 2, 2, 2 } }, /* 16 blocks */
	{ "mfma_32x32x16_i8",      FID_MFMA_I8,   32768, { 0, 8, 8 } },
	{ "mfma_16x16x32_i8",      FID_MFMA_I8,   16384, { 0, 4, 4 } },
	{ "mfma_16x16x64_i8",      FID_MFMA_I8,   32768, { 0, 0, 4 } },
	{ "mfma_32x32x32_i8",      FID_MFMA_I8,   65536, { 0, 0, 8 } },
#define PAIRS(shape, operations, ...) \
	{ shape "_fp8_fp8", FID_MFMA_F8, operations, __VA_ARGS__ }, \
	{ shape "_fp8_bf8", FID_MFMA_F8, operations, __VA_ARGS__ }, \
	{ shape "_bf8_fp8", FID_MFMA_F8, operations, __VA_ARGS__ }, \
	{ shape "_bf8_bf8", FID_MFMA_F8, operations, __VA_ARGS__ }
	PAIRS("mfma_32x32x16",     32768, { 0, 8, 8 }),
	PAIRS("mfma_16x16x32",     16384, { 0, 4, 4 }),
	PAIRS("smfmac_32x32x32",   65536, { 0, 8, 8 }),
	PAIRS("smfmac_16x16x64",   32768, { 0, 4, 4 }),
	PAIRS("smfmac_32x32x64",   131072, { 0, 0, 8 }),
	PAIRS("smfmac_16x16x128",  65536, { 0, 0, 4 }),
#undef PAIRS
	{ "smfmac_32x32x16_f16",   FID_MFMA_F16,  32768, { 0, 8, 8 } },
	{ "smfmac_16x16x32_f16",   FID_MFMA_F16,  16384, { 0, 4, 4 } },
	{ "smfmac_32x32x32_f16",   FID_MFMA_F16,  65536, { 0, 0, 8 } },
	{ "smfmac_16x16x64_f16",   FID_MFMA_F16,  32768, { 0, 0, 4 } },
	{ "smfmac_32x32x16_bf16",  FID_MFMA_BF16, 32768, { 0, 8, 8 } },
	{ "smfmac_16x16x32_bf16",  FID_MFMA_BF16, 16384, { 0, 4, 4 } },
	{ "smfmac_32x32x32_bf16",  FID_MFMA_BF16, 65536, { 0, 0, 8 } },
	{ "smfmac_16x16x64_bf16",  FID_MFMA_BF16, 32768, { 0, 0, 4 } },
	{ "smfmac_32x32x32_i8",    FID_MFMA_I8,   65536, { 0, 8, 8 } },
	{ "smfmac_16x16x64_i8",    FID_MFMA_I8,   32768, { 0, 4, 4 } },
	{ "smfmac_32x32x64_i8",    FID_MFMA_I8,   131072, { 0, 0, 8 } },
	{ "smfmac_16x16x128_i8",   FID_MFMA_I8,   65536, { 0, 0, 4 } },
	/* f8f6f4: twice as fast if neither matrix has 8-bit elements */
	{ "mfma_16x16x128_fp8",    FID_MFMA_F8,   65536, { 0, 0, 8 } },
	{ "mfma_16x16x128_bf8",    FID_MFMA_F8,   65536, { 0, 0, 8 } },
	{ "mfma_16x16x128_fp8_fp4", FID_MFMA_F8,  65536, { 0, 0, 8 } },
	{ "mfma_16x16x128_fp6",    FID_MFMA_F6F4, 65536, { 0, 0, 4 } },
	{ "mfma_16x16x128_bf6",    FID_MFMA_F6F4, 65536, { 0, 0, 4 } },
	{ "mfma_16x16x128_fp4",    FID_MFMA_F6F4, 65536, { 0, 0, 4 } },
	{ "mfma_32x32x64_fp8",     FID_MFMA_F8,   131072, { 0, 0, 16 } },
	{ "mfma_32x32x64_fp6",     FID_MFMA_F6F4, 131072, { 0, 0, 8 } },
	{ "mfma_32x32x64_fp4",     FID_MFMA_F6F4, 131072, { 0, 0, 8 } },
	{ "mfma_32x32x64_fp6_fp4", FID_MFMA_F6F4, 131072, { 0, 0, 8 } },
	{ "mfma_scale_16x16x128_fp4", FID_MFMA_F6F4, 65536, { 0, 0, 4 } },
	{ "mfma_scale_32x32x64_fp8", FID_MFMA_F8, 131072, { 0, 0, 16 } },
};
/* clang-format on */

static const char *const mops_counters[FID_N_CLASSES] = {
	[FID_MFMA_I8] = "SQ_INSTS_VALU_MFMA_MOPS_I8",
	[FID_MFMA_F16] = "SQ_INSTS_VALU_MFMA_MOPS_F16",
	[FID_MFMA_BF16] = "SQ_INSTS_VALU_MFMA_MOPS_BF16",
	[FID_MFMA_F32] = "SQ_INSTS_VALU_MFMA_MOPS_F32",
	[FID_MFMA_F64] = "SQ_INSTS_VALU_MFMA_MOPS_F64",
	[FID_MFMA_F8] = "SQ_INSTS_VALU_MFMA_MOPS_F8",
	[FID_MFMA_F6F4] = "SQ_INSTS_VALU_MFMA_MOPS_F6F4",
};

void fid_known_matrices(struct fid_known *k)
{
	static const uint8_t column[FID_N_TARGETS] = {
		[FID_GFX908] = 0, [FID_GFX90A] = 0, [FID_GFX942] = 1, [FID_GFX950] = 2
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(matrices) && !k->st; i++) {
		struct fid_known_call call = { .kernel = matrices[i].kernel,
					       .grid = WAVES * 64,
					       .workgroup = 64 };
		double n = WAVES * MATRICES;
		bool has_class = matrices[i].class != FID_OTHER;
		struct fid_expect expected[] = {
			{ "SQ_INSTS_VALU", n },
			{ "SQ_INSTS_MFMA", n },
			{ "SQ_VALU_MFMA_BUSY_CYCLES",
			  n * matrices[i].passes[column[k->target]] * 4 },
			{ has_class ? mops_counters[matrices[i].class] : "",
			  n * matrices[i].operations / 512 },
		};

		if (!gpu_runner_has(k->counted.runner, call.kernel))
			continue;
		/* MI100 has a counter of all matrix instructions, but none of their types and times */
		fid_known_check(k, call.kernel, &call, expected,
				k->target == FID_GFX908 ? 2
				: has_class             ? 4
							: 3);
		fid_known_class(k, &call, matrices[i].class, n);
	}
}
