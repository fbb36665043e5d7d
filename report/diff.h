/*
 * diff: a comparison of two runs, and the verdict on conditions, as text.
 */
#ifndef WS_REPORT_DIFF_H
#define WS_REPORT_DIFF_H

#include "analysis/diff.h"
#include "base/arena.h"
#include "base/str.h"

struct rpt_diff_style {
	int n_decimals;
	double time_divisor;   /* of nanoseconds */
	const char *time_unit; /* "us" */
	size_t n_rows;         /* kernels, and metrics per kernel, that are listed */
};

enum ws_status rpt_diff_text(const struct ana_diff *diff, const struct ana_diff_side *a,
			     const struct ana_diff_side *b, const struct rpt_diff_style *style,
			     struct ws_arena *arena, struct ws_buf *out, struct ws_err *err);

/* One line per condition; *@out_failed: how many failed or could not be checked. */
enum ws_status rpt_gate_text(const struct ana_gate_result *results, size_t n, struct ws_buf *out,
			     size_t *out_failed, struct ws_err *err);

#endif
