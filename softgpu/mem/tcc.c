#include "softgpu/mem/tcc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/counters/catalogue.h"

#define MAX_WINDOW 256 /* cycles; hw->request is not longer */
#define AHEAD 4                 /* requests: their sets are on their way to the host's cache */
#define C(name) ch->c[WS_C_##name]

bool ws_tcc_init(struct ws_tcc *tcc, const struct ws_hw *hw)
{
	uint32_t n_lines = hw->l2_bytes / hw->n_channels / hw->l2_line;

	memset(tcc, 0, sizeof(*tcc));
	tcc->hw = hw;
	tcc->n_sets = n_lines / hw->l2_ways;
	assert(hw->l2_ways == WS_L2_WAYS && tcc->n_sets && !(tcc->n_sets & (tcc->n_sets - 1)));
	tcc->line_shift = (uint32_t)__builtin_ctz(hw->l2_line);
	tcc->n_halves = hw->l2_line / 64;
	tcc->channels = calloc(hw->n_channels, sizeof(*tcc->channels));
	if (!tcc->channels)
		return false;
	for (uint32_t k = 0; k < hw->n_channels; k++) {
		struct ws_channel *ch = &tcc->channels[k];

		ch->bytes = calloc(n_lines, sizeof(*ch->bytes));
		ch->sets = aligned_alloc(64, tcc->n_sets * sizeof(*ch->sets));
		if (!ch->bytes || !ch->sets)
			return false;
		memset(ch->sets, 0, tcc->n_sets * sizeof(*ch->sets));
	}
	return true;
}

void ws_tcc_free(struct ws_tcc *tcc)
{
	for (uint32_t k = 0; tcc->channels && k < tcc->hw->n_channels; k++) {
		struct ws_channel *ch = &tcc->channels[k];

		free(ch->bytes);
		free(ch->sets);
		free(ch->inbox);
		free(ch->sorted);
	}
	free(tcc->channels);
	tcc->channels = NULL;
}

void ws_tcc_begin(struct ws_tcc *tcc, uint32_t mhz, uint64_t *counters, uint32_t n_counters)
{
	const struct ws_hw *hw = tcc->hw;

	tcc->read_cycles = hw->read_ns * mhz / 1000;
	tcc->write_cycles = hw->write_ns * mhz / 1000;
	tcc->host_cycles = hw->host_ns * mhz / 1000;
	tcc->read_cost = (uint32_t)((uint64_t)hw->read_ps * mhz * 256 / 1000000);
	tcc->write_cost = (uint32_t)((uint64_t)hw->write_ps * mhz * 256 / 1000000);
	tcc->lost = false;
	for (uint32_t k = 0; k < hw->n_channels; k++) {
		struct ws_channel *ch = &tcc->channels[k];

		if (ch->touched)
			memset(ch->sets, 0, tcc->n_sets * sizeof(*ch->sets));
		ch->touched = false;
		ch->tag_free = ch->ea_free = 0;
		ch->n_inbox = 0;
		ch->busy = ch->tag_stall = ch->read_stall = ch->write_stall = (struct ws_busy){ 0 };
		ch->c = counters + (size_t)k * n_counters;
	}
}

/* Upper bits are folded in, or the strides of powers of two that programs like would meet few channels. */
static uint32_t channel_of(const struct ws_hw *hw, uint64_t addr)
{
	uint32_t bits = (uint32_t)__builtin_ctz(hw->n_channels);
	uint64_t a = addr >> hw->channel_shift;

	return (uint32_t)(a ^ a >> bits ^ a >> 2 * bits ^ a >> 3 * bits) & (hw->n_channels - 1);
}

