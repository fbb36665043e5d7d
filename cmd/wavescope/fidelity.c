/* wavescope fidelity: how near the software GPU's counters are to hardware's. */
#include "cmd/wavescope/fidelity.h"

#include "base/env.h"
#include "base/path.h"
#include "base/proc.h"
#include "cmd/wavescope/wavescope.h"
#include "launch/softgpu.h"
#include "softgpu/counters/recorded_vcopy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KERNELS "fidelity-kernels"
#define TIMEOUT_MS 300000
#define NEAR 0.3 /* modelled values within this are counted as near */

struct fidelity_args {
	const char *recorded;
	const char *gpu;
	bool all;
};

static const struct ws_opt fidelity_opts[] = {
	WS_OPT_STR(struct fidelity_args, recorded, 0, "recorded", "DIR",
		   "compare with the recordings in DIR/MI200 and DIR/MI100, all counters of them. "
		   "Default: the recorded values that wavescope itself is tested with"),
	WS_OPT_STR(struct fidelity_args, gpu, 'g', "gpu", "MODEL", "mi210 or mi100 only"),
	WS_OPT_BOOL(struct fidelity_args, all, 'a', "all",
		    "also print what has no expected value"),
};

static const struct chip {
	const char *gpu, *recording;
	bool mi100;
} chips[] = { { "mi210", "MI200", false }, { "mi100", "MI100", true } };

struct tally {
	unsigned n_exact, n_exact_off, n_modelled, n_near;
};

/* One line that the kernels printed. */
struct line {
	struct ws_str kernel, dispatch, counter, class, expected, value;
};

static bool parse(struct ws_str text, struct line *out)
{
	struct ws_str *parts[] = { &out->kernel, &out->dispatch, &out->counter,
				   &out->class, &out->expected, &out->value };

	for (unsigned k = 0; k < 6; k++)
		if (!ws_str_next(&text, '\t', parts[k]))
			return false;
	return true;
}

static bool built_in(const struct chip *chip, struct ws_str counter, unsigned dispatch, double *out)
{
	for (size_t k = 0; k < sizeof(ws_recorded_vcopy) / sizeof(ws_recorded_vcopy[0]); k++) {
		const struct ws_recorded *row = &ws_recorded_vcopy[k];
		struct ws_str name = ws_str_from(row->name);

		if (ws_str_ends(name, "_sum"))
			name.n -= 4;
		if (!ws_str_eq(name, counter))
			continue;
		*out = chip->mi100 ? row->mi100[dispatch] : row->mi200[dispatch];
		return *out != WS_NOT_RECORDED;
	}
	return false;
}

static void print_line(const struct line *l, const double *expected, double value, struct tally *tally)
{
	bool exact = ws_str_is(l->class, "exact");
	double error = 0;

	printf("%-24.*s %.*s  %-36.*s ", WS_STR_ARGS(l->kernel), WS_STR_ARGS(l->dispatch),
	       WS_STR_ARGS(l->counter));
	if (!expected) {
		printf("%14s %14.0f %9s  %.*s\n", "-", value, "-", WS_STR_ARGS(l->class));
		return;
	}
	if (*expected != value)
		error = *expected ? value / *expected - 1 : INFINITY;
	printf("%14.0f %14.0f %+8.1f%%  %.*s%s\n", *expected, value, 100 * error, WS_STR_ARGS(l->class),
	       exact && error ? "  OFF" : "");
	if (exact) {
		tally->n_exact++;
		tally->n_exact_off += error != 0;
	} else {
		tally->n_modelled++;
		tally->n_near += fabs(error) <= NEAR;
	}
}

static void compare(const struct fidelity_args *args, const struct chip *chip, const struct ws_recording *rec,
		    struct ws_str text, struct tally *tally)
{
	struct ws_str one, before = { "", 0 };
	struct line l;

	while (ws_str_next(&text, '\n', &one)) {
		double value, expected = 0;
		uint64_t dispatch;
		bool has;

		if (!parse(one, &l) || !ws_str_f64(l.value, &value) || !ws_str_u64(l.dispatch, &dispatch) ||
		    dispatch >= WS_FIDELITY_DISPATCHES)
			continue;
		/* every pass tells the duration: once is enough */
		if (ws_str_is(l.counter, "duration_ns")) {
			if (before.n && dispatch == 0)
				before.n = 2;
			if (before.n == 2)
				continue;
			if (dispatch == WS_FIDELITY_DISPATCHES - 1)
				before = (struct ws_str){ "x", 1 };
		}
		has = ws_str_f64(l.expected, &expected);
		if (!has && rec)
			has = ws_recording_find(rec, l.counter, (unsigned)dispatch, &expected);
		else if (!has)
			has = built_in(chip, l.counter, (unsigned)dispatch, &expected);
		if (has || args->all)
			print_line(&l, has ? &expected : NULL, value, tally);
	}
}

