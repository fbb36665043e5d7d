/* tcc_chunk: when the sets of a group have states of their own. */
#include "softgpu/mem/tcc_chunk.h"

#include <string.h>

/* The set at this place of its group has the group's state; its lines have other numbers. */
static void move_lines(struct sg_l2_set *set, uint32_t place)
{
	for (uint32_t way = 0; way < SG_L2_WAYS; way++)
		if (set->tags[way])
			set->tags[way] = ((set->tags[way] - 1) ^ place) + 1;
}

void sg_tcc_set_apart(const struct sg_tcc *tcc, struct sg_l2_set *first)
{
	if (first->group == SG_L2_HALFWAY) { /* the other one has the state from before */
		move_lines(&first[1], 1);
	} else {
		for (uint32_t k = 1; first->clock && k <= tcc->in_channel; k++) {
			first[k] = *first;
			move_lines(&first[k], k);
		}
	}
	first->group = SG_L2_APART;
}

/* What requests for whole chunks leave: lines that are as memory has them, and lines of which all was written. */
static bool has_whole_lines(const struct sg_tcc *tcc, const struct sg_l2_set *set)
{
	uint8_t valid = tcc->whole_line * SG_L2_VALID;
	uint8_t written = SG_L2_DIRTY | (tcc->whole_line * (SG_L2_VALID | SG_L2_WHOLE));

	return (sg_ways_equal(set->states, 0) | sg_ways_equal(set->states, valid) |
		sg_ways_equal(set->states, written)) == (1u << SG_L2_WAYS) - 1;
}

static bool has_lines_of(const struct sg_l2_set *set, const struct sg_l2_set *first, uint32_t place)
{
	for (uint32_t way = 0; way < SG_L2_WAYS; way++) {
		uint64_t tag = first->tags[way];

		if (set->tags[way] != (tag ? ((tag - 1) ^ place) + 1 : 0))
			return false;
	}
	return true;
}

void sg_tcc_rejoin(const struct sg_tcc *tcc, struct sg_l2_set *first)
{
	for (uint32_t k = 1; k <= tcc->in_channel; k++)
		if (memcmp(first[k].stamps, first->stamps, sizeof(first->stamps)) ||
		    first[k].clock != first->clock ||
		    memcmp(first[k].states, first->states, sizeof(first->states)) ||
		    !has_lines_of(&first[k], first, k))
			return;
	if (has_whole_lines(tcc, first))
		first->group = SG_L2_TOGETHER;
}
