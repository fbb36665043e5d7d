/* wavescope fidelity: compare the counters of the software GPU with those of hardware. */
#include "cmd/wavescope/wavescope.h"

#include "base/env.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/util.h"
#include "launch/softgpu.h"
#include "programs/fidelity/judge.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KERNELS "fidelity-kernels"
#define TIMEOUT_MS 300000

struct fidelity_args {
	const char *recorded;
	const char *gpu;
	const char *kernels;
	bool all, markdown;
};

static const struct ws_opt fidelity_opts[] = {
	WS_OPT_STR(struct fidelity_args, recorded, 0, "recorded", "DIR",
		   "compare with all counters of the recordings in DIR: MI200, MI100, MI300X_A1, "
		   "MI300A_A1, MI350. "
		   "Default: the recorded values built into wavescope"),
	WS_OPT_STR(struct fidelity_args, gpu, 'g', "gpu", "MODEL",
		   "mi210, mi100, mi300x, mi300a or mi350x only. Default: mi210 and mi100, which "
		   "every "
		   "runtime knows"),
	WS_OPT_STR(struct fidelity_args, kernels, 'k', "kernels", "SET",
		   "known, fabric or vcopy only"),
	WS_OPT_BOOL(struct fidelity_args, all, 'a', "all",
		    "also print counters without an expected value"),
	WS_OPT_BOOL(struct fidelity_args, markdown, 0, "markdown",
		    "print the tables of docs/fidelity.md instead"),
};

/* Runs the kernels on the software GPU and appends what they print. */
static enum ws_status run_kernels(const char *gpu, const char *what, struct ws_buf *out,
				  struct ws_err *err)
{
	struct launch_softgpu soft = { .gpus = gpu };
	char library[PATH_MAX], program[PATH_MAX + sizeof(KERNELS)];
	char *argv[] = { program, (char *)what, NULL };
	struct ws_proc_end end = { 0 };
	struct ws_env env;
	enum ws_status st = launch_softgpu_library(library, err);

	if (st)
		return st;
	*strrchr(library, '/') = 0;
	snprintf(program, sizeof(program), "%s/%s", library, KERNELS);
	if (access(program, X_OK))
		return ws_fail(err, WS_E_NOTFOUND,
			       "'%s' was not found: wavescope was built without clang", program);
	st = ws_env_init(&env, environ, err);
	if (st)
		return st;
	st = launch_softgpu_env(&soft, &env, err);
	if (!st)
		st = ws_proc_read(program, argv, env.at, WS_PROC_STDERR_KEEP, TIMEOUT_MS, out, &end,
				  err);
	ws_env_fini(&env);
	if (!st && end.exit_code)
		return ws_fail(err, WS_E_STATE, "%s %s failed with exit code %d on %s", KERNELS,
			       what, end.exit_code, gpu);
	return st;
}

static const char *const kernel_sets[] = { "known", "fabric", "vcopy" };

static enum ws_status check_kernels(const char *kernels, struct ws_err *err)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(kernel_sets); i++)
		if (!kernels || strcmp(kernels, kernel_sets[i]) == 0)
			return WS_OK;
	return ws_fail(err, WS_E_USAGE, "no kernels '%s': use known, fabric or vcopy", kernels);
}

static enum ws_status check_chip(const struct fidelity_args *args, unsigned number,
				 struct ws_buf *out, struct fid_rows *rows, struct ws_err *err)
{
	const struct fid_chip *chip = &fid_chips[number];
	struct fid_recording rec = { .n = 0 };
	enum ws_status st = WS_OK;

