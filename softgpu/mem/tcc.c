#include "softgpu/mem/tcc.h"

#include <stddef.h>
#include <string.h>

#include "softgpu/mem/tcc_chunk.h"

/* ---- lines ---- */

static void add_bytes(struct sg_channel *ch, struct sg_l2_line l, uint32_t half, uint64_t bytes)
{
	uint8_t *state = &l.set->states[l.way], whole = (uint8_t)(SG_L2_WHOLE << half),
		part = (uint8_t)(SG_L2_PART << half);

	if (*state & whole)
		return;
	if (*state & part)
		bytes |= sg_l2_rest_of(ch, l)->bytes[half];
	if (bytes == ~0ull) {
		*state = (uint8_t)((*state | whole) & ~part);
	} else if (bytes) {
		*state |= part;
		sg_l2_rest_of(ch, l)->bytes[half] = bytes;
	}
}

uint64_t sg_tcc_write_part(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number,
			   const struct sg_l2_rest *rest, uint8_t state, uint64_t time)
{
	uint64_t done = time;
	bool other = state & SG_L2_OTHER;

	for (uint32_t h = 0; h < tcc->n_halves; h++)
		if (state & (SG_L2_WHOLE | SG_L2_PART) << h)
			done = sg_ea_write(tcc, ch, number, time,
					   state & SG_L2_WHOLE << h ? ~0ull : rest->bytes[h],
					   other ? rest->route : SG_ROUTE_OWN,
					   other && rest->uncached);
	return done;
}

static __attribute__((noinline)) void evict_dirty(struct sg_tcc *tcc, struct sg_channel *ch,
						  struct sg_l2_line l, uint64_t time)
{
	sg_l2_write_line_back(tcc, ch, l, time, tcc->n_halves);
	C(TCC_NORMAL_WRITEBACK)++;
}

/* Returns the way of a line to be used again. */
static inline uint32_t make_room(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_line l,
				 uint64_t time)
{
	bool evicts;

	l.way = sg_l2_choose_way(l.set, &evicts);
	if (!evicts)
		return l.way;
	C(TCC_NORMAL_EVICT)++;
	if (l.set->states[l.way] & SG_L2_DIRTY)
		evict_dirty(tcc, ch, l, time);
	return l.way;
}

/*
 * A write has taken a line of a set that is more than half full: the oldest line that memory does not have goes
 * there now, and stays. So less is left to write at the end of a kernel.
 */
static void clean_oldest(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_line l,
			 uint64_t time)
{
	if (!sg_ways_upper(l.set->states)) /* SG_L2_DIRTY */
		return;
	l.way = sg_ways_least_of(l.set->stamps, l.set->states);
	sg_l2_write_line_back(tcc, ch, l, time, tcc->n_halves);
	C(TCC_NORMAL_WRITEBACK)++;
}

/*
 * The set of one of the request's lines. Their numbers differ in the lowest bits, which choose a set whatever upper bits
 * are folded in. The way is not known yet.
 */
static inline struct sg_l2_line set_of(const struct sg_channel *ch, const struct sg_queued *q,
				       uint64_t number)
{
	uint32_t index = q->set ^ (uint32_t)(number ^ q->number);

	return (struct sg_l2_line){ &ch->sets[index], index, SG_L2_WAYS };
}

/* The request is not for a whole chunk. */
static inline void set_apart(const struct sg_tcc *tcc, struct sg_channel *ch,
			     const struct sg_queued *q)
{
	struct sg_l2_set *first = &ch->sets[q->set & ~(uint32_t)tcc->in_channel];

	if (first->group != SG_L2_APART)
		sg_tcc_set_apart(tcc, first);
}

/* Plain requests: those of the chunk's last line may be the second part of a whole one. */
static inline void rejoin(const struct sg_tcc *tcc, struct sg_channel *ch,
			  const struct sg_queued *q, uint32_t lines)
{
	uint32_t in_chunk = (uint32_t)tcc->in_channel;
	struct sg_l2_set *first = &ch->sets[q->set & ~in_chunk];
	uint64_t end = q->r.addr + 64 * lines;

	if (!(end & (SG_CHUNK - 1)) && first->clock == first[in_chunk].clock)
		sg_tcc_rejoin(tcc, first);
}

static bool writes(const struct sg_request *r)
{
	return r->kind == SG_REQ_WRITE || r->kind == SG_REQ_ATOMIC;
}

