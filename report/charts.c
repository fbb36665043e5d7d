/* The memory chart and the roofline, gathered from a run. */
#include "report/report.h"

#include "analysis/roofline.h"
#include "base/cmd.h"
#include "base/file.h"
#include "base/log.h"
#include "report/memchart.h"
#include "report/roofline.h"
#include "workload/names.h"
#include "workload/peaks.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_ROOFLINE_DATA                                                                           \
	"ERROR Cannot create roofline plot for CLI with incomplete/missing roofline profiling "    \
	"data."

static bool with_colours(const struct rpt_report *rpt)
{
	const char *off = getenv("NO_COLOR");

	return rpt->on_terminal && !(off && off[0]);
}

static unsigned terminal_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : 24;
}

/* ---- memory chart ---- */

static void gather_memchart(struct rpt_report *rpt, struct rpt_run *run,
			    const struct ana_table *table, struct ana_memchart *chart)
{
	int header = ana_header_index(table, "Value");

	ana_memchart_init(chart, ana_norm_words[rpt->how->norm]);
	for (size_t i = 0; header >= 0 && i < table->n_metrics; i++)
		ana_memchart_set(chart, table->metrics[i].name,
				 ana_eval_cell(run->eval, &table->metrics[i], (unsigned)header, 0));
}

static struct rpt_memchart_style memchart_style(const struct rpt_report *rpt,
						const struct rpt_run *run)
{
	return (struct rpt_memchart_style){
		.n_decimals = (int)rpt->how->decimal,
		.colours = with_colours(rpt),
		.as_3_3_0 = rpt->how->like_3_3,
		.modelled = wl_workload_is_modelled(run->load),
		.name = run->path,
	};
}

enum ws_status rpt_draw_memchart(struct rpt_report *rpt, struct rpt_run *run,
				 const struct ana_table *table, struct ws_err *err)
{
	struct rpt_memchart_style style = memchart_style(rpt, run);
	bool narrow = rpt->how->memory_chart == RPT_CHART_NARROW;
	struct ana_memchart chart;

	/* What is not a terminal gets the form that programs know. */
	if (rpt->how->memory_chart == RPT_CHART_AUTO && rpt->on_terminal)
		narrow = ws_help_columns() < RPT_MEMCHART_WIDE_COLUMNS;
	gather_memchart(rpt, run, table, &chart);
	return (narrow ? rpt_memchart_narrow : rpt_memchart_wide)(&chart, &style, &rpt->out, err);
}

/* ---- roofline ---- */

struct roofline {
	struct rpt_roof_model model;
	struct ana_roof_points points;
	struct ana_roof_ceilings types[ANA_ROOF_TYPE_COUNT];
	const char *names[RPT_ROOF_POINTS_MAX];
	unsigned levels;
	char asked[128]; /* types, for the file's name: "FP32_FP64" */
};

static enum ws_status choose_levels(const struct rpt_options *how, struct roofline *r,
				    struct ws_err *err)
{
	for (size_t i = 0; i < how->mem_levels.n; i++) {
		enum ana_roof_level level;

		if (!strcasecmp(how->mem_levels.at[i], "ALL"))
			continue;
		if (!ana_roof_level_find(how->mem_levels.at[i], &level))
			return ws_fail(err, WS_E_USAGE,
				       "--mem-level '%s': HBM, L2, vL1D and LDS are known",
				       how->mem_levels.at[i]);
		r->levels |= 1u << level;
	}
	return WS_OK;
}

static bool has_type(const struct roofline *r, enum ana_roof_type type)
{
	for (size_t i = 0; i < r->model.n_types; i++)
		if (r->types[i].type == type)
			return true;
	return false;
}

/* A requested type; unsupported or unmeasured ones are reported and left out. */
static void add_asked(struct rpt_report *rpt, const struct rpt_run *run, struct roofline *r,
		      enum ana_roof_type type)
{
	const char *model = wl_workload_fact(run->load, "gpu_model");
	struct ws_err why;

	if (has_type(r, type))
		return;
	if (!ana_roof_type_on(type, run->load->arch)) {
		ws_buf_printf(&rpt->out,
			      "ERROR %s is not a supported datatype for roofline profiling on %s\n",
			      ana_roof_type_name(type), model ? model : run->load->arch);
		return;
	}
	if (ana_roof_ceilings(run->load->peaks, type, r->levels, &r->types[r->model.n_types],
			      &why)) {
		ws_buf_printf(&rpt->out, "WARNING %s is left out: %s\n", ana_roof_type_name(type),
			      why.text);
		return;
	}
	r->model.n_types++;
	snprintf(r->asked + strlen(r->asked), sizeof(r->asked) - strlen(r->asked), "%s%s",
		 r->asked[0] ? "_" : "", ana_roof_type_name(type));
}

