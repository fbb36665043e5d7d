/*
 * host_samples: a thread's call-stack samples as intervals, and what it used in each.
 *
 *	struct output_samples samples = { 0 };       one per thread and kind of sampler
 *
 *	st = output_samples_next(&samples, ev, &step, err);
 *	...                                          its frames last from step.start_ns to end_ns
 *	output_samples_fini(&samples);
 *
 * A sample stands for the time since the previous one of its kind, the first one for a
 * period. Every format shows samples so, on tracks with the names given here, which are AMD's.
 */
#ifndef WS_OUTPUT_HOST_SAMPLES_H
#define WS_OUTPUT_HOST_SAMPLES_H

#include "base/error.h"
#include "trace/trace.h"

/* What a thread used between two samples; of peak memory, the value itself. */
enum output_used {
	OUTPUT_USED_CPU_TIME,
	OUTPUT_USED_PEAK_MEMORY,
	OUTPUT_USED_SWITCHES,
	OUTPUT_USED_FAULTS,
	OUTPUT_USED_COUNT
};
struct output_used_info {
	const char *name, *unit, *category; /* "CPU time", "sec", "thread_cpu_time" */
};
extern const struct output_used_info output_used_infos[OUTPUT_USED_COUNT];
#define OUTPUT_CPU_EVENT_CATEGORY "thread_hardware_counter"

#define OUTPUT_CPU_EVENTS_MAX 64u /* per sample */
#define OUTPUT_SAMPLE_NAME_MAX 320

/* A zeroed one is before the first sample. */
struct output_samples {
	uint64_t first_ns, last_ns; /* beginning of the first interval, end of the latest */
	uint64_t cpu_ns;
	uint32_t n_switches, n_faults;
	uint64_t *counts; /* of the previous sample; NULL: none are taken */
	uint32_t n_counts;
};

struct output_sample_step {
	uint64_t start_ns, end_ns;
	bool has_usage; /* there was a sample before, and what it used is recorded */
	uint64_t middle_ns;
	double used[OUTPUT_USED_COUNT];
	uint32_t n_counts;
	double counts[OUTPUT_CPU_EVENTS_MAX]; /* CPU events, in the order of their names */
};

enum ws_status output_samples_next(struct output_samples *samples, const struct trc_event *ev,
				   struct output_sample_step *out_step, struct ws_err *err);
void output_samples_fini(struct output_samples *samples);

/* "Thread 3 (S) 4711"; of a second kind of timer, and of events, with a word that says so. */
void output_sample_track(const struct trc_process *process, const struct trc_thread *thread,
			 enum cap_sampler kind, char out_name[OUTPUT_SAMPLE_NAME_MAX]);
/* The slice around all samples: "samples [rocprof-sys]"; of events, after their name. */
void output_sample_outermost(const struct trc_process *process, enum cap_sampler kind,
			     char out_name[OUTPUT_SAMPLE_NAME_MAX]);
/* "Thread CPU time [3] (S)" */
void output_used_track(const struct trc_thread *thread, const char *what,
		       char out_name[OUTPUT_SAMPLE_NAME_MAX]);
/* The next CPU event of struct trc_sampler's count_names; false: there are no more. */
bool output_cpu_event_next(const char **names, char out_name[OUTPUT_SAMPLE_NAME_MAX]);
/* "timer_sampling" or "overflow_sampling" */
const char *output_sample_category(uint32_t sampler);

#endif
