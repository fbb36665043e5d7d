#include "base/cmd.h"

#include "base/completion.h"
#include "base/log.h"
#include "base/manual.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *next_sub_name(const void *list, size_t i)
{
	const struct ws_cmd *const *subs = list;

	if (!subs[i])
		return NULL;
	return subs[i]->summary ? subs[i]->name : "";
}

static enum ws_status find_sub(const struct ws_cmd *cmd, const char *path, const char *name,
			       const struct ws_cmd **out_sub, struct ws_err *err)
{
	const char *near;

	for (size_t i = 0; cmd->subs[i]; i++)
		if (strcmp(cmd->subs[i]->name, name) == 0) {
			*out_sub = cmd->subs[i];
			return WS_OK;
		}
	near = ws_str_nearest(name, next_sub_name, cmd->subs);
	if (near)
		return ws_fail(err, WS_E_USAGE, "unknown command '%s': did you mean '%s'?", name,
			       near);
	return ws_fail(err, WS_E_USAGE, "unknown command '%s': '%s --help' lists the commands",
		       name, path);
}

static void answer(const struct ws_cmd *cmd, const char *path, const char *version, char asked)
{
	if (asked == 'h')
		ws_help_print(stdout, cmd, path, ws_help_columns());
	else
		printf("%s\n", version);
}

/* --help helps most after a mistake: it counts also where the parser never came to it. */
static bool asks_for_help(const struct ws_cmd *cmd, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (argv[i][0] != '-' && cmd->order == WS_OPT_FIRST)
			return false; /* from here on it may belong to another program */
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	}
	return false;
}

/*
 * A program that stands where options do: its name and arguments are read as values of options,
 * and the complaint is about one of those. NULL where the command runs none, or has its "--".
 */
static const char *program_without_dashes(const struct ws_cmd *cmd, int argc, char **argv)
{
	const char *on_path = NULL;
	char path[PATH_MAX];
	enum ws_tri tri;

	if (!cmd->usage || !strstr(cmd->usage, "-- PROGRAM"))
		return NULL;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return NULL;
		/* The first word after an option is its value; what follows may be its, too. */
		if (argv[i][0] == '-' || argv[i - 1][0] == '-' ||
		    ws_path_program(argv[i], path, NULL))
			continue;
		if (strchr(argv[i], '/'))
			return argv[i];
		if (!on_path && i > 1 && !ws_tri_parse(argv[i], &tri))
			on_path = argv[i]; /* unless a path follows: "sort" may be a name */
	}
	return on_path;
}

/* By SIGPIPE, unless our parent ignores it: `tool list | head -1` is not an error. */
static void end_as_filter(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	ws_proc_restore_write_signals();
	raise(SIGPIPE);
	ws_proc_ignore_write_signals();
}

static enum ws_status run_cmd(const struct ws_cmd *cmd, const char *path, const char *version,
			      int argc, char **argv, int *exit_code, struct ws_err *err)
{
	void *values = calloc(1, WS_MAX(cmd->values_bytes, (size_t)1));
	struct ws_cmd_call call = { .values = values };
	const char *program = program_without_dashes(cmd, argc, argv);
	enum ws_status st;

	if (!values)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (cmd->set_defaults)
		cmd->set_defaults(values);
	st = ws_opt_parse(cmd->opts, cmd->order, argc, argv, values, &call.rest, err);
	if (st == WS_E_USAGE && asks_for_help(cmd, argc, argv)) {
		answer(cmd, path, version, 'h');
		st = WS_OK;
	} else if (!st && call.rest.asked) {
		answer(cmd, path, version, call.rest.asked);
	} else if (!st && cmd->run) {
		st = cmd->run(&call, exit_code, err);
		if (cmd->only_prints)
			end_as_filter();
	} else if (!st) {
		st = ws_fail(err, WS_E_USAGE, "no command given: '%s --help' lists the commands",
			     path);
	}
	if (st == WS_E_USAGE && program && !strstr(err->text, "'--'"))
		st = ws_fail(err, st, "missing '--' before '%s': type '%s ... -- %s'", program,
			     path, program);
	ws_opt_fini(cmd->opts, values);
	free(values);
	return st;
}

/* `tool help sub` is what many people type first; it means `tool sub --help`. */
static bool is_help_word(const struct ws_cmd *cmd, const char *word)
{
	return cmd->subs && strcmp(word, "help") == 0;
}

static enum ws_status dispatch(const struct ws_cmd *cmd, const char *version, int argc, char **argv,
			       int *exit_code, struct ws_err *err)
{
	char path[128];
	bool help = false;
	enum ws_status st;

	snprintf(path, sizeof(path), "%s", cmd->name);
	while (cmd->subs && argc > 1) {
		size_t n = strlen(path);

		if (is_help_word(cmd, argv[1])) {
			help = true;
			argc--;
			argv++;
			continue;
		}
		if (argv[1][0] == '-')
			break;
		st = find_sub(cmd, path, argv[1], &cmd, err);
		if (st)
			return st;
		snprintf(path + n, sizeof(path) - n, " %s", cmd->name);
		argc--;
		argv++;
	}
	if (help) {
		answer(cmd, path, version, 'h');
		return WS_OK;
	}
	return run_cmd(cmd, path, version, argc, argv, exit_code, err);
}

/*
 * For the build, in every program and in no --help:
 *	PROGRAM _manual DATE [OTHER PAGE...]
 *	PROGRAM _completion SHELL
 */
static enum ws_status generate_or_dispatch(const struct ws_cmd *root, const char *version, int argc,
					   char **argv, int *exit_code, struct ws_err *err)
{
	const char *word = argc > 2 ? argv[1] : "";

	if (strcmp(word, "_manual") == 0) {
		const struct ws_manual manual = {
			.version = version,
			.date = argv[2],
			.see_also = (const char *const *)&argv[3],
		};

		ws_manual_print(stdout, root, &manual);
		return WS_OK;
	}
	if (strcmp(word, "_completion") == 0)
		return ws_completion_print(stdout, root, argv[2], err);
	return dispatch(root, version, argc, argv, exit_code, err);
}

/* A full disk or a closed pipe must not look like success. */
enum ws_status ws_cmd_flush(struct ws_err *err)
{
	bool now = fflush(stdout) != 0;

	if (!now && !ferror(stdout))
		return WS_OK;
	if (now && errno != EPIPE)
		return ws_fail(err, WS_E_IO, "cannot write to standard output: %m");
	return ws_fail(err, WS_E_IO,
		       "standard output was closed early: the printed output is incomplete, files "
		       "are complete");
}

int ws_cmd_main(const struct ws_cmd *root, const char *version, int argc, char **argv)
{
	struct ws_err err = { WS_OK, "" };
	int exit_code = 0;
	enum ws_status st;

	ws_log_init(root->name);
	ws_proc_ignore_write_signals();
	st = generate_or_dispatch(root, version, argc, argv, &exit_code, &err);
	if (!st)
		st = ws_cmd_flush(&err);
	if (st) {
		ws_log_error("%s", err.text);
		if (!exit_code)
			exit_code = st != WS_E_USAGE   ? WS_EXIT_FAILED
				    : root->usage_exit ? root->usage_exit
						       : WS_EXIT_USAGE;
	}
	return exit_code;
}
