/*
 * analyze: options and order of calls of `rocprof-compute analyze`.
 *
 * One an_run per -p; the first is the baseline. A block that is drawn and not tabulated
 * has a row in an_drawings (analyze_draw.c): that is where charts hook in.
 */
#ifndef WS_CMD_COMPUTE_ANALYZE_H
#define WS_CMD_COMPUTE_ANALYZE_H

#include "analysis/eval.h"
#include "analysis/metric.h"
#include "analysis/workload.h"
#include "cmd/compute/compute.h"
#include "report/table.h"

#include <stdio.h>

enum an_format { AN_STDOUT, AN_TXT, AN_CSV, AN_JSON, AN_DB };
enum an_time_unit { AN_S, AN_MS, AN_US, AN_NS };

struct an_args {
	struct compute_general general;
	struct ws_strv paths, kernels, dispatches; /* grouped: NULL before each occurrence */
	struct ws_strv gpu_ids, blocks, cols, include_cols, nodes;
	struct ws_strv torch_operators;
	bool list_stats, list_nodes, list_available, list_torch, debug, dependency, spatial;
	bool asked_nodes, asked_torch;
	const char *output, *save_dfs, *output_name, *specs_correction;
	int format, time_unit, norm;
	int64_t decimal, max_stat_num, kernel_verbose, report_diff;
	const char *compat;
	/* charts and comparison */
	struct ws_strv roofline_types, mem_levels;
	const char *sort;
};

struct an_run {
	const char *path;
	struct ws_workload *load;
	struct ws_selection rows, listed;
	struct ws_eval *eval;
	struct ws_kernel_stat *top;
	size_t n_top;
	const uint32_t *chosen_kernels; /* -k, as indices into load->kernels */
	size_t n_chosen_kernels;
};

struct an {
	const struct an_args *args;
	struct ws_arena arena; /* of the report */
	struct ws_metrics *metrics; /* of the first path's architecture */
	struct an_run *runs;
	size_t n_runs;
	FILE *to;
};

/*
 * Draw the inside of a table in place of its grid. @run is the only run. Return
 * WS_E_UNSUPPORTED with a sentence to have that printed as a remark instead.
 */
struct an_drawing {
	unsigned block, table;
	enum ws_status (*draw)(struct an *an, struct an_run *run, const struct ws_table *table,
			       struct ws_err *err);
};
extern const struct an_drawing an_drawings[]; /* NULL draw at the end */

#endif
