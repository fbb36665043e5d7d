/*
 * Several runs in one table: the baseline's value, then the others' with the change in
 * percent. Runs may be of different architectures; metrics are matched by name, each
 * computed by its own architecture's formula.
 */
#include "report/report.h"

#include "base/log.h"
#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column of the comparison: a header of the table, of which run; or the difference. */
struct column {
	int header; /* -1: the name or channel */
	int run;
	bool is_difference; /* Abs Diff: @run against the baseline */
};

struct row {
	const char *id, *name;
	unsigned channel;
	bool timed;                        /* has a unit of time */
	const struct ana_metric **metrics; /* per run */
};

struct compare {
	struct rpt_report *rpt;
	const struct ana_table *table;
	struct row *rows;
	size_t n_rows;
	double *values; /* rows x headers x runs */
};

static double *value_at(struct compare *c, size_t row, size_t header, size_t run)
{
	return &c->values[(row * c->table->n_headers + header) * c->rpt->n_runs + run];
}

static bool counts_difference(const char *header)
{
	return strcmp(header, "Avg") == 0 || strcmp(header, "Value") == 0 ||
	       strcmp(header, "Count") == 0;
}

/* Both rounded the way the cells are. A value that is missing is no change; 3.3 takes it for 0. */
static double difference(const struct rpt_report *rpt, double base, double now, double *out_percent)
{
	int decimals = (int)rpt->how->decimal;
	double diff;

	if (rpt->how->like_3_3 && isnan(now))
		now = 0;
	diff = rpt_round_half_even(now - base, decimals);
	*out_percent = rpt_round_half_even(diff / (base == 0 ? 1 : base) * 100, decimals);
	return diff;
}

/*
 * The baseline's value as it is compared. 3.3 takes a blank for 0 too, but what has a unit of
 * time went through a conversion that made it nan.
 */
static double base_at(struct compare *c, size_t row, size_t header)
{
	double base = *value_at(c, row, header, 0);

	return isnan(base) && c->rpt->how->like_3_3 && !c->rows[row].timed ? 0 : base;
}

static double cell_value(struct compare *c, const struct row *row, size_t run, size_t h)
{
	struct rpt_run *r = &c->rpt->runs[run];
	const struct ana_metric *metric = row->metrics[run];
	const char *name = c->table->headers[h].name;
	int own = metric ? ana_header_index(metric->table, name) : -1;
	double divisor = 0, value;

	if (own < 0)
		return NAN;
	value = ana_eval_cell(r->eval, metric, (unsigned)own, row->channel);
	rpt_metric_unit(c->rpt, r, metric, &divisor);
	if (divisor &&
	    (strcmp(name, "Avg") == 0 || strcmp(name, "Min") == 0 || strcmp(name, "Max") == 0))
		value /= divisor;
	return value;
}

static enum ws_status find_rows(struct compare *c, struct ws_err *err)
{
	struct rpt_report *rpt = c->rpt;
	bool channels = c->table->kind == ANA_TABLE_CHANNELS;
	size_t n = channels ? ana_eval_channels(rpt->runs[0].eval) : c->table->n_metrics;

	c->rows = ws_arena_array(&rpt->arena, n + 1, sizeof(*c->rows));
	if (!c->rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n && c->table->n_metrics; i++) {
		const struct ana_metric *base = &c->table->metrics[channels ? 0 : i];
		struct row row = { .channel = (unsigned)i, .name = base->name };
		bool everywhere = rpt_shows_metric(rpt, c->table, (unsigned)i);
		double divisor;

		row.metrics = ws_arena_array(&rpt->arena, rpt->n_runs, sizeof(*row.metrics));
		row.id = ws_arena_printf(&rpt->arena, "%u.%u.%zu", c->table->block, c->table->index,
					 i);
		if (!row.metrics || !row.id)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t r = 0; r < rpt->n_runs; r++) {
			const struct ana_table *table =
				ana_table_find(rpt->runs[r].metrics, c->table->block,
					       c->table->index);

			row.metrics[r] = table && table->n_metrics
						 ? channels ? &table->metrics[0]
							    : ana_metric_named(table, base->name)
						 : NULL;
			everywhere &= channels || row.metrics[r];
		}
		if (!everywhere)
			continue;
		rpt_metric_unit(rpt, &rpt->runs[0], row.metrics[0], &divisor);
		row.timed = divisor != 0;
		c->rows[c->n_rows++] = row;
	}
	return WS_OK;
}

