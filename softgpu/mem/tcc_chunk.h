/*
 * tcc_chunk: bursts that read or write all lines of a chunk.
 *
 * The lines of a chunk are in sets next to each other, a group. As long as all requests of a group are for whole
 * chunks, the same happens to all of its sets: they differ in their lines' numbers and in when those are filled. So one
 * look-up is enough, and the first set of the group stands for all. Another request gives each set its own state, until all
 * have the same one again, as when two bursts read a chunk together. The requests of a burst have the tags and memory one
 * after the other, as they would in sets of their own.
 */
#ifndef WS_SOFTGPU_MEM_TCC_CHUNK_H
#define WS_SOFTGPU_MEM_TCC_CHUNK_H

#include "softgpu/mem/tcc_line.h"

/* Gives each set of a group, of which this is the first one, the state of the group. */
void sg_tcc_set_apart(const struct sg_tcc *tcc, struct sg_l2_set *first);
/* Undoes that, if they all have the same state again. */
void sg_tcc_rejoin(const struct sg_tcc *tcc, struct sg_l2_set *first);

/* The chunk of a burst. */
struct sg_l2_chunk {
	struct sg_l2_set *set; /* the first one of the group */
	uint64_t *filled;      /* of the group: [way][set] */
	uint64_t number; /* of the line in that set; elsewhere it differs by the set's place */
	uint32_t at;     /* place of the first line's set in the group; the k-th one's is at ^ k */
	uint32_t n_lines;
};

static inline __attribute__((always_inline)) struct sg_l2_chunk sg_l2_chunk_of(
	const struct sg_channel *ch, const struct sg_queued *q, struct sg_l2_set *group,
	struct sg_l2_kind kind)
{
	uint32_t in_chunk = SG_MAX_BURST / kind.n_halves - 1, at = q->set & in_chunk;

	return (struct sg_l2_chunk){
		.set = group,
		.filled = sg_l2_filled_at(ch, q->set - at, 0, in_chunk),
		.number = q->number ^ at,
		.at = at,
		.n_lines = in_chunk + 1,
	};
}

/* The place of the k-th line of a whole chunk. Without an Infinity Cache, sets are chosen by the lowest bits alone. */
static inline __attribute__((always_inline)) uint32_t sg_l2_place(const struct sg_l2_chunk *c,
								  uint32_t k,
								  struct sg_l2_kind kind)
{
	return kind.direct ? k : c->at ^ k;
}

/* A chunk whose lines are written to memory while those of another one are served. */
struct sg_l2_leaving {
	bool is;
	uint64_t number; /* of the line in the first set */
};

/* The Infinity Cache gets all lines of a chunk before they are written: what comes between them makes no difference there. */
static inline __attribute__((always_inline)) void sg_l2_announce(struct sg_tcc *tcc,
								 struct sg_channel *ch,
								 const struct sg_l2_leaving *chunk,
								 uint32_t n_lines, uint64_t time)
{
	sg_hbm_touch(&tcc->hbm, ch->index, chunk->number & ~(uint64_t)(n_lines - 1), n_lines, time,
		     true);
}

/* Takes a way for a chunk that is not there. *evicted: who had it, if memory does not have all of that. */
static inline __attribute__((always_inline)) uint32_t sg_l2_new_chunk(struct sg_channel *ch,
								      const struct sg_l2_chunk *c,
								      uint8_t hash, uint8_t state,
								      struct sg_l2_leaving *evicted,
								      struct sg_l2_kind kind)
{
	bool evicts;
	uint32_t way = sg_l2_choose_way(c->set, &evicts);

	if (evicts) {
		C(TCC_NORMAL_EVICT) += c->n_lines;
		evicted->is = c->set->states[way] & SG_L2_DIRTY;
		if (!kind.direct) /* else nobody reads it, and it is seldom in the host's caches */
			evicted->number = c->set->tags[way] - 1;
	}
	sg_l2_allocate(c->set, way, c->number, hash, state);
	return way;
}

