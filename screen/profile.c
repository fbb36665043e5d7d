/* The screens of profiled workloads. */
#include "screen/screen.h"

#include "analysis/diff.h"
#include "analysis/findings.h"
#include "base/utf8.h"
#include "report/diff.h"
#include "report/explain.h"
#include "report/findings.h"
#include "report/memchart.h"
#include "report/report.h"
#include "report/roofline.h"
#include "screen/browser.h"
#include "screen/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_KERNEL SIZE_MAX
#define N_GRID_HEAD 4 /* lines: title, border, headers, border */

/* What a run was before one kernel was selected. */
struct whole_run {
	struct ana_selection rows;
	struct ana_eval *eval;
	bool *chosen;
};

struct profile {
	struct rpt_report *rpt;
	const struct ana_eval_how *eval_how;
	struct rpt_options how;
	struct whole_run *whole; /* a row per run; while a kernel is selected */
	size_t kernel;           /* row of the top kernels of the first run; NO_KERNEL: all */
	size_t sort;
	bool reversed;
};

/* ---- one kernel, or all ---- */

static void restore_run(struct rpt_run *run, struct whole_run *whole)
{
	ana_eval_destroy(run->eval);
	ana_selection_fini(&run->rows);
	free(run->chosen);
	run->rows = whole->rows;
	run->eval = whole->eval;
	run->chosen = whole->chosen;
}

static void select_all(struct profile *p)
{
	for (size_t i = 0; p->whole && i < p->rpt->n_runs; i++)
		restore_run(&p->rpt->runs[i], &p->whole[i]);
	free(p->whole);
	p->whole = NULL;
	p->kernel = NO_KERNEL;
}

/* The dispatches of @name among those of the run; a run may have none. */
static enum ws_status narrow_run(struct profile *p, struct rpt_run *run, const char *name,
				 struct ws_err *err)
{
	const struct wl_workload *load = run->load;
	struct ana_selection rows = { .rows = calloc(run->rows.n + 1, sizeof(*rows.rows)) };
	bool *chosen = calloc(run->n_top + 1, sizeof(*chosen));
	struct ana_eval *eval = NULL;
	enum ws_status st = WS_OK;

	if (!rows.rows || !chosen)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; !st && i < run->rows.n; i++)
		if (!strcmp(load->kernels[load->kernel_of[run->rows.rows[i]]].name, name))
			rows.rows[rows.n++] = run->rows.rows[i];
	for (size_t i = 0; !st && i < run->n_top; i++)
		chosen[i] = !strcmp(load->kernels[run->top[i].kernel].name, name);
	run->rows = rows; /* the evaluation borrows it from there */
	run->chosen = chosen;
	if (!st)
		st = ana_eval_create(load, &run->rows, run->metrics, p->eval_how, &eval, err);
	run->eval = eval;
	return st;
}

/* A failure leaves all kernels selected. */
static void select_kernel(struct profile *p, size_t kernel)
{
	struct rpt_run *runs = p->rpt->runs;
	struct ws_err ignored;
	const char *name;
	enum ws_status st = WS_OK;

	select_all(p);
	name = runs[0].load->kernels[runs[0].top[kernel].kernel].name;
	p->whole = calloc(p->rpt->n_runs, sizeof(*p->whole));
	for (size_t i = 0; p->whole && i < p->rpt->n_runs; i++)
		p->whole[i] = (struct whole_run){ runs[i].rows, runs[i].eval, runs[i].chosen };
	for (size_t i = 0; p->whole && i < p->rpt->n_runs; i++) {
		enum ws_status one = narrow_run(p, &runs[i], name, &ignored);

		st = st ? st : one;
	}
	p->kernel = kernel;
	if (!p->whole || st)
		select_all(p);
}

/* ---- writing a page ---- */

/* The report writes into the page; what it allocates is gone afterwards. */
static enum ws_status write_page(struct profile *p, struct scr_pane *pane,
				 enum ws_status (*write)(struct profile *p, const char *arg,
							 struct scr_area area, struct ws_err *err),
				 const char *arg, struct scr_area area, struct ws_err *err)
{
	struct rpt_report *rpt = p->rpt;
	struct ws_arena arena = rpt->arena;
	struct ws_buf out = rpt->out;
	enum ws_status st;

	ws_arena_init(&rpt->arena, SIZE_MAX);
	rpt->out = pane->text;
	p->how.memory_chart =
		area.n_columns < RPT_MEMCHART_WIDE_COLUMNS ? RPT_CHART_NARROW : RPT_CHART_WIDE;
	st = write(p, arg, area, err);
	pane->text = rpt->out;
	rpt->out = out;
	ws_arena_fini(&rpt->arena);
	rpt->arena = arena;
	return st;
}

