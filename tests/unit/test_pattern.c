#include "base/pattern.h"
#include "base/util.h"
#include "tests/unit/unit.h"

#include <regex.h>
#include <string.h>

static void patterns_mean_the_same(void **state)
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
		{ "\\.kd$", "_Z3foo.kd", "_Z3fookd" },
		{ "a\\sb", "a b", "asb" },
		{ "", "anything", NULL },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct ws_err err = { 0 };
		struct ws_buf posix;
		regex_t regex;

		ws_buf_init(&posix, 4096);
		if (ws_pattern_posix(cases[i].pattern, &posix, &err))
			fail_msg("%s", err.text);
		assert_int_equal(
			regcomp(&regex, posix.at ? posix.at : "", REG_EXTENDED | REG_NOSUB), 0);
		if (regexec(&regex, cases[i].yes, 0, NULL, 0))
			fail_msg("'%s' (%s) does not match '%s'", cases[i].pattern, posix.at,
				 cases[i].yes);
		if (cases[i].no && !regexec(&regex, cases[i].no, 0, NULL, 0))
			fail_msg("'%s' (%s) matches '%s'", cases[i].pattern, posix.at, cases[i].no);
		regfree(&regex);
		ws_buf_fini(&posix);
	}
}

static void what_cannot_be_said_is_an_error(void **state)
{
	static const char *const bad[] = {
		"(", "a\\", "(?=x)", "(?!x)", "(a)\\1", "[z-a]", "a{2,1}"
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(bad); i++) {
		struct ws_err err = { 0 };
		struct ws_buf posix;

		ws_buf_init(&posix, 4096);
		assert_int_equal(ws_pattern_posix(bad[i], &posix, &err), WS_E_USAGE);
		assert_non_null(strstr(err.text, bad[i]));
		ws_buf_fini(&posix);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_mean_the_same),
		cmocka_unit_test(what_cannot_be_said_is_an_error),
	};

	return RUN(tests);
}
