/*
 * What it costs to merge the captures of many ranks: per event, and in how much memory.
 *
 *	bench_merge [MILLIONS [DIRECTORY [RANKS...]]]
 *
 * The same number of events is distributed over 1, 16, 64 and 256 ranks, eight per node, each
 * node with a clock of its own. They are opened, aligned, summed, and written as one Perfetto file. CPU time is
 * counted, because the disk is that of the machine; each number of ranks is a process of its own,
 * so that its peak of memory is.
 */
#include "bench/clock.h"
#include "output/systrace.h"
#include "ranks/imbalance.h"
#include "tests/ranks/made_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PER_NODE 8u
#define KERNELS 7u                   /* per step, and a collective: */
#define PER_STEP (KERNELS + 2u + 1u) /* its beginning, its end and its communicator are records */

static const char *dir;

static long peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void path_of(char *to, size_t room, uint32_t rank)
{
	snprintf(to, room, "%s/rank%u.wcap", dir, rank);
}

/* What the last step took, per event. */
static double lap(double *last, uint64_t n)
{
	double now = clock_s(CLOCK_PROCESS_CPUTIME_ID), took = now - *last;

	*last = now;
	return took / (double)n * 1e9;
}

static enum ws_status write_trace(const struct rnk_job *job, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	char path[4096];

	snprintf(path, sizeof(path), "%s/piece.pftrace", dir);
	for (size_t i = 0; !st && i < job->n_members; i++) {
		struct output_systrace_opts opts = { .annotations = true };
		struct output_systrace_result result;

		st = output_systrace_write(job->trace, job->members[i].process, &opts, path,
					   &result, err);
		unlink(path);
	}
	return st;
}

static int merge(uint32_t n_ranks, uint64_t n)
{
	const char **paths = calloc(n_ranks, sizeof(*paths));
	struct rnk_align_opts opts = { .assume_aligned = false };
	double last = clock_s(CLOCK_PROCESS_CPUTIME_ID), opened, aligned, summed, written,
	       error = 0;
	struct rnk_imbalance *imbalance = NULL;
	struct trc_trace *trace = NULL;
	struct rnk_job *job = NULL;
	struct ws_err err = { 0 };
	enum ws_status st;

	for (uint32_t i = 0; i < n_ranks; i++) {
		char path[4096];

		path_of(path, sizeof(path), i);
		paths[i] = strdup(path);
	}
	st = trc_open(paths, n_ranks, NULL, &trace, &err);
	if (!st)
		st = rnk_job_open(trace, &job, &err);
	opened = lap(&last, n);
	if (!st)
		st = rnk_job_align(job, &opts, &err);
	aligned = lap(&last, n);
	if (!st)
		st = rnk_imbalance_create(job, NULL, &imbalance, &err);
	summed = lap(&last, n);
	if (!st)
		st = write_trace(job, &err);
	written = lap(&last, n);
	if (st) {
		fprintf(stderr, "bench_merge: %s\n", err.text);
		return 1;
	}
	for (size_t i = 1; i < job->n_nodes; i++)
		error = job->nodes[i].offset.uncertainty_ns > error
				? job->nodes[i].offset.uncertainty_ns
				: error;
	printf("%6u %10.2f %8.1f %8.1f %8.1f %10.1f %10.1f %9ld %10.1f\n", n_ranks,
	       (double)n * 1e-6, opened, aligned, summed, written,
	       opened + aligned + summed + written, peak_mb(), error / 1e3);
	return 0;
}

static int run(uint32_t n_ranks, uint64_t n_wanted)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	uint64_t n = 0;
	char path[4096];
	int status = 1;
	pid_t child;

	made.n_ranks = n_ranks;
	made.per_node = PER_NODE;
	made.n_kernels = KERNELS;
	made.drift_ppm = 2;
	made.n_steps = (uint32_t)(n_wanted / n_ranks / PER_STEP);
	/* Also in a process of its own: a writer has many pages. */
	child = fork();
	if (child == 0)
		_exit(made_ranks_write(&made, dir, &n) != 0);
	waitpid(child, &status, 0);
	n = (uint64_t)n_ranks * made.n_steps * PER_STEP;
	if (!status) {
		fflush(stdout);
		child = fork();
		if (child == 0) {
			status = merge(n_ranks, n);
			fflush(stdout);
			_exit(status);
		}
		waitpid(child, &status, 0);
	}
	for (uint32_t i = 0; i < n_ranks; i++) {
		path_of(path, sizeof(path), i);
		unlink(path);
	}
	return status != 0;
}

int main(int argc, char **argv)
{
	static const uint32_t usual[] = { 1, 16, 64, 256 };
	uint64_t n = (uint64_t)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
	char folder[4096];
	int failed = 0;

	snprintf(folder, sizeof(folder), "%s/ws-bench-merge-%d", argc > 2 ? argv[2] : "/tmp",
		 getpid());
	if (mkdir(folder, 0700) != 0) {
		perror(folder);
		return 1;
	}
	dir = folder;
	printf("CPU time in ns per event\n%6s %10s %8s %8s %8s %10s %10s %9s %10s\n", "ranks",
	       "M events", "open", "align", "summary", "Perfetto", "all", "peak MB", "+- us");
	if (argc > 3)
		for (int i = 3; i < argc; i++)
			failed |= run((uint32_t)atoi(argv[i]), n);
	else
		for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
			failed |= run(usual[i], n);
	rmdir(folder);
	return failed;
}
