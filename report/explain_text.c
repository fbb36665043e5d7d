#include "report/explain.h"

#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUES_SHOWN 8u /* of the dispatches */

void rpt_text_fill(const char *text, unsigned indent, unsigned hang, unsigned n_columns,
		   struct ws_buf *out)
{
	unsigned at = 0;

	while (*text) {
		size_t n = strcspn(text, " \n");
		unsigned width = 0;

		for (size_t i = 0; i < n; i++)
			width += (text[i] & 0xc0) != 0x80;
		if (n && at && at + 1 + width > n_columns) {
			ws_buf_add(out, "\n");
			at = 0;
			indent = hang;
		}
		if (n) {
			ws_buf_add_c(out, ' ', at ? 1 : indent);
			at += (at ? 1 : indent) + width;
			ws_buf_add_n(out, text, n);
		}
		text += n;
		if (*text == '\n' && at) {
			ws_buf_add(out, "\n");
			at = 0;
		}
		text += *text != '\0';
	}
	if (at)
		ws_buf_add(out, "\n");
}

static const char *number(char *text, double value)
{
	if (value == rint(value) && fabs(value) < 1e15)
		snprintf(text, RPT_NUMBER_ROOM, "%.0f", value);
	else
		rpt_number_plain(text, value, 6);
	return text;
}

static void put_heading(const struct ana_explanation *what, struct ws_buf *out)
{
	const struct ana_metric *metric = what->metric;
	const struct ana_table *table = metric->table;

	ws_buf_printf(out, "%u.%u.%u %s", table->block, table->index, metric->index, metric->name);
	if (what->unit && what->unit[0])
		ws_buf_printf(out, " (%s)", what->unit);
	ws_buf_printf(out, "\nin table %u.%u %s\n", table->block, table->index, table->title);
}

static void put_values(const struct ana_explanation *what, const struct rpt_explain_style *style,
		       struct ws_buf *out)
{
	ws_buf_add(out, "\nHere\n");
	for (size_t i = 0; i < what->n_cells; i++) {
		const struct ana_explain_cell *cell = &what->cells[i];

		if (cell->why)
			ws_buf_printf(out, "  %-12s no value: %s\n", cell->header, cell->why);
		else
			ws_buf_printf(out, "  %-12s %.*f\n", cell->header, style->n_decimals,
				      cell->value);
	}
}

static void put_formulas(const struct ana_explanation *what, const char *arch,
			 const struct rpt_explain_style *style, struct ws_buf *out)
{
	ws_buf_printf(out, "\nFormula on %s\n", arch);
	for (size_t i = 0; i < what->n_cells; i++) {
		const struct ana_explain_cell *cell = &what->cells[i];

		if (cell->same_as) {
			ws_buf_printf(out, "  %s = %s of the same\n", cell->header, cell->same_as);
			continue;
		}
		ws_buf_printf(out, "  %s =\n", cell->header);
		rpt_text_fill(cell->formula[0] ? cell->formula : "None", 6, 8, style->n_columns,
			      out);
	}
}

static void put_names(const struct ana_explanation *what, struct ws_buf *out)
{
	char here[RPT_NUMBER_ROOM], mean[RPT_NUMBER_ROOM];
	int width = 12;

	if (!what->n_names)
		return;
	for (size_t i = 0; i < what->n_names; i++)
		width = WS_MAX(width, (int)strlen(what->names[i].name));
	ws_buf_printf(out, "\nMade of %*s %16s %16s\n", width - 6, "", "this dispatch", "mean");
	for (size_t i = 0; i < what->n_names; i++) {
		const struct ana_explain_name *name = &what->names[i];

		if (isnan(name->mean) && isnan(name->here))
			ws_buf_printf(out, "  %-*s %16s\n", width, name->name,
				      name->is_variable ? "not known" : "not collected");
		else
			ws_buf_printf(out, "  %-*s %16s %16s\n", width, name->name,
				      number(here, name->here), number(mean, name->mean));
	}
}

static void put_steps(const struct ana_explanation *what, const struct wl_workload *load,
		      const struct rpt_explain_style *style, struct ws_buf *out)
{
	char text[RPT_NUMBER_ROOM];

	if (!what->n_steps)
		return;
	ws_buf_printf(out, "\nStep by step, in dispatch %.0f (%s)\n", load->dispatch_id[what->row],
		      load->kernels[load->kernel_of[what->row]].shown);
	for (size_t i = 0; i < what->n_steps; i++) {
		const struct ana_explain_step *step = &what->steps[i];
		struct ws_buf line;

		ws_buf_init(&line, 1 << 16);
		ws_buf_printf(&line, "%s = %s", step->label, step->text);
		if (strcmp(step->text, step->numbers))
			ws_buf_printf(&line, " = %s", step->numbers);
		number(text, step->value);
		if (strcmp(step->numbers, text))
			ws_buf_printf(&line, " = %s", text);
		rpt_text_fill(line.at, 2, 6, style->n_columns, out);
		ws_buf_fini(&line);
	}
	if (what->cut)
		ws_buf_printf(out, "  and so on: only the first %zu steps are shown\n",
			      what->n_steps);
}

static void put_dispatches(const struct ana_explanation *what,
			   const struct rpt_explain_style *style, struct ws_buf *out)
{
	char text[RPT_NUMBER_ROOM];
	struct ws_buf line;
	size_t n_none = 0;

	if (!what->values || !what->n_values)
		return;
	ws_buf_init(&line, 1 << 16);
	for (size_t i = 0; i < what->n_values; i++)
		n_none += isnan(what->values[i]);
	ws_buf_printf(&line, "%s of ", what->fold ? what->fold : "made from the values");
	for (size_t i = 0; i < WS_MIN(what->n_values, VALUES_SHOWN); i++)
		ws_buf_printf(&line, "%s%s", i ? ", " : "", number(text, what->values[i]));
	if (what->n_values > VALUES_SHOWN)
		ws_buf_printf(&line, ", and %zu more", what->n_values - VALUES_SHOWN);
	if (what->n_cells)
		ws_buf_printf(&line, " = %s", number(text, what->cells[0].value));
	if (n_none)
		ws_buf_printf(&line, " (%zu dispatch%s without a value left out)", n_none,
			      n_none == 1 ? "" : "es");
	ws_buf_printf(out, "\nOver %zu dispatch%s\n", what->n_values,
		      what->n_values == 1 ? "" : "es");
	rpt_text_fill(line.at, 2, 6, style->n_columns, out);
	ws_buf_fini(&line);
}

void rpt_explain_text(const struct ana_explanation *what, const struct wl_workload *load,
		      const struct rpt_explain_style *style, struct ws_buf *out)
{
	put_heading(what, out);
	if (what->metric->help && what->metric->help[0]) {
		ws_buf_add(out, "\n");
		rpt_text_fill(what->metric->help, 2, 2, style->n_columns, out);
	}
	put_values(what, style, out);
	put_formulas(what, load->arch, style, out);
	if (what->metric->coll_level)
		ws_buf_printf(out, "\nIts level is counted in the pass %s.\n",
			      what->metric->coll_level);
	put_names(what, out);
	put_steps(what, load, style, out);
	put_dispatches(what, style, out);
}
