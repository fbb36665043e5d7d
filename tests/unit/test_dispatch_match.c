/*
 * One identity of a dispatch: what two runs have in common is the same whether their captures
 * are joined, their files are read, numbered or counted, or launches take turns.
 */
#include "counters/plan.h"
#include "tests/unit/made_run.h"
#include "tests/unit/unit.h"
#include "trace/counted.h"
#include "workload/match.h"
#include "workload/names.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one instance each. */
#define FIRST "GRBM_COUNT"
#define SECOND "GRBM_GUI_ACTIVE"

static char dir[64];
static struct cnt_catalogue *cat;
static struct cnt_plan *plan; /* two passes, a counter each */
static struct ws_arena arena;
static struct wl_sheets sheets;

static int set_up(void **state)
{
	static const char *const first[] = { FIRST }, *const second[] = { SECOND };
	const struct cnt_plan_group groups[] = { { first, 1 }, { second, 1 } };
	static const struct wl_want wants[] = { { FIRST, false }, { SECOND, false } };
	struct ws_err err;

	strcpy(dir, "/tmp/ws-match-XXXXXX");
	ws_arena_init(&arena, 64 << 20);
	if (!mkdtemp(dir) || cnt_catalogue_create_typical("gfx90a", &cat, &err) ||
	    cnt_plan_make(cat, groups, 2, CNT_PLAN_FIXED, &plan, &err) ||
	    wl_sheets_make(plan, wants, 2, 0, &arena, &sheets, &err))
		return -1;
	return plan->n_passes == 2 && sheets.n == 2 ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	cnt_plan_destroy(plan);
	cnt_catalogue_destroy(cat);
	ws_arena_fini(&arena);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* ---- which values belong together ---- */

struct pairs {
	struct {
		double first, second;
	} at[16];
	size_t n;
};

static int by_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void add_pair(struct pairs *pairs, double first, double second)
{
	if (isnan(first) || isnan(second))
		return;
	assert_true(pairs->n < 16);
	pairs->at[pairs->n].first = first;
	pairs->at[pairs->n++].second = second;
	qsort(pairs->at, pairs->n, sizeof(pairs->at[0]), by_first);
}

static void assert_same(const struct pairs *a, const struct pairs *b, const char *what)
{
	if (a->n != b->n)
		fail_msg("%s: %zu matches, not %zu", what, b->n, a->n);
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].first != b->at[i].first || a->at[i].second != b->at[i].second)
			fail_msg("%s: %g is with %g, not with %g", what, b->at[i].first,
				 b->at[i].second, a->at[i].second);
}

/* ---- the ways ---- */

static struct trc_counted *table_of(const char *const *paths, size_t n)
{
	struct trc_trace *runs[2];
	struct trc_counted *table = NULL;
	struct ws_err err = { 0 };

	for (size_t i = 0; i < n; i++)
		runs[i] = made_run_open(&paths[i], 1);
	if (trc_counted_open(runs, n, &table, &err))
		fail_msg("%s", err.text);
	return table;
}

static double value(const struct trc_counted *table, size_t row, const char *counter)
{
	return trc_counted_cells(table, row)[trc_counted_find(table, counter)->first];
}

static struct pairs join_captures(const char *const *paths)
{
	struct trc_counted *table = table_of(paths, 2);
	struct pairs pairs = { .n = 0 };

	for (size_t i = 0; i < trc_counted_n_rows(table); i++)
		add_pair(&pairs, value(table, i, FIRST), value(table, i, SECOND));
	trc_counted_close(table);
	return pairs;
}

