/*
 * over_time: the requested counters of whole GPUs at every reading, from those that were counted.
 *
 * The collector records what each hardware counter of each instance has added since the reading before
 * (collector/count/intervals.h). Every request of the plan is computed from these, reading by reading, and
 * replaces them in the trace: a metric per GPU and request, whose value is the sum over instances, as tracks of
 * counters have it. A request that has no value at a reading is left out of it.
 */
#ifndef WS_COUNTERS_OVER_TIME_H
#define WS_COUNTERS_OVER_TIME_H

#include "counters/plan_words.h"
#include "trace/trace.h"

struct cnt_over_time;

/* For one process of the trace, which shows the result as long as both live. */
enum ws_status cnt_over_time_create(struct trc_trace *trace, size_t process,
				    const struct cnt_plan_words *words,
				    struct cnt_over_time **out_over_time, struct ws_err *err);
void cnt_over_time_destroy(struct cnt_over_time *over_time); /* NULL is fine */

#endif
