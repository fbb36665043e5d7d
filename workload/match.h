/*
 * match: which dispatch of one pass is which of another, in the files of a profile.
 *
 * trace/dispatch_match.h decides; these functions ask it about the files of a folder and
 * about the table that a file is made from. Reading a folder (workload.h) asks in the same
 * way, so what a profile calls matched is what an analysis joins.
 *
 * Memory   in the arenas that are given.
 */
#ifndef WS_WORKLOAD_MATCH_H
#define WS_WORKLOAD_MATCH_H

#include "base/arena.h"
#include "base/error.h"
#include "counters/plan.h"
#include "trace/counted.h"
#include "trace/dispatch_match.h"
#include "workload/sheet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what the passes of a folder have in common ---- */

/* Dispatches of one kind that some passes have more of than others. */
struct wl_uneven {
	const char *kernel;
	uint64_t grid;            /* work-items, of the first of them */
	uint64_t n_least, n_most; /* in one pass */
};

struct wl_tally {
	uint64_t n_matched; /* dispatches that every pass has */
	uint64_t n_most;    /* the same if every pass had what the fullest has */
	size_t n_kernels, n_kinds;
	size_t n_empty;           /* passes without a single row that has all its values */
	struct wl_uneven *uneven; /* in order of appearance */
	size_t n_uneven;
};

/* @files: of the passes, in either form. */
enum ws_status wl_tally(const char *dir, const char *const *files, size_t n_files,
			enum trc_alike alike, struct ws_arena *arena, struct wl_tally *out_tally,
			struct ws_err *err);

/* ---- numbers of dispatches in the long form ---- */

/*
 * Files of the long form are put together by the number of a dispatch, and each pass may
 * have launched its kernels in another order. A row of @table gets the number of its
 * counterpart in @first_file, the first pass of the folder; one without gets a new number.
 */
enum ws_status wl_number_rows(const char *dir, const char *first_file,
			      const struct trc_counted *table, enum trc_alike alike,
			      struct ws_arena *arena, const uint32_t **out_numbers,
			      struct ws_err *err);

/* ---- iteration multiplexing ---- */

/* A kernel that was launched too seldom: some set of counters was never its turn. */
struct wl_too_few {
	const char *kernel;
	size_t n;
};

struct wl_multiplexed {
	const uint32_t *from; /* of struct wl_sheet_rows */
	struct wl_too_few *too_few;
	size_t n_too_few;
};

/*
 * Each launch counted one pass of @plan; which launches near it show the others. Launches
 * of a kind are taken in order of dispatch, as many at a time as there are passes: these
 * make one whole. A rest at the end takes what it lacks from the group before it.
 */
enum ws_status wl_multiplex_rows(const struct cnt_plan *plan, const struct trc_counted *table,
				 enum trc_alike alike, struct ws_arena *arena,
				 struct wl_multiplexed *out_rows, struct ws_err *err);

#endif
