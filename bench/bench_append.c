/*
 * The cost of one append: five numbers, times given, into a capture; beside it the same numbers
 * into an LTTng-UST tracepoint (when built with it, and a session is recording), the two clock
 * reads that a traced call cannot avoid, and a traced call all in.
 *
 *	bench_append [ROUNDS [DIR [pressure]]]
 *
 * Everything is measured in one run, the variants taking turns; medians, extremes and ratios are
 * printed. With "pressure" it is measured a second time, while another process writes files to DIR:
 * page cache is scarce then, and what a fresh page of the capture costs is seen. bench/append
 * starts the LTTng session and this program.
 */
#include "bench/clock.h"
#include "capture/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef WS_HAVE_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/append_tp.h"
#endif

#define N_CALLS 1000000u
#define ROUNDS_MAX 64

static struct cap_lane *lane;
static struct cap_writer *writer;
static uint64_t n_lost, n_put;

static inline void append(uint32_t op, uint64_t start, uint64_t end, uint64_t corr,
			  uint64_t ancestor)
{
	struct cap_lane *l = lane;
	struct cap_rec_call *rec = cap_lane_reserve(&l, sizeof(*rec));

	if (!rec) {
		n_lost++;
		return;
	}
	rec->h.what = op;
	rec->h.time = start;
	rec->end_ticks = end;
	rec->corr_id = corr;
	rec->ancestor_id = ancestor;
	cap_lane_commit(l, &rec->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
}

/* ---- what is measured ---- */

static void empty_loop(void)
{
	for (uint64_t i = 0; i < N_CALLS; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
}

static void capture_append(void)
{
	for (uint64_t i = 0; i < N_CALLS; i++) {
		append(7, i, i + 1, i, 0);
		__asm__ volatile("" : : : "memory");
	}
	n_put += N_CALLS;
}

#ifdef WS_HAVE_LTTNG
static void lttng_append(void)
{
	for (uint64_t i = 0; i < N_CALLS; i++) {
		lttng_ust_tracepoint(ws_bench, call, 7, i, i + 1, i, 0);
		__asm__ volatile("" : : : "memory");
	}
}
#endif

static void two_counter_reads(void)
{
	for (uint64_t i = 0; i < N_CALLS; i++) {
		uint64_t a = cap_ticks(), b;

		__asm__ volatile("" : : "r"(a) : "memory");
		b = cap_ticks();
		__asm__ volatile("" : : "r"(b) : "memory");
	}
}

static void two_library_reads(void)
{
	for (uint64_t i = 0; i < N_CALLS; i++) {
		struct timespec t;

		clock_gettime(CLOCK_BOOTTIME, &t);
		__asm__ volatile("" : : "r"(&t) : "memory");
		clock_gettime(CLOCK_BOOTTIME, &t);
		__asm__ volatile("" : : "r"(&t) : "memory");
	}
}

static void traced_call(void)
{
	for (uint64_t i = 0; i < N_CALLS; i++) {
		uint64_t start = cap_ticks();

		__asm__ volatile("" : : : "memory");
		append(7, start, cap_ticks(), i, 0);
	}
	n_put += N_CALLS;
}

enum { EMPTY, APPEND, LTTNG, COUNTER, LIBRARY, TRACED, N_ROWS };

static struct {
	const char *name;
	void (*run)(void);
	double ns[ROUNDS_MAX];   /* CPU of this thread: other programs must not count */
	double wall[ROUNDS_MAX]; /* with waiting, for a core or for the disk */
	double faults[ROUNDS_MAX];
} rows[N_ROWS] = {
	[EMPTY] = { .name = "empty loop", .run = empty_loop },
	[APPEND] = { .name = "capture append", .run = capture_append },
#ifdef WS_HAVE_LTTNG
	[LTTNG] = { .name = "LTTng-UST tracepoint", .run = lttng_append },
#endif
	[COUNTER] = { .name = "two counter reads", .run = two_counter_reads },
	[LIBRARY] = { .name = "two clock_gettime", .run = two_library_reads },
	[TRACED] = { .name = "traced call, all in", .run = traced_call },
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (double)usage.ru_minflt;
}

static int measure(int rounds, const char *path)
{
	struct ws_err err = { 0 };

	if (cap_writer_open(path, &(struct cap_writer_opts){ 0 }, &writer, &err)) {
		fprintf(stderr, "bench_append: %s\n", err.text);
		return 1;
	}
	lane = cap_lane_get(writer, (uint32_t)getpid());
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < N_ROWS; i++) {
			uint64_t start = clock_ns(CLOCK_MONOTONIC);
			uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
			double faults = page_faults();

			if (rows[i].run)
				rows[i].run();
			rows[i].faults[r] = page_faults() - faults;
			rows[i].ns[r] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / N_CALLS;
			rows[i].wall[r] = (double)(clock_ns(CLOCK_MONOTONIC) - start) / N_CALLS;
		}
	}
	printf("%-24s %9s %9s %9s %12s %9s\n", "ns of CPU per turn", "median", "min", "max",
	       "wall, median", "faults/M");
	for (int i = 0; i < N_ROWS; i++) {
		if (!rows[i].run)
			continue;
		qsort(rows[i].ns, (size_t)rounds, sizeof(double), ascending);
		qsort(rows[i].wall, (size_t)rounds, sizeof(double), ascending);
		qsort(rows[i].faults, (size_t)rounds, sizeof(double), ascending);
		printf("%-24s %9.2f %9.2f %9.2f %12.2f %9.0f\n", rows[i].name,
		       rows[i].ns[rounds / 2], rows[i].ns[0], rows[i].ns[rounds - 1],
		       rows[i].wall[rounds / 2], rows[i].faults[rounds / 2] * 1e6 / N_CALLS);
	}
	double none = rows[EMPTY].ns[rounds / 2];
	double one = rows[APPEND].ns[rounds / 2] - none;

	if (rows[LTTNG].run && rows[LTTNG].ns[rounds / 2] - none < 1)
		printf("no session records the tracepoint: bench/append starts one\n");
	else if (rows[LTTNG].run)
		printf("append / tracepoint            %.3f  (at most 0.5)\n",
		       one / (rows[LTTNG].ns[rounds / 2] - none));
	printf("traced call / two counter reads %.3f  (at most 2)\n",
	       (rows[TRACED].ns[rounds / 2] - none) / (rows[COUNTER].ns[rounds / 2] - none));
	printf("appended %lu, lost %lu, file %lu MB\n", (unsigned long)n_put, (unsigned long)n_lost,
	       (unsigned long)(cap_writer_file_bytes(writer) >> 20));
	cap_writer_close(writer);
	unlink(path);
	return 0;
}

/* A file that grows to 2 GB and begins anew: its pages compete with the capture's. */
static pid_t start_pressure(const char *path)
{
	static char block[1 << 20];
	pid_t pid = fork();

	if (pid)
		return pid;
	memset(block, 'x', sizeof(block));
	for (unsigned n = 0;; n++) {
		int fd = open(path, O_WRONLY | O_CREAT | (n % 2048 ? O_APPEND : O_TRUNC), 0600);

		if (fd < 0 || write(fd, block, sizeof(block)) < 0 || close(fd))
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 15, status;
	const char *dir = argc > 2 ? argv[2] : "/tmp";
	char path[256], other[256];
	pid_t pid;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	snprintf(path, sizeof(path), "%s/ws-bench-%d.wscap", dir, getpid());
	snprintf(other, sizeof(other), "%s/ws-bench-%d.other", dir, getpid());
	status = measure(rounds, path);
	if (status || argc < 4 || strcmp(argv[3], "pressure") != 0)
		return status;
	puts("\nthe same while another process writes files:");
	fflush(stdout);
	pid = start_pressure(other);
	sleep(2); /* until the first pages are written back */
	status = measure(rounds, path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(other);
	return status;
}
