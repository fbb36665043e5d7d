/* From formulas to columns and numbers: compiling to a tape, running it, folding what comes out. */
#include "analysis/eval_priv.h"
#include "analysis/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE_DEPTH_MAX 16u /* a variable made of variables; a circle ends here */

static struct ws_operand compile(struct ws_eval *e, const struct ws_expr *expr,
				 struct ws_place *at);

static struct ws_operand constant(double k)
{
	return (struct ws_operand){ .kind = WS_OPERAND_CONST, .k = k };
}

static struct ws_operand absent(struct ws_eval *e, const char *what, const char *name)
{
	if (!e->why[0])
		snprintf(e->why, sizeof(e->why), "%s %s", name, what);
	return (struct ws_operand){ .kind = WS_OPERAND_ABSENT };
}

static const struct ws_column *find_column(struct ws_eval *e, const char *name, const char *level)
{
	const struct ws_frame *main = e->load->frames[0];
	const struct ws_frame *own = level ? ws_workload_frame(e->load, level) : NULL;
	const struct ws_column *col = NULL;
	char accum[96];

	if (level && strcmp(name, "SQ_ACCUM_PREV_HIRES") == 0) {
		/* The level's own sum: in its pass, or under its own name where passes are joined. */
		snprintf(accum, sizeof(accum), "%s_ACCUM", level);
		col = ws_frame_column(main, accum);
		if (!col && own)
			col = ws_frame_column(own, name);
		return col;
	}
	if (level && own && e->how.own_level_frame)
		return ws_frame_column(own, name);
	if (level && !own && e->how.own_level_frame && e->load->layout != WS_LAYOUT_LONG &&
	    e->load->layout != WS_LAYOUT_RESULTS)
		return NULL;
	col = ws_frame_column(main, name);
	if ((!col || col->is_text) && own)
		col = ws_frame_column(own, name);
	return col && !col->is_text ? col : NULL;
}

/* The memory side of L2 is TCC_EA_ in old recordings of MI100, TCC_EA0_ in its formulas. */
static const struct ws_column *find_alias(struct ws_eval *e, const char *name, const char *level)
{
	static const char *const both[2] = { "TCC_EA_", "TCC_EA0_" };
	char other[128];

	for (int i = 0; e->how.ea_aliases && i < 2; i++)
		if (ws_str_starts(ws_str_from(name), both[i])) {
			snprintf(other, sizeof(other), "%s%s", both[1 - i], name + strlen(both[i]));
			return find_column(e, other, level);
		}
	return NULL;
}

static struct ws_operand compile_counter(struct ws_eval *e, const struct ws_expr *expr,
					 const struct ws_place *at)
{
	const char *mark = strstr(expr->text, "[::_1]");
	const char *name = expr->text;
	const struct ws_column *col;
	char channel[128];

	if (mark) {
		snprintf(channel, sizeof(channel), "%.*s[%d]", (int)(mark - expr->text), expr->text,
			 at->channel);
		name = channel;
	}
	col = find_column(e, name, at->level);
	if (!col)
		col = find_alias(e, name, at->level);
	if (!col)
		return absent(e, "was not collected", name);
	return (struct ws_operand){ .kind = WS_OPERAND_COLUMN, .column = col->at };
}

static struct ws_operand compile_variable(struct ws_eval *e, const struct ws_expr *expr,
					  struct ws_place *at)
{
	const struct ws_expr *formula = ws_metrics_variable(e->metrics, expr->text);
	struct ws_place inner = *at;
	struct ws_operand value;
	double number;

	if (strcmp(expr->text, "denom") == 0)
		return compile(e, e->denom, at);
	if (!formula) {
		if (ws_roof_variable(e->load->roof, expr->text, &number))
			return isnan(number) ? absent(e, "is not in roofline.csv", expr->text)
					     : constant(number);
		if (!ws_sysinfo_number(e->load, expr->text, &number))
			return absent(e, "is not in sysinfo.csv", expr->text);
		return constant(number);
	}
	if (at->depth >= VARIABLE_DEPTH_MAX)
		return absent(e, "is defined by itself", expr->text);
	inner.depth++;
	inner.level = NULL; /* built-ins always come from the counter passes */
	inner.channel = -1;
	value = compile(e, formula, &inner);
	return value;
}

static struct ws_operand step(struct ws_eval *e, struct ws_place *at, struct ws_step what)
{
	what.to = at->reg;
	if (!ws_tape_add(at->tape, what)) {
		e->no_memory = true;
		return absent(e, "of memory", "out");
	}
	return (struct ws_operand){ .kind = WS_OPERAND_REG, .reg = what.to };
}

/* Compile the arguments of @expr, each one register above those before it. */
static bool compile_args(struct ws_eval *e, const struct ws_expr *expr, struct ws_place *at,
			 struct ws_operand *out_args, bool *out_constant)
{
	uint32_t reg = at->reg;
	bool all = true;

