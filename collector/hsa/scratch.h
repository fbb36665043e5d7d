/*
 * scratch: the memory of kernels' private variables.
 *
 * A queue has scratch for kernels up to some size. When a dispatch needs more, the GPU stops the
 * queue and notifies ROCr, whose events thread allocates the memory and resumes the queue. Memory
 * that is too large to keep is freed after that one dispatch ("use once"), in the same way.
 * Both cost the program time between kernels, which is recorded here.
 *
 * There are two sources; the first that the runtime supports is used:
 *
 *	scratch_events.c    ROCr 6.0 and later call a tool before and after
 *	scratch_locks.c     earlier versions have no events: their locks are observed
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

/* Whether this runtime has the source. Called again at each attach. */
bool col_scratch_events_install(struct col_hsa_table *tools);
bool col_scratch_locks_install(void);

#endif
