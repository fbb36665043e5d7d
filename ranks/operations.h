/*
 * operations: what ranks do together, seen from one process.
 *
 * Collectives of MPI and RCCL are the same operation on all ranks by their communicator and number
 * (trace/collectives.h). Those of RCCL whose kernels were not recorded are left out. Kernels that the user declares to be collective are by their name and by
 * how many of that name the process ran before.
 */
#ifndef WS_RANKS_OPERATIONS_H
#define WS_RANKS_OPERATIONS_H

#include "trace/trace.h"

/* Who cannot leave it before whom has entered. */
enum rnk_waits {
	RNK_WAITS_NONE,     /* nobody, or not known */
	RNK_WAITS_ALL,      /* all for all: a barrier */
	RNK_WAITS_FOR_ROOT, /* all for the root */
	RNK_WAITS_OF_ROOT,  /* the root for all */
};

struct rnk_operation {
	uint64_t key; /* the same on all ranks, and of no other operation */
	const char *name;
	uint64_t start_ns, end_ns;
	enum rnk_waits waits;
	bool is_root, kernel;
	uint32_t n_ranks; /* that take part; 0 unknown */
	uint32_t launch;  /* of RCCL: operations of a process that the same kernels do; 0: none */
};

typedef enum ws_status rnk_operation_fn(void *ctx, const struct rnk_operation *operation,
					struct ws_err *err);

struct ws_pattern;
/* @kernels: which kernels are collective; NULL: none are. */
enum ws_status rnk_operations_each(const struct trc_trace *trace, const struct trc_process *process,
				   const struct ws_pattern *kernels, rnk_operation_fn *fn,
				   void *ctx, struct ws_err *err);

#endif
