/*
 * expr: derived counters: what an expression needs, and what it gives.
 *
 *	100 * reduce(TCC_HIT,sum) / (reduce(TCC_HIT,sum) + reduce(TCC_MISS,sum))
 *
 * numbers, counters, constants, + - * / and parentheses, reduce(x, sum|min|max|avr [, [DIM, ...]]),
 * select(x, [DIM=[n], ...]), accumulate(NAME, NONE|LOW_RES|HIGH_RES), and comments from // to the
 *end of the line. Names of derived counters are unfolded when compiling, so an expression needs
 *hardware counters and nothing else. docs/counters.md has the whole language.
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
enum ws_counter_form {
	WS_FORM_EACH,        /* NAME: one value per instance */
	WS_FORM_SUM,         /* NAME_sum: the instances added up, by whoever reads them */
	WS_FORM_ACCUMULATED, /* NAME_ACCUM: the level added up over all cycles */
};

struct ws_expr_need {
	const struct ws_counter_def *counter; /* hardware */
	enum ws_counter_form form;
};

/* Values of one counter or expression for one dispatch. */
struct ws_values {
	const double *at;
	size_t n; /* 0: no value; NAN as an element: that instance was not seen */
	struct ws_shape shape;
};

struct ws_expr;

/* WS_E_FORMAT or WS_E_NOTFOUND; the text says what, and at which column of @text. */
enum ws_status ws_expr_compile(const struct ws_catalogue *cat, const char *text,
			       struct ws_expr **out_expr, struct ws_err *err);
void ws_expr_destroy(struct ws_expr *expr); /* NULL is fine */

/* The hardware counters it is made from, each once per form. None: it is constant. */
const struct ws_expr_need *ws_expr_needs(const struct ws_expr *expr, size_t *out_n);
const struct ws_shape *ws_expr_shape(const struct ws_expr *expr);

/*
 * @inputs has one entry per need, in order. An input of 1 value goes where more were expected and
 * is a scalar then (a provider that has no instances). A needed counter without a value makes the
 * result one without a value. The result lives in @arena.
 */
enum ws_status ws_expr_eval(const struct ws_expr *expr, const struct ws_values *inputs,
			    struct ws_arena *arena, struct ws_values *out_values,
			    struct ws_err *err);

/* All instances added up: what CSV and summaries show. False: no value. */
bool ws_values_total(const struct ws_values *values, double *out_total);

#endif
