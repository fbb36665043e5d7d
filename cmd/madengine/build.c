#include "cmd/madengine/madengine.h"

#include "base/doc_edit.h"
#include "base/log.h"
#include "models/container.h"
#include "models/context.h"
#include "models/manifest.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

struct build_args {
	struct ws_strv tags;
	const char *target_archs;
	const char *registry;
	const char *batch_manifest;
	const char *use_image;
	bool build_on_compute;
	const char *additional_context;
	const char *additional_context_file;
	bool clean_docker_cache;
	const char *manifest_output;
	const char *summary_output;
	bool live_output;
	bool verbose;
};

static const struct ws_opt opts[] = {
	WS_OPT_GROUP("What"),
	WS_OPT_MANY(struct build_args, tags, 't', "tags", "TAG",
		    "models with these names or tags; repeatable, commas are fine"),
	WS_OPT_STR(struct build_args, batch_manifest, 0, "batch-manifest", "FILE",
		   "models of a JSON list of objects with model_name; instead of --tags"),
	WS_OPT_STR(struct build_args, additional_context, 'c', "additional-context", "JSON",
		   "the additional context; replaces keys of the file"),
	WS_OPT_STR(struct build_args, additional_context_file, 'f', "additional-context-file",
		   "FILE", "the additional context from a JSON file"),
	WS_OPT_GROUP("Images"),
	WS_OPT_STR(struct build_args, registry, 'r', "registry", "HOST", "push images to HOST"),
	WS_OPT_STR(struct build_args, target_archs, 'a', "target-archs", "ARCH",
		   "GPU architectures, separated by commas; default: this machine's"),
	WS_OPT_STR(struct build_args, use_image, 0, "use-image", "IMAGE",
		   "build nothing: IMAGE is the image; auto takes the one that the model names"),
	WS_OPT_BOOL(struct build_args, build_on_compute, 0, "build-on-compute",
		    "leave the building to the compute nodes; needs --registry"),
	WS_OPT_BOOL(struct build_args, clean_docker_cache, 0, "clean-docker-cache",
		    "build without the cache"),
	WS_OPT_GROUP("Output"),
	WS_OPT_STR(struct build_args, manifest_output, 'm', "manifest-output", "FILE",
		   "the manifest; default: build_manifest.json"),
	WS_OPT_STR(struct build_args, summary_output, 's', "summary-output", "FILE",
		   "a summary as JSON"),
	WS_OPT_BOOL(struct build_args, live_output, 'l', "live-output",
		    "print the build log while building"),
	WS_OPT_BOOL(struct build_args, verbose, 'v', "verbose", "print what is done"),
};

static void set_defaults(void *values)
{
	struct build_args *args = values;

	args->manifest_output = MDL_MANIFEST_FILE;
}

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- models that run as processes ---- */

