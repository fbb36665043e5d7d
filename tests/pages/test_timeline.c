/* Tiles, tracks and levels of detail of captures whose every event is known. */
#include "tests/profile/rig.h"
#include "tests/unit/unit.h"
#include "timeline/tile.h"
#include "timeline/timeline.h"

#include <string.h>
#include <unistd.h>

#define US 1000ull
#define START (1000 * 1000 * US)

/* ---- tiles ---- */

static const struct tl_slice some_slices[] = {
	{ .start_ns = 100, .end_ns = 250, .path = 3, .corr_id = 9, .n = 1, .busy_ns = 150 },
	{ .start_ns = 90, .end_ns = 260, .path = 1, .row = 2, .n = 1, .busy_ns = 170 },
	/* ended before the one before it, and has all that a slice may have */
	{ .start_ns = 200,
	  .end_ns = 205,
	  .path = 200000,
	  .row = 63,
	  .corr_id = UINT64_MAX,
	  .caller_track = 7,
	  .detail = 300,
	  .n = 12,
	  .busy_ns = 4,
	  .n_bytes = 1ull << 40 },
	{ .start_ns = 260, .end_ns = 260, .path = 2, .n = 1 },
};

static void slices_read_back_as_they_were(void **state)
{
	struct tl_slice read[4];
	struct tl_coder coder;
	const void *bytes;
	size_t n_bytes, n;
	char kept[1024];

	assert_int_equal(tl_coder_init(&coder, NULL), WS_OK);
	assert_int_equal(tl_coder_slices(&coder, 50, some_slices, 4, &bytes, &n_bytes, NULL),
			 WS_OK);
	memcpy(kept, bytes, n_bytes);
	assert_int_equal(tl_coder_read_slices(&coder, 50, kept, n_bytes, read, 4, &n, NULL), WS_OK);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(read[i].start_ns, some_slices[i].start_ns);
		assert_int_equal(read[i].end_ns, some_slices[i].end_ns);
		assert_int_equal(read[i].path, some_slices[i].path);
		assert_int_equal(read[i].row, some_slices[i].row);
		assert_int_equal(read[i].corr_id, some_slices[i].corr_id);
		assert_int_equal(read[i].caller_track, some_slices[i].caller_track);
		assert_int_equal(read[i].detail, some_slices[i].detail);
		assert_int_equal(read[i].n_bytes, some_slices[i].n_bytes);
		assert_int_equal(read[i].n, some_slices[i].n);
		assert_int_equal(read[i].busy_ns, some_slices[i].busy_ns);
	}
	tl_coder_fini(&coder);
}

static void values_read_back_as_they_were(void **state)
{
	static const struct tl_value rows[2][3] = {
		{ { 10, 5, 5, 5 }, { 20, -7, -7, -7 }, { 15, 1e15, -2, 1e15 } },
		{ { 10, 0.5, 0.5, 0.5 }, { 20, 1e300, 0, 1e300 }, { 30, -0.125, -1, 2 } },
	};
	struct tl_coder coder;

	assert_int_equal(tl_coder_init(&coder, NULL), WS_OK);
	for (size_t i = 0; i < 2; i++) {
		struct tl_value read[3];
		const void *bytes;
		size_t n_bytes, n;
		char kept[1024];

		assert_int_equal(tl_coder_values(&coder, 0, rows[i], 3, &bytes, &n_bytes, NULL),
				 WS_OK);
		memcpy(kept, bytes, n_bytes);
		assert_int_equal(tl_coder_read_values(&coder, 0, kept, n_bytes, read, 3, &n, NULL),
				 WS_OK);
		assert_int_equal(n, 3);
		assert_memory_equal(read, rows[i], sizeof(read));
	}
	tl_coder_fini(&coder);
}

