/*
 * rig: captures of a program that was never run, with times in nanoseconds, and the names of its
 * call stacks. For the tests of profile/.
 */
#ifndef WS_TESTS_PROFILE_RIG_H
#define WS_TESTS_PROFILE_RIG_H

#include "capture/writer.h"
#include "trace/trace.h"

#include <stdint.h>

/* A test writes down what it varies; the rest is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct rig {
	struct cap_writer *writer;
	char path[128];
	uint32_t pid;
};

/* A capture in @dir of process @pid, whose main thread is @pid, from @init_ns on. */
void rig_start(struct rig *rig, const char *dir, uint32_t pid, uint64_t init_ns);
void rig_end(struct rig *rig, uint64_t fini_ns); /* 0: it was killed */
struct trc_trace *rig_open(const struct rig *rigs, size_t n);

uint32_t rig_intern(struct rig *rig, const char *text);
struct cap_lane *rig_lane(struct rig *rig, uint32_t tid);

void rig_thread(struct rig *rig, uint32_t tid, const char *name, uint64_t start_ns,
		uint64_t end_ns);
void rig_region(struct rig *rig, uint32_t id, enum cap_region_category category, const char *name,
		uint64_t address);
void rig_operation(struct rig *rig, uint32_t op, const char *name); /* of HIP */
void rig_gpu(struct rig *rig, const char *kernel);                  /* agent 2, kernel 1 */
void rig_counter(struct rig *rig, uint32_t id, const char *name, const char *description);
void rig_sampler(struct rig *rig, enum cap_sampler sampler, uint64_t period);
void rig_metric(struct rig *rig, uint32_t id, enum cap_metric_category category, const char *name,
		const char *unit);

void rig_enter(struct cap_lane *lane, uint32_t region, uint64_t ns);
void rig_leave(struct cap_lane *lane, uint32_t region, uint64_t ns);
void rig_call(struct cap_lane *lane, uint32_t op, uint64_t start_ns, uint64_t end_ns,
	      uint64_t corr_id);
void rig_marker(struct cap_lane *lane, enum cap_marker_op op, uint64_t start_ns, uint64_t end_ns,
		uint32_t message);
struct rig_value {
	uint32_t counter;
	double value;
};
/* At most two values; counter 0: none. */
void rig_dispatch(struct cap_lane *lane, uint32_t tid, uint64_t start_ns, uint64_t end_ns,
		  uint64_t corr_id, const struct rig_value values[2]);
void rig_copy(struct cap_lane *lane, uint32_t tid, uint64_t start_ns, uint64_t end_ns,
	      uint64_t corr_id);
void rig_sample(struct cap_lane *lane, uint32_t stack, enum cap_sampler sampler, uint64_t ns,
		uint64_t cpu_ns);
/* After @n_missed periods whose signal was still pending. */
void rig_late_sample(struct cap_lane *lane, uint32_t stack, enum cap_sampler sampler, uint64_t ns,
		     uint64_t cpu_ns, uint32_t n_missed);
/* With what one CPU event has counted so far; the kind's samples have its name. */
void rig_count_sample(struct cap_lane *lane, uint32_t stack, enum cap_sampler sampler, uint64_t ns,
		      uint64_t cpu_ns, uint64_t count);
void rig_counting_sampler(struct rig *rig, enum cap_sampler sampler, uint64_t period,
			  const char *event);
void rig_read_metric(struct cap_lane *lane, uint32_t metric, uint64_t ns, double value);

/*
 * The functions of call stack @id, outermost first, separated by '|'; "py:" in front of a Python
 * function, "hip:" in front of one of AMD's runtime. In the place of profile/frames.c.
 */
void rig_stack(uint32_t id, const char *functions);
void rig_stacks_clear(void);

#endif
