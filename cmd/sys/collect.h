/*
 * collect: from settings to the configuration of the collector.
 */
#ifndef WS_CMD_SYS_COLLECT_H
#define WS_CMD_SYS_COLLECT_H

#include "base/error.h"
#include "collector/config.h"
#include "output/ledger.h"
#include "settings/values.h"

/* All but the folder. What cannot be had (CPU time as a clock, perf events) is a warning. */
enum ws_status sys_collect(const struct set_values *values, struct col_collect_config *out_config,
			   struct ws_err *err);

/* Of that, the filters of operations by name. */
enum ws_status sys_collect_operations(const struct set_values *values,
				      struct col_collect_config *config, struct ws_err *err);

#define SYS_REQUESTS_MAX 32u
/* What was requested, for the ledger; how many. */
size_t sys_requests(const struct set_values *values,
		    struct output_ledger_request out_requests[SYS_REQUESTS_MAX]);

#endif