static void bytes_that_are_no_tile_are_refused(void **state)
{
	struct tl_slice read[4];
	struct ws_err err = { 0 };
	struct tl_coder coder;
	const void *bytes;
	size_t n_bytes, n;
	char kept[1024];

	assert_int_equal(tl_coder_init(&coder, NULL), WS_OK);
	assert_int_equal(tl_coder_slices(&coder, 0, some_slices, 4, &bytes, &n_bytes, NULL), WS_OK);
	memcpy(kept, bytes, n_bytes);
	for (size_t i = 0; i < n_bytes; i++)
		assert_fails_with(tl_coder_read_slices(&coder, 0, kept, i, read, 4, &n, &err),
				  WS_E_FORMAT, &err, "not a tile");
	/* More slices than there is space for. */
	assert_fails_with(tl_coder_read_slices(&coder, 0, kept, n_bytes, read, 3, &n, &err),
			  WS_E_FORMAT, &err, "not a tile");
	for (size_t i = 0; i < n_bytes; i++) {
		kept[i] ^= 0x55;
		assert_int_equal(tl_coder_read_slices(&coder, 0, kept, n_bytes, read, 4, &n, &err),
				 WS_E_FORMAT);
		kept[i] ^= 0x55;
	}
	tl_coder_fini(&coder);
}

/* ---- timelines ---- */

static char dir[] = "/tmp/ws-timeline-XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

/* The timeline of a capture that is then removed; the trace reads it until it is closed. */
struct scene {
	struct rig rig;
	struct trc_trace *trace;
	struct tl_timeline *tl;
};

static void begin(struct scene *scene)
{
	rig_start(&scene->rig, dir, 4711, START);
}

static void end(struct scene *scene, uint64_t fini_ns)
{
	struct tl_opts opts = { .agent_index = TRC_AGENT_INDEX_TYPE };

	rig_end(&scene->rig, fini_ns);
	scene->trace = rig_open(&scene->rig, 1);
	assert_int_equal(tl_create(scene->trace, NULL, 0, &opts, &scene->tl, NULL), WS_OK);
}

static void finish(struct scene *scene)
{
	tl_destroy(scene->tl);
	trc_close(scene->trace);
	unlink(scene->rig.path);
}

static size_t track_named(const struct tl_timeline *tl, const char *part)
{
	for (size_t i = 0; i < tl_n_tracks(tl); i++)
		if (strstr(tl_track_at(tl, i)->name, part))
			return i;
	fail_msg("no track is called %s", part);
	return 0;
}

#define SLICES_MAX 65536

struct reading {
	const struct tl_timeline *tl;
	struct tl_coder coder;
	struct tl_slice slices[SLICES_MAX];
	size_t n, n_tiles;
};
static struct reading reading;

static enum ws_status read_tile(void *ctx, const struct tl_tile *tile, const void *bytes,
				struct ws_err *err)
{
	struct reading *r = ctx;
	size_t n;
	enum ws_status st =
		tl_coder_read_slices(&r->coder, tl_start_ns(r->tl), bytes, tile->n_bytes,
				     r->slices + r->n, SLICES_MAX - r->n, &n, err);

	if (st)
		return st;
	assert_int_equal(n, tile->n);
	for (size_t i = r->n; i < r->n + n; i++) {
		assert_true(r->slices[i].start_ns >= tile->start_ns);
		assert_true(r->slices[i].end_ns <= tile->end_ns);
	}
	r->n += n;
	r->n_tiles++;
	return WS_OK;
}

static const struct reading *read_level(const struct tl_timeline *tl, size_t track, size_t level,
					uint64_t from_ns, uint64_t until_ns)
{
	reading.tl = tl;
	reading.n = reading.n_tiles = 0;
	assert_int_equal(tl_coder_init(&reading.coder, NULL), WS_OK);
	assert_int_equal(tl_tiles(tl, track, level, from_ns, until_ns, read_tile, &reading, NULL),
			 WS_OK);
	tl_coder_fini(&reading.coder);
	return &reading;
}

static const struct tl_slice *slice_named(const struct tl_timeline *tl, const struct reading *r,
					  const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(tl_name_at(tl, tl_path_at(tl, r->slices[i].path)->name), name))
			return &r->slices[i];
	fail_msg("no slice is called %s", name);
	return NULL;
}

