/*
 * pc_sampler: the methods of PC sampling that a GPU has, and the limits of their intervals.
 *
 * Rows are what AMD's driver offers. The software GPU has those of its model, with shorter intervals, and host traps on
 * all models.
 */
#ifndef WS_GPU_PC_SAMPLER_H
#define WS_GPU_PC_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_pc_sampler {
	bool soft;
	const char *arch;     /* NULL: all */
	const char *method;   /* "stochastic", "host_trap" */
	const char *unit;     /* "cycle", "time" */
	uint64_t min, max;    /* of the interval: cycles or microseconds */
	bool is_power_of_two; /* so the interval has to be */
};

/* The next one of a GPU after @before; NULL: the first, or no more. */
const struct gpu_pc_sampler *gpu_pc_sampler_next(const char *arch, bool soft,
						 const struct gpu_pc_sampler *before);
bool gpu_pc_sampler_has(const char *arch, bool soft, const char *method);

#endif
