/*
 * ranks: the profiles of several processes as one table.
 *
 *	struct prof_rank_file files[] = { { "out/wall_clock-0.json", 0 }, ... };
 *
 *	st = prof_ranks_write("wall_clock", files, n, &opts, err);
 *
 * Reads the JSON files that report.h wrote, one per process, and writes the table and the JSON
 * file of all, `<folder>/merged-<name>.txt` and `.json`. Rows carry the rank, or are added up.
 *
 * Memory   grows with the number of different call paths, not with the number of files.
 */
#ifndef WS_PROFILE_RANKS_H
#define WS_PROFILE_RANKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_rank_file {
	const char *path;
	uint64_t rank;
};

struct prof_ranks_opts {
	const char *folder; /* exists */
	bool collapse;      /* one row for the same path in all ranks */
	/* Called for each file that was written; NULL: silent. */
	void (*written)(void *ctx, const char *path);
	void *ctx;
};

/*
 * @files in the order of their ranks. WS_E_NOTFOUND: the first is no report; nothing was written. A
 * report of another metric than the first is an error.
 */
enum ws_status prof_ranks_write(const char *name, const struct prof_rank_file *files,
				size_t n_files, const struct prof_ranks_opts *opts,
				struct ws_err *err);

/* What the metadata of a process says about its place in a job. */
struct prof_job {
	char hostname[256]; /* "" unknown */
	bool known;         /* the rank is */
	uint64_t rank, size;
};
enum ws_status prof_job_read(const char *path, struct prof_job *out_job, struct ws_err *err);

#endif
