/*
 * Several runs in one table: the baseline's value, then the others' with the change in
 * percent. Runs may be of different architectures; metrics are matched by name, each
 * computed by its own architecture's formula.
 */
#include "cmd/compute/analyze.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column of the comparison: a header of the table, of which run; or the difference. */
struct column {
	int header; /* -1: the name or channel */
	int run;    /* -1: Abs Diff */
};

struct row {
	const char *id, *name;
	unsigned channel;
	const struct ws_metric **metrics; /* per run */
};

struct compare {
	struct an *an;
	const struct ws_table *table;
	struct row *rows;
	size_t n_rows;
	double *values; /* rows x headers x runs */
};

static double *value_at(struct compare *c, size_t row, size_t header, size_t run)
{
	return &c->values[(row * c->table->n_headers + header) * c->an->n_runs + run];
}

static bool counts_difference(const char *header)
{
	return strcmp(header, "Avg") == 0 || strcmp(header, "Value") == 0 ||
	       strcmp(header, "Count") == 0;
}

/* Both rounded the way the cells are, and nothing counts as 0. */
static double difference(const struct an *an, double base, double now, double *out_percent)
{
	int decimals = (int)an->args->decimal;
	double diff;

	base = isnan(base) ? 0 : base;
	now = isnan(now) ? 0 : now;
	diff = ws_round_half_even(now - base, decimals);
	*out_percent = ws_round_half_even(diff / (base == 0 ? 1 : base) * 100, decimals);
	return diff;
}

static double cell_value(struct compare *c, const struct row *row, size_t run, size_t h)
{
	struct an_run *r = &c->an->runs[run];
	const struct ws_metric *metric = row->metrics[run];
	const char *name = c->table->headers[h].name;
	int own = metric ? ws_header_index(metric->table, name) : -1;
	double divisor = 0, value;

	if (own < 0)
		return NAN;
	value = ws_eval_cell(r->eval, metric, (unsigned)own, row->channel);
	an_unit(c->an, r, metric, &divisor);
	if (divisor &&
	    (strcmp(name, "Avg") == 0 || strcmp(name, "Min") == 0 || strcmp(name, "Max") == 0))
		value /= divisor;
	return value;
}

static enum ws_status find_rows(struct compare *c, struct ws_err *err)
{
	struct an *an = c->an;
	bool channels = c->table->kind == WS_TABLE_CHANNELS;
	size_t n = channels ? ws_eval_channels(an->runs[0].eval) : c->table->n_metrics;

	c->rows = ws_arena_array(&an->arena, n + 1, sizeof(*c->rows));
	if (!c->rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n && c->table->n_metrics; i++) {
		const struct ws_metric *base = &c->table->metrics[channels ? 0 : i];
		struct row row = { .channel = (unsigned)i, .name = base->name };
		bool everywhere = an_shows_metric(an, c->table, (unsigned)i);

		row.metrics = ws_arena_array(&an->arena, an->n_runs, sizeof(*row.metrics));
		row.id = ws_arena_printf(&an->arena, "%u.%u.%zu", c->table->block, c->table->index,
					 i);
		if (!row.metrics || !row.id)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t r = 0; r < an->n_runs; r++) {
			const struct ws_table *table =
				ws_table_find(an->runs[r].metrics, c->table->block,
					      c->table->index);

			row.metrics[r] = table && table->n_metrics
						 ? channels ? &table->metrics[0]
							    : ws_metric_named(table, base->name)
						 : NULL;
			everywhere &= channels || row.metrics[r];
		}
		if (everywhere)
			c->rows[c->n_rows++] = row;
	}
	return WS_OK;
}

static enum ws_status find_values(struct compare *c, struct ws_err *err)
{
	c->values =
		ws_arena_array(&c->an->arena, c->n_rows * c->table->n_headers * c->an->n_runs + 1,
			       sizeof(*c->values));
	if (!c->values)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t r = 0; r < c->n_rows; r++)
		for (size_t h = 0; h < c->table->n_headers; h++)
			for (size_t run = 0; run < c->an->n_runs; run++)
				if (c->table->headers[h].kind == WS_HEADER_VALUE)
					*value_at(c, r, h, run) =
						cell_value(c, &c->rows[r], run, h);
	return WS_OK;
}

