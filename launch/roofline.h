/*
 * roofline: measures the peaks of a GPU for rocprof-compute's roofline.
 *
 * The benchmark is a separate program, wavescope-roofline, in the folder of our
 * libraries: it loads AMD's runtime, and a runtime that aborts ends only that
 * program. It runs on the GPUs that a profiled program would see: those of the
 * machine, or the software GPU, whose times are then simulated.
 * ROOFLINE_BIN names another benchmark to run instead, as for AMD's tool; it
 * is called with -o and -d only.
 *
 * Each peak is printed to our stdout, progress to a terminal on stderr, errors to
 * stderr. The file appears under its name only when it is complete.
 *
 * Threads  the main thread only: signals are passed on to the benchmark meanwhile.
 */
#ifndef WS_LAUNCH_ROOFLINE_H
#define WS_LAUNCH_ROOFLINE_H

#include "base/error.h"
#include "base/proc.h"

#include <limits.h>
#include <stdbool.h>

#define LAUNCH_ROOFLINE_PROGRAM "wavescope-roofline"
#define LAUNCH_ROOFLINE_FILE "roofline.csv"
#define LAUNCH_ROOFLINE_ALL -1

struct launch_roofline {
	const char *dir; /* where the file is written; it is there already */
	int device;      /* as HIP counts them from 0, or LAUNCH_ROOFLINE_ALL: one row each */
	bool quiet;      /* errors only */
};

/* Where the benchmark is: ROOFLINE_BIN, as installed, or in the build tree. */
enum ws_status launch_roofline_program(char out_path[PATH_MAX], struct ws_err *err);

/*
 * Runs it and waits. WS_OK: dir/roofline.csv is there. Otherwise @out_end, when it
 * was started, says how it ended (end.signal: Ctrl-C), and it has printed why.
 */
enum ws_status launch_roofline_run(const struct launch_roofline *roofline,
				   struct ws_proc_end *out_end, struct ws_err *err);

#endif