	*out_constant = true;
	for (uint32_t i = 0; i < expr->n_args; i++) {
		out_args[i] = compile(e, expr->args[i], at);
		all &= out_args[i].kind != WS_OPERAND_ABSENT;
		*out_constant &= out_args[i].kind == WS_OPERAND_CONST;
		if (out_args[i].kind == WS_OPERAND_REG)
			at->reg = out_args[i].reg + 1;
	}
	at->reg = reg;
	return all;
}

static struct ws_operand compile_select(struct ws_eval *e, const struct ws_operand *args,
					struct ws_place *at)
{
	if (args[1].kind == WS_OPERAND_CONST)
		return args[1].k != 0 ? args[0] : args[2];
	return step(e, at,
		    (struct ws_step){
			    .code = WS_STEP_SELECT, .a = args[0], .b = args[1], .c = args[2] });
}

/* Make the column of @expr, unless it is the one that was made last. */
const struct ws_made *ws_eval_make(struct ws_eval *e, const struct ws_expr *expr,
				   const struct ws_place *at, bool in_order)
{
	struct ws_made *m = &e->made;
	struct ws_tape tape = { 0 };
	struct ws_place inner = {
		.level = at->level, .channel = at->channel, .depth = at->depth, .tape = &tape
	};
	struct ws_operand result;
	double *column;

	if (m->expr == expr && m->level == at->level && m->channel == at->channel &&
	    !(in_order && m->packed))
		return m;
	result = compile(e, expr, &inner);
	/* Compiling may have made other columns (folds inside); only now is it ours. */
	m->expr = expr;
	m->level = at->level;
	m->channel = at->channel;
	m->packed = false;
	m->n = e->sel->n;
	m->absent = result.kind == WS_OPERAND_ABSENT;
	if (!m->at)
		m->at = ws_arena_array(&e->arena, WS_MAX(e->sel->n, (size_t)1), sizeof(double));
	column = m->at;
	if (!m->absent && tape.n_regs + 3 > e->n_regs) {
		double *grown = realloc(e->regs,
					(size_t)(tape.n_regs + 3) * WS_TAPE_BLOCK * sizeof(double));

		if (grown) {
			e->regs = grown;
			e->n_regs = tape.n_regs + 3;
		} else {
			e->no_memory = true;
		}
	}
	if (!column || e->no_memory) {
		e->no_memory = true;
		m->absent = true;
	}
	if (!m->absent && !ws_tape_run(&tape, result, e->rows, e->sel->n, e->regs, column)) {
		absent(e, "holds fractions where whole numbers belong", "a counter");
		m->absent = true;
	}
	ws_tape_fini(&tape);
	return m;
}

/* Mean, least, greatest and sum of a column, remembered by formula. */
bool ws_eval_fold_of(struct ws_eval *e, const struct ws_expr *expr, const struct ws_place *at,
		     struct ws_fold *out)
{
	struct ws_known *known = NULL;
	const struct ws_made *m;

	*out = (struct ws_fold){ 0, NAN, NAN, NAN };
	if (at->channel < 0 && expr->id < e->n_known)
		known = &e->known[expr->id];
	if (known && known->done && known->level == at->level) {
		*out = known->fold;
		return !known->absent;
	}
	m = ws_eval_make(e, expr, at, false);
	if (!m->absent)
		*out = ws_fold_values(m->at, m->n);
	if (known)
		*known = (struct ws_known){ at->level, *out, true, m->absent };
	return !m->absent;
}

static double quantile_of(struct ws_eval *e, const struct ws_expr *expr, const struct ws_place *at,
			  double q)
{
	const struct ws_made *m = ws_eval_make(e, expr, at, false);

	if (m->absent)
		return NAN;
	if (!m->packed) {
		e->made.n = ws_fold_pack(e->made.at, e->made.n);
		e->made.packed = true;
	}
	return ws_fold_quantile(e->made.at, e->made.n, q);
}

/* Whether a formula is a column; numbers need no folding. */
struct ws_operand ws_eval_shape(struct ws_eval *e, const struct ws_expr *expr,
				const struct ws_place *at)
{
	struct ws_tape tape = { 0 };
	struct ws_place inner = *at;
	struct ws_operand result;

	inner.tape = &tape;
	inner.reg = 0;
	result = compile(e, expr, &inner);
	ws_tape_fini(&tape);
	return result;
}

static struct ws_operand compile_fold(struct ws_eval *e, const struct ws_expr *expr,
				      struct ws_place *at)
{
	struct ws_operand inside = ws_eval_shape(e, expr->args[0], at), q;
	struct ws_fold fold = { 0, NAN, NAN, NAN };

	if (inside.kind == WS_OPERAND_ABSENT)
		return inside;
	if (inside.kind == WS_OPERAND_CONST)
		return expr->fn == WS_FN_STD ? constant(NAN) : inside;
	switch (expr->fn) {
	case WS_FN_STD: {
		const struct ws_made *m = ws_eval_make(e, expr->args[0], at, false);

		return constant(m->absent ? NAN : ws_fold_std(m->at, m->n));
	}
	case WS_FN_MEDIAN:
		return constant(quantile_of(e, expr->args[0], at, 0.5));
	case WS_FN_QUANTILE:
		q = ws_eval_shape(e, expr->args[1], at);
		if (q.kind != WS_OPERAND_CONST || !(q.k >= 0 && q.k <= 1))
			return absent(e, "wants a number from 0 to 1", "QUANTILE");
		return constant(quantile_of(e, expr->args[0], at, q.k));
	default:
		break;
	}
	if (!ws_eval_fold_of(e, expr->args[0], at, &fold))
		return absent(e, "has no value", "the column");
	switch (expr->fn) {
	case WS_FN_MIN:
		return constant(fold.min);
	case WS_FN_MAX:
		return constant(fold.max);
	case WS_FN_SUM:
		return constant(fold.sum);
	default:
		return constant(ws_fold_mean(&fold));
	}
}

