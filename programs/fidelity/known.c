#include "programs/fidelity/known.h"

#include "programs/fidelity/known_priv.h"

#include <stdio.h>
#include <string.h>

#define WAVES 4
#define REPEATED 64 /* instructions of a wave, in kernels.s */
#define MATRICES 16

/* As kernels.s reads them; it may read 64 bytes. */
struct arguments {
	uint64_t buffer;
	uint32_t a, b, c, d;
	uint64_t unused[5];
};

/* ---- running and printing ---- */

bool fid_known_count(struct fid_known *k, const struct fid_known_call *call,
		     struct fid_counted_value *values, size_t n)
{
	struct arguments arguments = { k->buffer, call->a, call->b, call->c, call->d, { 0 } };
	struct gpu_runner_call run = { .kernel = call->kernel,
				       .arguments = &arguments,
				       .n_arguments = sizeof(arguments),
				       .grid = call->grid,
				       .workgroup = call->workgroup,
				       .grid_y = call->grid_y,
				       .workgroup_y = call->workgroup_y,
				       .lds_bytes = call->lds_bytes,
				       .system_scope = call->system_scope };
	struct fid_counted_value any = { .name = "GRBM_COUNT" };

	/* the first run of a kernel is cold; here the warm ones are of interest */
	if (!k->st && !call->first && (!k->warm || strcmp(k->warm, call->kernel)))
		k->st = fid_counted_run(&k->counted, &run, &any, 1, k->err);
	k->warm = call->kernel;
	if (!k->st)
		k->st = fid_counted_run(&k->counted, &run, values, n, k->err);
	return !k->st;
}

void fid_known_print(const char *title, const char *what, const char *class, double expected,
		     double value)
{
	printf("%s\t0\t%s\t%s\t%.15g\t%.15g\n", title, what, class, expected, value);
}

void fid_known_check(struct fid_known *k, const char *title, const struct fid_known_call *call,
		     const struct fid_expect *expected, size_t n)
{
	struct fid_counted_value values[FID_COUNTED_MAX];

	for (size_t e = 0; e < n; e++)
		values[e] = (struct fid_counted_value){ .name = expected[e].counter };
	if (!fid_known_count(k, call, values, n))
		return;
	for (size_t e = 0; e < n && k->counted.plain; e++)
		printf("%s\t%llu\t%s\t-\t%.15g\t-\n", title,
		       (unsigned long long)k->counted.n_dispatches, values[e].name,
		       expected[e].value);
	for (size_t e = 0; e < n && !k->counted.plain; e++)
		fid_known_print(title, values[e].name, fid_counted_classes[values[e].fidelity],
				expected[e].value, values[e].value);
}

/* ---- classes of vector instructions ---- */

/* clang-format off */
#define CLASSES(X) \
	X(ADD_F16) X(MUL_F16) X(FMA_F16) X(TRANS_F16) X(ADD_F32) X(MUL_F32) X(FMA_F32) X(TRANS_F32) \
	X(ADD_F64) X(MUL_F64) X(FMA_F64) X(TRANS_F64) X(INT32) X(INT64) X(CVT) \
	X(MFMA_I8) X(MFMA_F16) X(MFMA_BF16) X(MFMA_F32) X(MFMA_F64)

enum valu_class {
#define CLASS(name) name,
	CLASSES(CLASS)
#undef CLASS
	N_CLASSES, OTHER = N_CLASSES, /* other: counted in no class */
};

static const char *const class_counters[] = {
#define CLASS(name) "SQ_INSTS_VALU_" #name,
	CLASSES(CLASS)
#undef CLASS
};

