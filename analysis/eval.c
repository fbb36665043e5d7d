/* Values of cells, variables and counters; compile.c does the work. */
#include "analysis/eval_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ana_norm_words[] = {
#define ANA_NORM_ROW(name, word, unit, formula) word,
	ANA_NORM_TABLE(ANA_NORM_ROW)
#undef ANA_NORM_ROW
		NULL
};

static const struct {
	const char *unit, *formula;
} norms[] = {
#define ANA_NORM_ROW(name, word, unit, formula) { unit, formula },
	ANA_NORM_TABLE(ANA_NORM_ROW)
#undef ANA_NORM_ROW
};

static double number_at(struct ana_eval *e, const struct ana_expr *expr, const char *level,
			int channel)
{
	struct ana_place at = { .level = level, .channel = channel };
	struct ws_fold fold;
	struct ana_operand value;

	e->why[0] = '\0';
	if (!expr || !e->sel->n)
		return NAN;
	value = ana_eval_shape(e, expr, &at);
	if (value.kind == ANA_OPERAND_CONST)
		return value.k;
	if (value.kind == ANA_OPERAND_ABSENT || !ana_eval_fold_of(e, expr, &at, &fold))
		return NAN;
	return ws_fold_mean(&fold);
}

double ana_eval_number(struct ana_eval *eval, const struct ana_expr *expr, const char *coll_level)
{
	return number_at(eval, expr, coll_level, -1);
}

double ana_eval_cell(struct ana_eval *eval, const struct ana_metric *metric, unsigned header,
		     unsigned channel)
{
	bool channels = metric->table->kind == ANA_TABLE_CHANNELS;

	return number_at(eval, metric->cells[header].expr, metric->coll_level,
			 channels ? (int)channel : -1);
}

const char *ana_eval_why_none(struct ana_eval *eval, const struct ana_metric *metric,
			      unsigned header, unsigned channel)
{
	const struct ana_expr *expr = metric->cells[header].expr;
	double value = ana_eval_cell(eval, metric, header, channel);

	if (value == value)
		return "it has a value";
	if (!expr || expr->kind == ANA_EXPR_NONE)
		return "not defined on this architecture";
	return eval->why[0] ? eval->why : "0/0 in every dispatch";
}

unsigned ana_eval_channels(struct ana_eval *eval)
{
	double n;

	if (!wl_workload_number(eval->load, "total_l2_chan", &n) || !(n >= 0 && n <= 4096))
		return 0;
	return (unsigned)n;
}

static const struct ana_expr *inside_of(const struct ana_expr *expr)
{
	if (expr->kind == ANA_EXPR_CALL && expr->fn <= ANA_FN_QUANTILE &&
	    (expr->n_args == 1 || expr->fn == ANA_FN_QUANTILE))
		return expr->args[0];
	for (uint32_t i = 0; i < expr->n_args; i++) {
		const struct ana_expr *found = inside_of(expr->args[i]);

		if (found)
			return found;
	}
	return NULL;
}

bool ana_eval_per_dispatch(struct ana_eval *eval, const struct ana_metric *metric, unsigned header,
			   double *out_values)
{
	const struct ana_expr *expr = metric->cells[header].expr;
	const struct ana_expr *inside = expr ? inside_of(expr) : NULL;
	struct ana_place at = { .level = metric->coll_level, .channel = -1 };
	const struct ana_made *m;

	if (!inside || ana_eval_shape(eval, inside, &at).kind == ANA_OPERAND_ABSENT)
		return false;
	m = ana_eval_make(eval, inside, &at, true);
	if (m->absent)
		return false;
	memcpy(out_values, m->at, m->n * sizeof(*out_values));
	return true;
}

double ana_eval_variable(struct ana_eval *eval, const char *name)
{
	struct ana_expr expr = { .kind = ANA_EXPR_VARIABLE, .id = UINT32_MAX, .text = name };
	struct ana_place at = { .channel = -1 };
	struct ana_operand value = ana_eval_shape(eval, &expr, &at);
	struct ws_fold fold;

	if (value.kind == ANA_OPERAND_CONST)
		return value.k;
	eval->made.expr = NULL; /* it is known by address, and this one is on the stack */
	if (value.kind == ANA_OPERAND_ABSENT || !ana_eval_fold_of(eval, &expr, &at, &fold))
		return NAN;
	eval->made.expr = NULL;
	return ws_fold_mean(&fold);
}

double ana_eval_counter(struct ana_eval *eval, const char *name, const char *coll_level)
{
	struct ana_expr expr = { .kind = ANA_EXPR_COUNTER, .id = UINT32_MAX, .text = name };
	struct ana_place at = { .level = coll_level, .channel = -1 };
	struct ws_fold fold;
	bool there;

	eval->made.expr = NULL;
	there = ana_eval_fold_of(eval, &expr, &at, &fold);
	eval->made.expr = NULL;
	return there ? ws_fold_mean(&fold) : NAN;
}

/* First letter large, the rest small, as Python's capitalize() leaves it: "Gb/s". */
const char *ana_eval_unit(const struct ana_eval *eval, const char *unit, struct ws_arena *arena)
{
	const char *mark = strstr(unit, "$normUnit");
	char *text = mark ? ws_arena_printf(arena, "%.*s%s%s", (int)(mark - unit), unit,
					    norms[eval->how.norm].unit, mark + 9)
			  : ws_arena_strdup(arena, unit);

	for (char *c = text; c && *c; c++)
		*c = (char)(c == text ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
	return text;
}

enum ws_status ana_eval_create(const struct wl_workload *load, const struct ana_selection *sel,
			       const struct ana_metrics *metrics, const struct ana_eval_how *how,
			       struct ana_eval **out_eval, struct ws_err *err)
{
	struct ana_eval *e = calloc(1, sizeof(*e));
	enum ws_status st;

	if (!e)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	e->load = load;
	e->sel = sel;
	e->metrics = metrics;
	e->how = how ? *how : (struct ana_eval_how){ .norm = ANA_PER_KERNEL };
	e->rows = sel->all ? NULL : sel->rows;
	ws_arena_init(&e->arena, SIZE_MAX);
	ana_expr_pool_init(&e->pool, &e->arena);
	st = ana_expr_parse(&e->pool, ws_str_from(norms[e->how.norm].formula), NULL, &e->denom,
			    err);
	e->n_known = metrics->pool.n;
	e->known = ws_arena_array(&e->arena, (size_t)e->n_known + 1, sizeof(*e->known));
	if (!st && !e->known)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (st)
		ana_eval_destroy(e);
	else
		*out_eval = e;
	return st;
}

void ana_eval_destroy(struct ana_eval *eval)
{
	if (!eval)
		return;
	free(eval->regs);
	ana_expr_pool_fini(&eval->pool);
	ws_arena_fini(&eval->arena);
	free(eval);
}
