/* Texts and paths, each with a number. */
#include "timeline/timeline_priv.h"

#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 30)
#define OTHER_NAMES "(other names)"
/* Of a key in path_numbers: kind below, then the name, then the parent. */
#define KIND_BITS 4
#define NAME_BITS 28

_Static_assert(PROF_KIND_COUNT <= 1 << KIND_BITS, "a kind needs more bits");
_Static_assert(TL_PATHS_MAX < 1u << NAME_BITS, "a path needs more bits");

void tl_texts_init(struct tl_texts *texts, size_t max_n)
{
	ws_map_init(&texts->by_text, WS_MAP_STR, max_n);
	ws_map_init(&texts->by_place, WS_MAP_U64, max_n * 4);
	ws_vec_init(&texts->all, max_n + 1);
	ws_arena_init(&texts->arena, TEXT_BYTES_MAX);
}

void tl_texts_fini(struct tl_texts *texts)
{
	ws_map_fini(&texts->by_text);
	ws_map_fini(&texts->by_place);
	ws_vec_fini(&texts->all);
	ws_arena_fini(&texts->arena);
}

bool tl_texts_number(struct tl_texts *texts, const char *text, bool stable, uint32_t *out_number)
{
	struct ws_map_entry *entry =
		stable ? ws_map_find_u64(&texts->by_place, (uintptr_t)text) : NULL;
	uint32_t number = (uint32_t)texts->all.n;
	char *kept;

	if (entry) {
		*out_number = (uint32_t)(uintptr_t)entry->value;
		return true;
	}
	entry = ws_map_find(&texts->by_text, ws_str_from(text));
	if (entry) {
		number = (uint32_t)(uintptr_t)entry->value;
	} else {
		kept = ws_arena_strdup(&texts->arena, text);
		if (!kept || ws_vec_push(&texts->all, (const char *)kept, NULL))
			return false;
		if (ws_map_put(&texts->by_text, ws_str_from(kept), (void *)(uintptr_t)number,
			       NULL)) {
			texts->all.n--;
			return false;
		}
	}
	/* Without an entry it is found by its text the next time. */
	if (stable)
		(void)ws_map_put_u64(&texts->by_place, (uintptr_t)text, (void *)(uintptr_t)number,
				     NULL);
	*out_number = number;
	return true;
}

uint32_t tl_detail_of(struct tl_timeline *tl, const void *key, size_t n)
{
	struct ws_map_entry *entry = ws_map_find(&tl->detail_numbers, (struct ws_str){ key, n });

	return entry ? (uint32_t)(uintptr_t)entry->value : 0;
}

uint32_t tl_detail_add(struct tl_timeline *tl, const void *key, size_t n, const char *text)
{
	char *kept = ws_arena_alloc(&tl->arena, n);
	uint32_t number = 0;

	if (!kept || !tl_texts_number(&tl->details, text, false, &number))
		return 0;
	memcpy(kept, key, n);
	(void)ws_map_put(&tl->detail_numbers, (struct ws_str){ kept, n }, (void *)(uintptr_t)number,
			 NULL);
	return number;
}

uint32_t tl_path_number(struct tl_timeline *tl, uint32_t parent, const char *name, bool stable,
			enum prof_kind kind)
{
	struct ws_map_entry *entry;
	uint32_t name_number, number = (uint32_t)tl->paths.n;
	struct tl_path path = { .parent = parent, .kind = kind };
	uint64_t key;

	if (!tl_texts_number(&tl->names, name, stable, &name_number)) {
		tl->n_unnamed++;
		if (!tl_texts_number(&tl->names, OTHER_NAMES, true, &name_number))
			return parent;
	}
	path.name = name_number;
	key = (uint64_t)parent << (NAME_BITS + KIND_BITS) | (uint64_t)name_number << KIND_BITS |
	      kind;
	entry = ws_map_find_u64(&tl->path_numbers, key);
	if (entry)
		return (uint32_t)(uintptr_t)entry->value;
	if (ws_vec_push(&tl->paths, path, NULL)) {
		tl->n_unnamed++;
		return parent;
	}
	if (ws_map_put_u64(&tl->path_numbers, key, (void *)(uintptr_t)number, NULL)) {
		tl->paths.n--;
		tl->n_unnamed++;
		return parent;
	}
	return number;
}
