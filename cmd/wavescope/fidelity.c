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

struct fidelity_args {
	const char *recorded;
	const char *gpu;
	bool all, markdown;
};

static const struct ws_opt fidelity_opts[] = {
	WS_OPT_STR(struct fidelity_args, recorded, 0, "recorded", "DIR",
		   "compare with the recordings in DIR/MI200 and DIR/MI100, all counters of them. "
		   "Default: the recorded values that wavescope itself is tested with"),
	WS_OPT_STR(struct fidelity_args, gpu, 'g', "gpu", "MODEL", "mi210 or mi100 only"),
	WS_OPT_BOOL(struct fidelity_args, all, 'a', "all", "also print what has no expected value"),
	WS_OPT_BOOL(struct fidelity_args, markdown, 0, "markdown",
		    "print the tables of docs/fidelity.md instead"),
};

static const struct chip {
	const char *gpu, *recording;
	bool mi100;
	const char *linked; /* a machine with two GPUs and a link between them */
} chips[] = { { "mi210", "MI200", false, "mi250x" }, { "mi100", "MI100", true, "mi100,mi100" } };

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
				   &out->class,  &out->expected, &out->value };

	for (unsigned k = 0; k < 6; k++)
		if (!ws_str_next(&text, '\t', parts[k]))
			return false;
	return true;
}

static bool built_in(const struct chip *chip, struct ws_str counter, unsigned dispatch, double *out)
{
	for (size_t k = 0; k < sizeof(sg_recorded_vcopy) / sizeof(sg_recorded_vcopy[0]); k++) {
		const struct sg_recorded *row = &sg_recorded_vcopy[k];
		struct ws_str name = ws_str_from(row->name);

		if (ws_str_ends(name, "_sum"))
			name.n -= 4;
		if (!ws_str_eq(name, counter))
			continue;
		*out = chip->mi100 ? row->mi100[dispatch] : row->mi200[dispatch];
		return *out != SG_NOT_RECORDED;
	}
	return false;
}

double wavescope_fidelity_error(const struct wavescope_fidelity_row *row)
{
	if (row->expected == row->value)
		return 0;
	return row->expected ? row->value / row->expected - 1 : INFINITY;
}

static void print_row(const struct wavescope_fidelity_row *row)
{
	double error = wavescope_fidelity_error(row);
	int decimals = row->value != floor(row->value); /* means are the only ones that need any */

	printf("%-24.*s %u  %-36.*s ", WS_STR_ARGS(row->kernel), row->dispatch,
	       WS_STR_ARGS(row->counter));
	if (!row->has_expected)
		printf("%14s %14.0f %9s  %.*s\n", "-", row->value, "-", WS_STR_ARGS(row->class));
	else
		printf("%14.*f %14.*f %+8.1f%%  %.*s%s\n", row->expected != floor(row->expected),
		       row->expected, decimals, row->value, 100 * error, WS_STR_ARGS(row->class),
		       row->exact && error ? "  OFF" : "");
}

static void add_to(struct tally *tally, const struct wavescope_fidelity_row *row)
{
	double error = wavescope_fidelity_error(row);

	if (row->exact) {
		tally->n_exact++;
		tally->n_exact_off += error != 0;
	} else {
		tally->n_modelled++;
		tally->n_near += fabs(error) <= WAVESCOPE_FIDELITY_NEAR;
	}
}

/* Every pass of vcopy tells the durations: those of the first are enough. */
static bool told_before(struct wavescope_fidelity_rows *rows,
			const struct wavescope_fidelity_row *row)
{
	if (!ws_str_is(row->counter, "duration_ns"))
		return false;
	ws_vec_each(other, rows)
		if (other->chip == row->chip && other->dispatch == row->dispatch &&
		    ws_str_is(other->counter, "duration_ns"))
			return true;
	return false;
}

/* What the kernels printed, and what it has to be, by construction or by a recording. */
static enum ws_status compare(unsigned number, const struct wavescope_recording *rec,
			      struct ws_str text, struct wavescope_fidelity_rows *rows,
			      struct ws_err *err)
{
	const struct chip *chip = &chips[number];
	struct ws_str one;
	struct line l;

