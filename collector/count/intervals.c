#include "collector/count/intervals.h"

#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"
#include "collector/count/source.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Metrics of collector/monitor/ and collector/comm.c have the numbers below. */
#define FIRST_METRIC 8449u
#define LEAST_NS 100000u /* shorter ones would measure only this thread */
#define WAIT_STEP_NS 100000

struct gpu {
	struct col_count_target target; /* agent 0: it does not count */
	uint64_t *before;               /* values of the last reading; NULL: not opened yet */
	uint32_t n_values;
	uint32_t first_metric;
	bool is_tried;
};

static struct {
	struct col_lock lock; /* everything below; whoever reads or opens holds it */
	struct col_count_block *memory;
	struct col_count_request request;
	const struct col_count_source *source; /* NULL: nothing is counted */
	bool is_soft, is_ended, told_back;
	uint32_t stop; /* a futex: the thread returns */
	uint32_t runs;
	struct gpu gpus[COL_COUNT_GPUS_MAX];
	uint32_t n_metrics;
	/* of the capture that the values go to */
	struct cap_writer *writer;
	struct cap_lane *lane;
	uint32_t told[COL_COUNT_GPUS_MAX]; /* it knows the metrics of this GPU */
} intervals;

/* ---- the capture ---- */

static void enter_capture(struct cap_writer *writer)
{
	if (intervals.writer == writer && intervals.lane)
		return;
	if (intervals.writer != writer)
		memset(intervals.told, 0, sizeof(intervals.told));
	intervals.writer = writer;
	intervals.lane = cap_lane_get(writer, (uint32_t)syscall(SYS_gettid));
}

/* A metric for each value of a reading: the counter's name, and which instance it is. */
static void tell_metrics(struct gpu *gpu, const struct softgpu_result *result)
{
	uint32_t id = gpu->first_metric;

	if (intervals.told[gpu->target.gpu])
		return;
	intervals.told[gpu->target.gpu] = 1;
	for (uint32_t i = 0; i < result->n_values; i++) {
		const struct softgpu_value *value = &result->values[i];
		struct cap_rec_metric rec = {
			.h = { CAP_REC_FIXED_TAG(METRIC, struct cap_rec_metric), 0, 0 },
			.name_str = cap_writer_intern(intervals.writer, value->name,
						      strlen(value->name)),
			.category = CAP_METRIC_DEVICE_COUNTER,
			.unit_str = cap_writer_intern(intervals.writer, "", 0),
			.device = (int32_t)gpu->target.gpu,
			.flags = intervals.is_soft ? CAP_METRIC_SIMULATED : 0,
		};

		for (uint32_t k = 0; k < value->n_values; k++) {
			rec.h.what = id++;
			rec.instance = k;
			cap_writer_meta(intervals.writer, &rec.h);
		}
	}
}

static void write_values(struct gpu *gpu, const uint64_t *added, uint64_t ticks)
{
	uint32_t n = gpu->n_values, n_bytes = (uint32_t)(sizeof(struct cap_rec_metrics) +
							 n * sizeof(struct cap_metric_value));
	struct cap_lane *lane = intervals.lane;
	struct cap_metric_value *values;
	struct cap_rec_metrics *rec;

	rec = lane && n_bytes <= CAP_REC_BYTES_MAX ? cap_lane_reserve(&lane, n_bytes) : NULL;
	if (!rec) {
		cap_writer_count(intervals.writer, CAP_DOMAIN_METRICS, CAP_LEDGER_DROPPED, 1);
		return;
	}
	rec->h.what = 0;
	rec->h.time = ticks;
	rec->n_values = n;
	values = (struct cap_metric_value *)(rec + 1);
	for (uint32_t i = 0; i < n; i++)
		values[i] = (struct cap_metric_value){ .metric = gpu->first_metric + i,
						       .value = (double)added[i] };
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_METRICS, n_bytes));
}

