/* rocprof-sys-run and rocprof-sys-sample: their command lines, and the order of calls. */
#include "cmd/cmd.h"

#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "cmd/sys/avail.h"
#include "cmd/sys/options.h"
#include "cmd/sys/run.h"
#include "launch/inject.h"
#include "output/systrace.h"
#include "settings/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct program {
	enum sys_program which;
	const struct ws_cmd *cmd;
	const char *line_prefix; /* of the variables that are shown */
};

/* ---- checks ---- */

static const char *next_category(const void *list, size_t i)
{
	(void)list;
	return output_systrace_category(i);
}

static void check_categories(const struct set_values *values, enum set_id id)
{
	struct ws_str rest = ws_str_from(set_text(values, id)), word;

	while (set_next_word(&rest, false, &word)) {
		char name[64];
		bool known = false;
		const char *near;

		snprintf(name, sizeof(name), "%.*s", WS_STR_ARGS(word));
		for (size_t i = 0; output_systrace_category(i) && !known; i++)
			known = strcmp(output_systrace_category(i), name) == 0;
		near = ws_str_nearest(name, next_category, NULL);
		if (!known)
			ws_log_warn("%s: no category '%s'%s%s%s", set_defs[id].name, name,
				    near ? ": did you mean '" : "", near ? near : "",
				    near ? "'?" : "");
	}
}

static const char *next_component(const void *list, size_t i)
{
	(void)list;
	return i < sys_n_components ? sys_components[i].name : NULL;
}

static void check_components(const struct set_values *values)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_TIMEMORY_COMPONENTS)), word;

	while (set_next_word(&rest, false, &word)) {
		char name[64];
		bool known = false;
		const char *near;

		snprintf(name, sizeof(name), "%.*s", WS_STR_ARGS(word));
		for (size_t i = 0; i < sys_n_components && !known; i++)
			known = strcmp(sys_components[i].name, name) == 0;
		near = ws_str_nearest(name, next_component, NULL);
		if (!known)
			ws_log_warn("%s: no component '%s': %s%s%s",
				    set_defs[SET_TIMEMORY_COMPONENTS].name, name,
				    near ? "did you mean '" : "rocprof-sys-avail -C lists them",
				    near ? near : "", near ? "'?" : "");
	}
}

static enum ws_status check(const struct set_values *values, struct ws_err *err)
{
	if (*set_text(values, SET_ENABLE_CATEGORIES) && *set_text(values, SET_DISABLE_CATEGORIES))
		return ws_fail(err, WS_E_USAGE, "%s and %s exclude each other: use one",
			       set_defs[SET_ENABLE_CATEGORIES].name,
			       set_defs[SET_DISABLE_CATEGORIES].name);
	check_categories(values, SET_ENABLE_CATEGORIES);
	check_categories(values, SET_DISABLE_CATEGORIES);
	check_components(values);
	if (strcmp(set_text(values, SET_MODE), "causal") == 0 ||
	    strcmp(set_text(values, SET_MODE), "coverage") == 0)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "%s=%s is not supported: use trace or sampling",
			       set_defs[SET_MODE].name, set_text(values, SET_MODE));
	set_warn_unused(values);
	return WS_OK;
}

static void set_log_level(const struct set_values *values)
{
	int64_t verbose = set_int(values, SET_VERBOSE);

	if (set_on(values, SET_MONOCHROME) || getenv("MONOCHROME"))
		setenv("NO_COLOR", "1", 0);
	if (set_on(values, SET_DEBUG) || verbose >= 3)
		ws_log_set_level(WS_LOG_DEBUG);
	else if (verbose >= 2)
		ws_log_set_level(WS_LOG_INFO);
	else if (verbose < 0)
		ws_log_set_level(WS_LOG_ERROR);
}

/* ---- the program's environment ---- */

