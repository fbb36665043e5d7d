/* stall: the packet that a queue stands at and cannot execute, and what it waits for, in words. */
#ifndef WS_SOFTGPU_CP_STALL_H
#define WS_SOFTGPU_CP_STALL_H

#include "softgpu/cp/cp_priv.h"

/* Where the queue is: false, it has nothing to do, or its kernel runs. The list of queues is locked. */
bool sg_stall_at(const struct sg_queue *queue, uint64_t *out_index);
/* What it waits for there, as the rest of a sentence. The list of queues is locked. */
void sg_stall_describe(const struct sg_queue *queue, char *text, size_t size);

#endif
