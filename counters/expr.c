#include "counters/expr_priv.h"

#include "base/util.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 65536u /* names that refer to names twice unfold quickly */
#define MAX_DEPTH 64u    /* parentheses, functions and names inside each other */

/* A text being read; a derived counter inside it is another text, with the first one outside. */
struct reader {
	const struct cnt_catalogue *cat;
	struct cnt_expr *expr;
	const char *text, *at;
	const char *name; /* of the counter this is the expression of; NULL for the outermost */
	const struct reader *outer;
	unsigned depth;
	struct ws_err *err;
};

static enum ws_status parse_sum(struct reader *r, struct cnt_shape *out_shape);

static enum ws_status bad(struct reader *r, const char *at, enum ws_status st, const char *fmt, ...)
	WS_PRINTF(4, 5);

static enum ws_status bad(struct reader *r, const char *at, enum ws_status st, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (r->name)
		return ws_fail(r->err, st, "in '%s', column %td: %s", r->name, at - r->text + 1,
			       text);
	return ws_fail(r->err, st, "column %td: %s", at - r->text + 1, text);
}

static char peek(struct reader *r)
{
	for (;;) {
		while (isspace((unsigned char)*r->at))
			r->at++;
		if (r->at[0] != '/' || r->at[1] != '/')
			return *r->at;
		r->at += strcspn(r->at, "\n");
	}
}

static bool take(struct reader *r, char c)
{
	if (peek(r) != c)
		return false;
	r->at++;
	return true;
}

static enum ws_status expect(struct reader *r, char c, const char *where)
{
	if (take(r, c))
		return WS_OK;
	if (!*r->at)
		return bad(r, r->at, WS_E_FORMAT, "the expression ends where '%c' is expected %s",
			   c, where);
	return bad(r, r->at, WS_E_FORMAT, "expected '%c' %s, not '%c'", c, where, *r->at);
}

static struct ws_str word(struct reader *r)
{
	const char *start;

	peek(r);
	start = r->at;
	while (isalnum((unsigned char)*r->at) || *r->at == '_')
		r->at++;
	return (struct ws_str){ start, (size_t)(r->at - start) };
}

static enum ws_status emit(struct reader *r, struct cnt_expr_step step)
{
	if (r->expr->steps.n == MAX_STEPS)
		return bad(r, r->at, WS_E_LIMIT, "too long after expanding its counters");
	return ws_vec_push(&r->expr->steps, step, r->err);
}

static enum ws_status emit_number(struct reader *r, double number, struct cnt_shape *out_shape)
{
	*out_shape = (struct cnt_shape){ 0 };
	return emit(r, (struct cnt_expr_step){ .op = CNT_EXPR_NUMBER, .number = number });
}

static enum ws_status emit_read(struct reader *r, const struct cnt_counter_def *counter,
				enum cnt_counter_form form, struct cnt_shape *out_shape)
{
	if (counter->same_as)
		counter = counter->same_as;
	*out_shape = counter->shape;
	return emit(r, (struct cnt_expr_step){ .op = CNT_EXPR_READ,
					       .read.what = { counter, form },
					       .shape = *out_shape });
}

static bool is_accumulator(const struct cnt_counter_def *def)
{
	return strncmp(def->name, "SQ_ACCUM_PREV", 13) == 0;
}

static enum ws_status unfold(struct reader *r, const char *at, const struct cnt_counter_def *def,
			     struct cnt_shape *out_shape)
{
	struct reader inner = *r;

	for (const struct reader *o = r; o; o = o->outer)
		if (o->name && strcmp(o->name, def->name) == 0)
			return bad(r, at, WS_E_FORMAT, "'%s' refers to itself", def->name);
	if (r->depth == MAX_DEPTH)
		return bad(r, at, WS_E_LIMIT, "counters refer to each other too deeply");
	inner.text = inner.at = def->expression;
	inner.name = def->name;
	inner.outer = r;
	inner.depth++;
	if (parse_sum(&inner, out_shape))
		return r->err ? r->err->status : WS_E_FORMAT;
	if (peek(&inner))
		return bad(&inner, inner.at, WS_E_FORMAT, "unexpected '%c'", *inner.at);
	return WS_OK;
}

static enum ws_status unknown(struct reader *r, const char *at, struct ws_str name)
{
	char copy[128];
	const char *near;

