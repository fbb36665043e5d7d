/*
 * html: the whole report as one page for a browser. docs/formats/profile-page.md
 *
 * The page has the numbers; profile*.js (pages/) lays them out. All of them are made by the functions
 * that make the text report: grids of metrics, explanations, findings, comparisons, charts.
 */
#include "report/html_priv.h"

#include "analysis/diff.h"
#include "base/file.h"
#include "base/fold.h"
#include "base/map.h"
#include "pages/assets.h"
#include "pages/page.h"
#include "report/assets.h"
#include "report/findings.h"
#include "report/json.h"

#include <math.h>
#include <string.h>

#define KERNELS_MAX 1000u /* of the table of kernels */
#define N_BINS 24u
#define CHANGED_KERNELS_MAX 20u
#define CHANGED_METRICS_MAX 12u /* per kernel */

/* ---- distributions ---- */

void rpt_html_spread(struct rpt_html *page, const char *key, double *values, size_t n)
{
	struct ws_buf *out = page->out;
	size_t bins[N_BINS] = { 0 };
	struct ws_fold fold;

	n = ws_fold_pack(values, n);
	fold = ws_fold_values(values, n);
	if (!n || !isfinite(fold.min) || !isfinite(fold.max))
		return;
	ws_buf_printf(out, "\"%s\":{\"n\":%zu,", key, n);
	rpt_json_number(out, "min", fold.min);
	rpt_json_number(out, "q1", ws_fold_quantile(values, n, 0.25));
	rpt_json_number(out, "median", ws_fold_quantile(values, n, 0.5));
	rpt_json_number(out, "q3", ws_fold_quantile(values, n, 0.75));
	rpt_json_number(out, "max", fold.max);
	rpt_json_number(out, "mean", ws_fold_mean(&fold));
	if (fold.max > fold.min) {
		for (size_t i = 0; i < n; i++) {
			double at = (values[i] - fold.min) / (fold.max - fold.min);

			bins[WS_MIN((size_t)(at * N_BINS), (size_t)N_BINS - 1)]++;
		}
		ws_buf_add(out, "\"bins\":[");
		for (size_t i = 0; i < N_BINS; i++)
			ws_buf_printf(out, "%zu,", bins[i]);
		rpt_json_close(out, "],");
	}
	rpt_json_close(out, "},");
}

/* ---- runs ---- */

static void put_classes(struct rpt_html *page)
{
	ws_buf_add(page->out, "\"classes\":[");
	for (size_t i = 0; i < RPT_FIDELITY_COUNT; i++) {
		ws_buf_add(page->out, "{");
		rpt_json_member(page->out, "word", rpt_fidelity_words[i]);
		rpt_json_member(page->out, "text", rpt_fidelity_texts[i]);
		rpt_json_close(page->out, "},");
	}
	rpt_json_close(page->out, "],\n");
}

static void put_notes(struct rpt_html *page, const struct rpt_run *run)
{
	struct ws_str rest, line;
	struct ws_buf notes;

	ws_buf_init(&notes, 1 << 20);
	rpt_notes(run, &notes);
	ws_buf_add(page->out, "\"notes\":[");
	rest = ws_buf_view(&notes);
	while (ws_str_next(&rest, '\n', &line)) {
		line = ws_str_trim(line);
		if (!line.n)
			continue;
		rpt_json_text(page->out, ws_arena_strndup(&page->rpt->arena, line.at, line.n));
		ws_buf_add(page->out, ",");
	}
	rpt_json_close(page->out, "],");
	ws_buf_fini(&notes);
}

static enum ws_status put_run(struct rpt_html *page, size_t number, struct ws_err *err)
{
	struct rpt_run *run = &page->rpt->runs[number];
	const char *gpu = wl_workload_fact(run->load, "gpu_model");
	struct ws_buf *out = page->out;
	struct ana_findings *found;
	double sum_ns = 0;
	enum ws_status st;

	ws_buf_add(out, "{");
	rpt_json_member(out, "path", run->path);
	rpt_json_member(out, "arch", run->load->arch);
	rpt_json_member(out, "gpu", gpu ? gpu : "");
	ws_buf_printf(out, "\"simulated\":%s,\"timeClass\":%d,\"dispatches\":%zu,\"kernels\":%zu,",
		      wl_workload_is_modelled(run->load) ? "true" : "false",
		      (int)rpt_fidelity_of_counter(&page->fidelity[number], "End_Timestamp"),
		      run->rows.n, run->n_top);
	for (size_t i = 0; i < run->n_top; i++)
		sum_ns += run->top[i].sum_ns;
	rpt_json_number(out, "sumNs", sum_ns);
	put_notes(page, run);
	st = rpt_find(page->rpt, run, &found, err);
	if (st)
		return st;
	ws_buf_add(out, "\"found\":");
	rpt_findings_json(found, run->path, out);
	rpt_json_close(out, "},\n");
	return WS_OK;
}

