#include "tests/output/systrace_capture.h"

#include "base/util.h"
#include "capture/writer.h"
#include "profile/frames.h"

#include <stdlib.h>
#include <string.h>

#define BASE SYSTRACE_BASE
#define US SYSTRACE_US

enum { MAIN = 4711, WORKER = 4712 };
enum { OP_LAUNCH = 1, OP_COPY, OP_HSA };
enum { CPU = 1, GPU };
enum { APP = 1, STEP, FUNCTION, RECURSES, OPEN };

static struct cap_writer *w;

static uint32_t str(const char *text)
{
	return cap_writer_intern(w, text, strlen(text));
}

#define HEAD(NAME, T, id, at)                                                                      \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct T), (id), (at)                                      \
	}
#define META(NAME, T, id, at, ...)                                                                 \
	do {                                                                                       \
		struct T rec = { .h = HEAD(NAME, T, id, at), __VA_ARGS__ };                        \
		if (!cap_writer_meta(w, &rec.h))                                                   \
			abort();                                                                   \
	} while (0)
#define EVENT(lane, NAME, T, id, at, ...)                                                          \
	do {                                                                                       \
		struct T rec = { .h = HEAD(NAME, T, id, at), __VA_ARGS__ };                        \
		if (!cap_lane_append(lane, &rec.h))                                                \
			abort();                                                                   \
	} while (0)

/* ---- facts ---- */

static void put_operations(void)
{
	struct {
		struct cap_rec_operation op;
		struct cap_op_arg args[2];
	} launch = { .op = { .h = { CAP_REC_TAG(CAP_REC_OPERATION, sizeof(launch)), OP_LAUNCH, 0 },
			     .kind = CAP_KIND_HIP_RUNTIME_API_EXT,
			     .id = 9,
			     .domain = CAP_DOMAIN_HIP_API,
			     .name_str = str("hipLaunchKernel"),
			     .n_args = 2,
			     .ret_kind = CAP_ARG_I32 },
		     .args = { { str("count"), str("size_t"), CAP_ARG_U64, 0 },
			       { str("queue"), str("void*"), CAP_ARG_PTR, 0 } } };

	if (!cap_writer_meta(w, &launch.op.h))
		abort();
	META(OPERATION, cap_rec_operation, OP_COPY, 0, .kind = CAP_KIND_HIP_RUNTIME_API_EXT,
	     .id = 7, .domain = CAP_DOMAIN_HIP_API, .name_str = str("hipMemcpyAsync"));
	META(OPERATION, cap_rec_operation, OP_HSA, 0, .kind = CAP_KIND_HSA_CORE_API, .id = 2,
	     .domain = CAP_DOMAIN_HSA_API, .name_str = str("hsa_signal_create"));
}

