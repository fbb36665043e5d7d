/* Runs of a program, as captures made here, joined to one table. */
#include "tests/unit/failing_alloc.h"
#include "tests/unit/made_run.h"
#include "tests/unit/unit.h"

#include "trace/counted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-counted-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const char *put_process(unsigned run, uint32_t pid, const char *arg, const char *counter,
			       const struct made_launch *launches)
{
	return made_process(dir, run, pid, arg, (const char *[]){ counter, NULL }, launches);
}

static struct trc_counted *join(struct trc_trace **runs, size_t n)
{
	struct trc_counted *table = NULL;
	struct ws_err err = { 0 };

	if (trc_counted_open(runs, n, &table, &err))
		fail_msg("%s", err.text);
	return table;
}

static double cell(const struct trc_counted *table, size_t row, const char *name, unsigned instance)
{
	const struct trc_counted_column *column = trc_counted_find(table, name);

	assert_non_null(column);
	return trc_counted_cells(table, row)[column->first + instance];
}

/* ---- what is to hold ---- */

/* Recorded as they complete, joined as they were submitted. */
static void values_of_two_runs_meet(void **state)
{
	const char *first[] = { put_process(0, 10, "a", "A",
					    (struct made_launch[]){ { 1, 64, 1, 2 },
								    { 1, 64, 2, 1 },
								    { 2, 64, 3, 3 },
								    { 1, 128, 4, 4 },
								    { 0 } }) };
	const char *second[] = { put_process(1, 77, "a", "B",
					     (struct made_launch[]){ { 1, 128, 40, 9 },
								     { 2, 64, 30, 8 },
								     { 1, 64, 20, 5 },
								     { 1, 64, 10, 7 },
								     { 0 } }) };
	struct trc_trace *runs[] = { made_run_open(first, 1), made_run_open(second, 1) };
	struct trc_counted *table = join(runs, 2);

	assert_int_equal(trc_counted_n_rows(table), 4);
	assert_int_equal(trc_counted_n_columns(table), 2);
	assert_int_equal(trc_counted_n_cells(table), 4);
	assert_int_equal(trc_counted_n_differences(table), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(trc_counted_row(table, i)->dispatch_id, i + 1);
	/* The first launch of kernel one with 64 work-items, in both runs. */
	assert_true(cell(table, 0, "A", 0) == 2 && cell(table, 0, "B", 0) == 20);
	assert_true(cell(table, 1, "A", 0) == 1 && cell(table, 1, "B", 0) == 10);
	assert_true(cell(table, 2, "A", 1) == 4 && cell(table, 2, "B", 1) == 31);
	assert_true(cell(table, 3, "A", 0) == 4 && cell(table, 3, "B", 0) == 40);
	assert_int_equal(trc_counted_row(table, 3)->n_runs, 2);
	assert_int_equal(trc_counted_row(table, 3)->n_executed, 3);
	assert_int_equal(trc_counted_row(table, 3)->saved_bytes, 20);
	assert_int_equal(trc_counted_find(table, "A")->fidelity, TRC_COUNTED_EXACT);
	assert_int_equal(trc_counted_find(table, "B")->fidelity, TRC_COUNTED_MODELLED);
	assert_int_equal(trc_counted_find(table, "B")->run, 1);
	assert_null(trc_counted_find(table, "C"));
	assert_int_equal(trc_counted_find_row(table, trc_counted_row(table, 2)->process, 3), 2);
	assert_true(trc_counted_find_row(table, trc_counted_row(table, 2)->process, 99) ==
		    SIZE_MAX);
	trc_counted_close(table);
}

static void what_differs_is_told_and_not_mixed(void **state)
{
	const char *first[] = {
		put_process(0, 10, "a", "A",
			    (struct made_launch[]){
				    { 1, 64, 1, 1 }, { 1, 64, 2, 2 }, { 2, 64, 3, 3 }, { 0 } })
	};
	/* One launch of `one` less, one with another grid, two of `two` more. */
	const char *second[] = { put_process(1, 20, "a", "B",
					     (struct made_launch[]){ { 1, 64, 10, 1 },
								     { 1, 96, 20, 2 },
								     { 2, 64, 30, 3 },
								     { 2, 64, 31, 4 },
								     { 2, 64, 32, 5 },
								     { 0 } }) };
	struct trc_trace *runs[] = { made_run_open(first, 1), made_run_open(second, 1) };
	struct trc_counted *table = join(runs, 2);

	assert_int_equal(trc_counted_n_rows(table), 3);
	assert_true(cell(table, 0, "B", 0) == 10);
	assert_true(isnan(cell(table, 1, "B", 0)) && isnan(cell(table, 1, "B", 1)));
	assert_true(cell(table, 2, "B", 0) == 30);
	assert_int_equal(trc_counted_find(table, "B")->n_seen, 2);
	assert_int_equal(trc_counted_row(table, 1)->n_runs, 1);
	assert_int_equal(trc_counted_n_differences(table), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct trc_counted_difference *d = trc_counted_difference(table, i);
		bool one = strcmp(d->kernel, "one") == 0;

		assert_int_equal(d->run, 1);
		assert_int_equal(d->n_missing, one ? 1 : 0);
		assert_int_equal(d->n_more, one ? 1 : 2);
	}
	trc_counted_close(table);
}

/* Pids and the order of files say nothing; command lines and the order of start do. */
static void processes_are_found_again(void **state)
{
	const char *first[] = {
		put_process(0, 10, "a", "A", (struct made_launch[]){ { 1, 64, 1, 1 }, { 0 } }),
		put_process(0, 11, "b", "A", (struct made_launch[]){ { 1, 64, 2, 1 }, { 0 } }),
		put_process(0, 12, "a", "A", (struct made_launch[]){ { 1, 64, 3, 1 }, { 0 } }),
	};
	const char *second[] = {
		put_process(1, 33, "b", "B", (struct made_launch[]){ { 1, 64, 20, 1 }, { 0 } }),
		put_process(1, 32, "a", "B", (struct made_launch[]){ { 1, 64, 30, 1 }, { 0 } }),
		put_process(1, 31, "a", "B", (struct made_launch[]){ { 1, 64, 10, 1 }, { 0 } }),
		put_process(1, 34, "c", "B", (struct made_launch[]){ { 2, 64, 99, 1 }, { 0 } }),
	};
	struct trc_trace *runs[] = { made_run_open(first, 3), made_run_open(second, 4) };
	struct trc_counted *table = join(runs, 2);

	assert_int_equal(trc_counted_n_rows(table), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(cell(table, i, "B", 0) == 10 * cell(table, i, "A", 0));
	assert_int_equal(trc_counted_n_differences(table), 1);
	assert_string_equal(trc_counted_difference(table, 0)->kernel, "two");
	assert_int_equal(trc_counted_difference(table, 0)->n_more, 1);
	trc_counted_close(table);
}

static void samples_make_a_column_sampled(void **state)
{
	const char *paths[] = { put_process(0, 10, "a", "M",
					    (struct made_launch[]){
						    { 1, 64, 1, 1 }, { 1, 64, 13, 2 }, { 0 } }) };
	struct trc_trace *runs[] = { made_run_open(paths, 1) };
	struct trc_counted *table = join(runs, 1);

	assert_true(trc_counted_row(table, 0)->sampled == 1);
	assert_true(trc_counted_row(table, 1)->sampled == 0.25);
	assert_int_equal(trc_counted_find(table, "M")->fidelity, TRC_COUNTED_SAMPLED);
	trc_counted_close(table);
}

static size_t twice(void *ctx, const struct trc_process *process,
		    const struct cap_rec_dispatch *dispatch, struct cap_counter_value *to,
		    size_t room)
{
	for (size_t i = 0; i < WS_MIN(room, (size_t)3); i++)
		to[i] = (struct cap_counter_value){ 1, (uint32_t)i,
						    (double)dispatch->dispatch_id * 2 };
	return dispatch->dispatch_id == 2 ? 0 : 3;
}

static void a_trace_shows_other_counters_when_told_to(void **state)
{
	const char *paths[] = { put_process(0, 10, "a", "A",
					    (struct made_launch[]){
						    { 1, 64, 1, 1 }, { 1, 64, 2, 2 }, { 0 } }) };
	struct trc_trace *trace = made_run_open(paths, 1);
	struct trc_counter counters[2] = { { .name = "" }, { .id = 1, .name = "DERIVED" } };
	struct trc_recount recount = { counters, 2, twice, NULL };
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) };
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	struct ws_err err = { 0 };
	uint32_t str = trc_add_string(trace, 0, "a new text");

	assert_string_equal(trc_process_string(trc_process_at(trace, 0), str), "a new text");
	trc_set_recount(trace, 0, &recount);
	assert_string_equal(trc_process_at(trace, 0)->counters.at[1].name, "DERIVED");
	assert_int_equal(trc_events_open(trace, &query, &events, &err), WS_OK);
	while ((ev = trc_events_next(events))) {
		bool second = ev->dispatch.info->dispatch_id == 2;

		assert_int_equal(ev->dispatch.info->n_values, second ? 0 : 3);
		assert_true(second || ev->dispatch.values[2].value == 2);
	}
	assert_int_equal(trc_events_close(events, &err), WS_OK);
	trc_close(trace);
}

