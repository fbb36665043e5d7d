/*
 * pf_file: a Perfetto trace that is being written: packets, interned names, tracks, and how
 * slices nest on them. Two writers use it: pftrace.c and systrace.c.
 *
 * Perfetto has no other notion of nesting than that an END closes the newest BEGIN of
 * its track. So each track keeps the ends of the slices that are open on it, and a slice
 * ends in the file when the next one on its track begins. Slices that overlap without
 * enclosing each other go to a second lane of the track.
 *
 * Threads  one at a time.
 * Failure  no memory: NULL. What cannot be written is reported by the sink, at the end.
 */
#ifndef WS_OUTPUT_PF_FILE_H
#define WS_OUTPUT_PF_FILE_H

#include "base/arena.h"
#include "base/map.h"
#include "output/pb.h"
#include "output/sink.h"
#include "trace/trace.h"

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
	EVENT_COUNTER_DOUBLE = 44,
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
	PROCESS_SORT_INDEX = 3,
	PROCESS_NAME = 6,
	PROCESS_START = 7,
	PROCESS_LABELS = 8,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_CATEGORIES = 2,
	COUNTER_UNIT = 3,
	COUNTER_MULTIPLIER = 4,
	COUNTER_UNIT_NAME = 6,
	UNIT_SIZE_BYTES = 3,
	NOTE_NAME_IID = 1,
	NOTE_UINT = 3,
	NOTE_INT = 4,
	NOTE_DOUBLE = 5,
	NOTE_STRING = 6,
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_NOTES = 3,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
};

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

#define OUTPUT_PF_NAME_CACHE 4096u
#define OUTPUT_PF_NAMES_MAX (1u << 16) /* further ones are spelled out in their events */

struct output_pf_file {
	struct output_sink *sink;
	struct ws_err *err;
	struct ws_map names; /* event name to iid; whole file */
	struct ws_map notes; /* annotation name to iid, those that are not known in advance */
	struct ws_arena names_arena;
	struct {
		const char *name;
		uint64_t iid;
	} cache[OUTPUT_PF_NAME_CACHE];
	/* the process being written */
	const struct trc_process *process;
	uint64_t uuid;                 /* of its track */
	uint32_t pid_base;             /* added to pids and tids: those of other machines */
	const char *process_name;      /* instead of the program's; NULL: none */
	struct ws_arena arena;         /* of its tracks */
	struct output_pf_lane **lanes; /* all of the process */
	size_t n_lanes, cap_lanes;
};

/* Writes the start of the file. */
void output_pf_file_init(struct output_pf_file *file, struct output_sink *sink, struct ws_err *err);
void output_pf_file_fini(struct output_pf_file *file);
void output_pf_file_begin_process(struct output_pf_file *file, const struct trc_process *process);
/* Its open slices end; the tracks are released. */
void output_pf_file_end_process(struct output_pf_file *file);

/* ---- packets ---- */

/* A packet: begin, fields, end. @room is what the fields may take, besides the frame. */
static inline char *output_pf_begin(struct output_pf_file *file, size_t room, char **out_length)
{
	char *p = output_sink_room(file->sink, room + 64);

	p = output_pb_begin(p, TRACE_PACKET, out_length);
	p = output_pb_u64(p, PACKET_SEQUENCE, 1);
	return output_pb_u64(p, PACKET_FLAGS, FLAG_NEEDS_STATE);
}

static inline void output_pf_end(struct output_pf_file *file, const char *p, char *length)
{
	output_pb_end(p, length);
	output_sink_at(file->sink, p);
}

/* Names go into packets of bounded size. */
#define OUTPUT_PF_NAME_MAX 4096u
static inline size_t output_pf_name_bytes(const char *name)
{
	return strnlen(name, OUTPUT_PF_NAME_MAX);
}

/* ---- interning ---- */

void output_pf_put_interned(struct output_pf_file *file, unsigned what, uint64_t iid,
			    const char *text);
/* The iid of a name, written to the file at first use; 0: spell it out. */
uint64_t output_pf_intern(struct output_pf_file *file, struct ws_map *map, unsigned what,
			  uint64_t base, const char *text);
