/*
 * other_profiler: whether the environment puts another profiler into the programs that are started here.
 *
 * A GPU has one set of counters. Two profilers in a process both program them, and both read wrong values.
 *
 * Threads  reads the environment.
 */
#ifndef WS_LAUNCH_OTHER_PROFILER_H
#define WS_LAUNCH_OTHER_PROFILER_H

#include <stdbool.h>
#include <stddef.h>

/* True: @out_text is the variable, "HSA_TOOLS_LIB=librocprofiler64.so"; else it is empty. */
bool launch_other_profiler(char *out_text, size_t room);

#endif