#define PAGE(name)                                                                                 \
	static enum ws_status fill_##name(void *of, const char *arg, struct scr_area area,         \
					  struct scr_pane *pane, struct ws_err *err)               \
	{                                                                                          \
		return write_page(of, pane, write_##name, arg, area, err);                         \
	}

static const struct scr_page_kind kernels_page, tables_page, table_page, explain_page;

/* A metric's id, or the name of a counter. */
static const struct scr_page_kind *open_metric(void *of, struct ws_str line,
					       char out_arg[SCR_ARG_BYTES])
{
	struct profile *p = of;
	struct ana_metric_id id;

	if (!scr_first_word(line, out_arg, SCR_ARG_BYTES))
		return NULL;
	if (ana_metric_id_parse(p->rpt->metrics, out_arg, &id) && id.index >= 0)
		return &explain_page;
	return scr_is_counter_name(out_arg) ? &explain_page : NULL;
}

/* ---- kernels ---- */

/* clang-format off */
#define SORT_TABLE(X)  /* column, comparison of a with b: descending */ \
	X("total",  b->sum_ns    - a->sum_ns)                           \
	X("calls",  (double)b->n - (double)a->n)                        \
	X("mean",   b->mean_ns   - a->mean_ns)                          \
	X("median", b->median_ns - a->median_ns)
/* clang-format on */

static const char *const sort_names[] = {
#define SORT_ROW(name, difference) name,
	SORT_TABLE(SORT_ROW)
#undef SORT_ROW
};

static double difference(const struct ana_kernel_stat *a, const struct ana_kernel_stat *b,
			 size_t sort)
{
	const double by[] = {
#define SORT_ROW(name, difference) difference,
		SORT_TABLE(SORT_ROW)
#undef SORT_ROW
	};

	return by[sort];
}

struct sorting {
	const struct profile *p;
	const struct ana_kernel_stat *top;
};

static int by_column(const void *x, const void *y, void *of)
{
	const struct sorting *s = of;
	size_t a = *(const size_t *)x, b = *(const size_t *)y;
	double d = difference(&s->top[a], &s->top[b], s->p->sort);
	int order = d > 0 ? 1 : d < 0 ? -1 : (a > b) - (a < b);

	return s->p->reversed ? -order : order;
}

/* The unit of -t; by default each time has the one that suits it. */
static const char *time_cell(const struct profile *p, double ns, char room[SCR_TIME_BYTES])
{
	if (p->how.time_unit == RPT_TIME_NS)
		return scr_time_text(room, ns);
	snprintf(room, SCR_TIME_BYTES, "%.*f", (int)WS_MIN(p->how.decimal, 6),
		 ns / rpt_time_divisor(&p->how));
	return room;
}

static void add_heading(const struct profile *p, struct ws_buf *out)
{
	ws_buf_add(out, "   #  time %");
	for (size_t i = 0; i < WS_ARRAY_LEN(sort_names); i++)
		ws_buf_printf(out, " %*s%s", i == 1 ? 6 : 9, sort_names[i],
			      i != p->sort  ? " "
			      : p->reversed ? "▲"
					    : "▼");
	ws_buf_printf(out, " kernel%s%s\n", p->how.time_unit == RPT_TIME_NS ? "" : ", times in ",
		      p->how.time_unit == RPT_TIME_NS ? "" : rpt_time_word(&p->how));
}

static enum ws_status fill_kernels(void *of, const char *arg, struct scr_area area,
				   struct scr_pane *pane, struct ws_err *err)
{
	struct profile *p = of;
	struct rpt_run *run = &p->rpt->runs[0];
	struct sorting sorting = { p, run->top };
	size_t *order = calloc(run->n_top + 1, sizeof(*order));

	(void)arg, (void)area;
	if (!order)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < run->n_top; i++)
		order[i] = i;
	qsort_r(order, run->n_top, sizeof(*order), by_column, &sorting);
	add_heading(p, &pane->text);
	pane->n_head = 1;
	for (size_t i = 0; i < run->n_top; i++) {
		const struct ana_kernel_stat *k = &run->top[order[i]];
		char total[SCR_TIME_BYTES], mean[SCR_TIME_BYTES], median[SCR_TIME_BYTES];

		ws_buf_printf(&pane->text, "%4zu  %6.1f %9s  %6zu  %9s  %9s  ", order[i],
			      k->percent, time_cell(p, k->sum_ns, total), k->n,
			      time_cell(p, k->mean_ns, mean), time_cell(p, k->median_ns, median));
		ws_buf_add(&pane->text, run->load->kernels[k->kernel].shown);
		ws_buf_add(&pane->text, "\n");
	}
	free(order);
	return WS_OK;
}

