/*
 * k8s: runs as Kubernetes jobs: manifests written as YAML, applied where there is kubectl.
 */
#ifndef WS_MODELS_K8S_H
#define WS_MODELS_K8S_H

#include "models/run.h"

/*
 * Writes k8s_manifests/<job>.yaml for one entry and applies it with kubectl. Without kubectl the
 * result is SKIPPED, and the reason says where the file is.
 */
enum ws_status mdl_k8s_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			   const struct ws_doc *context, const struct mdl_chain *chain,
			   const char *root, const struct mdl_run_options *options,
			   struct ws_arena *arena, struct mdl_result *out_result,
			   struct ws_err *err);

#endif