void ws_tcc_send(struct ws_tcc *tcc, const struct ws_request *r)
{
	struct ws_channel *ch = &tcc->channels[channel_of(tcc->hw, r->addr)];

	if (ch->n_inbox == ch->inbox_room) {
		uint32_t room = ch->inbox_room ? 2 * ch->inbox_room : 256;
		struct ws_request *inbox = realloc(ch->inbox, room * sizeof(*inbox));
		uint32_t *sorted = realloc(ch->sorted, room * sizeof(*sorted));

		ch->inbox = inbox ? inbox : ch->inbox;
		ch->sorted = sorted ? sorted : ch->sorted;
		if (!inbox || !sorted) {
			tcc->lost = true;
			return;
		}
		ch->inbox_room = room;
	}
	ch->inbox[ch->n_inbox++] = *r;
}

/* ---- memory ---- */

/* One request of 64 bytes or less: when is it done? */
static uint64_t memory_request(struct ws_channel *ch, uint64_t time, uint32_t cost, uint32_t latency,
			       uint64_t *waited)
{
	uint64_t now = time << 8, start = now > ch->ea_free ? now : ch->ea_free;

	ch->ea_free = start + cost;
	*waited = (start - now) >> 8;
	return ((start + cost) >> 8) + latency;
}

static uint64_t memory_read(const struct ws_tcc *tcc, struct ws_channel *ch, uint64_t time, bool host)
{
	uint64_t waited = 0, done;

	if (host)
		done = time + tcc->host_cycles;
	else
		done = memory_request(ch, time, tcc->read_cost, tcc->read_cycles, &waited);
	C(TCC_EA_RDREQ)++;
	if (host)
		C(TCC_EA_RD_UNCACHED_32B) += 2;
	else
		C(TCC_EA_RDREQ_DRAM)++;
	if (waited > tcc->hw->read_credit)
		ws_busy_add(&ch->read_stall, time, time + waited - tcc->hw->read_credit);
	C(TCC_EA_RDREQ_LEVEL) += done - time;
	return done;
}

static uint64_t memory_write(const struct ws_tcc *tcc, struct ws_channel *ch, uint64_t time,
			     uint64_t bytes, bool host)
{
	uint64_t waited = 0, done;

	if (host)
		done = time + tcc->host_cycles;
	else
		done = memory_request(ch, time, tcc->write_cost, tcc->write_cycles, &waited);
	done -= waited / 2; /* fitted: a write is acknowledged on its way to memory */
	C(TCC_EA_WRREQ)++;
	if (bytes == ~0ull)
		C(TCC_EA_WRREQ_64B)++;
	if (host)
		C(TCC_EA_WR_UNCACHED_32B) += !!(uint32_t)bytes + !!(uint32_t)(bytes >> 32);
	else
		C(TCC_EA_WRREQ_DRAM)++;
	if (waited > tcc->hw->write_credit)
		ws_busy_add(&ch->write_stall, time, time + waited - tcc->hw->write_credit);
	C(TCC_EA_WRREQ_LEVEL) += done - time;
	return done;
}

/* ---- lines ---- */

/* A line: where it stands. */
struct line {
	struct ws_l2_set *set;
	uint64_t (*bytes)[2];
	uint16_t bit;
	uint32_t way;
};

static struct line line_at(struct ws_channel *ch, uint32_t in_set, uint32_t way)
{
	return (struct line){ &ch->sets[in_set], &ch->bytes[(size_t)in_set * WS_L2_WAYS + way],
			      (uint16_t)(1u << way), way };
}

static void add_bytes(struct line *l, uint32_t half, uint64_t bytes)
{
	struct ws_l2_set *set = l->set;

	if (set->whole[half] & l->bit)
		return;
	if (set->part[half] & l->bit)
		bytes |= (*l->bytes)[half];
	if (bytes == ~0ull) {
		set->whole[half] |= l->bit;
		set->part[half] &= (uint16_t)~l->bit;
	} else if (bytes) {
		set->part[half] |= l->bit;
		(*l->bytes)[half] = bytes;
	}
}

