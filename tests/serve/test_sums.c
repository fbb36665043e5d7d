/* Sums over ranges of a timeline are those of its events, one by one. */
#include "tests/profile/rig.h"
#include "tests/unit/unit.h"
#include "timeline/sums.h"
#include "timeline/tile.h"

#include <string.h>
#include <unistd.h>

#define US 1000ull
#define START (1000 * 1000 * US)
#define CALLS 300000u /* more than a group of tiles */
#define RARE 250000u  /* the call that has a name of its own */

static char dir[] = "/tmp/ws-sums-XXXXXX";
static struct rig rig;
static struct trc_trace *trace;
static struct tl_timeline *tl;
static struct tl_sums *sums;
static struct tl_slice *slices; /* all of the thread's track, in the order of tiles */
static size_t n_slices;

static enum ws_status keep_slices(void *ctx, const struct tl_tile *tile, const void *bytes,
				  struct ws_err *err)
{
	enum ws_status st;
	size_t n;

	st = tl_coder_read_slices(ctx, tl_start_ns(tl), bytes, tile->n_bytes, slices + n_slices,
				  TL_TILE_EVENTS, &n, err);
	n_slices += n;
	return st;
}

/* Calls of 300 ns every 500 ns, inside of regions with a hundred each. */
static int open_timeline(void **state)
{
	struct tl_opts opts = { .agent_index = TRC_AGENT_INDEX_TYPE };
	struct tl_coder coder;
	struct cap_lane *lane;

	if (!mkdtemp(dir))
		return -1;
	rig_start(&rig, dir, 4711, START);
	rig_operation(&rig, 1, "hipGetDevice");
	rig_operation(&rig, 2, "hipFree");
	rig_operation(&rig, 3, "rare");
	rig_region(&rig, 1, CAP_REGION_USER, "step", 0);
	lane = rig_lane(&rig, 4711);
	for (uint32_t i = 0; i < CALLS; i++) {
		uint64_t at_ns = START + i * 500ull;

		if (i % 100 == 0)
			rig_enter(lane, 1, at_ns);
		rig_call(lane, i == RARE ? 3 : 1 + (i / 7) % 2, at_ns + 50, at_ns + 350, i + 1);
		if (i % 100 == 99)
			rig_leave(lane, 1, at_ns + 400);
	}
	rig_end(&rig, START + CALLS * 500ull);
	trace = rig_open(&rig, 1);
	if (tl_create(trace, NULL, 0, &opts, &tl, NULL) || tl_sums_create(tl, &sums, NULL) ||
	    tl_coder_init(&coder, NULL))
		return -1;
	slices = calloc(CALLS * 2, sizeof(*slices));
	if (!slices || tl_tiles(tl, 0, 0, 0, UINT64_MAX, keep_slices, &coder, NULL))
		return -1;
	tl_coder_fini(&coder);
	return 0;
}

static int close_timeline(void **state)
{
	free(slices);
	tl_sums_destroy(sums);
	tl_destroy(tl);
	trc_close(trace);
	unlink(rig.path);
	return rmdir(dir);
}

static void assert_sums_of(uint64_t from_ns, uint64_t until_ns)
{
	struct tl_sum *want = calloc(tl_n_paths(tl), sizeof(*want));
	struct tl_sum *got = calloc(tl_n_paths(tl), sizeof(*got));

	for (size_t i = 0; i < n_slices; i++) {
		struct tl_sum *sum = &want[slices[i].path];
		uint64_t length_ns = slices[i].end_ns - slices[i].start_ns;
		uint64_t start_ns = slices[i].start_ns, end_ns = slices[i].end_ns;

		if (start_ns > until_ns || end_ns < from_ns)
			continue;
		sum->min_ns = sum->n && sum->min_ns < length_ns ? sum->min_ns : length_ns;
		sum->max_ns = sum->max_ns > length_ns ? sum->max_ns : length_ns;
		sum->n++;
		sum->sum_ns += length_ns;
		sum->inside_ns += (end_ns < until_ns ? end_ns : until_ns) -
				  (start_ns > from_ns ? start_ns : from_ns);
	}
	assert_int_equal(tl_sums_add(sums, 0, from_ns, until_ns, got, NULL), WS_OK);
	for (size_t i = 0; i < tl_n_paths(tl); i++)
		if (want[i].n || got[i].n)
			assert_memory_equal(&want[i], &got[i], sizeof(want[i]));
	free(want);
	free(got);
}

