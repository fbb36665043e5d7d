/* The trace: facts joined, events with all that belongs to them. */
#include "tests/unit/trace_rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- facts ---- */

static void facts_are_joined(void **state)
{
	struct cap_writer *w = start(path);
	struct trc_trace *trace;
	const struct trc_process *p;

	put_facts(w, 100);
	cap_writer_end(w, CAP_END_EXIT);
	cap_writer_close(w);
	trace = open_trace(NULL);
	assert_int_equal(trc_n_processes(trace), 1);
	p = trc_process_at(trace, 0);
	assert_int_equal(p->pid, 100);
	assert_true(p->ended);
	assert_int_equal(p->n_argv, 2);
	assert_string_equal(p->argv[1], "-n");
	assert_null(p->argv[2]);
	assert_string_equal(p->facts[CAP_FACT_HOSTNAME], "node7");
	assert_string_equal(p->facts[CAP_FACT_CWD], "");
	assert_int_equal(p->agents.n, 2);
	assert_string_equal(p->agents.at[0]->name, "gfx90a"); /* node 0 */
	assert_int_equal(p->agents.at[0]->n_banks, 1);
	assert_int_equal(p->agents.at[0]->banks[0]->size_in_bytes, 1 << 30);
	assert_ptr_equal(p->queues.at[1].agent, p->agents.at[0]);
	assert_int_equal(p->kernels.n, 5);
	assert_string_equal(p->kernels.at[4].symbol, "_Z15matrixTransposePfS_i.kd");
	assert_string_equal(p->kernels.at[4].demangled, "matrixTranspose(float*, float*, int)");
	assert_string_equal(p->kernels.at[4].formatted, "matrixTranspose(float*, float*, int)");
	assert_string_equal(p->kernels.at[4].truncated, "matrixTranspose");
	assert_string_equal(p->kernels.at[4].code_object->uri, "file:///a.out#offset=1");
	assert_null(p->kernels.at[2].info);
	assert_string_equal(p->kernels.at[2].formatted, "");
	assert_int_equal(p->threads.n, 2);
	assert_int_equal(p->main_thread->tid, 100);
	assert_int_equal(p->threads.at[1].index, 1);
	assert_string_equal(p->threads.at[1].name, "worker");
	assert_string_equal(trc_process_external(p, 99), "forward pass");
	assert_null(trc_process_external(p, 98));
	assert_true(p->ledger[CAP_DOMAIN_HIP_API].asked);
	assert_false(p->ledger[CAP_DOMAIN_MEMORY_COPY].asked);
	assert_false(cap_damage_any(&p->damage));
	trc_close(trace);
}

static void names_follow_the_options(void **state)
{
	struct cap_writer *w = start(path);
	struct trc_trace *trace;

	put_facts(w, 100);
	cap_writer_close(w);
	trace = open_trace(&(struct trc_opts){ .mangled_names = true });
	assert_string_equal(trc_process_at(trace, 0)->kernels.at[4].formatted,
			    "_Z15matrixTransposePfS_i.kd");
	trc_close(trace);
	trace = open_trace(&(struct trc_opts){ .mangled_names = true, .truncated_names = true });
	assert_string_equal(trc_process_at(trace, 0)->kernels.at[4].formatted, "matrixTranspose");
	trc_close(trace);
}