static const char *lower(const char *text, struct ws_arena *arena)
{
	char *copy = ws_arena_strdup(arena, text);

	for (char *at = copy; at && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return copy ? copy : "";
}

/* "docker/dummy" as "docker/dummy.ubuntu.amd.Dockerfile"; "" for a model without. In @arena. */
static const char *dockerfile_name(const struct mdl_model *model, const struct ws_doc *context,
				   struct ws_arena *arena)
{
	if (!*model->dockerfile || ws_str_ends(ws_str_from(model->dockerfile), "Dockerfile"))
		return model->dockerfile;
	return ws_arena_printf(arena, "%s.%s.%s.Dockerfile", model->dockerfile,
			       lower(ws_doc_get_text(context, "guest_os", "UBUNTU"), arena),
			       lower(ws_doc_get_text(context, "gpu_vendor", "AMD"), arena));
}

static enum ws_status add_process(const struct mdl_model *model, const struct ws_doc *context,
				  struct ws_doc *manifest, struct ws_arena *arena,
				  struct ws_err *err)
{
	const char *image = ws_doc_get_text(context, "MAD_CONTAINER_IMAGE", "");
	const char *dockerfile = dockerfile_name(model, context, arena);
	const char *name = dockerfile ? mdl_image_name(model->name, dockerfile, arena) : NULL;
	struct ws_doc *built = ws_doc_map(arena);
	bool ok = name && ws_doc_put_text(built, "docker_image", image, arena) &&
		  ws_doc_put_text(built, "dockerfile", dockerfile, arena) &&
		  ws_doc_put_text(built, "build_duration", "0", arena) &&
		  ws_doc_put_text(built, "gpu_vendor",
				  ws_doc_get_text(context, "gpu_vendor", "AMD"), arena);

	if (ok && *image)
		ok = ws_doc_put_bool(built, "local_image", true, arena);
	return ok ? mdl_manifest_add(manifest, model, name, built, arena, err) : no_memory(err);
}

/* Whether there is a file that begins with what the model names as its dockerfile. */
static bool has_dockerfile(const struct mdl_model *model, const char *root, struct ws_arena *arena)
{
	char *pattern = *model->dockerfile
				? ws_arena_printf(arena, "%s/%s*", root, model->dockerfile)
				: NULL;
	glob_t files;
	bool found = pattern && glob(pattern, GLOB_NOSORT, NULL, &files) == 0;

	if (found)
		globfree(&files);
	return found;
}

/* The engine that is to build the model's image; NULL: it runs as a process. */
static const char *engine_for(const struct mdl_model *model, const struct ws_doc *context,
			      const struct mad_build *how, struct ws_arena *arena)
{
	if (ws_doc_get(context, "MAD_CONTAINER_IMAGE") ||
	    (!how->use_image && !has_dockerfile(model, how->root, arena)))
		return NULL;
	return mdl_container_engine();
}

/* Whoever names a registry counts on an image being there. */
static void say_no_image(const struct mdl_model *model, const struct mad_build *how, bool has_file)
{
	if (!how->registry)
		ws_log_info("%s: no image: it will run as a process", model->name);
	else if (has_file)
		ws_log_warn("%s: no docker or podman here: nothing is pushed to %s, and it will "
			    "run as a process",
			    model->name, how->registry);
	else
		ws_log_warn("%s: no Dockerfile '%s*': nothing is pushed to %s, and it will run as "
			    "a process",
			    model->name, model->dockerfile, how->registry);
}

/* ---- the manifest ---- */

enum ws_status mad_make_manifest(const struct mdl_models *models, const struct ws_doc *context,
				 const struct mad_build *how, struct ws_arena *arena,
				 struct ws_doc **out_manifest, int *exit_code, struct ws_err *err)
{
	struct ws_doc *manifest = mdl_manifest_create(context, how->root, arena);
	struct ws_doc *done = ws_doc_list(arena), *failed = ws_doc_list(arena);
	const struct mdl_build_options options = {
		.root = how->root,
		.registry = how->registry,
		.use_image = how->use_image,
		.target_archs = how->target_archs,
		.no_cache = how->no_cache,
		.live_output = how->live_output,
	};
	struct ws_doc *summary = ws_doc_map(arena);
	enum ws_status st = WS_OK;
	bool ok = manifest && done && failed && summary;

	for (size_t i = 0; i < models->n && ok && !st; i++) {
		const struct mdl_model *model = &models->at[i];
		const char *engine = engine_for(model, context, how, arena);
		struct ws_err why;

		if (!engine) {
			if (!ws_doc_get(context, "MAD_CONTAINER_IMAGE"))
				say_no_image(model, how, has_dockerfile(model, how->root, arena));
			st = add_process(model, context, manifest, arena, err);
			ok = ws_doc_add(done, ws_doc_text(model->name, arena), arena);
			continue;
		}
		printf("madengine: %s: building with %s\n", model->name, engine);
		fflush(stdout);
		if (!mdl_container_build(engine, model, context, &options, manifest, arena, &why)) {
			ok = ws_doc_add(done, ws_doc_text(model->name, arena), arena);
			continue;
		}
		ws_log_error("%s: %s", model->name, why.text);
		*exit_code = MAD_EXIT_BUILD;
		ok = ws_doc_add(failed, ws_doc_text(model->name, arena), arena);
	}
	ok = ok && ws_doc_put(summary, "successful_builds", done, arena) &&
	     ws_doc_put(summary, "failed_builds", failed, arena) &&
	     ws_doc_put(manifest, "summary", summary, arena);
	if (!st && !ok)
		st = no_memory(err);
	*out_manifest = manifest;
	return st;
}

/* ---- the command ---- */

/* The names of a batch manifest as tags. */
static enum ws_status read_batch(const char *path, struct ws_arena *arena, struct ws_strv *out_tags,
				 struct ws_err *err)
{
	struct ws_doc *list = NULL;
	enum ws_status st = ws_doc_read(path, arena, &list, err);

	if (st)
		return st;
	if (list->kind != WS_DOC_LIST)
		return ws_fail(err, WS_E_USAGE, "%s: a list of objects is expected, not %s", path,
			       ws_doc_kind_name(list->kind));
	for (size_t i = 0; i < list->n && !st; i++) {
		const char *name = ws_doc_get_text(list->at[i], "model_name", NULL);

		if (!name)
			return ws_fail(err, WS_E_USAGE, "%s: entry %zu has no model_name", path, i);
		st = ws_vec_push(out_tags, name, err);
	}
	return st;
}

static enum ws_status check_args(const struct build_args *args, struct ws_err *err)
{
	if (args->batch_manifest && args->tags.n)
		return ws_fail(err, WS_E_USAGE, "--batch-manifest and --tags exclude each other");
	if (args->use_image && (args->registry || args->build_on_compute))
		return ws_fail(err, WS_E_USAGE, "--use-image and %s exclude each other",
			       args->registry ? "--registry" : "--build-on-compute");
	if (args->build_on_compute && !args->registry)
		return ws_fail(err, WS_E_USAGE, "--build-on-compute needs --registry");
	return WS_OK;
}

static enum ws_status build(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct build_args *args = call->values;
	struct ws_strv batch = { .max_n = 4096 };
	struct ws_doc *context, *manifest;
	struct mdl_models chosen;
	struct ws_arena arena;
	char root[PATH_MAX];
	struct mad_build how = {
		.root = root,
		.registry = args->registry,
		.use_image = args->use_image,
		.target_archs = args->target_archs,
		.no_cache = args->clean_docker_cache,
		.live_output = args->live_output,
	};
	enum ws_status st = check_args(args, err);

	if (args->verbose)
		ws_log_set_level(WS_LOG_INFO);
	ws_arena_init(&arena, MAD_ARENA_BYTES);
	if (!st)
		st = mdl_context_load(args->additional_context_file, args->additional_context,
				      &arena, &context, err);
	if (!st && args->batch_manifest)
		st = read_batch(args->batch_manifest, &arena, &batch, err);
	if (!st)
		st = mad_find_root(root, err);
	if (!st)
		st = mad_select(root, batch.n ? &batch : &args->tags, &arena, &chosen, err);
	if (st)
		*exit_code = MAD_EXIT_ARGS;
	if (!st)
		st = mad_make_manifest(&chosen, context, &how, &arena, &manifest, exit_code, err);
	if (!st)
		st = ws_doc_write_json(args->manifest_output, manifest, err);
	if (!st && args->summary_output)
		st = ws_doc_write_json(args->summary_output, ws_doc_get(manifest, "summary"), err);
	if (!st)
		printf("madengine: wrote %s: %zu model%s\n", args->manifest_output,
		       ws_doc_get(manifest, "built_images")->n,
		       ws_doc_get(manifest, "built_images")->n == 1 ? "" : "s");
	ws_vec_fini(&batch);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd mad_build_cmd = {
	.name = "build",
	.summary = "build images and write a manifest for later runs",
	.usage = "--tags TAG... [options]",
	.about = "Builds an image for each selected model that has a dockerfile, where docker or "
		 "podman is installed, and writes build_manifest.json. Models without an image run "
		 "as processes. 'madengine run --manifest-file' runs the manifest.",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct build_args),
	.set_defaults = set_defaults,
	.run = build,
};
