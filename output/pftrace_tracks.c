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

void output_pf_put_interned(struct output_pf *pf, unsigned what, uint64_t iid, const char *text)
{
	size_t n = output_pf_name_bytes(text);
	char *packet, *data, *entry, *p = output_pf_begin(pf, n + 64, &packet);

	p = output_pb_begin(p, PACKET_INTERNED, &data);
	p = output_pb_begin(p, what, &entry);
	p = output_pb_u64(p, INTERNED_IID, iid);
	p = output_pb_text(p, INTERNED_TEXT, text, n);
	output_pb_end(p, entry);
	output_pb_end(p, data);
	output_pf_end(pf, p, packet);
}

/* The iid of a name, written to the file at first use; 0: spell it out. */
uint64_t output_pf_intern(struct output_pf *pf, struct ws_map *map, unsigned what, uint64_t base,
			  const char *text)
{
	struct ws_str key = ws_str_from(text);
	struct ws_map_entry *entry = ws_map_find(map, key);
	uint64_t iid;

	if (entry)
		return (uintptr_t)entry->value;
	if (map->n >= OUTPUT_PF_NAMES_MAX || key.n > OUTPUT_PF_NAME_MAX)
		return 0;
	key.at = ws_arena_strndup(&pf->names_arena, text, key.n);
	iid = base + map->n + 1;
	if (!key.at || ws_map_put(map, key, (void *)(uintptr_t)iid, NULL))
		return 0;
	output_pf_put_interned(pf, what, iid, text);
	return iid;
}

uint64_t output_pf_intern_name(struct output_pf *pf, const char *name, bool stable)
{
	size_t slot;

	if (!stable)
		return output_pf_intern(pf, &pf->names, INTERNED_NAMES, 0, name);
	slot = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 15) % OUTPUT_PF_NAME_CACHE;
	if (pf->cache[slot].name != name) {
		pf->cache[slot].iid = output_pf_intern(pf, &pf->names, INTERNED_NAMES, 0, name);
		pf->cache[slot].name = name;
	}
	return pf->cache[slot].iid;
}

/* ---- tracks ---- */

uint64_t output_pf_name_uuid(const struct output_pf *pf, const char *name)
{
	return ws_hash_bytes(name, strlen(name)) ^ pf->uuid;
}

static void put_descriptor(struct output_pf *pf, uint64_t uuid, const char *name)
{
	size_t n = output_pf_name_bytes(name);
	char *packet, *track, *p = output_pf_begin(pf, n + 64, &packet);

	p = output_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = output_pb_u64(p, TRACK_UUID, uuid);
	p = output_pb_u64(p, TRACK_PARENT, pf->uuid);
	p = output_pb_text(p, TRACK_NAME, name, n);
	output_pb_end(p, track);
	output_pf_end(pf, p, packet);
}

