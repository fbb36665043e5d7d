/*
 * rank: the rank of this process in a parallel job, from the launcher's environment.
 *
 * Slurm, Open MPI, MVAPICH2, Intel MPI, MPICH (Hydra), PMIx and Flux. If several are
 * set, the last in the table is used, so a job step inside a job gets its own rank.
 */
#ifndef WS_LAUNCH_RANK_H
#define WS_LAUNCH_RANK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The environment to look in: ours, or that of a recorded process. */
struct launch_lookup {
	const char *(*get)(const void *ctx, const char *name); /* NULL: not set */
	const void *ctx;
};
struct launch_lookup launch_lookup_own(void); /* getenv() */
struct launch_lookup launch_lookup_list(
	const char *const *env); /* "NAME=value"..., NULL at the end */

struct launch_rank {
	bool known;      /* the rank is; the size has a flag of its own */
	uint64_t rank;   /* 0 when unknown */
	uint64_t size;   /* 1 when unknown */
	uint64_t job;    /* SLURM_JOB_ID; 0 */
	bool size_known; /* not every launcher says how many there are */
};
void launch_rank_find(struct launch_lookup env, struct launch_rank *out_rank);

/*
 * The same question as rocprof-compute asks it: of the launchers in its order (Slurm, Flux,
 * PMI, PMIx, PALS, Open MPI, MVAPICH2, others) the first that has set a rank. One exception:
 * inside a batch script, or a step of one task, Slurm's rank is always 0, so there a rank of
 * an mpirun inside comes first. @out_launcher names it for people; NULL is fine.
 */
void launch_rank_find_first(struct launch_lookup env, struct launch_rank *out_rank,
			    const char **out_launcher);

/*
 * The rank and size in two variables that the user named. One that is not set leaves the rank
 * unknown; it is an error if one is not a number, or if the rank is not below the size.
 */
enum ws_status launch_rank_named(struct launch_lookup env, const char *rank_name,
				 const char *size_name, struct launch_rank *out_rank,
				 struct ws_err *err);

/*
 * Whether @rank is in "0-3,8". A list that is not one, and one with ranks that a job of this
 * size does not have, is an error.
 */
enum ws_status launch_rank_listed(const char *list, const struct launch_rank *rank,
				  bool *out_listed, struct ws_err *err);

#endif
