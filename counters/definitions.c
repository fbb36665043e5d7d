/*
 * definitions: counters that users define, in the layout of AMD's counter_defs.yaml.
 *
 *	rocprofiler-sdk:
 *	  counters-schema-version: 1
 *	  counters:
 *	    - name: MY_RATIO
 *	      description: "text"
 *	      definitions:
 *	        - architectures: [gfx90a, gfx942]
 *	          expression: reduce(TCC_HIT,sum)/reduce(TCC_REQ,sum)
 *
 * Definitions for other architectures are skipped unread, as are keys that are not known.
 */
#include "counters/counters_priv.h"

#include "base/doc.h"
#include "base/util.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES (64u << 20)

struct loader {
	struct cnt_catalogue *cat;
	const char *file;
	struct ws_err *err;
};

static enum ws_status bad(struct loader *l, const struct ws_doc *at, const char *fmt, ...)
	WS_PRINTF(3, 4);

static enum ws_status bad(struct loader *l, const struct ws_doc *at, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!at || !at->line)
		return ws_fail(l->err, WS_E_FORMAT, "%s: %s", l->file, text);
	return ws_fail(l->err, WS_E_FORMAT, "%s:%u: %s", l->file, at->line, text);
}

/* The member @key of @map, which must be there and of this kind. */
static enum ws_status member(struct loader *l, const struct ws_doc *map, const char *key,
			     enum ws_doc_kind kind, const struct ws_doc **out)
{
	*out = ws_doc_get(map, key);
	if (!*out)
		return bad(l, map, "'%s:' is missing", key);
	if ((*out)->kind != kind)
		return bad(l, *out, "'%s:' is %s, not %s", key, ws_doc_kind_name(kind),
			   ws_doc_kind_name((*out)->kind));
	return WS_OK;
}

/* NAME or NAME[17] */
static bool is_name(const char *name)
{
	const char *p = name;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	if (*p == '[') {
		p++;
		if (!isdigit((unsigned char)*p))
			return false;
		while (isdigit((unsigned char)*p))
			p++;
		if (*p++ != ']')
			return false;
	}
	return !*p && strlen(name) < 128;
}

static enum ws_status is_for_us(struct loader *l, const struct ws_doc *definition, bool *out_yes)
{
	const struct ws_doc *archs;

	*out_yes = false;
	if (definition->kind != WS_DOC_MAP)
		return bad(l, definition, "a definition is a map, not %s",
			   ws_doc_kind_name(definition->kind));
	if (member(l, definition, "architectures", WS_DOC_LIST, &archs))
		return WS_E_FORMAT;
	for (size_t i = 0; i < archs->n; i++) {
		if (archs->at[i]->kind != WS_DOC_TEXT)
			return bad(l, archs->at[i],
				   "an architecture is a name such as gfx90a, not %s",
				   ws_doc_kind_name(archs->at[i]->kind));
		*out_yes |= strcmp(archs->at[i]->text, cnt_catalogue_arch(l->cat)) == 0;
	}
	return WS_OK;
}

/* An event that is in the catalogue is counted under the name it has there. */
static void borrow(struct cnt_catalogue *cat, struct cnt_counter_def *def)
{
	def->fidelity = CNT_FIDELITY_UNSUPPORTED;
	def->fidelity_text = "event not modelled";
	for (size_t i = 0; i < cnt_catalogue_n(cat); i++) {
		const struct cnt_counter_def *other = cnt_catalogue_at(cat, i);

		if (other->kind != CNT_COUNTER_HARDWARE || other->block != def->block ||
		    other->event != def->event || other->from)
			continue;
		def->same_as = other;
		def->is_level = other->is_level;
		def->fidelity = other->fidelity;
		def->fidelity_text = other->fidelity_text;
		return;
	}
}

static enum ws_status read_hardware(struct loader *l, const struct ws_doc *definition,
				    struct cnt_counter_def *def)
{
	const struct ws_doc *block, *event;

	if (member(l, definition, "block", WS_DOC_TEXT, &block) ||
	    member(l, definition, "event", WS_DOC_INT, &event))
		return WS_E_FORMAT;
	def->block = cnt_catalogue_find_block_(l->cat, block->text);
	if (!def->block)
		return bad(l, block,
			   "no block '%s' on %s: blocks are GRBM, CPC, CPF, SPI, SQ, TA, TD, TCP, "
			   "TCA and TCC",
			   block->text, cnt_catalogue_arch(l->cat));
	if (event->number < 0 || event->number > UINT32_MAX)
		return bad(l, event, "event %s is out of range", event->text);
	def->kind = CNT_COUNTER_HARDWARE;
	def->event = (uint32_t)event->number;
	def->shape = def->block->shape;
	borrow(l->cat, def);
	return WS_OK;
}

