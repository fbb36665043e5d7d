/* Calls, GPU work and GPU counters in rocprof-sys's Perfetto trace. */
#include "output/systrace_priv.h"

#include <stdlib.h>

#define NAME_MAX_BYTES 256
#define ARGS_ROOM 8192u /* of the annotations of a call's arguments */
#define NOTES_ROOM 768u

enum track_kind { COPIES, QUEUES, SCRATCH };

static char *note_times(char *p, uint64_t start_ns, uint64_t end_ns)
{
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_begin_ns, start_ns);
	return output_pf_note_u64(p, OUTPUT_SYS_NOTE_end_ns, end_ns);
}

/* ---- calls ---- */

/* Work without a HIP stream is on the tracks of queues in any case. */
static uint32_t stream_of(const struct output_sys *sys, const struct trc_event *ev)
{
	return sys->opts->group_by_queue || !ev->stream || ev->stream->id > sys->process->streams.n
		       ? 0
		       : ev->stream->id;
}

enum output_sys_category output_sys_category_of(const struct output_sys *sys,
						const struct trc_event *ev)
{
	switch (ev->domain) {
	case CAP_DOMAIN_HIP_API:
		return OUTPUT_SYS_rocm_hip_api;
	case CAP_DOMAIN_HSA_API:
		return OUTPUT_SYS_rocm_hsa_api;
	case CAP_DOMAIN_RCCL_API:
		return OUTPUT_SYS_rocm_rccl_api;
	case CAP_DOMAIN_ROCDECODE_API:
		return OUTPUT_SYS_rocm_rocdecode_api;
	case CAP_DOMAIN_ROCJPEG_API:
		return OUTPUT_SYS_rocm_rocjpeg_api;
	case CAP_DOMAIN_MARKER_API:
		return OUTPUT_SYS_rocm_marker_api;
	case CAP_DOMAIN_MEMORY_ALLOCATION:
		return OUTPUT_SYS_rocm_memory_allocation;
	case CAP_DOMAIN_SCRATCH_MEMORY:
		return OUTPUT_SYS_rocm_scratch_memory;
	case CAP_DOMAIN_MEMORY_COPY:
		return stream_of(sys, ev) ? OUTPUT_SYS_rocm_hip_stream
					  : OUTPUT_SYS_rocm_memory_copy;
	default:
		return stream_of(sys, ev) ? OUTPUT_SYS_rocm_hip_stream
					  : OUTPUT_SYS_rocm_kernel_dispatch;
	}
}

/* Their names are written before the packet that refers to them is begun. */
static void intern_args(struct output_sys *sys, const struct trc_event *ev)
{
	struct trc_arg_walk walk = { 0 };
	struct trc_arg arg;

	while (trc_event_arg(ev, &walk, &arg))
		output_sys_note(sys, arg.name);
}

static char *note_args(struct output_sys *sys, char *p, const struct trc_event *ev)
{
	struct trc_arg_walk walk = { 0 };
	char value[NAME_MAX_BYTES], *limit = p + ARGS_ROOM;
	struct trc_arg arg;

	while (trc_event_arg(ev, &walk, &arg)) {
		uint64_t iid = output_sys_known_note(sys, arg.name);
		int n = trc_arg_print(ev->process, &arg, value, sizeof(value));

		if (iid && n >= 0 && limit - p > (ptrdiff_t)sizeof(value) + 32)
			p = output_pf_note_text(p, iid, value,
						WS_MIN((size_t)n, sizeof(value) - 1));
	}
	return p;
}

static bool has_args(const struct trc_event *ev)
{
	return ev->domain != CAP_DOMAIN_MARKER_API && ev->call.slots;
}

/*
 * Ranges that are not of a thread overlap with anything. Regions are written before their
 * ends are known, so where there are regions such ranges have a track of their own.
 */