static void put_facts(void)
{
	META(CLOCK, cap_rec_clock, 0, 0, .boottime_ns = 0);
	META(PROCESS, cap_rec_process, MAIN, BASE, .ppid = 1, .main_tid = MAIN);
	cap_writer_fact(w, CAP_FACT_ARGV, "./bin/app");
	META(THREAD, cap_rec_thread, MAIN, BASE, .name_str = str("app"));
	META(THREAD, cap_rec_thread, WORKER, US(5000), .name_str = str("worker"), .ended = 1,
	     .end_ticks = US(45000));
	META(RUNTIME, cap_rec_runtime, CAP_RUNTIME_HIP, 0);
	META(AGENT, cap_rec_agent, CPU, 0, .type = CAP_AGENT_CPU, .gpu_index = -1,
	     .name_str = str("EPYC"));
	META(AGENT, cap_rec_agent, GPU, 0, .type = CAP_AGENT_GPU, .node_id = 1,
	     .logical_node_id = 1, .name_str = str("gfx90a"));
	META(QUEUE, cap_rec_queue, 1, 0, .agent = GPU);
	META(STREAM, cap_rec_stream, 2, 0);
	META(CODE_OBJECT, cap_rec_code_object, 1, 0, .agent = GPU);
	META(KERNEL, cap_rec_kernel, 4, 0, .code_object = 1, .name_str = str("_Z3addPfi.kd"));
	META(COUNTER, cap_rec_counter, 1, 0, .agent = GPU, .name_str = str("SQ_WAVES"));
	put_operations();
	META(REGION, cap_rec_region, APP, 0, .category = CAP_REGION_HOST, .name_str = str("app"));
	META(REGION, cap_rec_region, STEP, 0, .category = CAP_REGION_USER, .name_str = str("step"),
	     .file_str = str("train.c"), .line = 12);
	META(REGION, cap_rec_region, FUNCTION, 0, .category = CAP_REGION_HOST, .address = 0x1234);
	META(REGION, cap_rec_region, RECURSES, 0, .category = CAP_REGION_PYTHON,
	     .name_str = str("fib"));
	META(REGION, cap_rec_region, OPEN, 0, .category = CAP_REGION_PTHREAD,
	     .name_str = str("pthread_join"));
	META(SAMPLER, cap_rec_sampler, CAP_SAMPLER_CPU_TIME, 0, .period = 10000000,
	     .count_names_str = str("PAPI_TOT_CYC,PAPI_TOT_INS"));
	META(SAMPLER, cap_rec_sampler, CAP_SAMPLER_OVERFLOW, 0, .period = 1000,
	     .event_str = str("perf::PERF_COUNT_HW_CPU_CYCLES"));
	META(METRIC, cap_rec_metric, 1, 0, .name_str = str("CPU Memory Usage (S)"),
	     .category = CAP_METRIC_PROCESS_PAGE_FAULT, .unit_str = str("MB"), .device = -1);
	META(METRIC, cap_rec_metric, 2, 0, .name_str = str("GPU GFX Busy [0] (S)"),
	     .category = CAP_METRIC_DEVICE_BUSY_GFX, .unit_str = str("%"),
	     .flags = CAP_METRIC_SIMULATED);
}

/* ---- events ---- */

static void put_launch(struct cap_lane *lane)
{
	struct {
		struct cap_rec_call_args rec;
		uint64_t slots[2];
	} call = { .rec = { .call = { .h = { CAP_REC_TAG(CAP_REC_CALL_ARGS, sizeof(call)),
					     OP_LAUNCH, US(100) },
				      .end_ticks = US(200),
				      .corr_id = 1 },
			    .stream = 2,
			    .n_arg_bytes = 16 },
		   .slots = { 77, 0xabc } };

	if (!cap_lane_append(lane, &call.rec.call.h))
		abort();
}

static void put_kernel(struct cap_lane *lane, uint64_t start, uint64_t end, uint64_t corr,
		       uint32_t stream, bool counted)
{
	struct {
		struct cap_rec_dispatch rec;
		struct cap_counter_value values[2];
	} d = { .rec = { .h = { 0, 4, start },
			 .end_ns = end,
			 .corr_id = corr,
			 .dispatch_id = corr,
			 .tid = MAIN,
			 .agent = GPU,
			 .queue = 1,
			 .stream = stream,
			 .private_bytes = 16,
			 .group_bytes = 32,
			 .workgroup = { 64, 2, 1 },
			 .grid = { 1024, 4, 1 },
			 .n_values = counted ? 2 : 0 },
		.values = { { 1, 0, 10 }, { 1, 1, 20 } } };

	d.rec.h.tag = CAP_REC_TAG(CAP_REC_DISPATCH, counted ? sizeof(d) : sizeof(d.rec));
	if (!cap_lane_append(lane, &d.rec.h))
		abort();
}

static void put_marker(struct cap_lane *lane, uint32_t op, uint64_t start, uint64_t end,
		       uint64_t corr, const char *text)
{
	EVENT(lane, MARKER, cap_rec_marker, op, start, .end_ticks = end, .corr_id = corr,
	      .message = str(text));
}

static void put_annotation(struct cap_lane *lane, uint64_t at, uint32_t kind, uint64_t bits,
			   const char *name, const char *text)
{
	struct {
		struct cap_rec_annotation rec;
		char tail[64];
	} note = { .rec = {
			   .h = { 0, kind, at }, .bits = bits, .n_name = (uint32_t)strlen(name) } };

	note.rec.n_bytes = (uint32_t)(strlen(name) + strlen(text));
	strcpy(stpcpy(note.tail, name), text);
	note.rec.h.tag =
		CAP_REC_TAG(CAP_REC_ANNOTATION, CAP_REC_ROUND(sizeof(note.rec) + note.rec.n_bytes));
	if (!cap_lane_append(lane, &note.rec.h))
		abort();
}

