#include "softgpu/counting/counter_sets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With several sets the message names the set. */
static void name_set(size_t k, size_t n, char *error, size_t error_bytes)
{
	char text[200];

	if (n < 2 || !error_bytes)
		return;
	snprintf(text, sizeof(text), "%s", error);
	snprintf(error, error_bytes, "set %zu: %s", k, text);
}

int sg_counter_sets_create(struct sg_counter_sets **out, const struct sg_hw *hw,
			   const struct softgpu_set *sets, size_t n, softgpu_choose *choose,
			   void *user, char *error, size_t error_bytes)
{
	struct sg_counter_sets *counter_sets = calloc(1, sizeof(*counter_sets));
	int status = 0;

	if (counter_sets)
		counter_sets->sets = calloc(n ? n : 1, sizeof(*counter_sets->sets));
	if (!counter_sets || !counter_sets->sets) {
		free(counter_sets);
		snprintf(error, error_bytes, "out of memory");
		return ENOMEM;
	}
	atomic_init(&counter_sets->n_users, 1);
	counter_sets->choose = choose;
	counter_sets->user = user;
	for (; counter_sets->n < n && !status; counter_sets->n++) {
		status = sg_selection_make(&counter_sets->sets[counter_sets->n], hw,
					   sets[counter_sets->n].names, sets[counter_sets->n].n,
					   error, error_bytes);
		if (status)
			name_set(counter_sets->n, n, error, error_bytes);
		counter_sets->n_counters += sets[counter_sets->n].n;
	}
	if (status)
		sg_counter_sets_put(counter_sets);
	else
		*out = counter_sets;
	return status;
}

struct sg_counter_sets *sg_counter_sets_get(struct sg_counter_sets *counter_sets)
{
	if (counter_sets)
		atomic_fetch_add(&counter_sets->n_users, 1);
	return counter_sets;
}

void sg_counter_sets_put(struct sg_counter_sets *counter_sets)
{
	if (!counter_sets || atomic_fetch_sub(&counter_sets->n_users, 1) != 1)
		return;
	for (size_t k = 0; k < counter_sets->n; k++)
		sg_selection_free(&counter_sets->sets[k]);
	free(counter_sets->sets);
	free(counter_sets);
}
