/*
 * diff: a comparison of two runs, and the verdict on conditions, as text.
 */
#ifndef WS_REPORT_DIFF_H
#define WS_REPORT_DIFF_H

#include "analysis/diff.h"
#include "base/arena.h"
#include "base/str.h"

struct ws_diff_style {
	int n_decimals;
	double time_divisor;   /* of nanoseconds */
	const char *time_unit; /* "us" */
	size_t n_rows;         /* kernels, and metrics per kernel, that are listed */
};

enum ws_status ws_diff_text(const struct ws_diff *diff, const struct ws_diff_side *a,
			    const struct ws_diff_side *b, const struct ws_diff_style *style,
			    struct ws_arena *arena, struct ws_buf *out, struct ws_err *err);

/* One line per condition; *@out_failed: how many failed or could not be checked. */
enum ws_status ws_gate_text(const struct ws_gate_result *results, size_t n, struct ws_buf *out,
			    size_t *out_failed, struct ws_err *err);

#endif
