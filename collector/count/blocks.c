/* blocks: a list of zeroed pages that are freed together. */
#include "collector/count/count_priv.h"

#include "collector/provider.h"

#include <stdalign.h>

struct col_count_block {
	struct col_count_block *next;
	size_t n_bytes;
	alignas(64) char bytes[];
};

void *col_count_pages(struct col_count_block **list, size_t n_bytes)
{
	struct col_count_block *block = col_pages(sizeof(*block) + n_bytes);

	if (!block)
		return NULL;
	block->n_bytes = sizeof(*block) + n_bytes;
	block->next = __atomic_load_n(list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(list, &block->next, block, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
	return block->bytes;
}

void col_count_pages_free(struct col_count_block *list)
{
	while (list) {
		struct col_count_block *next = list->next;

		col_pages_free(list, list->n_bytes);
		list = next;
	}
}
