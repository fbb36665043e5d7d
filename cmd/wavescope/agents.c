/*
 * wavescope _agents: start AMD's runtime and send what it reports of its agents to the process
 * that started this one. Without --to it only starts the runtime, for a collector to see it.
 */
#include "cmd/wavescope/wavescope.h"

#include "gpu/hsa_agents.h"
#include "launch/agents.h"

#include <stdlib.h>

struct agents_args {
	const char *through;
	int64_t to;
};

static const struct ws_opt agents_opts[] = {
	WS_OPT_STR(struct agents_args, through, 0, "through", "FILE",
		   "fail unless the runtime loaded FILE"),
	WS_OPT_I64(struct agents_args, to, 0, "to", "FD", "send the agents to this descriptor"),
};

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct agents_args *args = call->values;
	struct gpu_hsa_agents *agents = calloc(1, sizeof(*agents));
	enum ws_status st;

	(void)exit_code;
	if (!agents)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = gpu_hsa_agents_query(args->through, agents, err);
	if (args->to) /* a failure is part of what is sent */
		st = gpu_hsa_agents_send((int)args->to, agents, err);
	free(agents);
	return st;
}

const struct ws_cmd wavescope_agents_cmd = {
	.name = LAUNCH_AGENTS_COMMAND,
	.usage = "[options]",
	.opts = { agents_opts, WS_ARRAY_LEN(agents_opts) },
	.values_bytes = sizeof(struct agents_args),
	.only_prints = true,
	.run = run,
};
