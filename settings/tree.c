/* Configuration files as JSON and XML: the same tree. file.h describes it. */
#include "settings/file_priv.h"

#include "base/util.h"

#include <string.h>

static const struct ws_doc *settings_of(const struct ws_doc *root)
{
	static const char *const names[] = { "rocprofiler-systems", "rocprof-sys", "rocprofsys",
					     "omnitrace" };
	const struct ws_doc *project = NULL, *metadata;

	for (size_t i = 0; i < WS_ARRAY_LEN(names) && !project; i++)
		project = ws_doc_get(root, names[i]);
	metadata = ws_doc_get(project, "metadata");
	if (ws_doc_get(metadata, "settings"))
		return ws_doc_get(metadata, "settings");
	return ws_doc_get(project, "settings");
}

/* A scalar, or a list of them joined by ','. */
static enum ws_status text_of(struct set_values *values, const char *path,
			      const struct ws_doc *value, const char **out_text, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st = WS_OK;

	if (value->kind == WS_DOC_MAP)
		return ws_fail(err, WS_E_FORMAT, "%s: '%s' has no 'value'", path, value->key);
	if (value->kind != WS_DOC_LIST) {
		*out_text = value->text;
		return WS_OK;
	}
	ws_buf_init(&text, 1u << 20);
	for (size_t i = 0; i < value->n && !st; i++)
		if (value->at[i]->kind == WS_DOC_MAP || value->at[i]->kind == WS_DOC_LIST)
			st = ws_fail(err, WS_E_FORMAT, "%s: a value of '%s' is %s, not text", path,
				     value->key, ws_doc_kind_name(value->at[i]->kind));
		else
			ws_buf_printf(&text, "%s%s", i ? "," : "", value->at[i]->text);
	if (!st)
		st = ws_buf_status(&text, err);
	*out_text = st ? NULL : ws_arena_strdup(&values->arena, text.at);
	ws_buf_fini(&text);
	if (!st && !*out_text)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	return st;
}

enum ws_status set_parse_tree(struct set_values *values, const char *path,
			      const struct ws_doc *root, struct set_entries *out,
			      struct ws_err *err)
{
	const struct ws_doc *all = settings_of(root);
	enum ws_status st = WS_OK;

	if (!all || all->kind != WS_DOC_MAP)
		return ws_fail(err, WS_E_FORMAT,
			       "%s: no settings: 'rocprof-sys-avail -G FILE' writes an example",
			       path);
	for (size_t i = 0; i < all->n && !st; i++) {
		const struct ws_doc *one = all->at[i], *value = one;
		struct set_entry entry = { one->key, "", one->line };

		if (one->kind == WS_DOC_MAP && ws_doc_get(one, "value"))
			value = ws_doc_get(one, "value");
		/* Archives of AMD's tool carry a version of their own. */
		if (strcmp(one->key, "cereal_class_version") == 0)
			continue;
		st = text_of(values, path, value, &entry.text, err);
		if (!st)
			st = ws_vec_push(out, entry, err);
	}
	return st;
}
