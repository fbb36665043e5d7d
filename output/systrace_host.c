/*
 * Regions and metrics in rocprof-sys's Perfetto trace.
 *
 * The end of a region is not known when it begins. It is open until its end comes, at most
 * until the call ends that it is in; what is inside it ends before it.
 */
#include "output/systrace_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- regions ---- */

static const char *region_name(struct output_sys *sys, const struct trc_region *region)
{
	const char **name = &sys->region_names[region->id];
	const struct prof_frame *frame;

	if (*region->name)
		return region->name;
	if (*name)
		return *name;
	frame = sys->opts->frames ? prof_frames_at(sys->opts->frames, region->address) : NULL;
	*name = frame ? frame->name
		      : ws_arena_printf(&sys->file.arena, "0x%" PRIx64, region->address);
	return *name ? *name : "";
}

/* Regions that ended with the call around them, when a later event of the thread was written. */
static void forget_ended(struct output_sys_thread *thread)
{
	while (thread->n_open && !thread->open[thread->n_open - 1].hidden &&
	       thread->open[thread->n_open - 1].depth >= thread->track->first.n)
		thread->n_open--;
}

static struct output_sys_open *push_open(struct output_sys_thread *thread)
{
	if (thread->n_open == thread->cap_open) {
		size_t cap = thread->cap_open ? thread->cap_open * 2 : 16;
		struct output_sys_open *more = realloc(thread->open, cap * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + thread->cap_open, 0, (cap - thread->cap_open) * sizeof(*more));
		thread->open = more;
		thread->cap_open = cap;
	}
	return &thread->open[thread->n_open++];
}

/* One that is not in the file: its end and its annotations are recognised. */
static enum ws_status enter_hidden(struct output_sys *sys, struct output_sys_thread *thread,
				   const struct trc_region *region)
{
	struct output_sys_open *open = push_open(thread);

	if (!open)
		return output_sys_no_memory(sys);
	open->region = region->id;
	open->hidden = true;
	return WS_OK;
}

static enum ws_status enter(struct output_sys *sys, struct output_sys_thread *thread,
			    const struct trc_event *ev)
{
	const struct trc_region *region = ev->region.region;
	struct output_pf_track *track = output_sys_thread_track(sys, thread);
	struct output_pf_lane *lane = track ? &track->first : NULL;
	size_t n_file = strnlen(region->file, OUTPUT_PF_NAME_MAX);
	struct output_sys_begun begun;
	struct output_sys_open *open;
	char *p;

	if (!lane)
		return output_sys_no_memory(sys);
	output_pf_end_until(&sys->file, lane, ev->start_ns);
	forget_ended(thread);
	open = push_open(thread);
	if (!open)
		return output_sys_no_memory(sys);
	open->region = region->id;
	open->depth = lane->n;
	open->n_notes = 0;
	open->hidden = false;
	if (!output_pf_enter_first(&sys->file, lane,
				   lane->n ? lane->ends[lane->n - 1] : UINT64_MAX))
		return output_sys_no_memory(sys);
	p = output_sys_begin(sys,
			     &(struct output_sys_slice){
				     .track = lane->uuid,
				     .category = sys->region_category[region->category],
				     .name = region_name(sys, region),
				     .stable_name = true,
				     .start_ns = ev->start_ns,
			     },
			     n_file + 256, &begun);
	if (sys->opts->annotations) {
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_begin_ns, ev->start_ns);
		if (n_file)
			p = output_pf_note_text(p, OUTPUT_SYS_NOTE_file, region->file, n_file);
		if (region->line)
			p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_line, region->line);
	}
	output_sys_begin_done(sys, p, &begun);
	return WS_OK;
}

static void end_innermost(struct output_sys *sys, struct output_sys_thread *thread, uint64_t at_ns)
{
	struct output_sys_open *open = &thread->open[--thread->n_open];
	struct output_pf_lane *lane;

	if (open->hidden)
		return;
	lane = &thread->track->first;
	/* A call that is open inside a region which ends: it was left by an exception. */
	while (lane->n > open->depth + 1) {
		output_pf_put_end(&sys->file, lane->uuid, WS_MIN(at_ns, lane->ends[lane->n - 1]));
		lane->n--;
	}
	output_sys_end(sys, lane->uuid, at_ns, open->notes, open->n_notes);
	lane->n = open->depth;
}

static void leave(struct output_sys *sys, struct output_sys_thread *thread,
		  const struct trc_event *ev)
{
	size_t i;

	if (thread->track) {
		output_pf_end_until(&sys->file, &thread->track->first, ev->start_ns);
		forget_ended(thread);
	}
	for (i = thread->n_open; i && thread->open[i - 1].region != ev->region.region->id;)
		i--;
	while (i && thread->n_open >= i)
		end_innermost(sys, thread, ev->start_ns);
}

/* ---- annotations of regions ---- */

#define NOTES_MAX 8192u /* per region; further ones are left out */