static void names_are_cut_to_the_function(void **state)
{
	static const char *const rows[][2] = {
		{ "add(float*, int)", "add" },
		{ "void ns::add<int, (ns::E)3>(float*, int)", "add" },
		{ "(anonymous namespace)::k(int)", "k" },
		{ "void at::native::f<4, at::A<float>, at::detail::Array<char*, 2> >(int)", "f" },
		{ "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer" },
		{ "f(int) [clone .isra.0]", "f" },
		{ "", "" },
		{ ")))", ")))" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = trc_truncate_name(rows[i][0]);

		assert_string_equal(text, rows[i][1]);
		free(text);
	}
	char *plain = trc_demangle("f"); /* a type, were it mangled */
	assert_string_equal(plain, "f");
	free(plain);
	plain = trc_demangle("_Znonsense");
	assert_string_equal(plain, "_Znonsense");
	free(plain);
}

/* ---- events ---- */

static void calls_come_with_arguments(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 101);
	struct {
		struct cap_rec_call_args call;
		uint64_t slots[10];
	} rec = {
		.call = { .call = { .h = { CAP_REC_TAG(CAP_REC_CALL_ARGS, sizeof(rec)), 5,
					   cap_ticks() },
				    .corr_id = 12,
				    .ancestor_id = 11 },
			  .retval = 3,
			  .stream = 3,
			  .n_arg_bytes = sizeof(rec.slots) },
		.slots = { 0xabc, 9, 0, 0, 1, 2 | 3ull << 32, 4, 0, 3, 0xdef },
	};
	float f = 0.5f;
	static const char *const texts[] = {
		"0xabc", "nine char", "hipMemcpyHostToDevice", "{z=4, y=3, x=2}", "0.5", "0xdef"
	};
	struct trc_trace *trace;
	struct trc_events *events;
	const struct trc_event *ev;
	struct trc_arg_walk walk = { 0 };
	struct trc_arg arg;
	char text[64];

	memcpy(&rec.slots[2], "nine char", 9);
	memcpy(&rec.slots[7], &f, sizeof(f));
	rec.call.call.end_ticks = rec.call.call.h.time;
	put_facts(w, 100);
	assert_true(cap_lane_append(lane, &rec.call.call.h));
	cap_writer_close(w);

	trace = open_trace(NULL);
	events = open_events(trace, (struct trc_event_query){ .domains = TRC_DOMAIN_BIT(HIP_API) });
	ev = trc_events_next(events);
	assert_non_null(ev);
	assert_string_equal(ev->name, "hipMemcpyAsync");
	assert_int_equal(ev->kind, CAP_KIND_HIP_RUNTIME_API_EXT);
	assert_int_equal(ev->op_id, 77);
	assert_int_equal(ev->corr_id, 12);
	assert_int_equal(ev->ancestor_id, 11);
	assert_int_equal(ev->thread->tid, 101);
	assert_string_equal(ev->thread->name, "worker");
	assert_int_equal(ev->stream->id, 3);
	assert_int_equal(ev->end_ns, ev->start_ns + 1); /* calls take time */
	assert_true(ev->call.has_retval && ev->call.retval == 3);
	for (int i = 0; i < 6; i++) {
		assert_true(trc_event_arg(ev, &walk, &arg));
		trc_arg_print(ev->process, &arg, text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
	assert_int_equal(arg.stream, 3);
	assert_string_equal(arg.name, "s");
	assert_false(trc_event_arg(ev, &walk, &arg));
	assert_null(trc_events_next(events));
	assert_int_equal(trc_events_close(events, NULL), WS_OK);
	trc_close(trace);
}

static void ticks_land_on_the_clock(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);
	uint64_t before[20], after[20];
	struct trc_trace *trace;
	struct trc_events *events;
	struct timespec t;

	put_facts(w, 100);
	for (int i = 0; i < 20; i++) {
		uint64_t ticks;

		clock_gettime(CLOCK_BOOTTIME, &t);
		before[i] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		ticks = cap_ticks();
		clock_gettime(CLOCK_BOOTTIME, &t);
		after[i] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		put_call(lane, ticks, ticks, (uint64_t)i);
		usleep(1000);
		if (i % 4 == 0)
			cap_writer_tend(w);
	}
	cap_writer_close(w); /* no end: the last stretch is extrapolated */
	trace = open_trace(NULL);
	events = open_events(trace, (struct trc_event_query){ 0 });
	for (int i = 0; i < 20; i++) {
		const struct trc_event *ev = trc_events_next(events);

		/* the records lie 1 ms apart; a pair of clocks read on a busy machine may be off by
		 * as long as this thread was away between the two */
		assert_true(ev->start_ns + 100000 >= before[i]);
		assert_true(ev->start_ns <= after[i] + 100000);
	}
	trc_events_close(events, NULL);
	trc_close(trace);
}

static void markers_have_messages(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);
	struct {
		struct cap_rec_marker marker;
		char text[8];
	} inline_text = { .marker = { .h = { CAP_REC_TAG(CAP_REC_MARKER, sizeof(inline_text)),
					     CAP_MARKER_THREAD_RANGE, 5 },
				      .end_ticks = 9,
				      .n_bytes = 5 },
			  .text = "outerXX" };
	struct cap_rec_marker interned = { .h = { CAP_REC_FIXED_TAG(MARKER, struct cap_rec_marker),
						  CAP_MARKER_MARK, 10 },
					   .end_ticks = 10,
					   .message = intern(w, "a mark") };
	struct cap_rec_marker pause = { .h = { CAP_REC_FIXED_TAG(MARKER, struct cap_rec_marker),
					       CAP_MARKER_PAUSE, 11 },
					.end_ticks = 12 };
	struct trc_trace *trace;
	struct trc_events *events;
	const struct trc_event *ev;

	put_facts(w, 100);
	cap_lane_append(lane, &inline_text.marker.h);
	cap_lane_append(lane, &interned.h);
	cap_lane_append(lane, &pause.h);
	cap_writer_close(w);
	trace = open_trace(NULL);
	events = open_events(trace, (struct trc_event_query){ 0 });
	ev = trc_events_next(events);
	assert_string_equal(ev->name, "outer");
	assert_string_equal(ev->marker.op_name, "roctxThreadRangeA");
	assert_true(ev->marker.has_message);
	ev = trc_events_next(events);
	assert_string_equal(ev->name, "a mark");
	assert_int_equal(ev->start_ns, ev->end_ns);
	ev = trc_events_next(events);
	assert_string_equal(ev->name, "roctxProfilerPause");
	assert_int_equal(ev->kind, CAP_KIND_MARKER_CONTROL_API);
	assert_int_equal(ev->op_id, 0);
	assert_false(ev->marker.has_message);
	trc_events_close(events, NULL);
	trc_close(trace);
}

