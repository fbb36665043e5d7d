#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 64 KiB less malloc's own header keeps a chunk within sixteen pages. */
#define CHUNK_BYTES (65536 - 32)

struct ws_arena_chunk {
	struct ws_arena_chunk *next;
	size_t used_bytes;
	size_t size_bytes; /* room in data[] */
	_Alignas(max_align_t) unsigned char data[];
};

void ws_arena_init(struct ws_arena *arena, size_t max_bytes)
{
	*arena = (struct ws_arena){ .max_bytes = max_bytes };
}

static void free_chunks(struct ws_arena *arena, struct ws_arena_chunk *chunk)
{
	while (chunk) {
		struct ws_arena_chunk *next = chunk->next;

		arena->held_bytes -= sizeof(*chunk) + chunk->size_bytes;
		free(chunk);
		chunk = next;
	}
}

void ws_arena_fini(struct ws_arena *arena)
{
	if (!arena)
		return;
	free_chunks(arena, arena->last);
	arena->last = NULL;
}

void ws_arena_reset(struct ws_arena *arena)
{
	struct ws_arena_chunk *keep = NULL, **at, **keep_at = NULL;

	for (at = &arena->last; *at; at = &(*at)->next)
		if (!keep || (*at)->size_bytes > keep->size_bytes) {
			keep = *at;
			keep_at = at;
		}
	if (!keep)
		return;
	*keep_at = keep->next;
	free_chunks(arena, arena->last);
	keep->next = NULL;
	keep->used_bytes = 0;
	arena->last = keep;
}

static struct ws_arena_chunk *add_chunk(struct ws_arena *arena, size_t want_bytes)
{
	size_t room = arena->max_bytes - arena->held_bytes;
	size_t size = WS_MAX(want_bytes, (size_t)CHUNK_BYTES);
	struct ws_arena_chunk *chunk;

	if (room < sizeof(*chunk) || room - sizeof(*chunk) < want_bytes)
		return NULL;
	size = WS_MIN(size, room - sizeof(*chunk)); /* the last one may be a short one */
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->used_bytes = 0;
	chunk->size_bytes = size;
	/*
	 * A piece larger than a chunk fills its own; the chunk that still has
	 * room goes on giving.
	 */
	if (want_bytes > CHUNK_BYTES && arena->last) {
		chunk->next = arena->last->next;
		arena->last->next = chunk;
	} else {
		chunk->next = arena->last;
		arena->last = chunk;
	}
	arena->held_bytes += sizeof(*chunk) + size;
	return chunk;
}

void *ws_arena_alloc(struct ws_arena *arena, size_t size_bytes)
{
	const size_t align = _Alignof(max_align_t);
	struct ws_arena_chunk *chunk = arena->last;
	void *piece;

	if (size_bytes > SIZE_MAX - align)
		return NULL;
	/* A request of 0 bytes also gets a unique address. */
	size_bytes = WS_MAX((size_bytes + align - 1) & ~(align - 1), align);
	if (!chunk || chunk->size_bytes - chunk->used_bytes < size_bytes) {
		chunk = add_chunk(arena, size_bytes);
		if (!chunk)
			return NULL;
	}
	piece = chunk->data + chunk->used_bytes;
	chunk->used_bytes += size_bytes;
	return memset(piece, 0, size_bytes);
}

void *ws_arena_array(struct ws_arena *arena, size_t n, size_t elem_bytes)
{
	size_t size_bytes;

	if (__builtin_mul_overflow(n, elem_bytes, &size_bytes))
		return NULL;
	return ws_arena_alloc(arena, size_bytes);
}

char *ws_arena_strndup(struct ws_arena *arena, const char *text, size_t n)
{
	char *copy;

	if (n == SIZE_MAX)
		return NULL;
	copy = ws_arena_alloc(arena, n + 1);
	return copy ? memcpy(copy, text, n) : NULL; /* the zero is there already */
}

char *ws_arena_strdup(struct ws_arena *arena, const char *text)
{
	return ws_arena_strndup(arena, text, strlen(text));
}

char *ws_arena_printf(struct ws_arena *arena, const char *fmt, ...)
{
	va_list args, again;
	char *text = NULL;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n >= 0)
		text = ws_arena_alloc(arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(args);
	return text;
}
