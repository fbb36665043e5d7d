#include "cmd/rocprofv3/counting.h"

#include "base/log.h"
#include "launch/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (64u << 20)
/* Asked for when every request is a constant: something has to be counted to get a row. */
#define CARRIER "SQ_WAVES"

bool rp_counts(const struct rp_args *args)
{
	const struct ws_strv *lists[] = { &args->pmc, &args->pmc_groups };

	for (size_t i = 0; i < WS_ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (lists[i]->at[k] && *lists[i]->at[k])
				return true;
	return false;
}

static struct cnt_plan_words words_of(const struct rp_args *args)
{
	bool groups = args->pmc_groups.n > 0;

	return (struct cnt_plan_words){
		.list = groups ? &args->pmc_groups : &args->pmc,
		.mode = groups ? CNT_PLAN_FIXED : CNT_PLAN_POOL,
		.definitions = args->extra_counters,
	};
}

enum ws_status rp_derive(const struct rp_args *args, struct trc_counted *table,
			 struct cnt_derived **out_derived, struct ws_err *err)
{
	struct cnt_plan_words words = words_of(args);

	return cnt_derive(table, &words, out_derived, err);
}

static bool has_any(const struct cnt_plan *plan)
{
	for (size_t i = 0; i < plan->n_requests; i++)
		if (plan->requests[i].state == CNT_PLAN_AVAILABLE)
			return true;
	return false;
}

/* Each pass's reads as a set. */
static enum ws_status make_sets(struct rp_counting *c, uint32_t gpu, struct ws_err *err)
{
	static const char *const carrier[] = { CARRIER };
	const struct cnt_plan *plan = c->plans[gpu].plan;
	size_t n_sets = plan->n_passes ? plan->n_passes : has_any(plan);
	struct col_count_set *sets = ws_arena_array(&c->arena, n_sets + 1, sizeof(*sets));
	const char **names = ws_arena_array(&c->arena, plan->n_reads + 1, sizeof(*names));

	if (!sets || !names)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < plan->n_reads; i++)
		names[i] = plan->reads[i].spelling;
	for (size_t p = 0; p < plan->n_passes; p++)
		sets[p] = (struct col_count_set){ names + plan->passes[p].first_read,
						  plan->passes[p].n_reads };
	if (!plan->n_passes && n_sets)
		sets[0] = (struct col_count_set){ carrier, 1 };
	/* Nobody counts on a real GPU yet: the program runs once, and says so. */
	if (!c->soft)
		n_sets = WS_MIN(n_sets, (size_t)1);
	c->gpus[gpu] = (struct col_count_gpu){ gpu, sets, n_sets };
	c->n_passes = WS_MAX(c->n_passes, n_sets);
	return WS_OK;
}

/* ---- checks ---- */

static bool has(const struct rp_counting *c, const char *name)
{
	for (size_t i = 0; i < c->n_gpus; i++) {
		size_t at = cnt_plan_find(c->plans[i].plan, name);

		if (at != SIZE_MAX && c->plans[i].plan->requests[at].state == CNT_PLAN_AVAILABLE)
			return true;
	}
	return false;
}

/* A counter must exist on one of the GPUs it is requested for; the others are reported. */
static enum ws_status check_requests(struct rp_counting *c, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t g = 0; g < c->n_gpus; g++) {
		const struct cnt_plan *plan = c->plans[g].plan;

		for (size_t i = 0; i < plan->n_requests; i++) {
			const struct cnt_plan_request *r = &plan->requests[i];

			c->n_asked++;
			if (r->state == CNT_PLAN_AVAILABLE)
				continue;
			if (has(c, r->name)) {
				ws_log_info("GPU %zu (%s): %s: the other counters are collected", g,
					    cnt_catalogue_arch(c->plans[g].cat), r->why);
				continue;
			}
			c->n_gone++;
			if (!st) /* the first is the one reported */
				st = ws_fail(err,
					     r->state == CNT_PLAN_UNSUPPORTED ? WS_E_UNSUPPORTED
									      : WS_E_NOTFOUND,
					     "%s", r->why);
		}
	}
	return st;
}

