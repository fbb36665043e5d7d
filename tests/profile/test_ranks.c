/* The profiles of ranks, merged from their files, are those of one report of all ranks. */
#include "profile/ranks.h"

#include "tests/profile/report_rig.h"

static const char *const tables[] = { "wall_clock", "trip_count", "sampling_wall_clock",
				      "sampling_cpu_clock", "sampling_percent" };

/* Two ranks: calls, a kernel below one of them, samples of two threads. */
static void make_ranks(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t pid = 100 + 10 * i;
		struct rig *rig = next_rig(pid, 1000 + i);
		struct cap_lane *lane = rig_lane(rig, pid), *other = rig_lane(rig, pid + 1);

		rig_stack(1, "main|f|g");
		rig_stack(2, "main|h");
		rig_region(rig, 1, CAP_REGION_USER, "work", 0);
		rig_region(rig, 2, CAP_REGION_USER, i ? "only here" : "inside", 0);
		rig_thread(rig, pid, "app", 1000, 0);
		rig_thread(rig, pid + 1, "other", 1000, 0);
		rig_operation(rig, 1, "hipLaunchKernel");
		rig_gpu(rig, "add");
		rig_enter(lane, 1, 2000);
		rig_enter(lane, 2, 3000);
		rig_leave(lane, 2, 3000 + (i + 1) * MS);
		rig_call(lane, 1, 2 * MS + 5000, 3 * MS, 7);
		rig_dispatch(lane, pid, 4 * MS, 40 * MS, 7, (struct rig_value[2]){ { 0 } });
		rig_leave(lane, 1, 50 * MS);
		rig_enter(other, 1, 2000);
		rig_leave(other, 1, 7 * MS);
		rig_sampler(rig, CAP_SAMPLER_CPU_TIME, 10 * MS);
		for (unsigned k = 1; k <= 6; k++)
			rig_sample(k % 3 ? lane : other, k <= 3 + i ? 1 : 2, CAP_SAMPLER_CPU_TIME,
				   1000 + k * 20 * MS, k * 10 * MS);
		rig_end(rig, 300 * MS);
	}
}

/* Each rank by itself, as its own front end does it. */
static void write_each(struct prof_report_opts opts)
{
	struct trc_trace *trace = rig_open(rigs, n_rigs);
	char suffix[16];

	for (size_t i = 0; i < n_rigs; i++) {
		const struct trc_process *process = trc_process_at(trace, i);
		struct prof_report_result result;
		struct ws_err err = { 0 };

		snprintf(suffix, sizeof(suffix), "-%zu", i ? (size_t)12 : (size_t)3);
		opts.suffix = suffix;
		opts.ranked = true;
		opts.job_rank = i ? 12 : 3;
		opts.job_size = 16;
		if (prof_report_write(trace, &process, 1, &opts, &result, &err))
			fail_msg("%s", err.text);
		prof_report_result_fini(&result);
	}
	trc_close(trace);
}

static unsigned n_merged;

static void count_merged(void *ctx, const char *path)
{
	assert_int_equal(access(path, F_OK), 0);
	n_merged++;
}

static enum ws_status merge(const char *name, bool collapse, struct ws_err *err)
{
	struct prof_ranks_opts opts = { .folder = out_dir,
					.collapse = collapse,
					.written = count_merged };
	char paths[2][256];
	struct prof_rank_file files[] = { { paths[0], 3 }, { paths[1], 12 } };

	snprintf(paths[0], sizeof(paths[0]), "%s/%s-3.json", out_dir, name);
	snprintf(paths[1], sizeof(paths[1]), "%s/%s-12.json", out_dir, name);
	n_merged = 0;
	return prof_ranks_write(name, files, 2, &opts, err);
}

static void merged_tables_are_those_of_one_report(void **state)
{
	static const char *const components[] = { "wall_clock", "trip_count" };
	struct prof_report_opts opts = usual();
	struct ws_err err = { 0 };

	make_ranks();
	opts.components = components;
	opts.n_components = 2;
	write_each(opts);
	opts.suffix = "-all";
	opts.ranks = (const int[]){ 3, 12 };
	for (int collapse = 0; collapse < 2; collapse++) {
		opts.collapse_processes = collapse;
		write_report(&opts);
		for (size_t i = 0; i < WS_ARRAY_LEN(tables); i++) {
			char name[64], *whole;

			if (merge(tables[i], collapse, &err))
				fail_msg("%s", err.text);
			assert_int_equal(n_merged, 2);
			snprintf(name, sizeof(name), "%s-all.txt", tables[i]);
			whole = strdup(text_of(name));
			snprintf(name, sizeof(name), "merged-%s.txt", tables[i]);
			assert_string_equal(text_of(name), whole);
			free(whole);
		}
	}
	/* The kernel is not part of the time of the call that launched it. */
	expect_row(
		"merged-wall_clock.txt", "|0>>> |_hipLaunchKernel",
		"2 1 wall_clock sec 0.001990 0.000995 0.000995 0.000995 0.000000 0.000000 100.0");
}

static void rows_carry_the_rank(void **state)
{
	struct prof_report_opts opts = usual();
	struct ws_err err = { 0 };

	make_ranks();
	write_each(opts);
	if (merge("wall_clock", false, &err))
		fail_msg("%s", err.text);
	expect_row(
		"merged-wall_clock.txt", "|12|0>>> |_only here",
		"1 1 wall_clock sec 0.002000 0.002000 0.002000 0.002000 0.000000 0.000000 100.0");
	expect_row(
		"merged-wall_clock.txt", "|03|1>>> work",
		"1 0 wall_clock sec 0.006998 0.006998 0.006998 0.006998 0.000000 0.000000 100.0");
	assert_non_null(strstr(text_of("merged-wall_clock.json"), "\"num_ranks\":2"));
	assert_non_null(strstr(text_of("merged-wall_clock.json"), "{\"rank\":12,\"graph_size\":"));
}

static void what_is_no_report_is_left_alone(void **state)
{
	struct prof_report_opts opts = usual();
	struct ws_err err = { 0 };
	struct prof_job job;
	char path[256];
	FILE *file;

	make_ranks();
	write_each(opts);
	assert_int_equal(merge("metadata", false, &err), WS_E_NOTFOUND);
	assert_int_equal(n_merged, 0);
	/* What its metadata says about a rank. */
	snprintf(path, sizeof(path), "%s/metadata-12.json", out_dir);
	assert_int_equal(prof_job_read(path, &job, &err), WS_OK);
	assert_true(job.known && job.rank == 12 && job.size == 16);
	/* Another rank's file that is cut off, or of other units. */
	snprintf(path, sizeof(path), "%s/wall_clock-12.json", out_dir);
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), 100), 0);
	fclose(file);
	assert_int_equal(merge("wall_clock", false, &err), WS_E_FORMAT);
	assert_non_null(strstr(err.text, "wall_clock-12.json:"));
	assert_false(exists("merged-wall_clock.json"));
	opts.time_unit = WS_TIME_MSEC;
	write_each(opts);
	n_rigs = 1; /* the first again, in seconds */
	opts.time_unit = WS_TIME_SEC;
	write_each(opts);
	assert_int_equal(merge("wall_clock", false, &err), WS_E_FORMAT);
	assert_non_null(strstr(err.text, "its unit is msec, that of the first is sec"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_TEST(merged_tables_are_those_of_one_report),
		REPORT_TEST(rows_carry_the_rank),
		REPORT_TEST(what_is_no_report_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
