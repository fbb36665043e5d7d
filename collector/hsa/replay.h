/*
 * replay: a kernel, once for every set of counters, from the same memory.
 *
 * A set of counters is what the hardware counts in one pass. A dispatch that is to be counted with several sets does
 * not run in the program's queue, which waits for it (turns.h). A thread of ours saves the memory that it can write
 * (ranges.h, saved.h), and runs it in a queue of ours once per set: restore, start, kernel, read, stop. The last pass
 * leaves the memory as one execution would. Memory is restored before the first pass as well, so that
 * all passes begin with the same contents of the caches.
 *
 * After any pass it can end there, because memory is then as one execution left it. What cannot be repeated
 * runs once, with the first set: see obstacles.h. The reason is a note of the capture, once per kernel, and a line of
 * the file COL_COUNT_ONCE_NAME, by which the launcher knows that the program has to run again.
 *
 * Threads  ready, submit, cancel: any. @done: on the thread of the replays.
 * Failure  no thread, no queue: ready is false, and the caller counts one set by itself.
 */
#ifndef WS_COLLECTOR_HSA_REPLAY_H
#define WS_COLLECTOR_HSA_REPLAY_H

#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/obstacles.h"

struct col_replay {
	uint32_t agent, kernel;
	hsa_kernel_dispatch_packet_t packet; /* with a completion signal of ours, at 1 */
	struct col_count_ticket *ticket;
	void (*done)(struct col_replay *replay);
	/* The queue of ours reported an error; also on ROCr's thread. */
	void (*failed)(struct col_replay *replay, hsa_status_t status);
	/* private */
	struct col_replay *next;
	bool waits;
	uint32_t cancelled;
};

bool col_replay_ready(
	uint32_t agent); /* before its dispatch is submitted: nothing can fail later */
void col_replay_submit(struct col_replay *replay);
/* Its kernel is stopped, and nothing of @replay is used afterwards; @done is not called. */
void col_replay_cancel(struct col_replay *replay);
/* A dispatch that is counted with one set instead of all, and why. */
void col_replay_ran_once(uint32_t kernel, enum col_obstacle obstacle);

void col_replay_unload(void);
void col_replay_forked(void);

#endif
