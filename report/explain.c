/* --explain: a metric in depth, a table or block in a line per metric, a counter by its users. */
#include "report/report.h"

#include "analysis/diff.h"
#include "analysis/explain.h"
#include "base/cmd.h"
#include "report/explain.h"

#include <math.h>
#include <string.h>

static struct rpt_explain_style style_of(const struct rpt_report *rpt)
{
	return (struct rpt_explain_style){ .n_decimals = (int)rpt->how->decimal,
					   .n_columns = ws_help_columns() };
}

struct ana_explain_source rpt_explain_source(const struct rpt_report *rpt)
{
	const struct rpt_run *run = &rpt->runs[0];

	return (struct ana_explain_source){
		.load = run->load,
		.rows = &run->rows,
		.metrics = run->metrics,
		.eval = run->eval,
		.how = { .norm = (enum ana_norm)rpt->how->norm,
			 .own_level_frame = rpt->how->like_3_3 },
	};
}

static enum ws_status explain_metric(struct rpt_report *rpt, const struct ana_metric *metric,
				     struct ws_err *err)
{
	struct rpt_run *run = &rpt->runs[0];
	struct ana_explain_source source = rpt_explain_source(rpt);
	struct rpt_explain_style style = style_of(rpt);
	struct ana_explanation what;
	enum ws_status st = ana_explain(&source, metric, &rpt->arena, &what, err);

	if (!st)
		rpt_explain_text(&what, run->load, &style, &rpt->out);
	return st ? st : ws_buf_status(&rpt->out, err);
}

/* One line with the value, then the meaning. */
static void outline_metric(struct rpt_report *rpt, const struct ana_metric *metric)
{
	struct rpt_run *run = &rpt->runs[0];
	struct rpt_explain_style style = style_of(rpt);
	int header = ana_metric_main_header(metric->table);
	double value = header >= 0 && metric->table->kind == ANA_TABLE_METRICS
			       ? ana_eval_cell(run->eval, metric, (unsigned)header, 0)
			       : NAN;

	ws_buf_printf(&rpt->out, "  %u.%u.%u %s", metric->table->block, metric->table->index,
		      metric->index, metric->name);
	if (!isnan(value))
		ws_buf_printf(&rpt->out, ": %.*f %s", style.n_decimals, value,
			      ana_eval_unit(run->eval, metric->unit, &rpt->arena));
	ws_buf_add(&rpt->out, "\n");
	if (metric->help && metric->help[0])
		rpt_text_fill(metric->help, 6, 6, style.n_columns, &rpt->out);
}

static void outline_table(struct rpt_report *rpt, const struct ana_table *table)
{
	ws_buf_printf(&rpt->out, "\n%u.%u %s\n", table->block, table->index, table->title);
	for (size_t i = 0; i < table->n_metrics; i++)
		outline_metric(rpt, &table->metrics[i]);
}

/* ---- counters ---- */

struct search {
	const char *name;
	bool found;
};

static void see_name(void *of, const struct ana_expr *expr)
{
	struct search *search = of;

	search->found = search->found ||
			(expr->kind == ANA_EXPR_COUNTER && !strcmp(expr->text, search->name));
}

static bool uses(const struct ana_metric *metric, const char *counter)
{
	struct search search = { .name = counter };

	for (size_t h = 0; h < metric->table->n_headers && !search.found; h++)
		if (metric->table->headers[h].kind == ANA_HEADER_VALUE && metric->cells[h].expr)
			ana_expr_each_name(metric->cells[h].expr, see_name, &search);
	return search.found;
}

/* False: neither the workload nor a formula knows it. */
static bool explain_counter(struct rpt_report *rpt, const char *counter)
{
	double mean = ana_eval_counter(rpt->runs[0].eval, counter, NULL);
	size_t n = 0;

	for (size_t b = 0; b < rpt->metrics->n_blocks; b++) {
		for (size_t t = 0; t < rpt->metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = rpt->metrics->blocks[b]->tables[t];

			for (size_t i = 0; i < table->n_metrics; i++) {
				if (!uses(&table->metrics[i], counter))
					continue;
				if (!n++) {
					ws_buf_printf(&rpt->out, "%s, a counter: ", counter);
					if (isnan(mean))
						ws_buf_add(&rpt->out, "not collected here");
					else
						ws_buf_printf(&rpt->out,
							      "%.*f on average over %zu dispatches",
							      (int)rpt->how->decimal, mean,
							      rpt->runs[0].rows.n);
					ws_buf_add(&rpt->out, "\nIn the formulas of\n");
				}
				outline_metric(rpt, &table->metrics[i]);
			}
		}
	}
	return n > 0;
}

/* Every metric of that name: they differ in table and unit. */
static enum ws_status explain_named(struct rpt_report *rpt, const char *name, size_t *n,
				    struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t b = 0; b < rpt->metrics->n_blocks; b++) {
		for (size_t t = 0; t < rpt->metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = rpt->metrics->blocks[b]->tables[t];

			for (size_t i = 0; !st && i < table->n_metrics; i++) {
				if (strcasecmp(table->metrics[i].name, name))
					continue;
				if ((*n)++)
					ws_buf_add(&rpt->out, "\n");
				st = explain_metric(rpt, &table->metrics[i], err);
			}
		}
	}
	return st;
}

static enum ws_status explain_one(struct rpt_report *rpt, const char *what, struct ws_err *err)
{
	const struct ana_metric *metric;
	const struct ana_block *block;
	const struct ana_table *table;
	struct ana_metric_id id;
	enum ws_status st;

	if (!ana_metric_id_parse(rpt->metrics, what, &id)) {
		size_t n = 0;

		st = explain_named(rpt, what, &n, err);
		if (st || n || explain_counter(rpt, what))
			return st;
		return ana_metric_lookup(rpt->metrics, what, &metric, err);
	}
	block = ana_block_find(rpt->metrics, id.block);
	table = id.table >= 0 ? ana_table_find(rpt->metrics, id.block, (unsigned)id.table) : NULL;
	if (!block || (id.table >= 0 && !table))
		return ws_fail(err, WS_E_USAGE,
			       "no block or table '%s' on %s: --list-metrics %s lists them", what,
			       rpt->metrics->arch, rpt->metrics->arch);
	if (id.index >= 0) {
		metric = ana_metric_find(rpt->metrics, id.block, (unsigned)id.table,
					 (unsigned)id.index);
		if (!metric)
			return ws_fail(err, WS_E_USAGE, "no metric '%s' on %s: table %u.%u has %zu",
				       what, rpt->metrics->arch, id.block, (unsigned)id.table,
				       table->n_metrics);
		return explain_metric(rpt, metric, err);
	}
	ws_buf_printf(&rpt->out, "%u. %s\n", block->id, block->title);
	for (size_t t = 0; t < block->n_tables; t++)
		if (!table || block->tables[t] == table)
			outline_table(rpt, block->tables[t]);
	return WS_OK;
}

enum ws_status rpt_explain(struct rpt_report *rpt, const struct ws_strv *ids, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < ids->n; i++) {
		if (i)
			ws_buf_add(&rpt->out, "\n");
		st = explain_one(rpt, ids->at[i], err);
	}
	return st ? ws_fail_in(err, st, "--explain") : WS_OK;
}
