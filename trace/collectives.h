/*
 * collectives: the collective operations of a process, for joining the captures of many ranks.
 *
 * They are no events of their own: as regions or calls they are among the events already. Here they
 * have what those lack, the communicator and the number in it.
 *
 * A collective of MPI takes as long as its call. One of RCCL is done by kernels that the call
 * launches: it begins when the first of them begins and ends when the last one ends. Kernels of a group
 * of calls do all collectives of the group, which then have the same times.
 *
 * Threads  any number may read one trace.
 * Memory   one chunk, and 48 bytes per launch of RCCL, up to TRC_LAUNCHED_MAX of them; further
 *          ones have no times.
 */
#ifndef WS_TRACE_COLLECTIVES_H
#define WS_TRACE_COLLECTIVES_H

#include "trace/trace.h"

#define TRC_LAUNCHED_MAX ((size_t)1 << 24)

struct trc_collective {
	const char *name;          /* "MPI_Allreduce"; "" unknown */
	uint64_t start_ns, end_ns; /* on the clock of the trace */
	uint64_t comm, seq;        /* one operation, on all ranks */
	uint32_t rank, n_ranks;    /* in the communicator; n_ranks 0: not known */
	int32_t root;              /* in the communicator; -1: none */
	uint32_t launch; /* of RCCL: those of one group have the same number; 0: not of RCCL */
	bool timed; /* false: no kernel of it was recorded, and the times are those of the call */
};

typedef enum ws_status trc_collective_fn(void *ctx, const struct trc_collective *collective,
					 struct ws_err *err);

/* Call @fn for each, as recorded. A status of @fn ends the walk and is returned. */
enum ws_status trc_collectives_each(const struct trc_process *process, trc_collective_fn *fn,
				    void *ctx, struct ws_err *err);

#endif
