/*
 * Nanoseconds of CPU time per call of a small function, compiled and started in several ways by
 * bench/instrument: the median of several runs, and the fastest and slowest.
 *
 *	calls [CALLS [RUNS]]
 */
#include "bench/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS_MAX 99

/* With -finstrument-functions: what the instrumentation costs that records nothing. */
#define BARE __attribute__((no_instrument_function))
BARE void __cyg_profile_func_enter(void *function, void *caller);
BARE void __cyg_profile_func_exit(void *function, void *caller);
#if defined(EMPTY_HOOKS)
BARE __attribute__((noipa)) void __cyg_profile_func_enter(void *function, void *caller)
{
}
BARE __attribute__((noipa)) void __cyg_profile_func_exit(void *function, void *caller)
{
}
#endif

static volatile unsigned sink;

__attribute__((noinline, noclone)) static unsigned work(unsigned n)
{
	sink = sink * 3 + n;
	return n + 1;
}

BARE static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

BARE int main(int argc, char **argv)
{
	unsigned n_calls = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000;
	int n_runs = argc > 2 ? atoi(argv[2]) : 7;
	double ns[RUNS_MAX];
	unsigned value = 0;

	n_runs = n_runs < 1 ? 1 : n_runs > RUNS_MAX ? RUNS_MAX : n_runs;
	for (int run = 0; run < n_runs; run++) {
		uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		for (unsigned i = 0; i < n_calls; i++)
			value = work(value);
		ns[run] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / n_calls;
	}
	qsort(ns, (size_t)n_runs, sizeof(*ns), by_value);
	printf("%.2f %.2f %.2f\n", ns[n_runs / 2], ns[0], ns[n_runs - 1]);
	return value == 0;
}