/* Each line of a chunk that is not there; evicts: in the place of one that is written to memory. */
static inline __attribute__((always_inline)) struct sg_l2_answered sg_l2_fetch_chunk(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_answers *a,
	const struct sg_l2_chunk *c, uint64_t *filled, struct sg_l2_turns *t,
	const struct sg_l2_leaving *evicted, bool evicts, struct sg_l2_kind kind)
{
	uint32_t n_lines = SG_MAX_BURST / kind.n_halves, there = 0;
	struct sg_l2_answered all = { 0 };
	struct sg_ea_run run = sg_ea_start(ch);
	struct sg_hbm_way way;

	if (!kind.direct)
		way = sg_hbm_way(&tcc->hbm, ch->index, q->number);
#pragma GCC unroll 4
	for (uint32_t k = 0; k < n_lines; k++) {
		uint64_t time = sg_l2_next_turn(t), done;

		if (!kind.direct && !k) {
			if (evicts)
				sg_l2_announce(tcc, ch, evicted, n_lines, time);
			there = sg_hbm_touch(&tcc->hbm, ch->index, q->number, n_lines, time, false);
		}
		if (evicts && kind.direct)
			sg_ea_write_next(tcc, ch, &run, time, kind.n_halves);
		else if (evicts) /* takes the port, as reads do */
			sg_ea_write_own(tcc, ch, time, kind.n_halves);
		done = kind.direct ? sg_ea_read_next(tcc, ch, &run, time, kind.n_halves)
				   : sg_ea_read_on(tcc, ch, way, there >> k & 1, time,
						   kind.n_halves, false);
		filled[sg_l2_place(c, k, kind)] = done += tcc->fill;
		sg_l2_answer(tcc, a, &all, k, done);
	}
	if (kind.direct)
		sg_ea_stop(tcc, ch, &run, SG_MAX_BURST, evicts ? SG_MAX_BURST : 0);
	return all;
}

static inline __attribute__((always_inline)) struct sg_l2_answered sg_l2_hit_chunk(
	const struct sg_tcc *tcc, struct sg_answers *a, const struct sg_l2_chunk *c,
	const uint64_t *filled, struct sg_l2_turns *t, struct sg_l2_kind kind)
{
	struct sg_l2_answered all = { 0 };

#pragma GCC unroll 4
	for (uint32_t k = 0; k < SG_MAX_BURST / kind.n_halves; k++) {
		uint64_t time = sg_l2_next_turn(t), done = filled[sg_l2_place(c, k, kind)];

		sg_l2_answer(tcc, a, &all, k, done > time ? done : time);
	}
	return all;
}

static inline __attribute__((always_inline)) void sg_l2_read_chunk(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_l2_chunk c,
	struct sg_answers *a, struct sg_l2_kind kind)
{
	struct sg_l2_turns t = sg_l2_take_turns(ch, &q->r, tcc->read_16ths[kind.n_halves]);
	uint8_t hash = sg_l2_hash(c.number);
	uint32_t way = sg_l2_find(c.set, c.number, hash);
	bool hit = way < SG_L2_WAYS;
	struct sg_l2_leaving evicted = { 0 };
	struct sg_l2_answered all;

	ch->plain_reads[kind.n_halves][hit] += c.n_lines;
	if (hit) {
		all = sg_l2_hit_chunk(tcc, a, &c, &c.filled[way * c.n_lines], &t, kind);
	} else {
		way = sg_l2_new_chunk(ch, &c, hash, (uint8_t)((1u << kind.n_halves) - 1), &evicted,
				      kind);
		if (evicted.is) {
			C(TCC_WRITEBACK) += c.n_lines;
			C(TCC_NORMAL_WRITEBACK) += c.n_lines;
			all = sg_l2_fetch_chunk(tcc, ch, q, a, &c, &c.filled[way * c.n_lines], &t,
						&evicted, true, kind);
		} else {
			all = sg_l2_fetch_chunk(tcc, ch, q, a, &c, &c.filled[way * c.n_lines], &t,
						&evicted, false, kind);
		}
	}
	c.set->stamps[way] = (uint8_t)(c.set->clock + tcc->write_age);
	a->last = all.last;
	a->sum = all.sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
}

