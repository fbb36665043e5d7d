/*
 * Sampled call stacks as slices. A sample stands for the time since the previous one of its kind on
 * the thread. Functions that stay on the stack from sample to sample are one slice.
 */
#include "timeline/timeline_priv.h"

#include "base/util.h"
#include "profile/frames.h"

#include <stdio.h>

#define NO_STACK "[no call stack]"
#define FRAMES_MAX 1024u

static const char *const sampler_words[CAP_SAMPLER_COUNT] = {
	[CAP_SAMPLER_CPU_TIME] = "CPU time samples",
	[CAP_SAMPLER_REAL_TIME] = "Wall-clock samples",
	[CAP_SAMPLER_OVERFLOW] = "CPU event samples",
};

static enum ws_status begin(struct tl_process *p, struct tl_sampled *sampled,
			    const struct trc_event *ev, struct ws_err *err)
{
	uint32_t kind = ev->stack.info->sampler;
	const struct trc_sampler *sampler = &p->process->samplers[kind];
	/* The first sample of a thread stands for a period, but not for time before the thread. */
	uint64_t period_ns = kind == CAP_SAMPLER_OVERFLOW ? 0 : sampler->period;
	uint64_t start_ns = ev->start_ns - WS_MIN(ev->start_ns, period_ns);
	char title[128];

	snprintf(title, sizeof(title), "%s of %u (%u)", sampler_words[kind], ev->thread->index,
		 ev->thread->tid);
	sampled->track =
		tl_track_create(p->tl, TL_TRACK_SAMPLES, p->process,
				TL_THREAD_PLACE(ev->thread, TL_PLACE_SAMPLES + kind), title, err);
	if (!sampled->track)
		return WS_E_NOMEM;
	ws_vec_init(&sampled->open, FRAMES_MAX);
	start_ns = WS_MAX(WS_MAX(start_ns, ev->thread->start_ns), p->tl->start_ns);
	sampled->last_ns = WS_MIN(start_ns, ev->start_ns);
	return WS_OK;
}

/* Put the open slices from depth @n on into the track, innermost first. */
static enum ws_status close_from(struct tl_process *p, struct tl_sampled *sampled, size_t n,
				 struct ws_err *err)
{
	enum ws_status st = WS_OK;

	while (!st && sampled->open.n > n) {
		struct tl_slice slice = sampled->open.at[--sampled->open.n];

		slice.end_ns = sampled->last_ns;
		slice.busy_ns = slice.end_ns - slice.start_ns;
		st = tl_track_slice(p->tl, sampled->track, &slice, err);
	}
	return st;
}

/* One frame of the new stack: it continues the slice at its depth, or begins one. */
static enum ws_status take_frame(struct tl_process *p, struct tl_sampled *sampled, size_t depth,
				 uint32_t *path, const char *name, enum prof_kind kind,
				 struct ws_err *err)
{
	struct tl_slice slice = { .start_ns = sampled->last_ns, .row = (uint32_t)depth, .n = 1 };
	enum ws_status st = WS_OK;

	slice.path = *path = tl_path_number(p->tl, *path, name, true, kind);
	if (depth < sampled->open.n && sampled->open.at[depth].path != *path)
		st = close_from(p, sampled, depth, err);
	if (!st && depth >= sampled->open.n)
		st = ws_vec_push(&sampled->open, slice, err);
	return st;
}

enum ws_status tl_sample(struct tl_process *p, struct tl_sampled *sampled,
			 const struct trc_event *ev, struct ws_err *err)
{
	const struct prof_frame *stack = NULL;
	enum ws_status st = sampled->track ? WS_OK : begin(p, sampled, ev, err);
	uint32_t path = 0;
	size_t n;

	if (st)
		return st;
	n = p->frames ? prof_frames_of(p->frames, ev->stack.info->h.what, &stack) : 0;
	n = WS_MIN(n, (size_t)FRAMES_MAX);
	for (size_t i = 0; !st && i < n; i++)
		st = take_frame(p, sampled, i, &path, stack[i].name, prof_frame_kind(&stack[i]),
				err);
	if (!st && !n) {
		st = take_frame(p, sampled, 0, &path, NO_STACK, PROF_KIND_C, err);
		n = 1;
	}
	if (!st)
		st = close_from(p, sampled, n, err);
	sampled->last_ns = ev->start_ns;
	return st;
}

enum ws_status tl_samples_end(struct tl_process *p, struct tl_sampled *sampled, struct ws_err *err)
{
	return sampled->track ? close_from(p, sampled, 0, err) : WS_OK;
}
