/*
 * agents: what a program started now would see of AMD's runtime, asked of the runtime itself.
 *
 * The runtime may abort, and on a machine without a GPU it must find the software one. So it is
 * asked in a child of ours, `wavescope _agents`, in the environment that the program would have.
 */
#ifndef WS_LAUNCH_AGENTS_H
#define WS_LAUNCH_AGENTS_H

#include "base/env.h"
#include "base/error.h"
#include "gpu/hsa_agents.h"
#include "trace/trace.h"

#define LAUNCH_AGENTS_COMMAND "_agents" /* hidden: the child */

/*
 * All agents, in the environment @env. @through: fail unless the runtime loads this driver
 * library; NULL: any. @timeout_ms 0: no limit, and what the runtime prints goes to our output.
 */
enum ws_status launch_hsa_agents(const struct ws_env *env, const char *through, int timeout_ms,
				 struct gpu_hsa_agents *out_agents, struct ws_err *err);

/* The GPUs. None is WS_E_NOTFOUND. Takes a few tenths of a second. */
enum ws_status launch_gpu_agents(struct gpu_agents *out_agents, struct ws_err *err);

/*
 * The agents as a program under the collector records them, CPUs too: a trace of the child.
 * Its capture is kept in @dir meanwhile.
 */
enum ws_status launch_agents_trace(const char *dir, struct trc_trace **out_trace,
				   struct ws_err *err);

#endif
