/*
 * systrace_capture: the capture of a known program, with all that rocprof-sys's Perfetto trace
 * shows, for its tests. Whoever links it gets names of call stacks from it, too: it stands in for
 * profile/frames.c.
 */
#ifndef WS_TESTS_OUTPUT_SYSTRACE_CAPTURE_H
#define WS_TESTS_OUTPUT_SYSTRACE_CAPTURE_H

#include "base/error.h"

#include <stdbool.h>

/* Its times, in microseconds from the start of the program. */
#define SYSTRACE_BASE 1000000000000ull
#define SYSTRACE_US(us) (SYSTRACE_BASE + (us)*1000ull)

/* @many: with thousands of regions and calls besides. */
enum ws_status systrace_capture_write(const char *path, bool many, struct ws_err *err);

#endif
