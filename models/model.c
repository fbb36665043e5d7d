#include "models/model.h"

#include "base/doc_edit.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/vec.h"
#include "models/places.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_TIMEOUT_MS 120000

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- one model ---- */

/* "scripts/dir/../../docker/x" as "docker/x": what the file says, without asking the file system. */
static const char *rebase(const char *scope, const char *path, struct ws_arena *arena)
{
	char *whole = ws_arena_printf(arena, "scripts/%s/%s", scope, path), *to = whole;
	struct ws_str rest = ws_str_from(whole), part;
	size_t n_names = 0;

	if (!whole || path[0] == '/')
		return whole ? path : NULL;
	while (ws_str_next(&rest, '/', &part)) {
		if (!part.n || ws_str_is(part, "."))
			continue;
		if (ws_str_is(part, "..") && n_names) {
			while (to > whole && *--to != '/')
				;
			n_names--;
			continue;
		}
		n_names += !ws_str_is(part, "..");
		if (to > whole)
			*to++ = '/';
		memmove(to, part.at, part.n);
		to += part.n;
	}
	*to = '\0';
	return whole;
}

enum ws_status mdl_model_from_doc(const char *file, const char *scope, const struct ws_doc *doc,
				  struct ws_arena *arena, struct mdl_model *out_model,
				  struct ws_err *err)
{
	struct mdl_model model = { .timeout_s = ws_doc_get_real(doc, "timeout", -1) };
	const char *name = ws_doc_get_text(doc, "name", NULL), *slash;
	struct ws_doc *copy;
	bool ok;

	if (doc->kind != WS_DOC_MAP)
		return ws_fail(err, WS_E_FORMAT, "%s: a model must be an object, not %s", file,
			       ws_doc_kind_name(doc->kind));
	if (!name || !*name)
		return ws_fail(err, WS_E_FORMAT, "%s: a model without a name", file);
	copy = ws_doc_overlay(doc, NULL, arena);
	model.name = *scope ? ws_arena_printf(arena, "%s/%s", scope, name) : name;
	slash = model.name ? strchr(model.name, '/') : NULL;
	model.scope =
		slash ? ws_arena_strndup(arena, model.name, (size_t)(slash - model.name)) : "";
	ok = copy && model.name && model.scope && ws_doc_put_text(copy, "name", model.name, arena);
#define MDL_MODEL_READ(field) model.field = ws_doc_get_scalar(doc, #field, "");
	MDL_MODEL_TEXTS(MDL_MODEL_READ)
#undef MDL_MODEL_READ
	if (ok && *scope && *model.scripts)
		ok = (model.scripts = rebase(scope, model.scripts, arena)) &&
		     ws_doc_put_text(copy, "scripts", model.scripts, arena);
	if (ok && *scope && *model.dockerfile)
		ok = (model.dockerfile = rebase(scope, model.dockerfile, arena)) &&
		     ws_doc_put_text(copy, "dockerfile", model.dockerfile, arena);
	if (!ok)
		return no_memory(err);
	if (!*model.scripts)
		return ws_fail(err, WS_E_FORMAT, "%s: model '%s' has no scripts", file, model.name);
	model.deprecated = ws_doc_get_bool(doc, "deprecated", false);
	model.doc = copy;
	*out_model = model;
	return WS_OK;
}

bool mdl_model_lists(const struct mdl_model *model, const char *key, const char *word)
{
	const struct ws_doc *value = ws_doc_get(model->doc, key);
	struct ws_str rest, part;

	if (value && value->kind == WS_DOC_LIST) {
		for (size_t i = 0; i < value->n; i++)
			if (strcmp(value->at[i]->text, word) == 0)
				return true;
		return false;
	}
	rest = ws_str_from(value ? value->text : "");
	while (ws_str_next(&rest, ',', &part))
		if (ws_str_is(ws_str_trim(part), word))
			return true;
	return false;
}

/* ---- all of a root ---- */

WS_VEC_TYPE(model_vec, struct mdl_model);

static enum ws_status add_models(const char *file, const char *scope, const struct ws_doc *list,
				 struct ws_arena *arena, struct model_vec *models,
				 struct ws_err *err)
{
	enum ws_status st = WS_OK;
	struct mdl_model model;

	if (list->kind != WS_DOC_LIST)
		return ws_fail(err, WS_E_FORMAT, "%s: a list of models is expected, not %s", file,
			       ws_doc_kind_name(list->kind));
	for (size_t i = 0; i < list->n && !st; i++) {
		st = mdl_model_from_doc(file, scope, list->at[i], arena, &model, err);
		if (!st)
			st = ws_vec_push(models, model, err);
	}
	return st;
}

