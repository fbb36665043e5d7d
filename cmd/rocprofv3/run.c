#include "cmd/rocprofv3/run.h"

#include "base/env.h"
#include "base/log.h"
#include "base/path.h"
#include "base/unit.h"
#include "cmd/rocprofv3/config_json.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/run_priv.h"
#include "cmd/rocprofv3/services.h"
#include "launch/clock_stamps.h"
#include "launch/inject.h"
#include "launch/interrupt.h"
#include "launch/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- where the captures go ---- */

/* Beside the output; in the part of its path that is known before the program runs. */
static void base_folder(const struct rp_job *job, char out[PATH_MAX])
{
	const char *dir = rp_given(job->args.output_directory) ? job->args.output_directory : ".";
	const char *file = job->args.output_file;
	const char *tmp = getenv("ROCPROF_TMPDIR");
	int n;

	if (file && file[0] == '/')
		dir = file;
	n = (int)launch_place_fixed_part(dir);
	while (dir == file && n > 1 && file[n - 1] != '/')
		n--;

	if (tmp && *tmp)
		snprintf(out, PATH_MAX, "%s", tmp);
	else if (!n || ws_stream_fd(dir) >= 0)
		strcpy(out, ".");
	else
		snprintf(out, PATH_MAX, "%.*s", n, dir);
}

/* ---- what a later --recover needs to know ---- */

static enum ws_status add_word(struct ws_strv *words, struct ws_arena *arena, const char *name,
			       const char *value, struct ws_err *err)
{
	char *word = ws_arena_printf(arena, "--%s=%s", name, value);

	return word ? ws_vec_push(words, word, err) : ws_fail(err, WS_E_NOMEM, "out of memory");
}

static enum ws_status add_option(struct ws_strv *words, struct ws_arena *arena,
				 const struct ws_opt *opt, const struct rp_args *args,
				 struct ws_err *err)
{
	const void *field = (const char *)args + opt->offset;
	const struct ws_strv *list = field;
	enum ws_status st = WS_OK;

	if (opt->kind == WS_OPT_KIND_TRI)
		return add_word(words, arena, opt->name,
				*(const enum ws_tri *)field == WS_TRI_YES ? "yes" : "no", err);
	if (opt->kind == WS_OPT_KIND_STR)
		return add_word(words, arena, opt->name, *(const char *const *)field, err);
	for (size_t i = 0; i < list->n && !st; i++)
		if (list->at[i])
			st = add_word(words, arena, opt->name, list->at[i], err);
	return st;
}

static enum ws_status save_options(const struct rp_job *job, const struct launch_place *place,
				   const struct launch_rundir *dir, struct ws_err *err)
{
	static const char *const not_these[] = { "input",  "output-directory", "echo",   "pid",
						 "attach", "version",          "recover" };
	const char *out = job->args.output_directory ? job->args.output_directory : "";
	struct ws_strv words = { .max_n = 4096 };
	struct ws_arena arena;
	char path[2 * PATH_MAX];
	enum ws_status st;

	ws_arena_init(&arena, 16 << 20);
	/* Seen from anywhere, and with the pass in it. */
	snprintf(path, sizeof(path), "%s%s%s%s%s", out[0] == '/' ? "" : place->cwd,
		 out[0] == '/' || !*out ? "" : "/", out, *job->folder ? "/" : "", job->folder);
	st = add_word(&words, &arena, "output-directory", path, err);
	for (size_t i = 0; i < rp_opts.n && !st; i++) {
		const struct ws_opt *opt = &rp_opts.at[i];
		bool skip = opt->kind == WS_OPT_KIND_GROUP || !rp_is_set(opt, &job->asked);

		for (size_t k = 0; k < WS_ARRAY_LEN(not_these) && !skip; k++)
			skip = strcmp(opt->name, not_these[k]) == 0;
		if (!skip)
			st = add_option(&words, &arena, opt, &job->asked, err);
	}
	if (!st)
		st = launch_rundir_save(dir, &words, err);
	ws_vec_fini(&words);
	ws_arena_fini(&arena);
	return st;
}

