/*
 * tcc: the L2 of each die, by channel, and memory behind it.
 *
 * Write-back. A read miss fetches what the line lacks in requests of 64 bytes; a write allocates without
 * fetching. Uncached memory (kind.h) is accessed request by request (ea.h). The oldest line is evicted, and a written
 * line counts as `write_age` fills older than a read one; this leaves 30 % (MI200) and 33 % (MI100) of a
 * copied array dirty at the end, as recorded.
 *
 * Senders put requests into the channel's inbox while they run a window; sg_tcc_serve() then answers
 * them in the order of arrival (time, then sender), whatever order they were put in. A burst is served when its first request
 * arrives, before what arrives among its others.
 */
#ifndef WS_SOFTGPU_MEM_TCC_H
#define WS_SOFTGPU_MEM_TCC_H

#include "softgpu/hw/hw.h"
#include "softgpu/mem/hbm.h"
#include "softgpu/mem/l2_set.h"
#include "softgpu/mem/request.h"

#define SG_MAX_WINDOW 256 /* cycles; hw->request is not longer */

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

/* A request in a channel's inbox. */
struct sg_queued {
	struct sg_request r;
	uint64_t number; /* of its first line in the channel */
	uint32_t set;    /* of that line; while it is served */
	uint32_t next;   /* of the same time: end in the inbox, in bytes, 0: none; likewise */
} __attribute__((aligned(64)));

/* Where one of the bursts of a spread goes. */
struct sg_spread_to {
	uint16_t cu; /* that has sent it */
	uint8_t engine, xcc;
	int32_t by; /* chunks from the home's line */
};

#define SG_MAX_SPREAD SG_MAX_SE /* bursts */

/*
 * Bursts that many CUs send at the same time, all the same but for whole chunks between their addresses: the home's, which waits
 * for an answer, and those of others, whose latencies are added up.
 */
struct sg_spread {
	struct sg_request r; /* the home's */
	const struct sg_spread_to *to;
	uint64_t *latency; /* the counter of the first CU; SG_N_TCP further on that of the next */
	uint32_t next;     /* as in sg_queued: the number of the spread, from 1 on */
	uint8_t n, home_at, home_xcc; /* so many others; the home is the home_at-th to send */
} __attribute__((aligned(64)));

struct sg_channel {
	struct sg_queued *inbox;
	uint32_t n_inbox, inbox_room;
	struct sg_l2_set *sets;
	uint64_t *filled;        /* when data are there; see sg_l2_filled_at() */
	struct sg_l2_rest *rest; /* [set * SG_L2_WAYS + way] */
	uint64_t tag_free;       /* 1/16 cycles */
	uint64_t *c;             /* counters of this channel */
	uint64_t *taken;         /* sg_hbm_taken() */
	uint32_t index;          /* over all dies */
	bool touched;            /* there is something to forget */
	struct sg_busy busy, read_stall, write_stall; /* the latter two: for HBM */
	struct sg_busy ib_stall;                      /* any wait for the tags */
	struct sg_link_stall io_read, gmi_read, gmi_write;
	/*
	 * What sg_tcc_finish() derives counters from. Plain requests are those of CUs for the GPU's own cached memory, of
	 * whole halves if they write; by `lines`, by whether they hit. Own: to that memory, of 64 bytes, of 128.
	 */
	uint64_t plain_reads[3][2], plain_writes[2];
	uint64_t own_reads[2], own_writes;
};

struct sg_tcc {
	const struct sg_hw *hw;
	struct sg_channel *channels; /* those of the first die, of the second, ... */
	struct sg_channel *of_die[SG_MAX_XCC];
	struct sg_hbm hbm;
	uint32_t n_sets, line_shift, n_halves, half_mask;
	/* of `hw`, where every request reads it */
	uint32_t answer_after, response, fill, write_age, clean_ways;
	uint32_t read_16ths[3], write_16ths; /* reads: by lines */
	uint32_t reads_as[3];                /* by lines: how many requests L1 counts */
	uint32_t channel_bits, channel_mask; /* of an address: which channel */
	uint64_t in_channel; /* lowest bits of a line's number that stand below them */
	/* requests by time, like sg_queued.next; 0 outside of sg_tcc_serve() */
	uint32_t first[SG_MAX_WINDOW];
	/*
	 * A window in which nothing else is sent is served spread by spread. Each channel gets the same in the same order, whichever
	 * is served first. is_mixed: there are requests in inboxes, and spreads are put there, too.
	 */
	struct sg_spread *spreads;
	uint32_t n_spreads, spreads_room;
	bool is_mixed;
	bool direct; /* reads take what writes take, 64 bytes at a time: no ports, no Infinity Cache */
	uint8_t whole_line;   /* SG_L2_VALID of each half that a line has */
	bool lost;            /* a request could not be kept: out of memory */
	uint64_t last_answer; /* when the last one is there */
	uint64_t n_unawaited,
		last_unawaited;      /* answers of SG_SOURCE_NONE so far, and the last one */
	uint32_t mhz, credit_cycles; /* of the dispatch's clock */
	struct sg_link_state links[SG_MAX_ROUTES];
	void (*answer)(void *ctx, const struct sg_request *r, const struct sg_answers *a);
	void *ctx;
};

