#include "output/pf_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the file ---- */

static void put_start_of_file(struct output_pf_file *file)
{
	char *packet, *defaults, *p = output_sink_room(file->sink, 128);

	p = output_pb_begin(p, TRACE_PACKET, &packet);
	p = output_pb_u64(p, PACKET_SEQUENCE, 1);
	p = output_pb_u64(p, PACKET_FLAGS, FLAG_CLEARED);
	p = output_pb_begin(p, PACKET_DEFAULTS, &defaults);
	p = output_pb_u64(p, PACKET_CLOCK, CLOCK_BOOT);
	output_pb_end(p, defaults);
	output_pf_end(file, p, packet);
}

void output_pf_file_init(struct output_pf_file *file, struct output_sink *sink, struct ws_err *err)
{
	memset(file, 0, sizeof(*file));
	file->sink = sink;
	file->err = err;
	ws_map_init(&file->names, WS_MAP_STR, OUTPUT_PF_NAMES_MAX);
	ws_map_init(&file->notes, WS_MAP_STR, OUTPUT_PF_NAMES_MAX);
	ws_arena_init(&file->names_arena, (size_t)1 << 28);
	put_start_of_file(file);
}

void output_pf_file_fini(struct output_pf_file *file)
{
	free(file->lanes);
	ws_map_fini(&file->names);
	ws_map_fini(&file->notes);
	ws_arena_fini(&file->names_arena);
}

void output_pf_file_begin_process(struct output_pf_file *file, const struct trc_process *process)
{
	struct {
		uint64_t init_ns;
		uint32_t pid, index;
	} id = { process->init_ns, process->pid, process->index };

	file->process = process;
	file->uuid = ws_hash_bytes(&id, sizeof(id)) | 1; /* 0 means "no track" */
	ws_arena_init(&file->arena, (size_t)1 << 30);
}

void output_pf_file_end_process(struct output_pf_file *file)
{
	for (size_t i = 0; i < file->n_lanes; i++) {
		output_pf_end_until(file, file->lanes[i], UINT64_MAX);
		free(file->lanes[i]->ends);
	}
	file->n_lanes = 0;
	ws_arena_fini(&file->arena);
}

enum ws_status output_pf_no_memory(struct output_pf_file *file)
{
	return ws_fail(file->err, WS_E_NOMEM, "no memory for the tracks of the Perfetto trace");
}

/* ---- interning ---- */

void output_pf_put_interned(struct output_pf_file *file, unsigned what, uint64_t iid,
			    const char *text)
{
	size_t n = output_pf_name_bytes(text);
	char *packet, *data, *entry, *p = output_pf_begin(file, n + 64, &packet);

	p = output_pb_begin(p, PACKET_INTERNED, &data);
	p = output_pb_begin(p, what, &entry);
	p = output_pb_u64(p, INTERNED_IID, iid);
	p = output_pb_text(p, INTERNED_TEXT, text, n);
	output_pb_end(p, entry);
	output_pb_end(p, data);
	output_pf_end(file, p, packet);
}

/* The iid of a name, written to the file at first use; 0: spell it out. */
uint64_t output_pf_intern(struct output_pf_file *file, struct ws_map *map, unsigned what,
			  uint64_t base, const char *text)
{
	struct ws_str key = ws_str_from(text);
	struct ws_map_entry *entry = ws_map_find(map, key);
	uint64_t iid;

	if (entry)
		return (uintptr_t)entry->value;
	if (map->n >= OUTPUT_PF_NAMES_MAX || key.n > OUTPUT_PF_NAME_MAX)
		return 0;
	key.at = ws_arena_strndup(&file->names_arena, text, key.n);
	iid = base + map->n + 1;
	if (!key.at || ws_map_put(map, key, (void *)(uintptr_t)iid, NULL))
		return 0;
	output_pf_put_interned(file, what, iid, text);
	return iid;
}

uint64_t output_pf_intern_name(struct output_pf_file *file, const char *name, bool stable)
{
	size_t slot;

	if (!stable)
		return output_pf_intern(file, &file->names, INTERNED_NAMES, 0, name);
	slot = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 15) % OUTPUT_PF_NAME_CACHE;
	if (file->cache[slot].name != name) {
		file->cache[slot].iid =
			output_pf_intern(file, &file->names, INTERNED_NAMES, 0, name);
		file->cache[slot].name = name;
	}
	return file->cache[slot].iid;
}

/* ---- tracks ---- */

