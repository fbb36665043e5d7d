/* The grids of a single run: metric tables, and those made from the workload itself. */
#include "report/report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

double rpt_time_divisor(const struct rpt_options *how)
{
	return (double)ws_time_unit_ns(WS_TIME_SEC + how->time_unit);
}

const char *rpt_time_word(const struct rpt_options *how)
{
	return RPT_TIME_WORDS[how->time_unit];
}

/* How many bytes @width characters are. */
static size_t bytes_of(struct ws_str text, size_t width)
{
	size_t n = 0;

	for (; n < text.n; n++)
		if (((unsigned char)text.at[n] & 0xc0) != 0x80 && width-- == 0)
			break;
	return n;
}

const char *rpt_wrap_name(struct ws_arena *arena, const char *name, size_t width, size_t n_lines)
{
	struct ws_str rest = ws_str_from(name);
	struct ws_buf made;
	const char *text;

	ws_buf_init(&made, 1 << 16);
	for (size_t line = 0; line < n_lines && rest.n; line++) {
		size_t n = bytes_of(rest, width);

		if (line)
			ws_buf_add(&made, "\n");
		ws_buf_add_n(&made, rest.at, n);
		rest = (struct ws_str){ rest.at + n, rest.n - n };
	}
	if (rest.n && made.n >= 3) {
		for (int i = 0; i < 3; i++) /* whole characters */
			do
				made.n--;
			while (made.n && ((unsigned char)made.at[made.n] & 0xc0) == 0x80);
		ws_buf_add(&made, "...");
	}
	text = ws_arena_strndup(arena, made.at, made.n);
	ws_buf_fini(&made);
	return text ? text : name;
}

/* Words of at most @width characters a line. */
const char *rpt_wrap_words(struct ws_arena *arena, const char *text, size_t width)
{
	struct ws_str rest = ws_str_trim(ws_str_from(text));
	struct ws_buf made;
	const char *kept;

	ws_buf_init(&made, 1 << 16);
	while (rest.n) {
		size_t n = rest.n;

		if (n > width) {
			for (n = width; n && rest.at[n] != ' '; n--)
				;
			n = n ? n : width;
		}
		ws_buf_add(&made, made.n ? "\n" : "");
		ws_buf_add_n(&made, rest.at, n);
		rest = ws_str_trim((struct ws_str){ rest.at + n, rest.n - n });
	}
	kept = ws_arena_strndup(arena, made.at, made.n);
	ws_buf_fini(&made);
	return kept ? kept : "";
}

static void set_form(const struct rpt_report *rpt, struct rpt_grid *grid)
{
	grid->decimals = (int)rpt->how->decimal;
	grid->none = rpt->how->like_3_3 ? "" : "N/A";
	grid->form = rpt->how->like_3_3 ? RPT_GRID_OLD : RPT_GRID_NUMBERS;
}

/* head -n of Python: a negative number leaves out that many at the end. */
static size_t head(const struct rpt_report *rpt, size_t n, bool whole)
{
	int64_t max = rpt->how->max_stat_num;

	if (whole)
		return n;
	if (max >= 0)
		return WS_MIN(n, (size_t)max);
	return (size_t)-max >= n ? 0 : n - (size_t)-max;
}

static enum ws_status top_kernels(struct rpt_report *rpt, struct rpt_run *run, bool whole,
				  struct rpt_grid *grid, struct ws_err *err)
{
	const char *unit = rpt_time_word(rpt->how);
	double divisor = rpt_time_divisor(rpt->how);
	const char *headers[] = { "",
				  "Kernel_Name",
				  "Count",
				  ws_arena_printf(&rpt->arena, "Sum(%s)", unit),
				  ws_arena_printf(&rpt->arena, "Mean(%s)", unit),
				  ws_arena_printf(&rpt->arena, "Median(%s)", unit),
				  "Pct",
				  "S" };
	size_t n = head(rpt, run->n_top, whole), hide = n == 0; /* no rows, no labels */
	enum ws_status st = rpt_grid_init(grid, &rpt->arena, headers + hide,
					  7 + (run->chosen != NULL) - hide, err);

