/* doc_rig: what the tests of trees share: an arena for each test, and JSON as a tree. */
#ifndef WS_TESTS_UNIT_DOC_RIG_H
#define WS_TESTS_UNIT_DOC_RIG_H

#include "base/doc.h"
#include "tests/unit/unit.h"

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

#endif
