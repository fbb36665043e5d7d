/* The profile page: tables of metrics, what explains them, and their numbers in one view. */
#include "report/html_priv.h"

#include "analysis/explain.h"
#include "report/explain.h"
#include "report/json.h"

#include <math.h>
#include <string.h>

static const struct rpt_cell *cell_at(const struct rpt_grid *grid, size_t row, size_t column)
{
	return &grid->cells[row * grid->n_columns + column];
}

static bool has_text(const struct rpt_grid *grid, size_t column)
{
	for (size_t r = 0; r < grid->n_rows; r++)
		if (cell_at(grid, r, column)->kind == RPT_CELL_TEXT)
			return true;
	return false;
}

static enum ws_status add_table(struct rpt_html *page, const struct ana_table *table,
				struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	struct rpt_html_table *to = &page->tables[page->n_tables];
	enum ws_status st;

	to->table = table;
	st = rpt_metric_grid(rpt, &rpt->runs[0], table, true, &to->grid, err);
	if (st || !to->grid.n_rows)
		return st;
	to->is_text = ws_arena_array(&rpt->arena, to->grid.n_columns, sizeof(*to->is_text));
	if (!to->is_text)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t c = 0; c < to->grid.n_columns; c++)
		to->is_text[c] = has_text(&to->grid, c);
	page->n_tables++;
	return WS_OK;
}

enum ws_status rpt_html_find_tables(struct rpt_html *page, struct ws_err *err)
{
	const struct ana_metrics *metrics = page->rpt->metrics;
	enum ws_status st = WS_OK;
	size_t n = 0;

	for (size_t b = 0; b < metrics->n_blocks; b++)
		n += metrics->blocks[b]->n_tables;
	page->tables = ws_arena_array(&page->rpt->arena, n + 1, sizeof(*page->tables));
	if (!page->tables)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t b = 0; !st && b < metrics->n_blocks; b++)
		for (size_t t = 0; !st && t < metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = metrics->blocks[b]->tables[t];

			if (table->kind <= ANA_TABLE_CHANNELS && rpt_shows_table(page->rpt, table))
				st = add_table(page, table, err);
		}
	return st;
}

/* ---- explanations ---- */

/* Its place among the inputs; the list is short enough to look through. */
static enum ws_status put_input(struct rpt_html *page, const char *name, const char *coll_level,
				struct ws_err *err)
{
	struct rpt_html_input input = { name, coll_level };
	enum ws_status st = WS_OK;
	size_t i = 0;

