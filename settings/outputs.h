/*
 * outputs: the files that processes of rocprof-sys wrote, found again in their folder.
 *
 * Their names end in a number, which is the rank in a job and else the pid: "wall_clock-3.json".
 * Files without one, and those that were merged, are not listed.
 *
 * Memory   in the caller's arena.
 */
#ifndef WS_SETTINGS_OUTPUTS_H
#define WS_SETTINGS_OUTPUTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct set_output {
	const char *stem, *ext; /* "wall_clock", "json" */
	uint64_t number;
	const char *path;
	struct timespec written;
};
WS_VEC_TYPE(set_outputs, struct set_output);

/*
 * Adds those in @folder. A folder without any is an error; if its subfolders have some, the
 * message names the newest.
 */
enum ws_status set_outputs_add(struct set_outputs *outputs, const char *folder,
			       struct ws_arena *arena, struct ws_err *err);
/* Waits until no file in @folder is in the making, at most @seconds. */
void set_outputs_await(const char *folder, uint64_t seconds);
/* By extension and stem, then number. The same file of the same process twice is an error. */
enum ws_status set_outputs_sort(struct set_outputs *outputs, struct ws_err *err);
/* How many from @i on have the same stem and extension. */
size_t set_outputs_group(const struct set_outputs *outputs, size_t i);
/* Whether @stem is there of all @n processes 0, 1, ..., and none is older than @since. */
bool set_outputs_complete(const struct set_outputs *outputs, const char *stem, const char *ext,
			  uint64_t n, struct timespec since);

/* The parts of "wall_clock-3.json"; false: it is not of that form. Also for tests. */
bool set_output_parse(const char *name, struct ws_arena *arena, struct set_output *out_output);

#endif
