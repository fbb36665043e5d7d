/* wrap: what the generated RCCL wrappers are made of; included by them only. */
#ifndef WS_COLLECTOR_RCCL_WRAP_H
#define WS_COLLECTOR_RCCL_WRAP_H

#include "base/util.h"
#include "collector/hip/streams.h"
#include "collector/interpose/resolve.h"
#include "collector/interpose/slots.h"
#include "collector/rccl/rccl.h"

/* The HIP calls inside name their streams themselves. */
#define WS_STREAM_USERS 0u

static inline uint32_t ws_switches_now(void)
{
	return __atomic_load_n(&ws_switches, __ATOMIC_RELAXED);
}

static const char *const ws_rccl_libraries[] = { "librccl.so", "libnccl.so", NULL };

#endif