/* The machines, a column per run, as the report's table has it. */
static enum ws_status put_machine(struct rpt_html *page, struct ws_err *err)
{
	const struct ana_table *table = ana_table_find(page->rpt->metrics, 1, 1);
	struct rpt_grid grid;
	enum ws_status st;

	ws_buf_add(page->out, "\"machine\":[");
	if (table && table->kind == ANA_TABLE_SYSINFO) {
		st = rpt_metric_grid(page->rpt, &page->rpt->runs[0], table, true, &grid, err);
		if (st)
			return st;
		for (size_t r = 0; r < grid.n_rows; r++) {
			ws_buf_add(page->out, "[");
			for (size_t c = 0; c < grid.n_columns; c++) {
				rpt_json_text(page->out, grid.cells[r * grid.n_columns + c].text);
				ws_buf_add(page->out, ",");
			}
			rpt_json_close(page->out, "],");
		}
	}
	rpt_json_close(page->out, "],\n");
	return WS_OK;
}

/* ---- kernels ---- */

static void put_kernel_stat(struct rpt_html *page, const struct rpt_run *run,
			    const struct ana_kernel_stat *stat)
{
	const struct wl_workload *load = run->load;
	double *ns;
	size_t n = 0;

	ws_arena_reset(&page->scratch);
	ns = ws_arena_array(&page->scratch, stat->n + 1, sizeof(*ns));
	ws_buf_printf(page->out, "{\"n\":%zu,", stat->n);
	rpt_json_number(page->out, "sum", stat->sum_ns);
	rpt_json_number(page->out, "mean", stat->mean_ns);
	rpt_json_number(page->out, "median", stat->median_ns);
	rpt_json_number(page->out, "percent", stat->percent);
	for (size_t i = 0; ns && load->start_ns && i < run->listed.n && n < stat->n; i++) {
		uint32_t row = run->listed.rows[i];

		if (load->kernel_of[row] == stat->kernel)
			ns[n++] = load->end_ns[row] - load->start_ns[row];
	}
	if (ns)
		rpt_html_spread(page, "spread", ns, n);
	rpt_json_close(page->out, "},");
}

struct kernel_row {
	const char *name, *shown;
	const struct ana_kernel_stat **stats; /* per run; NULL: it has no such kernel */
};

/* Kernels of all runs by name: those of the first run, then what others add. */
static enum ws_status find_kernels(struct rpt_html *page, struct kernel_row *rows, size_t *n,
				   struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	enum ws_status st = WS_OK;
	struct ws_map index;

	ws_map_init(&index, WS_MAP_STR, 1u << 24);
	for (size_t r = 0; !st && r < rpt->n_runs; r++) {
		const struct rpt_run *run = &rpt->runs[r];

		for (size_t i = 0; !st && i < run->n_top; i++) {
			const struct wl_kernel_name *kernel =
				&run->load->kernels[run->top[i].kernel];
			struct kernel_row *row = ws_map_get(&index, kernel->name);

			if (!row && *n == KERNELS_MAX)
				continue;
			if (!row) {
				row = &rows[(*n)++];
				row->name = kernel->name;
				row->shown = kernel->shown;
				row->stats = ws_arena_array(&rpt->arena, rpt->n_runs,
							    sizeof(*row->stats));
				st = row->stats ? ws_map_put(&index, ws_str_from(kernel->name), row,
							     err)
						: ws_fail(err, WS_E_NOMEM, "out of memory");
			}
			if (!st)
				row->stats[r] = &run->top[i];
		}
	}
	ws_map_fini(&index);
	return st;
}

