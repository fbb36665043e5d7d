#include "launch/passes.h"

#include "base/env.h"
#include "base/file.h"
#include "base/path.h"
#include "launch/inject.h"
#include "launch/rank.h"
#include "launch/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 4096u

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t launch_passes_n_runs(const struct launch_passes *passes)
{
	size_t n = 1;

	for (size_t i = 0; passes->replay == LAUNCH_REPLAY_APPLICATION && i < passes->n_gpus; i++)
		n = WS_MAX(n, passes->gpus[i].n_sets);
	return n;
}

/* ---- the request to the collector ---- */

/* Application replay: run @run has one set per GPU, or none where a GPU has fewer. */
static enum ws_status write_request(const struct launch_passes *passes, size_t run,
				    const struct launch_rundir *dir, struct ws_err *err)
{
	static const enum col_count_mode modes[] = {
		[LAUNCH_REPLAY_KERNEL] = COL_COUNT_REPLAY,
		[LAUNCH_REPLAY_APPLICATION] = COL_COUNT_SET,
		[LAUNCH_REPLAY_ROTATE] = COL_COUNT_ROTATE,
		[LAUNCH_OVER_TIME] = COL_COUNT_OVER_TIME,
	};
	struct col_count_gpu *gpus = calloc(passes->n_gpus + 1, sizeof(*gpus));
	struct col_count_request request = {
		.mode = modes[passes->replay],
		.interval = passes->interval,
		.per = passes->per,
		.names = passes->names,
		.include = passes->include,
		.exclude = passes->exclude,
		.ranges = passes->ranges,
		.n_ranges = passes->n_ranges,
		.numbers = passes->numbers,
		.n_numbers = passes->n_numbers,
		.gpus = gpus,
		.n_gpus = passes->n_gpus,
	};
	char *text = malloc(COL_COUNT_TEXT_MAX), path[PATH_MAX];
	enum ws_status st = WS_OK;
	size_t n;

	if (!gpus || !text) {
		free(gpus);
		free(text);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < passes->n_gpus; i++) {
		gpus[i] = passes->gpus[i];
		if (passes->replay == LAUNCH_REPLAY_APPLICATION) {
			gpus[i].n_sets = run < gpus[i].n_sets;
			gpus[i].sets += gpus[i].n_sets ? run : 0;
		}
	}
	n = col_count_request_print(&request, text, COL_COUNT_TEXT_MAX);
	if (!n)
		st = ws_fail(err, WS_E_LIMIT,
			     "the counters and patterns are too long or contain a line break");
	if (!st)
		st = ws_path_join(dir->path, COL_COUNT_REQUEST_NAME, path, err);
	if (!st)
		st = ws_file_replace(path, text, n, err);
	free(gpus);
	free(text);
	return st;
}

enum ws_status launch_passes_request(const struct launch_passes *passes,
				     const struct launch_rundir *dir, struct ws_err *err)
{
	return write_request(passes, 0, dir, err);
}

/* ---- runs ---- */

static enum ws_status attach_once(const struct launch_passes *passes,
				  const struct launch_rundir *dir,
				  struct col_collect_config *config, struct ws_err *err)
{
	struct launch_session session = *passes->session;
	enum ws_status st = launch_passes_request(passes, dir, err);
	int signal;

	session.config = config;
	return st ? st : launch_session_run(&session, dir, &signal, err);
}

static enum ws_status run_once(const struct launch_passes *passes, size_t run,
			       const struct launch_rundir *dir, struct ws_proc_end *out_end,
			       struct ws_err *err)
{
	static struct col_collect_config config; /* a path's worth of bytes: not for the stack */
	static const struct col_collect_config nothing;
	struct launch_inject inject = {
		.config = &config,
		.preload = passes->preload,
		.no_roctx = passes->no_roctx,
		.kokkos = passes->kokkos,
		.gpu_time = passes->gpu_time,
	};
	struct ws_env env;
	enum ws_status st = ws_env_init(&env, environ, err);