/* Whether some row changed by more than --report-diff; with a threshold, says which. */
static bool changed(struct compare *c, size_t h)
{
	double threshold = (double)c->an->args->report_diff;
	bool any = false;

	for (size_t r = 0; r < c->n_rows; r++)
		for (size_t run = 1; run < c->an->n_runs; run++) {
			double base = *value_at(c, r, h, 0), now = *value_at(c, r, h, run), percent;

			difference(c->an, base, now, &percent);
			if (!(fabs(percent) > threshold) ||
			    (!c->an->args->like_3_3 && (isnan(base) || isnan(now))))
				continue;
			any = true;
			if (threshold > 0)
				ws_log_warn("%s %s of %s differs by %g%% from the baseline",
					    c->rows[r].id, c->table->headers[h].name,
					    c->an->runs[run].path, percent);
		}
	return any;
}

static size_t find_columns(struct compare *c, struct column *out)
{
	size_t n = 0;

	out[n++] = (struct column){ -1, 0 };
	for (size_t h = 0; h < c->table->n_headers; h++) {
		const struct ws_header *header = &c->table->headers[h];

		out[n++] = (struct column){ (int)h, 0 };
		if (header->kind != WS_HEADER_VALUE)
			continue;
		for (size_t run = 1; run < c->an->n_runs; run++)
			out[n++] = (struct column){ (int)h, (int)run };
		if (changed(c, h) && counts_difference(header->name))
			out[n++] = (struct column){ (int)h, -1 };
	}
	return n;
}

static const char *changed_text(struct an *an, double base, double now)
{
	char value[64], percent_text[64];
	double percent;

	difference(an, base, now, &percent);
	ws_number_text(isnan(now) ? 0 : now, (int)an->args->decimal, value);
	if (isnan(base) && !an->args->like_3_3)
		return ws_arena_printf(&an->arena, "%s (N/A)", value);
	ws_number_text(percent, (int)an->args->decimal, percent_text);
	return ws_arena_printf(&an->arena, "%s (%s%%)", value, percent_text);
}

static struct ws_cell cell_of(struct compare *c, size_t r, const struct column *col)
{
	struct an *an = c->an;
	const struct row *row = &c->rows[r];
	double unused, now;

	if (col->header < 0)
		return c->table->kind == WS_TABLE_CHANNELS ? ws_cell_number(row->channel)
							   : ws_cell_text(row->name);
	if (c->table->headers[col->header].kind == WS_HEADER_TEXT)
		return ws_cell_text(strncmp(c->table->headers[col->header].name, "Unit", 4) == 0
					    ? an_unit(an, &an->runs[0], row->metrics[0], &unused)
					    : row->metrics[0]->cells[col->header].text);
	if (col->run < 0 && !an->args->like_3_3 &&
	    (isnan(*value_at(c, r, (size_t)col->header, 0)) ||
	     isnan(*value_at(c, r, (size_t)col->header, an->n_runs - 1))))
		return ws_cell_number(NAN);
	if (col->run < 0)
		return ws_cell_number(
			difference(an, *value_at(c, r, (size_t)col->header, 0),
				   *value_at(c, r, (size_t)col->header, an->n_runs - 1), &unused));
	if (!col->run)
		return ws_cell_number(*value_at(c, r, (size_t)col->header, 0));
	/* A value that is missing is no change; 3.3 takes it for 0 and prints -100%. */
	now = *value_at(c, r, (size_t)col->header, (size_t)col->run);
	if (isnan(now) && !an->args->like_3_3)
		return ws_cell_number(NAN);
	return ws_cell_text(changed_text(an, *value_at(c, r, (size_t)col->header, 0), now));
}

static enum ws_status compare_metrics(struct an *an, const struct ws_table *table,
				      struct ws_grid *grid, struct ws_err *err)
{
	struct compare c = { .an = an, .table = table };
	size_t room = table->n_headers * (an->n_runs + 1) + 2, n;
	struct column *columns = ws_arena_array(&an->arena, room, sizeof(*columns));
	const char **headers = ws_arena_array(&an->arena, room + 1, sizeof(*headers));
	enum ws_status st =
		columns && headers ? find_rows(&c, err) : ws_fail(err, WS_E_NOMEM, "out of memory");