static enum ws_status put_kernels(struct rpt_html *page, struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	struct kernel_row *rows = ws_arena_array(&rpt->arena, KERNELS_MAX, sizeof(*rows));
	size_t n = 0, most = (size_t)WS_MAX(rpt->how->max_stat_num, (int64_t)0);
	enum ws_status st;

	page->kernels = ws_arena_array(&rpt->arena, KERNELS_MAX, sizeof(*page->kernels));
	if (!rows || !page->kernels)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = find_kernels(page, rows, &n, err);
	ws_buf_add(page->out, "\"kernels\":[");
	for (size_t i = 0; !st && i < n; i++) {
		ws_buf_add(page->out, "{");
		rpt_json_member(page->out, "name", rows[i].shown);
		/* A single kernel needs no view of its own. */
		if (n > 1 && page->n_kernels < most) {
			page->kernels[page->n_kernels++] = rows[i].name;
			ws_buf_printf(page->out, "\"view\":%zu,", page->n_kernels);
		}
		ws_buf_add(page->out, "\"runs\":[");
		for (size_t r = 0; r < rpt->n_runs; r++) {
			if (rows[i].stats[r])
				put_kernel_stat(page, &rpt->runs[r], rows[i].stats[r]);
			else
				ws_buf_add(page->out, "null,");
		}
		rpt_json_close(page->out, "]},\n");
	}
	rpt_json_close(page->out, "],\n");
	return st;
}

/* ---- changes ---- */

static void put_comparison(struct ws_buf *out, const struct ana_comparison *c)
{
	rpt_json_number(out, "a", c->a.mean);
	rpt_json_number(out, "b", c->b.mean);
	rpt_json_number(out, "percent", c->percent);
	rpt_json_number(out, "p", c->p);
	rpt_json_member(out, "method", ana_compare_method_name(c->method));
	rpt_json_member(out, "change", ana_change_name(c->change));
}

static void put_changed_kernel(struct ws_buf *out, const struct ana_diff_kernel *kernel)
{
	size_t n_real = kernel->n_by_change[ANA_CHANGE_REAL];

	ws_buf_add(out, "{");
	rpt_json_member(out, "name", kernel->shown);
	ws_buf_printf(out, "\"nA\":%zu,\"nB\":%zu,\"real\":%zu,\"noise\":%zu,\"equal\":%zu,",
		      kernel->n_a, kernel->n_b, n_real, kernel->n_by_change[ANA_CHANGE_NOISE],
		      kernel->n_by_change[ANA_CHANGE_NONE]);
	rpt_json_number(out, "sumA", kernel->sum_a_ns);
	rpt_json_number(out, "sumB", kernel->sum_b_ns);
	ws_buf_add(out, "\"duration\":{");
	put_comparison(out, &kernel->duration);
	rpt_json_close(out, "},\"metrics\":[");
	for (size_t i = 0; i < WS_MIN(WS_MIN(n_real, kernel->n_values), CHANGED_METRICS_MAX); i++) {
		const struct ana_diff_value *value = &kernel->values[i];
		const struct ana_metric *metric = value->metric;

		ws_buf_printf(out, "{\"id\":\"%u.%u.%u\",", metric->table->block,
			      metric->table->index, metric->index);
		rpt_json_member(out, "name", metric->name);
		rpt_json_member(out, "unit", value->unit);
		put_comparison(out, &value->c);
		rpt_json_close(out, "},");
	}
	rpt_json_close(out, "]},\n");
}

/* Every further run against the first. */
static enum ws_status put_changes(struct rpt_html *page, struct ws_err *err)
{
	struct rpt_report *rpt = page->rpt;
	struct ana_diff_how how = { .eval = { .norm = (enum ana_norm)rpt->how->norm,
					      .own_level_frame = rpt->how->like_3_3 } };
	enum ws_status st = WS_OK;

	ws_buf_add(page->out, "\"changes\":[");
	for (size_t r = 1; !st && r < rpt->n_runs; r++) {
		struct ana_diff_side a = { rpt->runs[0].load, &rpt->runs[0].rows,
					   rpt->runs[0].metrics };
		struct ana_diff_side b = { rpt->runs[r].load, &rpt->runs[r].rows,
					   rpt->runs[r].metrics };
		struct ana_diff *diff;

		st = ana_diff_make(&a, &b, &how, &rpt->arena, &diff, err);
		if (st)
			break;
		ws_buf_printf(page->out, "{\"run\":%zu,\"n\":%zu,", r, diff->n_kernels);
		rpt_json_number(page->out, "sumA", diff->sum_a_ns);
		rpt_json_number(page->out, "sumB", diff->sum_b_ns);
		ws_buf_add(page->out, "\"kernels\":[");
		for (size_t i = 0; i < WS_MIN(diff->n_kernels, CHANGED_KERNELS_MAX); i++)
			put_changed_kernel(page->out, &diff->kernels[i]);
		rpt_json_close(page->out, "]},\n");
	}
	rpt_json_close(page->out, "],\n");
	return st;
}

/* ---- the file ---- */

static enum ws_status put_data(struct rpt_html *page, struct ws_err *err)
{
	const struct rpt_options *how = page->rpt->how;
	enum ws_status st = WS_OK;

