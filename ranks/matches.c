#include "ranks/matches.h"

#include "base/util.h"

#include <stdlib.h>

#define SLOTS_FIRST 1024u

void rnk_matches_init(struct rnk_matches *matches, size_t max_n)
{
	*matches = (struct rnk_matches){ .max_n = max_n };
}

void rnk_matches_fini(struct rnk_matches *matches)
{
	free(matches->at);
	*matches = (struct rnk_matches){ .at = NULL };
}

/* Keys are hashes already; 0 is taken by free slots. */
static struct rnk_match *slot_of(struct rnk_match *at, size_t n_slots, uint64_t key)
{
	size_t i = (size_t)(key >> 7) & (n_slots - 1);

	while (at[i].key && at[i].key != key)
		i = (i + 1) & (n_slots - 1);
	return &at[i];
}

static enum ws_status grow(struct rnk_matches *matches, struct ws_err *err)
{
	size_t n_slots = matches->n_slots ? matches->n_slots * 2 : SLOTS_FIRST;
	struct rnk_match *more = calloc(n_slots, sizeof(*more));

	if (!more)
		return ws_fail(err, WS_E_NOMEM, "%zu collectives", matches->n);
	for (size_t i = 0; i < matches->n_slots; i++)
		if (matches->at[i].key)
			*slot_of(more, n_slots, matches->at[i].key) = matches->at[i];
	free(matches->at);
	matches->at = more;
	matches->n_slots = n_slots;
	return WS_OK;
}

enum ws_status rnk_matches_enter(struct rnk_matches *matches, uint64_t key, uint64_t entered_ns,
				 uint32_t rank, struct ws_err *err)
{
	struct rnk_match *match;

	key = key ? key : 1;
	if (4 * (matches->n + 1) > 3 * matches->n_slots) {
		enum ws_status st = grow(matches, err);

		if (st)
			return st;
	}
	match = slot_of(matches->at, matches->n_slots, key);
	if (!match->key) {
		if (matches->n == matches->max_n)
			return WS_OK;
		matches->n++;
		*match = (struct rnk_match){ .key = key };
	}
	if (!match->n || entered_ns > match->last_ns) {
		match->last_ns = entered_ns;
		match->last = rank;
	}
	match->n++;
	return WS_OK;
}

const struct rnk_match *rnk_matches_find(const struct rnk_matches *matches, uint64_t key)
{
	const struct rnk_match *match;

	if (!matches->n_slots)
		return NULL;
	match = slot_of(matches->at, matches->n_slots, key ? key : 1);
	return match->key ? match : NULL;
}
