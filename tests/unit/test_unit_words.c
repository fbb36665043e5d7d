/* base/unit: units of time and output streams by their words. */
#include "tests/unit/unit.h"

#include "base/unit.h"

#include <string.h>
#include <unistd.h>

static void every_unit_is_found_by_its_word(void **state)
{
	enum ws_time_unit unit;

	for (int i = 0; i < WS_TIME_UNIT_COUNT; i++) {
		assert_true(ws_time_unit_parse(ws_time_unit_words[i], &unit));
		assert_int_equal(unit, i);
	}
	assert_null(ws_time_unit_words[WS_TIME_UNIT_COUNT]);
	assert_null(ws_time_unit_symbols[WS_TIME_UNIT_COUNT]);
	assert_string_equal(ws_time_unit_symbols[WS_TIME_SEC], "s");
	assert_string_equal(ws_time_unit_symbols[WS_TIME_USEC], "us");
	assert_string_equal(ws_time_unit_words[WS_TIME_SEC], "sec");
	assert_int_equal(ws_time_unit_ns(WS_TIME_HOUR), 3600ull * 1000000000);
	assert_int_equal(ws_time_unit_ns(WS_TIME_MIN), 60ull * 1000000000);
	for (int i = WS_TIME_SEC; i < WS_TIME_NSEC; i++)
		assert_int_equal(ws_time_unit_ns(i), 1000 * ws_time_unit_ns(i + 1));
	assert_int_equal(ws_time_unit_ns(WS_TIME_NSEC), 1);
}

static void other_words_change_nothing(void **state)
{
	enum ws_time_unit unit = WS_TIME_MSEC;

	assert_false(ws_time_unit_parse(NULL, &unit));
	assert_false(ws_time_unit_parse("", &unit));
	assert_false(ws_time_unit_parse("Sec", &unit));
	assert_false(ws_time_unit_parse("ns", &unit));
	assert_int_equal(unit, WS_TIME_MSEC);
}

static void streams_are_found_in_any_case(void **state)
{
	assert_int_equal(ws_stream_fd("stdout"), STDOUT_FILENO);
	assert_int_equal(ws_stream_fd("STDERR"), STDERR_FILENO);
	assert_int_equal(ws_stream_fd("./stdout"), -1);
	assert_int_equal(ws_stream_fd(""), -1);
	assert_int_equal(ws_stream_fd(NULL), -1);
	assert_string_equal(ws_stream_word(STDOUT_FILENO), "stdout");
	assert_string_equal(ws_stream_word(STDERR_FILENO), "stderr");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_unit_is_found_by_its_word),
		cmocka_unit_test(other_words_change_nothing),
		cmocka_unit_test(streams_are_found_in_any_case),
	};

	return RUN(tests);
}
