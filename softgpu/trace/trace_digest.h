/*
 * trace_digest: a 64-bit digest of a wave trace.
 *
 * Traces with the same digest are treated as equal. Nobody constructs collisions, and the chance of one
 * is 2^-64.
 */
#ifndef WS_SOFTGPU_TRACE_TRACE_DIGEST_H
#define WS_SOFTGPU_TRACE_TRACE_DIGEST_H

#include "softgpu/trace/wave_trace.h"

/* Extends the digest `before` (0: empty) by `size` bytes. */
uint64_t sg_digest(uint64_t before, const void *bytes, size_t size);
uint64_t sg_trace_digest(uint64_t before, const struct sg_wave_trace *trace);

#endif
