/*
 * pcs: PC sampling by ROCr, which is how hardware is sampled: a session per GPU.
 *
 * The driver or the GPU interrupts waves; ROCr's trap handler writes a sample, and ROCr calls us with full buffers
 * on a thread of its own. A sample names its kernel by the doorbell of the queue and the place of the packet in
 * it, modulo the queue's size. So a marker in front of every kernel's packet notes what is at that place
 * (pcs_dispatches.c), and when: places are used again, and samples arrive late.
 *
 * A helper thread empties the buffers ten times a second, so that a killed program has its samples. It also
 * stops the sessions: a GPU that hangs may hang ROCr, and then only that thread.
 *
 * Threads  find, start, stop: while no queue is being created.  first, mark: any.  drain: any; waits, with a limit.
 * Failure  a note in the capture says why a GPU is not sampled; the program runs on.
 */
#ifndef WS_COLLECTOR_HSA_PCS_H
#define WS_COLLECTOR_HSA_PCS_H

#include "capture/record.h"

#include <stdbool.h>
#include <stdint.h>

union col_packet;
struct col_pcs_sample;

/* False: this runtime cannot; @out_why is a sentence. */
bool col_pcs_find(const char **out_why);
/* A queue of this agent was created, so the runtime is up: start, once. */
void col_pcs_first(uint32_t agent);
/* The packet in front of the kernel's. Of @dispatch the kernel, the ids and the agent are read; NULL: not selected. */
void col_pcs_mark(const struct cap_rec_dispatch *dispatch, uint32_t agent, union col_packet *to);

void col_pcs_drain(uint64_t deadline_ns); /* what was sampled so far is recorded */
void col_pcs_stop(uint64_t deadline_ns);  /* drained, and no more is sampled */
void col_pcs_forked(void);

/* ---- pcs_dispatches.c ---- */

/* What is at a place of a queue from now on. False: no memory. */
bool col_pcs_put(uint32_t agent, uint64_t doorbell, uint64_t packet, uint32_t n_packets,
		 const struct cap_rec_dispatch *dispatch);
/* What was there at the time of the sample. False: nothing that is recorded. */
bool col_pcs_get(uint32_t agent, const struct col_pcs_sample *sample,
		 struct cap_rec_dispatch *out_dispatch);
void col_pcs_dispatches_forked(void);

#endif
