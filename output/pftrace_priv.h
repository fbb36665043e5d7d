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
struct output_pf_counters;

struct output_pf_lane {
	uint64_t uuid;
	uint64_t *ends; /* of open slices, outermost first */
	size_t n, cap;
	struct output_pf_lane *next;
};

struct output_pf_track {
	const char *name;
	struct output_pf_lane first;
};

struct output_pf_gpu_slice {
	uint64_t start_ns, end_ns, seq;
	bool settled; /* its times will not change */
	struct trc_event ev;
	union {
		struct cap_rec_dispatch dispatch;
		struct cap_rec_copy copy;
	} info;
	struct output_counter_sum *sums;
	size_t n_sums, cap_sums;
	struct output_pf_gpu_slice **last; /* where its queue keeps it */
	struct output_pf_gpu_slice *next_free;
};

#define OUTPUT_PF_NAME_CACHE 4096u
#define OUTPUT_PF_NAMES_MAX (1u << 16) /* further ones are spelled out in their events */

struct output_pf {
	struct output_run *run;
	struct output_sink *sink;
	struct ws_err *err;
	/* the process being written */
	const struct trc_process *process;
	uint64_t uuid;         /* of its track */
	struct ws_arena arena; /* of its tracks */
	struct output_pf_counters *counters;
	bool queue_mode;
	/* by index and id; NULL: not seen yet */
	struct output_pf_track **threads, **streams, **queues;
	struct output_pf_gpu_slice **last; /* by queue id */
	struct ws_map copies;              /* (agent, thread) to struct output_pf_track */
	struct ws_map names;               /* event name to iid; whole file */
	struct ws_map counter_notes;       /* counter name to iid; whole file */
	struct ws_arena names_arena;
	struct {
		const char *name;
		uint64_t iid;
	} cache[OUTPUT_PF_NAME_CACHE];
	struct output_pf_gpu_slice **heap;
	size_t n_heap, cap_heap;
	struct output_pf_gpu_slice *free;
	struct output_pf_lane **lanes; /* all of the process */
	size_t n_lanes, cap_lanes;
	uint64_t seq;
};

/* A packet: begin, fields, end. @room is what the fields may take, besides the frame. */
static inline char *output_pf_begin(struct output_pf *pf, size_t room, char **out_length)
{
	char *p = output_sink_room(pf->sink, room + 64);

	p = output_pb_begin(p, TRACE_PACKET, out_length);
	p = output_pb_u64(p, PACKET_SEQUENCE, 1);
	return output_pb_u64(p, PACKET_FLAGS, FLAG_NEEDS_STATE);
}

static inline void output_pf_end(struct output_pf *pf, const char *p, char *length)
{
	output_pb_end(p, length);
	output_sink_at(pf->sink, p);
}

/* Names go into packets of bounded size. */
#define OUTPUT_PF_NAME_MAX 4096u
static inline size_t output_pf_name_bytes(const char *name)
{
	return strnlen(name, OUTPUT_PF_NAME_MAX);
}

/* ---- names and tracks: pftrace_tracks.c ---- */

void output_pf_put_interned(struct output_pf *pf, unsigned what, uint64_t iid, const char *text);
/* The iid of a name, written to the file at first use; 0: spell it out. */
uint64_t output_pf_intern(struct output_pf *pf, struct ws_map *map, unsigned what, uint64_t base,
			  const char *text);
uint64_t output_pf_intern_name(struct output_pf *pf, const char *name, bool stable);
void output_pf_put_process(struct output_pf *pf);

/* Tracks are described at their first use; NULL: no memory. */
/* Add what the program calls it to a track's name, unless it is "" or the trace a database's. */
void output_pf_call_it(const struct output_pf *pf, char *name, size_t n_bytes, const char *given);
struct output_pf_track *output_pf_thread_track(struct output_pf *pf,
					       const struct trc_thread *thread);
struct output_pf_track *output_pf_stream_track(struct output_pf *pf, const struct trc_event *ev);
struct output_pf_track *output_pf_queue_track(struct output_pf *pf, const struct trc_event *ev);
struct output_pf_track *output_pf_copy_track(struct output_pf *pf, const struct trc_event *ev);

/* A lane on which [start, end] nests, with the slice open on it. Starts never go back. */
struct output_pf_lane *output_pf_enter(struct output_pf *pf, struct output_pf_track *track,
				       uint64_t start_ns, uint64_t end_ns);
void output_pf_end_until(struct output_pf *pf, struct output_pf_lane *lane, uint64_t until_ns);
enum ws_status output_pf_no_memory(struct output_pf *pf);

/* ---- GPU work, held back until its times are settled: pftrace_gpu.c ---- */

enum ws_status output_pf_take_gpu(struct output_pf *pf, const struct trc_event *ev);
/* Nothing that begins before @now_ns is still to come. */
enum ws_status output_pf_release(struct output_pf *pf, uint64_t now_ns);
/* pftrace.c */
enum ws_status output_pf_put_gpu(struct output_pf *pf, const struct output_pf_gpu_slice *slice);

/* ---- counter tracks: pftrace_counters.c ---- */

uint64_t output_pf_name_uuid(const struct output_pf *pf, const char *name);

struct output_pf_counters *output_pf_counters_create(struct output_pf *pf);
void output_pf_counters_destroy(struct output_pf_counters *counters);
/* Every copy, allocation, scratch event and counted dispatch, by start. */
enum ws_status output_pf_counters_event(struct output_pf_counters *counters,
					const struct trc_event *ev);
enum ws_status output_pf_counters_flush(struct output_pf_counters *counters);

#endif
