/*
 * k8s_priv: the steps of a run on Kubernetes.
 */
#ifndef WS_MODELS_K8S_PRIV_H
#define WS_MODELS_K8S_PRIV_H

#include "models/deploy.h"
#include "models/k8s.h"
#include "models/launchers.h"

#include <stdbool.h>
#include <stddef.h>

/* What is asked of the cluster: presets < model < context, checked. */
struct mdl_k8s_plan {
	const struct mdl_entry *entry;
	const struct mdl_chain *chain;
	const char *root;             /* folder of the model's scripts */
	const struct ws_doc *context; /* merged */
	const struct ws_doc *k8s;     /* its member, k8s or kubernetes */
	struct mdl_launch launch;
	size_t n_nodes, n_gpus; /* GPUs of a pod */
	const char *job;        /* name of the Job */
	const char *name_space;
	const char *image;
	bool privileged; /* profilers need ptrace */
};

enum ws_status mdl_k8s_plan(const struct mdl_entry *entry, const struct ws_doc *context,
			    const struct mdl_chain *chain, const char *root, struct ws_arena *arena,
			    struct mdl_k8s_plan *out_plan, struct ws_err *err);

/* ---- k8s_script.c ---- */

/* The files for the pods: the ConfigMap's data, and the items of the volume that lays them. */
enum ws_status mdl_k8s_files(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
			     struct ws_doc **out_data, struct ws_doc **out_items,
			     struct ws_err *err);
/* What a pod runs. */
enum ws_status mdl_k8s_script(const struct mdl_k8s_plan *plan, struct ws_buf *out,
			      struct ws_err *err);

/* ---- k8s_objects.c ---- */

/* All objects as YAML. */
enum ws_status mdl_k8s_objects(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
			       struct ws_buf *out, struct ws_err *err);

#endif
