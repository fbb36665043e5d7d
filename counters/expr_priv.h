/* expr: what the compiler (expr.c) hands to the evaluator (expr_eval.c): steps for a stack. */
#ifndef WS_COUNTERS_EXPR_PRIV_H
#define WS_COUNTERS_EXPR_PRIV_H

#include "base/vec.h"
#include "counters/counters_priv.h"

enum ws_expr_op {
	WS_EXPR_NUMBER,
	WS_EXPR_READ,
	WS_EXPR_ADD,
	WS_EXPR_SUB,
	WS_EXPR_MUL,
	WS_EXPR_DIV,
	WS_EXPR_NEGATE,
	WS_EXPR_REDUCE,
	WS_EXPR_SELECT,
	WS_EXPR_INDEX, /* NAME[n] */
};

enum ws_reduce_by { WS_REDUCE_SUM, WS_REDUCE_MIN, WS_REDUCE_MAX, WS_REDUCE_AVR };

struct ws_expr_step {
	enum ws_expr_op op;
	union {
		double number;
		size_t index;
		struct {
			struct ws_expr_need what;
			uint32_t need; /* its place in the needs */
		} read;
		struct {
			enum ws_reduce_by by;
			unsigned dims; /* bit per enum ws_dim */
		} reduce;
		uint32_t select[WS_DIM_COUNT]; /* index + 1 per dimension; 0: all */
	};
	struct ws_shape shape; /* of what it leaves */
};

struct ws_expr {
	WS_VEC(struct ws_expr_step) steps;
	WS_VEC(struct ws_expr_need) needs;
	struct ws_shape shape;
};

/* What is left of @shape when the dimensions of @gone are; a scalar when all are. */
struct ws_shape ws_shape_without_(const struct ws_shape *shape, unsigned gone);

#endif
