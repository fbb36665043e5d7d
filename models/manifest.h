/*
 * manifest: what `madengine build` leaves for `madengine run`, build_manifest.json.
 *
 *	built_images          image name -> docker_image, dockerfile, base_docker, docker_sha, ...
 *	built_models          image name -> model object; the same names
 *	context               docker_env_vars, docker_mounts, docker_build_arg, gpu_vendor, guest_os,
 *	                      docker_gpus, tools, pre_scripts, post_scripts, encapsulate_script
 *	credentials_required  list
 *	deployment_config     target, slurm, k8s, kubernetes, distributed, vllm, env_vars, debug;
 *	                      absent for a plain local run
 *	model_root            folder of the definitions, when it is not the working folder (ours)
 *	summary               successful_builds, failed_builds
 *
 * It is a tree (base/doc.h); what follows keeps its form.
 *
 * Memory   everything lives in the arena that was given.
 */
#ifndef WS_MODELS_MANIFEST_H
#define WS_MODELS_MANIFEST_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"
#include "models/model.h"

#include <stddef.h>

#define MDL_MANIFEST_FILE "build_manifest.json"

/* One image with its model. Without a container engine docker_image of `built` is "". */
struct mdl_entry {
	const char *image;          /* "ci-dummy_dummy.ubuntu.amd" */
	const struct ws_doc *built; /* of built_images */
	struct mdl_model model;
};

struct mdl_entries {
	struct mdl_entry *at;
	size_t n;
};

/* An empty one, with the parts of @context that belong to it. @root: folder of the definitions. */
struct ws_doc *mdl_manifest_create(const struct ws_doc *context, const char *root,
				   struct ws_arena *arena);
/* Add what was built. @built is a map; its image name becomes ci-<model>_<dockerfile>. */
enum ws_status mdl_manifest_add(struct ws_doc *manifest, const struct mdl_model *model,
				const char *image, const struct ws_doc *built,
				struct ws_arena *arena, struct ws_err *err);
/* Name of the image of @model; @dockerfile "" gives "ci-<model>". In @arena. */
const char *mdl_image_name(const char *model, const char *dockerfile, struct ws_arena *arena);

/* Refused: a file that is not JSON, or lacks built_images or built_models. */
enum ws_status mdl_manifest_read(const char *path, struct ws_arena *arena,
				 struct ws_doc **out_manifest, struct ws_err *err);
enum ws_status mdl_manifest_entries(const char *path, const struct ws_doc *manifest,
				    struct ws_arena *arena, struct mdl_entries *out_entries,
				    struct ws_err *err);

/*
 * Members of @context that are given at run time replace those of the manifest (deploy, slurm, k8s,
 * kubernetes, distributed, vllm, env_vars, debug; tools, pre_scripts, post_scripts,
 * encapsulate_script).
 */
enum ws_status mdl_manifest_merge(struct ws_doc *manifest, const struct ws_doc *context,
				  struct ws_arena *arena, struct ws_err *err);
/*
 * The context of a run from it: the manifest's context and deployment_config as one map, with
 * @context over it.
 */
struct ws_doc *mdl_manifest_context(const struct ws_doc *manifest, const struct ws_doc *context,
				    struct ws_arena *arena);

#endif
