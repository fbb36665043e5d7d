/*
 * bench_page: a trace of so many events as a page, and the same events as Perfetto trace and as
 * text; how long writing takes, by the clock and by CPU time, and how large the files are.
 * bench/page opens them.
 *
 *	bench_page FOLDER EVENTS [capture]
 *
 * With "capture", nothing but the capture is written: bench/serve opens it.
 */
#include "bench/clock.h"
#include "output/output.h"
#include "tests/output/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_page: %s: %s\n", what, why);
	exit(1);
}

/* In a process of its own, so that its peak memory is its own. */
static void write_format(const char *capture, const char *dir, enum output_format format)
{
	struct output_result result;
	struct output_config cfg;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	struct rusage use;
	uint64_t n_bytes = 0;
	char prefix[4096];
	double wall_s, cpu_s;
	int status;

	fflush(stdout);
	if (fork()) {
		wait(&status);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			exit(1);
		return;
	}
	snprintf(prefix, sizeof(prefix), "%s/out", dir);
	output_config_init(&cfg);
	cfg.formats = 1u << format;
	cfg.prefix = prefix;
	if (trc_open(&capture, 1, &(struct trc_opts){ 0 }, &trace, &err))
		die("trace", err.text);
	cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	wall_s = clock_s(CLOCK_MONOTONIC);
	if (output_write(trace, NULL, 0, &cfg, &result, &err))
		die(output_ops(format)->word, err.text);
	wall_s = clock_s(CLOCK_MONOTONIC) - wall_s;
	cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	getrusage(RUSAGE_SELF, &use);
	for (size_t i = 0; i < result.n_files; i++)
		n_bytes += result.files[i].n_bytes;
	printf("%-8s %7.1f MB  written in %6.2f s, %6.2f s of CPU time, peak %ld MB\n",
	       output_ops(format)->word, (double)n_bytes / 1e6, wall_s, cpu_s,
	       use.ru_maxrss / 1024);
	output_result_fini(&result);
	trc_close(trace);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	/* a round of a plain capture is nine events */
	struct ws_synth synth = { .pid = 4711, .n_threads = 3, .plain = true };
	char capture[4096];
	struct ws_err err = { 0 };
	uint64_t n_events;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: bench_page FOLDER EVENTS [capture]\n");
		return 2;
	}
	synth.n_rounds = strtoull(argv[2], NULL, 0) / 9 / (synth.n_threads + 1) + 1;
	snprintf(capture, sizeof(capture), "%s/a.wscap", argv[1]);
	if (ws_synth_write(capture, &synth, &n_events, &err))
		die("capture", err.text);
	printf("%llu events\n", (unsigned long long)n_events);
	if (argc == 4)
		return 0;
	write_format(capture, argv[1], OUTPUT_HTML);
	write_format(capture, argv[1], OUTPUT_PFTRACE);
	write_format(capture, argv[1], OUTPUT_CSV);
	return 0;
}
