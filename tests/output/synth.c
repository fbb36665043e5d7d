#include "tests/output/synth.h"

#include "capture/writer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD(NAME, T, id)                                                                          \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct T), (id), 0                                         \
	}

enum {
	OP_MALLOC = 1,
	OP_LAUNCH,
	OP_MEMCPY,
	OP_HSA_STORE,
	OP_HSA_COPY,
	OP_RCCL,
	OP_DECODE,
	OP_JPEG
};
enum { CPU = 1, GPU0, GPU1 };

struct maker {
	struct cap_writer *w;
	const struct ws_synth *synth;
	struct cap_lane *lane;
	struct cap_lane *gpu_lane; /* of the thread that is told when GPU work is done */
	uint64_t ticks, ns;        /* the present of the lane, on both clocks */
	uint64_t corr, n_dispatches, n_events;
	uint64_t last_range;
	uint32_t tid;
	uint64_t random;
	uint64_t external;
	double ticks_per_ns;
};

static uint32_t str(struct maker *m, const char *text)
{
	return cap_writer_intern(m->w, text, strlen(text));
}

static uint64_t dice(struct maker *m, uint64_t sides)
{
	m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
	return (m->random >> 33) % sides;
}

/* ---- facts ---- */

struct arg {
	const char *name, *type;
	enum cap_arg_kind kind;
};

static void put_operation(struct maker *m, uint32_t op, enum cap_kind kind, enum cap_domain domain,
			  uint32_t id, const char *name, const struct arg *args, uint32_t n_args)
{
	struct {
		struct cap_rec_operation op;
		struct cap_op_arg args[8];
	} rec = { .op = { .h = { CAP_REC_TAG(CAP_REC_OPERATION,
					     sizeof(struct cap_rec_operation) +
						     n_args * sizeof(struct cap_op_arg)),
				 op, 0 },
			  .kind = kind,
			  .id = id,
			  .domain = domain,
			  .name_str = str(m, name),
			  .n_args = n_args,
			  .ret_kind = CAP_ARG_I32 } };

	for (uint32_t i = 0; i < n_args; i++)
		rec.args[i] = (struct cap_op_arg){ str(m, args[i].name), str(m, args[i].type),
						   args[i].kind, 0 };
	cap_writer_meta(m->w, &rec.op.h);
}

static void put_operations(struct maker *m)
{
	static const struct arg malloc_args[] = { { "ptr", "void**", CAP_ARG_PTR },
						  { "size", "size_t", CAP_ARG_U64 } };
	static const struct arg launch_args[] = { { "function_address", "const void*",
						    CAP_ARG_PTR },
						  { "numBlocks", "dim3", CAP_ARG_DIM3 },
						  { "label", "const char*", CAP_ARG_STR },
						  { "stream", "hipStream_t", CAP_ARG_STREAM } };
	static const struct arg decode_args[] = { { "width", "uint32_t", CAP_ARG_U32 },
						  { "scale", "double", CAP_ARG_F64 } };

	put_operation(m, OP_MALLOC, CAP_KIND_HIP_RUNTIME_API_EXT, CAP_DOMAIN_HIP_API, 5,
		      "hipMalloc", malloc_args, 2);
	put_operation(m, OP_LAUNCH, CAP_KIND_HIP_RUNTIME_API_EXT, CAP_DOMAIN_HIP_API, 9,
		      "hipLaunchKernel", launch_args, 4);
	put_operation(m, OP_MEMCPY, CAP_KIND_HIP_RUNTIME_API_EXT, CAP_DOMAIN_HIP_API, 7,
		      "hipMemcpyAsync", malloc_args, 2);
	put_operation(m, OP_HSA_STORE, CAP_KIND_HSA_CORE_API, CAP_DOMAIN_HSA_API, 2,
		      "hsa_signal_store_screlease", NULL, 0);
	put_operation(m, OP_HSA_COPY, CAP_KIND_HSA_AMD_EXT_API, CAP_DOMAIN_HSA_API, 1,
		      "hsa_amd_memory_async_copy", NULL, 0);
	put_operation(m, OP_RCCL, CAP_KIND_RCCL_API, CAP_DOMAIN_RCCL_API, 3, "ncclAllReduce", NULL,
		      0);
	put_operation(m, OP_DECODE, CAP_KIND_ROCDECODE_API_EXT, CAP_DOMAIN_ROCDECODE_API, 1,
		      "rocDecCreateDecoder", decode_args, 2);
	put_operation(m, OP_JPEG, CAP_KIND_ROCJPEG_API, CAP_DOMAIN_ROCJPEG_API, 0, "rocJpegCreate",
		      NULL, 0);
}

