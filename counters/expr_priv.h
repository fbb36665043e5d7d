/* expr: what the compiler (expr.c) hands to the evaluator (expr_eval.c): steps for a stack. */
#ifndef WS_COUNTERS_EXPR_PRIV_H
#define WS_COUNTERS_EXPR_PRIV_H

#include "base/vec.h"
#include "counters/counters_priv.h"

enum cnt_expr_op {
	CNT_EXPR_NUMBER,
	CNT_EXPR_READ,
	CNT_EXPR_ADD,
	CNT_EXPR_SUB,
	CNT_EXPR_MUL,
	CNT_EXPR_DIV,
	CNT_EXPR_NEGATE,
	CNT_EXPR_REDUCE,
	CNT_EXPR_SELECT,
	CNT_EXPR_INDEX, /* NAME[n] */
};

enum cnt_reduce_by { CNT_REDUCE_SUM, CNT_REDUCE_MIN, CNT_REDUCE_MAX, CNT_REDUCE_AVR };

struct cnt_expr_step {
	enum cnt_expr_op op;
	union {
		double number;
		size_t index;
		struct {
			struct cnt_expr_need what;
			uint32_t need; /* its place in the needs */
		} read;
		struct {
			enum cnt_reduce_by by;
			unsigned dims; /* bit per enum cnt_dim */
		} reduce;
		uint32_t select[CNT_DIM_COUNT]; /* index + 1 per dimension; 0: all */
	};
	struct cnt_shape shape; /* of what it leaves */
};

struct cnt_expr {
	WS_VEC(struct cnt_expr_step) steps;
	WS_VEC(struct cnt_expr_need) needs;
	struct cnt_shape shape;
};

/* What is left of @shape when the dimensions of @gone are; a scalar when all are. */
struct cnt_shape cnt_shape_without_(const struct cnt_shape *shape, unsigned gone);

#endif