static void kernels_are_inside_of_the_call_that_launched_them(void **state)
{
	struct scene scene;
	const struct tl_slice *launch, *kernel;
	uint32_t launch_path;
	size_t thread;

	begin(&scene);
	rig_region(&scene.rig, 1, CAP_REGION_USER, "step", 0);
	rig_operation(&scene.rig, 1, "hipLaunchKernel");
	rig_gpu(&scene.rig, "_Z3addPfi.kd");
	rig_enter(rig_lane(&scene.rig, 4711), 1, START + 10 * US);
	rig_call(rig_lane(&scene.rig, 4711), 1, START + 20 * US, START + 30 * US, 5);
	rig_dispatch(rig_lane(&scene.rig, 4720), 4711, START + 25 * US, START + 60 * US, 5, NULL);
	rig_dispatch(rig_lane(&scene.rig, 4720), 4711, START + 40 * US, START + 50 * US, 99, NULL);
	rig_leave(rig_lane(&scene.rig, 4711), 1, START + 80 * US);
	end(&scene, START + 100 * US);
	thread = track_named(scene.tl, "Thread 0");
	launch = slice_named(scene.tl, read_level(scene.tl, thread, 0, 0, UINT64_MAX),
			     "hipLaunchKernel");
	launch_path = launch->path;
	assert_int_equal(launch->row, 1);
	assert_int_equal(launch->start_ns, START + 20 * US);
	assert_int_equal(slice_named(scene.tl, &reading, "step")->end_ns, START + 80 * US);
	assert_int_equal(slice_named(scene.tl, &reading, "step")->path,
			 tl_path_at(scene.tl, launch_path)->parent);
	read_level(scene.tl, track_named(scene.tl, "queue"), 0, 0, UINT64_MAX);
	assert_int_equal(reading.n, 2);
	kernel = slice_named(scene.tl, &reading, "add(float*, int)");
	assert_int_equal(kernel->caller_track, thread + 1);
	assert_int_equal(tl_path_at(scene.tl, kernel->path)->parent, launch_path);
	assert_non_null(strstr(tl_detail_at(scene.tl, kernel->detail), "workgroup="));
	/* Nobody launched the other one, and it overlaps: a row of its own, and no parent. */
	assert_int_equal(reading.slices[1].row, 1);
	assert_int_equal(reading.slices[1].caller_track, 0);
	assert_int_equal(tl_path_at(scene.tl, reading.slices[1].path)->parent, 0);
	assert_int_equal(tl_n_placed(scene.tl, CAP_DOMAIN_KERNEL_DISPATCH), 2);
	finish(&scene);
}

static void a_region_without_an_end_ends_with_its_thread(void **state)
{
	struct scene scene;

	begin(&scene);
	rig_region(&scene.rig, 1, CAP_REGION_USER, "outer", 0);
	rig_region(&scene.rig, 2, CAP_REGION_USER, "inner", 0);
	rig_enter(rig_lane(&scene.rig, 4711), 1, START + 10 * US);
	rig_enter(rig_lane(&scene.rig, 4711), 2, START + 20 * US);
	rig_leave(rig_lane(&scene.rig, 4711), 1, START + 40 * US); /* ends what is inside, too */
	rig_enter(rig_lane(&scene.rig, 4711), 2, START + 50 * US);
	end(&scene, START + 90 * US);
	read_level(scene.tl, track_named(scene.tl, "Thread 0"), 0, 0, UINT64_MAX);
	assert_int_equal(reading.n, 3);
	assert_int_equal(reading.slices[0].end_ns, START + 40 * US);
	assert_int_equal(reading.slices[1].end_ns, START + 40 * US);
	assert_int_equal(reading.slices[2].start_ns, START + 50 * US);
	assert_int_equal(reading.slices[2].end_ns, START + 90 * US);
	assert_int_equal(reading.slices[2].row, 0);
	finish(&scene);
}

static void samples_with_the_same_function_are_one_slice(void **state)
{
	struct scene scene;
	struct cap_lane *lane;
	const struct tl_slice *slice;

	begin(&scene);
	rig_stack(1, "main|work");
	rig_stack(2, "main|rest");
	rig_sampler(&scene.rig, CAP_SAMPLER_CPU_TIME, 10 * US);
	lane = rig_lane(&scene.rig, 4711);
	for (uint64_t i = 1; i <= 6; i++)
		rig_sample(lane, i <= 3 ? 1 : 2, CAP_SAMPLER_CPU_TIME, START + i * 10 * US,
			   i * 10 * US);
	end(&scene, START + 100 * US);
	read_level(scene.tl, track_named(scene.tl, "CPU time samples of 0 (4711)"), 0, 0,
		   UINT64_MAX);
	assert_int_equal(reading.n, 3);
	slice = slice_named(scene.tl, &reading, "main");
	assert_int_equal(slice->end_ns - slice->start_ns, 60 * US);
	slice = slice_named(scene.tl, &reading, "work");
	assert_int_equal(slice->end_ns, START + 30 * US);
	assert_int_equal(slice->row, 1);
	slice = slice_named(scene.tl, &reading, "rest");
	assert_int_equal(slice->start_ns, START + 30 * US);
	finish(&scene);
	rig_stacks_clear();
}

