/* Captures made by the writer, seen through the model. */
#include "tests/unit/unit.h"

#include "capture/writer.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char dir[64], path[128], path2[128];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-trace-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.wscap", dir);
	snprintf(path2, sizeof(path2), "%s/b.wscap", dir);
	return 0;
}

static int drop_dir(void **state)
{
	unlink(path);
	unlink(path2);
	return rmdir(dir);
}

/* ---- making captures ---- */

static struct ws_writer *start(const char *to)
{
	struct ws_writer_opts opts = { .no_helper = true,
				       .domains = WS_DOMAIN_BIT(HIP_API) |
						  WS_DOMAIN_BIT(KERNEL_DISPATCH) };
	struct ws_writer *w = NULL;
	struct ws_err err = { 0 };

	unlink(to);
	if (ws_writer_open(to, &opts, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static uint32_t intern(struct ws_writer *w, const char *text)
{
	return ws_writer_intern(w, text, strlen(text));
}

#define HEAD(NAME, T, id)                                                                          \
	{                                                                                          \
		WS_REC_FIXED_TAG(NAME, struct T), (id), 0                                          \
	}

/* hipMemcpyAsync(void *dst, const char *label, hipMemcpyKind kind, dim3 d, float f, hipStream_t s)
 */
static void put_operation(struct ws_writer *w)
{
	struct {
		struct ws_rec_operation op;
		struct ws_op_arg args[6];
	} rec = {
		.op = { .h = { WS_REC_TAG(WS_REC_OPERATION, sizeof(rec)), 5, 0 },
			.kind = WS_KIND_HIP_RUNTIME_API_EXT,
			.id = 77,
			.domain = WS_DOMAIN_HIP_API,
			.name_str = intern(w, "hipMemcpyAsync"),
			.n_args = 6,
			.ret_kind = WS_ARG_ENUM },
		.args = { { intern(w, "dst"), intern(w, "void*"), WS_ARG_PTR, 0 },
			  { intern(w, "label"), intern(w, "const char*"), WS_ARG_STR, 0 },
			  { intern(w, "kind"), intern(w, "hipMemcpyKind"), WS_ARG_ENUM, 0 },
			  { intern(w, "d"), intern(w, "dim3"), WS_ARG_DIM3, 0 },
			  { intern(w, "f"), intern(w, "float"), WS_ARG_F32, 0 },
			  { intern(w, "s"), intern(w, "hipStream_t"), WS_ARG_STREAM, 0 } },
	};
	struct ws_rec_enum_name name = { .h = HEAD(ENUM_NAME, ws_rec_enum_name,
						   intern(w, "hipMemcpyKind")),
					 .value = 1,
					 .name_str = intern(w, "hipMemcpyHostToDevice") };
	struct ws_rec_operation hsa = { .h = HEAD(OPERATION, ws_rec_operation, 6),
					.kind = WS_KIND_HSA_CORE_API,
					.id = 3,
					.domain = WS_DOMAIN_HSA_API,
					.name_str = intern(w, "hsa_signal_create") };

	assert_true(ws_writer_meta(w, &rec.op.h));
	assert_true(ws_writer_meta(w, &name.h));
	assert_true(ws_writer_meta(w, &hsa.h));
}

static void put_facts(struct ws_writer *w, uint32_t pid)
{
	struct ws_rec_process process = { .h = HEAD(PROCESS, ws_rec_process, pid),
					  .ppid = 1,
					  .main_tid = pid };
	struct ws_rec_agent cpu = { .h = HEAD(AGENT, ws_rec_agent, 1),
				    .type = WS_AGENT_CPU,
				    .node_id = 1,
				    .gpu_index = -1,
				    .name_str = intern(w, "EPYC") };
	struct ws_rec_agent gpu = { .h = HEAD(AGENT, ws_rec_agent, 2),
				    .type = WS_AGENT_GPU,
				    .node_id = 0,
				    .name_str = intern(w, "gfx90a") };
	struct ws_rec_agent_bank bank = { .h = HEAD(AGENT_BANK, ws_rec_agent_bank, 2),
					  .size_in_bytes = 1 << 30 };
	struct ws_rec_queue queue = { .h = HEAD(QUEUE, ws_rec_queue, 1), .agent = 2 };
	struct ws_rec_stream stream = { .h = HEAD(STREAM, ws_rec_stream, 3) };
	struct ws_rec_code_object code = { .h = HEAD(CODE_OBJECT, ws_rec_code_object, 1),
					   .agent = 2,
					   .uri_str = intern(w, "file:///a.out#offset=1") };
	struct ws_rec_kernel kernel = { .h = HEAD(KERNEL, ws_rec_kernel, 4),
					.code_object = 1,
					.name_str = intern(w, "_Z15matrixTransposePfS_i.kd") };
	struct ws_rec_external external = {
		.h = HEAD(EXTERNAL, ws_rec_external, intern(w, "forward pass")), .external_id = 99
	};
	struct ws_rec_thread thread = { .h = HEAD(THREAD, ws_rec_thread, pid + 1),
					.name_str = intern(w, "worker") };

	process.h.time = pid; /* order of processes */
	assert_true(ws_writer_meta(w, &process.h));
	assert_true(ws_writer_fact(w, WS_FACT_ARGV, "./a.out"));
	assert_true(ws_writer_fact(w, WS_FACT_ARGV, "-n"));
	assert_true(ws_writer_fact(w, WS_FACT_HOSTNAME, "node7"));
	assert_true(ws_writer_meta(w, &cpu.h));
	assert_true(ws_writer_meta(w, &gpu.h));
	assert_true(ws_writer_meta(w, &bank.h));
	assert_true(ws_writer_meta(w, &queue.h));
	assert_true(ws_writer_meta(w, &stream.h));
	assert_true(ws_writer_meta(w, &code.h));
	assert_true(ws_writer_meta(w, &kernel.h));
	assert_true(ws_writer_meta(w, &external.h));
	assert_true(ws_writer_meta(w, &thread.h));
	put_operation(w);
}

static void put_call(struct ws_lane *lane, uint64_t begin, uint64_t end, uint64_t corr)
{
	struct ws_rec_call rec = { .h = { WS_REC_FIXED_TAG(CALL, struct ws_rec_call), 6, begin },
				   .end_ticks = end,
				   .corr_id = corr };

	assert_true(ws_lane_append(lane, &rec.h));
}

static void put_dispatch(struct ws_lane *lane, uint64_t begin, uint64_t end, uint64_t id)
{
	struct ws_rec_dispatch rec = { .h = { WS_REC_FIXED_TAG(DISPATCH, struct ws_rec_dispatch), 4,
					      begin },
				       .end_ns = end,
				       .dispatch_id = id,
				       .tid = 100,
				       .agent = 2,
				       .queue = 1,
				       .stream = 3 };

	assert_true(ws_lane_append(lane, &rec.h));
}

static struct ws_trace *open_trace(const struct ws_trace_opts *opts)
{
	const char *paths[] = { path };
	struct ws_trace *trace = NULL;
	struct ws_err err = { 0 };

	if (ws_trace_open(paths, 1, opts, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

static struct ws_events *open_events(struct ws_trace *trace, struct ws_event_query query)
{
	struct ws_events *events = NULL;
	struct ws_err err = { 0 };

	if (ws_events_open(trace, &query, &events, &err))
		fail_msg("%s", err.text);
	return events;
}

/* ---- facts ---- */

static void facts_are_joined(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_trace *trace;
	const struct ws_process *p;

	put_facts(w, 100);
	ws_writer_end(w, WS_END_EXIT);
	ws_writer_close(w);
	trace = open_trace(NULL);
	assert_int_equal(ws_trace_n_processes(trace), 1);
	p = ws_trace_process(trace, 0);
	assert_int_equal(p->pid, 100);
	assert_true(p->ended);
	assert_int_equal(p->n_argv, 2);
	assert_string_equal(p->argv[1], "-n");
	assert_null(p->argv[2]);
	assert_string_equal(p->facts[WS_FACT_HOSTNAME], "node7");
	assert_string_equal(p->facts[WS_FACT_CWD], "");
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
	assert_string_equal(ws_process_external(p, 99), "forward pass");
	assert_null(ws_process_external(p, 98));
	assert_true(p->ledger[WS_DOMAIN_HIP_API].asked);
	assert_false(p->ledger[WS_DOMAIN_MEMORY_COPY].asked);
	assert_false(ws_damage_any(&p->damage));
	ws_trace_close(trace);
}

static void names_follow_the_options(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_trace *trace;

	put_facts(w, 100);
	ws_writer_close(w);
	trace = open_trace(&(struct ws_trace_opts){ .mangled_names = true });
	assert_string_equal(ws_trace_process(trace, 0)->kernels.at[4].formatted,
			    "_Z15matrixTransposePfS_i.kd");
	ws_trace_close(trace);
	trace = open_trace(
		&(struct ws_trace_opts){ .mangled_names = true, .truncated_names = true });
	assert_string_equal(ws_trace_process(trace, 0)->kernels.at[4].formatted, "matrixTranspose");
	ws_trace_close(trace);
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
		char *text = ws_truncate_name(rows[i][0]);

		assert_string_equal(text, rows[i][1]);
		free(text);
	}
	char *plain = ws_demangle("f"); /* a type, were it mangled */
	assert_string_equal(plain, "f");
	free(plain);
	plain = ws_demangle("_Znonsense");
	assert_string_equal(plain, "_Znonsense");
	free(plain);
}

/* ---- events ---- */

static void calls_come_with_arguments(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 101);
	struct {
		struct ws_rec_call_args call;
		uint64_t slots[10];
	} rec = {
		.call = { .call = { .h = { WS_REC_TAG(WS_REC_CALL_ARGS, sizeof(rec)), 5,
					   ws_ticks() },
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
	struct ws_trace *trace;
	struct ws_events *events;
	const struct ws_event *ev;
	struct ws_arg_walk walk = { 0 };
	struct ws_arg arg;
	char text[64];

	memcpy(&rec.slots[2], "nine char", 9);
	memcpy(&rec.slots[7], &f, sizeof(f));
	rec.call.call.end_ticks = rec.call.call.h.time;
	put_facts(w, 100);
	assert_true(ws_lane_append(lane, &rec.call.call.h));
	ws_writer_close(w);

	trace = open_trace(NULL);
	events = open_events(trace, (struct ws_event_query){ .domains = WS_DOMAIN_BIT(HIP_API) });
	ev = ws_events_next(events);
	assert_non_null(ev);
	assert_string_equal(ev->name, "hipMemcpyAsync");
	assert_int_equal(ev->kind, WS_KIND_HIP_RUNTIME_API_EXT);
	assert_int_equal(ev->op_id, 77);
	assert_int_equal(ev->corr_id, 12);
	assert_int_equal(ev->ancestor_id, 11);
	assert_int_equal(ev->thread->tid, 101);
	assert_string_equal(ev->thread->name, "worker");
	assert_int_equal(ev->stream->id, 3);
	assert_int_equal(ev->end_ns, ev->start_ns + 1); /* calls take time */
	assert_true(ev->call.has_retval && ev->call.retval == 3);
	for (int i = 0; i < 6; i++) {
		assert_true(ws_event_arg(ev, &walk, &arg));
		ws_arg_print(ev->process, &arg, text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
	assert_int_equal(arg.stream, 3);
	assert_string_equal(arg.name, "s");
	assert_false(ws_event_arg(ev, &walk, &arg));
	assert_null(ws_events_next(events));
	assert_int_equal(ws_events_close(events, NULL), WS_OK);
	ws_trace_close(trace);
}

static void ticks_land_on_the_clock(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 100);
	uint64_t before[20], after[20];
	struct ws_trace *trace;
	struct ws_events *events;
	struct timespec t;

	put_facts(w, 100);
	for (int i = 0; i < 20; i++) {
		uint64_t ticks;

		clock_gettime(CLOCK_BOOTTIME, &t);
		before[i] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		ticks = ws_ticks();
		clock_gettime(CLOCK_BOOTTIME, &t);
		after[i] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		put_call(lane, ticks, ticks, (uint64_t)i);
		usleep(1000);
		if (i % 4 == 0)
			ws_writer_tend(w);
	}
	ws_writer_close(w); /* no end: the last stretch is extrapolated */
	trace = open_trace(NULL);
	events = open_events(trace, (struct ws_event_query){ 0 });
	for (int i = 0; i < 20; i++) {
		const struct ws_event *ev = ws_events_next(events);

		/* the records lie 1 ms apart; a pair of clocks read on a busy machine may be off by
		 * as long as this thread was away between the two */
		assert_true(ev->start_ns + 100000 >= before[i]);
		assert_true(ev->start_ns <= after[i] + 100000);
	}
	ws_events_close(events, NULL);
	ws_trace_close(trace);
}

static void markers_have_messages(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 100);
	struct {
		struct ws_rec_marker marker;
		char text[8];
	} inline_text = { .marker = { .h = { WS_REC_TAG(WS_REC_MARKER, sizeof(inline_text)),
					     WS_MARKER_THREAD_RANGE, 5 },
				      .end_ticks = 9,
				      .n_bytes = 5 },
			  .text = "outerXX" };
	struct ws_rec_marker interned = { .h = { WS_REC_FIXED_TAG(MARKER, struct ws_rec_marker),
						 WS_MARKER_MARK, 10 },
					  .end_ticks = 10,
					  .message = intern(w, "a mark") };
	struct ws_rec_marker pause = { .h = { WS_REC_FIXED_TAG(MARKER, struct ws_rec_marker),
					      WS_MARKER_PAUSE, 11 },
				       .end_ticks = 12 };
	struct ws_trace *trace;
	struct ws_events *events;
	const struct ws_event *ev;

	put_facts(w, 100);
	ws_lane_append(lane, &inline_text.marker.h);
	ws_lane_append(lane, &interned.h);
	ws_lane_append(lane, &pause.h);
	ws_writer_close(w);
	trace = open_trace(NULL);
	events = open_events(trace, (struct ws_event_query){ 0 });
	ev = ws_events_next(events);
	assert_string_equal(ev->name, "outer");
	assert_string_equal(ev->marker.op_name, "roctxThreadRangeA");
	assert_true(ev->marker.has_message);
	ev = ws_events_next(events);
	assert_string_equal(ev->name, "a mark");
	assert_int_equal(ev->start_ns, ev->end_ns);
	ev = ws_events_next(events);
	assert_string_equal(ev->name, "roctxProfilerPause");
	assert_int_equal(ev->kind, WS_KIND_MARKER_CONTROL_API);
	assert_int_equal(ev->op_id, 0);
	assert_false(ev->marker.has_message);
	ws_events_close(events, NULL);
	ws_trace_close(trace);
}

static void dispatches_answer_for_kernels_and_counters(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 900); /* a helper of the collector's */
	struct {
		struct ws_rec_dispatch d;
		struct ws_counter_value values[2];
	} counted = { .d = { .h = { WS_REC_TAG(WS_REC_DISPATCH, sizeof(counted)), 4, 50 },
			     .end_ns = 60,
			     .external_id = 99,
			     .dispatch_id = 2,
			     .tid = 101,
			     .agent = 2,
			     .queue = 1,
			     .n_values = 2 },
		      .values = { { 1, 0, 2.5 }, { 1, 1, 4.0 } } };
	struct ws_trace *trace;
	struct ws_events *events;
	const struct ws_event *ev;

	put_facts(w, 100);
	put_dispatch(lane, 10, 20, 1);
	ws_lane_append(lane, &counted.d.h);
	ws_writer_count(w, WS_DOMAIN_KERNEL_DISPATCH, WS_LEDGER_DROPPED, 7);
	ws_writer_close(w);
	trace = open_trace(NULL);
	events = open_events(trace, (struct ws_event_query){
					    .domains = WS_DOMAIN_BIT(COUNTER_COLLECTION) });
	ev = ws_events_next(events);
	assert_string_equal(ev->name, "forward pass");
	assert_string_equal(ev->dispatch.kernel->truncated, "matrixTranspose");
	assert_string_equal(ev->dispatch.agent->name, "gfx90a");
	assert_int_equal(ev->dispatch.queue->id, 1);
	assert_int_equal(ev->thread->tid, 101);
	assert_true(ev->dispatch.values[1].value == 4.0);
	assert_null(ws_events_next(events));
	ws_events_close(events, NULL);
	assert_int_equal(ws_trace_process(trace, 0)->ledger[WS_DOMAIN_KERNEL_DISPATCH].written, 2);
	assert_int_equal(ws_trace_process(trace, 0)->ledger[WS_DOMAIN_KERNEL_DISPATCH].dropped, 7);
	assert_int_equal(ws_trace_process(trace, 0)->ledger[WS_DOMAIN_KERNEL_DISPATCH].first_ns,
			 10);
	assert_int_equal(ws_trace_process(trace, 0)->ledger[WS_DOMAIN_KERNEL_DISPATCH].last_ns, 60);
	assert_int_equal(ws_trace_process(trace, 0)->ledger[WS_DOMAIN_COUNTER_COLLECTION].written,
			 1);
	/* the helper that wrote them is no thread of the program */
	for (size_t i = 0; i < ws_trace_process(trace, 0)->threads.n; i++)
		assert_int_not_equal(ws_trace_process(trace, 0)->threads.at[i].tid, 900);
	assert_int_equal(ws_trace_process(trace, 0)->n_dangling, 0);
	ws_trace_close(trace);
}

static void unknown_references_lead_to_placeholders(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 100);
	struct ws_rec_dispatch rec = { .h = { WS_REC_FIXED_TAG(DISPATCH, struct ws_rec_dispatch),
					      4000000000u, 50 },
				       .queue = 4000000000u,
				       .stream = 77,
				       .agent = 12,
				       .tid = 5 };
	struct ws_rec_kernel wild = { .h = HEAD(KERNEL, ws_rec_kernel, 3999999999u) };
	struct ws_trace *trace;
	struct ws_events *events;
	const struct ws_event *ev;

	put_facts(w, 100);
	ws_writer_meta(w, &wild.h); /* must not become a list of four billion */
	ws_lane_append(lane, &rec.h);
	ws_writer_close(w);
	trace = open_trace(NULL);
	events = open_events(trace, (struct ws_event_query){ 0 });
	ev = ws_events_next(events);
	assert_int_equal(ev->dispatch.kernel->id, 0);
	assert_int_equal(ev->dispatch.queue->id, 0);
	assert_int_equal(ev->stream->id, 0);
	assert_null(ev->dispatch.agent);
	assert_int_equal(ev->end_ns, 50); /* never before its start */
	ws_events_close(events, NULL);
	assert_int_equal(ws_trace_process(trace, 0)->n_dangling, 1);
	assert_int_equal(ws_trace_process(trace, 0)->damage.n_records, 1);
	ws_trace_close(trace);
}

/* ---- order ---- */

/* Nested calls as a program makes them: appended at their end, children first. */
static uint64_t nest(struct ws_lane *lane, unsigned *seed, uint64_t now, int depth, uint64_t *n)
{
	uint64_t begin = now;

	now += (uint64_t)(rand_r(seed) % 3); /* may begin together with its first child */
	for (int i = rand_r(seed) % 4; depth && i; i--)
		now = nest(lane, seed, now, depth - 1, n);
	now += 1 + (uint64_t)(rand_r(seed) % 50);
	put_call(lane, begin, now, ++*n);
	return now;
}

static void check_order(struct ws_trace *trace, uint64_t n_expected)
{
	struct ws_events *events =
		open_events(trace, (struct ws_event_query){ .order = WS_ORDER_START });
	unsigned char *seen = test_calloc(n_expected + 1, 1);
	const struct ws_event *ev;
	uint64_t start = 0, end = UINT64_MAX, n = 0;

	while ((ev = ws_events_next(events))) {
		uint64_t id = ev->domain == WS_DOMAIN_KERNEL_DISPATCH
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
	assert_int_equal(ws_events_close(events, NULL), WS_OK);
	assert_int_equal(n, n_expected);
	test_free(seen);
}

static void events_come_by_start(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane[3] = { ws_lane_get(w, 100), ws_lane_get(w, 101), ws_lane_get(w, 102) };
	uint64_t base = ws_ticks(), now[2] = { base, base }, n = 0, gpu;
	unsigned seed = 3;
	struct timespec t;
	struct ws_trace *trace;

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
	ws_writer_end(w, WS_END_EXIT);
	ws_writer_close(w);
	trace = open_trace(NULL);
	check_order(trace, n);
	ws_trace_close(trace);
}

static void wild_times_do_not_disturb_the_order_of_others(void **state)
{
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 100);
	uint64_t n = 0;
	unsigned seed = 5;
	struct ws_trace *trace;

	put_facts(w, 100);
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t begin = 1000000000 + i * 10;

		if (rand_r(&seed) % 3000 == 0) /* what a flipped bit does */
			begin ^= 1ull << rand_r(&seed) % 62;
		put_dispatch(lane, begin, begin + 5, ++n);
	}
	ws_writer_close(w);
	trace = open_trace(NULL);
	check_order(trace, n);
	ws_trace_close(trace);
}

static void several_captures_are_one_trace(void **state)
{
	const char *paths[] = { path, path2 };
	struct ws_trace *trace = NULL;
	struct ws_events *events;
	const struct ws_event *ev;
	uint64_t last = 0, n = 0;

	for (int k = 0; k < 2; k++) {
		struct ws_writer *w = start(paths[k]);
		struct ws_lane *lane = ws_lane_get(w, 50);

		put_facts(w, k ? 40u : 60u);
		for (uint64_t i = 0; i < 1000; i++)
			put_dispatch(lane, 1000 + i * 10 + (uint64_t)k * 5, 1003 + i * 10, i);
		ws_writer_end(w, WS_END_EXIT);
		ws_writer_close(w);
	}
	assert_int_equal(ws_trace_open(paths, 2, NULL, &trace, NULL), WS_OK);
	assert_int_equal(ws_trace_process(trace, 0)->pid, 40); /* started first */
	assert_int_equal(ws_trace_process(trace, 1)->index, 1);
	events = open_events(trace, (struct ws_event_query){ .order = WS_ORDER_START });
	while ((ev = ws_events_next(events))) {
		assert_true(ev->start_ns >= last);
		assert_int_equal(ev->process->index, n % 2 ? 0 : 1);
		last = ev->start_ns;
		n++;
	}
	assert_int_equal(n, 2000);
	ws_events_close(events, NULL);
	events = open_events(trace,
			     (struct ws_event_query){ .process = ws_trace_process(trace, 1) });
	for (n = 0; (ev = ws_events_next(events)); n++)
		assert_int_equal(ev->process->pid, 60);
	assert_int_equal(n, 1000);
	ws_events_close(events, NULL);
	ws_trace_close(trace);
}

/* As if @to had been written on a machine that started @older_ns before this one. */
static void move_to_other_machine(const char *to, uint64_t older_ns)
{
	struct ws_file_head head;
	int fd = open(to, O_RDWR);

	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	head.boot_id[3] ^= 0xff;
	head.created_ns += older_ns;
	head.check = ws_check32((const uint32_t *)&head,
				offsetof(struct ws_file_head, end_bytes) / sizeof(uint32_t));
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	close(fd);
}

static void captures_of_two_machines_share_a_clock(void **state)
{
	const char *paths[] = { path2, path };
	const uint64_t older_ns = 5000000000;
	struct ws_trace *trace = NULL;
	struct ws_events *events;
	const struct ws_event *ev;
	uint64_t last = 0, n = 0;

	for (int k = 0; k < 2; k++) { /* path first: the trace has its clock */
		struct ws_writer *w = start(k ? path2 : path);
		struct ws_lane *lane = ws_lane_get(w, 50);

		put_facts(w, 60);
		for (uint64_t i = 0; i < 10; i++)
			put_dispatch(lane, older_ns * 2 + i * 100 + (k ? older_ns + 50 : 0),
				     older_ns * 4, i);
		ws_writer_close(w);
	}
	move_to_other_machine(path2, older_ns);
	assert_int_equal(ws_trace_open(paths, 2, NULL, &trace, NULL), WS_OK);
	events = open_events(trace, (struct ws_event_query){ .order = WS_ORDER_START });
	for (; (ev = ws_events_next(events)); n++) {
		assert_true(ev->start_ns >= last);
		last = ev->start_ns;
		/* taking turns, to within what lies between reading two clocks at open */
		assert_true(ev->start_ns >= older_ns * 2 && ev->start_ns < older_ns * 2 + 10000000);
		if (!ev->process->clock_shift_ns)
			assert_int_equal((ev->start_ns - older_ns * 2) % 100, 0);
	}
	assert_int_equal(n, 20);
	ws_events_close(events, NULL);
	ws_trace_close(trace);
}

static void images_are_kept(void **state)
{
	struct ws_writer *w = start(path);
	size_t n = 300000;
	char *image = test_malloc(n), *back;
	uint64_t n_back = 0;
	struct ws_trace *trace;

	for (size_t i = 0; i < n; i++)
		image[i] = (char)(i * 31);
	put_facts(w, 100);
	assert_true(ws_writer_code_bytes(w, 1, image, n));
	ws_writer_close(w);
	trace = open_trace(NULL);
	back = ws_process_code_bytes(ws_trace_process(trace, 0), 1, &n_back);
	assert_int_equal(n_back, n);
	assert_memory_equal(back, image, n);
	assert_null(ws_process_code_bytes(ws_trace_process(trace, 0), 2, &n_back));
	free(back);
	test_free(image);
	ws_trace_close(trace);
}

static void running_out_of_memory_is_an_error_every_time(void **state)
{
	const char *paths[] = { path };
	struct ws_writer *w = start(path);
	struct ws_lane *lane = ws_lane_get(w, 100);

	put_facts(w, 100);
	for (uint64_t i = 0; i < 3000; i++)
		put_call(lane, 1000 - i % 7 + i, 2000 + i, i);
	ws_writer_close(w);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_trace *trace = NULL;
		struct ws_events *events = NULL;
		struct ws_err err = { 0 };
		enum ws_status st = ws_trace_open(paths, 1, NULL, &trace, &err);

		if (!st)
			st = ws_events_open(trace,
					    &(struct ws_event_query){ .order = WS_ORDER_START },
					    &events, &err);
		while (!st && ws_events_next(events))
			;
		if (events && ws_events_close(events, &err))
			st = WS_E_NOMEM;
		if (allocation_failed()) {
			assert_int_equal(st, WS_E_NOMEM);
			assert_int_equal(err.status, WS_E_NOMEM);
		} else {
			assert_int_equal(st, WS_OK);
		}
		ws_trace_close(trace);
	}
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
		cmocka_unit_test(events_come_by_start),
		cmocka_unit_test(wild_times_do_not_disturb_the_order_of_others),
		cmocka_unit_test(several_captures_are_one_trace),
		cmocka_unit_test(captures_of_two_machines_share_a_clock),
		cmocka_unit_test(images_are_kept),
		cmocka_unit_test(running_out_of_memory_is_an_error_every_time),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
