/* attach: rocprofv3 --pid, to programs that run already. */
#include "cmd/rocprofv3/run.h"

#include "base/str.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/run_priv.h"
#include "cmd/rocprofv3/services.h"
#include "launch/session.h"

#include <string.h>

#define PIDS_MAX 256u

static enum ws_status take_pids(const struct rp_args *args, pid_t pids[PIDS_MAX], size_t *out_n,
				struct ws_err *err)
{
	*out_n = 0;
	for (size_t i = 0; i < args->pid.n; i++) {
		uint64_t pid;

		if (!args->pid.at[i])
			continue;
		if (!ws_str_u64(ws_str_from(args->pid.at[i]), &pid) || !pid || pid > INT32_MAX)
			return ws_fail(err, WS_E_USAGE,
				       "--pid: '%s' is not a process (collection periods are -P)",
				       args->pid.at[i]);
		if (*out_n == PIDS_MAX)
			return ws_fail(err, WS_E_LIMIT, "--pid: more than %u processes", PIDS_MAX);
		pids[(*out_n)++] = (pid_t)pid;
	}
	return WS_OK;
}

static bool counts(const struct rp_args *args)
{
	return rp_counts(args) || args->pc_sampling_beta_enabled == WS_TRI_YES;
}

enum ws_status rp_attach_gpu(const struct rp_args *args, struct ws_err *err)
{
	pid_t pids[PIDS_MAX];
	size_t n;
	enum ws_status st = take_pids(args, pids, &n, err);

	return st || !n || !counts(args) ? st : launch_session_adopt_gpu(pids[0], err);
}

/* What is counted goes into the folder, where the collector finds it. */
static enum ws_status request_counters(const struct rp_args *args, const struct launch_rundir *dir,
				       struct ws_err *err)
{
	static struct launch_counting counting; /* tens of kilobytes */
	struct launch_count_request request;
	struct launch_passes passes = { .tool = "rocprofv3" };
	enum ws_status st = rp_counting_init(&counting, &request, args, err);

	if (!st) {
		launch_counting_passes(&counting, &request, &passes);
		if (launch_passes_n_runs(&passes) > 1)
			st = ws_fail(err, WS_E_UNSUPPORTED,
				     "--pid: these counters need %zu passes, and a running process "
				     "cannot be run again: use --replay kernel",
				     launch_passes_n_runs(&passes));
	}
	if (!st)
		st = launch_passes_request(&passes, dir, err);
	launch_counting_fini(&counting);
	return st;
}

enum ws_status rp_attach(const struct rp_args *args, const struct launch_rundir *dir,
			 struct ws_err *err)
{
	static struct col_collect_config config;
	pid_t pids[PIDS_MAX];
	struct launch_session session = {
		.tool = "rocprofv3",
		.pids = pids,
		.children = args->attach_children != WS_TRI_NO,
		.config = &config,
	};
	int signal;
	enum ws_status st = take_pids(args, pids, &session.n_pids, err);

	memset(&config, 0, sizeof(config));
	strcpy(config.dir, dir->path);
	if (!st)
		st = rp_collect_config(args, &config, err);
	if (!st && counts(args)) {
		config.services |= COL_SERVICE_BIT(COUNTERS);
		st = request_counters(args, dir, err);
	}
	/* checks.c has seen to it that it is a number. */
	session.has_duration =
		args->attach_duration_msec &&
		ws_str_u64(ws_str_from(args->attach_duration_msec), &session.duration_ms);
	return st ? st : launch_session_run(&session, dir, &signal, err);
}
