/*
 * The tracks of a Perfetto trace, the names in it, and how slices nest on tracks.
 *
 * Perfetto has no other notion of nesting than that an END closes the newest BEGIN of
 * its track. So each track keeps the ends of the slices that are open on it, and a slice
 * ends in the file when the next one on its track begins. Slices that overlap without
 * enclosing each other go to a second lane of the track.
 */
#include "output/pftrace_priv.h"

#include <stdlib.h>

/* ---- interning ---- */

void ws_pf_put_interned(struct ws_pf *pf, unsigned what, uint64_t iid, const char *text)
{
	size_t n = ws_pf_name_bytes(text);
	char *packet, *data, *entry, *p = ws_pf_begin(pf, n + 64, &packet);

	p = ws_pb_begin(p, PACKET_INTERNED, &data);
	p = ws_pb_begin(p, what, &entry);
	p = ws_pb_u64(p, INTERNED_IID, iid);
	p = ws_pb_text(p, INTERNED_TEXT, text, n);
	ws_pb_end(p, entry);
	ws_pb_end(p, data);
	ws_pf_end(pf, p, packet);
}

/* The iid of a name, told to the reader at first use; 0: spell it out. */
uint64_t ws_pf_intern(struct ws_pf *pf, struct ws_map *map, unsigned what, uint64_t base,
		      const char *text)
{
	struct ws_str key = ws_str_from(text);
	struct ws_map_entry *entry = ws_map_find(map, key);
	uint64_t iid;

	if (entry)
		return (uintptr_t)entry->value;
	if (map->n >= WS_PF_NAMES_MAX || key.n > WS_PF_NAME_MAX)
		return 0;
	key.at = ws_arena_strndup(&pf->names_arena, text, key.n);
	iid = base + map->n + 1;
	if (!key.at || ws_map_put(map, key, (void *)(uintptr_t)iid, NULL))
		return 0;
	ws_pf_put_interned(pf, what, iid, text);
	return iid;
}

uint64_t ws_pf_intern_name(struct ws_pf *pf, const char *name, bool stable)
{
	size_t slot;

	if (!stable)
		return ws_pf_intern(pf, &pf->names, INTERNED_NAMES, 0, name);
	slot = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 15) % WS_PF_NAME_CACHE;
	if (pf->cache[slot].name != name) {
		pf->cache[slot].iid = ws_pf_intern(pf, &pf->names, INTERNED_NAMES, 0, name);
		pf->cache[slot].name = name;
	}
	return pf->cache[slot].iid;
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
	p = ws_pb_text(p, TRACK_NAME, name, n);
	ws_pb_end(p, track);
	ws_pf_end(pf, p, packet);
}

