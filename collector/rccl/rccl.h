/*
 * rccl: the collector's knowledge of RCCL's functions. Calls are taken by
 * libwavescope-rccl.so, which is preloaded when RCCL is to be recorded.
 */
#ifndef WS_COLLECTOR_RCCL_RCCL_H
#define WS_COLLECTOR_RCCL_RCCL_H

#include "collector/provider.h"

extern const struct col_provider col_provider_rccl;

void col_rccl_found(const char *path); /* for wrappers: the library was met */

#endif
