/*
 * derive: the counters that were asked for, from those that were counted.
 *
 * Hardware counted some counters in some passes. Every request of the plan is computed from
 * them, dispatch by dispatch, and takes their place in the trace: writers of formats then
 * see what a person asked for and nothing else. What has no value has none, and a reason.
 */
#ifndef WS_CMD_ROCPROFV3_DERIVE_H
#define WS_CMD_ROCPROFV3_DERIVE_H

#include "cmd/rocprofv3/options.h"
#include "trace/counted.h"

struct rp_derived;

/* The trace of @table shows the result as long as both live. */
enum ws_status rp_derive(const struct rp_args *args, struct trc_counted *table,
			 struct rp_derived **out_derived, struct ws_err *err);
void rp_derived_destroy(struct rp_derived *derived); /* NULL is fine */

/*
 * How good the numbers of a process are, what is missing and why; on stderr. @folder: of the
 * job, where several are told of; else "".
 */
void rp_derived_report(const struct rp_derived *derived, const struct trc_process *process,
		       const char *folder);
/* How runs differ, and what replay cost; on stderr. True: something asked for is missing. */
bool rp_derived_report_runs(const struct rp_derived *derived, bool whole);

#endif
