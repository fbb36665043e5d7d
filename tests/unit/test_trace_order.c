/* The trace: the order of events, several captures and clocks, and no memory. */
#include "tests/unit/trace_rig.h"

#include "trace/collectives.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- order ---- */

/* Nested calls as a program makes them: appended at their end, children first. */
static uint64_t nest(struct cap_lane *lane, unsigned *seed, uint64_t now, int depth, uint64_t *n)
{
	uint64_t begin = now;

	now += (uint64_t)(rand_r(seed) % 3); /* may begin together with its first child */
	for (int i = rand_r(seed) % 4; depth && i; i--)
		now = nest(lane, seed, now, depth - 1, n);
	now += 1 + (uint64_t)(rand_r(seed) % 50);
	put_call(lane, begin, now, ++*n);
	return now;
}

static void check_order(struct trc_trace *trace, uint64_t n_expected)
{
	struct trc_events *events =
		open_events(trace, (struct trc_event_query){ .order = TRC_ORDER_START });
	unsigned char *seen = test_calloc(n_expected + 1, 1);
	const struct trc_event *ev;
	uint64_t start = 0, end = UINT64_MAX, n = 0;

	while ((ev = trc_events_next(events))) {
		uint64_t id = ev->domain == CAP_DOMAIN_KERNEL_DISPATCH
				      ? ev->dispatch.info->dispatch_id
				      : ev->corr_id;

		if (ev->start_ns < start || (ev->start_ns == start && ev->end_ns > end))
			fail_msg("event %lu at %lu..%lu comes after %lu..%lu", (unsigned long)id,
				 (unsigned long)ev->start_ns, (unsigned long)ev->end_ns,
				 (unsigned long)start, (unsigned long)end);
		start = ev->start_ns;
		end = ev->end_ns;
		assert_true(id <= n_expected);
		assert_int_equal(seen[id]++, 0);
		n++;
	}
	assert_int_equal(trc_events_close(events, NULL), WS_OK);
	assert_int_equal(n, n_expected);
	test_free(seen);
}

static void events_come_by_start(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane[3] = { cap_lane_get(w, 100), cap_lane_get(w, 101),
				     cap_lane_get(w, 102) };
	uint64_t base = cap_ticks(), now[2] = { base, base }, n = 0, gpu;
	unsigned seed = 3;
	struct timespec t;
	struct trc_trace *trace;

	put_facts(w, 100);
	clock_gettime(CLOCK_BOOTTIME, &t);
	gpu = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	while (n < 150000) { /* 6 MB of calls, most in chunks of 1 MiB */
		for (int i = 0; i < 2; i++)
			now[i] = nest(lane[i], &seed, now[i], 5, &n);
		/* GPU work: out of order by up to 64, and sometimes by very much */
		gpu += 200;
		for (int i = 0; i < 8; i++) {
			uint64_t begin = gpu - (uint64_t)(rand_r(&seed) % 12800);

			if (rand_r(&seed) % 5000 == 0)
				begin -= 10000000;
			put_dispatch(lane[2], begin, begin + 100, ++n);
		}
	}
	/* ranges around everything, known only at the end */
	put_call(lane[0], base, now[0], ++n);
	put_call(lane[1], base, now[1] + 5, ++n);
	cap_writer_end(w, CAP_END_EXIT);
	cap_writer_close(w);
	trace = open_trace(NULL);
	check_order(trace, n);
	trc_close(trace);
}

static void wild_times_do_not_disturb_the_order_of_others(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);
	uint64_t n = 0;
	unsigned seed = 5;
	struct trc_trace *trace;

	put_facts(w, 100);
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t begin = 1000000000 + i * 10;

		if (rand_r(&seed) % 3000 == 0) /* what a flipped bit does */
			begin ^= 1ull << rand_r(&seed) % 62;
		put_dispatch(lane, begin, begin + 5, ++n);
	}
	cap_writer_close(w);
	trace = open_trace(NULL);
	check_order(trace, n);
	trc_close(trace);
}

static void several_captures_are_one_trace(void **state)
{
	const char *paths[] = { path, path2 };
	struct trc_trace *trace = NULL;
	struct trc_events *events;
	const struct trc_event *ev;
	uint64_t last = 0, n = 0;

	for (int k = 0; k < 2; k++) {
		struct cap_writer *w = start(paths[k]);
		struct cap_lane *lane = cap_lane_get(w, 50);

		put_facts(w, k ? 40u : 60u);
		for (uint64_t i = 0; i < 1000; i++)
			put_dispatch(lane, 1000 + i * 10 + (uint64_t)k * 5, 1003 + i * 10, i);
		cap_writer_end(w, CAP_END_EXIT);
		cap_writer_close(w);
	}
	assert_int_equal(trc_open(paths, 2, NULL, &trace, NULL), WS_OK);
	assert_int_equal(trc_process_at(trace, 0)->pid, 40); /* started first */
	assert_int_equal(trc_process_at(trace, 1)->index, 1);
	events = open_events(trace, (struct trc_event_query){ .order = TRC_ORDER_START });
	while ((ev = trc_events_next(events))) {
		assert_true(ev->start_ns >= last);
		assert_int_equal(ev->process->index, n % 2 ? 0 : 1);
		last = ev->start_ns;
		n++;
	}
	assert_int_equal(n, 2000);
	trc_events_close(events, NULL);
	events =
		open_events(trace, (struct trc_event_query){ .process = trc_process_at(trace, 1) });
	for (n = 0; (ev = trc_events_next(events)); n++)
		assert_int_equal(ev->process->pid, 60);
	assert_int_equal(n, 1000);
	trc_events_close(events, NULL);
	trc_close(trace);
}

