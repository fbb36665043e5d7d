/*
 * Sampled call stacks in rocprof-sys's Perfetto trace, as AMD shows them: on a track per thread
 * and kind, the frames of a sample are nested slices from the previous sample to this one.
 * And what a thread used between two samples, as values over time.
 */
#include "output/systrace_priv.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAME_MAX_BYTES 256
#define COUNTS_MAX 64u /* CPU events per sample that are written */

/* ---- tracks ---- */

/* "Thread 3 (S) 4711"; of a second kind of timer, and of events, with a word that says so. */
static const char *kind_word(const struct output_sys *sys, enum cap_sampler kind)
{
	const struct trc_sampler *samplers = sys->process->samplers;

	if (kind == CAP_SAMPLER_OVERFLOW)
		return "Overflow ";
	return kind == CAP_SAMPLER_REAL_TIME && samplers[CAP_SAMPLER_CPU_TIME].used ? "Real Time "
										    : "";
}

enum output_sys_category output_sys_sample_category(uint32_t sampler)
{
	return sampler == CAP_SAMPLER_OVERFLOW ? OUTPUT_SYS_overflow_sampling
					       : OUTPUT_SYS_timer_sampling;
}

/* "perf::PERF_COUNT_HW_CACHE_REFERENCES" is "HW_CACHE_REFERENCES samples [rocprof-sys]" here. */
static const char *outermost_name(struct output_sys *sys, enum cap_sampler kind)
{
	static const char prefix[] = "PERF_COUNT_";
	const char *event = sys->process->samplers[kind].event, *at, *name;

	if (kind != CAP_SAMPLER_OVERFLOW || !*event)
		return "samples [rocprof-sys]";
	at = strstr(event, prefix);
	name = ws_arena_printf(&sys->file.arena, "%s samples [rocprof-sys]",
			       at ? at + sizeof(prefix) - 1 : event);
	return name ? name : "samples [rocprof-sys]";
}

static void begin_track(struct output_sys *sys, struct output_sys_thread *thread,
			enum cap_sampler kind, uint64_t start_ns)
{
	struct output_sys_sampled *sampled = &thread->sampled[kind];
	struct output_sys_begun begun;
	char name[NAME_MAX_BYTES], *p;

	snprintf(name, sizeof(name), "Thread %u %s(S) %u", thread->thread->index,
		 kind_word(sys, kind), thread->thread->tid);
	sampled->track = output_pf_name_uuid(&sys->file, name);
	output_pf_put_descriptor(&sys->file, sampled->track, name);
	p = output_sys_begin(sys,
			     &(struct output_sys_slice){
				     .track = sampled->track,
				     .category = output_sys_sample_category(kind),
				     .name = outermost_name(sys, kind),
				     .stable_name = false,
				     .start_ns = start_ns,
			     },
			     64, &begun);
	if (sys->opts->annotations)
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_begin_ns, start_ns);
	output_sys_begin_done(sys, p, &begun);
}

/* ---- frames ---- */

struct interval {
	uint64_t start_ns, end_ns;
};

/* The next name of a list separated by ','. */
static bool next_name(const char **list, char name[NAME_MAX_BYTES])
{
	size_t n = strcspn(*list, ",");

	if (!n)
		return false;
	snprintf(name, NAME_MAX_BYTES, "%.*s", (int)WS_MIN(n, (size_t)NAME_MAX_BYTES - 1), *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

static char *note_hex(char *p, enum output_sys_note note, uint64_t v)
{
	char text[24];

	return output_pf_note_text(p, note, text,
				   (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, v));
}

static char *note_frame(struct output_sys *sys, char *p, uint64_t lineinfo,
			const struct prof_frame *frame)
{
	const char *file = *frame->module ? frame->module : frame->file;
	char text[1024];
	int n;

	p = output_pf_note_text(p, OUTPUT_SYS_NOTE_file, file, strnlen(file, 1024));
	if (!frame->python) {
		p = note_hex(p, OUTPUT_SYS_NOTE_pc, frame->address);
		p = note_hex(p, OUTPUT_SYS_NOTE_line_address, frame->offset);
	}
	if (*frame->file && frame->line && lineinfo) {
		n = snprintf(text, sizeof(text), "%s@%s:%u", frame->name, frame->file, frame->line);
		p = output_pf_note_text(p, lineinfo, text, WS_MIN((size_t)n, sizeof(text) - 1));
	}
	if (frame->inlined)
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_inlined, 1);
	return p;
}

static void put_frame(struct output_sys *sys, uint64_t track, enum output_sys_category category,
		      const struct prof_frame *frame, const struct interval *interval, bool outer)
{
	uint64_t lineinfo = sys->opts->annotations ? output_sys_note(sys, "lineinfo-0") : 0;
	struct output_sys_begun begun;
	char *p = output_sys_begin(sys,
				   &(struct output_sys_slice){
					   .track = track,
					   .category = category,
					   .name = frame->name,
					   .stable_name = true,
					   .start_ns = interval->start_ns,
				   },
				   3072, &begun);

	/* the same for all of them: the first and the last say it */
	if (sys->opts->annotations && outer) {
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_begin_ns, interval->start_ns);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_end_ns, interval->end_ns);
	}
	if (sys->opts->annotations)
		p = note_frame(sys, p, lineinfo, frame);
	output_sys_begin_done(sys, p, &begun);
}

