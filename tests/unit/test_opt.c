#include "base/opt.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

struct args {
	bool quiet, verbose, no_wait;
	const char *out_dir;
	uint64_t n;
	int64_t shift;
	double factor;
	int format;
	struct ws_strv gpus, counters, sets, some, output, tids, config;
	enum ws_tri trace, profile, host, tracing;
	const char *level;
};

static const char *const formats[] = { "csv", "json", "pftrace", NULL };

static const struct ws_opt rows[] = {
	WS_OPT_GROUP("Output"),
	WS_OPT_BOOL(struct args, quiet, 'q', "quiet", "say less"),
	WS_OPT_BOOL(struct args, verbose, 'v', "verbose", "say more"),
	WS_OPT_BOOL(struct args, no_wait, 0, "no-wait", "do not wait"),
	WS_OPT_STR(struct args, out_dir, 'd', "output-directory", "DIR", "write to DIR"),
	WS_OPT_GROUP("Numbers"),
	WS_OPT_U64(struct args, n, 'n', "count", "N", "how many"),
	WS_OPT_I64(struct args, shift, 0, "shift", "N", "how far"),
	WS_OPT_F64(struct args, factor, 0, "factor", "X", "how much"),
	WS_OPT_CHOICE(struct args, format, 'f', "format", "NAME", formats, "csv, json or pftrace"),
	WS_OPT_LIST(struct args, gpus, 0, "gpu", "NAME", "a GPU"),
	WS_OPT_MANY(struct args, counters, 0, "pmc", "NAME", "counters"),
	WS_OPT_TRI(struct args, trace, 's', "sys-trace", "trace"),
	WS_OPT_SETS(struct args, sets, 0, "set", "NAME", "sets"),
	WS_OPT_SOME_OF(struct args, some, 0, "some", "NAME", formats, "formats"),
	WS_OPT_ONE_OF(struct args, level, 0, "level", "NAME", formats, "a format"),
	WS_OPT_SWITCH(struct args, profile, 'P', "profile", "profile"),
	WS_OPT_SWITCH(struct args, host, 'H', "host", "host metrics"),
	WS_OPT_SWITCH(struct args, tracing, 'T', "tracing", "trace"),
	WS_OPT_WORDS(struct args, output, 'o', "into", "PATH [PREFIX]", "where to"),
	WS_OPT_WORDS(struct args, config, 'c', "config", "[FILE]...", "files"),
	WS_OPT_WORDS(struct args, tids, 0, "tids", "[N...]", "threads"),
	WS_OPT_MANY(struct args, counters, 0, "PM", "NAME", NULL),
};
static const struct ws_opts opts = { rows, WS_ARRAY_LEN(rows) };

#define MAX_WORDS 24

struct parsed {
	struct args args;
	struct ws_opt_rest rest;
	struct ws_err err;
	enum ws_status st;
	char text[512];
	char *argv[MAX_WORDS];
};

/* Parse @line, split at spaces; '_' stands for an empty word. */
static void parse(struct parsed *p, enum ws_opt_order order, const char *line)
{
	int argc = 0;
	char *save;

	memset(p, 0, sizeof(*p));
	snprintf(p->text, sizeof(p->text), "tool %s", line);
	for (char *word = strtok_r(p->text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		assert_true(argc < MAX_WORDS - 1);
		p->argv[argc++] = strcmp(word, "_") ? word : "";
	}
	p->st = ws_opt_parse(opts, order, argc, p->argv, &p->args, &p->rest, &p->err);
}

static void every_spelling_of_a_value_is_understood(void **state)
{
	static const char *const lines[] = {
		"--output-directory out -n 5",
		"--output-directory=out -n5",
		"-dout --count 5",
		"-d out --count=0x5",
		"-q -d ignored --no-quiet -d out -n 5",
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(lines); i++) {
		struct parsed p;

		parse(&p, WS_OPT_MIXED, lines[i]);
		assert_int_equal(p.st, WS_OK);
		assert_string_equal(p.args.out_dir, "out");
		assert_int_equal(p.args.n, 5);
		assert_false(p.args.quiet);
		assert_int_equal(p.rest.n, 0);
	}
}

static void flags_can_be_bundled_negated_and_spelled_out(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_MIXED, "-qv");
	assert_true(p.args.quiet && p.args.verbose);
	parse(&p, WS_OPT_MIXED, "-qvn7");
	assert_true(p.args.quiet && p.args.verbose && p.args.n == 7);
	parse(&p, WS_OPT_MIXED, "-qv --no-verbose --quiet=false");
	assert_false(p.args.quiet || p.args.verbose);
	/* A name that begins with no- is itself, and has its own negation. */
	parse(&p, WS_OPT_MIXED, "--no-wait");
	assert_true(p.args.no_wait);
	parse(&p, WS_OPT_MIXED, "--no-wait --no-no-wait");
	assert_false(p.args.no_wait);
}