/* As if @to had been written on a machine that started @older_ns before this one. */
static void move_to_other_machine(const char *to, uint64_t older_ns)
{
	struct cap_file_head head;
	int fd = open(to, O_RDWR);

	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	head.boot_id[3] ^= 0xff;
	head.created_ns += older_ns;
	head.check = cap_check32((const uint32_t *)&head,
				 offsetof(struct cap_file_head, end_bytes) / sizeof(uint32_t));
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	close(fd);
}

static void captures_of_two_machines_share_a_clock(void **state)
{
	const char *paths[] = { path2, path };
	const uint64_t older_ns = 5000000000;
	struct trc_trace *trace = NULL;
	struct trc_events *events;
	const struct trc_event *ev;
	uint64_t last = 0, n = 0;

	for (int k = 0; k < 2; k++) { /* path first: the trace has its clock */
		struct cap_writer *w = start(k ? path2 : path);
		struct cap_lane *lane = cap_lane_get(w, 50);

		put_facts(w, 60);
		for (uint64_t i = 0; i < 10; i++)
			put_dispatch(lane, older_ns * 2 + i * 100 + (k ? older_ns + 50 : 0),
				     older_ns * 4, i);
		cap_writer_close(w);
	}
	move_to_other_machine(path2, older_ns);
	assert_int_equal(trc_open(paths, 2, NULL, &trace, NULL), WS_OK);
	events = open_events(trace, (struct trc_event_query){ .order = TRC_ORDER_START });
	for (; (ev = trc_events_next(events)); n++) {
		assert_true(ev->start_ns >= last);
		last = ev->start_ns;
		/* to within what lies between reading two clocks at open, on a machine that is busy */
		assert_true(llabs((int64_t)(ev->start_ns - older_ns * 2)) < 1000000000);
		if (!ev->process->clock.shift_ns)
			assert_int_equal((ev->start_ns - older_ns * 2) % 100, 0);
	}
	assert_int_equal(n, 20);
	trc_events_close(events, NULL);
	trc_close(trace);
}

static void a_clock_can_be_placed(void **state)
{
	struct trc_clock_line clock = { .shift_ns = 5000, .at_ns = 1000000, .drift = 1e-3 };
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);
	struct trc_trace *trace;
	struct trc_events *events;
	const struct trc_process *process;
	const struct trc_event *ev;

	put_facts(w, 100);
	put_dispatch(lane, 2000000, 3000000, 1);
	cap_writer_close(w);
	trace = open_trace(NULL);
	process = trc_process_at(trace, 0);
	assert_int_equal(process->ledger[CAP_DOMAIN_KERNEL_DISPATCH].last_ns, 3000000);
	trc_set_clock(trace, 0, &clock);
	/* t + 5000 + (t - 1000000) / 1000 */
	assert_int_equal(process->ledger[CAP_DOMAIN_KERNEL_DISPATCH].first_ns, 2006000);
	assert_int_equal(process->ledger[CAP_DOMAIN_KERNEL_DISPATCH].last_ns, 3007000);
	assert_int_equal(process->init_ns, 100 + 5000 - 999);
	events = open_events(trace, (struct trc_event_query){ .order = TRC_ORDER_START });
	ev = trc_events_next(events);
	assert_int_equal(ev->start_ns, 2006000);
	assert_int_equal(ev->end_ns, 3007000);
	trc_events_close(events, NULL);
	/* and again: from one line to another */
	trc_set_clock(trace, 0, &(struct trc_clock_line){ .shift_ns = 7 });
	assert_int_equal(process->ledger[CAP_DOMAIN_KERNEL_DISPATCH].last_ns, 3000007);
	assert_int_equal(process->init_ns, 107);
	trc_close(trace);
}

static enum ws_status keep_collective(void *ctx, const struct trc_collective *collective,
				      struct ws_err *err)
{
	*(struct trc_collective *)ctx = *collective;
	return collective->seq == 7 ? WS_OK : ws_fail(err, WS_E_STATE, "enough");
}

