/*
 * lend: the agents of this machine for a process that never started the HSA runtime.
 *
 * The collector describes agents when the runtime starts, so the capture of a program that
 * only sets markers has none, while readers of the output expect the machine's. A child of
 * ours that starts the runtime, under the same collector, records them.
 */
#include "cmd/rocprofv3/lend.h"

#include "base/log.h"
#include "launch/agents.h"

#include <string.h>

static enum ws_status record_agents(const struct launch_rundir *dir, struct trc_trace **out_trace,
				    struct ws_err *err)
{
	struct trc_opts opts = { .max_bytes = 0 };
	struct ws_strv paths = { .max_n = 0 };
	struct launch_rundir probe = { "" };
	struct ws_arena arena;
	enum ws_status st;

	ws_arena_init(&arena, 1 << 20);
	st = launch_rundir_create(dir->path, &probe, err);
	if (!st)
		st = launch_agents_record(probe.path, err);
	if (!st)
		st = launch_rundir_captures(&probe, &arena, &paths, err);
	if (!st && !paths.n)
		st = ws_fail(err, WS_E_NOTFOUND, "AMD's runtime did not start");
	if (!st)
		st = trc_open((const char *const *)paths.at, 1, &opts, out_trace, err);
	ws_vec_fini(&paths);
	launch_rundir_remove(&probe); /* what was opened is mapped, and stays */
	ws_arena_fini(&arena);
	return st;
}

void rp_lend_agents(struct rp_lender *lender, struct trc_trace *trace, size_t process)
{
	struct ws_err err;

	if (trc_process_at(trace, process)->agents.n || !lender->dir)
		return;
	if (!lender->asked && record_agents(lender->dir, &lender->trace, &err))
		ws_log_debug("the agents of this machine are not listed: %s", err.text);
	lender->asked = true;
	if (lender->trace && trc_n_processes(lender->trace))
		trc_borrow_agents(trace, process, trc_process_at(lender->trace, 0));
}

void rp_lender_fini(struct rp_lender *lender)
{
	trc_close(lender->trace);
	*lender = (struct rp_lender){ .dir = NULL };
}
