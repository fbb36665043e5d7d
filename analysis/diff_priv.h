/*
 * diff_priv: one kernel's dispatches on both sides, for diff.c and diff_gate.c.
 */
#ifndef WS_ANALYSIS_DIFF_PRIV_H
#define WS_ANALYSIS_DIFF_PRIV_H

#include "analysis/diff.h"

struct ana_pair {
	const struct ana_diff_side *side[2];
	const struct ana_diff_how *how;
	struct ana_selection rows[2];
	struct ana_eval *eval[2]; /* created on first use */
	double *values[2];        /* scratch, one per row */
};

enum ws_status ana_pair_open(const struct ana_diff_side *a, const struct ana_diff_side *b,
			     const struct ana_diff_how *how, const char *kernel,
			     struct ana_pair *out, struct ws_err *err);
void ana_pair_close(struct ana_pair *pair); /* a zeroed one is fine */

void ana_pair_durations(struct ana_pair *pair, struct ana_comparison *out);
enum ws_status ana_pair_metric(struct ana_pair *pair, const struct ana_metric *metric, int header,
			       struct ana_comparison *out, struct ws_err *err);
bool ana_pair_counter(struct ana_pair *pair, const char *counter, struct ana_comparison *out);

#endif
