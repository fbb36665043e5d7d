/*
 * Threads, and what they launched on the GPU.
 *
 * Events come by start. A call is put into its track when it has ended, because a region's
 * end is not known before: so all slices of a track are in the order of their ends.
 */
#include "timeline/timeline_priv.h"

#include "base/util.h"
#include "profile/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4096u /* open at once on one lane; deeper ones are not drawn */
#define LANES_MAX 16u   /* of a thread */
#define TITLE_MAX 320
/* Correlation ids count up, and a kernel starts soon after its call: see profile/tree_events.c. */
#define CALLS (1u << 20)

#define NOT_ENDED UINT64_MAX

struct open_slice {
	struct tl_slice slice; /* end_ns may be NOT_ENDED */
	uint32_t region;       /* 0: a call */
};

struct lane {
	struct tl_made_track *track;
	WS_VEC(struct open_slice) open;
};

struct tl_thread {
	const struct trc_thread *thread;
	struct lane lanes[LANES_MAX];
	size_t n_lanes;
	uint64_t last_ns;
	struct tl_sampled sampled[CAP_SAMPLER_COUNT];
};

/* What the text about a slice is made of; unused members are 0. */
struct detail_key {
	uint32_t process, kernel, grid[3], workgroup[3], group_bytes, private_bytes;
	uint32_t agent, other_agent, queue, stream, region;
};

size_t tl_thread_number(const struct tl_process *p, const struct trc_thread *thread)
{
	size_t n = p->process->threads.n;

	if (thread >= p->process->threads.at && thread < p->process->threads.at + n)
		return (size_t)(thread - p->process->threads.at);
	return n;
}

void tl_thread_title(const struct trc_thread *thread, char *to, size_t room)
{
	int n = snprintf(to, room, "Thread %u (%u)", thread->index, thread->tid);

	if (*thread->name && n > 0 && (size_t)n < room)
		snprintf(to + n, room - (size_t)n, " %s", thread->name);
}

void tl_agent_title(const struct tl_process *p, const struct trc_agent *agent, char *to,
		    size_t room)
{
	if (!agent)
		snprintf(to, room, "unknown agent");
	else if (p->tl->opts.agent_index == TRC_AGENT_INDEX_ABSOLUTE)
		snprintf(to, room, "Agent %u", agent->info->node_id);
	else if (p->tl->opts.agent_index == TRC_AGENT_INDEX_RELATIVE)
		snprintf(to, room, "Agent %u", agent->info->logical_node_id);
	else
		snprintf(to, room, "%s %u", agent->info->type == CAP_AGENT_GPU ? "GPU" : "CPU",
			 agent->info->logical_node_type_id);
}

/* ---- threads ---- */

static enum ws_status new_lane(struct tl_process *p, struct tl_thread *thread, struct ws_err *err)
{
	struct lane *lane = &thread->lanes[thread->n_lanes];
	char title[TITLE_MAX];

	tl_thread_title(thread->thread, title, sizeof(title));
	lane->track = tl_track_create(p->tl, TL_TRACK_THREAD, p->process,
				      TL_THREAD_PLACE(thread->thread, thread->n_lanes), title, err);
	if (!lane->track)
		return WS_E_NOMEM;
	ws_vec_init(&lane->open, DEPTH_MAX);
	thread->n_lanes++;
	return WS_OK;
}

static enum ws_status end_top(struct tl_process *p, struct lane *lane, uint64_t now_ns,
			      struct ws_err *err)
{
	struct tl_slice slice = lane->open.at[--lane->open.n].slice;

	if (slice.end_ns == NOT_ENDED)
		slice.end_ns = WS_MAX(now_ns, slice.start_ns);
	slice.busy_ns = slice.end_ns - slice.start_ns;
	return tl_track_slice(p->tl, lane->track, &slice, err);
}

/* Calls that have ended before @now_ns. */
static enum ws_status end_calls(struct tl_process *p, struct lane *lane, uint64_t now_ns,
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	while (!st && lane->open.n && lane->open.at[lane->open.n - 1].slice.end_ns <= now_ns)
		st = end_top(p, lane, now_ns, err);
	return st;
}

