/* What every unit test includes: cmocka, and what cmocka needs before itself. */
#ifndef WS_TESTS_UNIT_UNIT_H
#define WS_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#define RUN(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
