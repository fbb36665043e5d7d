/*
 * pcs: PC sampling by ROCr, which is how hardware is sampled: a session per GPU.
 *
 * The driver or the GPU interrupts waves; ROCr's trap handler writes a sample, and ROCr calls us with full buffers
 * on a thread of its own. A sample names its kernel by the doorbell of the queue and the place of the packet in
 * it, modulo the queue's size. So a marker in front of every kernel's packet notes what is at that place
 * (pcs_dispatches.c), and when: places are used again, and samples arrive late.
 *
 * A helper thread starts the sessions, empties the buffers ten times a second, so that a killed program has its
 * samples, and stops the sessions: a GPU that hangs may hang ROCr, and then only that thread. They are started
 * late, so that the program's memory is where it would be without sampling.
 *
 * Threads  find: while the runtime loads.  first, mark, stop: any; first and stop wait, with a limit.
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
/* The first kernel of this agent is about to be submitted: start, and wait for it with a limit. Once. */
void col_pcs_first(uint32_t agent);
/* The packet in front of the kernel's. Of @dispatch the kernel, the ids and the agent are read; NULL: not selected. */
void col_pcs_mark(const struct cap_rec_dispatch *dispatch, uint32_t agent, union col_packet *to);

void col_pcs_stop(uint64_t deadline_ns); /* what was sampled is recorded, and no more is sampled */
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
