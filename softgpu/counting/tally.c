/*
 * tally: the sum of all dispatches of a window, for counters that are programmed by registers.
 */
#include <stdlib.h>
#include <string.h>

#include "softgpu/counting/counting_priv.h"

static size_t n_values(const struct sg_model_result *r, enum sg_block block)
{
	return (size_t)r->n_instances[block] * sg_blocks[block].n;
}

static size_t n_accumulated(const struct sg_model_result *r)
{
	return (size_t)r->n_instances[SG_BLOCK_SQ] * SG_N_SQ;
}

static void add(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t k = 0; k < n; k++)
		to[k] += from[k];
}

void sg_counting_window(struct sg_counting *c, enum sg_count_window window)
{
	pthread_mutex_lock(&c->lock);
	if (window == SG_WINDOW_RESET) {
		c->tally.n_resets++;
		sg_model_result_free(&c->tally.sum);
	}
	c->tally.is_open = window == SG_WINDOW_OPEN;
	sg_counting_update_wanted(c);
	pthread_mutex_unlock(&c->lock);
}

void sg_counting_add(struct sg_counted_dispatch *run)
{
	struct sg_counting *c = run->counting;
	const struct sg_model_result *from = &run->passes[0];
	struct sg_model_result *sum = &c->tally.sum;

	pthread_mutex_lock(&c->lock);
	if (run->n_resets == c->tally.n_resets) {
		if (!sum->accumulated) {
			sg_model_result_copy(sum, from); /* without memory the counters read 0 */
		} else {
			for (unsigned b = 0; b < SG_N_BLOCKS; b++)
				add(sum->values[b], from->values[b], n_values(from, b));
			add(sum->accumulated, from->accumulated, n_accumulated(from));
		}
	}
	pthread_mutex_unlock(&c->lock);
}

uint64_t sg_counting_tally(struct sg_counting *c, const struct sg_counter_info *counter,
			   uint32_t instance, bool accumulated)
{
	const struct sg_model_result *sum = &c->tally.sum;
	uint64_t value = 0;

	pthread_mutex_lock(&c->lock);
	if (sum->accumulated && instance < sum->n_instances[counter->block])
		value = accumulated ? sum->accumulated[(size_t)instance * SG_N_SQ + counter->place]
				    : sum->values[counter->block]
						 [(size_t)instance * sg_blocks[counter->block].n +
						  counter->place];
	pthread_mutex_unlock(&c->lock);
	return value;
}
