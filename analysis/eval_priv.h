/* What compiling a formula (compile.c) and asking for values (eval.c) share. */
#ifndef WS_ANALYSIS_EVAL_PRIV_H
#define WS_ANALYSIS_EVAL_PRIV_H

#include "analysis/eval.h"
#include "analysis/fold.h"
#include "analysis/tape.h"

/* Mean, least and greatest of a formula that was folded before. */
struct ws_known {
	const char *level;
	struct ws_fold fold;
	bool done, absent;
};

/* The column made last: quartiles and deviations ask for it again and again. */
struct ws_made {
	const struct ws_expr *expr;
	const char *level;
	int channel;
	size_t n;    /* values in `at` */
	bool packed; /* NaN was dropped and the order lost */
	bool absent;
	double *at;
};

struct ws_eval {
	const struct ws_workload *load;
	const struct ws_selection *sel;
	const struct ws_metrics *metrics;
	struct ws_eval_how how;
	struct ws_arena arena;
	struct ws_expr_pool pool; /* of $denom */
	const struct ws_expr *denom;
	const uint32_t *rows;   /* NULL: all */
	struct ws_known *known; /* by the id of the folded formula */
	uint32_t n_known;       /* formulas made later are not remembered */
	struct ws_made made;
	double *regs;
	size_t n_regs;
	char why[160];
	bool no_memory;
};

/* Where a formula stands: which pass its counters come from, and which channel. */
struct ws_place {
	const char *level;
	int channel; /* -1: none */
	unsigned depth;
	struct ws_tape *tape;
	uint32_t reg; /* the first that is free */
};

/* What a formula comes to here: a number, a column, or nothing. Folds inside are done. */
struct ws_operand ws_eval_shape(struct ws_eval *e, const struct ws_expr *expr,
				const struct ws_place *at);
/* Make the column of @expr, unless it is the one that was made last. */
const struct ws_made *ws_eval_make(struct ws_eval *e, const struct ws_expr *expr,
				   const struct ws_place *at, bool in_order);
/* Mean, least, greatest and sum of a column, remembered by formula; false: it has no value. */
bool ws_eval_fold_of(struct ws_eval *e, const struct ws_expr *expr, const struct ws_place *at,
		     struct ws_fold *out);

#endif
