/*
 * tcc_line: a line of an L2 channel: how it gets there, and how it goes.
 *
 * Included by the parts of tcc that serve requests: its functions are inlined there.
 */
#ifndef WS_SOFTGPU_MEM_TCC_LINE_H
#define WS_SOFTGPU_MEM_TCC_LINE_H

#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/ea.h"
#include "softgpu/mem/tcc_priv.h"

#define C(name) ch->c[SG_C_##name]

/* Of a chip: what the compiler makes the functions that serve requests for. */
struct sg_l2_kind {
	uint32_t n_halves; /* of a line */
	bool direct;       /* as in struct sg_tcc */
};

#define ANY_VALID (3 * SG_L2_VALID)
#define ANY_WHOLE (3 * SG_L2_WHOLE)
#define ANY_PART (3 * SG_L2_PART)

/* Where a line stands. */
struct sg_l2_line {
	struct sg_l2_set *set;
	uint32_t index; /* of the set */
	uint32_t way;
};

static inline struct sg_l2_rest *sg_l2_rest_of(const struct sg_channel *ch, struct sg_l2_line l)
{
	return &ch->rest[(size_t)l.index * SG_L2_WAYS + l.way];
}

/* When the data of a line are there. in_chunk: which bits of a set's number tell the lines of a chunk apart. */
static inline uint64_t *sg_l2_filled_at(const struct sg_channel *ch, uint32_t index, uint32_t way,
					uint32_t in_chunk)
{
	return &ch->filled[(size_t)(index & ~in_chunk) * SG_L2_WAYS + way * (in_chunk + 1) +
			   (index & in_chunk)];
}

static inline uint64_t *sg_l2_filled_of(const struct sg_tcc *tcc, const struct sg_channel *ch,
					struct sg_l2_line l)
{
	return sg_l2_filled_at(ch, l.index, l.way, (uint32_t)tcc->in_channel);
}

/* To memory: so many halves of a line, all bytes of them. */
static inline uint64_t sg_l2_write_whole(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number,
					 uint64_t time, uint32_t n_halves)
{
	if (tcc->hbm.mall)
		sg_hbm_touch(&tcc->hbm, ch->index, number, 1, time, true);
	return sg_ea_write_own(tcc, ch, time, n_halves);
}

/* The same of a line of which some bytes were written, or of other memory. */
uint64_t sg_tcc_write_part(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number,
			   const struct sg_l2_rest *rest, uint8_t state, uint64_t time);

/* The line, of so many halves, is written to memory, and stays. */
static inline uint64_t sg_l2_write_line_back(struct sg_tcc *tcc, struct sg_channel *ch,
					     struct sg_l2_line l, uint64_t time, uint32_t n_halves)
{
	uint8_t state = l.set->states[l.way];
	uint32_t all = ((1u << n_halves) - 1) * SG_L2_WHOLE;
	uint64_t number = l.set->tags[l.way] - 1;

	l.set->states[l.way] = state & (ANY_VALID | SG_L2_OTHER);
	C(TCC_WRITEBACK)++;
	if ((state & (ANY_WHOLE | ANY_PART | SG_L2_OTHER)) == all)
		return sg_l2_write_whole(tcc, ch, number, time, n_halves);
	return sg_tcc_write_part(tcc, ch, number, sg_l2_rest_of(ch, l), state, time);
}

/* Returns the way of a line to be used again, whose line is still there; *evicts: there is one. */
static inline uint32_t sg_l2_choose_way(const struct sg_l2_set *set, bool *evicts)
{
	uint32_t empty = sg_ways_equal(set->stamps, 0);

	*evicts = !empty;
	return empty ? (uint32_t)__builtin_ctz(empty) : sg_ways_least(set->stamps);
}

/* When the requests of a burst have the tags, one after the other. Others may use them in between. 1/16 cycles. */
struct sg_l2_turns {
	uint64_t arrival, turn;
	uint64_t waited; /* until then one of them did; 0: none */
	uint32_t step, cost;
};

/* For a burst whose requests take the tags for so long each. */
static inline struct sg_l2_turns sg_l2_take_turns(struct sg_channel *ch, const struct sg_request *r,
						  uint32_t cost)
{
	uint64_t now = r->time << 4, turn = now > ch->tag_free ? now : ch->tag_free;

	ch->tag_free = turn + (r->n_more + 1u) * cost;
	return (struct sg_l2_turns){ .arrival = now, .turn = turn, .step = r->step, .cost = cost };
}

static inline __attribute__((always_inline)) uint64_t sg_l2_next_turn(struct sg_l2_turns *t)
{
	uint64_t when = t->arrival;

	if (t->turn > when)
		t->waited = when = t->turn;
	t->arrival += t->step;
	t->turn += t->cost;
	return when >> 4;
}

/* Of the answers so far; apart from sg_answers, which the compiler would keep in memory. */
struct sg_l2_answered {
	uint64_t last, sum;
};

/* The k-th of a burst is done. */
static inline __attribute__((always_inline)) void sg_l2_answer(const struct sg_tcc *tcc,
							       struct sg_answers *a,
							       struct sg_l2_answered *all,
							       uint32_t k, uint64_t done)
{
	done += tcc->answer_after;
	a->times[k] = done;
	all->sum += done;
	all->last = done > all->last ? done : all->last;
}

#endif
