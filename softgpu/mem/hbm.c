#include "softgpu/mem/hbm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 65536u
#define N_LINES 512 /* of a block */
#define MALL_WAYS 16

/* A block of 64 KiB is 32 lines of each of 16 channels. */
#define LINES_SHIFT 5
#define BLOCK_CHANNELS 16

/* Of each block: its number + 1 (0: empty), which lines are there, and which of them memory does not have yet. */
struct mall_block {
	uint64_t tag;
	uint64_t there[N_LINES / 64], dirty[N_LINES / 64];
};

static uint32_t n_blocks(const struct sg_hbm *hbm)
{
	return (uint32_t)(hbm->hw->mall_bytes / BLOCK_BYTES);
}

size_t sg_hbm_n_state(const struct sg_hbm *hbm)
{
	return n_blocks(hbm) * (sizeof(struct mall_block) / sizeof(uint64_t));
}

bool sg_hbm_init(struct sg_hbm *hbm, const struct sg_hw *hw)
{
	*hbm = (struct sg_hbm){ .hw = hw, .n_memory = hw->n_memory ? hw->n_memory : 1 };
	assert(!(hbm->n_memory & (hbm->n_memory - 1)));
	assert(!hw->mall_bytes || (hw->n_channels == BLOCK_CHANNELS && hw->l2_line == 128));
	hbm->free_at = calloc((size_t)hw->n_channels * hbm->n_memory, sizeof(*hbm->free_at));
	hbm->ports = calloc(sg_hw_n_channels(hw), sizeof(*hbm->ports));
	hbm->mall = hw->mall_bytes ? calloc(sg_hbm_n_state(hbm), sizeof(*hbm->mall)) : NULL;
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

/* Upper bits are folded in, as for the channels of L2. */
static uint64_t *memory_of(const struct sg_hbm *hbm, uint32_t channel, uint64_t line)
{
	uint32_t of_die = channel & (hbm->hw->n_channels - 1);
	uint64_t a = line >> 1;

	return &hbm->free_at[of_die * hbm->n_memory +
			     ((a ^ a >> 3 ^ a >> 6 ^ a >> 9) & (hbm->n_memory - 1))];
}

/* Takes a channel or a port for a while. Returns when it is free again. */
static uint64_t occupy(uint64_t *free_at, uint64_t time, uint64_t taken, uint64_t *waited)
{
	uint64_t now = time << 8, start = now > *free_at ? now : *free_at;

	*free_at = start + taken;
	*waited = (start - now) >> 8;
	return *free_at >> 8;
}

/* What memory does not have of a block that has to go. Nobody waits for that, but memory is busy. */
static void write_block(struct sg_hbm *hbm, const struct mall_block *block, uint64_t time)
{
	uint64_t waited;

	for (uint32_t k = 0; k < N_LINES; k++)
		if (block->dirty[k / 64] >> k % 64 & 1)
			occupy(memory_of(hbm, k % BLOCK_CHANNELS,
					 (block->tag - 1) << LINES_SHIFT | k / BLOCK_CHANNELS),
			       time, 2ull * hbm->write_cost, &waited);
}

/* The blocks of a set are in the order of their last use. */
bool sg_hbm_touch(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint64_t time, bool write)
{
	uint64_t tag = (line >> LINES_SHIFT) + 1, bit;
	uint32_t n_sets = n_blocks(hbm) / MALL_WAYS, way = 0;
	struct mall_block *set =
		(struct mall_block *)hbm->mall + ((tag - 1) & (n_sets - 1)) * MALL_WAYS;
	uint32_t in_block = ((uint32_t)line & ((1u << LINES_SHIFT) - 1)) * BLOCK_CHANNELS +
			    channel % BLOCK_CHANNELS;
	bool there;

	while (way < MALL_WAYS - 1 && set[way].tag != tag)
		way++;
	if (way || set->tag != tag) {
		struct mall_block used = set[way];

		if (used.tag != tag) {
			write_block(hbm, &used, time);
			used = (struct mall_block){ .tag = tag };
		}
		memmove(set + 1, set, way * sizeof(*set));
		*set = used;
	}
	bit = 1ull << in_block % 64;
	there = set->there[in_block / 64] & bit;
	set->there[in_block / 64] |= bit;
	if (write)
		set->dirty[in_block / 64] |= bit;
	return there;
}

uint64_t sg_hbm_read(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint32_t n, bool scalar,
		     uint64_t time, uint64_t *waited)
{
	uint64_t port_waited, sent;
	uint64_t port =
		occupy(&hbm->ports[channel], time, (uint64_t)n * hbm->port_cost, &port_waited);

	*waited = port_waited;
	if (hbm->mall) {
		bool there = sg_hbm_touch(hbm, channel, line, time, false);

		if (scalar)
			return port + hbm->scalar_cycles;
		if (there)
			return port + hbm->mall_cycles;
	}
	sent = occupy(memory_of(hbm, channel, line), time, (uint64_t)n * hbm->read_cost, waited);
	*waited = port_waited > *waited ? port_waited : *waited;
	return (sent > port ? sent : port) + hbm->read_cycles;
}

uint64_t sg_hbm_write(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint64_t time,
		      uint64_t *waited)
{
	uint64_t *taken = hbm->mall ? &hbm->ports[channel] : memory_of(hbm, channel, line);

	if (hbm->mall)
		sg_hbm_touch(hbm, channel, line, time, true);
	return occupy(taken, time, hbm->taken_cost, waited) + hbm->write_cycles;
}

uint64_t *sg_hbm_taken(const struct sg_hbm *hbm, uint32_t channel)
{
	if (hbm->mall)
		return &hbm->ports[channel];
	return hbm->n_memory == 1 ? memory_of(hbm, channel, 0) : NULL;
}

uint64_t sg_hbm_free_at(const struct sg_hbm *hbm, uint32_t channel, uint64_t line)
{
	return (hbm->mall ? hbm->ports[channel] : *memory_of(hbm, channel, line)) >> 8;
}