	set_form(rpt, grid);
	for (size_t i = 0; !st && i < n; i++) {
		const struct ana_kernel_stat *stat = &run->top[i];
		const char *name = run->load->kernels[stat->kernel].shown;
		struct rpt_cell *row = rpt_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = rpt_cell_int((int64_t)i);
		row[1] = rpt_cell_text(whole ? name : rpt_wrap_name(&rpt->arena, name, 40, 3));
		row[2] = rpt_cell_number((double)stat->n);
		row[3] = rpt_cell_number(stat->sum_ns / divisor);
		row[4] = rpt_cell_number(stat->mean_ns / divisor);
		row[5] = rpt_cell_number(stat->median_ns / divisor);
		row[6] = rpt_cell_number(stat->percent);
		if (run->chosen)
			row[7] = rpt_cell_text(run->chosen[i] ? "*" : "");
	}
	return st;
}

static enum ws_status dispatches(struct rpt_report *rpt, struct rpt_run *run, bool whole,
				 struct rpt_grid *grid, struct ws_err *err)
{
	static const char *const plain[] = { "", "Dispatch_ID", "Kernel_Name", "GPU_ID" };
	static const char *const with_node[] = { "", "Node", "Dispatch_ID", "Kernel_Name",
						 "GPU_ID" };
	const struct wl_workload *load = run->load;
	size_t n = head(rpt, run->listed.n, whole), hide = n == 0, node = load->node_of != NULL;
	enum ws_status st = rpt_grid_init(grid, &rpt->arena, (node ? with_node : plain) + hide,
					  4 + node - hide, err);

	set_form(rpt, grid);
	for (size_t i = 0; !st && i < n; i++) {
		uint32_t at = run->listed.rows[i];
		const char *name = load->kernels[load->kernel_of[at]].shown;
		struct rpt_cell *row = rpt_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		*row++ = rpt_cell_int((int64_t)i);
		if (node)
			*row++ = rpt_cell_text(load->nodes[load->node_of[at]]);
		*row++ = rpt_cell_int((int64_t)load->dispatch_id[at]);
		*row++ = rpt_cell_text(whole ? name : rpt_wrap_name(&rpt->arena, name, 80, 4));
		*row++ = rpt_cell_int((int64_t)load->gpu_id[at]);
	}
	return st;
}

/* As pandas shows a field read on its own: numbers as numbers. Nothing is @none. */
static const char *field_text(struct ws_arena *arena, const char *text, const char *none)
{
	struct ws_str view = ws_str_trim(ws_str_from(text));
	double number;
	int64_t whole;
	char shown[64];

	if (!view.n || ws_str_is(view, "NA") || ws_str_is(view, "N/A") || ws_str_is(view, "nan"))
		return none;
	if (view.at[0] != '0' && ws_str_i64(view, &whole))
		return ws_arena_printf(arena, "%lld", (long long)whole);
	if (strspn(view.at, "+-0123456789.eE") == view.n && ws_str_f64(view, &number)) {
		rpt_number_text(number, 17, shown);
		if (!memchr(view.at, '.', view.n) && strlen(shown) > 2 &&
		    strcmp(shown + strlen(shown) - 2, ".0") == 0)
			shown[strlen(shown) - 2] = '\0';
		return ws_arena_strdup(arena, shown);
	}
	return text;
}

static enum ws_status sysinfo(struct rpt_report *rpt, struct rpt_grid *grid, struct ws_err *err)
{
	const char **headers = ws_arena_array(&rpt->arena, rpt->n_runs + 1, sizeof(*headers));
	const struct wl_workload *base = rpt->runs[0].load;
	enum ws_status st;

	if (!headers)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	headers[0] = "";
	for (size_t r = 0; r < rpt->n_runs; r++)
		headers[r + 1] = "Info";
	st = rpt_grid_init(grid, &rpt->arena, headers, rpt->n_runs + 1, err);
	set_form(rpt, grid);
	for (size_t i = 0; !st && i < base->n_facts; i++) {
		struct rpt_cell *row = rpt_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = rpt_cell_text(base->facts[i].name);
		for (size_t r = 0; r < rpt->n_runs; r++) {
			const char *text = wl_workload_fact(rpt->runs[r].load, base->facts[i].name);

			row[r + 1] = rpt_cell_text(field_text(&rpt->arena, text ? text : "",
							      rpt->how->like_3_3 ? "nan" : "N/A"));
		}
	}
	return st;
}

