/*
 * launches: numbers of dispatches.
 *
 * Formats number a process's dispatches 1, 2, 3 as they were submitted. Where the GPU itself reports
 * them (CAP_DISPATCH_ORDERED), the record has a number that only grows: when places of a queue are
 * reserved nobody knows yet which of them become kernels. The survey sets a bit for each one, and its
 * rank among them is what readers see. Blocks are found by a map: a damaged number costs one block.
 */
#include "trace/trace_priv.h"

#include <stdlib.h>

#define WORDS 64u
#define BLOCK_BITS (WORDS * 64u)
#define BLOCKS_MAX (1u << 24)

struct trc_launch_block {
	uint64_t number;
	uint64_t n_before; /* bits set in all blocks of lower number */
	uint64_t bits[WORDS];
};

void trc_launches_init(struct ws_map *launches)
{
	ws_map_init(launches, WS_MAP_U64, BLOCKS_MAX);
}

static struct trc_launch_block *block_of(const struct ws_map *launches, uint64_t order,
					 struct trc_launch_block *hint)
{
	return hint && hint->number == order / BLOCK_BITS
		       ? hint
		       : ws_map_get_u64(launches, order / BLOCK_BITS);
}

enum ws_status trc_launches_add(struct ws_map *launches, struct ws_arena *arena, uint64_t order,
				struct trc_launch_block **hint, struct ws_err *err)
{
	struct trc_launch_block *block = block_of(launches, order, *hint);
	uint64_t at = order % BLOCK_BITS;
	enum ws_status st = WS_OK;

	if (!block) {
		block = ws_arena_array(arena, 1, sizeof(*block));
		if (!block)
			return ws_fail(err, WS_E_NOMEM, "numbers of dispatches");
		*block = (struct trc_launch_block){ .number = order / BLOCK_BITS };
		st = ws_map_put_u64(launches, block->number, block, err);
	}
	block->bits[at / 64] |= 1ull << at % 64;
	*hint = block;
	return st;
}

static int by_number(const void *a, const void *b)
{
	const struct trc_launch_block *x = *(struct trc_launch_block *const *)a;
	const struct trc_launch_block *y = *(struct trc_launch_block *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t n_bits(const struct trc_launch_block *block, uint64_t n_words)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < n_words; i++)
		n += (uint64_t)__builtin_popcountll(block->bits[i]);
	return n;
}

enum ws_status trc_launches_count(struct ws_map *launches, struct ws_err *err)
{
	struct trc_launch_block **blocks;
	uint64_t n_before = 0;
	size_t n = 0;

	if (!launches->n)
		return WS_OK;
	blocks = calloc(launches->n, sizeof(struct trc_launch_block *));
	if (!blocks)
		return ws_fail(err, WS_E_NOMEM, "numbers of dispatches");
	ws_map_each(entry, launches)
		blocks[n++] = entry->value;
	qsort(blocks, n, sizeof(*blocks), by_number);
	for (size_t i = 0; i < n; i++) {
		blocks[i]->n_before = n_before;
		n_before += n_bits(blocks[i], WORDS);
	}
	free(blocks);
	return WS_OK;
}

uint64_t trc_launches_rank(const struct ws_map *launches, uint64_t order,
			   struct trc_launch_block **hint)
{
	struct trc_launch_block *block = block_of(launches, order, *hint);
	uint64_t at = order % BLOCK_BITS, below = (1ull << at % 64) - 1;

	if (!block)
		return order; /* the survey did not see it */
	*hint = block;
	return block->n_before + n_bits(block, at / 64) +
	       (uint64_t)__builtin_popcountll(block->bits[at / 64] & below) + 1;
}
