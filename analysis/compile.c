/* From formulas to columns and numbers: compiling to a tape, running it, folding what comes out. */
#include "analysis/eval_priv.h"
#include "analysis/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE_DEPTH_MAX 16u /* a variable made of variables; a circle ends here */

static struct ana_operand compile(struct ana_eval *e, const struct ana_expr *expr,
				  struct ana_place *at);

static struct ana_operand constant(double k)
{
	return (struct ana_operand){ .kind = ANA_OPERAND_CONST, .k = k };
}

static struct ana_operand absent(struct ana_eval *e, const char *what, const char *name)
{
	if (!e->why[0])
		snprintf(e->why, sizeof(e->why), "%s %s", name, what);
	return (struct ana_operand){ .kind = ANA_OPERAND_ABSENT };
}

/* "SQ_LEVEL_WAVES_ACCUM", by its own name, is the sum that is in the pass of that level. */
static const struct wl_column *find_level_sum(struct ana_eval *e, const char *name)
{
	struct ws_str level = ws_str_from(name);
	const struct wl_frame *pass;
	char frame[96];

	if (!ws_str_ends(level, "_ACCUM") || level.n - 6 >= sizeof(frame))
		return NULL;
	snprintf(frame, sizeof(frame), "%.*s", (int)(level.n - 6), name);
	pass = wl_workload_frame(e->load, frame);
	return pass ? wl_frame_column(pass, "SQ_ACCUM_PREV_HIRES") : NULL;
}

static const struct wl_column *find_column(struct ana_eval *e, const char *name, const char *level)
{
	const struct wl_frame *main = e->load->frames[0];
	const struct wl_frame *own = level ? wl_workload_frame(e->load, level) : NULL;
	const struct wl_column *col = NULL;
	char accum[96];

	if (level && strcmp(name, "SQ_ACCUM_PREV_HIRES") == 0) {
		/* The level's own sum: in its pass, or under its own name where passes are joined. */
		snprintf(accum, sizeof(accum), "%s_ACCUM", level);
		col = wl_frame_column(main, accum);
		if (!col && own)
			col = wl_frame_column(own, name);
		return col;
	}
	if (level && own && e->how.own_level_frame)
		return wl_frame_column(own, name);
	if (level && !own && e->how.own_level_frame && e->load->layout != WL_LAYOUT_LONG &&
	    e->load->layout != WL_LAYOUT_RESULTS)
		return NULL;
	col = wl_frame_column(main, name);
	if ((!col || col->is_text) && own)
		col = wl_frame_column(own, name);
	if (!col)
		col = find_level_sum(e, name);
	return col && !col->is_text ? col : NULL;
}

/* The memory side of L2 is TCC_EA_ in old recordings of MI100, TCC_EA0_ in its formulas. */
static const struct wl_column *find_alias(struct ana_eval *e, const char *name, const char *level)
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

static struct ana_operand compile_counter(struct ana_eval *e, const struct ana_expr *expr,
					  const struct ana_place *at)
{
	const char *mark = strstr(expr->text, "[::_1]");
	const char *name = expr->text;
	const struct wl_column *col;
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
	return (struct ana_operand){ .kind = ANA_OPERAND_COLUMN, .column = col->at };
}

static struct ana_operand compile_variable(struct ana_eval *e, const struct ana_expr *expr,
					   struct ana_place *at)
{
	const struct ana_expr *formula = ana_metrics_variable(e->metrics, expr->text);
	struct ana_place inner = *at;
	struct ana_operand value;
	double number;

