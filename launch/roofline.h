/*
 * roofline: measuring what a GPU can do, for rocprof-compute's roofline.
 *
 * The benchmark is a program of its own, wavescope-roofline, that lies beside our
 * libraries: it opens AMD's runtime, and a runtime that aborts takes only that
 * program with it. It runs on the GPUs that a profiled program would see: the
 * machine's own, or the software GPU, whose times are then modelled device time.
 * ROOFLINE_BIN names another benchmark to run in its place, as for AMD's tool; it
 * is called with -o and -d alone.
 *
 * What it prints about each peak goes to our stdout, progress to a terminal on
 * stderr, errors to stderr. The file appears under its name only when it is whole.
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
