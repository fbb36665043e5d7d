#include "base/doc_edit.h"

#include "base/file.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building ---- */

static struct ws_doc *make(enum ws_doc_kind kind, const char *text, struct ws_arena *arena)
{
	struct ws_doc *doc = ws_arena_new(arena, struct ws_doc);

	if (!doc || !text)
		return NULL;
	doc->kind = kind;
	doc->text = text;
	return doc;
}

struct ws_doc *ws_doc_map(struct ws_arena *arena)
{
	return make(WS_DOC_MAP, "", arena);
}

struct ws_doc *ws_doc_list(struct ws_arena *arena)
{
	return make(WS_DOC_LIST, "", arena);
}

struct ws_doc *ws_doc_text(const char *text, struct ws_arena *arena)
{
	return text ? make(WS_DOC_TEXT, ws_arena_strdup(arena, text), arena)
		    : make(WS_DOC_NULL, "", arena);
}

struct ws_doc *ws_doc_int(int64_t number, struct ws_arena *arena)
{
	struct ws_doc *doc =
		make(WS_DOC_INT, ws_arena_printf(arena, "%lld", (long long)number), arena);

	if (doc) {
		doc->number = number;
		doc->real = (double)number;
	}
	return doc;
}

struct ws_doc *ws_doc_real(double real, struct ws_arena *arena)
{
	struct ws_doc *doc = make(WS_DOC_REAL, ws_arena_printf(arena, "%.17g", real), arena);

	if (doc)
		doc->real = real;
	return doc;
}

struct ws_doc *ws_doc_bool(bool on, struct ws_arena *arena)
{
	struct ws_doc *doc = make(WS_DOC_BOOL, on ? "true" : "false", arena);

	if (doc)
		doc->on = on;
	return doc;
}

struct ws_doc *ws_doc_copy(const struct ws_doc *doc, struct ws_arena *arena)
{
	struct ws_doc *copy = doc ? ws_arena_new(arena, struct ws_doc) : NULL;

	if (!copy)
		return NULL;
	*copy = *doc;
	copy->text = ws_arena_strdup(arena, doc->text);
	copy->key = doc->key ? ws_arena_strdup(arena, doc->key) : NULL;
	copy->at = ws_arena_array(arena, doc->n, sizeof(struct ws_doc *));
	if (!copy->text || (doc->key && !copy->key) || (doc->n && !copy->at))
		return NULL;
	for (size_t i = 0; i < doc->n; i++) {
		copy->at[i] = ws_doc_copy(doc->at[i], arena);
		if (!copy->at[i])
			return NULL;
	}
	return copy;
}

/* ---- changing ---- */

/* Members are appended one by one; the lists that are built here are short. */
static bool append(struct ws_doc *to, struct ws_doc *member, struct ws_arena *arena)
{
	struct ws_doc **at = ws_arena_array(arena, to->n + 1, sizeof(struct ws_doc *));

	if (!at)
		return false;
	if (to->n)
		memcpy(at, to->at, to->n * sizeof(struct ws_doc *));
	at[to->n++] = member;
	to->at = at;
	return true;
}

bool ws_doc_put(struct ws_doc *map, const char *key, const struct ws_doc *value,
		struct ws_arena *arena)
{
	struct ws_doc *member = map && value ? ws_arena_new(arena, struct ws_doc) : NULL;

	if (!member)
		return false;
	*member = *value;
	member->key = ws_arena_strdup(arena, key);
	if (!member->key)
		return false;
	for (size_t i = map->n; i-- > 0;)
		if (strcmp(map->at[i]->key, key) == 0) {
			map->at[i] = member;
			return true;
		}
	return append(map, member, arena);
}

bool ws_doc_put_text(struct ws_doc *map, const char *key, const char *text, struct ws_arena *arena)
{
	return ws_doc_put(map, key, ws_doc_text(text, arena), arena);
}

bool ws_doc_put_int(struct ws_doc *map, const char *key, int64_t number, struct ws_arena *arena)
{
	return ws_doc_put(map, key, ws_doc_int(number, arena), arena);
}

bool ws_doc_put_bool(struct ws_doc *map, const char *key, bool on, struct ws_arena *arena)
{
	return ws_doc_put(map, key, ws_doc_bool(on, arena), arena);
}

bool ws_doc_remove(struct ws_doc *map, const char *key)
{
	size_t n_kept = 0;
	bool found = false;

	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->at[i]->key, key) == 0)
			found = true;
		else
			map->at[n_kept++] = map->at[i];
	map->n = n_kept;
	return found;
}

bool ws_doc_add(struct ws_doc *list, const struct ws_doc *value, struct ws_arena *arena)
{
	struct ws_doc *member = list && value ? ws_arena_new(arena, struct ws_doc) : NULL;

	if (!member)
		return false;
	*member = *value;
	member->key = NULL;
	return append(list, member, arena);
}

static struct ws_doc *combine(const struct ws_doc *under, const struct ws_doc *over, bool deep,
			      struct ws_arena *arena)
{
	struct ws_doc *map = ws_doc_map(arena);
	bool ok = map;

	for (size_t i = 0; under && i < under->n && ok; i++)
		ok = ws_doc_put(map, under->at[i]->key, under->at[i], arena);
	for (size_t i = 0; over && i < over->n && ok; i++) {
		const struct ws_doc *new = over->at[i];
		const struct ws_doc *old = ws_doc_get(map, new->key);

		if (deep && old && old->kind == WS_DOC_MAP && new->kind == WS_DOC_MAP)
			new = combine(old, new, true, arena);
		ok = ws_doc_put(map, over->at[i]->key, new, arena);
	}
	return ok ? map : NULL;
}

