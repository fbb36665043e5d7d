#include "softgpu/timing/code_map.h"

#include <stdlib.h>

void ws_code_map_clear(struct ws_code_map *map)
{
	while (map->pages) {
		struct ws_map_page *page = map->pages;

		map->pages = page->next;
		for (uint32_t k = 0; k < WS_MAP_SLOTS; k++)
			free(page->lds[k]);
		free(page);
	}
}

struct ws_map_page *ws_code_map_page(struct ws_code_map *map, uint64_t pc)
{
	uint64_t base = pc / (4 * WS_MAP_SLOTS) * (4 * WS_MAP_SLOTS);
	struct ws_map_page *page;

	/* a kernel has a handful of pages */
	for (page = map->pages; page; page = page->next)
		if (page->base == base)
			return page;
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->base = base;
	page->next = map->pages;
	map->pages = page;
	return page;
}

bool ws_code_map_classify(struct ws_code_map *map, struct ws_map_page *page, uint32_t slot)
{
	struct ws_inst_source src = { 0 };

	if (!map->dispatch->instruction(map->dispatch->ctx, page->base + 4ull * slot, &src))
		return false;
	page->inst[slot] = ws_tinst_of(&src);
	return page->inst[slot].dwords != 0;
}
