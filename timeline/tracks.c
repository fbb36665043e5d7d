/* Tracks while they are being filled: tiles, their summaries, and the file they are kept in. */
#include "timeline/timeline_priv.h"

#include "base/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SUMMARY_BYTES_MAX ((size_t)1 << 30)
#define TILES_MAX (1u << 28)

static const char *const track_words[] = {
#define TL_TRACK_ROW(id, word) word,
	TL_TRACK_TABLE(TL_TRACK_ROW)
#undef TL_TRACK_ROW
};

const char *tl_track_word(enum tl_track_kind kind)
{
	return track_words[kind];
}

struct tl_made_track *tl_track_create(struct tl_timeline *tl, enum tl_track_kind kind,
				      const struct trc_process *process, uint64_t place,
				      const char *name, struct ws_err *err)
{
	struct tl_made_track *made = ws_arena_new(&tl->arena, struct tl_made_track);
	char *kept = ws_arena_strdup(&tl->arena, name);

	if (!made || !kept || ws_vec_push(&tl->tracks, made, NULL)) {
		ws_fail(err, WS_E_NOMEM, "no memory for the tracks of a timeline");
		return NULL;
	}
	made->track = (struct tl_track){
		.kind = kind, .name = kept, .unit = "", .process = process, .n_rows = 1
	};
	made->number = (uint32_t)tl->tracks.n - 1;
	made->place = place;
	ws_vec_init(&made->tiles, TILES_MAX);
	ws_vec_init(&made->slices, TL_TILE_EVENTS);
	ws_vec_init(&made->values, TL_TILE_EVENTS);
	ws_buf_init(&made->summary, SUMMARY_BYTES_MAX);
	ws_vec_init(&made->summary_at, TILES_MAX);
	return made;
}

/* ---- the store ---- */

static enum ws_status store(struct tl_timeline *tl, struct tl_made_track *made,
			    struct tl_tile *tile, const void *bytes, size_t n, struct ws_err *err)
{
	const char *from = bytes;