/* The oldest chunk that memory does not have goes there when another one is written, see clean_oldest(). */
static inline struct sg_l2_leaving sg_l2_clean_chunk(const struct sg_tcc *tcc,
						     const struct sg_l2_chunk *c)
{
	uint32_t way;

	if (!tcc->clean_ways || c->set->clock <= tcc->clean_ways || !sg_ways_upper(c->set->states))
		return (struct sg_l2_leaving){ 0 };
	way = sg_ways_least_of(c->set->stamps, c->set->states);
	c->set->states[way] &= ANY_VALID;
	return (struct sg_l2_leaving){ true, c->set->tags[way] - 1 };
}

/* What a chunk that is written displaces; each line at the time of the one that comes, whose answer is in `times`. */
static void sg_l2_write_out(struct sg_tcc *tcc, struct sg_channel *ch,
			    const struct sg_l2_leaving *evicted,
			    const struct sg_l2_leaving *cleaned, const uint64_t *times,
			    uint32_t n_halves)
{
	uint32_t n_lines = SG_MAX_BURST / n_halves, n_each = evicted->is + cleaned->is;
	uint32_t n = n_lines * n_each;
	struct sg_ea_run run;

	C(TCC_WRITEBACK) += n;
	C(TCC_NORMAL_WRITEBACK) += n;
	if (tcc->hbm.mall && evicted->is)
		sg_l2_announce(tcc, ch, evicted, n_lines, times[0] - tcc->answer_after);
	if (tcc->hbm.mall && cleaned->is)
		sg_l2_announce(tcc, ch, cleaned, n_lines, times[0] - tcc->answer_after);
	run = sg_ea_start(ch);
	for (uint32_t k = 0; k < n_lines; k++)
		for (uint32_t m = 0; m < n_each; m++)
			sg_ea_write_next(tcc, ch, &run, times[k * n_halves] - tcc->answer_after,
					 n_halves);
	sg_ea_stop(tcc, ch, &run, 0, n * n_halves);
}

static inline __attribute__((always_inline)) void sg_l2_write_chunk(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_l2_chunk c,
	struct sg_answers *a, struct sg_l2_kind kind)
{
	struct sg_l2_turns t = sg_l2_take_turns(ch, &q->r, tcc->write_16ths);
	uint8_t hash = sg_l2_hash(c.number), halves = (uint8_t)((1u << kind.n_halves) - 1);
	uint32_t way = sg_l2_find(c.set, c.number, hash);
	bool present = way < SG_L2_WAYS;
	struct sg_l2_leaving evicted = { 0 }, cleaned = { 0 };
	uint64_t sum = 0, *filled;

	ch->plain_writes[present] += c.n_lines;
	ch->plain_writes[true] += c.n_lines * (kind.n_halves - 1);
	if (!present) {
		way = sg_l2_new_chunk(ch, &c, hash, 0, &evicted, kind);
		cleaned = sg_l2_clean_chunk(tcc, &c);
	}
	c.set->states[way] = (uint8_t)(SG_L2_DIRTY | (SG_L2_WHOLE | SG_L2_VALID) * halves);
	c.set->stamps[way] = c.set->clock;
	filled = &c.filled[way * c.n_lines];
#pragma GCC unroll 4
	for (uint32_t k = 0; k < SG_MAX_BURST; k++) {
		uint64_t time = sg_l2_next_turn(&t);

		if (!present && k % kind.n_halves == 0)
			filled[sg_l2_place(&c, k / kind.n_halves, kind)] = time;
		sum += a->times[k] = time + tcc->answer_after;
	}
	if (evicted.is || cleaned.is)
		sg_l2_write_out(tcc, ch, &evicted, &cleaned, a->times, kind.n_halves);
	a->last = a->times[SG_MAX_BURST - 1]; /* turns are in order, and nothing is waited for */
	a->sum = sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
}

