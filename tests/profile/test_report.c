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
	st = prof_report_write(trace, processes, n_rigs, opts, &result, err);
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

#define REPORT_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_TEST(the_table_is_amds_to_the_character),
	};

	return RUN(tests);
}
