/* Findings of a trace whose times are known, and the quantities that they are made of. */
#include "analysis/findings.h"
#include "analysis/quantities.h"
#include "capture/writer.h"
#include "tests/unit/unit.h"
#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PID 4711
#define T0 1000000000ull
#define US(n) (T0 + (n)*1000ull)
#define TEXT(w, text) cap_writer_intern(w, text, strlen(text))
#define HEAD(NAME, type, what, time)                                                               \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct type), what, time                                   \
	}

static char dir[64], path[128], second[128];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-findings-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.wcap", dir);
	snprintf(second, sizeof(second), "%s/b.wcap", dir);
	return 0;
}

static int drop_dir(void **state)
{
	unlink(path);
	unlink(second);
	return rmdir(dir);
}

struct recording {
	struct cap_writer *w;
	struct cap_lane *lane;
	uint64_t n;
};

static void put_facts(struct recording *r, uint64_t domains, const char *program)
{
	static const char *const calls[] = { "hipLaunchKernel", "hipDeviceSynchronize", "hipMalloc",
					     "hipMemcpyAsync" };
	struct cap_rec_process process = {
		.h = HEAD(PROCESS, cap_rec_process, PID, T0 - 1000),
		.main_tid = PID,
		.domains = domains,
	};
	struct cap_rec_agent gpu = { .h = HEAD(AGENT, cap_rec_agent, 1, 0),
				     .type = CAP_AGENT_GPU,
				     .cu_count = 104,
				     .name_str = TEXT(r->w, "gfx90a") };
	struct cap_rec_kernel kernel = { .h = HEAD(KERNEL, cap_rec_kernel, 1, 0),
					 .name_str = TEXT(r->w, "step.kd") };
	struct cap_rec_kernel reduce = { .h = HEAD(KERNEL, cap_rec_kernel, 2, 0),
					 .name_str = TEXT(r->w, "ncclDevKernel_Generic.kd") };

	cap_writer_meta(r->w, &process.h);
	cap_writer_fact(r->w, CAP_FACT_ARGV, program);
	cap_writer_meta(r->w, &gpu.h);
	gpu.h.what = 2;
	gpu.node_id = 2;
	cap_writer_meta(r->w, &gpu.h);
	cap_writer_meta(r->w, &kernel.h);
	cap_writer_meta(r->w, &reduce.h);
	for (uint32_t i = 0; i < WS_ARRAY_LEN(calls); i++) {
		struct cap_rec_operation op = { .h = HEAD(OPERATION, cap_rec_operation, i + 1, 0),
						.kind = CAP_KIND_HIP_RUNTIME_API,
						.id = i,
						.domain = CAP_DOMAIN_HIP_API,
						.name_str = TEXT(r->w, calls[i]) };

		cap_writer_meta(r->w, &op.h);
	}
}

static struct recording begin_in(const char *file, uint64_t domains, const char *program)
{
	struct cap_writer_opts opts = {
		.imported = true, .pid = PID, .created_ns = T0 - 1000, .created_realtime_ns = T0
	};
	struct recording r = { 0 };
	struct ws_err err;

	unlink(file);
	if (cap_writer_open(file, &opts, &r.w, &err))
		fail_msg("%s", err.text);
	put_facts(&r, domains, program);
	r.lane = cap_lane_get(r.w, PID);
	assert_non_null(r.lane);
	return r;
}

static struct recording begin(uint64_t domains, const char *program)
{
	return begin_in(path, domains, program);
}

static void dispatch(struct recording *r, uint32_t which, uint32_t gpu, uint64_t start_ns,
		     uint64_t end_ns, uint32_t workgroups)
{
	struct cap_rec_dispatch rec = {
		.h = HEAD(DISPATCH, cap_rec_dispatch, which, start_ns),
		.end_ns = end_ns,
		.dispatch_id = ++r->n,
		.tid = PID,
		.agent = gpu,
		.workgroup = { 64, 1, 1 },
		.grid = { 64 * workgroups, 1, 1 },
	};

	assert_true(cap_lane_append(r->lane, &rec.h));
}

