/*
 * expr: derived counters: what an expression needs, and what it gives.
 *
 *	100 * reduce(TCC_HIT,sum) / (reduce(TCC_HIT,sum) + reduce(TCC_MISS,sum))
 *
 * numbers, counters, constants, + - * / and parentheses, reduce(x, sum|min|max|avr [, [DIM, ...]]),
 * select(x, [DIM=[n], ...]), accumulate(NAME, NONE|LOW_RES|HIGH_RES), and comments from // to the
 * end of the line. Names of derived counters are unfolded when compiling, so an expression needs
 * hardware counters and nothing else. docs/counters.md has the whole language.
 *
 * Between two vectors of the same shape an operator works instance by instance, a scalar goes with
 * every instance, and anything else is an error when compiling. x / 0 is 0, as AMD defines it.
 *
 * Memory   an expression is the caller's and refers to the catalogue it was compiled against.
 */
#ifndef WS_COUNTERS_EXPR_H
#define WS_COUNTERS_EXPR_H

#include "base/arena.h"
#include "counters/catalogue.h"

/* In what form a hardware counter is read. */
enum cnt_counter_form {
	CNT_FORM_EACH,        /* NAME: one value per instance */
	CNT_FORM_SUM,         /* NAME_sum: the sum of the instances, computed by the reader */
	CNT_FORM_ACCUMULATED, /* NAME_ACCUM: the level added up over all cycles */
};

struct cnt_expr_need {
	const struct cnt_counter_def *counter; /* hardware */
	enum cnt_counter_form form;
};

/* Values of one counter or expression for one dispatch. */
struct cnt_values {
	const double *at;
	size_t n; /* 0: no value; NAN as an element: that instance was not seen */
	struct cnt_shape shape;
};

struct cnt_expr;

/* WS_E_FORMAT or WS_E_NOTFOUND; the text says what, and at which column of @text. */
enum ws_status cnt_expr_compile(const struct cnt_catalogue *cat, const char *text,
				struct cnt_expr **out_expr, struct ws_err *err);
void cnt_expr_destroy(struct cnt_expr *expr); /* NULL is fine */

/* The hardware counters it is made from, each once per form. None: it is constant. */
const struct cnt_expr_need *cnt_expr_needs(const struct cnt_expr *expr, size_t *out_n);
const struct cnt_shape *cnt_expr_shape(const struct cnt_expr *expr);

/*
 * @inputs has one entry per need, in order. An input of 1 value goes where more were expected and
 * is a scalar then (a provider that has no instances). A needed counter without a value makes the
 * result one without a value. The result lives in @arena.
 */
enum ws_status cnt_expr_eval(const struct cnt_expr *expr, const struct cnt_values *inputs,
			     struct ws_arena *arena, struct cnt_values *out_values,
			     struct ws_err *err);

/* All instances added up: what CSV and summaries show. False: no value. */
bool cnt_values_total(const struct cnt_values *values, double *out_total);

#endif
