/* wrap: what the generated RCCL wrappers are made of; included by them only. */
#ifndef WS_COLLECTOR_RCCL_WRAP_H
#define WS_COLLECTOR_RCCL_WRAP_H

#include "base/util.h"
#include "collector/hip/streams.h"
#include "collector/interpose/resolve.h"
#include "collector/interpose/slots.h"
#include "collector/rccl/hooks.h"
#include "collector/rccl/rccl.h"

/* The HIP calls inside name their streams themselves. */
#define COL_STREAM_USERS 0u

static const char *const col_rccl_libraries[] = { "librccl.so", "libnccl.so", NULL };

#endif
