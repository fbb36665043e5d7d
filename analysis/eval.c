/* From formulas to numbers: compiling to a tape, running it, folding what comes out. */
#include "analysis/eval.h"

#include "analysis/fold.h"
#include "analysis/roofline.h"
#include "analysis/tape.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE_DEPTH_MAX 16u /* a variable made of variables; a circle ends here */

const char *const ws_norm_words[] = {
#define WS_NORM_ROW(name, word, unit, formula) word,
	WS_NORM_TABLE(WS_NORM_ROW)
#undef WS_NORM_ROW
		NULL
};

static const struct {
	const char *unit, *formula;
} norms[] = {
#define WS_NORM_ROW(name, word, unit, formula) { unit, formula },
	WS_NORM_TABLE(WS_NORM_ROW)
#undef WS_NORM_ROW
};

/* Mean, least and greatest of a formula that was folded before. */
struct known {
	const char *level;
	struct ws_fold fold;
	bool done, absent;
};

/* The column made last: quartiles and deviations ask for it again and again. */
struct made {
	const struct ws_expr *expr;
	const char *level;
	int channel;
	size_t n;       /* values in `at` */
	bool packed;    /* NaN was dropped and the order lost */
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
	const uint32_t *rows; /* NULL: all */
	struct known *known;  /* by the id of the folded formula */
	struct made made;
	double *regs;
	size_t n_regs;
	char why[160];
	bool no_memory;
};

/* Where a formula stands: which pass its counters come from, and which channel. */
struct place {
	const char *level;
	int channel; /* -1: none */
	unsigned depth;
	struct ws_tape *tape;
	uint32_t reg; /* the first that is free */
};

static struct ws_operand compile(struct ws_eval *e, const struct ws_expr *expr, struct place *at);

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
					 const struct place *at)
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
					  struct place *at)
{
	const struct ws_expr *formula = ws_metrics_variable(e->metrics, expr->text);
	struct place inner = *at;
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

static struct ws_operand step(struct ws_eval *e, struct place *at, struct ws_step what)
{
	what.to = at->reg;
	if (!ws_tape_add(at->tape, what)) {
		e->no_memory = true;
		return absent(e, "of memory", "out");
	}
	return (struct ws_operand){ .kind = WS_OPERAND_REG, .reg = what.to };
}

/* Compile the arguments of @expr, each one register above those before it. */
static bool compile_args(struct ws_eval *e, const struct ws_expr *expr, struct place *at,
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
					struct place *at)
{
	if (args[1].kind == WS_OPERAND_CONST)
		return args[1].k != 0 ? args[0] : args[2];
	return step(e, at, (struct ws_step){ .code = WS_STEP_SELECT, .a = args[0], .b = args[1],
					     .c = args[2] });
}

/* Make the column of @expr, unless it is the one that was made last. */
static const struct made *make(struct ws_eval *e, const struct ws_expr *expr,
			       const struct place *at, bool in_order)
{
	struct made *m = &e->made;
	struct ws_tape tape = { 0 };
	struct place inner = { .level = at->level, .channel = at->channel, .depth = at->depth,
			       .tape = &tape };
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
		double *grown = realloc(e->regs, (size_t)(tape.n_regs + 3) * WS_TAPE_BLOCK *
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
	if (!m->absent && !ws_tape_run(&tape, result, e->rows, e->sel->n, e->regs, column)) {
		absent(e, "holds fractions where whole numbers belong", "a counter");
		m->absent = true;
	}
	ws_tape_fini(&tape);
	return m;
}

/* Mean, least, greatest and sum of a column, remembered by formula. */
static bool fold_of(struct ws_eval *e, const struct ws_expr *expr, const struct place *at,
		    struct ws_fold *out)
{
	struct known *known = NULL;
	const struct made *m;

	*out = (struct ws_fold){ 0, NAN, NAN, NAN };
	if (at->channel < 0 && expr->id < e->metrics->pool.n)
		known = &e->known[expr->id];
	if (known && known->done && known->level == at->level) {
		*out = known->fold;
		return !known->absent;
	}
	m = make(e, expr, at, false);
	if (!m->absent)
		*out = ws_fold_values(m->at, m->n);
	if (known)
		*known = (struct known){ at->level, *out, true, m->absent };
	return !m->absent;
}

static double quantile_of(struct ws_eval *e, const struct ws_expr *expr, const struct place *at,
			  double q)
{
	const struct made *m = make(e, expr, at, false);

	if (m->absent)
		return NAN;
	if (!m->packed) {
		e->made.n = ws_fold_pack(e->made.at, e->made.n);
		e->made.packed = true;
	}
	return ws_fold_quantile(e->made.at, e->made.n, q);
}

/* Whether a formula is a column; numbers need no folding. */
static struct ws_operand shape(struct ws_eval *e, const struct ws_expr *expr,
			       const struct place *at)
{
	struct ws_tape tape = { 0 };
	struct place inner = *at;
	struct ws_operand result;

	inner.tape = &tape;
	inner.reg = 0;
	result = compile(e, expr, &inner);
	ws_tape_fini(&tape);
	return result;
}

static struct ws_operand compile_fold(struct ws_eval *e, const struct ws_expr *expr,
				      struct place *at)
{
	struct ws_operand inside = shape(e, expr->args[0], at), q;
	struct ws_fold fold = { 0, NAN, NAN, NAN };

	if (inside.kind == WS_OPERAND_ABSENT)
		return inside;
	if (inside.kind == WS_OPERAND_CONST)
		return expr->fn == WS_FN_STD ? constant(NAN) : inside;
	switch (expr->fn) {
	case WS_FN_STD: {
		const struct made *m = make(e, expr->args[0], at, false);

		return constant(m->absent ? NAN : ws_fold_std(m->at, m->n));
	}
	case WS_FN_MEDIAN:
		return constant(quantile_of(e, expr->args[0], at, 0.5));
	case WS_FN_QUANTILE:
		q = shape(e, expr->args[1], at);
		if (q.kind != WS_OPERAND_CONST || !(q.k >= 0 && q.k <= 1))
			return absent(e, "wants a number from 0 to 1", "QUANTILE");
		return constant(quantile_of(e, expr->args[0], at, q.k));
	default:
		break;
	}
	if (!fold_of(e, expr->args[0], at, &fold))
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
					 struct place *at)
{
	enum ws_step_code code = expr->fn == WS_FN_MIN ? WS_STEP_MIN : WS_STEP_MAX;
	struct ws_operand args[16], best;
	struct place free_at = *at;
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
		best = step(e, &free_at, (struct ws_step){ .code = code, .a = best, .b = args[i],
							   .c = constant(0) });
		if (best.kind == WS_OPERAND_ABSENT)
			break;
	}
	return best;
}

static struct ws_operand compile_call(struct ws_eval *e, const struct ws_expr *expr,
				      struct place *at)
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
	return step(e, at, (struct ws_step){ .code = codes[expr->fn], .a = args[0],
					     .b = expr->n_args > 1 ? args[1] : constant(0),
					     .c = constant(0) });
}

