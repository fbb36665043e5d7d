/*
 * diff: two runs compared kernel by kernel and metric by metric.
 *
 * Kernels are matched by name. For each that is in both runs, its duration and every wanted
 * metric are compared over its dispatches (compare.h says how). Metrics that are one formula
 * under several ids are compared once, under the first.
 *
 *	st = ana_diff_make(&before, &after, &how, &arena, &diff, err);
 *	st = ana_diff_check(&before, &after, &how, diff, gates, n, &arena, &verdicts, ...);
 *
 * Memory   everything lives in the arena that was given, and borrows from the workloads.
 */
#ifndef WS_ANALYSIS_DIFF_H
#define WS_ANALYSIS_DIFF_H

#include "analysis/compare.h"
#include "analysis/eval.h"
#include "analysis/gate.h"
#include "analysis/metric.h"
#include "analysis/select.h"
#include "workload/workload.h"

struct ana_diff_side {
	const struct wl_workload *load;
	const struct ana_selection *rows;
	const struct ana_metrics *metrics; /* of its own architecture */
};

struct ana_diff_how {
	struct ana_eval_how eval;
	/* Which metrics are compared; NULL: all but those of blocks 3 and 4, which repeat others. */
	bool (*wants)(void *of, const struct ana_metric *metric);
	void *of;
};

struct ana_diff_value {
	const struct ana_metric *metric;
	const char *unit; /* as printed */
	struct ana_comparison c;
	double importance; /* change relative to the larger of the two; 0: equal, or noise */
};

struct ana_diff_kernel {
	const char *name, *shown;
	size_t n_a, n_b; /* dispatches; 0: not in that run */
	double sum_a_ns, sum_b_ns;
	struct ana_comparison duration; /* ns per dispatch */
	struct ana_diff_value *values;  /* real changes first, the most important of them first */
	size_t n_values;
	size_t n_by_change[ANA_CHANGE_ABSENT + 1];
};

struct ana_diff {
	struct ana_diff_kernel *kernels; /* in both: by change of total time; then the others */
	size_t n_kernels, n_common;
	double sum_a_ns, sum_b_ns; /* of all kernels */
	bool same_arch;
};

enum ws_status ana_diff_make(const struct ana_diff_side *a, const struct ana_diff_side *b,
			     const struct ana_diff_how *how, struct ws_arena *arena,
			     struct ana_diff **out_diff, struct ws_err *err);

/* ---- conditions ---- */

enum ana_gate_verdict {
	ANA_GATE_HOLDS,
	ANA_GATE_IN_NOISE, /* beyond the limit, but not more than noise */
	ANA_GATE_FAILED,
	ANA_GATE_UNCHECKED, /* nothing there to check: counts as failed */
};

struct ana_gate_result {
	const struct ana_gate *gate;
	enum ana_gate_verdict verdict;
	const char *kernel;      /* the one that is worst; NULL: not about one */
	struct ana_comparison c; /* of that kernel */
	const char *unit;
	const char *why;            /* UNCHECKED: the reason */
	size_t n_kernels, n_failed; /* looked at, and how many fail */
};

/* One result per gate. WS_E_USAGE: a gate names no metric or counter that exists. */
enum ws_status ana_diff_check(const struct ana_diff_side *a, const struct ana_diff_side *b,
			      const struct ana_diff_how *how, const struct ana_diff *diff,
			      const struct ana_gates *gates, struct ws_arena *arena,
			      struct ana_gate_result **out_results, struct ws_err *err);

/* A metric by id ("11.2.4") or printed name, in any case. */
enum ws_status ana_metric_lookup(const struct ana_metrics *metrics, const char *text,
				 const struct ana_metric **out_metric, struct ws_err *err);
/* The header whose inside is compared: Avg, Value, Median, or the first with a formula; -1: none.
 */
int ana_metric_main_header(const struct ana_table *table);

#endif
