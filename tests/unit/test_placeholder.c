#include "base/util.h"
#include "launch/placeholder.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = { "./bin/app", "-n", "data/in.txt", "../up" };
static const char *const env[] = { "USER=ann",    "DEEP=/a b/c\td",         "SELF=%env{SELF}%x",
				   "ROUND=%pid%", "ROCPROF_TIME_FORMAT=%Y", NULL };

static struct launch_place place(void)
{
	struct launch_place p = {
		.argv = words,
		.n_argv = WS_ARRAY_LEN(words),
		.hostname = "node7",
		.cwd = "/work",
		.pid = 42,
		.ppid = 41,
		.pgid = 40,
		.psid = 39,
		.n_siblings = 3,
		.launched = 1700000000,
		.env = launch_lookup_list(env),
		.rank = { .known = true, .rank = 2, .size = 8, .job = 77 },
	};

	return p;
}

static void expect(const struct launch_place *p, const char *text, const char *wanted)
{
	struct ws_buf out;
	struct ws_err err;

	ws_buf_init(&out, 8192);
	assert_int_equal(launch_place_expand(p, text, &out, &err), WS_OK);
	assert_string_equal(out.at, wanted);
	ws_buf_fini(&out);
}

static void every_key_has_its_value_in_both_forms(void **state)
{
	static const struct {
		const char *key, *value;
	} keys[] = {
		{ "argv", "bin_app_-n_data_in.txt_up" },
		{ "argt", "app-n_data_in.txt_up" },
		{ "args", "-n_data_in.txt_up" },
		{ "tag", "app" },
		{ "arg0", "bin_app" },
		{ "arg2", "data_in.txt" },
		{ "hostname", "node7" },
		{ "pid", "42" },
		{ "ppid", "41" },
		{ "pgid", "40" },
		{ "psid", "39" },
		{ "psize", "3" },
		{ "job", "77" },
		{ "rank", "2" },
		{ "size", "8" },
		{ "nid", "2" },
		{ "cwd", "/work" },
		{ "launch_date", "2023-11-14" },
		{ "launch_time", "2023" },
	};
	struct launch_place p = place();

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++) {
		char text[64], wanted[128];

		snprintf(text, sizeof(text), "a%%%s%%b{%s}c", keys[i].key, keys[i].key);
		snprintf(wanted, sizeof(wanted), "a%sb%sc", keys[i].value, keys[i].value);
		expect(&p, text, wanted);
	}
}

static void letters_and_variables(void **state)
{
	struct launch_place p = place();

	expect(&p, "%h-%p-%j-%r-%s", "node7-42-77-2-8");
	expect(&p, "%env{USER}%/$ENV{USER}/$env{USER}/%ENV{USER}%/%q{USER}/x",
	       "ann/ann/ann/ann/ann/x");
	expect(&p, "%env{DEEP}%", "a_b_c_d");
	expect(&p, "<%env{NOT_SET}%>", "<>");
	expect(&p, "%env{ROUND}%", "42"); /* values are filled in, too */
}

static void what_is_no_placeholder_stays(void **state)
{
	struct launch_place p = place();

	expect(&p, "100%", "100%");
	expect(&p, "{unknown}%unknown%", "{unknown}%unknown%");
	expect(&p, "%env{lower}%", "%env{lower}%");
	expect(&p, "%env{USER", "%env{USER");
	expect(&p, "$HOME", "$HOME");
	expect(&p, "", "");
}

static void words_that_are_not_there_take_their_separators_along(void **state)
{
	struct launch_place p = place();

	expect(&p, "a-%arg4%-/_b", "a-b");
	expect(&p, "%arg99%", "");
	expect(&p, "%arg1%-b", "-n-b");
}

static void without_ranks_nid_is_the_pid(void **state)
{
	struct launch_place p = place();

	p.rank = (struct launch_rank){ .size = 1 };
	expect(&p, "%nid%.%rank%.%size%", "42.0.1");
}

static void text_that_grows_for_ever_is_refused(void **state)
{
	struct launch_place p = place();
	struct ws_buf out;
	struct ws_err err;

	ws_buf_init(&out, 8192);
	assert_fails_with(launch_place_expand(&p, "%env{SELF}%", &out, &err), WS_E_LIMIT, &err,
			  "expand without end");
	ws_buf_fini(&out);
}

static void the_fixed_part_ends_at_the_folder_of_the_first_placeholder(void **state)
{
	assert_int_equal(launch_place_fixed_part("/a/b"), 4);
	assert_int_equal(launch_place_fixed_part("/a/b%pid%/c"), 3);
	assert_int_equal(launch_place_fixed_part("%pid%"), 0);
	assert_int_equal(launch_place_fixed_part("out/{rank}"), 4);
}

