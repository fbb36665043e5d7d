#include "models/tools.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "base/vec.h"
#include "models/places.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX (4u << 20)
#define WORDS_MAX 4096u

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- definitions ---- */

static bool is_scalar(const struct ws_doc *doc)
{
	return doc->kind == WS_DOC_TEXT || doc->kind == WS_DOC_INT || doc->kind == WS_DOC_REAL ||
	       doc->kind == WS_DOC_BOOL;
}

static enum ws_status check_scripts(const char *tool, const struct ws_doc *list, struct ws_err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct ws_doc *path = ws_doc_get(list->at[i], "path");

		if (!path || path->kind != WS_DOC_TEXT || !*path->text)
			return ws_fail(
				err, WS_E_FORMAT,
				"tool '%s': %s[%zu] has no 'path': give {\"path\": \"FILE\", "
				"\"args\": \"...\"}",
				tool, list->key, i);
	}
	return WS_OK;
}

static enum ws_status check_variables(const char *tool, const struct ws_doc *map,
				      struct ws_err *err)
{
	for (size_t i = 0; i < map->n; i++)
		if (!is_scalar(map->at[i]))
			return ws_fail(err, WS_E_FORMAT,
				       "tool '%s': env_vars.%s is %s: give a text or a number",
				       tool, map->at[i]->key, ws_doc_kind_name(map->at[i]->kind));
	return WS_OK;
}

static enum ws_status check_texts(const char *tool, const struct ws_doc *list, struct ws_err *err)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i]->kind != WS_DOC_TEXT)
			return ws_fail(err, WS_E_FORMAT, "tool '%s': %s[%zu] is not a text", tool,
				       list->key, i);
	return WS_OK;
}

/* Members of a definition and of an entry of the context; others are left alone. */
static const struct member {
	const char *name;
	enum ws_doc_kind kind;
	enum ws_status (*check)(const char *tool, const struct ws_doc *value, struct ws_err *err);
} members[] = {
	{ "cmd", WS_DOC_TEXT, NULL },
	{ "env_vars", WS_DOC_MAP, check_variables },
	{ "pre_scripts", WS_DOC_LIST, check_scripts },
	{ "post_scripts", WS_DOC_LIST, check_scripts },
	{ "outputs", WS_DOC_LIST, check_texts },
};

static enum ws_status check_tool(const char *name, const struct ws_doc *tool, struct ws_err *err)
{
	if (tool->kind != WS_DOC_MAP)
		return ws_fail(err, WS_E_FORMAT, "tool '%s' is %s, not an object", name,
			       ws_doc_kind_name(tool->kind));
	for (size_t i = 0; i < WS_ARRAY_LEN(members); i++) {
		const struct ws_doc *value = ws_doc_get(tool, members[i].name);
		enum ws_status st;

		if (!value || value->kind == WS_DOC_NULL)
			continue;
		if (value->kind != members[i].kind)
			return ws_fail(err, WS_E_FORMAT, "tool '%s': '%s' is %s, not %s", name,
				       members[i].name, ws_doc_kind_name(value->kind),
				       ws_doc_kind_name(members[i].kind));
		st = members[i].check ? members[i].check(name, value, err) : WS_OK;
		if (st)
			return st;
	}
	return WS_OK;
}

enum ws_status mdl_tools_read(const char *path, struct ws_arena *arena, struct ws_doc **out_tools,
			      struct ws_err *err)
{
	char installed[PATH_MAX];
	struct ws_doc *file = NULL;
	const struct ws_doc *tools;
	struct ws_buf text;
	enum ws_status st = WS_OK;

	ws_buf_init(&text, FILE_BYTES_MAX);
	if (!path) {
		st = mdl_place_find(MDL_PLACE_COMMON "/tools.json", installed, err);
		path = installed;
	}
	if (!st)
		st = ws_file_read(path, &text, err);
	if (!st)
		st = ws_doc_parse_json(path, ws_buf_view(&text), arena, &file, err);
	ws_buf_fini(&text);
	if (st)
		return st;
	tools = ws_doc_get(file, "tools");
	if (!tools || tools->kind != WS_DOC_MAP)
		return ws_fail(err, WS_E_FORMAT,
			       "%s: no object 'tools': {\"tools\": {\"NAME\": {\"cmd\": ...}}}",
			       path);
	for (size_t i = 0; i < tools->n; i++) {
		st = check_tool(tools->at[i]->key, tools->at[i], err);
		if (st)
			return ws_fail_in(err, st, "%s", path);
	}
	*out_tools = (struct ws_doc *)tools;
	return WS_OK;
}

const char *mdl_tool_name(const struct ws_doc *tools, size_t i)
{
	return i < tools->n ? tools->at[i]->key : NULL;
}

bool mdl_tool_is_rocprof(const char *name)
{
	return strncmp(name, "rocprof", strlen("rocprof")) == 0;
}

/* ---- commands ---- */