static void put_frames(struct output_sys *sys, uint64_t track, enum output_sys_category category,
		       const struct prof_frame *stack, size_t n, const struct interval *interval)
{
	for (size_t i = 0; i < n; i++)
		put_frame(sys, track, category, &stack[i], interval, i == 0 || i == n - 1);
	for (size_t i = 0; i < n; i++)
		output_pf_put_end(&sys->file, track, interval->end_ns);
}

/* ---- what the thread used ---- */

enum thread_counter { CPU_TIME, PEAK_MEMORY, SWITCHES, FAULTS };

static const struct {
	const char *name, *unit, *category;
	enum output_sys_category bit;
} thread_counters[OUTPUT_SYS_THREAD_COUNTERS] = {
	[CPU_TIME] = { "CPU time", "sec", "thread_cpu_time", OUTPUT_SYS_thread_cpu_time },
	[PEAK_MEMORY] = { "Peak Memory Usage", "MB", "thread_peak_memory",
			  OUTPUT_SYS_thread_peak_memory },
	[SWITCHES] = { "Context Switches", "", "thread_context_switch",
		       OUTPUT_SYS_thread_context_switch },
	[FAULTS] = { "Page Faults", "", "thread_page_fault", OUTPUT_SYS_thread_page_fault },
};

static uint64_t describe(struct output_sys *sys, const struct output_sys_thread *thread,
			 const char *what, const char *unit, const char *category)
{
	char name[NAME_MAX_BYTES + 64];
	uint64_t uuid;

	snprintf(name, sizeof(name), "Thread %s [%u] (S)", what, thread->thread->index);
	uuid = output_pf_name_uuid(&sys->file, name);
	output_pf_put_counter_track(&sys->file, &(struct output_pf_counter_track){
							.uuid = uuid,
							.name = name,
							.category = category,
							.unit = unit,
							.multiplier = 1,
						});
	return uuid;
}

static void put_used(struct output_sys *sys, struct output_sys_thread *thread,
		     enum thread_counter counter, uint64_t at_ns, double value)
{
	uint64_t *uuid = &thread->counters[counter];

	if (!output_sys_on(sys, thread_counters[counter].bit))
		return;
	if (!*uuid)
		*uuid = describe(sys, thread, thread_counters[counter].name,
				 thread_counters[counter].unit, thread_counters[counter].category);
	output_pf_put_value(&sys->file, *uuid, at_ns, value);
	sys->result->n_values++;
}

static enum ws_status put_events(struct output_sys *sys, struct output_sys_thread *thread,
				 const struct output_sys_sampled *sampled,
				 const struct trc_event *ev, uint32_t n, uint64_t at_ns)
{
	const char *names = sys->process->samplers[ev->stack.info->sampler].count_names;
	char name[NAME_MAX_BYTES];

	if (!output_sys_on(sys, OUTPUT_SYS_thread_hardware_counter))
		return WS_OK;
	if (!thread->events) {
		thread->events = calloc(COUNTS_MAX, sizeof(*thread->events));
		if (!thread->events)
			return output_sys_no_memory(sys);
	}
	for (uint32_t i = 0; i < n && next_name(&names, name); i++) {
		if (!thread->events[i])
			thread->events[i] =
				describe(sys, thread, name, "", "thread_hardware_counter");
		output_pf_put_value(&sys->file, thread->events[i], at_ns,
				    (double)(ev->stack.counts[i] - sampled->counts[i]));
		thread->n_events = WS_MAX(thread->n_events, i + 1);
		sys->result->n_values++;
	}
	return WS_OK;
}

