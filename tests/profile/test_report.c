#include "profile/report_priv.h"
#include "tests/profile/report_rig.h"

/* clang-format off */
static const char steps_table[] =
"|-------------------------------------------------------------------------------------------------------------------------------------|\n"
"|                                               REAL-CLOCK TIMER (I.E. WALL-CLOCK TIMER)                                              |\n"
"|-------------------------------------------------------------------------------------------------------------------------------------|\n"
"|      LABEL       | COUNT  | DEPTH  |   METRIC   | UNITS  |   SUM    |   MEAN   |   MIN    |   MAX    |   VAR    | STDDEV   | % SELF |\n"
"|------------------|--------|--------|------------|--------|----------|----------|----------|----------|----------|----------|--------|\n"
"| |0>>> app        |      1 |      0 | wall_clock | sec    | 2.000000 | 2.000000 | 2.000000 | 2.000000 | 0.000000 | 0.000000 |   25.0 |\n"
"| |0>>> |_step     |     10 |      1 | wall_clock | sec    | 1.500000 | 0.150000 | 0.140000 | 0.160000 | 0.000022 | 0.004714 |   40.0 |\n"
"| |0>>>   |_launch |    100 |      2 | wall_clock | sec    | 0.900000 | 0.009000 | 0.008000 | 0.010000 | 0.000001 | 0.001005 |  100.0 |\n"
"|-------------------------------------------------------------------------------------------------------------------------------------|\n";
/* clang-format on */

static void the_table_is_amds_to_the_character(void **state)
{
	struct prof_report_opts opts = usual();

	make_steps(false);
	write_report(&opts);
	assert_string_equal(text_of("wall_clock-7.txt"), steps_table);
	assert_false(exists("wall_clock-7.txt.part"));
	assert_string_equal(said, "");
}

static void threads_have_padded_numbers_and_can_be_merged(void **state)
{
	struct prof_report_opts opts = usual();
	struct rig *rig = next_rig(100, 1000);

	rig_region(rig, 1, CAP_REGION_USER, "work", 0);
	for (uint32_t tid = 100; tid < 112; tid++) {
		struct cap_lane *lane = rig_lane(rig, tid);

		rig_thread(rig, tid, "", 1000, 0);
		rig_enter(lane, 1, 1000);
		rig_leave(lane, 1, 1000 + MS);
	}
	rig_end(rig, 9 * MS);
	write_report(&opts);
	expect_row(
		"wall_clock-7.txt", "|00>>> work",
		"1 0 wall_clock sec 0.001000 0.001000 0.001000 0.001000 0.000000 0.000000 100.0");
	expect_row(
		"wall_clock-7.txt", "|11>>> work",
		"1 0 wall_clock sec 0.001000 0.001000 0.001000 0.001000 0.000000 0.000000 100.0");
	assert_int_equal(n_lines(text_of("wall_clock-7.txt")), 6 + 12);
	opts.collapse_threads = true;
	write_report(&opts);
	expect_row(
		"wall_clock-7.txt", ">>> work",
		"12 0 wall_clock sec 0.012000 0.001000 0.001000 0.001000 0.000000 0.000000 100.0");
	assert_int_equal(n_lines(text_of("wall_clock-7.txt")), 6 + 1);
}

static void ranks_are_in_the_label_or_merged(void **state)
{
	struct prof_report_opts opts = usual();

	for (uint32_t pid = 100; pid < 102; pid++) {
		struct rig *rig = next_rig(pid, 1000 + pid);
		struct cap_lane *lane = rig_lane(rig, pid);

		rig_region(rig, 1, CAP_REGION_USER, "work", 0);
		rig_enter(lane, 1, 2000);
		rig_leave(lane, 1, 2000 + (pid - 99) * MS);
		rig_end(rig, 9 * MS);
	}
	opts.ranks = (const int[]){ 3, 12 };
	write_report(&opts);
	expect_row(
		"wall_clock-7.txt", "|03|0>>> work",
		"1 0 wall_clock sec 0.001000 0.001000 0.001000 0.001000 0.000000 0.000000 100.0");
	expect_row(
		"wall_clock-7.txt", "|12|0>>> work",
		"1 0 wall_clock sec 0.002000 0.002000 0.002000 0.002000 0.000000 0.000000 100.0");
	opts.collapse_processes = true;
	write_report(&opts);
	expect_row(
		"wall_clock-7.txt", "|0>>> work",
		"2 0 wall_clock sec 0.003000 0.001500 0.001000 0.002000 0.000000 0.000707 100.0");
}

