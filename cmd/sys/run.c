#include "cmd/sys/run.h"

#include "base/env.h"
#include "base/log.h"
#include "cmd/sys/collect.h"
#include "cmd/sys/convert.h"
#include "cmd/sys/counting.h"
#include "launch/clock_stamps.h"
#include "launch/inject.h"
#include "launch/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- where the captures go ---- */

/* Beside the output, in the part of its path that is known before the program runs. */
static void base_folder(const struct set_values *values, char out[PATH_MAX])
{
	const char *path = set_text(values, SET_OUTPUT_PATH);
	int n = (int)launch_place_fixed_part(path);

	if (set_is_given(values, SET_TMPDIR) && *set_text(values, SET_TMPDIR))
		snprintf(out, PATH_MAX, "%s", set_text(values, SET_TMPDIR));
	else if (!n)
		strcpy(out, ".");
	else
		snprintf(out, PATH_MAX, "%.*s", n, path);
}

/* For --recover, one word per setting: "ROCPROFSYS_TRACE=true". */
static enum ws_status save_settings(const struct set_values *values, const char *cwd,
				    const struct launch_rundir *dir, struct ws_err *err)
{
	struct ws_strv words = { .max_n = SET_COUNT + 1 };
	struct ws_arena arena;
	enum ws_status st = WS_OK;

	ws_arena_init(&arena, 16u << 20);
	for (unsigned id = 0; id < SET_COUNT && !st; id++) {
		const char *text = set_text(values, id), *word;
		/* Seen from anywhere. */
		bool relative = id == SET_OUTPUT_PATH && *text != '/';

		/* A line is a word: what does not fit in one is not worth an error. */
		if ((!set_is_given(values, id) && id != SET_OUTPUT_PATH) || strchr(text, '\n'))
			continue;
		word = ws_arena_printf(&arena, "%s=%s%s%s", set_defs[id].name, relative ? cwd : "",
				       relative ? "/" : "", text);
		st = word ? ws_vec_push(&words, word, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!st)
		st = launch_rundir_save(dir, &words, err);
	ws_vec_fini(&words);
	ws_arena_fini(&arena);
	return st;
}

/* ---- the program ---- */

/* What a verbose user expects to hear of the samplers; of each thread the same. */
static void say_samplers(const struct set_values *values, const struct col_collect_config *config)
{
	static const char *const clocks[CAP_SAMPLER_COUNT] = {
		[CAP_SAMPLER_CPU_TIME] = "CPU-time",
		[CAP_SAMPLER_REAL_TIME] = "wall-time",
	};

	for (unsigned i = 0; i < CAP_SAMPLER_COUNT && set_int(values, SET_VERBOSE) >= 1; i++)
		if (clocks[i] && config->samplers[i].period)
			fprintf(stderr,
				"[rocprof-sys] Sampler for thread 0 will be triggered %.1fx per "
				"second of %s (every %.3f milliseconds), other threads likewise\n",
				1e9 / (double)config->samplers[i].period, clocks[i],
				(double)config->samplers[i].period / 1e6);
}

/* ENABLED=false: the program runs as it is, on whatever GPU there is. */
static enum ws_status run_bare(char *const *argv, struct sys_run_result *result, struct ws_err *err)
{
	struct ws_env env;
	enum ws_status st = ws_env_init(&env, environ, err);
	bool soft;

	if (!st)
		st = launch_inject_gpu(&env, &soft, err);
	if (!st)
		st = ws_proc_run(argv[0], argv, env.at, &result->end, err);
	result->ran = !st;
	ws_env_fini(&env);
	return st;
}

static enum ws_status run_traced(const char *tool, const struct set_values *values,
				 struct col_collect_config *config, const struct launch_rundir *dir,
				 char *const *argv, struct sys_run_result *result,
				 struct ws_err *err)
{
	struct launch_inject inject = { .config = config,
					.kokkos = set_on(values, SET_USE_KOKKOSP) };
	struct ws_env env;
	enum ws_status st = ws_env_init(&env, environ, err);

	if (!st)
		st = launch_inject_env(&inject, &env, err);
	if (!st)
		st = ws_proc_run(argv[0], argv, env.at, &result->end, err);
	result->ran = !st;
	ws_env_fini(&env);
	/* Whoever pressed Ctrl-C does not want to wait. */
	if (!st && !result->end.interrupted)
		launch_running_wait(dir, tool, LAUNCH_RUNNING_WAIT_S);
	return st;
}

/* GPU counters: as often as they need. */
static enum ws_status run_counted(const char *tool, const struct set_values *values,
				  const struct col_collect_config *config,
				  const struct launch_rundir *dir, char *const *argv,
				  struct sys_run_result *result, struct ws_err *err)
{
	static struct launch_counting counting; /* tens of kilobytes */
	struct launch_counted counted = { .ran = false };
	struct launch_passes passes = {
		.tool = tool,
		.argv = argv,
		.collect = config,
		.kokkos = set_on(values, SET_USE_KOKKOSP),
		.wait_s = LAUNCH_RUNNING_WAIT_S,
		.dir = dir,
	};
	struct sys_count count;
	enum ws_status st = sys_count_init(&count, values, err);

	if (!st)
		st = launch_counting_init(&counting, &count.request, err);
	if (st) {
		ws_fail_in(err, st, "%s", set_defs[SET_ROCM_EVENTS].name);
	} else {
		launch_counting_warn(&counting, &count.request);
		launch_counting_passes(&counting, &count.request, &passes);
		st = launch_counting_run(&counting, &passes, &counted, err);
	}
	result->ran = counted.ran;
	result->end = counted.end;
	result->incomplete |= counted.incomplete;
	launch_counting_fini(&counting);
	sys_count_fini(&count);
	return st;
}

/* ---- after the program ---- */

static void convert(const struct sys_convert *how, const struct launch_rundir *dir,
		    struct sys_run_result *result, bool *out_removable)
{
	struct sys_outcome outcome;
	char word[2 * PATH_MAX], names[512];
	struct ws_err err;

	*out_removable = false;
	if (!how->recovering)
		launch_interrupt_expect(how->tool, dir);
	if (sys_convert(how, dir, &outcome, &err)) {
		ws_log_error("%s", err.text);
		result->incomplete = true;
		return;
	}
	result->incomplete |= outcome.n_failed > 0 || outcome.n_unrecorded > 0;
	if (outcome.running.n)
		ws_log_warn("%s still running: the output has the records so far; when %s ended, "
			    "'%s --recover %s' writes all of them",
			    launch_running_names(outcome.running.at, outcome.running.n, names,
						 sizeof(names)),
			    outcome.running.n == 1 ? "it has" : "they have", how->tool,
			    ws_str_shell(dir->path, word, sizeof(word)));
	else if (outcome.n_failed && !how->recovering)
		ws_log_error("the captures are kept: '%s --recover %s' tries again", how->tool,
			     ws_str_shell(dir->path, word, sizeof(word)));
	*out_removable = !outcome.running.n && !outcome.n_failed;
}

enum ws_status sys_run(const char *tool, const struct set_values *values, char *const *argv,
		       struct sys_run_result *out_result, struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	static struct col_collect_config config; /* too large for the stack */
	struct timespec since = launch_claim_now();
	struct launch_clock_stamps *stamps = NULL;
	struct launch_rundir dir = { "" };
	struct launch_place place;
	char base[PATH_MAX];
	bool removable;
	enum ws_status st;

	*out_result = (struct sys_run_result){ .ran = false };
	if (!set_on(values, SET_ENABLED))
		return run_bare(argv, out_result, err);
	launch_place_init(&place, hostname, cwd);
	st = sys_collect(values, &config, err);
	if (st)
		return st;
	say_samplers(values, &config);
	base_folder(values, base);
	st = launch_rundir_create(base, LAUNCH_RUNDIR_SYS, &dir, err);
	if (!st)
		st = save_settings(values, cwd, &dir, err);
	strcpy(config.dir, dir.path);
	if (!st && set_on(values, SET_KEEP_CAPTURES))
		stamps = launch_clock_stamps_begin(&dir, &place.rank);
	if (!st)
		st = sys_counts(values)
			     ? run_counted(tool, values, &config, &dir, argv, out_result, err)
			     : run_traced(tool, values, &config, &dir, argv, out_result, err);
	launch_clock_stamps_end(stamps);
	if (st) {
		launch_rundir_remove(&dir);
		return st;
	}
	convert(
		&(struct sys_convert){
			.tool = tool, .values = values, .place = &place, .since = since },
		&dir, out_result, &removable);
	if (set_on(values, SET_KEEP_CAPTURES))
		fprintf(stderr, "%s: the captures are in %s\n", tool, dir.path);
	else if (removable)
		launch_rundir_remove(&dir);
	return WS_OK;
}

/* ---- recovering ---- */

enum ws_status sys_recover(const char *tool, const char *path, const struct set_values *typed,
			   struct sys_run_result *out_result, struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	static struct set_values values;
	struct ws_strv words = { .max_n = 1 << 16 };
	struct launch_rundir dir;
	struct launch_place place;
	bool removable;
	enum ws_status st;

	*out_result = (struct sys_run_result){ .ran = false };
	set_values_init(&values);
	launch_place_init(&place, hostname, cwd);
	st = launch_rundir_open(path, &dir, err);
	if (!st)
		st = launch_rundir_load(&dir, &values.arena, &words, err);
	for (size_t i = 0; i < words.n && !st; i++) {
		char *equals = strchr(words.at[i], '=');
		char name[128];

		/* What another tool of ours left has other words. */
		if (!equals || strncmp(words.at[i], SET_PREFIX, strlen(SET_PREFIX)) != 0) {
			st = ws_fail(err, WS_E_USAGE,
				     "%s is not a run of rocprof-sys: try 'rocprofv3 "
				     "--recover'",
				     dir.path);
			break;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(equals - words.at[i]), words.at[i]);
		st = set_put_named(&values, name, equals + 1, SET_FROM_ENVIRONMENT, err);
	}
	/* What is typed now wins. */
	for (unsigned id = 0; id < SET_COUNT && !st; id++)
		if (typed->at[id].origin == SET_FROM_COMMAND_LINE)
			st = set_put(&values, id, set_text(typed, id), SET_FROM_COMMAND_LINE, err);
	set_finish(&values, true);
	if (!st) {
		convert(&(struct sys_convert){ .tool = tool,
					       .values = &values,
					       .place = &place,
					       .since = launch_claim_now(),
					       .recovering = true },
			&dir, out_result, &removable);
		if (removable)
			fprintf(stderr, "%s: %s can be removed now\n", tool, dir.path);
	}
	ws_vec_fini(&words);
	set_values_fini(&values);
	return st;
}