/* Takes a way for a line of which nothing is there yet. */
static inline uint32_t new_line(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_line l,
				uint64_t number, uint8_t hash, uint64_t time, bool write)
{
	l.way = make_room(tcc, ch, l, time);
	sg_l2_allocate(l.set, l.way, number, hash, 0);
	*sg_l2_filled_of(tcc, ch, l) = time;
	if (write && tcc->clean_ways && l.set->clock > tcc->clean_ways)
		clean_oldest(tcc, ch, l, time);
	return l.way;
}

/* Fetches these halves. Returns when they are there. */
static uint64_t fetch_halves(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_line l,
			     uint32_t missing, bool scalar, uint64_t time)
{
	const struct sg_l2_rest *rest = sg_l2_rest_of(ch, l);
	bool other = l.set->states[l.way] & SG_L2_OTHER;
	/* both halves in one request, if the chip has such */
	uint32_t n = missing == 3 && tcc->hw->read_128 ? 2 : 1;
	uint64_t done = 0;

	for (uint32_t left = n == 2 ? 1 : missing; left; left &= left - 1) {
		uint64_t t = sg_ea_read(tcc, ch, l.set->tags[l.way] - 1, time,
					other ? rest->route : SG_ROUTE_OWN, n,
					other && rest->uncached, scalar);

		done = t > done ? t : done;
	}
	return done;
}

/* Fetches the halves that are not there. Returns whether any of the wanted ones were missing. */
static bool fill_line(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_line l,
		      uint32_t wanted, bool scalar, uint64_t time)
{
	uint32_t missing = tcc->whole_line & ~l.set->states[l.way];
	uint64_t done, *filled = sg_l2_filled_of(tcc, ch, l);

	if (!(wanted & missing))
		return false;
	done = fetch_halves(tcc, ch, l, missing, scalar, time) + tcc->fill;
	*filled = done > *filled ? done : *filled;
	l.set->states[l.way] |= (uint8_t)missing;
	return true;
}

static uint32_t half_of(const struct sg_tcc *tcc, const struct sg_request *r)
{
	return (uint32_t)(r->addr >> 6) & tcc->half_mask;
}

/* The halves that a read wants. */
static uint32_t halves_of(const struct sg_tcc *tcc, const struct sg_request *r)
{
	return r->lines == 2 ? 3 : 1u << half_of(tcc, r);
}

/* ---- requests ---- */

static bool is_scalar(const struct sg_request *r)
{
	return r->kind == SG_REQ_SCALAR || r->kind == SG_REQ_INST;
}

/* Goes to memory whatever L2 has. Up to MI200, scalar and instruction caches' requests do not: kernel arguments,
 * which are in fine-grained memory of the host, are read once (recorded; so is that they are not from MI300 on). */
static bool is_uncached(const struct sg_tcc *tcc, const struct sg_request *r)
{
	if (is_scalar(r) && tcc->hw->scalar_cached)
		return false;
	return r->memory.mtype == SG_MTYPE_UC || (r->memory.mtype == SG_MTYPE_CC && writes(r));
}

/* What L2 has of the line is not what memory will have. */
static void forget_line(const struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q)
{
	struct sg_l2_set *set = set_of(ch, q, q->number).set;
	uint32_t way;

	set_apart(tcc, ch, q);
	way = sg_l2_find(set, q->number, sg_l2_hash(q->number));
	if (way < SG_L2_WAYS)
		sg_l2_forget(set, way);
}

static uint64_t serve_uncached(struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q,
			       uint64_t time)
{
	const struct sg_request *r = &q->r;
	uint64_t done = time, number = q->number;

	sg_tcc_count(tcc, ch, r, false, 1);
	C(TCC_BYPASS_REQ)++;
	if (!writes(r)) {
		uint32_t n = r->lines == 2 && tcc->hw->read_128 ? 2 : 1;

		for (unsigned k = 0; k < r->lines; k += n)
			done = sg_ea_read(tcc, ch, number, time, r->memory.route, n, true,
					  is_scalar(r));
		return done;
	}
	C(TCC_WRITEBACK)++;
	if (r->memory.mtype == SG_MTYPE_CC)
		forget_line(tcc, ch, q);
	if (r->kind == SG_REQ_ATOMIC)
		return sg_ea_atomic(tcc, ch, number, time, r->bytes, r->memory.route);
	return sg_ea_write(tcc, ch, number, time, r->bytes, r->memory.route, true);
}

