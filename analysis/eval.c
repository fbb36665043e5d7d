/* Values of cells, variables and counters; compile.c does the work. */
#include "analysis/eval_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static double number_at(struct ws_eval *e, const struct ws_expr *expr, const char *level,
			int channel)
{
	struct ws_place at = { .level = level, .channel = channel };
	struct ws_fold fold;
	struct ws_operand value;

	e->why[0] = '\0';
	if (!expr || !e->sel->n)
		return NAN;
	value = ws_eval_shape(e, expr, &at);
	if (value.kind == WS_OPERAND_CONST)
		return value.k;
	if (value.kind == WS_OPERAND_ABSENT || !ws_eval_fold_of(e, expr, &at, &fold))
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

const char *ws_eval_why_none(struct ws_eval *eval, const struct ws_metric *metric, unsigned header,
			     unsigned channel)
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
	struct ws_place at = { .level = metric->coll_level, .channel = -1 };
	const struct ws_made *m;

	if (!inside || ws_eval_shape(eval, inside, &at).kind == WS_OPERAND_ABSENT)
		return false;
	m = ws_eval_make(eval, inside, &at, true);
	if (m->absent)
		return false;
	memcpy(out_values, m->at, m->n * sizeof(*out_values));
	return true;
}

double ws_eval_variable(struct ws_eval *eval, const char *name)
{
	struct ws_expr expr = { .kind = WS_EXPR_VARIABLE, .id = UINT32_MAX, .text = name };
	struct ws_place at = { .channel = -1 };
	struct ws_operand value = ws_eval_shape(eval, &expr, &at);
	struct ws_fold fold;

	if (value.kind == WS_OPERAND_CONST)
		return value.k;
	eval->made.expr = NULL; /* it is known by address, and this one is on the stack */
	if (value.kind == WS_OPERAND_ABSENT || !ws_eval_fold_of(eval, &expr, &at, &fold))
		return NAN;
	eval->made.expr = NULL;
	return ws_fold_mean(&fold);
}

double ws_eval_counter(struct ws_eval *eval, const char *name, const char *coll_level)
{
	struct ws_expr expr = { .kind = WS_EXPR_COUNTER, .id = UINT32_MAX, .text = name };
	struct ws_place at = { .level = coll_level, .channel = -1 };
	struct ws_fold fold;
	bool there;

	eval->made.expr = NULL;
	there = ws_eval_fold_of(eval, &expr, &at, &fold);
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
	e->n_known = metrics->pool.n;
	e->known = ws_arena_array(&e->arena, (size_t)e->n_known + 1, sizeof(*e->known));
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
