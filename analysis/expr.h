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

#define ANA_EXPR_DEPTH_MAX 1000u /* of the tree; a sum of that many terms is one deep each */

enum ana_expr_kind {
	ANA_EXPR_NUMBER,
	ANA_EXPR_NONE,     /* None: no value */
	ANA_EXPR_COUNTER,  /* a column: "SQ_WAVES", "TCC_HIT[3]", "Start_Timestamp" */
	ANA_EXPR_VARIABLE, /* "$cu_per_gpu" without the dollar */
	ANA_EXPR_NEGATE,
	ANA_EXPR_BINARY, /* arg[0] op arg[1] */
	ANA_EXPR_SELECT, /* arg[0] if arg[1] else arg[2] */
	ANA_EXPR_CALL,
};

/* clang-format off */
#define ANA_OP_TABLE(X)  /* spelling, how tightly it binds */ \
	X(ANA_OP_ADD, "+",  2)                                \
	X(ANA_OP_SUB, "-",  2)                                \
	X(ANA_OP_MUL, "*",  3)                                \
	X(ANA_OP_DIV, "/",  3)                                \
	X(ANA_OP_EQ,  "==", 1)                                \
	X(ANA_OP_NE,  "!=", 1)                                \
	X(ANA_OP_LE,  "<=", 1)                                \
	X(ANA_OP_GE,  ">=", 1)                                \
	X(ANA_OP_LT,  "<",  1)                                \
	X(ANA_OP_GT,  ">",  1)
/* clang-format on */

enum ana_expr_op {
#define ANA_OP_ROW(name, text, binds) name,
	ANA_OP_TABLE(ANA_OP_ROW)
#undef ANA_OP_ROW
		ANA_OP_COUNT
};

/* clang-format off */
#define ANA_FN_TABLE(X)  /* name, fewest and most arguments, turns a vector into a number */ \
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

enum ana_fn {
#define ANA_FN_ROW(name, lo, hi, folds) ANA_FN_##name,
	ANA_FN_TABLE(ANA_FN_ROW)
#undef ANA_FN_ROW
		ANA_FN_COUNT
};

struct ana_expr {
	enum ana_expr_kind kind;
	uint32_t id; /* dense within the pool */
	uint32_t depth;
	double number;    /* NUMBER */
	const char *text; /* NUMBER: as written; COUNTER, VARIABLE: the name */
	enum ana_expr_op op;
	enum ana_fn fn;
	uint32_t n_args;
	const struct ana_expr **args;
};

struct ana_expr_pool {
	struct ws_arena *arena;
	struct ws_map nodes; /* a node's own bytes with the ids of its arguments, to the node */
	uint32_t n;
};

extern const char *const ana_fn_names[];

void ana_expr_pool_init(struct ana_expr_pool *pool, struct ws_arena *arena);
void ana_expr_pool_fini(struct ana_expr_pool *pool);

/*
 * What a bare word means: `name` may give another node for it (a definition, a counter
 * of another name). *@out_expr stays NULL: the word is a counter.
 */
struct ana_expr_scope {
	void *of;
	enum ws_status (*name)(void *of, struct ws_str word, const struct ana_expr **out_expr,
			       struct ws_err *err);
};

enum ws_status ana_expr_parse(struct ana_expr_pool *pool, struct ws_str text,
			      const struct ana_expr_scope *scope, const struct ana_expr **out_expr,
			      struct ws_err *err);

/* Building nodes, for definitions that are made of other definitions. NULL: no memory. */
const struct ana_expr *ana_expr_number(struct ana_expr_pool *pool, const char *text);
const struct ana_expr *ana_expr_none(struct ana_expr_pool *pool);
const struct ana_expr *ana_expr_counter(struct ana_expr_pool *pool, struct ws_str name);
const struct ana_expr *ana_expr_variable(struct ana_expr_pool *pool, struct ws_str name);
const struct ana_expr *ana_expr_call(struct ana_expr_pool *pool, enum ana_fn fn,
				     const struct ana_expr *const *args, uint32_t n_args);
const struct ana_expr *ana_expr_binary(struct ana_expr_pool *pool, enum ana_expr_op op,
				       const struct ana_expr *a, const struct ana_expr *b);

const struct ana_expr *ana_expr_negate(struct ana_expr_pool *pool, const struct ana_expr *a);
const struct ana_expr *ana_expr_select(struct ana_expr_pool *pool, const struct ana_expr *yes,
				       const struct ana_expr *cond, const struct ana_expr *no);

/* Each counter and variable in @expr, once, in order of appearance. */
void ana_expr_each_name(const struct ana_expr *expr,
			void (*visit)(void *of, const struct ana_expr *name), void *of);

/* Fully parenthesised: "((a + b) / c)". */
void ana_expr_print(const struct ana_expr *expr, struct ws_buf *to);
/* With the fewest parentheses, for people. */
void ana_expr_show(const struct ana_expr *expr, struct ws_buf *to);

#endif
