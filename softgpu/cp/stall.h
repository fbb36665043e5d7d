/* stall: describes the packet that a queue cannot execute yet, and what it waits for. */
#ifndef WS_SOFTGPU_CP_STALL_H
#define WS_SOFTGPU_CP_STALL_H

#include "softgpu/cp/cp_priv.h"

/* The packet of a waiting queue. False: it has nothing to do, or its kernel runs. The list of queues is locked. */
bool sg_stall_at(const struct sg_queue *queue, uint64_t *out_index);
/* What it waits for, to end a sentence with. The list of queues is locked. */
void sg_stall_describe(const struct sg_queue *queue, char *text, size_t size);

#endif
