/*
 * pending_priv: shared by pending.c (slots) and completion.c (from signals to records).
 */
#ifndef WS_COLLECTOR_HSA_PENDING_PRIV_H
#define WS_COLLECTOR_HSA_PENDING_PRIV_H

#include "collector/hsa/hsa_priv.h"

#include <hsa/amd_hsa_signal.h>

/* States of a place; pending.c tells how it goes from one to the next. */
enum { FREE, FILLING, PENDING, OURS, FORWARDED, TAKEN };

/* How far a dispatch's record is while its place is taken. */
enum col_timed {
	COL_TIMED_NOT,
	COL_TIMED_READ,    /* the signal was read and let go; values are waited for */
	COL_TIMED_WRITTEN, /* by the GPU's thread: the signal is about to fall */
};

static inline amd_signal_t *col_pending_signal(uint64_t handle)
{
	return (amd_signal_t *)(uintptr_t)handle;
}

/*
 * The GPU's clock against ROCr's, as far as known. Asking ROCr takes a lock, twice, and a
 * division; between two askings that are close together its answer is a straight line. Belongs
 * to whoever looks after a ring.
 */
struct col_gpu_clock {
	uint32_t agent;
	uint64_t tick, ns;             /* asked last */
	uint64_t first_tick, first_ns; /* asked first: the slope is over all the time since */
	uint64_t reach;                /* ticks from `tick` on and back; 0: no slope yet */
	double ns_per_tick;
};

static inline uint32_t col_pending_state(const struct col_pending *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

static inline enum col_timed col_pending_timed(const struct col_pending *p)
{
	return __atomic_load_n(&p->timed, __ATOMIC_RELAXED);
}

static inline bool col_pending_is_counted(const struct col_pending *p)
{
	return p->noted && p->ticket.set != COL_COUNT_NOTHING;
}

static inline void col_pending_set_state(struct col_pending *p, uint16_t state)
{
	__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
}

static inline bool col_pending_move_state(struct col_pending *p, uint16_t from, uint16_t to)
{
	return __atomic_compare_exchange_n(&p->state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Marks: the place that a signal of the program's belongs to. */
bool col_done_start(void); /* false: no memory */
void col_done_forget(void);

/* Read a signal, write a record. The caller holds the place: it is TAKEN. */
bool col_done_dispatch(const struct col_pending *p); /* nothing is read but the signal: any time */
/*
 * False: it still runs. Not @with_values: where there are some, only the signal is read,
 * which is then free for something else; the record is written when somebody comes back.
 */
bool col_done_finish_dispatch(struct col_pending *p, struct col_gpu_clock *clock, bool with_values);
bool col_done_finish_copy(struct col_pending *p, bool reused);

enum col_done_how {
	COL_DONE_ALL,   /* write the record */
	COL_DONE_REUSE, /* the program waits to use its signal again: the least that must be done */
};
/* True: its signal means nothing any more. The place is FREE, or PENDING again. @clock: or NULL. */
bool col_done_finish(struct col_pending *p, struct col_gpu_clock *clock, enum col_done_how how);
/* A forwarded one has completed: its record, then the program's signal. The place is FREE. */
void col_done_forward(struct col_pending *p);
void col_done_abandon(struct col_pending *p); /* it never will */
void col_done_let_go(struct col_pending *p);  /* its signal no longer leads to it */
void col_done_count(const struct col_pending *p, enum cap_ledger_column column);

#endif
