/* rig: what the tests of madengine's library share: an arena for each test, JSON as a tree, parts of a text. */
#ifndef WS_TESTS_MODELS_RIG_H
#define WS_TESTS_MODELS_RIG_H

#include "base/doc_edit.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct ws_arena arena;
static struct ws_err err;

static inline int begin_arena(void **state)
{
	(void)state;
	ws_arena_init(&arena, 64u << 20);
	return 0;
}

static inline int end_arena(void **state)
{
	(void)state;
	ws_arena_fini(&arena);
	return 0;
}

static inline struct ws_doc *parse(const char *json)
{
	struct ws_doc *doc = NULL;

	if (ws_doc_parse_json("test", ws_str_from(json), &arena, &doc, &err))
		fail_msg("%s", err.text);
	return doc;
}

static inline void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text ? text : "");
}

static inline void lacks(const char *text, const char *part)
{
	if (!text || strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text ? text : "");
}

#endif
