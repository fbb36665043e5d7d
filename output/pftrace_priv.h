/* pftrace_priv: what the slices and the counter tracks of a Perfetto trace share. */
#ifndef WS_OUTPUT_PFTRACE_PRIV_H
#define WS_OUTPUT_PFTRACE_PRIV_H

#include "output/output_priv.h"
#include "output/pb.h"

/* Field numbers of perfetto/trace: the ones that are used. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_DESCRIPTOR = 60,
	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	CLOCK_BOOT = 6,
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOWS = 47,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	PROCESS_START = 7,
	PROCESS_LABELS = 8,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_CATEGORIES = 2,
	COUNTER_UNIT = 3,
	COUNTER_MULTIPLIER = 4,
	UNIT_SIZE_BYTES = 3,
	NOTE_NAME_IID = 1,
	NOTE_UINT = 3,
	NOTE_DOUBLE = 5,
	NOTE_STRING = 6,
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_NOTES = 3,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
};

/* A series of values; see pftrace_counters.c. */
struct ws_pf_counters;

struct ws_pf_lane {
	uint64_t uuid;
	uint64_t *ends; /* of open slices, outermost first */
	size_t n, cap;
	struct ws_pf_lane *next;
};

struct ws_pf_track {
	const char *name;
	struct ws_pf_lane first;
};

struct ws_pf_gpu_slice {
	uint64_t start_ns, end_ns, seq;
	bool settled; /* its times will not change */
	struct ws_event ev;
	union {
		struct ws_rec_dispatch dispatch;
		struct ws_rec_copy copy;
	} info;
	struct ws_counter_sum *sums;
	size_t n_sums, cap_sums;
	struct ws_pf_gpu_slice **last; /* where its queue keeps it */
	struct ws_pf_gpu_slice *next_free;
};

#define WS_PF_NAME_CACHE 4096u
#define WS_PF_NAMES_MAX (1u << 16) /* further ones are spelled out in their events */

struct ws_pf {
	struct ws_output_run *run;
	struct ws_sink *sink;
	struct ws_err *err;
	/* the process being written */
	const struct ws_process *process;
	uint64_t uuid;         /* of its track */
	struct ws_arena arena; /* of its tracks */
	struct ws_pf_counters *counters;
	bool queue_mode;
	struct ws_pf_track **threads, **streams, **queues; /* by index and id; NULL: not seen yet */
	struct ws_pf_gpu_slice **last;                     /* by queue id */
	struct ws_map copies;        /* (agent, thread) to struct ws_pf_track */
	struct ws_map names;         /* event name to iid; whole file */
	struct ws_map counter_notes; /* counter name to iid; whole file */
	struct ws_arena names_arena;
	struct {
		const char *name;
		uint64_t iid;
	} cache[WS_PF_NAME_CACHE];
	struct ws_pf_gpu_slice **heap;
	size_t n_heap, cap_heap;
	struct ws_pf_gpu_slice *free;
	struct ws_pf_lane **lanes; /* all of the process */
	size_t n_lanes, cap_lanes;
	uint64_t seq;
};

/* A packet: begin, fields, end. @room is what the fields may take, besides the frame. */
static inline char *ws_pf_begin(struct ws_pf *pf, size_t room, char **out_length)
{
	char *p = ws_sink_room(pf->sink, room + 64);

	p = ws_pb_begin(p, TRACE_PACKET, out_length);
	p = ws_pb_u64(p, PACKET_SEQUENCE, 1);
	return ws_pb_u64(p, PACKET_FLAGS, FLAG_NEEDS_STATE);
}

static inline void ws_pf_end(struct ws_pf *pf, const char *p, char *length)
{
	ws_pb_end(p, length);
	ws_sink_at(pf->sink, p);
}

/* Names go into packets of bounded size. */
#define WS_PF_NAME_MAX 4096u
static inline size_t ws_pf_name_bytes(const char *name)
{
	return strnlen(name, WS_PF_NAME_MAX);
}

/* ---- names and tracks: pftrace_tracks.c ---- */

void ws_pf_put_interned(struct ws_pf *pf, unsigned what, uint64_t iid, const char *text);
/* The iid of a name, told to the reader at first use; 0: spell it out. */
uint64_t ws_pf_intern(struct ws_pf *pf, struct ws_map *map, unsigned what, uint64_t base,
		      const char *text);
uint64_t ws_pf_intern_name(struct ws_pf *pf, const char *name, bool stable);
void ws_pf_put_process(struct ws_pf *pf);

/* Tracks are described when they are first asked for; NULL: no memory. */
/* Add what the program calls it to a track's name, unless it is "" or the trace a database's. */
void ws_pf_call_it(const struct ws_pf *pf, char *name, size_t n_bytes, const char *given);
struct ws_pf_track *ws_pf_thread_track(struct ws_pf *pf, const struct ws_thread *thread);
struct ws_pf_track *ws_pf_stream_track(struct ws_pf *pf, const struct ws_event *ev);
struct ws_pf_track *ws_pf_queue_track(struct ws_pf *pf, const struct ws_event *ev);
struct ws_pf_track *ws_pf_copy_track(struct ws_pf *pf, const struct ws_event *ev);

/* A lane on which [start, end] nests, with the slice open on it. Starts never go back. */
struct ws_pf_lane *ws_pf_enter(struct ws_pf *pf, struct ws_pf_track *track, uint64_t start_ns,
			       uint64_t end_ns);
void ws_pf_end_until(struct ws_pf *pf, struct ws_pf_lane *lane, uint64_t until_ns);
enum ws_status ws_pf_no_memory(struct ws_pf *pf);

/* ---- GPU work, held back until its times are settled: pftrace_gpu.c ---- */

enum ws_status ws_pf_take_gpu(struct ws_pf *pf, const struct ws_event *ev);
/* Nothing that begins before @now_ns is still to come. */
enum ws_status ws_pf_release(struct ws_pf *pf, uint64_t now_ns);
/* pftrace.c */
enum ws_status ws_pf_put_gpu(struct ws_pf *pf, const struct ws_pf_gpu_slice *slice);

/* ---- counter tracks: pftrace_counters.c ---- */

uint64_t ws_pf_name_uuid(const struct ws_pf *pf, const char *name);

struct ws_pf_counters *ws_pf_counters_create(struct ws_pf *pf);
void ws_pf_counters_destroy(struct ws_pf_counters *counters);
/* Every copy, allocation, scratch event and counted dispatch, by start. */
enum ws_status ws_pf_counters_event(struct ws_pf_counters *counters, const struct ws_event *ev);
enum ws_status ws_pf_counters_flush(struct ws_pf_counters *counters);

#endif
