/* What GPUs did, summed up from captures that are made here. */
#include "tests/unit/failing_alloc.h"
#include "tests/unit/made_run.h"
#include "tests/unit/unit.h"

#include "screen/activity.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-activity-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* A launch with id n is from 1000 + n to 2000 + n. */
static struct trc_trace *two_kernels(void)
{
	const char *path = made_process(
		dir, 0, 10, "app", (const char *[]){ "A", NULL },
		(struct made_launch[]){
			{ 1, 64, 1, 1 }, { 1, 64, 1, 501 }, { 2, 64, 1, 5001 }, { 0 } });

	return made_run_open(&path, 1);
}

static void kernels_that_overlap_are_busy_once(void **state)
{
	struct trc_trace *trace = two_kernels();
	struct scr_activity a;
	struct ws_err err;
	uint64_t in_slots = 0;

	assert_int_equal(scr_activity_read(trace, 1000000, &a, &err), WS_OK);
	trc_close(trace); /* names were copied */
	assert_int_equal(a.gpus.n, 1);
	assert_int_equal(a.gpus.at[0].node, 1);
	assert_string_equal(a.gpus.at[0].name, "gfx90a");
	assert_int_equal(a.gpus.at[0].n_kernels, 3);
	assert_int_equal(a.gpus.at[0].busy_ns, 2500);
	assert_int_equal(a.gpus.at[0].recent_busy_ns, 2500);
	for (size_t i = 0; i < SCR_SLOTS; i++) {
		assert_true(a.gpus.at[0].slots[i] <= a.slot_ns);
		in_slots += a.gpus.at[0].slots[i];
	}
	assert_int_equal(in_slots, 2500);
	assert_true(a.gpus.at[0].slots[0] > 0);
	assert_int_equal(a.gpus.at[0].slots[SCR_SLOTS / 2], 0);
	assert_false(a.gpus.at[0].memory_known);
	scr_activity_fini(&a);
}

static void kernels_are_summed_by_name(void **state)
{
	struct trc_trace *trace = two_kernels();
	struct scr_activity a;
	struct ws_err err;

	assert_int_equal(scr_activity_read(trace, 0, &a, &err), WS_OK);
	assert_int_equal(a.kernels.n, 2);
	assert_string_equal(a.kernels.at[0].name, "one");
	assert_int_equal(a.kernels.at[0].n, 2);
	assert_int_equal(a.kernels.at[0].sum_ns, 2000);
	assert_int_equal(a.kernels.at[1].min_ns, 1000);
	assert_int_equal(a.kernels.at[1].max_ns, 1000);
	assert_int_equal(a.kernels_ns, 3000);
	scr_activity_fini(&a);
	trc_close(trace);
}

/* Of a process that has ended, rates are of its whole time, whatever the clock says now. */
static void an_ended_process_does_not_run(void **state)
{
	struct trc_trace *trace = two_kernels();
	struct scr_activity a;
	struct ws_err err;

	assert_false(scr_process_runs(trc_process_at(trace, 0)));
	assert_int_equal(scr_activity_read(trace, UINT64_MAX / 2, &a, &err), WS_OK);
	assert_int_equal(a.n_running, 0);
	assert_int_equal(a.from_ns, 1001);
	assert_int_equal(a.to_ns, 7001);
	assert_int_equal(a.gpus.at[0].n_recent, 3);
	scr_activity_fini(&a);
	trc_close(trace);
}

static void out_of_memory_is_an_error(void **state)
{
	struct trc_trace *trace = two_kernels();
	long n_failed = 0;

	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct scr_activity a;
		struct ws_err err;
		enum ws_status st = scr_activity_read(trace, 0, &a, &err);

		if (allocation_failed())
			assert_int_equal(st, WS_E_NOMEM);
		else
			scr_activity_fini(&a);
		n_failed += st != WS_OK;
	}
	assert_true(n_failed > 3);
	trc_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_overlap_are_busy_once),
		cmocka_unit_test(kernels_are_summed_by_name),
		cmocka_unit_test(an_ended_process_does_not_run),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
