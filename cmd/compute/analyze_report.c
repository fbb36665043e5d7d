/* The report: which blocks and tables, in which order, with which titles. */
#include "cmd/compute/analyze.h"

#include "workload/pcsample.h"

#include <string.h>

static const char rule[] =
	"--------------------------------------------------------------------------------";

/* Without -b, what profile was asked for decides, whole blocks at a time. */
static bool recorded(const struct an *an, unsigned block)
{
	const struct wl_workload *load = an->runs[0].load;

	if (!load->n_recorded_blocks || block <= 1)
		return true;
	for (size_t i = 0; i < load->n_recorded_blocks; i++) {
		struct ana_metric_id id;

		if (ana_metric_id_parse(an->metrics, load->recorded_blocks[i], &id) &&
		    id.block == block)
			return true;
	}
	return false;
}

/* Whether some -b covers it; @table or @index below 0: any part of it. */
static bool asked(const struct an *an, unsigned block, int table, int index)
{
	for (size_t i = 0; i < an->args->blocks.n; i++) {
		struct ana_metric_id id;

		if (!ana_metric_id_parse(an->metrics, an->args->blocks.at[i], &id) ||
		    id.block != block)
			continue;
		if ((id.table < 0 || table < 0 || id.table == table) &&
		    (id.index < 0 || index < 0 || id.index == index))
			return true;
	}
	return false;
}

bool an_shows_table(const struct an *an, const struct ana_table *table)
{
	if (table->block == 0 || table->kind == ANA_TABLE_PC_SAMPLING)
		return true;
	if (an->args->blocks.n)
		return asked(an, table->block, (int)table->index, -1);
	return recorded(an, table->block);
}

bool an_shows_metric(const struct an *an, const struct ana_table *table, unsigned index)
{
	return !an->args->blocks.n || table->block == 0 ||
	       asked(an, table->block, (int)table->index, (int)index);
}

static const struct an_drawing *drawing_of(const struct ana_table *table)
{
	for (const struct an_drawing *d = an_drawings; d->draw; d++)
		if (d->block == table->block && d->table == table->index)
			return d;
	return NULL;
}

static void remark(struct ws_buf *to, const char *what, const struct ana_table *table)
{
	ws_buf_printf(to, " INFO %s: %u.%u %s\n", what, table->block, table->index, table->title);
}

static void title(struct an *an, const struct ana_table *table)
{
	if (an->args->like_3_3 && table->kind == ANA_TABLE_ROOFLINE) {
		ws_buf_add(&an->out, "4.1 Roofline\n"); /* there the plot is all of block 4 */
		return;
	}
	if (table->title[0])
		ws_buf_printf(&an->out, "%u.%u %s\n", table->block, table->index, table->title);
}

static enum ws_status draw(struct an *an, const struct an_drawing *drawing,
			   const struct ana_table *table, struct ws_err *err)
{
	enum ws_status st;

	title(an, table);
	st = drawing->draw(an, &an->runs[0], table, err);
	if (st == WS_E_UNSUPPORTED) {
		ws_buf_printf(&an->out, "%s\n", err->text);
		st = WS_OK;
	}
	return st;
}

/* Most workloads have no samples, and nothing is said about that. */
static enum ws_status show_samples(struct an *an, const struct ana_table *table, struct ws_err *err)
{
	struct ws_err why = { WS_OK, "" };
	struct rpt_grid grid;
	enum ws_status st;

	if (an->n_runs > 1 || !wl_pcsamples_exist(an->runs[0].path))
		return WS_OK;
	st = an_pc_samples(an, &an->runs[0], &grid, &why);
	title(an, table);
	if (st)
		ws_buf_printf(&an->out, "%s\n", why.text); /* the rest of the report stands */
	else if (!grid.n_rows)
		ws_buf_add(&an->out,
			   an->runs[0].chosen
				   ? "no samples of this kernel\n"
				   : "no samples with a source line (hipcc -g): -k 0 shows "
				     "the first kernel by instruction\n");
	else
		return rpt_grid_draw(&grid, &an->out, err);
	return WS_OK;
}

