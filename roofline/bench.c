#include "roofline/bench.h"

#include "base/util.h"

#include <string.h>

/* clang-format off */
#define ALL(work) { work, work, work, work }
#define LOADS (8 * 1024)               /* eight loads of 64 lanes by 16 bytes */
#define LANES(ops) (64 * 64 * (ops))   /* 64 instructions of 64 lanes */
#define MATRIX(ops) (16 * (ops))       /* 16 instructions */

/* In the order of the file. A multiply-add is two operations. */
const struct ws_roof_bench ws_roof_benches[] = {
	{ "HBMBw",         "HBM BW",                   "hbm",       WS_ROOF_BYTES, WS_ROOF_STREAM,  ALL(LOADS) },
	{ "MALLBw",        "MALL BW",                  "l2",        WS_ROOF_BYTES, WS_ROOF_IN_L3,   { 0, 0, LOADS, LOADS } },
	{ "L2Bw",          "L2 BW",                    "l2",        WS_ROOF_BYTES, WS_ROOF_IN_L2,   ALL(LOADS) },
	{ "L1Bw",          "L1 BW",                    "l1",        WS_ROOF_BYTES, WS_ROOF_IN_L1,   ALL(LOADS) },
	{ "LDSBw",         "LDS BW",                   "lds",       WS_ROOF_BYTES, WS_ROOF_NOTHING, ALL(LOADS) },
	{ "FP16Flops",     "Peak FLOPs (FP16)",        "fp16",      WS_ROOF_FLOP,  WS_ROOF_NOTHING, ALL(LANES(4)) },
	{ "FP32Flops",     "Peak FLOPs (FP32)",        "fp32",      WS_ROOF_FLOP,  WS_ROOF_NOTHING, ALL(LANES(2)) },
	{ "FP64Flops",     "Peak FLOPs (FP64)",        "fp64",      WS_ROOF_FLOP,  WS_ROOF_NOTHING, ALL(LANES(2)) },
	{ "I8Ops",         "Peak IOPs (INT8)",         "int8",      WS_ROOF_OP,    WS_ROOF_NOTHING, ALL(LANES(2)) },
	{ "I32Ops",        "Peak IOPs (INT32)",        "int32",     WS_ROOF_OP,    WS_ROOF_NOTHING, ALL(LANES(2)) },
	{ "I64Ops",        "Peak IOPs (INT64)",        "int64",     WS_ROOF_OP,    WS_ROOF_NOTHING, ALL(LANES(2)) },
	{ "MFMAF4Flops",   "Peak MFMA FLOPs (F4)",     NULL,        WS_ROOF_FLOP,  WS_ROOF_NOTHING, { 0, 0, 0, MATRIX(131072) } },
	{ "MFMAF6Flops",   "Peak MFMA FLOPs (F6)",     NULL,        WS_ROOF_FLOP,  WS_ROOF_NOTHING, { 0, 0, 0, MATRIX(131072) } },
	{ "MFMAF6F4Flops", "Peak MFMA FLOPs (F6F4)",   NULL,        WS_ROOF_FLOP,  WS_ROOF_NOTHING, { 0, 0, 0, MATRIX(131072) } },
	{ "MFMAF8Flops",   "Peak MFMA FLOPs (F8)",     "mfma_f8",   WS_ROOF_FLOP,  WS_ROOF_NOTHING, { 0, 0, MATRIX(32768), MATRIX(131072) } },
	{ "MFMAF16Flops",  "Peak MFMA FLOPs (F16)",    "mfma_f16",  WS_ROOF_FLOP,  WS_ROOF_NOTHING, { MATRIX(16384), MATRIX(16384), MATRIX(16384), MATRIX(32768) } },
	{ "MFMABF16Flops", "Peak MFMA FLOPs (BF16)",   "mfma_bf16", WS_ROOF_FLOP,  WS_ROOF_NOTHING, { MATRIX(8192), MATRIX(16384), MATRIX(16384), MATRIX(32768) } },
	{ "MFMAF32Flops",  "Peak MFMA FLOPs (F32)",    "mfma_f32",  WS_ROOF_FLOP,  WS_ROOF_NOTHING, ALL(MATRIX(4096)) },
	{ "MFMAF64Flops",  "Peak MFMA FLOPs (F64)",    "mfma_f64",  WS_ROOF_FLOP,  WS_ROOF_NOTHING, { 0, MATRIX(2048), MATRIX(2048), MATRIX(2048) } },
	{ "MFMAI8Ops",     "Peak MFMA IOPs (I8)",      "mfma_i8",   WS_ROOF_OP,    WS_ROOF_NOTHING, { MATRIX(16384), MATRIX(16384), MATRIX(32768), MATRIX(65536) } },
};

static const struct {
	const char *target;
	enum ws_roof_family family;
} families[] = {
	{ "gfx908", WS_ROOF_GFX908 }, { "gfx90a", WS_ROOF_GFX90A }, { "gfx940", WS_ROOF_GFX940 },
	{ "gfx941", WS_ROOF_GFX940 }, { "gfx942", WS_ROOF_GFX940 }, { "gfx950", WS_ROOF_GFX950 },
};
/* clang-format on */

_Static_assert(WS_ARRAY_LEN(ws_roof_benches) == WS_ROOF_BENCHES, "WS_ROOF_BENCHES counts them");

enum ws_roof_family ws_roof_family(const char *target)
{
	const char *gfx = strstr(target, "gfx");

	for (size_t i = 0; gfx && i < WS_ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i].target);

		if (!strncmp(gfx, families[i].target, n) && (!gfx[n] || gfx[n] == ':'))
			return families[i].family;
	}
	return WS_ROOF_FAMILIES;
}

const char *ws_roof_unit_name(enum ws_roof_unit unit)
{
	static const char *const names[] = { "GB/sec", "GFLOPS", "GOPS" };

	return names[unit];
}
