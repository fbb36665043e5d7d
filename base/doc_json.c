/* JSON through jansson: strict, bounded in depth, and it knows where it stopped. */
#include "base/doc.h"

#include <jansson.h>
#include <stdio.h>

static struct ws_doc *convert(const json_t *json, struct ws_arena *arena, unsigned depth)
{
	struct ws_doc *doc = ws_arena_new(arena, struct ws_doc);
	const char *key;
	json_t *member;
	size_t i;

	if (!doc || depth > WS_DOC_DEPTH_MAX)
		return NULL;
	doc->text = "";
	switch (json_typeof(json)) {
	case JSON_NULL:
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		doc->kind = WS_DOC_BOOL;
		doc->on = json_is_true(json);
		doc->text = doc->on ? "true" : "false";
		break;
	case JSON_INTEGER:
		doc->kind = WS_DOC_INT;
		doc->number = json_integer_value(json);
		doc->real = (double)doc->number;
		doc->text = ws_arena_printf(arena, "%lld", (long long)doc->number);
		break;
	case JSON_REAL:
		doc->kind = WS_DOC_REAL;
		doc->real = json_real_value(json);
		doc->text = ws_arena_printf(arena, "%.17g", doc->real);
		break;
	case JSON_STRING:
		doc->kind = WS_DOC_TEXT;
		doc->text = ws_arena_strdup(arena, json_string_value(json));
		break;
	case JSON_ARRAY:
		doc->kind = WS_DOC_LIST;
		doc->at = ws_arena_array(arena, json_array_size(json), sizeof(*doc->at));
		if (!doc->at && json_array_size(json))
			return NULL;
		json_array_foreach(json, i, member)
		{
			doc->at[doc->n] = convert(member, arena, depth + 1);
			if (!doc->at[doc->n++])
				return NULL;
		}
		break;
	case JSON_OBJECT:
		doc->kind = WS_DOC_MAP;
		doc->at = ws_arena_array(arena, json_object_size(json), sizeof(*doc->at));
		if (!doc->at && json_object_size(json))
			return NULL;
		json_object_foreach((json_t *)json, key, member)
		{
			struct ws_doc *child = convert(member, arena, depth + 1);

			if (!child)
				return NULL;
			child->key = ws_arena_strdup(arena, key);
			if (!child->key)
				return NULL;
			doc->at[doc->n++] = child;
		}
		break;
	}
	return doc->text ? doc : NULL;
}

enum ws_status ws_doc_parse_json(const char *name, struct ws_str text, struct ws_arena *arena,
				 struct ws_doc **out_doc, struct ws_err *err)
{
	json_error_t where;
	json_t *json = json_loadb(text.at, text.n, JSON_DECODE_ANY, &where);
	struct ws_doc *doc;

	if (!json)
		return ws_fail(err, WS_E_FORMAT, "%s:%d: invalid JSON: %s", name, where.line,
			       where.text);
	doc = convert(json, arena, 0);
	json_decref(json);
	if (!doc)
		return ws_fail(err, WS_E_LIMIT, "%s: too large, or nested too deeply", name);
	*out_doc = doc;
	return WS_OK;
}
