/*
 * sums: how often and how long each path of a timeline ran in a range of time, without reading the
 * events of long ranges.
 *
 *	tl_sums_create(timeline, &sums, err);
 *	st = tl_sums_add(sums, track, from_ns, until_ns, by_path, err);     tl_n_paths() of them
 *	found = tl_sums_tile_with(sums, track, tile, 1, is_wanted, &tile);
 *	tl_sums_destroy(sums);
 *
 * Tiles have summaries by path (timeline.h). Here those of TL_SUMS_GROUP neighbours are added up
 * once, so that a range of 10^8 events costs a few hundred groups, and the tiles at its two edges.
 *
 * Threads  constant after create.
 * Memory   a row per group and path that occurs in it.
 */
#ifndef WS_TIMELINE_SUMS_H
#define WS_TIMELINE_SUMS_H

#include "timeline/timeline.h"

#define TL_SUMS_GROUP 64u /* tiles */

struct tl_sum {
	uint64_t n; /* events; 0: none, and the rest means nothing */
	uint64_t sum_ns, min_ns, max_ns;
	uint64_t inside_ns; /* the part of sum_ns that is inside of the range */
};

struct tl_sums;

/* The timeline must outlive it. */
enum ws_status tl_sums_create(const struct tl_timeline *timeline, struct tl_sums **out_sums,
			      struct ws_err *err);
void tl_sums_destroy(struct tl_sums *sums); /* NULL is fine */

/* Adds what overlaps the time from @from_ns to @until_ns. Counters have no sums. */
enum ws_status tl_sums_add(const struct tl_sums *sums, size_t track, uint64_t from_ns,
			   uint64_t until_ns, struct tl_sum *by_path, struct ws_err *err);

/*
 * Of the tiles of level 0, from number @tile on upwards (@step: 1) or downwards (-1), the first
 * that has a path with @is_wanted; false: none has.
 */
bool tl_sums_tile_with(const struct tl_sums *sums, size_t track, size_t tile, int step,
		       const bool *is_wanted, size_t *out_tile);

#endif
