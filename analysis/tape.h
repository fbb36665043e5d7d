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

#define ANA_TAPE_BLOCK 1024u /* rows; 8 KiB a register */

enum ana_operand_kind {
	ANA_OPERAND_ABSENT, /* no value, and there cannot be one: a counter is missing */
	ANA_OPERAND_CONST,
	ANA_OPERAND_COLUMN,
	ANA_OPERAND_REG,
};

struct ana_operand {
	enum ana_operand_kind kind;
	double k;
	const double *column;
	uint32_t reg;
};

enum ana_step_code {
	ANA_STEP_BINARY, /* op */
	ANA_STEP_NEGATE,
	ANA_STEP_SELECT, /* a if b else c */
	ANA_STEP_MIN,    /* of a and b; NaN wins */
	ANA_STEP_MAX,
	ANA_STEP_ROUND, /* a at b digits */
	ANA_STEP_MOD,
	ANA_STEP_WHOLE, /* a, which must be whole numbers */
	ANA_STEP_CLAMP, /* a, not below 0 */
};

struct ana_step {
	enum ana_step_code code;
	enum ana_expr_op op;
	struct ana_operand a, b, c;
	uint32_t to;
};

struct ana_tape {
	struct ana_step *steps;
	size_t n, cap;
	uint32_t n_regs;
};

void ana_tape_clear(struct ana_tape *tape);
void ana_tape_fini(struct ana_tape *tape);
/* False: no memory. */
bool ana_tape_add(struct ana_tape *tape, struct ana_step step);

/*
 * Run over @n rows: all from 0, or those of @rows when it is not NULL. @result is what
 * the formula came to; its values go to @out. @regs is scratch for tape->n_regs blocks
 * and three more. False: ANA_STEP_WHOLE met a fraction.
 */
bool ana_tape_run(const struct ana_tape *tape, struct ana_operand result, const uint32_t *rows,
		  size_t n, double *regs, double *out);

/* The same arithmetic on single numbers. */
double ana_tape_binary(enum ana_expr_op op, double a, double b);
double ana_tape_round(double value, double digits);
double ana_tape_mod(double a, double b);

#endif