void ws_pf_put_process(struct ws_pf *pf)
{
	const struct ws_process *process = pf->process;
	const char *slash = process->n_argv ? strrchr(process->argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : process->n_argv ? process->argv[0] : "";
	char *packet, *track, *inner, *p = ws_pf_begin(pf, 3 * WS_PF_NAME_MAX, &packet);
	enum ws_gpu_times times = ws_process_gpu_times(process);
	size_t left = WS_PF_NAME_MAX;
	char label[128];

	p = ws_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = ws_pb_u64(p, TRACK_UUID, pf->uuid);
	p = ws_pb_begin(p, TRACK_PROCESS, &inner);
	p = ws_pb_u64(p, PROCESS_PID, process->pid);
	for (size_t i = 0; i < process->n_argv; i++) {
		size_t n = strlen(process->argv[i]);

		if (n + 16 > left)
			break; /* enough to recognise it */
		p = ws_pb_text(p, PROCESS_CMDLINE, process->argv[i], n);
		left -= n + 16;
	}
	p = ws_pb_text(p, PROCESS_NAME, name, ws_pf_name_bytes(name));
	p = ws_pb_u64(p, PROCESS_START, process->init_ns);
	if (times != WS_GPU_TIMES_HARDWARE)
		p = ws_pb_bytes(p, PROCESS_LABELS, label,
				(size_t)snprintf(label, sizeof(label), "GPU times: %s",
						 ws_gpu_times_word(times)));
	ws_pb_end(p, inner);
	ws_pb_end(p, track);
	ws_pf_end(pf, p, packet);
}

static void put_main_thread(struct ws_pf *pf, uint64_t uuid, const struct ws_thread *thread)
{
	char *packet, *track, *inner, *p = ws_pf_begin(pf, WS_PF_NAME_MAX + 64, &packet);
	const char *name = thread->name;

	/* A database has no names of threads, as AMD writes it: the program's is the next best. */
	if (pf->run->cfg->from_database && pf->process->n_argv) {
		const char *slash = strrchr(pf->process->argv[0], '/');

		name = slash ? slash + 1 : pf->process->argv[0];
	}
	p = ws_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = ws_pb_u64(p, TRACK_UUID, uuid);
	p = ws_pb_u64(p, TRACK_PARENT, pf->uuid);
	p = ws_pb_begin(p, TRACK_THREAD, &inner);
	p = ws_pb_u64(p, THREAD_PID, pf->process->pid);
	p = ws_pb_u64(p, THREAD_TID, thread->tid);
	if (*name)
		p = ws_pb_text(p, THREAD_NAME, name, ws_pf_name_bytes(name));
	ws_pb_end(p, inner);
	ws_pb_end(p, track);
	ws_pf_end(pf, p, packet);
}

enum ws_status ws_pf_no_memory(struct ws_pf *pf)
{
	return ws_fail(pf->err, WS_E_NOMEM, "no memory for the tracks of the Perfetto trace");
}

static bool add_lane(struct ws_pf *pf, struct ws_pf_lane *lane)
{
	if (pf->n_lanes == pf->cap_lanes) {
		size_t cap = pf->cap_lanes ? pf->cap_lanes * 2 : 64;
		struct ws_pf_lane **more = realloc(pf->lanes, cap * sizeof(*more));

		if (!more)
			return false;
		pf->lanes = more;
		pf->cap_lanes = cap;
	}
	pf->lanes[pf->n_lanes++] = lane;
	return true;
}

/* @uuid 0: from the name, and described here. */
static struct ws_pf_track *new_track(struct ws_pf *pf, uint64_t uuid, const char *name)
{
	struct ws_pf_track *track = ws_arena_new(&pf->arena, struct ws_pf_track);

	if (!track)
		return NULL;
	track->name = ws_arena_strdup(&pf->arena, name);
	track->first.uuid = uuid ? uuid : ws_pf_name_uuid(pf, name);
	if (!track->name || !add_lane(pf, &track->first))
		return NULL;
	if (!uuid)
		put_descriptor(pf, track->first.uuid, name);
	return track;
}

#define TRACK_NAME_MAX 256

void ws_pf_call_it(const struct ws_pf *pf, char *name, size_t n_bytes, const char *given)
{
	size_t n = strlen(name);

	if (*given && !pf->run->cfg->from_database)
		snprintf(name + n, n_bytes - n, "%s%s", name[n - 1] == ' ' ? "" : " ", given);
}

/* A thread that has no name of its own has its parent's. */
static const char *own_name(const struct ws_pf *pf, const struct ws_thread *thread)
{
	const struct ws_thread *main = pf->process->main_thread;

	return main && strcmp(main->name, thread->name) == 0 ? "" : thread->name;
}

struct ws_pf_track *ws_pf_thread_track(struct ws_pf *pf, const struct ws_thread *thread)
{
	struct ws_pf_track **at = &pf->threads[thread->index];
	uint64_t uuid = thread->tid ^ pf->uuid;
	char name[TRACK_NAME_MAX];

	if (*at)
		return *at;
	snprintf(name, sizeof(name), pf->run->cfg->from_database ? "THREAD %u" : "THREAD %u (%u)",
		 thread->index, thread->tid);
	ws_pf_call_it(pf, name, sizeof(name), own_name(pf, thread));
	*at = new_track(pf, uuid, name);
	if (*at && thread == pf->process->main_thread)
		put_main_thread(pf, uuid, thread);
	else if (*at)
		put_descriptor(pf, uuid, name);
	return *at;
}

struct ws_pf_track *ws_pf_stream_track(struct ws_pf *pf, const struct ws_event *ev)
{
	uint32_t id = ws_run_stream(pf->run, ev);
	struct ws_pf_track **at = &pf->streams[id];
	char name[TRACK_NAME_MAX];

	if (!*at) {
		snprintf(name, sizeof(name),
			 pf->run->cfg->from_database ? "STREAM [%u]" : "STREAM [\" %u \"] ", id);
		ws_pf_call_it(pf, name, sizeof(name), id ? ev->stream->name : "");
		*at = new_track(pf, 0, name);
	}
	return *at;
}

struct ws_pf_track *ws_pf_queue_track(struct ws_pf *pf, const struct ws_event *ev)
{
	const struct ws_agent *agent = ev->dispatch.agent;
	const struct ws_queue *queue = ev->dispatch.queue;
	struct ws_pf_track **at = &pf->queues[queue->id];
	uint32_t number;
	char name[TRACK_NAME_MAX];

	if (!*at) {
		const char *label = ws_agent_label(agent, pf->run->cfg->agent_index, &number);

		snprintf(name, sizeof(name), "COMPUTE %s [%u] QUEUE [%u] %s", label, number,
			 queue->index_on_agent, ws_agent_type_text(agent));
		ws_pf_call_it(pf, name, sizeof(name), agent ? agent->given_name : "");
		*at = new_track(pf, 0, name);
	}
	return *at;
}

struct ws_pf_track *ws_pf_copy_track(struct ws_pf *pf, const struct ws_event *ev)
{
	const struct ws_agent *agent = ev->copy.dst;
	uint64_t key = (uint64_t)(agent ? agent->info->h.what : 0) << 32 | ev->thread->index;
	struct ws_pf_track *track = ws_map_get_u64(&pf->copies, key);
	char name[TRACK_NAME_MAX];

	if (track)
		return track;
	snprintf(name, sizeof(name), "COPY to AGENT [%u] THREAD [%u] (%s)",
		 agent ? agent->info->logical_node_id : 0, ev->thread->index,
		 ws_agent_type_text(agent));
	ws_pf_call_it(pf, name, sizeof(name), agent ? agent->given_name : "");
	track = new_track(pf, 0, name);
	return track && !ws_map_put_u64(&pf->copies, key, track, NULL) ? track : NULL;
}

/* ---- nesting ---- */

static void put_end(struct ws_pf *pf, uint64_t uuid, uint64_t at_ns)
{
	char *packet, *event, *p = ws_pf_begin(pf, 64, &packet);

	p = ws_pb_u64(p, PACKET_TIMESTAMP, at_ns);
	p = ws_pb_begin_short(p, PACKET_TRACK_EVENT, &event);
	p = ws_pb_u64(p, EVENT_TYPE, TYPE_END);
	p = ws_pb_u64(p, EVENT_TRACK, uuid);
	ws_pb_end_short(p, event);
	ws_pf_end(pf, p, packet);
}

void ws_pf_end_until(struct ws_pf *pf, struct ws_pf_lane *lane, uint64_t until_ns)
{
	while (lane->n && lane->ends[lane->n - 1] <= until_ns)
		put_end(pf, lane->uuid, lane->ends[--lane->n]);
}

/* A lane on which [start, end] nests, with the slice open on it. */
struct ws_pf_lane *ws_pf_enter(struct ws_pf *pf, struct ws_pf_track *track, uint64_t start_ns,
			       uint64_t end_ns)
{
	struct ws_pf_lane *lane = &track->first;
	unsigned number = 1;

	for (;; lane = lane->next, number++) {
		ws_pf_end_until(pf, lane, start_ns);
		if (!lane->n || lane->ends[lane->n - 1] >= end_ns)
			break;
		if (!lane->next) {
			size_t n = strlen(track->name) + 32;
			char *name = ws_arena_alloc(&pf->arena, n);

			lane->next = ws_arena_new(&pf->arena, struct ws_pf_lane);
			if (!name || !lane->next || !add_lane(pf, lane->next))
				return NULL;
			snprintf(name, n, "%s (overlap %u)", track->name, number);
			lane->next->uuid = ws_pf_name_uuid(pf, name);
			put_descriptor(pf, lane->next->uuid, name);
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
