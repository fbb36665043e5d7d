#include "base/file.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/ws-test-file-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_file_is_read_whole(void **state)
{
	struct ws_buf buf;

	write_text("one\ntwo\n");
	ws_buf_init(&buf, 8);
	assert_int_equal(ws_file_read(path, &buf, NULL), WS_OK);
	assert_string_equal(buf.at, "one\ntwo\n");
	ws_buf_fini(&buf);
	/* A file without a size, as those of /proc are. */
	ws_buf_init(&buf, 1 << 20);
	assert_int_equal(ws_file_read("/proc/self/status", &buf, NULL), WS_OK);
	assert_non_null(strstr(buf.at, "Name:\t"));
	ws_buf_fini(&buf);
}

static void a_file_too_large_is_an_error(void **state)
{
	struct ws_err err;
	struct ws_buf buf;

	write_text("one\ntwo\n");
	ws_buf_init(&buf, 7);
	assert_fails_with(ws_file_read(path, &buf, &err), WS_E_LIMIT, &err, "larger than 7");
	ws_buf_fini(&buf);
}

static void a_missing_file_is_named(void **state)
{
	struct ws_err err;
	struct ws_buf buf;

	ws_buf_init(&buf, 100);
	assert_fails_with(ws_file_read("/no/such", &buf, &err), WS_E_NOTFOUND, &err, "/no/such");
	ws_buf_fini(&buf);
}

static void lines_and_numbers_come_without_their_end(void **state)
{
	char line[16];
	uint64_t value;

	write_text("42 \nrest");
	assert_true(ws_file_line(path, line, sizeof(line)));
	assert_string_equal(line, "42 ");
	assert_true(ws_file_u64(path, &value));
	assert_int_equal(value, 42);
	write_text("many");
	assert_false(ws_file_u64(path, &value));
	assert_false(ws_file_line("/no/such", line, sizeof(line)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(a_file_too_large_is_an_error),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(lines_and_numbers_come_without_their_end),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