/* What was typed, and what files set for the program, as variables. */
static enum ws_status export(const struct program *program, const struct set_values *values,
			     struct ws_err *err) {
	bool shown = set_int(values, SET_VERBOSE) >= 0;

	for (unsigned id = 0; id < SET_COUNT; id++){
		const char *name = set_defs[id].name, *text = set_text(values, id);
		const char *before = getenv(name);

		if (values->at[id].origin != SET_FROM_COMMAND_LINE ||
		    (before && strcmp(before, text) == 0)) continue;
		if (setenv(name, text, 1) != 0) return ws_fail(err, WS_E_NOMEM, "out of memory");
		if (shown) ws_print(stderr, "%s%s=%s\n", program->line_prefix, name, text); }
for (size_t i = 0; i + 1 < values->exports.n; i += 2)
{
	if (setenv(values->exports.at[i], values->exports.at[i + 1], 1) != 0)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (shown)
		ws_print(stderr, "%s%s=%s\n", program->line_prefix, values->exports.at[i],
			 values->exports.at[i + 1]);
}
return WS_OK;
}

static void show_command(const struct program *program, char *const *argv)
{
	fprintf(stderr, "%sExecuting '", program->line_prefix);
	for (size_t i = 0; argv[i]; i++)
		ws_print(stderr, "%s%s", i ? " " : "", argv[i]);
	fputs("'...\n", stderr);
}

/* ---- launchers ---- */

/* mpirun -n 4 app: the first word that matches runs under a front end of its own. */
static enum ws_status exec_launcher(const char *regex, char *const *argv, size_t n,
				    struct ws_err *err)
{
	static const char *const places[] = { ".", NULL };
	static char self[PATH_MAX], dashes[] = "--";
	char **words = calloc(n + 3, sizeof(*words));
	struct ws_pattern *pattern = NULL;
	size_t to = 0;
	bool found = false;
	enum ws_status st;

	if (!words)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_pattern_create(regex, WS_PATTERN_SOMEWHERE, &pattern, err);
	if (!st)
		st = ws_path_beside(places, "rocprof-sys-run", self, err);
	for (size_t i = 0; i < n && !st; i++) {
		bool matches = false;

		if (!found && i)
			st = ws_pattern_match(pattern, argv[i], &matches, err);
		if (matches) {
			found = true;
			words[to++] = self;
			words[to++] = dashes;
		}
		words[to++] = argv[i];
	}
	if (st)
		ws_fail_in(err, st, "option '--launcher'");
	else if (!found)
		st = ws_fail(err, WS_E_USAGE,
			     "option '--launcher': no word of the command after '%s' matches '%s'",
			     argv[0], regex);
	else
		st = ws_proc_exec(words[0], words, environ, err);
	ws_pattern_destroy(pattern);
	free(words);
	return st;
}

/* ---- both programs ---- */

static enum ws_status end(const struct sys_run_result *result, int *exit_code, struct ws_err *err)
{
	if (result->incomplete)
		*exit_code = WS_EXIT_FAILED;
	/* The program's own end, if it has anything to tell. */
	if (result->ran && (result->end.exit_code || result->end.signal)) {
		if (ws_cmd_flush(err))
			ws_log_error("%s", err->text);
		launch_inject_explain_end(&result->end);
		ws_proc_end_as(&result->end);
	}
	return WS_OK;
}

static enum ws_status start(const struct program *program, const struct set_values *values,
			    const struct sys_args *args, char *const *argv, size_t n,
			    int *exit_code, struct ws_err *err)
{
	struct sys_run_result result;
	char path[PATH_MAX];
	enum ws_status st = ws_path_program(argv[0], path, err);

	if (st) {
		*exit_code = ws_proc_exit_code(st);
		return st;
	}
	if (set_on(values, SET_ENABLED) && !args->launcher && launch_inject_obstacle(path))
		ws_log_warn("'%s' %s", argv[0], launch_inject_obstacle(path));
	st = export(program, values, err);
	if (!st && set_int(values, SET_VERBOSE) >= 1)
		show_command(program, argv);
	if (!st && args->launcher)
		return exec_launcher(args->launcher, argv, n, err);
	if (!st)
		st = sys_run(program->cmd->name, values, argv, &result, err);
	return st ? st : end(&result, exit_code, err);
}