/* One word from @at on into @word; what follows it. */
static const char *take_word(const char *at, struct ws_buf *word)
{
	char quote = 0;

	for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		else if (*at == '\\' && quote != '\'' && at[1])
			ws_buf_add_c(word, *++at, 1);
		else
			ws_buf_add_c(word, *at, 1);
	}
	return at;
}

enum ws_status mdl_command_words(const char *command, struct ws_arena *arena, char ***out_words,
				 struct ws_err *err)
{
	struct ws_strv words = { .max_n = WORDS_MAX };
	struct ws_buf word;
	enum ws_status st = WS_OK;
	char **copy = NULL;

	ws_buf_init(&word, FILE_BYTES_MAX);
	while (!st) {
		while (isspace((unsigned char)*command))
			command++;
		if (!*command)
			break;
		ws_buf_clear(&word);
		command = take_word(command, &word);
		st = ws_buf_status(&word, err);
		if (!st)
			st = ws_vec_push(&words, ws_arena_strdup(arena, word.at), err);
		if (!st && !words.at[words.n - 1])
			st = no_memory(err);
	}
	if (!st) {
		copy = ws_arena_array(arena, words.n + 1, sizeof(*copy));
		st = copy ? WS_OK : no_memory(err);
	}
	for (size_t i = 0; !st && i < words.n; i++)
		copy[i] = (char *)words.at[i];
	if (!st)
		*out_words = copy;
	ws_vec_fini(&words);
	ws_buf_fini(&word);
	return st;
}

/* The folder that a profiler's command names with -d; NULL: none. */
static const char *output_folder(char *const *words)
{
	static const char name[] = "--output-directory";
	const size_t n = sizeof(name) - 1;

	for (; *words && strcmp(*words, "--") != 0; words++) {
		if (!strcmp(*words, "-d") || !strcmp(*words, name))
			return words[1];
		if (!strncmp(*words, name, n) && (*words)[n] == '=')
			return *words + n + 1;
		if (!strncmp(*words, "-d", 2) && (*words)[2])
			return *words + 2;
	}
	return NULL;
}

/* ---- the chain ---- */

/* Lists that grow at one end or the other; the arena keeps the old ones. */
static enum ws_status join_scripts(struct mdl_scripts *list, const struct ws_doc *more,
				   bool in_front, struct ws_arena *arena, struct ws_err *err)
{
	struct mdl_script *at;
	size_t n_before = in_front ? 0 : list->n;

	if (!more || more->kind != WS_DOC_LIST || !more->n)
		return WS_OK;
	at = ws_arena_array(arena, list->n + more->n, sizeof(*at));
	if (!at)
		return no_memory(err);
	if (list->n)
		memcpy(at + (in_front ? more->n : 0), list->at, list->n * sizeof(*at));
	for (size_t i = 0; i < more->n; i++)
		at[n_before + i] = (struct mdl_script){
			.path = ws_doc_get_text(more->at[i], "path", ""),
			.args = ws_doc_get_scalar(more->at[i], "args", ""),
		};
	list->at = at;
	list->n += more->n;
	return WS_OK;
}

struct building {
	const struct ws_doc *tools;
	struct ws_arena *arena;
	struct mdl_chain *chain;
	struct ws_doc *env;
	const char **names; /* chain->names */
	const char **cmds;  /* in the prefix already */
	size_t n_cmds;
};

static const char *tool_at(const void *list, size_t i)
{
	return mdl_tool_name(list, i);
}

static enum ws_status find_tool(const struct building *b, const struct ws_doc *entry, size_t i,
				const struct ws_doc **out_tool, struct ws_err *err)
{
	const char *name = ws_doc_get_text(entry, "name", NULL), *nearest;

	if (!name)
		return ws_fail(err, WS_E_USAGE,
			       "tools[%zu] has no name: give {\"name\": \"rocprofv3_compute\"}", i);
	*out_tool = ws_doc_get(b->tools, name);
	if (*out_tool)
		return check_tool(name, entry, err);
	nearest = ws_str_nearest(name, tool_at, b->tools);
	return ws_fail(err, WS_E_NOTFOUND, "no tool '%s'%s%s%s", name,
		       nearest ? ": did you mean '"
			       : ": 'madengine lint-profile --tools' lists them",
		       nearest ? nearest : "", nearest ? "'?" : "");
}

static enum ws_status add_variables(struct building *b, const struct ws_doc *map,
				    struct ws_err *err)
{
	for (size_t i = 0; map && map->kind == WS_DOC_MAP && i < map->n; i++) {
		const char *key = map->at[i]->key;

		if (!ws_doc_put_text(b->env, key, ws_doc_get_scalar(map, key, ""), b->arena))
			return no_memory(err);
	}
	return WS_OK;
}

static enum ws_status add_command(struct building *b, const char *cmd, struct ws_err *err)
{
	if (!*cmd)
		return WS_OK;
	for (size_t i = 0; i < b->n_cmds; i++)
		if (strcmp(b->cmds[i], cmd) == 0)
			return WS_OK;
	b->cmds[b->n_cmds++] = cmd;
	b->chain->prefix = ws_arena_printf(b->arena, "%s %s", cmd, b->chain->prefix);
	return b->chain->prefix ? WS_OK : no_memory(err);
}

