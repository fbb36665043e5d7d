/* wavescope run: become the program, with an environment in which ROCr finds our GPU. */
#include "cmd/wavescope/wavescope.h"

#include "base/env.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "gpu/present.h"
#include "launch/softgpu.h"

#include <string.h>
#include <unistd.h>

/* As env, nice and timeout do: the wrapper failed, the program never started. */
#define EXIT_WRAPPER 125

struct run_args {
	struct ws_strv gpus;
	uint64_t n_workers;
	bool preload;
	uint64_t sample_waves;
	bool sample_only;
	const char *gpu_time;
};

static const struct ws_opt run_opts[] = {
	WS_OPT_GROUP("GPU"),
	WS_OPT_LIST(struct run_args, gpus, 'g', "gpu", "LIST",
		    "software GPUs, such as mi210 or mi210,mi100 (up to 16); mi250x is two, "
		    "mi300x:cpx eight. May be "
		    "repeated. 'native' means the GPUs of this machine. Default: mi210"),
	WS_OPT_U64(struct run_args, n_workers, 'w', "workers", "N",
		   "number of host threads that execute kernels; results do "
		   "not depend on it. Default: all cores"),
	WS_OPT_GROUP("Models"),
	WS_OPT_STR(struct run_args, gpu_time, 0, "gpu-time", "host|simulated",
		   "times of kernels and copies: 'host' is the time the host took to execute them, "
		   "'simulated' is the time of the timing model. Counted kernels always have "
		   "simulated times. Default: host"),
	WS_OPT_STR(struct run_args, gpu_time, 0, "times", "host|modelled", NULL),
	WS_OPT_U64(struct run_args, sample_waves, 0, "sample-waves", "N",
		   "model about N waves of a large kernel and scale the counters; the results are "
		   "labelled sampled. The whole kernel is executed"),
	WS_OPT_BOOL(struct run_args, sample_only, 0, "sample-only",
		    "with --sample-waves: execute only these waves. The program's results are then "
		    "wrong. Only for programs whose control flow does not depend on them, and for "
		    "kernels whose workgroups do not wait for each other"),
	WS_OPT_GROUP("Loading"),
	WS_OPT_BOOL(struct run_args, preload, 0, "preload",
		    "also set LD_PRELOAD, for a runtime whose RPATH finds the real driver library "
		    "first"),
};

/* All --gpu values as one list. */
static enum ws_status join_gpus(const struct ws_strv *gpus, struct ws_buf *out, struct ws_err *err)
{
	for (size_t i = 0; i < gpus->n; i++)
		ws_buf_printf(out, "%s%s", i ? "," : "", gpus->at[i]);
	return ws_buf_status(out, err);
}

static enum ws_status check_native(struct ws_err *err)
{
	static struct gpu_agents set; /* too large for the stack */
	enum ws_status st = gpu_present("/sys", &set, err);

	if (!st && !set.n)
		return ws_fail(
			err, WS_E_NOTFOUND,
			"no AMD GPU in this machine: omit '--gpu native' to use the software GPU");
	return st;
}

static enum ws_status prepare(const struct run_args *args, char *const *argv, struct ws_env *env,
			      bool *out_soft, struct ws_err *err)
{
	struct launch_softgpu soft = {
		.n_workers = args->n_workers,
		.preload = args->preload,
		.sample_waves = args->sample_waves,
		.sample_only = args->sample_only,
		.argv = argv,
		.gpu_time = args->gpu_time,
	};
	struct ws_buf gpus;
	enum ws_status st;

	ws_buf_init(&gpus, 1024);
	st = join_gpus(&args->gpus, &gpus, err);
	if (!st && strcmp(gpus.at, SOFTGPU_NATIVE) == 0) {
		st = check_native(err);
	} else if (!st) {
		soft.gpus = args->gpus.n ? gpus.at : NULL;
		st = launch_softgpu_env(&soft, env, err);
		*out_soft = true;
	}
	ws_buf_fini(&gpus);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct run_args *args = call->values;
	char **argv = call->rest.operands;
	char path[PATH_MAX];
	bool soft = false;
	struct ws_env env;
	enum ws_status st;

	if (!call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "no program to run: wavescope run [options] -- PROGRAM [ARG...]");
	/* First of all the program: a mistyped name is the commonest mistake. */
	st = ws_path_program(argv[0], path, err);
	if (st) {
		*exit_code = ws_proc_exit_code(st);
		return st;
	}
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = prepare(args, argv, &env, &soft, err);
	if (st) {
		*exit_code = st == WS_E_USAGE ? WS_EXIT_USAGE : EXIT_WRAPPER;
	} else {
		ws_log_debug("run: %s, LD_LIBRARY_PATH=%s", path,
			     ws_env_get(&env, "LD_LIBRARY_PATH")
				     ? ws_env_get(&env, "LD_LIBRARY_PATH")
				     : "");
		if (soft && launch_softgpu_obstacle(path))
			ws_log_warn("'%s' %s", argv[0], launch_softgpu_obstacle(path));
		st = ws_proc_exec(argv[0], argv, env.at, err); /* comes back only when it fails */
		*exit_code = ws_proc_exit_code(st);
	}
	ws_env_fini(&env);
	return st;
}

const struct ws_cmd wavescope_run_cmd = {
	.name = "run",
	.summary = "run a program on the software GPU",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.about = "Runs PROGRAM so that AMD's runtime finds software GPUs instead of those of the "
		 "machine. wavescope replaces itself by PROGRAM, so input, output and signals are "
		 "not affected. LD_LIBRARY_PATH is extended, not replaced.",
	.notes = "Exit code:\n"
		 "  that of PROGRAM; 127 if PROGRAM is not found, 126 if it cannot be\n"
		 "  executed, 125 if the software GPU is missing, 2 for wrong options.\n"
		 "\n"
		 "Examples:\n"
		 "  wavescope run -- ./vcopy -n 1048576 -b 256\n"
		 "  wavescope run --gpu mi210,mi210 -- ./peer_copy",
	.opts = { run_opts, WS_ARRAY_LEN(run_opts) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct run_args),
	.run = run,
};
