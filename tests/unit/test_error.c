#include "base/error.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

static void fail_writes_the_sentence_and_returns_the_status(void **state)
{
	struct ws_err err;

	assert_int_equal(ws_fail(&err, WS_E_NOTFOUND, "no counter '%s': look", "X"), WS_E_NOTFOUND);
	assert_int_equal(err.status, WS_E_NOTFOUND);
	assert_string_equal(err.text, "no counter 'X': look");
}

static void fail_without_an_err_still_returns_the_status(void **state)
{
	assert_int_equal(ws_fail(NULL, WS_E_FORMAT, "x"), WS_E_FORMAT);
	assert_int_equal(ws_fail_in(NULL, WS_E_FORMAT, "x"), WS_E_FORMAT);
	assert_int_equal(ws_fail_errno(NULL, ENOENT, "x"), WS_E_NOTFOUND);
}

static void fail_in_puts_the_callers_view_in_front(void **state)
{
	struct ws_err err;

	ws_fail(&err, WS_E_NOTFOUND, "no counter 'X'");
	assert_int_equal(ws_fail_in(&err, WS_E_NOTFOUND, "metric '%s'", "hit"), WS_E_NOTFOUND);
	assert_string_equal(err.text, "metric 'hit': no counter 'X'");
}

static void a_sentence_too_long_ends_in_dots(void **state)
{
	char lots[1000];
	struct ws_err err;

	memset(lots, 'a', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	ws_fail(&err, WS_E_IO, "%s", lots);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_string_equal(err.text + sizeof(err.text) - 5, "a...");
	ws_fail_in(&err, WS_E_IO, "outer");
	assert_memory_equal(err.text, "outer: aaa", 10);
	assert_string_equal(err.text + sizeof(err.text) - 4, "...");
	ws_fail_in(&err, WS_E_IO, "%s", lots);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void a_sentence_that_just_fits_is_whole(void **state)
{
	char text[sizeof(((struct ws_err *)0)->text)];
	struct ws_err err;

	memset(text, 'b', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ws_fail(&err, WS_E_IO, "%s", text);
	assert_string_equal(err.text, text);
}

static void errno_becomes_a_status_and_a_reason(void **state)
{
	struct ws_err err;

	assert_int_equal(ws_fail_errno(&err, EACCES, "cannot open '%s'", "f"), WS_E_ACCESS);
	assert_string_equal(err.text, "cannot open 'f': Permission denied");
	assert_int_equal(ws_status_from_errno(EPIPE), WS_E_IO);
	assert_int_equal(ws_status_from_errno(0), WS_OK);
}

static void every_status_has_a_name_and_a_text(void **state)
{
	for (int i = 0; i < WS_STATUS_COUNT; i++) {
		assert_memory_equal(ws_status_name((enum ws_status)i), "WS_", 3);
		assert_true(strlen(ws_status_text((enum ws_status)i)) > 3);
	}
	assert_string_equal(ws_status_name(WS_E_NOMEM), "WS_E_NOMEM");
	assert_string_equal(ws_status_text((enum ws_status)999), "unknown status");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_writes_the_sentence_and_returns_the_status),
		cmocka_unit_test(fail_without_an_err_still_returns_the_status),
		cmocka_unit_test(fail_in_puts_the_callers_view_in_front),
		cmocka_unit_test(a_sentence_too_long_ends_in_dots),
		cmocka_unit_test(a_sentence_that_just_fits_is_whole),
		cmocka_unit_test(errno_becomes_a_status_and_a_reason),
		cmocka_unit_test(every_status_has_a_name_and_a_text),
	};

	return RUN(tests);
}
