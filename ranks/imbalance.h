/*
 * imbalance: what kernels and collectives cost each rank, and which rank the others wait for.
 *
 *	st = rnk_imbalance_create(job, NULL, &imbalance, err);
 *	for (size_t i = 0; i < imbalance->n_rows; i++) {
 *		rnk_row_figures(imbalance, &imbalance->rows[i], &figures);
 *		...
 *	}
 *	rnk_imbalance_destroy(imbalance);
 *
 * The wait of a rank in a collective is the time from its own entry until the last rank has entered.
 * It is known for operations that are matched between ranks and that make ranks wait for each other
 * (operations.h), and only as well as the clocks are aligned.
 *
 * Memory   does not grow with the number of events: 32 bytes per name and rank, with at most
 *          RNK_CELLS_MAX of these, and 24 bytes per collective, with at most RNK_MATCHED_MAX.
 */
#ifndef WS_RANKS_IMBALANCE_H
#define WS_RANKS_IMBALANCE_H

#include "ranks/ranks.h"

#define RNK_CELLS_MAX ((size_t)8 << 20)
#define RNK_MATCHED_MAX ((size_t)1 << 25)
#define RNK_OTHER_NAMES "(other names)"

/* Of one rank. */
struct rnk_share {
	uint64_t n_calls;
	uint64_t total_ns;
	uint64_t wait_ns; /* part of the total */
	uint64_t n_last;  /* operations that it entered as the last one */
};

struct rnk_row {
	const char *name;
	bool collective;
	uint32_t comm_ranks;      /* size of the communicators; 0: not known, or no collective */
	bool waits;               /* wait_ns and n_last are known */
	struct rnk_share *shares; /* by rank: rnk_imbalance.ranks */
};

struct rnk_imbalance {
	uint64_t *ranks; /* numbers, ascending */
	size_t n_ranks;
	struct rnk_row *rows; /* collectives, then kernels; most time first */
	size_t n_rows;
	uint64_t n_matched;   /* collectives that at least two ranks recorded */
	uint64_t n_unmatched; /* that only one rank recorded, or that were too many to match */
};

/* Of all ranks that have calls of this name. */
struct rnk_figures {
	size_t n_ranks;
	uint64_t n_calls;
	uint64_t mean_ns, least_ns, most_ns; /* totals of ranks */
	/* Kernels: the rank with the largest total. Collectives: that is the last one most often. */
	uint64_t slowest;
	uint64_t slowest_ns, n_slowest_last, n_slowest_calls;
	double spread;                                  /* (most - least) / mean */
	uint64_t mean_wait_ns, most_wait_ns, wait_rank; /* who waits most */
};

/* @collective_kernels: as in struct rnk_align_opts. */
enum ws_status rnk_imbalance_create(const struct rnk_job *job, const char *collective_kernels,
				    struct rnk_imbalance **out_imbalance, struct ws_err *err);
void rnk_imbalance_destroy(struct rnk_imbalance *imbalance); /* NULL is fine */
void rnk_row_figures(const struct rnk_imbalance *imbalance, const struct rnk_row *row,
		     struct rnk_figures *out_figures);

#endif
