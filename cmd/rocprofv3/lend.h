/*
 * lend: the agents of this machine for a process that never started the HSA runtime.
 *
 *	struct rp_lender lender = { .dir = dir };
 *	rp_lend_agents(&lender, trace, i);
 *	trc_close(trace);
 *	rp_lender_fini(&lender);
 */
#ifndef WS_CMD_ROCPROFV3_LEND_H
#define WS_CMD_ROCPROFV3_LEND_H

#include "launch/rundir.h"
#include "trace/trace.h"

struct rp_lender {
	const struct launch_rundir *dir; /* has room for a capture; NULL: lend nothing */
	struct trc_trace *trace;         /* NULL: not asked yet, or no runtime here */
	bool asked;
};

/* Does nothing for a process that has agents. Starts a program the first time it is needed. */
void rp_lend_agents(struct rp_lender *lender, struct trc_trace *trace, size_t process);
void rp_lender_fini(struct rp_lender *lender); /* after the traces that borrowed */

#endif