static void numbers_are_as_the_settings_say(void **state)
{
	struct prof_report_opts opts = usual();

	make_steps(false);
	opts.time_unit = WS_TIME_MSEC;
	opts.timing.precision = 1;
	opts.timing.width = 12;
	opts.prefix = "sub/run-";
	write_report(&opts);
	expect_row("sub/run-wall_clock-7.txt", "|0>>> |_step",
		   "10 1 wall_clock msec 1500.0 150.0 140.0 160.0 22.2 4.7 40.0");
	assert_non_null(strstr(text_of("sub/run-wall_clock-7.txt"), "|     SUM      |"));
	opts.timing.scientific = true;
	write_report(&opts);
	expect_row("sub/run-wall_clock-7.txt", "|0>>> |_step",
		   "10 1 wall_clock msec 1.5e+03 1.5e+02 1.4e+02 1.6e+02 2.2e+01 4.7e+00 40.0");
	opts = usual();
	opts.flat = true;
	opts.json = false;
	write_report(&opts);
	expect_row(
		"wall_clock-7.txt", "|0>>> launch",
		"100 0 wall_clock sec 0.900000 0.009000 0.008000 0.010000 0.000001 0.001005 100.0");
	assert_false(exists("wall_clock-7.json"));
	opts.flat = false;
	opts.max_depth = 1;
	write_report(&opts);
	assert_null(strstr(text_of("wall_clock-7.txt"), "launch"));
	expect_row(
		"wall_clock-7.txt", "|0>>> |_step",
		"10 1 wall_clock sec 1.500000 0.150000 0.140000 0.160000 0.000022 0.004714 100.0");
}

static void labels_are_cut_and_cannot_write_to_a_terminal(void **state)
{
	struct prof_report_opts opts = usual();
	struct rig *rig = next_rig(100, 1000);
	struct cap_lane *lane = rig_lane(rig, 100);

	rig_region(rig, 1, CAP_REGION_USER, "\033[31mred\n", 0);
	rig_region(rig, 2, CAP_REGION_USER, "a_long_name_that_does_not_fit_at_all", 0);
	rig_region(rig, 3, CAP_REGION_USER,
		   "gr\xc3\xb6\xc3\x9f"
		   "er",
		   0);
	for (uint32_t i = 1; i <= 3; i++) {
		rig_enter(lane, i, 2000 * i);
		rig_leave(lane, i, 2000 * i + 1000);
	}
	rig_end(rig, 9 * MS);
	opts.max_width = 24;
	write_report(&opts);
	expect_row(
		"wall_clock-7.txt", "|0>>> \\x1b[31mred\\x0a",
		"1 0 wall_clock sec 0.000001 0.000001 0.000001 0.000001 0.000000 0.000000 100.0");
	expect_row(
		"wall_clock-7.txt", "|0>>> a_long_name_tha...",
		"1 0 wall_clock sec 0.000001 0.000001 0.000001 0.000001 0.000000 0.000000 100.0");
	assert_non_null(strstr(text_of("wall_clock-7.txt"), "| |0>>> gr\xc3\xb6\xc3\x9f"
							    "er             |"));
	opts.max_width = 12;
	write_report(&opts);
	assert_non_null(strstr(text_of("wall_clock-7.txt"), "| |0>>> a_long |"));
}

static void a_difference_has_the_rows_of_both_runs(void **state)
{
	struct prof_report_opts opts = usual();
	char before[96];
	struct rig *rig;
	struct cap_lane *lane;

	snprintf(before, sizeof(before), "%s/before", dir);
	opts.folder = before;
	make_steps(true);
	write_report(&opts);
	n_rigs = 0;
	rig = next_rig(100, 1000 * MS);
	rig_region(rig, 1, CAP_REGION_HOST, "app", 0);
	rig_region(rig, 2, CAP_REGION_USER, "step", 0);
	rig_region(rig, 3, CAP_REGION_USER, "new", 0);
	lane = rig_lane(rig, 100);
	rig_enter(lane, 1, 1000 * MS);
	rig_enter(lane, 2, 1100 * MS);
	rig_leave(lane, 2, 1300 * MS);
	rig_enter(lane, 3, 1300 * MS);
	rig_leave(lane, 3, 1305 * MS);
	rig_leave(lane, 1, 3500 * MS);
	rig_end(rig, 3500 * MS);
	opts = usual();
	opts.diff_folder = before;
	write_report(&opts);
	assert_string_equal(said, "");
	expect_row("wall_clock-7.diff.txt", "|0>>> app",
		   "0 0 wall_clock sec 0.500000 0.500000 0.500000 0.500000");
	expect_row("wall_clock-7.diff.txt", "|0>>> |_step",
		   "-9 1 wall_clock sec -1.300000 0.050000 0.060000 0.040000");
	expect_row("wall_clock-7.diff.txt", "|0>>> |_new",
		   "1 1 wall_clock sec 0.005000 0.005000 0.005000 0.005000");
	expect_row("wall_clock-7.diff.txt", "|0>>>   |_launch",
		   "-100 2 wall_clock sec -0.900000 -0.009000 -0.008000 -0.010000");
	expect_row("wall_clock-7.diff.txt", "|1>>> step",
		   "-1 0 wall_clock sec -0.001000 -0.001000 -0.001000 -0.001000");
	/* Nothing to compare with is said, and does not keep the rest from being written. */
	opts.diff_folder = "/no/such";
	write_report(&opts);
	assert_non_null(strstr(said, "no difference for wall_clock: cannot open"));
}

