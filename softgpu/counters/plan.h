/*
 * plan: sets of counters, and who says which of them a dispatch is counted with.
 *
 * A plan does not change; a run holds the one it began with until it has made its result.
 */
#ifndef WS_SOFTGPU_COUNTERS_PLAN_H
#define WS_SOFTGPU_COUNTERS_PLAN_H

#include <stdatomic.h>

#include "softgpu/counters/select.h"
#include "softgpu/counters/service.h"

struct sg_plan {
	_Atomic uint32_t n_users;
	size_t n, n_counters; /* sets; counters of all of them */
	struct sg_selection *sets;
	softgpu_choose *choose; /* NULL: always set 0 */
	void *user;
};

/* 0, or as softgpu_count_sets(). The caller is its first user. */
int sg_plan_make(struct sg_plan **out, const struct sg_hw *hw, const struct softgpu_set *sets,
		 size_t n, softgpu_choose *choose, void *user, char *error, size_t error_bytes);
struct sg_plan *sg_plan_get(struct sg_plan *plan); /* NULL is fine */
void sg_plan_put(struct sg_plan *plan);

#endif
