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

struct ws_plan {
	_Atomic uint32_t n_users;
	size_t n, n_counters;         /* sets; counters of all of them */
	struct ws_selection *sets;
	ws_softgpu_choose *choose;    /* NULL: always set 0 */
	void *user;
};

/* 0, or as ws_softgpu_count_sets(). The caller is its first user. */
int ws_plan_make(struct ws_plan **out, const struct ws_hw *hw, const struct ws_softgpu_set *sets, size_t n,
		 ws_softgpu_choose *choose, void *user, char *error, size_t error_bytes);
struct ws_plan *ws_plan_get(struct ws_plan *plan); /* NULL is fine */
void ws_plan_put(struct ws_plan *plan);

#endif
