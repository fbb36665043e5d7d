#include "profile/frames.h"
#include "profile/tree.h"
#include "tests/profile/rig.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static struct rig rig;
static struct trc_trace *trace; /* the latest; trees refer to its threads */

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-profile-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return 0;
}

static int drop_dir(void **state)
{
	trc_close(trace);
	trace = NULL;
	unlink(rig.path);
	rig_stacks_clear();
	return rmdir(dir);
}

static const struct prof_tree_opts usual = { .max_depth = 65535 };

/* The tree of the capture, from events or from samples. */
static struct prof_tree *tree_of(const struct prof_tree_opts *opts, bool samples)
{
	const struct trc_process *process;
	struct prof_frames *frames = NULL;
	struct prof_tree *tree = NULL;
	struct ws_err err = { 0 };

	trc_close(trace);
	trace = rig_open(&rig, 1);
	process = trc_process_at(trace, 0);
	assert_int_equal(prof_frames_open(process, &(struct prof_frames_opts){ 0 }, &frames, &err),
			 WS_OK);
	assert_int_equal(prof_tree_create(opts, &tree, &err), WS_OK);
	if (samples ? prof_tree_add_samples(tree, trace, process, 0, frames, &err)
		    : prof_tree_add_events(tree, trace, process, 0, frames, &err))
		fail_msg("%s", err.text);
	prof_frames_close(frames);
	for (size_t i = 0; i < tree->n_threads; i++)
		if (tree->threads[i].thread)
			assert_int_equal(tree->threads[i].thread->index, i);
	return tree;
}

/* "main;f" of a thread; fails when it is not there. */
static struct prof_node *at(const struct prof_tree *tree, size_t thread, const char *path)
{
	struct prof_node *node;
	struct ws_str rest = ws_str_from(path), name;

	assert_true(thread < tree->n_threads);
	node = tree->threads[thread].root;
	while (ws_str_next(&rest, ';', &name)) {
		struct prof_node *child = node->first;

		while (child && !ws_str_is(name, child->name))
			child = child->next;
		if (!child)
			fail_msg("no '%.*s' in '%s'", WS_STR_ARGS(name), path);
		node = child;
	}
	return node;
}

static void expect(const struct prof_node *node, uint64_t n, double sum, double min, double max)
{
	assert_int_equal(node->stat[PROF_CLOCK_WALL].n, n);
	assert_true(node->stat[PROF_CLOCK_WALL].sum == sum);
	assert_true(node->stat[PROF_CLOCK_WALL].min == min);
	assert_true(node->stat[PROF_CLOCK_WALL].max == max);
}

static size_t n_children(const struct prof_node *node)
{
	size_t n = 0;

	for (const struct prof_node *child = node->first; child; child = child->next)
		n++;
	return n;
}

static void regions_nest_and_repeat(void **state)
{
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_HOST, "main", 0);
	rig_region(&rig, 2, CAP_REGION_USER, "step", 0);
	rig_region(&rig, 3, CAP_REGION_HOST, "", 0x1000);
	lane = rig_lane(&rig, 100);
	rig_enter(lane, 1, 1000);
	rig_enter(lane, 2, 1100);
	rig_enter(lane, 3, 1110);
	rig_leave(lane, 3, 1130);
	rig_leave(lane, 2, 1150);
	rig_enter(lane, 2, 1200);
	rig_leave(lane, 2, 1300);
	rig_leave(lane, 1, 2000);
	rig_end(&rig, 3000);
	tree = tree_of(&usual, false);
	expect(at(tree, 0, "main"), 1, 1000, 1000, 1000);
	expect(at(tree, 0, "main;step"), 2, 150, 50, 100);
	assert_true(at(tree, 0, "main;step")->stat[PROF_CLOCK_WALL].sqr == 50 * 50 + 100 * 100);
	assert_true(prof_stat_variance(&at(tree, 0, "main;step")->stat[PROF_CLOCK_WALL]) == 1250);
	expect(at(tree, 0, "main;step;compute(int)"), 1, 20, 20, 20);
	assert_int_equal(at(tree, 0, "main;step;compute(int)")->kind, PROF_KIND_CPP);
	assert_string_equal(at(tree, 0, "main;step;compute(int)")->file, "compute.cpp");
	assert_int_equal(at(tree, 0, "main;step;compute(int)")->depth, 2);
	assert_true(prof_node_children(at(tree, 0, "main"), PROF_CLOCK_WALL) == 150);
	assert_int_equal(tree->n_calls, 4);
	assert_int_equal(tree->n_threads, 1);
	prof_tree_destroy(tree);
}