static enum ws_status read_definition(struct loader *l, const struct ws_doc *definition,
				      struct cnt_counter_def def)
{
	const struct ws_doc *expression = ws_doc_get(definition, "expression");
	bool has_block = ws_doc_get(definition, "block") || ws_doc_get(definition, "event");

	if (expression && has_block)
		return bad(l, definition, "'%s' has both an expression and a block: remove one",
			   def.name);
	if (!expression && !has_block)
		return bad(l, definition,
			   "'%s' has neither 'expression:' nor 'block:' and 'event:'", def.name);
	if (has_block) {
		if (read_hardware(l, definition, &def))
			return WS_E_FORMAT;
	} else {
		if (expression->kind == WS_DOC_LIST || expression->kind == WS_DOC_MAP ||
		    expression->kind == WS_DOC_NULL)
			return bad(l, expression, "'expression:' is text, not %s",
				   ws_doc_kind_name(expression->kind));
		def.kind = CNT_COUNTER_DERIVED;
		def.expression = expression->text;
	}
	def.from =
		cnt_catalogue_place_(l->cat, l->file, (expression ? expression : definition)->line);
	if (!def.from)
		return ws_fail(l->err, WS_E_NOMEM, "out of memory for counters");
	return cnt_catalogue_add_copy_(l->cat, &def, l->err);
}

static enum ws_status read_counter(struct loader *l, const struct ws_doc *counter)
{
	const struct ws_doc *name, *text, *definitions;
	bool ours, found = false;

	if (counter->kind != WS_DOC_MAP)
		return bad(l, counter,
			   "a counter is a map with 'name:', 'description:' and 'definitions:'");
	if (member(l, counter, "name", WS_DOC_TEXT, &name) ||
	    member(l, counter, "definitions", WS_DOC_LIST, &definitions))
		return WS_E_FORMAT;
	if (!is_name(name->text))
		return bad(l, name,
			   "'%.60s' cannot be the name of a counter: letters, digits and '_'",
			   name->text);
	text = ws_doc_get(counter, "description");
	for (size_t i = 0; i < definitions->n; i++) {
		const struct ws_doc *definition = definitions->at[i];
		enum ws_status st;

		if (is_for_us(l, definition, &ours))
			return WS_E_FORMAT;
		if (!ours)
			continue;
		if (found)
			return bad(l, definition, "'%s' has two definitions for %s", name->text,
				   cnt_catalogue_arch(l->cat));
		found = true;
		st = read_definition(l, definition,
				     (struct cnt_counter_def){ .name = name->text,
							       .text = text ? text->text : "" });
		if (st)
			return st;
	}
	return WS_OK;
}

static enum ws_status load(struct loader *l, const struct ws_doc *doc)
{
	size_t first = cnt_catalogue_n(l->cat);
	const struct ws_doc *root, *version, *counters;
	enum ws_status st = WS_OK;

	if (doc->kind != WS_DOC_MAP)
		return bad(l, doc, "a definition file begins with 'rocprofiler-sdk:'");
	if (member(l, doc, "rocprofiler-sdk", WS_DOC_MAP, &root) ||
	    member(l, root, "counters", WS_DOC_LIST, &counters))
		return WS_E_FORMAT;
	version = ws_doc_get(root, "counters-schema-version");
	if (version && (version->kind != WS_DOC_INT || version->number != 1))
		return bad(l, version, "schema version %.20s is not supported: use 1",
			   version->text);
	for (size_t i = 0; i < counters->n && !st; i++)
		st = read_counter(l, counters->at[i]);
	/* Last, so that counters may refer to later ones. */
	if (!st)
		st = cnt_catalogue_settle_(l->cat, first, l->err);
	if (st)
		cnt_catalogue_cut_(l->cat, first);
	return st;
}

enum ws_status cnt_catalogue_add_text(struct cnt_catalogue *cat, const char *name,
				      struct ws_str text, struct ws_err *err)
{
	struct ws_err own;
	struct loader l = { cat, name, err ? err : &own };
	struct ws_arena arena;
	struct ws_doc *doc;
	enum ws_status st;

	ws_arena_init(&arena, MAX_BYTES);
	st = ws_doc_parse_yaml(name, text, &arena, &doc, l.err);
	if (!st)
		st = load(&l, doc);
	ws_arena_fini(&arena);
	return st;
}

enum ws_status cnt_catalogue_add_file(struct cnt_catalogue *cat, const char *path,
				      struct ws_err *err)
{
	struct ws_err own;
	struct loader l = { cat, path, err ? err : &own };
	struct ws_arena arena;
	struct ws_doc *doc;
	enum ws_status st;

	ws_arena_init(&arena, MAX_BYTES);
	st = ws_doc_read(path, &arena, &doc, l.err);
	if (!st)
		st = load(&l, doc);
	ws_arena_fini(&arena);
	return st;
}
