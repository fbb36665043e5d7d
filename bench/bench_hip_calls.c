/*
 * bench_hip_calls: what recording HIP calls costs, per call.
 *
 *	wavescope run -- build/bench/bench_hip_calls [LIBRARY FOLDER]
 *
 * The program runs itself in four ways, in turn, several times: bare; with the collector loaded and
 * HIP not asked for (no wrappers then); with the wrappers in place but switched off; recording.
 * Ratios are medians of rounds that ran next to each other; the spread is printed beside them. The
 * two clock reads that no recording can do without are measured as well.
 */
#include "bench/clock.h"

#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_ROUNDS 9
#define N_CALLS 20000
#define N_TRIES 12

int hipGetDevice(int *device);
int hipSetDevice(int device);
int hipGetLastError(void);
int hipPeekAtLastError(void);
int hipGetDeviceCount(int *count);
int hipStreamQuery(void *stream);

static double now_ns(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC);
}

static int device;
static volatile uint64_t sink;

static void get_device(void)
{
	hipGetDevice(&device);
}
static void set_device(void)
{
	hipSetDevice(0);
}
static void get_last_error(void)
{
	hipGetLastError();
}
static void peek_last_error(void)
{
	hipPeekAtLastError();
}
static void get_device_count(void)
{
	hipGetDeviceCount(&device);
}
static void stream_query(void)
{
	hipStreamQuery(NULL);
}

static void two_clock_reads(void)
{
#if defined(__x86_64__)
	sink = __builtin_ia32_rdtsc();
	sink = __builtin_ia32_rdtsc();
#else
	sink = (uint64_t)now_ns();
	sink = (uint64_t)now_ns();
#endif
}

static const struct {
	const char *name;
	void (*fn)(void);
} calls[] = {
	{ "hipGetLastError", get_last_error },
	{ "hipGetDeviceCount", get_device_count },
	{ "hipPeekAtLastError", peek_last_error },
	{ "hipGetDevice", get_device },
	{ "hipSetDevice", set_device },
	{ "hipStreamQuery", stream_query },
	{ "(two clock reads)", two_clock_reads },
};
#define N_KINDS (sizeof(calls) / sizeof(calls[0]))

/* The fastest of some tries: the rest is the machine's other work. */
static double measure(void (*fn)(void))
{
	double best = 1e18;

	for (int i = 0; i < N_TRIES; i++) {
		double start = now_ns(), ns;

		for (int k = 0; k < N_CALLS; k++)
			fn();
		ns = (now_ns() - start) / N_CALLS;
		best = ns < best ? ns : best;
	}
	return best;
}

static int child(void)
{
	hipSetDevice(0);
	for (size_t i = 0; i < N_KINDS; i++)
		printf("%.3f\n", measure(calls[i].fn));
	return 0;
}

static const struct {
	const char *name, *services, *libraries[3];
} ways[] = {
	{ "bare", NULL, { NULL } },
	{ "not asked", "marker", { "libwavescope-collector.so" } },
	{ "switched off",
	  "marker",
	  { "libwavescope-collector.so", "libwavescope-hip.so", "libwavescope-dlsym.so" } },
	{ "recording",
	  "hip-runtime,hip-compiler",
	  { "libwavescope-collector.so", "libwavescope-hip.so", "libwavescope-dlsym.so" } },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static int run(size_t way, const char *lib, const char *self, double *out_ns)
{
	char preload[4 * PATH_MAX + 200], collect[PATH_MAX + 100], dir[] = "/tmp/bench_hip_XXXXXX";
	char command[PATH_MAX + 32];
	FILE *pipe;
	int ok = 1;

	if (!mkdtemp(dir))
		return 0;
	preload[0] = 0;
	for (int i = 0; i < 3 && ways[way].libraries[i]; i++) {
		size_t n = strlen(preload);

		snprintf(preload + n, sizeof(preload) - n, "%s%s/%s", i ? ":" : "", lib,
			 ways[way].libraries[i]);
	}
	snprintf(collect, sizeof(collect), "1;dir=%s;services=%s", dir,
		 ways[way].services ? ways[way].services : "");
	/* through env, so that the shell between us is bare */
	if (ways[way].services)
		snprintf(command, sizeof(command),
			 "exec env LD_PRELOAD=\"$BENCH_PRELOAD\" "
			 "WAVESCOPE_COLLECT=\"$BENCH_COLLECT\" %s --child",
			 self);
	else
		snprintf(command, sizeof(command), "exec %s --child", self);
	setenv("BENCH_PRELOAD", preload, 1);
	setenv("BENCH_COLLECT", collect, 1);
	pipe = popen(command, "r");
	for (size_t i = 0; pipe && i < N_KINDS; i++)
		ok &= fscanf(pipe, "%lf", &out_ns[i]) == 1;
	ok &= pipe && pclose(pipe) == 0;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok &= system(command) == 0;
	return ok;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median, and the ratio to @bare round by round: median, and the range without the two extremes. */
static void print_way(const double *bare, const double *way)
{
	double ratio[N_ROUNDS], sorted[N_ROUNDS];

	for (int r = 0; r < N_ROUNDS; r++)
		ratio[r] = way[r] / bare[r];
	memcpy(sorted, way, sizeof(sorted));
	qsort(ratio, N_ROUNDS, sizeof(double), by_value);
	qsort(sorted, N_ROUNDS, sizeof(double), by_value);
	printf(" %8.1f", sorted[N_ROUNDS / 2]);
	if (way != bare)
		printf(" %4.2fx (%4.2f-%4.2f)", ratio[N_ROUNDS / 2], ratio[1], ratio[N_ROUNDS - 2]);
}

int main(int argc, char **argv)
{
	static double ns[N_WAYS][N_KINDS][N_ROUNDS];
	char self[PATH_MAX] = "", lib[PATH_MAX + 16];
	double one[N_KINDS];

	if (argc > 1 && !strcmp(argv[1], "--child"))
		return child();
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	if (argc > 1) {
		snprintf(lib, sizeof(lib), "%s", argv[1]);
	} else {
		char here[PATH_MAX];

		strcpy(here, self);
		snprintf(lib, sizeof(lib), "%s/../lib", dirname(here));
	}
	for (int r = 0; r < N_ROUNDS; r++)
		for (size_t w = 0; w < N_WAYS; w++) {
			if (!run(w, lib, self, one)) {
				fprintf(stderr, "bench_hip_calls: the way '%s' does not run\n",
					ways[w].name);
				return 1;
			}
			for (size_t i = 0; i < N_KINDS; i++)
				ns[w][i][r] = one[i];
		}
	printf("%-20s %8s", "ns per call", ways[0].name);
	for (size_t w = 1; w < N_WAYS; w++)
		printf(" %26s", ways[w].name);
	printf("\n");
	for (size_t i = 0; i < N_KINDS; i++) {
		printf("%-20s", calls[i].name);
		for (size_t w = 0; w < N_WAYS; w++)
			print_way(ns[0][i], ns[w][i]);
		printf("\n");
	}
	return 0;
}
