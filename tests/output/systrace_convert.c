/*
 * systrace_convert: makes a capture of a known program and writes rocprof-sys's Perfetto trace
 * of it, for systrace_check.py to read; with `database`, the rocpd database instead.
 *
 *	systrace_convert DIR [OPTION...]
 */
#include "output/output.h"
#include "output/systrace.h"
#include "tests/output/systrace_capture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LIST_MAX 16

static void split(char *list, const char **to)
{
	size_t n = 0;

	for (char *word = strtok(list, ","); word && n + 1 < LIST_MAX; word = strtok(NULL, ","))
		to[n++] = word;
	to[n] = NULL;
}

static int die(const struct ws_err *err)
{
	fprintf(stderr, "systrace_convert: %s\n", err->text);
	return 1;
}

/* "<dir>/out/rocpd_results.db" */
static int write_database(const struct trc_trace *trace, struct prof_frames *frames,
			  const char *dir)
{
	const struct trc_process *process = trc_process_at(trace, 0);
	struct output_result result;
	struct output_config cfg;
	struct ws_err err = { 0 };
	char prefix[4096];
	enum ws_status st;

	snprintf(prefix, sizeof(prefix), "%s/out/rocpd", dir);
	output_config_init(&cfg);
	cfg.formats = OUTPUT_BIT(ROCPD);
	cfg.prefix = prefix;
	cfg.host_data = true;
	cfg.frames = frames;
	st = output_write(trace, &process, 1, &cfg, &result, &err);
	for (unsigned d = 0; d < CAP_DOMAIN_COUNT && !st; d++)
		printf("%s %llu %llu\n", trc_domain_label(d),
		       (unsigned long long)result.n_events[d],
		       (unsigned long long)result.n_written[OUTPUT_ROCPD][d]);
	output_result_fini(&result);
	return st ? die(&err) : 0;
}

int main(int argc, char **argv)
{
	struct output_systrace_opts opts = { .frames = (struct prof_frames *)argv,
					     .annotations = true };
	struct output_systrace_result result;
	const char *enable[LIST_MAX], *disable[LIST_MAX], *paths[1];
	char capture[4096], path[4096];
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	bool many = false, database = false;
	int rc;

	for (int i = 2; i < argc; i++) {
		opts.group_by_queue |= !strcmp(argv[i], "queues");
		opts.annotations &= strcmp(argv[i], "plain") != 0;
		many |= !strcmp(argv[i], "many");
		database |= !strcmp(argv[i], "database");
		if (!strcmp(argv[i], "nameless"))
			opts.frames = NULL;
		if (!strcmp(argv[i], "ring"))
			opts.fill = OUTPUT_SYSTRACE_RING;
		if (!strncmp(argv[i], "max=", 4))
			opts.max_bytes = strtoull(argv[i] + 4, NULL, 10);
		if (!strncmp(argv[i], "from=", 5))
			opts.from_ns = SYSTRACE_US(strtoull(argv[i] + 5, NULL, 10));
		if (!strncmp(argv[i], "until=", 6))
			opts.until_ns = SYSTRACE_US(strtoull(argv[i] + 6, NULL, 10));
		if (!strncmp(argv[i], "enable=", 7)) {
			split(argv[i] + 7, enable);
			opts.enable = enable;
		}
		if (!strncmp(argv[i], "disable=", 8)) {
			split(argv[i] + 8, disable);
			opts.disable = disable;
		}
	}
	snprintf(capture, sizeof(capture), "%s/a.wcap", argv[1]);
	snprintf(path, sizeof(path), "%s/out/perfetto-trace.proto", argv[1]);
	remove(capture);
	paths[0] = capture;
	if (systrace_capture_write(capture, many, &err) || trc_open(paths, 1, NULL, &trace, &err))
		return die(&err);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "no-space")) {
			struct rlimit limit = { 8192, 8192 };

			signal(SIGXFSZ, SIG_IGN);
			setrlimit(RLIMIT_FSIZE, &limit);
		}
	}
	if (database) {
		rc = write_database(trace, opts.frames, argv[1]);
		trc_close(trace);
		return rc;
	}
	if (output_systrace_write(trace, trc_process_at(trace, 0), &opts, path, &result, &err)) {
		trc_close(trace);
		return die(&err);
	}
	printf("bytes=%llu slices=%llu samples=%llu values=%llu lost=%llu\n%s\n",
	       (unsigned long long)result.n_bytes, (unsigned long long)result.n_slices,
	       (unsigned long long)result.n_samples, (unsigned long long)result.n_values,
	       (unsigned long long)result.n_lost, result.lost);
	trc_close(trace);
	return 0;
}