/* "ns" as a word; or, as 3.3 has it, anywhere: that makes times of "Instr" too. */
static bool is_time(const struct rpt_report *rpt, const char *unit)
{
	if (rpt->how->like_3_3)
		return strcasestr(unit, "ns") != NULL;
	for (const char *at = unit; (at = strcasestr(at, "ns")); at++)
		if ((at == unit || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[2]))
			return true;
	return false;
}

const char *rpt_metric_unit(struct rpt_report *rpt, struct rpt_run *run,
			    const struct ana_metric *metric, double *out_divisor)
{
	const char *unit = ana_eval_unit(run->eval, metric->unit, &rpt->arena);

	*out_divisor = 0;
	if (!unit || ana_header_index(metric->table, "Unit") < 0 || !is_time(rpt, unit))
		return unit ? unit : "";
	*out_divisor = rpt_time_divisor(rpt->how);
	return rpt_time_word(rpt->how);
}

/* Positions of --cols: the first column, the headers, then the hidden ones. */
enum { COL_LEVEL = -1, COL_HELP = -2, COL_KEY = -3 };

static bool is_included(const struct rpt_report *rpt, const char *column)
{
	for (size_t i = 0; i < rpt->how->include_cols.n; i++)
		if (strcasecmp(rpt->how->include_cols.at[i], column) == 0)
			return true;
	return false;
}

static size_t choose_columns(const struct rpt_report *rpt, const struct ana_table *table,
			     int *out_cols)
{
	const struct ws_strv *asked = &rpt->how->cols;
	int n_all = (int)table->n_headers + 3;
	size_t n = 0;

	if (!asked->n) {
		out_cols[n++] = COL_KEY;
		for (size_t h = 0; h < table->n_headers; h++)
			out_cols[n++] = (int)h;
	}
	for (size_t i = 0; i < asked->n && n < table->n_headers + 3; i++) {
		int64_t at;

		if (!ws_str_i64(ws_str_from(asked->at[i]), &at) || at < 0 || at >= n_all - 2)
			continue; /* hidden ones have no position */
		out_cols[n++] = at == 0 ? COL_KEY : (int)at - 1;
	}
	/* Hidden columns have a place of their own, in whatever order they were requested. */
	if (is_included(rpt, "coll_level"))
		out_cols[n++] = COL_LEVEL;
	if (is_included(rpt, "Description"))
		out_cols[n++] = COL_HELP;
	return n;
}

static struct rpt_cell value_cell(struct rpt_report *rpt, struct rpt_run *run,
				  const struct ana_metric *metric, int h, unsigned channel,
				  double divisor)
{
	const char *name = metric->table->headers[h].name;
	double value = ana_eval_cell(run->eval, metric, (unsigned)h, channel);

	if (divisor &&
	    (strcmp(name, "Avg") == 0 || strcmp(name, "Min") == 0 || strcmp(name, "Max") == 0)) {
		value /= divisor;
		if (rpt->how->like_3_3) /* its blanks print as nan there */
			return (struct rpt_cell){ .kind = RPT_CELL_NUMBER, .number = value };
	}
	return rpt_cell_number(value);
}

static enum ws_status fill_row(struct rpt_report *rpt, struct rpt_run *run,
			       const struct ana_metric *metric, unsigned channel, const int *cols,
			       size_t n_cols, struct rpt_grid *grid, struct ws_err *err)
{
	bool channels = metric->table->kind == ANA_TABLE_CHANNELS;
	struct rpt_cell *row = rpt_grid_row(grid);
	double divisor;
	const char *unit = rpt_metric_unit(rpt, run, metric, &divisor);

	if (!row)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	row[0] = rpt_cell_text(ws_arena_printf(&rpt->arena, "%u.%u.%u", metric->table->block,
					       metric->table->index,
					       channels ? channel : metric->index));
	for (size_t c = 0; c < n_cols; c++) {
		const struct ana_header *header =
			cols[c] >= 0 ? &metric->table->headers[cols[c]] : NULL;
		struct rpt_cell *cell = &row[c + 1];

		if (cols[c] == COL_KEY)
			*cell = channels ? rpt_cell_number(channel) : rpt_cell_text(metric->name);
		else if (cols[c] == COL_LEVEL)
			*cell = rpt_cell_text(metric->coll_level ? metric->coll_level : "pmc_perf");
		else if (cols[c] == COL_HELP)
			*cell = rpt_cell_text(rpt_wrap_words(&rpt->arena, metric->help, 40));
		else if (header->kind == ANA_HEADER_VALUE)
			*cell = value_cell(rpt, run, metric, cols[c], channel, divisor);
		else
			*cell = rpt_cell_text(strncmp(header->name, "Unit", 4) == 0
						      ? unit
						      : metric->cells[cols[c]].text);
	}
	return WS_OK;
}