static uint64_t take_bytes(struct line *l, uint32_t half)
{
	struct ws_l2_set *set = l->set;
	uint64_t bytes = set->whole[half] & l->bit ? ~0ull : set->part[half] & l->bit ? (*l->bytes)[half] : 0;

	set->whole[half] &= (uint16_t)~l->bit;
	set->part[half] &= (uint16_t)~l->bit;
	return bytes;
}

static uint64_t write_line_back(const struct ws_tcc *tcc, struct ws_channel *ch, struct line *l, uint64_t time)
{
	bool host = l->set->host & l->bit;
	uint64_t done = time;

	for (uint32_t h = 0; h < tcc->n_halves; h++) {
		uint64_t bytes = take_bytes(l, h);

		if (!bytes)
			continue;
		/* two writes of 32 bytes where one of 64 would carry bytes that nobody wrote */
		if (bytes != ~0ull && (uint32_t)bytes && bytes >> 32) {
			memory_write(tcc, ch, time, bytes & 0xffffffff, host);
			bytes &= ~0xffffffffull;
		}
		done = memory_write(tcc, ch, time, bytes, host);
	}
	C(TCC_WRITEBACK)++;
	return done;
}

/* Returns the way of a line to be used anew. */
static uint32_t make_room(const struct ws_tcc *tcc, struct ws_channel *ch, uint32_t in_set, uint64_t time)
{
	struct ws_l2_set *set = &ch->sets[in_set];
	uint32_t victim = 0;

	for (uint32_t w = 0; w < WS_L2_WAYS; w++) {
		if (!set->tags[w])
			return w;
		if (set->stamps[w] < set->stamps[victim])
			victim = w;
	}
	C(TCC_NORMAL_EVICT)++;
	if (set->dirty >> victim & 1) {
		struct line l = line_at(ch, in_set, victim);

		write_line_back(tcc, ch, &l, time);
		set->dirty &= (uint16_t)~l.bit;
		C(TCC_NORMAL_WRITEBACK)++;
	}
	return victim;
}

static uint64_t line_number(const struct ws_tcc *tcc, uint64_t addr)
{
	uint32_t shift = tcc->hw->channel_shift, bits = (uint32_t)__builtin_ctz(tcc->hw->n_channels);
	uint64_t local = (addr >> (shift + bits) << shift) | (addr & ((1ull << shift) - 1));

	return local >> tcc->line_shift;
}

static void prefetch(const struct ws_tcc *tcc, const struct ws_channel *ch, const struct ws_request *r)
{
	const char *set = (const char *)&ch->sets[line_number(tcc, r->addr) & (tcc->n_sets - 1)];

	for (size_t at = 0; at < sizeof(struct ws_l2_set); at += 64)
		__builtin_prefetch(set + at);
}

/* Takes the way for a line of which nothing is there yet. */
static void allocate(struct line *l, uint64_t number, bool host, uint64_t time)
{
	struct ws_l2_set *set = l->set;
	uint16_t others = (uint16_t)~l->bit;

	set->tags[l->way] = number + 1;
	set->n_fills++;
	set->filled[l->way] = time;
	set->host = (set->host & others) | (host ? l->bit : 0);
	for (uint32_t h = 0; h < 2; h++) {
		set->valid[h] &= others;
		set->whole[h] &= others;
		set->part[h] &= others;
	}
}

/* The line of a request, allocated if it was not there. */
static struct line find_line(const struct ws_tcc *tcc, struct ws_channel *ch, const struct ws_request *r,
			     uint64_t time, bool *present)
{
	const struct ws_hw *hw = tcc->hw;
	uint64_t number = line_number(tcc, r->addr);
	uint32_t in_set = (uint32_t)number & (tcc->n_sets - 1), way = 0;
	struct ws_l2_set *set = &ch->sets[in_set];
	bool write = r->kind == WS_REQ_WRITE || r->kind == WS_REQ_ATOMIC;
	struct line l;

	while (way < WS_L2_WAYS && set->tags[way] != number + 1)
		way++;
	*present = way < WS_L2_WAYS;
	if (!*present)
		way = make_room(tcc, ch, in_set, time);
	l = line_at(ch, in_set, way);
	if (!*present)
		allocate(&l, number, r->host, time);
	if (write)
		set->dirty |= l.bit;
	/* + write_age: stamps stay positive */
	set->stamps[way] = set->n_fills + hw->write_age - (write ? hw->write_age : 0);
	return l;
}