static void write_sysinfo(const char *folder, const char *config)
{
	char path[160];
	FILE *file;

	mkdir(folder, 0777);
	snprintf(path, sizeof(path), "%s/%s", folder, WL_FILE_SYSINFO);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("gpu_arch\ngfx90a\n", file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/%s", folder, WL_FILE_CONFIG);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(config, file);
	fclose(file);
}

/* A file per run, as profile writes them. */
static void write_passes(const char *const *paths, bool long_form, const char *folder,
			 const char *files[2])
{
	write_sysinfo(folder, "join_type: grid\n");
	for (size_t run = 0; run < 2; run++) {
		struct trc_counted *table = table_of(&paths[run], 1);
		struct wl_sheet_rows rows = { .from = NULL };
		struct ws_err err = { 0 };
		enum ws_status st = WS_OK;

		files[run] = wl_pass_file(sheets.at[run].name, run, long_form, &arena);
		if (run && long_form)
			st = wl_number_rows(folder, files[0], table, TRC_ALIKE_GRID, &arena,
					    &rows.number, &err);
		if (!st)
			st = (long_form ? wl_sheet_write_long : wl_sheet_write_csv)(
				&sheets, &sheets.at[run], table, &rows, folder, files[run], &err);
		if (st)
			fail_msg("%s", err.text);
		trc_counted_close(table);
	}
}

static struct pairs read_folder(const char *folder)
{
	const struct wl_column *first, *second;
	struct wl_workload *load = NULL;
	struct pairs pairs = { .n = 0 };
	struct ws_err err = { 0 };

	if (wl_workload_open(folder, NULL, &load, &err))
		fail_msg("%s", err.text);
	first = wl_frame_column(load->frames[0], FIRST);
	second = wl_frame_column(load->frames[0], SECOND);
	assert_true(first && second);
	for (size_t i = 0; i < load->n_rows; i++)
		add_pair(&pairs, first->at[i], second->at[i]);
	wl_workload_close(load);
	return pairs;
}

static size_t count_matched(const char *folder, const char *const files[2])
{
	struct wl_tally tally;
	struct ws_err err = { 0 };

	if (wl_tally(folder, files, 2, TRC_ALIKE_GRID, &arena, &tally, &err))
		fail_msg("%s", err.text);
	return tally.n_matched;
}

static void make_runs(const struct made_launch *first, const struct made_launch *second,
		      const char *paths[2])
{
	paths[0] = made_process(dir, 0, 10, "a", (const char *[]){ FIRST, NULL }, first);
	paths[1] = made_process(dir, 1, 77, "a", (const char *[]){ SECOND, NULL }, second);
}

/* Either form, read and counted. */
static void check_files(const char *const *paths, const struct pairs *expected)
{
	char folder[128], command[160];
	const char *files[2];

	snprintf(folder, sizeof(folder), "%s/profile", dir);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	for (int long_form = 0; long_form < 2; long_form++) {
		const char *what = long_form ? "the long form" : "the wide form";
		struct pairs read;

		assert_int_equal(system(command), 0);
		write_passes(paths, long_form, folder, files);
		read = read_folder(folder);
		assert_same(expected, &read, what);
		if (count_matched(folder, files) != expected->n)
			fail_msg("%s: profile counts %zu matches", what,
				 count_matched(folder, files));
	}
}

/* All of them, on the same two runs; a value and ten times that value belong together. */
static void check(const struct made_launch *first, const struct made_launch *second,
		  size_t n_expected)
{
	const char *paths[2];
	struct pairs joined;

	make_runs(first, second, paths);
	joined = join_captures(paths);
	assert_int_equal(joined.n, n_expected);
	for (size_t i = 0; i < joined.n; i++)
		assert_true(joined.at[i].second == 10 * joined.at[i].first);
	check_files(paths, &joined);
}

/* ---- what is to hold ---- */

static void order_and_ids_do_not_matter(void **state)
{
	check((struct made_launch[]){ { 1, 64, 1, 1, .single = true },
				      { 2, 64, 2, 2, .single = true },
				      { 1, 64, 3, 3, .single = true },
				      { 0 } },
	      (struct made_launch[]){ { 2, 64, 20, 41, .single = true },
				      { 1, 64, 10, 52, .single = true },
				      { 1, 64, 30, 63, .single = true },
				      { 0 } },
	      3);
}

static void launches_of_other_sizes_are_others(void **state)
{
	check((struct made_launch[]){ { 1, 64, 1, 1, .single = true },
				      { 1, 128, 2, 2, .single = true },
				      { 1, 64, 3, 3, .single = true },
				      { 0 } },
	      (struct made_launch[]){ { 1, 128, 20, 1, .single = true },
				      { 1, 64, 10, 2, .single = true },
				      { 1, 64, 30, 3, .single = true },
				      { 0 } },
	      3);
}

static void template_arguments_are_part_of_the_name(void **state)
{
	check((struct made_launch[]){ { 3, 64, 1, 1, .single = true },
				      { 4, 64, 2, 2, .single = true },
				      { 3, 64, 3, 3, .single = true },
				      { 0 } },
	      (struct made_launch[]){ { 4, 64, 20, 1, .single = true },
				      { 3, 64, 10, 2, .single = true },
				      { 3, 64, 30, 3, .single = true },
				      { 0 } },
	      3);
}

static void dispatches_that_one_run_lacks_are_left_out(void **state)
{
	check((struct made_launch[]){ { 1, 64, 1, 1, .single = true },
				      { 1, 64, 2, 2, .single = true },
				      { 2, 64, 3, 3, .single = true },
				      { 1, 96, 4, 4, .single = true },
				      { 0 } },
	      (struct made_launch[]){ { 2, 64, 30, 1, .single = true },
				      { 2, 64, 99, 2, .single = true },
				      { 1, 64, 10, 3, .single = true },
				      { 1, 32, 98, 4, .single = true },
				      { 0 } },
	      2);
}

/* --join-type grid says so: profile must not refuse what analyze joins, in either form. */
static void files_are_joined_whatever_workgroup_and_lds_are(void **state)
{
	const struct pairs expected = { { { 1, 10 }, { 2, 20 } }, 2 };
	const char *paths[2];

	make_runs((struct made_launch[]){ { 1, 256, 1, 1, 64, 0, .single = true },
					  { 1, 256, 2, 2, 64, 512, .single = true },
					  { 0 } },
		  (struct made_launch[]){ { 1, 256, 10, 1, 128, 0, .single = true },
					  { 1, 256, 20, 2, 64, 1024, .single = true },
					  { 0 } },
		  paths);
	check_files(paths, &expected);
}

/*
 * One launch, one pass; the other pass' value comes from the next of the same kind. Profile
 * fills it from the capture, analyze from a file with holes.
 */
static void launches_that_take_turns_are_grouped_alike(void **state)
{
	static const struct made_launch turns[] = {
		{ 1, 64, 1, 1, .single = true },
		{ 3, 64, 2, 2, .single = true },
		{ 4, 64, 3, 3, .single = true },
		{ 1, 64, 10, 4, .counter = 1, .single = true },
		{ 4, 64, 30, 5, .counter = 1, .single = true },
		{ 1, 128, 4, 6, .single = true },
		{ 3, 64, 20, 7, .counter = 1, .single = true },
		{ 1, 128, 40, 8, .counter = 1, .single = true },
		{ 0 },
	};
	const char *paths[] = { made_process(dir, 0, 10, "a",
					     (const char *[]){ FIRST, SECOND, NULL }, turns) };
	struct trc_counted *table = table_of(paths, 1);
	struct pairs filled = { .n = 0 }, read;
	struct wl_multiplexed made;
	struct ws_err err = { 0 };
	char folder[128], path[160];
	FILE *file;

	if (wl_multiplex_rows(plan, table, TRC_ALIKE_LAUNCH, &arena, &made, &err))
		fail_msg("%s", err.text);
	assert_int_equal(made.n_too_few, 0);
	snprintf(folder, sizeof(folder), "%s/turns", dir);
	write_sysinfo(folder, "iteration_multiplexing: kernel_launch_params\n");
	snprintf(path, sizeof(path), "%s/%s", folder, WL_FILE_MERGED);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(WL_COL_DISPATCH "," WL_COL_KERNEL "," WL_COL_GRID "," WL_COL_WORKGROUP "," WL_COL_LDS
			      "," FIRST "," SECOND "\n",
	      file);
	for (size_t i = 0; i < trc_counted_n_rows(table); i++) {
		const struct trc_counted_row *row = trc_counted_row(table, i);
		bool second = isnan(value(table, i, FIRST));

		add_pair(&filled, value(table, made.from[i * 2], FIRST),
			 value(table, made.from[i * 2 + 1], SECOND));
		fprintf(file, "%zu,\"%s\",%u,%u,%u,", i, row->kernel->formatted, row->grid[0],
			row->workgroup[0], row->group_bytes);
		fprintf(file, second ? ",%g\n" : "%g,\n", value(table, i, second ? SECOND : FIRST));
	}
	fclose(file);
	trc_counted_close(table);
	assert_int_equal(filled.n, 8);
	for (size_t i = 0; i < filled.n; i++)
		assert_true(filled.at[i].second == 10 * filled.at[i].first);
	read = read_folder(folder);
	assert_same(&filled, &read, "a file with holes");
}

/* ---- the rule itself ---- */

static uint32_t kind_of(struct trc_match *match, struct trc_launch launch)
{
	struct ws_err err = { 0 };
	uint32_t kind;

	if (trc_match_kind(match, &launch, &kind, &err))
		fail_msg("%s", err.text);
	return kind;
}

static void each_rule_compares_what_it_says(void **state)
{
	static const struct {
		struct trc_launch launch;
		bool same[3]; /* as the first: by kernel, by grid, by launch */
	} cases[] = {
		{ { .kernel = 7, .grid = { 64, 2, 1 }, .workgroup = { 64, 1, 1 } }, { 1, 1, 1 } },
		{ { .kernel = 7, .grid = { 2, 64, 1 }, .workgroup = { 64, 1, 1 } }, { 1, 1, 0 } },
		{ { .kernel = 7, .grid = { 128 }, .workgroup = { 64 } }, { 1, 1, 0 } },
		{ { .kernel = 7, .grid = { 64, 2, 1 }, .workgroup = { 32, 1, 1 } }, { 1, 1, 0 } },
		{ { .kernel = 7,
		    .grid = { 64, 2, 1 },
		    .workgroup = { 64, 1, 1 },
		    .group_bytes = 8 },
		  { 1, 1, 0 } },
		{ { .kernel = 7, .grid = { 64, 1, 1 }, .workgroup = { 64, 1, 1 } }, { 1, 0, 0 } },
		{ { .kernel = 8, .grid = { 64, 2, 1 }, .workgroup = { 64, 1, 1 } }, { 0, 0, 0 } },
		{ { .kernel = 7, .gpu = 1, .grid = { 64, 2, 1 }, .workgroup = { 64, 1, 1 } },
		  { 0, 0, 0 } },
		{ { .kernel = 7, .process = 1, .grid = { 64, 2, 1 }, .workgroup = { 64, 1, 1 } },
		  { 0, 0, 0 } },
	};

	for (int rule = TRC_ALIKE_KERNEL; rule <= TRC_ALIKE_LAUNCH; rule++) {
		struct trc_match match;

		trc_match_init(&match, (enum trc_alike)rule);
		for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
			bool same = kind_of(&match, cases[i].launch) == 0;

			if (same != cases[i].same[rule])
				fail_msg("rule %d, case %zu", rule, i);
		}
		trc_match_fini(&match);
	}
}

