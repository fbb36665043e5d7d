#include "programs/fidelity/judge.h"

#include "programs/fidelity/recorded_dies.h"
#include "programs/fidelity/recorded_vcopy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct fid_chip fid_chips[FID_N_CHIPS] = {
	{ .gpu = "mi210", .linked = "mi250x", .recording = "MI200" },
	{ .gpu = "mi100", .linked = "mi100,mi100", .recording = "MI100" },
	{ .gpu = "mi300x", .recording = "MI300X_A1", .elsewhere = true, .window_varies = true },
	{ .gpu = "mi300a", .recording = "MI300A_A1", .elsewhere = true, .window_varies = true },
	{ .gpu = "mi350x", .recording = "MI350", .elsewhere = true, .other_part = true },
	/* an early part of four dies at 440 MHz: not a model that runs programs, but models/recorded has it */
	{ .gpu = "the MI350 that was recorded", .recording = "MI350", .elsewhere = true },
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

/* The built-in recordings: a table of GPUs with one die, and one of GPUs with several. */
static const struct {
	const char *recording;
	const char *const *names;  /* of the first row */
	const double (*values)[3]; /* of the first row */
	size_t n, row_bytes;
} recordings[] = {
#define RECORDING(folder, table, field)                                                            \
	{                                                                                          \
		folder, &table[0].name, &table[0].field, WS_ARRAY_LEN(table), sizeof(table[0])     \
	}
	RECORDING("MI200", fid_recorded_vcopy, mi200),
	RECORDING("MI100", fid_recorded_vcopy, mi100),
	RECORDING("MI300X_A1", fid_recorded_dies, mi300x),
	RECORDING("MI300A_A1", fid_recorded_dies, mi300a),
	RECORDING("MI350", fid_recorded_dies, mi350),
#undef RECORDING
};

bool fid_is_counter(struct ws_str recorded, struct ws_str counter)
{
	static const char later[] = "TCC_EA0_", first[] = "TCC_EA_";
	struct ws_str rest = recorded, other = counter;

	if (ws_str_ends(recorded, "_sum") && !ws_str_ends(counter, "_sum"))
		rest.n -= 4;
	if (rest.n > sizeof(later) && other.n > sizeof(first) &&
	    !memcmp(rest.at, later, sizeof(later) - 1) &&
	    !memcmp(other.at, first, sizeof(first) - 1)) {
		rest = (struct ws_str){ rest.at + sizeof(later) - 1, rest.n - sizeof(later) + 1 };
		other = (struct ws_str){ other.at + sizeof(first) - 1,
					 other.n - sizeof(first) + 1 };
	}
	return ws_str_eq(rest, other);
}

static bool built_in(const struct fid_chip *chip, struct ws_str counter, unsigned dispatch,
		     double *out)
{
	size_t r = 0;

	while (strcmp(recordings[r].recording, chip->recording))
		r++;
	for (size_t k = 0; k < recordings[r].n; k++) {
		size_t at = k * recordings[r].row_bytes;
		const char *name = *(const char *const *)((const char *)recordings[r].names + at);
		const double *values = (const double *)((const char *)recordings[r].values + at);

		if (!fid_is_counter(ws_str_from(name), counter))
			continue;
		*out = values[dispatch];
		return *out != FID_NOT_RECORDED;
	}
	return false;
}

double fid_error(const struct fid_row *row)
{
	if (row->expected == row->value)
		return 0;
	return row->expected ? row->value / row->expected - 1 : INFINITY;
}

static const char *const verdicts[FID_N_VERDICTS] = {
	[FID_WITHIN] = "",
	[FID_SHARE] = "  share of the window",
	[FID_SPREAD] = "  as recordings differ",
	[FID_SMALL] = "  small",
	[FID_EXCEPTED] = "  not compared",
	[FID_OUTSIDE] = "  OUTSIDE",
};

static void print_row(struct fid_rows *rows, const struct fid_row *row)
{
	double error = fid_error(row);
	int decimals = row->value != floor(row->value); /* means are the only ones that need any */

	printf("%-24.*s %u  %-36.*s ", WS_STR_ARGS(row->kernel), row->dispatch,
	       WS_STR_ARGS(row->counter));
	if (!row->has_expected)
		printf("%14s %14.0f %9s  %.*s\n", "-", row->value, "-", WS_STR_ARGS(row->class));
	else
		printf("%14.*f %14.*f %+8.1f%%  %.*s%s\n", row->expected != floor(row->expected),
		       row->expected, decimals, row->value, 100 * error, WS_STR_ARGS(row->class),
		       !row->exact ? verdicts[fid_judge(rows, row)]
		       : error     ? "  OFF"
				   : "");
}

static bool recorded(const struct fid_chip *chip, const struct fid_recording *rec,
		     struct ws_str counter, unsigned dispatch, double *out)
{
	return rec ? fid_recording_find(rec, counter, dispatch, out)
		   : built_in(chip, counter, dispatch, out);
}

