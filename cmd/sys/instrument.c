/* rocprof-sys-instrument: analysis of a program, and its start with functions instrumented. */
#include "cmd/sys/instrument.h"

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define LOADER_MS 10000
#define LOADER_BYTES_MAX (16u << 20)

/* ---- what is analysed ---- */

static enum ws_status real_path(const char *path, char out[PATH_MAX], struct ws_err *err)
{
	return realpath(path, out) ? WS_OK : ws_fail_errno(err, errno, "cannot find '%s'", path);
}

/* A library that cannot be analysed is left as it is, unless --error. */
static enum ws_status choose_library(struct sys_choice *choice, const char *path,
				     struct ws_err *err)
{
	char real[PATH_MAX];
	enum ws_status st = real_path(path, real, err);

	if (!st && sys_choice_skips(choice, real)) {
		ws_log_debug("'%s' is not analysed: %s", real, sys_choice_skips(choice, real));
		return WS_OK;
	}
	if (!st) {
		ws_log_debug("analysing '%s'", real);
		st = sys_choose(choice, real, real, err);
	}
	if (!st || choice->args->error == WS_TRI_YES || st == WS_E_NOMEM)
		return st;
	ws_log_warn("%s: its functions are not instrumented", err->text);
	return WS_OK;
}

/* "	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f...)" */
static struct ws_str path_in(struct ws_str line)
{
	struct ws_str part = ws_str_trim(line);
	const char *arrow = memmem(part.at, part.n, " => ", 4), *end;

	if (arrow)
		part = (struct ws_str){ arrow + 4, part.n - (size_t)(arrow + 4 - part.at) };
	end = memmem(part.at, part.n, " (0x", 4);
	if (end)
		part.n = (size_t)(end - part.at);
	return end && part.n && part.at[0] == '/' && part.n < PATH_MAX ? part : WS_STR("");
}

/* Those that the program is linked with. Its loader lists them, as for ldd. */
static enum ws_status choose_libraries(struct sys_choice *choice, const char *path,
				       struct ws_err *err)
{
	char *argv[] = { (char *)path, NULL };
	struct ws_proc_end end;
	struct ws_str rest, line;
	struct ws_buf list;
	struct ws_env env;
	enum ws_status st = ws_env_init(&env, environ, err);

	ws_buf_init(&list, LOADER_BYTES_MAX);
	if (!st)
		st = ws_env_set(&env, "LD_TRACE_LOADED_OBJECTS", "1", err);
	if (!st)
		st = ws_proc_read(path, argv, env.at, WS_PROC_STDERR_DROP, LOADER_MS, &list, &end,
				  err);
	rest = ws_buf_view(&list);
	while (!st && ws_str_next(&rest, '\n', &line)) {
		struct ws_str found = path_in(line);
		char library[PATH_MAX];

		if (!found.n)
			continue;
		snprintf(library, sizeof(library), "%.*s", WS_STR_ARGS(found));
		st = choose_library(choice, library, err);
	}
	ws_buf_fini(&list);
	ws_env_fini(&env);
	return st;
}

static enum ws_status choose_program(struct sys_choice *choice, const char *path, const char *as,
				     struct ws_err *err)
{
	enum ws_status st = sys_choose(choice, path, as, err);

	if (st == WS_E_FORMAT)
		return ws_fail(err, st,
			       "'%s' is not an executable for x86-64: for a script, start its "
			       "interpreter (rocprof-sys-instrument -- python3 script.py)",
			       path);
	if (!st && !choice->files.at[0].functions->has_loader)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "'%s' is statically linked: the collector cannot be loaded into it: "
			       "link it dynamically",
			       path);
	return st;
}

static enum ws_status choose_all(struct sys_choice *choice, const char *path, const char *as,
				 struct ws_err *err)
{
	const struct ws_strv *load = &choice->args->load;
	enum ws_status st = choose_program(choice, path, as, err);

	/* A copy has its own functions instrumented only, as the original tool has it. */
	if (!st && strcmp(path, as) == 0)
		st = choose_libraries(choice, path, err);
	for (size_t i = 0; i < load->n && !st; i++)
		if (load->at[i])
			st = choose_library(choice, load->at[i], err);
	return st;
}

/* ---- what is told ---- */

static enum ws_status write_log(const struct sys_choice *choice, struct ws_err *err)
{
	const char *path = choice->args->log_file;
	enum ws_status st;
	FILE *file;

