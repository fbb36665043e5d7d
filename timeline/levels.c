/*
 * The levels above the first, each made from the one before it: reading a level costs less than
 * keeping the open slices of all levels while the trace is read, and a level that turns out
 * not to be smaller is never stored.
 */
#include "timeline/timeline_priv.h"

#include "base/util.h"

#include <string.h>

#define RESOLUTION_NS 256u /* of the first level that merges; tl_track_slice() counts by it */
#define ENOUGH 2048u       /* slices: so few are drawn at once */
#define SMALLER 4u         /* times: a level that is not takes more space than it is worth */
/*
 * Merged slices are rounded to this part of a pixel, which nobody can see. They take half
 * of the space then. What is not merged stays exact.
 */
#define MERGED_STEPS 8u

uint64_t tl_resolution(size_t i)
{
	return i ? (uint64_t)RESOLUTION_NS << 2 * (i - 1) : 0;
}

/* A level that is being made. */
struct building {
	struct tl_timeline *tl;
	struct tl_made_track *made;
	uint64_t resolution_ns;
	uint64_t n;             /* slices so far */
	struct tl_slice *open;  /* by row; n is 0 where there is none */
	uint64_t *longest_ns;   /* by row: of the parts of the open slice */
	struct tl_value bucket; /* COUNTER: what is being merged */
	bool has_bucket;
};

static enum ws_status put_slice(struct building *b, const struct tl_slice *slice,
				struct ws_err *err)
{
	b->n++;
	if (b->made->slices.n == TL_TILE_EVENTS) {
		enum ws_status st = tl_track_flush(b->tl, b->made, false, err);

		if (st)
			return st;
	}
	return ws_vec_push(&b->made->slices, *slice, err);
}

static enum ws_status close_row(struct building *b, uint32_t row, struct ws_err *err)
{
	struct tl_slice *open = &b->open[row];
	uint64_t step_ns = b->resolution_ns / MERGED_STEPS;
	enum ws_status st;

	if (open->n > 1) {
		/* from the start of the timeline, so that nothing is before it */
		open->start_ns -= (open->start_ns - b->tl->start_ns) % step_ns;
		open->end_ns += step_ns - 1 - (open->end_ns - 1) % step_ns;
		open->busy_ns += step_ns - 1 - (open->busy_ns + step_ns - 1) % step_ns;
	}
	st = open->n ? put_slice(b, open, err) : WS_OK;

	open->n = 0;
	return st;
}

/* Rows whose open slice is too far back to be merged with anything. */
static enum ws_status close_old(struct building *b, uint64_t now_ns, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (uint32_t row = 0; !st && row < b->made->track.n_rows; row++)
		if (b->open[row].n && b->open[row].end_ns + b->resolution_ns < now_ns)
			st = close_row(b, row, err);
	return st;
}

static enum ws_status merge_slice(struct building *b, const struct tl_slice *slice,
				  struct ws_err *err)
{
	uint64_t length_ns = slice->end_ns - slice->start_ns;
	struct tl_slice *open = &b->open[slice->row];
	enum ws_status st = WS_OK;

	if (length_ns >= b->resolution_ns) {
		st = close_row(b, slice->row, err);
		return st ? st : put_slice(b, slice, err);
	}
	/* The pixel that a slice begins in is the last one it may reach. */
	if (open->n && slice->start_ns >= open->start_ns &&
	    slice->end_ns - open->start_ns < 2 * b->resolution_ns) {
		open->end_ns = WS_MAX(open->end_ns, slice->end_ns);
		open->n += slice->n;
		open->busy_ns += slice->busy_ns;
		if (length_ns > b->longest_ns[slice->row]) {
			b->longest_ns[slice->row] = length_ns;
			open->path = slice->path;
		}
		open->corr_id = open->n_bytes = 0;
		open->caller_track = open->detail = 0;
		return WS_OK;
	}
	st = close_row(b, slice->row, err);
	*open = *slice;
	b->longest_ns[slice->row] = length_ns;
	return st;
}

static enum ws_status put_bucket(struct building *b, struct ws_err *err)
{
	if (!b->has_bucket)
		return WS_OK;
	b->has_bucket = false;
	b->n++;
	if (b->made->values.n == TL_TILE_EVENTS) {
		enum ws_status st = tl_track_flush(b->tl, b->made, false, err);

		if (st)
			return st;
	}
	return ws_vec_push(&b->made->values, b->bucket, err);
}

static enum ws_status merge_value(struct building *b, const struct tl_value *value,
				  struct ws_err *err)
{
	if (b->has_bucket && value->at_ns - b->bucket.at_ns < b->resolution_ns) {
		b->bucket.value = value->value;
		b->bucket.min = WS_MIN(b->bucket.min, value->min);
		b->bucket.max = WS_MAX(b->bucket.max, value->max);
		return WS_OK;
	}
	if (put_bucket(b, err))
		return err ? err->status : WS_E_NOMEM;
	b->bucket = *value;
	b->has_bucket = true;
	return WS_OK;
}

/* What a tile is read into. */
struct reading {
	void *packed;
	union {
		struct tl_slice slices[TL_TILE_EVENTS];
		struct tl_value values[TL_TILE_EVENTS];
	} at;
};