static void kernel_on(struct recording *r, uint32_t gpu, uint64_t start_ns, uint64_t end_ns,
		      uint32_t workgroups)
{
	dispatch(r, 1, gpu, start_ns, end_ns, workgroups);
}

static void kernel(struct recording *r, uint64_t start_ns, uint64_t end_ns, uint32_t workgroups)
{
	kernel_on(r, 1, start_ns, end_ns, workgroups);
}

static void copy(struct recording *r, uint64_t start_ns, uint64_t end_ns, uint64_t n_bytes)
{
	struct cap_rec_copy rec = {
		.h = HEAD(COPY, cap_rec_copy, CAP_COPY_HOST_TO_DEVICE, start_ns),
		.end_ns = end_ns,
		.n_bytes = n_bytes,
		.dst_agent = 1,
		.tid = PID,
	};

	assert_true(cap_lane_append(r->lane, &rec.h));
}

static void call(struct recording *r, uint32_t op, uint64_t start_ns, uint64_t end_ns)
{
	struct cap_rec_call rec = { .h = HEAD(CALL, cap_rec_call, op, start_ns),
				    .end_ticks = end_ns };

	assert_true(cap_lane_append(r->lane, &rec.h));
}

static void range(struct recording *r, const char *name, uint64_t start_ns, uint64_t end_ns)
{
	struct cap_rec_marker rec = { .h = HEAD(MARKER, cap_rec_marker, CAP_MARKER_THREAD_RANGE,
						start_ns),
				      .end_ticks = end_ns,
				      .message = TEXT(r->w, name) };

	assert_true(cap_lane_append(r->lane, &rec.h));
}

static void code_loaded(struct recording *r, uint32_t id, uint64_t at_ns)
{
	struct cap_rec_code_object rec = { .h = HEAD(CODE_OBJECT, cap_rec_code_object, id, at_ns),
					   .agent = 1,
					   .uri_str = TEXT(r->w, "memory://") };

	cap_writer_meta(r->w, &rec.h);
}

static void finish_file(struct recording *r)
{
	struct cap_rec_end over = { .h = HEAD(END, cap_rec_end, CAP_END_EXIT, US(1000000)) };

	cap_writer_meta(r->w, &over.h);
	cap_writer_end(r->w, CAP_END_EXIT);
	cap_writer_close(r->w);
}

static struct trc_trace *open_files(size_t n)
{
	const char *paths[] = { path, second };
	struct trc_trace *trace = NULL;
	struct ws_err err;

