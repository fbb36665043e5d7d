/* Modules, call stacks and Python code of a capture: all of them, and none that is damaged. */
#include "tests/profile/host_rig.h"

#include "trace/host.h"

static struct trc_host *open_host(const struct trc_trace *trace)
{
	struct trc_host *host = NULL;
	struct ws_err err = { 0 };

	if (trc_host_open(trc_process_at(trace, 0), &host, &err))
		fail_msg("%s", err.text);
	return host;
}

static void put_example(struct cap_writer *w)
{
	static const uint64_t frames[] = { 0x1010, 0x2020,
					   CAP_FRAME_PYTHON | CAP_FRAME_ENTRY | 7ull << 32 | 6 };
	static const uint8_t table[] = { 4, 1, 4, 2 };
	struct cap_lane *first = cap_lane_get(w, 100), *second = cap_lane_get(w, 101);

	rig_module(first,
		   (struct cap_rec_module){ .h.what = 1,
					    .start = 0x1000,
					    .end = 0x2000,
					    .bias = 0x400,
					    .generation = 1,
					    .n_build_id = 3,
					    .build_id = { 0xab, 0xcd, 0xef } },
		   "/lib/a.so");
	rig_module(second,
		   (struct cap_rec_module){
			   .h.what = 2, .start = 0x2000, .end = 0x3000, .generation = 1 },
		   "/lib/b.so");
	/* the same place after dlclose() */
	rig_module(second,
		   (struct cap_rec_module){
			   .h.what = 3, .start = 0x1800, .end = 0x2800, .generation = 2 },
		   "/lib/c.so");
	rig_stack(second,
		  (struct cap_rec_stack){ .h.what = 5,
					  .n_frames = 3,
					  .n_native = 2,
					  .flags = CAP_STACK_SIGNAL,
					  .generation = 1 },
		  frames);
	rig_stack(first, (struct cap_rec_stack){ .h.what = 2, .generation = 2 }, NULL);
	rig_python(first,
		   (struct cap_rec_python_code){ .h.what = 7, .first_line = 40, .version = 0x0309 },
		   "Model.forward", "net.py", table, sizeof(table));
	cap_lane_put(first);
	cap_lane_put(second);
}

static void what_was_recorded_is_found_by_id(void **state)
{
	struct cap_writer *w = rig_start();
	const struct trc_python_code *code;
	const struct trc_stack *stack;
	struct trc_trace *trace;
	struct trc_host *host;

	put_example(w);
	trace = rig_trace(w);
	host = open_host(trace);
	assert_int_equal(trc_host_n_stacks(host), 6);
	stack = trc_host_stack(host, 5);
	assert_non_null(stack);
	assert_int_equal(stack->id, 5);
	assert_int_equal(stack->flags, CAP_STACK_SIGNAL);
	assert_int_equal(stack->generation, 1);
	assert_int_equal(stack->n_frames, 3);
	assert_int_equal(stack->n_native, 2);
	assert_int_equal(stack->frames[0], 0x1010);
	assert_int_equal(stack->frames[1], 0x2020);
	assert_int_equal(CAP_FRAME_PYTHON_CODE(stack->frames[2]), 7);
	assert_int_equal(CAP_FRAME_PYTHON_AT(stack->frames[2]), 6);
	stack = trc_host_stack(host, 2);
	assert_non_null(stack);
	assert_int_equal(stack->n_frames, 0);

	code = trc_host_python(host, 7);
	assert_non_null(code);
	assert_string_equal(code->name, "Model.forward");
	assert_string_equal(code->file, "net.py");
	assert_int_equal(code->first_line, 40);
	assert_int_equal(code->version, 0x0309);
	assert_int_equal(code->n_line_table, 4);
	assert_int_equal(trc_python_line(code, 6), 41);
	assert_int_equal(trc_python_line(code, 8), 43);

	assert_null(trc_host_stack(host, 0));
	assert_null(trc_host_stack(host, 1));
	assert_null(trc_host_stack(host, 6));
	assert_null(trc_host_stack(host, UINT32_MAX));
	assert_null(trc_host_python(host, 0));
	assert_null(trc_host_python(host, 8));
	trc_host_close(host);
	trc_close(trace);
}

