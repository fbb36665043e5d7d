/* wavescope info: the agents, printed as rocminfo prints them, by a child that may fail. */
#include "cmd/wavescope/wavescope.h"

#include "base/env.h"
#include "base/path.h"
#include "base/proc.h"
#include "gpu/present.h"
#include "launch/softgpu.h"

#include <signal.h>
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

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	static struct gpu_set here;
	const struct info_args *args = call->values;
	struct launch_softgpu soft = { .gpus = args->gpus };
	char *argv[6] = { "wavescope", WAVESCOPE_AGENTS_NAME };
	char self[PATH_MAX], library[PATH_MAX];
	struct ws_proc_end end = { 0 };
	struct ws_env env;
	enum ws_status st;
	bool native;
	int n = 2;

	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "unexpected argument '%s': info takes only options",
			       call->rest.operands[0]);
	st = gpu_present("/sys", &here, err);
	if (st)
		return st;
	native = args->gpus ? strcmp(args->gpus, SOFTGPU_NATIVE) == 0
			    : here.n > 0 && !getenv("WAVESCOPE_GPU");
	if (native && !here.n)
		return ws_fail(
			err, WS_E_NOTFOUND,
			"no AMD GPU in this machine: omit '--gpu native' to see the software GPU");
	st = ws_path_self(self, err);
	if (st)
		return st;
	st = ws_env_init(&env, environ, err);
	if (!st && !native)
		st = launch_softgpu_env(&soft, &env, err);
	if (!st && !native)
		st = launch_softgpu_library(library, err);
	if (!st) {
		if (!native) {
			argv[n++] = "--through";
			argv[n++] = library;
		}
		if (args->brief)
			argv[n++] = "--brief";
		st = ws_proc_run(self, argv, env.at, &end, err);
	}
	ws_env_fini(&env);
	if (!st && end.signal == SIGPIPE)
		ws_proc_end_as(&end); /* nobody reads on */
	if (!st && end.signal)
		return ws_fail(err, WS_E_STATE,
			       "AMD's runtime was killed by signal %d (%s): see its message above, "
			       "and 'wavescope doctor'",
			       end.signal, strsignal(end.signal));
	*exit_code = end.exit_code; /* the child has said what went wrong */
	return st;
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
