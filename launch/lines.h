/*
 * lines: the output of a program, passed on line by line while it runs.
 *
 * Between start and stop our stdout, and on request stderr, are a pipe that started
 * programs inherit; a thread reads it. An incomplete last line is passed on at stop. The
 * output of a program that outlives its parent is then no longer read.
 *
 * Threads  start and stop: the main thread. The function is called on another one.
 */
#ifndef WS_LAUNCH_LINES_H
#define WS_LAUNCH_LINES_H

#include "base/error.h"

#include <pthread.h>

enum launch_lines_of { LAUNCH_LINES_STDOUT = 1, LAUNCH_LINES_BOTH };

struct launch_lines {
	void (*line)(void *ctx, const char *text); /* without its end */
	void *ctx;
	enum launch_lines_of of;
	int saved[2]; /* stdout and stderr */
	int from, stop;
	pthread_t thread;
};

enum ws_status launch_lines_start(struct launch_lines *lines, enum launch_lines_of of,
				  void (*line)(void *ctx, const char *text), void *ctx,
				  struct ws_err *err);
void launch_lines_stop(struct launch_lines *lines);

#endif
