#include "base/env.h"
#include "tests/unit/unit.h"

#include <string.h>

static char *const from[] = { "A=1", "PATH=/bin", "AB=2", "EMPTY=", NULL };

static void set_replaces_adds_and_keeps_the_end(void **state)
{
	struct ws_env env;

	assert_int_equal(ws_env_init(&env, from, NULL), WS_OK);
	assert_string_equal(ws_env_get(&env, "A"), "1");
	assert_string_equal(ws_env_get(&env, "EMPTY"), "");
	assert_null(ws_env_get(&env, "B"));
	assert_int_equal(ws_env_set(&env, "A", "one", NULL), WS_OK);
	for (int i = 0; i < 100; i++) {
		char name[] = { 'N', (char)('A' + i / 26), (char)('A' + i % 26), '\0' };

		assert_int_equal(ws_env_set(&env, name, "x", NULL), WS_OK);
	}
	assert_int_equal(env.n, 104);
	assert_null(env.at[env.n]);
	assert_string_equal(env.at[0], "A=one");
	ws_env_unset(&env, "PATH");
	assert_null(ws_env_get(&env, "PATH"));
	assert_string_equal(ws_env_get(&env, "AB"), "2");
	assert_null(env.at[env.n]);
	assert_string_equal(from[0], "A=1");
	ws_env_fini(&env);
	ws_env_fini(NULL);
}

static void prepend_keeps_what_is_there_and_does_not_repeat(void **state)
{
	struct ws_env env;

	assert_int_equal(ws_env_init(&env, from, NULL), WS_OK);
	assert_int_equal(ws_env_prepend(&env, "PATH", "/opt", ':', NULL), WS_OK);
	assert_string_equal(ws_env_get(&env, "PATH"), "/opt:/bin");
	assert_int_equal(ws_env_prepend(&env, "PATH", "/opt", ':', NULL), WS_OK);
	assert_string_equal(ws_env_get(&env, "PATH"), "/opt:/bin");
	assert_int_equal(ws_env_prepend(&env, "EMPTY", "/opt", ':', NULL), WS_OK);
	assert_string_equal(ws_env_get(&env, "EMPTY"), "/opt");
	assert_int_equal(ws_env_prepend(&env, "NEW", "/opt", ':', NULL), WS_OK);
	assert_string_equal(ws_env_get(&env, "NEW"), "/opt");
	ws_env_fini(&env);
}

static void remove_takes_every_one_and_nothing_else(void **state)
{
	static char *const lists[] = { "P=/a:/b:/a", "Q=/ab::/a/b:/a", "R=/a",
				       "S=/b",       "EMPTY=",         NULL };
	static const char *const left[][2] = {
		{ "P", "/b" }, { "Q", "/ab::/a/b" }, { "R", NULL },
		{ "S", "/b" }, { "EMPTY", "" },      { "NONE", NULL },
	};
	struct ws_env env;

	assert_int_equal(ws_env_init(&env, lists, NULL), WS_OK);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		const char *value;

		assert_int_equal(ws_env_remove(&env, left[i][0], "/a", ':', NULL), WS_OK);
		value = ws_env_get(&env, left[i][0]);
		if (left[i][1])
			assert_string_equal(value, left[i][1]);
		else
			assert_null(value);
	}
	ws_env_fini(&env);
}

static void failed_allocations_are_reported(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_err err;
		struct ws_env env;
		enum ws_status st = ws_env_init(&env, from, &err);

		if (!st)
			st = ws_env_prepend(&env, "PATH", "/opt", ':', &err);
		if (!st)
			st = ws_env_remove(&env, "PATH", "/opt", ':', &err);
		assert_int_equal(st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		ws_env_fini(&env);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_replaces_adds_and_keeps_the_end),
		cmocka_unit_test(prepend_keeps_what_is_there_and_does_not_repeat),
		cmocka_unit_test(remove_takes_every_one_and_nothing_else),
		cmocka_unit_test(failed_allocations_are_reported),
	};

	return RUN(tests);
}