static enum ws_status find_values(struct compare *c, struct ws_err *err)
{
	c->values =
		ws_arena_array(&c->rpt->arena, c->n_rows * c->table->n_headers * c->rpt->n_runs + 1,
			       sizeof(*c->values));
	if (!c->values)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t r = 0; r < c->n_rows; r++)
		for (size_t h = 0; h < c->table->n_headers; h++)
			for (size_t run = 0; run < c->rpt->n_runs; run++)
				if (c->table->headers[h].kind == ANA_HEADER_VALUE)
					*value_at(c, r, h, run) =
						cell_value(c, &c->rows[r], run, h);
	return WS_OK;
}

/* Whether some row of @run changed by more than --report-diff; with a threshold, says which. */
static bool changed(struct compare *c, size_t h, size_t run)
{
	double threshold = (double)c->rpt->how->report_diff;
	bool any = false;

	for (size_t r = 0; r < c->n_rows; r++) {
		double percent;

		difference(c->rpt, base_at(c, r, h), *value_at(c, r, h, run), &percent);
		if (!(fabs(percent) > threshold))
			continue;
		any = true;
		if (threshold > 0)
			ws_log_warn("%s %s of %s differs by %g%% from the baseline", c->rows[r].id,
				    c->table->headers[h].name, c->rpt->runs[run].path, percent);
	}
	return any;
}

/*
 * The columns of one header: every run's, and one difference. As in 3.3 that stands after the
 * first run that changed and is the last one's that did.
 */
static size_t add_runs(const struct rpt_report *rpt, int header, const bool *run_changed,
		       struct column *out)
{
	int last = 0;
	bool placed = false;
	size_t n = 0;

	for (size_t run = 1; run_changed && run < rpt->n_runs; run++)
		last = run_changed[run] ? (int)run : last;
	for (size_t run = 0; run < rpt->n_runs; run++) {
		out[n++] = (struct column){ header, (int)run, false };
		if (!last || placed || !run_changed[run])
			continue;
		placed = true;
		out[n++] = (struct column){ header, last, true };
	}
	return n;
}

/* @run_changed has room for every run. */
static size_t find_columns(struct compare *c, bool *run_changed, struct column *out)
{
	struct rpt_report *rpt = c->rpt;
	size_t n = 0;

	/* 3.3 compares the numbers of channels as well. */
	if (c->table->kind == ANA_TABLE_CHANNELS && rpt->how->like_3_3)
		n = add_runs(rpt, -1, NULL, out);
	else
		out[n++] = (struct column){ -1, 0, false };
	for (size_t h = 0; h < c->table->n_headers; h++) {
		const struct ana_header *header = &c->table->headers[h];

		if (header->kind != ANA_HEADER_VALUE) {
			out[n++] = (struct column){ (int)h, 0, false };
			continue;
		}
		for (size_t run = 0; run < rpt->n_runs; run++)
			run_changed[run] = run && changed(c, h, run);
		n += add_runs(rpt, (int)h, counts_difference(header->name) ? run_changed : NULL,
			      out + n);
	}
	return n;
}

static const char *changed_text(struct rpt_report *rpt, double base, double now)
{
	char value[64], percent_text[64];
	double percent;

	difference(rpt, base, now, &percent);
	rpt_number_text(isnan(now) ? 0 : now, (int)rpt->how->decimal, value);
	if (isnan(base) && !rpt->how->like_3_3)
		return ws_arena_printf(&rpt->arena, "%s (N/A)", value);
	rpt_number_text(percent, (int)rpt->how->decimal, percent_text);
	return ws_arena_printf(&rpt->arena, "%s (%s%%)", value, percent_text);
}

/* Nothing prints as nan where 3.3 has numbers of its own making. */
static struct rpt_cell made_number(const struct rpt_report *rpt, double number)
{
	if (rpt->how->like_3_3)
		return (struct rpt_cell){ .kind = RPT_CELL_NUMBER, .number = number };
	return rpt_cell_number(number);
}

static struct rpt_cell key_cell(struct rpt_report *rpt, const struct ana_table *table,
				const struct row *row, int run)
{
	if (table->kind != ANA_TABLE_CHANNELS)
		return rpt_cell_text(row->name);
	return run ? rpt_cell_text(changed_text(rpt, row->channel, row->channel))
		   : rpt_cell_number(row->channel);
}

static struct rpt_cell cell_of(struct compare *c, size_t r, const struct column *col)
{
	struct rpt_report *rpt = c->rpt;
	const struct row *row = &c->rows[r];
	size_t h = (size_t)col->header;
	double unused, base, now;

