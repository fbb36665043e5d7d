/*
 * outfile: files of a workload folder, written whole or not at all.
 *
 * A file is built in memory or streamed, under a temporary name beside its own, and takes
 * its name when it is complete: a reader sees the old file or the new one, also after the
 * disk was full.
 */
#ifndef WS_WORKLOAD_OUTFILE_H
#define WS_WORKLOAD_OUTFILE_H

#include "base/error.h"
#include "base/str.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wl_outfile {
	FILE *to;
	char path[PATH_MAX], part[PATH_MAX];
};

enum ws_status wl_outfile_open(struct wl_outfile *file, const char *dir, const char *name,
			       struct ws_err *err);
/* Give it its name; on failure, also one that came earlier (a full disk), nothing remains. */
enum ws_status wl_outfile_commit(struct wl_outfile *file, struct ws_err *err);
void wl_outfile_abandon(struct wl_outfile *file); /* committed or never opened is fine */

/* One cell, quoted where RFC 4180 asks for it, with @end after it. */
void wl_put_text(FILE *to, const char *text, char end);
void wl_put_u64(FILE *to, uint64_t value, char end);
/* A counter: whole numbers without a point, others so that they read back the same. NaN: empty. */
void wl_put_number(FILE *to, double value, char end);

#endif