bool sg_tcc_init(struct sg_tcc *tcc, const struct sg_hw *hw);
void sg_tcc_free(struct sg_tcc *tcc);
/* Before a dispatch: everything is written back and forgotten, uncounted; the clock starts at 0. */
void sg_tcc_begin(struct sg_tcc *tcc, uint32_t mhz, uint64_t *counters, uint32_t n_counters);
/* The channel's inbox is full. False: no memory. */
bool sg_tcc_grow(struct sg_tcc *tcc, struct sg_channel *ch);
/* tcc_spread.c: a spread to be sent next, for the sender to fill. NULL: no memory. */
struct sg_spread *sg_tcc_new_spread(struct sg_tcc *tcc);
/* Sends all of its bursts. */
void sg_tcc_send_spread(struct sg_tcc *tcc, const struct sg_spread *s);
/* A request is about to be sent: spreads that wait are before it. */
void sg_tcc_mix(struct sg_tcc *tcc);
/* Serves what arrives in [from, from + window). */
void sg_tcc_serve(struct sg_tcc *tcc, uint64_t from, uint32_t window);
/* A release of system scope at `time`: dirty lines go to memory. Returns when the last one is there. */
uint64_t sg_tcc_write_back(struct sg_tcc *tcc, uint64_t time);

/* At the end of a dispatch: completes its counters. */
void sg_tcc_finish(struct sg_tcc *tcc);

/* n requests like this one. */
void sg_tcc_count(const struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_request *r,
		  bool hit, uint64_t n);

/* The channel of an address. Upper bits are folded in, or the strides of powers of two that programs like would meet few channels. */
static inline struct sg_channel *sg_tcc_channel(const struct sg_tcc *tcc, uint32_t xcc,
						uint64_t addr)
{
	uint64_t part = addr >> SG_CHANNEL_SHIFT, folded = part ^ part >> tcc->channel_bits;

	folded ^= folded >> 2 * tcc->channel_bits;
	return tcc->of_die[xcc] + (folded & tcc->channel_mask);
}

/* The number of an address's line there. */
static inline uint64_t sg_tcc_number(const struct sg_tcc *tcc, uint64_t addr)
{
	uint64_t line = addr >> tcc->line_shift;

	return (line >> tcc->channel_bits & ~tcc->in_channel) | (line & tcc->in_channel);
}

/* Where the request for an address goes: the sender writes all its fields there, at once. NULL: no memory. */
static inline struct sg_request *sg_tcc_slot(struct sg_tcc *tcc, uint32_t xcc, uint64_t addr)
{
	struct sg_channel *ch = sg_tcc_channel(tcc, xcc, addr);
	struct sg_queued *q;

	if (__builtin_expect(!tcc->is_mixed, 0))
		sg_tcc_mix(tcc);
	if (ch->n_inbox == ch->inbox_room && !sg_tcc_grow(tcc, ch))
		return NULL;
	q = &ch->inbox[ch->n_inbox++];
	q->number = sg_tcc_number(tcc, addr);
	return &q->r;
}

/* To the L2 of the die; its shape need not be known. Field by field, so that the compiler writes them to the inbox and not to the sender's stack first. */
static inline void sg_tcc_send(struct sg_tcc *tcc, uint32_t xcc, const struct sg_request *r)
{
	struct sg_request *slot = sg_tcc_slot(tcc, xcc, r->addr);

	if (!slot)
		return;
	slot->time = r->time;
	slot->addr = r->addr;
	slot->bytes = r->bytes;
	slot->owner = r->owner;
	slot->slot = r->slot;
	slot->source = r->source;
	slot->shape = (uint8_t)sg_burst_shape_of(r);
	slot->lines = r->lines;
	slot->kind = r->kind;
	slot->slc = r->slc;
	slot->memory.mtype = r->memory.mtype;
	slot->memory.route = r->memory.route;
	slot->memory.n_links = r->memory.n_links;
	slot->n_more = r->n_more;
	slot->step = r->step;
}

#endif
