/* counting: --pmc, pmc_groups and the filters of kernels as a request to count (launch/counting.h). */
#ifndef WS_CMD_ROCPROFV3_COUNTING_H
#define WS_CMD_ROCPROFV3_COUNTING_H

#include "cmd/rocprofv3/options.h"
#include "launch/counting.h"

#include <stdbool.h>

#define RP_INTERVAL_LEAST_MS 0.1
#define RP_INTERVAL_MOST_MS 3600000.0

bool rp_counts(const struct rp_args *args);           /* were any counters requested? */
bool rp_counts_over_time(const struct rp_args *args); /* ... of whole GPUs, not of kernels? */

/* @out_request refers to @args. */
enum ws_status rp_count_request(const struct rp_args *args,
				struct launch_count_request *out_request, struct ws_err *err);

/* launch_counting_init() of the same; @out_counting is to be finished also after a failure. */
enum ws_status rp_counting_init(struct launch_counting *out_counting,
				struct launch_count_request *out_request,
				const struct rp_args *args, struct ws_err *err);

/* What --dry-run shows of one job; also of one that could not be made whole. */
void rp_counting_print(const struct launch_counting *counting, const struct rp_args *args);

#endif