/* Requested types come first; the page can switch to every other measured one. */
static enum ws_status choose_types(struct rpt_report *rpt, const struct rpt_run *run,
				   struct roofline *r, struct ws_err *err)
{
	const struct ws_strv *asked = &rpt->how->roofline_types;

	for (size_t i = 0; i < asked->n; i++) {
		enum ana_roof_type type;

		if (!ana_roof_type_find(asked->at[i], &type))
			return ws_fail(
				err, WS_E_USAGE,
				"--roofline-data-type '%s': FP4 FP6 FP8 FP16 BF16 FP32 FP64 I8 I32 "
				"and I64 are known",
				asked->at[i]);
		add_asked(rpt, run, r, type);
	}
	if (!asked->n)
		add_asked(rpt, run, r, ANA_ROOF_FP32);
	r->model.n_shown = r->model.n_types;
	for (int type = 0; type < ANA_ROOF_TYPE_COUNT && r->model.n_shown; type++) {
		enum ana_roof_type t = (enum ana_roof_type)type;

		if (!has_type(r, t) && ana_roof_type_on(t, run->load->arch) &&
		    !ana_roof_ceilings(run->load->peaks, t, r->levels, &r->types[r->model.n_types],
				       NULL))
			r->model.n_types++;
	}
	return WS_OK;
}

static const char *point_name(struct rpt_report *rpt, const struct rpt_run *run,
			      const struct ana_roof_point *point, enum ana_roof_by by)
{
	const char *kernel = run->load->kernels[point->kernel].shown;

	if (by == ANA_ROOF_BY_KERNEL)
		return kernel;
	return ws_arena_printf(&rpt->arena, "dispatch %.0f: %s", run->load->dispatch_id[point->row],
			       kernel);
}

/* WS_E_UNSUPPORTED: there is nothing to draw, and the sentence says why. */
static enum ws_status gather_roofline(struct rpt_report *rpt, struct rpt_run *run,
				      struct roofline *r, struct ws_err *err)
{
	const char *sort = rpt->how->sort, *gpu = wl_workload_fact(run->load, "gpu_model");
	struct rpt_roof_model *model = &r->model;
	enum ws_status st;

	*r = (struct roofline){ 0 };
	st = choose_levels(rpt->how, r, err);
	if (st)
		return st;
	if (!ana_roof_arch_known(run->load->arch))
		return ws_fail(err, WS_E_UNSUPPORTED, NO_ROOFLINE_DATA);
	if (!run->load->peaks) {
		char path[4096];
		struct wl_peaks damaged;

		/* A damaged file is another matter than none. */
		snprintf(path, sizeof(path), "%s/" WL_FILE_PEAKS, run->load->path);
		st = wl_peaks_read(path, &rpt->arena, &damaged, err);
		if (st && st != WS_E_NOTFOUND)
			ws_log_warn("%s", err->text);
		return ws_fail(err, WS_E_UNSUPPORTED, NO_ROOFLINE_DATA);
	}
	st = choose_types(rpt, run, r, err);
	if (st)
		return st;
	if (!model->n_types)
		return ws_fail(err, WS_E_UNSUPPORTED, NO_ROOFLINE_DATA);
	model->by = sort && !strcmp(sort, "dispatches") ? ANA_ROOF_BY_DISPATCH : ANA_ROOF_BY_KERNEL;
	st = ana_roof_points(run->load, &run->rows, model->by, RPT_ROOF_POINTS_MAX, &rpt->arena,
			     &r->points, err);
	if (st)
		return st;
	for (size_t i = 0; i < r->points.n; i++) {
		r->names[i] = point_name(rpt, run, &r->points.at[i], model->by);
		if (!r->names[i])
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	model->path = run->path;
	model->gpu = ws_arena_printf(&rpt->arena, "%s (%s)", gpu ? gpu : "GPU", run->load->arch);
	model->modelled = wl_workload_is_modelled(run->load);
	model->types = r->types;
	model->levels = r->levels;
	model->points = &r->points;
	model->kernel_names = r->names;
	return model->gpu ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* Beside the data, as AMD's tool leaves it; a workload may be read-only, and that is fine. */
static void leave_page(struct rpt_report *rpt, struct rpt_run *run, const struct roofline *r)
{
	const char *path =
		ws_arena_printf(&rpt->arena, "%s/empirRoof_gpu-0_%s.html", run->path, r->asked);
	struct ws_buf page;
	struct ws_err ignored;

	ws_buf_init(&page, SIZE_MAX);
	if (path && rpt_may_write(run->path) && !rpt_roof_html(&r->model, &page, &ignored) &&
	    !ws_file_replace(path, page.at, page.n, &ignored))
		ws_buf_printf(&rpt->out, "HTML page: %s\n", path);
	ws_buf_fini(&page);
}

static enum ws_status plot(struct rpt_report *rpt, const struct roofline *r,
			   const struct rpt_roof_text_style *style, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < r->model.n_shown; i++) {
		struct rpt_roof_model one = r->model;

		one.types = &r->types[i];
		st = rpt_roof_text(&one, style, &rpt->out, err);
	}
	return st;
}

enum ws_status rpt_plot_roofline(struct rpt_report *rpt, struct rpt_run *run,
				 const struct rpt_roof_text_style *style, struct ws_err *err)
{
	struct roofline r;
	enum ws_status st = gather_roofline(rpt, run, &r, err);

	return st ? st : plot(rpt, &r, style, err);
}

enum ws_status rpt_draw_roofline(struct rpt_report *rpt, struct rpt_run *run,
				 const struct ana_table *table, struct ws_err *err)
{
	struct rpt_roof_text_style style = {
		.n_columns = ws_help_columns(),
		.n_rows = rpt->on_terminal ? terminal_rows() - 1 : 24,
		.colours = with_colours(rpt),
	};
	struct roofline r;
	enum ws_status st = gather_roofline(rpt, run, &r, err);

	if (!st)
		st = plot(rpt, &r, &style, err);
	if (!st)
		leave_page(rpt, run, &r);
	return st;
}

/* ---- pages and files ---- */

enum ws_status rpt_page_memchart(struct rpt_report *rpt, struct rpt_run *run, struct ws_buf *out,
				 struct ws_err *err)
{
	const struct ana_table *table = ana_table_find(run->metrics, 3, 1);
	struct rpt_memchart_style style = memchart_style(rpt, run);
	struct ana_memchart chart;