static void recursion_is_a_path_and_flat_a_sum(void **state)
{
	struct prof_tree_opts flat = { .flat = true, .max_depth = 65535 };
	struct prof_tree_opts shallow = { .max_depth = 1 };
	struct prof_tree_opts timeline = { .timeline = true, .max_depth = 65535 };
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_PYTHON, "fib", 0);
	lane = rig_lane(&rig, 100);
	rig_enter(lane, 1, 1000);
	rig_enter(lane, 1, 1010);
	rig_enter(lane, 1, 1020);
	rig_leave(lane, 1, 1030);
	rig_leave(lane, 1, 1050);
	rig_enter(lane, 1, 1060);
	rig_leave(lane, 1, 1065);
	rig_leave(lane, 1, 1100);
	rig_end(&rig, 1100);
	tree = tree_of(&usual, false);
	expect(at(tree, 0, "fib"), 1, 100, 100, 100);
	expect(at(tree, 0, "fib;fib"), 2, 45, 5, 40);
	expect(at(tree, 0, "fib;fib;fib"), 1, 10, 10, 10);
	assert_int_equal(at(tree, 0, "fib")->kind, PROF_KIND_PYTHON);
	prof_tree_destroy(tree);
	tree = tree_of(&flat, false);
	expect(at(tree, 0, "fib"), 4, 155, 5, 100);
	assert_int_equal(n_children(tree->threads[0].root), 1);
	prof_tree_destroy(tree);
	/* What is deeper is not counted, and is no part of other rows. */
	tree = tree_of(&shallow, false);
	expect(at(tree, 0, "fib;fib"), 2, 45, 5, 40);
	assert_int_equal(n_children(at(tree, 0, "fib;fib")), 0);
	assert_int_equal(tree->n_calls, 3);
	prof_tree_destroy(tree);
	tree = tree_of(&timeline, false);
	assert_int_equal(n_children(at(tree, 0, "fib")), 2);
	expect(at(tree, 0, "fib")->first, 1, 40, 40, 40);
	expect(at(tree, 0, "fib")->last, 1, 5, 5, 5);
	prof_tree_destroy(tree);
}

static void unbalanced_ends_close_what_is_inside_or_nothing(void **state)
{
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_USER, "a", 0);
	rig_region(&rig, 2, CAP_REGION_USER, "b", 0);
	rig_region(&rig, 3, CAP_REGION_USER, "c", 0);
	lane = rig_lane(&rig, 100);
	rig_leave(lane, 3, 1000); /* was never entered */
	rig_enter(lane, 1, 1000);
	rig_enter(lane, 2, 1010);
	rig_enter(lane, 3, 1020);
	rig_leave(lane, 1, 1100); /* also ends c and b */
	rig_leave(lane, 2, 1200);
	rig_leave(lane, 77, 1210); /* of no region */
	rig_enter(lane, 3, 1300);
	rig_leave(lane, 3, 1310);
	rig_end(&rig, 2000);
	tree = tree_of(&usual, false);
	expect(at(tree, 0, "a"), 1, 100, 100, 100);
	expect(at(tree, 0, "a;b"), 1, 90, 90, 90);
	expect(at(tree, 0, "a;b;c"), 1, 80, 80, 80);
	expect(at(tree, 0, "c"), 1, 10, 10, 10);
	assert_int_equal(tree->n_unmatched, 3);
	prof_tree_destroy(tree);
}

