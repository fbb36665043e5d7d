/*
 * XML as far as configuration files need it: elements, text, character references, comments,
 * CDATA. Attributes, declarations and document types are skipped.
 */
#include "settings/file_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *path;
	const char *at, *end;
	unsigned line;
	struct ws_arena *arena;
	struct ws_err *err;
};

static enum ws_status wrong(struct parser *p, const char *what)
{
	return ws_fail(p->err, WS_E_FORMAT, "%s:%u: %s", p->path, p->line, what);
}

static bool looking_at(const struct parser *p, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

static void step(struct parser *p, size_t n)
{
	for (; n && p->at < p->end; n--)
		p->line += *p->at++ == '\n';
}

/* Past the next @text; an error without one. */
static enum ws_status skip_past(struct parser *p, const char *text)
{
	while (p->at < p->end && !looking_at(p, text))
		step(p, 1);
	if (p->at == p->end)
		return wrong(p, "the file ends too early");
	step(p, strlen(text));
	return WS_OK;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_-.:", c);
}

static enum ws_status take_name(struct parser *p, const char **out_name)
{
	const char *from = p->at;

	while (p->at < p->end && *p->at && is_name_char(*p->at))
		p->at++;
	if (p->at == from)
		return wrong(p, "'<' without the name of an element");
	*out_name = ws_arena_strndup(p->arena, from, (size_t)(p->at - from));
	return *out_name ? WS_OK : ws_fail(p->err, WS_E_NOMEM, "out of memory");
}

/* "&lt;" and the like; others stay as they are. */
static void take_reference(struct parser *p, struct ws_buf *text)
{
	static const struct {
		const char *name;
		char c;
	} known[] = {
		{ "&lt;", '<' },   { "&gt;", '>' },    { "&amp;", '&' },
		{ "&quot;", '"' }, { "&apos;", '\'' },
	};
	unsigned long code = 0;
	size_t n = 2;

	for (size_t i = 0; i < WS_ARRAY_LEN(known); i++)
		if (looking_at(p, known[i].name)) {
			ws_buf_add_c(text, known[i].c, 1);
			step(p, strlen(known[i].name));
			return;
		}
	/* "&#10;": AMD's writer uses it for control characters. */
	while (looking_at(p, "&#") && p->at + n < p->end && isdigit((unsigned char)p->at[n]) &&
	       code < 128)
		code = code * 10 + (unsigned long)(p->at[n++] - '0');
	if (n > 2 && p->at + n < p->end && p->at[n] == ';' && code && code < 128) {
		ws_buf_add_c(text, (char)code, 1);
		step(p, n + 1);
	} else {
		ws_buf_add_c(text, '&', 1);
		step(p, 1);
	}
}

static enum ws_status add_child(struct parser *p, struct ws_doc *parent, struct ws_doc *child)
{
	struct ws_doc **room = parent->at;

	/* Doubled at powers of two; what is left behind in the arena is at most as much again. */
	if (!(parent->n & (parent->n - 1)) || !parent->n) {
		room = ws_arena_array(p->arena, parent->n ? parent->n * 2 : 1, sizeof(*room));
		if (!room)
			return ws_fail(p->err, WS_E_NOMEM, "%s: out of memory", p->path);
		if (parent->n)
			memcpy(room, parent->at, parent->n * sizeof(*room));
	}
	parent->at = room;
	parent->at[parent->n++] = child;
	parent->kind = WS_DOC_MAP;
	return WS_OK;
}

static enum ws_status take_element(struct parser *p, unsigned depth, struct ws_doc **out_doc);

/* What stands between the tags: elements, or text. */
static enum ws_status take_content(struct parser *p, struct ws_doc *doc, unsigned depth,
				   struct ws_buf *text)
{
	enum ws_status st = WS_OK;

	while (!st) {
		struct ws_doc *child = NULL;

		if (p->at == p->end)
			return wrong(p, "an element is not closed");
		if (looking_at(p, "</"))
			break;
		if (looking_at(p, "<!--")) {
			st = skip_past(p, "-->");
		} else if (looking_at(p, "<![CDATA[")) {
			const char *from = p->at + 9;

			st = skip_past(p, "]]>");
			if (!st)
				ws_buf_add_n(text, from, (size_t)(p->at - 3 - from));
		} else if (looking_at(p, "<?")) {
			st = skip_past(p, "?>");
		} else if (*p->at == '<') {
			st = take_element(p, depth + 1, &child);
			if (!st)
				st = add_child(p, doc, child);
		} else if (*p->at == '&') {
			take_reference(p, text);
		} else {
			ws_buf_add_c(text, *p->at, 1);
			step(p, 1);
		}
	}
	return st ? st : ws_buf_status(text, p->err);
}

/* Items of a list all have the same name: <value><value0>..</value0><value1>..</value1></value>. */
static bool is_list(const struct ws_doc *doc)
{
	for (size_t i = 0; i < doc->n; i++)
		if (strncmp(doc->at[i]->key, "value", 5) != 0 ||
		    strspn(doc->at[i]->key + 5, "0123456789") != strlen(doc->at[i]->key + 5) ||
		    doc->at[i]->kind != WS_DOC_TEXT)
			return false;
	return doc->n > 0;
}

static enum ws_status take_element(struct parser *p, unsigned depth, struct ws_doc **out_doc)
{
	struct ws_doc *doc = ws_arena_new(p->arena, struct ws_doc);
	struct ws_str inside;
	struct ws_buf text;
	bool empty;
	enum ws_status st;

	if (!doc)
		return ws_fail(p->err, WS_E_NOMEM, "%s: out of memory", p->path);
	if (depth > WS_DOC_DEPTH_MAX)
		return wrong(p, "elements are nested too deeply");
	doc->kind = WS_DOC_TEXT;
	doc->line = p->line;
	doc->text = "";
	step(p, 1);
	st = take_name(p, &doc->key);
	if (st)
		return st;
	st = skip_past(p, ">");
	empty = !st && p->at[-2] == '/';
	*out_doc = doc;
	if (st || empty)
		return st;
	ws_buf_init(&text, 1u << 20);
	st = take_content(p, doc, depth, &text);
	if (!st) {
		step(p, 2);
		if (!looking_at(p, doc->key))
			st = wrong(p, "a closing tag does not match");
		else
			st = skip_past(p, ">");
	}
	inside = ws_str_trim(ws_buf_view(&text));
	if (!st && doc->kind == WS_DOC_TEXT && inside.n)
		doc->text = ws_arena_strndup(p->arena, inside.at, inside.n);
	if (!st && !doc->text)
		st = ws_fail(p->err, WS_E_NOMEM, "%s: out of memory", p->path);
	if (!st && doc->kind == WS_DOC_MAP && strcmp(doc->key, "value") == 0 && is_list(doc))
		doc->kind = WS_DOC_LIST;
	ws_buf_fini(&text);
	return st;
}

enum ws_status set_parse_xml(const char *path, struct ws_str text, struct ws_arena *arena,
			     struct ws_doc **out_root, struct ws_err *err)
{
	struct parser p = { path, text.at, text.at + text.n, 1, arena, err };
	enum ws_status st = WS_OK;

	while (!st) {
		while (p.at < p.end && isspace((unsigned char)*p.at))
			step(&p, 1);
		if (looking_at(&p, "<?"))
			st = skip_past(&p, "?>");
		else if (looking_at(&p, "<!--"))
			st = skip_past(&p, "-->");
		else if (looking_at(&p, "<!"))
			st = skip_past(&p, ">");
		else if (p.at < p.end && *p.at == '<')
			return take_element(&p, 0, out_root);
		else
			return wrong(&p, "no element: this is not XML");
	}
	return st;
}
