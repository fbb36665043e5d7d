/* One run of the program, watched, with its output as lines of ours. */
#include "cmd/compute/profile_collect.h"

#include "cmd/compute/profile_log.h"
#include "launch/lines.h"
#include "launch/running.h"
#include "launch/watchdog.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t interrupted_by;

static void on_signal(int sig)
{
	interrupted_by = sig;
}

/* While the program runs signals go to it (base/proc.h); this is for the time between. */
void pf_runs_begin(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal }, old;

	interrupted_by = 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static enum ws_status interrupted(struct pf_collect *c, int sig, struct ws_err *err)
{
	c->stop_signal = sig;
	return ws_fail(err, WS_E_STATE, "interrupted (%s)", strsignal(sig));
}

enum ws_status pf_runs_interrupted(struct pf_collect *c, struct ws_err *err)
{
	return interrupted_by ? interrupted(c, interrupted_by, err) : WS_OK;
}

/*
 * HIP's error for a program without code for this GPU. On a machine without a GPU, hipcc
 * compiles for its default architecture unless --offload-arch names another.
 */
static bool no_code; /* the program has said so; read after the thread that hears it ended */

static void program_line(void *ctx, const char *text)
{
	no_code |= strstr(text, "hipErrorNoBinaryForGpu") != NULL;
	pf_log(PF_LOG_INFO, "   |-> [%s] %s", (const char *)ctx, text);
}

static enum ws_status judge(struct pf_collect *c, const struct ws_proc_end *end, bool timed_out,
			    struct ws_err *err)
{
	const char *program = c->pf->argv[0];

	if (interrupted_by || end->interrupted)
		return interrupted(c, interrupted_by ? interrupted_by : end->interrupted, err);
	if (timed_out)
		return ws_fail(err, WS_E_TIMEOUT,
			       "'%s' took longer than --timeout %g and was killed", program,
			       c->pf->args->timeout_s);
	if (no_code && (end->signal || end->exit_code))
		return ws_fail(err, WS_E_STATE,
			       "Profiling execution failed: '%s' has no code for %s: compile it "
			       "with hipcc --offload-arch=%s (or HCC_AMDGPU_TARGET=%s)",
			       program, c->pf->gpu->arch, c->pf->gpu->arch, c->pf->gpu->arch);
	if (end->signal)
		return ws_fail(err, WS_E_STATE,
			       "Profiling execution failed: '%s' was killed by signal %d (%s)",
			       program, end->signal, strsignal(end->signal));
	if (end->exit_code)
		return ws_fail(err, WS_E_STATE,
			       "Profiling execution failed: '%s' exited with code %d", program,
			       end->exit_code);
	return WS_OK;
}

enum ws_status pf_run_once(struct pf_collect *c, size_t first, size_t n, enum launch_replay replay,
			   struct launch_passes_result *out_result, struct ws_err *err)
{
	const pid_t pid = (pid_t)c->pf->args->attach_pid;
	const struct launch_session session = {
		.tool = "rocprof-compute",
		.pids = &pid,
		.n_pids = 1,
		.has_duration = c->pf->args->attach_msec > 0,
		.duration_ms = (uint64_t)c->pf->args->attach_msec,
	};
	struct launch_passes passes = {
		.tool = "rocprof-compute",
		.argv = c->pf->argv,
		.session = pid ? &session : NULL,
		.replay = replay,
		.include = c->include,
		.numbers = c->numbers,
		.n_numbers = c->n_numbers,
		.per = c->multiplex == PF_MULTIPLEX_KERNEL ? COL_COUNT_PER_KERNEL
							   : COL_COUNT_PER_LAUNCH,
		.collect = pf_services(c->pf->args),
		.wait_s = LAUNCH_RUNNING_WAIT_S,
		.base = c->pf->dir,
	};
	struct col_count_gpu *gpus;
	struct launch_watchdog dog;
	struct launch_lines lines;
	bool timed_out;
	enum ws_status st;

	no_code = false;
	*out_result = (struct launch_passes_result){ .n_runs = 0 };
	st = pf_gpus_of(c, first, n, &gpus, &passes.n_gpus, err);
	if (st)
		return st;
	passes.gpus = gpus;
	if (pid) { /* its lines are not ours, nor is its end */
		c->n_runs_done++;
		return launch_passes_run(&passes, out_result, err);
	}
	st = launch_lines_start(&lines, LAUNCH_LINES_BOTH, program_line, "rocprofiler-sdk", err);
	if (st)
		return st;
	st = launch_watchdog_start(&dog, c->pf->args->timeout_s, err);
	if (!st)
		st = launch_passes_run(&passes, out_result, err);
	timed_out = launch_watchdog_stop(&dog);
	launch_lines_stop(&lines);
	c->n_runs_done++;
	return st ? st : judge(c, &out_result->end, timed_out, err);
}