static enum ws_status read_json(const char *path, const char *scope, struct ws_arena *arena,
				struct model_vec *models, struct ws_err *err)
{
	struct ws_doc *list = NULL;
	enum ws_status st = ws_doc_read(path, arena, &list, err);

	return st ? st : add_models(path, scope, list, arena, models, err);
}

/* The user's own Python defines the models: what it prints to stderr is the user's to see. */
static enum ws_status read_python(const char *path, const char *scope, struct ws_arena *arena,
				  struct model_vec *models, struct ws_err *err)
{
	char helper[PATH_MAX];
	char *argv[] = { "python3", helper, (char *)path, NULL };
	struct ws_proc_end end;
	struct ws_doc *list;
	struct ws_buf text;
	enum ws_status st = mdl_place_find("list_models.py", helper, err);

	if (st)
		return st;
	ws_buf_init(&text, WS_DOC_BYTES_MAX);
	st = ws_proc_read("python3", argv, environ, WS_PROC_STDERR_DROP, LIST_TIMEOUT_MS, &text,
			  &end, err);
	if (!st && end.exit_code)
		st = ws_fail(err, WS_E_FORMAT,
			     "%s: python3 ended with %d: 'python3 %s %s' shows its messages", path,
			     end.exit_code, helper, path);
	if (!st)
		st = ws_doc_parse_json(path, ws_buf_view(&text), arena, &list, err);
	if (!st)
		st = add_models(path, scope, list, arena, models, err);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status read_scope(const char *root, const char *scope, struct ws_arena *arena,
				 struct model_vec *models, struct ws_err *err)
{
	char json[PATH_MAX], program[PATH_MAX];

	if (snprintf(json, sizeof(json), "%s/scripts/%s/models.json", root, scope) >= PATH_MAX ||
	    snprintf(program, sizeof(program), "%s/scripts/%s/get_models_json.py", root, scope) >=
		    PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "%s: the path is too long", root);
	if (ws_path_exists(json) && ws_path_exists(program))
		return ws_fail(err, WS_E_FORMAT,
			       "%s/scripts/%s has models.json and get_models_json.py: remove one",
			       root, scope);
	if (ws_path_exists(json))
		return read_json(json, scope, arena, models, err);
	if (ws_path_exists(program))
		return read_python(program, scope, arena, models, err);
	return WS_OK;
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Calls @visit for each folder of scripts/, in order of names, until one fails. */
static enum ws_status each_scope(
	const char *root,
	enum ws_status (*visit)(const char *root, const char *scope, struct ws_arena *arena,
				struct model_vec *models, struct ws_err *err),
	struct ws_arena *arena, struct model_vec *models, struct ws_err *err)
{
	struct dirent **names = NULL;
	enum ws_status st = WS_OK;
	char scripts[PATH_MAX];
	int n;

	snprintf(scripts, sizeof(scripts), "%s/scripts", root);
	n = scandir(scripts, &names, not_hidden, alphasort);
	for (int i = 0; i < n; i++) {
		if (!st)
			st = visit(root, names[i]->d_name, arena, models, err);
		free(names[i]);
	}
	free(names);
	return st;
}

static enum ws_status found_scope(const char *root, const char *scope, struct ws_arena *arena,
				  struct model_vec *models, struct ws_err *err)
{
	char json[PATH_MAX], program[PATH_MAX];

	(void)arena;
	(void)models;
	snprintf(json, sizeof(json), "%s/scripts/%s/models.json", root, scope);
	snprintf(program, sizeof(program), "%s/scripts/%s/get_models_json.py", root, scope);
	return ws_path_exists(json) || ws_path_exists(program) ? WS_E_EXISTS : WS_OK;
}

bool mdl_models_exist(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/models.json", root);
	return ws_path_exists(path) || each_scope(root, found_scope, NULL, NULL, NULL);
}

enum ws_status mdl_models_read(const char *root, struct ws_arena *arena,
			       struct mdl_models *out_models, struct ws_err *err)
{
	struct model_vec models = { .max_n = 1 << 20 };
	enum ws_status st = WS_OK;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/models.json", root);
	if (ws_path_exists(path))
		st = read_json(path, "", arena, &models, err);
	if (!st)
		st = each_scope(root, read_scope, arena, &models, err);
	if (!st && !models.n)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "there are no models in %s: models.json or scripts/<dir>/models.json "
			     "defines them",
			     root);
	if (!st) {
		out_models->n = models.n;
		out_models->at = ws_arena_array(arena, models.n, sizeof(*models.at));
		if (!out_models->at)
			st = no_memory(err);
		else
			memcpy(out_models->at, models.at, models.n * sizeof(*models.at));
	}
	ws_vec_fini(&models);
	return st;
}

/* ---- selection ---- */

/* "scope/tag:key=value:..." in its parts. */
struct tag {
	struct ws_str scope; /* NULL at: none */
	struct ws_str name;
	const char *args; /* "" or " --key value ..." */
};

static enum ws_status read_tag(const char *text, struct ws_arena *arena, struct tag *out_tag,
			       struct ws_err *err)
{
	struct ws_str rest = ws_str_from(text), part;
	const char *args = "", *slash;

