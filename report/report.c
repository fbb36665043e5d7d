/* The report: which blocks and tables, in which order, with which titles. */
#include "report/report.h"

#include "report/findings.h"
#include "workload/pcsample.h"

#include <string.h>

static const char rule[] =
	"--------------------------------------------------------------------------------";

/* Without -b, the blocks that were profiled are shown. */
static bool recorded(const struct rpt_report *rpt, unsigned block)
{
	const struct wl_workload *load = rpt->runs[0].load;

	if (!load->n_recorded_blocks || block <= 1)
		return true;
	for (size_t i = 0; i < load->n_recorded_blocks; i++) {
		struct ana_metric_id id;

		if (ana_metric_id_parse(rpt->metrics, load->recorded_blocks[i], &id) &&
		    id.block == block)
			return true;
	}
	return false;
}

/* Whether some -b covers it; @table or @index below 0: any part of it. */
static bool asked(const struct rpt_report *rpt, unsigned block, int table, int index)
{
	for (size_t i = 0; i < rpt->how->blocks.n; i++) {
		struct ana_metric_id id;

		if (!ana_metric_id_parse(rpt->metrics, rpt->how->blocks.at[i], &id) ||
		    id.block != block)
			continue;
		if ((id.table < 0 || table < 0 || id.table == table) &&
		    (id.index < 0 || index < 0 || id.index == index))
			return true;
	}
	return false;
}

bool rpt_shows_table(const struct rpt_report *rpt, const struct ana_table *table)
{
	if (table->block == 0 || table->kind == ANA_TABLE_PC_SAMPLING)
		return true;
	if (rpt->how->blocks.n)
		return asked(rpt, table->block, (int)table->index, -1);
	return recorded(rpt, table->block);
}

bool rpt_shows_metric(const struct rpt_report *rpt, const struct ana_table *table, unsigned index)
{
	return !rpt->how->blocks.n || table->block == 0 ||
	       asked(rpt, table->block, (int)table->index, (int)index);
}

/* Tables that are drawn in place of their grid. */
static const struct drawing {
	unsigned block, table;
	enum ws_status (*draw)(struct rpt_report *rpt, struct rpt_run *run,
			       const struct ana_table *table, struct ws_err *err);
} drawings[] = {
	{ 3, 1, rpt_draw_memchart },
	{ 4, 3, rpt_draw_roofline },
};

static const struct drawing *drawing_of(const struct ana_table *table)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(drawings); i++)
		if (drawings[i].block == table->block && drawings[i].table == table->index)
			return &drawings[i];
	return NULL;
}

static void remark(struct ws_buf *to, const char *what, const struct ana_table *table)
{
	ws_buf_printf(to, " INFO %s: %u.%u %s\n", what, table->block, table->index, table->title);
}

static void title(struct rpt_report *rpt, const struct ana_table *table)
{
	if (rpt->how->like_3_3 && table->kind == ANA_TABLE_ROOFLINE) {
		ws_buf_add(&rpt->out, "4.1 Roofline\n"); /* there the plot is all of block 4 */
		return;
	}
	if (table->title[0])
		ws_buf_printf(&rpt->out, "%u.%u %s\n", table->block, table->index, table->title);
}

static enum ws_status draw(struct rpt_report *rpt, const struct drawing *drawing,
			   const struct ana_table *table, struct ws_err *err)
{
	enum ws_status st;

	title(rpt, table);
	st = drawing->draw(rpt, &rpt->runs[0], table, err);
	if (st == WS_E_UNSUPPORTED) {
		ws_buf_printf(&rpt->out, "%s\n", err->text);
		st = WS_OK;
	}
	return st;
}

/* Most workloads have no samples, and nothing is said about that. */
static enum ws_status show_samples(struct rpt_report *rpt, const struct ana_table *table,
				   struct ws_err *err)
{
	struct ws_err why = { WS_OK, "" };
	struct rpt_grid grid;
	enum ws_status st;

	if (rpt->n_runs > 1 || !wl_pcsamples_exist(rpt->runs[0].path))
		return WS_OK;
	st = rpt_pc_grid(rpt, &rpt->runs[0], &grid, &why);
	title(rpt, table);
	if (st)
		ws_buf_printf(&rpt->out, "%s\n", why.text); /* the rest of the report stands */
	else if (!grid.n_rows)
		ws_buf_add(&rpt->out,
			   rpt->runs[0].chosen
				   ? "no samples of this kernel\n"
				   : "no samples with a source line (hipcc -g): -k 0 shows "
				     "the first kernel by instruction\n");
	else
		return rpt_grid_draw(&grid, &rpt->out, err);
	return WS_OK;
}

/* One table into rpt->out; what is said about it instead goes to @remarks. */
static enum ws_status show_table(struct rpt_report *rpt, const struct ana_table *table,
				 struct ws_buf *remarks, struct ws_err *err)
{
	const struct drawing *drawing = drawing_of(table);
	struct rpt_grid grid;
	enum ws_status st;

