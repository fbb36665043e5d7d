/*
 * cache: tags of a set-associative cache with the least recently used line going first.
 * Used for vector L1, scalar and instruction caches and translations; L2 has rules of its own.
 */
#ifndef WS_SOFTGPU_MEM_CACHE_H
#define WS_SOFTGPU_MEM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct ws_cache {
	uint32_t n_sets, n_ways;
	uint64_t *tag;                /* [set * n_ways + way], most recently used first; 0: empty */
};

bool ws_cache_init(struct ws_cache *c, uint32_t n_sets, uint32_t n_ways);
void ws_cache_free(struct ws_cache *c);
void ws_cache_clear(struct ws_cache *c);
/* Is `line` there? It is the most recent one afterwards, allocated if need be. */
bool ws_cache_touch(struct ws_cache *c, uint64_t line);
/* Is it there? Nothing changes. */
bool ws_cache_has(const struct ws_cache *c, uint64_t line);

#endif
