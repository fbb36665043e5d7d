/*
 * passes: runs a program as often as its counters need.
 *
 * The planner (counters/plan.h) decides which counters fit into one pass. A program is run
 * with such a plan in one of two ways:
 *
 *   kernel replay        one run; every counted dispatch is repeated once per set, and memory is
 *                        restored in between: by the software GPU, or on hardware by the collector. If
 *                        kernels could not be repeated there, the rest is application replay.
 *   application replay   one run per set; the program must do the same in every run.
 *
 * The runs write captures. trc_counted_open() (trace/counted.h) joins them to one
 * table: a row per dispatch, a cell per counter and instance.
 *
 *	struct launch_passes passes = { .argv = argv, .gpus = &gpu, .n_gpus = 1, .base = "out",
 *				    .replay = LAUNCH_REPLAY_KERNEL };
 *	struct launch_passes_result runs;
 *	st = launch_passes_run(&passes, &runs, err);
 *	if (!st)
 *		st = launch_passes_table(&runs, NULL, &table, err);
 *	...
 *	trc_counted_close(table);
 *	launch_passes_fini(&runs, true);
 *
 * Progress is shown on stderr when it is a terminal and there are several runs. A run that
 * fails ends them all: its exit status is in the result, and its records are kept.
 *
 * Threads  the main thread only: signal handlers are changed while the program runs.
 */
#ifndef WS_LAUNCH_PASSES_H
#define WS_LAUNCH_PASSES_H

#include "base/error.h"
#include "base/proc.h"
#include "base/vec.h"
#include "collector/config.h"
#include "collector/count/request.h"
#include "launch/rundir.h"
#include "launch/session.h"
#include "trace/counted.h"

#include <stdbool.h>
#include <stddef.h>

enum launch_replay {
	LAUNCH_REPLAY_KERNEL,
	LAUNCH_REPLAY_APPLICATION,
	LAUNCH_REPLAY_ROTATE, /* none: one run, each dispatch counts the next set (pmc_groups) */
	LAUNCH_OVER_TIME,     /* none: one run, whole GPUs, at an interval */
};

struct launch_passes {
	const char *tool;                 /* in front of messages: "rocprofv3" */
	char *const *argv;                /* the program; argv[0] is looked for on PATH */
	const struct col_count_gpu *gpus; /* sets per GPU; one COL_COUNT_EVERY_GPU is enough */
	size_t n_gpus;
	enum launch_replay replay;
	uint64_t interval;      /* ROTATE: dispatches per set; 0 is 1. OVER_TIME: microseconds */
	enum col_count_per per; /* ROTATE: over all dispatches, or per kernel */
	const char *include, *exclude; /* regular expressions on kernel names, or NULL */
	enum col_count_names names;    /* which form of the names */
	const struct col_count_range *ranges;
	size_t n_ranges;
	const struct col_count_range *numbers; /* of dispatches of a process, from 1 */
	size_t n_numbers;
	/*
	 * Other services (tracing), flags and limits; `dir` is set here. They are recorded in
	 * the first run only. NULL: counters and nothing else.
	 */
	const struct col_collect_config *collect;
	const struct launch_session *session; /* instead of argv: programs that run already */
	const struct ws_strv *preload;        /* NULL: none */
	bool no_roctx;
	bool kokkos;
	const char *gpu_time; /* as launch_inject's */
	unsigned wait_s;      /* for what each run leaves running, at most; 0: not at all */
	const char *base;     /* captures go to a folder below this, made if missing */
	const struct launch_rundir *dir; /* instead of base: a folder that is there already */
	void (*show_env)(void *ctx, char *const *env); /* before each run; NULL: no */
	void *ctx;
};

struct launch_passes_result {
	struct ws_proc_end end;     /* of the last run: the others ended well */
	size_t n_runs;              /* that the plan needs */
	size_t n_done;              /* started and ended */
	uint64_t run_ns[2];         /* wall clock: of the first run, of all */
	struct launch_rundir *dirs; /* n_runs; dirs[0] is the folder, others are inside it */
};

/* How many runs of the program it will be. With a session it has to be one. */
size_t launch_passes_n_runs(const struct launch_passes *passes);

/* Fails when a run could not be started; @out_result is to be finished in any case. */
enum ws_status launch_passes_run(const struct launch_passes *passes,
				 struct launch_passes_result *out_result, struct ws_err *err);
/* For a running process: writes the request for the collector into the capture folder. */
enum ws_status launch_passes_request(const struct launch_passes *passes,
				     const struct launch_rundir *dir, struct ws_err *err);
/* Frees the lists, and removes the captures when they are no longer needed. */
void launch_passes_fini(struct launch_passes_result *result, bool remove);

/* The captures of all runs, joined; or of those that are in a folder, when it was another time. */
enum ws_status launch_passes_table(const struct launch_passes_result *result,
				   const struct trc_opts *opts, struct trc_counted **out_table,
				   struct ws_err *err);
enum ws_status launch_passes_table_in(const struct launch_rundir *dir, const struct trc_opts *opts,
				      struct trc_counted **out_table, struct ws_err *err);

#endif
