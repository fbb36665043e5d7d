#include "output/host_samples.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 256 /* of a name within a track's name */

const struct output_used_info output_used_infos[OUTPUT_USED_COUNT] = {
	[OUTPUT_USED_CPU_TIME] = { "CPU time", "sec", "thread_cpu_time" },
	[OUTPUT_USED_PEAK_MEMORY] = { "Peak Memory Usage", "MB", "thread_peak_memory" },
	[OUTPUT_USED_SWITCHES] = { "Context Switches", "", "thread_context_switch" },
	[OUTPUT_USED_FAULTS] = { "Page Faults", "", "thread_page_fault" },
};

const char *output_sample_category(uint32_t sampler)
{
	return sampler == CAP_SAMPLER_OVERFLOW ? "overflow_sampling" : "timer_sampling";
}

static const char *kind_word(const struct trc_process *process, enum cap_sampler kind)
{
	if (kind == CAP_SAMPLER_OVERFLOW)
		return "Overflow ";
	return kind == CAP_SAMPLER_REAL_TIME && process->samplers[CAP_SAMPLER_CPU_TIME].used
		       ? "Real Time "
		       : "";
}

void output_sample_track(const struct trc_process *process, const struct trc_thread *thread,
			 enum cap_sampler kind, char out_name[OUTPUT_SAMPLE_NAME_MAX])
{
	snprintf(out_name, OUTPUT_SAMPLE_NAME_MAX, "Thread %u %s(S) %u", thread->index,
		 kind_word(process, kind), thread->tid);
}

/* "perf::PERF_COUNT_HW_CACHE_REFERENCES" is "HW_CACHE_REFERENCES samples [rocprof-sys]" here. */
void output_sample_outermost(const struct trc_process *process, enum cap_sampler kind,
			     char out_name[OUTPUT_SAMPLE_NAME_MAX])
{
	static const char prefix[] = "PERF_COUNT_";
	const char *event = kind == CAP_SAMPLER_OVERFLOW ? process->samplers[kind].event : "";
	const char *at = strstr(event, prefix);

	if (at)
		event = at + sizeof(prefix) - 1;
	snprintf(out_name, OUTPUT_SAMPLE_NAME_MAX, "%.*s%ssamples [rocprof-sys]", WORD_MAX, event,
		 *event ? " " : "");
}

void output_used_track(const struct trc_thread *thread, const char *what,
		       char out_name[OUTPUT_SAMPLE_NAME_MAX])
{
	snprintf(out_name, OUTPUT_SAMPLE_NAME_MAX, "Thread %.*s [%u] (S)", WORD_MAX, what,
		 thread->index);
}

bool output_cpu_event_next(const char **names, char out_name[OUTPUT_SAMPLE_NAME_MAX])
{
	size_t n = strcspn(*names, ",");

	if (!n)
		return false;
	snprintf(out_name, OUTPUT_SAMPLE_NAME_MAX, "%.*s", (int)WS_MIN(n, (size_t)WORD_MAX),
		 *names);
	*names += n + ((*names)[n] == ',');
	return true;
}

/* The first sample of a thread stands for a period, but not for time before the thread. */
static uint64_t first_start(const struct trc_event *ev)
{
	const struct trc_sampler *sampler = &ev->process->samplers[ev->stack.info->sampler];
	uint64_t period_ns = ev->stack.info->sampler == CAP_SAMPLER_OVERFLOW ? 0 : sampler->period;
	uint64_t start_ns = ev->start_ns - WS_MIN(ev->start_ns, period_ns);

	return WS_MIN(WS_MAX(start_ns, ev->thread->start_ns), ev->start_ns);
}

static void use(const struct output_samples *before, const struct trc_event *ev,
		struct output_sample_step *step)
{
	const struct cap_rec_sample *info = ev->stack.info;

	step->has_usage = true;
	step->middle_ns = before->last_ns + (ev->start_ns - before->last_ns) / 2;
	step->used[OUTPUT_USED_CPU_TIME] = (double)(info->cpu_ns - before->cpu_ns) / 1e9;
	step->used[OUTPUT_USED_PEAK_MEMORY] = (double)info->peak_kb * 1024 / 1e6;
	step->used[OUTPUT_USED_SWITCHES] = info->n_switches - before->n_switches;
	step->used[OUTPUT_USED_FAULTS] = info->n_faults - before->n_faults;
	step->n_counts = WS_MIN(WS_MIN(info->n_counts, before->n_counts), OUTPUT_CPU_EVENTS_MAX);
	for (uint32_t i = 0; i < step->n_counts; i++)
		step->counts[i] = (double)(ev->stack.counts[i] - before->counts[i]);
}

enum ws_status output_samples_next(struct output_samples *samples, const struct trc_event *ev,
				   struct output_sample_step *out_step, struct ws_err *err)
{
	const struct cap_rec_sample *info = ev->stack.info;
	uint32_t n = WS_MIN(info->n_counts, OUTPUT_CPU_EVENTS_MAX);

	out_step->has_usage = false;
	out_step->start_ns = samples->last_ns ? samples->last_ns : first_start(ev);
	out_step->end_ns = ev->start_ns;
	if (samples->last_ns && info->cpu_ns)
		use(samples, ev, out_step);
	if (!samples->last_ns)
		samples->first_ns = out_step->start_ns;
	samples->last_ns = ev->start_ns;
	samples->cpu_ns = info->cpu_ns;
	samples->n_switches = info->n_switches;
	samples->n_faults = info->n_faults;
	if (n && !samples->counts) {
		samples->counts = calloc(OUTPUT_CPU_EVENTS_MAX, sizeof(*samples->counts));
		if (!samples->counts)
			return ws_fail(err, WS_E_NOMEM, "no memory for the events of samples");
	}
	if (n)
		memcpy(samples->counts, ev->stack.counts, n * sizeof(*samples->counts));
	samples->n_counts = n;
	return WS_OK;
}

void output_samples_fini(struct output_samples *samples)
{
	free(samples->counts);
	samples->counts = NULL;
}
