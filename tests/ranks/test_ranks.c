#include "tests/unit/unit.h"

#include "base/util.h"
#include "ranks/imbalance.h"
#include "ranks/matches.h"
#include "tests/ranks/made_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- offsets ---- */

static const uint64_t origin = 77000000000000ull;
static const int64_t far_away = -987654321012345678; /* doubles cannot hold it to the nanosecond */

/* Bounds around a true line, @tight_ns at the nearest. */
static void put_bounds(struct rnk_bounds *bounds, int n, uint64_t span_ns, double drift,
		       double tight_ns)
{
	rnk_bounds_init(bounds, origin);
	srand48(7);
	for (int i = 0; i < n; i++) {
		uint64_t at = origin + (uint64_t)(drand48() * (double)span_ns);
		int64_t offset = far_away + (int64_t)(drift * (double)(at - origin));
		double above = tight_ns + 1e5 * drand48(), below = tight_ns + 1e5 * drand48();

		assert_int_equal(rnk_bounds_above(bounds, at, offset + (int64_t)above, NULL),
				 WS_OK);
		assert_int_equal(rnk_bounds_below(bounds, at, offset - (int64_t)below, NULL),
				 WS_OK);
	}
}

static double error_at(const struct rnk_offset *offset, double drift, uint64_t at)
{
	double estimate = (double)(offset->line.shift_ns - far_away) +
			  offset->line.drift * (double)(int64_t)(at - offset->line.at_ns);

	return fabs(estimate - drift * (double)(at - origin));
}

static void estimates_are_within_their_uncertainty(void **state)
{
	static const double drifts[] = { 0, 1e-6, -33e-6, 180e-6 };
	static const int sizes[] = { 1, 2, 5, 50, 2000 };
	const uint64_t span = 60000000000ull;

	for (size_t d = 0; d < WS_ARRAY_LEN(drifts); d++) {
		double last = INFINITY;

		for (size_t n = 0; n < WS_ARRAY_LEN(sizes); n++) {
			struct rnk_offset offset;
			struct rnk_bounds bounds;

			put_bounds(&bounds, sizes[n], span, drifts[d], 2000);
			assert_int_equal(rnk_offset_estimate(&bounds, origin, origin + span,
							     &offset, NULL),
					 WS_OK);
			for (unsigned i = 0; i <= 4; i++)
				assert_true(error_at(&offset, drifts[d], origin + i * (span / 4)) <=
					    offset.uncertainty_ns);
			assert_true(fabs(offset.line.drift - drifts[d]) <=
				    offset.drift_uncertainty + 1e-12);
			/* more events never make it worse */
			assert_true(offset.uncertainty_ns <= last * 1.01);
			assert_int_equal(offset.n_outliers, 0);
			last = offset.uncertainty_ns;
			rnk_bounds_fini(&bounds);
		}
		/* With 2000 events it is nearly what the nearest of them allow. */
		assert_true(last < 2000 + RNK_READING_NS + 2000);
	}
}

static void outliers_are_left_out(void **state)
{
	struct rnk_offset offset;
	struct rnk_bounds bounds;
	const uint64_t span = 60000000000ull;

	put_bounds(&bounds, 1000, span, 5e-6, 2000);
	for (int i = 0; i < 40; i++) { /* 2 %: an exit 50 ms before the truth, at all times */
		uint64_t at = origin + (uint64_t)i * (span / 40);

		assert_int_equal(rnk_bounds_below(&bounds, at, far_away + 50000000, NULL), WS_OK);
	}
	assert_int_equal(rnk_offset_estimate(&bounds, origin, origin + span, &offset, NULL), WS_OK);
	assert_int_equal(offset.n_outliers, 40);
	assert_true(error_at(&offset, 5e-6, origin) <= offset.uncertainty_ns);
	assert_true(offset.uncertainty_ns < 10000);
	rnk_bounds_fini(&bounds);
}

static void a_drift_that_changes_adds_to_the_uncertainty(void **state)
{
	struct rnk_offset offset;
	struct rnk_bounds bounds;
	const uint64_t span = 60000000000ull;

	/* A bow of 30 us: no line fits between bounds that are 2 us apart. */
	rnk_bounds_init(&bounds, origin);
	for (int i = 0; i <= 100; i++) {
		double x = i / 100.0;
		int64_t bow = far_away + (int64_t)(30000 * 4 * x * (1 - x));
		uint64_t at = origin + (uint64_t)(x * (double)span);

		assert_int_equal(rnk_bounds_above(&bounds, at, bow + 1000, NULL), WS_OK);
		assert_int_equal(rnk_bounds_below(&bounds, at, bow - 1000, NULL), WS_OK);
	}
	assert_int_equal(rnk_offset_estimate(&bounds, origin, origin + span, &offset, NULL), WS_OK);
	assert_int_equal(offset.n_outliers, 0);
	assert_true(offset.wander_ns > 10000 && offset.wander_ns < 30000);
	assert_true(offset.uncertainty_ns >= 15000);
	rnk_bounds_fini(&bounds);
}