	if (!st)
		st = find_values(&c, err);
	if (st)
		return st;
	n = find_columns(&c, columns);
	headers[0] = "Metric_ID";
	for (size_t i = 0; i < n; i++)
		headers[i + 1] = columns[i].run < 0      ? "Abs Diff"
				 : columns[i].header < 0 ? table->key
							 : table->headers[columns[i].header].name;
	st = ws_grid_init(grid, &an->arena, headers, n + 1, err);
	for (size_t r = 0; !st && r < c.n_rows; r++) {
		struct ws_cell *row = ws_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = ws_cell_text(c.rows[r].id);
		for (size_t i = 0; i < n; i++)
			row[i + 1] = cell_of(&c, r, &columns[i]);
	}
	return st;
}

static const struct ws_kernel_stat *same_kernel(const struct an_run *base, size_t i,
						const struct an_run *other)
{
	const char *name = base->load->kernels[base->top[i].kernel].shown;

	for (size_t k = 0; k < other->n_top; k++)
		if (strcmp(other->load->kernels[other->top[k].kernel].shown, name) == 0)
			return &other->top[k];
	return NULL;
}

/* Kernels are matched by name; one that only another run has is not in the table. */
static enum ws_status compare_kernels(struct an *an, struct ws_grid *grid, struct ws_err *err)
{
	const char *unit = an_time_word(an->args);
	const char *names[] = { "Count", ws_arena_printf(&an->arena, "Sum(%s)", unit),
				ws_arena_printf(&an->arena, "Mean(%s)", unit),
				ws_arena_printf(&an->arena, "Median(%s)", unit), "Pct" };
	size_t n = 2 + WS_ARRAY_LEN(names) * an->n_runs, at = 0;
	const char **headers = ws_arena_array(&an->arena, n, sizeof(*headers));
	const struct an_run *base = &an->runs[0];
	size_t n_rows = WS_MIN(base->n_top, (size_t)WS_MAX(an->args->max_stat_num, (int64_t)0));
	enum ws_status st;

	if (!headers)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	headers[at++] = "";
	headers[at++] = "Kernel_Name";
	for (size_t v = 0; v < WS_ARRAY_LEN(names); v++)
		for (size_t r = 0; r < an->n_runs; r++)
			headers[at++] = names[v];
	st = ws_grid_init(grid, &an->arena, headers, n, err);
	for (size_t i = 0; !st && i < n_rows; i++) {
		struct ws_cell *row = ws_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = ws_cell_int((int64_t)i);
		row[1] = ws_cell_text(an_wrap_name(
			&an->arena, base->load->kernels[base->top[i].kernel].shown, 40, 3));
		for (size_t r = 0; r < an->n_runs; r++) {
			const struct ws_kernel_stat *s =
				r ? same_kernel(base, i, &an->runs[r]) : &base->top[i];
			double div = an_time_divisor(an->args);
			double own[] = { s ? (double)s->n : NAN, s ? s->sum_ns / div : NAN,
					 s ? s->mean_ns / div : NAN, s ? s->median_ns / div : NAN,
					 s ? s->percent : NAN };

			for (size_t v = 0; v < WS_ARRAY_LEN(names); v++) {
				struct ws_cell *cell = &row[2 + v * an->n_runs + r];

				*cell = !r  ? ws_cell_number(own[v])
					: s ? ws_cell_text(changed_text(
						      an, row[2 + v * an->n_runs].number, own[v]))
					    : ws_cell_number(NAN);
			}
		}
	}
	return st;
}

enum ws_status an_compare(struct an *an, const struct ws_table *table, struct ws_grid *out_grid,
			  struct ws_err *err)
{
	enum ws_status st;

	if (table->kind == WS_TABLE_DISPATCHES)
		return an_grid(an, &an->runs[0], table, false, out_grid, err);
	st = table->kind == WS_TABLE_TOP_KERNELS ? compare_kernels(an, out_grid, err)
						 : compare_metrics(an, table, out_grid, err);
	if (st)
		return st;
	out_grid->decimals = (int)an->args->decimal;
	out_grid->none = an->args->like_3_3 ? "" : "N/A";
	out_grid->form = an->args->like_3_3 ? WS_GRID_OLD : WS_GRID_NUMBERS;
	return WS_OK;
}
