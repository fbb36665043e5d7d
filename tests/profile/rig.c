#include "tests/profile/rig.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD(NAME, T, id, ns)                                                                      \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct T), (id), (ns)                                      \
	}

/* A test cannot go on without its capture. */
#define MUST(good)                                                                                 \
	do {                                                                                       \
		if (!(good)) {                                                                     \
			fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #good);          \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

void rig_start(struct rig *rig, const char *dir, uint32_t pid, uint64_t init_ns)
{
	struct cap_writer_opts opts = { .imported = true, .pid = pid };
	struct cap_rec_process process = { .h = HEAD(PROCESS, cap_rec_process, pid, init_ns),
					   .ppid = 1,
					   .main_tid = pid };
	struct cap_rec_clock clock = { .h = HEAD(CLOCK, cap_rec_clock, 0, 0) };

	rig->pid = pid;
	snprintf(rig->path, sizeof(rig->path), "%s/%u.wscap", dir, pid);
	unlink(rig->path);
	MUST(!cap_writer_open(rig->path, &opts, &rig->writer, NULL));
	MUST(cap_writer_meta(rig->writer, &process.h));
	MUST(cap_writer_meta(rig->writer, &clock.h));
	MUST(cap_writer_fact(rig->writer, CAP_FACT_ARGV, "./app"));
	MUST(cap_writer_fact(rig->writer, CAP_FACT_EXE, "/opt/app"));
	MUST(cap_writer_fact(rig->writer, CAP_FACT_ENV, "HOME=/home/x"));
	MUST(cap_writer_fact(rig->writer, CAP_FACT_CWD, "/work \"here\""));
}

void rig_end(struct rig *rig, uint64_t fini_ns)
{
	struct cap_rec_end end = { .h = HEAD(END, cap_rec_end, CAP_END_EXIT, fini_ns) };

	if (fini_ns)
		MUST(cap_writer_meta(rig->writer, &end.h));
	cap_writer_close(rig->writer);
}

struct trc_trace *rig_open(const struct rig *rigs, size_t n)
{
	const char *paths[4];
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };

	MUST(n <= sizeof(paths) / sizeof(*paths));
	for (size_t i = 0; i < n; i++)
		paths[i] = rigs[i].path;
	if (trc_open(paths, n, NULL, &trace, &err))
		fprintf(stderr, "%s\n", err.text);
	MUST(trace);
	return trace;
}

uint32_t rig_intern(struct rig *rig, const char *text)
{
	return cap_writer_intern(rig->writer, text, strlen(text));
}

struct cap_lane *rig_lane(struct rig *rig, uint32_t tid)
{
	struct cap_lane *lane = cap_lane_get(rig->writer, tid);

	MUST(lane);
	return lane;
}

/* ---- facts ---- */

void rig_thread(struct rig *rig, uint32_t tid, const char *name, uint64_t start_ns, uint64_t end_ns)
{
	struct cap_rec_thread rec = { .h = HEAD(THREAD, cap_rec_thread, tid, start_ns),
				      .name_str = rig_intern(rig, name),
				      .ended = end_ns != 0,
				      .end_ticks = end_ns };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_region(struct rig *rig, uint32_t id, enum cap_region_category category, const char *name,
		uint64_t address)
{
	struct cap_rec_region rec = { .h = HEAD(REGION, cap_rec_region, id, 0),
				      .category = category,
				      .name_str = rig_intern(rig, name),
				      .address = address };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_operation(struct rig *rig, uint32_t op, const char *name)
{
	struct cap_rec_operation rec = { .h = HEAD(OPERATION, cap_rec_operation, op, 0),
					 .kind = CAP_KIND_HIP_RUNTIME_API,
					 .id = op,
					 .domain = CAP_DOMAIN_HIP_API,
					 .name_str = rig_intern(rig, name) };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_gpu(struct rig *rig, const char *kernel)
{
	struct cap_rec_agent gpu = { .h = HEAD(AGENT, cap_rec_agent, 2, 0),
				     .type = CAP_AGENT_GPU,
				     .node_id = 1,
				     .name_str = rig_intern(rig, "gfx90a") };
	struct cap_rec_queue queue = { .h = HEAD(QUEUE, cap_rec_queue, 1, 0), .agent = 2 };
	struct cap_rec_kernel rec = { .h = HEAD(KERNEL, cap_rec_kernel, 1, 0),
				      .name_str = rig_intern(rig, kernel) };

	MUST(cap_writer_meta(rig->writer, &gpu.h));
	MUST(cap_writer_meta(rig->writer, &queue.h));
	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_counter(struct rig *rig, uint32_t id, const char *name, const char *description)
{
	struct cap_rec_counter rec = { .h = HEAD(COUNTER, cap_rec_counter, id, 0),
				       .agent = 2,
				       .name_str = rig_intern(rig, name),
				       .description_str = rig_intern(rig, description) };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_sampler(struct rig *rig, enum cap_sampler sampler, uint64_t period)
{
	struct cap_rec_sampler rec = { .h = HEAD(SAMPLER, cap_rec_sampler, sampler, 0),
				       .period = period };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_counting_sampler(struct rig *rig, enum cap_sampler sampler, uint64_t period,
			  const char *event)
{
	struct cap_rec_sampler rec = { .h = HEAD(SAMPLER, cap_rec_sampler, sampler, 0),
				       .period = period,
				       .count_names_str = rig_intern(rig, event) };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

void rig_metric(struct rig *rig, uint32_t id, enum cap_metric_category category, const char *name,
		const char *unit)
{
	struct cap_rec_metric rec = { .h = HEAD(METRIC, cap_rec_metric, id, 0),
				      .name_str = rig_intern(rig, name),
				      .category = category,
				      .unit_str = rig_intern(rig, unit) };

	MUST(cap_writer_meta(rig->writer, &rec.h));
}

/* ---- events ---- */

void rig_enter(struct cap_lane *lane, uint32_t region, uint64_t ns)
{
	struct cap_rec_enter rec = { .h = HEAD(ENTER, cap_rec_enter, region, ns) };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_leave(struct cap_lane *lane, uint32_t region, uint64_t ns)
{
	struct cap_rec_leave rec = { .h = HEAD(LEAVE, cap_rec_leave, region, ns) };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_call(struct cap_lane *lane, uint32_t op, uint64_t start_ns, uint64_t end_ns,
	      uint64_t corr_id)
{
	struct cap_rec_call rec = { .h = HEAD(CALL, cap_rec_call, op, start_ns),
				    .end_ticks = end_ns,
				    .corr_id = corr_id };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_marker(struct cap_lane *lane, enum cap_marker_op op, uint64_t start_ns, uint64_t end_ns,
		uint32_t message)
{
	struct cap_rec_marker rec = { .h = HEAD(MARKER, cap_rec_marker, op, start_ns),
				      .end_ticks = end_ns,
				      .message = message };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_dispatch(struct cap_lane *lane, uint32_t tid, uint64_t start_ns, uint64_t end_ns,
		  uint64_t corr_id, const struct rig_value values[2])
{
	static uint64_t n;
	struct {
		struct cap_rec_dispatch d;
		struct cap_counter_value values[2];
	} rec = { 0 };
	uint32_t n_values = 0;

	for (uint32_t i = 0; values && i < 2 && values[i].counter; i++)
		rec.values[n_values++] =
			(struct cap_counter_value){ values[i].counter, i, values[i].value };
	rec.d = (struct cap_rec_dispatch){
		.h = { CAP_REC_TAG(CAP_REC_DISPATCH,
				   sizeof(rec.d) + n_values * sizeof(rec.values[0])),
		       1, start_ns },
		.end_ns = end_ns,
		.corr_id = corr_id,
		.dispatch_id = ++n,
		.tid = tid,
		.agent = 2,
		.queue = 1,
		.workgroup = { 64, 1, 1 },
		.grid = { 64, 1, 1 },
		.n_values = n_values,
	};
	MUST(cap_lane_append(lane, &rec.d.h));
}

void rig_copy(struct cap_lane *lane, uint32_t tid, uint64_t start_ns, uint64_t end_ns,
	      uint64_t corr_id)
{
	struct cap_rec_copy rec = { .h = HEAD(COPY, cap_rec_copy, CAP_COPY_HOST_TO_DEVICE,
					      start_ns),
				    .end_ns = end_ns,
				    .corr_id = corr_id,
				    .tid = tid };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_sample(struct cap_lane *lane, uint32_t stack, enum cap_sampler sampler, uint64_t ns,
		uint64_t cpu_ns)
{
	struct cap_rec_sample rec = { .h = HEAD(SAMPLE, cap_rec_sample, stack, ns),
				      .cpu_ns = cpu_ns,
				      .sampler = sampler,
				      .peak_kb = 2048 };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_late_sample(struct cap_lane *lane, uint32_t stack, enum cap_sampler sampler, uint64_t ns,
		     uint64_t cpu_ns, uint32_t n_missed)
{
	struct cap_rec_sample rec = { .h = HEAD(SAMPLE, cap_rec_sample, stack, ns),
				      .cpu_ns = cpu_ns,
				      .sampler = sampler,
				      .n_missed = n_missed };

	MUST(cap_lane_append(lane, &rec.h));
}

void rig_count_sample(struct cap_lane *lane, uint32_t stack, enum cap_sampler sampler, uint64_t ns,
		      uint64_t cpu_ns, uint64_t count)
{
	struct {
		struct cap_rec_sample s;
		uint64_t count;
	} rec = { .s = { .h = { CAP_REC_TAG(CAP_REC_SAMPLE, sizeof(rec)), stack, ns },
			 .cpu_ns = cpu_ns,
			 .sampler = sampler,
			 .n_counts = 1 },
		  .count = count };

	MUST(cap_lane_append(lane, &rec.s.h));
}

void rig_read_metric(struct cap_lane *lane, uint32_t metric, uint64_t ns, double value)
{
	struct {
		struct cap_rec_metrics m;
		struct cap_metric_value value;
	} rec = { .m = { .h = { CAP_REC_TAG(CAP_REC_METRICS, sizeof(rec)), 0, ns }, .n_values = 1 },
		  .value = { .metric = metric, .value = value } };

	MUST(cap_lane_append(lane, &rec.m.h));
}
