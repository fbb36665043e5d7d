/* counters/over_time: counters of whole GPUs, as requested, from the readings of a capture. */
#include "counters/over_time.h"
#include "tests/unit/trace_rig.h"

#include <string.h>

#define CHANNELS 32u
#define FIRST 100u /* metrics of TCC_HIT; behind them one of GRBM_COUNT, one of GRBM_GUI_ACTIVE */
#define READINGS 3u

struct reading {
	struct cap_rec_metrics head;
	struct cap_metric_value values[CHANNELS + 3];
};

static void put_metric(struct cap_writer *w, uint32_t id, const char *name, uint32_t category,
		       uint32_t instance)
{
	struct cap_rec_metric rec = { .h = HEAD(METRIC, cap_rec_metric, id),
				      .name_str = intern(w, name),
				      .unit_str = intern(w, ""),
				      .category = category,
				      .device = 0,
				      .instance = instance,
				      .flags = CAP_METRIC_SIMULATED };

	assert_true(cap_writer_meta(w, &rec.h));
}

/* Reading k: channel i has added 10 * k + i; the GPU was busy for 50 of 200 cycles, and in reading 0 had none. */
static struct trc_trace *make_trace(void)
{
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);

	put_facts(w, 100);
	put_metric(w, 1, "GPU GFX Busy [0] (S)", CAP_METRIC_DEVICE_BUSY_GFX, 0);
	for (uint32_t i = 0; i < CHANNELS; i++)
		put_metric(w, FIRST + i, "TCC_HIT", CAP_METRIC_DEVICE_COUNTER, i);
	put_metric(w, FIRST + CHANNELS, "GRBM_COUNT", CAP_METRIC_DEVICE_COUNTER, 0);
	put_metric(w, FIRST + CHANNELS + 1, "GRBM_GUI_ACTIVE", CAP_METRIC_DEVICE_COUNTER, 0);
	for (uint32_t k = 0; k < READINGS; k++) {
		struct reading r = { .head = { .h = { CAP_REC_TAG(CAP_REC_METRICS, sizeof(r)), 0,
						      1000 + k },
					       .n_values = CHANNELS + 3 } };

		for (uint32_t i = 0; i < CHANNELS; i++)
			r.values[i] = (struct cap_metric_value){ FIRST + i, 0, 10.0 * k + i };
		r.values[CHANNELS] = (struct cap_metric_value){ FIRST + CHANNELS, 0, k ? 200 : 0 };
		r.values[CHANNELS + 1] =
			(struct cap_metric_value){ FIRST + CHANNELS + 1, 0, k ? 50 : 0 };
		r.values[CHANNELS + 2] = (struct cap_metric_value){ 1, 0, 77 };
		assert_true(cap_lane_append(lane, &r.head.h));
	}
	cap_lane_put(lane);
	cap_writer_close(w);
	return open_trace(&(struct trc_opts){ 0 });
}

static double value_of(const struct trc_event *ev, const char *counter)
{
	for (uint32_t i = 0; i < ev->metrics.n_values; i++) {
		const struct trc_metric *metric =
			&ev->process->metrics.at[ev->metrics.values[i].metric];

		if (strcmp(*metric->counter ? metric->counter : metric->name, counter) == 0)
			return ev->metrics.values[i].value;
	}
	return -1;
}

static void readings_show_requests_and_other_metrics(void **state)
{
	static const char *const names[] = { "TCC_HIT GPU_UTIL TCC_HIT_sum" };
	struct ws_strv list = { .at = (const char **)names, .n = 1, .max_n = 1 };
	struct cnt_plan_words words = { .list = &list, .mode = CNT_PLAN_POOL };
	struct trc_trace *trace = make_trace();
	struct cnt_over_time *over_time = NULL;
	const struct trc_event *ev;
	struct trc_events *events;
	struct ws_err err = { 0 };
	uint32_t k = 0;

	if (cnt_over_time_create(trace, 0, &words, &over_time, &err))
		fail_msg("%s", err.text);
	events = open_events(trace, (struct trc_event_query){ .domains = TRC_DOMAIN_BIT(METRICS) });
	while ((ev = trc_events_next(events))) {
		double hits = 10.0 * k * CHANNELS + CHANNELS * (CHANNELS - 1) / 2;

		assert_true(value_of(ev, "TCC_HIT") == hits);
		assert_true(value_of(ev, "TCC_HIT_sum") == hits);
		assert_true(value_of(ev, "GPU GFX Busy [0] (S)") == 77);
		/* a division by 0 is 0, as for kernels */
		assert_true(value_of(ev, "GPU_UTIL") == (k ? 25 : 0));
		assert_true(value_of(ev, "GRBM_COUNT") == -1); /* not requested */
		k++;
	}
	assert_int_equal(k, READINGS);
	assert_int_equal(trc_events_close(events, &err), WS_OK);
	trc_close(trace);
	cnt_over_time_destroy(over_time);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(readings_show_requests_and_other_metrics, make_dir,
						drop_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
