/*
 * trace_rig: captures with known facts and events, and the trace made of them. For the tests
 * of trace/.
 */
#ifndef WS_TESTS_UNIT_TRACE_RIG_H
#define WS_TESTS_UNIT_TRACE_RIG_H

#include "tests/unit/unit.h"

#include "capture/writer.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char dir[64], path[128], path2[128];

static inline int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-trace-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.wscap", dir);
	snprintf(path2, sizeof(path2), "%s/b.wscap", dir);
	return 0;
}

static inline int drop_dir(void **state)
{
	unlink(path);
	unlink(path2);
	return rmdir(dir);
}

/* ---- making captures ---- */

static inline struct cap_writer *start(const char *to)
{
	struct cap_writer_opts opts = { .no_helper = true,
					.domains = TRC_DOMAIN_BIT(HIP_API) |
						   TRC_DOMAIN_BIT(KERNEL_DISPATCH) };
	struct cap_writer *w = NULL;
	struct ws_err err = { 0 };

	unlink(to);
	if (cap_writer_open(to, &opts, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static inline uint32_t intern(struct cap_writer *w, const char *text)
{
	return cap_writer_intern(w, text, strlen(text));
}

#define HEAD(NAME, T, id)                                                                          \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct T), (id), 0                                         \
	}

/* hipMemcpyAsync(void *dst, const char *label, hipMemcpyKind kind, dim3 d, float f, hipStream_t s)
 */
static inline void put_operation(struct cap_writer *w)
{
	struct {
		struct cap_rec_operation op;
		struct cap_op_arg args[6];
	} rec = {
		.op = { .h = { CAP_REC_TAG(CAP_REC_OPERATION, sizeof(rec)), 5, 0 },
			.kind = CAP_KIND_HIP_RUNTIME_API_EXT,
			.id = 77,
			.domain = CAP_DOMAIN_HIP_API,
			.name_str = intern(w, "hipMemcpyAsync"),
			.n_args = 6,
			.ret_kind = CAP_ARG_ENUM },
		.args = { { intern(w, "dst"), intern(w, "void*"), CAP_ARG_PTR, 0 },
			  { intern(w, "label"), intern(w, "const char*"), CAP_ARG_STR, 0 },
			  { intern(w, "kind"), intern(w, "hipMemcpyKind"), CAP_ARG_ENUM, 0 },
			  { intern(w, "d"), intern(w, "dim3"), CAP_ARG_DIM3, 0 },
			  { intern(w, "f"), intern(w, "float"), CAP_ARG_F32, 0 },
			  { intern(w, "s"), intern(w, "hipStream_t"), CAP_ARG_STREAM, 0 } },
	};
	struct cap_rec_enum_name name = { .h = HEAD(ENUM_NAME, cap_rec_enum_name,
						    intern(w, "hipMemcpyKind")),
					  .value = 1,
					  .name_str = intern(w, "hipMemcpyHostToDevice") };
	struct cap_rec_operation hsa = { .h = HEAD(OPERATION, cap_rec_operation, 6),
					 .kind = CAP_KIND_HSA_CORE_API,
					 .id = 3,
					 .domain = CAP_DOMAIN_HSA_API,
					 .name_str = intern(w, "hsa_signal_create") };

	assert_true(cap_writer_meta(w, &rec.op.h));
	assert_true(cap_writer_meta(w, &name.h));
	assert_true(cap_writer_meta(w, &hsa.h));
}

static inline void put_facts(struct cap_writer *w, uint32_t pid)
{
	struct cap_rec_process process = { .h = HEAD(PROCESS, cap_rec_process, pid),
					   .ppid = 1,
					   .main_tid = pid };
	struct cap_rec_agent cpu = { .h = HEAD(AGENT, cap_rec_agent, 1),
				     .type = CAP_AGENT_CPU,
				     .node_id = 1,
				     .gpu_index = -1,
				     .name_str = intern(w, "EPYC") };
	struct cap_rec_agent gpu = { .h = HEAD(AGENT, cap_rec_agent, 2),
				     .type = CAP_AGENT_GPU,
				     .node_id = 0,
				     .name_str = intern(w, "gfx90a") };
	struct cap_rec_agent_bank bank = { .h = HEAD(AGENT_BANK, cap_rec_agent_bank, 2),
					   .size_in_bytes = 1 << 30 };
	struct cap_rec_queue queue = { .h = HEAD(QUEUE, cap_rec_queue, 1), .agent = 2 };
	struct cap_rec_stream stream = { .h = HEAD(STREAM, cap_rec_stream, 3) };
	struct cap_rec_code_object code = { .h = HEAD(CODE_OBJECT, cap_rec_code_object, 1),
					    .agent = 2,
					    .uri_str = intern(w, "file:///a.out#offset=1") };
	struct cap_rec_kernel kernel = { .h = HEAD(KERNEL, cap_rec_kernel, 4),
					 .code_object = 1,
					 .name_str = intern(w, "_Z15matrixTransposePfS_i.kd") };
	struct cap_rec_external external = {
		.h = HEAD(EXTERNAL, cap_rec_external, intern(w, "forward pass")), .external_id = 99
	};
	struct cap_rec_thread thread = { .h = HEAD(THREAD, cap_rec_thread, pid + 1),
					 .name_str = intern(w, "worker") };

	process.h.time = pid; /* order of processes */
	assert_true(cap_writer_meta(w, &process.h));
	assert_true(cap_writer_fact(w, CAP_FACT_ARGV, "./a.out"));
	assert_true(cap_writer_fact(w, CAP_FACT_ARGV, "-n"));
	assert_true(cap_writer_fact(w, CAP_FACT_HOSTNAME, "node7"));
	assert_true(cap_writer_meta(w, &cpu.h));
	assert_true(cap_writer_meta(w, &gpu.h));
	assert_true(cap_writer_meta(w, &bank.h));
	assert_true(cap_writer_meta(w, &queue.h));
	assert_true(cap_writer_meta(w, &stream.h));
	assert_true(cap_writer_meta(w, &code.h));
	assert_true(cap_writer_meta(w, &kernel.h));
	assert_true(cap_writer_meta(w, &external.h));
	assert_true(cap_writer_meta(w, &thread.h));
	put_operation(w);
}

static inline void put_call(struct cap_lane *lane, uint64_t begin, uint64_t end, uint64_t corr)
{
	struct cap_rec_call rec = { .h = { CAP_REC_FIXED_TAG(CALL, struct cap_rec_call), 6, begin },
				    .end_ticks = end,
				    .corr_id = corr };

	assert_true(cap_lane_append(lane, &rec.h));
}

static inline void put_dispatch(struct cap_lane *lane, uint64_t begin, uint64_t end, uint64_t id)
{
	struct cap_rec_dispatch rec = { .h = { CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch),
					       4, begin },
					.end_ns = end,
					.dispatch_id = id,
					.tid = 100,
					.agent = 2,
					.queue = 1,
					.stream = 3 };

	assert_true(cap_lane_append(lane, &rec.h));
}

static inline struct trc_trace *open_trace(const struct trc_opts *opts)
{
	const char *paths[] = { path };
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };

	if (trc_open(paths, 1, opts, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

static inline struct trc_events *open_events(struct trc_trace *trace, struct trc_event_query query)
{
	struct trc_events *events = NULL;
	struct ws_err err = { 0 };

	if (trc_events_open(trace, &query, &events, &err))
		fail_msg("%s", err.text);
	return events;
}

#endif