static void put_main(struct cap_lane *lane, struct cap_lane *gpu)
{
	double half = 0.5;
	uint64_t bits;

	memcpy(&bits, &half, sizeof(bits));
	EVENT(lane, ENTER, cap_rec_enter, APP, US(0));
	EVENT(lane, ENTER, cap_rec_enter, STEP, US(50));
	put_annotation(lane, US(51), CAP_ARG_F64, bits, "loss", "");
	put_annotation(lane, US(52), CAP_ARG_I64, (uint64_t)-3, "delta", "");
	put_annotation(lane, US(53), CAP_ARG_STR, 0, "phase", "warm");
	put_marker(lane, CAP_MARKER_THREAD_RANGE, US(60), US(70), 11, "forward");
	EVENT(lane, ALLOC, cap_rec_alloc, CAP_ALLOC_ALLOCATE, US(120), .end_ticks = US(130),
	      .corr_id = 1, .address = 0x7000, .n_bytes = 4096, .agent = GPU);
	put_launch(lane);
	EVENT(lane, CALL, cap_rec_call, OP_COPY, US(210), .end_ticks = US(230), .corr_id = 2);
	EVENT(lane, LEAVE, cap_rec_leave, STEP, US(240));
	EVENT(lane, CALL, cap_rec_call, OP_HSA, US(260), .end_ticks = US(270), .corr_id = 3);
	put_marker(lane, CAP_MARKER_PROCESS_RANGE, US(80), US(600), 12, "epoch");
	EVENT(lane, ENTER, cap_rec_enter, FUNCTION, US(610));
	EVENT(lane, LEAVE, cap_rec_leave, FUNCTION, US(620));
	EVENT(lane, ENTER, cap_rec_enter, RECURSES, US(700));
	EVENT(lane, ENTER, cap_rec_enter, RECURSES, US(710));
	EVENT(lane, LEAVE, cap_rec_leave, RECURSES, US(720));
	EVENT(lane, LEAVE, cap_rec_leave, RECURSES, US(730));
	EVENT(lane, LEAVE, cap_rec_leave, STEP, US(740)); /* is not open: ignored */
	EVENT(lane, LEAVE, cap_rec_leave, APP, US(1000));
	put_kernel(gpu, US(250), US(400), 1, 2, false);
	EVENT(gpu, COPY, cap_rec_copy, CAP_COPY_HOST_TO_DEVICE, US(300), .end_ns = US(500),
	      .corr_id = 2, .n_bytes = 64, .dst_agent = GPU, .src_agent = CPU, .tid = MAIN,
	      .stream = 2);
	put_kernel(gpu, US(420), US(450), 3, 0, true);
	EVENT(gpu, COPY, cap_rec_copy, CAP_COPY_DEVICE_TO_HOST, US(460), .end_ns = US(470),
	      .corr_id = 4, .n_bytes = 64, .dst_agent = CPU, .src_agent = GPU, .tid = MAIN);
	EVENT(gpu, SCRATCH, cap_rec_scratch, CAP_SCRATCH_ALLOC, US(410), .end_ticks = US(415),
	      .corr_id = 3, .n_bytes = 8192, .agent = GPU, .queue = 1, .tid = MAIN);
}

static void put_sample(struct cap_lane *lane, uint64_t at, uint32_t kind, uint32_t stack,
		       uint32_t i)
{
	struct {
		struct cap_rec_sample rec;
		uint64_t counts[2];
	} s = { .rec = { .h = { 0, stack, at },
			 .cpu_ns = 9000000ull + i * 10000000ull,
			 .sampler = kind,
			 .n_switches = 1 + i * 2,
			 .n_faults = 10 + i * i,
			 .peak_kb = 2000 + i * 1000,
			 .n_counts = kind == CAP_SAMPLER_CPU_TIME ? 2 : 0 },
		.counts = { 100 + 150 * i, 7 * i } };

	s.rec.h.tag = CAP_REC_TAG(CAP_REC_SAMPLE, sizeof(s.rec) + s.rec.n_counts * 8);
	if (!cap_lane_append(lane, &s.rec.h))
		abort();
}

