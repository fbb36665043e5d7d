#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Odd constants with well-spread bits: the fractions of the golden ratio and of sqrt(2). */
#define MIX_A 0x9e3779b97f4a7c15u
#define MIX_B 0x6a09e667f3bcc909u

static uint64_t mix(uint64_t x)
{
	unsigned __int128 wide = (unsigned __int128)(x ^ MIX_A) * MIX_B;

	return (uint64_t)wide ^ (uint64_t)(wide >> 64);
}

uint64_t ws_hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	uint64_t hash = MIX_A ^ n, word;

	for (; n >= 8; n -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = mix(hash ^ word);
	}
	word = 0;
	if (n)
		memcpy(&word, at, n);
	return mix(hash ^ word);
}

void ws_map_init(struct ws_map *map, enum ws_map_keys keys, size_t max_n)
{
	assert(max_n <= INT32_MAX); /* slots are 32 bits and twice as many */
	*map = (struct ws_map){ .keys = keys, .max_n = max_n };
}

void ws_map_fini(struct ws_map *map)
{
	if (!map)
		return;
	free(map->entries);
	free(map->slots);
	ws_map_init(map, map->keys, map->max_n);
}

void ws_map_clear(struct ws_map *map)
{
	map->n = map->n_used = 0;
	if (map->n_slots)
		memset(map->slots, 0, map->n_slots * sizeof(*map->slots));
}

static uint64_t entry_hash(const struct ws_map *map, const struct ws_map_entry *entry)
{
	return map->keys == WS_MAP_STR ? entry->num : mix(entry->num);
}

/* A half-full table: linear probing then looks at 1.5 slots for a hit, 2.5 for a miss. */
static size_t entries_for(size_t n_slots)
{
	return n_slots / 2;
}

static void place(struct ws_map *map, size_t index)
{
	size_t mask = map->n_slots - 1;
	size_t slot = entry_hash(map, &map->entries[index]) & mask;

	while (map->slots[slot])
		slot = (slot + 1) & mask;
	map->slots[slot] = (uint32_t)(index + 1);
}

/* Close the holes and give the table @n_slots; both arrays move or neither does. */
static enum ws_status rebuild(struct ws_map *map, size_t n_slots, struct ws_err *err)
{
	struct ws_map_entry *entries = calloc(entries_for(n_slots), sizeof(*entries));
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	size_t n = 0;

	if (!entries || !slots) {
		free(entries);
		free(slots);
		return ws_fail(err, WS_E_NOMEM, "out of memory for a map of %zu entries",
			       map->n + 1);
	}
	for (size_t i = 0; i < map->n_used; i++)
		if (map->entries[i].live)
			entries[n++] = map->entries[i];
	free(map->entries);
	free(map->slots);
	map->entries = entries;
	map->slots = slots;
	map->n_slots = n_slots;
	map->n_used = n;
	for (size_t i = 0; i < n; i++)
		place(map, i);
	return WS_OK;
}

static bool same_key(const struct ws_map *map, const struct ws_map_entry *a,
		     const struct ws_map_entry *b)
{
	return a->num == b->num && (map->keys == WS_MAP_U64 || ws_str_eq(a->str, b->str));
}

static struct ws_map_entry *find(const struct ws_map *map, const struct ws_map_entry *key)
{
	size_t mask = map->n_slots - 1, slot;

	if (!map->n_slots)
		return NULL;
	/* Removed entries keep their slots until the next rebuild, so probing never stops early. */
	for (slot = entry_hash(map, key) & mask; map->slots[slot]; slot = (slot + 1) & mask) {
		struct ws_map_entry *entry = &map->entries[map->slots[slot] - 1];

		if (entry->live && same_key(map, entry, key))
			return entry;
	}
	return NULL;
}

static enum ws_status put(struct ws_map *map, const struct ws_map_entry *key, void *value,
			  struct ws_err *err)
{
	struct ws_map_entry *entry = find(map, key);
	enum ws_status st;

	if (entry) {
		entry->value = value;
		return WS_OK;
	}
	if (map->n >= map->max_n)
		return ws_fail(err, WS_E_LIMIT, "more than %zu entries in a map", map->max_n);
	if (map->n_used >= entries_for(map->n_slots)) {
		/* Many holes: closing them is enough. Few: twice the room. */
		bool holes = map->n_slots && map->n <= map->n_used / 2;

		st = rebuild(map, holes ? map->n_slots : WS_MAX(map->n_slots * 2, (size_t)16), err);
		if (st)
			return st;
	}
	entry = &map->entries[map->n_used];
	*entry = *key;
	entry->value = value;
	entry->live = true;
	place(map, map->n_used);
	map->n_used++;
	map->n++;
	return WS_OK;
}

static struct ws_map_entry str_key(const struct ws_map *map, struct ws_str key)
{
	assert(map->keys == WS_MAP_STR);
	return (struct ws_map_entry){ .str = key, .num = ws_hash_bytes(key.at, key.n) };
}

static struct ws_map_entry u64_key(const struct ws_map *map, uint64_t key)
{
	assert(map->keys == WS_MAP_U64);
	return (struct ws_map_entry){ .num = key };
}

enum ws_status ws_map_put(struct ws_map *map, struct ws_str key, void *value, struct ws_err *err)
{
	struct ws_map_entry entry = str_key(map, key);

	return put(map, &entry, value, err);
}

enum ws_status ws_map_put_u64(struct ws_map *map, uint64_t key, void *value, struct ws_err *err)
{
	struct ws_map_entry entry = u64_key(map, key);

	return put(map, &entry, value, err);
}

struct ws_map_entry *ws_map_find(const struct ws_map *map, struct ws_str key)
{
	struct ws_map_entry entry = str_key(map, key);

	return find(map, &entry);
}

struct ws_map_entry *ws_map_find_u64(const struct ws_map *map, uint64_t key)
{
	struct ws_map_entry entry = u64_key(map, key);

	return find(map, &entry);
}

void *ws_map_get(const struct ws_map *map, const char *key)
{
	struct ws_map_entry *entry = ws_map_find(map, ws_str_from(key));

	return entry ? entry->value : NULL;
}

void *ws_map_get_u64(const struct ws_map *map, uint64_t key)
{
	struct ws_map_entry *entry = ws_map_find_u64(map, key);

	return entry ? entry->value : NULL;
}

static bool remove_entry(struct ws_map *map, struct ws_map_entry *entry)
{
	if (!entry)
		return false;
	entry->live = false;
	entry->value = NULL;
	map->n--;
	return true;
}

bool ws_map_remove(struct ws_map *map, struct ws_str key)
{
	return remove_entry(map, ws_map_find(map, key));
}

bool ws_map_remove_u64(struct ws_map *map, uint64_t key)
{
	return remove_entry(map, ws_map_find_u64(map, key));
}

struct ws_map_entry *ws_map_step_(const struct ws_map *map, const struct ws_map_entry *entry)
{
	size_t i = entry ? (size_t)(entry - map->entries) + 1 : 0;

	for (; i < map->n_used; i++)
		if (map->entries[i].live)
			return &map->entries[i];
	return NULL;
}
