/*
 * counting: from names of counters to plans, and from plans to runs.
 *
 * A plan is made per GPU, since what there is to count and how much of it at once depends on
 * its architecture. Everything that can be wrong with names is found by launch_counting_init(),
 * before anything runs.
 *
 *	struct launch_count_request request = { .words = { .list = &names } };
 *
 *	st = launch_counting_init(&counting, &request, err);
 *	if (!st) {
 *		launch_counting_passes(&counting, &request, &passes);
 *		st = launch_counting_run(&counting, &passes, &counted, err);
 *	}
 *	launch_counting_fini(&counting);
 */
#ifndef WS_LAUNCH_COUNTING_H
#define WS_LAUNCH_COUNTING_H

#include "base/arena.h"
#include "counters/plan_words.h"
#include "launch/passes.h"

#include <stdbool.h>

/* What is to be counted, and of which dispatches. */
struct launch_count_request {
	struct cnt_plan_words words;   /* without a list: nothing, dispatches are only chosen */
	const char *replay;            /* "kernel" or "application"; NULL: what is best here */
	uint64_t interval;             /* of groups: dispatches per group; 0 is 1 */
	uint64_t over_time_us;         /* not 0: of whole GPUs, at this interval */
	const char *include, *exclude; /* patterns of kernel names; NULL: none */
	enum col_count_names names;    /* the form of names that they match */
	const struct ws_strv *ranges; /* launches of a kernel, "[1-3]", which is valid; NULL: all */
};

struct launch_counting {
	struct ws_arena arena;
	struct cnt_gpu_plan plans[COL_COUNT_GPUS_MAX];
	struct col_count_gpu gpus[COL_COUNT_GPUS_MAX];
	size_t n_gpus;
	bool soft;
	bool by_packets; /* see count_events.h */
	enum launch_replay replay;
	size_t n_passes; /* the most of any GPU */
	size_t n_gone;   /* requests that no GPU can serve */
	struct col_count_range *ranges;
	size_t n_ranges;
};

/* @out_counting is to be finished also after a failure. The request outlives it. */
enum ws_status launch_counting_init(struct launch_counting *out_counting,
				    const struct launch_count_request *request, struct ws_err *err);
/* A device that is not here is no mistake in a list for several machines, but the user is warned. */
void launch_counting_warn(const struct launch_counting *counting,
			  const struct launch_count_request *request);
void launch_counting_fini(struct launch_counting *counting);

/* Sets, replay and filters; the rest is the caller's. */
void launch_counting_passes(const struct launch_counting *counting,
			    const struct launch_count_request *request,
			    struct launch_passes *passes);

struct launch_counted {
	bool ran, incomplete; /* some run did; not all of them */
	struct ws_proc_end end;
};
/* Runs the program as often as it takes, and says on stderr if that is more than once. */
enum ws_status launch_counting_run(const struct launch_counting *counting,
				   const struct launch_passes *passes,
				   struct launch_counted *out_counted, struct ws_err *err);

#endif