static struct ws_operand compile_extreme(struct ws_eval *e, const struct ws_expr *expr,
					 struct ws_place *at)
{
	enum ws_step_code code = expr->fn == WS_FN_MIN ? WS_STEP_MIN : WS_STEP_MAX;
	struct ws_operand args[16], best;
	struct ws_place free_at = *at;
	bool constants;

	if (!compile_args(e, expr, at, args, &constants))
		return (struct ws_operand){ .kind = WS_OPERAND_ABSENT };
	best = args[0];
	for (uint32_t i = 0; i < expr->n_args; i++) /* arguments still to come must survive */
		if (args[i].kind == WS_OPERAND_REG)
			free_at.reg = WS_MAX(free_at.reg, args[i].reg + 1);
	for (uint32_t i = 1; i < expr->n_args; i++) {
		if (constants) {
			bool less = args[i].k < best.k;

			best = isnan(best.k) || isnan(args[i].k) ? constant(NAN)
			       : less == (code == WS_STEP_MIN)   ? args[i]
								 : best;
			continue;
		}
		best = step(e, &free_at,
			    (struct ws_step){
				    .code = code, .a = best, .b = args[i], .c = constant(0) });
		if (best.kind == WS_OPERAND_ABSENT)
			break;
	}
	return best;
}

static struct ws_operand compile_call(struct ws_eval *e, const struct ws_expr *expr,
				      struct ws_place *at)
{
	static const enum ws_step_code codes[WS_FN_COUNT] = {
		[WS_FN_ROUND] = WS_STEP_ROUND,
		[WS_FN_MOD] = WS_STEP_MOD,
		[WS_FN_TO_INT] = WS_STEP_WHOLE,
		[WS_FN_NOISE_CLAMP] = WS_STEP_CLAMP,
	};
	struct ws_operand args[16];
	bool constants;

	switch (expr->fn) {
	case WS_FN_MIN:
	case WS_FN_MAX:
		if (expr->n_args > 1)
			return compile_extreme(e, expr, at);
		return compile_fold(e, expr, at);
	case WS_FN_AVG:
	case WS_FN_SUM:
	case WS_FN_STD:
	case WS_FN_MEDIAN:
	case WS_FN_QUANTILE:
		return compile_fold(e, expr, at);
	default:
		break;
	}
	if (!compile_args(e, expr, at, args, &constants))
		return (struct ws_operand){ .kind = WS_OPERAND_ABSENT };
	if (constants)
		switch (expr->fn) {
		case WS_FN_ROUND:
			return constant(ws_tape_round(args[0].k, args[1].k));
		case WS_FN_MOD:
			return constant(ws_tape_mod(args[0].k, args[1].k));
		case WS_FN_TO_INT:
			return constant(trunc(args[0].k));
		default:
			return constant(args[0].k < 0 ? 0 : args[0].k);
		}
	return step(e, at,
		    (struct ws_step){ .code = codes[expr->fn],
				      .a = args[0],
				      .b = expr->n_args > 1 ? args[1] : constant(0),
				      .c = constant(0) });
}

static struct ws_operand compile(struct ws_eval *e, const struct ws_expr *expr, struct ws_place *at)
{
	struct ws_operand args[3];
	bool constants;

	switch (expr->kind) {
	case WS_EXPR_NUMBER:
		return constant(expr->number);
	case WS_EXPR_NONE:
		return constant(NAN);
	case WS_EXPR_COUNTER:
		return compile_counter(e, expr, at);
	case WS_EXPR_VARIABLE:
		return compile_variable(e, expr, at);
	case WS_EXPR_CALL:
		return compile_call(e, expr, at);
	default:
		break;
	}
	if (!compile_args(e, expr, at, args, &constants))
		return (struct ws_operand){ .kind = WS_OPERAND_ABSENT };
	switch (expr->kind) {
	case WS_EXPR_SELECT:
		return compile_select(e, args, at);
	case WS_EXPR_NEGATE:
		if (constants)
			return constant(-args[0].k);
		return step(e, at,
			    (struct ws_step){ .code = WS_STEP_NEGATE,
					      .a = args[0],
					      .b = constant(0),
					      .c = constant(0) });
	default:
		if (constants)
			return constant(ws_tape_binary(expr->op, args[0].k, args[1].k));
		return step(e, at,
			    (struct ws_step){ .code = WS_STEP_BINARY,
					      .op = expr->op,
					      .a = args[0],
					      .b = args[1],
					      .c = constant(0) });
	}
}
