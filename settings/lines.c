/* Configuration files as text: one setting per line. file.h describes it. */
#include "settings/file_priv.h"

#include "base/map.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENV_WORD "$env:"
#define VALUE_MAX (1u << 20) /* of one line, variables replaced */

struct reader {
	struct set_values *values;
	const char *path;
	unsigned line;
	struct ws_map variables; /* "NAME" -> text */
	struct set_entries *out;
	struct ws_err *err;
};

static enum ws_status wrong(struct reader *r, const char *what, struct ws_str where)
{
	return ws_fail(r->err, WS_E_FORMAT, "%s:%u: %s '%.*s'", r->path, r->line, what,
		       (int)(where.n > 60 ? 60 : where.n), where.at);
}

static size_t name_length(struct ws_str s)
{
	size_t n = 0;

	while (n < s.n && (isalnum((unsigned char)s.at[n]) || s.at[n] == '_'))
		n++;
	return n;
}

static struct ws_str after(struct ws_str s, size_t n)
{
	return (struct ws_str){ s.at + n, s.n - n };
}

/* ---- values ---- */

static enum ws_status put_environment(struct reader *r, struct ws_str *rest, struct ws_buf *out)
{
	struct ws_str name = after(*rest, strlen(ENV_WORD));
	char text[256];

	name.n = name_length(name);
	if (!name.n || name.n >= sizeof(text))
		return wrong(r, "no name of an environment variable in", *rest);
	snprintf(text, sizeof(text), "%.*s", WS_STR_ARGS(name));
	if (getenv(text))
		ws_buf_add(out, getenv(text));
	*rest = after(*rest, strlen(ENV_WORD) + name.n);
	return WS_OK;
}

/* What begins with '$': a variable, or the '$' itself: "$env{HOME}" is for names of output. */
static enum ws_status put_variable(struct reader *r, struct ws_str *rest, struct ws_buf *out)
{
	struct ws_str name = after(*rest, 1);
	bool braces = name.n && *name.at == '{';
	const char *text;

	if (ws_str_starts(*rest, ENV_WORD))
		return put_environment(r, rest, out);
	if (braces)
		name = after(name, 1);
	name.n = name_length(name);
	if (!name.n ||
	    (!braces && (ws_str_starts(*rest, "$env{") || ws_str_starts(*rest, "$cfg{") ||
			 ws_str_starts(*rest, "$ENV{")))) {
		ws_buf_add_c(out, '$', 1);
		*rest = after(*rest, 1);
		return WS_OK;
	}
	if (braces && (name.at + name.n == rest->at + rest->n || name.at[name.n] != '}'))
		return wrong(r, "no '}' after", *rest);
	text = ws_map_find(&r->variables, name) ? ws_map_find(&r->variables, name)->value : NULL;
	if (!text)
		return wrong(r, "no variable of this file is called", name);
	ws_buf_add(out, text);
	*rest = after(*rest, (size_t)(name.at - rest->at) + name.n + braces);
	return WS_OK;
}

/*
 * One word of a value, up to a separator; quotes may be anywhere in it. *@out_any: there was
 * one, perhaps an empty one in quotes.
 */
static enum ws_status take_word(struct reader *r, struct ws_str *rest, struct ws_buf *out,
				bool *out_any)
{
	char quote = '\0';
	struct ws_str began = *rest;
	enum ws_status st = WS_OK;

	*out_any = false;
	while (rest->n && !st) {
		char c = *rest->at;

		if (quote ? c == quote : (c == '"' || c == '\'')) {
			quote = quote ? '\0' : c;
		} else if (!quote && (strchr(" \t,;", c) || c == '#')) {
			break;
		} else if (c == '$' && quote != '\'') {
			st = put_variable(r, rest, out);
			*out_any = true;
			continue;
		} else {
			ws_buf_add_c(out, c, 1);
		}
		*out_any = true;
		*rest = after(*rest, 1);
	}
	if (!st && quote)
		st = wrong(r, "no closing quote in", began);
	return st;
}

/* The words of @rest, joined by ','; a comment ends them. */
static enum ws_status take_value(struct reader *r, struct ws_str rest, struct ws_buf *out)
{
	bool first = true, any;
	enum ws_status st = WS_OK;

	while (!st) {
		size_t before = out->n;

		while (rest.n && strchr(" \t,;", *rest.at))
			rest = after(rest, 1);
		if (!rest.n || *rest.at == '#')
			break;
		if (!first)
			ws_buf_add_c(out, ',', 1);
		st = take_word(r, &rest, out, &any);
		/* A variable that is empty is no word. */
		if (!st && !first && out->n == before + 1)
			out->n = before, out->at[before] = '\0';
		first = first && out->n == before;
	}
	return st ? st : ws_buf_status(out, r->err);
}

/* ---- lines ---- */

static enum ws_status keep_export(struct reader *r, struct ws_str name, const char *text)
{
	char *kept = ws_arena_strndup(&r->values->arena, name.at, name.n);
	enum ws_status st;

	if (!kept)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	if (getenv(kept))
		return WS_OK;
	st = ws_vec_push(&r->values->exports, kept, r->err);
	return st ? st : ws_vec_push(&r->values->exports, text, r->err);
}

static enum ws_status take_line(struct reader *r, struct ws_str line)
{
	const char *equals = memchr(line.at, '=', line.n);
	struct ws_str name = { line.at, equals ? (size_t)(equals - line.at) : 0 };
	struct ws_buf value;
	char *text, *key;
	enum ws_status st;

	name = ws_str_trim(name);
	if (!equals || !name.n)
		return wrong(r, "not 'NAME = VALUE':", line);
	ws_buf_init(&value, VALUE_MAX);
	st = take_value(r, after(line, (size_t)(equals - line.at) + 1), &value);
	text = st ? NULL : ws_arena_strndup(&r->values->arena, value.at, value.n);
	key = st ? NULL : ws_arena_strndup(&r->values->arena, name.at, name.n);
	ws_buf_fini(&value);
	if (st)
		return st;
	if (!text || !key)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	if (ws_str_starts(name, ENV_WORD)) {
		name = after(name, strlen(ENV_WORD));
		if (!name.n || name_length(name) != name.n)
			return wrong(r, "no name of an environment variable:", line);
		return keep_export(r, name, text);
	}
	if (*name.at == '$') {
		if (name.n < 2 || name_length(after(name, 1)) != name.n - 1)
			return wrong(r, "no name of a variable:", line);
		return ws_map_put(&r->variables, ws_str_from(key + 1), text, r->err);
	}
	return ws_vec_push(r->out, ((struct set_entry){ key, text, r->line }), r->err);
}

enum ws_status set_parse_lines(struct set_values *values, const char *path, struct ws_str text,
			       struct set_entries *out, struct ws_err *err)
{
	struct reader r = { .values = values, .path = path, .out = out, .err = err };
	struct ws_str rest = text, line;
	enum ws_status st = WS_OK;

	if (memchr(text.at, '\0', text.n))
		return ws_fail(err, WS_E_FORMAT,
			       "%s: not a text file: use .json or .xml for others", path);
	ws_map_init(&r.variables, WS_MAP_STR, SET_ENTRIES_MAX);
	while (!st && ws_str_next(&rest, '\n', &line)) {
		r.line++;
		line = ws_str_trim(line);
		if (line.n && *line.at != '#')
			st = take_line(&r, line);
	}
	ws_map_fini(&r.variables);
	return st;
}
