/* Nodes: made once each, walked and printed. expr_parse.c reads them from text. */
#include "analysis/expr.h"

#include <string.h>

const char *const ana_fn_names[] = {
#define ANA_FN_ROW(name, lo, hi, folds) #name,
	ANA_FN_TABLE(ANA_FN_ROW)
#undef ANA_FN_ROW
};

static const struct {
	const char *text;
	int binds;
} ops[] = {
#define ANA_OP_ROW(name, text, binds) [name] = { text, binds },
	ANA_OP_TABLE(ANA_OP_ROW)
#undef ANA_OP_ROW
};

void ana_expr_pool_init(struct ana_expr_pool *pool, struct ws_arena *arena)
{
	*pool = (struct ana_expr_pool){ .arena = arena };
	ws_map_init(&pool->nodes, WS_MAP_STR, 1u << 24);
}

void ana_expr_pool_fini(struct ana_expr_pool *pool)
{
	ws_map_fini(&pool->nodes);
}

/*
 * The node equal to @like, made when there is none. The key is the node's kind, choice,
 * arguments' ids and text; arguments are nodes of the pool already, so ids stand for them.
 */
static const struct ana_expr *intern(struct ana_expr_pool *pool, const struct ana_expr *like,
				     struct ws_str text)
{
	uint32_t head[3 + 16];
	char key[sizeof(head) + 256];
	size_t n_head = 3 + like->n_args, n_key;
	struct ws_map_entry *known;
	struct ana_expr *node;
	char *kept;

	if (like->n_args > 16 || n_head * 4 + text.n > sizeof(key))
		return NULL;
	head[0] = (uint32_t)like->kind;
	head[1] = like->kind == ANA_EXPR_CALL ? (uint32_t)like->fn : (uint32_t)like->op;
	head[2] = like->n_args;
	for (uint32_t i = 0; i < like->n_args; i++)
		head[3 + i] = like->args[i]->id;
	memcpy(key, head, n_head * 4);
	memcpy(key + n_head * 4, text.at, text.n);
	n_key = n_head * 4 + text.n;
	known = ws_map_find(&pool->nodes, (struct ws_str){ key, n_key });
	if (known)
		return known->value;

	node = ws_arena_new(pool->arena, struct ana_expr);
	kept = ws_arena_alloc(pool->arena, n_key + 1);
	if (!node || !kept)
		return NULL;
	*node = *like;
	memcpy(kept, key, n_key);
	node->text = kept + n_head * 4; /* the arena's zeroes end it */
	node->id = pool->n;
	node->args = ws_arena_array(pool->arena, WS_MAX(like->n_args, 1u), sizeof(*node->args));
	if (!node->args)
		return NULL;
	for (uint32_t i = 0; i < like->n_args; i++) {
		node->args[i] = like->args[i];
		node->depth = WS_MAX(node->depth, like->args[i]->depth + 1);
	}
	if (node->depth > ANA_EXPR_DEPTH_MAX ||
	    ws_map_put(&pool->nodes, (struct ws_str){ kept, n_key }, node, NULL))
		return NULL;
	pool->n++;
	return node;
}

const struct ana_expr *ana_expr_number(struct ana_expr_pool *pool, const char *text)
{
	struct ana_expr like = { .kind = ANA_EXPR_NUMBER };

	if (!ws_str_f64(ws_str_from(text), &like.number))
		return NULL;
	return intern(pool, &like, ws_str_from(text));
}

const struct ana_expr *ana_expr_none(struct ana_expr_pool *pool)
{
	return intern(pool, &(struct ana_expr){ .kind = ANA_EXPR_NONE }, WS_STR("None"));
}

const struct ana_expr *ana_expr_counter(struct ana_expr_pool *pool, struct ws_str name)
{
	return intern(pool, &(struct ana_expr){ .kind = ANA_EXPR_COUNTER }, name);
}

const struct ana_expr *ana_expr_variable(struct ana_expr_pool *pool, struct ws_str name)
{
	return intern(pool, &(struct ana_expr){ .kind = ANA_EXPR_VARIABLE }, name);
}

const struct ana_expr *ana_expr_call(struct ana_expr_pool *pool, enum ana_fn fn,
				     const struct ana_expr *const *args, uint32_t n_args)
{
	struct ana_expr like = { .kind = ANA_EXPR_CALL, .fn = fn, .n_args = n_args };

	like.args = (const struct ana_expr **)(uintptr_t)args;
	return intern(pool, &like, WS_STR(""));
}

const struct ana_expr *ana_expr_binary(struct ana_expr_pool *pool, enum ana_expr_op op,
				       const struct ana_expr *a, const struct ana_expr *b)
{
	const struct ana_expr *args[] = { a, b };

	return intern(pool,
		      &(struct ana_expr){
			      .kind = ANA_EXPR_BINARY, .op = op, .n_args = 2, .args = args },
		      WS_STR(""));
}