static void write_reading(struct gpu *gpu, const struct softgpu_result *result,
			  const uint64_t *added)
{
	struct cap_writer *writer = col_on(COL_SERVICE_GPU_COUNTERS) ? col_capture() : NULL;
	uint64_t ticks = cap_ticks();

	if (!writer)
		return;
	enter_capture(writer);
	tell_metrics(gpu, result);
	write_values(gpu, added, ticks);
}

/* ---- a reading ---- */

static uint32_t n_cells(const struct softgpu_result *result)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->n_values; i++)
		n += result->values[i].n_values;
	return n;
}

/* What was added; the present values are those of the last reading then. False: one is less than before. */
static bool take_added(struct gpu *gpu, const struct softgpu_result *result, uint64_t *out_added)
{
	uint32_t n = 0;
	bool forward = true;

	for (uint32_t i = 0; i < result->n_values; i++)
		for (uint32_t k = 0; k < result->values[i].n_values; k++, n++) {
			uint64_t now = result->values[i].values[k];

			forward &= now >= gpu->before[n];
			out_added[n] = now - gpu->before[n];
			gpu->before[n] = now;
		}
	return forward;
}

static void give_up(struct gpu *gpu, const char *why)
{
	char text[320];

	snprintf(text, sizeof(text), "counters: GPU %u is not counted any more: %s",
		 gpu->target.gpu, why);
	col_note(text);
	gpu->target.agent = 0;
}

static void read_gpu(struct gpu *gpu)
{
	struct softgpu_result result;
	uint64_t *added;

	switch (intervals.source->read(&gpu->target, &result)) {
	case COL_COUNT_READ:
		break;
	case COL_COUNT_UNREAD:
		return;
	case COL_COUNT_STUCK:
		give_up(gpu, "its packets do not end");
		return;
	}
	if (n_cells(&result) != gpu->n_values)
		return;
	added = gpu->before + gpu->n_values; /* room for both */
	if (!take_added(gpu, &result, added)) {
		if (!intervals.told_back)
			col_note("counters: they went back between two readings: another program "
				 "uses the counters of this GPU, and intervals have no value");
		intervals.told_back = true;
		return;
	}
	write_reading(gpu, &result, added);
}

static void read_all(void)
{
	for (uint32_t i = 0; i < COL_COUNT_GPUS_MAX; i++)
		if (intervals.gpus[i].target.agent)
			read_gpu(&intervals.gpus[i]);
}

/* ---- the thread ---- */

static uint64_t interval_ns(void)
{
	uint64_t ns = intervals.request.interval * 1000;

	return ns < LEAST_NS ? LEAST_NS : ns;
}

