/* checks: what must hold before a job is run; in the order in which AMD's tool looks. */
#ifndef WS_CMD_ROCPROFV3_CHECKS_H
#define WS_CMD_ROCPROFV3_CHECKS_H

#include "cmd/rocprofv3/options.h"

/*
 * Sentences that AMD's users know begin with "Fatal error: ", as there. @has_program:
 * something stands after --. May change @args where the intent is clear.
 */
enum ws_status rp_check(struct rp_args *args, bool has_program, struct ws_err *err);

#endif