static void contradictions_and_one_sided_bounds_are_refused(void **state)
{
	struct rnk_offset offset;
	struct rnk_bounds bounds;
	struct ws_err err;

	rnk_bounds_init(&bounds, origin);
	assert_int_equal(rnk_bounds_above(&bounds, origin, 100, &err), WS_OK);
	assert_int_equal(rnk_offset_estimate(&bounds, origin, origin, &offset, &err),
			 WS_E_NOTFOUND);
	/* One against one: nobody knows which is wrong. */
	assert_int_equal(rnk_bounds_below(&bounds, origin, 90000000, &err), WS_OK);
	assert_int_equal(rnk_offset_estimate(&bounds, origin, origin, &offset, &err), WS_E_STATE);
	assert_string_equal(err.text,
			    "the bounds contradict each other by 45.000 ms for any offset "
			    "and drift");
	rnk_bounds_fini(&bounds);
}

/* ---- matches ---- */

static void matches_remember_the_last(void **state)
{
	struct rnk_matches matches;
	const struct rnk_match *match;

	rnk_matches_init(&matches, 100000);
	assert_null(rnk_matches_find(&matches, 5));
	for (uint32_t rank = 0; rank < 3; rank++)
		for (uint64_t key = 0; key < 50000; key++)
			assert_int_equal(rnk_matches_enter(&matches, key * 0x9e3779b97f4a7c15u,
							   1000 + (rank ^ 1), rank, NULL),
					 WS_OK);
	assert_int_equal(matches.n, 50000);
	match = rnk_matches_find(&matches, 777 * 0x9e3779b97f4a7c15u);
	assert_int_equal(match->n, 3);
	assert_int_equal(match->last, 2);
	assert_int_equal(match->last_ns, 1003);
	assert_null(rnk_matches_find(&matches, 12345));
	rnk_matches_fini(&matches);
	/* At the ceiling: no more, and no failure. */
	rnk_matches_init(&matches, 2);
	for (uint64_t key = 1; key < 5; key++)
		assert_int_equal(rnk_matches_enter(&matches, key, 1, 0, NULL), WS_OK);
	assert_non_null(rnk_matches_find(&matches, 2));
	assert_null(rnk_matches_find(&matches, 3));
	rnk_matches_fini(&matches);
}

/* ---- jobs ---- */

#define RANKS_MAX 16
static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-ranks-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return 0;
}

static int drop_dir(void **state)
{
	char path[128];

	for (unsigned i = 0; i < RANKS_MAX; i++) {
		snprintf(path, sizeof(path), "%s/rank%u.wcap", dir, i);
		unlink(path);
	}
	return rmdir(dir);
}

struct opened {
	struct trc_trace *trace;
	struct rnk_job *job;
	char paths[RANKS_MAX][128];
};

static enum ws_status open_job(struct opened *out, const struct made_ranks *made,
			       struct ws_err *err)
{
	const char *paths[RANKS_MAX];
	uint64_t n_records;
	size_t n = 0;
	enum ws_status st;

	*out = (struct opened){ .trace = NULL };
	assert_int_equal(made_ranks_write(made, dir, &n_records), 0);
	for (uint32_t i = 0; i < made->n_ranks; i++) {
		snprintf(out->paths[n], sizeof(out->paths[n]), "%s/rank%u.wcap", dir, i);
		if (i != made->skip_rank)
			paths[n] = out->paths[n], n++;
	}
	st = trc_open(paths, n, NULL, &out->trace, err);
	return st ? st : rnk_job_open(out->trace, &out->job, err);
}

static void close_job(struct opened *opened)
{
	rnk_job_close(opened->job);
	trc_close(opened->trace);
}

