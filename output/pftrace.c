/*
 * pftrace: a trace for ui.perfetto.dev. docs/formats/pftrace.md.
 *
 * Events are read by start. Each track keeps a stack of the slices that are open on it;
 * a slice ends in the file when the next one on its track begins, so a track's packets
 * are in order and properly nested. Perfetto has no other notion of nesting: an END
 * closes the newest BEGIN. Slices that overlap without enclosing each other therefore
 * go to a second lane of the track.
 *
 * Kernels of one queue that overlap are first made to touch, as rocprofv3 does; for
 * that a kernel is held back until nothing can change it any more.
 */
#include "output/pftrace_priv.h"

#include <stdlib.h>

/* clang-format off */
#define NOTES(X)                                                                                   \
	X(begin_ns) X(end_ns) X(delta_ns) X(tid) X(kind) X(operation) X(corr_id) X(ancestor_id)    \
	X(stream_ID) X(src_agent) X(dst_agent) X(copy_bytes) X(agent) X(agent_type) X(queue)       \
	X(kernel_id) X(Scratch_Size) X(LDS_Block_Size) X(VGPR_Count) X(Accum_VGPR_Count)           \
	X(SGPR_Count) X(workgroup_size) X(grid_size)
/* clang-format on */

enum note {
	NOTE_NONE,
#define NOTE(name) NOTE_##name,
	NOTES(NOTE)
#undef NOTE
	NOTE_COUNT
};
static const char *const note_names[] = {
#define NOTE(name) [NOTE_##name] = #name,
	NOTES(NOTE)
#undef NOTE
};

struct lane {
	uint64_t uuid;
	uint64_t *ends; /* of open slices, outermost first */
	size_t n, cap;
	struct lane *next;
};

struct track {
	const char *name;
	struct lane first;
};

struct gpu_slice {
	uint64_t start_ns, end_ns, seq;
	bool settled; /* its times will not change */
	struct ws_event ev;
	union {
		struct ws_rec_dispatch dispatch;
		struct ws_rec_copy copy;
	} info;
	struct ws_counter_sum *sums;
	size_t n_sums, cap_sums;
	struct gpu_slice **last; /* where its queue keeps it */
	struct gpu_slice *next_free;
};

#define NAME_CACHE 4096u
#define NAMES_MAX (1u << 16) /* further ones are spelled out in their events */

struct slices {
	struct ws_pf pf;
	bool queue_mode;
	struct track **threads, **streams, **queues; /* by index and id; NULL: not seen yet */
	struct gpu_slice **last;		     /* by queue id */
	struct ws_map copies;			     /* (agent, thread) to struct track */
	struct ws_map names;			     /* event name to iid; whole file */
	struct ws_map counter_notes;		     /* counter name to iid; whole file */
	struct ws_arena names_arena;
	struct {
		const char *name;
		uint64_t iid;
	} cache[NAME_CACHE];
	struct gpu_slice **heap;
	size_t n_heap, cap_heap;
	struct gpu_slice *free;
	struct lane **lanes; /* all of the process */
	size_t n_lanes, cap_lanes;
	uint64_t seq;
};

/* ---- interning ---- */

static void put_interned(struct slices *s, unsigned what, uint64_t iid, const char *text)
{
	size_t n = ws_pf_name_bytes(text);
	char *packet, *data, *entry, *p = ws_pf_begin(&s->pf, n + 64, &packet);

	p = ws_pb_begin(p, PACKET_INTERNED, &data);
	p = ws_pb_begin(p, what, &entry);
	p = ws_pb_u64(p, INTERNED_IID, iid);
	p = ws_pb_bytes(p, INTERNED_TEXT, text, n);
	ws_pb_end(p, entry);
	ws_pb_end(p, data);
	ws_pf_end(&s->pf, p, packet);
}

/* The iid of a name, told to the reader at first use; 0: spell it out. */
static uint64_t intern(struct slices *s, struct ws_map *map, unsigned what, uint64_t base,
		       const char *text)
{
	struct ws_str key = ws_str_from(text);
	struct ws_map_entry *entry = ws_map_find(map, key);
	uint64_t iid;

	if (entry)
		return (uintptr_t)entry->value;
	if (map->n >= NAMES_MAX || key.n > WS_PF_NAME_MAX)
		return 0;
	key.at = ws_arena_strndup(&s->names_arena, text, key.n);
	iid = base + map->n + 1;
	if (!key.at || ws_map_put(map, key, (void *)(uintptr_t)iid, NULL))
		return 0;
	put_interned(s, what, iid, text);
	return iid;
}