/* slots: quad-cycles that one instruction takes, by the chip's documented rate; 0: not documented */
static const struct {
	const char *kernel;
	enum valu_class class;
	uint8_t count, slots_gfx908, slots_gfx90a;
} classes[] = {
	{ "add_f16",     ADD_F16,   1, 1, 1 }, { "sub_f16",    ADD_F16,   1, 1, 1 },
	{ "mul_f16",     MUL_F16,   1, 1, 1 }, { "fma_f16",    FMA_F16,   1, 1, 1 },
	{ "rcp_f16",     TRANS_F16, 1, 4, 4 }, { "sqrt_f16",   TRANS_F16, 1, 4, 4 },
	{ "exp_f16",     TRANS_F16, 1, 4, 4 },
	{ "pk_add_f16",  ADD_F16,   2, 1, 1 }, { "pk_mul_f16", MUL_F16,   2, 1, 1 },
	{ "pk_fma_f16",  FMA_F16,   2, 1, 1 },
	{ "add_f32",     ADD_F32,   1, 1, 1 }, { "sub_f32",    ADD_F32,   1, 1, 1 },
	{ "mul_f32",     MUL_F32,   1, 1, 1 }, { "fma_f32",    FMA_F32,   1, 1, 1 },
	{ "fmac_f32",    FMA_F32,   1, 1, 1 }, { "rcp_f32",    TRANS_F32, 1, 4, 4 },
	{ "rsq_f32",     TRANS_F32, 1, 4, 4 }, { "sqrt_f32",   TRANS_F32, 1, 4, 4 },
	{ "exp_f32",     TRANS_F32, 1, 4, 4 }, { "log_f32",    TRANS_F32, 1, 4, 4 },
	{ "sin_f32",     TRANS_F32, 1, 4, 4 }, { "cos_f32",    TRANS_F32, 1, 4, 4 },
	{ "pk_add_f32",  ADD_F32,   2, 0, 1 }, { "pk_mul_f32", MUL_F32,   2, 0, 1 },
	{ "pk_fma_f32",  FMA_F32,   2, 0, 1 },
	{ "add_f64",     ADD_F64,   1, 2, 1 }, { "mul_f64",    MUL_F64,   1, 2, 1 },
	{ "fma_f64",     FMA_F64,   1, 2, 1 }, { "rcp_f64",    TRANS_F64, 1, 0, 0 },
	{ "sqrt_f64",    TRANS_F64, 1, 0, 0 },
	{ "add_u32",     INT32,     1, 1, 1 }, { "mul_lo_u32", INT32,     1, 4, 4 },
	{ "and_b32",     INT32,     1, 1, 1 }, { "lshlrev_b32", INT32,    1, 1, 1 },
	{ "cmp_u32",     INT32,     1, 1, 1 }, { "mad_u64_u32", INT64,    1, 4, 4 },
	{ "cmp_u64",     INT64,     1, 0, 0 },
	{ "cvt_f32_i32", CVT,       1, 1, 1 }, { "cvt_f16_f32", CVT,      1, 1, 1 },
	{ "cvt_f64_f32", CVT,       1, 0, 0 },
	{ "mov_b32",     OTHER,     0, 1, 1 }, { "cndmask_b32", OTHER,    0, 1, 1 },
	{ "lshlrev_b64", OTHER,     0, 2, 1 }, /* recorded */
};

/* operations: 2 x M x N x K x blocks; passes of four cycles, from the ISA manual */
static const struct {
	const char *kernel;
	enum valu_class class;
	uint32_t operations, passes;
} matrices[] = {
	{ "mfma_32x32x8f16",       MFMA_F16,  16384, 16 },
	{ "mfma_16x16x16f16",      MFMA_F16,  8192,  8 },
	{ "mfma_4x4x4f16",         MFMA_F16,  2048,  2 }, /* 16 blocks */
	{ "mfma_32x32x4f16",       MFMA_F16,  16384, 16 }, /* 2 blocks */
	{ "mfma_16x16x4f16",       MFMA_F16,  8192,  8 }, /* 4 blocks */
	{ "mfma_32x32x4bf16",      MFMA_BF16, 8192,  16 },
	{ "mfma_32x32x2bf16",      MFMA_BF16, 8192,  16 }, /* 2 blocks */
	{ "mfma_16x16x8bf16",      MFMA_BF16, 4096,  8 },
	{ "mfma_4x4x2bf16",        MFMA_BF16, 1024,  2 }, /* 16 blocks */
	{ "mfma_4x4x4bf16_1k",     MFMA_BF16, 2048,  2 }, /* 16 blocks */
	{ "mfma_32x32x8bf16_1k",   MFMA_BF16, 16384, 16 },
	{ "mfma_16x16x16bf16_1k",  MFMA_BF16, 8192,  8 },
	{ "mfma_32x32x2f32",       MFMA_F32,  4096,  16 },
	{ "mfma_16x16x4f32",       MFMA_F32,  2048,  8 },
	{ "mfma_32x32x1f32",       MFMA_F32,  4096,  16 }, /* 2 blocks */
	{ "mfma_16x16x1f32",       MFMA_F32,  2048,  8 }, /* 4 blocks */
	{ "mfma_4x4x1f32",         MFMA_F32,  512,   2 }, /* 16 blocks */
	{ "mfma_16x16x4f64",       MFMA_F64,  2048,  8 },
	{ "mfma_4x4x4f64",         MFMA_F64,  512,   4 }, /* 4 blocks */
	{ "mfma_32x32x8i8",        MFMA_I8,   16384, 16 },
	{ "mfma_16x16x16i8",       MFMA_I8,   8192,  8 },
	{ "mfma_32x32x4i8",        MFMA_I8,   16384, 16 }, /* 2 blocks */
	{ "mfma_4x4x4i8",          MFMA_I8,   2048,  2 }, /* 16 blocks */
};
/* clang-format on */

