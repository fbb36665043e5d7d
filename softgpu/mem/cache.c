#include "softgpu/mem/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool sg_cache_init(struct sg_cache *c, uint32_t n_sets, uint32_t n_ways)
{
	assert(n_sets && !(n_sets & (n_sets - 1)));
	c->n_sets = n_sets;
	c->n_ways = n_ways;
	c->tag = calloc((size_t)n_sets * n_ways, sizeof(*c->tag));
	return c->tag != NULL;
}

void sg_cache_free(struct sg_cache *c)
{
	free(c->tag);
	c->tag = NULL;
}

void sg_cache_clear(struct sg_cache *c)
{
	memset(c->tag, 0, (size_t)c->n_sets * c->n_ways * sizeof(*c->tag));
}

void sg_cache_move(struct sg_cache *to, const struct sg_cache *from, uint64_t by)
{
	for (uint32_t set = 0; set < from->n_sets; set++) {
		const uint64_t *tags = sg_cache_set(from, set);
		uint64_t *moved = sg_cache_set(to, set + by);

		for (uint32_t w = 0; w < from->n_ways; w++)
			moved[w] = tags[w] ? tags[w] + by : 0;
	}
}
