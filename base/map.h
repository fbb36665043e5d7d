/*
 * map: from a string or a 64-bit number to a pointer.
 *
 * Iteration is in the order of insertion, so that what is printed from a map
 * does not depend on hashes. String keys are borrowed: they must live as long
 * as their entry (an arena is the usual home). Values are the caller's.
 *
 * Threads  one at a time; any number of readers while nobody writes.
 * Failure  WS_E_NOMEM, or WS_E_LIMIT at the ceiling; the map stays as it was.
 */
#ifndef WS_BASE_MAP_H
#define WS_BASE_MAP_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ws_map_entry {
	struct ws_str str; /* the key of a string map; `at` is NULL in a number map */
	uint64_t num;      /* the key of a number map; a string map keeps the hash here */
	void *value;
	bool live;
};

enum ws_map_keys { WS_MAP_STR, WS_MAP_U64 };

struct ws_map {
	enum ws_map_keys keys;
	struct ws_map_entry *entries; /* in order of insertion, with holes where removed */
	uint32_t *slots;              /* index + 1 into entries; 0: free */
	size_t n;                     /* live entries */
	size_t n_used;                /* entries, holes included */
	size_t n_slots;               /* a power of two, or 0 */
	size_t max_n;
};

/* @max_n may be up to 2^31 - 1. Allocates nothing yet. */
void ws_map_init(struct ws_map *map, enum ws_map_keys keys, size_t max_n);
void ws_map_fini(struct ws_map *map); /* a zeroed or finished map is fine */
void ws_map_clear(struct ws_map *map);

/* Set, or replace, the value of a key. */
enum ws_status ws_map_put(struct ws_map *map, struct ws_str key, void *value, struct ws_err *err);
enum ws_status ws_map_put_u64(struct ws_map *map, uint64_t key, void *value, struct ws_err *err);

/* The entry, or NULL; valid until the next put or clear. Its value may be written. */
struct ws_map_entry *ws_map_find(const struct ws_map *map, struct ws_str key);
struct ws_map_entry *ws_map_find_u64(const struct ws_map *map, uint64_t key);

/* The value, or NULL when there is no such key. */
void *ws_map_get(const struct ws_map *map, const char *key);
void *ws_map_get_u64(const struct ws_map *map, uint64_t key);

bool ws_map_remove(struct ws_map *map, struct ws_str key); /* false: it was not there */
bool ws_map_remove_u64(struct ws_map *map, uint64_t key);

/* Entries in order; removing the current one while iterating is fine. */
#define ws_map_each(entry, map)                                                                    \
	for (struct ws_map_entry *entry = ws_map_step_((map), NULL); entry;                        \
	     entry = ws_map_step_((map), entry))

struct ws_map_entry *ws_map_step_(const struct ws_map *map, const struct ws_map_entry *entry);

uint64_t ws_hash_bytes(const void *bytes, size_t n);

#endif
