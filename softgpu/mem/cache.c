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
