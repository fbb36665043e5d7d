/*
 * counter_sets: the selected sets of counters, and the callback that chooses one for a dispatch.
 *
 * Constant after creation. A counted dispatch holds a reference until its result is made.
 */
#ifndef WS_SOFTGPU_COUNTING_COUNTER_SETS_H
#define WS_SOFTGPU_COUNTING_COUNTER_SETS_H

#include <stdatomic.h>

#include "softgpu/counters/service.h"
#include "softgpu/counting/selection.h"

struct sg_counter_sets {
	_Atomic uint32_t n_users;
	size_t n, n_counters; /* sets; counters of all of them */
	struct sg_selection *sets;
	softgpu_choose *choose; /* NULL: always set 0 */
	void *user;
};

/* 0, or the error of softgpu_count_sets(). The caller holds the first reference. */
int sg_counter_sets_create(struct sg_counter_sets **out, const struct sg_hw *hw,
			   const struct softgpu_set *sets, size_t n, softgpu_choose *choose,
			   void *user, char *error, size_t error_bytes);
struct sg_counter_sets *sg_counter_sets_get(
	struct sg_counter_sets *counter_sets); /* NULL is fine */
void sg_counter_sets_put(struct sg_counter_sets *counter_sets);

#endif
