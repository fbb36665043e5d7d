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

struct sg_hbm {
	const struct sg_hw *hw;
	uint32_t n_memory; /* channels for each L2 channel of a die */
	uint64_t *free_at; /* 1/256 cycles, by channel of memory */
	uint64_t *ports;   /* the same, by L2 channel */
	uint64_t *mall;    /* the contents, see hbm.c; NULL: there is no such cache */
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

/* When n requests of 64 bytes are answered; *waited: how long they waited for others. @scalar: code and kernel
 * arguments, which the host wrote last, so that the Infinity Cache has them. */
uint64_t sg_hbm_read(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint32_t n, bool scalar,
		     uint64_t time, uint64_t *waited);
uint64_t sg_hbm_write(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint64_t time,
		      uint64_t *waited);
/* Puts the line into the Infinity Cache. True: it was there. */
bool sg_hbm_touch(struct sg_hbm *hbm, uint32_t channel, uint64_t line, uint64_t time, bool write);
/* The free_at that all writes of an L2 channel take; NULL: that depends on the line. */
uint64_t *sg_hbm_taken(const struct sg_hbm *hbm, uint32_t channel);
/* From when on a write of the line does not wait. */
uint64_t sg_hbm_free_at(const struct sg_hbm *hbm, uint32_t channel, uint64_t line);

/* What one dispatch leaves to the next: so many numbers from hbm->mall on. */
size_t sg_hbm_n_state(const struct sg_hbm *hbm);

#endif
