#include "softgpu/mem/tcc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/ea.h"

#define C(name) ch->c[SG_C_##name]

static void set_costs(struct sg_tcc *tcc)
{
	const struct sg_hw *hw = tcc->hw;

	for (uint32_t lines = 0; lines < 4; lines++) {
		uint32_t read =
			lines * 64 < hw->l2_line ? hw->l2_read_16ths / 2 + 4 : hw->l2_read_16ths;
		const uint32_t costs[] = {
			[SG_REQ_READ] = read,
			[SG_REQ_WRITE] = hw->l2_write_16ths,
			[SG_REQ_ATOMIC] = hw->l2_atomic_16ths,
			[SG_REQ_SCALAR] = read,
			[SG_REQ_INST] = read,
		};

		for (uint32_t kind = 0; kind <= SG_REQ_INST; kind++)
			tcc->tag_16ths[kind << 2 | lines] = costs[kind];
	}
}

bool sg_tcc_init(struct sg_tcc *tcc, const struct sg_hw *hw)
{
	uint32_t n_lines = hw->l2_bytes / hw->n_channels / hw->l2_line;

	memset(tcc, 0, sizeof(*tcc));
	tcc->hw = hw;
	tcc->n_sets = n_lines / hw->l2_ways;
	assert(hw->l2_ways == SG_L2_WAYS && tcc->n_sets && !(tcc->n_sets & (tcc->n_sets - 1)));
	tcc->line_shift = (uint32_t)__builtin_ctz(hw->l2_line);
	tcc->n_halves = hw->l2_line / 64;
	tcc->whole_line = (uint8_t)((1u << tcc->n_halves) - 1);
	tcc->channel_bits = (uint32_t)__builtin_ctz(hw->n_channels);
	tcc->channel_mask = hw->n_channels - 1;
	tcc->in_channel = (1ull << (SG_CHANNEL_SHIFT - tcc->line_shift)) - 1;
	assert(hw->channel_shift == SG_CHANNEL_SHIFT && hw->request <= SG_MAX_WINDOW);
	assert(hw->l2_latency); /* else the last answer need not be the end of sg_channel.busy */
	assert(hw->write_age <= SG_L2_MAX_AGE && hw->l2_clean_ways <= SG_L2_WAYS);
	tcc->direct = !hw->mall_bytes && !hw->port_ps && !hw->read_128;
	set_costs(tcc);
	tcc->channels = calloc(sg_hw_n_channels(hw), sizeof(*tcc->channels));
	if (!sg_hbm_init(&tcc->hbm, hw) || !tcc->channels)
		return false;
	for (uint32_t k = 0; k < sg_hw_n_channels(hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		ch->index = k;
		ch->memory = &tcc->hbm.free_at[(k & tcc->channel_mask) * tcc->hbm.n_memory];
		ch->rest = calloc(n_lines, sizeof(*ch->rest));
		ch->sets = aligned_alloc(64, tcc->n_sets * sizeof(*ch->sets));
		if (!ch->rest || !ch->sets)
			return false;
		memset(ch->sets, 0, tcc->n_sets * sizeof(*ch->sets));
	}
	return true;
}

void sg_tcc_free(struct sg_tcc *tcc)
{
	for (uint32_t k = 0; tcc->channels && k < sg_hw_n_channels(tcc->hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		free(ch->rest);
		free(ch->sets);
		free(ch->inbox);
	}
	sg_hbm_free(&tcc->hbm);
	free(tcc->channels);
	tcc->channels = NULL;
}

void sg_tcc_begin(struct sg_tcc *tcc, uint32_t mhz, uint64_t *counters, uint32_t n_counters)
{
	const struct sg_hw *hw = tcc->hw;

	sg_ea_begin(tcc, mhz);
	tcc->lost = false;
	tcc->last_answer = 0;
	for (uint32_t k = 0; k < sg_hw_n_channels(hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		if (ch->touched)
			memset(ch->sets, 0, tcc->n_sets * sizeof(*ch->sets));
		ch->touched = false;
		ch->tag_free = 0;
		ch->n_inbox = 0;
		ch->busy = ch->ib_stall = ch->read_stall = ch->write_stall = (struct sg_busy){ 0 };
		ch->io_read = ch->gmi_read = ch->gmi_write = (struct sg_link_stall){ 0 };
		memset(ch->plain, 0, sizeof(ch->plain));
		ch->own_reads[0] = ch->own_reads[1] = ch->own_writes = 0;
		ch->c = counters + (size_t)k * n_counters;
	}
}

bool sg_tcc_grow(struct sg_tcc *tcc, struct sg_channel *ch)
{
	uint32_t room = ch->inbox_room ? 2 * ch->inbox_room : 256;
	struct sg_queued *inbox = aligned_alloc(64, room * sizeof(*inbox));

	if (!inbox) {
		tcc->lost = true;
		return false;
	}
	if (ch->n_inbox)
		memcpy(inbox, ch->inbox, ch->n_inbox * sizeof(*inbox));
	free(ch->inbox);
	ch->inbox = inbox;
	ch->inbox_room = room;
	return true;
}

/* ---- lines ---- */

#define ANY_VALID (3 * SG_L2_VALID)
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

static uint64_t write_halves(struct sg_tcc *tcc, struct sg_channel *ch, struct line l,
			     uint8_t state, uint64_t time)
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

/* The line is written to memory, and stays. */
static inline uint64_t write_line_back(struct sg_tcc *tcc, struct sg_channel *ch, struct line l,
				       uint64_t time)
{
	uint8_t state = l.set->states[l.way];
	uint32_t whole = state / SG_L2_WHOLE & 3;

	l.set->states[l.way] = state & (ANY_VALID | SG_L2_OTHER);
	C(TCC_WRITEBACK)++;
	if (tcc->direct && whole && !(state & (ANY_PART | SG_L2_OTHER)))
		return sg_ea_write_own(tcc, ch, l.set->ways[l.way].tag - 1, time,
				       whole == 3 ? 2 : 1);
	return write_halves(tcc, ch, l, state, time);
}

/* Returns the way of a line to be used anew. */
static uint32_t make_room(struct sg_tcc *tcc, struct sg_channel *ch, struct sg_l2_set *set,
			  uint64_t time)
{
	uint32_t victim = sg_ways_least(set->stamps);

	if (!set->stamps[victim])
		return victim;
	C(TCC_NORMAL_EVICT)++;
	if (set->states[victim] & SG_L2_DIRTY) {
		write_line_back(tcc, ch, (struct line){ set, victim }, time);
		C(TCC_NORMAL_WRITEBACK)++;
	}
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
			time);
	C(TCC_NORMAL_WRITEBACK)++;
}

static struct sg_l2_set *set_of(const struct sg_channel *ch, const struct sg_queued *q)
{
	return (struct sg_l2_set *)((char *)ch->sets + q->set_at);
}

static bool writes(const struct sg_request *r)
{
	return r->kind == SG_REQ_WRITE || r->kind == SG_REQ_ATOMIC;
}

/* Takes a way for the line of a request, of which nothing is there yet. */
static inline uint32_t new_line(struct sg_tcc *tcc, struct sg_channel *ch,
				const struct sg_queued *q, struct sg_l2_set *set, uint64_t time,
				bool plain)
{
	struct sg_memory_kind memory = q->r.memory;
	bool other = !plain && (memory.mtype == SG_MTYPE_UC || memory.route != SG_ROUTE_OWN);
	uint32_t clean_ways = tcc->hw->l2_clean_ways, way = make_room(tcc, ch, set, time);

	sg_l2_allocate(set, way, q->number, other ? SG_L2_OTHER : 0, time);
	if (other) {
		struct sg_l2_rest *rest = rest_of(ch, (struct line){ set, way });

		rest->route = memory.route;
		rest->uncached = memory.mtype == SG_MTYPE_UC;
	}
	if (clean_ways && writes(&q->r) && set->clock > clean_ways)
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
static inline bool fill_line(struct sg_tcc *tcc, struct sg_channel *ch, struct line l,
			     uint32_t wanted, bool scalar, uint64_t time)
{
	struct sg_l2_way *way = &l.set->ways[l.way];
	uint32_t state = l.set->states[l.way], missing = tcc->whole_line & ~state;
	uint64_t done;

	if (!(wanted & missing))
		return false;
	if (tcc->direct && !(state & SG_L2_OTHER))
		done = sg_ea_read_own(tcc, ch, way->tag - 1, time, missing == 3 ? 2 : 1);
	else
		done = fetch_halves(tcc, ch, l, missing, scalar, time);
	done += tcc->hw->l2_fill;
	way->filled = done > way->filled ? done : way->filled;
	l.set->states[l.way] = (uint8_t)(state | missing);
	return true;
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
	uint32_t way = sg_l2_find(set, number);

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
		forget_line(set_of(ch, q), number);
	if (r->kind == SG_REQ_ATOMIC)
		return sg_ea_atomic(tcc, ch, number, time, r->bytes, r->memory.route);
	return sg_ea_write(tcc, ch, number, time, r->bytes, r->memory.route, true);
}

/* Writes to a half; a half that is written whole need not be fetched, and nor do the others of the request. */
static inline void write_half(struct sg_channel *ch, struct line l, uint32_t half, uint32_t halves,
			      uint64_t bytes)
{
	uint8_t *state = &l.set->states[l.way];

	if (bytes == ~0ull) {
		*state = (uint8_t)((*state | SG_L2_DIRTY | SG_L2_WHOLE << half | halves) &
				   ~(SG_L2_PART << half));
		return;
	}
	*state |= SG_L2_DIRTY;
	add_bytes(ch, l, half, bytes);
	if (*state & SG_L2_WHOLE << half)
		*state |= (uint8_t)halves;
}

/* plain: see sg_channel; it is constant where this is inlined. */
static inline __attribute__((always_inline)) uint64_t serve_cached(struct sg_tcc *tcc,
								   struct sg_channel *ch,
								   const struct sg_queued *q,
								   uint64_t time, bool plain)
{
	const struct sg_request *r = &q->r;
	struct sg_l2_set *set = set_of(ch, q);
	struct line l = { set, sg_l2_find(set, q->number) };
	uint32_t half = (uint32_t)(r->addr >> 6) & (tcc->n_halves - 1);
	uint32_t halves = (2u * r->lines - 1) << half & tcc->whole_line;
	bool present = l.way < SG_L2_WAYS, hit = present;
	uint64_t done = time;

	if (!present)
		l.way = new_line(tcc, ch, q, set, time, plain);
	if (r->kind == SG_REQ_WRITE) {
		set->stamps[l.way] = set->clock;
		write_half(ch, l, half, halves, plain ? ~0ull : r->bytes);
	} else {
		bool atomic = !plain && r->kind == SG_REQ_ATOMIC;
		uint64_t filled;

		set->stamps[l.way] = (uint8_t)(set->clock + (atomic ? 0 : tcc->hw->write_age));
		hit = !fill_line(tcc, ch, l, halves, is_scalar(r), time) && present;
		filled = set->ways[l.way].filled;
		done = filled > time ? filled : time;
		if (atomic) {
			set->states[l.way] |= SG_L2_DIRTY;
			add_bytes(ch, l, half, r->bytes);
		}
	}
	if (plain)
		ch->plain[sg_request_shape(r)][hit]++;
	else
		sg_tcc_count(tcc, ch, r, hit, 1);
	return done;
}

static bool is_plain(const struct sg_request *r)
{
	return !r->slc && r->memory.mtype == SG_MTYPE_RW && r->memory.route == SG_ROUTE_OWN &&
	       r->kind != SG_REQ_ATOMIC && (r->kind != SG_REQ_WRITE || r->bytes == ~0ull);
}

static __attribute__((noinline)) uint64_t serve_other(struct sg_tcc *tcc, struct sg_channel *ch,
						      const struct sg_queued *q, uint64_t time)
{
	sg_ea_open(tcc, q->r.memory);
	return is_uncached(tcc, &q->r) ? serve_uncached(tcc, ch, q, time)
				       : serve_cached(tcc, ch, q, time, false);
}

static inline void serve(struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_queued *q)
{
	const struct sg_request *r = &q->r;
	uint64_t start = r->time << 4, done;

	if (start < ch->tag_free) {
		start = ch->tag_free;
		sg_busy_add(&ch->ib_stall, r->time, start >> 4);
	}
	ch->tag_free = start + tcc->tag_16ths[sg_request_shape(r)];
	start >>= 4;
	done = is_plain(r) ? serve_cached(tcc, ch, q, start, true) : serve_other(tcc, ch, q, start);
	done += tcc->hw->l2_latency;
	sg_busy_add(&ch->busy, r->time, done);
	tcc->answer(tcc->ctx, r, done + tcc->hw->response);
}

/* ---- the inbox ---- */

/*
 * A die is dealt every n-th workgroup, so that some bits of its addresses are always the same. Upper bits are folded
 * in there, or such a copy would use a part of the sets (recorded: it displaces nothing).
 */
static uint32_t set_index(const struct sg_tcc *tcc, uint64_t number)
{
	if (tcc->hw->l2_hash)
		number ^= number >> 7 ^ number >> 14;
	return (uint32_t)number & (tcc->n_sets - 1);
}

/*
 * Puts what arrives within the window into lists by time, the last one first: so requests of one time keep the order
 * they came in, which is by sender. `times` has a bit for each list. Returns how many arrive later.
 */
static uint32_t sort_inbox(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t from,
			   uint32_t window, uint64_t times[SG_MAX_WINDOW / 64])
{
	uint32_t n_later = 0;

	for (uint32_t k = ch->n_inbox; k; k--) {
		struct sg_queued *q = &ch->inbox[k - 1];
		uint64_t time = q->r.time - from;

		if (time >= window) {
			n_later++;
			continue;
		}
		q->set_at = set_index(tcc, q->number) * (uint32_t)sizeof(*ch->sets);
		__builtin_prefetch(set_of(ch, q));
		__builtin_prefetch(q->r.owner, 1); /* the answer changes it */
		q->next = tcc->first[time];
		tcc->first[time] = k;
		times[time / 64] |= 1ull << time % 64;
	}
	return n_later;
}

/* Those that arrive later stay in the inbox. */
static void keep_later(struct sg_channel *ch, uint64_t from, uint32_t window)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < ch->n_inbox; k++)
		if (ch->inbox[k].r.time - from >= window)
			ch->inbox[kept++] = ch->inbox[k];
	ch->n_inbox = kept;
}

static void serve_channel(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t from, uint32_t window)
{
	uint64_t times[SG_MAX_WINDOW / 64] = { 0 };
	uint32_t n_later = sort_inbox(tcc, ch, from, window, times);
	uint64_t last;

	ch->touched = true;
	for (uint32_t n = 0; n < SG_MAX_WINDOW / 64; n++)
		for (; times[n]; times[n] &= times[n] - 1) {
			uint32_t *first = &tcc->first[n * 64 + (uint32_t)__builtin_ctzll(times[n])];
			uint32_t k = *first;

			for (*first = 0; k; k = ch->inbox[k - 1].next)
				serve(tcc, ch, &ch->inbox[k - 1]);
		}
	/* the last answer of a channel ends the time that it is busy */
	last = ch->busy.until + tcc->hw->response;
	tcc->last_answer = last > tcc->last_answer ? last : tcc->last_answer;
	if (n_later)
		keep_later(ch, from, window);
	else
		ch->n_inbox = 0;
}

void sg_tcc_serve(struct sg_tcc *tcc, uint64_t from, uint32_t window)
{
	for (uint32_t k = 0; k < sg_hw_n_channels(tcc->hw); k++)
		if (tcc->channels[k].n_inbox)
			serve_channel(tcc, &tcc->channels[k], from, window);
}

uint64_t sg_tcc_write_back(struct sg_tcc *tcc, uint64_t time)
{
	uint64_t last = time;

	for (uint32_t k = 0; k < sg_hw_n_channels(tcc->hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		for (uint32_t s = 0; ch->touched && s < tcc->n_sets; s++)
			for (uint32_t dirty = sg_ways_upper(ch->sets[s].states); dirty;
			     dirty &= dirty - 1) {
				struct line l = { &ch->sets[s], (uint32_t)__builtin_ctz(dirty) };
				/* it goes through the lines as fast as memory takes them */
				uint64_t now = sg_hbm_free_at(&tcc->hbm, ch->index,
							      l.set->ways[l.way].tag - 1);
				uint64_t done =
					write_line_back(tcc, ch, l, now > time ? now : time);

				C(TCC_ALL_TC_OP_WB_WRITEBACK)++;
				last = done > last ? done : last;
				if (tcc->hw->release_stalls)
					sg_busy_add(&ch->write_stall, time, now);
			}
	}
	return last;
}
