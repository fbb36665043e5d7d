#include "base/str.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static void views_compare_by_content(void **state)
{
	struct ws_str s = ws_str_from("wavescope");

	assert_true(ws_str_is(s, "wavescope"));
	assert_false(ws_str_is(s, "wave"));
	assert_true(ws_str_starts(s, "wave"));
	assert_true(ws_str_ends(s, "scope"));
	assert_false(ws_str_ends(WS_STR("e"), "scope"));
	assert_true(ws_str_eq(ws_str_from(NULL), WS_STR("")));
	assert_true(ws_str_is(ws_str_trim(WS_STR(" \t a b\n")), "a b"));
	assert_int_equal(ws_str_trim(WS_STR(" \n ")).n, 0);
}

static void next_gives_every_part_even_empty_ones(void **state)
{
	static const char *const want[] = { "a", "", "b", "" };
	struct ws_str rest = WS_STR("a,,b,"), part;
	size_t n = 0;

	while (ws_str_next(&rest, ',', &part)) {
		assert_true(n < 4);
		assert_true(ws_str_is(part, want[n++]));
	}
	assert_int_equal(n, 4);
	rest = WS_STR("");
	assert_true(ws_str_next(&rest, ',', &part));
	assert_int_equal(part.n, 0);
	assert_false(ws_str_next(&rest, ',', &part));
}

static void numbers_must_be_numbers_to_the_end(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "010", true, 10 },
		{ "0x1f", true, 31 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "-1", false, 0 },
		{ "+1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "1k", false, 0 },
		{ "", false, 0 },
		{ "0x", false, 0 },
	};
	uint64_t value;
	int64_t whole;
	double real;

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		value = 77;
		assert_int_equal(ws_str_u64(ws_str_from(cases[i].text), &value), cases[i].ok);
		assert_int_equal(value, cases[i].ok ? cases[i].value : 77);
	}
	assert_true(ws_str_i64(WS_STR("-0x10"), &whole));
	assert_int_equal(whole, -16);
	assert_true(ws_str_i64(WS_STR("-9223372036854775808"), &whole));
	assert_int_equal(whole, INT64_MIN);
	assert_false(ws_str_i64(WS_STR("9223372036854775808"), &whole));
	assert_false(ws_str_i64(WS_STR("--1"), &whole));
	assert_true(ws_str_f64(WS_STR("1.5e3"), &real));
	assert_true(real == 1500.0);
	assert_false(ws_str_f64(WS_STR("1.5x"), &real));
	/* A view into a longer text ends where the view ends. */
	assert_true(ws_str_u64((struct ws_str){ "12345", 2 }, &value));
	assert_int_equal(value, 12);
}

static void booleans_are_words(void **state)
{
	bool value;

	assert_true(ws_str_bool(WS_STR("Yes"), &value) && value);
	assert_true(ws_str_bool(WS_STR("FALSE"), &value) && !value);
	assert_false(ws_str_bool(WS_STR("maybe"), &value));
	assert_false(ws_str_bool(WS_STR(""), &value));
}

