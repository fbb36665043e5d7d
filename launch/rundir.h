/*
 * rundir: the folder in which one run keeps its captures until they are converted.
 *
 *	DIR/.rocprofv3/<host>-<pid>-<number>/4711-0.wcap ...
 *
 * It is in the output folder, so that the captures of a killed run are found there.
 * `options` in it has the options of the run, one word per line, for --recover. The folder
 * is removed when everything in it has been converted.
 *
 * It is private to the user. If .rocprofv3 belongs to another user, as it may in /tmp, the
 * folder is .rocprofv3-<uid>. Runs of rocprof-sys are in .rocprof-sys.
 */
#ifndef WS_LAUNCH_RUNDIR_H
#define WS_LAUNCH_RUNDIR_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct launch_rundir {
	char path[PATH_MAX]; /* absolute; "" not made */
};

#define LAUNCH_RUNDIR_ROCPROFV3 ".rocprofv3" /* rocprofv3 and rocprof-compute */
#define LAUNCH_RUNDIR_SYS ".rocprof-sys"
/* Under @base, which is made if it is missing, parents too; @parent: one of the names above. */
enum ws_status launch_rundir_create(const char *base, const char *parent,
				    struct launch_rundir *out_dir, struct ws_err *err);
/* For run @n of the same program, from 2: a folder inside, which goes with it. */
enum ws_status launch_rundir_create_sub(const struct launch_rundir *dir, size_t n,
					struct launch_rundir *out_sub, struct ws_err *err);
/* How many runs there are: 1, and those that have a folder inside. */
size_t launch_rundir_n_runs(const struct launch_rundir *dir);
void launch_rundir_sub(const struct launch_rundir *dir, size_t n,
		       struct launch_rundir *out_sub); /* 1: itself */
/* A folder of launch_rundir_create(), or with captures; for others the error names one below it. */
enum ws_status launch_rundir_open(const char *path, struct launch_rundir *out_dir,
				  struct ws_err *err);

enum ws_status launch_rundir_save(const struct launch_rundir *dir, const struct ws_strv *words,
				  struct ws_err *err);
/* Words live in @arena; a folder without any gives none. */
enum ws_status launch_rundir_load(const struct launch_rundir *dir, struct ws_arena *arena,
				  struct ws_strv *out_words, struct ws_err *err);

/* Paths of the captures, in the order of pid and number; in @arena. */
enum ws_status launch_rundir_captures(const struct launch_rundir *dir, struct ws_arena *arena,
				      struct ws_strv *out_paths, struct ws_err *err);

/* The process that wrote a capture, from the name of the file. */
uint32_t launch_rundir_pid(const char *capture);
/* Whether another program took the process of this capture over (exec): then it has two. */
bool launch_rundir_replaced(const struct ws_strv *captures, size_t i);

/* Processes that could not create a capture: no space or no permission. */
unsigned launch_rundir_n_unrecorded(const struct launch_rundir *dir);

/* The captures, what was saved, and the folders that are empty then. */
void launch_rundir_remove(const struct launch_rundir *dir);

/* Runs of this machine below @base whose front end was killed before converting them. */
void launch_rundir_remove_left(const char *base);

#endif