uint64_t output_pf_name_uuid(const struct output_pf_file *file, const char *name)
{
	return ws_hash_bytes(name, strlen(name)) ^ file->uuid;
}

void output_pf_put_descriptor(struct output_pf_file *file, uint64_t uuid, const char *name)
{
	size_t n = output_pf_name_bytes(name);
	char *packet, *track, *p = output_pf_begin(file, n + 64, &packet);

	p = output_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = output_pb_u64(p, TRACK_UUID, uuid);
	p = output_pb_u64(p, TRACK_PARENT, file->uuid);
	p = output_pb_text(p, TRACK_NAME, name, n);
	output_pb_end(p, track);
	output_pf_end(file, p, packet);
}

void output_pf_put_process(struct output_pf_file *file, const struct output_pf_process *about)
{
	const struct trc_process *process = file->process;
	const char *slash = process->n_argv ? strrchr(process->argv[0], '/') : NULL;
	const char *name = file->process_name ? file->process_name
			   : slash            ? slash + 1
			   : process->n_argv  ? process->argv[0]
					      : "";
	char *packet, *track, *inner, *p = output_pf_begin(file, 3 * OUTPUT_PF_NAME_MAX, &packet);
	enum trc_gpu_times times = trc_process_gpu_times(process);
	size_t left = OUTPUT_PF_NAME_MAX;
	char text[128];

	p = output_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = output_pb_u64(p, TRACK_UUID, file->uuid);
	p = output_pb_begin(p, TRACK_PROCESS, &inner);
	p = output_pb_u64(p, PROCESS_PID, process->pid + file->pid_base);
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
		p = output_pb_bytes(p, PROCESS_LABELS, text,
				    (size_t)snprintf(text, sizeof(text), "GPU times: %s",
						     trc_gpu_times_word(times)));
	if (about->ranked) {
		p = output_pb_u64(p, PROCESS_SORT_INDEX, about->rank & INT32_MAX);
		p = output_pb_bytes(p, PROCESS_LABELS, text,
				    (size_t)snprintf(text, sizeof(text), "Rank %" PRIu64,
						     about->rank));
	}
	if (about->label)
		p = output_pb_text(p, PROCESS_LABELS, about->label,
				   output_pf_name_bytes(about->label));
	output_pb_end(p, inner);
	output_pb_end(p, track);
	output_pf_end(file, p, packet);
}

void output_pf_put_thread(struct output_pf_file *file, uint64_t uuid, uint32_t tid,
			  const char *name)
{
	char *packet, *track, *inner, *p = output_pf_begin(file, OUTPUT_PF_NAME_MAX + 64, &packet);

	p = output_pb_begin(p, PACKET_DESCRIPTOR, &track);
	p = output_pb_u64(p, TRACK_UUID, uuid);
	p = output_pb_u64(p, TRACK_PARENT, file->uuid);
	p = output_pb_begin(p, TRACK_THREAD, &inner);
	p = output_pb_u64(p, THREAD_PID, file->process->pid + file->pid_base);
	p = output_pb_u64(p, THREAD_TID, tid + file->pid_base);
	if (*name)
		p = output_pb_text(p, THREAD_NAME, name, output_pf_name_bytes(name));
	output_pb_end(p, inner);
	output_pb_end(p, track);
	output_pf_end(file, p, packet);
}

static bool add_lane(struct output_pf_file *file, struct output_pf_lane *lane)
{
	if (file->n_lanes == file->cap_lanes) {
		size_t cap = file->cap_lanes ? file->cap_lanes * 2 : 64;
		struct output_pf_lane **more = realloc(file->lanes, cap * sizeof(*more));

		if (!more)
			return false;
		file->lanes = more;
		file->cap_lanes = cap;
	}
	file->lanes[file->n_lanes++] = lane;
	return true;
}

struct output_pf_track *output_pf_track_new(struct output_pf_file *file, uint64_t uuid,
					    const char *name)
{
	struct output_pf_track *track = ws_arena_new(&file->arena, struct output_pf_track);

	if (!track)
		return NULL;
	track->name = ws_arena_strdup(&file->arena, name);
	track->first.uuid = uuid ? uuid : output_pf_name_uuid(file, name);
	if (!track->name || !add_lane(file, &track->first))
		return NULL;
	if (!uuid)
		output_pf_put_descriptor(file, track->first.uuid, name);
	return track;
}

/* ---- values ---- */