/* Differences to the previous sample of the kind; of the highest resident set, the value. */
static enum ws_status put_usage(struct output_sys *sys, struct output_sys_thread *thread,
				const struct output_sys_sampled *before, const struct trc_event *ev)
{
	const struct cap_rec_sample *info = ev->stack.info;
	uint64_t at_ns = before->last_ns + (ev->start_ns - before->last_ns) / 2;
	uint32_t n = WS_MIN(info->n_counts, before->n_counts);

	put_used(sys, thread, CPU_TIME, at_ns, (double)(info->cpu_ns - before->cpu_ns) / 1e9);
	put_used(sys, thread, PEAK_MEMORY, at_ns, (double)info->peak_kb * 1024 / 1e6);
	put_used(sys, thread, SWITCHES, at_ns, info->n_switches - before->n_switches);
	put_used(sys, thread, FAULTS, at_ns, info->n_faults - before->n_faults);
	return n ? put_events(sys, thread, before, ev, n, at_ns) : WS_OK;
}

static enum ws_status keep(struct output_sys *sys, struct output_sys_sampled *sampled,
			   const struct trc_event *ev)
{
	const struct cap_rec_sample *info = ev->stack.info;
	uint32_t n = WS_MIN(info->n_counts, COUNTS_MAX);

	sampled->last_ns = ev->start_ns;
	sampled->cpu_ns = info->cpu_ns;
	sampled->n_switches = info->n_switches;
	sampled->n_faults = info->n_faults;
	if (n && !sampled->counts) {
		sampled->counts = calloc(COUNTS_MAX, sizeof(*sampled->counts));
		if (!sampled->counts)
			return output_sys_no_memory(sys);
	}
	if (n)
		memcpy(sampled->counts, ev->stack.counts, n * sizeof(*sampled->counts));
	sampled->n_counts = n;
	return WS_OK;
}

/* ---- samples ---- */

/* The first sample of a thread stands for a period, but not for time before the thread. */
static uint64_t first_start(const struct output_sys *sys, const struct trc_event *ev)
{
	const struct trc_sampler *sampler = &sys->process->samplers[ev->stack.info->sampler];
	uint64_t period_ns = ev->stack.info->sampler == CAP_SAMPLER_OVERFLOW ? 0 : sampler->period;
	uint64_t start_ns = ev->start_ns - WS_MIN(ev->start_ns, period_ns);

	return WS_MIN(WS_MAX(start_ns, ev->thread->start_ns), ev->start_ns);
}

enum ws_status output_sys_put_sample(struct output_sys *sys, const struct trc_event *ev)
{
	struct output_sys_thread *thread = output_sys_thread_of(sys, ev->thread);
	const struct cap_rec_sample *info = ev->stack.info;
	const struct prof_frame *stack = NULL;
	struct output_sys_sampled *sampled;
	struct interval interval;
	enum ws_status st = WS_OK;
	size_t n;

	if (info->sampler >= CAP_SAMPLER_COUNT || !sys->opts->frames)
		return WS_OK;
	sampled = &thread->sampled[info->sampler];
	n = prof_frames_of(sys->opts->frames, info->h.what, &stack);
	interval.start_ns = sampled->last_ns ? sampled->last_ns : first_start(sys, ev);
	interval.end_ns = ev->start_ns;
	if (sampled->last_ns)
		st = put_usage(sys, thread, sampled, ev);
	if (!st && output_sys_on(sys, output_sys_sample_category(info->sampler))) {
		if (!sampled->track)
			begin_track(sys, thread, info->sampler, interval.start_ns);
		put_frames(sys, sampled->track, output_sys_sample_category(info->sampler), stack, n,
			   &interval);
		st = n ? output_sys_put_stack(sys, ev, stack, n) : WS_OK;
		sys->result->n_samples++;
	}
	return st ? st : keep(sys, sampled, ev);
}

static void put_zero(struct output_sys *sys, uint64_t uuid, uint64_t at_ns)
{
	if (!uuid)
		return;
	output_pf_put_value(&sys->file, uuid, at_ns, 0);
	sys->result->n_values++;
}

void output_sys_end_samples(struct output_sys *sys)
{
	for (size_t i = 0; i < sys->n_threads; i++) {
		struct output_sys_thread *thread = &sys->threads[i];
		uint64_t end_ns = 0;

		for (unsigned k = 0; k < CAP_SAMPLER_COUNT; k++) {
			struct output_sys_sampled *sampled = &thread->sampled[k];

			end_ns = WS_MAX(end_ns, sampled->last_ns);
			if (sampled->track)
				output_sys_end(sys, sampled->track, sampled->last_ns, NULL, 0);
		}
		if (!end_ns)
			continue;
		end_ns = WS_MAX(end_ns, thread->thread->end_ns ? thread->thread->end_ns
							       : sys->process->fini_ns);
		for (unsigned k = 0; k < OUTPUT_SYS_THREAD_COUNTERS; k++)
			put_zero(sys, thread->counters[k], end_ns);
		for (uint32_t k = 0; k < thread->n_events; k++)
			put_zero(sys, thread->events[k], end_ns);
	}
}
