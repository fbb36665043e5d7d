#include "analysis/explain.h"

#include "analysis/diff.h"
#include "analysis/tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096u /* of a formula or a step */

struct walk {
	const struct ana_explain_source *source;
	const struct ana_metric *metric;
	struct ana_eval *one; /* of the dispatch that is shown */
	struct ws_arena *arena;
	struct ana_explanation *out;
	size_t names_cap;
	const struct ana_expr **step_of; /* per step: its formula, to find it again */
	bool no_memory;
};

/* ---- values in the one dispatch ---- */

/*
 * Variables that are columns are taken from the dispatch; the others are numbers of the
 * whole selection ($numActiveCUs is an average over it), and stay what they are in the table.
 */
static bool is_per_dispatch(const char *variable)
{
	const char *end = strstr(variable, "_PER_XCD");

	return !strcmp(variable, "denom") || (end && !end[8]);
}

static double name_here(const struct walk *w, const struct ana_expr *expr)
{
	if (expr->kind == ANA_EXPR_COUNTER)
		return ana_eval_counter(w->one, expr->text, w->metric->coll_level);
	return ana_eval_variable(is_per_dispatch(expr->text) ? w->one : w->source->eval,
				 expr->text);
}

static double value_here(const struct walk *w, const struct ana_expr *expr);

static double call_here(const struct walk *w, const struct ana_expr *expr)
{
	double a = value_here(w, expr->args[0]);
	double b = expr->n_args > 1 ? value_here(w, expr->args[1]) : NAN;

	switch (expr->fn) {
	case ANA_FN_MIN:
	case ANA_FN_MAX:
		for (uint32_t i = 1; i < expr->n_args; i++) {
			b = value_here(w, expr->args[i]);
			a = expr->fn == ANA_FN_MIN ? fmin(a, b) : fmax(a, b);
		}
		return a;
	case ANA_FN_ROUND: {
		double scale = pow(10, b);

		return rint(a * scale) / scale;
	}
	case ANA_FN_MOD:
		return a - b * floor(a / b);
	case ANA_FN_TO_INT:
		return trunc(a);
	case ANA_FN_NOISE_CLAMP:
		return fmax(a, 0);
	case ANA_FN_STD:
		return NAN; /* of one dispatch */
	default:
		return a; /* an aggregate of one value is that value */
	}
}

static double value_here(const struct walk *w, const struct ana_expr *expr)
{
	switch (expr->kind) {
	case ANA_EXPR_NUMBER:
		return expr->number;
	case ANA_EXPR_COUNTER:
	case ANA_EXPR_VARIABLE:
		return name_here(w, expr);
	case ANA_EXPR_NEGATE:
		return -value_here(w, expr->args[0]);
	case ANA_EXPR_BINARY:
		return ana_tape_binary(expr->op, value_here(w, expr->args[0]),
				       value_here(w, expr->args[1]));
	case ANA_EXPR_SELECT:
		return value_here(w, value_here(w, expr->args[1]) != 0 ? expr->args[0]
								       : expr->args[2]);
	case ANA_EXPR_CALL:
		return call_here(w, expr);
	default:
		return NAN;
	}
}

/* ---- steps ---- */

static const char *const op_texts[] = {
#define ANA_OP_ROW(name, text, binds) text,
	ANA_OP_TABLE(ANA_OP_ROW)
#undef ANA_OP_ROW
};

static const int op_binds[] = {
#define ANA_OP_ROW(name, text, binds) binds,
	ANA_OP_TABLE(ANA_OP_ROW)
#undef ANA_OP_ROW
};

static const char *label_text(struct walk *w, size_t step)
{
	char text[8];
	size_t n = 0;

	if (step >= 26)
		text[n++] = (char)('a' + step / 26 - 1);
	text[n++] = (char)('a' + step % 26);
	return ws_arena_strndup(w->arena, text, n);
}

static void add_number(struct ws_buf *to, double value)
{
	char text[64];

	/* Counters as whole numbers, ratios with the digits that matter. */
	if (isnan(value))
		ws_buf_add(to, "N/A");
	else if (value == rint(value) && fabs(value) < 1e15)
		ws_buf_printf(to, "%.0f", value);
	else {
		snprintf(text, sizeof(text), "%.6g", value);
		ws_buf_add(to, text);
	}
}

static void add_operand(struct walk *w, const struct ana_expr *expr, struct ws_buf *text,
			struct ws_buf *numbers);

/* "a + b - c" is one step: sums and products are followed down their left side. */
static void add_chain(struct walk *w, const struct ana_expr *expr, int binds, struct ws_buf *text,
		      struct ws_buf *numbers)
{
	if (expr->kind != ANA_EXPR_BINARY || op_binds[expr->op] != binds || binds < 2) {
		add_operand(w, expr, text, numbers);
		return;
	}
	add_chain(w, expr->args[0], binds, text, numbers);
	ws_buf_printf(text, " %s ", op_texts[expr->op]);
	ws_buf_printf(numbers, " %s ", op_texts[expr->op]);
	add_operand(w, expr->args[1], text, numbers);
}