static char *note_value(char *p, uint64_t iid, const struct cap_rec_annotation *note,
			const char *text, size_t n_text)
{
	double f64;
	char hex[24];
	int n;

	switch ((enum cap_arg_kind)note->h.what) {
	case CAP_ARG_F64:
		memcpy(&f64, &note->bits, sizeof(f64));
		return output_pf_note_f64(p, iid, f64);
	case CAP_ARG_I64:
		return output_pf_note_i64(p, iid, (int64_t)note->bits);
	case CAP_ARG_PTR:
		n = snprintf(hex, sizeof(hex), "0x%" PRIx64, note->bits);
		return output_pf_note_text(p, iid, hex, (size_t)n);
	case CAP_ARG_STR:
		return output_pf_note_text(p, iid, text, n_text);
	default:
		return output_pf_note_u64(p, iid, note->bits);
	}
}

static enum ws_status annotate(struct output_sys *sys, struct output_sys_thread *thread,
			       const struct cap_rec_annotation *note)
{
	const char *tail = (const char *)(note + 1);
	size_t n_name = WS_MIN(note->n_name, note->n_bytes);
	const char *text = tail + n_name;
	size_t n_text = WS_MIN(note->n_bytes - n_name, OUTPUT_PF_NAME_MAX);
	struct output_sys_open *open;
	char name[128];
	uint64_t iid;

	if (!thread->n_open || !sys->opts->annotations)
		return WS_OK;
	open = &thread->open[thread->n_open - 1];
	if (open->hidden)
		return WS_OK;
	n_name = WS_MIN(n_name, sizeof(name) - 1);
	memcpy(name, tail, n_name);
	name[n_name] = '\0';
	iid = output_sys_note(sys, name);
	if (!iid || open->n_notes + n_text + 64 > NOTES_MAX)
		return WS_OK;
	if (open->cap_notes < open->n_notes + n_text + 64) {
		char *more = realloc(open->notes, NOTES_MAX);

		if (!more)
			return output_sys_no_memory(sys);
		open->notes = more;
		open->cap_notes = NOTES_MAX;
	}
	open->n_notes = (size_t)(note_value(open->notes + open->n_notes, iid, note, text, n_text) -
				 open->notes);
	return WS_OK;
}

enum ws_status output_sys_put_region(struct output_sys *sys, const struct trc_event *ev, bool shown)
{
	struct output_sys_thread *thread = output_sys_thread_of(sys, ev->thread);

	if (ev->region.annotation)
		return annotate(sys, thread, ev->region.annotation);
	shown &= output_sys_on(sys, sys->region_category[ev->region.region->category]);
	if (ev->region.enters)
		return shown ? enter(sys, thread, ev)
			     : enter_hidden(sys, thread, ev->region.region);
	leave(sys, thread, ev);
	return WS_OK;
}

void output_sys_end_regions(struct output_sys *sys)
{
	for (size_t i = 0; i < sys->n_threads; i++) {
		struct output_sys_thread *thread = &sys->threads[i];
		uint64_t end_ns;

		if (!thread->n_open)
			continue;
		end_ns = thread->thread->end_ns ? thread->thread->end_ns : sys->process->fini_ns;
		if (thread->track) {
			output_pf_end_until(&sys->file, &thread->track->first, end_ns);
			forget_ended(thread);
		}
		while (thread->n_open)
			end_innermost(sys, thread, end_ns);
	}
}

/* ---- metrics ---- */

enum ws_status output_sys_put_metrics(struct output_sys *sys, const struct trc_event *ev)
{
	const struct trc_process *process = sys->process;

	for (uint32_t i = 0; i < ev->metrics.n_values; i++) {
		const struct cap_metric_value *value = &ev->metrics.values[i];
		const struct trc_metric *metric;
		struct output_sys_series *series;

		if (!value->metric || value->metric >= process->metrics.n)
			continue;
		metric = &process->metrics.at[value->metric];
		series = &sys->metrics[value->metric];
		if (!metric->id || !output_sys_on(sys, sys->metric_category[metric->category]))
			continue;
		if (!series->uuid) {
			series->uuid = output_pf_name_uuid(&sys->file, metric->name);
			output_pf_put_counter_track(
				&sys->file,
				&(struct output_pf_counter_track){
					.uuid = series->uuid,
					.name = metric->name,
					.category = trc_metric_category_name(metric->category),
					.unit = metric->unit,
					.multiplier = 1,
				});
		}
		output_pf_put_value(&sys->file, series->uuid, ev->start_ns, value->value);
		series->last_ns = ev->start_ns;
		sys->result->n_values++;
	}
	return WS_OK;
}

void output_sys_end_metrics(struct output_sys *sys)
{
	for (size_t i = 0; i < sys->process->metrics.n; i++) {
		struct output_sys_series *series = &sys->metrics[i];

		if (!series->uuid)
			continue;
		output_pf_put_value(&sys->file, series->uuid,
				    WS_MAX(sys->process->fini_ns, series->last_ns + 1), 0);
		sys->result->n_values++;
	}
}
