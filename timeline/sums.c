#include "timeline/sums.h"

#include "base/util.h"
#include "base/vec.h"
#include "timeline/tile.h"

#include <stdlib.h>

/* A path in a group of tiles. */
struct group_row {
	uint32_t path;
	uint64_t n, sum_ns, min_ns, max_ns;
};

struct group {
	uint64_t start_ns, end_ns; /* earliest start and latest end of its tiles */
	size_t first_row;          /* up to that of the next group */
};

struct track_groups {
	struct group *at; /* one more than there are */
	size_t n;
};

struct tl_sums {
	const struct tl_timeline *timeline;
	struct track_groups *tracks;
	WS_VEC(struct group_row) rows;
};

#define ROWS_MAX ((size_t)1 << 32)

/* ---- summaries of tiles ---- */

static uint64_t next_number(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (; **at & 0x80; shift += 7)
		value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

/* The summary of a tile: the number of its rows, then row by row. We wrote it. */
static uint64_t summary_begin(const struct tl_track *track, size_t tile, const uint8_t **out_at)
{
	*out_at = track->summary + track->summary_at[tile];
	return next_number(out_at);
}

static struct group_row summary_row(const uint8_t **at)
{
	struct group_row row = { .path = (uint32_t)next_number(at) };

	row.n = next_number(at);
	row.sum_ns = next_number(at);
	row.min_ns = next_number(at);
	row.max_ns = row.min_ns + next_number(at);
	return row;
}

/* ---- groups ---- */

static void add_row(struct tl_sum *to, const struct group_row *row, uint64_t inside_ns)
{
	to->min_ns = to->n ? WS_MIN(to->min_ns, row->min_ns) : row->min_ns;
	to->max_ns = to->n ? WS_MAX(to->max_ns, row->max_ns) : row->max_ns;
	to->n += row->n;
	to->sum_ns += row->sum_ns;
	to->inside_ns += inside_ns;
}

/* Where the rows of the group that is being made are: from 1 by path, 0: it has none yet. */
static enum ws_status add_to_group(struct tl_sums *sums, size_t *row_of,
				   const struct group_row *row, struct ws_err *err)
{
	struct group_row *to;

	if (!row_of[row->path]) {
		if (ws_vec_push(&sums->rows, *row, err))
			return err ? err->status : WS_E_NOMEM;
		row_of[row->path] = sums->rows.n;
		return WS_OK;
	}
	to = &sums->rows.at[row_of[row->path] - 1];
	to->n += row->n;
	to->sum_ns += row->sum_ns;
	to->min_ns = WS_MIN(to->min_ns, row->min_ns);
	to->max_ns = WS_MAX(to->max_ns, row->max_ns);
	return WS_OK;
}

static enum ws_status make_group(struct tl_sums *sums, const struct tl_track *track, size_t number,
				 size_t *row_of, struct group *group, struct ws_err *err)
{
	const struct tl_level *level = &track->levels[0];
	size_t until = WS_MIN((number + 1) * TL_SUMS_GROUP, level->n_tiles);

	*group = (struct group){ .start_ns = UINT64_MAX, .first_row = sums->rows.n };
	for (size_t tile = number * TL_SUMS_GROUP; tile < until; tile++) {
		const uint8_t *at;

		group->start_ns = WS_MIN(group->start_ns, level->tiles[tile].start_ns);
		group->end_ns = WS_MAX(group->end_ns, level->tiles[tile].end_ns);
		for (uint64_t n = summary_begin(track, tile, &at); n; n--) {
			struct group_row row = summary_row(&at);

			if (add_to_group(sums, row_of, &row, err))
				return err ? err->status : WS_E_NOMEM;
		}
	}
	for (size_t i = group->first_row; i < sums->rows.n; i++)
		row_of[sums->rows.at[i].path] = 0;
	return WS_OK;
}

static enum ws_status make_groups(struct tl_sums *sums, size_t number, size_t *row_of,
				  struct ws_err *err)
{
	const struct tl_track *track = tl_track_at(sums->timeline, number);
	struct track_groups *groups = &sums->tracks[number];
	enum ws_status st = WS_OK;
	size_t n = (track->levels[0].n_tiles + TL_SUMS_GROUP - 1) / TL_SUMS_GROUP;

	groups->at = calloc(n + 1, sizeof(*groups->at));
	if (!groups->at)
		return ws_fail(err, WS_E_NOMEM, "no memory for the sums of a timeline");
	for (; !st && groups->n < n; groups->n++)
		st = make_group(sums, track, groups->n, row_of, &groups->at[groups->n], err);
	groups->at[groups->n].first_row = sums->rows.n;
	return st;
}

enum ws_status tl_sums_create(const struct tl_timeline *timeline, struct tl_sums **out_sums,
			      struct ws_err *err)
{
	struct tl_sums *sums = calloc(1, sizeof(*sums));
	size_t *row_of = calloc(tl_n_paths(timeline) + 1, sizeof(*row_of));
	enum ws_status st = WS_OK;

	if (sums) {
		sums->timeline = timeline;
		sums->tracks = calloc(tl_n_tracks(timeline) + 1, sizeof(*sums->tracks));
		ws_vec_init(&sums->rows, ROWS_MAX);
	}
	if (!sums || !row_of || !sums->tracks)
		st = ws_fail(err, WS_E_NOMEM, "no memory for the sums of a timeline");
	for (size_t i = 0; !st && i < tl_n_tracks(timeline); i++)
		if (tl_track_at(timeline, i)->kind != TL_TRACK_COUNTER)
			st = make_groups(sums, i, row_of, err);
	free(row_of);
	if (st) {
		tl_sums_destroy(sums);
		return st;
	}
	*out_sums = sums;
	return WS_OK;
}

void tl_sums_destroy(struct tl_sums *sums)
{
	if (!sums)
		return;
	for (size_t i = 0; sums->tracks && i < tl_n_tracks(sums->timeline); i++)
		free(sums->tracks[i].at);
	free(sums->tracks);
	ws_vec_fini(&sums->rows);
	free(sums);
}

/* ---- ranges ---- */

struct range_reading {
	const struct tl_sums *sums;
	uint64_t from_ns, until_ns;
	struct tl_sum *by_path;
	struct tl_coder coder;
	struct tl_slice *slices; /* of the tile that is being read; NULL: none was yet */
	void *packed;
	size_t packed_cap;
};

static bool is_inside(const struct range_reading *r, uint64_t start_ns, uint64_t end_ns)
{
	return start_ns >= r->from_ns && end_ns <= r->until_ns;
}

static bool overlaps(const struct range_reading *r, uint64_t start_ns, uint64_t end_ns)
{
	return start_ns <= r->until_ns && end_ns >= r->from_ns;
}

static enum ws_status begin_reading(struct range_reading *r, struct ws_err *err)
{
	enum ws_status st;

	if (r->slices)
		return WS_OK;
	st = tl_coder_init(&r->coder, err);
	r->slices = malloc(TL_TILE_EVENTS * sizeof(*r->slices));
	if (!st && !r->slices)
		st = ws_fail(err, WS_E_NOMEM, "no memory for a tile");
	return st;
}

static enum ws_status read_slices(struct range_reading *r, const struct tl_tile *tile,
				  size_t *out_n, struct ws_err *err)
{
	const struct tl_timeline *tl = r->sums->timeline;
	enum ws_status st = begin_reading(r, err);

	if (!st && tile->n_bytes > r->packed_cap) {
		free(r->packed);
		r->packed = malloc(tile->n_bytes);
		r->packed_cap = r->packed ? tile->n_bytes : 0;
		if (!r->packed)
			st = ws_fail(err, WS_E_NOMEM, "no memory for a tile");
	}
	if (!st)
		st = tl_tile_bytes(tl, tile, 0, r->packed, tile->n_bytes, err);
	if (!st)
		st = tl_coder_read_slices(&r->coder, tl_start_ns(tl), r->packed, tile->n_bytes,
					  r->slices, TL_TILE_EVENTS, out_n, err);
	return st;
}

/* A tile at an edge of the range: event by event. */
static enum ws_status add_slices(struct range_reading *r, const struct tl_tile *tile,
				 struct ws_err *err)
{
	size_t n = 0;
	enum ws_status st = read_slices(r, tile, &n, err);

	for (size_t i = 0; !st && i < n; i++) {
		const struct tl_slice *slice = &r->slices[i];
		uint64_t length_ns = slice->end_ns - slice->start_ns;
		struct group_row row = { slice->path, 1, length_ns, length_ns, length_ns };

		if (overlaps(r, slice->start_ns, slice->end_ns))
			add_row(&r->by_path[slice->path], &row,
				WS_MIN(slice->end_ns, r->until_ns) -
					WS_MAX(slice->start_ns, r->from_ns));
	}
	return st;
}

static enum ws_status add_tile(struct range_reading *r, size_t track, size_t tile,
			       struct ws_err *err)
{
	const struct tl_track *of = tl_track_at(r->sums->timeline, track);
	const struct tl_tile *at = &of->levels[0].tiles[tile];
	const uint8_t *rows;

	if (!overlaps(r, at->start_ns, at->end_ns))
		return WS_OK;
	if (!is_inside(r, at->start_ns, at->end_ns))
		return add_slices(r, at, err);
	for (uint64_t n = summary_begin(of, tile, &rows); n; n--) {
		struct group_row row = summary_row(&rows);

		add_row(&r->by_path[row.path], &row, row.sum_ns);
	}
	return WS_OK;
}

static enum ws_status add_group(struct range_reading *r, size_t track, size_t number,
				struct ws_err *err)
{
	const struct group *group = &r->sums->tracks[track].at[number];
	size_t n_tiles = tl_track_at(r->sums->timeline, track)->levels[0].n_tiles;
	size_t until = WS_MIN((number + 1) * TL_SUMS_GROUP, n_tiles);
	enum ws_status st = WS_OK;

	if (!overlaps(r, group->start_ns, group->end_ns))
		return WS_OK;
	if (is_inside(r, group->start_ns, group->end_ns)) {
		for (size_t i = group->first_row; i < group[1].first_row; i++) {
			const struct group_row *row = &r->sums->rows.at[i];

			add_row(&r->by_path[row->path], row, row->sum_ns);
		}
		return WS_OK;
	}
	for (size_t tile = number * TL_SUMS_GROUP; !st && tile < until; tile++)
		st = add_tile(r, track, tile, err);
	return st;
}

enum ws_status tl_sums_add(const struct tl_sums *sums, size_t track, uint64_t from_ns,
			   uint64_t until_ns, struct tl_sum *by_path, struct ws_err *err)
{
	struct range_reading r = {
		.sums = sums, .from_ns = from_ns, .until_ns = until_ns, .by_path = by_path
	};
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < sums->tracks[track].n; i++)
		st = add_group(&r, track, i, err);
	tl_coder_fini(&r.coder);
	free(r.slices);
	free(r.packed);
	return st;
}