/* All that was recorded of a dispatch: of several passes, or a share of a window. */
static bool recorded_range(const struct fid_chip *chip, const struct fid_recording *rec,
			   struct ws_str counter, unsigned dispatch, double *low, double *high)
{
	const char *of = fid_share_of(chip, counter);
	double whole;

	if (!of && rec)
		return fid_recording_range(rec, counter, dispatch, low, high);
	if (!recorded(chip, rec, counter, dispatch, low))
		return false;
	if (of && (!recorded(chip, rec, ws_str_from(of), dispatch, &whole) || !whole))
		return false;
	if (of)
		*low /= whole;
	*high = *low;
	return true;
}

/* The expected value of a row of vcopy. Its dispatches after the first do the same work. */
static void look_up(const struct fid_recording *rec, struct fid_row *row)
{
	const struct fid_chip *chip = &fid_chips[row->chip];

	row->has_expected = recorded(chip, rec, row->counter, row->dispatch, &row->expected);
	if (!row->has_expected)
		return;
	row->low = row->high = row->expected;
	recorded_range(chip, rec, row->counter, row->dispatch, &row->low, &row->high);
	for (unsigned other = 1; row->dispatch && other < FID_DISPATCHES; other++) {
		double low, high;

		if (!recorded_range(chip, rec, row->counter, other, &low, &high))
			continue;
		row->low = low < row->low ? low : row->low;
		row->high = high > row->high ? high : row->high;
	}
}

enum ws_status fid_compare(unsigned chip, const struct fid_recording *rec, struct ws_str text,
			   struct fid_rows *rows, struct ws_err *err)
{
	struct ws_str one;
	struct line l;

	while (ws_str_next(&text, '\n', &one)) {
		struct fid_row row = { .chip = chip };
		enum ws_status st;
		uint64_t dispatch;

		if (!parse(one, &l) || !ws_str_u64(l.dispatch, &dispatch) ||
		    dispatch >= FID_DISPATCHES)
			continue;
		if (ws_str_is(l.class, "unsupported"))
			row.reason = l.value;
		else if (!ws_str_f64(l.value, &row.value))
			continue;
		row.kernel = l.kernel;
		row.counter = l.counter;
		row.class = l.class;
		row.dispatch = (unsigned)dispatch;
		row.exact = ws_str_is(l.class, "exact");
		row.has_expected = ws_str_f64(l.expected, &row.expected);
		row.low = row.high = row.expected;
		if (!row.has_expected)
			look_up(rec, &row);
		st = ws_vec_push(rows, row, err);
		if (st)
			return st;
	}
	return WS_OK;
}

struct fid_tally fid_tally(struct fid_rows *rows)
{
	struct fid_tally tally = { 0 };

	ws_vec_each(row, rows) {
		if (!row->has_expected)
			continue;
		if (row->reason.n) {
			tally.n_unsupported++;
		} else if (row->exact) {
			tally.n_exact++;
			tally.n_exact_off += fid_error(row) != 0;
		} else {
			tally.n_modelled++;
			tally.n_verdicts[fid_judge(rows, row)]++;
		}
	}
	return tally;
}

/* Reasons, once for the dispatches of a counter. */
static void print_reasons(unsigned chip, struct fid_rows *rows)
{
	const char *last = NULL;
	bool any = false;

	ws_vec_each(row, rows) {
		if (row->chip != chip || !row->has_expected || !row->reason.n)
			continue;
		if (!any)
			printf("\nrecorded, but not supported on %s:\n", fid_chips[chip].gpu);
		any = true;
		printf("  %-36.*s %.*s\n", WS_STR_ARGS(row->counter), WS_STR_ARGS(row->reason));
	}
	any = false;
	if (fid_chips[chip].other_part) {
		printf("\nnot compared with %s: %s\n", fid_chips[chip].recording, FID_OTHER_PART);
		return;
	}
	ws_vec_each(row, rows) {
		if (row->chip != chip || !row->has_expected || row->reason.n || row->exact ||
		    fid_judge(rows, row) != FID_EXCEPTED || fid_exception(row) == last)
			continue;
		if (!any)
			printf("\nnot compared with %s:\n", fid_chips[chip].recording);
		any = true;
		last = fid_exception(row);
		printf("  %-36.*s dispatch %u: %s\n", WS_STR_ARGS(row->counter), row->dispatch,
		       last);
	}
}

void fid_print(unsigned chip, struct fid_rows *rows, bool all)
{
	printf("%s against %s\n%-24s %s  %-36s %14s %14s %9s  %s\n", fid_chips[chip].gpu,
	       fid_chips[chip].recording, "kernel", "#", "counter", "expected", "ours", "error",
	       "class");
	ws_vec_each(row, rows)
		if (row->chip == chip && (row->has_expected || all) && !row->reason.n)
			print_row(rows, row);
	print_reasons(chip, rows);
	printf("\n");
}
