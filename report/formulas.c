/* -g: every formula with what went into it and what came out. */
#include "report/report.h"

#include <math.h>
#include <string.h>

struct shown {
	struct rpt_report *rpt;
	struct rpt_run *run;
	const struct ana_metric *metric;
};

static void show_input(void *of, const struct ana_expr *name)
{
	struct shown *s = of;
	double value = name->kind == ANA_EXPR_VARIABLE
			       ? ana_eval_variable(s->run->eval, name->text)
			       : ana_eval_counter(s->run->eval, name->text, s->metric->coll_level);

	ws_buf_printf(&s->rpt->out, "    %s%s = ", name->kind == ANA_EXPR_VARIABLE ? "$" : "",
		      name->text);
	if (isnan(value))
		ws_buf_add(&s->rpt->out, "no value\n");
	else
		ws_buf_printf(&s->rpt->out, "%.10g\n", value);
}

static void show_metric(struct rpt_report *rpt, const struct ana_metric *metric)
{
	struct shown shown = { rpt, &rpt->runs[0], metric };

	for (size_t h = 0; h < metric->table->n_headers; h++) {
		const struct ana_expr *expr = metric->cells[h].expr;
		double value;

		if (metric->table->headers[h].kind != ANA_HEADER_VALUE || !expr)
			continue;
		ws_buf_printf(&rpt->out, "%u.%u.%u %s, %s\n  ", metric->table->block,
			      metric->table->index, metric->index, metric->name,
			      metric->table->headers[h].name);
		ana_expr_show(expr, &rpt->out);
		ws_buf_add(&rpt->out, "\n");
		ana_expr_each_name(expr, show_input, &shown);
		value = ana_eval_cell(rpt->runs[0].eval, metric, (unsigned)h, 0);
		if (isnan(value))
			ws_buf_printf(&rpt->out, "  = no value: %s\n",
				      ana_eval_why_none(rpt->runs[0].eval, metric, (unsigned)h, 0));
		else
			ws_buf_printf(&rpt->out, "  = %.10g\n", value);
	}
}

void rpt_formulas(struct rpt_report *rpt)
{
	for (size_t b = 0; b < rpt->metrics->n_blocks; b++)
		for (size_t t = 0; t < rpt->metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = rpt->metrics->blocks[b]->tables[t];

			for (size_t m = 0; rpt_shows_table(rpt, table) && m < table->n_metrics; m++)
				if (rpt_shows_metric(rpt, table, (unsigned)m))
					show_metric(rpt, &table->metrics[m]);
		}
}
