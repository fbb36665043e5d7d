/*
 * reuse: things that have been used, to be used again, the last one first. Taking one does not read it: most are no longer in
 * the host's caches.
 */
#ifndef WS_SOFTGPU_TIMING_REUSE_H
#define WS_SOFTGPU_TIMING_REUSE_H

#include <stdint.h>
#include <stdlib.h>

struct sg_reuse {
	void **at;
	uint32_t n, room;
};

/* NULL: it is empty. */
static inline void *sg_reuse_take(struct sg_reuse *p)
{
	return p->n ? p->at[--p->n] : NULL;
}

/* Owns the thing, which was allocated; without memory to remember it, it is freed. */
static inline void sg_reuse_put(struct sg_reuse *p, void *thing)
{
	if (p->n == p->room) {
		uint32_t room = p->room ? 2 * p->room : 64;
		void **at = realloc(p->at, room * sizeof(*at));

		if (!at) {
			free(thing);
			return;
		}
		p->at = at;
		p->room = room;
	}
	p->at[p->n++] = thing;
}

static inline void sg_reuse_free(struct sg_reuse *p)
{
	while (p->n)
		free(p->at[--p->n]);
	free(p->at);
}

#endif
