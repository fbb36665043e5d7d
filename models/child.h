/*
 * child: a command line that runs with a time limit, its output in the log of a run.
 *
 * Every program that madengine starts on this machine is started here: the model, its scripts, the
 * container engine, sbatch. It has a process group of its own and no input. Ctrl-C and SIGTERM
 * are passed on to the group; a second one kills it. After the time limit the group gets SIGTERM,
 * and SIGKILL if it has not ended 5 s later. A process of the group that outlives the command
 * (a sampler started in the background) does not make us wait: the log is no longer read then.
 *
 * Threads  the main thread only: signal handlers are changed meanwhile.
 */
#ifndef WS_MODELS_CHILD_H
#define WS_MODELS_CHILD_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>

/* The log of one run: a file, and the terminal with --live-output. */
struct mdl_log {
	FILE *file;          /* NULL: none */
	bool live;           /* stdout, too */
	struct ws_buf *also; /* NULL: none; up to its ceiling, for what reads the output */
};

/* A line of our own; the line end is added. */
void mdl_log_line(struct mdl_log *log, const char *fmt, ...) WS_PRINTF(2, 3);
void mdl_log_bytes(struct mdl_log *log, const char *bytes, size_t n);

struct mdl_child_end {
	int exit_code; /* 128 + signal when it was killed by one */
	bool timed_out;
	bool interrupted; /* SIGINT, SIGTERM or SIGHUP reached us meanwhile */
	double seconds;
};

/*
 * Run @argv in the folder @dir (NULL: ours) with @envp, stdout and stderr into @log (NULL: dropped).
 * @timeout_s <= 0: no limit. WS_OK also when it fails: look at @out_end.
 */
enum ws_status mdl_child_run(char *const *argv, char *const *envp, const char *dir,
			     double timeout_s, struct mdl_log *log, struct mdl_child_end *out_end,
			     struct ws_err *err);

#endif