static void running_out_of_memory_is_an_error_every_time(void **state)
{
	const char *first[] = { put_process(0, 10, "a", "A",
					    (struct made_launch[]){ { 1, 64, 1, 1 }, { 0 } }) };
	const char *second[] = { put_process(1, 20, "a", "B",
					     (struct made_launch[]){ { 2, 64, 1, 1 }, { 0 } }) };
	long n_tried = 0;

	for (long n = 0;; n++) {
		struct trc_trace *runs[] = { made_run_open(first, 1), made_run_open(second, 1) };
		struct trc_counted *table = NULL;
		struct ws_err err = { 0 };
		enum ws_status st;
		bool failed;

		fail_after(n);
		st = trc_counted_open(runs, 2, &table, &err);
		failed = allocation_failed();
		fail_after(-1);
		if (failed)
			assert_int_equal(st, WS_E_NOMEM);
		else
			assert_int_equal(st, WS_OK);
		assert_int_equal(err.status, st);
		if (!st)
			trc_counted_close(table);
		if (!failed)
			break;
		n_tried++;
	}
	assert_true(n_tried > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_two_runs_meet),
		cmocka_unit_test(what_differs_is_told_and_not_mixed),
		cmocka_unit_test(processes_are_found_again),
		cmocka_unit_test(samples_make_a_column_sampled),
		cmocka_unit_test(a_trace_shows_other_counters_when_told_to),
		cmocka_unit_test(running_out_of_memory_is_an_error_every_time),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
