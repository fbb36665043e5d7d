/* Where the values of tables come from: samples, CPU events, metrics, GPU counters. */
#include "tests/profile/report_rig.h"

static void samples_have_four_tables(void **state)
{
	struct prof_report_opts opts = usual();

	make_samples();
	write_report(&opts);
	assert_false(exists("wall_clock-7.txt"));
	/* The first sample stands for one period. */
	expect_row("sampling_wall_clock-7.txt", "|0>>> main",
		   "10 0 sampling_wall_clock sec 0.190000 0.019000 0.010000 0.020000 0.000010 "
		   "0.003162 0.0");
	expect_row("sampling_cpu_clock-7.txt", "|0>>> |_f",
		   "8 1 sampling_cpu_clock sec 0.080000 0.010000 0.010000 0.010000 0.000000 "
		   "0.000000 37.5");
	expect_row("sampling_cpu_clock-7.txt", "|0>>>   |_g",
		   "5 2 sampling_cpu_clock sec 0.050000 0.010000 0.010000 0.010000 0.000000 "
		   "0.000000 100.0");
	/* 50 % in g, 30 % in f itself; h calls itself and counts once. */
	expect_row("sampling_percent-7.txt", "|0>>> main",
		   "10 0 sampling_percent % 100.000 10.000 10.000 10.000 0.000 0.000 0.0");
	expect_row("sampling_percent-7.txt", "|0>>> f",
		   "8 0 sampling_percent % 80.000 10.000 10.000 10.000 0.000 0.000 37.5");
	expect_row("sampling_percent-7.txt", "|0>>> g",
		   "5 0 sampling_percent % 50.000 10.000 10.000 10.000 0.000 0.000 100.0");
	expect_row("sampling_percent-7.txt", "|0>>> h",
		   "2 0 sampling_percent % 20.000 10.000 10.000 10.000 0.000 0.000 100.0");
	expect_row("trip_count-7.txt", "|0>>>   |_h", "2 2 trip_count 2");
	assert_non_null(
		strstr(text_of("trip_count-7.txt"), "| COUNT  | DEPTH  |   METRIC   |  SUM   |"));
}

static void late_samples_count_their_periods(void **state)
{
	struct prof_report_opts opts = usual();
	struct rig *rig = next_rig(100, 1000);
	struct cap_lane *lane = rig_lane(rig, 100);

	rig_stack(1, "main|f");
	rig_stack(2, "main|g");
	rig_thread(rig, 100, "app", 1000, 0);
	rig_sampler(rig, CAP_SAMPLER_CPU_TIME, 10 * MS);
	rig_sampler(rig, CAP_SAMPLER_REAL_TIME, 10 * MS);
	rig_sample(lane, 1, CAP_SAMPLER_CPU_TIME, 10 * MS, 10 * MS);
	rig_late_sample(lane, 2, CAP_SAMPLER_CPU_TIME, 40 * MS, 40 * MS, 2);
	rig_sample(lane, 1, CAP_SAMPLER_REAL_TIME, 41 * MS, 41 * MS); /* of the other clock */
	rig_end(rig, 300 * MS);
	write_report(&opts);
	expect_row("sampling_percent-7.txt", "|0>>> f",
		   "1 0 sampling_percent % 25.000 25.000 25.000 25.000 0.000 0.000 100.0");
	expect_row("sampling_percent-7.txt", "|0>>> g",
		   "1 0 sampling_percent % 75.000 75.000 75.000 75.000 0.000 0.000 100.0");
	expect_row("sampling_cpu_clock-7.txt", "|0>>> |_g",
		   "1 1 sampling_cpu_clock sec 0.030000 0.030000 0.030000 0.030000 0.000000 "
		   "0.000000 100.0");
	expect_row("trip_count-7.txt", "|0>>> |_f", "2 1 trip_count 2");
}

static void folded_stacks_are_counted(void **state)
{
	struct prof_report_opts opts = usual();

	make_samples();
	opts.folded = true;
	write_report(&opts);
	assert_string_equal(text_of("sampling_cpu_clock-7.folded"),
			    "app (100);main;f 3\napp (100);main;f;g 5\napp (100);main;h;h 2\n");
	assert_false(exists("sampling_wall_clock-7.folded"));
}

