#include "models/deploy.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "models/places.h"

#include <string.h>

#define TEMPLATE_BYTES_MAX (1u << 20)

/* Members of a model that have the form of context keys. */
static const char *const model_keys[] = { "slurm", "k8s", "kubernetes", "distributed", "env_vars" };

static enum ws_status read_preset(const char *name, struct ws_arena *arena, struct ws_doc **out_doc,
				  struct ws_err *err)
{
	char place[PATH_MAX], path[PATH_MAX];
	enum ws_status st;

	snprintf(place, sizeof(place), "presets/%s.json", name);
	st = mdl_place_find(place, path, err);
	if (!st)
		st = ws_doc_read(path, arena, out_doc, err);
	if (st)
		return ws_fail_in(err, st, "preset '%s'", name);
	return WS_OK;
}

enum ws_status mdl_deploy_merge(const char *const *names, size_t n_names,
				const struct mdl_model *model, const struct ws_doc *context,
				struct ws_arena *arena, struct ws_doc **out_context,
				struct ws_err *err)
{
	struct ws_doc *merged = ws_doc_map(arena), *own = ws_doc_map(arena);
	bool ok = merged && own;

	for (size_t i = 0; i < n_names; i++) {
		struct ws_doc *preset;
		enum ws_status st = read_preset(names[i], arena, &preset, err);

		if (st)
			return st;
		merged = ws_doc_merge(merged, preset, arena);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(model_keys); i++) {
		const struct ws_doc *member = ws_doc_get(model->doc, model_keys[i]);

		if (member && member->kind == WS_DOC_MAP)
			ok &= ws_doc_put(own, model_keys[i], member, arena);
	}
	merged = ws_doc_merge(merged, own, arena);
	if (context)
		merged = ws_doc_merge(merged, context, arena);
	if (!ok || !merged)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	*out_context = merged;
	return WS_OK;
}

enum ws_status mdl_deploy_nodes(const struct mdl_model *model, const struct ws_doc *context,
				size_t *out_nodes, struct ws_err *err)
{
	/* In order of precedence. */
	static const struct {
		const char *map, *key;
	} places[] = { { "slurm", "nodes" }, { "distributed", "nnodes" } };
	const struct ws_doc *sources[] = { context, model->doc };

	for (size_t s = 0; s < WS_ARRAY_LEN(sources); s++) {
		for (size_t i = 0; i < WS_ARRAY_LEN(places); i++) {
			const char *text = ws_doc_get_scalar(ws_doc_get(sources[s], places[i].map),
							     places[i].key, NULL);
			uint64_t n;

			if (!text)
				continue;
			if (!ws_str_u64(ws_str_from(text), &n) || n < 1 || n > 65536)
				return ws_fail(err, WS_E_USAGE,
					       "%s.%s is '%s': give a number from 1 to 65536",
					       places[i].map, places[i].key, text);
			*out_nodes = (size_t)n;
			return WS_OK;
		}
	}
	*out_nodes = 1;
	return WS_OK;
}

/* ---- templates ---- */

static bool is_slot_name(struct ws_str name)
{
	if (!name.n)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz_", name.at[i]))
			return false;
	}
	return true;
}

/* "@name@" at the start of @text; false: there is none. */
static bool find_slot(struct ws_str text, struct ws_str *out_name)
{
	const char *end =
		text.n > 2 && *text.at == '@' ? memchr(text.at + 1, '@', text.n - 1) : NULL;

	if (!end)
		return false;
	*out_name = (struct ws_str){ text.at + 1, (size_t)(end - text.at) - 1 };
	return is_slot_name(*out_name);
}

static enum ws_status fill_line(const char *file, struct ws_str line, const struct mdl_slot *slots,
				size_t n_slots, struct ws_buf *out, struct ws_err *err)
{
	struct ws_str name;
	bool alone = find_slot(line, &name) && name.n + 2 == line.n;

	for (size_t at = 0; at < line.n;) {
		const struct mdl_slot *slot = slots;
		struct ws_str rest = { line.at + at, line.n - at };

		if (!find_slot(rest, &name)) {
			ws_buf_add_n(out, rest.at, 1);
			at++;
			continue;
		}
		while (slot < slots + n_slots && !ws_str_is(name, slot->name))
			slot++;
		if (slot == slots + n_slots)
			return ws_fail(err, WS_E_FORMAT, "template %s: nothing for @%.*s@", file,
				       WS_STR_ARGS(name));
		if (alone && !*slot->text)
			return WS_OK;
		ws_buf_add(out, slot->text);
		if (alone && out->n && out->at[out->n - 1] == '\n')
			return WS_OK;
		at += name.n + 2;
	}
	ws_buf_add_n(out, "\n", 1);
	return WS_OK;
}

enum ws_status mdl_template_fill(const char *file, const struct mdl_slot *slots, size_t n_slots,
				 struct ws_buf *out, struct ws_err *err)
{
	char place[PATH_MAX], path[PATH_MAX];
	struct ws_buf text;
	struct ws_str rest, line;
	enum ws_status st;

	ws_buf_init(&text, TEMPLATE_BYTES_MAX);
	snprintf(place, sizeof(place), "templates/%s", file);
	st = mdl_place_find(place, path, err);
	if (!st)
		st = ws_file_read(path, &text, err);
	rest = ws_buf_view(&text);
	while (!st && rest.n && ws_str_next(&rest, '\n', &line))
		st = fill_line(file, line, slots, n_slots, out, err);
	if (!st)
		st = ws_buf_status(out, err);
	ws_buf_fini(&text);
	return st;
}

const char *mdl_deploy_file_name(const char *model, struct ws_arena *arena)
{
	char *name = ws_arena_strdup(arena, model);

	for (char *c = name; c && *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	return name;
}

void mdl_deploy_warn(const struct mdl_run_options *options, const char *where)
{
	const struct {
		bool on;
		const char *name;
	} without_effect[] = {
		{ options->keep_alive, "--keep-alive" },
		{ options->keep_run_folder, "--keep-model-dir" },
		{ options->skip_model_run, "--skip-model-run" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(without_effect); i++) {
		if (without_effect[i].on)
			ws_log_warn("%s has no effect on %s", without_effect[i].name, where);
	}
}
