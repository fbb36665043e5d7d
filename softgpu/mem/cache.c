#include "softgpu/mem/cache.h"

#include <stdlib.h>
#include <string.h>

bool ws_cache_init(struct ws_cache *c, uint32_t n_sets, uint32_t n_ways)
{
	c->n_sets = n_sets;
	c->n_ways = n_ways;
	c->tag = calloc((size_t)n_sets * n_ways, sizeof(*c->tag));
	return c->tag != NULL;
}

void ws_cache_free(struct ws_cache *c)
{
	free(c->tag);
	c->tag = NULL;
}

void ws_cache_clear(struct ws_cache *c)
{
	memset(c->tag, 0, (size_t)c->n_sets * c->n_ways * sizeof(*c->tag));
}

bool ws_cache_has(const struct ws_cache *c, uint64_t line)
{
	const uint64_t *set = c->tag + line % c->n_sets * c->n_ways;

	for (uint32_t w = 0; w < c->n_ways; w++)
		if (set[w] == line + 1)
			return true;
	return false;
}

bool ws_cache_touch(struct ws_cache *c, uint64_t line)
{
	uint64_t *set = c->tag + line % c->n_sets * c->n_ways;
	uint64_t carried = line + 1, next;

	/* move everything down by one until the old place of the line, or the last way */
	for (uint32_t w = 0; w < c->n_ways; w++) {
		next = set[w];
		set[w] = carried;
		if (next == line + 1)
			return true;
		carried = next;
	}
	return false;
}