static void put_agent(struct maker *m, uint32_t id, uint32_t type, uint32_t node, uint32_t typed,
		      const char *name)
{
	struct cap_rec_agent agent = { .h = HEAD(AGENT, cap_rec_agent, id),
				       .handle = 0x560000001000ull * id + 17,
				       .type = type,
				       .node_id = node,
				       .logical_node_id = id - 1,
				       .logical_node_type_id = typed,
				       .gpu_index = type == CAP_AGENT_GPU ? (int32_t)typed : -1,
				       .visibility = 3,
				       .cpu_cores_count = type == CAP_AGENT_CPU ? 64 : 0,
				       .simd_count = type == CAP_AGENT_GPU ? 416 : 0,
				       .mem_banks_count = 1,
				       .caches_count = 1,
				       .io_links_count = 1,
				       .max_waves_per_simd = type == CAP_AGENT_GPU ? 8 : 0,
				       .wave_front_size = type == CAP_AGENT_GPU ? 64 : 0,
				       .gfx_target_version = type == CAP_AGENT_GPU ? 90010 : 0,
				       .device_id = 0x740f,
				       .capability = 0x2de3a980,
				       .fw_version = 0x1234567,
				       .workgroup_max_dim = { 1024, 1024, 1024 },
				       .grid_max_dim = { UINT32_MAX, UINT32_MAX, UINT32_MAX },
				       .local_mem_size = 1ull << 36,
				       .name_str = str(m, name),
				       .vendor_name_str =
					       str(m, type == CAP_AGENT_GPU ? "AMD" : "CPU"),
				       .product_name_str = str(m, "Product, \"quoted\""),
				       .model_name_str = str(m, "model"),
				       .uuid = { 1, 2, 3, 255 } };
	struct cap_rec_agent_bank bank = { .h = HEAD(AGENT_BANK, cap_rec_agent_bank, id),
					   .size_in_bytes = 1ull << 36,
					   .flags = 2 };
	struct cap_rec_agent_cache cache = {
		.h = HEAD(AGENT_CACHE, cap_rec_agent_cache, id), .size = 16, .level = 1, .type = 9
	};
	struct cap_rec_agent_link link = { .h = HEAD(AGENT_LINK, cap_rec_agent_link, id),
					   .node_from = node,
					   .flags = 3 };

	cap_writer_meta(m->w, &agent.h);
	cap_writer_meta(m->w, &bank.h);
	cap_writer_meta(m->w, &cache.h);
	cap_writer_meta(m->w, &link.h);
}

static void put_counter(struct maker *m, uint32_t id, const char *name)
{
	struct {
		struct cap_rec_counter counter;
		struct cap_counter_dim dims[1];
	} rec = { .counter = { .h = { CAP_REC_TAG(CAP_REC_COUNTER, sizeof(rec)), id, 0 },
			       .agent = GPU0,
			       .name_str = str(m, name),
			       .description_str = str(m, "what it counts; 'quoted'"),
			       .block_str = str(m, "SQ"),
			       .n_dims = 1 },
		  .dims = { { str(m, "DIMENSION_XCC"), 1, 2, 0 } } };

	cap_writer_meta(m->w, &rec.counter.h);
}

