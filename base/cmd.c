#include "base/cmd.h"

#include "base/log.h"
#include "base/str.h"

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
	return ws_fail(err, WS_E_USAGE, "unknown command '%s': '%s --help' lists them", name, path);
}

/* --help and --version count wherever they stand among the options, even after a mistake. */
static bool asks_for(const struct ws_cmd *cmd, int argc, char **argv, const char *name, char ch)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (argv[i][0] != '-' && (cmd->order == WS_OPT_FIRST || cmd->subs))
			return false; /* from here on they are somebody else's */
		if (argv[i][0] != '-')
			continue;
		if ((argv[i][1] == '-' && strcmp(argv[i] + 2, name) == 0) ||
		    (argv[i][1] == ch && argv[i][2] == '\0'))
			return true;
	}
	return false;
}

static enum ws_status run_cmd(const struct ws_cmd *cmd, int argc, char **argv, int *exit_code,
			      struct ws_err *err)
{
	void *values = calloc(1, WS_MAX(cmd->values_bytes, (size_t)1));
	struct ws_cmd_call call = { .values = values };
	enum ws_status st;

	if (!values)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (cmd->set_defaults)
		cmd->set_defaults(values);
	st = ws_opt_parse(cmd->opts, cmd->order, argc, argv, values, &call.rest, err);
	if (!st)
		st = cmd->run(&call, exit_code, err);
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
	if (help || asks_for(cmd, argc, argv, "help", 'h')) {
		ws_help_print(stdout, cmd, path, ws_help_columns());
		return WS_OK;
	}
	if (asks_for(cmd, argc, argv, "version", 'V')) {
		printf("%s\n", version);
		return WS_OK;
	}
	if (cmd->run)
		return run_cmd(cmd, argc, argv, exit_code, err);
	if (argc > 1) {
		struct ws_opt_rest rest;

		st = ws_opt_parse(cmd->opts, WS_OPT_FIRST, argc, argv, NULL, &rest, err);
		if (st)
			return st;
	}
	return ws_fail(err, WS_E_USAGE, "no command given: '%s --help' lists them", path);
}

int ws_cmd_main(const struct ws_cmd *root, const char *version, int argc, char **argv)
{
	struct ws_err err = { WS_OK, "" };
	int exit_code = 0;
	enum ws_status st;

	ws_log_init(root->name);
	st = dispatch(root, version, argc, argv, &exit_code, &err);
	/* A full disk or a closed pipe must not look like success. */
	if (fflush(stdout) != 0 && !st)
		st = ws_fail(&err, WS_E_IO, "cannot write to standard output: %m");
	if (st) {
		ws_log_error("%s", err.text);
		if (!exit_code)
			exit_code = st == WS_E_USAGE ? WS_EXIT_USAGE : WS_EXIT_FAILED;
	}
	return exit_code;
}