static enum ws_status merge_tile(struct building *b, const struct tl_tile *tile,
				 struct reading *reading, struct ws_err *err)
{
	bool slices = b->made->track.kind != TL_TRACK_COUNTER;
	struct tl_coder *coder = &b->tl->coder;
	enum ws_status st = tl_tile_bytes(b->tl, tile, 0, reading->packed, tile->n_bytes, err);
	size_t n = 0;

	if (!st && slices)
		st = tl_coder_read_slices(coder, b->tl->start_ns, reading->packed, tile->n_bytes,
					  reading->at.slices, TL_TILE_EVENTS, &n, err);
	else if (!st)
		st = tl_coder_read_values(coder, b->tl->start_ns, reading->packed, tile->n_bytes,
					  reading->at.values, TL_TILE_EVENTS, &n, err);
	for (size_t i = 0; !st && i < n; i++)
		st = slices ? merge_slice(b, &reading->at.slices[i], err)
			    : merge_value(b, &reading->at.values[i], err);
	return st ? st : close_old(b, tile->end_ns, err);
}

/*
 * One level, from the tiles [first, first + n) of the level before it. It is given up when it has more
 * than @max_n slices.
 */
static enum ws_status build_level(struct building *b, size_t first, size_t n, uint64_t max_n,
				  struct reading *reading, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	b->n = 0;
	b->has_bucket = false;
	memset(b->open, 0, b->made->track.n_rows * sizeof(*b->open));
	for (size_t i = first; !st && i < first + n; i++) {
		struct tl_tile tile = b->made->tiles.at[i];

		st = merge_tile(b, &tile, reading, err);
		if (b->n > max_n) {
			ws_vec_clear(&b->made->slices);
			ws_vec_clear(&b->made->values);
			return st;
		}
	}
	for (uint32_t row = 0; !st && row < b->made->track.n_rows; row++)
		st = close_row(b, row, err);
	if (!st)
		st = put_bucket(b, err);
	return st ? st : tl_track_flush(b->tl, b->made, false, err);
}

/* Whether a level cannot be small: what is longer than its resolution stays as it is. */
static bool is_hopeless(const struct tl_made_track *made, size_t i, uint64_t n_before)
{
	uint64_t n_long = 0;

	if (made->track.kind == TL_TRACK_COUNTER)
		return false;
	for (size_t k = i; k < TL_LEVELS_MAX; k++)
		n_long += made->n_by_length[k];
	return n_long > n_before / SMALLER;
}

static void add_level(struct tl_made_track *made, size_t first, size_t i, uint64_t n)
{
	struct tl_level *level = &made->track.levels[made->track.n_levels++];

	*level = (struct tl_level){ .resolution_ns = tl_resolution(i),
				    .n = n,
				    .n_tiles = made->tiles.n - first };
	for (size_t k = first; k < made->tiles.n; k++)
		level->n_bytes += made->tiles.at[k].n_bytes;
}

static void place_tiles(struct tl_made_track *made)
{
	const struct tl_tile *at = made->tiles.at;

	for (size_t i = 0; i < made->track.n_levels; i++) {
		made->track.levels[i].tiles = at;
		at += made->track.levels[i].n_tiles;
	}
	made->track.summary = (const uint8_t *)made->summary.at;
	made->track.n_summary = made->summary.n;
	made->track.summary_at = made->summary_at.at;
}

enum ws_status tl_build_levels(struct tl_timeline *tl, struct tl_made_track *made,
			       struct ws_err *err)
{
	struct building b = { .tl = tl, .made = made };
	struct reading *reading = NULL;
	size_t first = 0, n_tiles;
	uint64_t n = made->track.n_events;
	enum ws_status st = tl_track_flush(tl, made, true, err);

	if (!st) /* where the last one ends */
		st = ws_vec_push(&made->summary_at, (uint64_t)made->summary.n, err);
	if (st)
		return st;
	add_level(made, 0, 0, n);
	n_tiles = made->tiles.n;
	if (n <= ENOUGH)
		goto out;
	b.open = calloc(made->track.n_rows, sizeof(*b.open));
	b.longest_ns = calloc(made->track.n_rows, sizeof(*b.longest_ns));
	reading = calloc(1, sizeof(*reading));
	if (reading)
		reading->packed = malloc(compressBound(TL_TILE_EVENTS * 128));
	if (!b.open || !b.longest_ns || !reading || !reading->packed) {
		st = ws_fail(err, WS_E_NOMEM, "no memory for the levels of a timeline");
		goto out;
	}
	for (size_t i = 1; !st && i < TL_LEVELS_MAX && n > ENOUGH; i++) {
		size_t before = made->tiles.n;
		uint64_t stored = tl->store_bytes;

		if (is_hopeless(made, i, n))
			continue;
		b.resolution_ns = tl_resolution(i);
		st = build_level(&b, first, n_tiles, n / SMALLER, reading, err);
		if (!st && b.n > n / SMALLER) { /* the next one writes over it */
			made->tiles.n = before;
			tl->store_bytes = stored;
		} else if (!st) {
			add_level(made, before, i, b.n);
			first = before;
			n_tiles = made->tiles.n - before;
			n = b.n;
		}
	}
out:
	place_tiles(made);
	free(b.open);
	free(b.longest_ns);
	if (reading)
		free(reading->packed);
	free(reading);
	return st;
}