static uint64_t serve_cached(struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q,
			     uint64_t time)
{
	const struct sg_request *r = &q->r;
	struct sg_l2_line l = set_of(ch, q, q->number);
	struct sg_l2_set *set = l.set;
	uint8_t hash = sg_l2_hash(q->number);
	bool present, hit;
	uint32_t half = half_of(tcc, r);
	uint64_t done = time;

	set_apart(tcc, ch, q);
	l.way = sg_l2_find(set, q->number, hash);
	present = hit = l.way < SG_L2_WAYS;
	if (!present) {
		l.way = new_line(tcc, ch, l, q->number, hash, time, writes(r));
		if (r->memory.mtype == SG_MTYPE_UC || r->memory.route != SG_ROUTE_OWN) {
			set->states[l.way] = SG_L2_OTHER;
			sg_l2_rest_of(ch, l)->route = r->memory.route;
			sg_l2_rest_of(ch, l)->uncached = r->memory.mtype == SG_MTYPE_UC;
		}
	}
	set->stamps[l.way] = (uint8_t)(set->clock + (writes(r) ? 0 : tcc->write_age));
	if (r->kind != SG_REQ_WRITE) {
		hit = !fill_line(tcc, ch, l, halves_of(tcc, r), is_scalar(r), time) && present;
		done = *sg_l2_filled_of(tcc, ch, l) > time ? *sg_l2_filled_of(tcc, ch, l) : time;
	}
	if (writes(r)) {
		set->states[l.way] |= SG_L2_DIRTY;
		add_bytes(ch, l, half, r->bytes);
	}
	/* what is written whole need not be fetched */
	if (r->kind == SG_REQ_WRITE && set->states[l.way] & SG_L2_WHOLE << half)
		set->states[l.way] |= (uint8_t)(SG_L2_VALID << half);
	sg_tcc_count(tcc, ch, r, hit, 1);
	return done;
}

/* Takes the tags for so many 1/16 cycles. Returns when. */
static uint64_t take_tags(struct sg_channel *ch, uint64_t time, uint32_t cost)
{
	uint64_t now = time << 4, free = ch->tag_free;

	if (now >= free) {
		ch->tag_free = now + cost;
		return time;
	}
	ch->tag_free = free + cost;
	free >>= 4;
	sg_busy_add(&ch->ib_stall, time, free);
	return free;
}

static uint32_t cost_of(const struct sg_tcc *tcc, const struct sg_request *r)
{
	return r->kind == SG_REQ_WRITE    ? tcc->write_16ths
	       : r->kind == SG_REQ_ATOMIC ? tcc->hw->l2_atomic_16ths
					  : tcc->read_16ths[r->lines];
}

/* The k-th of a burst. */
static struct sg_queued one_of(const struct sg_tcc *tcc, const struct sg_queued *q, uint32_t k)
{
	struct sg_queued one = *q;

	one.r.time = sg_request_time(&q->r, k);
	one.r.addr += k * q->r.lines * 64;
	one.number += (one.r.addr >> tcc->line_shift) - (q->r.addr >> tcc->line_shift);
	one.set ^= (uint32_t)(one.number ^ q->number);
	return one;
}

static __attribute__((noinline)) void serve_others(struct sg_tcc *tcc, struct sg_channel *ch,
						   const struct sg_queued *q, struct sg_answers *a)
{
	struct sg_l2_answered all = { 0 };

	sg_ea_open(tcc, q->r.memory);
	for (uint32_t k = 0; k <= q->r.n_more; k++) {
		struct sg_queued one = one_of(tcc, q, k);
		uint64_t time = take_tags(ch, one.r.time, cost_of(tcc, &one.r));

		sg_l2_answer(tcc, a, &all, k,
			     is_uncached(tcc, &one.r) ? serve_uncached(tcc, ch, &one, time)
						      : serve_cached(tcc, ch, &one, time));
	}
	a->last = all.last;
	a->sum = all.sum;
}

/* ---- plain requests (sg_channel): the same, with what is most frequent inline ---- */

