/*
 * synth: captures with something of everything in them, for tests and benchmarks of
 * the output. The same arguments give the same records, but for the times of calls,
 * which are in ticks of this machine.
 */
#ifndef WS_TESTS_OUTPUT_SYNTH_H
#define WS_TESTS_OUTPUT_SYNTH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct ws_synth {
	uint32_t pid;
	uint32_t n_threads; /* besides the main one */
	uint64_t n_rounds;  /* per thread; each has a dozen events of most domains */
	bool plain;         /* HIP and HSA calls, dispatches and copies only, for speed */
	bool no_hip;        /* the HIP runtime is not said to be there */
};

enum ws_status ws_synth_write(const char *path, const struct ws_synth *synth, uint64_t *out_events,
			      struct ws_err *err);

#endif