static void put_facts(struct maker *m)
{
	uint32_t pid = m->synth->pid;
	struct cap_rec_process process = { .h = HEAD(PROCESS, cap_rec_process, pid),
					   .ppid = 1,
					   .main_tid = pid };
	static const char *const kernels[] = { "_Z15matrixTransposePfS_i.kd", "plain_kernel.kd",
					       "_Z3addIdEvPT_S1_.kd" };
	struct cap_rec_runtime hip = { .h = HEAD(RUNTIME, cap_rec_runtime, CAP_RUNTIME_HIP) };
	struct cap_rec_external external = {
		.h = HEAD(EXTERNAL, cap_rec_external, str(m, "forward \"pass\"")), .external_id = 99
	};

	process.h.time = m->ns - 1000000;
	cap_writer_meta(m->w, &process.h);
	cap_writer_fact(m->w, CAP_FACT_ARGV, "/opt/app/a.out");
	cap_writer_fact(m->w, CAP_FACT_ARGV, "-n 'x'; \"y\"");
	cap_writer_fact(m->w, CAP_FACT_ENV, "PATH=/bin;/usr/bin");
	cap_writer_fact(m->w, CAP_FACT_ENV, "ODD=\"quoted\"\nline");
	cap_writer_fact(m->w, CAP_FACT_HOSTNAME, "node7");
	cap_writer_fact(m->w, CAP_FACT_MACHINE_ID, "0123456789abcdef0123456789abcdef");
	cap_writer_fact(m->w, CAP_FACT_SYSTEM_NAME, "Linux");
	put_agent(m, CPU, CAP_AGENT_CPU, 0, 0, "AMD EPYC 7763");
	put_agent(m, GPU0, CAP_AGENT_GPU, 2, 0, "gfx90a");
	put_agent(m, GPU1, CAP_AGENT_GPU, 3, 1, "gfx90a");
	for (uint32_t i = 1; i <= 3; i++) {
		struct cap_rec_queue queue = { .h = HEAD(QUEUE, cap_rec_queue, i),
					       .agent = i < 3 ? GPU0 : GPU1 };
		struct cap_rec_stream stream = { .h = HEAD(STREAM, cap_rec_stream, i),
						 .handle = 0x7f0000000000ull + i };
		struct cap_rec_kernel kernel = { .h = HEAD(KERNEL, cap_rec_kernel, i),
						 .kernel_object = 0x7f1000000000ull + i * 64,
						 .code_object = 1,
						 .name_str = str(m, kernels[i - 1]),
						 .group_bytes = 100 * i,
						 .private_bytes = 16,
						 .sgpr_count = 32,
						 .arch_vgpr_count = 64 + i,
						 .accum_vgpr_count = 4 };
		struct cap_rec_host_function function = {
			.h = HEAD(HOST_FUNCTION, cap_rec_host_function, i),
			.host_function = 0x400000 + i,
			.kernel = i,
			.code_object = 1,
			.device_function_str = str(m, "_Z15matrixTransposePfS_i")
		};
		struct cap_rec_code_object code = { .h = HEAD(CODE_OBJECT, cap_rec_code_object, 1),
						    .load_base = 0x7f2000000000ull,
						    .load_size = 4096,
						    .agent = GPU0,
						    .storage = CAP_CODE_STORAGE_MEMORY,
						    .memory_base = 0x1000,
						    .memory_size = 9999,
						    .uri_str = str(m, "memory://1#offset=0x10") };

		cap_writer_meta(m->w, &queue.h);
		cap_writer_meta(m->w, &stream.h);
		if (i == 1)
			cap_writer_meta(m->w, &code.h);
		cap_writer_meta(m->w, &kernel.h);
		cap_writer_meta(m->w, &function.h);
	}
	put_counter(m, 11, "SQ_WAVES");
	put_counter(m, 12, "GRBM_COUNT");
	put_operations(m);
	if (!m->synth->no_hip)
		cap_writer_meta(m->w, &hip.h);
	cap_writer_meta(m->w, &external.h);
}

/* ---- events ---- */

static void pass(struct maker *m, uint64_t ns)
{
	m->ns += ns;
	m->ticks += (uint64_t)((double)ns * m->ticks_per_ns);
}

/* So that calls and GPU work, which are on different clocks, keep step. */
static double measure_ticks(void)
{
	struct timespec a, b, nap = { .tv_nsec = 5000000 };
	uint64_t ticks = cap_ticks();

	clock_gettime(CLOCK_BOOTTIME, &a);
	nanosleep(&nap, NULL);
	ticks = cap_ticks() - ticks;
	clock_gettime(CLOCK_BOOTTIME, &b);
	return (double)ticks /
	       ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec));
}

static void *take(struct maker *m, size_t n)
{
	m->n_events++;
	return cap_lane_reserve(&m->lane, (uint32_t)n);
}

static void *take_gpu(struct maker *m, size_t n)
{
	m->n_events++;
	return cap_lane_reserve(&m->gpu_lane, (uint32_t)n);
}

