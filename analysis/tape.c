#include "analysis/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ana_tape_clear(struct ana_tape *tape)
{
	tape->n = 0;
	tape->n_regs = 0;
}

void ana_tape_fini(struct ana_tape *tape)
{
	free(tape->steps);
	*tape = (struct ana_tape){ 0 };
}

bool ana_tape_add(struct ana_tape *tape, struct ana_step step)
{
	if (tape->n == tape->cap) {
		size_t cap = tape->cap ? tape->cap * 2 : 64;
		struct ana_step *grown = realloc(tape->steps, cap * sizeof(*grown));

		if (!grown)
			return false;
		tape->steps = grown;
		tape->cap = cap;
	}
	tape->steps[tape->n++] = step;
	tape->n_regs = WS_MAX(tape->n_regs, step.to + 1);
	return true;
}

double ana_tape_binary(enum ana_expr_op op, double a, double b)
{
	switch (op) {
	case ANA_OP_ADD:
		return a + b;
	case ANA_OP_SUB:
		return a - b;
	case ANA_OP_MUL:
		return a * b;
	case ANA_OP_DIV:
		return a / b;
	case ANA_OP_EQ:
		return a == b;
	case ANA_OP_NE:
		return a != b;
	case ANA_OP_LT:
		return a < b;
	case ANA_OP_LE:
		return a <= b;
	case ANA_OP_GT:
		return a > b;
	case ANA_OP_GE:
		return a >= b;
	default:
		return NAN;
	}
}

/* Half to even, as Python rounds: the decimal at hand decides, not its binary neighbour. */
double ana_tape_round(double value, double digits)
{
	double scale;

	if (!isfinite(value) || digits != digits)
		return value;
	if (digits == 0)
		return nearbyint(value);
	scale = pow(10, digits);
	if (!isfinite(value * scale))
		return value;
	return nearbyint(value * scale) / scale;
}

/* Python's remainder: the sign of the divisor. */
double ana_tape_mod(double a, double b)
{
	double r = fmod(a, b);

	if (r != 0 && (r < 0) != (b < 0))
		r += b;
	return r;
}

/* A pointer to one block of an operand, and whether it is a single number. */
struct view {
	const double *at;
	bool single;
};

static struct view look(const struct ana_operand *operand, const uint32_t *rows, size_t first,
			size_t n, double *regs, double *gather)
{
	switch (operand->kind) {
	case ANA_OPERAND_REG:
		return (struct view){ regs + (size_t)operand->reg * ANA_TAPE_BLOCK, false };
	case ANA_OPERAND_COLUMN:
		if (!rows)
			return (struct view){ operand->column + first, false };
		for (size_t i = 0; i < n; i++)
			gather[i] = operand->column[rows[first + i]];
		return (struct view){ gather, false };
	default:
		return (struct view){ &operand->k, true };
	}
}

#define LOOP(expression)                                                                           \
	do {                                                                                       \
		if (a.single)                                                                      \
			for (size_t i = 0; i < n; i++) {                                           \
				double x = *a.at, y = b.at[i];                                     \
				to[i] = (expression);                                              \
			}                                                                          \
		else if (b.single)                                                                 \
			for (size_t i = 0; i < n; i++) {                                           \
				double x = a.at[i], y = *b.at;                                     \
				to[i] = (expression);                                              \
			}                                                                          \
		else                                                                               \
			for (size_t i = 0; i < n; i++) {                                           \
				double x = a.at[i], y = b.at[i];                                   \
				to[i] = (expression);                                              \
			}                                                                          \
	} while (0)

static void run_binary(enum ana_expr_op op, struct view a, struct view b, size_t n, double *to)
{
	switch (op) {
	case ANA_OP_ADD:
		LOOP(x + y);
		break;
	case ANA_OP_SUB:
		LOOP(x - y);
		break;
	case ANA_OP_MUL:
		LOOP(x * y);
		break;
	case ANA_OP_DIV:
		LOOP(x / y);
		break;
	case ANA_OP_NE:
		LOOP((double)(x != y));
		break;
	default:
		LOOP(ana_tape_binary(op, x, y));
	}
}

static void run_select(struct view a, struct view b, struct view c, size_t n, double *to)
{
	for (size_t i = 0; i < n; i++) {
		double yes = a.at[a.single ? 0 : i], no = c.at[c.single ? 0 : i];

		to[i] = b.at[b.single ? 0 : i] != 0 ? yes : no;
	}
}

static bool run_step(const struct ana_step *step, const uint32_t *rows, size_t first, size_t n,
		     double *regs, double *spare)
{
	struct view a = look(&step->a, rows, first, n, regs, spare);
	struct view b = look(&step->b, rows, first, n, regs, spare + ANA_TAPE_BLOCK);
	struct view c = look(&step->c, rows, first, n, regs, spare + 2 * ANA_TAPE_BLOCK);
	double *to = regs + (size_t)step->to * ANA_TAPE_BLOCK;

	switch (step->code) {
	case ANA_STEP_BINARY:
		run_binary(step->op, a, b, n, to);
		break;
	case ANA_STEP_SELECT:
		run_select(a, b, c, n, to);
		break;
	case ANA_STEP_MIN:
		LOOP(isnan(x) || isnan(y) ? NAN : x < y ? x : y);
		break;
	case ANA_STEP_MAX:
		LOOP(isnan(x) || isnan(y) ? NAN : x > y ? x : y);
		break;
	case ANA_STEP_ROUND:
		LOOP(ana_tape_round(x, y));
		break;
	case ANA_STEP_MOD:
		LOOP(ana_tape_mod(x, y));
		break;
	case ANA_STEP_NEGATE:
		for (size_t i = 0; i < n; i++)
			to[i] = -a.at[i];
		break;
	case ANA_STEP_CLAMP:
		for (size_t i = 0; i < n; i++)
			to[i] = a.at[i] < 0 ? 0 : a.at[i];
		break;
	case ANA_STEP_WHOLE:
		for (size_t i = 0; i < n; i++) {
			double x = a.at[i];

			if (x != nearbyint(x) && !isnan(x))
				return false;
			to[i] = x;
		}
		break;
	}
	return true;
}

bool ana_tape_run(const struct ana_tape *tape, struct ana_operand result, const uint32_t *rows,
		  size_t n, double *regs, double *out)
{
	double *spare = regs + (size_t)tape->n_regs * ANA_TAPE_BLOCK;

	for (size_t first = 0; first < n; first += ANA_TAPE_BLOCK) {
		size_t n_here = WS_MIN(n - first, (size_t)ANA_TAPE_BLOCK);
		struct view view;

		for (size_t s = 0; s < tape->n; s++)
			if (!run_step(&tape->steps[s], rows, first, n_here, regs, spare))
				return false;
		view = look(&result, rows, first, n_here, regs, spare);
		if (view.single)
			for (size_t i = 0; i < n_here; i++)
				out[first + i] = *view.at;
		else
			memcpy(out + first, view.at, n_here * sizeof(*out));
	}
	return true;
}