	if (!table || !rpt_shows_table(rpt, table))
		return ws_fail(err, WS_E_UNSUPPORTED, "no memory chart was requested");
	style.name = NULL; /* the page has it */
	gather_memchart(rpt, run, table, &chart);
	return rpt_memchart_svg(&chart, &style, out, err);
}

enum ws_status rpt_page_roofline(struct rpt_report *rpt, struct rpt_run *run, struct ws_buf *out,
				 struct ws_err *err)
{
	const struct ana_table *table = ana_table_find(run->metrics, 4, 3);
	struct roofline r;
	enum ws_status st;

	if (!table || !rpt_shows_table(rpt, table))
		return ws_fail(err, WS_E_UNSUPPORTED, "no roofline was requested");
	st = gather_roofline(rpt, run, &r, err);
	if (!st)
		rpt_roof_markup(&r.model, out);
	return st ? st : ws_buf_status(out, err);
}

static enum ws_status put(struct rpt_report *rpt, const char *dir, const char *name,
			  const struct ws_buf *text, struct ws_err *err)
{
	const char *path = ws_arena_printf(&rpt->arena, "%s/%s", dir, name);

	if (!path)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return ws_file_replace(path, text->at, text->n, err);
}

static enum ws_status put_roofline(struct rpt_report *rpt, const char *dir, struct ws_buf *text,
				   struct ws_err *err)
{
	struct roofline r;
	enum ws_status st = gather_roofline(rpt, &rpt->runs[0], &r, err);

	if (st == WS_E_UNSUPPORTED) {
		ws_log_warn("no roofline in '%s': %s has no roofline.csv, or its GPU has none", dir,
			    rpt->runs[0].path);
		return WS_OK;
	}
	ws_buf_clear(text);
	if (!st)
		st = rpt_roof_html(&r.model, text, err);
	if (!st)
		st = put(rpt, dir, "roofline.html", text, err);
	for (size_t i = 0; !st && i < r.model.n_shown; i++) {
		char name[64];

		ws_buf_clear(text);
		snprintf(name, sizeof(name), "roofline_%s.svg",
			 ana_roof_type_name(r.types[i].type));
		st = rpt_roof_svg(&r.model, i, text, err);
		if (!st)
			st = put(rpt, dir, name, text, err);
	}
	return st;
}

enum ws_status rpt_write_charts(struct rpt_report *rpt, const char *dir, struct ws_err *err)
{
	const struct ana_table *table = ana_table_find(rpt->metrics, 3, 1);
	struct rpt_memchart_style style = memchart_style(rpt, &rpt->runs[0]);
	struct ana_memchart chart;
	struct ws_buf text;
	enum ws_status st = ws_mkdirs(dir, err);

	if (st)
		return st;
	ws_buf_init(&text, SIZE_MAX);
	if (table) {
		gather_memchart(rpt, &rpt->runs[0], table, &chart);
		st = rpt_memchart_svg(&chart, &style, &text, err);
		if (!st)
			st = put(rpt, dir, "memory_chart.svg", &text, err);
	}
	if (!st)
		st = put_roofline(rpt, dir, &text, err);
	ws_buf_fini(&text);
	return st;
}
