/* From text to nodes: recursive descent, one function per level of binding. */
#include "analysis/expr.h"

#include <ctype.h>
#include <string.h>

#define NESTING_MAX 120u /* parentheses in parentheses; bounds the parser's own stack */

struct parser {
	struct ana_expr_pool *pool;
	const struct ana_expr_scope *scope;
	struct ws_str text;
	size_t pos;
	unsigned nesting;
	struct ws_err *err;
	enum ws_status st;
};

static const struct ana_expr *parse_expr(struct parser *p);

static const struct {
	const char *text;
	int binds;
	enum ana_expr_op op;
} op_rows[] = {
#define ANA_OP_ROW(name, text, binds) { text, binds, name },
	ANA_OP_TABLE(ANA_OP_ROW)
#undef ANA_OP_ROW
};

static const struct {
	uint32_t lo, hi;
} fn_rows[] = {
#define ANA_FN_ROW(name, lo, hi, folds) { lo, hi },
	ANA_FN_TABLE(ANA_FN_ROW)
#undef ANA_FN_ROW
};

static void skip_space(struct parser *p)
{
	while (p->pos < p->text.n && isspace((unsigned char)p->text.at[p->pos]))
		p->pos++;
}

/* What stands at the cursor, for messages: a word, a number or one sign. */
static struct ws_str token_here(struct parser *p)
{
	size_t from = p->pos, to = from;

	while (to < p->text.n && (isalnum((unsigned char)p->text.at[to]) || p->text.at[to] == '_' ||
				  p->text.at[to] == '.'))
		to++;
	if (to == from && to < p->text.n)
		to++;
	return (struct ws_str){ p->text.at + from, WS_MIN(to - from, (size_t)60) };
}

static const struct ana_expr *wrong(struct parser *p, const char *what)
{
	struct ws_str token;

	if (p->st)
		return NULL;
	skip_space(p);
	token = token_here(p);
	if (token.n)
		p->st = ws_fail(p->err, WS_E_FORMAT, "%s at column %zu: '%.*s'", what, p->pos + 1,
				WS_STR_ARGS(token));
	else
		p->st = ws_fail(p->err, WS_E_FORMAT, "%s at the end", what);
	return NULL;
}

static const struct ana_expr *made(struct parser *p, const struct ana_expr *node)
{
	if (!node && !p->st)
		p->st = ws_fail(p->err, WS_E_LIMIT, "the formula is too large at column %zu",
				p->pos + 1);
	return node;
}

