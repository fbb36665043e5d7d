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

struct ws_pf {
	struct ws_output_run *run;
	struct ws_sink *sink;
	struct ws_err *err;
	const struct ws_process *process;
	uint64_t uuid; /* of the process track */
	struct ws_arena arena; /* of this process */
	struct ws_pf_counters *counters;
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

uint64_t ws_pf_name_uuid(const struct ws_pf *pf, const char *name);

struct ws_pf_counters *ws_pf_counters_create(struct ws_pf *pf);
void ws_pf_counters_destroy(struct ws_pf_counters *counters);
/* Every copy, allocation, scratch event and counted dispatch, by start. */
enum ws_status ws_pf_counters_event(struct ws_pf_counters *counters, const struct ws_event *ev);
enum ws_status ws_pf_counters_flush(struct ws_pf_counters *counters);

#endif
