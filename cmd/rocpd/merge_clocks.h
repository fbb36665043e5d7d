/* merge_clocks: the part of 'rocpd merge' for databases of several machines. */
#ifndef WS_CMD_ROCPD_MERGE_CLOCKS_H
#define WS_CMD_ROCPD_MERGE_CLOCKS_H

#include "base/vec.h"
#include "ranks/ranks.h"

/*
 * One database at @path that holds all of @files, with their times on the clock of the first rank.
 * Prints the clocks. An error if they are not known: there is no file then.
 */
enum ws_status rocpd_merge_align(const struct ws_strv *files, const struct rnk_align_opts *opts,
				 const char *path, struct ws_err *err);

#endif