	tile->at = tl->store_bytes;
	tile->n_bytes = (uint32_t)n;
	while (n) {
		ssize_t written = pwrite(tl->store_fd, from, n, (off_t)tl->store_bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return ws_fail(err, WS_E_IO,
				       "cannot write a temporary file: %s: set TMPDIR to a folder "
				       "with enough space",
				       strerror(written ? errno : ENOSPC));
		from += written;
		n -= (size_t)written;
		tl->store_bytes += (uint64_t)written;
	}
	return ws_vec_push(&made->tiles, *tile, err);
}

enum ws_status tl_tile_bytes(const struct tl_timeline *tl, const struct tl_tile *tile, size_t at,
			     void *to, size_t n, struct ws_err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(tl->store_fd, (char *)to + done, n - done,
				    (off_t)(tile->at + at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ws_fail(err, WS_E_IO, "cannot read a temporary file: %s",
				       strerror(got ? errno : EIO));
		done += (size_t)got;
	}
	return WS_OK;
}

/* ---- summaries ---- */

static enum ws_status sum_up(struct tl_timeline *tl, const struct tl_slice *slice,
			     struct ws_err *err)
{
	uint64_t length_ns = slice->end_ns - slice->start_ns;
	struct tl_path_sum *sum;
	uint32_t *index;

	if (slice->path >= tl->cap_sum_of) {
		size_t cap = WS_MAX(tl->paths.n * 2, (size_t)1024);
		uint32_t *more = realloc(tl->sum_of, cap * sizeof(*more));

		if (!more)
			return ws_fail(err, WS_E_NOMEM, "no memory for a summary of a timeline");
		memset(more + tl->cap_sum_of, 0, (cap - tl->cap_sum_of) * sizeof(*more));
		tl->sum_of = more;
		tl->cap_sum_of = cap;
	}
	index = &tl->sum_of[slice->path];
	if (!*index) {
		struct tl_path_sum first = { .path = slice->path, .min_ns = UINT64_MAX };

		if (ws_vec_push(&tl->sum_at, first, err))
			return err ? err->status : WS_E_NOMEM;
		*index = (uint32_t)tl->sum_at.n;
	}
	sum = &tl->sum_at.at[*index - 1];
	sum->n++;
	sum->sum_ns += length_ns;
	sum->min_ns = WS_MIN(sum->min_ns, length_ns);
	sum->max_ns = WS_MAX(sum->max_ns, length_ns);
	return WS_OK;
}

static enum ws_status add_summary(struct tl_timeline *tl, struct tl_made_track *made,
				  struct ws_err *err)
{
	struct ws_buf *to = &made->summary;

	if (ws_vec_push(&made->summary_at, (uint64_t)to->n, err))
		return err ? err->status : WS_E_NOMEM;
	for (size_t i = 0; i < made->slices.n; i++)
		if (sum_up(tl, &made->slices.at[i], err))
			return err ? err->status : WS_E_NOMEM;
	tl_put_number(to, tl->sum_at.n);
	ws_vec_each(sum, &tl->sum_at) {
		tl_put_number(to, sum->path);
		tl_put_number(to, sum->n);
		tl_put_number(to, sum->sum_ns);
		tl_put_number(to, sum->min_ns);
		tl_put_number(to, sum->max_ns - sum->min_ns);
		tl->sum_of[sum->path] = 0;
	}
	ws_vec_clear(&tl->sum_at);
	return ws_buf_status(to, err);
}

/* ---- filling ---- */

static enum ws_status flush_slices(struct tl_timeline *tl, struct tl_made_track *made,
				   bool summarize, struct ws_err *err)
{
	struct tl_tile tile = { .start_ns = UINT64_MAX, .n = (uint32_t)made->slices.n };
	const void *bytes;
	size_t n_bytes;
	enum ws_status st;

	ws_vec_each(slice, &made->slices) {
		tile.start_ns = WS_MIN(tile.start_ns, slice->start_ns);
		tile.end_ns = WS_MAX(tile.end_ns, slice->end_ns);
	}
	st = summarize ? add_summary(tl, made, err) : WS_OK;
	if (!st)
		st = tl_coder_slices(&tl->coder, tl->start_ns, made->slices.at, made->slices.n,
				     &bytes, &n_bytes, err);
	if (!st)
		st = store(tl, made, &tile, bytes, n_bytes, err);
	ws_vec_clear(&made->slices);
	return st;
}

static enum ws_status flush_values(struct tl_timeline *tl, struct tl_made_track *made,
				   struct ws_err *err)
{
	struct tl_tile tile = { .start_ns = UINT64_MAX, .n = (uint32_t)made->values.n };
	const void *bytes;
	size_t n_bytes;
	enum ws_status st;

	ws_vec_each(value, &made->values) {
		tile.start_ns = WS_MIN(tile.start_ns, value->at_ns);
		tile.end_ns = WS_MAX(tile.end_ns, value->at_ns);
	}
	st = tl_coder_values(&tl->coder, tl->start_ns, made->values.at, made->values.n, &bytes,
			     &n_bytes, err);
	if (!st)
		st = store(tl, made, &tile, bytes, n_bytes, err);
	ws_vec_clear(&made->values);
	return st;
}

enum ws_status tl_track_flush(struct tl_timeline *tl, struct tl_made_track *made, bool summarize,
			      struct ws_err *err)
{
	enum ws_status st = WS_OK;

	if (made->slices.n)
		st = flush_slices(tl, made, summarize, err);
	if (!st && made->values.n)
		st = flush_values(tl, made, err);
	return st;
}

enum ws_status tl_track_slice(struct tl_timeline *tl, struct tl_made_track *made,
			      const struct tl_slice *slice, struct ws_err *err)
{
	uint64_t length_ns = slice->end_ns - slice->start_ns;
	size_t i = 0;

	/* 256 is 4^4: each step of two bits is a level */
	if (length_ns >> 8)
		i = WS_MIN((size_t)(63 - __builtin_clzll(length_ns >> 8)) / 2 + 1,
			   (size_t)TL_LEVELS_MAX - 1);
	made->n_by_length[i]++;
	made->track.n_events++;
	made->track.n_rows = WS_MAX(made->track.n_rows, slice->row + 1);
	tl->end_ns = WS_MAX(tl->end_ns, slice->end_ns);
	if (made->slices.n == TL_TILE_EVENTS) {
		enum ws_status st = tl_track_flush(tl, made, true, err);

		if (st)
			return st;
	}
	return ws_vec_push(&made->slices, *slice, err);
}

enum ws_status tl_track_value(struct tl_timeline *tl, struct tl_made_track *made, uint64_t at_ns,
			      double value, struct ws_err *err)
{
	struct tl_track *track = &made->track;
	struct tl_value point = { .at_ns = at_ns, .value = value, .min = value, .max = value };

	track->min = track->n_events ? WS_MIN(track->min, value) : value;
	track->max = track->n_events ? WS_MAX(track->max, value) : value;
	track->n_events++;
	tl->end_ns = WS_MAX(tl->end_ns, at_ns);
	if (made->values.n == TL_TILE_EVENTS) {
		enum ws_status st = tl_track_flush(tl, made, true, err);

		if (st)
			return st;
	}
	return ws_vec_push(&made->values, point, err);
}

uint32_t tl_track_row(struct tl_made_track *made, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t row = 0;

	while (row < TL_ROWS_MAX - 1 && made->row_ends[row] > start_ns)
		row++;
	made->row_ends[row] = WS_MAX(made->row_ends[row], end_ns);
	return row;
}
