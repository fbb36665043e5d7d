/* pcs_dispatches: which dispatch was at a place of a queue, at a time. */
#include "collector/collector_priv.h"
#include "collector/hsa/pcs.h"
#include "collector/hsa/pcs_abi.h"

#include <string.h>

#define DOORBELLS 1024u
#define PACKET_MASK 0x1ffffffu
#define KEPT 4u /* occupants of a place: buffers are emptied long before a place is used so often */
/* ROCr converts the GPU's clock, and is off by less; a place is not used twice in this time. */
#define CLOCK_ERROR_NS 50000u

struct occupant {
	uint64_t since_ns; /* submitted; 0: none */
	uint64_t dispatch_id, corr_id, external_id;
	uint32_t kernel;
	bool is_selected;
};

struct ring {
	uint32_t n_packets;
	struct occupant (*places)[KEPT]; /* the last one first */
};

static struct {
	struct col_lock lock;
	struct ring *rings[COL_AGENT_IDS]; /* DOORBELLS each; NULL: none yet */
} table;

/* Locked. NULL: no memory. */
static struct ring *ring_of(uint32_t agent, uint64_t doorbell, uint32_t n_packets)
{
	struct ring **rings = agent < COL_AGENT_IDS ? &table.rings[agent] : NULL;
	struct ring *ring;

	if (!rings || doorbell >= DOORBELLS)
		return NULL;
	if (!*rings)
		*rings = col_pages(DOORBELLS * sizeof(**rings));
	if (!*rings)
		return NULL;
	ring = &(*rings)[doorbell];
	if (ring->n_packets == n_packets)
		return ring;
	/* another queue has the doorbell now */
	col_pages_free(ring->places, (size_t)ring->n_packets * sizeof(*ring->places));
	ring->places = col_pages((size_t)n_packets * sizeof(*ring->places));
	ring->n_packets = ring->places ? n_packets : 0;
	return ring->places ? ring : NULL;
}

bool col_pcs_put(uint32_t agent, uint64_t doorbell, uint64_t packet, uint32_t n_packets,
		 const struct cap_rec_dispatch *dispatch)
{
	struct occupant *places;
	struct ring *ring;

	if (!n_packets)
		return false;
	col_lock(&table.lock);
	ring = ring_of(agent, doorbell, n_packets);
	if (ring) {
		places = ring->places[packet % n_packets];
		memmove(places + 1, places, (KEPT - 1) * sizeof(*places));
		places[0] = (struct occupant){ .since_ns = col_now_ns() };
		if (dispatch)
			places[0] = (struct occupant){ .since_ns = places[0].since_ns,
						       .dispatch_id = dispatch->dispatch_id,
						       .corr_id = dispatch->corr_id,
						       .external_id = dispatch->external_id,
						       .kernel = dispatch->h.what,
						       .is_selected = true };
	}
	col_unlock(&table.lock);
	return ring != NULL;
}

bool col_pcs_get(uint32_t agent, const struct col_pcs_sample *sample,
		 struct cap_rec_dispatch *out_dispatch)
{
	uint64_t doorbell = sample->correlation >> 32 & (DOORBELLS - 1);
	uint32_t packet = (uint32_t)sample->correlation & PACKET_MASK;
	struct occupant found = { 0 };
	const struct ring *ring;

	col_lock(&table.lock);
	ring = agent < COL_AGENT_IDS && table.rings[agent] ? &table.rings[agent][doorbell] : NULL;
	for (unsigned k = 0; ring && packet < ring->n_packets && k < KEPT && !found.since_ns; k++)
		if (ring->places[packet][k].since_ns <= sample->time_ns + CLOCK_ERROR_NS)
			found = ring->places[packet][k];
	col_unlock(&table.lock);
	if (!found.is_selected)
		return false;
	*out_dispatch = (struct cap_rec_dispatch){ .h = { .what = found.kernel },
						   .dispatch_id = found.dispatch_id,
						   .corr_id = found.corr_id,
						   .external_id = found.external_id,
						   .agent = agent };
	return true;
}

void col_pcs_dispatches_forked(void)
{
	table.lock = (struct col_lock){ 0 };
}
