#include "models/manifest.h"

#include "base/doc_edit.h"

#include <string.h>

/* Members of the context that a manifest keeps, and where. Those of the run can be replaced. */
static const struct {
	const char *key;
	const char *part; /* of the manifest */
	bool at_run;      /* replaced by the context of a run */
} kept[] = {
	{ "docker_env_vars", "context", false },
	{ "docker_mounts", "context", false },
	{ "docker_build_arg", "context", false },
	{ "gpu_vendor", "context", false },
	{ "guest_os", "context", false },
	{ "docker_gpus", "context", false },
	{ "tools", "context", true },
	{ "pre_scripts", "context", true },
	{ "post_scripts", "context", true },
	{ "encapsulate_script", "context", true },
	{ "deploy", "deployment_config", true },
	{ "slurm", "deployment_config", true },
	{ "k8s", "deployment_config", true },
	{ "kubernetes", "deployment_config", true },
	{ "distributed", "deployment_config", true },
	{ "vllm", "deployment_config", true },
	{ "env_vars", "deployment_config", true },
	{ "debug", "deployment_config", true },
};

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* The part @key of the manifest, made if it is missing; it is not shared with another tree. */
static struct ws_doc *part_of(struct ws_doc *manifest, const char *key, struct ws_arena *arena)
{
	const struct ws_doc *old = ws_doc_get(manifest, key);
	struct ws_doc *part = old ? ws_doc_overlay(old, NULL, arena) : ws_doc_map(arena);

	if (!ws_doc_put(manifest, key, part, arena))
		return NULL;
	return (struct ws_doc *)ws_doc_get(manifest, key);
}

/* A cache of one machine's user: of no use elsewhere. */
static const struct ws_doc *without_cache_path(const struct ws_doc *env, struct ws_arena *arena)
{
	struct ws_doc *copy = ws_doc_overlay(env, NULL, arena);

	if (copy)
		ws_doc_remove(copy, "MIOPEN_USER_DB_PATH");
	return copy;
}

static bool keep(struct ws_doc *manifest, const struct ws_doc *context, bool only_of_run,
		 struct ws_arena *arena)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(kept); i++) {
		const struct ws_doc *value = ws_doc_get(context, kept[i].key);
		struct ws_doc *part;

		if (!value || (only_of_run && !kept[i].at_run))
			continue;
		if (strcmp(kept[i].key, "env_vars") == 0)
			value = without_cache_path(value, arena);
		part = part_of(manifest, kept[i].part, arena);
		if (!part || !ws_doc_put(part, kept[i].key, value, arena))
			return false;
	}
	return true;
}

/* slurm or k8s say where it runs; a manifest without deployment_config runs here. */
static bool put_target(struct ws_doc *manifest, struct ws_arena *arena)
{
	const struct ws_doc *config = ws_doc_get(manifest, "deployment_config");
	const char *target = ws_doc_get(config, "slurm") ? "slurm"
			     : ws_doc_get(config, "k8s") || ws_doc_get(config, "kubernetes") ? "k8s"
											     : NULL;

	if (!target)
		return true;
	return ws_doc_put_text(part_of(manifest, "deployment_config", arena), "target", target,
			       arena);
}

struct ws_doc *mdl_manifest_create(const struct ws_doc *context, const char *root,
				   struct ws_arena *arena)
{
	static const char *const maps[] = { "docker_env_vars", "docker_mounts",
					    "docker_build_arg" };
	struct ws_doc *manifest = ws_doc_map(arena), *part;
	bool ok = manifest && ws_doc_put(manifest, "built_images", ws_doc_map(arena), arena) &&
		  ws_doc_put(manifest, "built_models", ws_doc_map(arena), arena) &&
		  (part = part_of(manifest, "context", arena));

	for (size_t i = 0; i < WS_ARRAY_LEN(maps) && ok; i++)
		ok = ws_doc_put(part, maps[i], ws_doc_map(arena), arena);
	ok = ok && keep(manifest, context, false, arena) &&
	     ws_doc_put(manifest, "credentials_required", ws_doc_list(arena), arena) &&
	     put_target(manifest, arena);
	if (ok && strcmp(root, ".") != 0)
		ok = ws_doc_put_text(manifest, "model_root", root, arena);
	return ok ? manifest : NULL;
}

