/* What every unit test includes: cmocka, and what cmocka needs before itself. */
#ifndef WS_TESTS_UNIT_UNIT_H
#define WS_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/failing_alloc.h"

/* The status is expected, and the sentence contains @part. */
#define assert_fails_with(st, expected, err, part)                                                 \
	do {                                                                                       \
		assert_int_equal((st), (expected));                                                \
		assert_int_equal((err)->status, (expected));                                       \
		if (!strstr((err)->text, (part)))                                                  \
			fail_msg("'%s' does not contain '%s'", (err)->text, (part));               \
	} while (0)

/*
 * A case that cannot run here, and why. The program then ends with 77, unless another case fails: what
 * did not run does not count as passed. cmocka's own skip() would be counted so, and is taken away.
 */
static int unit_n_skipped;
#define unit_skip(reason)                                                                          \
	do {                                                                                       \
		print_message("SKIP: %s: %s\n", __func__, (reason));                               \
		unit_n_skipped++;                                                                  \
		_skip(__FILE__, __LINE__);                                                         \
	} while (0)
#undef skip

/* The exit code of a test program. */
static inline int unit_verdict(int n_failed)
{
	return n_failed ? 1 : unit_n_skipped ? 77 : 0;
}

/* UNIT_TEST='*name*' in the environment runs the functions that match. */
#define RUN(tests) RUN_WITH(tests, NULL, NULL)
#define RUN_WITH(tests, setup, teardown)                                                           \
	(cmocka_set_test_filter(getenv("UNIT_TEST")),                                              \
	 unit_verdict(cmocka_run_group_tests(tests, setup, teardown)))

#endif
