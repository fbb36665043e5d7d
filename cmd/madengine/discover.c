#include "cmd/madengine/madengine.h"

#include "base/doc_edit.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

struct discover_args {
	struct ws_strv tags;
	bool verbose;
};

static const struct ws_opt opts[] = {
	WS_OPT_MANY(struct discover_args, tags, 't', "tags", "TAG",
		    "models with these names or tags, scope/tag or scope/all; default: all"),
	WS_OPT_BOOL(struct discover_args, verbose, 'v', "verbose", "print the definitions as JSON"),
};

/* Names, then tags; wide enough for the longest name. */
static void print_models(const struct mdl_models *models)
{
	int width = 0;

	for (size_t i = 0; i < models->n; i++) {
		int n = (int)strlen(models->at[i].name);

		width = WS_MAX(width, WS_MIN(n, 48));
	}
	for (size_t i = 0; i < models->n; i++) {
		const struct ws_doc *tags = ws_doc_get(models->at[i].doc, "tags");

		ws_print(stdout, "%-*s", tags && tags->n ? width : 0, models->at[i].name);
		for (size_t k = 0; tags && k < tags->n; k++)
			ws_print(stdout, "%s%s", k ? ", " : "  ", tags->at[k]->text);
		printf("\n");
	}
}

static enum ws_status print_json(const struct mdl_models *models, struct ws_arena *arena,
				 struct ws_err *err)
{
	struct ws_doc *list = ws_doc_list(arena);
	struct ws_buf text;
	enum ws_status st;

	for (size_t i = 0; i < models->n; i++)
		if (!ws_doc_add(list, models->at[i].doc, arena))
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_buf_init(&text, WS_DOC_BYTES_MAX);
	ws_doc_to_json(list, 4, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		printf("%s\n", text.at);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status discover(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct discover_args *args = call->values;
	struct mdl_models chosen;
	struct ws_arena arena;
	char root[PATH_MAX];
	enum ws_status st;

	ws_arena_init(&arena, MAD_ARENA_BYTES);
	st = mad_find_root(root, err);
	if (!st)
		st = mad_select(root, &args->tags, &arena, &chosen, err);
	if (!st && args->verbose)
		st = print_json(&chosen, &arena, err);
	else if (!st)
		print_models(&chosen);
	if (st == WS_E_NOTFOUND || st == WS_E_USAGE)
		*exit_code = MAD_EXIT_ARGS;
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd mad_discover_cmd = {
	.name = "discover",
	.summary = "list the models that tags select",
	.usage = "[--tags TAG...]",
	.about = "Prints the names and tags of models, one per line.",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct discover_args),
	.only_prints = true,
	.run = discover,
};