static void add_step(struct walk *w, const struct ana_expr *expr, struct ws_buf *text,
		     struct ws_buf *numbers)
{
	switch (expr->kind) {
	case ANA_EXPR_NEGATE:
		ws_buf_add(text, "-");
		ws_buf_add(numbers, "-");
		add_operand(w, expr->args[0], text, numbers);
		break;
	case ANA_EXPR_BINARY:
		if (op_binds[expr->op] >= 2) {
			add_chain(w, expr, op_binds[expr->op], text, numbers);
			break;
		}
		add_operand(w, expr->args[0], text, numbers);
		ws_buf_printf(text, " %s ", op_texts[expr->op]);
		ws_buf_printf(numbers, " %s ", op_texts[expr->op]);
		add_operand(w, expr->args[1], text, numbers);
		break;
	case ANA_EXPR_SELECT: {
		bool yes = value_here(w, expr->args[1]) != 0;
		struct ws_buf shown;

		/* Only the side that is taken has a value worth following. */
		ws_buf_init(&shown, TEXT_MAX);
		add_operand(w, expr->args[yes ? 0 : 2], &shown, numbers);
		ws_buf_printf(text, "%s, because ", shown.at);
		ws_buf_clear(&shown);
		ana_expr_show(expr->args[1], &shown);
		ws_buf_printf(text, "%s is %s", shown.at, yes ? "true" : "false");
		ws_buf_fini(&shown);
		break;
	}
	default:
		ws_buf_printf(text, "%s(", ana_fn_names[expr->fn]);
		ws_buf_printf(numbers, "%s(", ana_fn_names[expr->fn]);
		for (uint32_t i = 0; i < expr->n_args; i++) {
			if (i) {
				ws_buf_add(text, ", ");
				ws_buf_add(numbers, ", ");
			}
			add_operand(w, expr->args[i], text, numbers);
		}
		ws_buf_add(text, ")");
		ws_buf_add(numbers, ")");
	}
}

/* Make a step of @expr, after those of its parts; its number, or SIZE_MAX when there is no room. */
static size_t make_step(struct walk *w, const struct ana_expr *expr)
{
	struct ana_explain_step step = { .value = value_here(w, expr) };
	struct ws_buf text, numbers;
	size_t at;

	for (size_t i = 0; i < w->out->n_steps; i++)
		if (w->step_of[i] == expr)
			return i;
	if (w->out->cut)
		return SIZE_MAX;
	ws_buf_init(&text, TEXT_MAX);
	ws_buf_init(&numbers, TEXT_MAX);
	add_step(w, expr, &text, &numbers);
	at = w->out->n_steps;
	if (at >= ANA_EXPLAIN_STEPS_MAX) {
		w->out->cut = true;
		at = SIZE_MAX;
	} else {
		step.label = label_text(w, at);
		step.text = ws_arena_strdup(w->arena, text.at);
		step.numbers = ws_arena_strdup(w->arena, numbers.at);
		w->no_memory = w->no_memory || !step.label || !step.text || !step.numbers;
		w->out->steps[at] = step;
		w->step_of[at] = expr;
		w->out->n_steps++;
	}
	ws_buf_fini(&text);
	ws_buf_fini(&numbers);
	return at;
}

static void add_operand(struct walk *w, const struct ana_expr *expr, struct ws_buf *text,
			struct ws_buf *numbers)
{
	size_t step;

	add_number(numbers, value_here(w, expr));
	switch (expr->kind) {
	case ANA_EXPR_NUMBER:
		ws_buf_add(text, expr->text);
		return;
	case ANA_EXPR_NONE:
		ws_buf_add(text, "None");
		return;
	case ANA_EXPR_COUNTER:
		ws_buf_add(text, expr->text);
		return;
	case ANA_EXPR_VARIABLE:
		ws_buf_printf(text, "$%s", expr->text);
		return;
	default:
		step = make_step(w, expr);
		if (step == SIZE_MAX)
			ws_buf_add(text, "..");
		else if (!w->no_memory)
			ws_buf_add(text, w->out->steps[step].label);
	}
}

/* ---- what it is made of ---- */

static void add_name(void *of, const struct ana_expr *expr)
{
	struct walk *w = of;
	struct ana_explain_name *name;

	if (w->no_memory)
		return;
	if (w->out->n_names == w->names_cap) {
		size_t cap = w->names_cap ? 2 * w->names_cap : 16;
		struct ana_explain_name *more = ws_arena_array(w->arena, cap, sizeof(*more));

		if (!more) {
			w->no_memory = true;
			return;
		}
		if (w->names_cap)
			memcpy(more, w->out->names, w->names_cap * sizeof(*more));
		w->out->names = more;
		w->names_cap = cap;
	}
	name = &w->out->names[w->out->n_names++];
	name->is_variable = expr->kind == ANA_EXPR_VARIABLE;
	name->name = name->is_variable ? ws_arena_printf(w->arena, "$%s", expr->text) : expr->text;
	name->here = name_here(w, expr);
	name->mean = name->is_variable
			     ? ana_eval_variable(w->source->eval, expr->text)
			     : ana_eval_counter(w->source->eval, expr->text, w->metric->coll_level);
	w->no_memory = !name->name;
}