static void numbers_and_choices_are_typed(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_MIXED, "--shift -3 --factor 2.5 -f pftrace");
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.args.shift, -3);
	assert_true(p.args.factor == 2.5);
	assert_int_equal(p.args.format, 2);
}

static void lists_collect(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_MIXED, "--gpu a --gpu=b --pmc X Y Z --pmc W -q");
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.args.gpus.n, 2);
	assert_string_equal(p.args.gpus.at[1], "b");
	assert_int_equal(p.args.counters.n, 4);
	assert_string_equal(p.args.counters.at[3], "W");
	assert_true(p.args.quiet);
	ws_opt_fini(opts, &p.args);
}

static void three_states_take_a_value_when_there_is_one(void **state)
{
	static const struct {
		const char *line;
		enum ws_tri wanted;
	} cases[] = {
		{ "-q", WS_TRI_UNSET },
		{ "--sys-trace", WS_TRI_YES },
		{ "--sys-trace -q", WS_TRI_YES },
		{ "--sys-trace -- app", WS_TRI_YES },
		{ "--sys-trace=no", WS_TRI_NO },
		{ "--sys-trace OFF", WS_TRI_NO },
		{ "-s f", WS_TRI_NO },
		{ "-s1", WS_TRI_YES },
		{ "-s --no-sys-trace", WS_TRI_NO },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct parsed p;

		parse(&p, WS_OPT_MIXED, cases[i].line);
		assert_int_equal(p.st, WS_OK);
		assert_int_equal(p.args.trace, cases[i].wanted);
	}
}

static void sets_are_kept_apart_and_may_be_empty(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_MIXED, "--set A B --set --set=C -q");
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.args.sets.n, 6);
	assert_null(p.args.sets.at[0]);
	assert_string_equal(p.args.sets.at[2], "B");
	assert_null(p.args.sets.at[3]);
	assert_null(p.args.sets.at[4]);
	assert_string_equal(p.args.sets.at[5], "C");
	ws_opt_fini(opts, &p.args);
}

static void texts_with_choices_are_spelled_as_in_the_table(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_MIXED, "--some CSV pftrace --level Json");
	assert_int_equal(p.st, WS_OK);
	assert_string_equal(p.args.some.at[0], "csv");
	assert_string_equal(p.args.level, "json");
	ws_opt_fini(opts, &p.args);
	parse(&p, WS_OPT_MIXED, "--level xml");
	assert_int_equal(p.st, WS_E_USAGE);
}

static void operands_are_gathered_around_options(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_MIXED, "one -q two - -n 3 -- three --quiet");
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.rest.n, 5);
	assert_int_equal(p.rest.n_before, 3);
	assert_string_equal(p.rest.operands[0], "one");
	assert_string_equal(p.rest.operands[1], "two");
	assert_string_equal(p.rest.operands[2], "-");
	assert_string_equal(p.rest.operands[3], "three");
	assert_string_equal(p.rest.operands[4], "--quiet");
	assert_null(p.rest.operands[5]);
}

