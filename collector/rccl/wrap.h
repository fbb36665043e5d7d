/* wrap: what the generated RCCL wrappers are made of; included by them only. */
#ifndef WS_COLLECTOR_RCCL_WRAP_H
#define WS_COLLECTOR_RCCL_WRAP_H

#include "base/util.h"
#include "collector/hip/streams.h"
#include "collector/interpose/resolve.h"
#include "collector/interpose/slots.h"
#include "collector/provider.h"

/* The HIP calls inside name their streams themselves. */
#define WS_STREAM_USERS 0u

static inline uint32_t ws_switches_now(void)
{
	return __atomic_load_n(&ws_switches, __ATOMIC_RELAXED);
}

static const char *const ws_rccl_libraries[] = { "librccl.so", "libnccl.so", NULL };

static void ws_rccl_found(const char *path)
{
	ws_runtime_used(WS_RUNTIME_RCCL, 0);
}

#endif