static inline __attribute__((always_inline)) uint64_t read_plain(
	struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_line l, uint64_t number,
	uint8_t hash, uint32_t half, uint32_t lines, uint64_t time, struct sg_l2_kind kind)
{
	uint64_t done;

	l.way = sg_l2_find(l.set, number, hash);
	if (l.way < SG_L2_WAYS) {
		bool hit = !fill_line(tcc, ch, l, lines == 2 ? 3 : 1u << half, false, time);

		ch->plain_reads[lines][hit]++;
		done = *sg_l2_filled_of(tcc, ch, l);
		l.set->stamps[l.way] = (uint8_t)(l.set->clock + tcc->write_age);
		return done > time ? done : time;
	}
	ch->plain_reads[lines][false]++;
	l.way = make_room(tcc, ch, l, time);
	sg_l2_allocate(l.set, l.way, number, hash, (uint8_t)((1u << kind.n_halves) - 1));
	l.set->stamps[l.way] = (uint8_t)(l.set->clock + tcc->write_age);
	done = kind.direct ? sg_ea_read_own(tcc, ch, time, kind.n_halves)
			   : sg_ea_read_at_once(tcc, ch, number, time, kind.n_halves, false);
	done += tcc->fill;
	*sg_l2_filled_of(tcc, ch, l) = done;
	return done;
}

static inline __attribute__((always_inline)) void read_plain_each(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_answers *a,
	uint32_t lines, struct sg_l2_kind kind)
{
	uint32_t half_mask = kind.n_halves - 1, n = q->r.n_more + 1u;
	uint32_t at = lines == kind.n_halves ? 0 : (uint32_t)(q->r.addr >> 6) & half_mask;
	struct sg_l2_turns t = sg_l2_take_turns(ch, &q->r, tcc->read_16ths[lines]);
	struct sg_l2_answered all = { 0 };
	uint8_t hash = sg_l2_hash(q->number);

	set_apart(tcc, ch, q);
	for (uint32_t k = 0; k < n; k++, at += lines) {
		uint64_t number = q->number + (at >> half_mask);

		sg_l2_answer(tcc, a, &all, k,
			     read_plain(tcc, ch, set_of(ch, q, number), number, hash,
					at & half_mask, lines, sg_l2_next_turn(&t), kind));
	}
	a->last = all.last;
	a->sum = all.sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
	rejoin(tcc, ch, q, n * lines);
}

/* Writes halves of a line, a bit each. */
static inline __attribute__((always_inline)) void write_plain(struct sg_tcc *tcc,
							      struct sg_channel *ch,
							      struct sg_l2_line l, uint64_t number,
							      uint8_t hash, uint32_t halves,
							      uint64_t time)
{
	bool present;

	l.way = sg_l2_find(l.set, number, hash);
	present = l.way < SG_L2_WAYS;
	ch->plain_writes[present]++;
	ch->plain_writes[true] += halves == 3;
	if (!present)
		l.way = new_line(tcc, ch, l, number, hash, time, true);
	l.set->states[l.way] = (uint8_t)((l.set->states[l.way] & ~(SG_L2_PART * halves)) |
					 SG_L2_DIRTY | (SG_L2_WHOLE | SG_L2_VALID) * halves);
	l.set->stamps[l.way] = l.set->clock;
}

static inline __attribute__((always_inline)) void write_plain_each(struct sg_tcc *tcc,
								   struct sg_channel *ch,
								   const struct sg_queued *q,
								   struct sg_answers *a,
								   struct sg_l2_kind kind)
{
	uint32_t half_mask = kind.n_halves - 1, n = q->r.n_more + 1u;
	uint32_t half = (uint32_t)(q->r.addr >> 6) & half_mask;
	struct sg_l2_turns t = sg_l2_take_turns(ch, &q->r, tcc->write_16ths);
	uint64_t sum = 0;
	uint64_t number = q->number;
	uint8_t hash = sg_l2_hash(number);

	set_apart(tcc, ch, q);
	for (uint32_t k = 0; k < n; half = 0, number++) {
		bool both = half < half_mask && k + 1 < n;
		uint64_t time = sg_l2_next_turn(&t);

		write_plain(tcc, ch, set_of(ch, q, number), number, hash, both ? 3 : 1u << half,
			    time);
		sum += a->times[k++] = time + tcc->answer_after;
		if (both)
			sum += a->times[k++] = sg_l2_next_turn(&t) + tcc->answer_after;
	}
	a->last = a->times[n - 1]; /* turns are in order, and nothing is waited for */
	a->sum = sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
	rejoin(tcc, ch, q, n);
}

/* ---- requests in their order ---- */

