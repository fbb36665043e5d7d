#include "base/log.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What @body writes to stderr, in a buffer that the next call reuses. */
static char written[8192];

static void capture(void (*body)(void))
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	body();
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(written, 1, sizeof(written) - 1, file);
	written[n] = '\0';
	fclose(file);
}

static void say_all(void)
{
	ws_log_init("tool");
	ws_log_error("e%d", 1);
	ws_log_warn("w");
	ws_log_info("i");
	ws_log_debug("d");
	ws_log_trace("t");
}

static void the_environment_chooses_the_level(void **state)
{
	unsetenv("WAVESCOPE_LOG");
	capture(say_all);
	assert_string_equal(written, "tool: e1\ntool: warning: w\n");
	setenv("WAVESCOPE_LOG", "error", 1);
	capture(say_all);
	assert_string_equal(written, "tool: e1\n");
	setenv("WAVESCOPE_LOG", "trace", 1);
	capture(say_all);
	assert_string_equal(written, "tool: e1\ntool: warning: w\ntool: i\ntool: debug: d\n"
				     "tool: trace: t\n");
}

static void an_unknown_level_is_pointed_out(void **state)
{
	setenv("WAVESCOPE_LOG", "loud", 1);
	capture(say_all);
	assert_non_null(strstr(written, "WAVESCOPE_LOG=loud is not a log level: use error, warn"));
	assert_non_null(strstr(written, "tool: e1\n"));
}

static void say_much(void)
{
	char lots[5000];

	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	ws_log_error("%s", lots);
}

static void a_long_line_is_cut_and_still_ends(void **state)
{
	unsetenv("WAVESCOPE_LOG");
	capture(say_much);
	assert_in_range(strlen(written), 1000, 2048);
	assert_int_equal(written[strlen(written) - 1], '\n');
}

static void files_get_no_colour(void **state)
{
	FILE *file = tmpfile();

	assert_false(ws_colour_ok(fileno(file)));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_chooses_the_level),
		cmocka_unit_test(an_unknown_level_is_pointed_out),
		cmocka_unit_test(a_long_line_is_cut_and_still_ends),
		cmocka_unit_test(files_get_no_colour),
	};

	return RUN(tests);
}
