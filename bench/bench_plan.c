/*
 * How long planning takes: a catalogue, and all of its counters into passes.
 *
 *	bench_plan [TURNS]
 *
 * CPU time, so that a loaded machine does not count; the least and the median of the turns.
 */
#include "base/util.h"
#include "bench/clock.h"
#include "counters/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TURNS 1000
#define MAX_NAMES 16384

static double cpu_ms(void)
{
	return 1e3 * clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Every counter there is; with @channels also each instance of each L2 counter, as rocprof-compute asks. */
static size_t all_names(const struct cnt_catalogue *cat, bool hardware_only, bool channels,
			const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt_catalogue_n(cat) && n < MAX_NAMES; i++) {
		const struct cnt_counter_def *def = cnt_catalogue_at(cat, i);

		if (strstr(def->name, "SQ_ACCUM_PREV") || def->kind == CNT_COUNTER_CONSTANT ||
		    (hardware_only && def->kind != CNT_COUNTER_HARDWARE))
			continue;
		names[n++] = def->name;
		if (!channels || !def->block || strcmp(def->block->name, "TCC") != 0)
			continue;
		for (size_t k = 0; k < cnt_shape_size(&def->shape) && n < MAX_NAMES; k++) {
			char *name;

			if (asprintf(&name, "%s[%zu]", def->name, k) > 0)
				names[n++] = name; /* lives as long as the program */
		}
	}
	return n;
}

static void measure(const char *what, const struct cnt_catalogue *cat, const char **names, size_t n,
		    int turns)
{
	struct cnt_plan_group group = { names, n };
	double times[MAX_TURNS];
	size_t n_passes = 0;
	struct ws_err err;

	for (int i = 0; i < turns; i++) {
		struct cnt_plan *plan = NULL;
		double start = cpu_ms();

		if (cnt_plan_make(cat, &group, 1, CNT_PLAN_POOL, &plan, &err)) {
			fprintf(stderr, "bench_plan: %s\n", err.text);
			exit(1);
		}
		times[i] = cpu_ms() - start;
		n_passes = plan->n_passes;
		cnt_plan_destroy(plan);
	}
	qsort(times, (size_t)turns, sizeof(*times), compare);
	printf("%-8s %-32s %5zu names %4zu passes   least %7.3f ms   median %7.3f ms\n",
	       cnt_catalogue_arch(cat), what, n, n_passes, times[0], times[turns / 2]);
}

int main(int argc, char **argv)
{
	static const char *names[MAX_NAMES];
	int turns = argc > 1 ? atoi(argv[1]) : 51;
	const char *arch;

	turns = turns < 1 ? 1 : turns > MAX_TURNS ? MAX_TURNS : turns;
	for (size_t i = 0; (arch = cnt_catalogue_arch_name(i)); i++) {
		struct cnt_catalogue *cat = NULL;
		double start = cpu_ms();
		struct ws_err err;

		if (cnt_catalogue_create_typical(arch, &cat, &err)) {
			fprintf(stderr, "bench_plan: %s\n", err.text);
			return 1;
		}
		printf("%-8s %-32s %5zu counters                          %7.3f ms\n", arch,
		       "catalogue", cnt_catalogue_n(cat), cpu_ms() - start);
		measure("hardware counters", cat, names, all_names(cat, true, false, names), turns);
		measure("all counters", cat, names, all_names(cat, false, false, names), turns);
		measure("all, and every L2 channel", cat, names, all_names(cat, false, true, names),
			turns);
		cnt_catalogue_destroy(cat);
	}
	return 0;
}
