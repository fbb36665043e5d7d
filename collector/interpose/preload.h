/*
 * preload: which libraries go in front of a program, for what was asked.
 *
 * A wrapper costs a nanosecond even when its service is off, so libraries of wrappers are
 * preloaded only when somebody wants their calls. In the order given here, the collector
 * first: the others are linked to it.
 *
 * For the launcher:
 *
 *	for (size_t i = 0; i < WS_PRELOAD_COUNT; i++)
 *		if (ws_preload_wanted(i, config->services, config->flags))
 *			add(ws_preload[i].library);       beside the collector, lib/wavescope/
 *
 * Threads  constant data, pure function.
 */
#ifndef WS_COLLECTOR_INTERPOSE_PRELOAD_H
#define WS_COLLECTOR_INTERPOSE_PRELOAD_H

#include "collector/config.h"

struct ws_preload {
	const char *library;
	uint32_t services; /* any of these */
	uint32_t flags;    /* or any of these */
	uint32_t unless;   /* but none of these services: another library does it already */
};

#define WS_PRELOAD_HIP_ (WS_SERVICE_BIT(HIP_RUNTIME) | WS_SERVICE_BIT(HIP_COMPILER))
/* Their records name a HIP stream. */
#define WS_PRELOAD_GPU_                                                                            \
	(WS_SERVICE_BIT(KERNEL) | WS_SERVICE_BIT(MEMORY_COPY) | WS_SERVICE_BIT(MEMORY_ALLOCATION))
#define WS_PRELOAD_MARKERS_ (WS_COLLECT_FLAG(KERNEL_RENAME) | WS_COLLECT_FLAG(SELECTED_REGIONS))

static const struct ws_preload ws_preload[] = {
	{ WS_COLLECT_LIBRARY, ~0u, 0, 0 },
	{ "libwavescope-hip.so", WS_PRELOAD_HIP_, 0, 0 },
	{ "libwavescope-hip-streams.so", WS_PRELOAD_GPU_, 0, WS_PRELOAD_HIP_ },
	{ "libwavescope-rccl.so", WS_SERVICE_BIT(RCCL), 0, 0 },
	{ "librocprofiler-sdk-roctx.so.1", WS_SERVICE_BIT(MARKER), WS_PRELOAD_MARKERS_, 0 },
	/* for programs that look functions up in a library's handle: Python's ctypes, plug-ins */
	{ "libwavescope-dlsym.so",
	  WS_PRELOAD_HIP_ | WS_PRELOAD_GPU_ | WS_SERVICE_BIT(RCCL) | WS_SERVICE_BIT(MARKER),
	  WS_PRELOAD_MARKERS_, 0 },
};
#define WS_PRELOAD_COUNT (sizeof(ws_preload) / sizeof(ws_preload[0]))

static inline bool ws_preload_wanted(size_t i, uint32_t services, uint32_t flags)
{
	const struct ws_preload *p = &ws_preload[i];

	return (services & p->services || flags & p->flags) && !(services & p->unless);
}

#endif