/* @stable: the text does not change while the file is written. */
uint64_t output_pf_intern_name(struct output_pf_file *file, const char *name, bool stable);

/* ---- tracks ---- */

uint64_t output_pf_name_uuid(const struct output_pf_file *file, const char *name);
/* @label: shown beside its name; NULL: none. */
struct output_pf_process {
	const char *label; /* NULL: none */
	bool ranked;       /* among the processes of a job */
	uint64_t rank;
};
void output_pf_put_process(struct output_pf_file *file, const struct output_pf_process *about);
void output_pf_put_thread(struct output_pf_file *file, uint64_t uuid, uint32_t tid,
			  const char *name);
void output_pf_put_descriptor(struct output_pf_file *file, uint64_t uuid, const char *name);
/* @uuid 0: from the name, and described here. NULL: no memory. */
struct output_pf_track *output_pf_track_new(struct output_pf_file *file, uint64_t uuid,
					    const char *name);

/* A track of values. @unit is a name, or NULL for bytes, of which values are multiples. */
struct output_pf_counter_track {
	uint64_t uuid;
	const char *name, *category, *unit;
	uint32_t multiplier;
};
void output_pf_put_counter_track(struct output_pf_file *file,
				 const struct output_pf_counter_track *track);
void output_pf_put_value(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns, double value);
void output_pf_put_count(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns, uint64_t v);

/* ---- slices ---- */

/* A lane on which [start, end] nests, with the slice open on it. Starts never go back. */
struct output_pf_lane *output_pf_enter(struct output_pf_file *file, struct output_pf_track *track,
				       uint64_t start_ns, uint64_t end_ns);
/* The same on the first lane in any case; for what is known to nest there. */
bool output_pf_enter_first(struct output_pf_file *file, struct output_pf_lane *lane,
			   uint64_t end_ns);
void output_pf_end_until(struct output_pf_file *file, struct output_pf_lane *lane,
			 uint64_t until_ns);
void output_pf_put_end(struct output_pf_file *file, uint64_t uuid, uint64_t at_ns);
enum ws_status output_pf_no_memory(struct output_pf_file *file);

/* ---- annotations; the caller has made room ---- */

static inline char *output_pf_note_u64(char *p, uint64_t iid, uint64_t v)
{
	char *length;

	p = output_pb_begin_short(p, EVENT_ANNOTATIONS, &length);
	p = output_pb_u64(p, NOTE_NAME_IID, iid);
	p = output_pb_u64(p, NOTE_UINT, v);
	output_pb_end_short(p, length);
	return p;
}

static inline char *output_pf_note_i64(char *p, uint64_t iid, int64_t v)
{
	char *length;

	p = output_pb_begin_short(p, EVENT_ANNOTATIONS, &length);
	p = output_pb_u64(p, NOTE_NAME_IID, iid);
	p = output_pb_u64(p, NOTE_INT, (uint64_t)v);
	output_pb_end_short(p, length);
	return p;
}

static inline char *output_pf_note_f64(char *p, uint64_t iid, double v)
{
	char *length;

	p = output_pb_begin_short(p, EVENT_ANNOTATIONS, &length);
	p = output_pb_u64(p, NOTE_NAME_IID, iid);
	p = output_pb_f64(p, NOTE_DOUBLE, v);
	output_pb_end_short(p, length);
	return p;
}

static inline char *output_pf_note_text(char *p, uint64_t iid, const char *text, size_t n)
{
	char *length;

	if (n < 100) {
		p = output_pb_begin_short(p, EVENT_ANNOTATIONS, &length);
		p = output_pb_u64(p, NOTE_NAME_IID, iid);
		p = output_pb_text(p, NOTE_STRING, text, n);
		output_pb_end_short(p, length);
		return p;
	}
	p = output_pb_begin(p, EVENT_ANNOTATIONS, &length);
	p = output_pb_u64(p, NOTE_NAME_IID, iid);
	p = output_pb_text(p, NOTE_STRING, text, n);
	output_pb_end(p, length);
	return p;
}

#endif
