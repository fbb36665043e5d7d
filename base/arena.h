/*
 * arena: memory that is given out piece by piece and released whole.
 *
 * A piece is zeroed, aligned for any type, and lives until the arena is reset
 * or finished. Pieces are never freed one by one. The arena refuses to grow
 * past the ceiling it was given, so that a damaged input cannot eat the host.
 *
 * Threads  one at a time.
 * Failure  NULL when the ceiling or the host's memory is reached; the arena
 *          stays usable and what it gave out before stays valid.
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

/* All pieces become invalid; the largest chunk is kept for the next turn. */
void ws_arena_reset(struct ws_arena *arena);

void *ws_arena_alloc(struct ws_arena *arena, size_t size_bytes);
void *ws_arena_array(struct ws_arena *arena, size_t n, size_t elem_bytes); /* overflow: NULL */
char *ws_arena_strdup(struct ws_arena *arena, const char *text);
char *ws_arena_strndup(struct ws_arena *arena, const char *text, size_t n);
char *ws_arena_printf(struct ws_arena *arena, const char *fmt, ...) WS_PRINTF(2, 3);

/* One zeroed object of type T. */
#define ws_arena_new(arena, T) ((T *)ws_arena_alloc((arena), sizeof(T)))

#endif
