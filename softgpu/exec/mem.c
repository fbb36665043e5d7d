#define WS_LEVEL plain
#include "softgpu/exec/mem.h"

enum ws_stop ws_mem_check_outside(struct ws_wave *w, const struct ws_inst *i, const uint64_t *addr,
				  uint64_t mask, uint64_t size, bool write)
{
	const struct ws_mem_map *m = w->mem;
	uint64_t low = ~0ull, high = 0;
	unsigned l;

	WS_FOR_ACTIVE(l, mask) {
		if (ws_in_aperture(m, addr[l], size))
			continue;
		low = addr[l] < low ? addr[l] : low;
		high = addr[l] > high ? addr[l] : high;
	}
	/* one question for all of them answers the usual case, a pinned buffer */
	if (m->reachable && high + size > low && m->reachable(m->ctx, low, high + size - low))
		return WS_GO;
	WS_FOR_ACTIVE(l, mask)
		if (!ws_reachable(m, addr[l], size))
			return ws_wave_fault(w, i, WS_FAULT_MEMORY, addr[l], write);
	return WS_GO;
}