static const char *aggregate_of(const struct ana_expr *expr)
{
	return expr->kind == ANA_EXPR_CALL && expr->fn <= ANA_FN_QUANTILE && expr->n_args == 1
		       ? ana_fn_names[expr->fn]
		       : NULL;
}

static enum ws_status explain_cells(struct walk *w, struct ws_err *err)
{
	const struct ana_table *table = w->metric->table;
	struct ana_explanation *out = w->out;
	int main = ana_metric_main_header(table);
	const struct ana_expr *first = main >= 0 ? w->metric->cells[main].expr : NULL;

	out->cells = ws_arena_array(w->arena, table->n_headers + 1, sizeof(*out->cells));
	if (!out->cells)
		return ws_fail(err, WS_E_NOMEM, "no memory for an explanation");
	for (size_t i = 0; i < table->n_headers; i++) {
		struct ana_explain_cell *cell = &out->cells[out->n_cells];
		const struct ana_expr *expr = w->metric->cells[i].expr;
		struct ws_buf formula;

		if (table->headers[i].kind != ANA_HEADER_VALUE)
			continue;
		ws_buf_init(&formula, 1 << 16);
		if (expr)
			ana_expr_show(expr, &formula);
		cell->header = table->headers[i].name;
		if (expr && first && (int)i != main && aggregate_of(expr) && aggregate_of(first) &&
		    expr->args[0] == first->args[0])
			cell->same_as = aggregate_of(expr);
		cell->formula = ws_arena_strdup(w->arena, formula.at);
		cell->value = ana_eval_cell(w->source->eval, w->metric, (unsigned)i, 0);
		if (isnan(cell->value))
			cell->why = ws_arena_strdup(w->arena,
						    ana_eval_why_none(w->source->eval, w->metric,
								      (unsigned)i, 0));
		ws_buf_fini(&formula);
		if (!cell->formula)
			return ws_fail(err, WS_E_NOMEM, "no memory for an explanation");
		out->n_cells++;
	}
	return WS_OK;
}

/* The first selected dispatch with a value, or just the first. */
static size_t choose(const struct ana_explanation *out)
{
	for (size_t i = 0; out->values && i < out->n_values; i++)
		if (!isnan(out->values[i]))
			return i;
	return 0;
}

static enum ws_status explain_steps(struct walk *w, int header, struct ws_err *err)
{
	const struct ana_explain_source *source = w->source;
	const struct ana_expr *expr = w->metric->cells[header].expr;
	struct ana_explanation *out = w->out;
	double *values = ws_arena_array(w->arena, source->rows->n + 1, sizeof(*values));
	struct ana_selection one = { .n = 1 };
	enum ws_status st;

	out->steps = ws_arena_array(w->arena, ANA_EXPLAIN_STEPS_MAX, sizeof(*out->steps));
	w->step_of = ws_arena_array(w->arena, ANA_EXPLAIN_STEPS_MAX, sizeof(*w->step_of));
	if (!values || !out->steps || !w->step_of)
		return ws_fail(err, WS_E_NOMEM, "no memory for an explanation");
	if (ana_eval_per_dispatch(source->eval, w->metric, (unsigned)header, values)) {
		out->values = values;
		out->n_values = source->rows->n;
	}
	out->row = source->rows->rows[choose(out)];
	out->fold = aggregate_of(expr);
	one.rows = &out->row;
	st = ana_eval_create(source->load, &one, source->metrics, &source->how, &w->one, err);
	if (st)
		return st;
	ana_expr_each_name(expr, add_name, w);
	/* Steps are of what stands inside the aggregate; that comes after, over all dispatches. */
	if (out->fold && out->values)
		expr = expr->args[0];
	if (expr->kind != ANA_EXPR_NUMBER && expr->kind != ANA_EXPR_NONE && expr->n_args)
		make_step(w, expr);
	out->here = value_here(w, expr);
	if (w->no_memory)
		return ws_fail(err, WS_E_NOMEM, "no memory for an explanation");
	return WS_OK;
}

enum ws_status ana_explain(const struct ana_explain_source *source, const struct ana_metric *metric,
			   struct ws_arena *arena, struct ana_explanation *out, struct ws_err *err)
{
	struct walk w = { .source = source, .metric = metric, .arena = arena, .out = out };
	int header = ana_metric_main_header(metric->table);
	enum ws_status st;

	*out = (struct ana_explanation){ .metric = metric, .here = NAN };
	out->unit = ana_eval_unit(source->eval, metric->unit, arena);
	st = explain_cells(&w, err);
	if (!st && header >= 0 && metric->cells[header].expr &&
	    metric->table->kind == ANA_TABLE_METRICS)
		st = explain_steps(&w, header, err);
	ana_eval_destroy(w.one);
	return st;
}
