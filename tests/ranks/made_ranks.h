/*
 * made_ranks: captures of a parallel program that never ran, whose true times are known.
 *
 * All ranks live in one true time. Each node's clock shows t + offset + drift * t of it, and the
 * captures have the times that the node's clock shows. In each step a rank runs kernels, which take
 * longer on the slow rank, and then enters a collective; all leave it after the last has entered.
 */
#ifndef WS_TESTS_RANKS_MADE_RANKS_H
#define WS_TESTS_RANKS_MADE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

struct made_ranks {
	uint32_t n_ranks, per_node;
	uint32_t n_steps, n_kernels; /* kernels per step */
	uint64_t step_ns;
	uint32_t slow_rank;
	double drift_ppm;     /* node k: k times this */
	int64_t offset_ns;    /* node k: k times this */
	uint32_t wrong_every; /* one collective in so many is recorded at a wrong time; 0: none */
	bool chain;           /* collectives are of two neighbouring nodes only */
	bool launcher;        /* a process without a rank, on a node of its own: launcher.wcap */
	bool no_collectives;  /* kernels only */
	bool rccl; /* collectives are RCCL's: done by a kernel after the call, two in a group */
	uint32_t skip_rank; /* not written; UINT32_MAX: none */
	uint32_t seed;
};

#define MADE_RANKS_START_NS 10000000000000000ull /* true time of the first step */
#define MADE_RANKS_DEFAULT                                                                         \
	((struct made_ranks){ .n_ranks = 4,                                                        \
			      .per_node = 2,                                                       \
			      .n_steps = 200,                                                      \
			      .n_kernels = 2,                                                      \
			      .step_ns = 1000000,                                                  \
			      .slow_rank = 1,                                                      \
			      .drift_ppm = 20,                                                     \
			      .offset_ns = -123456789012345,                                       \
			      .skip_rank = UINT32_MAX,                                             \
			      .seed = 1 })

/* What the clock of a node shows at a true time. */
uint64_t made_ranks_shown(const struct made_ranks *made, uint32_t node, uint64_t true_ns);

/* Writes @dir/rank<N>.wcap; 0, or -1 and a message on stderr. Records written are counted. */
int made_ranks_write(const struct made_ranks *made, const char *dir, uint64_t *out_records);

#endif