static void metrics_are_tracks_with_their_unit(void **state)
{
	struct scene scene;
	const struct tl_track *track;
	struct cap_lane *lane;

	begin(&scene);
	rig_metric(&scene.rig, 1, CAP_METRIC_PROCESS_PAGE_FAULT, "Memory (S)", "MB");
	lane = rig_lane(&scene.rig, 4711);
	for (uint64_t i = 0; i < 10; i++)
		rig_read_metric(lane, 1, START + i * US, i % 2 ? 4.5 : -1);
	end(&scene, START + 100 * US);
	track = tl_track_at(scene.tl, track_named(scene.tl, "Memory (S)"));
	assert_int_equal(track->kind, TL_TRACK_COUNTER);
	assert_string_equal(track->unit, "MB");
	assert_int_equal(track->n_events, 10);
	assert_float_equal(track->min, -1, 0);
	assert_float_equal(track->max, 4.5, 0);
	finish(&scene);
}

/* ---- levels ---- */

#define CALLS 40000u

/* Calls of 300 ns, every 500 ns; each thousandth takes 100 us. */
static uint64_t write_calls(struct scene *scene)
{
	struct cap_lane *lane;
	uint64_t at_ns = START;

	begin(scene);
	rig_operation(&scene->rig, 1, "hipGetDevice");
	rig_operation(&scene->rig, 2, "hipDeviceSynchronize");
	lane = rig_lane(&scene->rig, 4711);
	for (uint32_t i = 0; i < CALLS; i++) {
		bool is_long = i % 1000 == 999;

		rig_call(lane, is_long ? 2 : 1, at_ns, at_ns + (is_long ? 100 * US : 300), i + 1);
		at_ns += is_long ? 101 * US : 500;
	}
	end(scene, at_ns);
	return at_ns;
}

static void every_level_counts_every_event(void **state)
{
	struct scene scene;
	const struct tl_track *track;
	uint64_t n_before = UINT64_MAX;

	write_calls(&scene);
	track = tl_track_at(scene.tl, 0);
	assert_true(track->n_levels >= 3);
	for (size_t level = 0; level < track->n_levels; level++) {
		uint64_t n = 0, busy_ns = 0, n_long = 0, step_ns;

		read_level(scene.tl, 0, level, 0, UINT64_MAX);
		assert_int_equal(reading.n, track->levels[level].n);
		for (size_t i = 0; i < reading.n; i++) {
			const struct tl_slice *slice = &reading.slices[i];

			assert_true(slice->start_ns >= tl_start_ns(scene.tl));
			n += slice->n;
			busy_ns += slice->busy_ns;
			n_long += slice->n == 1 && slice->end_ns - slice->start_ns == 100 * US;
			/* what is merged is no longer than two pixels and the rounding */
			if (slice->n > 1)
				assert_true(slice->end_ns - slice->start_ns <=
					    track->levels[level].resolution_ns * 9 / 4);
		}
		assert_int_equal(n, CALLS);
		step_ns = track->levels[level].resolution_ns / 8;
		assert_true(busy_ns >= 40 * 100 * US + (CALLS - 40) * 300);
		assert_true(busy_ns <= 40 * 100 * US + (CALLS - 40) * 300 + reading.n * step_ns);
		/* what is as long as a pixel is still there, exactly */
		if (track->levels[level].resolution_ns <= 100 * US)
			assert_int_equal(n_long, 40);
		assert_true(level == 0 || track->levels[level].n <= n_before / 4);
		n_before = track->levels[level].n;
	}
	finish(&scene);
}

