/* wavescope top: a profile, a trace or a running program on the terminal. */
#include "cmd/wavescope/wavescope.h"

#include "analysis/metric.h"
#include "base/util.h"
#include "cmd/compute/analyze.h"
#include "cmd/merge_inputs.h"
#include "screen/screen.h"
#include "workload/folder.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define TRACE_ARCH "gfx90a" /* rules about traces are the same for all */
#define INTERVAL_MAX_S 3600.0

struct top_args {
	const char *config_dir;
	double interval_s;
};

static const struct ws_opt top_opts[] = {
	WS_OPT_F64(struct top_args, interval_s, 'i', "interval", "SECONDS",
		   "of a program that runs: time between two readings (1)"),
	WS_OPT_STR(struct top_args, config_dir, 0, "config-dir", "DIR",
		   "use the .finding and .metrics files of DIR as well"),
};

static void set_defaults(void *values)
{
	struct top_args *args = values;

	args->interval_s = 1;
}

struct inputs {
	char *path;
	struct merge_inputs found;
};

/* A program may start others, whose captures are new. */
static enum ws_status find(void *of, const struct ws_strv **out_paths, struct ws_err *err)
{
	struct inputs *inputs = of;
	struct merge_inputs again;
	enum ws_status st = merge_inputs_find(&inputs->path, 1, NULL, &again, err);

	if (st) {
		merge_inputs_release(&again);
		return st;
	}
	merge_inputs_release(&inputs->found);
	inputs->found = again;
	*out_paths = &inputs->found.captures;
	return WS_OK;
}

static enum ws_status top_trace(const struct top_args *args, char *path, struct ws_err *err)
{
	struct inputs inputs = { .path = path };
	struct scr_captures captures = { .find = find, .of = &inputs, .path = path };
	struct ana_metrics *metrics = NULL;
	enum ws_status st = ana_metrics_load(TRACE_ARCH, args->config_dir, &metrics, err);

	if (!st)
		st = scr_trace(&captures, metrics, (int)(args->interval_s * 1000), err);
	merge_inputs_release(&inputs.found);
	ana_metrics_free(metrics);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct top_args *args = call->values;
	int n_profiles = 0;

	(void)exit_code;
	if (!call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "name a profile folder, a capture, a database, or the output folder "
			       "of a program that runs");
	if (!(args->interval_s >= 0.1 && args->interval_s <= INTERVAL_MAX_S))
		return ws_fail(err, WS_E_USAGE, "--interval requires 0.1 to %.0f seconds",
			       INTERVAL_MAX_S);
	for (int i = 0; i < call->rest.n; i++)
		n_profiles += wl_folder_is_profile(call->rest.operands[i]);
	if (n_profiles == call->rest.n)
		return an_look_around(call->rest.operands, (size_t)call->rest.n, args->config_dir,
				      NULL, err);
	if (call->rest.n > 1)
		return ws_fail(err, WS_E_USAGE,
			       "only profile folders are compared: name one capture, database or "
			       "folder of these");
	return top_trace(args, call->rest.operands[0], err);
}

const struct ws_cmd wavescope_top_cmd = {
	.name = "top",
	.summary = "a profile, a trace or a running program on the terminal",
	.usage = "[options] DIR|CAPTURE|DATABASE",
	.about = "Shows profiles of 'rocprof-compute profile' (as 'rocprof-compute analyze --tui' "
		 "does), or a trace: captures that --keep-captures left, or rocpd databases. For a "
		 "program that runs under rocprofv3 or rocprof-sys, name its output folder: "
		 "kernels per second, busy time, memory and top kernels are read again every "
		 "second. Press ? for the keys.",
	.notes = "Examples:\n"
		 "  wavescope top workloads/vcopy/MI200\n"
		 "  rocprofv3 --sys-trace -d out -- ./app &  wavescope top out\n",
	.opts = { top_opts, WS_ARRAY_LEN(top_opts) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct top_args),
	.set_defaults = set_defaults,
	.run = run,
};
