/*
 * rank: which process of a parallel job this is, as its launcher's environment tells.
 *
 * Slurm, Open MPI, MVAPICH2, Intel MPI, MPICH (Hydra), PMIx and Flux. Of several that
 * are set the last in the table counts, so a job step inside a job knows its own place.
 */
#ifndef WS_LAUNCH_RANK_H
#define WS_LAUNCH_RANK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The environment to look in: ours, or that of a recorded process. */
struct ws_lookup {
	const char *(*get)(const void *ctx, const char *name); /* NULL: not set */
	const void *ctx;
};
struct ws_lookup ws_lookup_own(void);                    /* getenv() */
struct ws_lookup ws_lookup_list(const char *const *env); /* "NAME=value"..., NULL at the end */

struct ws_rank {
	bool known;
	uint64_t rank; /* 0 when unknown */
	uint64_t size; /* 1 when unknown */
	uint64_t job;  /* SLURM_JOB_ID; 0 */
};
void ws_rank_find(struct ws_lookup env, struct ws_rank *out_rank);

/*
 * The same question as rocprof-compute asks it: of the launchers in its order (Slurm, Flux,
 * PMI, PMIx, PALS, Open MPI, MVAPICH2, others) the first that has set a rank. One exception:
 * inside a batch script, or a step of one task, Slurm's rank is always 0, so there a rank of
 * an mpirun inside comes first. @out_launcher names it for people; NULL is fine.
 */
void ws_rank_find_first(struct ws_lookup env, struct ws_rank *out_rank, const char **out_launcher);

/* Whether @rank is in "0-3,8"; a list that is not one is an error. */
enum ws_status ws_rank_listed(const char *list, uint64_t rank, bool *out_listed,
			      struct ws_err *err);

#endif