	if (strcmp(expr->text, "denom") == 0)
		return compile(e, e->denom, at);
	if (!formula) {
		if (ana_roof_variable(e->load->peaks, expr->text, &number))
			return isnan(number) ? absent(e, "is not in roofline.csv", expr->text)
					     : constant(number);
		if (!wl_workload_number(e->load, expr->text, &number))
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

static struct ana_operand step(struct ana_eval *e, struct ana_place *at, struct ana_step what)
{
	what.to = at->reg;
	if (!ana_tape_add(at->tape, what)) {
		e->no_memory = true;
		return absent(e, "of memory", "out");
	}
	return (struct ana_operand){ .kind = ANA_OPERAND_REG, .reg = what.to };
}

/* Compile the arguments of @expr, each one register above those before it. */
static bool compile_args(struct ana_eval *e, const struct ana_expr *expr, struct ana_place *at,
			 struct ana_operand *out_args, bool *out_constant)
{
	uint32_t reg = at->reg;
	bool all = true;

	*out_constant = true;
	for (uint32_t i = 0; i < expr->n_args; i++) {
		out_args[i] = compile(e, expr->args[i], at);
		all &= out_args[i].kind != ANA_OPERAND_ABSENT;
		*out_constant &= out_args[i].kind == ANA_OPERAND_CONST;
		if (out_args[i].kind == ANA_OPERAND_REG)
			at->reg = out_args[i].reg + 1;
	}
	at->reg = reg;
	return all;
}

static struct ana_operand compile_select(struct ana_eval *e, const struct ana_operand *args,
					 struct ana_place *at)
{
	if (args[1].kind == ANA_OPERAND_CONST)
		return args[1].k != 0 ? args[0] : args[2];
	return step(e, at,
		    (struct ana_step){
			    .code = ANA_STEP_SELECT, .a = args[0], .b = args[1], .c = args[2] });
}

/* Make the column of @expr, unless it is the one that was made last. */
const struct ana_made *ana_eval_make(struct ana_eval *e, const struct ana_expr *expr,
				     const struct ana_place *at, bool in_order)
{
	struct ana_made *m = &e->made;
	struct ana_tape tape = { 0 };
	struct ana_place inner = {
		.level = at->level, .channel = at->channel, .depth = at->depth, .tape = &tape
	};
	struct ana_operand result;
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
	m->absent = result.kind == ANA_OPERAND_ABSENT;
	if (!m->at)
		m->at = ws_arena_array(&e->arena, WS_MAX(e->sel->n, (size_t)1), sizeof(double));
	column = m->at;
	if (!m->absent && tape.n_regs + 3 > e->n_regs) {
		double *grown = realloc(e->regs, (size_t)(tape.n_regs + 3) * ANA_TAPE_BLOCK *
							 sizeof(double));

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
	if (!m->absent && !ana_tape_run(&tape, result, e->rows, e->sel->n, e->regs, column)) {
		absent(e, "contains fractions instead of whole numbers", "a counter");
		m->absent = true;
	}
	ana_tape_fini(&tape);
	return m;
}

/* Mean, least, greatest and sum of a column, remembered by formula. */
bool ana_eval_fold_of(struct ana_eval *e, const struct ana_expr *expr, const struct ana_place *at,
		      struct ws_fold *out)
{
	struct ana_known *known = NULL;
	const struct ana_made *m;

	*out = (struct ws_fold){ 0, NAN, NAN, NAN };
	if (at->channel < 0 && expr->id < e->n_known)
		known = &e->known[expr->id];
	if (known && known->done && known->level == at->level) {
		*out = known->fold;
		return !known->absent;
	}
	m = ana_eval_make(e, expr, at, false);
	if (!m->absent)
		*out = ws_fold_values(m->at, m->n);
	if (known)
		*known = (struct ana_known){ at->level, *out, true, m->absent };
	return !m->absent;
}

static double quantile_of(struct ana_eval *e, const struct ana_expr *expr,
			  const struct ana_place *at, double q)
{
	const struct ana_made *m = ana_eval_make(e, expr, at, false);

	if (m->absent)
		return NAN;
	if (!m->packed) {
		e->made.n = ws_fold_pack(e->made.at, e->made.n);
		e->made.packed = true;
	}
	return ws_fold_quantile(e->made.at, e->made.n, q);
}

/* Whether a formula is a column; numbers need no folding. */
struct ana_operand ana_eval_shape(struct ana_eval *e, const struct ana_expr *expr,
				  const struct ana_place *at)
{
	struct ana_tape tape = { 0 };
	struct ana_place inner = *at;
	struct ana_operand result;

	inner.tape = &tape;
	inner.reg = 0;
	result = compile(e, expr, &inner);
	ana_tape_fini(&tape);
	return result;
}

static struct ana_operand compile_fold(struct ana_eval *e, const struct ana_expr *expr,
				       struct ana_place *at)
{
	struct ana_operand inside = ana_eval_shape(e, expr->args[0], at), q;
	struct ws_fold fold = { 0, NAN, NAN, NAN };

	if (inside.kind == ANA_OPERAND_ABSENT)
		return inside;
	if (inside.kind == ANA_OPERAND_CONST)
		return expr->fn == ANA_FN_STD ? constant(NAN) : inside;
	switch (expr->fn) {
	case ANA_FN_STD: {
		const struct ana_made *m = ana_eval_make(e, expr->args[0], at, false);

		return constant(m->absent ? NAN : ws_fold_std(m->at, m->n));
	}
	case ANA_FN_MEDIAN:
		return constant(quantile_of(e, expr->args[0], at, 0.5));
	case ANA_FN_QUANTILE:
		q = ana_eval_shape(e, expr->args[1], at);
		if (q.kind != ANA_OPERAND_CONST || !(q.k >= 0 && q.k <= 1))
			return absent(e, "requires a number from 0 to 1", "QUANTILE");
		return constant(quantile_of(e, expr->args[0], at, q.k));
	default:
		break;
	}
	if (!ana_eval_fold_of(e, expr->args[0], at, &fold))
		return absent(e, "has no value", "the column");
	switch (expr->fn) {
	case ANA_FN_MIN:
		return constant(fold.min);
	case ANA_FN_MAX:
		return constant(fold.max);
	case ANA_FN_SUM:
		return constant(fold.sum);
	default:
		return constant(ws_fold_mean(&fold));
	}
}

static struct ana_operand compile_extreme(struct ana_eval *e, const struct ana_expr *expr,
					  struct ana_place *at)
{
	enum ana_step_code code = expr->fn == ANA_FN_MIN ? ANA_STEP_MIN : ANA_STEP_MAX;
	struct ana_operand args[16], best;
	struct ana_place free_at = *at;
	bool constants;

	if (!compile_args(e, expr, at, args, &constants))
		return (struct ana_operand){ .kind = ANA_OPERAND_ABSENT };
	best = args[0];
	for (uint32_t i = 0; i < expr->n_args; i++) /* arguments still to come must survive */
		if (args[i].kind == ANA_OPERAND_REG)
			free_at.reg = WS_MAX(free_at.reg, args[i].reg + 1);
	for (uint32_t i = 1; i < expr->n_args; i++) {
		if (constants) {
			bool less = args[i].k < best.k;

			best = isnan(best.k) || isnan(args[i].k) ? constant(NAN)
			       : less == (code == ANA_STEP_MIN)  ? args[i]
								 : best;
			continue;
		}
		best = step(e, &free_at,
			    (struct ana_step){
				    .code = code, .a = best, .b = args[i], .c = constant(0) });
		if (best.kind == ANA_OPERAND_ABSENT)
			break;
	}
	return best;
}

static struct ana_operand compile_call(struct ana_eval *e, const struct ana_expr *expr,
				       struct ana_place *at)
{
	static const enum ana_step_code codes[ANA_FN_COUNT] = {
		[ANA_FN_ROUND] = ANA_STEP_ROUND,
		[ANA_FN_MOD] = ANA_STEP_MOD,
		[ANA_FN_TO_INT] = ANA_STEP_WHOLE,
		[ANA_FN_NOISE_CLAMP] = ANA_STEP_CLAMP,
	};
	struct ana_operand args[16];
	bool constants;

	switch (expr->fn) {
	case ANA_FN_MIN:
	case ANA_FN_MAX:
		if (expr->n_args > 1)
			return compile_extreme(e, expr, at);
		return compile_fold(e, expr, at);
	case ANA_FN_AVG:
	case ANA_FN_SUM:
	case ANA_FN_STD:
	case ANA_FN_MEDIAN:
	case ANA_FN_QUANTILE:
		return compile_fold(e, expr, at);
	default:
		break;
	}
	if (!compile_args(e, expr, at, args, &constants))
		return (struct ana_operand){ .kind = ANA_OPERAND_ABSENT };
	if (constants)
		switch (expr->fn) {
		case ANA_FN_ROUND:
			return constant(ana_tape_round(args[0].k, args[1].k));
		case ANA_FN_MOD:
			return constant(ana_tape_mod(args[0].k, args[1].k));
		case ANA_FN_TO_INT:
			return constant(trunc(args[0].k));
		default:
			return constant(args[0].k < 0 ? 0 : args[0].k);
		}
	return step(e, at,
		    (struct ana_step){ .code = codes[expr->fn],
				       .a = args[0],
				       .b = expr->n_args > 1 ? args[1] : constant(0),
				       .c = constant(0) });
}

static struct ana_operand compile(struct ana_eval *e, const struct ana_expr *expr,
				  struct ana_place *at)
{
	struct ana_operand args[3];
	bool constants;

	switch (expr->kind) {
	case ANA_EXPR_NUMBER:
		return constant(expr->number);
	case ANA_EXPR_NONE:
		return constant(NAN);
	case ANA_EXPR_COUNTER:
		return compile_counter(e, expr, at);
	case ANA_EXPR_VARIABLE:
		return compile_variable(e, expr, at);
	case ANA_EXPR_CALL:
		return compile_call(e, expr, at);
	default:
		break;
	}
	if (!compile_args(e, expr, at, args, &constants))
		return (struct ana_operand){ .kind = ANA_OPERAND_ABSENT };
	switch (expr->kind) {
	case ANA_EXPR_SELECT:
		return compile_select(e, args, at);
	case ANA_EXPR_NEGATE:
		if (constants)
			return constant(-args[0].k);
		return step(e, at,
			    (struct ana_step){ .code = ANA_STEP_NEGATE,
					       .a = args[0],
					       .b = constant(0),
					       .c = constant(0) });
	default:
		if (constants)
			return constant(ana_tape_binary(expr->op, args[0].k, args[1].k));
		return step(e, at,
			    (struct ana_step){ .code = ANA_STEP_BINARY,
					       .op = expr->op,
					       .a = args[0],
					       .b = args[1],
					       .c = constant(0) });
	}
}