	if (!rpt_shows_table(rpt, table)) {
		if (!rpt->how->blocks.n && table->title[0])
			remark(remarks, "Not showing table not selected during profiling", table);
		return WS_OK;
	}
	if (rpt->how->like_3_3 && table->block == 4 && table->kind == ANA_TABLE_METRICS)
		return WS_OK;
	if (drawing && rpt->n_runs == 1)
		return draw(rpt, drawing, table, err);
	if (table->kind == ANA_TABLE_ROOFLINE)
		return WS_OK;
	if (table->kind == ANA_TABLE_PC_SAMPLING)
		return show_samples(rpt, table, err);
	if (rpt->n_runs > 1 && table->kind != ANA_TABLE_SYSINFO)
		st = rpt_compare_grid(rpt, table, &grid, err);
	else
		st = rpt_metric_grid(rpt, &rpt->runs[0], table, false, &grid, err);
	if (st || !grid.n_columns || (!grid.n_rows && table->kind > ANA_TABLE_CHANNELS + 2) ||
	    (!grid.n_rows && table->kind <= ANA_TABLE_CHANNELS))
		return st;
	if (rpt_grid_has_empty_column(&grid)) {
		remark(remarks, "Not showing table with empty column(s)", table);
		return WS_OK;
	}
	title(rpt, table);
	return rpt_grid_draw(&grid, &rpt->out, err);
}

static enum ws_status show_block(struct rpt_report *rpt, const struct ana_block *block,
				 struct ws_err *err)
{
	struct ws_buf whole = rpt->out, remarks;
	enum ws_status st = WS_OK;

	ws_buf_init(&rpt->out, SIZE_MAX);
	ws_buf_init(&remarks, 1 << 20);
	for (size_t t = 0; !st && t < block->n_tables; t++)
		st = show_table(rpt, block->tables[t], &remarks, err);
	if (remarks.n && !rpt->quiet) {
		ws_buf_add(&whole, "\n");
		ws_buf_add_n(&whole, remarks.at, remarks.n);
	}
	if (rpt->out.n) {
		ws_buf_printf(&whole, "\n%s\n%u. %s\n", rule, block->id, block->title);
		ws_buf_add_n(&whole, rpt->out.at, rpt->out.n);
		ws_buf_add(&whole, "\n");
	}
	if (!st)
		st = ws_buf_status(&rpt->out, err);
	ws_buf_fini(&rpt->out);
	ws_buf_fini(&remarks);
	rpt->out = whole;
	return st ? st : ws_buf_status(&rpt->out, err);
}

void rpt_notes(const struct rpt_run *run, struct ws_buf *out)
{
	const struct wl_workload *load = run->load;

	if (wl_workload_is_modelled(load))
		ws_buf_printf(out,
			      " INFO %s was recorded on the software GPU: times, and "
			      "counters that depend on caches or time, are modelled\n",
			      load->path);
	if (wl_workload_is_sampled(load))
		ws_buf_printf(out,
			      " WARNING %s is sampled: only a part of each kernel's workgroups "
			      "was counted, and scaled\n",
			      load->path);
	if (load->n_rows_bad)
		ws_buf_printf(out,
			      " WARNING partial report: %zu rows of %s were damaged or "
			      "unmatched, and skipped\n",
			      load->n_rows_bad, load->path);
}

enum ws_status rpt_find(struct rpt_report *rpt, const struct rpt_run *run,
			struct ana_findings **out_found, struct ws_err *err)
{
	struct ana_finding_profile profile = {
		.load = run->load,
		.rows = &run->rows,
		.metrics = run->metrics,
		.top = run->top,
		.n_top = run->n_top,
	};
	struct ana_findings_how how = { .min_share_pct = -1, .min_gain_pct = -1 };

	return ana_findings_of_profile(&profile, &how, &rpt->arena, out_found, err);
}

/*
 * Before block 0: what is worth looking at in the tables that follow. AMD's tool has no such
 * thing, so it is left out where its output is wanted.
 */
static enum ws_status show_findings(struct rpt_report *rpt, struct ws_err *err)
{
	struct ana_findings *found;
	enum ws_status st;

	if (rpt->n_runs > 1 || rpt->how->like_3_3 || rpt->how->n_findings <= 0 ||
	    (rpt->how->blocks.n && !asked(rpt, 0, -1, -1)))
		return WS_OK;
	st = rpt_find(rpt, &rpt->runs[0], &found, err);
	if (st)
		return st;
	ws_buf_printf(&rpt->out, "\n%s\n0. What to look at\n", rule);
	rpt_findings_text(found, (size_t)rpt->how->n_findings, "--findings", &rpt->arena,
			  &rpt->out);
	return ws_buf_status(&rpt->out, err);
}

enum ws_status rpt_report_text(struct rpt_report *rpt, struct ws_err *err)
{
	enum ws_status st;

	for (size_t r = 0; r < rpt->n_runs; r++)
		rpt_notes(&rpt->runs[r], &rpt->out);
	st = show_findings(rpt, err);
	for (size_t b = 0; !st && b < rpt->metrics->n_blocks; b++)
		st = show_block(rpt, rpt->metrics->blocks[b], err);
	return st;
}
