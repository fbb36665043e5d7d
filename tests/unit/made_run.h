/* made_run: captures of a program that was never run, for tests of what is made from them. */
#ifndef WS_TESTS_UNIT_MADE_RUN_H
#define WS_TESTS_UNIT_MADE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_trace;

/* Kernels by number, from 1. The last two differ in a template argument alone. */
#define MADE_KERNELS(X) X("one.kd") X("two.kd") X("_Z4scanIiEvPT_.kd") X("_Z4scanIfEvPT_.kd")

/* A test writes down what it varies; the rest is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct made_launch {
	uint32_t kernel;
	uint32_t grid;
	double value;       /* of the counter; its second instance has one more */
	uint64_t id;        /* of the dispatch; 0: no more */
	uint32_t workgroup; /* 0: 64 */
	uint32_t lds;
	uint32_t counter; /* 0: the first */
	bool single;      /* only the first instance has a value */
};

/* A capture of one process in @dir; its path, which lives until 16 more are made. */
const char *made_process(const char *dir, unsigned run, uint32_t pid, const char *arg,
			 const char *const *counters, const struct made_launch *launches);
struct trc_trace *made_run_open(const char *const *paths, size_t n);

#endif
