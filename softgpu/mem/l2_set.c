#include "softgpu/mem/l2_set.h"

/*
 * Stamps from the clock on keep their distance to it, because later ones are compared with them. Those before it are less
 * than all later ones: only their order matters.
 */
void sg_l2_renumber(struct sg_l2_set *set)
{
	uint8_t stamps[SG_L2_WAYS], base = SG_L2_WAYS + 1;

	for (uint32_t w = 0; w < SG_L2_WAYS; w++) {
		uint8_t stamp = set->stamps[w];

		stamps[w] = stamp >= set->clock ? (uint8_t)(stamp - set->clock + base) : !!stamp;
		for (uint32_t k = 0; k < SG_L2_WAYS && stamp < set->clock; k++)
			stamps[w] += set->stamps[k] && set->stamps[k] < stamp;
	}
	for (uint32_t w = 0; w < SG_L2_WAYS; w++)
		set->stamps[w] = stamps[w];
	set->clock = base;
}