/* ---- after the program ---- */

static void convert(const struct rp_convert *how, const struct launch_rundir *dir,
		    struct rp_result *result)
{
	struct rp_outcome outcome = { .n_failed = 0 };
	char word[2 * PATH_MAX], names[512];
	struct ws_err err;

	if (!how->recovering)
		launch_interrupt_expect("rocprofv3", dir);
	if (rp_convert(how, dir, &outcome, &err)) {
		ws_log_error("%s", err.text);
		result->incomplete = true;
		return;
	}
	result->incomplete |= outcome.n_failed > 0;
	result->unrecorded |= outcome.n_unrecorded > 0;
	result->short_of_strict |= outcome.short_of_strict;
	result->n_running = outcome.running.n;
	if (outcome.running.n && !how->again)
		ws_log_warn("%s still running: the output has the records so far; when %s ended, "
			    "'rocprofv3 --recover %s' writes all of them",
			    launch_running_names(outcome.running.at, outcome.running.n, names,
						 sizeof(names)),
			    outcome.running.n == 1 ? "it has" : "they have",
			    ws_str_shell(dir->path, word, sizeof(word)));
	else if (outcome.n_failed && !how->recovering)
		ws_log_error("the captures are kept: 'rocprofv3 --recover %s' tries again, with -d "
			     "DIR in another folder",
			     ws_str_shell(dir->path, word, sizeof(word)));
}

/* Everything is output, or somebody wants to see what it was made from. */
static void clean_up(const struct rp_args *args, const struct launch_rundir *dir,
		     const struct rp_result *result)
{
	if (args->keep_captures == WS_TRI_YES)
		fprintf(stderr, "rocprofv3: the captures are in %s\n", dir->path);
	else if (!result->incomplete && !result->n_running)
		launch_rundir_remove(dir);
}

/* ---- the program ---- */

/* Nothing to record: the program runs as it is, on whatever GPU there is. */
static enum ws_status run_bare(const struct rp_args *args, char *const *argv,
			       struct rp_result *result, struct ws_err *err)
{
	struct ws_env env;
	enum ws_status st = ws_env_init(&env, environ, err);
	bool soft;

	for (size_t i = args->preload.n; i-- > 0 && !st;)
		if (args->preload.at[i])
			st = ws_env_prepend(&env, "LD_PRELOAD", args->preload.at[i], ':', err);
	if (!st)
		st = launch_inject_gpu(&env, &soft, err);
	if (!st)
		st = ws_proc_run(argv[0], argv, env.at, &result->end, err);
	result->ran = !st;
	ws_env_fini(&env);
	return st;
}

/* Whether this rank is one of those to profile. */
static enum ws_status rank_is_chosen(const struct rp_args *args, const struct launch_place *place,
				     bool *out_chosen, struct ws_err *err)
{
	struct launch_rank rank = place->rank;
	enum ws_status st = WS_OK;

	*out_chosen = true;
	if (args->mpi_world_rank_variable)
		st = launch_rank_named(place->env, args->mpi_world_rank_variable,
				       args->mpi_world_size_variable, &rank, err);
	if (st || !args->profile_mpi_ranks)
		return st;
	st = launch_rank_listed(args->profile_mpi_ranks, &rank, out_chosen, err);
	if (st || rank.known)
		return st;
	*out_chosen = true;
	ws_log_warn("--profile-mpi-ranks: no rank in the environment, so this process is profiled: "
		    "start it with srun or mpirun, or name the variables with "
		    "--mpi-world-rank-variable and --mpi-world-size-variable");
	return WS_OK;
}

static void show_environment(const struct rp_args *args, char *const *env)
{
	if (!args->log_level || !strstr("info trace env config", args->log_level))
		return;
	fputs("rocprofv3: settings:\n", stderr);
	rp_print_settings(args);
	fputs("rocprofv3: environment variables set or changed for the program:\n", stderr);
	for (char *const *at = env; *at; at++) {
		const char *equals = strchr(*at, '=');
		char name[256];

		snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - *at) : 0, *at);
		if (!getenv(name) || strcmp(getenv(name), equals + 1) != 0)
			fprintf(stderr, "    %s\n", *at);
	}
}

