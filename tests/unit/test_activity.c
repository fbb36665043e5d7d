/* What GPUs did, summed up from captures that are made here. */
#include "tests/unit/failing_alloc.h"
#include "tests/unit/made_run.h"
#include "tests/unit/unit.h"

#include "capture/writer.h"
#include "screen/activity.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-activity-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* A launch with id n is from 1000 + n to 2000 + n. */
static struct trc_trace *two_kernels(void)
{
	const char *path = made_process(
		dir, 0, 10, "app", (const char *[]){ "A", NULL },
		(struct made_launch[]){
			{ 1, 64, 1, 1 }, { 1, 64, 1, 501 }, { 2, 64, 1, 5001 }, { 0 } });

	return made_run_open(&path, 1);
}

static void kernels_that_overlap_are_busy_once(void **state)
{
	struct trc_trace *trace = two_kernels();
	struct scr_activity a;
	struct ws_err err;
	uint64_t in_slots = 0;

	assert_int_equal(scr_activity_read(trace, 1000000, &a, &err), WS_OK);
	trc_close(trace); /* names were copied */
	assert_int_equal(a.gpus.n, 1);
	assert_int_equal(a.gpus.at[0].node, 1);
	assert_string_equal(a.gpus.at[0].name, "gfx90a");
	assert_int_equal(a.gpus.at[0].n_kernels, 3);
	assert_int_equal(a.gpus.at[0].busy_ns, 2500);
	assert_int_equal(a.gpus.at[0].recent_busy_ns, 2500);
	for (size_t i = 0; i < SCR_SLOTS; i++) {
		assert_true(a.gpus.at[0].slots[i] <= a.slot_ns);
		in_slots += a.gpus.at[0].slots[i];
	}
	assert_int_equal(in_slots, 2500);
	assert_true(a.gpus.at[0].slots[0] > 0);
	assert_int_equal(a.gpus.at[0].slots[SCR_SLOTS / 2], 0);
	assert_false(a.gpus.at[0].memory_known);
	scr_activity_fini(&a);
}

static void kernels_are_summed_by_name(void **state)
{
	struct trc_trace *trace = two_kernels();
	struct scr_activity a;
	struct ws_err err;

	assert_int_equal(scr_activity_read(trace, 0, &a, &err), WS_OK);
	assert_int_equal(a.kernels.n, 2);
	assert_string_equal(a.kernels.at[0].name, "one");
	assert_int_equal(a.kernels.at[0].n, 2);
	assert_int_equal(a.kernels.at[0].sum_ns, 2000);
	assert_int_equal(a.kernels.at[1].min_ns, 1000);
	assert_int_equal(a.kernels.at[1].max_ns, 1000);
	assert_int_equal(a.kernels_ns, 3000);
	scr_activity_fini(&a);
	trc_close(trace);
}

/* Of a process that has ended, rates are of its whole time, whatever the clock says now. */
static void an_ended_process_does_not_run(void **state)
{
	struct trc_trace *trace = two_kernels();
	struct scr_activity a;
	struct ws_err err;

	assert_false(scr_process_runs(trc_process_at(trace, 0)));
	assert_int_equal(scr_activity_read(trace, UINT64_MAX / 2, &a, &err), WS_OK);
	assert_int_equal(a.n_running, 0);
	assert_int_equal(a.from_ns, 1001);
	assert_int_equal(a.to_ns, 7001);
	assert_int_equal(a.gpus.at[0].n_recent, 3);
	scr_activity_fini(&a);
	trc_close(trace);
}

/* ---- a capture that grows ---- */

#define HEAD(NAME, T, id)                                                                          \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct T), (id), 0                                         \
	}

static struct cap_writer *begin_capture(const char *path)
{
	struct cap_writer_opts opts = { .imported = true, .pid = 20, .created_ns = 1 };
	struct cap_rec_process process = { .h = HEAD(PROCESS, cap_rec_process, 20),
					   .main_tid = 20 };
	struct cap_rec_agent gpu = { .h = HEAD(AGENT, cap_rec_agent, 2), .type = CAP_AGENT_GPU };
	struct cap_rec_kernel kernel = { .h = HEAD(KERNEL, cap_rec_kernel, 1) };
	struct cap_writer *w = NULL;
	struct ws_err err;

	if (cap_writer_open(path, &opts, &w, &err))
		fail_msg("%s", err.text);
	kernel.name_str = cap_writer_intern(w, "grows.kd", 8);
	gpu.name_str = cap_writer_intern(w, "gfx90a", 6);
	assert_true(cap_writer_meta(w, &process.h));
	assert_true(cap_writer_meta(w, &gpu.h));
	assert_true(cap_writer_meta(w, &kernel.h));
	return w;
}