void output_pf_put_counter_track(struct output_pf_file *file,
				 const struct output_pf_counter_track *track)
{
	size_t n = output_pf_name_bytes(track->name);
	char *packet, *body, *counter, *p = output_pf_begin(file, n + 192, &packet);

	p = output_pb_begin(p, PACKET_DESCRIPTOR, &body);
	p = output_pb_u64(p, TRACK_UUID, track->uuid);
	p = output_pb_u64(p, TRACK_PARENT, file->uuid);
	p = output_pb_text(p, TRACK_NAME, track->name, n);
	p = output_pb_begin(p, TRACK_COUNTER, &counter);
	p = output_pb_text(p, COUNTER_CATEGORIES, track->category, strlen(track->category));
	if (!track->unit)
		p = output_pb_u64(p, COUNTER_UNIT, UNIT_SIZE_BYTES);
	p = output_pb_u64(p, COUNTER_MULTIPLIER, track->multiplier);
	if (track->unit && *track->unit)
		p = output_pb_text(p, COUNTER_UNIT_NAME, track->unit, strnlen(track->unit, 32));
	output_pb_end(p, counter);
	output_pb_end(p, body);
	output_pf_end(file, p, packet);
}

static char *begin_value(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns,
			 char **out_packet, char **out_event)
{
	char *p = output_pf_begin(file, 64, out_packet);

	p = output_pb_u64(p, PACKET_TIMESTAMP, at_ns);
	p = output_pb_begin_short(p, PACKET_TRACK_EVENT, out_event);
	p = output_pb_u64(p, EVENT_TYPE, TYPE_COUNTER);
	return output_pb_u64(p, EVENT_TRACK, uuid);
}

void output_pf_put_value(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns, double value)
{
	char *packet, *event, *p = begin_value(file, uuid, at_ns, &packet, &event);

	p = output_pb_f64(p, EVENT_COUNTER_DOUBLE, value);
	output_pb_end_short(p, event);
	output_pf_end(file, p, packet);
}

void output_pf_put_count(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns, uint64_t v)
{
	char *packet, *event, *p = begin_value(file, uuid, at_ns, &packet, &event);

	p = output_pb_u64(p, EVENT_COUNTER, v);
	output_pb_end_short(p, event);
	output_pf_end(file, p, packet);
}

/* ---- nesting ---- */

void output_pf_put_end(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns)
{
	char *packet, *event, *p = output_pf_begin(file, 64, &packet);

	p = output_pb_u64(p, PACKET_TIMESTAMP, at_ns);
	p = output_pb_begin_short(p, PACKET_TRACK_EVENT, &event);
	p = output_pb_u64(p, EVENT_TYPE, TYPE_END);
	p = output_pb_u64(p, EVENT_TRACK, uuid);
	output_pb_end_short(p, event);
	output_pf_end(file, p, packet);
}

void output_pf_end_until(struct output_pf_file *file, struct output_pf_lane *lane,
			 uint64_t until_ns)
{
	while (lane->n && lane->ends[lane->n - 1] <= until_ns)
		output_pf_put_end(file, lane->uuid, lane->ends[--lane->n]);
}

bool output_pf_enter_first(struct output_pf_file *file, struct output_pf_lane *lane,
			   uint64_t end_ns)
{
	if (lane->n == lane->cap) {
		size_t cap = lane->cap ? lane->cap * 2 : 16;
		uint64_t *more = realloc(lane->ends, cap * sizeof(*more));

		if (!more)
			return false;
		lane->ends = more;
		lane->cap = cap;
	}
	lane->ends[lane->n++] = end_ns;
	return true;
}

/* A lane on which [start, end] nests, with the slice open on it. */
struct output_pf_lane *output_pf_enter(struct output_pf_file *file, struct output_pf_track *track,
				       uint64_t start_ns, uint64_t end_ns)
{
	struct output_pf_lane *lane = &track->first;
	unsigned number = 1;

	for (;; lane = lane->next, number++) {
		output_pf_end_until(file, lane, start_ns);
		if (!lane->n || lane->ends[lane->n - 1] >= end_ns)
			break;
		if (!lane->next) {
			size_t n = strlen(track->name) + 32;
			char *name = ws_arena_alloc(&file->arena, n);

			lane->next = ws_arena_new(&file->arena, struct output_pf_lane);
			if (!name || !lane->next || !add_lane(file, lane->next))
				return NULL;
			snprintf(name, n, "%s (overlap %u)", track->name, number);
			lane->next->uuid = output_pf_name_uuid(file, name);
			output_pf_put_descriptor(file, lane->next->uuid, name);
		}
	}
	return output_pf_enter_first(file, lane, end_ns) ? lane : NULL;
}