static void cpu_events_are_counted_between_samples(void **state)
{
	static const char *const components[] = { "papi_vector", "wall_clock", "thread_cpu_clock",
						  "thread_cpu_util" };
	struct prof_report_opts opts = usual();
	struct rig *rig = next_rig(100, 1000);
	struct cap_lane *lane = rig_lane(rig, 100), *other = rig_lane(rig, 101);

	rig_stack(1, "main|f");
	rig_stack(2, "main|g");
	rig_thread(rig, 100, "app", 1000, 0);
	rig_thread(rig, 101, "", 1000, 0);
	rig_counting_sampler(rig, CAP_SAMPLER_CPU_TIME, 10 * MS, "perf::INSTRUCTIONS");
	rig_count_sample(lane, 1, CAP_SAMPLER_CPU_TIME, 10 * MS, 8 * MS, 500);
	rig_count_sample(lane, 2, CAP_SAMPLER_CPU_TIME, 20 * MS, 16 * MS, 700);
	rig_count_sample(lane, 1, CAP_SAMPLER_CPU_TIME, 30 * MS, 24 * MS, 1700);
	rig_sample(other, 1, CAP_SAMPLER_CPU_TIME, 30 * MS, 5 * MS); /* without counts */
	rig_end(rig, 300 * MS);
	opts.components = components;
	opts.n_components = WS_ARRAY_LEN(components);
	write_report(&opts);
	expect_row("sampling_perf_INSTRUCTIONS-7.txt", "|0>>> main",
		   "3 0 perf::INSTRUCTIONS count 1700 567 200 1000 163333 404 0.0");
	expect_row("sampling_perf_INSTRUCTIONS-7.txt", "|0>>> |_f",
		   "2 1 perf::INSTRUCTIONS count 1500 750 500 1000 125000 354 100.0");
	expect_row("sampling_perf_INSTRUCTIONS-7.txt", "|0>>> |_g",
		   "1 1 perf::INSTRUCTIONS count 200 200 200 200 0 0 100.0");
	expect_row("thread_cpu_clock-7.txt", "|0>>> app",
		   "1 0 thread_cpu_clock sec 0.024000 0.024000 0.024000 0.024000 0.000000 0.000000 "
		   "100.0");
	expect_row("thread_cpu_clock-7.txt", "|1>>> app",
		   "1 0 thread_cpu_clock sec 0.005000 0.005000 0.005000 0.005000 0.000000 0.000000 "
		   "100.0");
	expect_row("thread_cpu_util-7.txt", "|0>>> app",
		   "1 0 thread_cpu_util % 80.0 80.0 80.0 80.0 0.0 0.0 100.0");
	assert_string_equal(said, "");
	for (size_t i = 0; i < WS_ARRAY_LEN(components); i++)
		assert_true(prof_report_has_component(components[i]));
	assert_true(prof_report_has_component("peak_rss"));
	assert_false(prof_report_has_component("network_stats"));
	assert_false(prof_report_has_component(""));
}

static void calls_and_samples_share_the_trip_count(void **state)
{
	struct prof_report_opts opts = usual();

	make_steps(true);
	opts.components = (const char *[]){ "wall_clock", "trip_count" };
	opts.n_components = 2;
	write_report(&opts);
	expect_row("trip_count-7.txt", "|0>>>   |_launch", "100 2 trip_count 100");
	expect_row("trip_count-7.txt", "|1>>> step", "1 0 trip_count 1");
	expect_row(
		"wall_clock-7.txt", "|1>>> step",
		"1 0 wall_clock sec 0.001000 0.001000 0.001000 0.001000 0.000000 0.000000 100.0");
	assert_int_equal(n_lines(text_of("trip_count-7.txt")), 6 + 4);
}

