/*
 * workload: what `rocprof-compute profile` left in a directory, loaded for analysis.
 *
 * All generations of the layout end as the same thing: a frame of columns over
 * dispatches, aligned with one frame per level pass, and the facts of the machine
 * (sysinfo.csv). Columns are dense arrays; an empty cell is NaN, which is not 0.
 * Rows are in the order of the first pass; row i is the same dispatch in all frames.
 *
 *	st = ana_workload_open("workloads/vcopy/MI200", NULL, &load, err);
 *	st = ana_workload_select(load, &filter, &rows, &listed, err);
 *	col = ana_frame_column(load->frames[0], "SQ_WAVES");
 *
 * Memory   everything lives until ana_workload_close(); text and columns are borrowed.
 * Failure  a directory that is no workload, or holds nothing that can be read, is an
 *          error that says so; rows that were cut off are left out and counted in
 *          `n_rows_bad`, and the reports say so.
 */
#ifndef WS_ANALYSIS_WORKLOAD_H
#define WS_ANALYSIS_WORKLOAD_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ana_roof_bench;

/* clang-format off */
#define ANA_LAYOUT_TABLE(X)                                                        \
	X(ANA_LAYOUT_MERGED, "pmc_perf.csv, one row per dispatch")                 \
	X(ANA_LAYOUT_LONG,   "pmc_perf.csv, one row per counter (from rocpd)")     \
	X(ANA_LAYOUT_PASSES, "pmc_perf_N.csv, one file per pass, joined here")     \
	X(ANA_LAYOUT_RESULTS, "results_N.csv, one file per pass (from rocpd)")
/* clang-format on */

enum ana_layout {
#define ANA_LAYOUT_ROW(name, text) name,
	ANA_LAYOUT_TABLE(ANA_LAYOUT_ROW)
#undef ANA_LAYOUT_ROW
};

struct ana_column {
	const char *name;
	const double *at; /* n_rows of the frame; NaN: the cell was empty */
	bool is_text;     /* cells that are no numbers; `at` is then all NaN */
	bool is_int;      /* every value was written without a point */
};

struct ana_frame {
	const char *name; /* "pmc_perf", "SQ_LEVEL_WAVES" */
	size_t n_rows;
	struct ana_column *columns; /* in file order */
	size_t n_columns;
	struct ws_map by_name; /* to struct ana_column */
};

struct ana_sysinfo_field {
	const char *name;
	const char *text; /* as in the file; "" when empty */
};

struct ana_kernel_name {
	const char *name;  /* as recorded */
	const char *shown; /* shortened by --kernel-verbose; nothing in it that a terminal obeys */
};

struct ana_workload {
	const char *path;
	enum ana_layout layout;
	const char *arch; /* "gfx90a" */

	struct ana_sysinfo_field *facts; /* sysinfo.csv in file order, corrections applied */
	size_t n_facts;

	size_t n_rows;             /* dispatches */
	struct ana_frame **frames; /* [0] is pmc_perf; the rest are level passes */
	size_t n_frames;
	const uint32_t *kernel_of;       /* per row: index into kernels */
	struct ana_kernel_name *kernels; /* by first appearance */
	size_t n_kernels;
	const double *dispatch_id, *gpu_id; /* per row */
	const double *start_ns, *end_ns;    /* per row; NULL when there are no times */

	const char *const *nodes; /* sub-directories the rows came from, and which of them each */
	size_t n_nodes;
	const uint32_t *node_of; /* NULL: not of several nodes */

	const char *const *recorded_blocks; /* profiling_config.yaml: filter_blocks */
	size_t n_recorded_blocks;           /* 0: everything was profiled */
	bool torch_trace, multiplexed;      /* profiling_config.yaml */
	bool by_kernel;                     /* the same: passes are matched by name alone */

	const struct ana_roof_bench *roof; /* roofline.csv; NULL: none, or it cannot be read */

	size_t n_rows_bad;  /* cut-off or unmatched rows that were left out */
	size_t n_bytes_csv; /* of all CSV files read */

	struct ws_arena arena;
	struct ana_workload_priv *priv;
};

struct ana_workload_how {
	const char *corrections;  /* --specs-correction: "name:digits,..." */
	int kernel_verbose;       /* 5 and more: names as recorded */
	const char *const *nodes; /* sub-directories to read as one; none named: all */
	size_t n_nodes;
	bool by_nodes;    /* `nodes` counts */
	bool spatial;     /* --spatial-multiplexing: merge the sub-directories */
	const char *join; /* "grid" or "kernel"; NULL: as it was profiled */
	bool facts_only;  /* sysinfo.csv alone, for --specs and --list-metrics */
};

/* @how may be NULL: all defaults. */
enum ws_status ana_workload_open(const char *dir, const struct ana_workload_how *how,
				 struct ana_workload **out_load, struct ws_err *err);
void ana_workload_close(struct ana_workload *load); /* NULL is fine */

/*
 * The sub-directories of @dir that are workloads, sorted; from @arena. Earlier profiles that
 * were put aside ("node.1" beside "node") are not among them.
 */
enum ws_status ana_workload_nodes(const char *dir, struct ws_arena *arena, const char ***out_names,
				  size_t *out_n, struct ws_err *err);

const char *ana_sysinfo(const struct ana_workload *load,
			const char *name);                      /* NULL: no such field */
bool ana_workload_is_modelled(const struct ana_workload *load); /* made on the software GPU */
/* Counted by a part of every kernel's workgroups, and scaled. */
bool ana_workload_is_sampled(const struct ana_workload *load);
bool ana_sysinfo_number(const struct ana_workload *load, const char *name, double *out);

const struct ana_frame *ana_workload_frame(const struct ana_workload *load, const char *name);
const struct ana_column *ana_frame_column(const struct ana_frame *frame,
					  const char *name); /* or NULL */

/*
 * A choice of dispatches: ascending row numbers. Filters narrow it; one that
 * leaves nothing, or names what is not there, is an error.
 */
struct ana_selection {
	uint32_t *rows;
	size_t n;
	bool all; /* rows[i] == i for every row of the workload */
};

struct ana_filter {
	const char *const *gpu_ids; /* texts, as typed */
	size_t n_gpu_ids;
	const char *const *kernels; /* ids: rows of the top-kernel table */
	size_t n_kernels;
	const char *const *dispatches; /* "3", ">3", "> 3" */
	size_t n_dispatches;
	const uint32_t *kernel_set; /* further limit (torch operators): indices into kernels */
	size_t n_kernel_set;
	bool by_kernel_set;
};

/*
 * Two choices come out of one filter: @out_rows is what metrics are computed from;
 * @out_listed is before the kernel filter, what the top-kernel table is made of.
 */
enum ws_status ana_workload_select(const struct ana_workload *load, const struct ana_filter *filter,
				   struct ana_selection *out_rows, struct ana_selection *out_listed,
				   struct ws_err *err);
void ana_selection_fini(struct ana_selection *sel);

/* Top kernels over a choice: by total time, descending; equal totals by name. */
struct ana_kernel_stat {
	uint32_t kernel; /* index into load->kernels */
	size_t n;
	double sum_ns, mean_ns, median_ns;
	double percent; /* of the sum over all; NaN when there is no time */
};

enum ws_status ana_top_kernels(const struct ana_workload *load, const struct ana_selection *sel,
			       struct ws_arena *arena, struct ana_kernel_stat **out_stats,
			       size_t *out_n, struct ws_err *err);

#endif