/* The lane where a slice is inside of what is open there; a new one if there is none. */
static enum ws_status find_lane(struct tl_process *p, struct tl_thread *thread, uint64_t start_ns,
				uint64_t end_ns, struct lane **out_lane, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < thread->n_lanes; i++) {
		struct lane *lane = &thread->lanes[i];

		st = end_calls(p, lane, start_ns, err);
		if (!st &&
		    (!lane->open.n || lane->open.at[lane->open.n - 1].slice.end_ns >= end_ns ||
		     end_ns == NOT_ENDED)) {
			*out_lane = lane;
			return WS_OK;
		}
	}
	if (!st && thread->n_lanes < LANES_MAX)
		st = new_lane(p, thread, err);
	*out_lane = thread->n_lanes ? &thread->lanes[thread->n_lanes - 1] : NULL;
	return st;
}

static uint32_t innermost(const struct lane *lane)
{
	return lane->open.n ? lane->open.at[lane->open.n - 1].slice.path : 0;
}

static enum ws_status push(struct lane *lane, const struct open_slice *open, struct ws_err *err)
{
	/* Beyond the maximum the slice is left out; what is around it is there. */
	if (lane->open.n >= DEPTH_MAX)
		return WS_OK;
	return ws_vec_push(&lane->open, *open, err);
}

static enum ws_status take_call(struct tl_process *p, struct tl_thread *thread,
				const struct trc_event *ev, struct ws_err *err)
{
	bool marker = ev->domain == CAP_DOMAIN_MARKER_API;
	struct open_slice open = { .slice = { .start_ns = ev->start_ns,
					      .end_ns = ev->end_ns,
					      .corr_id = ev->corr_id,
					      .n = 1 } };
	struct lane *lane = NULL;
	enum ws_status st = find_lane(p, thread, ev->start_ns, ev->end_ns, &lane, err);

	if (st)
		return st;
	open.slice.row = (uint32_t)lane->open.n;
	/* Texts of markers are where the latest one was. */
	open.slice.path = tl_path_number(p->tl, innermost(lane), ev->name, !marker,
					 marker ? PROF_KIND_REGION : PROF_KIND_HIP);
	if (ev->corr_id)
		p->calls[ev->corr_id & (CALLS - 1)] =
			(struct tl_call){ .corr_id = ev->corr_id,
					  .path = open.slice.path,
					  .track = lane->track->number + 1 };
	return push(lane, &open, err);
}

/* Where no mark and no call is open, a thread still needs its track. */
static enum ws_status first_lane(struct tl_process *p, struct tl_thread *thread, struct ws_err *err)
{
	return thread->n_lanes ? WS_OK : new_lane(p, thread, err);
}

static enum ws_status enter(struct tl_process *p, struct lane *lane, const struct trc_event *ev,
			    struct ws_err *err)
{
	const struct trc_region *region = ev->region.region;
	struct open_slice open = { .slice = { .start_ns = ev->start_ns,
					      .end_ns = NOT_ENDED,
					      .row = (uint32_t)lane->open.n,
					      .n = 1 },
				   .region = region->id };
	enum prof_kind kind = prof_region_kind(region);
	const char *name = region->name;
	char text[64];

	if (!*name && p->frames && region->address) {
		const struct prof_frame *frame = prof_frames_at(p->frames, region->address);

		name = frame->name;
		kind = prof_frame_kind(frame);
	}
	if (!*name) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)region->address);
		name = text;
	}
	open.slice.path = tl_path_number(p->tl, innermost(lane), name, name != text, kind);
	if (*region->file) {
		struct detail_key key = { .process = p->process->index, .region = region->id };
		char place[512];

		snprintf(place, sizeof(place), "source=%s:%u", region->file, region->line);
		open.slice.detail = tl_detail_of(p->tl, &key, sizeof(key));
		if (!open.slice.detail)
			open.slice.detail = tl_detail_add(p->tl, &key, sizeof(key), place);
	}
	return push(lane, &open, err);
}

static enum ws_status leave(struct tl_process *p, struct lane *lane, const struct trc_event *ev,
			    struct ws_err *err)
{
	size_t i = lane->open.n;
	enum ws_status st = WS_OK;

	while (i && lane->open.at[i - 1].region != ev->region.region->id)
		i--;
	while (!st && i && ev->region.region->id && lane->open.n >= i)
		st = end_top(p, lane, ev->start_ns, err);
	return st;
}

