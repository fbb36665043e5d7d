/*
 * failing_alloc: malloc() and friends that fail when a test says so.
 *
 * Linked with --wrap, so that the code under test runs unchanged. A test runs
 * its body with the first allocation failing, then the second, and so on until
 * one run needs no more than it was allowed:
 *
 *	for (fail_after(0); allocation_failed(); fail_after_next()) ...
 *
 * which FOR_EACH_FAILING_ALLOCATION() spells.
 */
#ifndef WS_TESTS_UNIT_FAILING_ALLOC_H
#define WS_TESTS_UNIT_FAILING_ALLOC_H

#include <stdbool.h>

/* The allocation after @n good ones fails, once; -1: none does. */
void fail_after(long n);

/* Whether one failed since fail_after(). */
bool allocation_failed(void);

/* The body sees `n`: how many allocations succeed. Ends after the first run without a failure. */
#define FOR_EACH_FAILING_ALLOCATION(n)                                                             \
	for (long n = 0, more_ = 1; more_ && (fail_after(n), 1);                                   \
	     more_ = allocation_failed(), fail_after(-1), n++)

#endif