	snprintf(copy, sizeof(copy), "%.*s", WS_STR_ARGS(name));
	near = cnt_catalogue_nearest(r->cat, copy);
	if (near)
		return bad(r, at, WS_E_NOTFOUND, "no counter '%s' on %s: did you mean '%s'?", copy,
			   cnt_catalogue_arch(r->cat), near);
	return bad(r, at, WS_E_NOTFOUND, "no counter '%s' on %s", copy, cnt_catalogue_arch(r->cat));
}

/* "[17]" directly behind a name; false: there is none. */
static bool index_behind(struct reader *r, size_t *out_index, const char **out_end)
{
	char *end;

	if (r->at[0] != '[' || !isdigit((unsigned char)r->at[1]))
		return false;
	*out_index = strtoul(r->at + 1, &end, 10);
	*out_end = end + 1;
	return *end == ']';
}

static enum ws_status read_def(struct reader *r, const char *at, const struct cnt_counter_def *def,
			       struct cnt_shape *out_shape)
{
	switch (def->kind) {
	case CNT_COUNTER_CONSTANT:
		return emit_number(r, def->constant, out_shape);
	case CNT_COUNTER_DERIVED:
		return unfold(r, at, def, out_shape);
	default:
		if (is_accumulator(def))
			return bad(r, at, WS_E_FORMAT,
				   "'%s' alone is not supported: use accumulate(NAME, HIGH_RES)",
				   def->name);
		return emit_read(r, def, CNT_FORM_EACH, out_shape);
	}
}

static enum ws_status parse_name(struct reader *r, struct ws_str name, struct cnt_shape *out_shape)
{
	const struct cnt_counter_def *def;
	const char *at = name.at, *end;
	size_t index;
	enum ws_status st;

	if (!index_behind(r, &index, &end)) {
		def = cnt_catalogue_find_n(r->cat, name);
		return def ? read_def(r, at, def, out_shape) : unknown(r, at, name);
	}
	/* A definition may have the bracket in its name, as rocprof-compute writes them. */
	def = cnt_catalogue_find_n(r->cat, (struct ws_str){ at, (size_t)(end - at) });
	if (def) {
		r->at = end;
		return read_def(r, at, def, out_shape);
	}
	def = cnt_catalogue_find_n(r->cat, name);
	if (!def)
		return unknown(r, at, name);
	st = read_def(r, at, def, out_shape);
	if (st)
		return st;
	r->at = end;
	if (index >= cnt_shape_size(out_shape))
		return bad(r, at, WS_E_FORMAT, "'%s' has %zu instances, numbered from [0]",
			   def->name, cnt_shape_size(out_shape));
	*out_shape = cnt_shape_scalar_();
	return emit(r, (struct cnt_expr_step){
			       .op = CNT_EXPR_INDEX, .index = index, .shape = *out_shape });
}

static enum ws_status parse_dim(struct reader *r, enum cnt_dim *out_dim)
{
	struct ws_str name = word(r);

	*out_dim = cnt_dim_find(name);
	if (*out_dim)
		return WS_OK;
	return bad(r, name.at, WS_E_FORMAT,
		   "'%.*s' is not a dimension: use DIMENSION_XCC, DIMENSION_SHADER_ENGINE, "
		   "DIMENSION_INSTANCE, ...",
		   WS_STR_ARGS(name));
}

struct cnt_shape cnt_shape_without_(const struct cnt_shape *shape, unsigned gone)
{
	struct cnt_shape left = { 0 };

	for (unsigned i = 0; i < shape->n_dims; i++)
		if (!(gone & 1u << shape->at[i].dim))
			left.at[left.n_dims++] = shape->at[i];
	return left.n_dims ? left : cnt_shape_scalar_();
}

/* reduce(x, sum) and reduce(x, sum, [DIM, ...]) */
static enum ws_status parse_reduce(struct reader *r, struct cnt_shape *out_shape)
{
	static const char *const ops[] = { "sum", "min", "max", "avr" };
	struct cnt_expr_step step = { .op = CNT_EXPR_REDUCE, .reduce.by = WS_ARRAY_LEN(ops) };
	size_t first = r->expr->steps.n;
	struct cnt_shape shape;
	struct ws_str op;
	enum cnt_dim dim;

