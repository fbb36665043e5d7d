/*
 * Any bytes as a capture, as a timeline: every tile can be read, lies in the times that it says,
 * and every level counts every event, as do the sums of all times and of the two halves. The same
 * bytes are also taken for a tile. replay.c runs it as a test.
 */
#include "tests/fuzz/packed_capture.h"

#include "base/util.h"
#include "timeline/sums.h"
#include "timeline/tile.h"
#include "timeline/timeline.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct tl_coder coder;
static struct tl_slice slices[TL_TILE_EVENTS];
static struct tl_value values[TL_TILE_EVENTS];

struct level_check {
	const struct tl_timeline *tl;
	const struct tl_track *track;
	uint64_t n, n_events;
};

static void check_slices(struct level_check *check, const struct tl_tile *tile, const void *bytes)
{
	size_t n;

	CHECK(!tl_coder_read_slices(&coder, tl_start_ns(check->tl), bytes, tile->n_bytes, slices,
				    TL_TILE_EVENTS, &n, NULL));
	CHECK(n == tile->n);
	for (size_t i = 0; i < n; i++) {
		CHECK(slices[i].start_ns <= slices[i].end_ns);
		CHECK(slices[i].start_ns >= tile->start_ns && slices[i].end_ns <= tile->end_ns);
		CHECK(slices[i].path < tl_n_paths(check->tl));
		CHECK(slices[i].row < check->track->n_rows);
		CHECK(slices[i].detail < tl_n_details(check->tl));
		CHECK(slices[i].caller_track <= tl_n_tracks(check->tl));
		check->n_events += slices[i].n;
	}
}

static enum ws_status check_tile(void *ctx, const struct tl_tile *tile, const void *bytes,
				 struct ws_err *err)
{
	struct level_check *check = ctx;
	size_t n;

	check->n += tile->n;
	if (check->track->kind != TL_TRACK_COUNTER) {
		check_slices(check, tile, bytes);
		return WS_OK;
	}
	CHECK(!tl_coder_read_values(&coder, tl_start_ns(check->tl), bytes, tile->n_bytes, values,
				    TL_TILE_EVENTS, &n, err));
	CHECK(n == tile->n);
	return WS_OK;
}

/* Events and time of a track in a range. */
static void add_up(const struct tl_timeline *tl, const struct tl_sums *sums, size_t track,
		   uint64_t from_ns, uint64_t until_ns, uint64_t *out_n, uint64_t *out_inside_ns)
{
	struct tl_sum *by_path = calloc(tl_n_paths(tl), sizeof(*by_path));

	CHECK(by_path && !tl_sums_add(sums, track, from_ns, until_ns, by_path, NULL));
	*out_n = *out_inside_ns = 0;
	for (size_t i = 0; i < tl_n_paths(tl); i++) {
		CHECK(!by_path[i].n || by_path[i].min_ns <= by_path[i].max_ns);
		*out_n += by_path[i].n;
		*out_inside_ns += by_path[i].inside_ns;
	}
	free(by_path);
}

static void check_sums(const struct tl_timeline *tl)
{
	uint64_t middle_ns = tl_start_ns(tl) + (tl_end_ns(tl) - tl_start_ns(tl)) / 2;
	struct tl_sums *sums;

	CHECK(!tl_sums_create(tl, &sums, NULL));
	for (size_t i = 0; i < tl_n_tracks(tl); i++) {
		uint64_t n, n_first, n_last, inside_ns, first_ns, last_ns;

		add_up(tl, sums, i, 0, UINT64_MAX, &n, &inside_ns);
		add_up(tl, sums, i, 0, middle_ns, &n_first, &first_ns);
		add_up(tl, sums, i, middle_ns, UINT64_MAX, &n_last, &last_ns);
		if (tl_track_at(tl, i)->kind == TL_TRACK_COUNTER)
			CHECK(!n && !n_first && !n_last);
		else
			CHECK(n == tl_track_at(tl, i)->n_events && n_first + n_last >= n &&
			      first_ns + last_ns == inside_ns);
	}
	tl_sums_destroy(sums);
}

static void check_timeline(const struct trc_trace *trace, uint8_t choice)
{
	struct tl_opts opts = { .group_by_queue = choice & 1,
				.kernel_rename = choice & 2,
				.agent_index = (enum trc_agent_index)(choice >> 2 & 1) };
	struct ws_err err = { 0 };
	struct tl_timeline *tl;

	CHECK(!tl_create(trace, NULL, 0, &opts, &tl, &err));
	for (size_t i = 1; i < tl_n_paths(tl); i++) {
		CHECK(tl_path_at(tl, i)->parent < i);
		CHECK(tl_path_at(tl, i)->name < tl_n_names(tl));
	}
	for (size_t i = 0; i < tl_n_tracks(tl); i++) {
		const struct tl_track *track = tl_track_at(tl, i);

		for (size_t level = 0; level < track->n_levels; level++) {
			struct level_check check = { .tl = tl, .track = track };

			CHECK(!tl_tiles(tl, i, level, 0, UINT64_MAX, check_tile, &check, &err));
			CHECK(check.n == track->levels[level].n);
			CHECK(track->kind == TL_TRACK_COUNTER || check.n_events == track->n_events);
		}
	}
	check_sums(tl);
	tl_destroy(tl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64];
	const char *paths[] = { path };
	struct trc_trace *trace;
	struct ws_err err;
	size_t n;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		CHECK(!tl_coder_init(&coder, NULL));
	}
	CHECK(fd >= 0);
	(void)tl_coder_read_slices(&coder, 0, data, size, slices, TL_TILE_EVENTS, &n, &err);
	(void)tl_coder_read_values(&coder, 0, data, size, values, TL_TILE_EVENTS, &n, &err);
	unpack(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trc_open(paths, 1, NULL, &trace, &err) != WS_OK)
		return 0;
	check_timeline(trace, size ? data[size / 2] : 0);
	trc_close(trace);
	return 0;
}