/* To the sender of a burst of n. */
static inline __attribute__((always_inline)) void answer(struct sg_tcc *tcc, struct sg_channel *ch,
							 const struct sg_request *r,
							 const struct sg_answers *a, uint32_t n)
{
	sg_busy_add(&ch->busy, r->time, a->last - tcc->response);
	if (r->source != SG_SOURCE_NONE) {
		tcc->answer(tcc->ctx, r, a);
		return;
	}
	*(uint64_t *)r->owner += sg_request_latency(r, a, n, tcc->hw->request) *
				 (r->kind == SG_REQ_READ ? tcc->reads_as[r->lines] : 1);
	tcc->n_unawaited += n;
	tcc->last_unawaited = a->last > tcc->last_unawaited ? a->last : tcc->last_unawaited;
}

/* MI200: a CU that has been idle sends the first two requests for 64 bytes at once, and later ones as one for 128. */
static inline __attribute__((always_inline)) bool has_parts(struct sg_l2_kind kind)
{
	return kind.n_halves == 2 && kind.direct;
}

/* A burst of all of a chunk, or of one of its two parts. False: not one that can be served at once. */
static inline __attribute__((always_inline)) bool serve_chunk(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q,
	struct sg_l2_set *group, struct sg_answers *a, struct sg_l2_kind kind)
{
	const struct sg_request *r = &q->r;
	struct sg_l2_chunk c = sg_l2_chunk_of(ch, q, group, kind);

	if (r->shape == SG_BURST_READS_REST) {
		if (!has_parts(kind) || !sg_l2_is_other_half(&c))
			return false;
		sg_l2_read_other_half(tcc, ch, q, c, a, kind);
		answer(tcc, ch, r, a, 1);
		return true;
	}
	if (c.set->group != SG_L2_TOGETHER)
		return false;
	if (r->shape == SG_BURST_WRITES_CHUNK) {
		sg_l2_write_chunk(tcc, ch, q, c, a, kind);
		answer(tcc, ch, r, a, SG_MAX_BURST);
	} else if (r->shape == SG_BURST_READS_CHUNK && r->lines == kind.n_halves) {
		sg_l2_read_chunk(tcc, ch, q, c, a, kind);
		answer(tcc, ch, r, a, SG_MAX_BURST / kind.n_halves);
	} else if (r->shape == SG_BURST_READS_HALVES && has_parts(kind)) {
		sg_l2_read_half(tcc, ch, q, c, a, kind);
		answer(tcc, ch, r, a, 2);
	} else {
		return false;
	}
	return true;
}

/* group: the first set of its chunk. */
static inline __attribute__((always_inline)) void serve(struct sg_tcc *tcc, struct sg_channel *ch,
							const struct sg_queued *q,
							struct sg_l2_set *group,
							struct sg_l2_kind kind)
{
	const struct sg_request *r = &q->r;
	struct sg_answers a;

	if (r->shape >= SG_BURST_READS_CHUNK && serve_chunk(tcc, ch, q, group, &a, kind))
		return;
	if (r->shape == SG_BURST_OTHER)
		serve_others(tcc, ch, q, &a);
	else if (r->kind == SG_REQ_WRITE)
		write_plain_each(tcc, ch, q, &a, kind);
	else if (r->lines == kind.n_halves)
		read_plain_each(tcc, ch, q, &a, kind.n_halves, kind);
	else
		read_plain_each(tcc, ch, q, &a, r->lines, kind);
	answer(tcc, ch, r, &a, r->n_more + 1u);
}

/* ---- all that arrives in a window ---- */

/* The last answer of a channel ends the time that it is busy. */
static inline void note_last_answer(struct sg_tcc *tcc, const struct sg_channel *ch)
{
	if (ch->busy.until + tcc->response > tcc->last_answer && ch->busy.until)
		tcc->last_answer = ch->busy.until + tcc->response;
}

static inline __attribute__((always_inline)) void serve_channel(struct sg_tcc *tcc,
								struct sg_channel *ch,
								uint64_t from, uint32_t window,
								struct sg_l2_kind kind)
{
	uint64_t times[SG_MAX_WINDOW / 64] = { 0 };
	uint32_t n_later = sg_tcc_sort_inbox(tcc, ch, from, window, times);
	struct sg_queued *inbox = ch->inbox;

	ch->touched = true;
	for (uint32_t n = 0; n < SG_MAX_WINDOW / 64; n++)
		for (uint64_t left = times[n]; left; left &= left - 1) {
			uint32_t *first = &tcc->first[64 * n + (uint32_t)__builtin_ctzll(left)];
			uint32_t end = *first;

			for (*first = 0; end;) {
				struct sg_queued *q = (struct sg_queued *)((char *)inbox + end) - 1;
				uint32_t in_chunk = SG_MAX_BURST / kind.n_halves - 1;

				serve(tcc, ch, q, &ch->sets[q->set & ~in_chunk], kind);
				end = q->next;
			}
		}
	note_last_answer(tcc, ch);
	tcc->is_mixed |= n_later != 0;
	if (n_later)
		sg_tcc_keep_later(ch, from, window);
	else
		ch->n_inbox = 0;
}