static struct output_pf_track *track_of_call(struct output_sys *sys,
					     struct output_sys_thread *thread,
					     const struct trc_event *ev)
{
	char name[NAME_MAX_BYTES];

	if (ev->domain != CAP_DOMAIN_MARKER_API || ev->rec->what != CAP_MARKER_PROCESS_RANGE ||
	    sys->process->regions.n <= 1)
		return output_sys_thread_track(sys, thread);
	if (!thread->ranges) {
		snprintf(name, sizeof(name), "Thread %u Ranges %u", thread->thread->index,
			 thread->thread->tid);
		thread->ranges = output_pf_track_new(&sys->file, 0, name);
	}
	return thread->ranges;
}

enum ws_status output_sys_put_call(struct output_sys *sys, const struct trc_event *ev)
{
	struct output_sys_thread *thread = output_sys_thread_of(sys, ev->thread);
	enum output_sys_category category = output_sys_category_of(sys, ev);
	uint64_t end_ns = WS_MAX(ev->end_ns, ev->start_ns);
	struct output_sys_begun begun;
	struct output_pf_track *track;
	struct output_pf_lane *lane;
	bool args;
	char *p;

	if (!output_sys_on(sys, category))
		return WS_OK;
	track = track_of_call(sys, thread, ev);
	lane = track ? output_pf_enter(&sys->file, track, ev->start_ns, end_ns) : NULL;
	if (!lane)
		return output_sys_no_memory(sys);
	args = sys->opts->annotations && has_args(ev);
	if (args)
		intern_args(sys, ev);
	p = output_sys_begin(sys,
			     &(struct output_sys_slice){
				     .track = lane->uuid,
				     .category = category,
				     .name = ev->name,
				     .stable_name = ev->domain != CAP_DOMAIN_MARKER_API,
				     .start_ns = ev->start_ns,
				     .corr_id = ev->corr_id,
			     },
			     NOTES_ROOM + (args ? ARGS_ROOM : 0), &begun);
	if (sys->opts->annotations) {
		p = note_times(p, ev->start_ns, end_ns);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_corr_id, ev->corr_id);
		if (ev->domain == CAP_DOMAIN_HIP_API && ev->stream && ev->stream->id)
			p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_stream_id, ev->stream->id);
	}
	if (args)
		p = note_args(sys, p, ev);
	output_sys_begin_done(sys, p, &begun);
	return WS_OK;
}

enum ws_status output_sys_put_alloc(struct output_sys *sys, const struct trc_event *ev)
{
	struct output_sys_thread *thread = output_sys_thread_of(sys, ev->thread);
	uint64_t end_ns = WS_MAX(ev->end_ns, ev->start_ns);
	struct output_sys_begun begun;
	struct output_pf_track *track;
	struct output_pf_lane *lane;
	char *p;

	if (!output_sys_on(sys, OUTPUT_SYS_rocm_memory_allocation))
		return WS_OK;
	track = output_sys_thread_track(sys, thread);
	lane = track ? output_pf_enter(&sys->file, track, ev->start_ns, end_ns) : NULL;
	if (!lane)
		return output_sys_no_memory(sys);
	p = output_sys_begin(sys,
			     &(struct output_sys_slice){
				     .track = lane->uuid,
				     .category = OUTPUT_SYS_rocm_memory_allocation,
				     .name = ev->name,
				     .stable_name = true,
				     .start_ns = ev->start_ns,
			     },
			     NOTES_ROOM, &begun);
	if (sys->opts->annotations) {
		p = note_times(p, ev->start_ns, end_ns);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_corr_id, ev->corr_id);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_allocation_size, ev->alloc.info->n_bytes);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_address, ev->alloc.info->address);
	}
	output_sys_begin_done(sys, p, &begun);
	return WS_OK;
}

/* ---- GPU counters ---- */

static uint32_t device_of(const struct trc_agent *agent)
{
	return agent ? agent->info->logical_node_type_id : 0;
}

