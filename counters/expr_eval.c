#include "counters/expr_priv.h"

#include <math.h>
#include <string.h>

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory for the values of a counter");
}

static double *room(struct ws_arena *arena, size_t n)
{
	return ws_arena_array(arena, n ? n : 1, sizeof(double));
}

static double apply(enum cnt_expr_op op, double a, double b)
{
	switch (op) {
	case CNT_EXPR_ADD:
		return a + b;
	case CNT_EXPR_SUB:
		return a - b;
	case CNT_EXPR_MUL:
		return a * b;
	default:
		return b == 0 ? 0 : a / b; /* as AMD defines it */
	}
}

static enum ws_status binary(const struct cnt_expr_step *step, struct cnt_values *a,
			     const struct cnt_values *b, struct ws_arena *arena, struct ws_err *err)
{
	size_t n = a->n > b->n ? a->n : b->n;
	double *out = room(arena, n);

	if (!out)
		return no_memory(err);
	if (a->n != n && a->n != 1)
		return ws_fail(err, WS_E_FORMAT, "cannot combine %zu and %zu instances", a->n,
			       b->n);
	if (b->n != n && b->n != 1)
		return ws_fail(err, WS_E_FORMAT, "cannot combine %zu and %zu instances", a->n,
			       b->n);
	for (size_t i = 0; i < n; i++)
		out[i] = apply(step->op, a->at[a->n == 1 ? 0 : i], b->at[b->n == 1 ? 0 : i]);
	if (a->n == 1 && b->n > 1)
		a->shape = b->shape;
	a->at = out;
	a->n = n;
	return WS_OK;
}

static void gather(enum cnt_reduce_by by, double value, double *out, uint32_t *n)
{
	if (isnan(value)) /* an instance that was not seen */
		return;
	if (!(*n)++)
		*out = value;
	else if (by == CNT_REDUCE_MIN)
		*out = fmin(*out, value);
	else if (by == CNT_REDUCE_MAX)
		*out = fmax(*out, value);
	else
		*out += value;
}

static enum ws_status reduce(const struct cnt_expr_step *step, struct cnt_values *v,
			     struct ws_arena *arena, struct ws_err *err)
{
	struct cnt_shape left = cnt_shape_without_(&v->shape, step->reduce.dims);
	size_t n = cnt_shape_size(&left);
	double *out = room(arena, n);
	uint32_t *counts = ws_arena_array(arena, n, sizeof(*counts)), index[CNT_SHAPE_MAX];

	if (!out || !counts)
		return no_memory(err);
	for (size_t i = 0; i < v->n; i++) {
		size_t to = 0;

		cnt_shape_index(&v->shape, i, index);
		for (unsigned d = 0; d < v->shape.n_dims; d++)
			if (!(step->reduce.dims & 1u << v->shape.at[d].dim))
				to = to * v->shape.at[d].n + index[d];
		gather(step->reduce.by, v->at[i], &out[to], &counts[to]);
	}
	for (size_t i = 0; i < n; i++)
		if (!counts[i])
			out[i] = NAN;
		else if (step->reduce.by == CNT_REDUCE_AVR)
			out[i] /= counts[i];
	*v = (struct cnt_values){ out, n, left };
	return WS_OK;
}

static enum ws_status pick(const struct cnt_expr_step *step, struct cnt_values *v,
			   struct ws_arena *arena, struct ws_err *err)
{
	unsigned gone = 0;
	struct cnt_shape left;
	uint32_t index[CNT_SHAPE_MAX];
	size_t n = 0;
	double *out;

	for (unsigned dim = 0; dim < CNT_DIM_COUNT; dim++)
		if (step->select[dim])
			gone |= 1u << dim;
	left = cnt_shape_without_(&v->shape, gone);
	out = room(arena, cnt_shape_size(&left));
	if (!out)
		return no_memory(err);
	for (size_t i = 0; i < v->n; i++) {
		bool kept = true;

		cnt_shape_index(&v->shape, i, index);
		for (unsigned d = 0; d < v->shape.n_dims; d++) {
			uint32_t wanted = step->select[v->shape.at[d].dim];

			kept &= !wanted || wanted - 1 == index[d];
		}
		if (kept)
			out[n++] = v->at[i];
	}
	*v = (struct cnt_values){ out, n, left };
	return WS_OK;
}

/*
 * A provider may give one number, the sum, where instances were expected. Sums of such and
 * multiples of them are right; whatever needs the instances has no value.
 */
struct slot {
	struct cnt_values v;
	bool is_lump;
};

static bool lumps_go(enum cnt_expr_op op, const struct slot *a, const struct slot *b)
{
	switch (op) {
	case CNT_EXPR_ADD:
	case CNT_EXPR_SUB:
		return a->is_lump && b->is_lump;
	case CNT_EXPR_MUL:
		return (!a->is_lump || !b->is_lump) && a->v.n == 1 && b->v.n == 1;
	default:
		return !b->is_lump && b->v.n == 1;
	}
}