static void show_env_once(void *ctx, char *const *env)
{
	const struct rp_args **args = ctx;

	if (*args)
		show_environment(*args, env);
	*args = NULL;
}

static unsigned wait_seconds(const struct rp_args *args)
{
	uint64_t seconds;

	return args->wait_seconds && ws_str_u64(ws_str_from(args->wait_seconds), &seconds)
		       ? (unsigned)seconds
		       : LAUNCH_RUNNING_WAIT_S;
}

/* Counters: as often as they need, in the ways that passes.h has. */
static enum ws_status run_counted(const struct rp_args *args,
				  const struct col_collect_config *config,
				  const struct launch_rundir *dir, char *const *argv,
				  struct rp_result *result, struct ws_err *err)
{
	static struct launch_counting counting; /* tens of kilobytes */
	struct launch_count_request request;
	const struct rp_args *shown = args;
	struct launch_passes passes = {
		.tool = "rocprofv3",
		.argv = argv,
		.collect = config,
		.preload = &args->preload,
		.no_roctx = args->suppress_marker_preload == WS_TRI_YES,
		.kokkos = args->kokkos_trace == WS_TRI_YES,
		.gpu_time = args->gpu_time,
		.wait_s = wait_seconds(args),
		.dir = dir,
		.show_env = show_env_once,
		.ctx = &shown,
	};
	struct launch_counted counted = { .ran = false };
	enum ws_status st = rp_counting_init(&counting, &request, args, err);

	if (!st) {
		launch_counting_passes(&counting, &request, &passes);
		st = launch_counting_run(&counting, &passes, &counted, err);
	}
	result->ran = counted.ran;
	result->end = counted.end;
	result->incomplete |= counted.incomplete;
	launch_counting_fini(&counting);
	return st;
}

/* @args: as it is run; @saved: as a later --recover is to see it. */
static enum ws_status run_traced(const struct rp_args *args, const struct rp_job *saved,
				 const struct launch_place *place, const struct launch_rundir *dir,
				 char *const *argv, struct rp_result *result, struct ws_err *err)
{
	static struct col_collect_config config;
	struct launch_inject inject = {
		.config = &config,
		.preload = &args->preload,
		.no_roctx = args->suppress_marker_preload == WS_TRI_YES,
		.kokkos = args->kokkos_trace == WS_TRI_YES,
		.gpu_time = args->gpu_time,
	};
	struct ws_env env;
	enum ws_status st;

	memset(&config, 0, sizeof(config));
	strcpy(config.dir, dir->path);
	st = rp_collect_config(args, &config, err);
	if (!st)
		st = save_options(saved, place, dir, err);
	if (st)
		return st;
	if (args->pid.n)
		return rp_attach(args, dir, err);
	if (rp_counts(args) || args->pc_sampling_beta_enabled == WS_TRI_YES)
		return run_counted(args, &config, dir, argv, result, err);
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = launch_inject_env(&inject, &env, err);
	if (!st) {
		show_environment(args, env.at);
		st = ws_proc_run(argv[0], argv, env.at, &result->end, err);
	}
	result->ran = !st;
	ws_env_fini(&env);
	/* Whoever pressed Ctrl-C does not want to wait. */
	if (!st && !result->end.interrupted)
		launch_running_wait(dir, "rocprofv3", wait_seconds(args));
	return st;
}

/* Several jobs are run as one that counts for all. */
static enum ws_status run_merged(const struct rp_job *jobs, size_t n_jobs,
				 const struct launch_place *place, const struct launch_rundir *dir,
				 char *const *argv, struct rp_result *result, struct ws_err *err)
{
	static struct rp_job all; /* kilobytes of options */
	enum ws_status st = rp_jobs_merged(jobs, n_jobs, &jobs[0].args, &all.args, err);

	if (!st) {
		all.asked = jobs[0].asked;
		all.asked.pmc = all.args.pmc;
		st = run_traced(&all.args, &all, place, dir, argv, result, err);
	}
	ws_vec_fini(&all.args.pmc);
	return st;
}

