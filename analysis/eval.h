/*
 * eval: formulas over a choice of dispatches.
 *
 * Arithmetic is over columns, a block of rows at a time; aggregates turn a column into
 * a number. What one formula made is kept for the next that asks for the same.
 *
 * A value that cannot be computed (a counter that was not collected, 0/0, nothing
 * selected) is NaN: it has no value, and prints as such. It is never 0. Infinity is a
 * value: x/0 is shown.
 *
 * Memory   an evaluation borrows the workload, the selection and the metrics.
 * Threads  one at a time per evaluation.
 */
#ifndef WS_ANALYSIS_EVAL_H
#define WS_ANALYSIS_EVAL_H

#include "analysis/metric.h"
#include "analysis/select.h"
#include "base/error.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define ANA_NORM_TABLE(X)  /* option word, the unit's last word, formula of $denom */             \
	X(ANA_PER_WAVE,   "per_wave",   "per wave",   "SQ_WAVES")                                 \
	X(ANA_PER_CYCLE,  "per_cycle",  "per cycle",  "$GRBM_GUI_ACTIVE_PER_XCD")                 \
	X(ANA_PER_SECOND, "per_second", "per second",                                             \
	  "((End_Timestamp - Start_Timestamp) / 1000000000)")                                    \
	X(ANA_PER_KERNEL, "per_kernel", "per kernel", "1")
/* clang-format on */

enum ana_norm {
#define ANA_NORM_ROW(name, word, unit, formula) name,
	ANA_NORM_TABLE(ANA_NORM_ROW)
#undef ANA_NORM_ROW
};
extern const char *const ana_norm_words[]; /* "per_wave", ...; NULL at the end */

struct ana_eval_how {
	enum ana_norm norm;
	bool own_level_frame; /* as 3.3: a level metric reads only its own pass file */
	bool ea_aliases;      /* TCC_EA_X is used for a missing TCC_EA0_X, and the reverse */
};

struct ana_eval;

enum ws_status ana_eval_create(const struct wl_workload *load, const struct ana_selection *sel,
			       const struct ana_metrics *metrics, const struct ana_eval_how *how,
			       struct ana_eval **out_eval, struct ws_err *err);
void ana_eval_destroy(struct ana_eval *eval); /* NULL is fine */

/* One number; NaN when it has no value. A formula left as a column is averaged. */
double ana_eval_number(struct ana_eval *eval, const struct ana_expr *expr, const char *coll_level);

/* A cell of a metric; @channel counts only in ANA_TABLE_CHANNELS. */
double ana_eval_cell(struct ana_eval *eval, const struct ana_metric *metric, unsigned header,
		     unsigned channel);
unsigned ana_eval_channels(struct ana_eval *eval); /* rows of a ANA_TABLE_CHANNELS */

/*
 * One value per selected dispatch: the inside of a cell's aggregate. Spread, noise and
 * per-kernel views are made from it. False: the formula has no such inside (a peak).
 */
bool ana_eval_per_dispatch(struct ana_eval *eval, const struct ana_metric *metric, unsigned header,
			   double *out_values);

/* A built-in or sysinfo variable as a number; NaN: not known. @name without the dollar. */
double ana_eval_variable(struct ana_eval *eval, const char *name);

/* Mean of a counter over the selection, as --explain shows it; NaN: not collected. */
double ana_eval_counter(struct ana_eval *eval, const char *name, const char *coll_level);

/* Why the last value was none: "SQ_FOO was not collected", "0/0 in every dispatch". */
const char *ana_eval_why_none(struct ana_eval *eval, const struct ana_metric *metric,
			      unsigned header, unsigned channel);

/* The unit as printed: "Instr per kernel", "Gb/s". From @arena. */
const char *ana_eval_unit(const struct ana_eval *eval, const char *unit, struct ws_arena *arena);

#endif