static void open_regions_end_with_their_thread_or_process(void **state)
{
	struct cap_lane *main_lane, *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_HOST, "main", 0);
	rig_region(&rig, 2, CAP_REGION_HOST, "work", 0);
	rig_thread(&rig, 100, "app", 1000, 0);
	rig_thread(&rig, 101, "worker", 1050, 1500);
	main_lane = rig_lane(&rig, 100);
	lane = rig_lane(&rig, 101);
	rig_enter(main_lane, 1, 1000);
	rig_enter(lane, 2, 1100);
	rig_end(&rig, 4000);
	tree = tree_of(&usual, false);
	assert_int_equal(tree->n_threads, 2);
	expect(at(tree, 0, "main"), 1, 3000, 3000, 3000);
	expect(at(tree, 1, "work"), 1, 400, 400, 400);
	prof_tree_destroy(tree);
}

static void a_killed_process_ends_with_its_last_event(void **state)
{
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_HOST, "main", 0);
	rig_operation(&rig, 1, "hipMalloc");
	lane = rig_lane(&rig, 100);
	rig_enter(lane, 1, 1000);
	rig_call(lane, 1, 1700, 1900, 1);
	rig_end(&rig, 0);
	tree = tree_of(&usual, false);
	expect(at(tree, 0, "main"), 1, 900, 900, 900);
	expect(at(tree, 0, "main;hipMalloc"), 1, 200, 200, 200);
	prof_tree_destroy(tree);
}

static void calls_nest_by_time_and_gpu_work_is_below_its_launch(void **state)
{
	struct cap_lane *lane, *gpu, *other;
	struct prof_tree *tree;
	const struct prof_node *launch;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_USER, "step", 0);
	rig_operation(&rig, 1, "hipLaunchKernel");
	rig_operation(&rig, 2, "hipModuleLaunchKernel");
	rig_operation(&rig, 3, "hipDeviceSynchronize");
	rig_gpu(&rig, "gemm.kd");
	rig_thread(&rig, 100, "app", 1000, 0);
	rig_thread(&rig, 101, "worker", 1000, 0);
	lane = rig_lane(&rig, 100);
	other = rig_lane(&rig, 101);
	gpu = rig_lane(&rig, 200);
	rig_enter(lane, 1, 1000);
	rig_call(lane, 2, 1110, 1140, 2); /* inside of the next: calls are in the order of ends */
	rig_call(lane, 1, 1100, 1150, 1);
	rig_call(lane, 3, 1150, 1900, 3); /* begins when the one before ends: beside it */
	rig_leave(lane, 1, 2000);
	rig_call(other, 3, 1200, 1300, 4);
	rig_dispatch(gpu, 100, 1200, 1800, 2, NULL);
	rig_dispatch(gpu, 100, 1800, 1850, 2, NULL);
	rig_copy(gpu, 101, 1500, 1600, 4);
	rig_dispatch(gpu, 101, 1600, 1610, 99, NULL); /* its launch is not recorded */
	rig_end(&rig, 3000);
	tree = tree_of(&usual, false);
	launch = at(tree, 0, "step;hipLaunchKernel;hipModuleLaunchKernel");
	expect(at(tree, 0, "step;hipLaunchKernel"), 1, 50, 50, 50);
	expect(launch, 1, 30, 30, 30);
	expect(at(tree, 0, "step;hipLaunchKernel;hipModuleLaunchKernel;gemm"), 2, 650, 50, 600);
	assert_int_equal(launch->first->kind, PROF_KIND_KERNEL);
	assert_true(prof_node_children(launch, PROF_CLOCK_WALL) == 0);
	expect(at(tree, 0, "step;hipDeviceSynchronize"), 1, 750, 750, 750);
	expect(at(tree, 1, "hipDeviceSynchronize;MEMORY_COPY_HOST_TO_DEVICE"), 1, 100, 100, 100);
	expect(at(tree, 1, "gemm"), 1, 10, 10, 10);
	/* No tree for the thread that only wrote the records. */
	assert_int_equal(tree->n_threads, 2);
	prof_tree_destroy(tree);
}

