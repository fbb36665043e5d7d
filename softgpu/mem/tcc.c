#include "softgpu/mem/tcc.h"

#include <stddef.h>
#include <string.h>

#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/ea.h"
#include "softgpu/mem/tcc_priv.h"

#define C(name) ch->c[SG_C_##name]

/* ---- lines ---- */

#define ANY_VALID (3 * SG_L2_VALID)
#define ANY_WHOLE (3 * SG_L2_WHOLE)
#define ANY_PART (3 * SG_L2_PART)

/* A line: where it stands. */
struct line {
	struct sg_l2_set *set;
	uint32_t way;
};

static struct sg_l2_rest *rest_of(const struct sg_channel *ch, struct line l)
{
	return &ch->rest[(size_t)(l.set - ch->sets) * SG_L2_WAYS + l.way];
}

static void add_bytes(struct sg_channel *ch, struct line l, uint32_t half, uint64_t bytes)
{
	uint8_t *state = &l.set->states[l.way], whole = (uint8_t)(SG_L2_WHOLE << half),
		part = (uint8_t)(SG_L2_PART << half);

	if (*state & whole)
		return;
	if (*state & part)
		bytes |= rest_of(ch, l)->bytes[half];
	if (bytes == ~0ull) {
		*state = (uint8_t)((*state | whole) & ~part);
	} else if (bytes) {
		*state |= part;
		rest_of(ch, l)->bytes[half] = bytes;
	}
}

static __attribute__((noinline)) uint64_t write_halves(struct sg_tcc *tcc, struct sg_channel *ch,
						       struct line l, uint8_t state, uint64_t time)
{
	uint64_t done = time, number = l.set->ways[l.way].tag - 1;
	const struct sg_l2_rest *rest = rest_of(ch, l);
	bool other = state & SG_L2_OTHER;

	for (uint32_t h = 0; h < tcc->n_halves; h++)
		if (state & (SG_L2_WHOLE | SG_L2_PART) << h)
			done = sg_ea_write(tcc, ch, number, time,
					   state & SG_L2_WHOLE << h ? ~0ull : rest->bytes[h],
					   other ? rest->route : SG_ROUTE_OWN,
					   other && rest->uncached);
	return done;
}

/* The line, of so many halves, is written to memory, and stays. */
static inline uint64_t write_line_back(struct sg_tcc *tcc, struct sg_channel *ch, struct line l,
				       uint64_t time, uint32_t n_halves)
{
	uint8_t state = l.set->states[l.way];
	uint32_t all = ((1u << n_halves) - 1) * SG_L2_WHOLE;

	l.set->states[l.way] = state & (ANY_VALID | SG_L2_OTHER);
	C(TCC_WRITEBACK)++;
	if (ch->taken && (state & (ANY_WHOLE | ANY_PART | SG_L2_OTHER)) == all)
		return sg_ea_write_own(tcc, ch, &l.set->ways[l.way].tag, time, n_halves);
	return write_halves(tcc, ch, l, state, time);
}

static __attribute__((noinline)) void evict_dirty(struct sg_tcc *tcc, struct sg_channel *ch,
						  struct line l, uint64_t time)
{
	write_line_back(tcc, ch, l, time, tcc->n_halves);
	C(TCC_NORMAL_WRITEBACK)++;
}

/* Returns the way of a line to be used anew. */
static inline __attribute__((always_inline)) uint32_t make_room(struct sg_tcc *tcc,
								struct sg_channel *ch,
								struct sg_l2_set *set,
								uint64_t time)
{
	uint32_t empty = sg_ways_equal(set->stamps, 0), victim;

	if (empty)
		return (uint32_t)__builtin_ctz(empty);
	victim = sg_ways_least(set->stamps);
	C(TCC_NORMAL_EVICT)++;
	if (set->states[victim] & SG_L2_DIRTY)
		evict_dirty(tcc, ch, (struct line){ set, victim }, time);
	return victim;
}

/*
 * A write has taken a line of a set that is more than half full: the oldest line that memory does not have goes
 * there now, and stays. So less is left to write at the end of a kernel.
 */
