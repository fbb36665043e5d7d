/*
 * report_rig: reports of captures that a test makes, and their rows. For the tests of
 * profile/report.h.
 */
#ifndef WS_TESTS_PROFILE_REPORT_RIG_H
#define WS_TESTS_PROFILE_REPORT_RIG_H

#include "profile/report.h"
#include "tests/profile/rig.h"
#include "tests/unit/unit.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char dir[64], out_dir[96], said[4096];
static struct rig rigs[2];
static size_t n_rigs;

static inline int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-report-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(out_dir, sizeof(out_dir), "%s/out/new", dir);
	said[0] = '\0';
	n_rigs = 0;
	return 0;
}

static inline int drop_dir(void **state)
{
	char line[160];

	rig_stacks_clear();
	snprintf(line, sizeof(line), "rm -r '%s'", dir);
	return system(line);
}

static size_t n_written;

static inline void count_file(void *ctx, const struct prof_report_file *file)
{
	assert_int_equal(access(file->path, F_OK), 0);
	n_written++;
}

static inline void hear(void *ctx, const char *sentence)
{
	strncat(said, sentence, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

static inline struct prof_report_opts usual(void)
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

static inline struct rig *next_rig(uint32_t pid, uint64_t init_ns)
{
	rig_start(&rigs[n_rigs], dir, pid, init_ns);
	return &rigs[n_rigs++];
}

/* Writes the report of all captures. */
static inline enum ws_status report(const struct prof_report_opts *opts, struct ws_err *err)
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

static inline void write_report(const struct prof_report_opts *opts)
{
	struct ws_err err = { 0 };

	if (report(opts, &err))
		fail_msg("%s", err.text);
}

static inline bool exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", out_dir, name);
	return !access(path, F_OK);
}

/* The file, until the next call. */
static inline const char *text_of(const char *name)
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
static inline void make_steps(bool second)
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

/* The cells of the first row whose label is @label, without the blanks around them. */
struct cells {
	char at[12][64];
	size_t n;
};

static inline struct cells row_of(const char *file, const char *label)
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
static inline void expect_row(const char *file, const char *label, const char *cells)
{
	struct cells row = row_of(file, label);
	char line[512] = "";

	for (size_t i = 0; i < row.n; i++) {
		strcat(line, i ? " " : "");
		strcat(line, row.at[i]);
	}
	assert_string_equal(line, cells);
}

static inline size_t n_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static inline void make_samples(void)
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

#define REPORT_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

#endif
