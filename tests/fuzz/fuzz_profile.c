/*
 * Any events of any threads at any times: call trees whose numbers add up, and tables of them that
 * other programs can read.
 *
 * Six bytes make an event: what it is, of which thread, which region, call or stack, when, how
 * long. They go through a capture, as those of a program do.
 */
#include "profile/frames.h"
#include "profile/report_priv.h"
#include "tests/fuzz/fuzz.h"
#include "tests/profile/rig.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENT_BYTES 6
#define THREADS 3u
#define NAMES 4u
#define FIRST_NS 1000000u

static void put_event(struct cap_lane *lane, const uint8_t *event)
{
	uint32_t which = 1 + event[2] % (NAMES + 1); /* the last one is not defined */
	uint64_t start_ns = FIRST_NS + (event[3] | (uint64_t)event[4] << 8);
	uint64_t end_ns = start_ns + event[5];
	uint64_t corr_id = event[4];

	switch (event[0] % 8) {
	case 0:
	case 1:
		rig_enter(lane, which, start_ns);
		break;
	case 2:
		rig_leave(lane, which, start_ns);
		break;
	case 3:
		rig_call(lane, which, start_ns, end_ns, corr_id);
		break;
	case 4:
		rig_marker(lane, event[5] % 4, start_ns, end_ns, which);
		break;
	case 5:
		rig_dispatch(lane, 100 + event[1] % THREADS, start_ns, end_ns, corr_id, NULL);
		break;
	case 6:
		rig_late_sample(lane, which, event[5] % (CAP_SAMPLER_COUNT + 1), start_ns,
				start_ns / 2, event[4] % 3);
		break;
	default:
		rig_copy(lane, 100 + event[1] % THREADS, start_ns, end_ns, corr_id);
	}
}

static void make_capture(struct rig *rig, const uint8_t *data, size_t size)
{
	static const char *const stacks[NAMES] = { "main|f|f", "main|py:g", "main", "h|hip:main" };
	struct cap_lane *lanes[THREADS];
	char name[] = "name_0";

	rig_start(rig, "/tmp", (uint32_t)getpid(), FIRST_NS);
	rig_gpu(rig, "kernel.kd");
	rig_sampler(rig, CAP_SAMPLER_CPU_TIME, 100);
	for (uint32_t i = 1; i <= NAMES; i++) {
		name[5] = (char)('0' + i);
		rig_region(rig, i, i % CAP_REGION_CATEGORY_COUNT, i == 2 ? "" : name,
			   i == 2 ? 0x1000 : 0);
		rig_operation(rig, i, name);
		rig_stack(i, stacks[i - 1]);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		rig_thread(rig, 100 + i, "", FIRST_NS, i == 2 ? FIRST_NS + 1000 : 0);
		lanes[i] = rig_lane(rig, 100 + i);
	}
	for (; size >= EVENT_BYTES; data += EVENT_BYTES, size -= EVENT_BYTES)
		put_event(lanes[data[1] % THREADS], data);
	rig_end(rig, FIRST_NS + (size & 1 ? 70000 : 0));
}

/* ---- what holds for every tree ---- */

static void check_stat(const struct prof_stat *stat)
{
	double n = (double)stat->n;

	CHECK(stat->min >= 0 && stat->min <= stat->max);
	CHECK(stat->sum >= stat->min * n - 1e-6 && stat->sum <= stat->max * n + 1e-6);
	CHECK(prof_stat_variance(stat) >= 0);
}

static void check_node(const struct prof_tree *tree, const struct prof_node *node)
{
	uint64_t n_below = 0;

	CHECK(*node->name && node->parent);
	CHECK(node->depth == (node->parent->parent ? node->parent->depth + 1 : 0));
	CHECK(node->depth <= tree->opts.max_depth);
	for (unsigned clock = 0; clock < PROF_CLOCK_COUNT; clock++)
		check_stat(&node->stat[clock]);
	if (!tree->has_stacks)
		return;
	for (const struct prof_node *child = node->first; child; child = child->next)
		n_below += child->n_periods;
	CHECK(node->n_periods == n_below + node->n_inside);
}

static void check_tree(const struct prof_tree *tree)
{
	uint64_t n = 0;

	for (size_t i = 0; i < tree->n_threads; i++) {
		const struct prof_node *root = tree->threads[i].root;

		for (const struct prof_node *node = root->first; node;
		     node = prof_node_next(root, node)) {
			check_node(tree, node);
			n += node->stat[PROF_CLOCK_WALL].n;
		}
	}
	CHECK(tree->has_stacks || n == tree->n_calls);
	CHECK(!tree->n_unplaced);
}

static void check_sheet(const struct prof_tree *tree, enum prof_value value)
{
	struct prof_sheet sheet = { .name = "x",
				    .label = "x",
				    .description = "x",
				    .unit_text = "sec",
				    .unit = 1e9,
				    .precision = 6,
				    .columns = PROF_COLUMNS_ALL,
				    .value = value,
				    .trees = { tree },
				    .n_trees = 1,
				    .n_ranks = 1,
				    .tree = true };
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	json_t *read;

	CHECK(to && prof_sheet_json(&sheet, to));
	fclose(to);
	read = json_loadb(text, n, JSON_DECODE_INT_AS_REAL, NULL);
	CHECK(read);
	json_decref(read);
	free(text);
	to = open_memstream(&text, &n);
	CHECK(to && prof_sheet_text(&sheet, to));
	fclose(to);
	CHECK(!strstr(text, "nan") && !strstr(text, "inf"));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prof_tree_opts opts = { .max_depth = size % 3 ? 65535 : 2,
				       .flat = size % 5 == 0,
				       .timeline = size % 7 == 0,
				       .collapse_threads = size % 2 };
	struct prof_tree *calls = NULL, *samples = NULL, *flat = NULL;
	struct prof_frames *frames = NULL;
	const struct trc_process *process;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	struct rig rig;

	make_capture(&rig, data, size);
	trace = rig_open(&rig, 1);
	process = trc_process_at(trace, 0);
	CHECK(!prof_frames_open(process, &(struct prof_frames_opts){ 0 }, &frames, &err));
	CHECK(!prof_tree_create(&opts, &calls, &err));
	CHECK(!prof_tree_add_events(calls, trace, process, 0, frames, &err));
	opts.flat = opts.timeline = false;
	CHECK(!prof_tree_create(&opts, &samples, &err));
	CHECK(!prof_tree_add_samples(samples, trace, process, 0, frames, &err));
	CHECK(!prof_tree_flatten(samples, &flat, &err));
	check_tree(calls);
	check_tree(samples);
	check_sheet(calls, PROF_VALUE_WALL);
	check_sheet(samples, PROF_VALUE_CPU);
	check_sheet(flat, PROF_VALUE_PERCENT);
	prof_tree_destroy(flat);
	prof_tree_destroy(samples);
	prof_tree_destroy(calls);
	prof_frames_close(frames);
	trc_close(trace);
	unlink(rig.path);
	rig_stacks_clear();
	return 0;
}
