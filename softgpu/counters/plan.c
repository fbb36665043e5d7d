#include "softgpu/counters/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With several sets the sentence says which of them it is about. */
static void name_set(size_t k, size_t n, char *error, size_t error_bytes)
{
	char text[200];

	if (n < 2 || !error_bytes)
		return;
	snprintf(text, sizeof(text), "%s", error);
	snprintf(error, error_bytes, "set %zu: %s", k, text);
}

int sg_plan_make(struct sg_plan **out, const struct sg_hw *hw, const struct softgpu_set *sets,
		 size_t n, softgpu_choose *choose, void *user, char *error, size_t error_bytes)
{
	struct sg_plan *plan = calloc(1, sizeof(*plan));
	int status = 0;

	if (plan)
		plan->sets = calloc(n ? n : 1, sizeof(*plan->sets));
	if (!plan || !plan->sets) {
		free(plan);
		snprintf(error, error_bytes, "out of memory");
		return ENOMEM;
	}
	atomic_init(&plan->n_users, 1);
	plan->choose = choose;
	plan->user = user;
	for (; plan->n < n && !status; plan->n++) {
		status = sg_selection_make(&plan->sets[plan->n], hw, sets[plan->n].names,
					   sets[plan->n].n, error, error_bytes);
		if (status)
			name_set(plan->n, n, error, error_bytes);
		plan->n_counters += sets[plan->n].n;
	}
	if (status)
		sg_plan_put(plan);
	else
		*out = plan;
	return status;
}

struct sg_plan *sg_plan_get(struct sg_plan *plan)
{
	if (plan)
		atomic_fetch_add(&plan->n_users, 1);
	return plan;
}

void sg_plan_put(struct sg_plan *plan)
{
	if (!plan || atomic_fetch_sub(&plan->n_users, 1) != 1)
		return;
	for (size_t k = 0; k < plan->n; k++)
		sg_selection_free(&plan->sets[k]);
	free(plan->sets);
	free(plan);
}
