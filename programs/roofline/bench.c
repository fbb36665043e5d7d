#include "programs/roofline/bench.h"

#include "base/util.h"

#include <string.h>

/* clang-format off */
#define LOADS (8 * 1024)               /* eight loads of 64 lanes by 16 bytes */
#define LANES(ops) (64 * 64 * (ops))   /* 64 instructions of 64 lanes */
#define MATRIX(ops) (16 * (ops))       /* 16 instructions */
#define ALL(work) work, work, work, work

#define MEMORY(column, title, kernel, place, ...) \
	{ column, title " BW", kernel, ROOF_BYTES, ROOF_##place, { __VA_ARGS__ } }
#define COMPUTE(column, title, kernel, unit, ...) \
	{ column, "Peak " title, kernel, ROOF_##unit, ROOF_NOTHING, { __VA_ARGS__ } }

/* In the order of the file; work by family. A multiply-add is two operations. */
const struct roof_bench roof_benches[] = {
	MEMORY("HBMBw",   "HBM",  "hbm", STREAM,  ALL(LOADS)),
	MEMORY("MALLBw",  "MALL", "l2",  IN_L3,   0, 0, LOADS, LOADS),
	MEMORY("L2Bw",    "L2",   "l2",  IN_L2,   ALL(LOADS)),
	MEMORY("L1Bw",    "L1",   "l1",  IN_L1,   ALL(LOADS)),
	MEMORY("LDSBw",   "LDS",  "lds", NOTHING, ALL(LOADS)),
	COMPUTE("FP16Flops",     "FLOPs (FP16)",      "fp16",      FLOP, ALL(LANES(4))),
	COMPUTE("FP32Flops",     "FLOPs (FP32)",      "fp32",      FLOP, ALL(LANES(2))),
	COMPUTE("FP64Flops",     "FLOPs (FP64)",      "fp64",      FLOP, ALL(LANES(2))),
	COMPUTE("I8Ops",         "IOPs (INT8)",       "int8",      OP,   ALL(LANES(2))),
	COMPUTE("I32Ops",        "IOPs (INT32)",      "int32",     OP,   ALL(LANES(2))),
	COMPUTE("I64Ops",        "IOPs (INT64)",      "int64",     OP,   ALL(LANES(2))),
	COMPUTE("MFMAF4Flops",   "MFMA FLOPs (F4)",   "mfma_f4",   FLOP, 0, 0, 0, MATRIX(131072)),
	COMPUTE("MFMAF6Flops",   "MFMA FLOPs (F6)",   "mfma_f6",   FLOP, 0, 0, 0, MATRIX(131072)),
	COMPUTE("MFMAF6F4Flops", "MFMA FLOPs (F6F4)", "mfma_f6f4", FLOP, 0, 0, 0, MATRIX(131072)),
	COMPUTE("MFMAF8Flops",   "MFMA FLOPs (F8)",   "mfma_f8",   FLOP,
		0, 0, MATRIX(32768), MATRIX(131072)),
	COMPUTE("MFMAF16Flops",  "MFMA FLOPs (F16)",  "mfma_f16",  FLOP,
		MATRIX(16384), MATRIX(16384), MATRIX(16384), MATRIX(32768)),
	COMPUTE("MFMABF16Flops", "MFMA FLOPs (BF16)", "mfma_bf16", FLOP,
		MATRIX(8192), MATRIX(16384), MATRIX(16384), MATRIX(32768)),
	COMPUTE("MFMAF32Flops",  "MFMA FLOPs (F32)",  "mfma_f32",  FLOP, ALL(MATRIX(4096))),
	COMPUTE("MFMAF64Flops",  "MFMA FLOPs (F64)",  "mfma_f64",  FLOP,
		0, MATRIX(2048), MATRIX(2048), MATRIX(2048)),
	COMPUTE("MFMAI8Ops",     "MFMA IOPs (I8)",    "mfma_i8",   OP,
		MATRIX(16384), MATRIX(16384), MATRIX(32768), MATRIX(65536)),
};

static const struct {
	const char *target;
	enum roof_family family;
} families[] = {
	{ "gfx908", ROOF_GFX908 }, { "gfx90a", ROOF_GFX90A }, { "gfx940", ROOF_GFX940 },
	{ "gfx941", ROOF_GFX940 }, { "gfx942", ROOF_GFX940 }, { "gfx950", ROOF_GFX950 },
};
/* clang-format on */

_Static_assert(WS_ARRAY_LEN(roof_benches) == ROOF_BENCHES, "ROOF_BENCHES counts them");

enum roof_family roof_family(const char *target)
{
	const char *gfx = strstr(target, "gfx");

	for (size_t i = 0; gfx && i < WS_ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i].target);

		if (!strncmp(gfx, families[i].target, n) && (!gfx[n] || gfx[n] == ':'))
			return families[i].family;
	}
	return ROOF_FAMILIES;
}

const char *roof_unit_name(enum roof_unit unit)
{
	static const char *const names[] = { "GB/sec", "GFLOPS", "GOPS" };

	return names[unit];
}
