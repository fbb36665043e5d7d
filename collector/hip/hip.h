/*
 * hip: the collector's knowledge of HIP. The calls are intercepted by wrapper libraries
 * that are preloaded only on request (see docs/api-tracing.md and preload.h):
 *
 *	libwavescope-hip.so          every function of HIP, recorded
 *	libwavescope-hip-streams.so  only those that name, create or destroy a stream or register
 *	                             a kernel; their calls are not recorded, but GPU work gets
 *	                             its stream
 *
 * What both need and what has to exist once per process is in the collector: this provider.
 */
#ifndef WS_COLLECTOR_HIP_HIP_H
#define WS_COLLECTOR_HIP_HIP_H

#include "collector/provider.h"

extern const struct col_provider col_provider_hip;

void col_hip_found(const char *path); /* for wrappers: the library was met */

#endif
