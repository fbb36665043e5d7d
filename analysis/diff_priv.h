/*
 * diff_priv: one kernel's dispatches on both sides, for diff.c and diff_gate.c.
 */
#ifndef WS_ANALYSIS_DIFF_PRIV_H
#define WS_ANALYSIS_DIFF_PRIV_H

#include "analysis/diff.h"

struct ws_pair {
	const struct ws_diff_side *side[2];
	const struct ws_diff_how *how;
	struct ws_selection rows[2];
	struct ws_eval *eval[2]; /* made when a metric is asked for */
	double *values[2];       /* scratch, one per row */
};

enum ws_status ws_pair_open(const struct ws_diff_side *a, const struct ws_diff_side *b,
			    const struct ws_diff_how *how, const char *kernel, struct ws_pair *out,
			    struct ws_err *err);
void ws_pair_close(struct ws_pair *pair); /* a zeroed one is fine */

void ws_pair_durations(struct ws_pair *pair, struct ws_comparison *out);
enum ws_status ws_pair_metric(struct ws_pair *pair, const struct ws_metric *metric, int header,
			      struct ws_comparison *out, struct ws_err *err);
bool ws_pair_counter(struct ws_pair *pair, const char *counter, struct ws_comparison *out);

#endif