static const struct scr_page_kind *open_kernel(void *of, struct ws_str line,
					       char out_arg[SCR_ARG_BYTES])
{
	struct profile *p = of;
	uint64_t row;

	if (!scr_first_word(line, out_arg, SCR_ARG_BYTES) ||
	    !ws_str_u64(ws_str_from(out_arg), &row) || row >= p->rpt->runs[0].n_top)
		return NULL;
	select_kernel(p, row);
	out_arg[0] = '\0';
	return &tables_page;
}

static const struct scr_page_kind kernels_page = {
	.name = "Kernels",
	.has_cursor = true,
	.fill = fill_kernels,
	.open = open_kernel,
	.keys = "s sort  r reverse",
};

/* ---- findings ---- */

static enum ws_status write_findings(struct profile *p, const char *arg, struct scr_area area,
				     struct ws_err *err)
{
	struct rpt_report *rpt = p->rpt;
	const struct rpt_run *run = &rpt->runs[0];
	struct ana_finding_profile profile = {
		.load = run->load,
		.rows = &run->rows,
		.metrics = run->metrics,
		.top = run->top,
		.n_top = run->n_top,
		.how = *p->eval_how,
	};
	struct ana_findings_how how = { .min_share_pct = -1, .min_gain_pct = -1 };
	struct ana_findings *found;
	enum ws_status st = ana_findings_of_profile(&profile, &how, &rpt->arena, &found, err);

	(void)arg, (void)area;
	if (!st)
		rpt_findings_text(found, found->n, "", &rpt->arena, &rpt->out);
	return st;
}
PAGE(findings)

/* A kernel is selected; evidence is explained. */
static const struct scr_page_kind *open_finding(void *of, struct ws_str line,
						char out_arg[SCR_ARG_BYTES])
{
	struct ws_str number;

	return scr_kernel_number(line, &number) ? open_kernel(of, number, out_arg)
						: open_metric(of, line, out_arg);
}

static const struct scr_page_kind findings_page = {
	.name = "Findings", .has_cursor = true, .fill = fill_findings, .open = open_finding
};

/* ---- tables ---- */

static enum ws_status write_tables(struct profile *p, const char *arg, struct scr_area area,
				   struct ws_err *err)
{
	const struct ana_metrics *metrics = p->rpt->metrics;

	(void)arg, (void)area;
	for (size_t b = 0; b < metrics->n_blocks; b++) {
		const struct ana_block *block = metrics->blocks[b];

		ws_buf_printf(&p->rpt->out, "%u %s\n", block->id, block->title);
		for (size_t t = 0; t < block->n_tables; t++) {
			const struct ana_table *table = block->tables[t];

			ws_buf_printf(&p->rpt->out, "    %u.%u %s%s\n", table->block, table->index,
				      table->title[0] ? table->title : block->title,
				      rpt_shows_table(p->rpt, table) ? "" : " (not profiled)");
		}
	}
	return ws_buf_status(&p->rpt->out, err);
}
PAGE(tables)

static const struct scr_page_kind *open_table(void *of, struct ws_str line,
					      char out_arg[SCR_ARG_BYTES])
{
	struct profile *p = of;
	struct ana_metric_id id;

	return scr_first_word(line, out_arg, SCR_ARG_BYTES) &&
			       ana_metric_id_parse(p->rpt->metrics, out_arg, &id)
		       ? &table_page
		       : NULL;
}

static const struct scr_page_kind tables_page = {
	.name = "Tables", .has_cursor = true, .fill = fill_tables, .open = open_table
};

static enum ws_status write_roofline(struct profile *p, const char *arg, struct scr_area area,
				     struct ws_err *err)
{
	unsigned n_around = 6; /* rows of titles and of the axis */
	struct rpt_roof_text_style style = {
		.n_columns = area.n_columns,
		.n_rows = area.n_rows > n_around ? area.n_rows - n_around : 1,
	};