/* The clock of rank 0's node is the truth: node 0 has neither offset nor drift. */
static void assert_placed(const struct made_ranks *made, const struct rnk_job *job, uint32_t node)
{
	const struct rnk_node *placed = &job->nodes[node];
	const struct trc_clock_line *line = &placed->offset.line;

	for (unsigned i = 0; i <= 4; i++) {
		uint64_t truth = MADE_RANKS_START_NS + i * (made->n_steps * made->step_ns / 4);
		uint64_t shown = made_ranks_shown(made, node, truth);
		double back = (double)(int64_t)(shown + (uint64_t)line->shift_ns - truth) +
			      line->drift * (double)(int64_t)(shown - line->at_ns);

		assert_true(fabs(back) <= placed->offset.uncertainty_ns);
	}
	/* The clock shows so many ppm too much per node: it has to go that much slower. */
	assert_true(fabs(line->drift + made->drift_ppm * 1e-6 * node) <=
		    placed->offset.drift_uncertainty + 1e-8);
}

static void nodes_are_placed_within_the_stated_uncertainty(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct rnk_align_opts opts = { .assume_aligned = false };
	struct opened opened;
	struct ws_err err = { 0 };

	made.n_ranks = 8;
	made.n_steps = 1000;
	made.wrong_every = 100;
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	assert_int_equal(opened.job->n_nodes, 4);
	assert_int_equal(opened.job->n_ranks, 8);
	if (rnk_job_align(opened.job, &opts, &err))
		fail_msg("%s", err.text);
	assert_int_equal(opened.job->nodes[0].from, RNK_CLOCK_REFERENCE);
	for (uint32_t node = 1; node < 4; node++) {
		const struct rnk_node *placed = &opened.job->nodes[node];

		assert_int_equal(placed->from, RNK_CLOCK_COLLECTIVES);
		assert_int_equal(placed->n_common, 1000);
		assert_true(placed->offset.n_outliers > 0);
		assert_true(placed->offset.uncertainty_ns < 40000);
		assert_placed(&made, opened.job, node);
	}
	close_job(&opened);
}

/* Its calls return before anybody waits: what counts is when its kernels begin and end. */
static void kernels_of_rccl_place_nodes(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct rnk_align_opts opts = { .assume_aligned = false };
	struct rnk_imbalance *imbalance = NULL;
	struct rnk_figures figures;
	struct opened opened;
	struct ws_err err = { 0 };

	made.n_ranks = 6;
	made.n_steps = 500;
	made.rccl = true;
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	if (rnk_job_align(opened.job, &opts, &err))
		fail_msg("%s", err.text);
	for (uint32_t node = 1; node < 3; node++) {
		assert_int_equal(opened.job->nodes[node].n_common, 1000); /* two in each group */
		assert_int_equal(opened.job->nodes[node].offset.n_outliers, 0);
		assert_true(opened.job->nodes[node].offset.uncertainty_ns < 40000);
		assert_placed(&made, opened.job, node);
	}
	assert_int_equal(rnk_imbalance_create(opened.job, NULL, &imbalance, &err), WS_OK);
	assert_string_equal(imbalance->rows[0].name, "ncclAllReduce");
	rnk_row_figures(imbalance, &imbalance->rows[0], &figures);
	assert_int_equal(figures.n_calls, 6 * 2 * made.n_steps);
	assert_int_equal(figures.slowest, 1);
	/* A group's kernel counts once: from its start to the last rank's, some 20 to 60 us. */
	assert_true(figures.mean_ns > made.n_steps * 20000ull);
	assert_true(figures.mean_ns < made.n_steps * 70000ull);
	assert_true(imbalance->rows[0].shares[1].wait_ns < made.n_steps * 8000ull);
	assert_int_equal(imbalance->n_unmatched, 0);
	rnk_imbalance_destroy(imbalance);
	close_job(&opened);
}

static void put_time(FILE *to, const struct made_ranks *made, uint32_t node, uint64_t true_ns,
		     const char *after)
{
	/* as made_ranks_write() gives it to the captures */
	fprintf(to, "01%02x%028d %llu%s", node, 0,
		(unsigned long long)made_ranks_shown(made, node, true_ns), after);
}

/* Readings with delays of 0.2 to 5 ms, by node 0 of node 1, and the other way round. */
static void put_stamps(const struct made_ranks *made, const char *path, bool both)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs("no such line\n01 2 3 4\n\n", file);
	srand48(3);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t at = MADE_RANKS_START_NS + i * made->step_ns * 50;
		uint64_t delay = 200000 + (uint64_t)(drand48() * 5e6);

		put_time(file, made, 0, at + delay, " ");
		put_time(file, made, 1, at, "\n");
		put_time(file, made, 9, at, " "); /* not of this job, and before it was written */
		put_time(file, made, 0, at + delay, "\n");
		delay = 200000 + (uint64_t)(drand48() * 5e6);
		if (both) {
			put_time(file, made, 1, at + delay, " ");
			put_time(file, made, 0, at, "\n");
		}
	}
	fclose(file);
}

