/*
 * workload: what `rocprof-compute profile` left in a directory, loaded for analysis.
 *
 * All generations of the layout end as the same thing: a frame of columns over
 * dispatches, aligned with one frame per level pass, and the facts of the machine
 * (sysinfo.csv). Columns are dense arrays; an empty cell is NaN, which is not 0.
 * Rows are in the order of the first pass; row i is the same dispatch in all frames.
 *
 *	st = wl_workload_open("workloads/vcopy/MI200", NULL, &load, err);
 *	col = wl_frame_column(load->frames[0], "SQ_WAVES");
 *
 * Memory   everything lives until wl_workload_close(); text and columns are borrowed.
 * Failure  a directory that is not a workload, or holds nothing that can be read, is an
 *          error that says so; rows that were cut off are left out and counted in
 *          `n_rows_bad`, and the reports say so.
 */
#ifndef WS_WORKLOAD_WORKLOAD_H
#define WS_WORKLOAD_WORKLOAD_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wl_peaks;

/* clang-format off */
#define WL_LAYOUT_TABLE(X)                                                        \
	X(WL_LAYOUT_MERGED, "pmc_perf.csv, one row per dispatch")                 \
	X(WL_LAYOUT_LONG,   "pmc_perf.csv, one row per counter (from rocpd)")     \
	X(WL_LAYOUT_PASSES, "pmc_perf_N.csv, one file per pass, joined here")     \
	X(WL_LAYOUT_RESULTS, "results_N.csv, one file per pass (from rocpd)")
/* clang-format on */

enum wl_layout {
#define WL_LAYOUT_ROW(name, text) name,
	WL_LAYOUT_TABLE(WL_LAYOUT_ROW)
#undef WL_LAYOUT_ROW
};

struct wl_column {
	const char *name;
	const double *at; /* n_rows of the frame; NaN: the cell was empty */
	bool is_text;     /* cells that are no numbers; `at` is then all NaN */
	bool is_int;      /* every value was written without a point */
};

struct wl_frame {
	const char *name; /* "pmc_perf", "SQ_LEVEL_WAVES" */
	size_t n_rows;
	struct wl_column *columns; /* in file order */
	size_t n_columns;
	struct ws_map by_name; /* to struct wl_column */
};

struct wl_fact {
	const char *name;
	const char *text; /* as in the file; "" when empty */
};

struct wl_kernel_name {
	const char *name;  /* as recorded */
	const char *shown; /* shortened by --kernel-verbose; nothing in it that a terminal obeys */
};

struct wl_workload {
	const char *path;
	enum wl_layout layout;
	const char *arch; /* "gfx90a" */

	struct wl_fact *facts; /* sysinfo.csv in file order, corrections applied */
	size_t n_facts;

	size_t n_rows;            /* dispatches */
	struct wl_frame **frames; /* [0] is pmc_perf; the rest are level passes */
	size_t n_frames;
	const uint32_t *kernel_of;      /* per row: index into kernels */
	struct wl_kernel_name *kernels; /* by first appearance */
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

	const struct wl_peaks *peaks; /* roofline.csv; NULL: none, or it cannot be read */

	size_t n_rows_bad;  /* cut-off or unmatched rows that were left out */
	size_t n_bytes_csv; /* of all CSV files read */

	struct ws_arena arena;
	struct wl_workload_priv *priv;
};

struct wl_workload_how {
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
enum ws_status wl_workload_open(const char *dir, const struct wl_workload_how *how,
				struct wl_workload **out_load, struct ws_err *err);
void wl_workload_close(struct wl_workload *load); /* NULL is fine */

/*
 * The sub-directories of @dir that are workloads, sorted; from @arena. Earlier profiles that
 * were put aside ("node.1" beside "node") are not among them.
 */
enum ws_status wl_workload_nodes(const char *dir, struct ws_arena *arena, const char ***out_names,
				 size_t *out_n, struct ws_err *err);

const char *wl_workload_fact(const struct wl_workload *load,
			     const char *name);               /* NULL: no such field */
bool wl_workload_is_modelled(const struct wl_workload *load); /* made on the software GPU */
/* Counted by a part of every kernel's workgroups, and scaled. */
bool wl_workload_is_sampled(const struct wl_workload *load);
bool wl_workload_number(const struct wl_workload *load, const char *name, double *out);

const struct wl_frame *wl_workload_frame(const struct wl_workload *load, const char *name);
const struct wl_column *wl_frame_column(const struct wl_frame *frame,
					const char *name); /* or NULL */

#endif
