/* counters/derived and plan_words: requested counters from counted ones, in the trace. */
#include "tests/unit/made_run.h"
#include "tests/unit/unit.h"

#include "counters/derived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-derived-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct cnt_gpu_plan plan_of(const char *const *words, size_t n, uint32_t gpu)
{
	struct ws_strv list = { .at = (const char **)words, .n = n, .max_n = n };
	struct cnt_plan_words how = { .list = &list, .mode = CNT_PLAN_POOL };
	struct gpu_agent agent = { .arch = "gfx90a", .is_gpu = true, .soft = true };
	struct cnt_gpu_plan plan;
	struct ws_err err = { 0 };

	if (cnt_gpu_plan_init(&plan, &how, gpu, &agent, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void words_name_counters_for_some_gpus(void **state)
{
	static const char *const words[] = { NULL, "SQ_WAVES,GRBM_COUNT:device=1", "TCC_HIT_sum" };
	struct cnt_gpu_plan first = plan_of(words, 3, 0), second = plan_of(words, 3, 1);

	assert_int_equal(first.plan->n_requests, 2);
	assert_string_equal(first.plan->requests[0].name, "SQ_WAVES");
	assert_string_equal(first.plan->requests[1].name, "TCC_HIT_sum");
	assert_int_equal(second.plan->n_requests, 3);
	assert_string_equal(second.plan->requests[1].name, "GRBM_COUNT");
	cnt_gpu_plan_fini(&first);
	cnt_gpu_plan_fini(&second);
}

static void a_counter_that_is_not_there_stays_with_its_reason(void **state)
{
	static const char *const words[] = { "SQ_WAVES NO_SUCH_COUNTER" };
	struct cnt_gpu_plan plan = plan_of(words, 1, 0);

	assert_int_equal(plan.plan->n_requests, 2);
	assert_int_equal(plan.plan->requests[0].state, CNT_PLAN_AVAILABLE);
	assert_int_not_equal(plan.plan->requests[1].state, CNT_PLAN_AVAILABLE);
	assert_non_null(strstr(plan.plan->requests[1].why, "NO_SUCH_COUNTER"));
	cnt_gpu_plan_fini(&plan);
}

static void requests_replace_what_was_counted(void **state)
{
	static const char *const words[] = { "SQ_WAVES SQ_BUSY_CYCLES" };
	struct ws_strv list = { .at = (const char **)words, .n = 1, .max_n = 1 };
	struct cnt_plan_words how = { .list = &list, .mode = CNT_PLAN_POOL };
	const char *paths[] = { made_process(dir, 0, 10, "a", (const char *[]){ "SQ_WAVES", NULL },
					     (struct made_launch[]){
						     { 1, 64, 100, 1 }, { 2, 64, 7, 2 }, { 0 } }) };
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) };
	struct trc_trace *runs[] = { made_run_open(paths, 1) };
	struct cnt_derived *derived = NULL;
	struct trc_counted *table = NULL;
	struct trc_events *events = NULL;
	const struct trc_process *process;
	const struct trc_event *e;
	struct ws_err err = { 0 };
	char *text = NULL;
	size_t n_text, n = 0;
	FILE *to;

	assert_int_equal(trc_counted_open(runs, 1, &table, &err), WS_OK);
	if (cnt_derive(table, &how, &derived, &err))
		fail_msg("%s", err.text);
	process = trc_process_at(trc_counted_trace(table), 0);
	assert_int_equal(trc_events_open(trc_counted_trace(table), &query, &events, &err), WS_OK);
	for (; (e = trc_events_next(events)); n++) {
		double sum = 0;

		assert_true(e->dispatch.info->n_values > 0);
		for (uint32_t i = 0; i < e->dispatch.info->n_values; i++) {
			assert_int_equal(e->dispatch.values[i].counter,
					 e->dispatch.values[0].counter);
			sum += e->dispatch.values[i].value;
		}
		/* two instances, the second with one more */
		assert_true(sum == (e->dispatch.info->dispatch_id == 1 ? 201 : 15));
	}
	assert_int_equal(n, 2);
	assert_int_equal(trc_events_close(events, &err), WS_OK);

	to = open_memstream(&text, &n_text);
	cnt_derived_report(derived, process, "", to);
	assert_true(cnt_derived_report_runs(derived, NULL)); /* one has no value */
	fclose(to);
	assert_non_null(strstr(text, ", 1 absent\n"));
	assert_non_null(strstr(text, "    absent: SQ_BUSY_CYCLES: the run for this counter did "
				     "not take place\n"));
	free(text);
	trc_counted_close(table);
	cnt_derived_destroy(derived);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_name_counters_for_some_gpus),
		cmocka_unit_test(a_counter_that_is_not_there_stays_with_its_reason),
		cmocka_unit_test(requests_replace_what_was_counted),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
