/*
 * tape: a formula compiled for one choice of dispatches, run a block of rows at a time.
 *
 * Steps read columns, constants or registers and write a register; a register is one
 * block of doubles, small enough to stay in the first cache. Sub-formulas without
 * columns are gone by then: the compiler (eval.c) folds them into constants.
 */
#ifndef WS_ANALYSIS_TAPE_H
#define WS_ANALYSIS_TAPE_H

#include "analysis/expr.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_TAPE_BLOCK 1024u /* rows; 8 KiB a register */

enum ws_operand_kind {
	WS_OPERAND_ABSENT, /* no value, and there cannot be one: a counter is missing */
	WS_OPERAND_CONST,
	WS_OPERAND_COLUMN,
	WS_OPERAND_REG,
};

struct ws_operand {
	enum ws_operand_kind kind;
	double k;
	const double *column;
	uint32_t reg;
};

enum ws_step_code {
	WS_STEP_BINARY, /* op */
	WS_STEP_NEGATE,
	WS_STEP_SELECT, /* a if b else c */
	WS_STEP_MIN,    /* of a and b; NaN wins */
	WS_STEP_MAX,
	WS_STEP_ROUND, /* a at b digits */
	WS_STEP_MOD,
	WS_STEP_WHOLE, /* a, which must be whole numbers */
	WS_STEP_CLAMP, /* a, not below 0 */
};

struct ws_step {
	enum ws_step_code code;
	enum ws_expr_op op;
	struct ws_operand a, b, c;
	uint32_t to;
};

struct ws_tape {
	struct ws_step *steps;
	size_t n, cap;
	uint32_t n_regs;
};

void ws_tape_clear(struct ws_tape *tape);
void ws_tape_fini(struct ws_tape *tape);
/* False: no memory. */
bool ws_tape_add(struct ws_tape *tape, struct ws_step step);

/*
 * Run over @n rows: all from 0, or those of @rows when it is not NULL. @result is what
 * the formula came to; its values go to @out. @regs is scratch for tape->n_regs blocks
 * and three more. False: WS_STEP_WHOLE met a fraction.
 */
bool ws_tape_run(const struct ws_tape *tape, struct ws_operand result, const uint32_t *rows,
		 size_t n, double *regs, double *out);

/* The same arithmetic on single numbers. */
double ws_tape_binary(enum ws_expr_op op, double a, double b);
double ws_tape_round(double value, double digits);
double ws_tape_mod(double a, double b);

#endif