static struct ws_operand compile(struct ws_eval *e, const struct ws_expr *expr, struct place *at)
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
		return step(e, at, (struct ws_step){ .code = WS_STEP_NEGATE, .a = args[0],
						     .b = constant(0), .c = constant(0) });
	default:
		if (constants)
			return constant(ws_tape_binary(expr->op, args[0].k, args[1].k));
		return step(e, at, (struct ws_step){ .code = WS_STEP_BINARY, .op = expr->op,
						     .a = args[0], .b = args[1],
						     .c = constant(0) });
	}
}

static double number_at(struct ws_eval *e, const struct ws_expr *expr, const char *level,
			int channel)
{
	struct place at = { .level = level, .channel = channel };
	struct ws_fold fold;
	struct ws_operand value;

	e->why[0] = '\0';
	if (!expr || !e->sel->n)
		return NAN;
	value = shape(e, expr, &at);
	if (value.kind == WS_OPERAND_CONST)
		return value.k;
	if (value.kind == WS_OPERAND_ABSENT || !fold_of(e, expr, &at, &fold))
		return NAN;
	return ws_fold_mean(&fold);
}

double ws_eval_number(struct ws_eval *eval, const struct ws_expr *expr, const char *coll_level)
{
	return number_at(eval, expr, coll_level, -1);
}

double ws_eval_cell(struct ws_eval *eval, const struct ws_metric *metric, unsigned header,
		    unsigned channel)
{
	bool channels = metric->table->kind == WS_TABLE_CHANNELS;

	return number_at(eval, metric->cells[header].expr, metric->coll_level,
			 channels ? (int)channel : -1);
}

const char *ws_eval_why_none(struct ws_eval *eval, const struct ws_metric *metric,
			     unsigned header, unsigned channel)
{
	const struct ws_expr *expr = metric->cells[header].expr;
	double value = ws_eval_cell(eval, metric, header, channel);

	if (value == value)
		return "it has a value";
	if (!expr || expr->kind == WS_EXPR_NONE)
		return "not defined on this architecture";
	return eval->why[0] ? eval->why : "0/0 in every dispatch";
}

