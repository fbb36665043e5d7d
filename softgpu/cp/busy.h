/*
 * busy: for how long kernels have been running on a GPU, for figures.h.
 *
 * Nothing is measured, and begin() is one load, until somebody asks.
 *
 * Threads  any.
 */
#ifndef WS_SOFTGPU_CP_BUSY_H
#define WS_SOFTGPU_CP_BUSY_H

#include <stdbool.h>
#include <stdint.h>

struct sg_busy;

struct sg_busy *sg_busy_create(void);       /* NULL: out of memory */
void sg_busy_destroy(struct sg_busy *busy); /* NULL is fine */

/* A kernel starts. True: it is measured, call end() when it has ended. NULL: it is not. */
bool sg_busy_begin(struct sg_busy *busy);
void sg_busy_end(struct sg_busy *busy);

/* Time up to now in which one or more were running. */
uint64_t sg_busy_ns(struct sg_busy *busy);

#endif
