/* wrap: what the generated HIP wrappers are made of; included by them only. */
#ifndef WS_COLLECTOR_HIP_WRAP_H
#define WS_COLLECTOR_HIP_WRAP_H

#include "base/util.h"
#include "collector/hip/hip.h"
#include "collector/hip/hooks.h"
#include "collector/hip/streams.h"
#include "collector/interpose/resolve.h"
#include "collector/interpose/slots.h"
#include "collector/provider.h"

/* Services whose records name a stream: for them a call's stream is set while it runs. */
#define COL_STREAM_USERS                                                                           \
	(COL_SERVICE_BIT(KERNEL) | COL_SERVICE_BIT(MEMORY_COPY) |                                  \
	 COL_SERVICE_BIT(MEMORY_ALLOCATION))

/* The stream in a struct that a call is given the address of. */
static inline const void *col_stream_in(const void *config, size_t at)
{
	const void *stream = NULL;

	if (config)
		memcpy(&stream, (const char *)config + at, sizeof(stream));
	return stream;
}

/* Since ROCm 6 hiprtc is a library of its own; in HIP 5 it is inside. */
static const char *const col_hip_libraries[] = { "libamdhip64.so", "libhiprtc.so", NULL };

#endif