unsigned ws_eval_channels(struct ws_eval *eval)
{
	double n;

	if (!ws_sysinfo_number(eval->load, "total_l2_chan", &n) || !(n >= 0 && n <= 4096))
		return 0;
	return (unsigned)n;
}

static const struct ws_expr *inside_of(const struct ws_expr *expr)
{
	if (expr->kind == WS_EXPR_CALL && expr->fn <= WS_FN_QUANTILE &&
	    (expr->n_args == 1 || expr->fn == WS_FN_QUANTILE))
		return expr->args[0];
	for (uint32_t i = 0; i < expr->n_args; i++) {
		const struct ws_expr *found = inside_of(expr->args[i]);

		if (found)
			return found;
	}
	return NULL;
}

bool ws_eval_per_dispatch(struct ws_eval *eval, const struct ws_metric *metric, unsigned header,
			  double *out_values)
{
	const struct ws_expr *expr = metric->cells[header].expr;
	const struct ws_expr *inside = expr ? inside_of(expr) : NULL;
	struct place at = { .level = metric->coll_level, .channel = -1 };
	const struct made *m;

	if (!inside || shape(eval, inside, &at).kind == WS_OPERAND_ABSENT)
		return false;
	m = make(eval, inside, &at, true);
	if (m->absent)
		return false;
	memcpy(out_values, m->at, m->n * sizeof(*out_values));
	return true;
}

double ws_eval_variable(struct ws_eval *eval, const char *name)
{
	struct ws_expr expr = { .kind = WS_EXPR_VARIABLE, .id = UINT32_MAX, .text = name };
	struct place at = { .channel = -1 };
	struct ws_operand value = shape(eval, &expr, &at);
	struct ws_fold fold;

	if (value.kind == WS_OPERAND_CONST)
		return value.k;
	eval->made.expr = NULL; /* it is known by address, and this one is on the stack */
	if (value.kind == WS_OPERAND_ABSENT || !fold_of(eval, &expr, &at, &fold))
		return NAN;
	eval->made.expr = NULL;
	return ws_fold_mean(&fold);
}

double ws_eval_counter(struct ws_eval *eval, const char *name, const char *coll_level)
{
	struct ws_expr expr = { .kind = WS_EXPR_COUNTER, .id = UINT32_MAX, .text = name };
	struct place at = { .level = coll_level, .channel = -1 };
	struct ws_fold fold;
	bool there;

	eval->made.expr = NULL;
	there = fold_of(eval, &expr, &at, &fold);
	eval->made.expr = NULL;
	return there ? ws_fold_mean(&fold) : NAN;
}

/* First letter large, the rest small, as Python's capitalize() leaves it: "Gb/s". */
const char *ws_eval_unit(const struct ws_eval *eval, const char *unit, struct ws_arena *arena)
{
	const char *mark = strstr(unit, "$normUnit");
	char *text = mark ? ws_arena_printf(arena, "%.*s%s%s", (int)(mark - unit), unit,
					    norms[eval->how.norm].unit, mark + 9)
			  : ws_arena_strdup(arena, unit);

	for (char *c = text; c && *c; c++)
		*c = (char)(c == text ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
	return text;
}

enum ws_status ws_eval_create(const struct ws_workload *load, const struct ws_selection *sel,
			      const struct ws_metrics *metrics, const struct ws_eval_how *how,
			      struct ws_eval **out_eval, struct ws_err *err)
{
	struct ws_eval *e = calloc(1, sizeof(*e));
	enum ws_status st;

	if (!e)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	e->load = load;
	e->sel = sel;
	e->metrics = metrics;
	e->how = how ? *how : (struct ws_eval_how){ .norm = WS_PER_KERNEL };
	e->rows = sel->all ? NULL : sel->rows;
	ws_arena_init(&e->arena, SIZE_MAX);
	ws_expr_pool_init(&e->pool, &e->arena);
	st = ws_expr_parse(&e->pool, ws_str_from(norms[e->how.norm].formula), NULL, &e->denom, err);
	e->known = ws_arena_array(&e->arena, (size_t)metrics->pool.n + 1, sizeof(*e->known));
	if (!st && !e->known)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (st)
		ws_eval_destroy(e);
	else
		*out_eval = e;
	return st;
}

void ws_eval_destroy(struct ws_eval *eval)
{
	if (!eval)
		return;
	free(eval->regs);
	ws_expr_pool_fini(&eval->pool);
	ws_arena_fini(&eval->arena);
	free(eval);
}
