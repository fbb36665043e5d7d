/*
 * total: the tally under the names of counters, for the service.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/counting/counting_priv.h"

static void total_free(struct sg_count_total *total)
{
	sg_selection_free(&total->selection);
	free(total->values);
	free(total->numbers);
	*total = (struct sg_count_total){ .values = NULL };
}

static int make_total(struct sg_count_total *out, const struct sg_hw *hw, const char *const *names,
		      size_t n, char *error, size_t error_bytes)
{
	struct sg_count_total total = { .values = calloc(n, sizeof(*total.values)) };
	int status = sg_selection_make(&total.selection, hw, names, n, error, error_bytes);
	size_t n_numbers = 0;

	for (size_t i = 0; !status && i < total.selection.n; i++)
		n_numbers += sg_selected_n_values(&total.selection.items[i], hw);
	total.numbers = calloc(n_numbers + 1, sizeof(*total.numbers));
	if (!status && (!total.values || !total.numbers)) {
		snprintf(error, error_bytes, "out of memory");
		status = ENOMEM;
	}
	if (status) {
		total_free(&total);
		return status;
	}
	n_numbers = 0;
	for (size_t i = 0; i < total.selection.n; i++) {
		const struct sg_selected *item = &total.selection.items[i];

		total.values[i] = (struct softgpu_value){
			.name = item->name,
			.n_values = sg_selected_n_values(item, hw),
			.values = total.numbers + n_numbers,
			.fidelity = item->counter->fidelity == SG_EXACT ? SOFTGPU_EXACT
									: SOFTGPU_MODELLED,
		};
		n_numbers += total.values[i].n_values;
	}
	*out = total;
	return 0;
}

int sg_counting_total_open(struct sg_counting *c, const char *const *names, size_t n, char *error,
			   size_t error_bytes)
{
	struct sg_count_total total;
	int status = make_total(&total, c->hw, names, n, error, error_bytes);

	if (status)
		return status;
	sg_counting_total_close(c);
	pthread_mutex_lock(&c->lock);
	c->total = total;
	pthread_mutex_unlock(&c->lock);
	sg_counting_window(c, SG_WINDOW_RESET);
	sg_counting_window(c, SG_WINDOW_OPEN);
	return 0;
}

int sg_counting_total_read(struct sg_counting *c, struct softgpu_result *out)
{
	struct sg_count_total *total = &c->total;
	uint64_t *to;
	int status = ENOENT;

	pthread_mutex_lock(&c->lock);
	to = total->numbers;
	for (size_t i = 0; i < total->selection.n; i++) {
		if (c->tally.sum.accumulated) /* else nothing has ended yet */
			sg_selected_values(&total->selection.items[i], &c->tally.sum, to);
		to += total->values[i].n_values;
	}
	if (total->selection.items) {
		*out = (struct softgpu_result){ .sampled = 1,
						.n_runs = 1,
						.n_values = (uint32_t)total->selection.n,
						.values = total->values };
		status = 0;
	}
	pthread_mutex_unlock(&c->lock);
	return status;
}

void sg_counting_total_close(struct sg_counting *c)
{
	struct sg_count_total total;

	pthread_mutex_lock(&c->lock);
	total = c->total;
	c->total = (struct sg_count_total){ .values = NULL };
	pthread_mutex_unlock(&c->lock);
	if (total.selection.items)
		sg_counting_window(c, SG_WINDOW_CLOSED);
	total_free(&total);
}
