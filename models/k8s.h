/*
 * k8s: runs as Kubernetes jobs: manifests written as YAML, applied where there is kubectl.
 *
 * One file per run has all its objects: a ConfigMap with the scripts, a claim for the results, a
 * Job, and for several nodes a headless Service. Their form is templates/k8s_objects.yaml and
 * templates/k8s_job.sh. Several nodes are an Indexed Job, whose index is the rank.
 *
 * The tools of the context wrap the model as in a local run: the first is the innermost.
 */
#ifndef WS_MODELS_K8S_H
#define WS_MODELS_K8S_H

#include "base/str.h"
#include "models/run.h"

/*
 * Writes k8s_manifests/<job>.yaml for one entry, applies it with kubectl, waits for the job and
 * reads the logs of its pods. Without kubectl the result is SKIPPED, and the reason says where
 * the file is. After Ctrl-C it is SKIPPED and `interrupted`: the job goes on.
 */
enum ws_status mdl_k8s_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			   const struct ws_doc *context, const struct mdl_chain *chain,
			   const char *root, const struct mdl_run_options *options,
			   struct ws_arena *arena, struct mdl_result *out_result,
			   struct ws_err *err);

/* A name that Kubernetes accepts: "madengine-<model>", of at most 52 characters. In @arena. */
const char *mdl_k8s_name(const char *model, struct ws_arena *arena);

#endif