	if (expect(r, '(', "behind 'reduce'") || parse_sum(r, &shape) ||
	    expect(r, ',', "between a value and how to reduce it"))
		goto failed;
	op = word(r);
	for (unsigned i = 0; i < WS_ARRAY_LEN(ops); i++)
		if (ws_str_is(op, ops[i]))
			step.reduce.by = i;
	if (step.reduce.by == WS_ARRAY_LEN(ops))
		return bad(r, op.at, WS_E_FORMAT, "reduce() by '%.*s': use sum, min, max or avr",
			   WS_STR_ARGS(op));
	if (take(r, ',')) {
		if (expect(r, '[', "before the dimensions"))
			goto failed;
		do {
			if (parse_dim(r, &dim))
				goto failed;
			step.reduce.dims |= 1u << dim;
		} while (take(r, ','));
		if (expect(r, ']', "behind the dimensions"))
			goto failed;
	} else {
		step.reduce.dims = ~0u;
	}
	if (expect(r, ')', "at the end of reduce()"))
		goto failed;
	*out_shape = cnt_shape_without_(&shape, step.reduce.dims);
	/* The sum of a counter is what providers can give cheaply. */
	if (step.reduce.dims == ~0u && step.reduce.by == CNT_REDUCE_SUM &&
	    r->expr->steps.n == first + 1) {
		struct cnt_expr_step *last = &r->expr->steps.at[first];

		if (last->op == CNT_EXPR_READ && last->read.what.form == CNT_FORM_EACH) {
			last->read.what.form = CNT_FORM_SUM;
			last->shape = *out_shape;
			return WS_OK;
		}
	}
	step.shape = *out_shape;
	return emit(r, step);
failed:
	return r->err ? r->err->status : WS_E_FORMAT;
}

/* One "DIM=[n]" of select(). */
static enum ws_status parse_choice(struct reader *r, const struct cnt_shape *shape,
				   struct cnt_expr_step *step)
{
	uint32_t extent = 1; /* a dimension that is not there has one place */
	unsigned long index;
	const char *at;
	enum cnt_dim dim;
	char *end;

	if (parse_dim(r, &dim) || expect(r, '=', "behind a dimension") ||
	    expect(r, '[', "before the index"))
		return r->err ? r->err->status : WS_E_FORMAT;
	peek(r);
	at = r->at;
	index = strtoul(at, &end, 10);
	if (!isdigit((unsigned char)*at))
		return bad(r, at, WS_E_FORMAT, "expected an index");
	r->at = end;
	if (peek(r) == ':')
		return bad(r, at, WS_E_UNSUPPORTED,
			   "select() of a range is not supported: use one index");
	for (unsigned i = 0; i < shape->n_dims; i++)
		if (shape->at[i].dim == dim)
			extent = shape->at[i].n;
	if (index >= extent)
		return bad(r, at, WS_E_FORMAT, "%s has indices 0 to %u, not %lu", cnt_dim_name(dim),
			   extent - 1, index);
	step->select[dim] = (uint32_t)index + 1;
	return expect(r, ']', "behind the index");
}

static enum ws_status parse_select(struct reader *r, struct cnt_shape *out_shape)
{
	struct cnt_expr_step step = { .op = CNT_EXPR_SELECT };
	unsigned gone = 0;

	if (expect(r, '(', "behind 'select'") || parse_sum(r, out_shape) ||
	    expect(r, ',', "between a value and what to select") ||
	    expect(r, '[', "before the dimensions"))
		return r->err ? r->err->status : WS_E_FORMAT;
	do {
		if (parse_choice(r, out_shape, &step))
			return r->err ? r->err->status : WS_E_FORMAT;
	} while (take(r, ','));
	if (expect(r, ']', "behind the dimensions") || expect(r, ')', "at the end of select()"))
		return r->err ? r->err->status : WS_E_FORMAT;
	for (unsigned dim = 0; dim < CNT_DIM_COUNT; dim++)
		if (step.select[dim])
			gone |= 1u << dim;
	*out_shape = step.shape = cnt_shape_without_(out_shape, gone);
	return emit(r, step);
}

/*
 * Low resolution adds up every fourth cycle. It is computed from the high one, which costs the same
 * two places of the block, so that one reading serves both.
 */
static enum ws_status parse_accumulate(struct reader *r, struct cnt_shape *out_shape)
{
	const struct cnt_counter_def *def;
	struct ws_str name, mode;
	struct cnt_shape scalar;