struct ws_doc *ws_doc_overlay(const struct ws_doc *under, const struct ws_doc *over,
			      struct ws_arena *arena)
{
	return combine(under, over, false, arena);
}

struct ws_doc *ws_doc_merge(const struct ws_doc *under, const struct ws_doc *over,
			    struct ws_arena *arena)
{
	return combine(under, over, true, arena);
}

/* ---- reading with a default ---- */

static const struct ws_doc *member_of_kind(const struct ws_doc *map, const char *key,
					   enum ws_doc_kind kind)
{
	const struct ws_doc *member = ws_doc_get(map, key);

	return member && member->kind == kind ? member : NULL;
}

const char *ws_doc_get_text(const struct ws_doc *map, const char *key, const char *fallback)
{
	const struct ws_doc *member = member_of_kind(map, key, WS_DOC_TEXT);

	return member ? member->text : fallback;
}

int64_t ws_doc_get_int(const struct ws_doc *map, const char *key, int64_t fallback)
{
	const struct ws_doc *member = member_of_kind(map, key, WS_DOC_INT);

	return member ? member->number : fallback;
}

double ws_doc_get_real(const struct ws_doc *map, const char *key, double fallback)
{
	const struct ws_doc *member = ws_doc_get(map, key);

	return member && (member->kind == WS_DOC_INT || member->kind == WS_DOC_REAL) ? member->real
										     : fallback;
}

bool ws_doc_get_bool(const struct ws_doc *map, const char *key, bool fallback)
{
	const struct ws_doc *member = member_of_kind(map, key, WS_DOC_BOOL);

	return member ? member->on : fallback;
}

const char *ws_doc_get_scalar(const struct ws_doc *map, const char *key, const char *fallback)
{
	const struct ws_doc *member = ws_doc_get(map, key);

	return member && member->kind > WS_DOC_NULL && member->kind < WS_DOC_LIST ? member->text
										  : fallback;
}

/* ---- JSON ---- */

/* People edit these files: what has a short escape gets it, and '<' stays. */
static void put_quoted(const char *text, struct ws_buf *out)
{
	static const char plain[] = "\"\\\n\r\t<";
	static const char *const escaped[] = { "\\\"", "\\\\", "\\n", "\\r", "\\t", "<" };
	size_t n = strlen(text);

	ws_buf_add_c(out, '"', 1);
	while (n) {
		const char *known = strchr(plain, *text);
		char bytes[8];

		if (known) {
			ws_buf_add(out, escaped[known - plain]);
			text++;
			n--;
		} else {
			ws_buf_add_n(out, bytes, ws_json_next(&text, &n, bytes));
		}
	}
	ws_buf_add_c(out, '"', 1);
}

static void new_line(unsigned indent, unsigned depth, struct ws_buf *out)
{
	if (!indent)
		return;
	ws_buf_add_c(out, '\n', 1);
	ws_buf_add_c(out, ' ', (size_t)indent * depth);
}

static void put_json(const struct ws_doc *doc, unsigned indent, unsigned depth, struct ws_buf *out);

static void put_members(const struct ws_doc *doc, unsigned indent, unsigned depth,
			struct ws_buf *out)
{
	bool is_map = doc->kind == WS_DOC_MAP;

	ws_buf_add_c(out, is_map ? '{' : '[', 1);
	for (size_t i = 0; i < doc->n; i++) {
		if (i)
			ws_buf_add(out, indent ? "," : ", ");
		new_line(indent, depth + 1, out);
		if (is_map) {
			put_quoted(doc->at[i]->key, out);
			ws_buf_add(out, ": ");
		}
		put_json(doc->at[i], indent, depth + 1, out);
	}
	if (doc->n)
		new_line(indent, depth, out);
	ws_buf_add_c(out, is_map ? '}' : ']', 1);
}

static void put_real(double real, struct ws_buf *out)
{
	char shortest[32];

	if (!isfinite(real)) {
		ws_buf_add(out, "null");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(shortest, sizeof(shortest), "%.*g", digits, real);
		if (strtod(shortest, NULL) == real)
			break;
	}
	ws_buf_add(out, shortest);
	if (!strpbrk(shortest, ".e")) /* it stays a real number when it is read back */
		ws_buf_add(out, ".0");
}

static void put_json(const struct ws_doc *doc, unsigned indent, unsigned depth, struct ws_buf *out)
{
	switch (doc ? doc->kind : WS_DOC_NULL) {
	case WS_DOC_NULL:
		ws_buf_add(out, "null");
		break;
	case WS_DOC_BOOL:
		ws_buf_add(out, doc->on ? "true" : "false");
		break;
	case WS_DOC_INT:
		ws_buf_printf(out, "%lld", (long long)doc->number);
		break;
	case WS_DOC_REAL:
		put_real(doc->real, out);
		break;
	case WS_DOC_TEXT:
		put_quoted(doc->text, out);
		break;
	case WS_DOC_LIST:
	case WS_DOC_MAP:
		put_members(doc, indent, depth, out);
		break;
	}
}

void ws_doc_to_json(const struct ws_doc *doc, unsigned indent, struct ws_buf *out)
{
	put_json(doc, indent, 0, out);
}

enum ws_status ws_doc_write_json(const char *path, const struct ws_doc *doc, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, WS_DOC_BYTES_MAX);
	ws_doc_to_json(doc, 4, &text);
	ws_buf_add_c(&text, '\n', 1);
	st = ws_buf_status(&text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	else
		st = ws_fail_in(err, st, "%s", path);
	ws_buf_fini(&text);
	return st;
}
