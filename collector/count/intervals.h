/*
 * intervals: counters of whole GPUs over time, not of single kernels.
 *
 * A GPU is counted from the moment at which the program creates its first queue there. A helper thread reads the counters
 * at the interval of the request, and what was added since the reading before is written as a metric: one
 * CAP_REC_METRICS per GPU and reading, one value per counter and instance. On hardware these are counts of all
 * processes; a software GPU is its process's own. Kernels run as without counting, and none is intercepted.
 *
 * Counters that were not on have no value. If another program uses the counters at the same time, they can go
 * back: that interval has no value either, and a note says so.
 *
 * Threads  queue: any thread that creates one.  finish: any.
 */
#ifndef WS_COLLECTOR_COUNT_INTERVALS_H
#define WS_COLLECTOR_COUNT_INTERVALS_H

#include <stdint.h>

void col_intervals_load(void); /* the runtime was loaded */
void col_intervals_queue(
	uint32_t agent); /* the program has created a queue; waits until the GPU counts */
void col_intervals_finish(
	uint64_t deadline_ns); /* the last reading, and the counters are stopped */
void col_intervals_forked(void);

#endif
