#include "softgpu/exec/fault_lane.h"

#define SG_LEVEL plain
#include "softgpu/exec/mem.h"
#include "softgpu/exec/ops_flat.h"
#undef SG_OP_cache_control /* the buffers have the same one */
#include "softgpu/exec/ops_buffer.h"

#define WIDEST 16 /* bytes of one lane */

static bool anything(void *ctx, uint64_t addr, uint64_t size)
{
	return true;
}

static const struct sg_mem_map all_reachable = { .reachable = anything };

/* The lane that starts last at or before the address, and not far from it. */
static int32_t nearest(const uint64_t *addr, uint64_t mask, uint64_t address, uint64_t reach)
{
	uint64_t best = reach;
	int32_t found = -1;
	unsigned l;

	SG_FOR_ACTIVE(l, mask)
		if (address - addr[l] < best) {
			best = address - addr[l];
			found = (int32_t)l;
		}
	return found;
}

static int32_t flat_lane(const struct sg_wave *w, const struct sg_exec_insn *i, uint64_t address)
{
	uint64_t addr[SG_LANES] __attribute__((aligned(64))), exec = sg_exec(w);
	uint64_t base = sg_s64(w, SG_S_FLAT_SCRATCH);
	int32_t lane;
	unsigned l;

	sg_flat_addresses(w, i, addr);
	lane = i->inner & SG_MEM_SEG_SCRATCH ? -1 : nearest(addr, exec, address, WIDEST);
	if (lane >= 0)
		return lane;
	/* private memory: dwords of one lane are far apart, so the dword decides */
	SG_FOR_ACTIVE(l, exec)
		addr[l] = base + ((uint32_t)addr[l] >> 2) * (uint64_t)SG_SCRATCH_STEP + 4 * l;
	return nearest(addr, exec, address, 4);
}

static int32_t buffer_lane(struct sg_wave *w, const struct sg_exec_insn *i, uint64_t address)
{
	uint64_t addr[SG_LANES], exec = sg_exec(w);
	struct sg_lanes a;
	unsigned l;

	if (sg_buffer_lanes(w, i, 4, false, false, &a) != SG_GO)
		return -1;
	SG_FOR_ACTIVE(l, exec)
		addr[l] = (uint64_t)(uintptr_t)a.at[l];
	return nearest(addr, a.plain | a.odd, address, WIDEST);
}

int32_t sg_fault_lane(struct sg_wave *w)
{
	const struct sg_mem_map *mem = w->mem;
	const struct sg_exec_insn *i = w->at;
	struct sg_fault fault = w->fault;
	int32_t lane = -1;

	if (fault.kind == SG_FAULT_TRAP) /* of one lane, as assert() and abort() often are */
		return __builtin_popcountll(sg_exec(w)) == 1 ? __builtin_ctzll(sg_exec(w)) : -1;
	if ((fault.kind != SG_FAULT_MEMORY && fault.kind != SG_FAULT_APERTURE) || !i || !i->fields)
		return -1;
	switch (i->fields->row->enc) {
	case SG_ENC_FLAT:
		lane = flat_lane(w, i, fault.address);
		break;
	case SG_ENC_MUBUF:
	case SG_ENC_MTBUF:
		w->mem = &all_reachable; /* what cannot be reached has an address as well */
		lane = buffer_lane(w, i, fault.address);
		w->mem = mem;
		w->fault = fault;
		break;
	default:
		break;
	}
	return lane;
}
