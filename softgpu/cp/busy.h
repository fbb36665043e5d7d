/*
 * busy: for how long kernels have been running on a GPU, for figures.h and board_page.h.
 *
 * Nothing is measured, and begin() is one load, until somebody asks.
 *
 * Threads  any.
 */
#ifndef WS_SOFTGPU_CP_BUSY_H
#define WS_SOFTGPU_CP_BUSY_H

#include <stdbool.h>
#include <stdint.h>

struct sg_board_page;
struct sg_busy_time;

struct sg_busy_time *sg_busy_time_create(void);       /* NULL: out of memory */
void sg_busy_time_destroy(struct sg_busy_time *busy); /* NULL is fine */

/* A kernel starts. True: it is measured, call end() when it has ended. NULL: it is not. */
bool sg_busy_time_begin(struct sg_busy_time *busy);
void sg_busy_time_end(struct sg_busy_time *busy);

/* Time up to now in which one or more were running. */
uint64_t sg_busy_time_ns(struct sg_busy_time *busy);
/* From now on also there, as the load of GPU number @gpu. */
void sg_busy_time_publish(struct sg_busy_time *busy, struct sg_board_page *page, uint32_t gpu);

#endif
