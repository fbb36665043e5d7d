/* blocks: zeroed pages in a list, given back together. */
#include "collector/count/count_priv.h"

#include "collector/provider.h"

#include <stdalign.h>

struct ws_count_block {
	struct ws_count_block *next;
	size_t n_bytes;
	alignas(64) char bytes[];
};

void *ws_count_pages(struct ws_count_block **list, size_t n_bytes)
{
	struct ws_count_block *block = ws_pages(sizeof(*block) + n_bytes);

	if (!block)
		return NULL;
	block->n_bytes = sizeof(*block) + n_bytes;
	block->next = __atomic_load_n(list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(list, &block->next, block, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
	return block->bytes;
}

void ws_count_pages_free(struct ws_count_block *list)
{
	while (list) {
		struct ws_count_block *next = list->next;

		ws_pages_free(list, list->n_bytes);
		list = next;
	}
}
