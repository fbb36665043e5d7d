#include "cmd/wavescope/selftest.h"

#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/vec.h"
#include "launch/softgpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KERNELS "fidelity-kernels"
#define TIMEOUT_MS 300000
#define COLUMNS 6 /* of a line of the kernels: kernel, dispatch, counter, -, expected, - */
#define CELLS_MAX 64

/* What a counter of a dispatch has to be, and is. */
struct check {
	struct ws_str kernel, counter; /* of the kernels' output */
	uint64_t dispatch;
	double expected, value; /* value NAN: none */
};
WS_VEC_TYPE(checks, struct check);

/* A counter, over all dispatches that say something about it. */
struct total {
	struct ws_str counter;
	size_t n, n_equal, n_none;
};

struct selftest {
	char rocprofv3[PATH_MAX + 16], program[PATH_MAX + 32], dir[PATH_MAX];
	struct ws_buf printed, messages,
		counted; /* of the traced run, of the counted run, its file */
	struct checks checks;
};

static enum ws_status find_programs(struct selftest *t, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_path_self(path, err);

	if (st)
		return st;
	*strrchr(path, '/') = 0;
	snprintf(t->rocprofv3, sizeof(t->rocprofv3), "%s/rocprofv3", path);
	st = launch_softgpu_library(path, err); /* it is beside it, also on a machine with a GPU */
	if (st)
		return st;
	*strrchr(path, '/') = 0;
	snprintf(t->program, sizeof(t->program), "%s/" KERNELS, path);
	if (access(t->program, X_OK))
		return ws_fail(err, WS_E_NOTFOUND,
			       "'%s' was not found: wavescope was built without clang", t->program);
	return WS_OK;
}

/* The last line of a failed run is its error message. */
static struct ws_str last_line(const struct ws_buf *text)
{
	struct ws_str rest = ws_str_trim(ws_buf_view(text)), line = { "", 0 };

	while (ws_str_next(&rest, '\n', &line))
		;
	return line;
}

/* rocprofv3 with @options, up to a NULL; what it and the kernels print. */
static enum ws_status profile(struct selftest *t, const char *const *options, struct ws_buf *out,
			      struct ws_err *err)
{
	char *argv[CELLS_MAX + 16] = { "rocprofv3" };
	struct ws_proc_end end = { 0 };
	size_t n = 1;
	enum ws_status st;

	while (*options && n < CELLS_MAX)
		argv[n++] = (char *)*options++;
	argv[n++] = "-f";
	argv[n++] = "csv";
	argv[n++] = "-d";
	argv[n++] = t->dir;
	argv[n++] = "-o";
	argv[n++] = "r";
	argv[n++] = "--";
	argv[n++] = t->program;
	argv[n++] = "selftest";
	ws_buf_clear(out);
	st = ws_proc_read(t->rocprofv3, argv, environ, true, TIMEOUT_MS, out, &end, err);
	if (!st && end.exit_code)
		return ws_fail(err, WS_E_STATE, "rocprofv3 failed with exit code %d: %.*s",
			       end.exit_code, WS_STR_ARGS(last_line(out)));
	return st;
}

/* ---- what has to be ---- */

static enum ws_status read_expected(struct selftest *t, struct ws_err *err)
{
	struct ws_str rest = ws_buf_view(&t->printed), line;
	enum ws_status st = WS_OK;

	while (!st && ws_str_next(&rest, '\n', &line)) {
		struct ws_str cells[COLUMNS], cell;
		struct check check = { .value = NAN };
		size_t n = 0;

		while (n < COLUMNS && ws_str_next(&line, '\t', &cell))
			cells[n++] = cell;
		if (n < COLUMNS || !ws_str_u64(cells[1], &check.dispatch) ||
		    !ws_str_f64(cells[4], &check.expected))
			continue; /* a line of rocprofv3 */
		check.kernel = cells[0];
		check.counter = cells[2];
		st = ws_vec_push(&t->checks, check, err);
	}
	if (!st && !t->checks.n)
		st = ws_fail(err, WS_E_STATE,
			     KERNELS " has no kernels for this GPU: it has some for gfx908, "
				     "gfx90a, gfx942 and gfx950. It printed: %.*s",
			     WS_STR_ARGS(last_line(&t->printed)));
	return st;
}

static size_t distinct(const struct checks *checks, struct total totals[CELLS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < checks->n; i++) {
		size_t k = 0;

		while (k < n && !ws_str_eq(totals[k].counter, checks->at[i].counter))
			k++;
		if (k == n && n < CELLS_MAX - 16)
			totals[n++] = (struct total){ .counter = checks->at[i].counter };
	}
	return n;
}

static enum ws_status count(struct selftest *t, const struct total *totals, size_t n,
			    struct ws_err *err)
{
	const char *options[CELLS_MAX] = { "--pmc" };
	char names[CELLS_MAX][64];

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%.*s", WS_STR_ARGS(totals[i].counter));
		options[i + 1] = names[i];
	}
	return profile(t, options, &t->messages, err);
}

/* ---- what was counted ---- */

/* Cells of a CSV line, without their quotes. */
static size_t split(struct ws_str line, struct ws_str cells[CELLS_MAX])
{
	const char *at = line.at, *end = line.at + line.n;
	size_t n = 0;

	while (at < end && n < CELLS_MAX) {
		bool quoted = *at == '"';
		const char *start = at + quoted;
		const char *stop = memchr(start, quoted ? '"' : ',', (size_t)(end - start));

		if (!stop)
			stop = end;
		cells[n++] = (struct ws_str){ start, (size_t)(stop - start) };
		at = stop + quoted + 1;
	}
	return n;
}

