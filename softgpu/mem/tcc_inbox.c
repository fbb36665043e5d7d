/*
 * tcc_inbox: the requests in a channel's inbox: by time of arrival.
 */
#include "softgpu/mem/tcc_priv.h"

uint32_t sg_tcc_sort_inbox(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t from,
			   uint32_t window, uint64_t times[SG_MAX_WINDOW / 64])
{
	struct sg_queued *q = ch->inbox + ch->n_inbox - 1;
	uint32_t n_later = 0, *first = tcc->first;
	uint32_t of_chunk = (uint32_t)tcc->in_channel;

	for (uint32_t end = ch->n_inbox * (uint32_t)sizeof(*q); end; end -= sizeof(*q), q--) {
		uint64_t time = q->r.time - from;

		if (time >= window) {
			n_later++;
			continue;
		}
		q->set = sg_tcc_set_index(tcc, q->number);
		__builtin_prefetch(&ch->sets[q->set & ~of_chunk]);
		__builtin_prefetch(q->r.owner, 1); /* the answer changes it */
		q->next = first[time];
		first[time] = end;
		times[time / 64] |= 1ull << time % 64;
	}
	return n_later;
}

void sg_tcc_keep_later(struct sg_channel *ch, uint64_t from, uint32_t window)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < ch->n_inbox; k++)
		if (ch->inbox[k].r.time - from >= window)
			ch->inbox[kept++] = ch->inbox[k];
	ch->n_inbox = kept;
}
