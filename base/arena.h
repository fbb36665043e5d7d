/*
 * arena: allocations that are released together.
 *
 * An allocation is zeroed, aligned for any type, and valid until the arena is
 * reset or finished. Allocations are never freed one by one. The arena does not
 * grow beyond its maximum size, so that damaged input cannot exhaust memory.
 *
 * Threads  one at a time.
 * Failure  NULL at the maximum size or out of memory; the arena stays usable and
 *          earlier allocations stay valid.
 */
#ifndef WS_BASE_ARENA_H
#define WS_BASE_ARENA_H

#include "base/util.h"

#include <stddef.h>

struct ws_arena_chunk;

struct ws_arena {
	struct ws_arena_chunk *last; /* newest first; it is the one that gives */
	size_t held_bytes;           /* taken from the host, headers included */
	size_t max_bytes;            /* ceiling for held_bytes */
};

void ws_arena_init(struct ws_arena *arena, size_t max_bytes); /* allocates nothing yet */
void ws_arena_fini(struct ws_arena *arena); /* a zeroed or finished arena is fine */

/* All allocations become invalid; the largest chunk is kept for reuse. */
void ws_arena_reset(struct ws_arena *arena);

void *ws_arena_alloc(struct ws_arena *arena, size_t size_bytes);
void *ws_arena_array(struct ws_arena *arena, size_t n, size_t elem_bytes); /* overflow: NULL */
char *ws_arena_strdup(struct ws_arena *arena, const char *text);
char *ws_arena_strndup(struct ws_arena *arena, const char *text, size_t n);
char *ws_arena_printf(struct ws_arena *arena, const char *fmt, ...) WS_PRINTF(2, 3);

/* One zeroed object of type T. */
#define ws_arena_new(arena, T) ((T *)ws_arena_alloc((arena), sizeof(T)))

#endif