static enum ws_status metrics(struct rpt_report *rpt, struct rpt_run *run,
			      const struct ana_table *table, struct rpt_grid *grid,
			      struct ws_err *err)
{
	size_t room = table->n_headers + rpt->how->include_cols.n + 8, n_cols, n_rows;
	const char **headers = ws_arena_array(&rpt->arena, room, sizeof(*headers));
	int *cols = ws_arena_array(&rpt->arena, room, sizeof(*cols));
	bool channels = table->kind == ANA_TABLE_CHANNELS;
	enum ws_status st;

	if (!headers || !cols)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	n_cols = choose_columns(rpt, table, cols);
	headers[0] = "Metric_ID";
	for (size_t c = 0; c < n_cols; c++)
		headers[c + 1] = cols[c] == COL_KEY     ? table->key
				 : cols[c] == COL_LEVEL ? "coll_level"
				 : cols[c] == COL_HELP  ? "Description"
							: table->headers[cols[c]].name;
	st = rpt_grid_init(grid, &rpt->arena, headers, n_cols + 1, err);
	set_form(rpt, grid);
	n_rows = channels ? ana_eval_channels(run->eval) : table->n_metrics;
	for (size_t i = 0; !st && i < n_rows && table->n_metrics; i++)
		if (rpt_shows_metric(rpt, table, (unsigned)i))
			st = fill_row(rpt, run, &table->metrics[channels ? 0 : i], (unsigned)i,
				      cols, n_cols, grid, err);
	return st;
}

enum ws_status rpt_metric_grid(struct rpt_report *rpt, struct rpt_run *run,
			       const struct ana_table *table, bool whole, struct rpt_grid *out_grid,
			       struct ws_err *err)
{
	switch (table->kind) {
	case ANA_TABLE_TOP_KERNELS:
		return top_kernels(rpt, run, whole, out_grid, err);
	case ANA_TABLE_DISPATCHES:
		return dispatches(rpt, run, whole, out_grid, err);
	case ANA_TABLE_SYSINFO:
		return sysinfo(rpt, out_grid, err);
	case ANA_TABLE_METRICS:
	case ANA_TABLE_CHANNELS:
		return metrics(rpt, run, table, out_grid, err);
	default:
		return rpt_grid_init(out_grid, &rpt->arena, NULL, 0, err);
	}
}

void rpt_grid_drop_labels(struct rpt_grid *grid)
{
	size_t n = grid->n_columns;

	for (size_t r = 0; r < grid->n_rows; r++)
		memmove(&grid->cells[r * (n - 1)], &grid->cells[r * n + 1],
			(n - 1) * sizeof(*grid->cells));
	memmove(grid->headers, grid->headers + 1, (n - 1) * sizeof(*grid->headers));
	grid->n_columns = n - 1;
}

bool rpt_grid_has_empty_column(const struct rpt_grid *grid)
{
	for (size_t c = 0; c < grid->n_columns; c++) {
		bool empty = grid->n_rows > 0;

		for (size_t r = 0; empty && r < grid->n_rows; r++) {
			const struct rpt_cell *cell = &grid->cells[r * grid->n_columns + c];

			empty = cell->kind == RPT_CELL_NONE ||
				(cell->kind == RPT_CELL_NUMBER && isnan(cell->number)) ||
				(cell->kind == RPT_CELL_TEXT && !cell->text[0]);
		}
		if (empty)
			return true;
	}
	return false;
}
