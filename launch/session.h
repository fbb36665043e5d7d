/*
 * session: attaches to running processes and records them until detach.
 *
 * Each process loads the collector and has the read end of a pipe whose write end is
 * here (collector/attach.c). It is attached while the pipe is open. Closing it, also by
 * the death of this process, ends the recording. The captures are like any others.
 *
 * Threads  the main thread only: signal handlers are changed, and stdin is read.
 */
#ifndef WS_LAUNCH_SESSION_H
#define WS_LAUNCH_SESSION_H

#include "base/error.h"
#include "collector/config.h"
#include "launch/rundir.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch_session {
	const char *tool; /* in front of messages: "rocprofv3" */
	const pid_t *pids;
	size_t n_pids;
	bool children; /* and what they have started */
	bool has_duration;
	uint64_t duration_ms;                    /* else: until Enter, or a signal */
	const struct col_collect_config *config; /* `dir` is set here */
};

/*
 * Until Enter, the time is over, a signal (in *@out_signal, else 0) or no process is left.
 * Fails when one of those that are named cannot be attached to; none is then.
 */
enum ws_status launch_session_run(const struct launch_session *session,
				  const struct launch_rundir *dir, int *out_signal,
				  struct ws_err *err);

/*
 * Before counters of a running process are planned: it has to be one that is on the software
 * GPU, whose models are taken from its environment into ours.
 */
enum ws_status launch_session_adopt_gpu(pid_t pid, struct ws_err *err);

#endif