/* ---- search ---- */

static bool group_has(const struct tl_sums *sums, const struct group *group, const bool *is_wanted)
{
	for (size_t i = group->first_row; i < group[1].first_row; i++)
		if (is_wanted[sums->rows.at[i].path])
			return true;
	return false;
}

static bool tile_has(const struct tl_track *track, size_t tile, const bool *is_wanted)
{
	const uint8_t *at;

	for (uint64_t n = summary_begin(track, tile, &at); n; n--)
		if (is_wanted[summary_row(&at).path])
			return true;
	return false;
}

bool tl_sums_tile_with(const struct tl_sums *sums, size_t track, size_t tile, int step,
		       const bool *is_wanted, size_t *out_tile)
{
	const struct tl_track *of = tl_track_at(sums->timeline, track);
	const struct track_groups *groups = &sums->tracks[track];
	size_t n_tiles = groups->n ? of->levels[0].n_tiles : 0;
	size_t at = tile;

	while (at < n_tiles) { /* below 0 it is large */
		size_t first = at - at % TL_SUMS_GROUP;

		if (!group_has(sums, &groups->at[at / TL_SUMS_GROUP], is_wanted)) {
			at = step > 0 ? first + TL_SUMS_GROUP : first - 1;
			continue;
		}
		do {
			if (tile_has(of, at, is_wanted)) {
				*out_tile = at;
				return true;
			}
			at += (size_t)step;
		} while (at < n_tiles && at >= first && at < first + TL_SUMS_GROUP);
	}
	return false;
}
