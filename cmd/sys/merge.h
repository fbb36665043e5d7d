/* merge: the output of the ranks of a job, each of which had a front end of its own, as one. */
#ifndef WS_CMD_SYS_MERGE_H
#define WS_CMD_SYS_MERGE_H

#include "base/error.h"
#include "settings/outputs.h"

#include <stdbool.h>

struct sys_merge {
	bool traces, profiles; /* merged.proto; merged-wall_clock.txt and the like */
	bool collapse;         /* one row for the same path in all ranks */
	const char *to;        /* folder of the merged files */
	void (*written)(void *ctx, const char *path);
	void *ctx;
};

/* @outputs are sorted. What cannot be merged is reported on stderr; the rest is. */
enum ws_status sys_merge_outputs(const struct set_outputs *outputs, const struct sys_merge *how,
				 struct ws_err *err);

#endif
