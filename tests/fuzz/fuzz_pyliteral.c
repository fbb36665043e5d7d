/*
 * Any bytes as an additional context: refused with a sentence that names it, or a tree that is
 * written as JSON and reads back the same.
 */
#include "base/doc_edit.h"
#include "models/context.h"
#include "models/pyliteral.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <string.h>

static void check_tree(const struct ws_doc *doc, struct ws_arena *arena)
{
	struct ws_doc *again = NULL;
	struct ws_buf once, twice;
	struct ws_err err;

	ws_buf_init(&once, 1 << 22);
	ws_buf_init(&twice, 1 << 22);
	ws_doc_to_json(doc, 2, &once);
	CHECK(ws_buf_status(&once, &err) == WS_OK);
	CHECK(ws_doc_parse_json("again", ws_buf_view(&once), arena, &again, &err) == WS_OK);
	ws_doc_to_json(again, 2, &twice);
	CHECK(strcmp(once.at, twice.at) == 0);
	ws_buf_fini(&once);
	ws_buf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_str text = { (const char *)data, size };
	struct ws_err err = { 0 };
	struct ws_doc *doc = NULL;
	struct ws_arena arena;

	ws_arena_init(&arena, 64 << 20);
	if (mdl_pyliteral_parse("text", text, &arena, &doc, &err) == WS_OK)
		check_tree(doc, &arena);
	else
		CHECK(strncmp(err.text, "text:", 5) == 0);
	if (mdl_context_parse("text", text, &arena, &doc, &err) == WS_OK && doc->kind == WS_DOC_MAP)
		mdl_context_check(doc, &err);
	ws_arena_fini(&arena);
	return 0;
}
