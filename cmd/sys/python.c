/*
 * rocprof-sys-python: starts the Python package rocprofsys with the options of the command line.
 *
 * The package (python/rocprofsys) does the rest: it starts itself again under rocprof-sys-run and
 * then profiles the script.
 */
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS_MAX (1u << 17)

struct python_args {
	int64_t verbosity;
	bool builtin;
	const char *config, *setup;
	enum ws_tri full_filepath, trace_c, annotate;
	struct ws_strv label;
	struct ws_strv include, exclude, restricted;
	struct ws_strv module_include, module_exclude, module_restricted;
};

static const char *const labels[] = { "args", "file", "line", NULL };

/* clang-format off */
static const struct ws_opt rows[] = {
	WS_OPT_I64(struct python_args, verbosity, 'v', "verbosity", "N", "with 1: print the functions that are not recorded"),
	WS_OPT_BOOL(struct python_args, builtin, 'b', "builtin", "profile only what the script marks with @profile or 'with profile:'; both names are built in"),
	WS_OPT_STR(struct python_args, config, 'c', "config", "FILE", "settings of rocprof-sys"),
	WS_OPT_STR(struct python_args, setup, 's', "setup", "FILE", "execute FILE first, without profiling"),
	WS_OPT_GROUP("Names"),
	WS_OPT_TRI(struct python_args, full_filepath, 'F', "full-filepath", "full paths instead of file names"),
	WS_OPT_SOME_OF(struct python_args, label, 0, "label", "WHAT", labels, "add the arguments, the file or the line of functions"),
	WS_OPT_TRI(struct python_args, annotate, 'a', "annotate-trace", "add file, line, lasti, argcount, nlocals and stacksize to the trace"),
	WS_OPT_GROUP("What is recorded (regular expressions)"),
	WS_OPT_MANY(struct python_args, include, 'I', "function-include", "FUNC", "these functions, also if they are excluded"),
	WS_OPT_MANY(struct python_args, exclude, 'E', "function-exclude", "FUNC", "all but these functions and what they call"),
	WS_OPT_MANY(struct python_args, restricted, 'R', "function-restrict", "FUNC", "only these functions"),
	WS_OPT_MANY(struct python_args, module_include, 0, "module-include", "FILE", "functions of these files, also if they are excluded; also -MI"),
	WS_OPT_MANY(struct python_args, module_exclude, 0, "module-exclude", "FILE", "all but the functions of these files; also -ME"),
	WS_OPT_MANY(struct python_args, module_restricted, 0, "module-restrict", "FILE", "only functions of these files; also -MR"),
	WS_OPT_TRI(struct python_args, trace_c, 0, "trace-c", "also functions that are written in C"),
	WS_OPT_MANY(struct python_args, module_include, 0, "MI", "FILE", NULL),
	WS_OPT_MANY(struct python_args, module_exclude, 0, "ME", "FILE", NULL),
	WS_OPT_MANY(struct python_args, module_restricted, 0, "MR", "FILE", NULL),
};
/* clang-format on */

/* ---- the command line of the package ---- */

static void add(struct ws_strv *words, const char *word, enum ws_status *st, struct ws_err *err)
{
	if (!*st)
		*st = ws_vec_push(words, word, err);
}

static void add_list(struct ws_strv *words, const char *option, const struct ws_strv *values,
		     enum ws_status *st, struct ws_err *err)
{
	if (values->n)
		add(words, option, st, err);
	for (size_t i = 0; i < values->n; i++)
		add(words, values->at[i], st, err);
}

static void add_tri(struct ws_strv *words, const char *option, enum ws_tri value,
		    enum ws_status *st, struct ws_err *err)
{
	if (value == WS_TRI_UNSET)
		return;
	add(words, option, st, err);
	add(words, value == WS_TRI_YES ? "yes" : "no", st, err);
}

static enum ws_status make_words(const struct python_args *args, const struct ws_opt_rest *rest,
				 struct ws_strv *words, struct ws_err *err)
{
	static char verbosity[32];
	const char *python = getenv("PYTHON_EXECUTABLE");
	enum ws_status st = WS_OK;