	if (col->header < 0)
		return key_cell(rpt, c->table, row, col->run);
	if (c->table->headers[h].kind == ANA_HEADER_TEXT)
		return rpt_cell_text(
			strncmp(c->table->headers[h].name, "Unit", 4) == 0
				? rpt_metric_unit(rpt, &rpt->runs[0], row->metrics[0], &unused)
				: row->metrics[0]->cells[h].text);
	base = base_at(c, r, h);
	now = *value_at(c, r, h, (size_t)col->run);
	if (col->is_difference)
		return made_number(rpt, difference(rpt, base, now, &unused));
	if (!col->run)
		return row->timed ? made_number(rpt, now) : rpt_cell_number(now);
	if (isnan(now) && !rpt->how->like_3_3)
		return rpt_cell_number(NAN);
	return rpt_cell_text(changed_text(rpt, base, now));
}

static enum ws_status compare_metrics(struct rpt_report *rpt, const struct ana_table *table,
				      struct rpt_grid *grid, struct ws_err *err)
{
	struct compare c = { .rpt = rpt, .table = table };
	size_t room = (table->n_headers + 1) * (rpt->n_runs + 1) + 1, n;
	bool *run_changed = ws_arena_array(&rpt->arena, rpt->n_runs, sizeof(*run_changed));
	struct column *columns = ws_arena_array(&rpt->arena, room, sizeof(*columns));
	const char **headers = ws_arena_array(&rpt->arena, room + 1, sizeof(*headers));
	enum ws_status st = columns && headers && run_changed
				    ? find_rows(&c, err)
				    : ws_fail(err, WS_E_NOMEM, "out of memory");

	if (!st)
		st = find_values(&c, err);
	if (st)
		return st;
	n = find_columns(&c, run_changed, columns);
	headers[0] = "Metric_ID";
	for (size_t i = 0; i < n; i++)
		headers[i + 1] = columns[i].is_difference ? "Abs Diff"
				 : columns[i].header < 0  ? table->key
							  : table->headers[columns[i].header].name;
	st = rpt_grid_init(grid, &rpt->arena, headers, n + 1, err);
	for (size_t r = 0; !st && r < c.n_rows; r++) {
		struct rpt_cell *row = rpt_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = rpt_cell_text(c.rows[r].id);
		for (size_t i = 0; i < n; i++)
			row[i + 1] = cell_of(&c, r, &columns[i]);
	}
	return st;
}

struct kernel {
	const char *name;
	const struct ana_kernel_stat **stats; /* per run; NULL: it has no such kernel */
};

/* The kernel a row of a run belongs to: that of its name, or a new one; NULL: no memory. */
static struct kernel *kernel_of_row(struct rpt_report *rpt, struct ws_map *index,
				    struct kernel *kernels, size_t *n, const char *name, size_t row)
{
	struct kernel *kernel;
	struct ws_err ignored;

	if (rpt->how->like_3_3) { /* row by row, whatever the kernels are */
		kernel = row < *n ? &kernels[row] : NULL;
	} else {
		kernel = ws_map_get(index, name);
	}
	if (kernel)
		return kernel;
	kernel = &kernels[(*n)++];
	kernel->name = name;
	kernel->stats = ws_arena_array(&rpt->arena, rpt->n_runs, sizeof(*kernel->stats));
	if (!kernel->stats || ws_map_put(index, ws_str_from(name), kernel, &ignored))
		return NULL;
	return kernel;
}

/* Kernels of all runs, by name: the baseline's, longest first, then what only later ones have. */
static enum ws_status find_kernels(struct rpt_report *rpt, struct kernel **out_kernels,
				   size_t *out_n, struct ws_err *err)
{
	size_t room = 0;
	struct kernel *kernels;
	struct ws_map index;
	bool failed = false;

	for (size_t r = 0; r < rpt->n_runs; r++)
		room += rpt->runs[r].n_top;
	kernels = ws_arena_array(&rpt->arena, room + 1, sizeof(*kernels));
	if (!kernels)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_map_init(&index, WS_MAP_STR, room + 1);
	for (size_t r = 0; !failed && r < rpt->n_runs; r++)
		for (size_t k = 0; !failed && k < rpt->runs[r].n_top; k++) {
			const struct rpt_run *run = &rpt->runs[r];
			const char *name = run->load->kernels[run->top[k].kernel].shown;
			struct kernel *kernel =
				kernel_of_row(rpt, &index, kernels, out_n,
					      r && rpt->how->like_3_3 ? "nan" : name, k);

			if (kernel)
				kernel->stats[r] = &run->top[k];
			failed = !kernel;
		}
	ws_map_fini(&index);
	*out_kernels = kernels;
	return failed ? ws_fail(err, WS_E_NOMEM, "out of memory") : WS_OK;
}

enum { COUNT, SUM, MEAN, MEDIAN, PCT, N_STATS };

