/* YAML through libyaml, which gives nodes; what a plain word means is decided here. */
#include "base/doc.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

/* clang-format off */
static const struct {
	const char *word;
	enum ws_doc_kind kind;
	bool on;
} words[] = {
	{ "",     WS_DOC_NULL, false }, { "~",     WS_DOC_NULL, false }, { "null", WS_DOC_NULL, false },
	{ "true", WS_DOC_BOOL, true  }, { "yes",   WS_DOC_BOOL, true  }, { "on",   WS_DOC_BOOL, true  },
	{ "false", WS_DOC_BOOL, false }, { "no",   WS_DOC_BOOL, false }, { "off",  WS_DOC_BOOL, false },
};
/* clang-format on */

/* "1_000" as YAML 1.1 writes numbers; also refuses what only strtod() takes for one. */
static bool plain_number(const char *text, struct ws_doc *doc)
{
	char digits[64];
	size_t n = 0;

	if (!strpbrk(text, "0123456789") || strlen(text) >= sizeof(digits))
		return false;
	for (const char *c = text; *c; c++)
		if (*c != '_')
			digits[n++] = *c;
	digits[n] = '\0';
	if (ws_str_i64(ws_str_from(digits), &doc->number)) {
		doc->kind = WS_DOC_INT;
		doc->real = (double)doc->number;
		return true;
	}
	if (strspn(digits, "0123456789.eE+-") == n && ws_str_f64(ws_str_from(digits), &doc->real)) {
		doc->kind = WS_DOC_REAL;
		return true;
	}
	return false;
}

static void resolve_plain(struct ws_doc *doc)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (strcasecmp(doc->text, words[i].word) == 0) {
			doc->kind = words[i].kind;
			doc->on = words[i].on;
			return;
		}
	if (!plain_number(doc->text, doc))
		doc->kind = WS_DOC_TEXT;
}

struct maker {
	yaml_document_t *from;
	struct ws_arena *arena;
	const char *wrong; /* NULL: out of room */
	unsigned line;
};

static struct ws_doc *convert(struct maker *m, int index, unsigned depth);

static bool add_members(struct maker *m, const yaml_node_t *node, struct ws_doc *doc,
			unsigned depth)
{
	if (node->type == YAML_SEQUENCE_NODE) {
		const yaml_node_item_t *item = node->data.sequence.items.start;
		size_t n = (size_t)(node->data.sequence.items.top - item);

		doc->kind = WS_DOC_LIST;
		doc->at = ws_arena_array(m->arena, n, sizeof(*doc->at));
		for (; doc->n < n; doc->n++)
			if (!doc->at || !(doc->at[doc->n] = convert(m, item[doc->n], depth + 1)))
				return false;
		return true;
	}
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	size_t n = (size_t)(node->data.mapping.pairs.top - pair);

	doc->kind = WS_DOC_MAP;
	doc->at = ws_arena_array(m->arena, n, sizeof(*doc->at));
	for (; doc->n < n; doc->n++) {
		const yaml_node_t *key = yaml_document_get_node(m->from, pair[doc->n].key);
		struct ws_doc *child;

		if (!key || key->type != YAML_SCALAR_NODE) {
			m->wrong = "a key that is not a word";
			m->line = doc->line;
			return false;
		}
		if (!doc->at || !(child = convert(m, pair[doc->n].value, depth + 1)))
			return false;
		child->key = ws_arena_strndup(m->arena, (const char *)key->data.scalar.value,
					      key->data.scalar.length);
		if (!child->key)
			return false;
		doc->at[doc->n] = child;
	}
	return true;
}

static struct ws_doc *convert(struct maker *m, int index, unsigned depth)
{
	const yaml_node_t *node = yaml_document_get_node(m->from, index);
	struct ws_doc *doc = ws_arena_new(m->arena, struct ws_doc);

	if (!node || !doc)
		return NULL;
	if (depth > WS_DOC_DEPTH_MAX) { /* also what an alias to its own parent ends in */
		m->wrong = "nested too deeply";
		m->line = (unsigned)node->start_mark.line + 1;
		return NULL;
	}
	doc->line = (unsigned)node->start_mark.line + 1;
	doc->text = "";
	if (node->type != YAML_SCALAR_NODE)
		return add_members(m, node, doc, depth) ? doc : NULL;
	doc->text = ws_arena_strndup(m->arena, (const char *)node->data.scalar.value,
				     node->data.scalar.length);
	if (!doc->text)
		return NULL;
	if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		resolve_plain(doc);
	else
		doc->kind = WS_DOC_TEXT;
	return doc;
}

enum ws_status ws_doc_parse_yaml(const char *name, struct ws_str text, struct ws_arena *arena,
				 struct ws_doc **out_doc, struct ws_err *err)
{
	yaml_parser_t parser;
	yaml_document_t from;
	struct maker m = { &from, arena, NULL, 0 };
	enum ws_status st = WS_OK;

	if (!yaml_parser_initialize(&parser))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.at, text.n);
	if (!yaml_parser_load(&parser, &from)) {
		st = ws_fail(err, WS_E_FORMAT, "%s:%zu: invalid YAML: %s", name,
			     parser.problem_mark.line + 1,
			     parser.problem ? parser.problem : "out of memory");
		yaml_parser_delete(&parser);
		return st;
	}
	if (!yaml_document_get_root_node(&from)) {
		*out_doc = ws_arena_new(arena, struct ws_doc);
		if (*out_doc)
			(*out_doc)->text = "";
		else
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	} else {
		struct ws_doc *doc = convert(&m, 1, 0);

		if (doc)
			*out_doc = doc;
		else if (m.wrong)
			st = ws_fail(err, WS_E_FORMAT, "%s:%u: %s", name, m.line, m.wrong);
		else
			st = ws_fail(err, WS_E_LIMIT, "%s: too large", name);
	}
	yaml_document_delete(&from);
	yaml_parser_delete(&parser);
	return st;
}
