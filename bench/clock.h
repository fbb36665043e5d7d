/* clock: what the benchmarks measure with; C and C++. */
#ifndef WS_BENCH_CLOCK_H
#define WS_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double clock_s(clockid_t clock)
{
	return 1e-9 * (double)clock_ns(clock);
}

#endif