static enum ws_status take_region(struct tl_process *p, struct tl_thread *thread,
				  const struct trc_event *ev, struct ws_err *err)
{
	struct lane *lane = &thread->lanes[0];
	enum ws_status st = first_lane(p, thread, err);

	if (!st)
		st = end_calls(p, lane, ev->start_ns, err);
	if (st || ev->region.annotation)
		return st;
	return ev->region.enters ? enter(p, lane, ev, err) : leave(p, lane, ev, err);
}

/* ---- the GPU, and ranges that no thread has to itself ---- */

static struct tl_made_track *overlapping_track(struct tl_process *p, enum tl_track_kind kind,
					       uint64_t place, const char *title,
					       struct ws_err *err)
{
	struct tl_made_track *made = tl_track_create(p->tl, kind, p->process, place, title, err);

	if (!made)
		return NULL;
	made->row_ends = ws_arena_array(&p->tl->arena, TL_ROWS_MAX, sizeof(*made->row_ends));
	if (!made->row_ends) {
		ws_fail(err, WS_E_NOMEM, "no memory for the tracks of a timeline");
		return NULL;
	}
	made->track.simulated = kind != TL_TRACK_RANGES &&
				trc_process_gpu_times(p->process) != TRC_GPU_TIMES_HARDWARE;
	return made;
}

static struct tl_made_track *stream_track(struct tl_process *p, const struct trc_event *ev,
					  struct ws_err *err)
{
	struct tl_made_track **at = &p->streams[ev->stream->id];
	char title[TITLE_MAX];

	if (!*at) {
		snprintf(title, sizeof(title), "Stream %u%s%.200s", ev->stream->id,
			 *ev->stream->name ? " " : "", ev->stream->name);
		*at = overlapping_track(p, TL_TRACK_STREAM, ev->stream->id, title, err);
	}
	return *at;
}

static struct tl_made_track *queue_track(struct tl_process *p, const struct trc_event *ev,
					 struct ws_err *err)
{
	const struct trc_queue *queue = ev->dispatch.queue;
	struct tl_made_track **at = &p->queues[queue->id];
	char title[TITLE_MAX], agent[64];

	if (!*at) {
		tl_agent_title(p, ev->dispatch.agent, agent, sizeof(agent));
		snprintf(title, sizeof(title), "%s queue %u", agent, queue->index_on_agent);
		*at = overlapping_track(p, TL_TRACK_QUEUE, queue->id, title, err);
	}
	return *at;
}

static struct tl_made_track *copy_track(struct tl_process *p, const struct trc_event *ev,
					struct ws_err *err)
{
	const struct trc_agent *agent = ev->copy.dst;
	uint64_t key = agent ? agent->info->h.what : 0;
	struct tl_made_track *made = ws_map_get_u64(&p->copies, key);
	char title[TITLE_MAX], name[64];

	if (made)
		return made;
	tl_agent_title(p, agent, name, sizeof(name));
	snprintf(title, sizeof(title), "Copies to %s", name);
	made = overlapping_track(p, TL_TRACK_COPIES, key, title, err);
	return made && !ws_map_put_u64(&p->copies, key, made, err) ? made : NULL;
}

static uint32_t dispatch_detail(struct tl_process *p, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;
	const struct cap_rec_kernel *kernel = ev->dispatch.kernel->info;
	struct detail_key key = { .process = p->process->index,
				  .kernel = ev->dispatch.kernel->id + 1,
				  .group_bytes = info->group_bytes,
				  .private_bytes = info->private_bytes,
				  .agent = info->agent,
				  .queue = ev->dispatch.queue->id,
				  .stream = ev->stream->id };
	char text[512], agent[64];
	uint32_t number;

	memcpy(key.grid, info->grid, sizeof(key.grid));
	memcpy(key.workgroup, info->workgroup, sizeof(key.workgroup));
	number = tl_detail_of(p->tl, &key, sizeof(key));
	if (number)
		return number;
	tl_agent_title(p, ev->dispatch.agent, agent, sizeof(agent));
	snprintf(text, sizeof(text),
		 "grid=%u x %u x %u\nworkgroup=%u x %u x %u\nLDS=%u bytes\nscratch=%u bytes\n"
		 "VGPRs=%u\nAGPRs=%u\nSGPRs=%u\nagent=%s\nqueue=%u\nstream=%u",
		 info->grid[0], info->grid[1], info->grid[2], info->workgroup[0],
		 info->workgroup[1], info->workgroup[2], info->group_bytes, info->private_bytes,
		 kernel ? kernel->arch_vgpr_count : 0, kernel ? kernel->accum_vgpr_count : 0,
		 kernel ? kernel->sgpr_count : 0, agent, key.queue, key.stream);
	return tl_detail_add(p->tl, &key, sizeof(key), text);
}

