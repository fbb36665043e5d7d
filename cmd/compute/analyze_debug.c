/* -g: every formula with what went into it and what came out. */
#include "cmd/compute/analyze.h"

#include <math.h>
#include <string.h>

struct shown {
	struct an *an;
	struct an_run *run;
	const struct ana_metric *metric;
};

static void show_input(void *of, const struct ana_expr *name)
{
	struct shown *s = of;
	double value = name->kind == ANA_EXPR_VARIABLE
			       ? ana_eval_variable(s->run->eval, name->text)
			       : ana_eval_counter(s->run->eval, name->text, s->metric->coll_level);

	ws_buf_printf(&s->an->out, "    %s%s = ", name->kind == ANA_EXPR_VARIABLE ? "$" : "",
		      name->text);
	if (isnan(value))
		ws_buf_add(&s->an->out, "no value\n");
	else
		ws_buf_printf(&s->an->out, "%.10g\n", value);
}

static void show_metric(struct an *an, const struct ana_metric *metric)
{
	struct shown shown = { an, &an->runs[0], metric };

	for (size_t h = 0; h < metric->table->n_headers; h++) {
		const struct ana_expr *expr = metric->cells[h].expr;
		double value;

		if (metric->table->headers[h].kind != ANA_HEADER_VALUE || !expr)
			continue;
		ws_buf_printf(&an->out, "%u.%u.%u %s, %s\n  ", metric->table->block,
			      metric->table->index, metric->index, metric->name,
			      metric->table->headers[h].name);
		ana_expr_show(expr, &an->out);
		ws_buf_add(&an->out, "\n");
		ana_expr_each_name(expr, show_input, &shown);
		value = ana_eval_cell(an->runs[0].eval, metric, (unsigned)h, 0);
		if (isnan(value))
			ws_buf_printf(&an->out, "  = no value: %s\n",
				      ana_eval_why_none(an->runs[0].eval, metric, (unsigned)h, 0));
		else
			ws_buf_printf(&an->out, "  = %.10g\n", value);
	}
}

void an_debug(struct an *an)
{
	for (size_t b = 0; b < an->metrics->n_blocks; b++)
		for (size_t t = 0; t < an->metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = an->metrics->blocks[b]->tables[t];

			for (size_t m = 0; an_shows_table(an, table) && m < table->n_metrics; m++)
				if (an_shows_metric(an, table, (unsigned)m))
					show_metric(an, &table->metrics[m]);
		}
}
