/*
 * running: processes of a run that continue after the program itself has ended.
 *
 * A program may leave processes behind: `sh -c './app &'`, a server that puts itself into the
 * background. They have the collector loaded and write to the run's folder, or will when they
 * first use a GPU. They are found by their environment (/proc/PID/environ), because they are
 * not our children and we cannot wait for them.
 *
 * Threads  the main thread only: a signal handler is changed while waiting.
 */
#ifndef WS_LAUNCH_RUNNING_H
#define WS_LAUNCH_RUNNING_H

#include "launch/rundir.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LAUNCH_RUNNING_WAIT_S 60u /* as long as a person waits before looking what is wrong */

struct launch_running {
	pid_t pid;
	char name[64]; /* of its program; "" unknown */
};

/* Some of them, each once, and how many there are. */
#define LAUNCH_RUNNING_MAX 8u
struct launch_running_set {
	unsigned n;
	struct launch_running at[LAUNCH_RUNNING_MAX]; /* the first of these */
};
void launch_running_add(struct launch_running_set *set, pid_t pid, const char *name);
/* Those that record to @dir, also if they have recorded nothing yet. */
void launch_running_add_all(struct launch_running_set *set, const struct launch_rundir *dir);

/* Processes that record to @dir or a folder in it, at most @room of them; how many there are. */
size_t launch_running_in(const struct launch_rundir *dir, struct launch_running *out, size_t room);

/*
 * Until there is none, for @seconds at most, or until SIGINT or SIGTERM. Says on stderr whom it waits
 * for, once it has waited a moment. True: all have ended.
 */
bool launch_running_wait(const struct launch_rundir *dir, const char *tool, unsigned seconds);

/* Whether the process that wrote a capture still runs; false for a zombie and for a reused pid. */
bool launch_running_process(const struct trc_process *process);

/* "process 4711 (app)" or "processes 4711 (app), 4712 (app) and 3 more", and "is" or "are". */
const char *launch_running_names(const struct launch_running *list, size_t n, char *to,
				 size_t room);

#endif
