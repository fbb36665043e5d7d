/*
 * copier: copies of memory by a kernel of ours, in a queue of ours (own_queue.h).
 *
 * The kernel is a few instructions that all GPUs of the gfx9 family have in common: gfx900 to gfx950.
 *
 * Threads  ready: any.  copy: one thread.
 */
#ifndef WS_COLLECTOR_HSA_COPIER_H
#define WS_COLLECTOR_HSA_COPIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct col_own_queue;

struct col_copy {
	uint64_t to, from, n_bytes; /* rounded up to 16 bytes */
};

bool col_copier_ready(uint32_t agent); /* false: no memory for the kernel, or not such a GPU */
/* Waits for all of them. False: the queue is broken. */
bool col_copier_copy(struct col_own_queue *queue, const struct col_copy *copies, size_t n);
void col_copier_unload(void); /* also in the child of a fork */

#endif
