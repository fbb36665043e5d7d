/*
 * report: workloads that were read and evaluated, as text, tables, charts and files.
 *
 * A report is of one run or several; the first is the baseline that others are compared
 * with. Text is collected in `out`; who made the report decides where it goes.
 *
 * Memory   everything a report makes lives in its arena. Runs, metrics and options are the
 *          caller's.
 */
#ifndef WS_REPORT_REPORT_H
#define WS_REPORT_REPORT_H

#include "analysis/eval.h"
#include "analysis/metric.h"
#include "analysis/select.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/unit.h"
#include "base/vec.h"
#include "report/table.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ana_findings;
struct wl_pcsample_file;
struct wl_sysinfo;
struct rpt_roof_text_style;

/* The units of time that -t accepts: s, ms, us, ns. */
#define RPT_TIME_WORDS (ws_time_unit_symbols + WS_TIME_SEC)
#define RPT_TIME_NS (WS_TIME_NSEC - WS_TIME_SEC)

enum rpt_memory_chart { RPT_CHART_AUTO, RPT_CHART_WIDE, RPT_CHART_NARROW };

/* What a user chooses; integers are enumerators, as an option table fills them in. */
struct rpt_options {
	struct ws_strv blocks; /* ids of blocks, tables, metrics; none: what was profiled */
	struct ws_strv cols, include_cols; /* positions; names of hidden columns */
	int time_unit, norm;               /* of RPT_TIME_WORDS; enum ana_norm */
	int64_t decimal, max_stat_num;     /* digits after the point; rows of the top tables */
	int64_t report_diff;               /* percent: larger differences are reported */
	bool like_3_3;                     /* as AMD's 3.3 prints, oddities included */
	/* charts */
	struct ws_strv roofline_types, mem_levels;
	const char *sort;    /* "kernels", "dispatches": what a point of the roofline is */
	const char *pc_sort; /* "offset", "count" */
	int memory_chart;    /* enum rpt_memory_chart */
	int64_t n_findings;  /* that are printed first; 0: none */
};

struct rpt_run {
	const char *path;
	struct wl_workload *load;
	struct ana_selection rows, listed;
	const struct ana_metrics *metrics; /* of its own architecture */
	bool owns_metrics;
	struct ana_eval *eval;
	struct ana_kernel_stat *top; /* kernel ids are indices into it */
	size_t n_top;
	struct wl_pcsample_file *samples; /* by kernel; NULL until one is requested */
	bool *chosen; /* by index into `top`: kernels that were selected; NULL: all */
};

struct rpt_report {
	const struct rpt_options *how;
	struct ws_arena arena;
	const struct ana_metrics *metrics; /* of the first run's architecture */
	struct rpt_run *runs;
	size_t n_runs;
	bool quiet;       /* no remarks */
	bool on_terminal; /* that is where the text goes */
	struct ws_buf out;
};

/* ---- report.c: which blocks and tables, in which order, with which titles ---- */
enum ws_status rpt_report_text(struct rpt_report *rpt, struct ws_err *err);
bool rpt_shows_table(const struct rpt_report *rpt, const struct ana_table *table);
bool rpt_shows_metric(const struct rpt_report *rpt, const struct ana_table *table, unsigned index);
/* What a reader must know before the numbers of @run, a line each: " WARNING ..." */
void rpt_notes(const struct rpt_run *run, struct ws_buf *out);
enum ws_status rpt_find(struct rpt_report *rpt, const struct rpt_run *run,
			struct ana_findings **out_found, struct ws_err *err);

/* ---- metric_grid.c: the tables of one run ---- */
/* @whole: every row, and kernel names in one line. */
enum ws_status rpt_metric_grid(struct rpt_report *rpt, struct rpt_run *run,
			       const struct ana_table *table, bool whole, struct rpt_grid *out_grid,
			       struct ws_err *err);
void rpt_grid_drop_labels(struct rpt_grid *grid); /* removes the first column */
bool rpt_grid_has_empty_column(const struct rpt_grid *grid);
double rpt_time_divisor(const struct rpt_options *how);
const char *rpt_time_word(const struct rpt_options *how);
/* The unit a metric prints, and what its Avg, Min and Max are divided by. */
const char *rpt_metric_unit(struct rpt_report *rpt, struct rpt_run *run,
			    const struct ana_metric *metric, double *out_divisor);