/* Files that are there when they are read were written before, whatever the file system does. */
static void stamps_in_files_place_nodes(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	char path[128];
	const char *paths[] = { path, "/nonexistent/1.wclk" };
	struct ws_strv files = { .at = paths, .n = 2 };
	struct rnk_align_opts opts = { .stamp_files = &files };
	struct opened opened;
	struct ws_err err = { 0 };

	made.no_collectives = true;
	made.n_steps = 2000;
	snprintf(path, sizeof(path), "%s/0.wclk", dir);
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	put_stamps(&made, path, false);
	assert_int_equal(rnk_job_align(opened.job, &opts, &err), WS_E_NOTFOUND);
	put_stamps(&made, path, true);
	assert_int_equal(rnk_job_align(opened.job, &opts, &err), WS_OK);
	assert_int_equal(opened.job->nodes[1].from, RNK_CLOCK_STAMPS);
	assert_int_equal(opened.job->nodes[1].n_stamps, 80);
	assert_int_equal(opened.job->nodes[1].n_common, 0);
	assert_true(opened.job->nodes[1].offset.uncertainty_ns < 2e6);
	assert_placed(&made, opened.job, 1);
	assert_int_equal(opened.job->notes.n, 2); /* the file that cannot be read, each time */
	close_job(&opened);
	unlink(path);
}

static void nodes_are_placed_by_their_neighbours(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct rnk_align_opts opts = { .assume_aligned = false };
	struct opened opened;
	struct ws_err err = { 0 };

	made.n_ranks = 8;
	made.n_steps = 900;
	made.chain = true;
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	if (rnk_job_align(opened.job, &opts, &err))
		fail_msg("%s", err.text);
	for (uint32_t node = 1; node < 4; node++) {
		const struct rnk_node *placed = &opened.job->nodes[node];
		const struct trc_clock_line *line = &placed->offset.line;
		uint64_t shown = made_ranks_shown(&made, node, MADE_RANKS_START_NS);
		double back =
			(double)(int64_t)(shown + (uint64_t)line->shift_ns - MADE_RANKS_START_NS) +
			line->drift * (double)(int64_t)(shown - line->at_ns);

		assert_int_equal(placed->compared_with, node - 1);
		assert_int_equal(placed->n_common, 300);
		assert_true(fabs(back) <= placed->offset.uncertainty_ns);
		assert_true(placed->offset.uncertainty_ns >
			    opened.job->nodes[node - 1].offset.uncertainty_ns);
	}
	close_job(&opened);
}

static void the_slow_rank_is_found(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct rnk_imbalance *imbalance = NULL;
	struct rnk_align_opts opts = { .assume_aligned = false };
	struct rnk_figures figures;
	struct opened opened;
	struct ws_err err = { 0 };

	made.slow_rank = 2;
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	assert_int_equal(rnk_job_align(opened.job, &opts, &err), WS_OK);
	assert_int_equal(rnk_imbalance_create(opened.job, NULL, &imbalance, &err), WS_OK);
	assert_int_equal(imbalance->n_rows, 2);
	assert_int_equal(imbalance->n_matched, made.n_steps);
	assert_int_equal(imbalance->n_unmatched, 0);

	assert_true(imbalance->rows[0].collective);
	assert_string_equal(imbalance->rows[0].name, "MPI_Allreduce");
	rnk_row_figures(imbalance, &imbalance->rows[0], &figures);
	assert_int_equal(figures.n_ranks, 4);
	assert_int_equal(figures.n_calls, 4 * made.n_steps);
	assert_int_equal(figures.slowest, 2);
	/* It enters 20 to 40 us after the others, which is about the uncertainty of the clocks. */
	assert_true(figures.n_slowest_last > made.n_steps * 3 / 4);
	assert_true(figures.wait_rank != 2);
	/* Two kernels of 20 us more: that is what the others wait, within 20 us of jitter. */
	assert_true(figures.most_wait_ns > made.n_steps * 25000ull);
	assert_true(figures.most_wait_ns < made.n_steps * 60000ull);
	assert_true(imbalance->rows[0].shares[2].wait_ns < made.n_steps * 5000ull);

	assert_string_equal(imbalance->rows[1].name, "step");
	rnk_row_figures(imbalance, &imbalance->rows[1], &figures);
	assert_int_equal(figures.slowest, 2);
	assert_int_equal(figures.n_calls, 4 * 2 * made.n_steps);
	/* 60 us against 40 us, in a mean of 45 us; the clocks differ by ppm */
	assert_true(fabs(figures.spread - 20 / 45.0) < 0.001);
	assert_true(llabs((int64_t)figures.slowest_ns - (int64_t)made.n_steps * 2 * 60000) < 20000);
	rnk_imbalance_destroy(imbalance);
	close_job(&opened);
}

