/*
 * Sampled call stacks in rocprof-sys's Perfetto trace, as AMD shows them: on a track per thread
 * and kind, the frames of a sample are nested slices from the previous sample to this one.
 * And what a thread used between two samples, as values over time.
 */
#include "output/systrace_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- tracks ---- */

enum output_sys_category output_sys_sample_category(uint32_t sampler)
{
	return sampler == CAP_SAMPLER_OVERFLOW ? OUTPUT_SYS_overflow_sampling
					       : OUTPUT_SYS_timer_sampling;
}

static void begin_track(struct output_sys *sys, struct output_sys_thread *thread,
			enum cap_sampler kind, uint64_t start_ns)
{
	struct output_sys_sampled *sampled = &thread->sampled[kind];
	struct output_sys_begun begun;
	char name[OUTPUT_SAMPLE_NAME_MAX], *p;

	output_sample_track(sys->process, thread->thread, kind, name);
	sampled->track = output_pf_name_uuid(&sys->file, name);
	output_pf_put_descriptor(&sys->file, sampled->track, name);
	output_sample_outermost(sys->process, kind, name);
	p = output_sys_begin(sys,
			     &(struct output_sys_slice){
				     .track = sampled->track,
				     .category = output_sys_sample_category(kind),
				     .name = name,
				     .stable_name = false,
				     .start_ns = start_ns,
			     },
			     64, &begun);
	if (sys->opts->annotations)
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_begin_ns, start_ns);
	output_sys_begin_done(sys, p, &begun);
}

/* ---- frames ---- */

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
		      const struct prof_frame *frame, const struct output_sample_step *step,
		      bool outer)
{
	uint64_t lineinfo = sys->opts->annotations ? output_sys_note(sys, "lineinfo-0") : 0;
	struct output_sys_begun begun;
	char *p = output_sys_begin(sys,
				   &(struct output_sys_slice){
					   .track = track,
					   .category = category,
					   .name = frame->name,
					   .stable_name = true,
					   .start_ns = step->start_ns,
				   },
				   3072, &begun);

	/* the same for all of them: the first and the last say it */
	if (sys->opts->annotations && outer) {
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_begin_ns, step->start_ns);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_end_ns, step->end_ns);
	}
	if (sys->opts->annotations)
		p = note_frame(sys, p, lineinfo, frame);
	output_sys_begin_done(sys, p, &begun);
}

static void put_frames(struct output_sys *sys, uint64_t track, enum output_sys_category category,
		       const struct prof_frame *stack, size_t n,
		       const struct output_sample_step *step)
{
	for (size_t i = 0; i < n; i++)
		put_frame(sys, track, category, &stack[i], step, i == 0 || i == n - 1);
	for (size_t i = 0; i < n; i++)
		output_pf_put_end(&sys->file, track, step->end_ns);
}

/* ---- what the thread used ---- */

static const enum output_sys_category used_categories[OUTPUT_USED_COUNT] = {
	[OUTPUT_USED_CPU_TIME] = OUTPUT_SYS_thread_cpu_time,
	[OUTPUT_USED_PEAK_MEMORY] = OUTPUT_SYS_thread_peak_memory,
	[OUTPUT_USED_SWITCHES] = OUTPUT_SYS_thread_context_switch,
	[OUTPUT_USED_FAULTS] = OUTPUT_SYS_thread_page_fault,
};

/* A value of a track that is described when it gets its first. */
static void put_value(struct output_sys *sys, const struct output_sys_thread *thread,
		      uint64_t *uuid, const struct output_used_info *info, uint64_t at_ns,
		      double value)
{
	char name[OUTPUT_SAMPLE_NAME_MAX];

	if (!*uuid) {
		output_used_track(thread->thread, info->name, name);
		*uuid = output_pf_name_uuid(&sys->file, name);
		output_pf_put_counter_track(&sys->file, &(struct output_pf_counter_track){
								.uuid = *uuid,
								.name = name,
								.category = info->category,
								.unit = info->unit,
								.multiplier = 1,
							});
	}
	output_pf_put_value(&sys->file, *uuid, at_ns, value);
	sys->result->n_values++;
}

static enum ws_status put_events(struct output_sys *sys, struct output_sys_thread *thread,
				 const char *names, const struct output_sample_step *step)
{
	char name[OUTPUT_SAMPLE_NAME_MAX];
	struct output_used_info info = { name, "", OUTPUT_CPU_EVENT_CATEGORY };

	if (!output_sys_on(sys, OUTPUT_SYS_thread_hardware_counter) || !step->n_counts)
		return WS_OK;
	if (!thread->events) {
		thread->events = calloc(OUTPUT_CPU_EVENTS_MAX, sizeof(*thread->events));
		if (!thread->events)
			return output_sys_no_memory(sys);
	}
	for (uint32_t i = 0; i < step->n_counts && output_cpu_event_next(&names, name); i++) {
		put_value(sys, thread, &thread->events[i], &info, step->middle_ns, step->counts[i]);
		thread->n_events = WS_MAX(thread->n_events, i + 1);
	}
	return WS_OK;
}

static enum ws_status put_usage(struct output_sys *sys, struct output_sys_thread *thread,
				const struct trc_event *ev, const struct output_sample_step *step)
{
	if (!step->has_usage)
		return WS_OK;
	for (unsigned i = 0; i < OUTPUT_USED_COUNT; i++)
		if (output_sys_on(sys, used_categories[i]))
			put_value(sys, thread, &thread->used[i], &output_used_infos[i],
				  step->middle_ns, step->used[i]);
	return put_events(sys, thread, sys->process->samplers[ev->stack.info->sampler].count_names,
			  step);
}

/* ---- samples ---- */

enum ws_status output_sys_put_sample(struct output_sys *sys, const struct trc_event *ev)
{
	struct output_sys_thread *thread = output_sys_thread_of(sys, ev->thread);
	const struct cap_rec_sample *info = ev->stack.info;
	const struct prof_frame *stack = NULL;
	struct output_sys_sampled *sampled;
	struct output_sample_step step;
	enum ws_status st;
	size_t n;

	if (info->sampler >= CAP_SAMPLER_COUNT || !sys->opts->frames)
		return WS_OK;
	sampled = &thread->sampled[info->sampler];
	n = prof_frames_of(sys->opts->frames, info->h.what, &stack);
	if (output_samples_next(&sampled->samples, ev, &step, NULL))
		return output_sys_no_memory(sys);
	st = put_usage(sys, thread, ev, &step);
	if (!st && output_sys_on(sys, output_sys_sample_category(info->sampler))) {
		if (!sampled->track)
			begin_track(sys, thread, info->sampler, step.start_ns);
		put_frames(sys, sampled->track, output_sys_sample_category(info->sampler), stack, n,
			   &step);
		st = n ? output_sys_put_stack(sys, ev, stack, n) : WS_OK;
		sys->result->n_samples++;
	}
	return st;
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

			end_ns = WS_MAX(end_ns, sampled->samples.last_ns);
			if (sampled->track)
				output_sys_end(sys, sampled->track, sampled->samples.last_ns, NULL,
					       0);
		}
		if (!end_ns)
			continue;
		end_ns = WS_MAX(end_ns, thread->thread->end_ns ? thread->thread->end_ns
							       : sys->process->fini_ns);
		for (unsigned k = 0; k < OUTPUT_USED_COUNT; k++)
			put_zero(sys, thread->used[k], end_ns);
		for (uint32_t k = 0; k < thread->n_events; k++)
			put_zero(sys, thread->events[k], end_ns);
	}
}
