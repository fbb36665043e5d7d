/*
 * timeline_priv: what the files of timeline/ share.
 *
 * timeline.c has the object and its queries, names.c the tables of texts and paths, tracks.c the tracks
 * and what is put into them, slices.c threads and GPU work, samples.c call stacks,
 * values.c counters, levels.c the levels above the first.
 */
#ifndef WS_TIMELINE_PRIV_H
#define WS_TIMELINE_PRIV_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "timeline/tile.h"
#include "timeline/timeline.h"

/* ---- texts ---- */

/* Texts with numbers, each once; number 0 is "". */
struct tl_texts {
	struct ws_map by_text;
	struct ws_map by_place; /* texts that stay where they are: found without comparing them */
	WS_VEC(const char *) all;
	struct ws_arena arena;
};

void tl_texts_init(struct tl_texts *texts, size_t max_n);
void tl_texts_fini(struct tl_texts *texts);
/* @stable: the text at that place never changes. False: no memory, or there are too many. */
bool tl_texts_number(struct tl_texts *texts, const char *text, bool stable, uint32_t *out_number);

/* ---- tracks ---- */

/* Running sums of the tile of level 0 that is being filled. */
struct tl_path_sum {
	uint32_t path;
	uint64_t n, sum_ns, min_ns, max_ns;
};

struct tl_made_track {
	struct tl_track track;
	uint32_t number; /* from 0, in order of creation */
	uint64_t place;  /* order in the picture, within its kind and process */
	WS_VEC(struct tl_tile) tiles;
	WS_VEC(struct tl_slice) slices; /* of the tile that is being filled */
	WS_VEC(struct tl_value) values;
	struct ws_buf summary;
	WS_VEC(uint64_t) summary_at;
	uint64_t *row_ends; /* by row; for work that may overlap */
	/* Slices of level 0 by length: [i] is shorter than tl_resolution(i + 1). */
	uint64_t n_by_length[TL_LEVELS_MAX];
	struct tl_made_track *next_lane; /* slices that overlap without being nested */
};

struct tl_timeline {
	const struct trc_trace *trace;
	struct tl_opts opts;
	uint64_t start_ns, end_ns;
	uint64_t n_placed[CAP_DOMAIN_COUNT];
	uint64_t n_read, n_to_read; /* events: as they come; for levels, track by track */
	uint64_t n_unnamed;
	struct ws_arena arena;
	struct tl_texts names, details;
	WS_VEC(struct tl_path) paths;
	struct ws_map path_numbers; /* (parent, name, kind) to a number */
	struct ws_map detail_numbers;
	WS_VEC(struct tl_made_track *) tracks;
	uint32_t *order;
	WS_VEC(struct tl_path_sum) sum_at; /* summary of the tile that is being written */
	uint32_t *sum_of;                  /* by path: index in sum_at + 1 */
	size_t cap_sum_of;
	struct tl_coder coder;
	int store_fd;
	uint64_t store_bytes;
};

/* The path of @name inside of @parent; always one, "(other names)" when there are too many. */
uint32_t tl_path_number(struct tl_timeline *tl, uint32_t parent, const char *name, bool stable,
			enum prof_kind kind);
/*
 * The text about a slice, "key=value" per line. Most slices have one that was made before: it is found by the
 * bytes of what it is made of.
 */
uint32_t tl_detail_of(struct tl_timeline *tl, const void *key, size_t n); /* 0: not yet */
uint32_t tl_detail_add(struct tl_timeline *tl, const void *key, size_t n, const char *text);

/* A new track; NULL: no memory. @name is copied. */
struct tl_made_track *tl_track_create(struct tl_timeline *tl, enum tl_track_kind kind,
				      const struct trc_process *process, uint64_t place,
				      const char *name, struct ws_err *err);
enum ws_status tl_track_slice(struct tl_timeline *tl, struct tl_made_track *made,
			      const struct tl_slice *slice, struct ws_err *err);
enum ws_status tl_track_value(struct tl_timeline *tl, struct tl_made_track *made, uint64_t at_ns,
			      double value, struct ws_err *err);
/* The row of a slice that may overlap others of its track. */
uint32_t tl_track_row(struct tl_made_track *made, uint64_t start_ns, uint64_t end_ns);
/* Write the tile that is being filled. */
enum ws_status tl_track_flush(struct tl_timeline *tl, struct tl_made_track *made, bool summarize,
			      struct ws_err *err);

/* ---- levels ---- */

uint64_t tl_resolution(size_t i); /* 256 ns for 1, then four times as much each; 0 for 0 */
enum ws_status tl_build_levels(struct tl_timeline *tl, struct tl_made_track *made,
			       struct ws_err *err);

/* ---- from events ---- */

struct tl_thread; /* what a thread is inside of */
struct tl_call {
	uint64_t corr_id;
	uint32_t path, track; /* from 1 */
};
struct prof_frames;

/* The process that is being read. */
struct tl_process {
	struct tl_timeline *tl;
	const struct trc_process *process;
	struct prof_frames *frames; /* NULL: no functions need names */
	bool by_queue;
	struct tl_thread *threads; /* as the process has them, and one for others */
	struct tl_made_track **streams, **queues, *ranges;
	struct ws_map copies; /* agent to its track */
	struct ws_map series; /* values.c */
	struct ws_map live;   /* values.c: address to an allocation */
	struct ws_arena arena;
	struct tl_call *calls; /* by the low bits of the correlation id */
};

enum ws_status tl_process_begin(struct tl_process *p, struct ws_err *err);
enum ws_status tl_process_event(struct tl_process *p, const struct trc_event *ev,
				struct ws_err *err);
enum ws_status tl_process_end(struct tl_process *p, struct ws_err *err);
void tl_process_fini(struct tl_process *p);
/* The order of the tracks of a thread: its lanes, then its samples. */
#define TL_THREAD_PLACE(thread, i) ((uint64_t)(thread)->index << 8 | (i))
#define TL_PLACE_SAMPLES 128u
size_t tl_thread_number(const struct tl_process *p, const struct trc_thread *thread);
void tl_thread_title(const struct trc_thread *thread, char *to, size_t room);
/* "GPU 0", "Agent 2" */
void tl_agent_title(const struct tl_process *p, const struct trc_agent *agent, char *to,
		    size_t room);

/* samples.c: one per thread and kind of sampler; zeroed before the first sample. */
struct tl_sampled {
	struct tl_made_track *track;
	uint64_t last_ns;
	WS_VEC(struct tl_slice) open; /* outermost first */
};
enum ws_status tl_sample(struct tl_process *p, struct tl_sampled *sampled,
			 const struct trc_event *ev, struct ws_err *err);
enum ws_status tl_samples_end(struct tl_process *p, struct tl_sampled *sampled, struct ws_err *err);

/* values.c */
enum ws_status tl_take_metrics(struct tl_process *p, const struct trc_event *ev,
			       struct ws_err *err);
enum ws_status tl_take_alloc(struct tl_process *p, const struct trc_event *ev, struct ws_err *err);
enum ws_status tl_take_scratch(struct tl_process *p, const struct trc_event *ev,
			       struct ws_err *err);
enum ws_status tl_take_counters(struct tl_process *p, const struct trc_event *ev,
				struct ws_err *err);

#endif
