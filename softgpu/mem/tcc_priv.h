/* tcc_priv: what the parts of tcc share. */
#ifndef WS_SOFTGPU_MEM_TCC_PRIV_H
#define WS_SOFTGPU_MEM_TCC_PRIV_H

#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/tcc.h"

/*
 * Puts what arrives within the window into lists by time, the last one first: so requests of one time keep the order
 * they came in, which is by sender. `times` has a bit for each list. Returns how many arrive later.
 */
uint32_t sg_tcc_sort_inbox(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t from,
			   uint32_t window, uint64_t times[SG_MAX_WINDOW / 64]);
/* Of the number of a line: its set. A die is dealt every n-th workgroup, so that some bits of its addresses are always the same. Upper
 * bits are folded in there, or such a copy would use a part of the sets (recorded: it displaces nothing). */
static inline uint32_t sg_tcc_set_index(const struct sg_tcc *tcc, uint64_t number)
{
	if (tcc->hw->l2_hash)
		number ^= number >> 7 ^ number >> 14;
	return (uint32_t)number & (tcc->n_sets - 1);
}

/* The k-th burst of a spread to be sent. */
struct sg_spread_part {
	uint64_t addr;
	void *owner;
	uint16_t source;
	uint8_t xcc;
};

static inline struct sg_spread_part sg_spread_part(const struct sg_spread *s, uint32_t k)
{
	const struct sg_spread_to *to = &s->to[k - (k > s->home_at)];

	if (k == s->home_at)
		return (struct sg_spread_part){ s->r.addr, s->r.owner, s->r.source, s->home_xcc };
	return (struct sg_spread_part){ s->r.addr + (uint64_t)((int64_t)to->by * SG_CHUNK),
					s->latency + (size_t)to->cu * SG_N_TCP, SG_SOURCE_NONE,
					to->xcc };
}

/* Those that arrive later stay in the inbox. */
void sg_tcc_keep_later(struct sg_channel *ch, uint64_t from, uint32_t window);

#endif
