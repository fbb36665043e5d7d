/* madengine lint-profile: mistakes in a context, before it costs a run. */
#include "cmd/madengine/madengine.h"

#include "base/doc_edit.h"
#include "base/log.h"
#include "base/path.h"
#include "cmd/rocprofv3/lint.h"
#include "models/context.h"
#include "models/lint.h"
#include "models/places.h"
#include "models/tools.h"

#include <stdio.h>

struct lint_args {
	const char *context;
	const char *tools_config;
	bool json;
	bool tools;
};

static const struct ws_opt opts[] = {
	WS_OPT_STR(struct lint_args, context, 'c', "additional-context", "JSON",
		   "check this text, over the file if both are given"),
	WS_OPT_STR(struct lint_args, tools_config, 0, "tools-config", "FILE",
		   "definitions of tools; default: scripts/common/tools.json, else the installed "
		   "file"),
	WS_OPT_BOOL(struct lint_args, json, 0, "json", "print the findings as JSON"),
	WS_OPT_BOOL(struct lint_args, tools, 0, "tools", "list the tools and their commands"),
};

enum ws_status mad_lint(const struct ws_doc *context, const struct ws_doc *tools,
			struct ws_arena *arena, struct mdl_findings *out_findings,
			struct ws_err *err)
{
	return mdl_lint(context, tools, ".", rp_lint, arena, out_findings, err);
}

static void print_text(const char *file, const struct mdl_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct mdl_finding *finding = &findings->at[i];

		ws_print(stdout, "%s: %s: %s [%s]\n", mdl_lint_level_word(finding->level),
			 finding->where, finding->text, finding->rule);
	}
	if (!findings->n)
		ws_print(stdout, "%s: nothing to report\n", file ? file : "the context");
}

static enum ws_status print_json(const char *file, const struct mdl_findings *findings,
				 struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *root = ws_doc_map(arena), *list = ws_doc_list(arena);
	struct ws_buf text;
	bool ok = true;
	enum ws_status st;

	for (size_t i = 0; i < findings->n; i++) {
		const struct mdl_finding *finding = &findings->at[i];
		struct ws_doc *row = ws_doc_map(arena);

		ok &= ws_doc_put_text(row, "level", mdl_lint_level_word(finding->level), arena) &&
		      ws_doc_put_text(row, "rule", finding->rule, arena) &&
		      ws_doc_put_text(row, "where", finding->where, arena) &&
		      ws_doc_put_text(row, "text", finding->text, arena) &&
		      ws_doc_add(list, row, arena);
	}
	ok &= ws_doc_put_text(root, "file", file, arena) &&
	      ws_doc_put_int(root, "n_errors", (int64_t)findings->n_errors, arena) &&
	      ws_doc_put(root, "findings", list, arena);
	if (!ok)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_buf_init(&text, 64 << 20);
	ws_doc_to_json(root, 2, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		puts(text.at);
	ws_buf_fini(&text);
	return st;
}

static void list_tools(const struct ws_doc *tools)
{
	for (size_t i = 0; i < tools->n; i++)
		ws_print(stdout, "%-26s %s\n", mdl_tool_name(tools, i),
			 ws_doc_get_text(tools->at[i], "cmd", ""));
}

static const char *tools_file(const struct lint_args *args)
{
	static const char here[] = MDL_PLACE_COMMON "/tools.json";

	return args->tools_config ? args->tools_config : ws_path_exists(here) ? here : NULL;
}

static enum ws_status check(const struct lint_args *args, const char *file, struct ws_arena *arena,
			    int *exit_code, struct ws_err *err)
{
	struct mdl_findings findings;
	struct ws_doc *tools, *context;
	enum ws_status st = mdl_tools_read(tools_file(args), arena, &tools, err);

	if (!st && args->tools) {
		list_tools(tools);
		return WS_OK;
	}
	if (!st)
		st = mdl_context_load(file, args->context, arena, &context, err);
	if (!st)
		st = mad_lint(context, tools, arena, &findings, err);
	if (st) {
		*exit_code = MAD_EXIT_ARGS;
		return st;
	}
	if (findings.n_errors)
		*exit_code = MAD_EXIT_ARGS;
	if (args->json)
		return print_json(file, &findings, arena, err);
	print_text(file, &findings);
	return WS_OK;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct lint_args *args = call->values;
	struct ws_arena arena;
	enum ws_status st;

	if (call->rest.n > 1 || (!call->rest.n && !args->context && !args->tools)) {
		*exit_code = MAD_EXIT_ARGS;
		return ws_fail(err, WS_E_USAGE, "give one context file, or --additional-context");
	}
	ws_arena_init(&arena, MAD_ARENA_BYTES);
	st = check(args, call->rest.n ? call->rest.operands[0] : NULL, &arena, exit_code, err);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd mad_lint_profile_cmd = {
	.name = "lint-profile",
	.summary = "check a context before a run",
	.usage = "[options] FILE",
	.about = "Finds mistakes in a context file or preset: unknown keys and tools, commands "
		 "without '--', options that rocprofv3 rejects, counters that the GPUs of this "
		 "machine do not have. Shows how often the application would be run. 'madengine "
		 "run' checks the same before it starts a model.",
	.notes = "Exit code:\n"
		 "  0, also with warnings; 4 if there is an error.\n"
		 "\n"
		 "Example:\n"
		 "  madengine lint-profile examples/profiling-configs/rocprofv3_comprehensive.json",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct lint_args),
	.only_prints = true,
	.run = run,
};
