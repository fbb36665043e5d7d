/*
 * expr: formulas over counters, parsed once and shared.
 *
 * The grammar is what metric definitions need: numbers, + - * /, comparisons,
 * `X if C else Y`, calls, counters (NAME or NAME[3]), $variables and None. Equal
 * sub-formulas are one node, so that evaluation can keep what it already knows.
 *
 * Memory   nodes live in the pool, which is released whole.
 * Failure  the text names the token: "unknown function 'AVGG' at column 7".
 */
#ifndef WS_ANALYSIS_EXPR_H
#define WS_ANALYSIS_EXPR_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_EXPR_DEPTH_MAX 1000u /* of the tree; a sum of that many terms is one deep each */

enum ws_expr_kind {
	WS_EXPR_NUMBER,
	WS_EXPR_NONE,     /* None: no value */
	WS_EXPR_COUNTER,  /* a column: "SQ_WAVES", "TCC_HIT[3]", "Start_Timestamp" */
	WS_EXPR_VARIABLE, /* "$cu_per_gpu" without the dollar */
	WS_EXPR_NEGATE,
	WS_EXPR_BINARY, /* arg[0] op arg[1] */
	WS_EXPR_SELECT, /* arg[0] if arg[1] else arg[2] */
	WS_EXPR_CALL,
};

/* clang-format off */
#define WS_OP_TABLE(X)  /* spelling, how tightly it binds */ \
	X(WS_OP_ADD, "+",  2)                                \
	X(WS_OP_SUB, "-",  2)                                \
	X(WS_OP_MUL, "*",  3)                                \
	X(WS_OP_DIV, "/",  3)                                \
	X(WS_OP_EQ,  "==", 1)                                \
	X(WS_OP_NE,  "!=", 1)                                \
	X(WS_OP_LE,  "<=", 1)                                \
	X(WS_OP_GE,  ">=", 1)                                \
	X(WS_OP_LT,  "<",  1)                                \
	X(WS_OP_GT,  ">",  1)
/* clang-format on */

enum ws_expr_op {
#define WS_OP_ROW(name, text, binds) name,
	WS_OP_TABLE(WS_OP_ROW)
#undef WS_OP_ROW
		WS_OP_COUNT
};

/* clang-format off */
#define WS_FN_TABLE(X)  /* name, fewest and most arguments, turns a vector into a number */ \
	X(AVG,         1, 1,  true)                                                         \
	X(MIN,         1, 16, true)                                                         \
	X(MAX,         1, 16, true)                                                         \
	X(SUM,         1, 1,  true)                                                         \
	X(STD,         1, 1,  true)                                                         \
	X(MEDIAN,      1, 1,  true)                                                         \
	X(QUANTILE,    2, 2,  true)                                                         \
	X(ROUND,       2, 2,  false)                                                        \
	X(MOD,         2, 2,  false)                                                        \
	X(TO_INT,      1, 1,  false)                                                        \
	X(NOISE_CLAMP, 2, 2,  false)
/* clang-format on */

enum ws_fn {
#define WS_FN_ROW(name, lo, hi, folds) WS_FN_##name,
	WS_FN_TABLE(WS_FN_ROW)
#undef WS_FN_ROW
		WS_FN_COUNT
};

struct ws_expr {
	enum ws_expr_kind kind;
	uint32_t id; /* dense within the pool */
	uint32_t depth;
	double number;    /* NUMBER */
	const char *text; /* NUMBER: as written; COUNTER, VARIABLE: the name */
	enum ws_expr_op op;
	enum ws_fn fn;
	uint32_t n_args;
	const struct ws_expr **args;
};

struct ws_expr_pool {
	struct ws_arena *arena;
	struct ws_map nodes; /* a node's own bytes with the ids of its arguments, to the node */
	uint32_t n;
};

extern const char *const ws_fn_names[];

void ws_expr_pool_init(struct ws_expr_pool *pool, struct ws_arena *arena);
void ws_expr_pool_fini(struct ws_expr_pool *pool);

/*
 * What a bare word means: `name` may give another node for it (a definition, a counter
 * of another name). *@out_expr stays NULL: the word is a counter.
 */
struct ws_expr_scope {
	void *of;
	enum ws_status (*name)(void *of, struct ws_str word, const struct ws_expr **out_expr,
			       struct ws_err *err);
};

enum ws_status ws_expr_parse(struct ws_expr_pool *pool, struct ws_str text,
			     const struct ws_expr_scope *scope, const struct ws_expr **out_expr,
			     struct ws_err *err);

/* Building nodes, for definitions that are made of other definitions. NULL: no memory. */
const struct ws_expr *ws_expr_number(struct ws_expr_pool *pool, const char *text);
const struct ws_expr *ws_expr_none(struct ws_expr_pool *pool);
const struct ws_expr *ws_expr_counter(struct ws_expr_pool *pool, struct ws_str name);
const struct ws_expr *ws_expr_variable(struct ws_expr_pool *pool, struct ws_str name);
const struct ws_expr *ws_expr_call(struct ws_expr_pool *pool, enum ws_fn fn,
				   const struct ws_expr *const *args, uint32_t n_args);
const struct ws_expr *ws_expr_binary(struct ws_expr_pool *pool, enum ws_expr_op op,
				     const struct ws_expr *a, const struct ws_expr *b);

const struct ws_expr *ws_expr_negate(struct ws_expr_pool *pool, const struct ws_expr *a);
const struct ws_expr *ws_expr_select(struct ws_expr_pool *pool, const struct ws_expr *yes,
				     const struct ws_expr *cond, const struct ws_expr *no);

/* Each counter and variable in @expr, once, in order of appearance. */
void ws_expr_each_name(const struct ws_expr *expr,
		       void (*visit)(void *of, const struct ws_expr *name), void *of);

/* Fully parenthesised: "((a + b) / c)". */
void ws_expr_print(const struct ws_expr *expr, struct ws_buf *to);
/* With the fewest parentheses, for people. */
void ws_expr_show(const struct ws_expr *expr, struct ws_buf *to);

#endif