static uint64_t put_call(struct maker *m, uint32_t op, uint64_t start, uint64_t corr,
			 uint64_t ancestor)
{
	struct cap_rec_call *rec = take(m, sizeof(*rec));

	rec->h.what = op;
	rec->h.time = start;
	rec->end_ticks = m->ticks;
	rec->corr_id = corr;
	rec->ancestor_id = ancestor;
	cap_lane_commit(m->lane, &rec->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
	return corr;
}

static void put_call_args(struct maker *m, uint32_t op, uint64_t start, uint64_t corr,
			  uint64_t ancestor, uint32_t stream, const uint64_t *slots,
			  uint32_t n_slots)
{
	uint32_t n = (uint32_t)sizeof(struct cap_rec_call_args) + n_slots * 8;
	struct cap_rec_call_args *rec = take(m, n);

	rec->call.h.what = op;
	rec->call.h.time = start;
	rec->call.end_ticks = m->ticks;
	rec->call.corr_id = corr;
	rec->call.ancestor_id = ancestor;
	rec->stream = stream;
	rec->retval = op == OP_MALLOC ? 2 : 0;
	rec->n_arg_bytes = n_slots * 8;
	memcpy(rec + 1, slots, n_slots * 8);
	cap_lane_commit(m->lane, &rec->call.h, CAP_REC_TAG(CAP_REC_CALL_ARGS, n));
}

static void put_marker(struct maker *m, enum cap_marker_op op, uint64_t start, const char *text)
{
	size_t n_text = strlen(text);
	uint32_t n = (uint32_t)CAP_REC_ROUND(sizeof(struct cap_rec_marker) + n_text);
	struct cap_rec_marker *rec = take(m, n);

	rec->h.what = op;
	rec->h.time = start;
	rec->end_ticks = m->ticks;
	rec->corr_id = ++m->corr;
	rec->n_bytes = (uint32_t)n_text;
	memcpy(rec + 1, text, n_text);
	cap_lane_commit(m->lane, &rec->h, CAP_REC_TAG(CAP_REC_MARKER, n));
}

static void put_dispatch(struct maker *m, uint64_t corr, uint32_t queue, uint64_t ns, bool counted)
{
	uint32_t n_values = counted ? 4 : 0;
	uint32_t n = (uint32_t)(sizeof(struct cap_rec_dispatch) +
				n_values * sizeof(struct cap_counter_value));
	struct cap_rec_dispatch *rec = take_gpu(m, n);
	struct cap_counter_value *values = (struct cap_counter_value *)(rec + 1);

	rec->h.what = 1 + (uint32_t)(m->n_dispatches % 3);
	rec->h.time = m->ns;
	rec->end_ns = m->ns + ns;
	rec->corr_id = corr;
	rec->external_id = m->external;
	rec->dispatch_id = ++m->n_dispatches;
	rec->tid = m->tid;
	rec->agent = queue < 3 ? GPU0 : GPU1;
	rec->queue = queue;
	rec->stream = queue;
	rec->private_bytes = 32;
	rec->group_bytes = 2048;
	rec->workgroup[0] = 64;
	rec->workgroup[1] = 2;
	rec->workgroup[2] = 1;
	rec->grid[0] = 65536;
	rec->grid[1] = 4;
	rec->grid[2] = 1;
	rec->n_values = n_values;
	for (uint32_t i = 0; i < n_values; i++)
		values[i] = (struct cap_counter_value){ 11 + i / 2, i % 2,
							i < 2 ? 1000.0 + i : 0.125 * (i - 1) };
	cap_lane_commit(m->gpu_lane, &rec->h, CAP_REC_TAG(CAP_REC_DISPATCH, n));
}

static void put_copy(struct maker *m, uint64_t corr, uint64_t ns)
{
	struct cap_rec_copy *rec = take_gpu(m, sizeof(*rec));
	bool down = dice(m, 2);

	rec->h.what = down ? CAP_COPY_DEVICE_TO_HOST : CAP_COPY_HOST_TO_DEVICE;
	rec->h.time = m->ns + 300;
	rec->end_ns = m->ns + 300 + ns;
	rec->corr_id = corr;
	rec->n_bytes = 4096 + dice(m, 1u << 20);
	rec->dst_address = 0xffff800000001000ull;
	rec->src_address = 0x7f0000002000ull;
	rec->dst_agent = down ? CPU : GPU0;
	rec->src_agent = down ? GPU0 : CPU;
	rec->tid = m->tid;
	rec->stream = 1;
	cap_lane_commit(m->gpu_lane, &rec->h, CAP_REC_FIXED_TAG(COPY, struct cap_rec_copy));
}

static void put_alloc(struct maker *m, uint64_t corr, enum cap_alloc_op op, uint64_t address)
{
	struct cap_rec_alloc *rec = take(m, sizeof(*rec));
	bool made = op == CAP_ALLOC_ALLOCATE || op == CAP_ALLOC_VMEM_ALLOCATE;

	rec->h.what = op;
	rec->h.time = m->ticks;
	pass(m, 150);
	rec->end_ticks = m->ticks;
	rec->corr_id = corr;
	rec->ancestor_id = corr - 1;
	rec->address = address;
	rec->n_bytes = made ? 1u << 20 : 0;
	rec->agent = made ? GPU0 : 0;
	cap_lane_commit(m->lane, &rec->h, CAP_REC_FIXED_TAG(ALLOC, struct cap_rec_alloc));
}

static void put_scratch(struct maker *m, enum cap_scratch_op op)
{
	struct cap_rec_scratch *rec = take(m, sizeof(*rec));

	rec->h.what = op;
	rec->h.time = m->ticks;
	pass(m, 90);
	rec->end_ticks = m->ticks;
	rec->corr_id = m->corr;
	rec->n_bytes = op == CAP_SCRATCH_ALLOC ? 1u << 21 : 0;
	rec->agent = GPU0;
	rec->queue = 1;
	rec->tid = m->tid;
	rec->flags = op == CAP_SCRATCH_ALLOC ? 1 : 0;
	cap_lane_commit(m->lane, &rec->h, CAP_REC_FIXED_TAG(SCRATCH, struct cap_rec_scratch));
}

static void put_sample(struct maker *m, bool stochastic)
{
	struct cap_rec_pc_sample *rec = take_gpu(m, sizeof(*rec));

	rec->h.what = stochastic ? CAP_PC_STOCHASTIC : 0;
	rec->h.time = m->ns;
	rec->code_object = 1;
	rec->offset = 0x1000 + dice(m, 8) * 4;
	rec->exec_mask = UINT64_MAX;
	rec->dispatch_id = m->n_dispatches;
	rec->corr_id = m->corr;
	rec->agent = GPU0;
	rec->inst_type = stochastic ? 1 : 0;
	rec->stall_reason = stochastic ? 3 : 0;
	rec->wave_count = 7;
	cap_lane_commit(m->gpu_lane, &rec->h,
			CAP_REC_FIXED_TAG(PC_SAMPLE, struct cap_rec_pc_sample));
}

/* A launch with a call inside it, then what it set off. */
static void launch(struct maker *m, uint32_t queue)
{
	uint64_t start = m->ticks, inner, corr = ++m->corr;
	uint64_t slots[] = {
		0x400001, 1024 | 1ull << 32, 1, 5, 0, queue, 0x7f0000000000ull + queue
	};

	memcpy(&slots[4], "l\"b\nl", 5);
	pass(m, 200 + dice(m, 200));
	inner = m->ticks;
	pass(m, 50 + dice(m, 50));
	put_call(m, OP_HSA_STORE, inner, ++m->corr, corr);
	pass(m, 100);
	put_call_args(m, OP_LAUNCH, start, corr, 0, queue, slots, 7);
	/* now and then one that overlaps the next of its queue */
	put_dispatch(m, corr, queue, dice(m, 4) ? 400 : 4000, !m->synth->plain && dice(m, 2));
	pass(m, 500 + dice(m, 300));
}

static void copy(struct maker *m)
{
	uint64_t start = m->ticks, corr = ++m->corr, inner;
	uint64_t slots[] = { 0x7f0000002000ull, 4096 };

	pass(m, 120);
	inner = m->ticks;
	pass(m, 300);
	put_call(m, OP_HSA_COPY, inner, ++m->corr, corr);
	pass(m, 50);
	put_call_args(m, OP_MEMCPY, start, corr, 0, 1, slots, 2);
	put_copy(m, corr, 700);
	pass(m, 600);
}

static void odds_and_ends(struct maker *m, uint64_t round)
{
	static const char *const texts[] = { "main \"loop\"", "two\nlines, and a comma",
					     "\xc3\xbcml\xc3\xa4ut \xe2\x82\xac",
					     "bad \xff\xfe bytes", "semi; 'quote' \\ back" };
	uint64_t start = m->ticks, address = 0x7f0000000000ull + round * 4096 + m->tid;
	uint64_t decode[] = { 1920, 0x3fe8000000000000ull };
	uint64_t inner;

	put_marker(m, CAP_MARKER_MARK, m->ticks, texts[round % 5]);
	pass(m, 100);
	inner = m->ticks;
	pass(m, 400);
	put_call(m, OP_RCCL, inner, ++m->corr, 0);
	inner = m->ticks;
	pass(m, 60);
	put_call_args(m, OP_DECODE, inner, ++m->corr, 0, 0, decode, 2);
	inner = m->ticks;
	pass(m, 60);
	put_call(m, OP_JPEG, inner, ++m->corr, 0);
	put_alloc(m, ++m->corr, round % 3 ? CAP_ALLOC_ALLOCATE : CAP_ALLOC_VMEM_ALLOCATE, address);
	put_scratch(m, CAP_SCRATCH_ALLOC);
	pass(m, 200);
	put_scratch(m, round % 2 ? CAP_SCRATCH_FREE : CAP_SCRATCH_ASYNC_RECLAIM);
	if (round % 4)
		put_alloc(m, ++m->corr, round % 3 ? CAP_ALLOC_FREE : CAP_ALLOC_VMEM_FREE, address);
	put_sample(m, false);
	put_sample(m, true);
	put_marker(m, CAP_MARKER_THREAD_RANGE, start, texts[(round + 1) % 5]);
	if (m->last_range) /* from the middle of the last round: overlaps without nesting */
		put_marker(m, CAP_MARKER_PROCESS_RANGE, m->last_range, "process range");
	m->last_range = inner;
	if (round == 2)
		put_marker(m, CAP_MARKER_PAUSE, m->ticks - 5, "");
}

static void run_thread(struct maker *m)
{
	for (uint64_t round = 0; round < m->synth->n_rounds; round++) {
		m->external = !m->synth->plain && round % 2 ? 99 : 0;
		launch(m, 1 + (uint32_t)(round % 3));
		launch(m, 1 + (uint32_t)(round % 3));
		copy(m);
		if (!m->synth->plain)
			odds_and_ends(m, round);
	}
}

enum ws_status ws_synth_write(const char *path, const struct ws_synth *synth, uint64_t *out_events,
			      struct ws_err *err)
{
	struct cap_writer_opts opts = { .no_helper = true,
					.domains = (1u << CAP_DOMAIN_COUNT) - 1 };
	struct maker m = { .synth = synth, .random = synth->pid };
	struct timespec now;
	uint64_t ticks, ns;
	enum ws_status st;

	unlink(path);
	st = cap_writer_open(path, &opts, &m.w, err);
	if (st)
		return st;
	m.ticks_per_ns = measure_ticks();
	clock_gettime(CLOCK_BOOTTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	ticks = cap_ticks();
	m.ns = ns;
	put_facts(&m);
	for (uint32_t i = 0; i <= synth->n_threads; i++) {
		struct cap_rec_thread thread = { .h = HEAD(THREAD, cap_rec_thread,
							   synth->pid + i) };

		m.tid = synth->pid + i;
		thread.h.time = ticks;
		thread.name_str = i ? 0 : str(&m, "a.out");
		cap_writer_meta(m.w, &thread.h);
		m.ticks = ticks + i * 17;
		m.ns = ns + i * 17;
		m.last_range = 0;
		m.lane = cap_lane_get(m.w, m.tid);
		m.gpu_lane = cap_lane_get(m.w, synth->pid + 50);
		if (!m.lane || !m.gpu_lane)
			return ws_fail(err, WS_E_NOMEM, "no lane");
		run_thread(&m);
		/* kept until the end: the next thread's time begins where this one's began */
	}
	cap_writer_end(m.w, CAP_END_EXIT);
	cap_writer_close(m.w);
	if (out_events)
		*out_events = m.n_events;
	return WS_OK;
}