static const char *const mops_counters[] = {
	[MFMA_I8] = "SQ_INSTS_VALU_MFMA_MOPS_I8",     [MFMA_F16] = "SQ_INSTS_VALU_MFMA_MOPS_F16",
	[MFMA_BF16] = "SQ_INSTS_VALU_MFMA_MOPS_BF16", [MFMA_F32] = "SQ_INSTS_VALU_MFMA_MOPS_F32",
	[MFMA_F64] = "SQ_INSTS_VALU_MFMA_MOPS_F64",
};

/* MI200: its own class counts the instructions, and no other one does. */
static void check_class(struct fid_known *k, const struct fid_known_call *call,
			enum valu_class class, double want)
{
	struct fid_counted_value values[N_CLASSES];
	double others = 0;

	if (k->counted.plain)
		return;
	for (size_t c = 0; c < N_CLASSES; c++)
		values[c] = (struct fid_counted_value){ .name = class_counters[c] };
	if (!fid_known_count(k, call, values, N_CLASSES))
		return;
	for (size_t c = 0; c < N_CLASSES; c++)
		if (c != class)
			others += values[c].value;
	if (class != OTHER)
		fid_known_print(call->kernel, class_counters[class], "exact", want,
				values[class].value);
	fid_known_print(call->kernel, "all other SQ_INSTS_VALU_ classes", "exact", 0, others);
}

static void check_valu(struct fid_known *k)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(classes) && !k->st; i++) {
		struct fid_known_call call = { .kernel = classes[i].kernel,
					       .grid = WAVES * 64,
					       .workgroup = 64 };
		double n = WAVES * REPEATED;
		double slots = k->gfx90a ? classes[i].slots_gfx90a : classes[i].slots_gfx908;

		if (!gpu_runner_has(k->counted.runner, call.kernel))
			continue;
		fid_known_check(k, call.kernel, &call,
				(const struct fid_expect[]){
					{ "SQ_INSTS_VALU", n },
					{ "SQ_INSTS", n + WAVES },
					{ "SQ_ACTIVE_INST_VALU", n * slots },
					{ "SQ_THREAD_CYCLES_VALU", 64 * n * slots } },
				slots ? 4 : 2);
		if (k->gfx90a)
			check_class(k, &call, classes[i].class, n * classes[i].count);
	}
}

static void check_matrices(struct fid_known *k)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(matrices) && !k->st; i++) {
		struct fid_known_call call = { .kernel = matrices[i].kernel,
					       .grid = WAVES * 64,
					       .workgroup = 64 };
		double n = WAVES * MATRICES;

		if (!gpu_runner_has(k->counted.runner, call.kernel))
			continue;
		fid_known_check(k, call.kernel, &call,
				(const struct fid_expect[]){ { "SQ_INSTS_VALU", n },
							     { "SQ_INSTS_MFMA", n },
							     { mops_counters[matrices[i].class],
							       n * matrices[i].operations / 512 },
							     { "SQ_VALU_MFMA_BUSY_CYCLES",
							       n * matrices[i].passes * 4 } },
				k->gfx90a ? 4 : 1); /* MI100 has no counters for them */
		if (k->gfx90a)
			check_class(k, &call, matrices[i].class, n);
	}
}

/* ---- other instructions ---- */