static void ranges_that_may_end_anywhere_hold_nothing(void **state)
{
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_operation(&rig, 1, "hipMalloc");
	lane = rig_lane(&rig, 100);
	rig_call(lane, 1, 1200, 1300, 1);
	rig_marker(lane, CAP_MARKER_THREAD_RANGE, 1100, 1400, rig_intern(&rig, "forward"));
	rig_call(lane, 1, 1500, 1600, 2);
	rig_marker(lane, CAP_MARKER_PROCESS_RANGE, 1450, 1700, rig_intern(&rig, "epoch"));
	rig_marker(lane, CAP_MARKER_MARK, 1650, 1650, rig_intern(&rig, "here"));
	rig_end(&rig, 3000);
	tree = tree_of(&usual, false);
	expect(at(tree, 0, "forward"), 1, 300, 300, 300);
	expect(at(tree, 0, "forward;hipMalloc"), 1, 100, 100, 100);
	expect(at(tree, 0, "epoch"), 1, 250, 250, 250);
	assert_int_equal(n_children(at(tree, 0, "epoch")), 0);
	expect(at(tree, 0, "hipMalloc"), 1, 100, 100, 100);
	expect(at(tree, 0, "here"), 1, 0, 0, 0);
	prof_tree_destroy(tree);
}

static void threads_can_be_collapsed(void **state)
{
	struct prof_tree_opts collapsed = { .collapse_threads = true, .max_depth = 65535 };
	struct cap_lane *first, *second;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	rig_region(&rig, 1, CAP_REGION_USER, "outer", 0);
	rig_region(&rig, 2, CAP_REGION_USER, "inner", 0);
	first = rig_lane(&rig, 100);
	second = rig_lane(&rig, 101);
	/* Interleaved: each thread nests by itself. */
	rig_enter(first, 1, 1000);
	rig_enter(second, 1, 1005);
	rig_enter(first, 2, 1010);
	rig_leave(second, 1, 1015);
	rig_leave(first, 2, 1020);
	rig_leave(first, 1, 1100);
	rig_end(&rig, 2000);
	tree = tree_of(&collapsed, false);
	assert_int_equal(tree->n_threads, 1);
	assert_null(tree->threads[0].thread);
	expect(at(tree, 0, "outer"), 2, 110, 10, 100);
	expect(at(tree, 0, "outer;inner"), 1, 10, 10, 10);
	prof_tree_destroy(tree);
}

/* ---- samples ---- */

static void expect_cpu(const struct prof_node *node, uint64_t n, double sum)
{
	assert_int_equal(node->stat[PROF_CLOCK_CPU].n, n);
	assert_true(node->stat[PROF_CLOCK_CPU].sum == sum);
}

static void samples_stand_for_the_time_since_the_last_one(void **state)
{
	struct cap_lane *lane;
	struct prof_tree *tree, *flat = NULL;

	rig_stack(1, "main|f|g");
	rig_stack(2, "main|f");
	rig_stack(3, "main|f|f|py:train|hip:hipMemcpy");
	rig_start(&rig, dir, 100, 1000);
	rig_thread(&rig, 100, "app", 1000, 0);
	rig_sampler(&rig, CAP_SAMPLER_CPU_TIME, 100);
	lane = rig_lane(&rig, 100);
	rig_sample(lane, 1, CAP_SAMPLER_CPU_TIME, 1500, 150); /* first: one period */
	rig_sample(lane, 2, CAP_SAMPLER_CPU_TIME, 1700, 250);
	rig_sample(lane, 3, CAP_SAMPLER_CPU_TIME, 1900, 360);
	rig_sample(lane, 0, CAP_SAMPLER_CPU_TIME, 2000, 460);
	rig_end(&rig, 3000);
	tree = tree_of(&usual, true);
	assert_int_equal(tree->n_samples, 4);
	assert_int_equal(tree->peak_kb, 2048);
	expect(at(tree, 0, "main"), 3, 100 + 200 + 200, 100, 200);
	expect_cpu(at(tree, 0, "main"), 3, 100 + 100 + 110);
	expect(at(tree, 0, "main;f;g"), 1, 100, 100, 100);
	expect_cpu(at(tree, 0, "main;f;f;train;hipMemcpy"), 1, 110);
	assert_int_equal(at(tree, 0, "main;f;f;train;hipMemcpy")->kind, PROF_KIND_HIP);
	assert_int_equal(at(tree, 0, "main;f;f;train")->kind, PROF_KIND_PYTHON);
	expect(at(tree, 0, "[no call stack]"), 1, 100, 100, 100);
	assert_int_equal(at(tree, 0, "main;f")->n_trips, 3);
	assert_int_equal(at(tree, 0, "main;f")->n_inside, 1);
	/* Without paths: the function that calls itself counts once per sample. */
	assert_int_equal(prof_tree_flatten(tree, &flat, NULL), WS_OK);
	expect(at(flat, 0, "f"), 3, 500, 100, 200);
	assert_int_equal(at(flat, 0, "f")->n_trips, 3);
	assert_int_equal(at(flat, 0, "f")->n_inside, 1);
	assert_int_equal(n_children(flat->threads[0].root), 6);
	prof_tree_destroy(flat);
	prof_tree_destroy(tree);
}

