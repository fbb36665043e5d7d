/* wavescope info: the agents of AMD's runtime, printed as rocminfo prints them. */
#include "cmd/wavescope/wavescope.h"

#include "base/env.h"
#include "gpu/present.h"
#include "launch/agents.h"
#include "launch/softgpu.h"
#include "report/rocminfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct info_args {
	const char *gpus;
	bool brief;
};

static const struct ws_opt info_opts[] = {
	WS_OPT_STR(struct info_args, gpus, 'g', "gpu", "LIST",
		   "software GPUs, such as mi210,mi100, or 'native' for the GPUs of this machine. "
		   "Default: native if there is a GPU, else mi210"),
	WS_OPT_BOOL(struct info_args, brief, 'b', "brief", "one line per agent"),
};

/* The environment of the GPUs that are meant; @out_library: "" or the software GPU's. */
static enum ws_status choose_gpus(const char *gpus, struct ws_env *env, char out_library[PATH_MAX],
				  struct ws_err *err)
{
	static struct gpu_agents here; /* too large for the stack */
	struct launch_softgpu soft = { .gpus = gpus };
	enum ws_status st = gpu_present("/sys", &here, err);
	bool native =
		gpus ? strcmp(gpus, SOFTGPU_NATIVE) == 0 : here.n > 0 && !getenv("WAVESCOPE_GPU");

	out_library[0] = '\0';
	if (!st && native && !here.n)
		return ws_fail(err, WS_E_NOTFOUND,
			       "no AMD GPU in this machine: omit '--gpu native' to see the "
			       "software GPU");
	if (!st && !native)
		st = launch_softgpu_env(&soft, env, err);
	if (!st && !native)
		st = launch_softgpu_library(out_library, err);
	return st;
}

static void print(const struct gpu_hsa_agents *agents, bool brief)
{
	if (!brief)
		rpt_rocminfo(stdout, agents);
	for (size_t i = 0; brief && i < agents->n_agents; i++) {
		struct gpu_agent agent;
		char line[256];

		gpu_agent_of_hsa(&agents->agents[i], agents->soft, &agent);
		gpu_agent_line(&agent, i + 1, line, sizeof(line));
		puts(line);
	}
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	static struct gpu_hsa_agents agents;
	static struct gpu_agents gpus;
	const struct info_args *args = call->values;
	char library[PATH_MAX];
	struct ws_env env;
	enum ws_status st;

	(void)exit_code;
	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "unexpected argument '%s': info takes only options",
			       call->rest.operands[0]);
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = choose_gpus(args->gpus, &env, library, err);
	if (!st)
		st = launch_hsa_agents(&env, *library ? library : NULL, 0, &agents, err);
	ws_env_fini(&env);
	if (st)
		return st;
	print(&agents, args->brief);
	gpu_agents_of_hsa(&agents, &gpus);
	return gpus.n ? WS_OK
		      : ws_fail(err, WS_E_NOTFOUND,
				"the HSA runtime found no GPU: 'wavescope doctor' checks why");
}

const struct ws_cmd wavescope_info_cmd = {
	.name = "info",
	.summary = "show the agents of AMD's runtime, as rocminfo does",
	.usage = "[options]",
	.about = "Prints the agents of AMD's HSA runtime in the layout of rocminfo. On a machine "
		 "without a GPU, or with --gpu, these are software GPUs.",
	.opts = { info_opts, WS_ARRAY_LEN(info_opts) },
	.values_bytes = sizeof(struct info_args),
	.only_prints = true,
	.run = run,
};