static void check_instructions(struct fid_known *k)
{
	FID_KNOWN_CHECK(k, "scalar mix", FID_CALL("scalar_mix", WAVES * 64, 64),
			{ "SQ_INSTS", WAVES * 37 }, { "SQ_INSTS_SMEM", WAVES * 15 },
			{ "SQ_INSTS_SALU", WAVES * 10 }, { "SQ_INSTS_BRANCH", WAVES * 6 },
			{ "SQ_INSTS_SENDMSG", WAVES }, { "SQ_INSTS_VALU", 0 },
			{ "SQ_ACTIVE_INST_SCA", WAVES * 25 }, { "SQ_ACTIVE_INST_MISC", WAVES * 8 },
			{ "SQC_DCACHE_REQ", WAVES * 15 }, { "SQC_DCACHE_REQ_READ_1", WAVES * 5 },
			{ "SQC_DCACHE_REQ_READ_2", WAVES * 4 },
			{ "SQC_DCACHE_REQ_READ_4", WAVES * 3 },
			{ "SQC_DCACHE_REQ_READ_8", WAVES * 2 },
			{ "SQC_DCACHE_REQ_READ_16", WAVES });
	/* 64 instructions of 4 or 8 bytes, and the end: blocks of 32 bytes */
	FID_KNOWN_CHECK(k, "260 bytes of code", FID_CALL("add_f32", WAVES * 64, 64),
			{ "SQ_IFETCH", WAVES * 9 }, { "SQC_ICACHE_REQ", WAVES * 9 });
	FID_KNOWN_CHECK(k, "516 bytes of code", FID_CALL("fma_f32", WAVES * 64, 64),
			{ "SQ_IFETCH", WAVES * 17 }, { "SQC_ICACHE_REQ", WAVES * 17 });
	FID_KNOWN_CHECK(k, "half of the lanes", FID_CALL("half_of_the_lanes", WAVES * 64, 64),
			{ "SQ_INSTS_VALU", WAVES * 80 }, { "SQ_ACTIVE_INST_VALU", WAVES * 80 },
			{ "SQ_THREAD_CYCLES_VALU", WAVES * (64 * 32 + 16 * 64) },
			{ "SQ_INSTS_SALU", WAVES * 2 });
	/* ten workgroups of 150 lanes: 64, 64 and 22 */
	FID_KNOWN_CHECK(k, "partial waves", FID_CALL("mov_b32", 1500, 150), { "SQ_WAVES", 30 },
			{ "SQ_ITEMS", 1500 }, { "SQ_WAVES_EQ_64", 20 }, { "SQ_WAVES_LT_64", 10 },
			{ "SQ_WAVES_LT_48", 10 }, { "SQ_WAVES_LT_32", 10 }, { "SQ_WAVES_LT_16", 0 },
			{ "SPI_CSN_NUM_THREADGROUPS", 10 }, { "SPI_CSN_WAVE", 30 });
}

static enum ws_status open_known(struct fid_known *k, bool plain, struct ws_err *err)
{
	*k = (struct fid_known){ .err = err };
	k->st = plain ? fid_counted_open_plain(&k->counted, err)
		      : fid_counted_open(&k->counted, err);
	if (k->st)
		return k->st;
	k->gfx90a = !strcmp(k->counted.agent->arch, "gfx90a");
	k->st = gpu_runner_buffer(k->counted.runner, FID_KNOWN_BUFFER, &k->buffer, err);
	return WS_OK; /* with a failure nothing is run */
}

enum ws_status fid_known_open(struct fid_known *k, struct ws_err *err)
{
	return open_known(k, false, err);
}

/* Instructions and waves only: how often they are executed does not depend on the chip. */
enum ws_status fid_selftest(struct ws_err *err)
{
	struct fid_known k;

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* messages on stderr stay between the lines */
	if (open_known(&k, true, err))
		return k.st;
	check_instructions(&k);
	check_valu(&k);
	check_matrices(&k);
	fid_counted_close(&k.counted);
	return k.st;
}

enum ws_status fid_check_known(struct ws_err *err)
{
	struct fid_known k;

	if (fid_known_open(&k, err))
		return k.st;
	check_instructions(&k);
	check_valu(&k);
	check_matrices(&k);
	fid_known_kinds(&k);
	fid_known_memory(&k);
	fid_known_occupancy(&k);
	fid_counted_close(&k.counted);
	return k.st;
}
