/*
 * timeline: a trace as tracks of slices and values, at several levels of detail.
 *
 *	tl_create(trace, NULL, 0, &opts, &timeline, err);
 *	for (i = 0; i < tl_n_tracks(timeline); i++)
 *		st = tl_tiles(timeline, i, 0, from_ns, until_ns, send_tile, ctx, err);
 *	tl_destroy(timeline);
 *
 * A track is what one thread, stream, queue or counter did. Level 0 of a track has every event. Each
 * further level has a resolution: slices that are shorter are merged with their neighbours,
 * so that a picture whose pixel is that long looks the same and has far fewer slices. A level
 * that would not have a quarter of the slices of the one before it is left out.
 *
 * A level is cut into tiles of up to TL_TILE_EVENTS slices, which are compressed (zlib) and kept in
 * an unlinked temporary file. Tiles are in the order in which their events ended; the times
 * that they cover may overlap. README.md has their layout. Page writers and servers
 * get them from tl_tiles() and pass them on as they are.
 *
 * The path of a slice is what it is inside of: its own name and those of the slices around it. Kernels and
 * copies are inside of the call that launched them. Every tile of level 0 has a summary by
 * path, so that sums over long ranges do not need the tiles.
 *
 * Threads  constant after create; tl_tiles() may run on several threads.
 * Memory   grows with the number of different paths and tiles, not with the number of events:
 *          about 300 bytes per 4096 of them.
 */
#ifndef WS_TIMELINE_TIMELINE_H
#define WS_TIMELINE_TIMELINE_H

#include "base/error.h"
#include "profile/tree.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TL_TILE_EVENTS 4096u
#define TL_LEVELS_MAX 24u
#define TL_ROWS_MAX 64u /* of overlapping work on a stream; more share the last one */
#define TL_PATHS_MAX (1u << 20)

/* clang-format off */
/* What a track shows, in the order of the picture; the word is for pages. */
#define TL_TRACK_TABLE(X)        \
	X(STREAM,  "stream")     \
	X(QUEUE,   "queue")      \
	X(COPIES,  "copies")     \
	X(RANGES,  "ranges")     /* markers that may end on another thread */ \
	X(THREAD,  "thread")     \
	X(SAMPLES, "samples")    /* call stacks of a thread */ \
	X(COUNTER, "counter")
/* clang-format on */

enum tl_track_kind {
#define TL_TRACK_ROW(id, word) TL_TRACK_##id,
	TL_TRACK_TABLE(TL_TRACK_ROW)
#undef TL_TRACK_ROW
		TL_TRACK_COUNT
};
const char *tl_track_word(enum tl_track_kind kind);

struct tl_tile {
	uint64_t start_ns, end_ns; /* earliest start and latest end in it */
	uint64_t at;               /* in the store */
	uint32_t n;                /* slices or values */
	uint32_t n_bytes;          /* compressed */
};

struct tl_level {
	uint64_t resolution_ns; /* 0: every event */
	uint64_t n, n_bytes;
	const struct tl_tile *tiles;
	size_t n_tiles;
};

struct tl_track {
	enum tl_track_kind kind;
	const char *name, *unit; /* "" without one */
	const struct trc_process *process;
	bool simulated;
	uint32_t n_rows;
	uint64_t n_events;
	double min, max; /* COUNTER */
	struct tl_level levels[TL_LEVELS_MAX];
	size_t n_levels;
	/* Of all tiles of level 0, in their order: see README.md. */
	const uint8_t *summary;
	size_t n_summary;
	const uint64_t *summary_at; /* by tile: where its own begins; one more for the end */
};

struct tl_path {
	uint32_t parent; /* 0: none */
	uint32_t name;
	enum prof_kind kind;
};

struct tl_opts {
	bool group_by_queue; /* tracks of queues, also where streams are known */
	bool kernel_rename;  /* kernels have the name of the range around their launch */
	enum trc_agent_index agent_index;
	/* Called now and then with the part that is done, from 0 to 1; NULL: not. */
	void (*progress)(void *ctx, double done);
	void *progress_ctx;
};

struct tl_timeline;

/* Of @processes, or of all when it is NULL. The trace must outlive the timeline. */
enum ws_status tl_create(const struct trc_trace *trace, const struct trc_process *const *processes,
			 size_t n_processes, const struct tl_opts *opts,
			 struct tl_timeline **out_timeline, struct ws_err *err);
void tl_destroy(struct tl_timeline *timeline); /* NULL is fine */

/* Of all slices and values. Times in tiles count from the start. */
uint64_t tl_start_ns(const struct tl_timeline *timeline);
uint64_t tl_end_ns(const struct tl_timeline *timeline);
/* The events of a domain that are in a track. */
uint64_t tl_n_placed(const struct tl_timeline *timeline, enum cap_domain domain);
/* Different names beyond the maximum; their slices are called "(other names)". */
uint64_t tl_n_unnamed(const struct tl_timeline *timeline);

size_t tl_n_tracks(const struct tl_timeline *timeline);
const struct tl_track *tl_track_at(const struct tl_timeline *timeline, size_t track);
/* The track that is drawn at place @i. */
size_t tl_track_in_order(const struct tl_timeline *timeline, size_t i);

/* Tables that slices refer to. Path 0, name 0 and detail 0 stand for none. */
size_t tl_n_paths(const struct tl_timeline *timeline);
const struct tl_path *tl_path_at(const struct tl_timeline *timeline, size_t path);
size_t tl_n_names(const struct tl_timeline *timeline);
const char *tl_name_at(const struct tl_timeline *timeline, size_t name);
size_t tl_n_details(const struct tl_timeline *timeline);
const char *tl_detail_at(const struct tl_timeline *timeline, size_t detail);

/* The level whose picture is exact when a pixel lasts @pixel_ns. */
size_t tl_level_for(const struct tl_track *track, uint64_t pixel_ns);

/*
 * Call @fn with every tile of @track at @level that overlaps the time from @from_ns to @until_ns; its
 * bytes are valid during the call. A failure of @fn ends the walk and is returned.
 */
typedef enum ws_status tl_tile_fn(void *ctx, const struct tl_tile *tile, const void *bytes,
				  struct ws_err *err);
enum ws_status tl_tiles(const struct tl_timeline *timeline, size_t track, size_t level,
			uint64_t from_ns, uint64_t until_ns, tl_tile_fn *fn, void *ctx,
			struct ws_err *err);
/* @n bytes of a tile from number @at on, as they are stored. */
enum ws_status tl_tile_bytes(const struct tl_timeline *timeline, const struct tl_tile *tile,
			     size_t at, void *to, size_t n, struct ws_err *err);

#endif
