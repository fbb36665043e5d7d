/* wrap: what the generated HIP wrappers are made of; included by them only. */
#ifndef WS_COLLECTOR_HIP_WRAP_H
#define WS_COLLECTOR_HIP_WRAP_H

#include "base/util.h"
#include "collector/hip/hooks.h"
#include "collector/hip/streams.h"
#include "collector/interpose/resolve.h"
#include "collector/interpose/slots.h"
#include "collector/provider.h"

#include <stdlib.h>
#include <string.h>

/* Services whose records name a stream: for them a call's stream is set while it runs. */
#define WS_STREAM_USERS                                                                            \
	(WS_SERVICE_BIT(KERNEL) | WS_SERVICE_BIT(MEMORY_COPY) | WS_SERVICE_BIT(MEMORY_ALLOCATION))

static inline uint32_t ws_switches_now(void)
{
	return __atomic_load_n(&ws_switches, __ATOMIC_RELAXED);
}

/* Since ROCm 6 hiprtc is a library of its own; in HIP 5 it is inside. */
static const char *const ws_hip_libraries[] = { "libamdhip64.so", "libhiprtc.so", NULL };

/* "libamdhip64.so.5.2.21153" is HIP version 50221153. Asking HIP would touch its last error. */
static void ws_hip_found(const char *path)
{
	char real_path[PATH_MAX];
	uint32_t parts[3] = { 0 };
	const char *at = realpath(path, real_path) ? strstr(real_path, ".so.") : NULL;

	if (at)
		at += 4;
	for (int i = 0; at && i < 3; i++) {
		parts[i] = (uint32_t)strtoul(at, NULL, 10);
		at = strchr(at, '.');
		at = at ? at + 1 : NULL;
	}
	ws_runtime_used(WS_RUNTIME_HIP, parts[0] * 10000000 + parts[1] * 100000 + parts[2]);
}

#endif