static uint64_t intern_name(struct slices *s, const char *name, bool stable)
{
	size_t slot;

	if (!stable)
		return intern(s, &s->names, INTERNED_NAMES, 0, name);
	slot = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 15) % NAME_CACHE;
	if (s->cache[slot].name != name) {
		s->cache[slot].iid = intern(s, &s->names, INTERNED_NAMES, 0, name);
		s->cache[slot].name = name;
	}
	return s->cache[slot].iid;
}

static void put_start_of_file(struct slices *s)
{
	char *packet, *defaults, *p = ws_sink_room(s->pf.sink, 128);

	p = ws_pb_begin(p, TRACE_PACKET, &packet);
	p = ws_pb_u64(p, PACKET_SEQUENCE, 1);
	p = ws_pb_u64(p, PACKET_FLAGS, FLAG_CLEARED);
	p = ws_pb_begin(p, PACKET_DEFAULTS, &defaults);
	p = ws_pb_u64(p, PACKET_CLOCK, CLOCK_BOOT);
	ws_pb_end(p, defaults);
	ws_pf_end(&s->pf, p, packet);
	for (int d = 0; d < WS_DOMAIN_COUNT; d++)
		if (ws_domain_infos[d].category)
			put_interned(s, INTERNED_CATEGORIES, (uint64_t)d + 1,
				     ws_domain_infos[d].category);
	for (int i = 1; i < NOTE_COUNT; i++)
		put_interned(s, INTERNED_NOTES, (uint64_t)i, note_names[i]);
}

/* ---- tracks ---- */

uint64_t ws_pf_name_uuid(const struct ws_pf *pf, const char *name)
{
	return ws_hash_bytes(name, strlen(name)) ^ pf->uuid;
}

static void put_descriptor(struct ws_pf *pf, uint64_t uuid, const char *name)
{
	size_t n = ws_pf_name_bytes(name);
	char *packet, *track, *p = ws_pf_begin(pf, n + 64, &packet);

	p = ws_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = ws_pb_u64(p, TRACK_UUID, uuid);
	p = ws_pb_u64(p, TRACK_PARENT, pf->uuid);
	p = ws_pb_bytes(p, TRACK_NAME, name, n);
	ws_pb_end(p, track);
	ws_pf_end(pf, p, packet);
}