static void dispatches_answer_for_kernels_and_counters(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 900); /* a helper of the collector's */
	struct {
		struct cap_rec_dispatch d;
		struct cap_counter_value values[2];
	} counted = { .d = { .h = { CAP_REC_TAG(CAP_REC_DISPATCH, sizeof(counted)), 4, 50 },
			     .end_ns = 60,
			     .external_id = 99,
			     .dispatch_id = 2,
			     .tid = 101,
			     .agent = 2,
			     .queue = 1,
			     .n_values = 2 },
		      .values = { { 1, 0, 2.5 }, { 1, 1, 4.0 } } };
	struct trc_trace *trace;
	struct trc_events *events;
	const struct trc_event *ev;

	put_facts(w, 100);
	put_dispatch(lane, 10, 20, 1);
	cap_lane_append(lane, &counted.d.h);
	cap_writer_count(w, CAP_DOMAIN_KERNEL_DISPATCH, CAP_LEDGER_DROPPED, 7);
	cap_writer_close(w);
	trace = open_trace(NULL);
	events = open_events(trace, (struct trc_event_query){
					    .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) });
	ev = trc_events_next(events);
	assert_string_equal(ev->name, "forward pass");
	assert_string_equal(ev->dispatch.kernel->truncated, "matrixTranspose");
	assert_string_equal(ev->dispatch.agent->name, "gfx90a");
	assert_int_equal(ev->dispatch.queue->id, 1);
	assert_int_equal(ev->thread->tid, 101);
	assert_true(ev->dispatch.values[1].value == 4.0);
	assert_null(trc_events_next(events));
	trc_events_close(events, NULL);
	assert_int_equal(trc_process_at(trace, 0)->ledger[CAP_DOMAIN_KERNEL_DISPATCH].written, 2);
	assert_int_equal(trc_process_at(trace, 0)->ledger[CAP_DOMAIN_KERNEL_DISPATCH].dropped, 7);
	assert_int_equal(trc_process_at(trace, 0)->ledger[CAP_DOMAIN_KERNEL_DISPATCH].first_ns, 10);
	assert_int_equal(trc_process_at(trace, 0)->ledger[CAP_DOMAIN_KERNEL_DISPATCH].last_ns, 60);
	assert_int_equal(trc_process_at(trace, 0)->ledger[CAP_DOMAIN_COUNTER_COLLECTION].written,
			 1);
	/* the helper that wrote them is no thread of the program */
	for (size_t i = 0; i < trc_process_at(trace, 0)->threads.n; i++)
		assert_int_not_equal(trc_process_at(trace, 0)->threads.at[i].tid, 900);
	assert_int_equal(trc_process_at(trace, 0)->n_dangling, 0);
	trc_close(trace);
}

static void unknown_references_lead_to_placeholders(void **state)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);
	struct cap_rec_dispatch rec = { .h = { CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch),
					       4000000000u, 50 },
					.queue = 4000000000u,
					.stream = 77,
					.agent = 12,
					.tid = 5 };
	struct cap_rec_kernel wild = { .h = HEAD(KERNEL, cap_rec_kernel, 3999999999u) };
	struct trc_trace *trace;
	struct trc_events *events;
	const struct trc_event *ev;

	put_facts(w, 100);
	cap_writer_meta(w, &wild.h); /* must not become a list of four billion */
	cap_lane_append(lane, &rec.h);
	cap_writer_close(w);
	trace = open_trace(NULL);
	events = open_events(trace, (struct trc_event_query){ 0 });
	ev = trc_events_next(events);
	assert_int_equal(ev->dispatch.kernel->id, 0);
	assert_int_equal(ev->dispatch.queue->id, 0);
	assert_int_equal(ev->stream->id, 0);
	assert_null(ev->dispatch.agent);
	assert_int_equal(ev->end_ns, 50); /* never before its start */
	trc_events_close(events, NULL);
	assert_int_equal(trc_process_at(trace, 0)->n_dangling, 1);
	assert_int_equal(trc_process_at(trace, 0)->damage.n_records, 1);
	trc_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_joined),
		cmocka_unit_test(names_follow_the_options),
		cmocka_unit_test(names_are_cut_to_the_function),
		cmocka_unit_test(calls_come_with_arguments),
		cmocka_unit_test(ticks_land_on_the_clock),
		cmocka_unit_test(markers_have_messages),
		cmocka_unit_test(dispatches_answer_for_kernels_and_counters),
		cmocka_unit_test(unknown_references_lead_to_placeholders),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