static void words_are_quoted_for_a_shell_where_they_need_it(void **state)
{
	static const char *const cases[][2] = {
		{ "/tmp/run-1/a_b.c", "/tmp/run-1/a_b.c" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "$x `y` \"z\" \\", "'$x `y` \"z\" \\'" },
		{ "it's\n", "'it'\\''s\n'" },
	};
	char to[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(ws_str_shell(cases[i][0], to, sizeof(to)), cases[i][1]);
	assert_string_equal(ws_str_shell("a b", to, 14), "a b"); /* no room for the worst case */
}

static void distance_counts_edits(void **state)
{
	assert_int_equal(ws_str_distance("", ""), 0);
	assert_int_equal(ws_str_distance("abc", ""), 3);
	assert_int_equal(ws_str_distance("gpu", "gpu"), 0);
	assert_int_equal(ws_str_distance("gup", "gpu"), 1); /* a swap */
	assert_int_equal(ws_str_distance("workres", "workers"), 1);
	assert_int_equal(ws_str_distance("kitten", "sitting"), 3);
	assert_int_equal(ws_str_distance("doctor", "doc"), 3);
}

static const char *nth(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static void nearest_guesses_slips_and_not_strangers(void **state)
{
	static const char *const names[] = { "run", "info", "doctor", "kernel-trace", NULL };

	assert_string_equal(ws_str_nearest("rnu", nth, names), "run");
	assert_string_equal(ws_str_nearest("docter", nth, names), "doctor");
	assert_string_equal(ws_str_nearest("doc", nth, names), "doctor");
	assert_string_equal(ws_str_nearest("kerneltrace", nth, names), "kernel-trace");
	assert_null(ws_str_nearest("zebra", nth, names));
	assert_null(ws_str_nearest("x", nth, names));
	assert_null(ws_str_nearest("", nth, names));
}

static void a_buffer_grows_and_stays_terminated(void **state)
{
	struct ws_buf buf;

	ws_buf_init(&buf, 1 << 20);
	assert_string_equal(buf.at, "");
	for (int i = 0; i < 1000; i++)
		ws_buf_printf(&buf, "%d,", i);
	ws_buf_add_c(&buf, '-', 3);
	ws_buf_add_n(&buf, "abc", 2);
	ws_buf_add(&buf, "");
	assert_int_equal(strlen(buf.at), buf.n);
	assert_int_equal(buf.n, 3890 + 5);
	assert_string_equal(buf.at + buf.n - 10, ",999,---ab");
	assert_int_equal(ws_buf_status(&buf, NULL), WS_OK);
	ws_buf_clear(&buf);
	assert_string_equal(buf.at, "");
	ws_buf_fini(&buf);
	assert_string_equal(buf.at, "");
	ws_buf_fini(NULL);
}

static void past_the_ceiling_nothing_more_is_added(void **state)
{
	struct ws_err err;
	struct ws_buf buf;

	ws_buf_init(&buf, 5);
	ws_buf_add(&buf, "12345");
	assert_int_equal(ws_buf_status(&buf, &err), WS_OK);
	ws_buf_add(&buf, "6");
	ws_buf_clear(&buf);
	ws_buf_add(&buf, "123456");
	ws_buf_add(&buf, "1");
	assert_string_equal(buf.at, "");
	assert_fails_with(ws_buf_status(&buf, &err), WS_E_LIMIT, &err, "5 bytes");
	ws_buf_fini(&buf);
}

static void a_buffer_out_of_memory_says_so_in_the_end(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_err err;
		struct ws_buf buf;

		ws_buf_init(&buf, 1 << 20);
		for (int i = 0; i < 50; i++)
			ws_buf_add(&buf, "0123456789");
		assert_int_equal(ws_buf_status(&buf, &err),
				 allocation_failed() ? WS_E_NOMEM : WS_OK);
		assert_int_equal(strlen(buf.at), buf.n);
		ws_buf_fini(&buf);
	}
}

static void the_last_line_is_found_behind_blank_ones(void **state)
{
	assert_true(ws_str_is(ws_str_last_line(WS_STR("one\n two \n\n \n")), " two"));
	assert_true(ws_str_is(ws_str_last_line(WS_STR("one")), "one"));
	assert_true(ws_str_is(ws_str_last_line(WS_STR("\n\n")), ""));
	assert_true(ws_str_is(ws_str_last_line(ws_str_from(NULL)), ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_is_found_behind_blank_ones),
		cmocka_unit_test(views_compare_by_content),
		cmocka_unit_test(next_gives_every_part_even_empty_ones),
		cmocka_unit_test(numbers_must_be_numbers_to_the_end),
		cmocka_unit_test(booleans_are_words),
		cmocka_unit_test(words_are_quoted_for_a_shell_where_they_need_it),
		cmocka_unit_test(distance_counts_edits),
		cmocka_unit_test(nearest_guesses_slips_and_not_strangers),
		cmocka_unit_test(a_buffer_grows_and_stays_terminated),
		cmocka_unit_test(past_the_ceiling_nothing_more_is_added),
		cmocka_unit_test(a_buffer_out_of_memory_says_so_in_the_end),
	};

	return RUN(tests);
}