/* Kernels of 600 ns, one every microsecond, and a second of idle time after every hundredth. */
static void put_kernels(struct cap_writer *w, unsigned from, unsigned n)
{
	struct cap_lane *lane = cap_lane_get(w, 20);

	for (unsigned i = from; i < from + n; i++) {
		uint64_t start_ns = 1000 * (i + 1ull) + i / 100 * 1000000000ull;
		struct cap_rec_dispatch rec = {
			.h = { CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch), 1, start_ns },
			.end_ns = start_ns + 600,
			.dispatch_id = i + 1,
			.tid = 20,
			.agent = 2
		};

		assert_true(cap_lane_append(lane, &rec.h));
	}
}

static size_t count_kernels(const struct trc_trace *trace)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(KERNEL_DISPATCH) };
	struct trc_events *events;
	struct ws_err err;
	size_t n = 0;

	assert_int_equal(trc_events_open(trace, &query, &events, &err), WS_OK);
	while (trc_events_next(events))
		n++;
	assert_int_equal(trc_events_close(events, &err), WS_OK);
	return n;
}

static struct trc_trace *open_since(const char *path, const struct trc_mark *mark)
{
	struct trc_opts opts = { .since = mark };
	struct trc_trace *trace = NULL;
	struct ws_err err;

	if (trc_open(&path, 1, &opts, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

static void sums_are_equal(const struct scr_activity *a, const struct scr_activity *b)
{
	uint64_t in_slots[2] = { 0 };

	assert_int_equal(a->gpus.n, 1);
	assert_int_equal(a->kernels.n, 1);
	assert_int_equal(a->kernels.at[0].n, b->kernels.at[0].n);
	assert_int_equal(a->kernels.at[0].n_recent, b->kernels.at[0].n_recent);
	assert_int_equal(a->kernels.at[0].sum_ns, b->kernels.at[0].sum_ns);
	assert_int_equal(a->gpus.at[0].busy_ns, b->gpus.at[0].busy_ns);
	assert_int_equal(a->gpus.at[0].recent_busy_ns, b->gpus.at[0].recent_busy_ns);
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
	for (size_t i = 0; i < SCR_SLOTS; i++) {
		in_slots[0] += a->gpus.at[0].slots[i];
		in_slots[1] += b->gpus.at[0].slots[i];
	}
	assert_int_equal(in_slots[0], in_slots[1]);
}

/* Parts of any size, within chunks and over several, give the sums of the whole. */
static void only_what_is_new_is_read(void **state)
{
	static const unsigned parts[] = { 5, 1, 0, 94, 20000, 3 };
	struct scr_activity grown, whole;
	struct trc_mark *mark = NULL;
	struct cap_writer *w;
	struct ws_err err;
	char path[96];
	unsigned n = 0;

	snprintf(path, sizeof(path), "%s/grows.wcap", dir);
	w = begin_capture(path);
	scr_activity_init(&grown);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct trc_trace *trace;

		put_kernels(w, n, parts[i]);
		n += parts[i];
		trace = open_since(path, mark);
		assert_int_equal(count_kernels(trace), parts[i]);
		assert_int_equal(scr_activity_add(&grown, trace, 0, &err), WS_OK);
		trc_mark_free(mark);
		assert_int_equal(trc_mark_take(trace, &mark, &err), WS_OK);
		trc_unmark(trace);
		assert_int_equal(count_kernels(trace), n);
		trc_close(trace);
		trace = open_since(path, NULL);
		assert_int_equal(scr_activity_read(trace, 0, &whole, &err), WS_OK);
		trc_close(trace);
		sums_are_equal(&grown, &whole);
		scr_activity_fini(&whole);
	}
	assert_int_equal(grown.kernels.at[0].n, n);
	trc_mark_free(mark);
	scr_activity_fini(&grown);
	cap_writer_close(w);
	unlink(path);
}

static void out_of_memory_is_an_error(void **state)
{
	struct trc_trace *trace = two_kernels();
	long n_failed = 0;

	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct scr_activity a;
		struct ws_err err;
		enum ws_status st = scr_activity_read(trace, 0, &a, &err);

		if (allocation_failed())
			assert_int_equal(st, WS_E_NOMEM);
		else
			scr_activity_fini(&a);
		n_failed += st != WS_OK;
	}
	assert_true(n_failed > 3);
	trc_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_overlap_are_busy_once),
		cmocka_unit_test(kernels_are_summed_by_name),
		cmocka_unit_test(an_ended_process_does_not_run),
		cmocka_unit_test(only_what_is_new_is_read),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
