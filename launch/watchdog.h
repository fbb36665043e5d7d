/*
 * watchdog: ends a program after a time limit.
 *
 * After the limit all descendants of this process get SIGTERM, and later SIGKILL if they
 * have not ended. It is started before a program is run, and stopped after it.
 *
 * Threads  start and stop: the main thread.
 */
#ifndef WS_LAUNCH_WATCHDOG_H
#define WS_LAUNCH_WATCHDOG_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>

struct launch_watchdog {
	double seconds; /* 0: no watchdog */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool over, fired;
};

enum ws_status launch_watchdog_start(struct launch_watchdog *dog, double seconds,
				     struct ws_err *err);
bool launch_watchdog_stop(struct launch_watchdog *dog); /* true: it had to act */

#endif
