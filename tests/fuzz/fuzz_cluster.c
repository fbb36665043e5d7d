/*
 * Any bytes as a script that goes into a YAML file: a reader gets them back as they were. Any
 * bytes as the answer of a scheduler: a state with a name.
 */
#include "base/doc_edit.h"
#include "base/utf8.h"
#include "models/slurm_priv.h"
#include "models/yaml.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <string.h>

static void check_yaml(const char *text, struct ws_arena *arena)
{
	struct ws_doc *doc = ws_doc_map(arena), *list = ws_doc_list(arena), *again = NULL;
	struct ws_doc *inner = ws_doc_map(arena);
	struct ws_buf yaml;
	struct ws_err err;

	CHECK(ws_doc_put_text(inner, "text", text, arena) && ws_doc_put_int(inner, "n", 7, arena) &&
	      ws_doc_add(list, inner, arena) && ws_doc_add(list, ws_doc_text(text, arena), arena) &&
	      ws_doc_put(doc, "list", list, arena) && ws_doc_put_text(doc, "text", text, arena));
	ws_buf_init(&yaml, 1u << 24);
	mdl_yaml_add(doc, &yaml);
	CHECK(ws_buf_status(&yaml, &err) == WS_OK);
	CHECK(ws_doc_parse_yaml("again", ws_buf_view(&yaml), arena, &again, &err) == WS_OK);
	CHECK(strcmp(ws_doc_get_text(again, "text", "(none)"), text) == 0);
	list = (struct ws_doc *)ws_doc_get(again, "list");
	CHECK(list && list->n == 2 && list->at[1]->kind == WS_DOC_TEXT);
	CHECK(strcmp(ws_doc_get_text(list->at[0], "text", "(none)"), text) == 0);
	CHECK(strcmp(list->at[1]->text, text) == 0);
	CHECK(ws_doc_get_int(list->at[0], "n", 0) == 7);
	ws_buf_fini(&yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_str bytes = { (const char *)data, size };
	struct mdl_slurm_state state;
	struct ws_arena arena;
	const char *text;

	mdl_slurm_read_state(bytes, &state);
	CHECK(*state.name && strlen(state.where) < sizeof(state.where));
	ws_arena_init(&arena, 64u << 20);
	text = ws_arena_strndup(&arena, bytes.at, bytes.n);
	if (text && size < 100000 && ws_utf8_ok(text, strlen(text)))
		check_yaml(text, &arena);
	ws_arena_fini(&arena);
	return 0;
}
