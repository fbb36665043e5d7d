/*
 * rccl: the collector's knowledge of RCCL's functions. Calls are intercepted by
 * libwavescope-rccl.so, which is preloaded if RCCL calls are requested.
 */
#ifndef WS_COLLECTOR_RCCL_RCCL_H
#define WS_COLLECTOR_RCCL_RCCL_H

#include "collector/provider.h"

extern const struct col_provider col_provider_rccl;

void col_rccl_found(const char *path); /* for wrappers: the library was met */

#endif
