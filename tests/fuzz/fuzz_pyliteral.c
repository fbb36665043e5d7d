/*
 * Any bytes as an additional context and as models.json: refused with a sentence that names the
 * text, or a tree that is written as JSON and reads back the same, and models that can be selected.
 */
#include "base/doc_edit.h"
#include "models/context.h"
#include "models/model.h"
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

static void check_models(const struct ws_doc *list, struct ws_arena *arena)
{
	static const char *const tags[] = { "all:n=1", "scope/all" };
	struct mdl_model *at = ws_arena_array(arena, list->n, sizeof(*at));
	struct mdl_models models = { .at = at }, chosen;
	struct ws_err err;

	for (size_t i = 0; at && i < list->n; i++)
		if (mdl_model_from_doc("text", i % 2 ? "scope" : "", list->at[i], arena,
				       &at[models.n], &err) == WS_OK) {
			CHECK(*at[models.n].scripts);
			models.n++;
		} else {
			CHECK(strncmp(err.text, "text:", 5) == 0);
		}
	for (size_t i = 0; models.n && i < WS_ARRAY_LEN(tags); i++)
		if (mdl_models_select(&models, &tags[i], 1, arena, &chosen, &err) == WS_OK)
			CHECK(chosen.n > 0 && chosen.n <= models.n);
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
	if (mdl_context_parse("text", text, &arena, &doc, &err) == WS_OK) {
		if (doc->kind == WS_DOC_MAP)
			mdl_context_check(doc, &err);
		else if (doc->kind == WS_DOC_LIST)
			check_models(doc, &arena);
	}
	ws_arena_fini(&arena);
	return 0;
}
