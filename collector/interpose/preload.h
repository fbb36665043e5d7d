/*
 * preload: the libraries to preload for the requested services.
 *
 * A wrapper costs a nanosecond even when its service is off, so wrapper libraries are
 * preloaded only if their calls are requested. The order is that of the table, the collector
 * first, because the others are linked to it.
 *
 * For the launcher:
 *
 *	for (size_t i = 0; i < COL_PRELOAD_COUNT; i++)
 *		if (col_preload_wanted(i, config->services, config->flags))
 *			add(col_preload[i].library);       beside the collector, lib/wavescope/
 *
 * Threads  constant data, pure function.
 */
#ifndef WS_COLLECTOR_INTERPOSE_PRELOAD_H
#define WS_COLLECTOR_INTERPOSE_PRELOAD_H

#include "collector/config.h"

struct col_preload {
	const char *library;
	uint32_t services; /* any of these */
	uint32_t flags;    /* or any of these */
	uint32_t unless;   /* but none of these services: another library does it already */
};

#define COL_PRELOAD_HIP_ (COL_SERVICE_BIT(HIP_RUNTIME) | COL_SERVICE_BIT(HIP_COMPILER))
/* Their records name a HIP stream. */
#define COL_PRELOAD_GPU_                                                                           \
	(COL_SERVICE_BIT(KERNEL) | COL_SERVICE_BIT(MEMORY_COPY) |                                  \
	 COL_SERVICE_BIT(MEMORY_ALLOCATION))
#define COL_PRELOAD_LOCKS_                                                                         \
	(COL_COLLECT_FLAG(THREAD_LOCKS) | COL_COLLECT_FLAG(THREAD_RW_LOCKS) |                      \
	 COL_COLLECT_FLAG(THREAD_SPIN_LOCKS))
#define COL_PRELOAD_WAITS_ (COL_COLLECT_FLAG(THREAD_BARRIERS) | COL_COLLECT_FLAG(THREAD_JOIN))
#define COL_PRELOAD_MARKERS_ (COL_COLLECT_FLAG(KERNEL_RENAME) | COL_COLLECT_FLAG(SELECTED_REGIONS))

static const struct col_preload col_preload[] = {
	{ COL_COLLECT_LIBRARY, ~0u, 0, 0 },
	{ "libwavescope-hip.so", COL_PRELOAD_HIP_, 0, 0 },
	{ "libwavescope-hip-streams.so", COL_PRELOAD_GPU_, 0, COL_PRELOAD_HIP_ },
	{ "libwavescope-rccl.so", COL_SERVICE_BIT(RCCL), 0, 0 },
	{ "librocprofiler-sdk-roctx.so.1", COL_SERVICE_BIT(MARKER), COL_PRELOAD_MARKERS_, 0 },
	/* waiting, threads and signal masks of a program that is interrupted by samples */
	{ "libwavescope-sample.so", COL_SERVICE_BIT(CALL_STACKS), 0, 0 },
	/* MPI, and functions of the program that a plan instruments, collector/instrument/plan.h */
	{ "libwavescope-regions.so", COL_SERVICE_BIT(REGIONS), 0, 0 },
	{ "libwavescope-ompt.so", 0, COL_COLLECT_FLAG(OMPT), 0 },
	{ "libwavescope-waits.so", 0, COL_PRELOAD_WAITS_, 0 },
	{ "libwavescope-locks.so", 0, COL_PRELOAD_LOCKS_, 0 },
	/* for programs that look functions up in a library's handle: Python's ctypes, plug-ins */
	{ "libwavescope-dlsym.so",
	  COL_PRELOAD_HIP_ | COL_PRELOAD_GPU_ | COL_SERVICE_BIT(RCCL) | COL_SERVICE_BIT(MARKER) |
		  COL_SERVICE_BIT(REGIONS),
	  COL_PRELOAD_MARKERS_, 0 },
};
#define COL_PRELOAD_COUNT (sizeof(col_preload) / sizeof(col_preload[0]))

static inline bool col_preload_wanted(size_t i, uint32_t services, uint32_t flags)
{
	const struct col_preload *p = &col_preload[i];

	return (services & p->services || flags & p->flags) && !(services & p->unless);
}

#endif