void rp_counting_warn(const struct rp_counting *c, const struct rp_args *args)
{
	const struct ws_strv *lists[] = { &args->pmc, &args->pmc_groups };

	for (size_t l = 0; l < WS_ARRAY_LEN(lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++) {
			const char *at = lists[l]->at[i];

			while (at && (at = strstr(at, "device="))) {
				unsigned long gpu = strtoul(at += 7, NULL, 10);

				if (gpu >= c->n_gpus)
					ws_log_warn("'%s' is not counted on GPU %lu: this machine "
						    "has %zu, numbered from 0%s",
						    lists[l]->at[i], gpu, c->n_gpus,
						    c->soft ? " (WAVESCOPE_GPU chooses)" : "");
			}
		}
}

static enum ws_status take_ranges(struct rp_counting *c, const struct rp_args *args,
				  struct ws_err *err)
{
	const struct ws_strv *list = &args->kernel_iteration_range;
	size_t room = 0;

	for (size_t i = 0; i < list->n; i++)
		room += strlen(list->at[i]) + 1;
	c->ranges = ws_arena_array(&c->arena, room + 1, sizeof(*c->ranges));
	if (!c->ranges)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	/* checks.c has seen to it that these are numbers and ranges. */
	for (size_t i = 0; i < list->n; i++)
		for (const char *at = list->at[i]; *(at += strspn(at, "[], "));) {
			struct col_count_range *range = &c->ranges[c->n_ranges++];
			char *end;

			range->first = range->last = strtoull(at, &end, 10);
			if (*end == '-')
				range->last = strtoull(end + 1, &end, 10);
			at = end > at ? end : at + 1;
		}
	if (c->n_ranges > COL_COUNT_RANGES_MAX)
		return ws_fail(err, WS_E_LIMIT, "more than %u ranges of iterations",
			       COL_COUNT_RANGES_MAX);
	return WS_OK;
}

/* Which dispatches: kernels by name, and launches of them. checks.c compiled the patterns. */
static enum ws_status take_filters(struct rp_counting *c, const struct rp_args *args,
				   struct ws_err *err)
{
	c->include = args->kernel_include_regex;
	c->exclude = args->kernel_exclude_regex;
	return take_ranges(c, args, err);
}

static enum ws_status choose_replay(struct rp_counting *c, const struct rp_args *args,
				    struct ws_err *err)
{
	const char *asked = args->replay ? args->replay : args->replay_mode;

	if (args->replay && args->replay_mode && strcmp(args->replay, args->replay_mode) != 0)
		return ws_fail(err, WS_E_USAGE,
			       "--replay %s and --replay-mode %s contradict each other: use one",
			       args->replay, args->replay_mode);
	c->replay = c->soft ? LAUNCH_REPLAY_KERNEL : LAUNCH_REPLAY_APPLICATION;
	if (asked)
		c->replay = *asked == 'k' ? LAUNCH_REPLAY_KERNEL : LAUNCH_REPLAY_APPLICATION;
	if (args->pmc_groups.n) {
		if (asked && c->n_passes > 1)
			return ws_fail(
				err, WS_E_USAGE,
				"--replay and pmc_groups exclude each other: replay counts all "
				"counters of each dispatch, pmc_groups one group at a time");
		c->replay = LAUNCH_REPLAY_ROTATE;
	}
	if (c->replay == LAUNCH_REPLAY_KERNEL && !c->soft)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "--replay kernel is supported on the software GPU only: use "
			       "--replay application");
	return WS_OK;
}

/* PC samples alone: dispatches are chosen as for counters, and nothing is counted of them. */
static enum ws_status init_samples(struct rp_counting *c, const struct rp_args *args,
				   struct ws_err *err)
{
	static const struct col_count_set nothing = { NULL, 0 };

	c->gpus[0] = (struct col_count_gpu){ COL_COUNT_EVERY_GPU, &nothing, 1 };
	c->n_gpus = 1;
	c->n_passes = 1;
	c->replay = LAUNCH_REPLAY_APPLICATION;
	return take_filters(c, args, err);
}

enum ws_status rp_counting_init(struct rp_counting *c, const struct rp_args *args,
				struct ws_err *err)
{
	static struct gpu_agents gpus; /* too large for the stack */
	struct cnt_plan_words words = words_of(args);
	enum ws_status st;

	memset(c, 0, sizeof(*c));
	ws_arena_init(&c->arena, ARENA_MAX);
	if (!rp_counts(args))
		return init_samples(c, args, err);
	st = launch_inject_gpus(&gpus, err);
	c->soft = gpus.soft;
	c->n_gpus = WS_MIN(gpus.n, (size_t)COL_COUNT_GPUS_MAX);
	if (!st && !c->n_gpus)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "no GPU found: unset WAVESCOPE_GPU=native to use the software GPU");
	for (uint32_t g = 0; g < c->n_gpus && !st; g++) {
		st = cnt_gpu_plan_init(&c->plans[g], &words, g, &gpus.at[g], err);
		if (!st)
			c->n_passes = WS_MAX(c->n_passes, c->plans[g].plan->n_passes);
	}
	if (!st)
		st = choose_replay(c, args, err);
	if (!st)
		st = check_requests(c, err);
	for (uint32_t g = 0; g < c->n_gpus && !st; g++)
		st = make_sets(c, g, err);
	return st ? st : take_filters(c, args, err);
}

void rp_counting_fini(struct rp_counting *c)
{
	for (size_t i = 0; i < c->n_gpus; i++)
		cnt_gpu_plan_fini(&c->plans[i]);
	ws_arena_fini(&c->arena);
	memset(c, 0, sizeof(*c));
}

void rp_counting_passes(const struct rp_counting *c, const struct rp_args *args,
			struct launch_passes *passes)
{
	passes->gpus = c->gpus;
	passes->n_gpus = c->n_gpus;
	passes->replay = c->replay;
	passes->interval =
		args->pmc_group_interval ? strtoull(args->pmc_group_interval, NULL, 0) : 1;
	passes->include = c->include;
	passes->exclude = c->exclude;
	passes->names = args->truncate_kernels == WS_TRI_YES  ? COL_COUNT_TRUNCATED
			: args->mangled_kernels == WS_TRI_YES ? COL_COUNT_MANGLED
							      : COL_COUNT_DEMANGLED;
	passes->ranges = c->ranges;
	passes->n_ranges = c->n_ranges;
}

void rp_counting_print(const struct rp_counting *c, const struct rp_args *args)
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