/* Runs the kernels on the software GPU and appends what they print. */
static enum ws_status run_kernels(const char *gpu, const char *what, struct ws_buf *out, struct ws_err *err)
{
	struct ws_softgpu soft = { .gpus = gpu };
	char library[PATH_MAX], program[PATH_MAX + sizeof(KERNELS)];
	char *argv[] = { program, (char *)what, NULL };
	struct ws_proc_end end = { 0 };
	struct ws_env env;
	enum ws_status st = ws_softgpu_library(library, err);

	if (st)
		return st;
	*strrchr(library, '/') = 0;
	snprintf(program, sizeof(program), "%s/%s", library, KERNELS);
	if (access(program, X_OK))
		return ws_fail(err, WS_E_NOTFOUND, "'%s' is not there: wavescope was built without clang",
			       program);
	st = ws_env_init(&env, environ, err);
	if (st)
		return st;
	st = ws_softgpu_env(&soft, &env, err);
	if (!st)
		st = ws_proc_read(program, argv, env.at, false, TIMEOUT_MS, out, &end, err);
	ws_env_fini(&env);
	if (!st && end.exit_code)
		return ws_fail(err, WS_E_STATE, "%s %s failed with exit code %d on %s", KERNELS, what,
			       end.exit_code, gpu);
	return st;
}

static enum ws_status check_chip(const struct fidelity_args *args, const struct chip *chip,
				 struct tally *tally, struct ws_err *err)
{
	struct ws_recording rec = { .n = 0 };
	struct ws_buf out;
	enum ws_status st = WS_OK;

	if (args->recorded)
		st = ws_recording_read(&rec, args->recorded, chip->recording, err);
	if (st)
		return st;
	ws_buf_init(&out, 16u << 20);
	st = run_kernels(chip->gpu, "known", &out, err);
	if (!st)
		st = run_kernels(chip->gpu, "vcopy", &out, err);
	if (!st)
		st = ws_buf_status(&out, err);
	if (!st) {
		printf("%s against %s\n%-24s %s  %-36s %14s %14s %9s  %s\n", chip->gpu, chip->recording, "kernel",
		       "#", "counter", "expected", "ours", "error", "class");
		compare(args, chip, args->recorded ? &rec : NULL, ws_buf_view(&out), tally);
		printf("\n");
	}
	ws_buf_fini(&out);
	ws_recording_fini(&rec);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct fidelity_args *args = call->values;
	struct tally tally = { 0 };
	enum ws_status st = WS_OK;
	bool any = false;

	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "'%s' is too much: fidelity takes options only",
			       call->rest.operands[0]);
	for (size_t k = 0; k < sizeof(chips) / sizeof(chips[0]) && !st; k++) {
		if (args->gpu && strcmp(args->gpu, chips[k].gpu))
			continue;
		any = true;
		st = check_chip(args, &chips[k], &tally, err);
	}
	if (!any)
		return ws_fail(err, WS_E_USAGE, "no recordings of '%s': there are mi210 and mi100", args->gpu);
	if (st)
		return st;
	printf("exact: %u of %u equal; modelled: %u of %u within %.0f %%\n",
	       tally.n_exact - tally.n_exact_off, tally.n_exact, tally.n_near, tally.n_modelled, 100 * NEAR);
	*exit_code = tally.n_exact_off || !tally.n_exact;
	return WS_OK;
}

const struct ws_cmd ws_fidelity_cmd = {
	.name = "fidelity",
	.summary = "compare the software GPU's counters with hardware's",
	.usage = "[options]",
	.about = "Runs kernels whose counters are known, by construction or from recordings made on "
		 "hardware, and prints expected and counted values. Exact counters follow from the "
		 "instruction stream and must be equal; modelled ones follow from models of caches and time.",
	.notes = "Exit code:\n"
		 "  1 if an exact counter is off, 2 for wrong options.",
	.opts = { fidelity_opts, WS_ARRAY_LEN(fidelity_opts) },
	.values_bytes = sizeof(struct fidelity_args),
	.run = run,
};
