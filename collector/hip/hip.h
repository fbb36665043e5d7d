/*
 * hip: the collector's knowledge of HIP. The calls themselves are taken by libraries
 * of wrappers that are preloaded when asked for, and only then (see docs and preload.h):
 *
 *	libwavescope-hip.so          every function of HIP, recorded
 *	libwavescope-hip-streams.so  only those that name, make or destroy a stream or register a
 *	                             kernel; nothing of them is recorded, but GPU work gets
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
