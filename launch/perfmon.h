/*
 * perfmon: whether programs that are started here may count whole GPUs, that is, the queues of all processes.
 *
 * collector/count/gpu_lock.h says what the driver wants. Nothing is locked or changed.
 */
#ifndef WS_LAUNCH_PERFMON_H
#define WS_LAUNCH_PERFMON_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct launch_perfmon {
	uint32_t
		version; /* of the driver's request; 0: it has none, or /dev/kfd cannot be opened */
	bool is_capable; /* a program started from here has CAP_PERFMON or CAP_SYS_ADMIN */
	char capability[120]; /* for the user */
};

void launch_perfmon_look(struct launch_perfmon *out_perfmon);
/* The sets of /proc/PID/status: of a program that a user other than root starts, only the ambient one is left. */
bool launch_perfmon_capable(const char *status, bool is_root, char *out_text, size_t room);

/* WS_E_ACCESS: counters of SQ, of all processes, cannot be counted; the text says why, and what to do. */
enum ws_status launch_check_perfmon(struct ws_err *err);

#endif
