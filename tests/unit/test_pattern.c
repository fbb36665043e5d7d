#include "base/pattern.h"
#include "base/util.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ws_pattern *pattern_of(const char *text, enum ws_pattern_part part)
{
	struct ws_pattern *pattern;
	struct ws_err err = { 0 };

	if (ws_pattern_create(text, part, &pattern, &err))
		fail_msg("%s", err.text);
	return pattern;
}

static bool matches(const char *text, enum ws_pattern_part part, const char *name)
{
	struct ws_pattern *pattern = pattern_of(text, part);
	struct ws_err err = { 0 };
	bool found = false;

	if (ws_pattern_match(pattern, name, &found, &err))
		fail_msg("%s", err.text);
	ws_pattern_destroy(pattern);
	return found;
}

static void patterns_mean_what_amds_users_mean(void **state)
{
	static const struct {
		const char *pattern, *yes, *no;
	} cases[] = {
		{ "gemm", "my_gemm_kernel", "gem" },
		{ "^reduce_(lds|atomic)$", "reduce_lds", "reduce_lds2" },
		{ "(?:add|sub)\\d+", "sub12", "(?:add" },
		{ "\\D\\d", "a1", "1" },
		{ "[\\d_]x", "_x", "dx" },
		{ "[^\\w]", "a b", "ab_9" },
		{ "a.*?b", "axxb", "ba" },
		{ "x+?y??z{1,2}?", "xyz", "yz" },
		{ "float\\*", "add(float*, int)", "add(float, int)" },
		{ "[]]", "]", "[" },
		{ "[^]]", "a", "]" },
		{ "\\.kd$", "_Z3foo.kd", "_Z3foo.kd\n" },
		{ "a\\sb", "a b", "asb" },
		{ "", "anything", NULL },
		/* What POSIX has not. */
		{ "reduce(?!_init)", "reduce_lds", "reduce_init" },
		{ "^(?=.*float)(?=.*lds)", "reduce_lds<float>", "reduce_lds<int>" },
		{ "(?<!un)tiled", "gemm_tiled", "gemm_untiled" },
		{ "(\\w+)<\\1>", "wrap<wrap>", "wrap<warp>" },
		{ "(?P<t>float|int).*(?P=t)", "f(int, int)", "f(int, float)" },
		{ "(?i)GEMM", "my_gemm", "my_gem" },
		{ "\\bgemm\\b", "run gemm(int)", "run_gemm" },
		{ "a\\u0062c", "abc", "au0062c" },
		{ "(x)?y\\1$", "y", "yz" },
		/* Names are bytes: neither of these is UTF-8. */
		{ "^.\xff.$",
		  "a\xff"
		  "b",
		  "ab" },
		{ "[^a]", "\xc3", "a" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		if (!matches(cases[i].pattern, WS_PATTERN_SOMEWHERE, cases[i].yes))
			fail_msg("'%s' does not match '%s'", cases[i].pattern, cases[i].yes);
		if (cases[i].no && matches(cases[i].pattern, WS_PATTERN_SOMEWHERE, cases[i].no))
			fail_msg("'%s' matches '%s'", cases[i].pattern, cases[i].no);
	}
}

static void the_whole_name_can_be_asked_for(void **state)
{
	assert_true(matches("KERNEL|COPY", WS_PATTERN_WHOLE, "COPY"));
	assert_false(matches("KERNEL|COPY", WS_PATTERN_WHOLE, "KERNEL_COPY"));
	assert_true(matches("KERNEL|KERNEL_COPY", WS_PATTERN_WHOLE, "KERNEL_COPY"));
	assert_false(matches("COPY", WS_PATTERN_WHOLE, "COPY\n"));
}

static void a_bad_pattern_is_an_error_with_its_position(void **state)
{
	static const struct {
		const char *pattern, *said;
	} bad[] = {
		/* Where exactly, depends on PCRE2's version except for what is missing at the end. */
		{ "(", "'(' is not a regular expression: position 2: missing closing parenthesis" },
		{ "a\\", "position 3: \\ at end of pattern" },
		{ "ab[z-a]", "range out of order" },
		{ "a{2,1}", "numbers out of order" },
		{ "(a)\\2", "reference to non-existent subpattern" },
		{ "*a", "quantifier does not follow a repeatable item" },
		{ "(*UTF)a", "using UTF is disabled" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(bad); i++) {
		struct ws_pattern *pattern = NULL;
		struct ws_err err = { 0 };

		assert_fails_with(ws_pattern_create(bad[i].pattern, WS_PATTERN_SOMEWHERE, &pattern,
						    &err),
				  WS_E_USAGE, &err, bad[i].said);
		assert_null(pattern);
	}
}

static void a_hostile_pattern_ends_with_an_error(void **state)
{
	static const char *const patterns[] = {
		"^(([a-z])+.)+[A-Z]([a-z])+$",
		"(.*)*(.*)*(.*)*[0-9]",
		"^(a|a?)+[0-9]$",
		"(?1)?([a-z]*(?1)?)*[0-9]",
	};
	char name[2001];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < WS_ARRAY_LEN(patterns); i++) {
		struct ws_pattern *pattern = pattern_of(patterns[i], WS_PATTERN_SOMEWHERE);
		clock_t begin = clock();
		struct ws_err err = { 0 };
		bool found = true;

		assert_fails_with(ws_pattern_match(pattern, name, &found, &err), WS_E_LIMIT, &err,
				  "gave up matching 'aaaa");
		assert_true(found); /* written on success only */
		assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
		ws_pattern_destroy(pattern);
	}
	/* A long name alone is no reason to give up. */
	assert_true(matches("a.*a.*a.*a$", WS_PATTERN_SOMEWHERE, name));
	assert_false(matches("a.*b.*c", WS_PATTERN_SOMEWHERE, name));
}

static void failing_allocations_are_errors(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_pattern *pattern = NULL;
		struct ws_err err = { 0 };
		bool found = false;
		enum ws_status st =
			ws_pattern_create("(a)(?=b)", WS_PATTERN_SOMEWHERE, &pattern, &err);

		if (!st)
			st = ws_pattern_match(pattern, "ab", &found, &err);
		assert_true(st == WS_E_NOMEM || (!st && found));
		ws_pattern_destroy(pattern);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_mean_what_amds_users_mean),
		cmocka_unit_test(the_whole_name_can_be_asked_for),
		cmocka_unit_test(a_bad_pattern_is_an_error_with_its_position),
		cmocka_unit_test(a_hostile_pattern_ends_with_an_error),
		cmocka_unit_test(failing_allocations_are_errors),
	};

	return RUN(tests);
}
