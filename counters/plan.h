/*
 * plan: turns requested counter names into the passes that collect them.
 *
 * A block has a few counter registers; what does not fit needs another pass over the
 * kernels. All tools plan here. The plan has the fewest passes that the blocks allow.
 *
 * A request is a counter name, or a form of one:
 *
 *	NAME                      hardware: every instance; derived: computed; constant: no pass
 *	NAME_sum                  the sum over instances
 *	NAME[n]                   one instance, counted over all dimensions, the last fastest
 *	NAME_ACCUM                a level counter summed over all cycles
 *	NAME SQ_ACCUM_PREV_HIRES  the same, older spelling: refers to the name before it
 *
 * TCC_EA0_X on gfx90a and TCC_EA_X on gfx94x are the other generation's spelling of the
 * same counter. Requests are computed from reads: hardware counters that a provider
 * supplies. Requests share reads; all instances and the sum of one counter share one
 * register of its block. An accumulated read takes two registers and directly follows the
 * read of its level counter.
 *
 *	cnt_plan_make(cat, &group, 1, CNT_PLAN_POOL, &plan, err);
 *	for each pass p: give reads p.first_read .. + p.n_reads, `spelling`, to the provider
 *	for each dispatch: samples[] by read number; cnt_plan_value(plan, request, samples, ...)
 *
 * Memory   a plan lives until destroyed, and refers to the catalogue.
 */
#ifndef WS_COUNTERS_PLAN_H
#define WS_COUNTERS_PLAN_H

#include "counters/catalogue.h"
#include "counters/expr.h"

#include <stdio.h>

enum cnt_plan_mode {
	CNT_PLAN_POOL,  /* all groups in one pot: the fewest passes */
	CNT_PLAN_SPLIT, /* no pass holds names of two groups; a group that does not fit is split */
	CNT_PLAN_FIXED, /* every group is exactly one pass; one that does not fit is WS_E_LIMIT */
	/* Or to any of them: requests that cannot be had stay in the plan instead of failing it. */
	CNT_PLAN_KEEP_GOING = 0x100,
};

/* Names as typed, but without ":device=", which cnt_counter_word() takes off. */
struct cnt_plan_group {
	const char *const *names;
	size_t n;
};

enum cnt_plan_state {
	CNT_PLAN_AVAILABLE,
	CNT_PLAN_UNKNOWN,     /* no such counter on this GPU */
	CNT_PLAN_UNSUPPORTED, /* not supported by the software GPU */
	CNT_PLAN_MALFORMED, /* NAME[99] of 32 instances, NAME_ACCUM of a counter that is not a level */
};

/* In the order typed; a name that comes again in its group is left out. */
struct cnt_plan_request {
	const char *name; /* as typed */
	unsigned group;
	enum cnt_plan_state state;
	const char *why;     /* one sentence when not available, with the nearest name; else NULL */
	const char *nearest; /* the valid name most likely meant, or NULL */
	const struct cnt_counter_def *counter; /* of the base name; NULL when unknown */
	const char *expression; /* what it is computed by; NULL: constant, or read as it is */
	enum cnt_fidelity_class fidelity;
	const uint32_t *reads; /* the numbers of the reads it is computed from, ascending */
	size_t n_reads;
	bool one_pass; /* all of them are in the same pass, so of the same run of a kernel */
};

/* What a provider has to count, spelled "SQ_WAVES", "TCC_HIT_sum" or "SQ_LEVEL_WAVES_ACCUM". */
struct cnt_plan_read {
	const char *spelling;
	const struct cnt_counter_def *counter;
	enum cnt_counter_form form;
	unsigned pass;
};

struct cnt_plan_pass {
	unsigned group; /* 0 in a pool */
	uint32_t first_read, n_reads;
};

struct cnt_plan {
	const struct cnt_catalogue *cat;
	const struct cnt_plan_request *requests;
	size_t n_requests;
	const struct cnt_plan_read *reads; /* pass by pass; in a pass, block by block */
	size_t n_reads;
	const struct cnt_plan_pass *passes;
	size_t n_passes; /* 0: only constants were requested */
};

/* WS_E_NOTFOUND, WS_E_FORMAT, WS_E_UNSUPPORTED: the first request that cannot be had. */
enum ws_status cnt_plan_make(const struct cnt_catalogue *cat, const struct cnt_plan_group *groups,
			     size_t n_groups, unsigned mode, struct cnt_plan **out_plan,
			     struct ws_err *err);
void cnt_plan_destroy(struct cnt_plan *plan); /* NULL is fine */

/* The request of that name, the first group's first; SIZE_MAX: none. */
size_t cnt_plan_find(const struct cnt_plan *plan, const char *name);

/* What a provider said for one read: instances in the order of the block's shape, or their sum. */
struct cnt_plan_sample {
	const double *at;
	size_t n; /* 0: nothing */
};

/*
 * The value of a request for one dispatch, from @samples by read number. Values that come from
 * several passes are put together as they are; whether the runs were alike is the caller's to know.
 * Without a sample for one of its reads the request has no value: out_values->n is 0.
 */
enum ws_status cnt_plan_value(const struct cnt_plan *plan, size_t request,
			      const struct cnt_plan_sample *samples, struct ws_arena *arena,
			      struct cnt_values *out_values, struct ws_err *err);

struct cnt_plan_cost {
	double baseline_s;  /* one run without counting; 0: unknown, no time is printed */
	double slowdown;    /* of a counted run; 0: unknown, taken as 1 and said so */
	bool kernel_replay; /* all passes in one run */
};

/* What --dry-run shows: each counter available or not, the passes, the runs and the time. */
void cnt_plan_print(FILE *to, const struct cnt_plan *plan, const struct cnt_plan_cost *cost);

#endif