static void each_clock_has_its_kind_of_samples(void **state)
{
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_stack(1, "main|work");
	rig_stack(2, "main|sleep");
	rig_start(&rig, dir, 100, 1000);
	rig_sampler(&rig, CAP_SAMPLER_CPU_TIME, 100);
	rig_sampler(&rig, CAP_SAMPLER_REAL_TIME, 1000);
	rig_thread(&rig, 100, "app", 1000, 0);
	lane = rig_lane(&rig, 100);
	rig_sample(lane, 1, CAP_SAMPLER_CPU_TIME, 1100, 100);
	rig_sample(lane, 1, CAP_SAMPLER_CPU_TIME, 1200, 200);
	rig_sample(lane, 2, CAP_SAMPLER_REAL_TIME, 2000, 210);
	rig_sample(lane, 2, CAP_SAMPLER_REAL_TIME, 3000, 215);
	rig_end(&rig, 3000);
	tree = tree_of(&usual, true);
	expect(at(tree, 0, "main"), 2, 2000, 1000, 1000);
	expect_cpu(at(tree, 0, "main"), 2, 200);
	expect_cpu(at(tree, 0, "main;sleep"), 0, 0);
	expect(at(tree, 0, "main;work"), 0, 0, 0, 0);
	assert_int_equal(at(tree, 0, "main")->n_trips, 4);
	prof_tree_destroy(tree);
}

static void memory_grows_with_paths_not_with_calls(void **state)
{
	struct prof_tree_opts few = { .max_depth = 65535, .max_nodes = 4 };
	struct cap_lane *lane;
	struct prof_tree *tree;

	rig_start(&rig, dir, 100, 1000);
	for (uint32_t i = 1; i <= 6; i++)
		rig_region(&rig, i, CAP_REGION_USER, (char[]){ (char)('a' + i), 0 }, 0);
	lane = rig_lane(&rig, 100);
	for (uint64_t i = 0; i < 60000; i++) {
		rig_enter(lane, (uint32_t)(i % 6) + 1, 1000 + i * 10);
		rig_leave(lane, (uint32_t)(i % 6) + 1, 1005 + i * 10);
	}
	rig_end(&rig, 2000000);
	tree = tree_of(&usual, false);
	assert_int_equal(tree->n_nodes, 7);
	assert_true(tree->arena.held_bytes < 1 << 20);
	expect(at(tree, 0, "b"), 10000, 50000, 5, 5);
	prof_tree_destroy(tree);
	/* With more paths than allowed, what does not fit is counted. */
	tree = tree_of(&few, false);
	assert_int_equal(tree->n_nodes, 4);
	assert_int_equal(tree->n_calls, 30000);
	assert_int_equal(tree->n_unplaced, 30000);
	prof_tree_destroy(tree);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(regions_nest_and_repeat),
		TREE_TEST(recursion_is_a_path_and_flat_a_sum),
		TREE_TEST(unbalanced_ends_close_what_is_inside_or_nothing),
		TREE_TEST(open_regions_end_with_their_thread_or_process),
		TREE_TEST(a_killed_process_ends_with_its_last_event),
		TREE_TEST(calls_nest_by_time_and_gpu_work_is_below_its_launch),
		TREE_TEST(ranges_that_may_end_anywhere_hold_nothing),
		TREE_TEST(threads_can_be_collapsed),
		TREE_TEST(samples_stand_for_the_time_since_the_last_one),
		TREE_TEST(each_clock_has_its_kind_of_samples),
		TREE_TEST(memory_grows_with_paths_not_with_calls),
	};

	return RUN(tests);
}
