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
#include "analysis/workload.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define WS_NORM_TABLE(X)  /* option word, the unit's last word, formula of $denom */             \
	X(WS_PER_WAVE,   "per_wave",   "per wave",   "SQ_WAVES")                                 \
	X(WS_PER_CYCLE,  "per_cycle",  "per cycle",  "$GRBM_GUI_ACTIVE_PER_XCD")                 \
	X(WS_PER_SECOND, "per_second", "per second",                                             \
	  "((End_Timestamp - Start_Timestamp) / 1000000000)")                                    \
	X(WS_PER_KERNEL, "per_kernel", "per kernel", "1")
/* clang-format on */

enum ws_norm {
#define WS_NORM_ROW(name, word, unit, formula) name,
	WS_NORM_TABLE(WS_NORM_ROW)
#undef WS_NORM_ROW
};
extern const char *const ws_norm_words[]; /* "per_wave", ...; NULL at the end */

struct ws_eval_how {
	enum ws_norm norm;
	bool own_level_frame; /* as 3.3: a level metric reads only its own pass file */
	bool ea_aliases;      /* TCC_EA_X will do where TCC_EA0_X is asked for, and back */
};

struct ws_eval;

enum ws_status ws_eval_create(const struct ws_workload *load, const struct ws_selection *sel,
			      const struct ws_metrics *metrics, const struct ws_eval_how *how,
			      struct ws_eval **out_eval, struct ws_err *err);
void ws_eval_destroy(struct ws_eval *eval); /* NULL is fine */

/* One number; NaN when it has no value. A formula left as a column is averaged. */
double ws_eval_number(struct ws_eval *eval, const struct ws_expr *expr, const char *coll_level);

/* A cell of a metric; @channel counts only in WS_TABLE_CHANNELS. */
double ws_eval_cell(struct ws_eval *eval, const struct ws_metric *metric, unsigned header,
		    unsigned channel);
unsigned ws_eval_channels(struct ws_eval *eval); /* rows of a WS_TABLE_CHANNELS */

/*
 * One value per selected dispatch: the inside of a cell's aggregate. Spread, noise and
 * per-kernel views are made from it. False: the formula has no such inside (a peak).
 */
bool ws_eval_per_dispatch(struct ws_eval *eval, const struct ws_metric *metric, unsigned header,
			  double *out_values);

/* A built-in or sysinfo variable as a number; NaN: not known. @name without the dollar. */
double ws_eval_variable(struct ws_eval *eval, const char *name);

/* Mean of a counter over the selection, as --explain shows it; NaN: not collected. */
double ws_eval_counter(struct ws_eval *eval, const char *name, const char *coll_level);

/* Why the last value was none: "SQ_FOO was not collected", "0/0 in every dispatch". */
const char *ws_eval_why_none(struct ws_eval *eval, const struct ws_metric *metric, unsigned header,
			     unsigned channel);

/* The unit as printed: "Instr per kernel", "Gb/s". From @arena. */
const char *ws_eval_unit(const struct ws_eval *eval, const char *unit, struct ws_arena *arena);

#endif
