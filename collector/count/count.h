/*
 * count: hardware counters of dispatches, for the provider that observes them.
 *
 * The software GPU counts in this process (softgpu/counters/service.h). Before a dispatch
 * starts it asks which counters to collect. The decision was made when the dispatch was
 * submitted, on the program's thread, and is stored in a table under the dispatch's
 * completion signal. No two dispatches in flight share a signal: see hsa/pending.c. After an attach
 * dispatches may have no signal: then it is made when the GPU asks, col_count_ask().
 *
 *	submission    col_count_decide(), then col_count_expect() once the signal is known
 *	before start  the GPU's thread finds the ticket, answers, and notes queue and packet
 *	completion    col_count_over(), before the signal may be used for something else
 *	collecting    col_count_read(): the values, as the tail of the dispatch's record
 *
 * Threads  decide, expect, over: any; they take no lock, call nothing, allocate nothing.
 *          read: a helper thread; the service takes a lock of its own.
 * Failure  if the GPU does not support counting, a note in the capture says so, and
 *          nothing is counted. The program continues in any case.
 */
#ifndef WS_COLLECTOR_COUNT_COUNT_H
#define WS_COLLECTOR_COUNT_COUNT_H

#include "collector/provider.h"

/* Whether dispatches are counted or sampled. */
static inline bool col_counting(void)
{
	return col_asked_any(COL_SERVICE_BIT(COUNTERS) | COL_SERVICE_BIT(PC_HOST_TRAP) |
			     COL_SERVICE_BIT(PC_STOCHASTIC));
}

#define COL_COUNT_NOTHING UINT32_MAX        /* as the service's SOFTGPU_PLAIN */
#define COL_COUNT_REPLAYED (UINT32_MAX - 1) /* all sets, one after the other: SOFTGPU_REPLAY */

/* How one dispatch is counted; part of whatever the provider keeps of it. */
struct col_count_ticket {
	uint32_t set;           /* COL_COUNT_NOTHING, COL_COUNT_REPLAYED, or a set's number */
	uint32_t gpu;           /* from 0, of ours */
	uint32_t met;           /* the GPU has asked: the two below are set */
	uint32_t epoch;         /* col_epoch() when it was made */
	uint64_t queue, packet; /* the service's name for the dispatch */
};

/*
 * The runtime was loaded, or an attach began: read the request, find the service, set it up.
 * Kernels loaded before must be reported again.
 */
void col_count_load(void);
bool col_count_on(void);      /* between load and stop */
bool col_count_selects(void); /* between load and drain */
/* Detaching: stop selecting dispatches; then, when those in flight are done, stop counting. */
void col_count_drain(void);
void col_count_stop(void);
void col_count_report(void); /* the process ends, and its dispatches were written */
void col_count_state(struct cap_writer *writer); /* a capture was opened: the counters as facts */
void col_count_forked(void);

/*
 * Whether packets around dispatches count them (AMD's aqlprofile), instead of the GPU itself: hsa/turns.c
 * then runs kernels one at a time.
 */
bool col_count_by_packets(void);
/* Whether nothing is counted, and the runtime samples (hsa/pcs.h). */
bool col_count_by_runtime(void);
/* A queue of this agent is about to get its first kernel. Takes a lock, and the runtime's. */
void col_count_first(uint32_t agent);

/* ---- kernel replay by packets: hsa/replay.c ---- */

struct col_count_replay {
	uint32_t n_runs;
	uint64_t saved_bytes, replay_ns; /* time of the passes after the first */
};

bool col_count_replays(void); /* some dispatch may be counted with several sets, by packets */
uint32_t col_count_n_sets(const struct col_count_ticket *ticket);
/*
 * Around all passes of a dispatch, and around each. When a pass ends its values are read; the record
 * has those of all sets that were.
 */
void col_count_replay_begin(struct col_count_ticket *ticket);
void col_count_pass_begin(struct col_count_ticket *ticket, uint32_t set);
void col_count_pass_end(struct col_count_ticket *ticket);
void col_count_replay_end(struct col_count_ticket *ticket, const struct col_count_replay *replay);

/* A kernel became known. Rare: patterns are matched here. */
void col_count_kernel(uint32_t kernel, const char *symbol);

/* The name that reports show of a kernel, cut to @room. Allocates: not for launches. */
void col_count_shown_name(const char *symbol, char *to, size_t room);

/* A launch, as far as the choice of counters depends on it. */
struct col_count_launch {
	uint32_t agent, kernel;
	uint32_t grid[3], workgroup[3], group_bytes;
	bool was_selected; /* it was submitted before col_count_drain(), if that was called */
};

/* Whether and what to count of the next launch of a kernel; counts the launch. */
void col_count_decide(struct col_count_ticket *out_ticket, const struct col_count_launch *launch);
/*
 * It completes with @signal, counted or not; @ticket stays where it is until col_count_over().
 * False: the table is full.
 */
bool col_count_expect(struct col_count_ticket *ticket, uint64_t signal);
struct col_count_ticket *col_count_expected(uint64_t signal); /* NULL: none */
/*
 * For a dispatch that was not expected, the GPU's thread asks @answer for a ticket before it starts; NULL: it
 * is not counted. The answer takes no lock that is held while the service is called.
 */
struct softgpu_dispatch;
typedef struct col_count_ticket *col_count_answer(const struct softgpu_dispatch *dispatch,
						  uint32_t agent);
void col_count_ask(col_count_answer *answer); /* NULL: nobody */
struct col_count_ticket *col_count_unexpected(const struct softgpu_dispatch *dispatch,
					      uint32_t agent);
/* The signal fell, or never will: it no longer means this dispatch. */
void col_count_over(const struct col_count_ticket *ticket, uint64_t signal);

/*
 * Writes the dispatch's record with its values, and CAP_REC_COUNTED, to the calling thread's
 * lane. False: there are no values (not counted after all, or too late), nothing is written.
 */
bool col_count_write(const struct col_count_ticket *ticket,
		     const struct cap_rec_dispatch *dispatch);

#endif
