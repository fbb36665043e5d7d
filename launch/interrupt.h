/*
 * interrupt: what a user who presses Ctrl-C while files are written has to know.
 *
 * Threads  the main thread only: signal handlers are changed.
 */
#ifndef WS_LAUNCH_INTERRUPT_H
#define WS_LAUNCH_INTERRUPT_H

#include "launch/rundir.h"

/*
 * From now on SIGINT and SIGTERM, where they are not ignored, print that "@tool --recover"
 * writes the rest from @dir, and end the process. In a job of Slurm, SIGTERM is ignored.
 */
void launch_interrupt_expect(const char *tool, const struct launch_rundir *dir);

#endif