static uint32_t copy_detail(struct tl_process *p, const struct trc_event *ev)
{
	struct detail_key key = { .process = p->process->index,
				  .agent = ev->copy.info->dst_agent,
				  .other_agent = ev->copy.info->src_agent,
				  .stream = ev->stream->id };
	uint32_t number = tl_detail_of(p->tl, &key, sizeof(key));
	char text[256], from[64], to[64];

	if (number)
		return number;
	tl_agent_title(p, ev->copy.src, from, sizeof(from));
	tl_agent_title(p, ev->copy.dst, to, sizeof(to));
	snprintf(text, sizeof(text), "from=%s\nto=%s\nstream=%u", from, to, key.stream);
	return tl_detail_add(p->tl, &key, sizeof(key), text);
}

static enum ws_status put_overlapping(struct tl_process *p, struct tl_made_track *made,
				      struct tl_slice *slice, struct ws_err *err)
{
	if (!made)
		return WS_E_NOMEM;
	slice->row = tl_track_row(made, slice->start_ns, slice->end_ns);
	slice->busy_ns = slice->end_ns - slice->start_ns;
	return tl_track_slice(p->tl, made, slice, err);
}

static enum ws_status take_launched(struct tl_process *p, const struct trc_event *ev,
				    struct ws_err *err)
{
	bool copy = ev->domain == CAP_DOMAIN_MEMORY_COPY;
	const struct tl_call *call = &p->calls[ev->corr_id & (CALLS - 1)];
	struct tl_slice slice = {
		.start_ns = ev->start_ns, .end_ns = ev->end_ns, .corr_id = ev->corr_id, .n = 1
	};
	const char *name =
		copy || p->tl->opts.kernel_rename ? ev->name : ev->dispatch.kernel->formatted;
	struct tl_made_track *made = !p->by_queue ? stream_track(p, ev, err)
				     : copy       ? copy_track(p, ev, err)
						  : queue_track(p, ev, err);

	if (ev->corr_id && call->corr_id == ev->corr_id)
		slice.caller_track = call->track;
	slice.path = tl_path_number(p->tl, slice.caller_track ? call->path : 0, name, true,
				    copy ? PROF_KIND_COPY : PROF_KIND_KERNEL);
	slice.detail = copy ? copy_detail(p, ev) : dispatch_detail(p, ev);
	slice.n_bytes = copy ? ev->copy.info->n_bytes : 0;
	return put_overlapping(p, made, &slice, err);
}

static enum ws_status take_range(struct tl_process *p, const struct trc_event *ev,
				 struct ws_err *err)
{
	struct tl_slice slice = {
		.start_ns = ev->start_ns, .end_ns = ev->end_ns, .corr_id = ev->corr_id, .n = 1
	};

	if (!p->ranges)
		p->ranges = overlapping_track(p, TL_TRACK_RANGES, 0, "Ranges", err);
	slice.path = tl_path_number(p->tl, 0, ev->name, false, PROF_KIND_REGION);
	return put_overlapping(p, p->ranges, &slice, err);
}

/* ---- a process ---- */

enum ws_status tl_process_begin(struct tl_process *p, struct ws_err *err)
{
	const struct trc_process *process = p->process;

	ws_arena_init(&p->arena, (size_t)1 << 30);
	ws_map_init(&p->copies, WS_MAP_U64, 1u << 16);
	ws_map_init(&p->series, WS_MAP_U64, 1u << 20);
	ws_map_init(&p->live, WS_MAP_U64, 1u << 28);
	p->by_queue = p->tl->opts.group_by_queue || !process->hip_used;
	p->threads = calloc(process->threads.n + 1, sizeof(*p->threads));
	p->calls = calloc(CALLS, sizeof(*p->calls));
	p->streams = ws_arena_array(&p->arena, process->streams.n + 1, sizeof(*p->streams));
	p->queues = ws_arena_array(&p->arena, process->queues.n + 1, sizeof(*p->queues));
	if (!p->threads || !p->calls || !p->streams || !p->queues)
		return ws_fail(err, WS_E_NOMEM, "no memory for a timeline");
	return WS_OK;
}