enum ws_status rp_run(const struct rp_job *jobs, size_t n_jobs, uint32_t env_formats,
		      char *const *argv, struct rp_result *out_result, struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	const struct rp_args *args = &jobs[0].args;
	struct timespec since = launch_claim_now();
	char base[PATH_MAX];
	struct launch_clock_stamps *stamps = NULL;
	struct launch_rundir dir = { "" };
	struct launch_place place;
	bool chosen, again = false;
	enum ws_status st;

	*out_result = (struct rp_result){ .ran = false };
	launch_place_init(&place, hostname, cwd);
	st = rank_is_chosen(args, &place, &chosen, err);
	if (st)
		return st;
	if (!chosen || !rp_n_enabled(args))
		return run_bare(args, argv, out_result, err);
	base_folder(&jobs[0], base);
	st = launch_rundir_create(base, LAUNCH_RUNDIR_ROCPROFV3, &dir, err);
	if (!st && args->keep_captures == WS_TRI_YES)
		stamps = launch_clock_stamps_begin(&dir, &place.rank);
	if (!st)
		st = n_jobs > 1 ? run_merged(jobs, n_jobs, &place, &dir, argv, out_result, err)
				: run_traced(args, &jobs[0], &place, &dir, argv, out_result, err);
	launch_clock_stamps_end(stamps);
	if (st) {
		launch_rundir_remove(&dir);
		return st;
	}
	for (size_t i = 0; i < n_jobs; i++) {
		if (jobs[i].skipped)
			continue;
		convert(&(struct rp_convert){ .args = &jobs[i].args,
					      .asked = &jobs[i].asked,
					      .env_formats = env_formats,
					      .folder = jobs[i].folder,
					      .place = &place,
					      .since = since,
					      .again = again,
					      .shared = n_jobs > 1 },
			&dir, out_result);
		again = true;
	}
	clean_up(args, &dir, out_result);
	return WS_OK;
}

/* ---- recovering ---- */

enum ws_status rp_recover(const struct rp_args *typed, struct rp_result *out_result,
			  struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	static const struct rp_args nothing;
	struct ws_strv words = { .max_n = 1 << 16 };
	struct rp_args saved = nothing, args, asked;
	struct ws_opt_rest rest;
	struct ws_arena arena;
	struct launch_rundir dir;
	struct launch_place place;
	enum ws_status st;

	*out_result = (struct rp_result){ .ran = false };
	ws_arena_init(&arena, 64 << 20);
	launch_place_init(&place, hostname, cwd);
	st = launch_rundir_open(typed->recover, &dir, err);
	if (!st)
		st = ws_vec_push(&words, NULL, err); /* in place of argv[0] */
	if (!st)
		st = launch_rundir_load(&dir, &arena, &words, err);
	if (!st)
		st = ws_vec_push(&words, NULL, err);
	if (!st)
		st = ws_opt_parse(rp_opts, WS_OPT_MIXED, (int)words.n - 1, (char **)words.at,
				  &saved, &rest, err);
	/* What is typed now wins: there is no conflict with the past. */
	if (!st)
		st = rp_merge(typed, &nothing, &saved, &asked, err);
	if (!st) {
		args = asked;
		rp_expand(&args);
		convert(&(struct rp_convert){ .args = &args,
					      .asked = &asked,
					      .folder = "",
					      .place = &place,
					      .since = launch_claim_now(),
					      .recovering = true },
			&dir, out_result);
		if (!out_result->incomplete && !out_result->n_running)
			fprintf(stderr, "rocprofv3: %s can be removed now\n", dir.path);
	}
	rp_args_fini(&saved);
	ws_vec_fini(&words);
	ws_arena_fini(&arena);
	return st;
}