static struct output_sys_series *counter_series(struct output_sys *sys,
						const struct trc_agent *agent, uint32_t counter)
{
	uint64_t key = (uint64_t)(agent ? agent->info->h.what : 0) << 32 | counter;
	struct output_sys_series *series = ws_map_get_u64(&sys->counters, key);
	const struct trc_process *process = sys->process;
	char name[NAME_MAX_BYTES];

	if (series)
		return series;
	series = ws_arena_new(&sys->file.arena, struct output_sys_series);
	if (!series || ws_map_put_u64(&sys->counters, key, series, NULL))
		return NULL;
	snprintf(name, sizeof(name), "GPU %s [%u]",
		 counter < process->counters.n ? process->counters.at[counter].name : "",
		 device_of(agent));
	series->uuid = output_pf_name_uuid(&sys->file, name);
	output_pf_put_counter_track(&sys->file, &(struct output_pf_counter_track){
							.uuid = series->uuid,
							.name = name,
							.category = "rocm_counter_collection",
							.unit = "",
							.multiplier = 1,
						});
	return series;
}

/* The value from the start of the kernel to its end. */
static enum ws_status put_counters(struct output_sys *sys, const struct trc_event *ev,
				   uint64_t end_ns)
{
	uint32_t n_values = ev->dispatch.info->n_values;
	size_t n;

	if (n_values > sys->cap_sums) {
		struct output_counter_sum *more = realloc(sys->sums, n_values * sizeof(*more));

		if (!more)
			return output_sys_no_memory(sys);
		sys->sums = more;
		sys->cap_sums = n_values;
	}
	n = output_counter_sums(ev, sys->sums, sys->cap_sums);
	for (size_t i = 0; i < n; i++) {
		struct output_sys_series *series =
			counter_series(sys, ev->dispatch.agent, sys->sums[i].counter);

		if (!series)
			return output_sys_no_memory(sys);
		output_pf_put_value(&sys->file, series->uuid, ev->start_ns, sys->sums[i].value);
		output_pf_put_value(&sys->file, series->uuid, end_ns, 0);
		sys->result->n_values += 2;
	}
	return WS_OK;
}

/* ---- kernels, copies, scratch memory ---- */

static struct output_pf_track *stream_track(struct output_sys *sys, uint32_t id)
{
	struct output_pf_track **at = &sys->streams[id];
	char name[NAME_MAX_BYTES];

	if (!*at) {
		snprintf(name, sizeof(name), "HIP Activity Stream %u", id);
		*at = output_pf_track_new(&sys->file, 0, name);
	}
	return *at;
}

/* @number: of a queue or a thread. */
static struct output_pf_track *agent_track(struct output_sys *sys, enum track_kind kind,
					   const struct trc_agent *agent, uint32_t number)
{
	uint64_t key = (uint64_t)kind << 56 |
		       (uint64_t)(agent ? agent->info->h.what & 0xffffffu : 0) << 32 | number;
	struct output_pf_track *track = ws_map_get_u64(&sys->tracks, key);
	char name[NAME_MAX_BYTES];

	if (track)
		return track;
	if (kind == COPIES)
		snprintf(name, sizeof(name), "GPU Memory Copy to Agent [%u] Thread %u",
			 agent ? agent->info->logical_node_id : 0, number);
	else
		snprintf(name, sizeof(name),
			 kind == QUEUES ? "GPU Kernel Dispatch [%u] Queue %u"
					: "GPU Scratch Memory [%u] Queue %u",
			 device_of(agent), number);
	track = output_pf_track_new(&sys->file, 0, name);
	return track && !ws_map_put_u64(&sys->tracks, key, track, NULL) ? track : NULL;
}

static char *note_size(char *p, enum output_sys_note note, const uint32_t dims[3])
{
	char text[64];
	int n = snprintf(text, sizeof(text), "(%u,%u,%u)", dims[0], dims[1], dims[2]);

	return output_pf_note_text(p, note, text, (size_t)n);
}

static char *note_kernel(char *p, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;

	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_queue, ev->dispatch.queue->id);
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_dispatch_id, info->dispatch_id);
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_kernel_id, ev->dispatch.kernel->id);
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_private_segment_size, info->private_bytes);
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_group_segment_size, info->group_bytes);
	p = note_size(p, OUTPUT_SYS_NOTE_workgroup_size, info->workgroup);
	return note_size(p, OUTPUT_SYS_NOTE_grid_size, info->grid);
}