static void *run(void *arg)
{
	uint64_t period_ns = interval_ns(), next_ns = col_now_ns() + period_ns, now_ns;

	while (!__atomic_load_n(&intervals.stop, __ATOMIC_SEQ_CST)) {
		struct timespec wait;

		now_ns = col_now_ns();
		if (now_ns < next_ns) {
			wait = (struct timespec){ (time_t)((next_ns - now_ns) / 1000000000u),
						  (long)((next_ns - now_ns) % 1000000000u) };
			syscall(SYS_futex, &intervals.stop, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
			continue;
		}
		col_lock(&intervals.lock);
		if (!intervals.is_ended)
			read_all();
		col_unlock(&intervals.lock);
		/* a reading that was missed is not made up for: its interval is longer */
		next_ns += ((now_ns - next_ns) / period_ns + 1) * period_ns;
	}
	__atomic_store_n(&intervals.runs, 0, __ATOMIC_SEQ_CST);
	return NULL;
}

/* ---- beginning ---- */

static void note(uint32_t gpu, const char *why)
{
	char text[400];

	snprintf(text, sizeof(text), "counters: GPU %u is not counted over time: %s", gpu, why);
	col_note(text);
}

static const struct col_count_gpu *asked_of(uint32_t gpu)
{
	const struct col_count_gpu *every = NULL;

	for (size_t i = 0; i < intervals.request.n_gpus; i++) {
		if (intervals.request.gpus[i].gpu == gpu)
			return &intervals.request.gpus[i];
		if (intervals.request.gpus[i].gpu == COL_COUNT_EVERY_GPU)
			every = &intervals.request.gpus[i];
	}
	return every;
}

static void open_gpu(struct gpu *gpu, uint32_t index, uint32_t agent)
{
	struct softgpu_result result;
	char error[256] = "";

	gpu->is_tried = true;
	gpu->target = (struct col_count_target){ .gpu = index, .node = col_agent_node(agent) };
	gpu->target.asked = asked_of(intervals.is_soft ? gpu->target.node - 1 : index);
	if (!gpu->target.asked || !gpu->target.asked->n_sets)
		return;
	if (!intervals.source->open(&gpu->target, error, sizeof(error))) {
		note(index, error);
		return;
	}
	if (!intervals.source->shape(&gpu->target, &result)) {
		note(index, "no memory");
		return;
	}
	gpu->n_values = n_cells(&result);
	gpu->before = col_count_pages(&intervals.memory, 2 * gpu->n_values * sizeof(uint64_t));
	if (!gpu->before) {
		note(index, "no memory");
		return;
	}
	gpu->first_metric = FIRST_METRIC + intervals.n_metrics;
	intervals.n_metrics += gpu->n_values;
	gpu->target.agent = agent;
	write_reading(gpu, &result, gpu->before); /* zeros: where the first interval begins */
	if (!__atomic_exchange_n(&intervals.runs, 1, __ATOMIC_SEQ_CST) &&
	    !col_spawn(run, NULL, "wavescope.count")) {
		__atomic_store_n(&intervals.runs, 0, __ATOMIC_SEQ_CST);
		note(index, "cannot start a thread");
		gpu->target.agent = 0;
	}
}

void col_intervals_queue(uint32_t agent)
{
	int saved_errno = errno;
	uint32_t there;

	if (!intervals.source)
		return;
	col_lock(&intervals.lock);
	for (uint32_t i = 0; !intervals.is_ended && i < COL_COUNT_GPUS_MAX; i++) {
		there = col_agent_by_gpu(i);
		if (!there)
			break;
		if (there == agent && !intervals.gpus[i].is_tried)
			open_gpu(&intervals.gpus[i], i, agent);
	}
	col_unlock(&intervals.lock);
	errno = saved_errno;
}

void col_intervals_load(void)
{
	const struct col_count_source *wanted;
	const char *why;
	char text[400];

	if (!col_asked(COL_SERVICE_GPU_COUNTERS) || intervals.source ||
	    !col_count_request_load(&intervals.memory, &intervals.request))
		return;
	intervals.is_soft = col_count_service.find(&why);
	wanted = col_count_wanted_source();
	if (!wanted)
		wanted = intervals.is_soft ? &col_count_service : &col_count_packets;
	if (wanted->open && wanted->find(&why)) {
		intervals.source = wanted;
		return;
	}
	snprintf(text, sizeof(text), "counters: %s. The program runs without counting",
		 wanted->open ? why : "there is no comparison over time");
	col_note(text);
}

/* ---- the end ---- */

void col_intervals_finish(uint64_t deadline_ns)
{
	if (!intervals.source)
		return;
	__atomic_store_n(&intervals.stop, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &intervals.stop, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	while (__atomic_load_n(&intervals.runs, __ATOMIC_SEQ_CST) && col_now_ns() < deadline_ns)
		nanosleep(&(struct timespec){ 0, WAIT_STEP_NS }, NULL);
	if (__atomic_load_n(&intervals.runs, __ATOMIC_SEQ_CST))
		return; /* it waits for the GPU, and has the lock */
	col_lock(&intervals.lock);
	if (!intervals.is_ended) {
		read_all();
		for (uint32_t i = 0; i < COL_COUNT_GPUS_MAX; i++)
			if (intervals.gpus[i].target.agent)
				intervals.source->close(&intervals.gpus[i].target);
	}
	intervals.is_ended = true;
	cap_lane_put(intervals.lane);
	intervals.lane = NULL;
	col_unlock(&intervals.lock);
}

/* The queues and the sums are the parent's; a child cannot use its runtime. */
void col_intervals_forked(void)
{
	memset(&intervals, 0, sizeof(intervals));
}
