/*
 * matches: who entered an operation last, for very many operations.
 *
 * A hash table of rnk_operation.key. At its ceiling it takes no more: those are not matched.
 */
#ifndef WS_RANKS_MATCHES_H
#define WS_RANKS_MATCHES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct rnk_match {
	uint64_t key;     /* 0: free */
	uint64_t last_ns; /* when the last one entered */
	uint32_t last;    /* index of its rank */
	uint32_t n;       /* how many did */
};

struct rnk_matches {
	struct rnk_match *at;
	size_t n, n_slots; /* a power of two, or 0 */
	size_t max_n;
};

void rnk_matches_init(struct rnk_matches *matches, size_t max_n);
void rnk_matches_fini(struct rnk_matches *matches);
/* Rank @rank entered the operation. */
enum ws_status rnk_matches_enter(struct rnk_matches *matches, uint64_t key, uint64_t entered_ns,
				 uint32_t rank, struct ws_err *err);
/* NULL: not there. */
const struct rnk_match *rnk_matches_find(const struct rnk_matches *matches, uint64_t key);

#endif