static void a_programs_own_options_are_left_alone(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_FIRST, "-q ./app -n 4 -- --verbose");
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.rest.n, 5);
	assert_string_equal(p.rest.operands[0], "./app");
	assert_string_equal(p.rest.operands[3], "--");
	assert_false(p.args.verbose);
	parse(&p, WS_OPT_FIRST, "-q -- ./app --verbose");
	assert_int_equal(p.rest.n, 2);
	assert_int_equal(p.rest.n_before, 0);
	parse(&p, WS_OPT_FIRST, "_ x");
	assert_string_equal(p.rest.operands[0], "");
}

static void mistakes_are_named_with_what_to_do(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "--quite", "unknown option '--quite': did you mean '--quiet'?" },
		{ "--output", "unknown option '--output': did you mean '--output-directory'?" },
		{ "--zzz", "unknown option '--zzz': --help lists them" },
		{ "--Output", "unknown option '--Output': did you mean" },
		{ "-x", "unknown option '-x': --help lists them" },
		{ "-qx", "unknown option '-x'" },
		{ "--count", "option '--count' needs a value: --count N" },
		{ "-n", "option '-n' needs a value: -n N" },
		{ "--pmc -q", "option '--pmc' needs a value: --pmc NAME" },
		{ "--count=many", "option '--count': 'many' is not a whole number" },
		{ "--count -1", "option '--count': '-1' is not a whole number" },
		{ "--factor=_", "option '--factor': '_' is not a number" },
		{ "--quiet=perhaps", "option '--quiet': 'perhaps' is not yes or no" },
		{ "--sys-trace ./app",
		  "option '--sys-trace': './app' is not yes or no: a program goes after" },
		{ "--no-quiet=1", "option '--no-quiet' takes no value" },
		{ "--no-count", "unknown option '--no-count'" },
		{ "-f jsn", "option '-f': no choice 'jsn': did you mean 'json'?" },
		{ "--format xml9",
		  "option '--format': no choice 'xml9': use one of csv, json, pf" },
		{ "--=x", "unknown option '--'" },
		{ "--Numbers", "unknown option '--Numbers'" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct parsed p;

		parse(&p, WS_OPT_MIXED, cases[i].line);
		assert_fails_with(p.st, WS_E_USAGE, &p.err, cases[i].text);
		ws_opt_fini(opts, &p.args);
	}
}

static void switches_can_be_joined_and_leave_the_program_alone(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_FIRST, "-PHq ./app on");
	assert_int_equal(p.args.profile, WS_TRI_YES);
	assert_int_equal(p.args.host, WS_TRI_YES);
	assert_true(p.args.quiet);
	assert_string_equal(p.rest.operands[0], "./app");
	/* 'T' alone would be true. */
	parse(&p, WS_OPT_FIRST, "-PT -H0 ./app");
	assert_int_equal(p.args.profile, WS_TRI_YES);
	assert_int_equal(p.args.tracing, WS_TRI_YES);
	assert_int_equal(p.args.host, WS_TRI_NO);
	parse(&p, WS_OPT_FIRST, "-Hno --profile off --no-host ./app");
	assert_int_equal(p.args.profile, WS_TRI_NO);
	assert_int_equal(p.args.host, WS_TRI_NO);
	assert_string_equal(p.rest.operands[0], "./app");
	parse(&p, WS_OPT_FIRST, "--host=perhaps ./app");
	assert_fails_with(p.st, WS_E_USAGE, &p.err, "'perhaps' is not yes or no");
}

