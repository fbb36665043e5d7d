/* Functions that a loaded library calls, replaced: here those of cmocka. */
#include "base/got.h"
#include "base/util.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static char *(*real_getenv)(const char *name);
static unsigned n_calls;

static char *counted_getenv(const char *name)
{
	n_calls++;
	return real_getenv(name);
}

static void a_library_that_lacks_a_function_changes_nothing(void **state)
{
	static char kept[2];
	void *real[] = { &kept[0], &kept[1] };
	/* cmocka has the first from the C library; the second is in none that it uses */
	const struct ws_got_row rows[] = {
		{ "getenv", (void *)counted_getenv, &real[0] },
		{ "hsa_signal_wait_scacquire", (void *)counted_getenv, &real[1] },
	};

	assert_int_equal(ws_got_replace("libcmocka.so", rows, WS_ARRAY_LEN(rows)), 0);
	assert_ptr_equal(real[0], &kept[0]); /* what another library has replaced still works */
	assert_ptr_equal(real[1], &kept[1]);
	assert_int_equal(ws_got_replace("no such library", rows, 1), 0);
	assert_ptr_equal(real[0], &kept[0]);
}

static void a_library_is_made_to_call_the_replacement(void **state)
{
	const struct ws_got_row row = { "getenv", (void *)counted_getenv, (void **)&real_getenv };

	assert_int_equal(ws_got_replace("libcmocka.so", &row, 1), 1);
	assert_ptr_equal(real_getenv, getenv);
	assert_non_null(getenv("PATH")); /* the program itself calls the C library's, as before */
	assert_int_equal(n_calls, 0);
}

/* It looks for CMOCKA_MESSAGE_OUTPUT when it prints the result of a test. */
static void the_library_has_called_it_since(void **state)
{
	assert_in_range(n_calls, 1, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_that_lacks_a_function_changes_nothing),
		cmocka_unit_test(a_library_is_made_to_call_the_replacement),
		cmocka_unit_test(the_library_has_called_it_since),
	};

	return RUN(tests);
}