static void earlier_reports_that_are_none_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "before.json:" },
		{ "{\"timemory\": ", "before.json:" },
		{ "[]", "has no report of 'wall_clock'" },
		{ "{\"timemory\":{\"trip_count\":{}}}", "has no report of 'wall_clock'" },
	};
	static const char odd[] =
		"{\"timemory\":{\"wall_clock\":{\"ranks\":[{\"graph\":[1,{},"
		"{\"prefix\":\"x\",\"depth\":0},{\"prefix\":\">>> y\",\"depth\":-1},"
		"{\"prefix\":\">>> z\",\"depth\":99,\"entry\":[]}]},null]}}}";
	struct prof_before *before = NULL;
	struct ws_err err;

	for (size_t i = 0; i < WS_ARRAY_LEN(bad); i++)
		assert_fails_with(prof_before_parse("before.json", ws_str_from(bad[i].text),
						    "wall_clock", &before, &err),
				  WS_E_FORMAT, &err, bad[i].why);
	assert_int_equal(prof_before_parse("before.json", ws_str_from(odd), "wall_clock", &before,
					   &err),
			 WS_OK);
	prof_before_destroy(before);
}

static void only_metadata_without_a_profile(void **state)
{
	struct prof_report_opts opts = usual();

	make_steps(false);
	opts.profile = false;
	write_report(&opts);
	assert_true(exists("metadata-7.json"));
	assert_true(exists("functions-7.json"));
	assert_false(exists("wall_clock-7.txt"));
	assert_non_null(strstr(text_of("metadata-7.json"), "\"/work \\u0022here\\u0022\""));
}

static void files_that_cannot_be_written_are_named(void **state)
{
	struct prof_report_opts opts = usual();
	struct ws_err err = { 0 };
	char line[256];

	make_steps(false);
	opts.folder = "/proc/nothing";
	assert_int_not_equal(report(&opts, &err), WS_OK);
	assert_non_null(strstr(err.text, "/proc/nothing"));
	/* One that cannot be written does not keep the others from being written. */
	snprintf(line, sizeof(line), "mkdir -p '%s/wall_clock-7.txt/x'", out_dir);
	assert_int_equal(system(line), 0);
	opts.folder = out_dir;
	assert_int_not_equal(report(&opts, &err), WS_OK);
	assert_non_null(strstr(err.text, "wall_clock-7.txt"));
	assert_true(exists("wall_clock-7.json"));
	assert_true(exists("metadata-7.json"));
}

static void no_memory_is_a_status_and_leaves_no_half_file(void **state)
{
	struct prof_report_opts opts = usual();
	static const char *const names[] = { "sampling_cpu_clock-7.txt",
					     "sampling_cpu_clock-7.json",
					     "sampling_percent-7.json",
					     "flamegraph-7.html",
					     "metadata-7.json",
					     "functions-7.json",
					     "sampling_cpu_clock-7.folded" };
	char *whole[WS_ARRAY_LEN(names)];
	struct trc_trace *trace;
	const struct trc_process *process;

	make_samples();
	opts.flame = opts.folded = true;
	write_report(&opts);
	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		assert_non_null(whole[i] = strdup(text_of(names[i])));
	trace = rig_open(rigs, 1);
	process = trc_process_at(trace, 0);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct prof_report_result result;
		struct ws_err err = { 0 };
		enum ws_status st = prof_report_write(trace, &process, 1, &opts, &result, &err);

		fail_after(-1);
		if (st)
			assert_true(err.text[0]);
		/* What is there is whole, unless it is counted as lost. */
		for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
			if (!result.n_unplaced && !st)
				assert_string_equal(text_of(names[i]), whole[i]);
		prof_report_result_fini(&result);
		assert_false(exists("sampling_cpu_clock-7.txt.part"));
		assert_false(exists("metadata-7.json.part"));
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		free(whole[i]);
	trc_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_TEST(the_table_is_amds_to_the_character),
		REPORT_TEST(threads_have_padded_numbers_and_can_be_merged),
		REPORT_TEST(ranks_are_in_the_label_or_merged),
		REPORT_TEST(numbers_are_as_the_settings_say),
		REPORT_TEST(labels_are_cut_and_cannot_write_to_a_terminal),
		REPORT_TEST(a_difference_has_the_rows_of_both_runs),
		REPORT_TEST(earlier_reports_that_are_none_are_refused),
		REPORT_TEST(only_metadata_without_a_profile),
		REPORT_TEST(files_that_cannot_be_written_are_named),
		REPORT_TEST(no_memory_is_a_status_and_leaves_no_half_file),
	};

	return RUN(tests);
}
