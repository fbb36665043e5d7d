/* select: which dispatches of a workload count, and its kernels by time. */
#ifndef WS_ANALYSIS_SELECT_H
#define WS_ANALYSIS_SELECT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wl_workload;

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
enum ws_status ana_select_rows(const struct wl_workload *load, const struct ana_filter *filter,
			       struct ana_selection *out_rows, struct ana_selection *out_listed,
			       struct ws_err *err);
void ana_selection_fini(struct ana_selection *sel);

/*
 * The kernel set of @filter: kernels of operators that one of @patterns matches; "a,b" are two
 * patterns, and no pattern is all. WS_E_NOTFOUND: there is no such kernel.
 */
enum ws_status ana_torch_filter(const struct wl_workload *load, const struct ws_strv *patterns,
				struct ws_arena *arena, struct ana_filter *filter,
				struct ws_err *err);

/* Top kernels over a choice: by total time, descending; equal totals by name. */
struct ana_kernel_stat {
	uint32_t kernel; /* index into load->kernels */
	size_t n;
	double sum_ns, mean_ns, median_ns;
	double percent; /* of the sum over all; NaN when there is no time */
};

enum ws_status ana_top_kernels(const struct wl_workload *load, const struct ana_selection *sel,
			       struct ws_arena *arena, struct ana_kernel_stat **out_stats,
			       size_t *out_n, struct ws_err *err);

#endif
