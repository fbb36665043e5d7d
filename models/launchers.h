/*
 * launchers: how the ranks of a model are started, as text for its environment.
 *
 * madengine starts no ranks itself: a model's script runs "$MAD_MULTI_NODE_RUNNER script.py".
 */
#ifndef WS_MODELS_LAUNCHERS_H
#define WS_MODELS_LAUNCHERS_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"

#include <stddef.h>

struct mdl_launch {
	const char *launcher;             /* normalized: "torchrun", "docker", "native", ... */
	size_t n_nodes;                   /* distributed.nnodes, slurm.nodes; 1 */
	size_t n_per_node;                /* distributed.nproc_per_node; the GPUs of a node */
	unsigned port;                    /* 29500 */
	const struct ws_doc *distributed; /* of context or model; NULL: none */
};

/* Names in order, aliases not among them; NULL after the last. For the linter, docs and tests. */
const char *mdl_launcher_name(size_t i);

/*
 * context distributed.launcher, model distributed.launcher, MAD_LAUNCHER, torchrun; aliases
 * resolved. Unknown names become "docker" with a warning. @n_gpus: of a node.
 */
enum ws_status mdl_launch_find(const struct ws_doc *context, const struct ws_doc *model,
			       size_t n_gpus, struct mdl_launch *out_launch, struct ws_err *err);
/*
 * Puts the variables of a run on one machine into @env: MAD_MULTI_NODE_RUNNER, unless it is there,
 * and those of the launcher.
 */
enum ws_status mdl_launch_local(const struct mdl_launch *launch, struct ws_doc *env,
				struct ws_arena *arena, struct ws_err *err);

#endif