static enum ws_status take_thread_event(struct tl_process *p, const struct trc_event *ev,
					struct ws_err *err)
{
	struct tl_thread *thread = &p->threads[tl_thread_number(p, ev->thread)];

	thread->thread = ev->thread;
	thread->last_ns = WS_MAX(thread->last_ns, ev->end_ns);
	switch (ev->domain) {
	case CAP_DOMAIN_CALL_STACK_SAMPLING:
		if (ev->stack.info->sampler >= CAP_SAMPLER_COUNT)
			return WS_OK;
		return tl_sample(p, &thread->sampled[ev->stack.info->sampler], ev, err);
	case CAP_DOMAIN_REGIONS:
		return take_region(p, thread, ev, err);
	default:
		return take_call(p, thread, ev, err);
	}
}

/* A dispatch serves two domains: kernels and counters. */
static enum ws_status take_dispatch(struct tl_process *p, const struct trc_event *ev,
				    struct ws_err *err)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;
	enum ws_status st = take_launched(p, ev, err);

	if (!st && info->n_values)
		st = tl_take_counters(p, ev, err);
	if (st)
		return st;
	p->tl->n_placed[CAP_DOMAIN_KERNEL_DISPATCH] += !(info->flags & CAP_DISPATCH_UNASKED);
	p->tl->n_placed[CAP_DOMAIN_COUNTER_COLLECTION] += info->n_values > 0;
	return WS_OK;
}

enum ws_status tl_process_event(struct tl_process *p, const struct trc_event *ev,
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	switch (ev->domain) {
	case CAP_DOMAIN_COUNTER_COLLECTION:
	case CAP_DOMAIN_KERNEL_DISPATCH:
		return take_dispatch(p, ev, err);
	case CAP_DOMAIN_MEMORY_COPY:
		st = take_launched(p, ev, err);
		break;
	case CAP_DOMAIN_MEMORY_ALLOCATION:
		st = tl_take_alloc(p, ev, err);
		break;
	case CAP_DOMAIN_SCRATCH_MEMORY:
		st = tl_take_scratch(p, ev, err);
		break;
	case CAP_DOMAIN_METRICS:
		st = tl_take_metrics(p, ev, err);
		break;
	case CAP_DOMAIN_MARKER_API:
		st = ev->rec->what == CAP_MARKER_PROCESS_RANGE ? take_range(p, ev, err)
							       : take_thread_event(p, ev, err);
		break;
	default:
		st = take_thread_event(p, ev, err);
		break;
	}
	if (!st)
		p->tl->n_placed[ev->domain]++;
	return st;
}

/* When what is still open on a thread ended: with the thread, or with the process. */
static uint64_t end_of(const struct tl_process *p, const struct tl_thread *thread)
{
	uint64_t end_ns = thread->thread && thread->thread->end_ns ? thread->thread->end_ns
								   : p->process->fini_ns;

	return WS_MAX(end_ns, thread->last_ns);
}

enum ws_status tl_process_end(struct tl_process *p, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i <= p->process->threads.n; i++) {
		struct tl_thread *thread = &p->threads[i];

		for (size_t k = 0; k < thread->n_lanes; k++)
			while (!st && thread->lanes[k].open.n)
				st = end_top(p, &thread->lanes[k], end_of(p, thread), err);
		for (size_t k = 0; !st && k < CAP_SAMPLER_COUNT; k++)
			st = tl_samples_end(p, &thread->sampled[k], err);
	}
	return st;
}

void tl_process_fini(struct tl_process *p)
{
	for (size_t i = 0; p->threads && i <= p->process->threads.n; i++) {
		for (size_t k = 0; k < p->threads[i].n_lanes; k++)
			ws_vec_fini(&p->threads[i].lanes[k].open);
		for (size_t k = 0; k < CAP_SAMPLER_COUNT; k++)
			ws_vec_fini(&p->threads[i].sampled[k].open);
	}
	/* The names of its functions are gone soon. */
	ws_map_clear(&p->tl->names.by_place);
	free(p->threads);
	free(p->calls);
	ws_map_fini(&p->copies);
	ws_map_fini(&p->series);
	ws_map_fini(&p->live);
	ws_arena_fini(&p->arena);
}
