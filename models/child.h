/*
 * child: a command line that runs with a time limit, its output in the log of a run.
 *
 * Every program that madengine starts on this machine is started here: the model, its scripts, the
 * container engine, sbatch. It has a process group of its own and no input. SIGINT, SIGTERM and
 * SIGHUP that reach us are passed on to the group (in a batch job not SIGTERM, which all
 * processes get); a second one kills it. After the time limit the
 * group gets SIGTERM, and SIGKILL if some of it is left MDL_CHILD_GRACE_S later: a profiler in it
 * has that long to write what was recorded. A process of the group that outlives a command which
 * ended by itself (a sampler in the background) does not make us wait; its output is no longer
 * read then, and mdl_child_sweep() ends it.
 *
 * Threads  the main thread only: signals are blocked meanwhile.
 */
#ifndef WS_MODELS_CHILD_H
#define WS_MODELS_CHILD_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define MDL_CHILD_GRACE_S 15.0

/* The log of one run: a file, and the terminal with --live-output. */
struct mdl_log {
	FILE *file;          /* NULL: none */
	bool live;           /* stdout, too */
	struct ws_buf *also; /* NULL: none; up to its ceiling, for what reads the output */
};

/* A line of our own; the line end is added. */
void mdl_log_line(struct mdl_log *log, const char *fmt, ...) WS_PRINTF(2, 3);
void mdl_log_bytes(struct mdl_log *log, const char *bytes, size_t n); /* a NULL log drops them */

double mdl_now_s(void); /* CLOCK_MONOTONIC */

struct mdl_child_end {
	int exit_code; /* 128 + signal when it was killed by one */
	bool timed_out;
	bool interrupted; /* SIGINT, SIGTERM or SIGHUP reached us meanwhile */
	double seconds;
	pid_t group; /* its process group: for mdl_child_sweep() */
};

/*
 * Run @argv in the folder @dir (NULL: ours) with @envp, stdout and stderr into @log (NULL: dropped).
 * @timeout_s <= 0: no limit. WS_OK also when it fails: look at @out_end.
 */
enum ws_status mdl_child_run(char *const *argv, char *const *envp, const char *dir,
			     double timeout_s, struct mdl_log *log, struct mdl_child_end *out_end,
			     struct ws_err *err);

/* Ends what is left of the groups: SIGTERM, and SIGKILL a second later. Returns how many were left. */
size_t mdl_child_sweep(const pid_t *groups, size_t n);

#endif