/* One table into an->out; what is said about it instead goes to @remarks. */
static enum ws_status show_table(struct an *an, const struct ana_table *table,
				 struct ws_buf *remarks, struct ws_err *err)
{
	const struct an_drawing *drawing = drawing_of(table);
	struct rpt_grid grid;
	enum ws_status st;

	if (!an_shows_table(an, table)) {
		if (!an->args->blocks.n && table->title[0])
			remark(remarks, "Not showing table not selected during profiling", table);
		return WS_OK;
	}
	if (an->args->like_3_3 && table->block == 4 && table->kind == ANA_TABLE_METRICS)
		return WS_OK;
	if (drawing && an->n_runs == 1)
		return draw(an, drawing, table, err);
	if (table->kind == ANA_TABLE_ROOFLINE)
		return WS_OK;
	if (table->kind == ANA_TABLE_PC_SAMPLING)
		return show_samples(an, table, err);
	if (an->n_runs > 1 && table->kind != ANA_TABLE_SYSINFO)
		st = an_compare(an, table, &grid, err);
	else
		st = an_grid(an, &an->runs[0], table, false, &grid, err);
	if (st || !grid.n_columns || (!grid.n_rows && table->kind > ANA_TABLE_CHANNELS + 2) ||
	    (!grid.n_rows && table->kind <= ANA_TABLE_CHANNELS))
		return st;
	if (an_has_empty_column(&grid)) {
		remark(remarks, "Not showing table with empty column(s)", table);
		return WS_OK;
	}
	title(an, table);
	return rpt_grid_draw(&grid, &an->out, err);
}

static enum ws_status show_block(struct an *an, const struct ana_block *block, struct ws_err *err)
{
	struct ws_buf whole = an->out, remarks;
	enum ws_status st = WS_OK;

	ws_buf_init(&an->out, SIZE_MAX);
	ws_buf_init(&remarks, 1 << 20);
	for (size_t t = 0; !st && t < block->n_tables; t++)
		st = show_table(an, block->tables[t], &remarks, err);
	if (remarks.n && !an->args->general.quiet) {
		ws_buf_add(&whole, "\n");
		ws_buf_add_n(&whole, remarks.at, remarks.n);
	}
	if (an->out.n) {
		ws_buf_printf(&whole, "\n%s\n%u. %s\n", rule, block->id, block->title);
		ws_buf_add_n(&whole, an->out.at, an->out.n);
		ws_buf_add(&whole, "\n");
	}
	if (!st)
		st = ws_buf_status(&an->out, err);
	ws_buf_fini(&an->out);
	ws_buf_fini(&remarks);
	an->out = whole;
	return st ? st : ws_buf_status(&an->out, err);
}

/* What a reader must know before the numbers. */
static void notes(struct an *an)
{
	for (size_t r = 0; r < an->n_runs; r++) {
		const struct wl_workload *load = an->runs[r].load;

		if (wl_workload_is_modelled(load))
			ws_buf_printf(&an->out,
				      " INFO %s was made on the software GPU: counters that follow "
				      "from caches "
				      "or time, and all times, are modelled\n",
				      load->path);
		if (wl_workload_is_sampled(load))
			ws_buf_printf(
				&an->out,
				" WARNING %s is sampled: only a part of each kernel's workgroups "
				"was counted, and scaled\n",
				load->path);
		if (load->n_rows_bad)
			ws_buf_printf(&an->out,
				      " WARNING partial report: %zu rows of %s were damaged or "
				      "unmatched, and left out\n",
				      load->n_rows_bad, load->path);
	}
}

enum ws_status an_report(struct an *an, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	notes(an);
	for (size_t b = 0; !st && b < an->metrics->n_blocks; b++)
		st = show_block(an, an->metrics->blocks[b], err);
	return st;
}
