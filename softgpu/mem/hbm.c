#include "softgpu/mem/hbm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define N_LINES (1u << SG_MALL_SHIFT) /* of a block, in a channel */
#define BLOCK_BYTES 65536u

static uint32_t n_blocks(const struct sg_hbm *hbm)
{
	return (uint32_t)(hbm->hw->mall_bytes / BLOCK_BYTES);
}

size_t sg_hbm_n_state(const struct sg_hbm *hbm)
{
	return n_blocks(hbm) * (sizeof(struct sg_mall_block) / sizeof(uint64_t));
}

bool sg_hbm_init(struct sg_hbm *hbm, const struct sg_hw *hw)
{
	*hbm = (struct sg_hbm){ .hw = hw, .n_memory = hw->n_memory ? hw->n_memory : 1 };
	assert(!(hbm->n_memory & (hbm->n_memory - 1)));
	assert(!hw->mall_bytes || (hw->n_channels == SG_MALL_CHANNELS &&
				   SG_MALL_CHANNELS * N_LINES * hw->l2_line == BLOCK_BYTES));
	hbm->die_mask = hw->n_channels - 1;
	hbm->block_mask = n_blocks(hbm) / SG_MALL_WAYS - 1ull;
	hbm->free_at = calloc((size_t)hw->n_channels * hbm->n_memory, sizeof(*hbm->free_at));
	hbm->ports = calloc(sg_hw_n_channels(hw), sizeof(*hbm->ports));
	hbm->mall = hw->mall_bytes ? calloc(n_blocks(hbm), sizeof(*hbm->mall)) : NULL;
	return hbm->free_at && hbm->ports && (hbm->mall || !hw->mall_bytes);
}

void sg_hbm_free(struct sg_hbm *hbm)
{
	free(hbm->free_at);
	free(hbm->ports);
	free(hbm->mall);
	*hbm = (struct sg_hbm){ 0 };
}

static uint32_t cycles(uint32_t ns, uint32_t mhz)
{
	return ns * mhz / 1000;
}

static uint32_t cost(uint32_t ps, uint32_t mhz)
{
	return (uint32_t)((uint64_t)ps * mhz * 256 / 1000000);
}

void sg_hbm_begin(struct sg_hbm *hbm, uint32_t mhz)
{
	const struct sg_hw *hw = hbm->hw;

	hbm->read_cycles = cycles(hw->read_ns, mhz);
	hbm->write_cycles = cycles(hw->write_ns, mhz);
	hbm->mall_cycles = cycles(hw->mall_ns, mhz);
	hbm->scalar_cycles = cycles(hw->mall_scalar_ns, mhz);
	hbm->read_cost = cost(hw->read_ps, mhz);
	hbm->write_cost = cost(hw->write_ps, mhz);
	hbm->port_cost = cost(hw->port_ps, mhz);
	hbm->taken_cost = hbm->mall ? hbm->port_cost : hbm->write_cost;
	hbm->read_credit = (hw->read_credit + 1ull) * 256 - 1;
	hbm->write_credit = (hw->write_credit + 1ull) * 256 - 1;
	memset(hbm->free_at, 0, (size_t)hw->n_channels * hbm->n_memory * sizeof(*hbm->free_at));
	memset(hbm->ports, 0, sg_hw_n_channels(hw) * sizeof(*hbm->ports));
}

/* What memory does not have of a block that has to go. Nobody waits for that, but memory is busy. */
static void write_block(struct sg_hbm *hbm, const struct sg_mall_block *block, uint64_t time)
{
	uint64_t waited;

	for (uint32_t k = 0; k < N_LINES; k++)
		for (uint32_t dirty = block->dirty[k]; dirty; dirty &= dirty - 1)
			sg_hbm_occupy(sg_hbm_memory(hbm, (uint32_t)__builtin_ctz(dirty),
						    (block->tag - 1) << SG_MALL_SHIFT | k),
				      time << 8, 2ull * hbm->write_cost, &waited);
}

void sg_hbm_use_block(struct sg_hbm *hbm, struct sg_mall_block *set, uint64_t tag, uint64_t time)
{
	struct sg_mall_block used;
	uint32_t way = 0;

	while (way < SG_MALL_WAYS - 1 && set[way].tag != tag)
		way++;
	used = set[way];
	if (used.tag != tag) {
		write_block(hbm, &used, time);
		used = (struct sg_mall_block){ .tag = tag };
	}
	memmove(set + 1, set, way * sizeof(*set));
	*set = used;
}

uint64_t sg_hbm_write(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint64_t time,
		      uint64_t *waited)
{
	if (hbm->mall)
		sg_hbm_touch(hbm, channel, line, 1, time, true);
	return (sg_hbm_occupy(sg_hbm_taken(hbm, channel), time << 8, hbm->taken_cost, waited) >>
		8) +
	       hbm->write_cycles;
}

uint64_t *sg_hbm_taken(const struct sg_hbm *hbm, uint32_t channel)
{
	if (hbm->mall)
		return &hbm->ports[channel];
	assert(hbm->n_memory == 1);
	return sg_hbm_memory(hbm, channel, 0);
}
