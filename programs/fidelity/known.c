#include "programs/fidelity/known.h"

#include "programs/fidelity/known_priv.h"

#include <stdio.h>
#include <string.h>

#define WAVES 4
#define REPEATED 64 /* instructions of a wave, in kernels.s */

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
static const char *const class_counters[] = {
#define NAME(name) "SQ_INSTS_VALU_" #name,
	FID_CLASSES(NAME)
#undef NAME
};

/* slots: quad-cycles that one instruction takes, by the chip's documented rate; 0: not documented. Later: from
 * gfx90a on. */
static const struct {
	const char *kernel;
	enum fid_class class;
	uint8_t count, slots_gfx908, slots_later;
} classes[] = {
	{ "add_f16", FID_ADD_F16,   1, 1, 1 }, { "sub_f16", FID_ADD_F16,   1, 1, 1 },
	{ "mul_f16", FID_MUL_F16,   1, 1, 1 }, { "fma_f16", FID_FMA_F16,   1, 1, 1 },
	{ "rcp_f16", FID_TRANS_F16, 1, 4, 4 }, { "sqrt_f16", FID_TRANS_F16, 1, 4, 4 },
	{ "exp_f16", FID_TRANS_F16, 1, 4, 4 },
	{ "pk_add_f16", FID_ADD_F16,   2, 1, 1 }, { "pk_mul_f16", FID_MUL_F16,   2, 1, 1 },
	{ "pk_fma_f16", FID_FMA_F16,   2, 1, 1 },
	{ "add_f32", FID_ADD_F32,   1, 1, 1 }, { "sub_f32", FID_ADD_F32,   1, 1, 1 },
	{ "mul_f32", FID_MUL_F32,   1, 1, 1 }, { "fma_f32", FID_FMA_F32,   1, 1, 1 },
	{ "fmac_f32", FID_FMA_F32,   1, 1, 1 }, { "rcp_f32", FID_TRANS_F32, 1, 4, 4 },
	{ "rsq_f32", FID_TRANS_F32, 1, 4, 4 }, { "sqrt_f32", FID_TRANS_F32, 1, 4, 4 },
	{ "exp_f32", FID_TRANS_F32, 1, 4, 4 }, { "log_f32", FID_TRANS_F32, 1, 4, 4 },
	{ "sin_f32", FID_TRANS_F32, 1, 4, 4 }, { "cos_f32", FID_TRANS_F32, 1, 4, 4 },
	{ "pk_add_f32", FID_ADD_F32,   2, 0, 1 }, { "pk_mul_f32", FID_MUL_F32,   2, 0, 1 },
	{ "pk_fma_f32", FID_FMA_F32,   2, 0, 1 },
	{ "add_f64", FID_ADD_F64,   1, 2, 1 }, { "mul_f64", FID_MUL_F64,   1, 2, 1 },
	{ "fma_f64", FID_FMA_F64,   1, 2, 1 }, { "rcp_f64", FID_TRANS_F64, 1, 0, 0 },
	{ "sqrt_f64", FID_TRANS_F64, 1, 0, 0 },
	{ "add_u32", FID_INT32,     1, 1, 1 }, { "mul_lo_u32", FID_INT32,     1, 4, 4 },
	{ "and_b32", FID_INT32,     1, 1, 1 }, { "lshlrev_b32", FID_INT32,    1, 1, 1 },
	{ "cmp_u32", FID_INT32,     1, 1, 1 }, { "mad_u64_u32", FID_INT64,    1, 4, 4 },
	{ "cmp_u64", FID_INT64,     1, 0, 0 },
	{ "cvt_f32_i32", FID_CVT,       1, 1, 1 }, { "cvt_f16_f32", FID_CVT,      1, 1, 1 },
	{ "cvt_f64_f32", FID_CVT,       1, 0, 0 },
	{ "mov_b32", FID_OTHER,     0, 1, 1 }, { "cndmask_b32", FID_OTHER,    0, 1, 1 },
	{ "lshlrev_b64", FID_OTHER,     0, 2, 1 }, /* recorded */
	{ "cvt_f32_fp8", FID_CVT,   1, 0, 0 }, { "cvt_f32_bf8", FID_CVT,  1, 0, 0 },
	{ "cvt_pk_f32_fp8", FID_CVT, 1, 0, 0 }, { "cvt_pk_fp8_f32", FID_CVT, 1, 0, 0 },
	{ "cvt_pk_bf8_f32", FID_CVT, 1, 0, 0 }, { "cvt_sr_fp8_f32", FID_CVT, 1, 0, 0 },
	{ "cvt_pk_bf16_f32", FID_CVT, 1, 0, 0 },
};

/* clang-format on */

/* gfx942 has no counter of F6F4, gfx90a neither that nor F8's. */
static size_t n_classes(const struct fid_known *k)
{
	return k->target == FID_GFX950   ? FID_N_CLASSES
	       : k->target == FID_GFX942 ? FID_MFMA_F6F4
					 : FID_MFMA_F8;
}

void fid_known_class(struct fid_known *k, const struct fid_known_call *call, enum fid_class class,
		     double want)
{
	struct fid_counted_value values[FID_N_CLASSES];
	size_t n = n_classes(k);
	double others = 0;

	if (k->counted.plain || k->target < FID_GFX90A)
		return;
	for (size_t c = 0; c < n; c++)
		values[c] = (struct fid_counted_value){ .name = class_counters[c] };
	if (!fid_known_count(k, call, values, n))
		return;
	for (size_t c = 0; c < n; c++)
		if (c != class)
			others += values[c].value;
	if (class != FID_OTHER)
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
		double slots =
			k->target == FID_GFX908 ? classes[i].slots_gfx908 : classes[i].slots_later;

		if (!gpu_runner_has(k->counted.runner, call.kernel))
			continue;
		fid_known_check(k, call.kernel, &call,
				(const struct fid_expect[]){
					{ "SQ_INSTS_VALU", n },
					{ "SQ_INSTS", n + WAVES },
					{ "SQ_ACTIVE_INST_VALU", n * slots },
					{ "SQ_THREAD_CYCLES_VALU", 64 * n * slots } },
				slots ? 4 : 2);
		fid_known_class(k, &call, classes[i].class, n * classes[i].count);
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

static const char *const targets[] = { "gfx908", "gfx90a", "gfx942", "gfx950" };

static enum ws_status open_known(struct fid_known *k, bool plain, struct ws_err *err)
{
	*k = (struct fid_known){ .err = err };
	k->st = plain ? fid_counted_open_plain(&k->counted, err)
		      : fid_counted_open(&k->counted, err);
	if (k->st)
		return k->st;
	for (k->target = 0; k->target < FID_N_TARGETS - 1; k->target++)
		if (!strcmp(k->counted.agent->arch, targets[k->target]))
			break;
	k->n_dies = WS_MAX(k->counted.agent->num_xcc, 1u);
	k->n_engines = (uint32_t)gpu_agent_n_ses(k->counted.agent);
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
	fid_known_matrices(&k);
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
	fid_known_matrices(&k);
	fid_known_kinds(&k);
	fid_known_memory(&k);
	fid_known_occupancy(&k);
	fid_counted_close(&k.counted);
	return k.st;
}