	if (expect(r, '(', "behind 'accumulate'"))
		return r->err ? r->err->status : WS_E_FORMAT;
	name = word(r);
	def = cnt_catalogue_find_n(r->cat, name);
	if (!def)
		return unknown(r, name.at, name);
	if (def->kind != CNT_COUNTER_HARDWARE || strcmp(def->block->name, "SQ") != 0 ||
	    is_accumulator(def))
		return bad(r, name.at, WS_E_FORMAT,
			   "accumulate() takes a hardware counter of block SQ, not '%s'",
			   def->name);
	if (expect(r, ',', "behind the counter"))
		return r->err ? r->err->status : WS_E_FORMAT;
	mode = word(r);
	if (!ws_str_is(mode, "NONE") && !ws_str_is(mode, "LOW_RES") && !ws_str_is(mode, "HIGH_RES"))
		return bad(r, mode.at, WS_E_FORMAT,
			   "accumulate() at '%.*s': use NONE, LOW_RES or HIGH_RES",
			   WS_STR_ARGS(mode));
	if (expect(r, ')', "at the end of accumulate()") ||
	    emit_read(r, def, ws_str_is(mode, "NONE") ? CNT_FORM_EACH : CNT_FORM_ACCUMULATED,
		      out_shape))
		return r->err ? r->err->status : WS_E_NOMEM;
	if (!ws_str_is(mode, "LOW_RES"))
		return WS_OK;
	if (emit_number(r, 0.25, &scalar))
		return r->err ? r->err->status : WS_E_NOMEM;
	return emit(r, (struct cnt_expr_step){ .op = CNT_EXPR_MUL, .shape = *out_shape });
}

static enum ws_status parse_word(struct reader *r, struct cnt_shape *out_shape)
{
	static const struct {
		const char *name;
		enum ws_status (*parse)(struct reader *r, struct cnt_shape *out_shape);
	} functions[] = {
		{ "reduce", parse_reduce },
		{ "select", parse_select },
		{ "accumulate", parse_accumulate },
	};
	struct ws_str name = word(r);

	for (size_t i = 0; i < WS_ARRAY_LEN(functions); i++)
		if (ws_str_is(name, functions[i].name))
			return functions[i].parse(r, out_shape);
	if (*r->at == '(')
		return bad(r, name.at, WS_E_FORMAT,
			   "no function '%.*s': use reduce, select or accumulate",
			   WS_STR_ARGS(name));
	return parse_name(r, name, out_shape);
}

/* Hexadecimal and such are strtod()'s, not the language's. */
static enum ws_status parse_number(struct reader *r, struct cnt_shape *out_shape)
{
	char *end;
	double number = strtod(r->at, &end);

	if (end == r->at || (r->at[0] == '0' && strchr("xX", r->at[1]) && r->at[1]) ||
	    isalpha((unsigned char)*end) || *end == '_' || *end == '.')
		return bad(r, r->at, WS_E_FORMAT, "not a number");
	r->at = end;
	return emit_number(r, number, out_shape);
}

static enum ws_status parse_value(struct reader *r, struct cnt_shape *out_shape)
{
	char c = peek(r);
	enum ws_status st;

	if (isdigit((unsigned char)c) || c == '.')
		return parse_number(r, out_shape);
	if (isalpha((unsigned char)c) || c == '_')
		return parse_word(r, out_shape);
	if (c != '(' && c != '-' && c != '+')
		return c ? bad(r, r->at, WS_E_FORMAT, "unexpected '%c'", c)
			 : bad(r, r->at, WS_E_FORMAT,
			       "the expression ends where a value is expected");
	if (r->depth++ == MAX_DEPTH)
		return bad(r, r->at, WS_E_LIMIT, "parentheses are nested too deeply");
	r->at++;
	if (c == '(')
		st = parse_sum(r, out_shape);
	else
		st = parse_value(r, out_shape);
	r->depth--;
	if (!st && c == '(')
		st = expect(r, ')', "to close a parenthesis");
	if (!st && c == '-')
		st = emit(r, (struct cnt_expr_step){ .op = CNT_EXPR_NEGATE, .shape = *out_shape });
	return st;
}