	while (ws_str_next(&text, '\n', &one)) {
		struct wavescope_fidelity_row row = { .chip = number };
		enum ws_status st;
		uint64_t dispatch;

		if (!parse(one, &l) || !ws_str_f64(l.value, &row.value) ||
		    !ws_str_u64(l.dispatch, &dispatch) || dispatch >= WAVESCOPE_FIDELITY_DISPATCHES)
			continue;
		row.kernel = l.kernel;
		row.counter = l.counter;
		row.class = l.class;
		row.dispatch = (unsigned)dispatch;
		row.exact = ws_str_is(l.class, "exact");
		if (told_before(rows, &row))
			continue;
		row.has_expected = ws_str_f64(l.expected, &row.expected);
		if (!row.has_expected && rec)
			row.has_expected = wavescope_recording_find(rec, l.counter, row.dispatch,
								    &row.expected);
		else if (!row.has_expected)
			row.has_expected = built_in(chip, l.counter, row.dispatch, &row.expected);
		st = ws_vec_push(rows, row, err);
		if (st)
			return st;
	}
	return WS_OK;
}

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
			       "'%s' is not there: wavescope was built without clang", program);
	st = ws_env_init(&env, environ, err);
	if (st)
		return st;
	st = launch_softgpu_env(&soft, &env, err);
	if (!st)
		st = ws_proc_read(program, argv, env.at, false, TIMEOUT_MS, out, &end, err);
	ws_env_fini(&env);
	if (!st && end.exit_code)
		return ws_fail(err, WS_E_STATE, "%s %s failed with exit code %d on %s", KERNELS,
			       what, end.exit_code, gpu);
	return st;
}

static enum ws_status check_chip(const struct fidelity_args *args, unsigned number,
				 struct ws_buf *out, struct wavescope_fidelity_rows *rows,
				 struct ws_err *err)
{
	const struct chip *chip = &chips[number];
	struct wavescope_recording rec = { .n = 0 };
	enum ws_status st = WS_OK;

	if (args->recorded)
		st = wavescope_recording_read(&rec, args->recorded, chip->recording, err);
	if (!st)
		st = run_kernels(chip->gpu, "known", out, err);
	if (!st)
		st = run_kernels(chip->linked, "fabric", out, err);
	if (!st)
		st = run_kernels(chip->gpu, "vcopy", out, err);
	if (!st)
		st = ws_buf_status(out, err);
	if (!st)
		st = compare(number, args->recorded ? &rec : NULL, ws_buf_view(out), rows, err);
	wavescope_recording_fini(&rec);
	return st;
}

static void print_chip(const struct fidelity_args *args, unsigned number,
		       struct wavescope_fidelity_rows *rows)
{
	printf("%s against %s\n%-24s %s  %-36s %14s %14s %9s  %s\n", chips[number].gpu,
	       chips[number].recording, "kernel", "#", "counter", "expected", "ours", "error",
	       "class");
	ws_vec_each(row, rows)
		if (row->chip == number && (row->has_expected || args->all))
			print_row(row);
	printf("\n");
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct fidelity_args *args = call->values;
	const char *names[WS_ARRAY_LEN(chips)] = { NULL };
	struct ws_buf out[WS_ARRAY_LEN(chips)];
	struct wavescope_fidelity_rows rows;
	struct tally tally = { 0 };
	enum ws_status st = WS_OK;
	bool any = false;

	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "'%s' is too much: fidelity takes options only",
			       call->rest.operands[0]);
	ws_vec_init(&rows, 1u << 20);
	for (unsigned k = 0; k < WS_ARRAY_LEN(chips); k++) {
		ws_buf_init(&out[k], 16u << 20);
		if (st || (args->gpu && strcmp(args->gpu, chips[k].gpu)))
			continue;
		any = true;
		names[k] = chips[k].gpu;
		st = check_chip(args, k, &out[k], &rows, err);
		if (!st && !args->markdown)
			print_chip(args, k, &rows);
	}
	if (!any)
		st = ws_fail(err, WS_E_USAGE, "no recordings of '%s': there are mi210 and mi100",
			     args->gpu);
	if (!st) {
		ws_vec_each(row, &rows)
			if (row->has_expected)
				add_to(&tally, row);
		if (args->markdown)
			wavescope_fidelity_markdown(&rows, names, WS_ARRAY_LEN(chips));
		printf("%sexact: %u of %u equal; modelled: %u of %u within %.0f %%\n",
		       args->markdown ? "\n    " : "", tally.n_exact - tally.n_exact_off,
		       tally.n_exact, tally.n_near, tally.n_modelled,
		       100 * WAVESCOPE_FIDELITY_NEAR);
		*exit_code = tally.n_exact_off || !tally.n_exact;
	}
	ws_vec_fini(&rows);
	for (unsigned k = 0; k < WS_ARRAY_LEN(chips); k++)
		ws_buf_fini(&out[k]);
	return st;
}

const struct ws_cmd wavescope_fidelity_cmd = {
	.name = "fidelity",
	.summary = "compare the software GPU's counters with hardware's",
	.usage = "[options]",
	.about =
		"Runs kernels whose counters are known, by construction or from recordings made on "
		"hardware, and prints expected and counted values. Exact counters follow from the "
		"instruction stream and must be equal; modelled ones follow from models of caches "
		"and time.",
	.notes = "Exit code:\n"
		 "  1 if an exact counter is off, 2 for wrong options.",
	.opts = { fidelity_opts, WS_ARRAY_LEN(fidelity_opts) },
	.values_bytes = sizeof(struct fidelity_args),
	.run = run,
};