static void words_are_as_many_as_the_table_shows(void **state)
{
	struct parsed p;

	/* Before "--" everything is ours, up to the most that fits. */
	parse(&p, WS_OPT_FIRST, "-o a b --tids 1 2 -q --tids 3 -- ./app");
	assert_int_equal(p.args.output.n, 3);
	assert_null(p.args.output.at[0]);
	assert_string_equal(p.args.output.at[1], "a");
	assert_string_equal(p.args.output.at[2], "b");
	assert_int_equal(p.args.tids.n, 5);
	assert_string_equal(p.args.tids.at[4], "3");
	assert_string_equal(p.rest.operands[0], "./app");
	ws_opt_fini(opts, &p.args);
	/* Without it, what may be missing is. */
	parse(&p, WS_OPT_FIRST, "--into=a --tids -o c ./app b");
	assert_int_equal(p.args.output.n, 2);
	assert_string_equal(p.args.output.at[1], "c");
	assert_int_equal(p.args.tids.n, 1);
	assert_string_equal(p.rest.operands[0], "./app");
	ws_opt_fini(opts, &p.args);
	/* A number is no program. */
	parse(&p, WS_OPT_FIRST, "--tids 1 2.5 ./app 3");
	assert_int_equal(p.args.tids.n, 3);
	assert_string_equal(p.args.tids.at[2], "2.5");
	assert_string_equal(p.rest.operands[0], "./app");
	ws_opt_fini(opts, &p.args);
	/* At most one of these, and perhaps none. */
	parse(&p, WS_OPT_FIRST, "-c a ./app");
	assert_int_equal(p.args.config.n, 2);
	assert_string_equal(p.args.config.at[1], "a");
	assert_string_equal(p.rest.operands[0], "./app");
	ws_opt_fini(opts, &p.args);
	parse(&p, WS_OPT_FIRST, "-c -- ./app");
	assert_int_equal(p.args.config.n, 1);
	assert_string_equal(p.rest.operands[0], "./app");
	ws_opt_fini(opts, &p.args);
	parse(&p, WS_OPT_FIRST, "-o -- ./app");
	assert_fails_with(p.st, WS_E_USAGE, &p.err, "option '-o' needs a value: -o PATH [PREFIX]");
	ws_opt_fini(opts, &p.args);
}

static void names_in_capitals_have_one_dash(void **state)
{
	struct parsed p;

	parse(&p, WS_OPT_FIRST, "-PM a b -T -PM c --pmc d -- program -PM x");
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.args.counters.n, 4);
	assert_string_equal(p.args.counters.at[2], "c");
	assert_int_equal(p.args.tracing, WS_TRI_YES);
	assert_int_equal(p.rest.n, 3);
	ws_opt_fini(opts, &p.args);
	parse(&p, WS_OPT_FIRST, "-PT -- program"); /* two switches, as before */
	assert_int_equal(p.st, WS_OK);
	assert_int_equal(p.args.profile, WS_TRI_YES);
	ws_opt_fini(opts, &p.args);
}

static void lists_out_of_memory_are_reported(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct parsed p;

		parse(&p, WS_OPT_MIXED, "--gpu a --pmc 1 2 3 4 5 6 7 8 9 10 11 12");
		assert_int_equal(p.st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		ws_opt_fini(opts, &p.args);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_of_a_value_is_understood),
		cmocka_unit_test(flags_can_be_bundled_negated_and_spelled_out),
		cmocka_unit_test(numbers_and_choices_are_typed),
		cmocka_unit_test(lists_collect),
		cmocka_unit_test(three_states_take_a_value_when_there_is_one),
		cmocka_unit_test(sets_are_kept_apart_and_may_be_empty),
		cmocka_unit_test(texts_with_choices_are_spelled_as_in_the_table),
		cmocka_unit_test(operands_are_gathered_around_options),
		cmocka_unit_test(a_programs_own_options_are_left_alone),
		cmocka_unit_test(mistakes_are_named_with_what_to_do),
		cmocka_unit_test(switches_can_be_joined_and_leave_the_program_alone),
		cmocka_unit_test(words_are_as_many_as_the_table_shows),
		cmocka_unit_test(names_in_capitals_have_one_dash),
		cmocka_unit_test(lists_out_of_memory_are_reported),
	};

	return RUN(tests);
}