const struct ana_expr *ana_expr_negate(struct ana_expr_pool *pool, const struct ana_expr *a)
{
	return intern(pool, &(struct ana_expr){ .kind = ANA_EXPR_NEGATE, .n_args = 1, .args = &a },
		      WS_STR(""));
}

const struct ana_expr *ana_expr_select(struct ana_expr_pool *pool, const struct ana_expr *yes,
				       const struct ana_expr *cond, const struct ana_expr *no)
{
	const struct ana_expr *args[] = { yes, cond, no };

	return intern(pool,
		      &(struct ana_expr){ .kind = ANA_EXPR_SELECT, .n_args = 3, .args = args },
		      WS_STR(""));
}

struct visited {
	const struct ana_expr *seen[512];
	size_t n;
	void (*visit)(void *of, const struct ana_expr *name);
	void *of;
};

static void visit_names(const struct ana_expr *expr, struct visited *v)
{
	if (expr->kind == ANA_EXPR_COUNTER || expr->kind == ANA_EXPR_VARIABLE) {
		for (size_t i = 0; i < v->n; i++)
			if (v->seen[i] == expr)
				return;
		if (v->n < WS_ARRAY_LEN(v->seen))
			v->seen[v->n++] = expr;
		v->visit(v->of, expr);
	}
	for (uint32_t i = 0; i < expr->n_args; i++)
		visit_names(expr->args[i], v);
}

void ana_expr_each_name(const struct ana_expr *expr,
			void (*visit)(void *of, const struct ana_expr *name), void *of)
{
	struct visited v = { .n = 0, .visit = visit, .of = of };

	visit_names(expr, &v);
}

static void print_args(const struct ana_expr *expr, struct ws_buf *to,
		       void (*print)(const struct ana_expr *expr, struct ws_buf *to))
{
	ws_buf_printf(to, "%s(", ana_fn_names[expr->fn]);
	for (uint32_t i = 0; i < expr->n_args; i++) {
		if (i)
			ws_buf_add(to, ", ");
		print(expr->args[i], to);
	}
	ws_buf_add(to, ")");
}

static void print_leaf(const struct ana_expr *expr, struct ws_buf *to)
{
	if (expr->kind == ANA_EXPR_VARIABLE)
		ws_buf_add(to, "$");
	ws_buf_add(to, expr->text);
}

void ana_expr_print(const struct ana_expr *expr, struct ws_buf *to)
{
	switch (expr->kind) {
	case ANA_EXPR_NEGATE:
		ws_buf_add(to, "(-");
		ana_expr_print(expr->args[0], to);
		ws_buf_add(to, ")");
		break;
	case ANA_EXPR_BINARY:
		ws_buf_add(to, "(");
		ana_expr_print(expr->args[0], to);
		ws_buf_printf(to, " %s ", ops[expr->op].text);
		ana_expr_print(expr->args[1], to);
		ws_buf_add(to, ")");
		break;
	case ANA_EXPR_SELECT:
		ws_buf_add(to, "(");
		ana_expr_print(expr->args[0], to);
		ws_buf_add(to, " if ");
		ana_expr_print(expr->args[1], to);
		ws_buf_add(to, " else ");
		ana_expr_print(expr->args[2], to);
		ws_buf_add(to, ")");
		break;
	case ANA_EXPR_CALL:
		print_args(expr, to, ana_expr_print);
		break;
	default:
		print_leaf(expr, to);
	}
}

/* @binds: how tightly what stands around binds; a looser inside needs parentheses. */
static void show(const struct ana_expr *expr, int binds, struct ws_buf *to)
{
	int own = expr->kind == ANA_EXPR_BINARY   ? ops[expr->op].binds
		  : expr->kind == ANA_EXPR_SELECT ? 0
						  : 9;

	if (own < binds)
		ws_buf_add(to, "(");
	switch (expr->kind) {
	case ANA_EXPR_NEGATE:
		ws_buf_add(to, "-");
		show(expr->args[0], 4, to);
		break;
	case ANA_EXPR_BINARY:
		show(expr->args[0], own, to);
		ws_buf_printf(to, " %s ", ops[expr->op].text);
		show(expr->args[1], own + 1, to);
		break;
	case ANA_EXPR_SELECT:
		show(expr->args[0], 1, to);
		ws_buf_add(to, " if ");
		show(expr->args[1], 1, to);
		ws_buf_add(to, " else ");
		show(expr->args[2], 0, to);
		break;
	case ANA_EXPR_CALL:
		print_args(expr, to, ana_expr_show);
		break;
	default:
		print_leaf(expr, to);
	}
	if (own < binds)
		ws_buf_add(to, ")");
}

void ana_expr_show(const struct ana_expr *expr, struct ws_buf *to)
{
	show(expr, 0, to);
}