	config = passes->collect ? *passes->collect : nothing;
	if (run) { /* recorded once */
		config.services = 0;
		config.flags &= ~COL_COLLECT_FLAG(CODE_BYTES);
	}
	config.services |= passes->replay == LAUNCH_OVER_TIME ? COL_SERVICE_BIT(GPU_COUNTERS)
							      : COL_SERVICE_BIT(COUNTERS);
	strcpy(config.dir, dir->path);
	if (!st && passes->session) {
		ws_env_fini(&env);
		return attach_once(passes, dir, &config, err);
	}
	if (!st)
		st = write_request(passes, run, dir, err);
	if (!st)
		st = launch_inject_env(&inject, &env, err);
	if (!st && passes->show_env)
		passes->show_env(passes->ctx, env.at);
	if (!st)
		st = ws_proc_run(passes->argv[0], passes->argv, env.at, out_end, err);
	ws_env_fini(&env);
	return st;
}

/* Every run may start a daemon: wait for it only once. */
static bool wait_for_rest(const struct launch_passes *passes, const struct launch_rundir *dir,
			  const struct ws_proc_end *end)
{
	return !passes->wait_s || passes->session || end->interrupted ||
	       launch_running_wait(dir, passes->tool, passes->wait_s);
}

static void show_progress(const struct launch_passes *passes,
			  const struct launch_passes_result *result)
{
	size_t run = result->n_done, n = result->n_runs;
	double left_s;

	if (n < 2 || !isatty(STDERR_FILENO))
		return;
	if (run == 0) {
		fprintf(stderr, "%s: run 1 of %zu\n", passes->tool, n);
	} else if (run < n) {
		left_s = (double)result->run_ns[1] / 1e9 / (double)run * (double)(n - run);
		fprintf(stderr,
			left_s < 100 ? "%s: run %zu of %zu, about %.0f s left\n"
				     : "%s: run %zu of %zu, about %.0f min left\n",
			passes->tool, run + 1, n, left_s < 100 ? left_s : left_s / 60);
	}
}

/* ---- kernels that could not be repeated ---- */

/* The first line of the collector's list, and how many there are. False: none. */
static bool read_once(const struct launch_rundir *dir, char *text, size_t room, size_t *out_n)
{
	struct ws_err err;
	char path[PATH_MAX];
	FILE *from = NULL;
	int c;

	*out_n = 0;
	if (!ws_path_join(dir->path, COL_COUNT_ONCE_NAME, path, &err))
		from = fopen(path, "re");
	if (!from)
		return false;
	*out_n = fgets(text, (int)room, from) != NULL;
	while ((c = getc(from)) != EOF)
		*out_n += c == '\n';
	fclose(from);
	text[strcspn(text, "\n")] = 0;
	return *out_n > 0;
}

/* Of several; one of them cannot run again alone. */
static bool is_rank(void)
{
	struct launch_rank rank;

	launch_rank_find(launch_lookup_own(), &rank);
	return rank.known && !(rank.size_known && rank.size == 1);
}

/*
 * Kernel replay has left kernels with the values of the first set: the other sets are counted by application
 * replay. What a run counts again is not used (trace/counted.h). A program that cannot be run again has values
 * missing, and its notes say why.
 */
static enum ws_status add_runs(const struct launch_passes *passes, struct launch_passes_result *r,
			       struct launch_passes *rest, struct ws_err *err)
{
	char line[4096], *why;
	struct launch_rundir *dirs;
	size_t n;

	if (passes->replay != LAUNCH_REPLAY_KERNEL || passes->session || r->end.exit_code ||
	    r->end.signal || !read_once(&r->dirs[0], line, sizeof(line), &n))
		return WS_OK;
	why = strchr(line, '\t');
	if (why)
		*why++ = 0;
	fprintf(stderr, "%s: kernel replay: %zu %s could not be repeated (%s%s%s): ", passes->tool,
		n, n == 1 ? "kernel" : "kernels", line, why ? ": " : "", why ? why : "");
	if (is_rank()) {
		fputs("their other counters have no values, because a rank cannot run again alone: "
		      "use --replay application for all ranks\n",
		      stderr);
		return WS_OK;
	}
	rest->replay = LAUNCH_REPLAY_APPLICATION;
	r->n_runs = launch_passes_n_runs(rest);
	fprintf(stderr, "the program runs %zu more %s for their other counters\n", r->n_runs - 1,
		r->n_runs == 2 ? "time" : "times");
	if (r->n_runs > RUNS_MAX)
		return ws_fail(err, WS_E_LIMIT, "%zu runs of the program exceed the limit of %u",
			       r->n_runs, RUNS_MAX);
	dirs = realloc(r->dirs, r->n_runs * sizeof(*dirs));
	if (!dirs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	r->dirs = dirs;
	return WS_OK;
}

enum ws_status launch_passes_run(const struct launch_passes *passes,
				 struct launch_passes_result *out_result, struct ws_err *err)
{
	struct launch_passes_result *r = out_result;
	struct launch_passes rest = *passes;
	bool waits = true;
	enum ws_status st = WS_OK;