	if (trc_open(paths, n, NULL, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

static struct trc_trace *finish(struct recording *r)
{
	finish_file(r);
	return open_files(1);
}

#define ALL_DOMAINS                                                                                \
	(TRC_DOMAIN_BIT(KERNEL_DISPATCH) | TRC_DOMAIN_BIT(MEMORY_COPY) | TRC_DOMAIN_BIT(HIP_API))

static double value_in(const struct ana_quantities *q, size_t row, const char *name)
{
	const struct wl_column *column = wl_frame_column(q->gpus.frames[0], name);

	assert_non_null(column);
	return column->at[row];
}

static double value_of(const struct ana_quantities *q, const char *name)
{
	return value_in(q, 0, name);
}

#define IS_IN(row, name, value)                                                                    \
	do {                                                                                       \
		if (value_in(q, row, name) != (value))                                             \
			fail_msg("%s is %g, not %g", name, value_in(q, row, name),                 \
				 (double)(value));                                                 \
	} while (0)
#define IS(name, value) IS_IN(0, name, value)

static void quantities_are_those_of_the_timeline(void **state)
{
	/*
	 * us        0      100     150     200     300        500    600
	 * kernels   |one 100|       |two, three |              |four 100|
	 * copies        |50-120 |
	 * calls  |launch -10..5|      |-sync 160......420-| malloc 430-490
	 */
	struct recording r = begin(ALL_DOMAINS, "./app");
	struct ana_quantities *q;
	struct trc_trace *trace;
	struct ws_err err;

	call(&r, 1, US(0) - 10000, US(5));
	kernel(&r, US(0), US(100), 208);
	copy(&r, US(50), US(120), 4096);
	kernel(&r, US(150), US(250), 8);
	kernel(&r, US(200), US(300), 8);
	call(&r, 2, US(160), US(420));
	call(&r, 3, US(430), US(490));
	kernel(&r, US(500), US(600), 208);
	call(&r, 2, US(590), US(900));
	trace = finish(&r);
	if (ana_quantities_create(trace, &q, &err))
		fail_msg("%s", err.text);
	assert_int_equal(q->gpus.n_rows, 1);
	assert_int_equal(q->processes.n_rows, 1);
	IS("Span_Ns", 600e3);
	IS("Kernels", 4);
	IS("Kernel_Sum_Ns", 400e3);
	IS("Kernel_Busy_Ns", 350e3);
	IS("Small_Kernels", 2);
	IS("Small_Kernel_Ns", 200e3);
	IS("Small_Kernel_Workgroups", 16);
	IS("Copies", 1);
	IS("Copy_Bytes", 4096);
	IS("Copy_Alone_Ns", 20e3);
	IS("Busy_Ns", 370e3);
	IS("Idle_Ns", 230e3);
	IS("Gaps", 2);
	IS("Short_Gap_Ns", 230e3); /* of 30 and 200 us */
	IS("Launch_Calls", 1);
	IS("Launch_Ns", 5e3);
	IS("Sync_Calls", 2);
	IS("Sync_Ns", 270e3); /* what is after the last kernel does not count */
	IS("Idle_Sync_Ns", 120e3);
	IS("Idle_Alloc_Ns", 60e3);
	IS("Idle_Hip_Ns", 180e3);
	IS("Compute_Units", 104);
	IS("Is_Python", 0);
	assert_int_equal(q->gpu_rows[0].idle.n, 2);
	assert_int_equal(q->gpu_rows[0].idle.at[0].start_ns, US(300));
	assert_int_equal(q->gpu_rows[0].idle.at[0].end_ns, US(500));
	assert_string_equal(q->gpu_rows[0].calls[ANA_CALL_SYNC].at[0].what, "hipDeviceSynchronize");
	ana_quantities_destroy(q);
	trc_close(trace);
}

static void what_was_not_recorded_has_no_value(void **state)
{
	struct recording r = begin(TRC_DOMAIN_BIT(KERNEL_DISPATCH), "./app");
	struct ana_quantities *q;
	struct trc_trace *trace;
	struct ws_err err;

	kernel(&r, US(0), US(100), 208);
	kernel(&r, US(200), US(300), 208);
	trace = finish(&r);
	if (ana_quantities_create(trace, &q, &err))
		fail_msg("%s", err.text);
	IS("Kernels", 2);
	assert_true(isnan(value_of(q, "Copies")));
	assert_true(isnan(value_of(q, "Idle_Ns")));
	assert_true(isnan(value_of(q, "Sync_Calls")));
	ana_quantities_destroy(q);
	trc_close(trace);
}

/* As in a database, which does not say what was requested. */
static void without_calls_that_copy_there_are_no_copies(void **state)
{
	for (uint32_t op = 2; op <= 4; op += 2) { /* hipDeviceSynchronize, hipMemcpyAsync */
		struct recording r = begin(TRC_DOMAIN_BIT(KERNEL_DISPATCH), "./app");
		struct ana_quantities *q;
		struct trc_trace *trace;
		struct ws_err err;

		kernel(&r, US(0), US(100), 208);
		call(&r, op, US(50), US(150));
		kernel(&r, US(200), US(300), 208);
		trace = finish(&r);
		if (ana_quantities_create(trace, &q, &err))
			fail_msg("%s", err.text);
		if (op == 2)
			IS("Idle_Ns", 100e3);
		else
			assert_true(isnan(value_of(q, "Idle_Ns")));
		ana_quantities_destroy(q);
		trc_close(trace);
	}
}

static struct ana_quantities *quantities_of(struct trc_trace *trace)
{
	struct ana_quantities *q;
	struct ws_err err;

	if (ana_quantities_create(trace, &q, &err))
		fail_msg("%s", err.text);
	return q;
}

/* Two GPUs; the first waits for 30 us in each of four, and one more that the second does not have. */
static void collectives_take_longer_where_ranks_wait(void **state)
{
	for (unsigned n_more = 0; n_more < 2; n_more++) {
		struct recording r = begin(ALL_DOMAINS, "./app");
		struct ana_quantities *q;
		struct trc_trace *trace;

		for (unsigned i = 0; i < 4 + n_more; i++)
			dispatch(&r, 2, 1, US(i * 100), US(i * 100 + 40), 1);
		for (unsigned i = 0; i < 4; i++) /* a second later: only durations count */
			dispatch(&r, 2, 2, US(1000000 + i * 100), US(1000000 + i * 100 + 10), 1);
		kernel_on(&r, 2, US(1000500), US(1000600), 1);
		trace = finish(&r);
		q = quantities_of(trace);
		assert_int_equal(q->gpus.n_rows, 2);
		/* Unequal numbers: nothing says which belongs to which. */
		IS_IN(0, "Collectives", n_more ? 0 : 4);
		IS_IN(0, "Collective_Ns", n_more ? 0 : 160e3);
		IS_IN(0, "Collective_Wait_Ns", n_more ? 0 : 120e3);
		IS_IN(1, "Collective_Ns", n_more ? 0 : 40e3);
		IS_IN(1, "Collective_Wait_Ns", 0);
		/* They have few workgroups on purpose. */
		IS_IN(0, "Small_Kernels", 0);
		IS_IN(1, "Small_Kernels", 1);
		ana_quantities_destroy(q);
		trc_close(trace);
	}
}

/* Without kernels of RCCL: ROCTx ranges of two processes. One inside another is part of it. */
static void ranges_that_are_named_like_collectives_are_compared(void **state)
{
	static const unsigned rank_us[] = { 10, 60 };
	struct ana_quantities *q;
	struct trc_trace *trace;

	for (unsigned rank = 0; rank < 2; rank++) {
		struct recording r = begin_in(rank ? second : path,
					      ALL_DOMAINS | TRC_DOMAIN_BIT(MARKER_API), "./app");

		kernel(&r, US(0), US(1000), 208);
		for (unsigned i = 0; i < 5; i++) {
			uint64_t start_ns = US(i * 100), end_ns = US(i * 100 + rank_us[rank]);

			range(&r, "nccl:all_reduce", start_ns + 1, end_ns - 1);
			range(&r, "c10d::allreduce_", start_ns, end_ns);
			range(&r, "forward", end_ns, US(i * 100 + 99));
		}
		finish_file(&r);
	}
	trace = open_files(2);
	q = quantities_of(trace);
	assert_int_equal(q->gpus.n_rows, 2);
	IS_IN(0, "Collectives", 5);
	IS_IN(0, "Collective_Wait_Ns", 0);
	IS_IN(1, "Collectives", 5);
	IS_IN(1, "Collective_Ns", 300e3);
	IS_IN(1, "Collective_Wait_Ns", 250e3);
	ana_quantities_destroy(q);
	trc_close(trace);
}

/* A launch of 80 us in which code is loaded, before the first kernels are done and after. */
static void code_is_loaded_late_after_the_first_kernels(void **state)
{
	struct recording r = begin(ALL_DOMAINS, "./app");
	struct ana_quantities *q;
	struct trc_trace *trace;

	for (unsigned i = 0; i < 20; i++) {
		kernel(&r, US(i * 100), US(i * 100 + 10), 208);
		call(&r, 1, US(i * 100 + 15), US(i * 100 + 95));
	}
	code_loaded(&r, 1, US(2 * 100 + 50));
	code_loaded(&r, 2, US(12 * 100 + 50));
	code_loaded(&r, 3, US(12 * 100 + 60));
	code_loaded(&r, 4, US(15 * 100 + 50));
	code_loaded(&r, 5, US(16 * 100 + 97)); /* in no call */
	trace = finish(&r);
	q = quantities_of(trace);
	IS("Load_Calls", 2);
	IS("Load_Ns", 160e3);
	IS("Idle_Load_Ns", 160e3);
	IS("Launch_Calls", 16); /* the last one begins after the last kernel */
	ana_quantities_destroy(q);
	trc_close(trace);
}

/* The findings of @trace; the ids in one line. */
static const char *ids_of(struct trc_trace *trace, struct ws_arena *arena,
			  struct ana_findings **out_found)
{
	struct ana_findings_how how = { .min_share_pct = -1, .min_gain_pct = -1 };
	struct ana_metrics *metrics;
	static char ids[512];
	struct ws_err err;

	if (ana_metrics_load("gfx90a", NULL, &metrics, &err) ||
	    ana_findings_of_trace(trace, "a.wcap", metrics, &how, arena, out_found, &err))
		fail_msg("%s", err.text);
	ids[0] = '\0';
	for (size_t i = 0; i < (*out_found)->n; i++) {
		strcat(ids, i ? " " : "");
		strcat(ids, (*out_found)->at[i].rule->id);
	}
	ana_metrics_free(metrics);
	return ids;
}

/* 40 kernels of 100 us, with the GPU idle for @gap_us after each; the host is in @op meanwhile. */
static struct trc_trace *steps(const char *program, unsigned gap_us, uint32_t op)
{
	struct recording r = begin(ALL_DOMAINS, program);

	for (unsigned i = 0; i < 40; i++) {
		uint64_t start_ns = US(i * (100ull + gap_us));

		kernel(&r, start_ns, start_ns + 100000, 208);
		if (op)
			call(&r, op, start_ns, start_ns + (100 + gap_us) * 1000ull - 10);
	}
	return finish(&r);
}

static void idle_time_is_blamed_on_what_the_host_did(void **state)
{
	static const struct {
		const char *program, *ids;
		unsigned gap_us, op;
	} cases[] = {
		{ "./app", "host_gaps", 400, 0 },
		{ "/usr/bin/python3", "python_host_bound", 400, 0 },
		{ "./app", "sync_per_kernel", 400, 2 },
		{ "./app", "alloc_in_loop", 400, 3 },
		{ "./app", "", 4, 2 },   /* 4 % of the time is not worth a word */
		{ "./app", "", 400, 4 }, /* in HIP, but in nothing that a rule knows */
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct trc_trace *trace = steps(cases[i].program, cases[i].gap_us, cases[i].op);
		struct ana_findings *found;
		struct ws_arena arena;

		ws_arena_init(&arena, SIZE_MAX);
		assert_string_equal(ids_of(trace, &arena, &found), cases[i].ids);
		if (found->n) {
			const struct ana_finding_case *f = &found->at[0].cases[0];

			/* 39 gaps of 400 us in 19.6 ms */
			assert_true(fabs(f->gain_pct - 100 * 15.6 / 19.6) < 0.1);
			assert_true(fabs(found->at[0].total_gain_pct - f->gain_pct) < 1e-6);
			assert_int_equal(found->at[0].n_cases, 1);
			assert_int_equal(found->at[0].severity, ANA_FINDING_HIGH);
			assert_int_equal(f->n_dispatches, 40);
			assert_true(f->n_values >= 2 && f->n_records == ANA_FINDING_RECORDS_MAX);
			assert_non_null(f->process);
		}
		assert_string_equal(found->times, "hardware");
		ws_arena_fini(&arena);
		trc_close(trace);
	}
}

/* Two GPUs with the same gaps are one finding. What both could gain at the same time counts once. */
static void cases_of_one_rule_are_one_finding(void **state)
{
	for (unsigned later = 0; later < 2;
	     later++) { /* the second GPU: with the first, or after it */
		struct recording r = begin(ALL_DOMAINS, "./app");
		struct ana_findings *found;
		struct trc_trace *trace;
		struct ws_arena arena;

		for (unsigned i = 0; i < 40; i++) {
			uint64_t start_ns = US(i * 500ull);

			kernel_on(&r, 1, start_ns, start_ns + 100000, 208);
			start_ns += later ? 19600000 : 0;
			kernel_on(&r, 2, start_ns, start_ns + 100000, 208);
		}
		trace = finish(&r);
		ws_arena_init(&arena, SIZE_MAX);
		assert_string_equal(ids_of(trace, &arena, &found), "host_gaps");
		assert_int_equal(found->at[0].n_cases, 2);
		assert_int_equal(found->at[0].n_dispatches, 80);
		assert_true(fabs(found->at[0].share_pct - 100) < 1e-6);
		assert_true(fabs(found->at[0].total_gain_pct - 100 * 15.6 / 19.6) < 0.1);
		assert_true(fabs(found->at[0].cases[1].total_gain_pct * (1 + later) -
				 100 * 15.6 / 19.6) < 0.1);
		ws_arena_fini(&arena);
		trc_close(trace);
	}
}

static size_t count_lines(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		n += strncmp(at, word, strlen(word)) == 0;
	return n;
}

/* A name that no architecture has would silence a rule: all that a rule cites is somewhere. */
static void every_metric_that_a_rule_cites_exists(void **state)
{
	struct ana_metrics *metrics[16] = { NULL };
	size_t n_rules = 0;

	for (size_t a = 0; ana_metric_archs[a]; a++) {
		struct ws_err err;

		if (ana_metrics_load(ana_metric_archs[a], NULL, &metrics[a], &err))
			fail_msg("%s: %s", ana_metric_archs[a], err.text);
	}
	for (const struct ana_metric_file *f = ana_metric_files; f->name; f++) {
		size_t n_cited =
			count_lines(f->text, "metric ") + count_lines(f->text, "evidence ");
		size_t most = 0;

		if (!n_cited || !ws_str_ends(ws_str_from(f->name), ".finding"))
			continue;
		n_rules++;
		for (size_t a = 0; metrics[a]; a++)
			for (size_t i = 0; i < metrics[a]->n_rules; i++)
				if (strcmp(metrics[a]->rules[i].file, f->name) == 0)
					most = WS_MAX(most, metrics[a]->rules[i].n_values);
		if (most != n_cited)
			fail_msg("%s cites %zu values, and an architecture has %zu at most",
				 f->name, n_cited, most);
	}
	assert_true(n_rules >= 30);
	for (size_t a = 0; metrics[a]; a++)
		ana_metrics_free(metrics[a]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(quantities_are_those_of_the_timeline, make_dir,
						drop_dir),
		cmocka_unit_test_setup_teardown(what_was_not_recorded_has_no_value, make_dir,
						drop_dir),
		cmocka_unit_test_setup_teardown(without_calls_that_copy_there_are_no_copies,
						make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(collectives_take_longer_where_ranks_wait, make_dir,
						drop_dir),
		cmocka_unit_test_setup_teardown(ranges_that_are_named_like_collectives_are_compared,
						make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(code_is_loaded_late_after_the_first_kernels,
						make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(cases_of_one_rule_are_one_finding, make_dir,
						drop_dir),
		cmocka_unit_test(every_metric_that_a_rule_cites_exists),
		cmocka_unit_test_setup_teardown(idle_time_is_blamed_on_what_the_host_did, make_dir,
						drop_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
