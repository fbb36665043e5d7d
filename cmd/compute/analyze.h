/*
 * analyze: options and order of calls of `rocprof-compute analyze`.
 *
 * One an_run per -p (or node); the first is the baseline. A table that is drawn and not
 * tabulated has a row in an_drawings (analyze_draw.c): that is where charts hook in.
 */
#ifndef WS_CMD_COMPUTE_ANALYZE_H
#define WS_CMD_COMPUTE_ANALYZE_H

#include "analysis/eval.h"
#include "analysis/metric.h"
#include "cmd/compute/compute.h"
#include "report/table.h"
#include "workload/workload.h"

#include <stdio.h>

enum an_format { AN_STDOUT, AN_TXT, AN_CSV, AN_JSON, AN_DB };
enum an_time_unit { AN_S, AN_MS, AN_US, AN_NS };

struct an_args {
	struct compute_general general;
	/* Grouped: NULL before each occurrence. */
	struct ws_strv paths, kernels, dispatches, gpu_ids, nodes, torch_operators;
	struct ws_strv blocks, cols, include_cols;
	bool list_stats, list_available, list_nodes, list_torch, debug, dependency, spatial;
	const char *output, *save_dfs, *output_name, *specs_correction;
	int format, time_unit, norm;
	int64_t decimal, max_stat_num, kernel_verbose, report_diff;
	bool like_3_3; /* print as AMD's 3.3 does, oddities included */
	bool ea_aliases;
	/* For the charts. */
	struct ws_strv roofline_types, mem_levels;
	const char *sort, *pc_sort;
	const char *charts; /* a folder for pictures */
	int memory_chart;   /* enum an_memory_chart */
	bool diff;
	struct ws_strv fail_on, explain;
};

enum an_memory_chart { AN_CHART_AUTO, AN_CHART_WIDE, AN_CHART_NARROW };

struct an_run {
	const char *path;
	struct wl_workload *load;
	struct ana_selection rows, listed;
	const struct ana_metrics *metrics; /* of its own architecture */
	bool owns_metrics;
	struct ana_eval *eval;
	struct ana_kernel_stat *top; /* kernel ids are indices into it */
	size_t n_top;
	bool *chosen; /* -k: by index into `top`; NULL: none was asked for */
};

struct an {
	const struct an_args *args;
	struct ws_arena arena;       /* of the report */
	struct ana_metrics *metrics; /* of the first path's architecture */
	struct an_run *runs;
	size_t n_runs;
	struct ws_buf out; /* the report, before it goes anywhere */
	int exit_code;
};

#define AN_EXIT_FAIL_ON 3 /* a condition of --fail-on failed */

/*
 * Draw the inside of a table, without its title, in place of its grid; into an->out.
 * @run is the only run. WS_E_UNSUPPORTED and a sentence: that is printed as a remark.
 */
struct an_drawing {
	unsigned block, table;
	enum ws_status (*draw)(struct an *an, struct an_run *run, const struct ana_table *table,
			       struct ws_err *err);
};
extern const struct an_drawing an_drawings[]; /* NULL draw at the end */

/* analyze_grid.c: the grids of one run. */
enum ws_status an_grid(struct an *an, struct an_run *run, const struct ana_table *table, bool whole,
		       struct rpt_grid *out_grid, struct ws_err *err);
void an_drop_labels(struct rpt_grid *grid); /* the first column goes */
bool an_has_empty_column(const struct rpt_grid *grid);
double an_time_divisor(const struct an_args *args);
const char *an_time_word(const struct an_args *args);
/* The unit a metric prints, and what its Avg, Min and Max are divided by. */
const char *an_unit(struct an *an, struct an_run *run, const struct ana_metric *metric,
		    double *out_divisor);

/* analyze_compare.c: the grid of several runs side by side. */
enum ws_status an_compare(struct an *an, const struct ana_table *table, struct rpt_grid *out_grid,
			  struct ws_err *err);

/* analyze_report.c */
enum ws_status an_report(struct an *an, struct ws_err *err);
bool an_shows_table(const struct an *an, const struct ana_table *table);
bool an_shows_metric(const struct an *an, const struct ana_table *table, unsigned index);

/* analyze_list.c: what is listed instead of a report. */
enum ws_status an_list_stats(struct an *an, struct ws_err *err);
enum ws_status an_list_nodes(const struct an_args *args, struct ws_err *err);
enum ws_status an_print_specs(const struct wl_workload *load, struct ws_err *err);

/* Kernel names for printing: lines of @width, at most @n_lines, the rest as "...". */
const char *an_wrap_name(struct ws_arena *arena, const char *name, size_t width, size_t n_lines);

/* analyze_output.c: every table that has rows, also those a report does not print. */
enum ws_status an_save_csv(struct an *an, const char *dir, struct ws_err *err);
enum ws_status an_save_json(struct an *an, const char *path, struct ws_err *err);
enum ws_status an_save_db(struct an *an, const char *path, struct ws_err *err);
/* --output-name, or one of our own, with @suffix; it must not exist yet. */
enum ws_status an_output_name(struct an *an, const char *suffix, const char **out_path,
			      struct ws_err *err);

/* analyze_pcs.c: WS_E_NOTFOUND when the workload has no samples. */
enum ws_status an_pc_samples(struct an *an, struct an_run *run, struct rpt_grid *grid,
			     struct ws_err *err);

/* analyze_torch.c */
enum ws_status an_torch_check(const struct an_args *args, struct ws_err *err);
enum ws_status an_torch_filter(struct an *an, struct an_run *run, struct ana_filter *filter,
			       struct ws_err *err);
enum ws_status an_torch_list(struct an *an, struct ws_err *err);

/* analyze_debug.c: -g, into an->out. */
void an_debug(struct an *an);

/* Words, at most @width characters a line. */
const char *an_wrap_words(struct ws_arena *arena, const char *text, size_t width);

/* Whether files may be left in a workload: for root too a folder without write bits is read-only. */
bool an_may_write(const char *dir);

/* analyze_check.c */
/* After opening @run ended with @st: a profile that was interrupted is named with its --resume. */
enum ws_status an_name_resume(struct an *an, const struct an_run *run, enum ws_status st,
			      struct ws_err *err);
/* What -b names and is not there; a report of nothing but unknown names is none. */
enum ws_status an_check_blocks(const struct an *an, struct ws_err *err);

/* analyze_charts.c: blocks 3 and 4, and the pictures of --charts. */
enum ws_status an_draw_memchart(struct an *an, struct an_run *run, const struct ana_table *table,
				struct ws_err *err);
enum ws_status an_draw_roofline(struct an *an, struct an_run *run, const struct ana_table *table,
				struct ws_err *err);
enum ws_status an_write_charts(struct an *an, struct ws_err *err);

/* analyze_diff.c: --diff and --fail-on; sets an->exit_code. */
enum ws_status an_diff(struct an *an, struct ws_err *err);

/* analyze_explain.c */
enum ws_status an_explain(struct an *an, struct ws_err *err);

#endif
