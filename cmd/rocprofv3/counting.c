#include "cmd/rocprofv3/counting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rp_counts(const struct rp_args *args)
{
	const struct ws_strv *lists[] = { &args->pmc, &args->pmc_groups };

	for (size_t i = 0; i < WS_ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (lists[i]->at[k] && *lists[i]->at[k])
				return true;
	return false;
}

bool rp_counts_over_time(const struct rp_args *args)
{
	return args->pmc_interval && rp_counts(args);
}

/* checks.c has seen to it that it is a number. */
static uint64_t interval_us(const struct rp_args *args)
{
	double ms = 0;

	if (args->pmc_interval)
		ws_str_f64(ws_str_from(args->pmc_interval), &ms);
	return (uint64_t)(ms * 1000 + 0.5);
}

enum ws_status rp_count_request(const struct rp_args *args,
				struct launch_count_request *out_request, struct ws_err *err)
{
	bool groups = args->pmc_groups.n > 0;

	if (args->replay && args->replay_mode && strcmp(args->replay, args->replay_mode) != 0)
		return ws_fail(err, WS_E_USAGE,
			       "--replay %s and --replay-mode %s contradict each other: use one",
			       args->replay, args->replay_mode);
	*out_request = (struct launch_count_request){
		.words = { .list = !rp_counts(args) ? NULL
				   : groups         ? &args->pmc_groups
						    : &args->pmc,
			   .mode = groups ? CNT_PLAN_FIXED : CNT_PLAN_POOL,
			   .definitions = args->extra_counters },
		.replay = args->replay ? args->replay : args->replay_mode,
		.interval =
			args->pmc_group_interval ? strtoull(args->pmc_group_interval, NULL, 0) : 1,
		.over_time_us = interval_us(args),
		/* checks.c has seen to it that patterns and ranges are valid. */
		.include = args->kernel_include_regex,
		.exclude = args->kernel_exclude_regex,
		.names = args->truncate_kernels == WS_TRI_YES  ? COL_COUNT_TRUNCATED
			 : args->mangled_kernels == WS_TRI_YES ? COL_COUNT_MANGLED
							       : COL_COUNT_DEMANGLED,
		.ranges = &args->kernel_iteration_range,
	};
	return WS_OK;
}

enum ws_status rp_counting_init(struct launch_counting *out_counting,
				struct launch_count_request *out_request,
				const struct rp_args *args, struct ws_err *err)
{
	enum ws_status st;

	memset(out_counting, 0, sizeof(*out_counting));
	st = rp_count_request(args, out_request, err);
	return st ? st : launch_counting_init(out_counting, out_request, err);
}

void rp_counting_print(const struct launch_counting *c, const struct rp_args *args)
{
	struct cnt_plan_cost cost = { .kernel_replay = c->replay != LAUNCH_REPLAY_APPLICATION };

	/* checks.c has seen to it that it is a number. */
	if (args->baseline)
		ws_str_f64(ws_str_from(args->baseline), &cost.baseline_s);
	for (size_t i = 0; i < c->n_gpus; i++) {
		if (!c->plans[i].plan)
			continue; /* not even that could be made */
		if (c->n_gpus > 1)
			printf("GPU %zu (%s)\n", i, cnt_catalogue_arch(c->plans[i].cat));
		cnt_plan_print(stdout, c->plans[i].plan, &cost);
	}
	if (c->replay == LAUNCH_REPLAY_ROTATE && c->n_passes)
		printf("each dispatch counts the next of %zu groups: a counter has values for some "
		       "dispatches only\n",
		       c->n_passes);
}