static void sums_are_those_of_the_events(void **state)
{
	uint64_t length_ns = CALLS * 500ull;

	assert_int_equal(n_slices, CALLS + CALLS / 100);
	assert_true(tl_track_at(tl, 0)->levels[0].n_tiles > TL_SUMS_GROUP);
	assert_sums_of(0, UINT64_MAX);
	assert_sums_of(START, START + length_ns);
	assert_sums_of(START + 777, START + 777);
	assert_sums_of(START + length_ns / 3, START + length_ns / 3 + 1234);
	assert_sums_of(START + length_ns / 3 + 7, START + length_ns * 9 / 10 + 3);
	assert_sums_of(START + 1, START + length_ns - 1);
	assert_sums_of(0, START - 1);
	assert_sums_of(START + 2 * length_ns, UINT64_MAX);
}

/* By path: whether it is called @name. */
static bool *paths_named(const char *name)
{
	bool *is_wanted = calloc(tl_n_paths(tl), sizeof(*is_wanted));

	for (size_t i = 1; i < tl_n_paths(tl); i++)
		is_wanted[i] = strcmp(tl_name_at(tl, tl_path_at(tl, i)->name), name) == 0;
	return is_wanted;
}

static void a_search_finds_the_next_tile_in_both_directions(void **state)
{
	size_t n_tiles = tl_track_at(tl, 0)->levels[0].n_tiles, at = 0, found;
	bool *rare = paths_named("rare"), *none = paths_named("nothing"),
	     *common = paths_named("step");

	while (strcmp(tl_name_at(tl, tl_path_at(tl, slices[at].path)->name), "rare") != 0)
		at++;
	at /= TL_TILE_EVENTS;
	assert_true(at > TL_SUMS_GROUP / 2 && at < n_tiles - 1);
	assert_true(tl_sums_tile_with(sums, 0, 0, 1, rare, &found));
	assert_int_equal(found, at);
	assert_true(tl_sums_tile_with(sums, 0, n_tiles - 1, -1, rare, &found));
	assert_int_equal(found, at);
	assert_true(tl_sums_tile_with(sums, 0, at, 1, rare, &found));
	assert_int_equal(found, at);
	assert_false(tl_sums_tile_with(sums, 0, at + 1, 1, rare, &found));
	assert_false(tl_sums_tile_with(sums, 0, at - 1, -1, rare, &found));
	assert_false(tl_sums_tile_with(sums, 0, 0, 1, none, &found));
	for (size_t i = 0; i < n_tiles; i++) {
		assert_true(tl_sums_tile_with(sums, 0, i, i % 2 ? 1 : -1, common, &found));
		assert_int_equal(found, i);
	}
	assert_false(tl_sums_tile_with(sums, 0, n_tiles, 1, common, &found));
	assert_false(tl_sums_tile_with(sums, 0, SIZE_MAX, -1, common, &found));
	free(rare);
	free(none);
	free(common);
}

static void failing_allocations_are_reported(void **state)
{
	struct tl_sum *by_path = calloc(tl_n_paths(tl), sizeof(*by_path));
	unsigned n_failed = 0;

	FOR_EACH_FAILING_ALLOCATION(i)
	{
		struct tl_sums *made = NULL;
		struct ws_err err = { 0 };
		enum ws_status st = tl_sums_create(tl, &made, &err);

		if (!st)
			st = tl_sums_add(made, 0, START + 1, START + 2000, by_path, &err);
		assert_int_equal(err.status, st);
		n_failed += st != WS_OK;
		tl_sums_destroy(made);
	}
	assert_true(n_failed > 5);
	free(by_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_the_events),
		cmocka_unit_test(a_search_finds_the_next_tile_in_both_directions),
		cmocka_unit_test(failing_allocations_are_reported),
	};

	return RUN_WITH(tests, open_timeline, close_timeline);
}