static double stat_of(const struct rpt_report *rpt, const struct kernel *kernel, size_t run,
		      int stat)
{
	const struct ana_kernel_stat *s = kernel->stats[run];
	double divisor = rpt_time_divisor(rpt->how);

	if (!s)
		return NAN;
	return stat == COUNT    ? (double)s->n
	       : stat == SUM    ? s->sum_ns / divisor
	       : stat == MEAN   ? s->mean_ns / divisor
	       : stat == MEDIAN ? s->median_ns / divisor
				: s->percent;
}

static bool counts_changed(const struct rpt_report *rpt, const struct kernel *kernels, size_t n,
			   size_t run)
{
	for (size_t i = 0; run && i < n; i++) {
		double percent;

		difference(rpt, stat_of(rpt, &kernels[i], 0, COUNT),
			   stat_of(rpt, &kernels[i], run, COUNT), &percent);
		if (fabs(percent) > (double)rpt->how->report_diff)
			return true;
	}
	return false;
}

static struct rpt_cell stat_cell(struct rpt_report *rpt, const struct kernel *kernel,
				 const struct column *col)
{
	double base = stat_of(rpt, kernel, 0, col->header), unused;
	double now = stat_of(rpt, kernel, (size_t)col->run, col->header);

	if (col->is_difference)
		return made_number(rpt, difference(rpt, base, now, &unused));
	if (!col->run || isnan(now))
		return made_number(rpt, now);
	return rpt_cell_text(changed_text(rpt, base, now));
}

static enum ws_status compare_kernels(struct rpt_report *rpt, struct rpt_grid *grid,
				      struct ws_err *err)
{
	const char *unit = rpt_time_word(rpt->how);
	const char *titles[N_STATS] = { "Count", ws_arena_printf(&rpt->arena, "Sum(%s)", unit),
					ws_arena_printf(&rpt->arena, "Mean(%s)", unit),
					ws_arena_printf(&rpt->arena, "Median(%s)", unit), "Pct" };
	size_t room = N_STATS * rpt->n_runs + 1, n_kernels = 0, n = 0, n_rows;
	const struct rpt_run *base = &rpt->runs[0];
	struct column *columns = ws_arena_array(&rpt->arena, room, sizeof(*columns));
	const char **headers = ws_arena_array(&rpt->arena, room + 3, sizeof(*headers));
	bool *run_changed = ws_arena_array(&rpt->arena, rpt->n_runs, sizeof(*run_changed));
	struct kernel *kernels = NULL;
	enum ws_status st = find_kernels(rpt, &kernels, &n_kernels, err);

	if (st)
		return st;
	if (!columns || !headers || !run_changed)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	n_rows = WS_MIN(n_kernels, (size_t)WS_MAX(rpt->how->max_stat_num, (int64_t)0));
	for (size_t run = 0; run < rpt->n_runs; run++)
		run_changed[run] = counts_changed(rpt, kernels, n_kernels, run);
	for (int stat = 0; stat < N_STATS; stat++)
		n += add_runs(rpt, stat, stat == COUNT ? run_changed : NULL, columns + n);
	headers[0] = "";
	headers[1] = "Kernel_Name";
	for (size_t i = 0; i < n; i++)
		headers[i + 2] = columns[i].is_difference ? "Abs Diff" : titles[columns[i].header];
	headers[n + 2] = "S";
	st = rpt_grid_init(grid, &rpt->arena, headers, n + 2 + (base->chosen != NULL), err);
	for (size_t i = 0; !st && i < n_rows; i++) {
		struct rpt_cell *row = rpt_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = rpt_cell_int((int64_t)i);
		row[1] = rpt_cell_text(rpt_wrap_name(&rpt->arena, kernels[i].name, 40, 3));
		for (size_t k = 0; k < n; k++)
			row[k + 2] = stat_cell(rpt, &kernels[i], &columns[k]);
		if (base->chosen)
			row[n + 2] = rpt_cell_text(i < base->n_top && base->chosen[i] ? "*" : "");
	}
	return st;
}

enum ws_status rpt_compare_grid(struct rpt_report *rpt, const struct ana_table *table,
				struct rpt_grid *out_grid, struct ws_err *err)
{
	enum ws_status st;

	if (table->kind == ANA_TABLE_DISPATCHES)
		return rpt_metric_grid(rpt, &rpt->runs[0], table, false, out_grid, err);
	st = table->kind == ANA_TABLE_TOP_KERNELS ? compare_kernels(rpt, out_grid, err)
						  : compare_metrics(rpt, table, out_grid, err);
	if (st)
		return st;
	out_grid->decimals = (int)rpt->how->decimal;
	out_grid->none = rpt->how->like_3_3 ? "" : "N/A";
	out_grid->form = rpt->how->like_3_3 ? RPT_GRID_OLD : RPT_GRID_NUMBERS;
	return WS_OK;
}
