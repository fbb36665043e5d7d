#include "base/path.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void join_puts_one_slash(void **state)
{
	char path[PATH_MAX], lots[PATH_MAX];
	struct ws_err err;

	assert_int_equal(ws_path_join("/a", "b", path, NULL), WS_OK);
	assert_string_equal(path, "/a/b");
	assert_int_equal(ws_path_join(path, "c", path, NULL), WS_OK); /* in place */
	assert_string_equal(path, "/a/b/c");
	assert_int_equal(ws_path_join("/", "b", path, NULL), WS_OK);
	assert_string_equal(path, "/b");
	assert_int_equal(ws_path_join("/a", "/b", path, NULL), WS_OK);
	assert_string_equal(path, "/b");
	assert_int_equal(ws_path_join("", "b", path, NULL), WS_OK);
	assert_string_equal(path, "b");
	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	assert_fails_with(ws_path_join(lots, "b", path, &err), WS_E_LIMIT, &err, "too long");
}

static void parent_is_never_empty(void **state)
{
	static const char *const cases[][2] = {
		{ "/a/b", "/a" },
		{ "/a", "/" },
		{ "a", "." },
		{ "a/b/c", "a/b" },
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		strcpy(path, cases[i][0]);
		ws_path_parent(path);
		assert_string_equal(path, cases[i][1]);
	}
}

static void self_is_this_test(void **state)
{
	char path[PATH_MAX];

	assert_int_equal(ws_path_self(path, NULL), WS_OK);
	assert_non_null(strstr(path, "test_path"));
}

static void beside_takes_the_first_place_that_has_it(void **state)
{
	static const char *const places[] = { "no/such", ".", "..", NULL };
	char path[PATH_MAX], self[PATH_MAX];
	struct ws_err err;

	assert_int_equal(ws_path_self(self, NULL), WS_OK);
	assert_int_equal(ws_path_beside(places, "test_path", path, NULL), WS_OK);
	assert_string_equal(path, self); /* and no dots are left in it */
	assert_int_equal(ws_path_beside(places, "unit/test_path", path, NULL), WS_OK);
	assert_string_equal(path, self); /* a name may have a folder in front */
	assert_fails_with(ws_path_beside(places, "no-file", path, &err), WS_E_NOTFOUND, &err,
			  "no-file");
}

static void program_follows_the_shells_rules(void **state)
{
	char path[PATH_MAX];
	struct ws_err err;

	setenv("PATH", "/no/such:/bin:/usr/bin", 1);
	assert_int_equal(ws_path_program("sh", path, NULL), WS_OK);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(ws_path_program("/bin/sh", path, NULL), WS_OK);
	assert_fails_with(ws_path_program("no-program", path, &err), WS_E_NOTFOUND, &err,
			  "program 'no-program' not found in PATH");
	assert_fails_with(ws_path_program("/no/such", path, &err), WS_E_NOTFOUND, &err, "/no/such");
	assert_fails_with(ws_path_program("/etc/passwd", path, &err), WS_E_ACCESS, &err,
			  "permissions");
	assert_fails_with(ws_path_program("/etc", path, &err), WS_E_ACCESS, &err, "is a folder");
	assert_fails_with(ws_path_program("", path, &err), WS_E_NOTFOUND, &err, "''");
}

static void a_program_here_but_not_on_path_is_hinted_at(void **state)
{
	char path[PATH_MAX], self[PATH_MAX];
	struct ws_err err;

	assert_int_equal(ws_path_self(self, NULL), WS_OK);
	ws_path_parent(self);
	assert_int_equal(chdir(self), 0);
	assert_fails_with(ws_path_program("test_path", path, &err), WS_E_NOTFOUND, &err,
			  "did you mean './test_path'?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(join_puts_one_slash),
		cmocka_unit_test(parent_is_never_empty),
		cmocka_unit_test(self_is_this_test),
		cmocka_unit_test(beside_takes_the_first_place_that_has_it),
		cmocka_unit_test(program_follows_the_shells_rules),
		cmocka_unit_test(a_program_here_but_not_on_path_is_hinted_at),
	};

	return RUN(tests);
}