static void rows_are_taken_in_order_and_once(void **state)
{
	const struct trc_launch a = { .kernel = 1 }, b = { .kernel = 2 };
	struct trc_match match;
	struct ws_err err = { 0 };

	trc_match_init(&match, TRC_ALIKE_KERNEL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(trc_match_add(&match, kind_of(&match, a), &err), WS_OK);
		assert_int_equal(trc_match_add(&match, kind_of(&match, b), &err), WS_OK);
	}
	for (int pass = 0; pass < 2; pass++) {
		trc_match_rewind(&match);
		assert_int_equal(trc_match_take(&match, kind_of(&match, b)), 1);
		assert_int_equal(trc_match_take(&match, kind_of(&match, a)), 0);
		assert_int_equal(trc_match_take(&match, kind_of(&match, a)), 2);
		assert_true(trc_match_take(&match, kind_of(&match, a)) == TRC_NO_ROW);
		assert_int_equal(trc_match_take(&match, kind_of(&match, b)), 3);
	}
	trc_match_fini(&match);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_compares_what_it_says),
		cmocka_unit_test(rows_are_taken_in_order_and_once),
		cmocka_unit_test(order_and_ids_do_not_matter),
		cmocka_unit_test(launches_of_other_sizes_are_others),
		cmocka_unit_test(template_arguments_are_part_of_the_name),
		cmocka_unit_test(dispatches_that_one_run_lacks_are_left_out),
		cmocka_unit_test(files_are_joined_whatever_workgroup_and_lds_are),
		cmocka_unit_test(launches_that_take_turns_are_grouped_alike),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
