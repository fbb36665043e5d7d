/*
 * tcc: the L2 of each die, by channel, and memory behind it.
 *
 * Write-back. A read miss fetches what the line lacks in requests of 64 bytes; a write allocates without
 * fetching. Uncached memory (kind.h) is accessed request by request (ea.h). The oldest line is evicted, and a written
 * line counts as `write_age` fills older than a read one; this leaves 30 % (MI200) and 33 % (MI100) of a
 * copied array dirty at the end, as recorded.
 *
 * Senders put requests into the channel's inbox while they run a window; sg_tcc_serve() then answers
 * them in the order of arrival (time, then sender), whatever order they were put in.
 */
#ifndef WS_SOFTGPU_MEM_TCC_H
#define WS_SOFTGPU_MEM_TCC_H

#include "softgpu/hw/hw.h"
#include "softgpu/mem/hbm.h"
#include "softgpu/mem/l2_set.h"
#include "softgpu/mem/request.h"

/* Requests of a channel that waited for a link. */
struct sg_link_stall {
	struct sg_busy waiting;
	uint64_t n;
};

/* A link of the dispatch's; see ea.h. */
struct sg_link_state {
	const struct sg_link_hw *hw; /* NULL: not used yet */
	uint64_t free_at[2];         /* 1/256 cycles, by direction */
	uint32_t byte_cost;          /* 1/65536 cycles */
	uint32_t read_cycles, write_cycles;
};

struct sg_channel {
	struct sg_l2_set *sets;
	struct sg_l2_rest *rest; /* [set * SG_L2_WAYS + way] */
	struct sg_request *inbox;
	uint32_t *sorted; /* places in the inbox */
	uint32_t n_inbox, inbox_room;
	bool touched;                                 /* there is something to forget */
	uint64_t tag_free;                            /* 1/16 cycles */
	uint32_t index;                               /* over all dies */
	struct sg_busy busy, read_stall, write_stall; /* the latter two: for HBM */
	struct sg_busy ib_stall;                      /* any wait for the tags */
	struct sg_link_stall io_read, gmi_read, gmi_write;
	uint64_t *c; /* counters of this channel */
};

struct sg_tcc {
	const struct sg_hw *hw;
	struct sg_channel *channels; /* those of the first die, of the second, ... */
	struct sg_hbm hbm;
	uint32_t n_sets, line_shift, n_halves;
	uint8_t whole_line;          /* SG_L2_VALID of each half that a line has */
	bool lost;                   /* a request could not be kept: out of memory */
	uint64_t last_answer;        /* when the last one is there */
	uint32_t mhz, credit_cycles; /* of the dispatch's clock */
	struct sg_link_state links[SG_MAX_ROUTES];
	void (*answer)(void *ctx, const struct sg_request *r, uint64_t time);
	void *ctx;
};

bool sg_tcc_init(struct sg_tcc *tcc, const struct sg_hw *hw);
void sg_tcc_free(struct sg_tcc *tcc);
/* Before a dispatch: everything is written back and forgotten, uncounted; the clock starts at 0. */
void sg_tcc_begin(struct sg_tcc *tcc, uint32_t mhz, uint64_t *counters, uint32_t n_counters);
void sg_tcc_send(struct sg_tcc *tcc, const struct sg_request *r);
/* Serves what arrives in [from, from + window). */
void sg_tcc_serve(struct sg_tcc *tcc, uint64_t from, uint32_t window);
/* A release of system scope at `time`: dirty lines go to memory. Returns when the last one is there. */
uint64_t sg_tcc_write_back(struct sg_tcc *tcc, uint64_t time);

#endif