static void kernels_can_stand_for_collectives(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct rnk_align_opts opts = { .collective_kernels = "^step" };
	struct rnk_imbalance *imbalance = NULL;
	struct opened opened;
	struct ws_err err = { 0 };

	made.no_collectives = true;
	made.slow_rank = UINT32_MAX; /* all run their kernels at the same time: they could be one */
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	assert_int_equal(rnk_job_align(opened.job, &(struct rnk_align_opts){ 0 }, &err),
			 WS_E_NOTFOUND);
	assert_non_null(strstr(err.text, "the clock of node 'node1' (ranks 2-3) is not known"));
	assert_int_equal(rnk_job_align(opened.job, &opts, &err), WS_OK);
	assert_int_equal(opened.job->nodes[1].n_common, 2 * made.n_steps);
	assert_true(llabs(opened.job->nodes[1].offset.line.shift_ns + made.offset_ns) <
		    (int64_t)opened.job->nodes[1].offset.uncertainty_ns + 100000);
	assert_int_equal(
		rnk_imbalance_create(opened.job, opts.collective_kernels, &imbalance, &err), WS_OK);
	assert_int_equal(imbalance->n_rows, 1);
	assert_true(imbalance->rows[0].collective && imbalance->rows[0].waits);
	rnk_imbalance_destroy(imbalance);
	close_job(&opened);
}

static void what_is_wrong_with_a_job_is_said(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct opened opened;
	struct ws_err err = { 0 };
	const char *twice[2];

	made.skip_rank = 1;
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	assert_int_equal(opened.job->notes.n, 1);
	assert_string_equal(
		opened.job->notes.at[0],
		"rank 1 is missing: 3 of 4 ranks are there, and waits are those for the "
		"ranks that are");
	close_job(&opened);

	twice[0] = twice[1] = opened.paths[0];
	assert_int_equal(trc_open(twice, 2, NULL, &opened.trace, &err), WS_OK);
	opened.job = NULL;
	assert_int_equal(rnk_job_open(opened.trace, &opened.job, &err), WS_E_STATE);
	assert_non_null(strstr(err.text, "rank 0 is there twice, in '"));
	trc_close(opened.trace);
	assert_int_equal(trc_open(NULL, 0, NULL, &opened.trace, &err), WS_OK);
	assert_int_equal(rnk_job_open(opened.trace, &opened.job, &err), WS_E_NOTFOUND);
	trc_close(opened.trace);
}

static void running_out_of_memory_is_an_error(void **state)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	struct rnk_align_opts opts = { .assume_aligned = false };
	struct rnk_imbalance *imbalance = NULL;
	struct opened opened;
	struct ws_err err = { 0 };

	made.n_steps = 20;
	assert_int_equal(open_job(&opened, &made, &err), WS_OK);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct rnk_job *job = NULL;
		enum ws_status st = rnk_job_open(opened.trace, &job, &err);

		if (!st)
			st = rnk_job_align(job, &opts, &err);
		if (!st)
			st = rnk_imbalance_create(job, NULL, &imbalance, &err);
		/* Giving memory back may fail, and does no harm. */
		assert_true(st == WS_OK || (st == WS_E_NOMEM && allocation_failed()));
		if (!st)
			rnk_imbalance_destroy(imbalance);
		rnk_job_close(job);
	}
	close_job(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates_are_within_their_uncertainty),
		cmocka_unit_test(outliers_are_left_out),
		cmocka_unit_test(a_drift_that_changes_adds_to_the_uncertainty),
		cmocka_unit_test(contradictions_and_one_sided_bounds_are_refused),
		cmocka_unit_test(matches_remember_the_last),
		cmocka_unit_test_setup_teardown(nodes_are_placed_within_the_stated_uncertainty,
						make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(kernels_of_rccl_place_nodes, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(stamps_in_files_place_nodes, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(nodes_are_placed_by_their_neighbours, make_dir,
						drop_dir),
		cmocka_unit_test_setup_teardown(the_slow_rank_is_found, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(kernels_can_stand_for_collectives, make_dir,
						drop_dir),
		cmocka_unit_test_setup_teardown(what_is_wrong_with_a_job_is_said, make_dir,
						drop_dir),
		cmocka_unit_test_setup_teardown(running_out_of_memory_is_an_error, make_dir,
						drop_dir),
	};

	return RUN(tests);
}