/* Fetches the halves that are not there. Returns whether any of the wanted ones were missing. */
static bool fill_line(const struct ws_tcc *tcc, struct ws_channel *ch, const struct line *l, uint8_t wanted,
		      uint64_t time)
{
	struct ws_l2_set *set = l->set;
	uint64_t done = set->filled[l->way];
	uint8_t missing = 0;

	for (uint32_t h = 0; h < tcc->n_halves; h++)
		missing |= (uint8_t)(!(set->valid[h] & l->bit) << h);
	if (!(wanted & missing))
		return false;
	for (uint32_t h = 0; h < tcc->n_halves; h++) {
		if (missing & 1u << h) {
			uint64_t t = memory_read(tcc, ch, time, set->host & l->bit);

			t += tcc->hw->l2_fill;
			done = t > done ? t : done;
		}
		set->valid[h] |= l->bit;
	}
	set->filled[l->way] = done;
	return true;
}

/* ---- requests ---- */

static void count_request(struct ws_channel *ch, const struct ws_request *r, bool hit)
{
	C(TCC_REQ)++;
	if (hit)
		C(TCC_HIT)++;
	else
		C(TCC_MISS)++;
	if (r->slc)
		C(TCC_STREAMING_REQ)++;
	if (r->kind == WS_REQ_SCALAR)
		C(TCC_NC_REQ)++;
	else if (r->host)
		C(TCC_UC_REQ)++;
	else
		C(TCC_RW_REQ)++;
	if (r->kind == WS_REQ_WRITE)
		C(TCC_WRITE)++;
	else if (r->kind == WS_REQ_ATOMIC)
		C(TCC_ATOMIC)++;
	else
		C(TCC_READ)++;
}

/* Host memory is not cached for the vector side: every request goes out. */
static uint64_t serve_host(const struct ws_tcc *tcc, struct ws_channel *ch, const struct ws_request *r,
			   uint64_t time)
{
	uint64_t done = time;

	count_request(ch, r, false);
	if (r->kind == WS_REQ_WRITE)
		return memory_write(tcc, ch, time, r->bytes, true);
	for (unsigned k = 0; k < r->lines; k++)
		done = memory_read(tcc, ch, time, true);
	if (r->kind == WS_REQ_ATOMIC) {
		C(TCC_EA_ATOMIC)++;
		C(TCC_EA_ATOMIC_LEVEL) += done - time;
	}
	return done;
}

static uint64_t serve_cached(const struct ws_tcc *tcc, struct ws_channel *ch, const struct ws_request *r,
			     uint64_t time)
{
	uint32_t half = tcc->n_halves == 2 ? r->addr >> 6 & 1 : 0;
	uint8_t wanted = (uint8_t)(((1u << r->lines) - 1) << half);
	bool present, hit;
	struct line l = find_line(tcc, ch, r, time, &present);
	uint64_t done = time;

	if (r->kind == WS_REQ_WRITE) {
		add_bytes(&l, half, r->bytes);
		if (l.set->whole[half] & l.bit)
			for (uint32_t h = 0; h < tcc->n_halves; h++)
				l.set->valid[h] |= wanted >> h & 1 ? l.bit : 0;
		hit = present;
	} else {
		hit = !fill_line(tcc, ch, &l, wanted, time) && present;
		done = l.set->filled[l.way] > time ? l.set->filled[l.way] : time;
		if (r->kind == WS_REQ_ATOMIC)
			add_bytes(&l, half, r->bytes);
	}
	count_request(ch, r, hit);
	return done;
}