static inline __attribute__((always_inline)) void serve_channels(struct sg_tcc *tcc, uint64_t from,
								 uint32_t window,
								 struct sg_l2_kind kind)
{
	tcc->is_mixed = false;
	for (uint32_t k = 0, n = sg_hw_n_channels(tcc->hw); k < n; k++)
		if (tcc->channels[k].n_inbox)
			serve_channel(tcc, &tcc->channels[k], from, window, kind);
}

/* ---- spreads ---- */

/* One of its bursts. */
struct part {
	struct sg_channel *ch;
	struct sg_l2_set *group; /* of its chunk */
	uint64_t addr, number;
	void *owner;
	uint32_t set;
	uint16_t source;
};

/* Finds them all first: the host fetches their sets meanwhile, and the spread's owner may forget it when it is answered. */
static inline __attribute__((always_inline)) void serve_spread(struct sg_tcc *tcc,
							       const struct sg_spread *s,
							       struct sg_l2_kind kind)
{
	uint32_t n = s->n + 1u, in_chunk = SG_MAX_BURST / kind.n_halves - 1;
	struct part parts[SG_MAX_SPREAD];
	struct sg_queued q;

	for (uint32_t k = 0; k < n; k++) {
		struct sg_spread_part to = sg_spread_part(s, k);
		struct part *part = &parts[k];

		part->ch = sg_tcc_channel(tcc, to.xcc, to.addr);
		part->number = sg_tcc_number(tcc, to.addr);
		part->set = sg_tcc_set_index(tcc, part->number);
		part->group = &part->ch->sets[part->set & ~in_chunk];
		__builtin_prefetch(part->group);
		part->addr = to.addr;
		part->owner = to.owner;
		part->source = to.source;
	}
	q.r = s->r;
	for (const struct part *part = parts; part < parts + n; part++) {
		q.r.addr = part->addr;
		q.r.owner = part->owner;
		q.r.source = part->source;
		q.number = part->number;
		q.set = part->set;
		part->ch->touched = true;
		serve(tcc, part->ch, &q, part->group, kind);
	}
}

/* By time, as they were sent. Those that arrive later stay. */
static inline __attribute__((always_inline)) void serve_spreads(struct sg_tcc *tcc, uint64_t from,
								uint32_t window,
								struct sg_l2_kind kind)
{
	uint32_t n_kept = 0;

	for (uint32_t k = tcc->n_spreads; k; k--) {
		uint64_t time = tcc->spreads[k - 1].r.time - from;

		if (time >= window)
			continue;
		tcc->spreads[k - 1].next = tcc->first[time];
		tcc->first[time] = k;
	}
	for (uint32_t time = 0; time < window; time++)
		for (uint32_t next = tcc->first[time]; next; tcc->first[time] = 0) {
			const struct sg_spread *s = &tcc->spreads[next - 1];

			next = s->next;
			serve_spread(tcc, s, kind);
		}
	for (uint32_t k = 0; k < tcc->n_spreads; k++)
		if (tcc->spreads[k].r.time - from >= window)
			tcc->spreads[n_kept++] = tcc->spreads[k];
	tcc->n_spreads = n_kept;
	for (uint32_t k = 0, n = sg_hw_n_channels(tcc->hw); k < n; k++)
		note_last_answer(tcc, &tcc->channels[k]);
}

static inline __attribute__((always_inline)) void serve_window(struct sg_tcc *tcc, uint64_t from,
							       uint32_t window,
							       struct sg_l2_kind kind)
{
	if (tcc->is_mixed)
		serve_channels(tcc, from, window, kind);
	else if (tcc->n_spreads)
		serve_spreads(tcc, from, window, kind);
}

void sg_tcc_serve(struct sg_tcc *tcc, uint64_t from, uint32_t window)
{
	if (!tcc->direct)
		serve_window(tcc, from, window, (struct sg_l2_kind){ 2, false });
	else if (tcc->n_halves == 2)
		serve_window(tcc, from, window, (struct sg_l2_kind){ 2, true });
	else
		serve_window(tcc, from, window, (struct sg_l2_kind){ 1, true });
}
