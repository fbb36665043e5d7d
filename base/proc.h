/*
 * proc: starting other programs.
 *
 * There are three ways: exec it in this process, run it as a child and exit with its
 * status, or run it and capture its output. In each case the program gets the signal
 * dispositions that we were started with.
 */
#ifndef WS_BASE_PROC_H
#define WS_BASE_PROC_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

/*
 * A closed pipe (SIGPIPE) and a file size limit (SIGXFSZ) become errors of write(), so
 * that one failed output does not end the process. Call it first in main().
 */
void ws_proc_ignore_write_signals(void);
void ws_proc_restore_write_signals(void); /* as they were before */

/* What shells return, and scripts test for. */
#define WS_EXIT_NOT_EXECUTABLE 126
#define WS_EXIT_NOT_FOUND 127

/* The exit code for a program that could not be started. */
int ws_proc_exit_code(enum ws_status status);

/*
 * Exec @program (searched in PATH as a shell does). Returns on failure
 * only. A script without "#!" is given to /bin/sh, as shells do.
 */
enum ws_status ws_proc_exec(const char *program, char *const *argv, char *const *envp,
			    struct ws_err *err);

struct ws_proc_end {
	int exit_code; /* 128 + signal when it was killed by one */
	int signal;    /* 0, or the signal that ended it */
	bool dumped_core;
	int interrupted; /* the last of INT, TERM and HUP that reached us meanwhile; 0: none */
};

/*
 * Run @program and wait for it. INT, QUIT, TERM, HUP, USR1, USR2 and WINCH sent
 * to us alone are passed on to it; those the terminal sends to the whole group
 * reach it anyway.
 * Threads  the main thread only: signal handlers are changed meanwhile.
 */
enum ws_status ws_proc_run(const char *program, char *const *argv, char *const *envp,
			   struct ws_proc_end *out_end, struct ws_err *err);

/* End as the child did: by the same signal or with the same exit code. Does not return. */
_Noreturn void ws_proc_end_as(const struct ws_proc_end *end);

/* What becomes of a program's stderr while its output is read. */
enum ws_proc_stderr {
	WS_PROC_STDERR_DROP,
	WS_PROC_STDERR_JOIN, /* it is output, too */
	WS_PROC_STDERR_KEEP, /* it is ours */
};

/*
 * Run @program with no input and append what it prints to @out. After
 * @timeout_ms it is killed: WS_E_TIMEOUT. Output past the ceiling of @out is
 * dropped, and the program may still end well.
 */
enum ws_status ws_proc_read(const char *program, char *const *argv, char *const *envp,
			    enum ws_proc_stderr its_stderr, int timeout_ms, struct ws_buf *out,
			    struct ws_proc_end *out_end, struct ws_err *err);

#endif
