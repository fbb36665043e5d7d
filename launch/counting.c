#include "launch/counting.h"

#include "base/log.h"
#include "launch/count_events.h"
#include "launch/inject.h"
#include "launch/other_profiler.h"
#include "launch/perfmon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (64u << 20)
/* Asked for when every request is a constant: something has to be counted to get a row. */
#define CARRIER "SQ_WAVES"

static bool has_any(const struct cnt_plan *plan)
{
	for (size_t i = 0; i < plan->n_requests; i++)
		if (plan->requests[i].state == CNT_PLAN_AVAILABLE)
			return true;
	return false;
}

/* Each pass's reads as a set. */
static enum ws_status make_sets(struct launch_counting *c, uint32_t gpu, struct ws_err *err)
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
	c->gpus[gpu] = (struct col_count_gpu){ .gpu = gpu, .sets = sets, .n_sets = n_sets };
	c->n_passes = WS_MAX(c->n_passes, n_sets);
	return c->by_packets ? launch_count_events(&c->arena, plan->cat, &c->gpus[gpu], err)
			     : WS_OK;
}

/* ---- checks ---- */

static bool has(const struct launch_counting *c, const char *name)
{
	for (size_t i = 0; i < c->n_gpus; i++) {
		size_t at = cnt_plan_find(c->plans[i].plan, name);

		if (at != SIZE_MAX && c->plans[i].plan->requests[at].state == CNT_PLAN_AVAILABLE)
			return true;
	}
	return false;
}

/* A counter must exist on one of the GPUs it is requested for; the others are reported. */
static enum ws_status check_requests(struct launch_counting *c, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t g = 0; g < c->n_gpus; g++) {
		const struct cnt_plan *plan = c->plans[g].plan;

