/*
 * bench_output: events per second of each output format, from a capture that this
 * program makes first, by the clock on the wall and by CPU time (which is what a busy
 * machine still measures; the system's part of it is files), next to what cannot be avoided:
 * reading the events, and for the database the same inserts without a trace behind them.
 *
 *	bench_output [EVENTS [FORMAT...]]
 */
#include "bench/clock.h"
#include "output/output.h"
#include "rocpd/sql.h"
#include "tests/output/synth.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double system_cpu(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return seconds(use.ru_stime);
}

static double cpu(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return seconds(use.ru_utime) + seconds(use.ru_stime);
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_output: %s: %s\n", what, why);
	exit(1);
}

static double read_all(const struct trc_trace *trace, enum trc_event_order order, uint64_t *n)
{
	struct ws_err err = { 0 };
	struct trc_events *events;
	double start = cpu();

	*n = 0;
	if (trc_events_open(trace, &(struct trc_event_query){ .order = order }, &events, &err))
		die("events", err.text);
	while (trc_events_next(events))
		++*n;
	trc_events_close(events, NULL);
	return cpu() - start;
}

static void replace(char *sql, const char *name, const char *value)
{
	char *at;

	while ((at = strstr(sql, name))) {
		memmove(at + strlen(value), at + strlen(name), strlen(at + strlen(name)) + 1);
		memcpy(at, value, strlen(value));
	}
}

/*
 * The rows of a finished database, inserted again from memory, by prepared statements in
 * one transaction without journal: what SQLite itself costs. Rows are read into memory in
 * blocks, and only the inserting is timed.
 */
static double raw_inserts(const char *from, const char *to, const char *guid, uint64_t *out_rows)
{
	static const char *const tables[] = { "rocpd_event", "rocpd_region", "rocpd_arg",
					      "rocpd_kernel_dispatch", "rocpd_memory_copy" };
	sqlite3 *src, *dst;
	char suffix[64], *sql = malloc(1 << 20);
	double total = 0;

	unlink(to);
	sqlite3_open(from, &src);
	sqlite3_open_v2(to, &dst, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			NULL);
	sqlite3_exec(dst,
		     "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
		     "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536; BEGIN",
		     NULL, NULL, NULL);
	snprintf(suffix, sizeof(suffix), "_%s", guid);
	for (char *at = suffix; *at; at++)
		*at = *at == '-' ? '_' : *at;
	strcpy(sql, rpd_sql("tables"));
	replace(sql, "{{uuid}}", suffix);
	replace(sql, "{{guid}}", guid);
	if (sqlite3_exec(dst, sql, NULL, NULL, NULL))
		die("raw inserts", sqlite3_errmsg(dst));
	*out_rows = 0;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		enum { BLOCK = 4096, COLUMNS = 24 };
		sqlite3_value **block = calloc(BLOCK * COLUMNS, sizeof(*block));
		sqlite3_stmt *select, *insert;
		int n_columns, used[COLUMNS], n_used = 0;
		bool more = true;

		snprintf(sql, 4096, "SELECT * FROM %s", tables[i]);
		sqlite3_prepare_v2(src, sql, -1, &select, NULL);
		n_columns = sqlite3_column_count(select);
		/* defaults are left to the table, as the writer does */
		snprintf(sql, 4096, "INSERT INTO %s%s (", tables[i], suffix);
		for (int c = 0; c < n_columns && n_used < COLUMNS; c++) {
			const char *name = sqlite3_column_name(select, c);

			if (!strcmp(name, "guid") || !strcmp(name, "extdata") ||
			    !strcmp(name, "call_stack") || !strcmp(name, "line_info"))
				continue;
			sprintf(sql + strlen(sql), "%s\"%s\"", n_used ? "," : "", name);
			used[n_used++] = c;
		}
		strcat(sql, ") VALUES (?");
		for (int c = 1; c < n_used; c++)
			strcat(sql, ",?");
		strcat(sql, ")");
		if (sqlite3_prepare_v2(dst, sql, -1, &insert, NULL))
			die("raw inserts", sqlite3_errmsg(dst));
		while (more) {
			size_t n = 0;
			double start;

			while (n < BLOCK && (more = sqlite3_step(select) == SQLITE_ROW)) {
				for (int c = 0; c < n_used; c++)
					block[n * COLUMNS + (size_t)c] = sqlite3_value_dup(
						sqlite3_column_value(select, used[c]));
				n++;
			}
			start = cpu();
			for (size_t r = 0; r < n; r++) {
				for (int c = 0; c < n_used; c++) {
					sqlite3_value *v = block[r * COLUMNS + (size_t)c];

					if (sqlite3_value_type(v) == SQLITE_INTEGER)
						sqlite3_bind_int64(insert, c + 1,
								   sqlite3_value_int64(v));
					else if (sqlite3_value_type(v) == SQLITE_NULL)
						sqlite3_bind_null(insert, c + 1);
					else
						sqlite3_bind_text(
							insert, c + 1,
							(const char *)sqlite3_value_text(v),
							sqlite3_value_bytes(v), SQLITE_STATIC);
				}
				sqlite3_step(insert);
				sqlite3_reset(insert);
			}
			total += cpu() - start;
			*out_rows += n;
			for (size_t r = 0; r < n; r++)
				for (int c = 0; c < n_used; c++)
					sqlite3_value_free(block[r * COLUMNS + (size_t)c]);
		}
		sqlite3_finalize(select);
		sqlite3_finalize(insert);
		free(block);
	}
	{
		double start = cpu();

		sqlite3_exec(dst, "COMMIT", NULL, NULL, NULL);
		sqlite3_close(dst);
		total += cpu() - start;
	}
	sqlite3_close(src);
	unlink(to);
	free(sql);
	return total;
}