static void metrics_are_summed_up(void **state)
{
	static const char *const components[] = { "peak_rss",   "cpu_clock",   "cpu_util",
						  "user_clock", "papi_vector", "sampling_percent" };
	struct prof_report_opts opts = usual();
	struct rig *rig = next_rig(100, 1000);
	struct cap_lane *lane = rig_lane(rig, 300);

	rig_metric(rig, 1, CAP_METRIC_DEVICE_POWER, "GPU Current Power [0] (S)", "watts");
	rig_metric(rig, 2, CAP_METRIC_DEVICE_POWER, "GPU Current Power [1] (S)", "watts");
	rig_metric(rig, 3, CAP_METRIC_PROCESS_MEMORY_HWM, "CPU Peak Memory (S)", "MB");
	rig_metric(rig, 4, CAP_METRIC_PROCESS_USER_CPU_TIME, "CPU User Time (S)", "sec");
	rig_metric(rig, 5, CAP_METRIC_PROCESS_KERNEL_CPU_TIME, "CPU Kernel Time (S)", "sec");
	rig_thread(rig, 100, "", 1000, 0);
	rig_read_metric(lane, 1, 2000, 100);
	rig_read_metric(lane, 1, 3000, 300);
	rig_read_metric(lane, 2, 3000, 50);
	rig_read_metric(lane, 3, 3000, 12.5);
	rig_read_metric(lane, 4, 3000, 0.25);
	rig_read_metric(lane, 5, 3000, 0.05);
	rig_read_metric(lane, 4, 4000, 0.5);
	rig_read_metric(lane, 5, 4000, 0.1);
	rig_read_metric(lane, 77, 4000, 1); /* of no metric */
	rig_end(rig, 1000 + 1000 * MS);
	opts.components = (const char *const *)components;
	opts.n_components = WS_ARRAY_LEN(components);
	write_report(&opts);
	expect_row(
		"sampling_gpu_power-7.txt", "|0>>> GPU Current Power [0] (S)",
		"2 0 sampling_gpu_power watts 400.00 200.00 100.00 300.00 20000.00 141.42 100.0");
	expect_row("sampling_gpu_power-7.txt", "|0>>> GPU Current Power [1] (S)",
		   "1 0 sampling_gpu_power watts 50.00 50.00 50.00 50.00 0.00 0.00 100.0");
	expect_row("peak_rss-7.txt", "|0>>> app",
		   "1 0 peak_rss MB 12.500 12.500 12.500 12.500 0.000 0.000 100.0");
	expect_row("cpu_clock-7.txt", "|0>>> app",
		   "1 0 cpu_clock sec 0.600000 0.600000 0.600000 0.600000 0.000000 0.000000 100.0");
	expect_row(
		"user_clock-7.txt", "|0>>> app",
		"1 0 user_clock sec 0.500000 0.500000 0.500000 0.500000 0.000000 0.000000 100.0");
	expect_row("cpu_util-7.txt", "|0>>> app",
		   "1 0 cpu_util % 60.0 60.0 60.0 60.0 0.0 0.0 100.0");
	assert_string_equal(said,
			    "component 'papi_vector' is left out: the recording has no values "
			    "for it\n");
	assert_false(exists("papi_vector-7.txt"));
}

static void counters_have_a_table_per_device(void **state)
{
	/* clang-format off */
	static const char wrapped[] =
"|  NUMBER OF WAVES SENT TO THE SHADER UNITS, OF ALL SHADER ENGINES AND ALL KINDS OF WORK, SINCE THE START |\n"
"|                                         OF THE DISPATCH, IN WAVES                                       |\n";
	/* clang-format on */
	struct prof_report_opts opts = usual();
	struct rig *rig = next_rig(100, 1000);
	struct cap_lane *lane = rig_lane(rig, 300);

	rig_gpu(rig, "gemm.kd");
	rig_counter(rig, 1, "SQ_WAVES",
		    "Number of waves sent to the shader units, of all shader engines and all "
		    "kinds of work, since the start of the dispatch, in waves");
	rig_counter(rig, 2, "TCC_HIT[3]", "");
	rig_thread(rig, 100, "", 1000, 0);
	/* Two instances of one counter are one value. */
	rig_dispatch(lane, 100, 2000, 2100, 1, (struct rig_value[]){ { 1, 10 }, { 1, 20 } });
	rig_dispatch(lane, 100, 3000, 3100, 2, (struct rig_value[]){ { 1, 50 }, { 2, 7 } });
	rig_end(rig, 9 * MS);
	write_report(&opts);
	expect_row("rocprof-device-0-SQ_WAVES-7.txt", "|0>>> gemm",
		   "2 SQ_WAVES 80.000000 40.000000 30.000000 50.000000 200.000000 14.142136");
	expect_row("rocprof-device-0-TCC_HIT_3-7.txt", "|0>>> gemm",
		   "1 TCC_HIT[3] 7.000000 7.000000 7.000000 7.000000 0.000000 0.000000");
	assert_null(strstr(text_of("rocprof-device-0-SQ_WAVES-7.txt"), "DEPTH"));
	/* A description that is wider than the table has several lines. */
	assert_non_null(strstr(text_of("rocprof-device-0-SQ_WAVES-7.txt"), wrapped));
	assert_non_null(strstr(text_of("rocprof-device-0-TCC_HIT_3-7.txt"), " TCC_HIT[3] "));
	assert_null(strstr(text_of("rocprof-device-0-SQ_WAVES-7.txt"), "SELF"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_TEST(samples_have_four_tables),
		REPORT_TEST(late_samples_count_their_periods),
		REPORT_TEST(folded_stacks_are_counted),
		REPORT_TEST(cpu_events_are_counted_between_samples),
		REPORT_TEST(calls_and_samples_share_the_trip_count),
		REPORT_TEST(metrics_are_summed_up),
		REPORT_TEST(counters_have_a_table_per_device),
	};

	return RUN(tests);
}