static void clean_oldest(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_set *set,
			 uint64_t time)
{
	if (!sg_ways_upper(set->states)) /* SG_L2_DIRTY */
		return;
	write_line_back(tcc, ch, (struct line){ set, sg_ways_least_of(set->stamps, set->states) },
			time, tcc->n_halves);
	C(TCC_NORMAL_WRITEBACK)++;
}

/*
 * The set of one of the request's lines. Their numbers differ in the lowest bits, which choose a set whatever upper bits
 * are folded in.
 */
static inline struct sg_l2_set *set_of(const struct sg_channel *ch, const struct sg_queued *q,
				       uint64_t number)
{
	return &ch->sets[q->set ^ (uint32_t)(number ^ q->number)];
}

static bool writes(const struct sg_request *r)
{
	return r->kind == SG_REQ_WRITE || r->kind == SG_REQ_ATOMIC;
}

/* Takes a way for a line of which nothing is there yet. */
static inline uint32_t new_line(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_set *set,
				uint64_t number, uint8_t hash, uint64_t time, bool write)
{
	uint32_t way = make_room(tcc, ch, set, time);

	sg_l2_allocate(set, way, number, hash, 0, time);
	if (write && tcc->clean_ways && set->clock > tcc->clean_ways)
		clean_oldest(tcc, ch, set, time);
	return way;
}

/* Fetches these halves. Returns when they are there. */
static uint64_t fetch_halves(struct sg_tcc *tcc, struct sg_channel *ch, struct line l,
			     uint32_t missing, bool scalar, uint64_t time)
{
	const struct sg_l2_rest *rest = rest_of(ch, l);
	bool other = l.set->states[l.way] & SG_L2_OTHER;
	/* both halves in one request, if the chip has such */
	uint32_t n = missing == 3 && tcc->hw->read_128 ? 2 : 1;
	uint64_t done = 0;

	for (uint32_t left = n == 2 ? 1 : missing; left; left &= left - 1) {
		uint64_t t = sg_ea_read(tcc, ch, l.set->ways[l.way].tag - 1, time,
					other ? rest->route : SG_ROUTE_OWN, n,
					other && rest->uncached, scalar);

		done = t > done ? t : done;
	}
	return done;
}

