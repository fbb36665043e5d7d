/* tcc_spread: spreads on their way to L2. */
#include <stdlib.h>

#include "softgpu/mem/tcc_priv.h"

/* Puts the bursts into the inboxes of channels. */
static void put_apart(struct sg_tcc *tcc, const struct sg_spread *s)
{
	for (uint32_t k = 0; k <= s->n; k++) {
		struct sg_spread_part part = sg_spread_part(s, k);
		struct sg_request *slot = sg_tcc_slot(tcc, part.xcc, part.addr);

		if (!slot)
			return;
		*slot = s->r;
		slot->addr = part.addr;
		slot->owner = part.owner;
		slot->source = part.source;
	}
}

static bool grow(struct sg_tcc *tcc)
{
	uint32_t room = tcc->spreads_room ? 2 * tcc->spreads_room : 64;
	struct sg_spread *spreads =
		aligned_alloc(_Alignof(struct sg_spread), room * sizeof(*spreads));

	if (!spreads)
		return false;
	for (uint32_t k = 0; k < tcc->n_spreads; k++)
		spreads[k] = tcc->spreads[k];
	free(tcc->spreads);
	tcc->spreads = spreads;
	tcc->spreads_room = room;
	return true;
}

struct sg_spread *sg_tcc_new_spread(struct sg_tcc *tcc)
{
	if (tcc->n_spreads == tcc->spreads_room && !grow(tcc)) {
		tcc->lost = true;
		return NULL;
	}
	return &tcc->spreads[tcc->n_spreads];
}

void sg_tcc_send_spread(struct sg_tcc *tcc, const struct sg_spread *s)
{
	if (tcc->is_mixed)
		put_apart(tcc, s);
	else
		tcc->n_spreads++;
}

void sg_tcc_mix(struct sg_tcc *tcc)
{
	tcc->is_mixed = true;
	for (uint32_t k = 0; k < tcc->n_spreads; k++)
		put_apart(tcc, &tcc->spreads[k]);
	tcc->n_spreads = 0;
}