static void put_metrics(struct cap_lane *lane, uint64_t at, double memory, double busy)
{
	struct {
		struct cap_rec_metrics rec;
		struct cap_metric_value values[2];
	} m = { .rec = { .h = { CAP_REC_TAG(CAP_REC_METRICS, sizeof(m)), 0, at }, .n_values = 2 },
		.values = { { 1, 0, memory }, { 2, 0, busy } } };

	if (!cap_lane_append(lane, &m.rec.h))
		abort();
}

static void put_worker(struct cap_lane *lane)
{
	put_sample(lane, US(10000), CAP_SAMPLER_CPU_TIME, 1, 0);
	put_sample(lane, US(15000), CAP_SAMPLER_OVERFLOW, 2, 0);
	put_sample(lane, US(20000), CAP_SAMPLER_CPU_TIME, 2, 1);
	put_sample(lane, US(35000), CAP_SAMPLER_CPU_TIME, 1, 2);
	EVENT(lane, ENTER, cap_rec_enter, OPEN, US(40000));
}

static void put_many(struct cap_lane *lane)
{
	for (uint64_t i = 0; i < 4000; i++) {
		EVENT(lane, ENTER, cap_rec_enter, RECURSES, US(2000 + i * 5));
		EVENT(lane, CALL, cap_rec_call, OP_HSA, US(2000 + i * 5) + 100,
		      .end_ticks = US(2000 + i * 5) + 200, .corr_id = 100 + i);
		EVENT(lane, LEAVE, cap_rec_leave, RECURSES, US(2000 + i * 5) + 300);
	}
}

enum ws_status systrace_capture_write(const char *path, bool many, struct ws_err *err)
{
	struct cap_writer_opts opts = { .imported = true, .pid = MAIN };
	struct cap_lane *main_lane, *gpu_lane, *worker_lane, *metrics_lane;
	enum ws_status st = cap_writer_open(path, &opts, &w, err);

	if (st)
		return st;
	put_facts();
	main_lane = cap_lane_get(w, MAIN);
	gpu_lane = cap_lane_get(w, MAIN + 5);
	worker_lane = cap_lane_get(w, WORKER);
	metrics_lane = cap_lane_get(w, MAIN + 6);
	put_main(main_lane, gpu_lane);
	put_worker(worker_lane);
	if (many)
		put_many(main_lane);
	put_metrics(metrics_lane, US(5000), 100.5, 50);
	put_metrics(metrics_lane, US(15000), 200.25, 12.5);
	META(END, cap_rec_end, CAP_END_EXIT, US(50000));
	cap_writer_end(w, CAP_END_EXIT);
	cap_writer_close(w);
	return WS_OK;
}

/* ---- names of call stacks, instead of profile/frames.c ---- */

enum ws_status prof_frames_open(const struct trc_process *process,
				const struct prof_frames_opts *opts,
				struct prof_frames **out_frames, struct ws_err *err)
{
	*out_frames = (struct prof_frames *)(uintptr_t)process;
	return WS_OK;
}

void prof_frames_close(struct prof_frames *frames)
{
}

size_t prof_frames_of(struct prof_frames *frames, uint32_t stack,
		      const struct prof_frame **out_stack)
{
	static const struct prof_frame native[] = {
		{ .name = "main",
		  .file = "",
		  .module = "/bin/app",
		  .address = 0x401000,
		  .offset = 0x1000 },
		{ .name = "work(int)",
		  .file = "w.cpp",
		  .module = "/bin/app",
		  .line = 7,
		  .address = 0x402000,
		  .offset = 0x2000 },
		{ .name = "leaf",
		  .file = "w.h",
		  .module = "/bin/app",
		  .line = 3,
		  .address = 0x402000,
		  .offset = 0x2000,
		  .inlined = true },
	};
	static const struct prof_frame python[] = {
		{ .name = "main",
		  .file = "",
		  .module = "/bin/app",
		  .address = 0x401000,
		  .offset = 0x1000 },
		{ .name = "train.forward",
		  .file = "train.py",
		  .module = "",
		  .line = 20,
		  .python = true },
	};

	*out_stack = stack == 1 ? native : python;
	return stack == 1 ? WS_ARRAY_LEN(native) : stack == 2 ? WS_ARRAY_LEN(python) : 0;
}

const struct prof_frame *prof_frames_at(struct prof_frames *frames, uint64_t address)
{
	static const struct prof_frame frame = { .name = "function", .file = "", .module = "" };

	return address == 0x1234 ? &frame : NULL;
}