static bool take(struct parser *p, const char *sign)
{
	size_t n = strlen(sign);

	skip_space(p);
	if (p->text.n - p->pos < n || memcmp(p->text.at + p->pos, sign, n) != 0)
		return false;
	p->pos += n;
	return true;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct ws_str take_word(struct parser *p)
{
	size_t from;

	skip_space(p);
	from = p->pos;
	if (from < p->text.n && !isdigit((unsigned char)p->text.at[from]))
		while (p->pos < p->text.n && in_word(p->text.at[p->pos]))
			p->pos++;
	return (struct ws_str){ p->text.at + from, p->pos - from };
}

static bool take_keyword(struct parser *p, const char *word)
{
	size_t at = p->pos;

	if (ws_str_is(take_word(p), word))
		return true;
	p->pos = at;
	return false;
}

static const struct ana_expr *parse_number(struct parser *p)
{
	char text[48];
	size_t from = p->pos, n;

	while (p->pos < p->text.n) {
		char c = p->text.at[p->pos];
		bool sign = (c == '+' || c == '-') && p->pos > from &&
			    (p->text.at[p->pos - 1] | 32) == 'e';

		if (!isdigit((unsigned char)c) && c != '.' && (c | 32) != 'e' && !sign)
			break;
		p->pos++;
	}
	n = p->pos - from;
	if (n >= sizeof(text) || (p->pos < p->text.n && in_word(p->text.at[p->pos]))) {
		p->pos = from;
		return wrong(p, "not a number");
	}
	memcpy(text, p->text.at + from, n);
	text[n] = '\0';
	{
		const struct ana_expr *node = ana_expr_number(p->pool, text);

		if (!node) {
			p->pos = from;
			return wrong(p, "not a number");
		}
		return node;
	}
}

static const struct ana_expr *parse_call(struct parser *p, struct ws_str name, size_t name_at)
{
	const struct ana_expr *args[16];
	uint32_t n = 0;
	unsigned fn;

	for (fn = 0; fn < ANA_FN_COUNT; fn++)
		if (ws_str_is(name, ana_fn_names[fn]))
			break;
	if (fn == ANA_FN_COUNT) {
		p->pos = name_at;
		return wrong(p, "unknown function");
	}
	do {
		const struct ana_expr *arg = parse_expr(p);

		if (!arg)
			return NULL;
		if (n == WS_ARRAY_LEN(args))
			return wrong(p, "too many arguments");
		args[n++] = arg;
	} while (take(p, ","));
	if (!take(p, ")"))
		return wrong(p, "',' or ')' expected");
	if (n < fn_rows[fn].lo || n > fn_rows[fn].hi) {
		p->pos = name_at;
		return wrong(p, "wrong number of arguments");
	}
	return made(p, ana_expr_call(p->pool, (enum ana_fn)fn, args, n));
}

/* NAME, NAME[3], NAME[::_1]; the brackets are part of the counter's name. */
static const struct ana_expr *parse_name(struct parser *p, struct ws_str word)
{
	const struct ana_expr *node = NULL;
	struct ws_str whole = word;

	if (p->pos < p->text.n && p->text.at[p->pos] == '[') {
		const char *close = memchr(p->text.at + p->pos, ']', p->text.n - p->pos);
		struct ws_str index;

		if (!close || close - (p->text.at + p->pos) > 8)
			return wrong(p, "']' expected after the channel");
		index = (struct ws_str){ p->text.at + p->pos + 1,
					 (size_t)(close - (p->text.at + p->pos)) - 1 };
		for (size_t i = 0; i < index.n; i++)
			if (!isdigit((unsigned char)index.at[i]) && !ws_str_is(index, "::_1"))
				return wrong(p, "not a channel number");
		if (!index.n)
			return wrong(p, "not a channel number");
		p->pos = (size_t)(close - p->text.at) + 1;
		whole.n = p->pos - (size_t)(word.at - p->text.at);
	}
	if (p->scope && p->scope->name) {
		p->st = p->scope->name(p->scope->of, whole, &node, p->err);
		if (p->st)
			return NULL;
	}
	return made(p, node ? node : ana_expr_counter(p->pool, whole));
}

static const struct ana_expr *parse_primary(struct parser *p)
{
	const struct ana_expr *node;
	struct ws_str word;
	size_t at;

	skip_space(p);
	if (p->pos >= p->text.n)
		return wrong(p, "a value is missing");
	at = p->pos;
	if (isdigit((unsigned char)p->text.at[at]) || p->text.at[at] == '.')
		return parse_number(p);
	if (take(p, "-")) {
		if (++p->nesting > NESTING_MAX)
			return wrong(p, "nested too deeply");
		node = parse_primary(p);
		p->nesting--;
		return node ? made(p, ana_expr_negate(p->pool, node)) : NULL;
	}
	if (take(p, "(")) {
		node = parse_expr(p);
		if (node && !take(p, ")"))
			return wrong(p, "')' expected");
		return node;
	}
	if (take(p, "$")) {
		word = take_word(p);
		if (!word.n)
			return wrong(p, "the name of a variable is missing");
		return made(p, ana_expr_variable(p->pool, word));
	}
	word = take_word(p);
	if (!word.n || ws_str_is(word, "if") || ws_str_is(word, "else")) {
		p->pos = at;
		return wrong(p, "a value is expected");
	}
	if (ws_str_is(word, "None"))
		return made(p, ana_expr_none(p->pool));
	if (p->pos < p->text.n && p->text.at[p->pos] == '(') {
		p->pos++;
		return parse_call(p, word, at);
	}
	return parse_name(p, word);
}

/* Operators that bind at least as tightly as @binds, from left to right. */
static const struct ana_expr *parse_binary(struct parser *p, int binds)
{
	const struct ana_expr *left = binds > 3 ? parse_primary(p) : parse_binary(p, binds + 1);

	while (left && binds <= 3) {
		const struct ana_expr *right;
		size_t i;

		for (i = 0; i < WS_ARRAY_LEN(op_rows); i++)
			if (op_rows[i].binds == binds && take(p, op_rows[i].text))
				break;
		if (i == WS_ARRAY_LEN(op_rows))
			break;
		right = parse_binary(p, binds + 1);
		if (!right)
			return NULL;
		left = made(p, ana_expr_binary(p->pool, op_rows[i].op, left, right));
	}
	return left;
}

static const struct ana_expr *parse_expr(struct parser *p)
{
	const struct ana_expr *value, *cond, *other;

	if (++p->nesting > NESTING_MAX)
		return wrong(p, "nested too deeply");
	value = parse_binary(p, 1);
	if (value && take_keyword(p, "if")) {
		cond = parse_binary(p, 1);
		if (!cond)
			return NULL;
		if (!take_keyword(p, "else"))
			return wrong(p, "'else' expected");
		other = parse_expr(p);
		value = other ? made(p, ana_expr_select(p->pool, value, cond, other)) : NULL;
	}
	p->nesting--;
	return value;
}

enum ws_status ana_expr_parse(struct ana_expr_pool *pool, struct ws_str text,
			      const struct ana_expr_scope *scope, const struct ana_expr **out_expr,
			      struct ws_err *err)
{
	struct parser p = { .pool = pool, .scope = scope, .text = text, .err = err };
	const struct ana_expr *expr = parse_expr(&p);

	if (expr) {
		skip_space(&p);
		if (p.pos < text.n)
			expr = wrong(&p, "unexpected text");
	}
	if (!expr)
		return p.st ? p.st : ws_fail(err, WS_E_FORMAT, "not a formula");
	*out_expr = expr;
	return WS_OK;
}