/* What comes out of an operator between the two; false: they do not go together. */
static bool combine(const struct cnt_shape *a, const struct cnt_shape *b,
		    struct cnt_shape *out_shape)
{
	if (cnt_shape_is_scalar_(a) && cnt_shape_is_scalar_(b))
		*out_shape = a->n_dims ? *a : *b;
	else if (cnt_shape_is_scalar_(b) || cnt_shape_same(a, b))
		*out_shape = *a;
	else if (cnt_shape_is_scalar_(a))
		*out_shape = *b;
	else
		return false;
	return true;
}

/* @level 0: + and -, 1: * and /. */
static enum ws_status parse_level(struct reader *r, unsigned level, struct cnt_shape *out_shape)
{
	static const char signs[2][2] = { { '+', '-' }, { '*', '/' } };
	static const enum cnt_expr_op ops[2][2] = { { CNT_EXPR_ADD, CNT_EXPR_SUB },
						    { CNT_EXPR_MUL, CNT_EXPR_DIV } };
	enum ws_status st = level ? parse_value(r, out_shape) : parse_level(r, 1, out_shape);

	while (!st) {
		struct cnt_shape left = *out_shape, right;
		char c = peek(r);
		const char *at = r->at;
		unsigned which = c == signs[level][1];

		if (c != signs[level][which])
			break;
		r->at++;
		st = level ? parse_value(r, &right) : parse_level(r, 1, &right);
		if (st)
			break;
		if (!combine(&left, &right, out_shape))
			return bad(r, at, WS_E_FORMAT,
				   "'%c' between %zu and %zu instances of different dimensions: "
				   "reduce() one of them",
				   c, cnt_shape_size(&left), cnt_shape_size(&right));
		st = emit(r,
			  (struct cnt_expr_step){ .op = ops[level][which], .shape = *out_shape });
	}
	return st;
}

static enum ws_status parse_sum(struct reader *r, struct cnt_shape *out_shape)
{
	enum ws_status st;

	if (r->depth++ == MAX_DEPTH)
		return bad(r, r->at, WS_E_LIMIT, "too deeply nested");
	st = parse_level(r, 0, out_shape);
	r->depth--;
	return st;
}

static enum ws_status collect_needs(struct cnt_expr *expr, struct ws_err *err)
{
	ws_vec_each(step, &expr->steps) {
		uint32_t k = 0;

		if (step->op != CNT_EXPR_READ)
			continue;
		while (k < expr->needs.n && (expr->needs.at[k].counter != step->read.what.counter ||
					     expr->needs.at[k].form != step->read.what.form))
			k++;
		step->read.need = k;
		if (k == expr->needs.n && ws_vec_push(&expr->needs, step->read.what, err))
			return WS_E_NOMEM;
	}
	return WS_OK;
}

enum ws_status cnt_expr_compile(const struct cnt_catalogue *cat, const char *text,
				struct cnt_expr **out_expr, struct ws_err *err)
{
	struct cnt_expr *expr = calloc(1, sizeof(*expr));
	struct ws_err own; /* the parser passes statuses on through it */
	struct reader r = {
		.cat = cat, .expr = expr, .text = text, .at = text, .err = err ? err : &own
	};
	enum ws_status st;

	if (!expr)
		return ws_fail(err, WS_E_NOMEM, "out of memory for an expression");
	ws_vec_init(&expr->steps, MAX_STEPS);
	ws_vec_init(&expr->needs, MAX_STEPS);
	st = parse_sum(&r, &expr->shape);
	if (!st && peek(&r))
		st = bad(&r, r.at, WS_E_FORMAT, "unexpected '%c'", *r.at);
	if (!st)
		st = collect_needs(expr, r.err);
	if (st) {
		cnt_expr_destroy(expr);
		return st;
	}
	if (!expr->shape.n_dims)
		expr->shape = cnt_shape_scalar_();
	*out_expr = expr;
	return WS_OK;
}

void cnt_expr_destroy(struct cnt_expr *expr)
{
	if (!expr)
		return;
	ws_vec_fini(&expr->steps);
	ws_vec_fini(&expr->needs);
	free(expr);
}

const struct cnt_expr_need *cnt_expr_needs(const struct cnt_expr *expr, size_t *out_n)
{
	*out_n = expr->needs.n;
	return expr->needs.at;
}

const struct cnt_shape *cnt_expr_shape(const struct cnt_expr *expr)
{
	return &expr->shape;
}