static void ranks_come_from_every_launcher(void **state)
{
	static const struct {
		const char *env[6];
		struct launch_rank wanted;
	} cases[] = {
		{ { NULL }, { false, 0, 1, 0, false } },
		{ { "SLURM_PROCID=3", "SLURM_JOB_ID=9" }, { true, 3, 1, 9, false } },
		{ { "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4" }, { true, 3, 4, 0, true } },
		{ { "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4" }, { true, 1, 4, 0, true } },
		{ { "MV2_COMM_WORLD_RANK=2", "MV2_COMM_WORLD_SIZE=5" }, { true, 2, 5, 0, true } },
		{ { "MPI_RANK=6", "MPI_SIZE=7" }, { true, 6, 7, 0, true } },
		{ { "PMI_RANK=1", "PMI_SIZE=2" }, { true, 1, 2, 0, true } },
		{ { "FLUX_TASK_RANK=4", "FLUX_JOB_SIZE=6" }, { true, 4, 6, 0, true } },
		/* The last of the table counts, and Slurm's word least: it may be the batch script's. */
		{ { "OMPI_COMM_WORLD_RANK=8", "MPI_RANK=1" }, { true, 8, 1, 0, false } },
		{ { "OMPI_COMM_WORLD_RANK=8", "SLURM_PROCID=5" }, { true, 8, 1, 0, false } },
		{ { "SLURM_PROCID=x" }, { false, 0, 1, 0, false } },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct launch_rank rank;

		launch_rank_find(launch_lookup_list(cases[i].env), &rank);
		assert_int_equal(rank.known, cases[i].wanted.known);
		assert_int_equal(rank.rank, cases[i].wanted.rank);
		assert_int_equal(rank.size, cases[i].wanted.size);
		assert_int_equal(rank.job, cases[i].wanted.job);
		assert_int_equal(rank.size_known, cases[i].wanted.size_known);
	}
}

static void rocprof_compute_takes_the_first_launcher(void **state)
{
	static const struct {
		const char *env[8];
		const char *launcher; /* NULL: no rank */
		uint64_t rank, size;
	} cases[] = {
		{ { "USER=x", NULL }, NULL, 0, 1 },
		{ { "SLURM_PROCID=3", "SLURM_NTASKS=8", NULL }, "Slurm", 3, 8 },
		{ { "FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=2", NULL }, "Flux", 1, 2 },
		{ { "PMI_RANK=2", "PMI_SIZE=4", NULL }, "PMI", 2, 4 },
		{ { "PALS_RANKID=5", "PALS_WORLD_SIZE=6", NULL }, "PALS", 5, 6 },
		{ { "MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=3", NULL }, "MVAPICH2", 1, 3 },
		{ { "MPI_RANKID=1", "MPI_NRANKS=9", NULL }, "MPI", 1, 9 },
		/* Open MPI says both; PMIx comes first, and the size is the other's. */
		{ { "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=2", NULL },
		  "PMIx",
		  2,
		  4 },
		/* A step of srun whose MPI was started through PMI. */
		{ { "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_PROCID=3", "SLURM_NTASKS=4",
		    "PMI_RANK=3", "PMI_SIZE=4", NULL },
		  "Slurm",
		  3,
		  4 },
		/* mpirun in a batch script: Slurm's rank is the script's own. */
		{ { "SLURM_JOB_ID=7", "SLURM_PROCID=0", "SLURM_NTASKS=4", "PMIX_RANK=3",
		    "OMPI_COMM_WORLD_SIZE=4", NULL },
		  "PMIx",
		  3,
		  4 },
		/* and in a step that is one task */
		{ { "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0",
		    "PMI_RANK=1", "PMI_SIZE=2", NULL },
		  "PMI",
		  1,
		  2 },
		{ { "SLURM_JOB_ID=7", "SLURM_PROCID=0", "SLURM_NTASKS=1", NULL }, "Slurm", 0, 1 },
		{ { "PMI_RANK=first", NULL }, NULL, 0, 1 },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		const char *launcher;
		struct launch_rank rank;

		launch_rank_find_first(launch_lookup_list(cases[i].env), &rank, &launcher);
		assert_int_equal(rank.known, cases[i].launcher != NULL);
		assert_int_equal(rank.rank, cases[i].rank);
		assert_int_equal(rank.size, cases[i].size);
		if (cases[i].launcher)
			assert_string_equal(launcher, cases[i].launcher);
		else
			assert_null(launcher);
	}
}

static void lists_of_ranks(void **state)
{
	struct launch_rank rank = { .known = true, .size = 1 };
	struct ws_err err;
	bool listed;

	for (rank.rank = 0; rank.rank < 12; rank.rank++) {
		assert_int_equal(launch_rank_listed("0-3, 8", &rank, &listed, &err), WS_OK);
		assert_int_equal(listed, rank.rank <= 3 || rank.rank == 8);
	}
	assert_fails_with(launch_rank_listed("3-1", &rank, &listed, &err), WS_E_USAGE, &err,
			  "list of ranks");
	assert_fails_with(launch_rank_listed("a", &rank, &listed, &err), WS_E_USAGE, &err,
			  "list of ranks");
	assert_fails_with(launch_rank_listed("", &rank, &listed, &err), WS_E_USAGE, &err,
			  "list of ranks");
	rank = (struct launch_rank){ .known = true, .size_known = true, .rank = 1, .size = 4 };
	assert_int_equal(launch_rank_listed("0-3", &rank, &listed, &err), WS_OK);
	assert_true(listed);
	assert_fails_with(launch_rank_listed("0-3,7", &rank, &listed, &err), WS_E_USAGE, &err,
			  "no rank 7");
	assert_fails_with(launch_rank_listed("0-4", &rank, &listed, &err), WS_E_USAGE, &err,
			  "no rank 4");
}

