/*
 * pack: units into as few passes as the blocks' limits allow.
 *
 * Blocks do not compete with each other, so the number of passes is what the tightest block needs.
 * In a block with L places, units of size 1 fill any hole, and units of size 2 fit L/2 times
 * (rounded down) into a pass; so max(ceil(places / L), ceil(pairs / floor(L / 2))) passes are
 * needed, and they suffice when pairs are placed first and evenly. Any order of placing the rest is
 * as good, which leaves room for a wish: what one derived counter is computed from should be
 * counted in the same run. Where a shared counter (GRBM_GUI_ACTIVE) is in another pass, it is
 * counted again if there is a free place.
 */
#include "counters/plan_priv.h"

#include <limits.h>
#include <string.h>

#define MAX_BLOCKS 32

size_t cnt_pack_bound(const struct cnt_pack *pack, const struct cnt_counter_block **out_tightest)
{
	size_t places[MAX_BLOCKS] = { 0 }, pairs[MAX_BLOCKS] = { 0 }, bound = 0;

	for (size_t i = 0; i < pack->n_units; i++) {
		places[pack->units[i].block] += pack->units[i].size;
		pairs[pack->units[i].block] += pack->units[i].size > 1;
	}
	for (unsigned b = 0; b < cnt_catalogue_n_blocks(pack->cat); b++) {
		const struct cnt_counter_block *block = cnt_catalogue_block(pack->cat, b);
		size_t need = (places[b] + block->limit - 1) / block->limit;
		size_t per_pass = block->limit / 2;

		if (pairs[b] && !per_pass)
			need = SIZE_MAX;
		else if (pairs[b] && (pairs[b] + per_pass - 1) / per_pass > need)
			need = (pairs[b] + per_pass - 1) / per_pass;
		if (need > bound) {
			bound = need;
			*out_tightest = block;
		}
	}
	return bound;
}

struct packing {
	struct cnt_pack *pack;
	unsigned *room;     /* [pass * MAX_BLOCKS + block] */
	unsigned *n_copies; /* of a unit */
};

static bool is_in(const struct packing *p, size_t pass, size_t unit)
{
	return p->pack->in[pass * p->pack->n_units + unit];
}

static void put(struct packing *p, size_t pass, size_t unit)
{
	const struct cnt_unit *u = &p->pack->units[unit];

	p->pack->in[pass * p->pack->n_units + unit] = true;
	p->room[pass * MAX_BLOCKS + u->block] -= u->size;
	p->n_copies[unit]++;
}

/* Evenly: next to a level counter there should be room for what its accumulation is divided by. */
static void put_pairs(struct packing *p)
{
	const struct cnt_pack *pack = p->pack;

	for (size_t unit = 0; unit < pack->n_units; unit++) {
		const struct cnt_unit *u = &pack->units[unit];
		size_t best = 0;

		if (u->size < 2)
			continue;
		for (size_t pass = 1; pass < pack->n_passes; pass++)
			if (p->room[pass * MAX_BLOCKS + u->block] >
			    p->room[best * MAX_BLOCKS + u->block])
				best = pass;
		put(p, best, unit);
	}
}

/*
 * Whether the units of @set that are not in @pass fit into it: all of them when @again, else only
 * if they are nowhere yet. How many are there already is the pass's merit.
 */
static bool fits(const struct packing *p, const struct cnt_unit_set *set, size_t pass, bool again,
		 size_t *out_there)
{
	unsigned more[MAX_BLOCKS] = { 0 };

	*out_there = 0;
	for (size_t k = 0; k < set->n; k++) {
		const struct cnt_unit *u = &p->pack->units[set->units[k]];

		if (is_in(p, pass, set->units[k])) {
			++*out_there;
			continue;
		}
		if (!again && p->n_copies[set->units[k]])
			continue;
		more[u->block] += u->size;
		if (more[u->block] > p->room[pass * MAX_BLOCKS + u->block])
			return false;
	}
	return true;
}

static void put_set(struct packing *p, const struct cnt_unit_set *set, bool again)
{
	size_t best = SIZE_MAX, best_there = 0, there;

	for (size_t pass = 0; pass < p->pack->n_passes; pass++) {
		if (!fits(p, set, pass, again, &there))
			continue;
		if (best == SIZE_MAX || there > best_there) {
			best = pass;
			best_there = there;
		}
	}
	if (best == SIZE_MAX)
		return;
	for (size_t k = 0; k < set->n; k++)
		if (!is_in(p, best, set->units[k]) && (again || !p->n_copies[set->units[k]]))
			put(p, best, set->units[k]);
}

/* The larger first: they are harder to place. */
static void put_sets(struct packing *p, bool again)
{
	size_t largest = 0;

	for (size_t i = 0; i < p->pack->n_sets; i++)
		if (p->pack->sets[i].n > largest)
			largest = p->pack->sets[i].n;
	for (size_t n = largest; n > 1; n--)
		for (size_t i = 0; i < p->pack->n_sets; i++)
			if (p->pack->sets[i].n == n)
				put_set(p, &p->pack->sets[i], again);
}

static void put_rest(struct packing *p)
{
	for (size_t unit = 0; unit < p->pack->n_units; unit++) {
		const struct cnt_unit *u = &p->pack->units[unit];

		for (size_t pass = 0; !p->n_copies[unit]; pass++)
			if (p->room[pass * MAX_BLOCKS + u->block] >= u->size)
				put(p, pass, unit);
	}
}

enum ws_status cnt_pack_run(struct cnt_pack *pack, struct ws_arena *arena, struct ws_err *err)
{
	const struct cnt_counter_block *tightest = NULL;
	struct packing p = { .pack = pack };

	pack->n_passes = cnt_pack_bound(pack, &tightest);
	if (pack->n_passes == SIZE_MAX)
		return ws_fail(err, WS_E_LIMIT,
			       "block %s counts one counter at once: accumulation needs two",
			       tightest->name);
	if (!pack->n_passes)
		return WS_OK;
	pack->in = ws_arena_array(arena, pack->n_passes * pack->n_units, sizeof(*pack->in));
	p.room = ws_arena_array(arena, pack->n_passes * MAX_BLOCKS, sizeof(*p.room));
	p.n_copies = ws_arena_array(arena, pack->n_units, sizeof(*p.n_copies));
	if (!pack->in || !p.room || !p.n_copies)
		return ws_fail(err, WS_E_NOMEM, "out of memory for passes");
	for (size_t pass = 0; pass < pack->n_passes; pass++)
		for (unsigned b = 0; b < cnt_catalogue_n_blocks(pack->cat); b++)
			p.room[pass * MAX_BLOCKS + b] = cnt_catalogue_block(pack->cat, b)->limit;
	put_pairs(&p);
	put_sets(&p, false);
	put_rest(&p);
	put_sets(&p, true);
	return WS_OK;
}
