/*
 * cache: the tags of a set-associative cache with LRU replacement.
 * Used for vector L1, scalar and instruction caches and translations; L2 (tcc.h) has other rules.
 */
#ifndef WS_SOFTGPU_MEM_CACHE_H
#define WS_SOFTGPU_MEM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_cache {
	uint32_t n_sets, n_ways; /* sets: a power of two */
	uint64_t *tag;           /* [set * n_ways + way], most recently used first; 0: empty */
};

bool sg_cache_init(struct sg_cache *c, uint32_t n_sets, uint32_t n_ways);
void sg_cache_free(struct sg_cache *c);
void sg_cache_clear(struct sg_cache *c);
/* `to`, which is as large, gets the same lines, with `by` added to their numbers. */
void sg_cache_move(struct sg_cache *to, const struct sg_cache *from, uint64_t by);

static inline uint64_t *sg_cache_set(const struct sg_cache *c, uint64_t line)
{
	return c->tag + (size_t)(line & (c->n_sets - 1)) * c->n_ways;
}

/* Looks `line` up and makes it the most recent; allocates it if missing. True: it was there. */
static inline bool sg_cache_touch(struct sg_cache *c, uint64_t line)
{
	uint64_t *set = sg_cache_set(c, line), tag = line + 1;
	uint64_t carried = tag, next;

	if (c->n_ways == 4) { /* most caches, without a loop */
		uint64_t t0 = set[0], t1 = set[1], t2 = set[2], t3 = set[3];

		if (t0 == tag)
			return true;
		set[0] = tag;
		set[1] = t0;
		set[2] = t1 == tag ? t2 : t1;
		set[3] = t1 == tag || t2 == tag ? t3 : t2;
		return t1 == tag || t2 == tag || t3 == tag;
	}
	/* move everything down by one until the old place of the line, or the last way */
	for (uint32_t w = 0; w < c->n_ways; w++) {
		next = set[w];
		set[w] = carried;
		if (next == tag)
			return true;
		if (!next) /* what follows is empty, too */
			return false;
		carried = next;
	}
	return false;
}

/* Touches n lines in a row. Returns a bit for each that was missing. */
static inline uint32_t sg_cache_touch_all(struct sg_cache *c, uint64_t line, uint32_t n)
{
	uint32_t missing = 0;

	for (uint32_t k = 0; k < n; k++)
		missing |= sg_cache_touch(c, line + k) ? 0 : 1u << k;
	return missing;
}

/* Looks the line up without changing anything. */
static inline bool sg_cache_has(const struct sg_cache *c, uint64_t line)
{
	const uint64_t *set = sg_cache_set(c, line), tag = line + 1;

	if (c->n_ways == 4)
		return set[0] == tag || set[1] == tag || set[2] == tag || set[3] == tag;
	for (uint32_t w = 0; w < c->n_ways; w++)
		if (set[w] == tag)
			return true;
	return false;
}

/* Looks the line up and makes it the most recent; changes nothing if it is missing. */
static inline bool sg_cache_use(struct sg_cache *c, uint64_t line)
{
	return sg_cache_set(c, line)[0] == line + 1 ||
	       (sg_cache_has(c, line) && sg_cache_touch(c, line));
}

#endif