static void put_process(struct ws_pf *pf)
{
	const struct ws_process *process = pf->process;
	const char *slash = process->n_argv ? strrchr(process->argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : process->n_argv ? process->argv[0] : "";
	char *packet, *track, *inner, *p = ws_pf_begin(pf, 3 * WS_PF_NAME_MAX, &packet);
	size_t left = WS_PF_NAME_MAX;

	p = ws_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = ws_pb_u64(p, TRACK_UUID, pf->uuid);
	p = ws_pb_begin(p, TRACK_PROCESS, &inner);
	p = ws_pb_u64(p, PROCESS_PID, process->pid);
	for (size_t i = 0; i < process->n_argv; i++) {
		size_t n = strlen(process->argv[i]);

		if (n + 16 > left)
			break; /* enough to recognise it */
		p = ws_pb_bytes(p, PROCESS_CMDLINE, process->argv[i], n);
		left -= n + 16;
	}
	p = ws_pb_bytes(p, PROCESS_NAME, name, ws_pf_name_bytes(name));
	p = ws_pb_u64(p, PROCESS_START, process->init_ns);
	ws_pb_end(p, inner);
	ws_pb_end(p, track);
	ws_pf_end(pf, p, packet);
}

static void put_main_thread(struct ws_pf *pf, uint64_t uuid, const struct ws_thread *thread)
{
	char *packet, *track, *inner, *p = ws_pf_begin(pf, WS_PF_NAME_MAX + 64, &packet);

	p = ws_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = ws_pb_u64(p, TRACK_UUID, uuid);
	p = ws_pb_u64(p, TRACK_PARENT, pf->uuid);
	p = ws_pb_begin(p, TRACK_THREAD, &inner);
	p = ws_pb_u64(p, THREAD_PID, pf->process->pid);
	p = ws_pb_u64(p, THREAD_TID, thread->tid);
	if (*thread->name)
		p = ws_pb_bytes(p, THREAD_NAME, thread->name, ws_pf_name_bytes(thread->name));
	ws_pb_end(p, inner);
	ws_pb_end(p, track);
	ws_pf_end(pf, p, packet);
}

static enum ws_status no_memory(struct slices *s)
{
	return ws_fail(s->pf.err, WS_E_NOMEM, "no memory for the tracks of the Perfetto trace");
}

static bool add_lane(struct slices *s, struct lane *lane)
{
	if (s->n_lanes == s->cap_lanes) {
		size_t cap = s->cap_lanes ? s->cap_lanes * 2 : 64;
		struct lane **more = realloc(s->lanes, cap * sizeof(*more));

		if (!more)
			return false;
		s->lanes = more;
		s->cap_lanes = cap;
	}
	s->lanes[s->n_lanes++] = lane;
	return true;
}

/* @uuid 0: from the name, and described here. */
static struct track *new_track(struct slices *s, uint64_t uuid, const char *name)
{
	struct track *track = ws_arena_new(&s->pf.arena, struct track);

	if (!track)
		return NULL;
	track->name = ws_arena_strdup(&s->pf.arena, name);
	track->first.uuid = uuid ? uuid : ws_pf_name_uuid(&s->pf, name);
	if (!track->name || !add_lane(s, &track->first))
		return NULL;
	if (!uuid)
		put_descriptor(&s->pf, track->first.uuid, name);
	return track;
}

static struct track *thread_track(struct slices *s, const struct ws_thread *thread)
{
	struct track **at = &s->threads[thread->index];
	uint64_t uuid = thread->tid ^ s->pf.uuid;
	char name[64];

	if (*at)
		return *at;
	snprintf(name, sizeof(name), "THREAD %u (%u)", thread->index, thread->tid);
	*at = new_track(s, uuid, name);
	if (*at && thread == s->pf.process->main_thread)
		put_main_thread(&s->pf, uuid, thread);
	else if (*at)
		put_descriptor(&s->pf, uuid, name);
	return *at;
}

static struct track *stream_track(struct slices *s, const struct ws_event *ev)
{
	struct track **at = &s->streams[ws_run_stream(s->pf.run, ev)];
	char name[64];

	if (!*at) {
		snprintf(name, sizeof(name), "STREAM [\" %u \"] ", ws_run_stream(s->pf.run, ev));
		*at = new_track(s, 0, name);
	}
	return *at;
}

static struct track *queue_track(struct slices *s, const struct ws_event *ev)
{
	const struct ws_agent *agent = ev->dispatch.agent;
	const struct ws_queue *queue = ev->dispatch.queue;
	struct track **at = &s->queues[queue->id];
	uint32_t number;
	char name[96];

	if (!*at) {
		const char *label = ws_agent_label(agent, s->pf.run->cfg->agent_index, &number);

		snprintf(name, sizeof(name), "COMPUTE %s [%u] QUEUE [%u] %s", label, number,
			 queue->index_on_agent, ws_agent_type_text(agent));
		*at = new_track(s, 0, name);
	}
	return *at;
}

static struct track *copy_track(struct slices *s, const struct ws_event *ev)
{
	const struct ws_agent *agent = ev->copy.dst;
	uint64_t key = (uint64_t)(agent ? agent->info->h.what : 0) << 32 | ev->thread->index;
	struct track *track = ws_map_get_u64(&s->copies, key);
	char name[96];

	if (track)
		return track;
	snprintf(name, sizeof(name), "COPY to AGENT [%u] THREAD [%u] (%s)",
		 agent ? agent->info->logical_node_id : 0, ev->thread->index,
		 ws_agent_type_text(agent));
	track = new_track(s, 0, name);
	return track && !ws_map_put_u64(&s->copies, key, track, NULL) ? track : NULL;
}

/* ---- slices ---- */

static void put_end(struct slices *s, uint64_t uuid, uint64_t at_ns)
{
	char *packet, *event, *p = ws_pf_begin(&s->pf, 64, &packet);

	p = ws_pb_u64(p, PACKET_TIMESTAMP, at_ns);
	p = ws_pb_begin_short(p, PACKET_TRACK_EVENT, &event);
	p = ws_pb_u64(p, EVENT_TYPE, TYPE_END);
	p = ws_pb_u64(p, EVENT_TRACK, uuid);
	ws_pb_end_short(p, event);
	ws_pf_end(&s->pf, p, packet);
}

static void end_until(struct slices *s, struct lane *lane, uint64_t until_ns)
{
	while (lane->n && lane->ends[lane->n - 1] <= until_ns)
		put_end(s, lane->uuid, lane->ends[--lane->n]);
}

/* A lane on which [start, end] nests, with the slice open on it. */
static struct lane *enter(struct slices *s, struct track *track, uint64_t start_ns, uint64_t end_ns)
{
	struct lane *lane = &track->first;
	unsigned number = 1;

	for (;; lane = lane->next, number++) {
		end_until(s, lane, start_ns);
		if (!lane->n || lane->ends[lane->n - 1] >= end_ns)
			break;
		if (!lane->next) {
			size_t n = strlen(track->name) + 32;
			char *name = ws_arena_alloc(&s->pf.arena, n);

			lane->next = ws_arena_new(&s->pf.arena, struct lane);
			if (!name || !lane->next || !add_lane(s, lane->next))
				return NULL;
			snprintf(name, n, "%s (overlap %u)", track->name, number);
			lane->next->uuid = ws_pf_name_uuid(&s->pf, name);
			put_descriptor(&s->pf, lane->next->uuid, name);
		}
	}
	if (lane->n == lane->cap) {
		size_t cap = lane->cap ? lane->cap * 2 : 16;
		uint64_t *more = realloc(lane->ends, cap * sizeof(*more));

		if (!more)
			return NULL;
		lane->ends = more;
		lane->cap = cap;
	}
	lane->ends[lane->n++] = end_ns;
	return lane;
}

static char *note_u64(char *p, enum note note, uint64_t v)
{
	char *length;

	p = ws_pb_begin_short(p, EVENT_ANNOTATIONS, &length);
	p = ws_pb_u64(p, NOTE_NAME_IID, note);
	p = ws_pb_u64(p, NOTE_UINT, v);
	ws_pb_end_short(p, length);
	return p;
}

static char *note_text(char *p, uint64_t iid, const char *text, size_t n)
{
	char *length;

	p = ws_pb_begin(p, EVENT_ANNOTATIONS, &length);
	p = ws_pb_u64(p, NOTE_NAME_IID, iid);
	p = ws_pb_bytes(p, NOTE_STRING, text, n);
	ws_pb_end(p, length);
	return p;
}

static char *note_agent(struct slices *s, char *p, enum note note, const struct ws_agent *agent)
{
	char text[32];
	size_t n = ws_output_agent_text(agent, s->pf.run->cfg->agent_index, '-', text, sizeof(text));

	return note_text(p, note, text, n);
}

/* All of a BEGIN but its annotations; they follow, then put_begin_end(). */
struct begun {
	char *packet, *event;
};

static char *put_begin(struct slices *s, const struct lane *lane, enum ws_domain category,
		       const char *name, uint64_t name_iid, uint64_t start_ns, uint64_t corr_id,
		       size_t room, struct begun *out)
{
	size_t n = name_iid ? 0 : ws_pf_name_bytes(name);
	char *p = ws_pf_begin(&s->pf, n + room + 128, &out->packet);

	p = ws_pb_u64(p, PACKET_TIMESTAMP, start_ns);
	p = ws_pb_begin(p, PACKET_TRACK_EVENT, &out->event);
	p = ws_pb_u64(p, EVENT_TYPE, TYPE_BEGIN);
	p = ws_pb_u64(p, EVENT_TRACK, lane->uuid);
	p = ws_pb_u64(p, EVENT_CATEGORY_IIDS, (uint64_t)category + 1);
	if (name_iid)
		p = ws_pb_u64(p, EVENT_NAME_IID, name_iid);
	else
		p = ws_pb_bytes(p, EVENT_NAME, name, n);
	if (corr_id)
		p = ws_pb_fixed64(p, EVENT_FLOWS, corr_id ^ s->pf.uuid);
	return p;
}

static void put_begin_end(struct slices *s, char *p, struct begun *begun)
{
	ws_pb_end(p, begun->event);
	ws_pf_end(&s->pf, p, begun->packet);
	s->pf.sink->n_rows++;
}

static char *note_times(char *p, uint64_t start_ns, uint64_t end_ns)
{
	p = note_u64(p, NOTE_begin_ns, start_ns);
	p = note_u64(p, NOTE_end_ns, end_ns);
	return note_u64(p, NOTE_delta_ns, end_ns - start_ns);
}

/* rocDecode's arguments, one annotation each. */
static char *note_args(struct slices *s, char *p, size_t room, const struct ws_event *ev)
{
	struct ws_arg_walk walk = { 0 };
	char value[256], *limit = p + room;
	struct ws_arg arg;

	while (ws_event_arg(ev, &walk, &arg)) {
		struct ws_map_entry *entry = ws_map_find(&s->counter_notes, ws_str_from(arg.name));
		int n = ws_arg_print(ev->process, &arg, value, sizeof(value));

		if (!entry || n < 0 || limit - p < (ptrdiff_t)sizeof(value) + 32)
			continue;
		p = note_text(p, (uintptr_t)entry->value, value,
			      WS_MIN((size_t)n, sizeof(value) - 1));
	}
	return p;
}

#define ARGS_ROOM 8192u

static enum ws_status put_call(struct slices *s, const struct ws_event *ev)
{
	bool decode = ev->domain == WS_DOMAIN_ROCDECODE_API;
	uint64_t end_ns = WS_MAX(ev->end_ns, ev->start_ns);
	struct track *track = thread_track(s, ev->thread);
	struct lane *lane = track ? enter(s, track, ev->start_ns, end_ns) : NULL;
	struct begun begun;
	uint64_t iid;
	char *p;

	if (!lane)
		return no_memory(s);
	iid = intern_name(s, ev->name, ev->domain != WS_DOMAIN_MARKER_API);
	if (decode) {
		struct ws_arg_walk walk = { 0 };
		struct ws_arg arg;

		while (ws_event_arg(ev, &walk, &arg))
			intern(s, &s->counter_notes, INTERNED_NOTES, NOTE_COUNT, arg.name);
	}
	p = put_begin(s, lane, ev->domain, ev->name, iid, ev->start_ns, ev->corr_id,
		      decode ? ARGS_ROOM + 256 : 256, &begun);
	p = note_times(p, ev->start_ns, end_ns);
	p = note_u64(p, NOTE_tid, ev->thread->tid);
	p = note_u64(p, NOTE_kind, (uint64_t)ev->kind);
	p = note_u64(p, NOTE_operation, ev->op_id);
	p = note_u64(p, NOTE_corr_id, ev->corr_id);
	p = note_u64(p, NOTE_ancestor_id, ev->ancestor_id);
	if (ev->domain == WS_DOMAIN_HIP_API)
		p = note_u64(p, NOTE_stream_ID, ws_run_stream(s->pf.run, ev));
	if (decode)
		p = note_args(s, p, ARGS_ROOM, ev);
	put_begin_end(s, p, &begun);
	s->pf.run->result->n_written[WS_OUTPUT_PFTRACE][ev->domain]++;
	return WS_OK;
}

static uint64_t product(const uint32_t dims[3])
{
	return (uint64_t)dims[0] * dims[1] * dims[2];
}

static char *note_dispatch(struct slices *s, char *p, const struct gpu_slice *slice)
{
	const struct ws_event *ev = &slice->ev;
	const struct ws_rec_dispatch *info = &slice->info.dispatch;
	const struct ws_rec_kernel *kernel = ev->dispatch.kernel->info;
	uint32_t queue = ev->dispatch.queue->id;

	p = note_u64(p, NOTE_kind, (uint64_t)ev->kind);
	p = note_agent(s, p, NOTE_agent, ev->dispatch.agent);
	p = note_text(p, NOTE_agent_type, ws_agent_type_text(ev->dispatch.agent), 3);
	p = note_u64(p, NOTE_corr_id, ev->corr_id);
	p = note_u64(p, NOTE_queue, queue ? queue - 1 : 0);
	p = note_u64(p, NOTE_tid, ev->thread->tid);
	p = note_u64(p, NOTE_kernel_id, ev->dispatch.kernel->id);
	p = note_u64(p, NOTE_Scratch_Size, info->private_bytes);
	p = note_u64(p, NOTE_LDS_Block_Size, info->group_bytes);
	p = note_u64(p, NOTE_VGPR_Count, kernel ? kernel->arch_vgpr_count : 0);
	p = note_u64(p, NOTE_Accum_VGPR_Count, kernel ? kernel->accum_vgpr_count : 0);
	p = note_u64(p, NOTE_SGPR_Count, kernel ? kernel->sgpr_count : 0);
	p = note_u64(p, NOTE_workgroup_size, product(info->workgroup));
	p = note_u64(p, NOTE_grid_size, product(info->grid));
	return note_u64(p, NOTE_stream_ID, ws_run_stream(s->pf.run, ev));
}

static char *note_copy(struct slices *s, char *p, const struct gpu_slice *slice)
{
	const struct ws_event *ev = &slice->ev;

	p = note_u64(p, NOTE_kind, (uint64_t)ev->kind);
	p = note_u64(p, NOTE_operation, ev->op_id);
	p = note_agent(s, p, NOTE_src_agent, ev->copy.src);
	p = note_agent(s, p, NOTE_dst_agent, ev->copy.dst);
	p = note_u64(p, NOTE_copy_bytes, slice->info.copy.n_bytes);
	p = note_u64(p, NOTE_corr_id, ev->corr_id);
	p = note_u64(p, NOTE_tid, ev->thread->tid);
	return note_u64(p, NOTE_stream_ID, ws_run_stream(s->pf.run, ev));
}

static const char *counter_name(const struct ws_process *process, uint32_t id)
{
	return id < process->counters.n ? process->counters.at[id].name : "";
}

#define NOTES_ROOM 768u /* of a kernel or a copy, without counters */
#define COUNTER_ROOM 32u

static enum ws_status put_gpu(struct slices *s, const struct gpu_slice *slice)
{
	const struct ws_event *ev = &slice->ev;
	bool kernel = ws_event_is_dispatch(ev);
	enum ws_domain category = kernel ? WS_DOMAIN_KERNEL_DISPATCH : WS_DOMAIN_MEMORY_COPY;
	const char *name = ws_run_name(s->pf.run, ev);
	struct track *stream = stream_track(s, ev);
	struct track *track = !s->queue_mode ? stream
			      : kernel	     ? queue_track(s, ev)
					     : copy_track(s, ev);
	struct lane *lane = NULL;
	/* a packet holds so many; tracks and other formats have them all */
	size_t n_sums = WS_MIN(slice->n_sums, (WS_SINK_ROOM_MAX / 2) / COUNTER_ROOM);
	struct begun begun;
	uint64_t iid;
	char *p;

	if (stream && track)
		lane = enter(s, track, slice->start_ns, slice->end_ns);
	if (!lane)
		return no_memory(s);
	iid = intern_name(s, name, true);
	for (size_t i = 0; i < n_sums; i++)
		intern(s, &s->counter_notes, INTERNED_NOTES, NOTE_COUNT,
		       counter_name(ev->process, slice->sums[i].counter));
	p = put_begin(s, lane, category, name, iid, slice->start_ns, ev->corr_id,
		      NOTES_ROOM + n_sums * COUNTER_ROOM, &begun);
	p = note_times(p, slice->start_ns, slice->end_ns);
	p = kernel ? note_dispatch(s, p, slice) : note_copy(s, p, slice);
	for (size_t i = 0; i < n_sums; i++) {
		const char *counter = counter_name(ev->process, slice->sums[i].counter);
		struct ws_map_entry *entry = ws_map_find(&s->counter_notes, ws_str_from(counter));
		char *length;

		if (!entry)
			continue;
		p = ws_pb_begin_short(p, EVENT_ANNOTATIONS, &length);
		p = ws_pb_u64(p, NOTE_NAME_IID, (uintptr_t)entry->value);
		p = ws_pb_f64(p, NOTE_DOUBLE, slice->sums[i].value);
		ws_pb_end_short(p, length);
	}
	put_begin_end(s, p, &begun);
	s->pf.run->result->n_written[WS_OUTPUT_PFTRACE][category]++;
	if (kernel && slice->n_sums)
		s->pf.run->result->n_written[WS_OUTPUT_PFTRACE][WS_DOMAIN_COUNTER_COLLECTION]++;
	return WS_OK;
}

/* ---- holding kernels back ---- */

static bool before(const struct gpu_slice *a, const struct gpu_slice *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->seq < b->seq;
}

static bool heap_push(struct slices *s, struct gpu_slice *slice)
{
	size_t at = s->n_heap;

	if (s->n_heap == s->cap_heap) {
		size_t cap = s->cap_heap ? s->cap_heap * 2 : 256;
		struct gpu_slice **more = realloc(s->heap, cap * sizeof(*more));

		if (!more)
			return false;
		s->heap = more;
		s->cap_heap = cap;
	}
	s->n_heap++;
	for (; at && before(slice, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = slice;
	return true;
}

static struct gpu_slice *heap_pop(struct slices *s)
{
	struct gpu_slice *top = s->heap[0], *last = s->heap[--s->n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < s->n_heap) {
		if (child + 1 < s->n_heap && before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!before(s->heap[child], last))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
	return top;
}

/* Nothing that begins before @now_ns is still to come. */
static enum ws_status release(struct slices *s, uint64_t now_ns)
{
	enum ws_status st = WS_OK;

	while (!st && s->n_heap && s->heap[0]->start_ns <= now_ns &&
	       (s->heap[0]->settled || s->heap[0]->end_ns <= now_ns)) {
		struct gpu_slice *slice = heap_pop(s);

		if (slice->last && *slice->last == slice)
			*slice->last = NULL;
		st = put_gpu(s, slice);
		slice->next_free = s->free;
		s->free = slice;
	}
	return st;
}

static struct gpu_slice *new_slice(struct slices *s, const struct ws_event *ev)
{
	struct gpu_slice *slice = s->free;
	struct ws_counter_sum *sums = NULL;
	size_t cap = 0, n = 0;

	if (slice) {
		s->free = slice->next_free;
		sums = slice->sums;
		cap = slice->cap_sums;
	} else {
		slice = malloc(sizeof(*slice));
		if (!slice)
			return NULL;
	}
	if (ws_event_is_dispatch(ev) && (n = ev->dispatch.info->n_values)) {
		if (n > cap) {
			free(sums);
			sums = malloc(n * sizeof(*sums));
			cap = sums ? n : 0;
		}
		n = ws_counter_sums(ev, sums, cap);
	}
	*slice = (struct gpu_slice){ .start_ns = ev->start_ns,
				     .end_ns = WS_MAX(ev->end_ns, ev->start_ns),
				     .seq = s->seq++,
				     .settled = true,
				     .ev = *ev,
				     .sums = sums,
				     .n_sums = n,
				     .cap_sums = cap };
	if (ws_event_is_dispatch(ev))
		slice->info.dispatch = *ev->dispatch.info;
	else
		slice->info.copy = *ev->copy.info;
	return slice;
}

static enum ws_status take_gpu(struct slices *s, const struct ws_event *ev)
{
	struct gpu_slice *slice = new_slice(s, ev), *last;

	if (!slice)
		return no_memory(s);
	if (ws_event_is_dispatch(ev)) {
		slice->settled = false;
		slice->last = &s->last[ev->dispatch.queue->id];
		last = *slice->last;
		*slice->last = slice;
		if (last && last->end_ns > slice->start_ns) {
			/* they meet in the middle of what they share */
			uint64_t shared_end;

			/* a third kernel may begin before where the first two were parted */
			slice->start_ns = WS_MAX(slice->start_ns, last->start_ns);
			slice->end_ns = WS_MAX(slice->end_ns, slice->start_ns);
			shared_end = WS_MIN(last->end_ns, slice->end_ns);
			slice->start_ns += (shared_end - slice->start_ns) / 2;
			last->end_ns = slice->start_ns;
		}
		if (last)
			last->settled = true;
	}
	if (!heap_push(s, slice))
		return no_memory(s);
	return release(s, ev->start_ns);
}

static enum ws_status put_event(void *ctx, const struct ws_event *ev)
{
	struct slices *s = ctx;
	enum ws_status st = WS_OK;

	switch (ws_domain_infos[ev->domain].shape) {
	case WS_SHAPE_CALL:
	case WS_SHAPE_MARKER:
		st = put_call(s, ev);
		break;
	case WS_SHAPE_DISPATCH:
	case WS_SHAPE_COUNTERS:
		if (ws_event_traced(ev))
			st = take_gpu(s, ev);
		if (!st && ev->dispatch.info->n_values)
			st = ws_pf_counters_event(s->pf.counters, ev);
		break;
	case WS_SHAPE_COPY:
		st = take_gpu(s, ev);
		if (!st)
			st = ws_pf_counters_event(s->pf.counters, ev);
		break;
	case WS_SHAPE_ALLOC:
	case WS_SHAPE_SCRATCH:
		st = ws_pf_counters_event(s->pf.counters, ev);
		break;
	default:
		break;
	}
	return st ? st : s->pf.sink->err.status;
}

/* ---- the file ---- */

static enum ws_status begin_process(struct slices *s, const struct ws_process *process)
{
	struct {
		uint64_t init_ns;
		uint32_t pid, index;
	} id = { process->init_ns, process->pid, process->index };

	s->pf.process = process;
	s->pf.uuid = ws_hash_bytes(&id, sizeof(id)) | 1; /* 0 means "no track" */
	s->queue_mode = s->pf.run->cfg->group_by_queue || !process->hip_used;
	ws_arena_init(&s->pf.arena, (size_t)1 << 30);
	s->threads = ws_arena_array(&s->pf.arena, process->threads.n + 2, sizeof(*s->threads));
	s->streams = ws_arena_array(&s->pf.arena, process->streams.n + 1, sizeof(*s->streams));
	s->queues = ws_arena_array(&s->pf.arena, process->queues.n + 1, sizeof(*s->queues));
	s->last = ws_arena_array(&s->pf.arena, process->queues.n + 1, sizeof(*s->last));
	ws_map_init(&s->copies, WS_MAP_U64, 1u << 24);
	s->pf.counters = ws_pf_counters_create(&s->pf);
	if (!s->threads || !s->streams || !s->queues || !s->last || !s->pf.counters)
		return no_memory(s);
	put_process(&s->pf);
	return WS_OK;
}

static enum ws_status end_process(struct slices *s, enum ws_status st)
{
	if (!st)
		st = release(s, UINT64_MAX);
	for (size_t i = 0; i < s->n_lanes; i++) {
		if (!st)
			end_until(s, s->lanes[i], UINT64_MAX);
		free(s->lanes[i]->ends);
	}
	if (!st)
		st = ws_pf_counters_flush(s->pf.counters);
	while (s->n_heap) {
		struct gpu_slice *slice = s->heap[--s->n_heap];

		slice->next_free = s->free;
		s->free = slice;
	}
	s->n_lanes = 0;
	ws_pf_counters_destroy(s->pf.counters);
	s->pf.counters = NULL;
	ws_map_fini(&s->copies);
	ws_arena_fini(&s->pf.arena);
	return st;
}

static enum ws_status write_pftrace(struct ws_output_run *run, struct ws_err *err)
{
	struct slices *s = calloc(1, sizeof(*s));
	struct ws_sink sink;
	enum ws_status st;

	if (!s)
		return ws_fail(err, WS_E_NOMEM, "no memory to write a Perfetto trace");
	st = ws_run_open(run, &sink, "results.pftrace", err);
	if (st) {
		free(s);
		return st;
	}
	s->pf.run = run;
	s->pf.sink = &sink;
	s->pf.err = err;
	ws_map_init(&s->names, WS_MAP_STR, NAMES_MAX);
	ws_map_init(&s->counter_notes, WS_MAP_STR, NAMES_MAX);
	ws_arena_init(&s->names_arena, (size_t)1 << 28);
	put_start_of_file(s);
	for (size_t i = 0; !st && i < run->n_processes; i++) {
		st = begin_process(s, run->processes[i]);
		if (!st)
			st = ws_run_each(run, run->processes[i], 0, WS_ORDER_START, put_event, s,
					 err);
		st = end_process(s, st);
	}
	if (!st || sink.err.status)
		st = ws_run_finish(run, WS_OUTPUT_PFTRACE, &sink, err);
	if (st)
		memset(run->result->n_written[WS_OUTPUT_PFTRACE], 0,
		       sizeof(run->result->n_written[WS_OUTPUT_PFTRACE]));
	ws_sink_abandon(&sink);
	for (struct gpu_slice *slice; (slice = s->free);) {
		s->free = slice->next_free;
		free(slice->sums);
		free(slice);
	}
	free(s->heap);
	free(s->lanes);
	ws_map_fini(&s->names);
	ws_map_fini(&s->counter_notes);
	ws_arena_fini(&s->names_arena);
	free(s);
	return st;
}

const struct ws_output_ops ws_output_pftrace = {
	.word = "pftrace",
	.what = "Perfetto trace",
	.write = write_pftrace,
};