static size_t column(const struct ws_str *cells, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && !ws_str_is(cells[i], name))
		i++;
	return i;
}

static enum ws_status read_counted(struct selftest *t, struct ws_err *err)
{
	char path[PATH_MAX + 32];
	struct ws_str rest, line, cells[CELLS_MAX];
	size_t n, by_dispatch, by_name, by_value;
	enum ws_status st;

	snprintf(path, sizeof(path), "%s/r_counter_collection.csv", t->dir);
	if (!ws_path_exists(path))
		return WS_OK; /* nothing was counted: rocprofv3 has said why */
	st = ws_file_read(path, &t->counted, err);
	rest = ws_buf_view(&t->counted);
	if (st || !ws_str_next(&rest, '\n', &line))
		return st;
	n = split(line, cells);
	by_dispatch = column(cells, n, "Dispatch_Id");
	by_name = column(cells, n, "Counter_Name");
	by_value = column(cells, n, "Counter_Value");
	while (ws_str_next(&rest, '\n', &line)) {
		uint64_t dispatch;
		double value;

		n = split(line, cells);
		if (by_dispatch >= n || by_name >= n || by_value >= n ||
		    !ws_str_u64(cells[by_dispatch], &dispatch) ||
		    !ws_str_f64(cells[by_value], &value))
			continue;
		for (size_t i = 0; i < t->checks.n; i++)
			if (t->checks.at[i].dispatch == dispatch &&
			    ws_str_eq(t->checks.at[i].counter, cells[by_name]))
				t->checks.at[i].value = value;
	}
	return WS_OK;
}

/* ---- the table ---- */

/* What rocprofv3 has to say about the run that counted. */
static void print_warnings(const struct selftest *t)
{
	struct ws_str rest = ws_buf_view(&t->messages), line;

	while (ws_str_next(&rest, '\n', &line))
		if (memmem(line.at, line.n, "warning: ", 9) ||
		    memmem(line.at, line.n, "error: ", 7))
			printf("%.*s\n", WS_STR_ARGS(line));
}

static bool print_table(const struct selftest *t, struct total *totals, size_t n)
{
	size_t n_equal = 0;

	for (size_t i = 0; i < t->checks.n; i++) {
		const struct check *check = &t->checks.at[i];
		struct total *total = totals;

		while (total < totals + n && !ws_str_eq(total->counter, check->counter))
			total++;
		if (total == totals + n)
			continue;
		total->n++;
		total->n_equal += check->value == check->expected;
		total->n_none += isnan(check->value) != 0;
	}
	printf("\nCounters known by construction\n  %-34s %8s %8s %9s\n", "counter", "kernels",
	       "equal", "no value");
	for (size_t i = 0; i < n; i++) {
		printf("  %-34.*s %8zu %8zu %9zu\n", WS_STR_ARGS(totals[i].counter), totals[i].n,
		       totals[i].n_equal, totals[i].n_none);
		n_equal += totals[i].n_equal;
	}
	if (n_equal < t->checks.n)
		printf("\nDifferent\n  %-24s %-34s %14s %14s\n", "kernel", "counter", "expected",
		       "counted");
	for (size_t i = 0; i < t->checks.n; i++) {
		const struct check *check = &t->checks.at[i];

		if (check->value == check->expected)
			continue;
		printf("  %-24.*s %-34.*s %14.15g ", WS_STR_ARGS(check->kernel),
		       WS_STR_ARGS(check->counter), check->expected);
		if (isnan(check->value))
			printf("%14s\n", "no value");
		else
			printf("%14.15g\n", check->value);
	}
	printf("\n");
	print_warnings(t);
	printf("%zu of %zu values equal\n", n_equal, t->checks.n);
	return n_equal == t->checks.n;
}

static void remove_results(const struct selftest *t)
{
	static const char *const names[] = { "r_agent_info.csv", "r_counter_collection.csv",
					     "r_counter_info.csv", "r_kernel_trace.csv" };
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", t->dir, names[i]);
		unlink(path);
	}
	rmdir(t->dir);
}

enum ws_status wavescope_selftest(bool *out_equal, struct ws_err *err)
{
	static const char *const traced[] = { "--kernel-trace", NULL };
	static struct selftest t; /* too large for the stack */
	struct total totals[CELLS_MAX];
	size_t n = 0;
	enum ws_status st;

	ws_buf_init(&t.printed, 4 << 20);
	ws_buf_init(&t.messages, 4 << 20);
	ws_buf_init(&t.counted, 64 << 20);
	ws_vec_init(&t.checks, 1u << 20);
	st = find_programs(&t, err);
	if (!st)
		st = ws_dir_temp("wavescope-selftest", t.dir, err);
	if (!st) {
		st = profile(&t, traced, &t.printed, err);
		if (!st)
			st = read_expected(&t, err);
		if (!st)
			n = distinct(&t.checks, totals);
		if (!st)
			st = count(&t, totals, n, err);
		if (!st)
			st = read_counted(&t, err);
		remove_results(&t);
	}
	if (!st)
		*out_equal = print_table(&t, totals, n);
	ws_vec_fini(&t.checks);
	ws_buf_fini(&t.counted);
	ws_buf_fini(&t.messages);
	ws_buf_fini(&t.printed);
	return st;
}