/* Kernel names for printing: lines of @width, at most @n_lines, the rest as "...". */
const char *rpt_wrap_name(struct ws_arena *arena, const char *name, size_t width, size_t n_lines);
/* Words, at most @width characters a line. */
const char *rpt_wrap_words(struct ws_arena *arena, const char *text, size_t width);

/* ---- compare_grid.c: the tables of several runs side by side ---- */
enum ws_status rpt_compare_grid(struct rpt_report *rpt, const struct ana_table *table,
				struct rpt_grid *out_grid, struct ws_err *err);

/* ---- pc_grid.c: WS_E_NOTFOUND when the workload has no PC samples ---- */
enum ws_status rpt_pc_grid(struct rpt_report *rpt, struct rpt_run *run, struct rpt_grid *grid,
			   struct ws_err *err);

/* ---- charts.c: blocks 3 and 4 in place of their grids, and files ---- */
/* WS_E_UNSUPPORTED: there is nothing to draw, and the message says why. */
enum ws_status rpt_draw_memchart(struct rpt_report *rpt, struct rpt_run *run,
				 const struct ana_table *table, struct ws_err *err);
enum ws_status rpt_draw_roofline(struct rpt_report *rpt, struct rpt_run *run,
				 const struct ana_table *table, struct ws_err *err);
/* For pages: an SVG document; the markup of rpt_roof_markup(). */
enum ws_status rpt_page_memchart(struct rpt_report *rpt, struct rpt_run *run, struct ws_buf *out,
				 struct ws_err *err);
enum ws_status rpt_page_roofline(struct rpt_report *rpt, struct rpt_run *run, struct ws_buf *out,
				 struct ws_err *err);
/* The plots alone, of a chosen size. */
enum ws_status rpt_plot_roofline(struct rpt_report *rpt, struct rpt_run *run,
				 const struct rpt_roof_text_style *style, struct ws_err *err);
/* roofline.html, roofline_TYPE.svg and memory_chart.svg of the first run. */
enum ws_status rpt_write_charts(struct rpt_report *rpt, const char *dir, struct ws_err *err);

/* ---- listing.c, explain.c, formulas.c, torch_text.c: in place of a report, or before it ---- */
enum ws_status rpt_list_stats(struct rpt_report *rpt, struct ws_err *err);
enum ws_status rpt_specs(const struct wl_sysinfo *info, struct ws_buf *out, struct ws_err *err);
void rpt_list_sets(const struct ana_metrics *metrics, struct ws_buf *out);
void rpt_list_metrics(const struct ana_metrics *metrics, bool with_help, struct ws_buf *out);
void rpt_list_blocks(const struct ana_metrics *metrics, struct ws_buf *out);
/* Ids or names of metrics, tables, blocks and counters. */
enum ws_status rpt_explain(struct rpt_report *rpt, const struct ws_strv *ids, struct ws_err *err);
void rpt_formulas(struct rpt_report *rpt); /* every formula, its inputs and its value */
enum ws_status rpt_torch_list(struct rpt_report *rpt, struct ws_err *err);

/* ---- save.c ---- */
/* Every table that has rows, also those that the text leaves out. */
enum ws_status rpt_save_csv(struct rpt_report *rpt, const char *dir, struct ws_err *err);
enum ws_status rpt_save_json(struct rpt_report *rpt, const char *path, struct ws_err *err);
enum ws_status rpt_save_db(struct rpt_report *rpt, const char *path, struct ws_err *err);
/* html.c: one page for a browser, with all of it. */
enum ws_status rpt_save_html(struct rpt_report *rpt, const char *path, struct ws_err *err);
/* The same for a server, which makes pages of what its reader selects. */
struct rpt_page_live {
	const char *nonce;   /* see pages/page.h */
	const char *choices; /* JSON: what can be selected; docs/formats/live.md */
};
/* @live NULL: for a file. */
enum ws_status rpt_page_html(struct rpt_report *rpt, const struct rpt_page_live *live,
			     struct ws_buf *out, struct ws_err *err);
/* `out` into a file, or to stdout when @path is NULL. */
enum ws_status rpt_save_text(struct rpt_report *rpt, const char *path, struct ws_err *err);
/* The top tables as CSV beside the data of the first run, unless its folder is read-only. */
void rpt_leave_top_files(struct rpt_report *rpt);
/* Whether files may be left in a folder: for root too, one without write bits is read-only. */
bool rpt_may_write(const char *dir);

#endif
