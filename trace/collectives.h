/*
 * collectives: the collective operations of a process, for joining the captures of many ranks.
 *
 * They are no events of their own: as regions they are among the events already. Here they
 * have what regions lack, the communicator and the number in it.
 *
 * Threads  any number may read one trace.
 * Memory   one chunk.
 */
#ifndef WS_TRACE_COLLECTIVES_H
#define WS_TRACE_COLLECTIVES_H

#include "trace/trace.h"

struct trc_collective {
	const char *name;          /* "MPI_Allreduce"; "" unknown */
	uint64_t start_ns, end_ns; /* on the clock of the trace */
	uint64_t comm, seq;        /* one operation, on all ranks */
	uint32_t rank, n_ranks;    /* in the communicator */
	int32_t root;              /* in the communicator; -1: none */
};

typedef enum ws_status trc_collective_fn(void *ctx, const struct trc_collective *collective,
					 struct ws_err *err);

/* Call @fn for each, as recorded. A status of @fn ends the walk and is returned. */
enum ws_status trc_collectives_each(const struct trc_process *process, trc_collective_fn *fn,
				    void *ctx, struct ws_err *err);

#endif