	add(words, python && *python ? python : "python3", &st, err);
	add(words, "-m", &st, err);
	add(words, "rocprofsys", &st, err);
	snprintf(verbosity, sizeof(verbosity), "--verbosity=%lld", (long long)args->verbosity);
	if (args->verbosity)
		add(words, verbosity, &st, err);
	if (args->builtin)
		add(words, "--builtin", &st, err);
	if (args->config) {
		add(words, "--config", &st, err);
		add(words, args->config, &st, err);
	}
	if (args->setup) {
		add(words, "--setup", &st, err);
		add(words, args->setup, &st, err);
	}
	add_tri(words, "--full-filepath", args->full_filepath, &st, err);
	add_tri(words, "--trace-c", args->trace_c, &st, err);
	add_tri(words, "--annotate-trace", args->annotate, &st, err);
	add_list(words, "--label", &args->label, &st, err);
	add_list(words, "--function-include", &args->include, &st, err);
	add_list(words, "--function-exclude", &args->exclude, &st, err);
	add_list(words, "--function-restrict", &args->restricted, &st, err);
	add_list(words, "--module-include", &args->module_include, &st, err);
	add_list(words, "--module-exclude", &args->module_exclude, &st, err);
	add_list(words, "--module-restrict", &args->module_restricted, &st, err);
	add(words, "--", &st, err);
	for (int i = 0; i < rest->n; i++)
		add(words, rest->operands[i], &st, err);
	add(words, NULL, &st, err);
	return st;
}

/* ---- its environment ---- */

/* PYTHONPATH, and where rocprof-sys-run is: beside us. */
static enum ws_status set_environment(struct ws_err *err)
{
	static const char *const packages[] = { "../lib/wavescope/python/rocprofsys",
						"../python/rocprofsys", NULL };
	static const char *const programs[] = { ".", NULL };
	const char *there = getenv("PYTHONPATH");
	char path[PATH_MAX];
	struct ws_buf list;
	enum ws_status st = ws_path_beside(packages, "__main__.py", path, err);

	if (st)
		return st;
	ws_path_parent(path);
	ws_path_parent(path);
	ws_buf_init(&list, PATHS_MAX);
	ws_buf_printf(&list, "%s%s%s", path, there && *there ? ":" : "", there ? there : "");
	st = ws_buf_status(&list, err);
	if (!st && setenv("PYTHONPATH", list.at, 1) != 0)
		st = ws_fail_errno(err, errno, "PYTHONPATH");
	ws_buf_fini(&list);
	if (!st)
		st = ws_path_beside(programs, "rocprof-sys-run", path, err);
	if (st)
		return st;
	ws_path_parent(path);
	return setenv("WAVESCOPE_BIN", path, 0) ? ws_fail_errno(err, errno, "WAVESCOPE_BIN")
						: WS_OK;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	struct ws_strv words = { .max_n = 1u << 20 };
	enum ws_status st;

	if (!call->rest.n)
		return ws_fail(err, WS_E_USAGE, "no script: give it after '--'");
	st = set_environment(err);
	if (!st)
		st = make_words(call->values, &call->rest, &words, err);
	if (!st) {
		st = ws_proc_exec(words.at[0], (char *const *)words.at, environ, err);
		*exit_code = ws_proc_exit_code(st);
	}
	ws_vec_fini(&words);
	return st;
}

const struct ws_cmd cmd_rocprof_sys_python = {
	.name = "rocprof-sys-python",
	.summary = "run a Python script and record its functions",
	.usage = "[options] -- SCRIPT [ARG...]",
	.about = "Runs SCRIPT and records its Python functions as regions, in addition to what "
		 "rocprof-sys-run records without options. SCRIPT may also be '-m MODULE' or '-c "
		 "TEXT'. Settings are ROCPROFSYS_ variables or a configuration file. Call stacks "
		 "are "
		 "sampled only with ROCPROFSYS_USE_SAMPLING=true. The interpreter is python3, or "
		 "that of "
		 "the variable PYTHON_EXECUTABLE: Python 3.9 or later.",
	.notes = "By default not recorded: functions ^<.*>$ (modules, lambdas, comprehensions), "
		 "and files\n"
		 "(encoder|decoder|threading)\\.py$ and ^<.*>$. -E and -ME add to them.\n"
		 "\n"
		 "Exit code:\n"
		 "  that of SCRIPT. 1 if output could not be written, 2 for wrong usage.\n"
		 "\n"
		 "Examples:\n"
		 "  rocprof-sys-python -- train.py --epochs 1\n"
		 "  rocprof-sys-python --label file line -E '^log' -- train.py\n"
		 "  ROCPROFSYS_PROFILE=true rocprof-sys-python -b -- train.py",
	.opts = { rows, sizeof(rows) / sizeof(rows[0]) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct python_args),
	.run = run,
};
