/*
 * scratch: the memory behind kernels' private variables.
 *
 * A queue has scratch for kernels up to some size. When a dispatch needs more, the GPU stops the
 * queue and tells ROCr, whose events thread gets the memory and lets the queue go on; memory
 * that is too large to keep is given back after that one dispatch ("use once"), in the same way.
 * Both cost the program time between kernels, and that is what is recorded here.
 *
 * Two sources, of which the first that the runtime has is used:
 *
 *	scratch_events.c     ROCr 6.0 and later call a tool before and after
 *	scratch_locks.c     earlier ones say nothing: watched at the places where they lock
 *
 * A third would call col_scratch_write() as these do.
 */
#ifndef WS_COLLECTOR_HSA_SCRATCH_H
#define WS_COLLECTOR_HSA_SCRATCH_H

#include "collector/hsa/hsa_priv.h"

struct col_scratch_event {
	enum cap_scratch_op op;
	uint32_t agent, queue; /* ids; 0: not known */
	uint32_t flags;        /* as in struct cap_rec_scratch */
	uint64_t start_ticks, end_ticks;
	uint64_t n_bytes; /* 0 for frees */
};

/* By the thread that did it. */
void col_scratch_write(const struct col_scratch_event *event);

/* Whether this runtime has the source. Called again when somebody attaches again. */
bool col_scratch_events_install(struct col_hsa_table *tools);
bool col_scratch_locks_install(void);

#endif