static enum ws_status run(const struct program *program, const struct ws_cmd_call *call,
			  int *exit_code, struct ws_err *err)
{
	static struct set_values values;
	const struct sys_args *args = call->values;
	struct sys_run_result result;
	enum ws_status st;

	if (args->question || (!call->rest.n && !args->recover)) {
		*exit_code = args->question ? 0 : WS_EXIT_FAILED;
		ws_help_print(args->question ? stdout : stderr, program->cmd, program->cmd->name,
			      ws_help_columns());
		return WS_OK;
	}
	set_values_init(&values);
	st = sys_apply(program->which, args, &values, err);
	if (!st && args->recover) {
		st = sys_recover(program->cmd->name, args->recover, &values, &result, err);
		if (!st && result.incomplete)
			*exit_code = WS_EXIT_FAILED;
		set_values_fini(&values);
		return st;
	}
	set_log_level(&values);
	if (!st)
		st = set_from_environment(&values, environ, err);
	if (!st)
		st = set_from_files(&values, err);
	set_finish(&values, true);
	set_log_level(&values);
	if (!st)
		st = check(&values, err);
	if (!st)
		st = start(program, &values, args, call->rest.operands, (size_t)call->rest.n,
			   exit_code, err);
	set_values_fini(&values);
	return st;
}

static enum ws_status run_run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	return run(&(struct program){ SYS_RUN, &cmd_rocprof_sys_run, "ROCPROFSYS: " }, call,
		   exit_code, err);
}

static enum ws_status run_sample(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	return run(&(struct program){ SYS_SAMPLE, &cmd_rocprof_sys_sample, "" }, call, exit_code,
		   err);
}

#define EXIT_CODES                                                                                 \
	"Exit code:\n"                                                                             \
	"  that of PROGRAM, also for signals. If PROGRAM succeeded: 1 if output could not\n"       \
	"  be written. 2 for wrong usage, 126 and 127 if PROGRAM cannot be executed.\n"

const struct ws_cmd cmd_rocprof_sys_run = {
	.name = "rocprof-sys-run",
	.summary = "run a program and record the whole of it on one timeline",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.about = "Runs PROGRAM and records its GPU activity, call stacks, and metrics of the "
		 "process and "
		 "the GPUs. After PROGRAM has ended, a Perfetto trace or profiles are written. "
		 "Flags "
		 "take an optional yes or no. Options are settings: those of the command line are "
		 "stronger than ROCPROFSYS_ variables, and these than configuration files.",
	.notes = EXIT_CODES "\n"
			    "Examples:\n"
			    "  rocprof-sys-run --profile --trace -- python3 train.py\n"
			    "  rocprof-sys-run -TPHD -o out -- ./app -n 4\n"
			    "  rocprof-sys-run -T -G SQ_WAVES -- ./app\n"
			    "  rocprof-sys-run -l app -- mpirun -n 4 ./app",
	.opts = { sys_run_rows, SYS_N_RUN_ROWS },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct sys_args),
	.run = run_run,
};

const struct ws_cmd cmd_rocprof_sys_sample = {
	.name = "rocprof-sys-sample",
	.summary = "run a program and sample its call stacks",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.about = "As rocprof-sys-run, with call-stack sampling always on and fewer options. A "
		 "setting "
		 "without an option is a variable: ROCPROFSYS_USE_ROCM=false.",
	.notes = EXIT_CODES "\n"
			    "Examples:\n"
			    "  rocprof-sys-sample -c my.cfg python3 train.py\n"
			    "  rocprof-sys-sample -f 100 -PT -- ./app\n"
			    "  mpirun -n 4 rocprof-sys-sample -c my.cfg -I all -- python3 train.py",
	.opts = { sys_sample_rows, SYS_N_SAMPLE_ROWS },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct sys_args),
	.run = run_sample,
};