	(void)arg;
	return rpt_plot_roofline(p->rpt, &p->rpt->runs[0], &style, err);
}
PAGE(roofline)

static enum ws_status write_grid(struct profile *p, const struct ana_table *table,
				 struct scr_area area, struct ws_err *err)
{
	struct rpt_report *rpt = p->rpt;
	struct rpt_run *run = &rpt->runs[0];
	struct rpt_grid grid;
	enum ws_status st;

	ws_buf_printf(&rpt->out, "%u.%u %s\n", table->block, table->index, table->title);
	if (table->kind == ANA_TABLE_ROOFLINE)
		return write_roofline(p, "", area, err);
	if (table->kind == ANA_TABLE_PC_SAMPLING)
		st = rpt_pc_grid(rpt, run, &grid, err);
	else if (rpt->n_runs > 1 && table->kind != ANA_TABLE_SYSINFO)
		st = rpt_compare_grid(rpt, table, &grid, err);
	else
		st = rpt_metric_grid(rpt, run, table, true, &grid, err);
	if (!st && (!grid.n_columns || !grid.n_rows))
		ws_buf_add(&rpt->out, "no values: the counters were not collected\n");
	else if (!st)
		st = rpt_grid_draw(&grid, &rpt->out, err);
	return st;
}

static enum ws_status write_table(struct profile *p, const char *arg, struct scr_area area,
				  struct ws_err *err)
{
	struct ana_metric_id id;
	const struct ana_block *block;

	if (!ana_metric_id_parse(p->rpt->metrics, arg, &id))
		return ws_fail(err, WS_E_NOTFOUND, "there is no table %s", arg);
	block = ana_block_find(p->rpt->metrics, id.block);
	for (size_t t = 0; block && t < block->n_tables; t++) {
		const struct ana_table *table = block->tables[t];
		struct ws_err why = { WS_OK, "" };

		/* What keeps one table from being shown does not concern the others. */
		if ((id.table < 0 || (unsigned)id.table == table->index) &&
		    write_grid(p, table, area, &why))
			ws_buf_printf(&p->rpt->out, "%s\n", why.text);
	}
	return WS_OK;
}

/* Half of the lines of a grid separate rows, and rows are scarce here. */
static void drop_separators(struct ws_buf *text)
{
	struct ws_str rest = ws_buf_view(text), line;
	size_t n = 0;

	while (rest.n && ws_str_next(&rest, '\n', &line)) {
		if (ws_str_starts(line, "├"))
			continue;
		memmove(text->at + n, line.at, line.n + 1); /* with its end */
		n += line.n + 1;
	}
	text->n = WS_MIN(text->n, n);
	text->at[text->n] = '\0';
}

static enum ws_status fill_table(void *of, const char *arg, struct scr_area area,
				 struct scr_pane *pane, struct ws_err *err)
{
	enum ws_status st = write_page(of, pane, write_table, arg, area, err);

	if (st || !pane->text.n)
		return st;
	drop_separators(&pane->text);
	if (strchr(arg, '.') && strstr(pane->text.at, "╞"))
		pane->n_head = N_GRID_HEAD;
	return st;
}

static const struct scr_page_kind table_page = {
	.name = "Table", .has_cursor = true, .fill = fill_table, .open = open_metric
};

static enum ws_status write_explanation(struct profile *p, const char *arg, struct scr_area area,
					struct ws_err *err)
{
	struct ws_strv ids = { .at = &arg, .n = 1 };

	(void)area;
	return rpt_explain(p->rpt, &ids, err);
}
PAGE(explanation)

static const struct scr_page_kind explain_page = {
	.name = "Explain", .has_cursor = true, .fill = fill_explanation, .open = open_metric
};

/* ---- charts and comparison ---- */

static enum ws_status write_memory(struct profile *p, const char *arg, struct scr_area area,
				   struct ws_err *err)
{
	const struct ana_table *table = ana_table_find(p->rpt->metrics, 3, 1);

	(void)arg, (void)area;
	return table ? rpt_draw_memchart(p->rpt, &p->rpt->runs[0], table, err)
		     : ws_fail(err, WS_E_UNSUPPORTED, "there is no memory chart for %s",
			       p->rpt->metrics->arch);
}
PAGE(memory)

static const struct scr_page_kind memory_page = { .name = "Memory", .fill = fill_memory };
static const struct scr_page_kind roofline_page = { .name = "Roofline", .fill = fill_roofline };