static void modules_are_those_of_the_generation(void **state)
{
	struct cap_writer *w = rig_start();
	const struct trc_module *module;
	struct trc_trace *trace;
	struct trc_host *host;

	put_example(w);
	trace = rig_trace(w);
	host = open_host(trace);
	module = trc_host_module(host, 1, 0x1fff);
	assert_non_null(module);
	assert_string_equal(module->path, "/lib/a.so");
	assert_int_equal(module->id, 1);
	assert_int_equal(module->bias, 0x400);
	assert_int_equal(module->n_build_id, 3);
	assert_memory_equal(module->build_id, "\xab\xcd\xef", 3);
	assert_string_equal(trc_host_module(host, 1, 0x2000)->path, "/lib/b.so");
	assert_string_equal(trc_host_module(host, 2, 0x1fff)->path, "/lib/c.so");
	assert_null(trc_host_module(host, 2, 0x1000));
	assert_null(trc_host_module(host, 2, 0x2800));
	assert_null(trc_host_module(host, 1, 0x3000));
	assert_null(trc_host_module(host, 1, 0xfff));
	assert_null(trc_host_module(host, 3, 0x1fff));
	assert_null(trc_host_module(host, 0, 0x1fff));
	assert_string_equal(trc_host_module_latest(host, 0x1fff)->path, "/lib/c.so");
	assert_string_equal(trc_host_module_latest(host, 0x2fff)->path, "/lib/b.so");
	assert_null(trc_host_module_latest(host, 0x3000));
	trc_host_close(host);
	trc_close(trace);
}

static void damaged_records_are_left_out(void **state)
{
	static const uint64_t frames[] = { 1, 2 };
	struct cap_writer *w = rig_start();
	struct cap_lane *lane = cap_lane_get(w, 100);
	struct cap_rec_python_code lies = { .h.what = 1, .n_name = UINT32_MAX, .n_bytes = 4 };
	struct trc_trace *trace;
	struct trc_host *host;

	rig_stack(lane, (struct cap_rec_stack){ .h.what = 1, .n_frames = 2, .n_native = 3 },
		  frames);
	rig_stack(lane, (struct cap_rec_stack){ .h.what = 0, .n_frames = 2 }, frames);
	rig_stack(lane, (struct cap_rec_stack){ .h.what = UINT32_MAX, .n_frames = 2 }, frames);
	rig_stack(lane, (struct cap_rec_stack){ .h.what = 3, .n_frames = 2 }, frames);
	rig_stack(lane, (struct cap_rec_stack){ .h.what = 3, .n_frames = 1 }, frames);
	rig_append(lane, CAP_REC_PYTHON_CODE, &lies, sizeof(lies), "abcd", 4);
	lies = (struct cap_rec_python_code){ .h.what = 2, .n_name = 3, .n_file = 2, .n_bytes = 4 };
	rig_append(lane, CAP_REC_PYTHON_CODE, &lies, sizeof(lies), "abcd", 4);
	rig_module(lane, (struct cap_rec_module){ .h.what = 1, .start = 2, .end = 1 }, "/a");
	rig_module(lane,
		   (struct cap_rec_module){
			   .h.what = 2, .start = 1, .end = 9, .n_build_id = CAP_BUILD_ID_MAX + 1 },
		   "/a");
	cap_lane_put(lane);
	trace = rig_trace(w);
	host = open_host(trace);
	assert_null(trc_host_stack(host, 1));
	assert_int_equal(trc_host_n_stacks(host), 4);
	assert_int_equal(trc_host_stack(host, 3)->n_frames, 2); /* the first one counts */
	assert_null(trc_host_python(host, 1));
	assert_null(trc_host_python(host, 2));
	assert_null(trc_host_module_latest(host, 1));
	trc_host_close(host);
	trc_close(trace);
}

static void a_capture_without_stacks_has_none(void **state)
{
	struct trc_trace *trace = rig_trace(rig_start());
	struct trc_host *host = open_host(trace);

	assert_int_equal(trc_host_n_stacks(host), 0);
	assert_null(trc_host_stack(host, 0));
	assert_null(trc_host_stack(host, 1));
	assert_null(trc_host_module(host, 1, 0x1000));
	assert_null(trc_host_python(host, 1));
	trc_host_close(host);
	trc_host_close(NULL);
	trc_close(trace);
}

static void a_failed_allocation_is_reported(void **state)
{
	struct cap_writer *w = rig_start();
	struct trc_trace *trace;

	put_example(w);
	trace = rig_trace(w);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct trc_host *host = NULL;
		struct ws_err err = { 0 };
		enum ws_status st = trc_host_open(trc_process_at(trace, 0), &host, &err);

		if (allocation_failed()) {
			assert_int_not_equal(st, WS_OK);
			assert_null(host);
			assert_true(err.text[0]);
		} else {
			assert_int_equal(st, WS_OK);
		}
		trc_host_close(host);
	}
	trc_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_recorded_is_found_by_id),
		cmocka_unit_test(modules_are_those_of_the_generation),
		cmocka_unit_test(damaged_records_are_left_out),
		cmocka_unit_test(a_capture_without_stacks_has_none),
		cmocka_unit_test(a_failed_allocation_is_reported),
	};

	return RUN_WITH(tests, rig_make_dir, rig_drop_dir);
}