static void a_range_has_the_tiles_that_overlap_it(void **state)
{
	struct scene scene;
	uint64_t from_ns = START + 5000 * US, until_ns = START + 5100 * US;
	size_t n = 0, n_all;

	write_calls(&scene);
	n_all = read_level(scene.tl, 0, 0, 0, UINT64_MAX)->n_tiles;
	assert_int_equal(n_all, (CALLS + TL_TILE_EVENTS - 1) / TL_TILE_EVENTS);
	for (size_t i = 0; i < reading.n; i++)
		n += reading.slices[i].start_ns <= until_ns && reading.slices[i].end_ns >= from_ns;
	assert_true(n > 0);
	read_level(scene.tl, 0, 0, from_ns, until_ns);
	assert_true(reading.n_tiles >= 1 && reading.n_tiles <= 2);
	for (size_t i = 0; i < reading.n; i++)
		n -= reading.slices[i].start_ns <= until_ns && reading.slices[i].end_ns >= from_ns;
	assert_int_equal(n, 0);
	read_level(scene.tl, 0, 0, 1, START - 1);
	assert_int_equal(reading.n, 0);
	finish(&scene);
}

static void a_zoom_has_its_level(void **state)
{
	struct tl_track track = { .n_levels = 3,
				  .levels = { { .resolution_ns = 0 },
					      { .resolution_ns = 4096 },
					      { .resolution_ns = 65536 } } };

	assert_int_equal(tl_level_for(&track, 0), 0);
	assert_int_equal(tl_level_for(&track, 4095), 0);
	assert_int_equal(tl_level_for(&track, 4096), 1);
	assert_int_equal(tl_level_for(&track, UINT64_MAX), 2);
}

static void long_slices_have_no_further_levels(void **state)
{
	struct scene scene;
	struct cap_lane *lane;

	begin(&scene);
	rig_operation(&scene.rig, 1, "hipDeviceSynchronize");
	lane = rig_lane(&scene.rig, 4711);
	for (uint64_t i = 0; i < 5000; i++)
		rig_call(lane, 1, START + i * 1000 * US, START + i * 1000 * US + 900 * US, i + 1);
	end(&scene, START + 5000ull * 1000 * US);
	for (size_t i = 1; i < tl_track_at(scene.tl, 0)->n_levels; i++)
		assert_true(tl_track_at(scene.tl, 0)->levels[i].resolution_ns > 900 * US);
	finish(&scene);
}

static void every_failing_allocation_is_reported(void **state)
{
	struct scene scene;
	struct tl_opts opts = { .agent_index = TRC_AGENT_INDEX_TYPE };
	unsigned n_failed = 0;

	begin(&scene);
	rig_operation(&scene.rig, 1, "hipGetDevice");
	rig_gpu(&scene.rig, "_Z3addPfi.kd");
	for (uint64_t i = 0; i < 100; i++) {
		rig_call(rig_lane(&scene.rig, 4711), 1, START + i * 10, START + i * 10 + 5, i + 1);
		rig_dispatch(rig_lane(&scene.rig, 4720), 4711, START + i * 10, START + i * 10 + 20,
			     i + 1, NULL);
	}
	rig_end(&scene.rig, START + US);
	scene.trace = rig_open(&scene.rig, 1);
	FOR_EACH_FAILING_ALLOCATION(i)
	{
		struct ws_err err = { 0 };
		enum ws_status st;

		scene.tl = NULL;
		st = tl_create(scene.trace, NULL, 0, &opts, &scene.tl, &err);
		/* Some tables can do without: then the timeline is there all the same. */
		assert_int_equal(!st, scene.tl != NULL);
		assert_int_equal(err.status, st);
		n_failed += st != WS_OK;
		tl_destroy(scene.tl);
		scene.tl = NULL;
	}
	assert_true(n_failed > 10);
	finish(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_read_back_as_they_were),
		cmocka_unit_test(values_read_back_as_they_were),
		cmocka_unit_test(bytes_that_are_no_tile_are_refused),
		cmocka_unit_test(kernels_are_inside_of_the_call_that_launched_them),
		cmocka_unit_test(a_region_without_an_end_ends_with_its_thread),
		cmocka_unit_test(samples_with_the_same_function_are_one_slice),
		cmocka_unit_test(metrics_are_tracks_with_their_unit),
		cmocka_unit_test(every_level_counts_every_event),
		cmocka_unit_test(a_range_has_the_tiles_that_overlap_it),
		cmocka_unit_test(a_zoom_has_its_level),
		cmocka_unit_test(long_slices_have_no_further_levels),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return RUN_WITH(tests, make_dir, remove_dir);
}
