/* run_priv: what run.c and attach.c share. */
#ifndef WS_CMD_ROCPROFV3_RUN_PRIV_H
#define WS_CMD_ROCPROFV3_RUN_PRIV_H

#include "cmd/rocprofv3/options.h"
#include "launch/rundir.h"

#include <stdbool.h>
#include <sys/types.h>

/* Attach to args->pid, record into @dir, and come back when that is over. */
enum ws_status rp_attach(const struct rp_args *args, const struct launch_rundir *dir,
			 struct ws_err *err);

#endif
