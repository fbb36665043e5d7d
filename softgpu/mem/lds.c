#include "softgpu/mem/lds.h"

#include <string.h>

#define MOST_DWORDS (64 * 5) /* of lanes of 16 bytes that are not aligned */

/* Of a lane. */
static inline uint32_t n_dwords(uint64_t a, uint32_t size)
{
	return (uint32_t)(((a & 3) + size + 3) / 4);
}

/* The dwords that the lanes access, modulo SG_LDS_MAX_DWORDS. Returns how many. */
static uint32_t find_dwords(const struct sg_trace_access *in, uint64_t lanes, uint32_t offset,
			    uint32_t size, uint32_t dwords[MOST_DWORDS], uint32_t *n_unaligned)
{
	uint32_t n = 0;

	*n_unaligned = 0;
	for (; lanes; lanes &= lanes - 1) {
		uint64_t a = in->addr[__builtin_ctzll(lanes)] + offset;

		for (uint32_t d = 0, end = n_dwords(a, size); d < end; d++)
			dwords[n++] = (uint32_t)(a / 4 + d) % SG_LDS_MAX_DWORDS;
		*n_unaligned += (a & (size < 4 ? size - 1 : 3u)) != 0;
	}
	return n;
}

/*
 * The lanes in one go: how many turns does the busiest bank take? Whether two lanes meet in a bank or in a dword is as good as
 * random in a histogram, so nothing here branches on it.
 */
static uint32_t turns_of(const struct sg_trace_access *in, uint64_t lanes, uint32_t offset,
			 uint32_t size, bool atomic, const struct sg_lds *lds,
			 struct sg_lds_cost *cost)
{
	uint16_t counts[SG_LDS_BANKS] = {
		0
	}; /* distinct dwords, and in the upper half the others */
	uint32_t dwords[MOST_DWORDS], unaligned;
	uint32_t n = find_dwords(in, lanes & in->mask, offset, size, dwords, &unaligned);
	uint8_t *seen = lds->seen->dwords;
	uint16_t turns = 0, same = 0;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t bank = dwords[k] & (lds->n_banks - 1);
		uint8_t again = seen[dwords[k]];

		seen[dwords[k]] = 1;
		counts[bank] = (uint16_t)(counts[bank] + 1 + again * 0xff);
	}
	for (uint32_t k = 0; k < n; k++)
		seen[dwords[k]] = 0;
	for (uint32_t bank = 0; bank < SG_LDS_BANKS; bank++) {
		uint16_t distinct = counts[bank] & 0xff, others = counts[bank] >> 8;

		turns = distinct > turns ? distinct : turns;
		same = others > same ? others : same;
	}
	if (!atomic)
		same = 0;
	cost->unaligned += unaligned;
	cost->addr_conflict += same;
	return turns + same;
}

/* Quads of lanes that a read of 16 bytes serves together, for the first half of a wave; the other is the same. */
static const uint8_t quads_of_32_banks[] = { 0x21, 0x12, 0x84, 0x48 };
static const uint8_t quads_of_64_banks[] = { 0x69, 0x96 };

static uint64_t lanes_of_quads(uint8_t quads)
{
	uint64_t lanes = 0;

	for (unsigned q = 0; q < 8; q++)
		if (quads & 1u << q)
			lanes |= 0xfull << 4 * q;
	return lanes;
}

/* The groups of lanes that are served together, one after the other; how many there are. */
static unsigned groups_of(const struct sg_timing_insn *inst, uint32_t n_banks, uint64_t groups[8])
{
	bool load = inst->mem_kind == SG_MEM_LOAD;
	unsigned dwords = inst->bytes <= 4 ? 1 : inst->bytes <= 8 ? 2 : 4;
	unsigned together = (load ? n_banks : 32) / dwords, n = 64 / together;
	const uint8_t *quads = n_banks == 64 ? quads_of_64_banks : quads_of_32_banks;

	for (unsigned g = 0; g < n; g++)
		if (load && inst->bytes == 16)
			groups[g] = lanes_of_quads(quads[g % (n / 2)]) << 32 * (g / (n / 2));
		else
			groups[g] = (together == 64 ? ~0ull : (1ull << together) - 1)
				    << g * together;
	return n;
}

struct sg_lds_cost sg_lds_cost(const struct sg_trace_access *in, const struct sg_timing_insn *inst,
			       const struct sg_lds *lds)
{
	struct sg_lds_cost cost = { 0 };
	bool atomic = inst->mem_kind == SG_MEM_ATOMIC || inst->mem_kind == SG_MEM_ATOMIC_RTN;
	bool pair = inst->flags & SG_INSN_PAIR;
	uint64_t groups[8];
	unsigned n_groups = groups_of(inst, lds->n_banks, groups);

	for (unsigned p = 0; p < (pair ? 2u : 1u); p++)
		for (unsigned g = 0; g < n_groups; g++) {
			uint32_t before = cost.addr_conflict;
			uint32_t turns = turns_of(in, groups[g], pair ? inst->pair[p] : 0,
						  inst->bytes, atomic, lds, &cost);
			uint32_t conflict = turns - (cost.addr_conflict - before);

			if (!turns)
				turns = 1; /* no lanes: it takes its turn all the same */
			cost.cycles += turns;
			cost.bank_conflict += conflict > 1 ? conflict - 1 : 0;
		}
	for (uint64_t m = in->mask; m; m &= m - 1)
		if (in->addr[__builtin_ctzll(m)] + inst->bytes > lds->bytes && lds->bytes)
			cost.violations++;
	cost.cycles += cost.unaligned;
	return cost;
}

bool sg_lds_next(struct sg_trace_records *r, uint64_t exec, const struct sg_timing_insn *inst,
		 const struct sg_lds *lds, struct sg_lds_memo *memo, struct sg_list_digests *lists,
		 struct sg_lds_cost *out)
{
	struct sg_trace_access access;
	enum sg_trace_form form;
	uint64_t mask, base = 0, last = 0, digest = 0;
	size_t size = 0, end = 0;
	const uint8_t *payload = sg_trace_peek(r, exec, &mask, &base, &form, &size, &end);

	if (payload && form == SG_TRACE_AFFINE)
		memcpy(&digest, payload, size); /* the stride */
	else if (payload && payload - r->bytes <= UINT32_MAX)
		digest = sg_list_digest(lists, (size_t)(payload - r->bytes), payload, size);
	else if (payload)
		digest = sg_digest(0, payload, size);
	if (payload && memo->is_set && digest == memo->digest && mask == memo->mask &&
	    base % SG_LDS_ROW == memo->base && form == memo->form &&
	    base + memo->reach <= lds->bytes) {
		*out = memo->cost;
		r->at = end;
		return true;
	}
	if (!sg_trace_memory(r, exec, &access))
		return false;
	sg_trace_expand(&access);
	*out = sg_lds_cost(&access, inst, lds);
	for (uint64_t m = mask; m; m &= m - 1) {
		uint64_t a = access.addr[__builtin_ctzll(m)];

		last = a > last ? a : last;
	}
	last += inst->bytes + (inst->flags & SG_INSN_PAIR ? inst->pair[1] : 0);
	memo->is_set = false;
	/* one that is cut off, or begins below its base, is nobody's pattern */
	if (!payload || out->violations || last < base)
		return true;
	*memo = (struct sg_lds_memo){ .cost = *out,
				      .mask = mask,
				      .reach = last - base,
				      .digest = digest,
				      .base = base % SG_LDS_ROW,
				      .form = (uint8_t)form,
				      .is_set = true };
	return true;
}
