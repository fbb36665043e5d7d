/*
 * launchers: how the ranks of a model are started, as text for its environment.
 *
 * madengine starts no ranks itself: a model's script runs "$MAD_MULTI_NODE_RUNNER script.py". A
 * launcher is a row of a table: its runner on one machine, its runner on the nodes of a cluster,
 * and variables.
 *
 * mpirun and srun start the ranks of all nodes from the first one. There the runner of the other
 * nodes is `true`, which ignores its arguments and ends at once.
 */
#ifndef WS_MODELS_LAUNCHERS_H
#define WS_MODELS_LAUNCHERS_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct mdl_launch {
	const char *launcher;             /* normalized: "torchrun", "docker", "native", ... */
	size_t n_nodes;                   /* slurm.nodes, distributed.nnodes; 1 */
	size_t n_per_node;                /* distributed.nproc_per_node; the GPUs of a node */
	unsigned port;                    /* 29500 */
	const struct ws_doc *distributed; /* of context or model; NULL: none */
};

#define MDL_LAUNCH_PORT 29500u
#define MDL_LAUNCHER_SLURM_MULTI "slurm_multi" /* the model's script starts everything itself */

/* Names in order, aliases not among them; NULL after the last. For the linter, docs and tests. */
const char *mdl_launcher_name(size_t i);
/* The same name, or the one that it is an alias of; NULL: unknown. */
const char *mdl_launcher_known(const char *name);
/* Ray reads one variable of visible GPUs and refuses two: vllm, sglang. */
bool mdl_launcher_uses_ray(const char *name);

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
/*
 * Appends shell lines that set the same variables in a task of a batch job, or in a pod of
 * Kubernetes (@pods). They use what the script around them has: the variables NODE_RANK,
 * MASTER_ADDR and mad_job, and a function mad_hosts that prints the names of the nodes. One
 * node has the form of a local run. Refused: a launcher that does not work there, or not
 * with that number of nodes.
 */
enum ws_status mdl_launch_script(const struct mdl_launch *launch, bool pods, struct ws_buf *out,
				 struct ws_err *err);

#endif