	while (i < page->inputs.n && (strcmp(page->inputs.at[i].name, name) != 0 ||
				      page->inputs.at[i].coll_level != coll_level))
		i++;
	if (i == page->inputs.n) {
		input.name = ws_arena_strdup(&page->rpt->arena, name);
		st = input.name ? ws_vec_push(&page->inputs, input, err)
				: ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_buf_printf(page->out, "%zu,", i);
	return st;
}

static void put_formulas(struct rpt_html *page, const struct ana_explanation *what)
{
	struct ws_buf *out = page->out;

	ws_buf_add(out, "\"formulas\":[");
	for (size_t i = 0; i < what->n_cells; i++) {
		const struct ana_explain_cell *cell = &what->cells[i];

		ws_buf_add(out, "{");
		rpt_json_member(out, "of", cell->header);
		if (cell->same_as)
			rpt_json_member(out, "sameAs", cell->same_as);
		else
			rpt_json_member(out, "text", cell->formula[0] ? cell->formula : "None");
		if (cell->why)
			rpt_json_member(out, "why", cell->why);
		rpt_json_close(out, "},");
	}
	rpt_json_close(out, "],");
}

static void put_steps(struct rpt_html *page, const struct ana_explanation *what)
{
	const struct wl_workload *load = page->rpt->runs[0].load;
	struct ws_buf *out = page->out;

	if (!what->n_steps)
		return;
	rpt_json_number(out, "dispatch", load->dispatch_id[what->row]);
	if (what->cut)
		ws_buf_add(out, "\"cut\":true,");
	ws_buf_add(out, "\"steps\":[");
	for (size_t i = 0; i < what->n_steps; i++) {
		const struct ana_explain_step *step = &what->steps[i];

		ws_buf_add(out, "[");
		rpt_json_text(out, step->label);
		ws_buf_add(out, ",");
		rpt_json_text(out, step->text);
		ws_buf_add(out, ",");
		rpt_json_text(out, strcmp(step->text, step->numbers) ? step->numbers : "");
		ws_buf_add(out, ",");
		rpt_json_value(out, step->value);
		ws_buf_add(out, "],");
	}
	rpt_json_close(out, "],");
}

static enum ws_status put_explanation(struct rpt_html *page, const struct ana_metric *metric,
				      struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	struct ana_explain_source source = rpt_explain_source(rpt);
	struct ana_explanation what;
	enum ws_status st;
	double *values;

	/* Values of every dispatch are large; those of one metric at a time are enough. */
	ws_arena_reset(&page->scratch);
	st = ana_explain(&source, metric, &page->scratch, &what, err);
	if (st)
		return st;
	put_formulas(page, &what);
	ws_buf_add(page->out, "\"inputs\":[");
	for (size_t i = 0; !st && i < what.n_names; i++)
		st = put_input(page, what.names[i].name, metric->coll_level, err);
	rpt_json_close(page->out, "],");
	put_steps(page, &what);
	if (st || !what.values || what.n_values < 2)
		return st;
	values = ws_arena_array(&page->scratch, what.n_values, sizeof(*values));
	if (!values)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	memcpy(values, what.values, what.n_values * sizeof(*values));
	rpt_html_spread(page, "spread", values, what.n_values);
	return WS_OK;
}

static enum ws_status put_row(struct rpt_html *page, const struct rpt_html_table *table, size_t r,
			      const struct ana_metric *metric, struct ws_err *err)
{
	struct ws_buf *out = page->out;
	enum ws_status st = WS_OK;

	ws_buf_add(out, "{\"texts\":[");
	for (size_t c = 0; c < table->grid.n_columns; c++) {
		const struct rpt_cell *cell = cell_at(&table->grid, r, c);

		rpt_json_text(out, cell->kind == RPT_CELL_TEXT ? cell->text : NULL);
		ws_buf_add(out, ",");
	}
	rpt_json_close(out, "],");
	ws_buf_add(out, "\"classes\":[");
	for (size_t i = 0; i < page->rpt->n_runs; i++)
		ws_buf_printf(out, "%d,", (int)rpt_fidelity_of(&page->fidelity[i], metric));
	rpt_json_close(out, "],");
	rpt_json_member(out, "help", metric->help ? metric->help : "");
	if (metric->coll_level)
		rpt_json_member(out, "level", metric->coll_level);
	if (table->table->kind == ANA_TABLE_METRICS)
		st = put_explanation(page, metric, err);
	rpt_json_close(out, "},\n");
	return st;
}

static enum ws_status put_table(struct rpt_html *page, const struct rpt_html_table *table,
				struct ws_err *err)
{
	const struct ana_block *block = ana_block_find(page->rpt->metrics, table->table->block);
	bool channels = table->table->kind == ANA_TABLE_CHANNELS;
	struct ws_buf *out = page->out;
	enum ws_status st = WS_OK;
	size_t index = 0;

	ws_buf_printf(out, "{\"id\":\"%u.%u\",\"block\":%u,", table->table->block,
		      table->table->index, table->table->block);
	rpt_json_member(out, "title", table->table->title);
	rpt_json_member(out, "blockTitle", block->title);
	if (channels)
		ws_buf_add(out, "\"channels\":true,");
	ws_buf_add(out, "\"columns\":[");
	for (size_t c = 0; c < table->grid.n_columns; c++) {
		ws_buf_add(out, "[");
		rpt_json_text(out, table->grid.headers[c]);
		ws_buf_printf(out, ",%s],", table->is_text[c] ? "true" : "false");
	}
	rpt_json_close(out, "],\"rows\":[");
	for (size_t r = 0; !st && r < table->grid.n_rows; r++) {
		while (!channels && !rpt_shows_metric(page->rpt, table->table, (unsigned)index))
			index++;
		st = put_row(page, table, r, &table->table->metrics[channels ? 0 : index++], err);
	}
	rpt_json_close(out, "]},\n");
	return st;
}

enum ws_status rpt_html_put_tables(struct rpt_html *page, struct ws_err *err)
{
	struct ws_buf *out = page->out;
	enum ws_status st = WS_OK;

