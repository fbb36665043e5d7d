#define SG_LEVEL plain
#include "softgpu/exec/mem.h"

/* All outside lanes are between low and high, in one range: one look-up serves all of them. */
static void replace_aliases(const struct sg_mem_map *m, uint64_t *addr, uint64_t mask, uint64_t low,
			    uint64_t high)
{
	uint64_t shift;
	unsigned l;

	if (!sg_is_alias(m, low))
		return;
	shift = m->host_of(m->ctx, low) - low;
	SG_FOR_ACTIVE(l, mask)
		if (addr[l] >= low && addr[l] <= high)
			addr[l] += shift;
}

enum sg_stop sg_mem_check_outside(struct sg_wave *w, const struct sg_exec_insn *i, uint64_t *addr,
				  uint64_t mask, uint64_t size, bool write)
{
	const struct sg_mem_map *m = w->mem;
	uint64_t low = ~0ull, high = 0;
	unsigned l;

	SG_FOR_ACTIVE(l, mask) {
		if (sg_in_aperture(m, addr[l], size))
			continue;
		low = addr[l] < low ? addr[l] : low;
		high = addr[l] > high ? addr[l] : high;
	}
	/* one question for all of them answers the usual case, a pinned buffer */
	if (m->reachable && high + size > low && m->reachable(m->ctx, low, high + size - low)) {
		replace_aliases(m, addr, mask, low, high);
		return SG_GO;
	}
	SG_FOR_ACTIVE(l, mask)
		if (!sg_reachable(m, addr[l], size))
			return sg_wave_fault(w, i, SG_FAULT_MEMORY, addr[l], write);
	SG_FOR_ACTIVE(l, mask)
		if (sg_is_alias(m, addr[l]))
			addr[l] = m->host_of(m->ctx, addr[l]);
	return SG_GO;
}
