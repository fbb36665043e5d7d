/*
 * counting: from --pmc and pmc_groups to plans, and from plans to runs.
 *
 * A plan is made per GPU, since what there is to count and how much of it at once is a
 * matter of its architecture. Everything that can be wrong with names is found here, before
 * anything runs.
 */
#ifndef WS_CMD_ROCPROFV3_COUNTING_H
#define WS_CMD_ROCPROFV3_COUNTING_H

#include "cmd/rocprofv3/options.h"
#include "counters/derived.h"
#include "counters/plan_words.h"
#include "launch/passes.h"

#include <stdbool.h>

struct rp_counting {
	struct ws_arena arena;
	struct cnt_gpu_plan plans[COL_COUNT_GPUS_MAX];
	struct col_count_gpu gpus[COL_COUNT_GPUS_MAX];
	size_t n_gpus;
	bool soft;
	enum launch_replay replay;
	size_t n_passes;        /* the most of any GPU */
	size_t n_asked, n_gone; /* requests, and those that no GPU has */
	struct col_count_range *ranges;
	size_t n_ranges;
	const char *include, *exclude; /* patterns as typed; NULL: none */
};

bool rp_counts(const struct rp_args *args); /* were any counters requested? */

/* @out_counting is to be finished also after a failure. */
enum ws_status rp_counting_init(struct rp_counting *out_counting, const struct rp_args *args,
				struct ws_err *err);
/* A device that is not here is no mistake in a list for several machines, but the user is warned. */
void rp_counting_warn(const struct rp_counting *counting, const struct rp_args *args);
void rp_counting_fini(struct rp_counting *counting);

/* Sets, replay and filters; the rest is the caller's. */
void rp_counting_passes(const struct rp_counting *counting, const struct rp_args *args,
			struct launch_passes *passes);

/* What --dry-run shows of one job; also of one that could not be made whole. */
void rp_counting_print(const struct rp_counting *counting, const struct rp_args *args);

/* The requested counters from those that were counted. */
enum ws_status rp_derive(const struct rp_args *args, struct trc_counted *table,
			 struct cnt_derived **out_derived, struct ws_err *err);

#endif