	ws_buf_add(out, "\"tables\":[");
	for (size_t i = 0; !st && i < page->n_tables; i++)
		st = put_table(page, &page->tables[i], err);
	rpt_json_close(out, "],\n\"inputs\":[");
	for (size_t i = 0; i < page->inputs.n; i++) {
		const char *name = page->inputs.at[i].name;
		bool is_variable = name[0] == '$';
		const char *text = is_variable ? NULL : rpt_counter_text(&page->fidelity[0], name);

		ws_buf_add(out, "{");
		rpt_json_member(out, "name", name);
		if (text)
			rpt_json_member(out, "text", text);
		if (!is_variable)
			ws_buf_printf(out, "\"class\":%d,",
				      (int)rpt_fidelity_of_counter(&page->fidelity[0], name));
		rpt_json_close(out, "},");
	}
	rpt_json_close(out, "],\n");
	return st;
}

/* ---- numbers ---- */

/* The row of @grid that is row @r of the first run: the same metric, or the same channel. */
static const struct rpt_cell *row_like(const struct rpt_html_table *base, size_t r,
				       const struct rpt_grid *grid, bool same_metrics)
{
	const struct rpt_cell *key = base->grid.n_columns > 1 ? cell_at(&base->grid, r, 1) : NULL;

	if (same_metrics || base->table->kind == ANA_TABLE_CHANNELS || !key)
		return r < grid->n_rows ? cell_at(grid, r, 0) : NULL;
	for (size_t i = 0; i < grid->n_rows; i++) {
		const struct rpt_cell *other = cell_at(grid, i, 1);

		if (key->kind == RPT_CELL_TEXT && other->kind == RPT_CELL_TEXT &&
		    strcmp(key->text, other->text) == 0)
			return cell_at(grid, i, 0);
	}
	return NULL;
}

static int column_like(const struct rpt_grid *grid, const char *header)
{
	for (size_t c = 0; c < grid->n_columns; c++)
		if (strcmp(grid->headers[c], header) == 0)
			return (int)c;
	return -1;
}

/* Numbers in order of columns, texts left out. */
static void put_numbers(struct rpt_html *page, const struct rpt_html_table *base,
			const struct rpt_grid *grid, bool same_metrics)
{
	struct ws_buf *out = page->out;

	ws_buf_add(out, "[");
	for (size_t r = 0; r < base->grid.n_rows; r++) {
		const struct rpt_cell *row = row_like(base, r, grid, same_metrics);

		ws_buf_add(out, "[");
		for (size_t c = 0; c < base->grid.n_columns; c++) {
			int own = same_metrics ? (int)c : column_like(grid, base->grid.headers[c]);

			if (base->is_text[c])
				continue;
			if (!row || own < 0 || row[own].kind == RPT_CELL_TEXT ||
			    row[own].kind == RPT_CELL_NONE)
				ws_buf_add(out, "null");
			else
				rpt_json_value(out, row[own].number);
			ws_buf_add(out, ",");
		}
		rpt_json_close(out, "],");
	}
	rpt_json_close(out, "],");
}

enum ws_status rpt_html_put_values(struct rpt_html *page, struct rpt_run *run, struct ws_err *err)
{
	bool same_metrics = run->metrics == page->rpt->metrics;
	struct ws_buf *out = page->out;
	enum ws_status st = WS_OK;

	ws_buf_add(out, "\"values\":[");
	for (size_t i = 0; !st && i < page->n_tables; i++) {
		const struct rpt_html_table *base = &page->tables[i];
		const struct ana_table *own =
			same_metrics ? base->table
				     : ana_table_find(run->metrics, base->table->block,
						      base->table->index);
		struct rpt_grid grid = { 0 };

		if (own)
			st = rpt_metric_grid(page->rpt, run, own, true, &grid, err);
		if (!st)
			put_numbers(page, base, &grid, same_metrics);
	}
	rpt_json_close(out, "],");
	ws_buf_add(out, "\"inputs\":[");
	for (size_t i = 0; i < page->inputs.n; i++) {
		const struct rpt_html_input *input = &page->inputs.at[i];

		rpt_json_value(out, input->name[0] == '$'
					    ? ana_eval_variable(run->eval, input->name + 1)
					    : ana_eval_counter(run->eval, input->name,
							       input->coll_level));
		ws_buf_add(out, ",");
	}
	rpt_json_close(out, "],");
	return st;
}
