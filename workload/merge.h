/*
 * merge: pmc_perf.csv, all passes in one file, for ROCm Compute Profiler 3.3 and before, whose
 * analyze does not join passes itself.
 *
 * The reader of folders joins them, so there is one set of rules. In the long form, which 3.3
 * reads as well, the file has the rows of all passes.
 */
#ifndef WS_WORKLOAD_MERGE_H
#define WS_WORKLOAD_MERGE_H

#include "base/error.h"
#include "trace/dispatch_match.h"

#include <stddef.h>

/* One row per dispatch; *@out_n of them. */
enum ws_status wl_merge_wide(const char *dir, enum trc_alike alike, size_t *out_n,
			     struct ws_err *err);
/* One row per dispatch and counter; from *@out_n passes. */
enum ws_status wl_merge_long(const char *dir, size_t *out_n, struct ws_err *err);
/* Passes are added, or replaced: the file is no longer true. */
void wl_merge_remove(const char *dir);

#endif
