/*
 * regions: something with a beginning and an end on one thread, as records.
 *
 * A region is interned once and then entered and left by its number:
 *
 *	static uint32_t id;                        constant for the life of the process
 *	if (!id)
 *		id = col_region_intern(CAP_REGION_USER, name, NULL, 0);
 *	col_region_enter(id);
 *	...
 *	col_region_leave(id);
 *
 * Enter and leave are one record each (capture/record_host.h), so nothing has to be done
 * about open regions when a thread or the process ends. A leave is recorded if its enter
 * was, also when recording was paused in between; a region that was entered while it was off is
 * not recorded at all. Numbers stay valid in a forked child, whose capture gets all names.
 *
 * Threads  any. Regions belong to the thread that enters them.
 * Signals  enter, leave and annotate may run in signal handlers; intern may not.
 * errno    kept.
 * Memory   names are kept for the life of the process, in pages from col_pages().
 * Failure  no more than COL_REGIONS_MAX regions: further ones get 0. Enter and leave accept
 *          0, and count it as dropped.
 */
#ifndef WS_COLLECTOR_REGIONS_H
#define WS_COLLECTOR_REGIONS_H

#include "collector/provider.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

#define COL_REGIONS_MAX (1u << 18)
#define COL_REGION_DEPTH 256u /* deeper ones are recorded by the state at each end */

/*
 * The number of the region with this category, name, file and line, from 1. Finding a known one
 * takes no lock. @name: "" or NULL is "(unnamed)". @file may be NULL. The texts are copied.
 */
uint32_t col_region_intern(enum cap_region_category category, const char *name, const char *file,
			   uint32_t line);
/* A function without a name of its own: readers find it by its address. */
uint32_t col_region_intern_address(enum cap_region_category category, uint64_t address);

/* Are there regions to record, now or later? Opens the capture, so that periods run. */
bool col_region_wanted(void);

/* rocprofsys_user_stop_thread_trace(): regions of the calling thread are not recorded. */
void col_region_thread(bool on);

void col_region_write_(uint32_t id, uint32_t tag);

/* Per thread, initial-exec like col_thread_self_. */
struct col_region_state {
	uint32_t depth; /* open regions, recorded or not */
	uint32_t off;   /* switched off for this thread */
	uint64_t recorded[COL_REGION_DEPTH / 64];
};
extern __thread struct col_region_state col_region_self_ __attribute__((tls_model("initial-exec")));

static inline void col_region_append_(uint32_t id, uint32_t tag)
{
	struct cap_lane *lane = col_thread_lane(&col_thread_self_);
	struct cap_rec *rec = lane && id ? cap_lane_reserve_here(lane, sizeof(*rec)) : NULL;

	if (__builtin_expect(!rec, 0)) {
		col_region_write_(id, tag);
		return;
	}
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD);
	rec->what = id;
	rec->time = cap_ticks();
	cap_lane_commit(lane, rec, tag);
}

static inline void col_region_enter(uint32_t id)
{
	struct col_region_state *s = &col_region_self_;
	bool on = col_on(COL_SERVICE_REGIONS) && !s->off;
	uint32_t depth = s->depth++;

	if (depth < COL_REGION_DEPTH) {
		uint64_t bit = 1ull << depth % 64, *word = &s->recorded[depth / 64];

		*word = on ? *word | bit : *word & ~bit;
	}
	if (on)
		col_region_append_(id, CAP_REC_FIXED_TAG(ENTER, struct cap_rec_enter));
}

static inline void col_region_leave(uint32_t id)
{
	struct col_region_state *s = &col_region_self_;
	bool on = col_on(COL_SERVICE_REGIONS) && !s->off;

	if (s->depth)
		s->depth--;
	if (s->depth < COL_REGION_DEPTH)
		on = s->recorded[s->depth / 64] >> s->depth % 64 & 1;
	if (on)
		col_region_append_(id, CAP_REC_FIXED_TAG(LEAVE, struct cap_rec_leave));
}

/*
 * Values of the innermost open region. @kind: CAP_ARG_U64, I64, F64 (the bits of a double) or
 * PTR. Texts are cut at COL_REGION_TEXT_MAX bytes; a NULL text is "". Ignored when that region is
 * not recorded.
 */
#define COL_REGION_TEXT_MAX 4096u
void col_region_annotate(const char *name, enum cap_arg_kind kind, uint64_t bits);
void col_region_annotate_text(const char *name, const char *text);

/* The same functions for callers that have no inlining: ctypes. */
void col_region_enter_call(uint32_t id);
void col_region_leave_call(uint32_t id);

/* The whole process: recording on or off, as roctxProfilerResume and Pause. */
void col_region_trace(bool on);

#pragma GCC visibility pop

#endif