static void serve(struct ws_tcc *tcc, struct ws_channel *ch, const struct ws_request *r)
{
	const struct ws_hw *hw = tcc->hw;
	uint32_t cost = r->kind == WS_REQ_WRITE	 ? hw->l2_write_16ths :
			r->kind == WS_REQ_ATOMIC ? hw->l2_atomic_16ths :
			r->lines * 64 < hw->l2_line ? hw->l2_read_16ths / 2 + 4 :
						       hw->l2_read_16ths;
	uint64_t now = r->time << 4, start = now > ch->tag_free ? now : ch->tag_free, done;

	ch->tag_free = start + cost;
	if (start - now > hw->tag_queue << 4) /* the queue in front of the tags is full */
		ws_busy_add(&ch->tag_stall, r->time, (start >> 4) - hw->tag_queue);
	start >>= 4;
	if (r->host && r->kind != WS_REQ_SCALAR && r->kind != WS_REQ_INST)
		done = serve_host(tcc, ch, r, start);
	else
		done = serve_cached(tcc, ch, r, start);
	ws_busy_add(&ch->busy, r->time, done + hw->l2_latency);
	tcc->answer(tcc->ctx, r, done + hw->l2_latency + hw->response);
}

/* By time; requests of one time keep the order they came in, which is by sender. Returns how many arrive
 * within the window. */
static uint32_t sort_inbox(struct ws_channel *ch, uint64_t from, uint32_t window)
{
	uint32_t at[MAX_WINDOW] = { 0 }, total = 0;

	for (uint32_t k = 0; k < ch->n_inbox; k++)
		if (ch->inbox[k].time - from < window)
			at[ch->inbox[k].time - from]++;
	for (uint32_t t = 0; t < window; t++) {
		uint32_t n = at[t];

		at[t] = total;
		total += n;
	}
	for (uint32_t k = 0; k < ch->n_inbox; k++)
		if (ch->inbox[k].time - from < window)
			ch->sorted[at[ch->inbox[k].time - from]++] = k;
	return total;
}

/* Those that arrive later stay in the inbox. */
static void drop_served(struct ws_channel *ch, uint64_t from, uint32_t window, uint32_t n_served)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < ch->n_inbox && n_served < ch->n_inbox; k++)
		if (ch->inbox[k].time - from >= window)
			ch->inbox[kept++] = ch->inbox[k];
	ch->n_inbox = kept;
}

void ws_tcc_serve(struct ws_tcc *tcc, uint64_t from, uint32_t window)
{
	for (uint32_t k = 0; k < tcc->hw->n_channels; k++) {
		struct ws_channel *ch = &tcc->channels[k];

		if (!ch->n_inbox)
			continue;
		uint32_t total = sort_inbox(ch, from, window);

		ch->touched = true;

		for (uint32_t n = 0; n < total; n++) {
			if (n + AHEAD < total)
				prefetch(tcc, ch, &ch->inbox[ch->sorted[n + AHEAD]]);
			serve(tcc, ch, &ch->inbox[ch->sorted[n]]);
		}
		drop_served(ch, from, window, total);
	}
}

uint64_t ws_tcc_write_back(struct ws_tcc *tcc, uint64_t time)
{
	uint64_t last = time;

	for (uint32_t k = 0; k < tcc->hw->n_channels; k++) {
		struct ws_channel *ch = &tcc->channels[k];

		for (uint32_t s = 0; ch->touched && s < tcc->n_sets; s++)
			for (uint32_t dirty = ch->sets[s].dirty; dirty; dirty &= dirty - 1) {
				struct line l = line_at(ch, s, (uint32_t)__builtin_ctz(dirty));
				/* it goes through the lines as fast as memory takes them */
				uint64_t now = ch->ea_free >> 8 > time ? ch->ea_free >> 8 : time;
				uint64_t done = write_line_back(tcc, ch, &l, now);

				C(TCC_ALL_TC_OP_WB_WRITEBACK)++;
				last = done > last ? done : last;
			}
	}
	return last;
}
