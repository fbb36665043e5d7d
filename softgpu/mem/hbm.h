/*
 * hbm: a GPU's own memory: its channels, and the Infinity Cache in front of them.
 *
 * All dies share it. An L2 channel reaches `n_memory` channels of memory, which the same channel of another die
 * reaches, too; what limits the Infinity Cache is the port that each L2 channel of each die has to it. It belongs to
 * memory: it keeps what was read or written, across kernels, and coherence never writes it back. It is tracked in
 * blocks of 64 KiB, of which each line of 128 bytes is there or not.
 *
 * A place in memory is an L2 channel (`channel`: counted over all dies) and the number of a line in it (tcc.c).
 */
#ifndef WS_SOFTGPU_MEM_HBM_H
#define WS_SOFTGPU_MEM_HBM_H

#include <stddef.h>

#include "softgpu/hw/hw.h"

#define SG_MALL_WAYS 16
#define SG_MALL_SHIFT 5 /* of a block there are 2^5 lines in a channel */
#define SG_MALL_CHANNELS 16

/* A block of the Infinity Cache. By line of a channel, a bit for each channel: which lines are there, and which of them
 * memory does not have yet. */
struct sg_mall_block {
	uint64_t tag; /* its number + 1; 0: empty */
	uint16_t there[1 << SG_MALL_SHIFT], dirty[1 << SG_MALL_SHIFT];
};

struct sg_hbm {
	const struct sg_hw *hw;
	uint32_t n_memory;          /* channels for each L2 channel of a die */
	uint32_t die_mask;          /* of a channel: which one of its die */
	uint64_t *free_at;          /* 1/256 cycles, by channel of memory */
	uint64_t *ports;            /* the same, by L2 channel */
	uint64_t block_mask;        /* of a block's number: its set in the Infinity Cache */
	struct sg_mall_block *mall; /* its sets, by last use; NULL: there is no such cache */
	/* in cycles of the dispatch's clock; costs in 1/256 */
	uint32_t read_cycles, write_cycles, mall_cycles, scalar_cycles;
	uint32_t read_cost, write_cost, port_cost;
	uint32_t taken_cost;                /* of a write: what it takes is sg_hbm_taken()'s */
	uint64_t read_credit, write_credit; /* the longest wait of a channel that has credits */
};

bool sg_hbm_init(struct sg_hbm *hbm, const struct sg_hw *hw); /* false: no memory */
void sg_hbm_free(struct sg_hbm *hbm);
/* Starts a dispatch at `mhz`, with no request in flight. */
void sg_hbm_begin(struct sg_hbm *hbm, uint32_t mhz);

/* When 64 bytes are written; *waited: how long they waited for others, in 1/256 cycles. */
uint64_t sg_hbm_write(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint64_t time,
		      uint64_t *waited);
/* The free_at that all writes of an L2 channel take. */
uint64_t *sg_hbm_taken(const struct sg_hbm *hbm, uint32_t channel);

/* What one dispatch leaves to the next: so many numbers from hbm->mall on. */
size_t sg_hbm_n_state(const struct sg_hbm *hbm);

/* Makes the block the first one of its set. */
void sg_hbm_use_block(struct sg_hbm *hbm, struct sg_mall_block *set, uint64_t tag, uint64_t time);

/* Upper bits are folded in, as for the channels of L2. */
static inline uint64_t *sg_hbm_memory(const struct sg_hbm *hbm, uint32_t channel, uint64_t line)
{
	uint64_t a = line >> 1;

	a ^= a >> 3;
	a ^= a >> 6;
	return &hbm->free_at[(channel & hbm->die_mask) * hbm->n_memory + (a & (hbm->n_memory - 1))];
}

/* Takes a channel or a port for a while. Returns when it is free again. All in 1/256 cycles. */
static inline uint64_t sg_hbm_occupy(uint64_t *free_at, uint64_t now, uint64_t taken,
				     uint64_t *waited)
{
	uint64_t start = now > *free_at ? now : *free_at;

	*waited = start - now;
	return *free_at = start + taken;
}

/* Puts n lines, a power of two of them, into the Infinity Cache. Returns which ones were there, a bit for each. */
static inline uint32_t sg_hbm_touch(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint32_t n,
				    uint64_t time, bool write)
{
	uint64_t block = line >> SG_MALL_SHIFT;
	struct sg_mall_block *set = &hbm->mall[(block & hbm->block_mask) * SG_MALL_WAYS];
	uint32_t at = line % (1u << SG_MALL_SHIFT), bit = channel % SG_MALL_CHANNELS, there = 0;

	if (set->tag != block + 1)
		sg_hbm_use_block(hbm, set, block + 1, time);
	for (uint32_t k = 0; k < n; k++) {
		there |= (set->there[at + k] >> bit & 1u) << k;
		set->there[at + k] |= (uint16_t)(1u << bit);
		if (write)
			set->dirty[at + k] |= (uint16_t)(1u << bit);
	}
	return there;
}

/* Where a channel's reads of a line go. */
struct sg_hbm_way {
	uint64_t *port, *memory;
};

static inline struct sg_hbm_way sg_hbm_way(const struct sg_hbm *hbm, uint32_t channel,
					   uint64_t line)
{
	return (struct sg_hbm_way){ &hbm->ports[channel], sg_hbm_memory(hbm, channel, line) };
}

/*
 * When n requests of 64 bytes are answered; *waited: as for sg_hbm_write(). there: in the Infinity Cache. scalar: code and kernel
 * arguments, which the host wrote last, so that the Infinity Cache has them.
 */
static inline uint64_t sg_hbm_read(const struct sg_hbm *hbm, struct sg_hbm_way way, uint32_t n,
				   bool there, bool scalar, uint64_t time, uint64_t *waited)
{
	uint64_t now = time << 8, of_memory, sent;
	uint64_t port = sg_hbm_occupy(way.port, now, (uint64_t)n * hbm->port_cost, waited);

	if (scalar && hbm->mall)
		return (port >> 8) + hbm->scalar_cycles;
	if (there)
		return (port >> 8) + hbm->mall_cycles;
	sent = sg_hbm_occupy(way.memory, now, (uint64_t)n * hbm->read_cost, &of_memory);
	*waited = of_memory > *waited ? of_memory : *waited;
	return ((sent > port ? sent : port) >> 8) + hbm->read_cycles;
}

#endif
