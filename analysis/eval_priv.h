/* What compiling a formula (compile.c) and asking for values (eval.c) share. */
#ifndef WS_ANALYSIS_EVAL_PRIV_H
#define WS_ANALYSIS_EVAL_PRIV_H

#include "analysis/eval.h"
#include "analysis/tape.h"
#include "base/fold.h"

/* Mean, least and greatest of a formula that was folded before. */
struct ana_known {
	const char *level;
	struct ws_fold fold;
	bool done, absent;
};

/* The column made last: quartiles and deviations ask for it again and again. */
struct ana_made {
	const struct ana_expr *expr;
	const char *level;
	int channel;
	size_t n;    /* values in `at` */
	bool packed; /* NaN was dropped and the order lost */
	bool absent;
	double *at;
};

struct ana_eval {
	const struct wl_workload *load;
	const struct ana_selection *sel;
	const struct ana_metrics *metrics;
	struct ana_eval_how how;
	struct ws_arena arena;
	struct ana_expr_pool pool; /* of $denom */
	const struct ana_expr *denom;
	const uint32_t *rows;    /* NULL: all */
	struct ana_known *known; /* by the id of the folded formula */
	uint32_t n_known;        /* formulas made later are not remembered */
	struct ana_made made;
	double *regs;
	size_t n_regs;
	char why[160];
	bool no_memory;
};

/* Where a formula stands: which pass its counters come from, and which channel. */
struct ana_place {
	const char *level;
	int channel; /* -1: none */
	unsigned depth;
	struct ana_tape *tape;
	uint32_t reg; /* the first that is free */
};

/* What a formula comes to here: a number, a column, or nothing. Folds inside are done. */
struct ana_operand ana_eval_shape(struct ana_eval *e, const struct ana_expr *expr,
				  const struct ana_place *at);
/* Make the column of @expr, unless it is the one that was made last. */
const struct ana_made *ana_eval_make(struct ana_eval *e, const struct ana_expr *expr,
				     const struct ana_place *at, bool in_order);
/* Mean, least, greatest and sum of a column, remembered by formula; false: it has no value. */
bool ana_eval_fold_of(struct ana_eval *e, const struct ana_expr *expr, const struct ana_place *at,
		      struct ws_fold *out);

#endif
