/* The profile page: one view is a run, or one kernel of it, with all numbers and drawings. */
#include "report/html_priv.h"

#include "report/json.h"
#include "workload/pcsample.h"

#include <math.h>
#include <string.h>

/* ---- rows of one kernel ---- */

static enum ws_status select_kernel(struct rpt_html *page, const struct rpt_run *run,
				    size_t top_row, struct rpt_run *out_view, struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	uint32_t kernel = run->top[top_row].kernel;
	struct ana_eval_how how = { .norm = (enum ana_norm)rpt->how->norm,
				    .own_level_frame = rpt->how->like_3_3 };

	*out_view = *run;
	out_view->owns_metrics = false;
	out_view->eval = NULL;
	out_view->rows =
		(struct ana_selection){ .rows = ws_arena_array(&rpt->arena, run->rows.n + 1,
							       sizeof(uint32_t)) };
	out_view->chosen = ws_arena_array(&rpt->arena, run->n_top, sizeof(*out_view->chosen));
	if (!out_view->rows.rows || !out_view->chosen)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	out_view->chosen[top_row] = true;
	for (size_t i = 0; i < run->rows.n; i++)
		if (run->load->kernel_of[run->rows.rows[i]] == kernel)
			out_view->rows.rows[out_view->rows.n++] = run->rows.rows[i];
	if (!out_view->rows.n) /* -k or -d left it out */
		return WS_OK;
	return ana_eval_create(run->load, &out_view->rows, run->metrics, &how, &out_view->eval,
			       err);
}

static bool find_kernel(const struct rpt_run *run, const char *name, size_t *out_row)
{
	for (size_t i = 0; i < run->n_top; i++)
		if (strcmp(run->load->kernels[run->top[i].kernel].name, name) == 0) {
			*out_row = i;
			return true;
		}
	return false;
}

/* ---- PC samples ---- */

static void put_grid(struct ws_buf *out, const struct rpt_grid *grid)
{
	ws_buf_add(out, "{\"columns\":[");
	for (size_t c = 0; c < grid->n_columns; c++) {
		rpt_json_text(out, grid->headers[c]);
		ws_buf_add(out, ",");
	}
	rpt_json_close(out, "],\"rows\":[");
	for (size_t r = 0; r < grid->n_rows; r++) {
		ws_buf_add(out, "[");
		for (size_t c = 0; c < grid->n_columns; c++) {
			const struct rpt_cell *cell = &grid->cells[r * grid->n_columns + c];

			if (cell->kind == RPT_CELL_TEXT)
				rpt_json_text(out, cell->text);
			else
				rpt_json_value(out,
					       cell->kind == RPT_CELL_NONE ? NAN : cell->number);
			ws_buf_add(out, ",");
		}
		rpt_json_close(out, "],");
	}
	rpt_json_close(out, "]},");
}

static void put_samples(struct rpt_html *page, struct rpt_run *run)
{
	struct ws_err why;
	struct rpt_grid grid;

	if (!wl_pcsamples_exist(run->path))
		return;
	if (rpt_pc_grid(page->rpt, run, &grid, &why)) {
		rpt_json_member(page->out, "noSamples", why.text);
		return;
	}
	ws_buf_add(page->out, "\"samples\":");
	put_grid(page->out, &grid);
}

/* ---- views ---- */

static enum ws_status put_view(struct rpt_html *page, struct rpt_run *run, struct ws_err *err)
{
	struct ws_err why;
	struct ws_buf svg;
	enum ws_status st;

	ws_buf_printf(page->out, "{\"dispatches\":%zu,", run->rows.n);
	st = rpt_html_put_values(page, run, err);
	if (st)
		return st;
	ws_buf_init(&svg, SIZE_MAX);
	if (!rpt_page_memchart(page->rpt, run, &svg, &why))
		rpt_json_member(page->out, "memchart", svg.at);
	ws_buf_fini(&svg);
	put_samples(page, run);
	rpt_json_close(page->out, "},\n");
	return WS_OK;
}

static enum ws_status put_kernel_view(struct rpt_html *page, const struct rpt_run *run,
				      const char *name, struct ws_err *err)
{
	struct rpt_run view = { 0 };
	enum ws_status st = WS_OK;
	size_t row;

	if (find_kernel(run, name, &row))
		st = select_kernel(page, run, row, &view, err);
	if (!st && view.eval)
		st = put_view(page, &view, err);
	else
		ws_buf_add(page->out, "null,\n");
	ana_eval_destroy(view.eval);
	return st;
}

enum ws_status rpt_html_put_views(struct rpt_html *page, struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	enum ws_status st = WS_OK;

	ws_buf_add(page->out, "\"views\":[");
	for (size_t r = 0; !st && r < rpt->n_runs; r++) {
		ws_buf_add(page->out, "[");
		st = put_view(page, &rpt->runs[r], err);
		for (size_t k = 0; !st && k < page->n_kernels; k++)
			st = put_kernel_view(page, &rpt->runs[r], page->kernels[k], err);
		rpt_json_close(page->out, "],\n");
	}
	rpt_json_close(page->out, "],\n");
	return st;
}
