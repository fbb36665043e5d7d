#include "softgpu/mem/lds.h"

#include <string.h>

#define N_BANKS 32

/* The lanes [first, first + n) in one go: how many turns does the busiest bank take? */
static uint32_t turns_of(const struct sg_trace_access *in, unsigned first, unsigned n,
			 uint32_t offset, uint32_t size, bool atomic, struct sg_lds_cost *cost)
{
	uint32_t seen[N_BANKS][64]; /* distinct dwords of each bank */
	uint8_t n_seen[N_BANKS] = { 0 }, n_same[N_BANKS] = { 0 };
	uint32_t turns = 0, same = 0;
	uint64_t lanes = in->mask >> first & (n == 64 ? ~0ull : (1ull << n) - 1);

	for (; lanes; lanes &= lanes - 1) {
		uint64_t a = in->addr[first + (unsigned)__builtin_ctzll(lanes)] + offset;
		uint32_t dwords = (uint32_t)(((a & 3) + size + 3) / 4);

		for (uint32_t d = 0; d < dwords; d++) {
			uint32_t dword = (uint32_t)(a / 4 + d), bank = dword % N_BANKS, k = 0;

			while (k < n_seen[bank] && seen[bank][k] != dword)
				k++;
			if (k < n_seen[bank]) {
				if (atomic && ++n_same[bank] > same)
					same = n_same[bank];
				continue;
			}
			seen[bank][n_seen[bank]++] = dword;
			turns = n_seen[bank] > turns ? n_seen[bank] : turns;
		}
		if (a & (size < 4 ? size - 1 : 3u))
			cost->unaligned++;
	}
	cost->addr_conflict += same;
	return turns + same;
}

struct sg_lds_cost sg_lds_cost(const struct sg_trace_access *in, const struct sg_timing_insn *inst,
			       uint32_t lds_bytes)
{
	struct sg_lds_cost cost = { 0 };
	bool atomic = inst->mem_kind == SG_MEM_ATOMIC || inst->mem_kind == SG_MEM_ATOMIC_RTN;
	bool pair = inst->flags & SG_INSN_PAIR;
	unsigned together = inst->bytes <= 4 ? 32 : inst->bytes <= 8 ? 16 : 8;

	for (unsigned p = 0; p < (pair ? 2u : 1u); p++)
		for (unsigned first = 0; first < 64; first += together) {
			uint32_t before = cost.addr_conflict;
			uint32_t turns = turns_of(in, first, together, pair ? inst->pair[p] : 0,
						  inst->bytes, atomic, &cost);
			uint32_t conflict = turns - (cost.addr_conflict - before);

			if (!turns)
				turns = 1; /* no lanes: it takes its turn all the same */
			cost.cycles += turns;
			cost.bank_conflict += conflict > 1 ? conflict - 1 : 0;
		}
	for (uint64_t m = in->mask; m; m &= m - 1)
		if (in->addr[__builtin_ctzll(m)] + inst->bytes > lds_bytes && lds_bytes)
			cost.violations++;
	cost.cycles += cost.unaligned;
	return cost;
}

bool sg_lds_next(struct sg_trace_reader *r, uint64_t exec, const struct sg_timing_insn *inst,
		 uint32_t lds_bytes, struct sg_lds_memo *memo, struct sg_lds_cost *out)
{
	struct sg_trace_access access;
	enum sg_trace_form form;
	uint64_t mask, base = 0, last = 0;
	size_t size = 0, end = 0;
	const uint8_t *payload = sg_trace_peek(r, exec, &mask, &base, &form, &size, &end);

	if (payload && size == memo->size && mask == memo->mask && (base & 127) == memo->base &&
	    form == memo->form && base + memo->reach <= lds_bytes &&
	    !memcmp(payload, memo->payload, size)) {
		*out = memo->cost;
		r->memory_at = end;
		return true;
	}
	if (!sg_trace_memory(r, exec, &access))
		return false;
	sg_trace_expand(&access);
	*out = sg_lds_cost(&access, inst, lds_bytes);
	for (uint64_t m = mask; m; m &= m - 1) {
		uint64_t a = access.addr[__builtin_ctzll(m)];

		last = a > last ? a : last;
	}
	last += inst->bytes + (inst->flags & SG_INSN_PAIR ? inst->pair[1] : 0);
	memo->size = 0;
	/* one that is cut off, or begins below its base, is nobody's pattern */
	if (!payload || out->violations || size > sizeof(memo->payload) || last < base)
		return true;
	*memo = (struct sg_lds_memo){ .cost = *out,
				      .mask = mask,
				      .reach = last - base,
				      .base = base & 127,
				      .size = (uint32_t)size,
				      .form = (uint8_t)form };
	memcpy(memo->payload, payload, size);
	return true;
}
