/*
 * cmd: a command a person types, described by a table; its sub-commands are rows.
 *
 * ws_cmd_main() finds the sub-command, parses its options, answers --help and
 * --version, runs it, prints its error once ("tool: what went wrong: what to
 * do") and returns the exit code: 0, 1 for a failure, 2 for wrong usage, or what
 * the command chose.
 */
#ifndef WS_BASE_CMD_H
#define WS_BASE_CMD_H

#include "base/error.h"
#include "base/opt.h"

#include <stddef.h>
#include <stdio.h>

#define WS_EXIT_FAILED 1
#define WS_EXIT_USAGE 2

struct ws_cmd_call {
	const void *values;      /* the command's own struct, filled from its options */
	struct ws_opt_rest rest; /* operands */
};

struct ws_cmd {
	const char *name;
	const char *summary; /* one line; NULL hides the command from lists */
	const char *usage;   /* what follows the name: "[options] -- PROGRAM [ARG...]" */
	const char *about;   /* paragraphs after the usage line, or NULL */
	const char *notes;   /* printed as it stands after the options: examples, exit codes */
	struct ws_opts opts;
	enum ws_opt_order order;
	size_t values_bytes;
	int usage_exit;   /* of the root: exit code for wrong usage; 0: WS_EXIT_USAGE */
	bool only_prints; /* writes no files: a closed pipe ends it as it ends any filter */
	void (*set_defaults)(void *values); /* NULL: zeroes */
	const struct ws_cmd *const *subs;   /* NULL at the end; NULL: no sub-commands */
	/*
	 * On failure return a status and fill @err. *@exit_code starts at 0; a
	 * command that wants a code of its own sets it, failed or not.
	 */
	enum ws_status (*run)(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err);
};

/*
 * Runs the command and reports its failure. SIGPIPE and SIGXFSZ are ignored meanwhile, also in
 * the command: a pipe that is closed ends what is printed and nothing else.
 */
int ws_cmd_main(const struct ws_cmd *root, const char *version, int argc, char **argv);

/* What was printed so far; fails when some of it was lost. For those who end by themselves. */
enum ws_status ws_cmd_flush(struct ws_err *err);

/* What --help prints for @cmd; @path is how it is called: "wavescope run". */
void ws_help_print(FILE *to, const struct ws_cmd *cmd, const char *path, unsigned n_columns);
/* @text and a line end, filled to @width; lines after the first begin at column @indent. */
void ws_help_fill(FILE *to, const char *text, unsigned indent, unsigned width);
/*
 * Walks what --help shows of @opts, headings included: hidden rows are left out, and the options
 * that every command has come last, unless a row takes the name. *@next starts at 0; NULL at the end.
 */
const struct ws_opt *ws_help_option(struct ws_opts opts, size_t *next);
unsigned ws_help_columns(void); /* of the terminal, within reason; 80 when there is none */

#endif
