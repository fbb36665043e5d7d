/* Any JSON as a context: its tools become a chain or a sentence, and the linter says the same of them. */
#include "base/arena.h"
#include "base/doc.h"
#include "base/util.h"
#include "models/lint.h"
#include "models/tools.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static const char definitions[] =
	"{\"a\": {\"cmd\": \"x\", \"env_vars\": {\"A_B\": \"1\"}, \"outputs\": [\"${A_B}/*\"]},"
	" \"b\": {\"cmd\": \"rocprofv3 --\", \"post_scripts\": [{\"path\": \"p\"}], \"outputs\": "
	"[\"o\"]}}";

static void read_options(char **words, size_t n, struct mdl_lint_report *report)
{
	for (size_t i = 0; i < n; i++)
		CHECK(words[i] && strcmp(words[i], "--") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_str text = { (const char *)data, size }, ours = ws_str_from(definitions);
	struct ws_doc *tools = NULL, *context = NULL;
	struct mdl_findings findings = { .n = 0 };
	struct mdl_chain chain;
	struct ws_arena arena;
	struct ws_err err = { 0 };

	ws_arena_init(&arena, 16 << 20);
	CHECK(ws_doc_parse_json("tools.json", ours, &arena, &tools, &err) == WS_OK);
	if (ws_doc_parse_json("context.json", text, &arena, &context, &err) == WS_OK &&
	    context->kind == WS_DOC_MAP) {
		enum ws_status st = mdl_chain_build(tools, context, &arena, &chain, &err);

		CHECK(st ? *err.text != '\0' : chain.prefix && chain.env);
		CHECK(mdl_lint(context, tools, ".", read_options, &arena, &findings, &err) ==
		      WS_OK);
		CHECK(!st || findings.n_errors);
		for (size_t i = 0; i < findings.n; i++)
			CHECK(*findings.at[i].text && *findings.at[i].where);
	}
	ws_arena_fini(&arena);
	return 0;
}