static void variables_the_user_names(void **state)
{
	static const struct {
		const char *env[3];
		const char *wrong; /* NULL: fine */
		bool known, size_known;
		uint64_t rank, size;
	} cases[] = {
		{ { "R=2", "S=4" }, NULL, true, true, 2, 4 },
		{ { "OMPI_COMM_WORLD_RANK=3" }, NULL, false, false, 0, 1 },
		{ { "R=2" }, NULL, true, false, 2, 1 },
		{ { "R=4", "S=4" }, "R is 4, but S is 4", 0, 0, 0, 0 },
		{ { "R=abc", "S=4" }, "R is 'abc', not a rank", 0, 0, 0, 0 },
		{ { "R=-1", "S=4" }, "R is '-1', not a rank", 0, 0, 0, 0 },
		{ { "R=0", "S=0" }, "S is '0', not a number of ranks", 0, 0, 0, 0 },
		{ { "R=0", "S=x" }, "S is 'x', not a number of ranks", 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct launch_rank rank = { .known = true, .rank = 9, .size = 10 };
		struct ws_err err;
		enum ws_status st =
			launch_rank_named(launch_lookup_list(cases[i].env), "R", "S", &rank, &err);

		if (cases[i].wrong) {
			assert_fails_with(st, WS_E_USAGE, &err, cases[i].wrong);
			assert_int_equal(rank.rank, 9);
			continue;
		}
		assert_int_equal(st, WS_OK);
		assert_int_equal(rank.known, cases[i].known);
		assert_int_equal(rank.size_known, cases[i].size_known);
		assert_int_equal(rank.rank, cases[i].rank);
		assert_int_equal(rank.size, cases[i].size);
	}
}

static void expect_typo(const char *text, const char *wanted, const char *near)
{
	struct ws_str word = { "", 0 };
	const char *found = NULL;

	if (!wanted) {
		assert_false(launch_place_typo(text, &word, &found));
		return;
	}
	assert_true(launch_place_typo(text, &word, &found));
	assert_true(ws_str_is(word, wanted));
	if (near)
		assert_string_equal(found, near);
	else
		assert_null(found);
}

static void what_looks_like_a_placeholder_and_is_none_is_found(void **state)
{
	expect_typo("%typo%", "%typo%", NULL);
	expect_typo("a/%pid%_%rnak%", "%rnak%", "rank");
	expect_typo("{hostnam}", "{hostnam}", "hostname");
	expect_typo("%rnk%", "%rnk%", "rank"); /* though %r is one */
	expect_typo("%h_%p", NULL, NULL);
	expect_typo("%h%p%j", NULL, NULL);
	expect_typo("%env{USER}%-$ENV{HOME}-%q{PWD}-%ENV{A}%", NULL, NULL);
	expect_typo("%argv%{args}%arg0%%arg12%{tag}", NULL, NULL);
	expect_typo("100% of 50% {a b} {} %% {x}", NULL, NULL);
	expect_typo("", NULL, NULL);
}

static void a_text_that_is_too_long_is_not_lost(void **state)
{
	struct launch_place p = place();
	char text[LAUNCH_PLACE_TEXT_MAX + 2];
	struct ws_buf out;
	struct ws_err err;

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ws_buf_init(&out, 8192);
	assert_fails_with(launch_place_expand(&p, text, &out, &err), WS_E_LIMIT, &err, "too long");
	ws_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_looks_like_a_placeholder_and_is_none_is_found),
		cmocka_unit_test(a_text_that_is_too_long_is_not_lost),
		cmocka_unit_test(every_key_has_its_value_in_both_forms),
		cmocka_unit_test(letters_and_variables),
		cmocka_unit_test(what_is_no_placeholder_stays),
		cmocka_unit_test(words_that_are_not_there_take_their_separators_along),
		cmocka_unit_test(without_ranks_nid_is_the_pid),
		cmocka_unit_test(text_that_grows_for_ever_is_refused),
		cmocka_unit_test(the_fixed_part_ends_at_the_folder_of_the_first_placeholder),
		cmocka_unit_test(ranks_come_from_every_launcher),
		cmocka_unit_test(rocprof_compute_takes_the_first_launcher),
		cmocka_unit_test(lists_of_ranks),
		cmocka_unit_test(variables_the_user_names),
	};

	return RUN(tests);
}
