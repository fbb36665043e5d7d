/*
 * completion: what a shell needs to complete a command line, from the tables that --help is printed
 * from. The scripts start no program; they know the options, their choices, which values are files or
 * folders, and where the arguments of another program begin.
 */
#ifndef WS_BASE_COMPLETION_H
#define WS_BASE_COMPLETION_H

#include "base/cmd.h"

/* @shell is bash, zsh or fish; WS_E_USAGE for any other. */
enum ws_status ws_completion_print(FILE *to, const struct ws_cmd *cmd, const char *shell,
				   struct ws_err *err);

#endif
