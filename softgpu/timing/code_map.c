#include "softgpu/timing/code_map.h"

#include <stdlib.h>

#include "softgpu/timing/scoreboard.h"

void sg_code_map_clear(struct sg_code_map *map)
{
	while (map->pages) {
		struct sg_map_page *page = map->pages;

		map->pages = page->next;
		for (uint32_t k = 0; k < SG_MAP_SLOTS; k++) {
			free(page->lds[k]);
			free(page->lines[k]);
		}
		free(page);
	}
	map->n_pages = 0;
}

struct sg_map_page *sg_code_map_page(struct sg_code_map *map, uint64_t pc)
{
	uint64_t base = pc / (4 * SG_MAP_SLOTS) * (4 * SG_MAP_SLOTS);
	struct sg_map_page *page;

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
	if (!map->n_pages++ || base < map->start)
		map->start = base;
	if (map->n_pages == 1 || base + 4 * SG_MAP_SLOTS > map->end)
		map->end = base + 4 * SG_MAP_SLOTS;
	return page;
}

bool sg_code_map_classify(struct sg_code_map *map, struct sg_map_page *page, uint32_t slot)
{
	struct sg_decoded_insn insn;
	uint32_t next;

	if (!map->dispatch->instruction(map->dispatch->ctx, page->base + 4ull * slot, &insn))
		return false;
	page->inst[slot] = sg_timing_insn_of(&insn, map->hw->target);
	sg_scoreboard_classify(&page->inst[slot], map->hw);
	next = slot + page->inst[slot].dwords;
	page->inst[slot].in_block =
		next < SG_MAP_SLOTS && next / SG_BLOCK_SLOTS == slot / SG_BLOCK_SLOTS;
	return page->inst[slot].dwords != 0;
}