/* In a process of its own, so that its peak memory is its own. */
static void bench_format(const char *capture, const char *dir, enum output_format format,
			 uint64_t n)
{
	const char *guid = "01900000-0000-7000-8000-000000000001";
	struct output_result result;
	struct output_config cfg;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	struct rusage use;
	char prefix[4096], raw[4200];
	uint64_t n_bytes = 0;
	double start, took, busy, system_s;

	fflush(stdout);
	if (fork()) {
		int status;

		wait(&status);
		return;
	}
	snprintf(prefix, sizeof(prefix), "%s/out", dir);
	output_config_init(&cfg);
	cfg.formats = 1u << format;
	cfg.prefix = prefix;
	cfg.guid = guid;
	if (trc_open(&capture, 1, &(struct trc_opts){ 0 }, &trace, &err))
		die("trace", err.text);
	busy = cpu();
	system_s = system_cpu();
	start = clock_s(CLOCK_MONOTONIC);
	if (output_write(trace, NULL, 0, &cfg, &result, &err))
		die(output_ops(format)->word, err.text);
	took = clock_s(CLOCK_MONOTONIC) - start;
	busy = cpu() - busy;
	system_s = system_cpu() - system_s;
	getrusage(RUSAGE_SELF, &use);
	for (size_t i = 0; i < result.n_files; i++)
		n_bytes += result.files[i].n_bytes;
	printf("%-8s %6.2f M events/s, %6.2f per CPU second (%.0f ns each, %.0f of it the "
	       "system's)  %6.2f s  %7.1f MB/s  peak %ld MB",
	       output_ops(format)->word, (double)n / took / 1e6, (double)n / busy / 1e6,
	       busy / (double)n * 1e9, system_s / (double)n * 1e9, took,
	       (double)n_bytes / took / 1e6, use.ru_maxrss / 1024);
	if (format == OUTPUT_ROCPD) {
		char path[4200];
		uint64_t n_rows;
		double raw_s;

		snprintf(path, sizeof(path), "%s_results.db", prefix);
		snprintf(raw, sizeof(raw), "%s_raw.db", prefix);
		raw_s = raw_inserts(path, raw, guid, &n_rows);
		printf("  %.2f M rows/s of CPU, %.0f %% of raw inserts (%.2f M rows/s)",
		       (double)n_rows / busy / 1e6, 100 * raw_s / busy,
		       (double)n_rows / raw_s / 1e6);
	}
	printf("\n");
	for (size_t i = 0; i < result.n_files; i++)
		unlink(result.files[i].path);
	output_result_fini(&result);
	trc_close(trace);
	fflush(stdout);
	_exit(0);
}

static void bench_size(uint64_t n_events, int n_words, char **words)
{
	/* a round of a plain capture is nine events */
	struct ws_synth synth = { .pid = 4711, .n_threads = 3, .plain = true };
	char dir[] = "/tmp/ws-bench-XXXXXX", capture[64], command[96];
	const char *path = capture;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	double recorded_s, start_s;
	uint64_t n;

	if (!mkdtemp(dir))
		die("/tmp", "cannot make a folder");
	synth.n_rounds = n_events / 9 / (synth.n_threads + 1) + 1;
	snprintf(capture, sizeof(capture), "%s/a.wscap", dir);
	if (ws_synth_write(capture, &synth, NULL, &err))
		die("capture", err.text);
	if (trc_open(&path, 1, &(struct trc_opts){ 0 }, &trace, &err))
		die("trace", err.text);
	recorded_s = read_all(trace, TRC_ORDER_RECORDED, &n);
	start_s = read_all(trace, TRC_ORDER_START, &n);
	trc_close(trace);
	printf("%llu events: reading takes %.0f ns/event as recorded, %.0f by start\n",
	       (unsigned long long)n, recorded_s / (double)n * 1e9, start_s / (double)n * 1e9);
	for (unsigned i = 0; i < OUTPUT_COUNT; i++) {
		const struct output_ops *ops = output_ops(i);
		bool wanted = !n_words;

		for (int k = 0; k < n_words; k++)
			wanted |= !strcmp(words[k], ops->word);
		if (wanted && (!ops->built || ops->built()))
			bench_format(capture, dir, i, n);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		die(dir, "cannot be removed");
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		bench_size(strtoull(argv[1], NULL, 0), argc - 2, argv + 2);
		return 0;
	}
	/* the cost of an event must not depend on how many there are */
	bench_size(10000, 0, NULL);
	bench_size(1000000, 0, NULL);
	return 0;
}