/* ${NAME}s of the environment; others stay. */
static const char *expand(const struct building *b, const char *pattern)
{
	struct ws_buf text;
	const char *copy;

	ws_buf_init(&text, PATH_MAX);
	for (const char *at = pattern, *end; *at;) {
		end = strncmp(at, "${", 2) == 0 ? strchr(at, '}') : NULL;
		if (end) {
			char name[128];

			snprintf(name, sizeof(name), "%.*s", (int)(end - at - 2), at + 2);
			ws_buf_add(&text, ws_doc_get_scalar(b->env, name, ""));
			at = end + 1;
		} else {
			ws_buf_add_c(&text, *at++, 1);
		}
	}
	copy = text.failed ? NULL : ws_arena_strdup(b->arena, text.at);
	ws_buf_fini(&text);
	return copy;
}

static enum ws_status add_outputs(struct building *b, const struct ws_doc *tool, const char *cmd,
				  bool replaced, struct ws_err *err)
{
	const struct ws_doc *list = ws_doc_get(tool, "outputs");
	struct mdl_chain *chain = b->chain;
	const char *folder = NULL;
	struct mdl_output *more;
	char **words;

	if (!list || list->kind != WS_DOC_LIST || !list->n)
		return WS_OK;
	if (replaced) {
		enum ws_status st = mdl_command_words(cmd, b->arena, &words, err);

		if (st)
			return st;
		folder = output_folder(words);
	}
	more = ws_arena_array(b->arena, chain->n_outputs + list->n, sizeof(*more));
	if (!more)
		return no_memory(err);
	if (chain->n_outputs)
		memcpy(more, chain->outputs, chain->n_outputs * sizeof(*more));
	chain->outputs = more;
	for (size_t i = 0; i < (folder ? 1 : list->n); i++) {
		struct mdl_output *output = &more[chain->n_outputs++];

		output->tool = tool->key;
		output->pattern =
			folder ? ws_arena_printf(b->arena, "%s/*", folder) : list->at[i]->text;
		if (!output->pattern)
			return no_memory(err);
	}
	return WS_OK;
}

static enum ws_status add_tool(struct building *b, const struct ws_doc *entry, size_t i,
			       struct ws_err *err)
{
	const struct ws_doc *tool = NULL;
	const char *own, *cmd;
	enum ws_status st = find_tool(b, entry, i, &tool, err);

	if (st)
		return st;
	own = ws_doc_get_text(entry, "cmd", NULL);
	cmd = own ? own : ws_doc_get_text(tool, "cmd", "");
	b->names[b->chain->n_tools++] = tool->key;
	st = add_command(b, cmd, err);
	if (!st)
		st = add_variables(b, ws_doc_get(tool, "env_vars"), err);
	if (!st)
		st = add_variables(b, ws_doc_get(entry, "env_vars"), err);
	if (!st)
		st = join_scripts(&b->chain->pre, ws_doc_get(tool, "pre_scripts"), true, b->arena,
				  err);
	if (!st)
		st = join_scripts(&b->chain->post, ws_doc_get(tool, "post_scripts"), false,
				  b->arena, err);
	return st ? st : add_outputs(b, tool, cmd, own != NULL, err);
}

enum ws_status mdl_chain_build(const struct ws_doc *tools, const struct ws_doc *context,
			       struct ws_arena *arena, struct mdl_chain *out_chain,
			       struct ws_err *err)
{
	const struct ws_doc *list = ws_doc_get(context, "tools");
	const char *inner = ws_doc_get_text(context, "encapsulate_script", "");
	size_t n = list && list->kind == WS_DOC_LIST ? list->n : 0;
	struct mdl_chain chain = { .prefix = "" };
	struct building b = { .tools = tools, .arena = arena, .chain = &chain };
	enum ws_status st;

	b.env = ws_doc_map(arena);
	b.cmds = ws_arena_array(arena, n + 1, sizeof(*b.cmds));
	chain.names = b.names = ws_arena_array(arena, n + 1, sizeof(*b.names));
	if (*inner)
		chain.prefix = ws_arena_printf(arena, "%s ", inner);
	if (!b.env || !b.cmds || !b.names || !chain.prefix)
		return no_memory(err);
	st = join_scripts(&chain.pre, ws_doc_get(context, "pre_scripts"), false, arena, err);
	if (!st)
		st = join_scripts(&chain.post, ws_doc_get(context, "post_scripts"), false, arena,
				  err);
	for (size_t i = 0; i < n && !st; i++)
		st = add_tool(&b, list->at[i], i, err);
	for (size_t i = 0; i < chain.n_outputs && !st; i++) {
		chain.outputs[i].pattern = expand(&b, chain.outputs[i].pattern);
		if (!chain.outputs[i].pattern)
			st = no_memory(err);
	}
	if (st)
		return st;
	chain.env = b.env;
	*out_chain = chain;
	return WS_OK;
}