/* Fetches the halves that are not there. Returns whether any of the wanted ones were missing. */
static bool fill_line(struct sg_tcc *tcc, struct sg_channel *ch, struct line l, uint32_t wanted,
		      bool scalar, uint64_t time)
{
	struct sg_l2_way *way = &l.set->ways[l.way];
	uint32_t missing = tcc->whole_line & ~l.set->states[l.way];
	uint64_t done;

	if (!(wanted & missing))
		return false;
	done = fetch_halves(tcc, ch, l, missing, scalar, time) + tcc->fill;
	way->filled = done > way->filled ? done : way->filled;
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
static void forget_line(struct sg_l2_set *set, uint64_t number)
{
	uint32_t way = sg_l2_find(set, number, sg_l2_hash(number));

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
		forget_line(set_of(ch, q, number), number);
	if (r->kind == SG_REQ_ATOMIC)
		return sg_ea_atomic(tcc, ch, number, time, r->bytes, r->memory.route);
	return sg_ea_write(tcc, ch, number, time, r->bytes, r->memory.route, true);
}

static uint64_t serve_cached(struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q,
			     uint64_t time)
{
	const struct sg_request *r = &q->r;
	struct sg_l2_set *set = set_of(ch, q, q->number);
	uint8_t hash = sg_l2_hash(q->number);
	struct line l = { set, sg_l2_find(set, q->number, hash) };
	bool present = l.way < SG_L2_WAYS, hit = present;
	uint32_t half = half_of(tcc, r);
	uint64_t done = time;

	if (!present) {
		l.way = new_line(tcc, ch, set, q->number, hash, time, writes(r));
		if (r->memory.mtype == SG_MTYPE_UC || r->memory.route != SG_ROUTE_OWN) {
			set->states[l.way] = SG_L2_OTHER;
			rest_of(ch, l)->route = r->memory.route;
			rest_of(ch, l)->uncached = r->memory.mtype == SG_MTYPE_UC;
		}
	}
	set->stamps[l.way] = (uint8_t)(set->clock + (writes(r) ? 0 : tcc->write_age));
	if (r->kind != SG_REQ_WRITE) {
		hit = !fill_line(tcc, ch, l, halves_of(tcc, r), is_scalar(r), time) && present;
		done = set->ways[l.way].filled > time ? set->ways[l.way].filled : time;
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

/* Of the answers so far; apart from sg_answers, which the compiler would keep in memory. */
struct answered {
	uint64_t last, sum;
};

/* The k-th of a burst is done. */
static inline void answer_one(const struct sg_tcc *tcc, struct sg_answers *a, struct answered *all,
			      uint32_t k, uint64_t done)
{
	done += tcc->answer_after;
	a->times[k] = done;
	all->sum += done;
	all->last = done > all->last ? done : all->last;
}

static __attribute__((noinline)) void serve_others(struct sg_tcc *tcc, struct sg_channel *ch,
						   const struct sg_queued *q, struct sg_answers *a)
{
	struct answered all = { 0 };

	sg_ea_open(tcc, q->r.memory);
	for (uint32_t k = 0; k <= q->r.n_more; k++) {
		struct sg_queued one = one_of(tcc, q, k);
		uint64_t time = take_tags(ch, one.r.time, cost_of(tcc, &one.r));

		answer_one(tcc, a, &all, k,
			   is_uncached(tcc, &one.r) ? serve_uncached(tcc, ch, &one, time)
						    : serve_cached(tcc, ch, &one, time));
	}
	a->last = all.last;
	a->sum = all.sum;
}

/* ---- plain requests (sg_channel): the same, with what is most frequent inline ---- */

/* Kind, type of memory and route. */
static inline uint32_t sort_of(const struct sg_request *r)
{
	uint32_t sort;

	_Static_assert(offsetof(struct sg_request, slc) == offsetof(struct sg_request, kind) + 1 &&
			       offsetof(struct sg_request, memory) ==
				       offsetof(struct sg_request, kind) + 2 &&
			       offsetof(struct sg_memory_kind, route) == 1,
		       "one word");
	memcpy(&sort, (const char *)r + offsetof(struct sg_request, kind), sizeof(sort));
	return sort;
}

#define PLAIN(of_kind)                                                                             \
	sort_of(&(const struct sg_request){                                                        \
		.kind = (of_kind), .memory = { .mtype = SG_MTYPE_RW, .route = SG_ROUTE_OWN } })

/* When the requests of a burst have the tags, one after the other. Others may use them in between. 1/16 cycles. */
struct turns {
	uint64_t arrival, turn;
	uint64_t waited; /* until then one of them did; 0: none */
	uint32_t step, cost;
};

/* For a burst whose requests take the tags for so long each. */
static inline struct turns take_turns(struct sg_channel *ch, const struct sg_request *r,
				      uint32_t cost)
{
	uint64_t now = r->time << 4, turn = now > ch->tag_free ? now : ch->tag_free;

	ch->tag_free = turn + (r->n_more + 1u) * cost;
	return (struct turns){ .arrival = now, .turn = turn, .step = r->step, .cost = cost };
}

static inline uint64_t next_turn(struct turns *t)
{
	uint64_t when = t->arrival;

	if (t->turn > when)
		t->waited = when = t->turn;
	t->arrival += t->step;
	t->turn += t->cost;
	return when >> 4;
}

/* Of a chip: what the compiler makes the functions below for. */
struct l2_kind {
	uint32_t n_halves; /* of a line */
	bool direct;       /* as in struct sg_tcc */
};

static inline __attribute__((always_inline)) uint64_t read_plain(
	struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_set *set, uint64_t number,
	uint8_t hash, uint32_t half, uint32_t lines, uint64_t time, struct l2_kind kind)
{
	uint32_t way = sg_l2_find(set, number, hash);
	uint64_t filled;

	if (way < SG_L2_WAYS) {
		bool hit = !fill_line(tcc, ch, (struct line){ set, way },
				      lines == 2 ? 3 : 1u << half, false, time);

		ch->plain_reads[lines][hit]++;
		filled = set->ways[way].filled;
		set->stamps[way] = (uint8_t)(set->clock + tcc->write_age);
		return filled > time ? filled : time;
	}
	ch->plain_reads[lines][false]++;
	way = make_room(tcc, ch, set, time);
	sg_l2_allocate(set, way, number, hash, (uint8_t)((1u << kind.n_halves) - 1), time);
	set->stamps[way] = (uint8_t)(set->clock + tcc->write_age);
	filled = kind.direct ? sg_ea_read_own(tcc, ch, time, kind.n_halves)
			     : sg_ea_read_at_once(tcc, ch, number, time, kind.n_halves, false);
	filled += tcc->fill;
	set->ways[way].filled = filled;
	return filled;
}

static inline __attribute__((always_inline)) void read_plain_each(
	struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q, struct sg_answers *a,
	uint32_t lines, struct l2_kind kind)
{
	uint32_t half_mask = kind.n_halves - 1, n = q->r.n_more + 1u;
	uint32_t at = lines == kind.n_halves ? 0 : (uint32_t)(q->r.addr >> 6) & half_mask;
	struct turns t = take_turns(ch, &q->r, tcc->read_16ths[lines]);
	struct answered all = { 0 };
	uint8_t hash = sg_l2_hash(q->number);

	for (uint32_t k = 0; k < n; k++, at += lines) {
		uint64_t number = q->number + (at >> half_mask);

		answer_one(tcc, a, &all, k,
			   read_plain(tcc, ch, set_of(ch, q, number), number, hash, at & half_mask,
				      lines, next_turn(&t), kind));
	}
	a->last = all.last;
	a->sum = all.sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
}

/* Writes halves of a line, a bit each. */
static inline __attribute__((always_inline)) void write_plain(struct sg_tcc *tcc,
							      struct sg_channel *ch,
							      struct sg_l2_set *set,
							      uint64_t number, uint8_t hash,
							      uint32_t halves, uint64_t time)
{
	uint32_t way = sg_l2_find(set, number, hash);
	bool present = way < SG_L2_WAYS;

	ch->plain_writes[present]++;
	ch->plain_writes[true] += halves == 3;
	if (!present)
		way = new_line(tcc, ch, set, number, hash, time, true);
	set->states[way] = (uint8_t)((set->states[way] & ~(SG_L2_PART * halves)) | SG_L2_DIRTY |
				     (SG_L2_WHOLE | SG_L2_VALID) * halves);
	set->stamps[way] = set->clock;
}

static inline __attribute__((always_inline)) void write_plain_each(struct sg_tcc *tcc,
								   struct sg_channel *ch,
								   const struct sg_queued *q,
								   struct sg_answers *a,
								   struct l2_kind kind)
{
	uint32_t half_mask = kind.n_halves - 1, n = q->r.n_more + 1u;
	uint32_t half = (uint32_t)(q->r.addr >> 6) & half_mask;
	struct turns t = take_turns(ch, &q->r, tcc->write_16ths);
	uint64_t sum = 0;
	uint64_t number = q->number;
	uint8_t hash = sg_l2_hash(number);

	for (uint32_t k = 0; k < n; half = 0, number++) {
		bool both = half < half_mask && k + 1 < n;
		uint64_t time = next_turn(&t);

		write_plain(tcc, ch, set_of(ch, q, number), number, hash, both ? 3 : 1u << half,
			    time);
		sum += a->times[k++] = time + tcc->answer_after;
		if (both)
			sum += a->times[k++] = next_turn(&t) + tcc->answer_after;
	}
	a->last = a->times[n - 1]; /* turns are in order, and nothing is waited for */
	a->sum = sum;
	sg_busy_add(&ch->ib_stall, q->r.time, t.waited >> 4);
}

/* ---- requests in their order ---- */

static inline __attribute__((always_inline)) void serve(struct sg_tcc *tcc, struct sg_channel *ch,
							const struct sg_queued *q,
							struct l2_kind kind)
{
	struct sg_answers a;
	const struct sg_request *r = &q->r;
	uint32_t sort = sort_of(r);

	if (sort == PLAIN(SG_REQ_WRITE) && r->bytes == ~0ull)
		write_plain_each(tcc, ch, q, &a, kind);
	else if (sort == PLAIN(SG_REQ_READ) && r->lines == kind.n_halves)
		read_plain_each(tcc, ch, q, &a, kind.n_halves, kind);
	else if (sort == PLAIN(SG_REQ_READ))
		read_plain_each(tcc, ch, q, &a, r->lines, kind);
	else
		serve_others(tcc, ch, q, &a);
	sg_busy_add(&ch->busy, r->time, a.last - tcc->response);
	tcc->answer(tcc->ctx, r, &a);
}

/* ---- all that arrives in a window ---- */

static inline __attribute__((always_inline)) void serve_channel(struct sg_tcc *tcc,
								struct sg_channel *ch,
								uint64_t from, uint32_t window,
								struct l2_kind kind)
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

				serve(tcc, ch, q, kind);
				end = q->next;
			}
		}
	/* the last answer of a channel ends the time that it is busy */
	if (ch->busy.until + tcc->response > tcc->last_answer && ch->busy.until)
		tcc->last_answer = ch->busy.until + tcc->response;
	if (n_later)
		sg_tcc_keep_later(ch, from, window);
	else
		ch->n_inbox = 0;
}