static struct ana_diff_side side_of(const struct rpt_run *run)
{
	return (struct ana_diff_side){ .load = run->load,
				       .rows = &run->rows,
				       .metrics = run->metrics };
}

static enum ws_status write_comparison(struct profile *p, const char *arg, struct scr_area area,
				       struct ws_err *err)
{
	struct rpt_report *rpt = p->rpt;
	struct ana_diff_side a = side_of(&rpt->runs[0]);
	struct ana_diff_how how = { .eval = *p->eval_how };
	struct rpt_diff_style style = {
		.n_decimals = (int)p->how.decimal,
		.time_divisor = rpt_time_divisor(&p->how),
		.time_unit = rpt_time_word(&p->how),
		.n_rows = p->how.max_stat_num > 0 ? (size_t)p->how.max_stat_num : 0,
	};
	enum ws_status st = WS_OK;

	(void)arg, (void)area;
	if (rpt->n_runs < 2)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "there is one workload: start with -p BEFORE -p AFTER to compare");
	for (size_t i = 1; !st && i < rpt->n_runs; i++) {
		struct ana_diff_side b = side_of(&rpt->runs[i]);
		struct ana_diff *diff;

		st = ana_diff_make(&a, &b, &how, &rpt->arena, &diff, err);
		if (!st)
			st = rpt_diff_text(diff, &a, &b, &style, &rpt->arena, &rpt->out, err);
	}
	return st;
}
PAGE(comparison)

static const struct scr_page_kind comparison_page = {
	.name = "Compare", .has_cursor = true, .fill = fill_comparison, .open = open_metric
};

/* ---- all of it ---- */

static enum scr_change press(void *of, int key, struct ws_str line)
{
	struct profile *p = of;

	(void)line;
	switch (key) {
	case 's':
		p->sort = (p->sort + 1) % WS_ARRAY_LEN(sort_names);
		return SCR_PAGES_CHANGED;
	case 'r':
		p->reversed = !p->reversed;
		return SCR_PAGES_CHANGED;
	case 'a':
		select_all(p);
		return SCR_PAGES_CHANGED;
	default:
		return SCR_UNCHANGED;
	}
}

static void write_title(void *of, struct ws_buf *out)
{
	struct profile *p = of;
	const struct rpt_run *run = &p->rpt->runs[0];

	ws_buf_printf(out, " %s", run->load->arch);
	if (wl_workload_is_modelled(run->load))
		ws_buf_add(out, " (software GPU: modelled)");
	if (wl_workload_is_sampled(run->load))
		ws_buf_add(out, " (sampled)");
	if (p->kernel == NO_KERNEL)
		ws_buf_printf(out, "  %zu kernel%s", run->n_top, run->n_top == 1 ? "" : "s");
	else
		ws_buf_printf(out, "  kernel %zu: %.24s", p->kernel,
			      run->load->kernels[run->top[p->kernel].kernel].shown);
	for (size_t i = 0; i < p->rpt->n_runs; i++)
		ws_buf_printf(out, "  %s", p->rpt->runs[i].path);
}

static const struct scr_page_kind *const tabs[] = {
	&kernels_page,  &findings_page,   &tables_page, &memory_page,
	&roofline_page, &comparison_page, NULL,
};

static const char help[] =
	"  Kernels: Enter selects a kernel; every tab is then about that kernel alone.\n"
	"  a              all kernels again\n"
	"  s r            sort by the next column; reverse\n"
	"  Tables: Enter opens a table; Enter on a metric explains it, with its formula\n"
	"  and counters. It does the same in findings, comparisons and explanations.\n";

enum ws_status scr_profile(struct rpt_report *rpt, const struct ana_eval_how *how,
			   struct ws_err *err)
{
	struct profile p = { .rpt = rpt, .eval_how = how, .how = *rpt->how, .kernel = NO_KERNEL };
	struct scr_subject subject = {
		.of = &p,
		.tabs = tabs,
		.title = write_title,
		.key = press,
		.help = help,
		.instead = SCR_WITHOUT_PROFILE,
	};
	const struct rpt_options *asked = rpt->how;
	bool on_terminal = rpt->on_terminal;
	enum ws_status st;

	rpt->how = &p.how;
	rpt->on_terminal = false; /* charts in the sizes of the pages, and without colours */
	st = scr_browse(&subject, err);
	select_all(&p);
	rpt->how = asked;
	rpt->on_terminal = on_terminal;
	return st;
}
