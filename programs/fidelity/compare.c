#include "programs/fidelity/compare.h"

#include "programs/fidelity/recorded_dies.h"
#include "programs/fidelity/recorded_vcopy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct fid_chip fid_chips[FID_N_CHIPS] = {
	{ "mi210", "mi250x", "MI200", false }, { "mi100", "mi100,mi100", "MI100", false },
	{ "mi300x", NULL, "MI300X_A1", true }, { "mi300a", NULL, "MI300A_A1", true },
	{ "mi350x", NULL, "MI350", true },
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

static void print_row(const struct fid_row *row)
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
		       row->exact && error ? "  OFF" : "");
}

static void add_to(struct fid_tally *tally, const struct fid_row *row)
{
	double error = fid_error(row);

	if (row->exact) {
		tally->n_exact++;
		tally->n_exact_off += error != 0;
	} else {
		tally->n_modelled++;
		tally->n_near += fabs(error) <= FID_NEAR;
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

		if (!parse(one, &l) || !ws_str_f64(l.value, &row.value) ||
		    !ws_str_u64(l.dispatch, &dispatch) || dispatch >= FID_DISPATCHES)
			continue;
		row.kernel = l.kernel;
		row.counter = l.counter;
		row.class = l.class;
		row.dispatch = (unsigned)dispatch;
		row.exact = ws_str_is(l.class, "exact");
		row.has_expected = ws_str_f64(l.expected, &row.expected);
		if (!row.has_expected && rec)
			row.has_expected =
				fid_recording_find(rec, l.counter, row.dispatch, &row.expected);
		else if (!row.has_expected)
			row.has_expected =
				built_in(&fid_chips[chip], l.counter, row.dispatch, &row.expected);
		st = ws_vec_push(rows, row, err);
		if (st)
			return st;
	}
	return WS_OK;
}

struct fid_tally fid_tally(struct fid_rows *rows)
{
	struct fid_tally tally = { 0 };

	ws_vec_each(row, rows)
		if (row->has_expected)
			add_to(&tally, row);
	return tally;
}

void fid_print(unsigned chip, struct fid_rows *rows, bool all)
{
	printf("%s against %s\n%-24s %s  %-36s %14s %14s %9s  %s\n", fid_chips[chip].gpu,
	       fid_chips[chip].recording, "kernel", "#", "counter", "expected", "ours", "error",
	       "class");
	ws_vec_each(row, rows)
		if (row->chip == chip && (row->has_expected || all))
			print_row(row);
	printf("\n");
}