static void collectives_have_their_communicator(void **state)
{
	struct cap_rec_collective rec = {
		.h = { CAP_REC_FIXED_TAG(COLLECTIVE, struct cap_rec_collective), 3, 500 },
		.end_ticks = 900,
		.comm = 42,
		.seq = 7,
		.rank = 1,
		.n_ranks = 4,
		.root = -1,
	};
	struct cap_writer_opts opts = { .imported = true, .pid = 100 }; /* ticks are nanoseconds */
	struct trc_collective last = { .name = NULL };
	struct cap_rec_region region = { .h = HEAD(REGION, cap_rec_region, 3),
					 .category = CAP_REGION_MPI };
	struct cap_writer *w = NULL;
	struct ws_err err = { 0 };
	struct cap_lane *lane;
	struct trc_trace *trace;

	unlink(path);
	assert_int_equal(cap_writer_open(path, &opts, &w, &err), WS_OK);
	lane = cap_lane_get(w, 100);
	region.name_str = intern(w, "MPI_Barrier");
	assert_true(cap_writer_meta(w, &region.h));
	assert_true(cap_lane_append(lane, &rec.h));
	cap_writer_close(w);
	trace = open_trace(NULL);
	assert_int_equal(trc_collectives_each(trc_process_at(trace, 0), keep_collective, &last,
					      &err),
			 WS_OK);
	assert_string_equal(last.name, "MPI_Barrier");
	assert_int_equal(last.start_ns, 500);
	assert_int_equal(last.end_ns, 900);
	assert_int_equal(last.comm, 42);
	assert_int_equal(last.rank, 1);
	assert_int_equal(last.n_ranks, 4);
	assert_int_equal(last.root, -1);
	trc_close(trace);
	/* A failure of the caller ends the walk. */
	w = start(path);
	lane = cap_lane_get(w, 100);
	rec.seq = 8;
	assert_true(cap_lane_append(lane, &rec.h));
	cap_writer_close(w);
	trace = open_trace(NULL);
	assert_int_equal(trc_collectives_each(trc_process_at(trace, 0), keep_collective, &last,
					      &err),
			 WS_E_STATE);
	assert_string_equal(last.name, "");
	trc_close(trace);
}

static void images_are_kept(void **state)
{
	struct cap_writer *w = start(path);
	size_t n = 300000;
	char *image = test_malloc(n), *back;
	struct cap_rec_code_object again = { .h = HEAD(CODE_OBJECT, cap_rec_code_object, 2) };
	struct cap_rec_code_same same = { .h = HEAD(CODE_SAME, cap_rec_code_same, 2),
					  .same_as = 1 };
	uint64_t n_back = 0;
	struct trc_trace *trace;

	for (size_t i = 0; i < n; i++)
		image[i] = (char)(i * 31);
	put_facts(w, 100);
	assert_true(cap_writer_code_bytes(w, 1, image, n));
	/* loaded again: the bytes are those of the first */
	cap_writer_meta(w, &again.h);
	cap_writer_meta(w, &same.h);
	cap_writer_close(w);
	trace = open_trace(NULL);
	back = trc_process_code_bytes(trc_process_at(trace, 0), 1, &n_back);
	assert_int_equal(n_back, n);
	assert_memory_equal(back, image, n);
	free(back);
	n_back = 0;
	back = trc_process_code_bytes(trc_process_at(trace, 0), 2, &n_back);
	assert_int_equal(n_back, n);
	assert_memory_equal(back, image, n);
	free(back);
	assert_null(trc_process_code_bytes(trc_process_at(trace, 0), 3, &n_back));
	test_free(image);
	trc_close(trace);
}

static void running_out_of_memory_is_an_error_every_time(void **state)
{
	const char *paths[] = { path };
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);

	put_facts(w, 100);
	for (uint64_t i = 0; i < 3000; i++)
		put_call(lane, 1000 - i % 7 + i, 2000 + i, i);
	cap_writer_close(w);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct trc_trace *trace = NULL;
		struct trc_events *events = NULL;
		struct ws_err err = { 0 };
		enum ws_status st = trc_open(paths, 1, NULL, &trace, &err);

		if (!st)
			st = trc_events_open(trace,
					     &(struct trc_event_query){ .order = TRC_ORDER_START },
					     &events, &err);
		while (!st && trc_events_next(events))
			;
		if (events && trc_events_close(events, &err))
			st = WS_E_NOMEM;
		if (allocation_failed()) {
			assert_int_equal(st, WS_E_NOMEM);
			assert_int_equal(err.status, WS_E_NOMEM);
		} else {
			assert_int_equal(st, WS_OK);
		}
		trc_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_by_start),
		cmocka_unit_test(wild_times_do_not_disturb_the_order_of_others),
		cmocka_unit_test(several_captures_are_one_trace),
		cmocka_unit_test(captures_of_two_machines_share_a_clock),
		cmocka_unit_test(a_clock_can_be_placed),
		cmocka_unit_test(collectives_have_their_communicator),
		cmocka_unit_test(images_are_kept),
		cmocka_unit_test(running_out_of_memory_is_an_error_every_time),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