	if (!path)
		return WS_OK;
	st = ws_file_begin(path, &file, err);
	if (st)
		return st;
	for (size_t i = 0; i < choice->rows.n; i++) {
		const struct sys_choice_row *row = &choice->rows.at[i];

		ws_print(file, "[%s] [%s] %s%s\n", row->module, row->function->shown,
			 row->instrumented ? "instrumented" : "excluded: ",
			 row->instrumented ? "" : row->reason);
	}
	return ws_file_commit(path, file, err);
}

static void summarize(const struct sys_choice *choice, const char *dir)
{
	size_t n = 0;

	for (size_t i = 0; i < choice->rows.n; i++)
		n += choice->rows.at[i].instrumented;
	if (choice->args->verbose && *choice->args->verbose == '-')
		return;
	ws_print(stderr,
		 "[rocprof-sys][instrument]> %zu of %zu functions are instrumented; lists are in "
		 "'%s'\n",
		 n, choice->rows.n, dir);
	if (!n)
		ws_log_warn("no function is instrumented: excluded.txt has the reasons; functions "
			    "with fewer than %llu instructions need --min-instructions",
			    (unsigned long long)choice->min_instructions);
}

static enum ws_status tell(const struct sys_choice *choice, const char *path, struct ws_err *err)
{
	const char *slash = strrchr(path, '/'), *dir = choice->args->print_dir;
	char usual[PATH_MAX];
	enum ws_status st;

	snprintf(usual, sizeof(usual), "rocprofsys-%.200s-output/instrumentation",
		 slash ? slash + 1 : path);
	st = sys_lists_write(choice, dir ? dir : usual, err);
	if (!st)
		st = write_log(choice, err);
	if (!st)
		summarize(choice, dir ? dir : usual);
	return st;
}

/* ---- a copy ---- */

static enum ws_status copy_into(int out, const char *from, const char *to, struct ws_err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	enum ws_status st = WS_OK;
	ssize_t n = 1;

	if (in < 0)
		return ws_fail_errno(err, errno, "cannot read '%s'", from);
	while (n > 0)
		n = sendfile(out, in, NULL, 1u << 30);
	if (n < 0)
		st = ws_fail_errno(err, errno, "cannot write '%s'", to);
	close(in);
	return st;
}

static enum ws_status copy_file(const char *from, const char *to, bool replace, struct ws_err *err)
{
	enum ws_status st;
	int out;

	if (replace)
		unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	if (out < 0 && errno == EEXIST)
		return ws_fail(err, WS_E_EXISTS, "'%s' exists: --force replaces it", to);
	if (out < 0)
		return ws_fail_errno(err, errno, "cannot write '%s'", to);
	st = copy_into(out, from, to, err);
	if (close(out) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", to);
	return st;
}

/* The last word of --output, or PROGRAM.inst; absolute. */
static enum ws_status output_path(const struct sys_instrument_args *args, const char *path,
				  char out[PATH_MAX], struct ws_err *err)
{
	const char *slash = strrchr(path, '/'), *name = args->output.at[args->output.n - 1];
	char usual[PATH_MAX], cwd[PATH_MAX];

	snprintf(usual, sizeof(usual), "%.*s.inst", 255, slash ? slash + 1 : path);
	if (!getcwd(cwd, sizeof(cwd)))
		return ws_fail_errno(err, errno, "cannot find the current folder");
	return ws_path_join(cwd, name ? name : usual, out, err);
}

static enum ws_status write_copy(const struct sys_choice *choice, const char *path,
				 const char *copy, struct ws_err *err)
{
	char plan[PATH_MAX + sizeof(COL_PLAN_SUFFIX)];
	enum ws_status st = copy_file(path, copy, choice->args->force == WS_TRI_YES, err);

	snprintf(plan, sizeof(plan), "%s%s", copy, COL_PLAN_SUFFIX);
	if (!st)
		st = sys_plan_write(&choice->plan, plan, err);
	if (!st)
		ws_print(stderr,
			 "[rocprof-sys][instrument]> wrote '%s' and '%s'; start it with "
			 "rocprof-sys-run\n",
			 copy, plan);
	return st;
}

/* ---- the program ---- */

static enum ws_status set_variables(const struct sys_instrument_args *args, const char *plan,
				    struct ws_err *err)
{
	struct ws_buf files;
	int failed = setenv(COL_PLAN_VARIABLE, plan, 1);

