#include "programs/fidelity/vcopy.h"

#include "base/util.h"
#include "programs/fidelity/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1048576u
#define DISPATCHES 3

struct arguments {
	uint64_t a, unused_b, c;
	uint32_t n, unused_n;
	uint64_t unused_d;
	uint32_t block;
};

/* The sets, and the names that they refer to. */
struct plan {
	char (*names)[64];
	const char **pointers; /* to the names, set by set */
	struct softgpu_set *sets;
	size_t n_names, n_sets;
};

/* The counters of a set: block by block, as many as it counts at once; a level counter takes its accumulation
 * along. Returns how many sets there are. */
static size_t add_set(const struct fid_counted *c, size_t set, struct plan *plan)
{
	size_t used = 0, group = 0, most = 0;
	const char *block = "";

	for (size_t k = 0; k < c->n_all; k++) {
		const struct softgpu_counter *counter = &c->all[k];
		size_t places = counter->is_level ? 2 : 1;

		if (counter->fidelity == SOFTGPU_UNSUPPORTED)
			continue;
		if (strcmp(block, counter->block)) {
			block = counter->block;
			used = group = 0;
		}
		if (used + places > counter->block_limit) {
			group++;
			used = 0;
		}
		used += places;
		most = WS_MAX(group, most);
		if (group != set)
			continue;
		snprintf(plan->names[plan->n_names++], sizeof(plan->names[0]), "%s", counter->name);
		if (counter->is_level)
			snprintf(plan->names[plan->n_names++], sizeof(plan->names[0]), "%s_ACCUM",
				 counter->name);
	}
	return most + 1;
}

static enum ws_status make_plan(const struct fid_counted *c, struct plan *plan, struct ws_err *err)
{
	size_t n_sets = 1;

	/* no counter has more than two names, and no set is empty */
	*plan = (struct plan){ .names = calloc(2 * c->n_all + 1, sizeof(plan->names[0])),
			       .pointers = calloc(2 * c->n_all + 1, sizeof(plan->pointers[0])),
			       .sets = calloc(c->n_all + 1, sizeof(plan->sets[0])) };
	if (!plan->names || !plan->pointers || !plan->sets)
		return ws_fail(err, WS_E_NOMEM, "no memory");
	for (; plan->n_sets < n_sets; plan->n_sets++) {
		size_t first = plan->n_names;

		n_sets = add_set(c, plan->n_sets, plan);
		for (size_t k = first; k < plan->n_names; k++)
			plan->pointers[k] = plan->names[k];
		plan->sets[plan->n_sets] =
			(struct softgpu_set){ plan->pointers + first, plan->n_names - first };
	}
	return WS_OK;
}

static void free_plan(struct plan *plan)
{
	free(plan->names);
	free(plan->pointers);
	free(plan->sets);
}

static void print_results(struct fid_counted *c)
{
	struct softgpu_result r;

	for (unsigned dispatch = 0; fid_counted_next(c, &r); dispatch++) {
		printf("vcopy\t%u\tduration_ns\tmodelled\t-\t%llu\n", dispatch,
		       (unsigned long long)r.duration_ns);
		for (uint32_t k = 0; k < r.n_values; k++)
			printf("vcopy\t%u\t%s\t%s\t-\t%.0f\n", dispatch, r.values[k].name,
			       fid_counted_classes[r.values[k].fidelity],
			       fid_counted_sum(&r.values[k]));
	}
}

/* What has no value has a reason in its place. */
static void print_unsupported(const struct fid_counted *c)
{
	for (size_t k = 0; k < c->n_all; k++)
		if (c->all[k].fidelity == SOFTGPU_UNSUPPORTED)
			printf("vcopy\t0\t%s\tunsupported\t-\t%s\n", c->all[k].name,
			       c->all[k].text);
}

static enum ws_status run(struct fid_counted *c, const struct plan *plan, struct ws_err *err)
{
	struct arguments arguments = { .n = N, .block = 256 };
	struct gpu_runner_call call = { .kernel = "vcopy",
					.arguments = &arguments,
					.n_arguments = sizeof(arguments),
					.grid = N,
					.workgroup = 256 };
	enum ws_status st =
		gpu_runner_buffer(c->runner, 2ull * N * sizeof(double), &arguments.a, err);
	uint64_t ns;

	arguments.c = arguments.a + N * sizeof(double);
	if (!st)
		st = fid_counted_replay(c, plan->sets, plan->n_sets, err);
	for (unsigned k = 0; k < DISPATCHES && !st; k++) {
		/* as the recorded runtime does after a copy; an older one does not, nor what it recorded */
		call.system_scope = k == 0;
		st = gpu_runner_run(c->runner, &call, &ns, err);
	}
	return st;
}

enum ws_status fid_vcopy(struct ws_err *err)
{
	struct plan plan = { 0 };
	struct fid_counted c;
	enum ws_status st = fid_counted_open(&c, err);

	if (st)
		return st;
	st = make_plan(&c, &plan, err);
	if (!st)
		st = run(&c, &plan, err);
	if (!st) {
		print_results(&c);
		print_unsupported(&c);
	}
	free_plan(&plan);
	fid_counted_close(&c);
	return st;
}
