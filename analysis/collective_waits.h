/*
 * collective_waits: how long ranks wait for each other in collective operations.
 *
 * The rank that enters a collective last waits for nobody, so it takes the least time; what the others
 * take longer, they wait. Only durations are compared: the clocks of nodes need not agree.
 *
 * The operations are the first of these that at least two ranks have: collectives of MPI or RCCL whose
 * communicators were recorded; kernels that are named as RCCL names its own; ROCTx ranges that are
 * named like collectives. Kernels and ranges of one name are matched by their number, and only if all
 * ranks have equally many of that name.
 *
 *	st = ana_collective_waits(trace, ranks, n_ranks, err);
 *
 * A rank is a GPU of a process. Collectives and ranges belong to a process: they are added to its
 * first rank in the array.
 *
 * Memory   32 bytes per operation, up to ANA_COLLECTIVES_MAX; further ones are left out.
 */
#ifndef WS_ANALYSIS_COLLECTIVE_WAITS_H
#define WS_ANALYSIS_COLLECTIVE_WAITS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_agent;
struct trc_process;
struct trc_trace;

#define ANA_COLLECTIVES_MAX ((size_t)1 << 24)

struct ana_collective_rank {
	const struct trc_process *process;
	const struct trc_agent *agent;
	/* Filled in: operations that were matched, their time, and how much of it was waiting. */
	uint64_t n, time_ns, wait_ns;
};

/* @name: of a kernel, without parameter types. RCCL's kernels have few workgroups on purpose. */
bool ana_is_collective_kernel(const char *name);

enum ws_status ana_collective_waits(const struct trc_trace *trace,
				    struct ana_collective_rank *ranks, size_t n_ranks,
				    struct ws_err *err);

#endif