static enum ws_status take_input(const struct cnt_expr *expr, const struct cnt_expr_step *step,
				 const struct cnt_values *inputs, struct slot *slot,
				 struct ws_err *err)
{
	const struct cnt_expr_need *need = &expr->needs.at[step->read.need];
	struct cnt_values *out = &slot->v;

	*out = inputs[step->read.need];
	slot->is_lump = out->n == 1 && cnt_shape_size(&step->shape) > 1;
	if (out->n == 1) {
		out->shape = cnt_shape_scalar_();
		return WS_OK;
	}
	if (out->n && out->n != cnt_shape_size(&step->shape))
		return ws_fail(err, WS_E_FORMAT, "got %zu values for the %zu instances of '%s'",
			       out->n, cnt_shape_size(&step->shape), need->counter->name);
	out->shape = step->shape;
	return WS_OK;
}

static enum ws_status negate(struct cnt_values *v, struct ws_arena *arena, struct ws_err *err)
{
	double *out = room(arena, v->n);

	if (!out)
		return no_memory(err);
	for (size_t i = 0; i < v->n; i++)
		out[i] = -v->at[i];
	v->at = out;
	return WS_OK;
}

/* @slot has the operand, or the left of two; *@out_none: the result has no value. */
static enum ws_status run_step(const struct cnt_expr_step *step, struct slot *slot,
			       struct ws_arena *arena, bool *out_none, struct ws_err *err)
{
	switch (step->op) {
	case CNT_EXPR_NEGATE:
		return negate(&slot->v, arena, err);
	case CNT_EXPR_REDUCE:
		*out_none = slot->is_lump &&
			    (step->reduce.by != CNT_REDUCE_SUM || step->reduce.dims != ~0u);
		slot->is_lump = false;
		return *out_none ? WS_OK : reduce(step, &slot->v, arena, err);
	case CNT_EXPR_SELECT:
		*out_none = slot->is_lump;
		return *out_none ? WS_OK : pick(step, &slot->v, arena, err);
	case CNT_EXPR_INDEX:
		*out_none = slot->is_lump;
		slot->v = (struct cnt_values){ slot->v.at + (*out_none ? 0 : step->index), 1,
					       step->shape };
		return WS_OK;
	default:
		if (slot[0].is_lump || slot[1].is_lump) {
			*out_none = !lumps_go(step->op, &slot[0], &slot[1]);
			slot->is_lump = true;
		}
		return *out_none ? WS_OK : binary(step, &slot[0].v, &slot[1].v, arena, err);
	}
}

/* The result may still be an input or a number of the expression, which live elsewhere. */
static enum ws_status keep(const struct cnt_values *v, struct ws_arena *arena,
			   struct cnt_values *out_values, struct ws_err *err)
{
	double *copy = room(arena, v->n);

	if (!copy)
		return no_memory(err);
	memcpy(copy, v->at, v->n * sizeof(*copy));
	*out_values = (struct cnt_values){ copy, v->n, v->shape };
	return WS_OK;
}

enum ws_status cnt_expr_eval(const struct cnt_expr *expr, const struct cnt_values *inputs,
			     struct ws_arena *arena, struct cnt_values *out_values,
			     struct ws_err *err)
{
	struct slot *stack = ws_arena_array(arena, expr->steps.n, sizeof(*stack));
	bool none = false;
	size_t n = 0;

	if (!stack)
		return no_memory(err);
	*out_values = (struct cnt_values){ .shape = expr->shape };
	for (size_t i = 0; i < expr->steps.n; i++) {
		const struct cnt_expr_step *step = &expr->steps.at[i];
		enum ws_status st;

		if (step->op == CNT_EXPR_NUMBER) {
			stack[n++] =
				(struct slot){ { &step->number, 1, cnt_shape_scalar_() }, false };
			continue;
		}
		if (step->op == CNT_EXPR_READ) {
			st = take_input(expr, step, inputs, &stack[n], err);
			none = !st && !stack[n++].v.n;
		} else {
			if (step->op >= CNT_EXPR_ADD && step->op <= CNT_EXPR_DIV)
				n--;
			st = run_step(step, &stack[n - 1], arena, &none, err);
		}
		if (st || none)
			return st;
	}
	return keep(&stack[0].v, arena, out_values, err);
}

bool cnt_values_total(const struct cnt_values *values, double *out_total)
{
	double total = 0;
	size_t n_seen = 0;

	for (size_t i = 0; i < values->n; i++) {
		if (isnan(values->at[i]))
			continue;
		total += values->at[i];
		n_seen++;
	}
	if (n_seen)
		*out_total = total;
	return n_seen > 0;
}