		for (size_t i = 0; i < plan->n_requests; i++) {
			const struct cnt_plan_request *r = &plan->requests[i];

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

void launch_counting_warn(const struct launch_counting *c,
			  const struct launch_count_request *request)
{
	const struct ws_strv *list = request->words.list;

	for (size_t i = 0; list && i < list->n; i++) {
		const char *at = list->at[i];

		while (at && (at = strstr(at, "device="))) {
			unsigned long gpu = strtoul(at += 7, NULL, 10);

			if (gpu >= c->n_gpus)
				ws_log_warn("'%s' is not counted on GPU %lu: this machine has %zu, "
					    "numbered from 0%s",
					    list->at[i], gpu, c->n_gpus,
					    c->soft ? " (WAVESCOPE_GPU chooses)" : "");
		}
	}
}

/* Which launches of a kernel: "[1-3], 7". */
static enum ws_status take_ranges(struct launch_counting *c, const struct ws_strv *list,
				  struct ws_err *err)
{
	size_t room = 0;

	for (size_t i = 0; list && i < list->n; i++)
		room += strlen(list->at[i]) + 1;
	c->ranges = ws_arena_array(&c->arena, room + 1, sizeof(*c->ranges));
	if (!c->ranges)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; list && i < list->n; i++)
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

static enum ws_status choose_replay(struct launch_counting *c,
				    const struct launch_count_request *request, struct ws_err *err)
{
	c->replay = !c->by_packets ? LAUNCH_REPLAY_KERNEL : LAUNCH_REPLAY_APPLICATION;
	if (request->replay)
		c->replay =
			*request->replay == 'k' ? LAUNCH_REPLAY_KERNEL : LAUNCH_REPLAY_APPLICATION;
	if (request->words.mode == CNT_PLAN_FIXED) {
		if (request->replay && c->n_passes > 1)
			return ws_fail(
				err, WS_E_USAGE,
				"--replay and pmc_groups exclude each other: replay counts all "
				"counters of each dispatch, pmc_groups one group at a time");
		c->replay = LAUNCH_REPLAY_ROTATE;
	}
	return WS_OK;
}

static bool counts_sq(const struct cnt_plan *plan)
{
	for (size_t i = 0; i < plan->n_reads; i++)
		if (strcmp(plan->reads[i].counter->block->name, "SQ") == 0)
			return true;
	return false;
}

/* Whole GPUs: one pass, and what the driver wants for the queues of all processes. */
static enum ws_status check_over_time(struct launch_counting *c, struct ws_err *err)
{
	const char *source = getenv(LAUNCH_COUNTERS_ENV);

	c->replay = LAUNCH_OVER_TIME;
	if (source && strncmp(source, "compare", strlen("compare")) == 0)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       LAUNCH_COUNTERS_ENV "=%s compares kernels: use service or "
						   "aqlprofile with --pmc-interval",
			       source);
	if (c->n_passes > 1)
		return ws_fail(err, WS_E_LIMIT,
			       "--pmc-interval counts all counters at once, and these need %zu "
			       "passes: request fewer (--dry-run shows which fit together)",
			       c->n_passes);
	for (size_t g = 0; g < c->n_gpus && !c->soft; g++)
		if (counts_sq(c->plans[g].plan))
			return launch_check_perfmon(err);
	return WS_OK;
}

/* PC samples alone: dispatches are chosen as for counters, and nothing is counted of them. */
static enum ws_status init_samples(struct launch_counting *c,
				   const struct launch_count_request *request, struct ws_err *err)
{
	static const struct col_count_set nothing = { NULL, 0 };

	c->gpus[0] =
		(struct col_count_gpu){ .gpu = COL_COUNT_EVERY_GPU, .sets = &nothing, .n_sets = 1 };
	c->n_gpus = 1;
	c->n_passes = 1;
	c->replay = LAUNCH_REPLAY_APPLICATION;
	return take_ranges(c, request->ranges, err);
}

enum ws_status launch_counting_init(struct launch_counting *c,
				    const struct launch_count_request *request, struct ws_err *err)
{
	static struct gpu_agents gpus; /* too large for the stack */
	char other[200];
	enum ws_status st;

	memset(c, 0, sizeof(*c));
	ws_arena_init(&c->arena, ARENA_MAX);
	if (!request->words.list)
		return init_samples(c, request, err);
	st = launch_inject_gpus(&gpus, err);
	c->soft = gpus.soft;
	if (!st)
		st = launch_counts_by_packets(c->soft, &c->by_packets, err);
	if (!st && c->by_packets)
		st = launch_check_aqlprofile(err);
	if (!st && c->by_packets && launch_other_profiler(other, sizeof(other)))
		ws_log_warn("%s loads another profiler into the program: both program the counters "
			    "of the "
			    "GPU, and values may be wrong: unset it",
			    other);
	c->n_gpus = WS_MIN(gpus.n, (size_t)COL_COUNT_GPUS_MAX);
	if (!st && !c->n_gpus)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "no GPU found: unset WAVESCOPE_GPU=native to use the software GPU");
	for (uint32_t g = 0; g < c->n_gpus && !st; g++) {
		st = cnt_gpu_plan_init(&c->plans[g], &request->words, g, &gpus.at[g], err);
		if (!st)
			c->n_passes = WS_MAX(c->n_passes, c->plans[g].plan->n_passes);
	}
	if (!st)
		st = request->over_time_us ? check_over_time(c, err)
					   : choose_replay(c, request, err);
	if (!st)
		st = check_requests(c, err);
	for (uint32_t g = 0; g < c->n_gpus && !st; g++)
		st = make_sets(c, g, err);
	return st ? st : take_ranges(c, request->ranges, err);
}

void launch_counting_fini(struct launch_counting *c)
{
	for (size_t i = 0; i < c->n_gpus; i++)
		cnt_gpu_plan_fini(&c->plans[i]);
	ws_arena_fini(&c->arena);
	memset(c, 0, sizeof(*c));
}

void launch_counting_passes(const struct launch_counting *c,
			    const struct launch_count_request *request,
			    struct launch_passes *passes)
{
	passes->gpus = c->gpus;
	passes->n_gpus = c->n_gpus;
	passes->replay = c->replay;
	passes->interval = request->over_time_us ? request->over_time_us : request->interval;
	passes->include = request->include;
	passes->exclude = request->exclude;
	passes->names = request->names;
	passes->ranges = c->ranges;
	passes->n_ranges = c->n_ranges;
}

enum ws_status launch_counting_run(const struct launch_counting *c,
				   const struct launch_passes *passes,
				   struct launch_counted *out_counted, struct ws_err *err)
{
	struct launch_passes_result runs = { .n_runs = 0 };
	size_t n_runs = launch_passes_n_runs(passes);
	enum ws_status st;

	if (n_runs > 1)
		fprintf(stderr, "%s: the counters need %zu passes: the program runs %zu times\n",
			passes->tool, c->n_passes, n_runs);
	st = launch_passes_run(passes, &runs, err);
	*out_counted = (struct launch_counted){ .ran = runs.n_done > 0, .end = runs.end };
	/* A later run that cannot be started does not undo the first. */
	if (st && out_counted->ran) {
		ws_log_error("%s", err->text);
		out_counted->incomplete = true;
		st = WS_OK;
	}
	launch_passes_fini(&runs, false);
	return st;
}