/* ---- a chunk of two lines, read by two bursts ---- */

/*
 * Of L2s whose sets are chosen by the lowest bits alone. The first burst reads the first line by halves, the second one
 * the other line. In between the group is halfway: the first set has the state with the first line read, the second set
 * the one from before, in case that another request comes first.
 */
enum { SG_L2_MISSED = 1, SG_L2_EVICTED = 2, SG_L2_WRITTEN_OUT = 4 };

/* One line of a chunk that is not there. Returns when its data are. */
static inline __attribute__((always_inline)) uint64_t sg_l2_fetch_half(
	struct sg_tcc *tcc, struct sg_channel *ch, uint8_t was, uint64_t *filled, uint64_t time,
	struct sg_l2_kind kind)
{
	C(TCC_NORMAL_EVICT) += was & SG_L2_EVICTED ? 1 : 0;
	if (was & SG_L2_WRITTEN_OUT) {
		C(TCC_WRITEBACK)++;
		C(TCC_NORMAL_WRITEBACK)++;
		sg_ea_write_own(tcc, ch, time, kind.n_halves);
	}
	return *filled = sg_ea_read_own(tcc, ch, time, kind.n_halves) + tcc->fill;
}

static inline __attribute__((always_inline)) void sg_l2_read_half(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_l2_chunk c,
	struct sg_answers *a, struct sg_l2_kind kind)
{
	struct sg_l2_turns t = sg_l2_take_turns(ch, &q->r, tcc->read_16ths[1]);
	uint8_t hash = sg_l2_hash(c.number), was = 0;
	uint32_t way = sg_l2_find(c.set, c.number, hash);
	uint64_t time = sg_l2_next_turn(&t), done;
	struct sg_l2_answered all = { 0 };
	bool hit = way < SG_L2_WAYS, evicts;

	c.set[1] = *c.set;
	ch->plain_reads[1][hit]++;
	ch->plain_reads[1][true]++;
	if (!hit) {
		way = sg_l2_choose_way(c.set, &evicts);
		was = SG_L2_MISSED | (evicts ? SG_L2_EVICTED : 0) |
		      (evicts && c.set->states[way] & SG_L2_DIRTY ? SG_L2_WRITTEN_OUT : 0);
		sg_l2_allocate(c.set, way, c.number, hash, 3 * SG_L2_VALID);
		sg_l2_fetch_half(tcc, ch, was, &c.filled[2 * way], time, kind);
	}
	c.set->stamps[way] = (uint8_t)(c.set->clock + tcc->write_age);
	done = c.filled[2 * way];
	sg_l2_answer(tcc, a, &all, 0, done > time ? done : time);
	time = sg_l2_next_turn(&t);
	sg_l2_answer(tcc, a, &all, 1, done > time ? done : time);
	a->last = all.last;
	a->sum = all.sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
	c.set->group = SG_L2_HALFWAY;
	c.set->half_way = (uint8_t)way;
	c.set->half_was = was;
}

static inline bool sg_l2_is_other_half(const struct sg_l2_chunk *c)
{
	return c->set->group == SG_L2_HALFWAY && c->at &&
	       c->set->tags[c->set->half_way] == c->number + 1;
}

static inline __attribute__((always_inline)) void sg_l2_read_other_half(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_l2_chunk c,
	struct sg_answers *a, struct sg_l2_kind kind)
{
	struct sg_l2_turns t = sg_l2_take_turns(ch, &q->r, tcc->read_16ths[2]);
	uint64_t time = sg_l2_next_turn(&t), *filled = &c.filled[2 * c.set->half_way + 1];
	uint8_t was = c.set->half_was;

	ch->plain_reads[2][!(was & SG_L2_MISSED)]++;
	if (was & SG_L2_MISSED)
		sg_l2_fetch_half(tcc, ch, was, filled, time, kind);
	a->sum = a->last = a->times[0] = (*filled > time ? *filled : time) + tcc->answer_after;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
	c.set->group = SG_L2_TOGETHER;
}

#endif
