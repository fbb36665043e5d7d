/*
 * watchdog: ends a program that takes too long.
 *
 * After the time everything that descends from us is asked to end (SIGTERM), and killed
 * when it has not after a while. Started before a program is run, stopped after it.
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