static char *note_copy(char *p, const struct trc_event *ev)
{
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_dst_agent,
			       ev->copy.dst ? ev->copy.dst->info->logical_node_id : 0);
	return output_pf_note_u64(p, OUTPUT_SYS_NOTE_src_agent,
				  ev->copy.src ? ev->copy.src->info->logical_node_id : 0);
}

static char *note_scratch(char *p, const struct trc_event *ev)
{
	p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_queue, ev->scratch.queue->id);
	return output_pf_note_u64(p, OUTPUT_SYS_NOTE_allocation_size, ev->scratch.info->n_bytes);
}

/* What runs on a GPU: where it is, and what is particular to it. */
struct gpu_slice {
	enum output_sys_category category;
	struct output_pf_track *track;
	const char *name;
	char *(*note)(char *p, const struct trc_event *ev);
};

static enum ws_status put_gpu(struct output_sys *sys, const struct trc_event *ev,
			      const struct gpu_slice *slice)
{
	uint64_t end_ns = WS_MAX(ev->end_ns, ev->start_ns);
	struct output_sys_begun begun;
	struct output_pf_lane *lane;
	char *p;

	lane = slice->track ? output_pf_enter(&sys->file, slice->track, ev->start_ns, end_ns)
			    : NULL;
	if (!lane)
		return output_sys_no_memory(sys);
	p = output_sys_begin(sys,
			     &(struct output_sys_slice){
				     .track = lane->uuid,
				     .category = slice->category,
				     .name = slice->name,
				     .stable_name = true,
				     .start_ns = ev->start_ns,
				     .corr_id = ev->corr_id,
			     },
			     NOTES_ROOM, &begun);
	if (sys->opts->annotations) {
		p = note_times(p, ev->start_ns, end_ns);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_corr_id, ev->corr_id);
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_stream_id,
				       ev->stream ? ev->stream->id : 0);
		p = slice->note(p, ev);
	}
	output_sys_begin_done(sys, p, &begun);
	return WS_OK;
}

enum ws_status output_sys_put_kernel(struct output_sys *sys, const struct trc_event *ev)
{
	uint32_t stream = stream_of(sys, ev);
	struct gpu_slice slice = {
		.category = output_sys_category_of(sys, ev),
		.name = ev->dispatch.kernel->formatted,
		.note = note_kernel,
	};
	enum ws_status st = WS_OK;

	if (output_event_traced(ev) && output_sys_on(sys, slice.category)) {
		slice.track = stream ? stream_track(sys, stream)
				     : agent_track(sys, QUEUES, ev->dispatch.agent,
						   ev->dispatch.queue->id);
		st = put_gpu(sys, ev, &slice);
	}
	if (!st && ev->dispatch.info->n_values &&
	    output_sys_on(sys, OUTPUT_SYS_rocm_counter_collection))
		st = put_counters(sys, ev, WS_MAX(ev->end_ns, ev->start_ns));
	return st;
}

enum ws_status output_sys_put_copy(struct output_sys *sys, const struct trc_event *ev)
{
	uint32_t stream = stream_of(sys, ev);
	struct gpu_slice slice = {
		.category = output_sys_category_of(sys, ev),
		.name = ev->name,
		.note = note_copy,
	};

	if (!output_sys_on(sys, slice.category))
		return WS_OK;
	slice.track = stream ? stream_track(sys, stream)
			     : agent_track(sys, COPIES, ev->copy.dst, ev->thread->index);
	return put_gpu(sys, ev, &slice);
}

enum ws_status output_sys_put_scratch(struct output_sys *sys, const struct trc_event *ev)
{
	struct gpu_slice slice = {
		.category = OUTPUT_SYS_rocm_scratch_memory,
		.name = ev->name,
		.note = note_scratch,
	};

	if (!output_sys_on(sys, slice.category))
		return WS_OK;
	slice.track = agent_track(sys, SCRATCH, ev->scratch.agent, ev->scratch.queue->id);
	return put_gpu(sys, ev, &slice);
}
