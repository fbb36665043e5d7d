/*
 * inject: the environment that loads the collector into a program.
 *
 * Only the environment changes: LD_PRELOAD has the user's libraries first, then its old
 * value, then the collector and the wrappers that the services need
 * (collector/interpose/preload.h). HSA_TOOLS_LIB makes AMD's runtime load the collector as
 * its tool. WAVESCOPE_COLLECT has its configuration (collector/config.h). On a machine
 * without a GPU the software GPU is added.
 */
#ifndef WS_LAUNCH_INJECT_H
#define WS_LAUNCH_INJECT_H

#include "base/env.h"
#include "base/error.h"
#include "base/proc.h"
#include "base/vec.h"
#include "collector/config.h"
#include "gpu/agent.h"

#include <limits.h>
#include <stdbool.h>

struct launch_inject {
	struct col_collect_config *config; /* the SOFTGPU flag is set here */
	const struct ws_strv *preload;     /* the user's own; NULL entries are skipped */
	bool no_roctx;                     /* leave the program's own roctx library in place */
	bool kokkos;                       /* record Kokkos regions */
	const char *gpu_time; /* "host", "simulated": software GPU; NULL: environment */
};

/* Where the collector is: as installed, or in the build tree. */
enum ws_status launch_inject_library(char out_path[PATH_MAX], struct ws_err *err);

enum ws_status launch_inject_env(const struct launch_inject *inject, struct ws_env *env,
				 struct ws_err *err);

/*
 * Why the loader will not take the collector into the program at @path, as the end of a
 * message about it; NULL when it will, as far as the file shows.
 */
const char *launch_inject_obstacle(const char *path);

/* Warns if the program ended in a way that the collector may be the cause of: killed by a filter of
 * system calls (seccomp). */
void launch_inject_explain_end(const struct ws_proc_end *end);

/*
 * The software GPU, unless a real one is here or WAVESCOPE_GPU says "native".
 * Also for programs that run without the collector.
 */
enum ws_status launch_inject_gpu(struct ws_env *env, bool *out_soft, struct ws_err *err);

/*
 * The GPUs that a program started now would see, without starting AMD's runtime: those that the
 * driver lists, or the software ones as their models have them. In the runtime's order.
 */
enum ws_status launch_inject_gpus(struct gpu_agents *out_gpus, struct ws_err *err);

#endif