	ws_str_next(&rest, ':', &part);
	*out_tag = (struct tag){ .name = ws_str_trim(part) };
	while (ws_str_next(&rest, ':', &part)) {
		struct ws_str value = part, key;

		ws_str_next(&value, '=', &key);
		if (key.n == part.n) {
			/* The older spelling of scope/tag. */
			if (out_tag->scope.at || *args)
				return ws_fail(err, WS_E_USAGE,
					       "tag '%s': '%.*s' is not of the form key=value",
					       text, WS_STR_ARGS(part));
			out_tag->scope = out_tag->name;
			out_tag->name = part;
			continue;
		}
		args = ws_arena_printf(arena, "%s --%.*s %.*s", args, WS_STR_ARGS(key),
				       WS_STR_ARGS(value));
		if (!args)
			return no_memory(err);
	}
	out_tag->args = args;
	slash = memchr(out_tag->name.at, '/', out_tag->name.n);
	if (slash && !out_tag->scope.at) {
		size_t n = (size_t)(slash - out_tag->name.at);

		out_tag->scope = (struct ws_str){ out_tag->name.at, n };
		out_tag->name.at += n + 1;
		out_tag->name.n -= n + 1;
	}
	return WS_OK;
}

static bool fits(const struct mdl_model *model, const struct tag *tag, struct ws_arena *arena)
{
	const char *slash = strchr(model->name, '/');
	char *word = ws_arena_strndup(arena, tag->name.at, tag->name.n);

	if (!word || (tag->scope.at && !ws_str_is(tag->scope, model->scope)))
		return false;
	return strcmp(word, "all") == 0 || strcmp(word, model->name) == 0 ||
	       (tag->scope.at && slash && strcmp(word, slash + 1) == 0) ||
	       mdl_model_lists(model, "tags", word);
}

/* Names and tags of all models, for the nearest one: number i. */
static const char *word_of(const void *list, size_t i)
{
	const struct mdl_models *models = list;

	for (size_t m = 0; m < models->n; m++) {
		const struct ws_doc *tags = ws_doc_get(models->at[m].doc, "tags");
		size_t n_tags = tags && tags->kind == WS_DOC_LIST ? tags->n : 0;

		if (i == 0)
			return models->at[m].name;
		if (--i < n_tags)
			return tags->at[i]->text;
		i -= n_tags;
	}
	return NULL;
}

static enum ws_status add_args(struct mdl_model *model, const char *args, struct ws_arena *arena,
			       struct ws_err *err)
{
	struct ws_doc *doc;

	if (!*args)
		return WS_OK;
	model->args = ws_arena_printf(arena, "%s%s", model->args, *model->args ? args : args + 1);
	doc = ws_doc_overlay(model->doc, NULL, arena);
	if (!model->args || !doc || !ws_doc_put_text(doc, "args", model->args, arena))
		return no_memory(err);
	model->doc = doc;
	return WS_OK;
}

enum ws_status mdl_models_select(const struct mdl_models *models, const char *const *tags,
				 size_t n_tags, struct ws_arena *arena,
				 struct mdl_models *out_chosen, struct ws_err *err)
{
	struct mdl_model *copies = ws_arena_array(arena, models->n, sizeof(*copies));
	bool *chosen = ws_arena_array(arena, models->n, sizeof(*chosen));
	enum ws_status st = WS_OK;
	size_t n = 0;

	if (!copies || !chosen)
		return no_memory(err);
	memcpy(copies, models->at, models->n * sizeof(*copies));
	for (size_t t = 0; t < n_tags && !st; t++) {
		struct tag tag;
		bool any = false;

		st = read_tag(tags[t], arena, &tag, err);
		for (size_t i = 0; i < models->n && !st; i++) {
			if (!fits(&models->at[i], &tag, arena))
				continue;
			any = chosen[i] = true;
			st = add_args(&copies[i], tag.args, arena, err);
		}
		if (!st && !any) {
			const char *near = ws_str_nearest(tags[t], word_of, models);

			st = ws_fail(
				err, WS_E_NOTFOUND,
				near ? "no model has the name or tag '%s': did you mean '%s'? "
				       "'madengine discover' lists them"
				     : "no model has the name or tag '%s': 'madengine discover' "
				       "lists them",
				tags[t], near);
		}
	}
	for (size_t i = 0; i < models->n && !st; i++)
		if (chosen[i])
			copies[n++] = copies[i];
	out_chosen->at = copies;
	out_chosen->n = n;
	return st;
}
