/*
 * prim: what the rocPRIM tests share. rocPRIM is heavy to compile, so its algorithms are spread
 * over several programs, each built for one target. Every program runs int, float, double and
 * 64-bit unsigned at the sizes below.
 */
#ifndef WS_TESTS_HIP_PRIM_H
#define WS_TESTS_HIP_PRIM_H

#include <cstdlib>

#include "hiptest.h"

#include <algorithm>
#include <chrono>
#include <iostream> /* rocPRIM 5.3 uses both without including them */

/* A sanitized interpreter is ten times slower: the build then asks for less of the same. */
static const size_t prim_sizes[] = { 1, 1000, getenv("WS_TEST_SMALL") ? 60000u : 1000000u };

/* Whole numbers, small enough that sums of them are exact in float up to the largest size. */
template <class T> static std::vector<T> prim_input(size_t n, unsigned range)
{
	std::vector<T> v(n);
	number_source numbers;

	for (T &x : v)
		x = (T)(numbers.next() % range);
	return v;
}

/* rocPRIM's calls run twice: once for the size of their temporary storage, once for the work. */
template <class Call> static void prim_run(Call call)
{
	size_t n_bytes = 0;

	HIP_OK(call(nullptr, n_bytes));
	device_buffer<char> storage(n_bytes ? n_bytes : 1);
	HIP_OK(call(storage.ptr, n_bytes));
	HIP_OK(hipDeviceSynchronize());
}

template <class T>
static void prim_equal(const char *what, size_t n, const std::vector<T> &got,
		       const std::vector<T> &want)
{
	/* through memcmp: 64-bit values do not fit the double of check_equal */
	CHECK(got.size() == want.size() && !memcmp(got.data(), want.data(), n * sizeof(T)),
	      "%s, %zu elements of %zu bytes", what, n, sizeof(T));
}

#endif