	ws_buf_init(&files, 1u << 20);
	for (size_t i = 0; i < args->config.n; i++)
		if (args->config.at[i])
			ws_buf_printf(&files, "%s%s", files.n ? ":" : "", args->config.at[i]);
	if (files.n)
		failed |= setenv("ROCPROFSYS_CONFIG_FILE", files.at, 1);
	ws_buf_fini(&files);
	failed |= setenv("ROCPROFSYS_MODE", args->mode ? args->mode : "trace", args->mode != NULL);
	for (size_t i = 0; i < args->env.n; i++) {
		const char *word = args->env.at[i], *equals = word ? strchr(word, '=') : NULL;
		char name[256];

		if (!word)
			continue;
		if (!equals || equals == word || (size_t)(equals - word) >= sizeof(name))
			return ws_fail(err, WS_E_USAGE, "option '--env': '%s' is not VAR=VALUE",
				       word);
		snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
		failed |= setenv(name, equals + 1, 1);
	}
	return failed ? ws_fail(err, WS_E_NOMEM, "out of memory") : WS_OK;
}

static enum ws_status run_program(const struct sys_choice *choice, char *const *argv, size_t n,
				  int *exit_code, struct ws_err *err)
{
	static const char *const places[] = { ".", NULL };
	static char self[PATH_MAX], dashes[] = "--", plan[PATH_MAX];
	char **words = calloc(n + 3, sizeof(*words));
	struct ws_proc_end end;
	int fd;
	enum ws_status st = words ? ws_file_temp("rocprof-sys-instrument", plan, &fd, err)
				  : ws_fail(err, WS_E_NOMEM, "out of memory");

	if (st) {
		free(words);
		return st;
	}
	close(fd);
	words[0] = self;
	words[1] = dashes;
	memcpy(words + 2, argv, n * sizeof(*words));
	st = ws_path_beside(places, "rocprof-sys-run", self, err);
	if (!st)
		st = sys_plan_write(&choice->plan, plan, err);
	if (!st)
		st = set_variables(choice->args, plan, err);
	if (!st)
		st = ws_proc_run(self, words, environ, &end, err);
	unlink(plan);
	free(words);
	if (st)
		return st;
	*exit_code = end.exit_code;
	if (end.signal) {
		if (ws_cmd_flush(err))
			ws_log_error("%s", err->text);
		ws_proc_end_as(&end);
	}
	return WS_OK;
}

/* ---- the command ---- */

static enum ws_status check(const struct sys_instrument_args *args, struct ws_err *err)
{
	if (args->pid.n)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"option '--pid': a running process cannot be instrumented, because its "
			"threads may be executing the bytes that would be replaced: start the "
			"program with rocprof-sys-instrument; rocprofv3 --pid records the GPU "
			"activity of a running process");
	if (args->mode && strcmp(args->mode, "coverage") == 0)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "option '--mode': code coverage is not supported: use trace");
	if (args->coverage && strcmp(args->coverage, "none") != 0)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "option '--coverage': code coverage is not supported");
	sys_instrument_warn(args);
	return WS_OK;
}

static void set_log_level(const struct sys_instrument_args *args)
{
	long verbose = args->verbose ? strtol(args->verbose, NULL, 10) : 0;

	if (args->debug == WS_TRI_YES || verbose >= 2)
		ws_log_set_level(WS_LOG_DEBUG);
	else if (verbose == 1)
		ws_log_set_level(WS_LOG_INFO);
	else if (verbose < 0)
		ws_log_set_level(WS_LOG_ERROR);
}

enum ws_status sys_instrument_run(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err)
{
	const struct sys_instrument_args *args = call->values;
	char found[PATH_MAX], path[PATH_MAX], copy[PATH_MAX];
	struct sys_choice choice;
	enum ws_status st;

	if (args->question || (!call->rest.n && !args->pid.n)) {
		*exit_code = args->question ? 0 : WS_EXIT_FAILED;
		ws_help_print(args->question ? stdout : stderr, &cmd_rocprof_sys_instrument,
			      cmd_rocprof_sys_instrument.name, ws_help_columns());
		return WS_OK;
	}
	set_log_level(args);
	st = check(args, err);
	if (st)
		return st;
	st = ws_path_program(call->rest.operands[0], found, err);
	if (st) {
		*exit_code = ws_proc_exit_code(st);
		return st;
	}
	st = real_path(found, path, err);
	if (!st && args->output.n)
		st = output_path(args, path, copy, err);
	if (st)
		return st;
	st = sys_choice_init(&choice, args, err);
	if (!st)
		st = choose_all(&choice, path, args->output.n ? copy : path, err);
	if (!st)
		st = tell(&choice, path, err);
	if (!st && args->simulate != WS_TRI_YES)
		st = args->output.n ? write_copy(&choice, path, copy, err)
				    : run_program(&choice, call->rest.operands,
						  (size_t)call->rest.n, exit_code, err);
	sys_choice_fini(&choice);
	return st;
}