void output_pf_put_process(struct output_pf *pf)
{
	const struct trc_process *process = pf->process;
	const char *slash = process->n_argv ? strrchr(process->argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : process->n_argv ? process->argv[0] : "";
	char *packet, *track, *inner, *p = output_pf_begin(pf, 3 * OUTPUT_PF_NAME_MAX, &packet);
	enum trc_gpu_times times = trc_process_gpu_times(process);
	size_t left = OUTPUT_PF_NAME_MAX;
	char label[128];

	p = output_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = output_pb_u64(p, TRACK_UUID, pf->uuid);
	p = output_pb_begin(p, TRACK_PROCESS, &inner);
	p = output_pb_u64(p, PROCESS_PID, process->pid);
	for (size_t i = 0; i < process->n_argv; i++) {
		size_t n = strlen(process->argv[i]);

		if (n + 16 > left)
			break; /* enough to recognise it */
		p = output_pb_text(p, PROCESS_CMDLINE, process->argv[i], n);
		left -= n + 16;
	}
	p = output_pb_text(p, PROCESS_NAME, name, output_pf_name_bytes(name));
	p = output_pb_u64(p, PROCESS_START, process->init_ns);
	if (times != TRC_GPU_TIMES_HARDWARE)
		p = output_pb_bytes(p, PROCESS_LABELS, label,
				    (size_t)snprintf(label, sizeof(label), "GPU times: %s",
						     trc_gpu_times_word(times)));
	output_pb_end(p, inner);
	output_pb_end(p, track);
	output_pf_end(pf, p, packet);
}

static void put_main_thread(struct output_pf *pf, uint64_t uuid, const struct trc_thread *thread)
{
	char *packet, *track, *inner, *p = output_pf_begin(pf, OUTPUT_PF_NAME_MAX + 64, &packet);
	const char *name = thread->name;

	/* A database has no names of threads, as AMD writes it: the program's is the next best. */
	if (pf->run->cfg->from_database && pf->process->n_argv) {
		const char *slash = strrchr(pf->process->argv[0], '/');

		name = slash ? slash + 1 : pf->process->argv[0];
	}
	p = output_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = output_pb_u64(p, TRACK_UUID, uuid);
	p = output_pb_u64(p, TRACK_PARENT, pf->uuid);
	p = output_pb_begin(p, TRACK_THREAD, &inner);
	p = output_pb_u64(p, THREAD_PID, pf->process->pid);
	p = output_pb_u64(p, THREAD_TID, thread->tid);
	if (*name)
		p = output_pb_text(p, THREAD_NAME, name, output_pf_name_bytes(name));
	output_pb_end(p, inner);
	output_pb_end(p, track);
	output_pf_end(pf, p, packet);
}

enum ws_status output_pf_no_memory(struct output_pf *pf)
{
	return ws_fail(pf->err, WS_E_NOMEM, "no memory for the tracks of the Perfetto trace");
}

static bool add_lane(struct output_pf *pf, struct output_pf_lane *lane)
{
	if (pf->n_lanes == pf->cap_lanes) {
		size_t cap = pf->cap_lanes ? pf->cap_lanes * 2 : 64;
		struct output_pf_lane **more = realloc(pf->lanes, cap * sizeof(*more));

		if (!more)
			return false;
		pf->lanes = more;
		pf->cap_lanes = cap;
	}
	pf->lanes[pf->n_lanes++] = lane;
	return true;
}

/* @uuid 0: from the name, and described here. */
static struct output_pf_track *new_track(struct output_pf *pf, uint64_t uuid, const char *name)
{
	struct output_pf_track *track = ws_arena_new(&pf->arena, struct output_pf_track);

	if (!track)
		return NULL;
	track->name = ws_arena_strdup(&pf->arena, name);
	track->first.uuid = uuid ? uuid : output_pf_name_uuid(pf, name);
	if (!track->name || !add_lane(pf, &track->first))
		return NULL;
	if (!uuid)
		put_descriptor(pf, track->first.uuid, name);
	return track;
}

#define TRACK_NAME_MAX 256

void output_pf_call_it(const struct output_pf *pf, char *name, size_t n_bytes, const char *given)
{
	size_t n = strlen(name);

	if (*given && !pf->run->cfg->from_database)
		snprintf(name + n, n_bytes - n, "%s%s", name[n - 1] == ' ' ? "" : " ", given);
}

/* A thread that has no name of its own has its parent's. */
static const char *own_name(const struct output_pf *pf, const struct trc_thread *thread)
{
	const struct trc_thread *main = pf->process->main_thread;

	return main && strcmp(main->name, thread->name) == 0 ? "" : thread->name;
}

struct output_pf_track *output_pf_thread_track(struct output_pf *pf,
					       const struct trc_thread *thread)
{
	struct output_pf_track **at = &pf->threads[thread->index];
	uint64_t uuid = thread->tid ^ pf->uuid;
	char name[TRACK_NAME_MAX];

	if (*at)
		return *at;
	snprintf(name, sizeof(name), pf->run->cfg->from_database ? "THREAD %u" : "THREAD %u (%u)",
		 thread->index, thread->tid);
	output_pf_call_it(pf, name, sizeof(name), own_name(pf, thread));
	*at = new_track(pf, uuid, name);
	if (*at && thread == pf->process->main_thread)
		put_main_thread(pf, uuid, thread);
	else if (*at)
		put_descriptor(pf, uuid, name);
	return *at;
}

struct output_pf_track *output_pf_stream_track(struct output_pf *pf, const struct trc_event *ev)
{
	uint32_t id = output_run_stream(pf->run, ev);
	struct output_pf_track **at = &pf->streams[id];
	char name[TRACK_NAME_MAX];

	if (!*at) {
		snprintf(name, sizeof(name),
			 pf->run->cfg->from_database ? "STREAM [%u]" : "STREAM [\" %u \"] ", id);
		output_pf_call_it(pf, name, sizeof(name), id ? ev->stream->name : "");
		*at = new_track(pf, 0, name);
	}
	return *at;
}

struct output_pf_track *output_pf_queue_track(struct output_pf *pf, const struct trc_event *ev)
{
	const struct trc_agent *agent = ev->dispatch.agent;
	const struct trc_queue *queue = ev->dispatch.queue;
	struct output_pf_track **at = &pf->queues[queue->id];
	uint32_t number;
	char name[TRACK_NAME_MAX];

	if (!*at) {
		const char *label = output_agent_label(agent, pf->run->cfg->agent_index, &number);

		snprintf(name, sizeof(name), "COMPUTE %s [%u] QUEUE [%u] %s", label, number,
			 queue->index_on_agent, output_agent_type_text(agent));
		output_pf_call_it(pf, name, sizeof(name), agent ? agent->given_name : "");
		*at = new_track(pf, 0, name);
	}
	return *at;
}

struct output_pf_track *output_pf_copy_track(struct output_pf *pf, const struct trc_event *ev)
{
	const struct trc_agent *agent = ev->copy.dst;
	uint64_t key = (uint64_t)(agent ? agent->info->h.what : 0) << 32 | ev->thread->index;
	struct output_pf_track *track = ws_map_get_u64(&pf->copies, key);
	char name[TRACK_NAME_MAX];

	if (track)
		return track;
	snprintf(name, sizeof(name), "COPY to AGENT [%u] THREAD [%u] (%s)",
		 agent ? agent->info->logical_node_id : 0, ev->thread->index,
		 output_agent_type_text(agent));
	output_pf_call_it(pf, name, sizeof(name), agent ? agent->given_name : "");
	track = new_track(pf, 0, name);
	return track && !ws_map_put_u64(&pf->copies, key, track, NULL) ? track : NULL;
}

/* ---- nesting ---- */

static void put_end(struct output_pf *pf, uint64_t uuid, uint64_t at_ns)
{
	char *packet, *event, *p = output_pf_begin(pf, 64, &packet);

	p = output_pb_u64(p, PACKET_TIMESTAMP, at_ns);
	p = output_pb_begin_short(p, PACKET_TRACK_EVENT, &event);
	p = output_pb_u64(p, EVENT_TYPE, TYPE_END);
	p = output_pb_u64(p, EVENT_TRACK, uuid);
	output_pb_end_short(p, event);
	output_pf_end(pf, p, packet);
}

void output_pf_end_until(struct output_pf *pf, struct output_pf_lane *lane, uint64_t until_ns)
{
	while (lane->n && lane->ends[lane->n - 1] <= until_ns)
		put_end(pf, lane->uuid, lane->ends[--lane->n]);
}

/* A lane on which [start, end] nests, with the slice open on it. */
struct output_pf_lane *output_pf_enter(struct output_pf *pf, struct output_pf_track *track,
				       uint64_t start_ns, uint64_t end_ns)
{
	struct output_pf_lane *lane = &track->first;
	unsigned number = 1;

	for (;; lane = lane->next, number++) {
		output_pf_end_until(pf, lane, start_ns);
		if (!lane->n || lane->ends[lane->n - 1] >= end_ns)
			break;
		if (!lane->next) {
			size_t n = strlen(track->name) + 32;
			char *name = ws_arena_alloc(&pf->arena, n);

			lane->next = ws_arena_new(&pf->arena, struct output_pf_lane);
			if (!name || !lane->next || !add_lane(pf, lane->next))
				return NULL;
			snprintf(name, n, "%s (overlap %u)", track->name, number);
			lane->next->uuid = output_pf_name_uuid(pf, name);
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
