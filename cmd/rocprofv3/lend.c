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

void rp_lend_agents(struct rp_lender *lender, struct trc_trace *trace, size_t process)
{
	struct ws_err err;

	if (trc_process_at(trace, process)->agents.n || !lender->dir)
		return;
	if (!lender->asked && launch_agents_trace(lender->dir->path, &lender->trace, &err))
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