const char *mdl_image_name(const char *model, const char *dockerfile, struct ws_arena *arena)
{
	const char *slash = strrchr(dockerfile, '/'), *file = slash ? slash + 1 : dockerfile;
	char *name = ws_arena_printf(arena, "ci-%s%s%s", model, *file ? "_" : "", file);
	char *suffix = name ? strstr(name, ".Dockerfile") : NULL;

	if (suffix)
		*suffix = '\0';
	for (char *at = name; at && *at; at++)
		if (*at == '/')
			*at = '_';
	return name;
}

enum ws_status mdl_manifest_add(struct ws_doc *manifest, const struct mdl_model *model,
				const char *image, const struct ws_doc *built,
				struct ws_arena *arena, struct ws_err *err)
{
	const struct ws_doc *cred = ws_doc_get(manifest, "credentials_required");
	struct ws_doc *list = ws_doc_list(arena);
	bool ok = ws_doc_put(part_of(manifest, "built_images", arena), image, built, arena) &&
		  ws_doc_put(part_of(manifest, "built_models", arena), image, model->doc, arena);
	bool known = !*model->cred;

	for (size_t i = 0; cred && i < cred->n && ok; i++) {
		known |= strcmp(cred->at[i]->text, model->cred) == 0;
		ok = ws_doc_add(list, cred->at[i], arena);
	}
	if (ok && !known)
		ok = ws_doc_add(list, ws_doc_text(model->cred, arena), arena);
	ok = ok && ws_doc_put(manifest, "credentials_required", list, arena);
	return ok ? WS_OK : no_memory(err);
}

enum ws_status mdl_manifest_read(const char *path, struct ws_arena *arena,
				 struct ws_doc **out_manifest, struct ws_err *err)
{
	static const char *const needed[] = { "built_images", "built_models" };
	struct ws_doc *manifest = NULL;
	enum ws_status st = ws_doc_read(path, arena, &manifest, err);

	if (st)
		return st;
	for (size_t i = 0; i < WS_ARRAY_LEN(needed); i++) {
		const struct ws_doc *part = ws_doc_get(manifest, needed[i]);

		if (!part || part->kind != WS_DOC_MAP)
			return ws_fail(
				err, WS_E_FORMAT,
				"%s: it has no object '%s': 'madengine build' writes manifests",
				path, needed[i]);
	}
	*out_manifest = manifest;
	return WS_OK;
}

enum ws_status mdl_manifest_entries(const char *path, const struct ws_doc *manifest,
				    struct ws_arena *arena, struct mdl_entries *out_entries,
				    struct ws_err *err)
{
	const struct ws_doc *images = ws_doc_get(manifest, "built_images");
	const struct ws_doc *models = ws_doc_get(manifest, "built_models");
	struct mdl_entry *at = ws_arena_array(arena, images->n, sizeof(*at));
	enum ws_status st = WS_OK;

	if (images->n && !at)
		return no_memory(err);
	for (size_t i = 0; i < images->n && !st; i++) {
		const struct ws_doc *model = ws_doc_get(models, images->at[i]->key);

		if (!model)
			return ws_fail(err, WS_E_FORMAT, "%s: image '%s' has no model", path,
				       images->at[i]->key);
		at[i].image = images->at[i]->key;
		at[i].built = images->at[i];
		st = mdl_model_from_doc(path, "", model, arena, &at[i].model, err);
	}
	out_entries->at = at;
	out_entries->n = images->n;
	return st;
}

enum ws_status mdl_manifest_merge(struct ws_doc *manifest, const struct ws_doc *context,
				  struct ws_arena *arena, struct ws_err *err)
{
	return keep(manifest, context, true, arena) && put_target(manifest, arena) ? WS_OK
										   : no_memory(err);
}

struct ws_doc *mdl_manifest_context(const struct ws_doc *manifest, const struct ws_doc *context,
				    struct ws_arena *arena)
{
	struct ws_doc *whole = ws_doc_overlay(ws_doc_get(manifest, "context"),
					      ws_doc_get(manifest, "deployment_config"), arena);

	return whole ? ws_doc_overlay(whole, context, arena) : NULL;
}
