/*
 * trace_digest: 64 bits that stand for what a wave did.
 *
 * Two traces with the same digest are taken for the same one. Nobody chooses traces to collide, and by
 * chance two of them do so once in 2^64 times.
 */
#ifndef WS_SOFTGPU_TRACE_TRACE_DIGEST_H
#define WS_SOFTGPU_TRACE_TRACE_DIGEST_H

#include "softgpu/trace/wave_trace.h"

/* Of `size` bytes behind what `before` stands for; 0: behind nothing. */
uint64_t sg_digest(uint64_t before, const void *bytes, size_t size);
uint64_t sg_trace_digest(uint64_t before, const struct sg_wave_trace *trace);

#endif
