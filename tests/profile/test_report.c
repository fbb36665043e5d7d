#include "profile/report.h"
#include "profile/report_priv.h"
#include "tests/profile/rig.h"
#include "tests/unit/unit.h"

#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], out_dir[96], said[4096];
static struct rig rigs[2];
static size_t n_rigs;

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-report-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(out_dir, sizeof(out_dir), "%s/out/new", dir);
	said[0] = '\0';
	n_rigs = 0;
	return 0;
}

static int drop_dir(void **state)
{
	char line[160];

	rig_stacks_clear();
	snprintf(line, sizeof(line), "rm -r '%s'", dir);
	return system(line);
}

static size_t n_written;

static void count_file(void *ctx, const struct prof_report_file *file)
{
	assert_int_equal(access(file->path, F_OK), 0);
	n_written++;
}

static void hear(void *ctx, const char *sentence)
{
	strncat(said, sentence, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

static struct prof_report_opts usual(void)
{
	struct prof_report_opts opts;

	prof_report_opts_init(&opts);
	opts.folder = out_dir;
	opts.suffix = "-7";
	opts.say = hear;
	opts.written = count_file;
	n_written = 0;
	return opts;
}

static struct rig *next_rig(uint32_t pid, uint64_t init_ns)
{
	rig_start(&rigs[n_rigs], dir, pid, init_ns);
	return &rigs[n_rigs++];
}

/* Writes the report of all captures. */
static enum ws_status report(const struct prof_report_opts *opts, struct ws_err *err)
{
	struct trc_trace *trace = rig_open(rigs, n_rigs);
	const struct trc_process *processes[2];
	struct prof_report_result result;
	enum ws_status st;

	for (size_t i = 0; i < n_rigs; i++)
		processes[i] = trc_process_at(trace, i);
	n_written = 0;
	st = prof_report_write(trace, processes, n_rigs, opts, &result, err);
	assert_int_equal(result.n_files, n_written);
	prof_report_result_fini(&result);
	trc_close(trace);
	return st;
}

static void write_report(const struct prof_report_opts *opts)
{
	struct ws_err err = { 0 };

	if (report(opts, &err))
		fail_msg("%s", err.text);
}

static bool exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", out_dir, name);
	return !access(path, F_OK);
}

/* The file, until the next call. */
static const char *text_of(const char *name)
{
	static struct ws_buf text;
	char path[256];
	struct ws_err err = { 0 };

	if (!text.max_n)
		ws_buf_init(&text, 1 << 24);
	ws_buf_clear(&text);
	snprintf(path, sizeof(path), "%s/%s", out_dir, name);
	if (ws_file_read(path, &text, &err))
		fail_msg("%s", err.text);
	return text.at;
}

#define MS 1000000ull

/*
 * app: 2 s, 10 steps of 140, 160 and 150 ms, in each 10 launches of 8 or 10 ms; one step in
 * another thread when @second.
 */
static void make_steps(bool second)
{
	struct rig *rig = next_rig(100, 1000 * MS);
	struct cap_lane *lane;
	uint64_t at = 1000 * MS;

	rig_region(rig, 1, CAP_REGION_HOST, "app", 0);
	rig_region(rig, 2, CAP_REGION_USER, "step", 0);
	rig_region(rig, 3, CAP_REGION_USER, "launch", 0);
	rig_thread(rig, 100, "app", 1000 * MS, 0);
	lane = rig_lane(rig, 100);
	rig_enter(lane, 1, at);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t step = (i == 0 ? 140 : i == 1 ? 160 : 150) * MS, inner = at + 2 * MS;

		rig_enter(lane, 2, ++at);
		for (unsigned k = 0; k < 10; k++) {
			rig_enter(lane, 3, inner);
			rig_leave(lane, 3, inner += (k % 2 ? 8 : 10) * MS);
			inner++;
		}
		rig_leave(lane, 2, at += step);
	}
	rig_leave(lane, 1, 3000 * MS);
	if (second) {
		rig_thread(rig, 101, "worker", 1000 * MS, 0);
		lane = rig_lane(rig, 101);
		rig_enter(lane, 2, 1000 * MS);
		rig_leave(lane, 2, 1001 * MS);
	}
	rig_end(rig, 3000 * MS);
}

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

/* The cells of the first row whose label is @label, without the blanks around them. */
struct cells {
	char at[12][64];
	size_t n;
};

static struct cells row_of(const char *file, const char *label)
{
	struct ws_str rest = ws_str_from(text_of(file)), line;
	struct cells cells = { 0 };
	size_t n = strlen(label);

	while (ws_str_next(&rest, '\n', &line)) {
		if (line.n < n + 3 || strncmp(line.at + 2, label, n) || line.at[2 + n] != ' ' ||
		    !strchr(" |", line.at[3 + n]))
			continue;
		line.at += 2 + n;
		line.n -= 2 + n;
		while (ws_str_next(&line, '|', &(struct ws_str){ 0 }))
			break;
		while (line.n && cells.n < 12) {
			struct ws_str cell;

			ws_str_next(&line, '|', &cell);
			cell = ws_str_trim(cell);
			snprintf(cells.at[cells.n++], sizeof(cells.at[0]), "%.*s",
				 WS_STR_ARGS(cell));
		}
		return cells;
	}
	fail_msg("no row '%s' in\n%s", label, text_of(file));
	return cells;
}

/* All cells after the label, separated by blanks. */
static void expect_row(const char *file, const char *label, const char *cells)
{
	struct cells row = row_of(file, label);
	char line[512] = "";

	for (size_t i = 0; i < row.n; i++) {
		strcat(line, i ? " " : "");
		strcat(line, row.at[i]);
	}
	assert_string_equal(line, cells);
}

static size_t n_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
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

static void make_samples(void)
{
	struct rig *rig = next_rig(100, 1000);
	struct cap_lane *lane = rig_lane(rig, 100);

	rig_stack(1, "main|f|g");
	rig_stack(2, "main|f");
	rig_stack(3, "main|h|h");
	rig_thread(rig, 100, "app", 1000, 0);
	rig_sampler(rig, CAP_SAMPLER_CPU_TIME, 10 * MS);
	for (unsigned i = 1; i <= 10; i++)
		rig_sample(lane,
			   i <= 5   ? 1
			   : i <= 8 ? 2
				    : 3,
			   CAP_SAMPLER_CPU_TIME, 1000 + i * 20 * MS, i * 10 * MS);
	rig_end(rig, 300 * MS);
}

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

#define REPORT_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_TEST(the_table_is_amds_to_the_character),
		REPORT_TEST(threads_have_padded_numbers_and_can_be_merged),
		REPORT_TEST(ranks_are_in_the_label_or_merged),
		REPORT_TEST(numbers_are_as_the_settings_say),
		REPORT_TEST(labels_are_cut_and_cannot_write_to_a_terminal),
		REPORT_TEST(samples_have_four_tables),
		REPORT_TEST(late_samples_count_their_periods),
		REPORT_TEST(folded_stacks_are_counted),
		REPORT_TEST(cpu_events_are_counted_between_samples),
		REPORT_TEST(calls_and_samples_share_the_trip_count),
		REPORT_TEST(metrics_are_summed_up),
		REPORT_TEST(counters_have_a_table_per_device),
		REPORT_TEST(a_difference_has_the_rows_of_both_runs),
		REPORT_TEST(earlier_reports_that_are_none_are_refused),
		REPORT_TEST(only_metadata_without_a_profile),
		REPORT_TEST(files_that_cannot_be_written_are_named),
		REPORT_TEST(no_memory_is_a_status_and_leaves_no_half_file),
	};

	return RUN(tests);
}