	*r = (struct launch_passes_result){ .n_runs = launch_passes_n_runs(passes) };
	if (r->n_runs > RUNS_MAX)
		return ws_fail(err, WS_E_LIMIT, "%zu runs of the program exceed the limit of %u",
			       r->n_runs, RUNS_MAX);
	r->dirs = calloc(r->n_runs, sizeof(*r->dirs));
	if (!r->dirs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (passes->dir)
		r->dirs[0] = *passes->dir;
	else
		st = launch_rundir_create(passes->base, LAUNCH_RUNDIR_ROCPROFV3, &r->dirs[0], err);
	for (size_t i = 0; i < r->n_runs && !st; i++) {
		uint64_t start_ns;

		show_progress(passes, r);
		start_ns = now_ns();
		if (i)
			st = launch_rundir_create_sub(&r->dirs[0], i + 1, &r->dirs[i], err);
		if (!st)
			st = run_once(&rest, i, &r->dirs[i], &r->end, err);
		if (st)
			break;
		waits = waits && wait_for_rest(passes, &r->dirs[i], &r->end);
		r->n_done++;
		r->run_ns[1] += now_ns() - start_ns;
		r->run_ns[0] = i ? r->run_ns[0] : r->run_ns[1];
		if (i == 0)
			st = add_runs(passes, r, &rest, err);
		if (r->end.exit_code || r->end.signal)
			break;
	}
	return st;
}

void launch_passes_fini(struct launch_passes_result *result, bool remove)
{
	if (remove && result->dirs)
		launch_rundir_remove(&result->dirs[0]); /* the others are in it */
	free(result->dirs);
	memset(result, 0, sizeof(*result));
}

/* ---- what they left ---- */

static enum ws_status open_run(const struct launch_rundir *dir, const struct trc_opts *opts,
			       struct trc_trace **out_trace, struct ws_err *err)
{
	struct ws_strv paths = { .max_n = 0 };
	struct ws_arena arena;
	enum ws_status st;

	ws_arena_init(&arena, 64 << 20);
	st = launch_rundir_captures(dir, &arena, &paths, err);
	if (!st)
		st = trc_open(paths.at, paths.n, opts, out_trace, err);
	ws_vec_fini(&paths);
	ws_arena_fini(&arena);
	return st;
}

static enum ws_status join_runs(const struct launch_rundir *dir, size_t n_runs,
				const struct trc_opts *opts, struct trc_counted **out_table,
				struct ws_err *err)
{
	struct trc_trace **traces = calloc(n_runs + 1, sizeof(*traces));
	enum ws_status st = WS_OK;
	size_t n = 0;

	if (!traces)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (; n < n_runs && !st; n += !st) {
		struct launch_rundir sub;

		launch_rundir_sub(dir, n + 1, &sub);
		st = open_run(&sub, opts, &traces[n], err);
	}
	if (!st) {
		st = trc_counted_open(traces, n, out_table, err);
	} else {
		while (n)
			trc_close(traces[--n]);
	}
	free(traces);
	return st;
}

enum ws_status launch_passes_table(const struct launch_passes_result *result,
				   const struct trc_opts *opts, struct trc_counted **out_table,
				   struct ws_err *err)
{
	return join_runs(&result->dirs[0], result->n_done, opts, out_table, err);
}

enum ws_status launch_passes_table_in(const struct launch_rundir *dir, const struct trc_opts *opts,
				      struct trc_counted **out_table, struct ws_err *err)
{
	return join_runs(dir, launch_rundir_n_runs(dir), opts, out_table, err);
}