	ws_buf_add(page->out, "{");
	rpt_json_member(page->out, "norm", ana_norm_words[how->norm]);
	ws_buf_printf(page->out, "\"decimals\":%d,", (int)how->decimal);
	put_classes(page);
	ws_buf_add(page->out, "\"runs\":[");
	for (size_t r = 0; !st && r < page->rpt->n_runs; r++)
		st = put_run(page, r, err);
	rpt_json_close(page->out, "],\n");
	if (!st)
		st = put_kernels(page, err);
	if (!st)
		st = put_machine(page, err);
	if (!st)
		st = put_changes(page, err);
	if (!st)
		st = rpt_html_put_tables(page, err);
	if (!st)
		st = rpt_html_put_views(page, err);
	rpt_json_close(page->out, "}");
	return st;
}

static void put_bytes(void *ctx, const void *bytes, size_t n)
{
	ws_buf_add_n(ctx, bytes, n);
}

/* Each in a shadow tree of its own, where its style and its script find what they need. */
static void put_rooflines(struct rpt_html *page, const struct page_out *out)
{
	for (size_t r = 0; r < page->rpt->n_runs; r++) {
		struct ws_buf markup;
		struct ws_err why;

		ws_buf_init(&markup, SIZE_MAX);
		if (!rpt_page_roofline(page->rpt, &page->rpt->runs[r], &markup, &why)) {
			ws_buf_printf(page->out,
				      "<div id=\"roofline-%zu\" class=\"roofline\"><template "
				      "shadowrootmode=\"open\"><style>%s%s</style>",
				      r, rpt_asset_roofline_css,
				      ":host{display:block}#chart{border:0;padding:0}th,td{padding:"
				      "5px 8px}\n");
			ws_buf_add_n(page->out, markup.at, markup.n);
			page_put(out, "</template></div>\n");
			page_script_begin(out, " type=\"module\"");
			ws_buf_printf(page->out,
				      "const root = document.getElementById(\"roofline-%zu\")"
				      ".shadowRoot;\n%s</script>\n",
				      r, rpt_asset_roofline_js);
		}
		ws_buf_fini(&markup);
	}
}

static enum ws_status put_page(struct rpt_html *page, struct ws_err *err)
{
	struct page_out out = { .put = put_bytes,
				.ctx = page->out,
				.nonce = page->live ? page->live->nonce : NULL };
	const char *title = ws_arena_printf(&page->rpt->arena, "%s \342\200\223 profile",
					    page->rpt->runs[0].path);
	enum ws_status st;

	page_begin(&out, title ? title : "profile",
		   (const char *const[]){ page_asset_page_css, page_asset_profile_css, NULL });
	page_put(&out, page_asset_profile_html);
	page_json_begin(&out, "profile-data");
	st = put_data(page, err);
	page_json_end(&out);
	if (st)
		return st;
	if (page->live) {
		page_json_begin(&out, "choices");
		page_put(&out, page->live->choices);
		page_json_end(&out);
	}
	put_rooflines(page, &out);
	page_scripts(&out,
		     (const char *const[]){ page_asset_page_js, page_asset_profile_parts_js,
					    page_asset_profile_tables_js, page_asset_profile_js,
					    page->live ? page_asset_profile_live_js : NULL, NULL });
	page_end(&out);
	return ws_buf_status(page->out, err);
}

enum ws_status rpt_page_html(struct rpt_report *rpt, const struct rpt_page_live *live,
			     struct ws_buf *out, struct ws_err *err)
{
	struct rpt_html page = { .rpt = rpt, .out = out, .live = live };
	enum ws_status st;

	page.fidelity = ws_arena_array(&rpt->arena, rpt->n_runs, sizeof(*page.fidelity));
	if (!page.fidelity)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_arena_init(&page.scratch, SIZE_MAX);
	ws_vec_init(&page.inputs, 1u << 20);
	for (size_t r = 0; r < rpt->n_runs; r++)
		rpt_fidelity_init(&page.fidelity[r], rpt->runs[r].load, rpt->runs[r].metrics,
				  (enum ana_norm)rpt->how->norm);
	st = rpt_html_find_tables(&page, err);
	if (!st)
		st = put_page(&page, err);
	for (size_t r = 0; r < rpt->n_runs; r++)
		rpt_fidelity_fini(&page.fidelity[r]);
	ws_vec_fini(&page.inputs);
	ws_arena_fini(&page.scratch);
	return st;
}

enum ws_status rpt_save_html(struct rpt_report *rpt, const char *path, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, SIZE_MAX);
	st = rpt_page_html(rpt, NULL, &text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	ws_buf_fini(&text);
	return st;
}
