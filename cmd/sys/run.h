/*
 * run: the program of rocprof-sys-run and rocprof-sys-sample, from its start to its output.
 *
 * We stay its parent: its records are in files when it ends, killed or not, and we turn
 * them into output and end as it did.
 */
#ifndef WS_CMD_SYS_RUN_H
#define WS_CMD_SYS_RUN_H

#include "base/proc.h"
#include "settings/values.h"

struct sys_run_result {
	struct ws_proc_end end; /* of the program */
	bool ran;
	bool incomplete; /* output is missing something, though the program ended well */
};

/* Fails when the program could not be started; what goes wrong later is reported on stderr. */
enum ws_status sys_run(const char *tool, const struct set_values *values, char *const *argv,
		       struct sys_run_result *out_result, struct ws_err *err);

/* What an earlier run left in @path becomes output. @typed: settings of this command line. */
enum ws_status sys_recover(const char *tool, const char *path, const struct set_values *typed,
			   struct sys_run_result *out_result, struct ws_err *err);

#endif
