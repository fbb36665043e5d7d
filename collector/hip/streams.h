/*
 * streams: HIP streams as small numbers.
 *
 * A stream is numbered from 1 when it is created, or when it is first seen if its creation
 * was not; the default stream is 0. A handle that HIP gives out again is another stream
 * with another number. hipStreamPerThread means a stream of its own in each thread.
 *
 * Threads  any. Looking up takes no lock; creating and destroying do.
 * Signals  looking up a known stream may run in a handler.
 * Memory   tables come from col_pages() and grow with the number of living streams; what a reader
 *          may still look at is never freed, which at most doubles the memory.
 */
#ifndef WS_COLLECTOR_HIP_STREAMS_H
#define WS_COLLECTOR_HIP_STREAMS_H

#include <stdint.h>

struct cap_writer;

/* Number of the stream @handle; 0 also if streams were not requested. */
uint32_t col_hip_stream(const void *handle);

void col_hip_stream_add(const void *handle, uint32_t flags, int32_t priority);
uint32_t col_hip_stream_remove(const void *handle);           /* its number, 0: unknown */
void col_hip_stream_restore(const void *handle, uint32_t id); /* HIP refused to destroy it */

/* The program gave it a name (roctxNameHipStream). */
void col_hip_stream_name(const void *handle, const char *name);

/* For the provider: facts of a new capture; a forked child. */
void col_hip_streams_state(struct cap_writer *writer);
void col_hip_streams_forked(void);

#endif
