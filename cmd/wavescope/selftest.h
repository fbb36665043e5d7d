/*
 * selftest: counters whose values are known by construction, counted on the GPU of this machine.
 *
 * Runs the kernels of programs/fidelity twice with rocprofv3: traced, for the values that they must have, and
 * counted. Prints a table that a person with other hardware can send back.
 */
#ifndef WS_CMD_WAVESCOPE_SELFTEST_H
#define WS_CMD_WAVESCOPE_SELFTEST_H

#include "base/error.h"

#include <stdbool.h>

/* *out_equal: every counter of every kernel has the value that follows from its code. */
enum ws_status wavescope_selftest(bool *out_equal, struct ws_err *err);

#endif