static inline __attribute__((always_inline)) void serve_channels(struct sg_tcc *tcc, uint64_t from,
								 uint32_t window,
								 struct l2_kind kind)
{
	for (uint32_t k = 0, n = sg_hw_n_channels(tcc->hw); k < n; k++)
		if (tcc->channels[k].n_inbox)
			serve_channel(tcc, &tcc->channels[k], from, window, kind);
}

void sg_tcc_serve(struct sg_tcc *tcc, uint64_t from, uint32_t window)
{
	if (!tcc->direct)
		serve_channels(tcc, from, window, (struct l2_kind){ 2, false });
	else if (tcc->n_halves == 2)
		serve_channels(tcc, from, window, (struct l2_kind){ 2, true });
	else
		serve_channels(tcc, from, window, (struct l2_kind){ 1, true });
}

/*
 * The lines go as fast as memory takes them, so that none of them waits long enough to be out of credits. Returns when the
 * last one is there.
 */
static inline __attribute__((always_inline)) uint64_t write_channel_back(struct sg_tcc *tcc,
									 struct sg_channel *ch,
									 uint64_t time,
									 uint32_t n_halves)
{
	struct sg_l2_set *end = ch->sets + tcc->n_sets;
	uint64_t last = time, waited = 0, n = 0;

	for (struct sg_l2_set *set = ch->sets; set < end; set++)
		for (uint32_t dirty = sg_ways_upper(set->states); dirty; dirty &= dirty - 1, n++) {
			struct line l = { set, (uint32_t)__builtin_ctz(dirty) };
			uint64_t free_at = ch->taken ? *ch->taken >> 8
						     : sg_hbm_free_at(&tcc->hbm, ch->index,
								      set->ways[l.way].tag - 1);
			uint64_t now = free_at > time ? free_at : time;
			uint64_t done = write_line_back(tcc, ch, l, now, n_halves);

			last = done > last ? done : last;
			waited = free_at > waited ? free_at : waited;
		}
	C(TCC_ALL_TC_OP_WB_WRITEBACK) += n;
	if (tcc->hw->release_stalls)
		sg_busy_add(&ch->write_stall, time, waited);
	return last;
}

uint64_t sg_tcc_write_back(struct sg_tcc *tcc, uint64_t time)
{
	uint64_t last = time;

	for (uint32_t k = 0, n = sg_hw_n_channels(tcc->hw); k < n; k++) {
		struct sg_channel *ch = &tcc->channels[k];
		uint64_t done = !ch->touched         ? time
				: tcc->n_halves == 2 ? write_channel_back(tcc, ch, time, 2)
						     : write_channel_back(tcc, ch, time, 1);

		last = done > last ? done : last;
	}
	return last;
}
