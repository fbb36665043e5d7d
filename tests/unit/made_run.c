#include "tests/unit/made_run.h"

#include "capture/writer.h"
#include "tests/unit/unit.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD(NAME, T, id)                                                                          \
	{                                                                                          \
		CAP_REC_FIXED_TAG(NAME, struct T), (id), 0                                         \
	}

static uint32_t intern(struct cap_writer *w, const char *text)
{
	return cap_writer_intern(w, text, strlen(text));
}

static void put_counter(struct cap_writer *w, uint32_t id, const char *name)
{
	struct {
		struct cap_rec_counter rec;
		struct cap_counter_dim dim;
	} fact = { .rec = { .h = { CAP_REC_TAG(CAP_REC_COUNTER, sizeof(fact)), id, 0 },
			    .agent = 2,
			    .name_str = intern(w, name),
			    .flags = strcmp(name, "A") ? CAP_COUNTER_IS_MODELLED : 0,
			    .n_dims = 1 },
		   .dim = { intern(w, "DIMENSION_INSTANCE"), 7, 2, 0 } };

	assert_true(cap_writer_meta(w, &fact.rec.h));
}

static void put_facts(struct cap_writer *w, uint32_t pid, const char *arg,
		      const char *const *counters)
{
#define NAME(text) text,
	static const char *const kernels[] = { MADE_KERNELS(NAME) };
#undef NAME
	struct cap_rec_process process = { .h = HEAD(PROCESS, cap_rec_process, pid),
					   .main_tid = pid };
	struct cap_rec_agent gpu = { .h = HEAD(AGENT, cap_rec_agent, 2),
				     .type = CAP_AGENT_GPU,
				     .node_id = 1,
				     .flags = CAP_AGENT_SOFT,
				     .name_str = intern(w, "gfx90a") };
	struct cap_rec_queue queue = { .h = HEAD(QUEUE, cap_rec_queue, 1), .agent = 2 };

	process.h.time = pid;
	assert_true(cap_writer_meta(w, &process.h));
	assert_true(cap_writer_fact(w, CAP_FACT_ARGV, arg));
	assert_true(cap_writer_meta(w, &gpu.h));
	assert_true(cap_writer_meta(w, &queue.h));
	for (uint32_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct cap_rec_kernel kernel = { .h = HEAD(KERNEL, cap_rec_kernel, i + 1),
						 .name_str = intern(w, kernels[i]) };

		assert_true(cap_writer_meta(w, &kernel.h));
	}
	for (uint32_t i = 0; counters[i]; i++)
		put_counter(w, i + 1, counters[i]);
}

static void put_launch(struct cap_lane *lane, const struct made_launch *l)
{
	struct {
		struct cap_rec_dispatch d;
		struct cap_counter_value values[2];
	} rec = {
		.d = { .h = { CAP_REC_TAG(CAP_REC_DISPATCH, sizeof(rec)), l->kernel, 1000 + l->id },
		       .end_ns = 2000 + l->id,
		       .dispatch_id = l->id,
		       .tid = 100,
		       .agent = 2,
		       .queue = 1,
		       .workgroup = { l->workgroup ? l->workgroup : 64, 1, 1 },
		       .grid = { l->grid, 1, 1 },
		       .group_bytes = l->lds,
		       .n_values = l->single ? 1 : 2,
		       .flags = CAP_DISPATCH_UNASKED },
		.values = { { l->counter + 1, 0, l->value }, { l->counter + 1, 1, l->value + 1 } }
	};
	struct cap_rec_counted how = { .h = { CAP_REC_FIXED_TAG(COUNTED, struct cap_rec_counted), 2,
					      1000 + l->id },
				       .dispatch_id = l->id,
				       .sampled = l->value == 13 ? 0.25 : 1,
				       .n_executed = 3,
				       .saved_bytes = 10,
				       .replay_ns = 5 };

	assert_true(cap_lane_append(lane, &rec.d.h));
	assert_true(cap_lane_append(lane, &how.h));
}

const char *made_process(const char *dir, unsigned run, uint32_t pid, const char *arg,
			 const char *const *counters, const struct made_launch *launches)
{
	struct cap_writer_opts opts = { .no_helper = true,
					.domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) };
	struct cap_writer *w = NULL;
	struct ws_err err = { 0 };
	struct cap_lane *lane;
	static char paths[16][128];
	static unsigned n;
	char *path = paths[n++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%u-%u.wcap", dir, run, pid);
	unlink(path);
	if (cap_writer_open(path, &opts, &w, &err))
		fail_msg("%s", err.text);
	put_facts(w, pid, arg, counters);
	lane = cap_lane_get(w, 100);
	assert_non_null(lane);
	for (; launches->id; launches++)
		put_launch(lane, launches);
	cap_writer_end(w, CAP_END_EXIT);
	cap_writer_close(w);
	return path;
}

struct trc_trace *made_run_open(const char *const *paths, size_t n)
{
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };

	if (trc_open(paths, n, NULL, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}