	if (args->kernels && !strcmp(args->kernels, "fabric") && !chip->linked)
		return ws_fail(err, WS_E_USAGE,
			       "nothing is published of links between %s: use mi210 or mi100",
			       chip->gpu);
	if (args->recorded)
		st = fid_recording_read(&rec, args->recorded, chip->recording, err);
	for (size_t i = 0; i < WS_ARRAY_LEN(kernel_sets) && !st; i++) {
		const char *what = kernel_sets[i];

		/* those for the fabric need a machine whose GPUs are linked */
		if ((!args->kernels && (chip->linked || strcmp(what, "fabric"))) ||
		    (args->kernels && !strcmp(args->kernels, what)))
			st = run_kernels(strcmp(what, "fabric") ? chip->gpu : chip->linked, what,
					 out, err);
	}
	if (!st)
		st = ws_buf_status(out, err);
	if (!st)
		st = fid_compare(number, args->recorded ? &rec : NULL, ws_buf_view(out), rows, err);
	fid_recording_fini(&rec);
	return st;
}

static void print_tally(const struct fid_tally *tally, const char *indent)
{
	if (*indent)
		printf("\n");
	printf("%sexact: %u of %u equal; modelled: %u of %u within %.0f %%\n", indent,
	       tally->n_exact - tally->n_exact_off, tally->n_exact, tally->n_verdicts[FID_WITHIN],
	       tally->n_modelled, 100 * FID_NEAR);
	printf("%sof the others: %u as a share of the window, %u as recordings differ, %u small, "
	       "%u not compared, %u outside; %u recorded counters are not supported\n",
	       indent, tally->n_verdicts[FID_SHARE], tally->n_verdicts[FID_SPREAD],
	       tally->n_verdicts[FID_SMALL], tally->n_verdicts[FID_EXCEPTED],
	       tally->n_verdicts[FID_OUTSIDE], tally->n_unsupported);
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct fidelity_args *args = call->values;
	const char *names[FID_N_CHIPS] = { NULL };
	struct ws_buf out[FID_N_CHIPS];
	struct fid_rows rows;
	enum ws_status st = check_kernels(args->kernels, err);
	bool any = false;

	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "unexpected argument '%s': fidelity takes only options",
			       call->rest.operands[0]);
	if (st)
		return st;
	ws_vec_init(&rows, 1u << 20);
	for (unsigned k = 0; k < FID_N_CHIPS; k++) {
		ws_buf_init(&out[k], 16u << 20);
		if (st ||
		    (args->gpu ? !!strcmp(args->gpu, fid_chips[k].gpu) : fid_chips[k].elsewhere))
			continue;
		any = true;
		names[k] = fid_chips[k].gpu;
		st = check_chip(args, k, &out[k], &rows, err);
		if (!st && !args->markdown)
			fid_print(k, &rows, args->all);
	}
	if (!any)
		st = ws_fail(err, WS_E_USAGE,
			     "no recordings of '%s': use mi210, mi100, mi300x, mi300a or mi350x",
			     args->gpu);
	if (!st) {
		const struct fid_tally tally = fid_tally(&rows);

		if (args->markdown)
			fid_markdown(&rows, names, FID_N_CHIPS);
		print_tally(&tally, args->markdown ? "    " : "");
		*exit_code = tally.n_exact_off || !tally.n_exact || tally.n_verdicts[FID_OUTSIDE];
	}
	ws_vec_fini(&rows);
	for (unsigned k = 0; k < FID_N_CHIPS; k++)
		ws_buf_fini(&out[k]);
	return st;
}

const struct ws_cmd wavescope_fidelity_cmd = {
	.name = "fidelity",
	.summary = "compare the software GPU's counters with hardware's",
	.usage = "[options]",
	.about = "Runs kernels with known counter values, by construction or from recordings of "
		 "hardware, and prints expected and counted values. Exact counters follow from the "
		 "instruction stream and must be equal. Modelled counters follow from models of "
		 "caches and time, and are within 30 % of recorded values; docs/fidelity.md has "
		 "the rules "
		 "where hardware's own values differ more.",
	.notes = "Exit code:\n"
		 "  1 if an exact counter differs or a modelled one is outside, 2 for wrong "
		 "options.",
	.opts = { fidelity_opts, WS_ARRAY_LEN(fidelity_opts) },
	.values_bytes = sizeof(struct fidelity_args),
	.run = run,
};
