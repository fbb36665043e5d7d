/*
 * memory: memory instructions, from the wave's trace to LDS, the vector memory pipeline and the scalar
 * caches.
 */
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

#define SQ(name) cu->own.sq[SG_C_##name]

/* Cycles of the access that comes next in the trace; exchanges between lanes have none. 0: the trace is damaged. */
static uint32_t lds_cycles(struct sg_cu *cu, const struct sg_model_wave *w,
			   struct sg_memory_trace trace, const struct sg_timing_insn *inst)
{
	struct sg_lds_memo **memo = &w->page->lds[w->slot];
	const struct sg_lds lds = { cu->model->d->lds_bytes, cu->model->hw->lds_banks,
				    &cu->model->lds_seen };
	struct sg_lds_cost next;
	const struct sg_lds_cost *cost = &next;

	if (!*memo)
		*memo = calloc(1, sizeof(**memo));
	if (!*memo)
		return 0;
	if (sg_lds_again(trace.records, w->exec, &lds, *memo, trace.lists))
		cost = &(*memo)->cost;
	else if (!sg_lds_next(trace.records, w->exec, inst, &lds, *memo, trace.lists, &next))
		return 0;
	SQ(SQ_LDS_IDX_ACTIVE) += cost->cycles;
	if (cost->bank_conflict | cost->addr_conflict | cost->unaligned | cost->violations) {
		SQ(SQ_LDS_BANK_CONFLICT) += cost->bank_conflict;
		SQ(SQ_LDS_ADDR_CONFLICT) += cost->addr_conflict;
		SQ(SQ_LDS_UNALIGNED_STALL) += cost->unaligned;
		SQ(SQ_LDS_MEM_VIOLATIONS) += cost->violations;
	}
	if (inst->mem_kind == SG_MEM_ATOMIC_RTN)
		SQ(SQ_LDS_ATOMIC_RETURN) += cost->cycles;
	return cost->cycles;
}

static void count_local(struct sg_cu *cu, const struct sg_model_wave *w,
			const struct sg_timing_insn *inst)
{
	/* the counters of data follow those of instructions, in the same order */
	const uint32_t to_data = SG_C_SQ_INSTS_LDS_LOAD_BANDWIDTH - SG_C_SQ_INSTS_LDS_LOAD;
	uint32_t place = inst->mem_kind == SG_MEM_LOAD    ? SG_C_SQ_INSTS_LDS_LOAD
			 : inst->mem_kind == SG_MEM_STORE ? SG_C_SQ_INSTS_LDS_STORE
							  : SG_C_SQ_INSTS_LDS_ATOMIC;

	cu->own.sq[place]++;
	/* bytes; finish_engines() divides their sum */
	cu->own.sq[place + to_data] +=
		w->lanes * inst->bytes * (inst->flags & SG_INSN_PAIR ? 2u : 1u);
}

bool sg_local_memory(struct sg_cu *cu, struct sg_model_wave *w, struct sg_memory_trace trace,
		     const struct sg_timing_insn *inst, uint64_t t)
{
	const struct sg_hw *hw = cu->model->hw;
	uint32_t cycles = 64 / hw->lds_banks;
	uint64_t *lds_free = &w->cu->lds_free, done;

	if (inst->mem_kind != SG_MEM_CONTROL) {
		cycles = lds_cycles(cu, w, trace, inst);
		if (!cycles)
			return false;
		sg_trace_prefetch(trace.records);
		count_local(cu, w, inst);
	}
	if (cu != w->home)
		return true;
	*lds_free = (t << 4 > *lds_free ? t << 4 : *lds_free) + cycles * hw->lds_16ths;
	done = (*lds_free >> 4) + hw->lds_latency;
	w->lgkm_done[sg_push_lgkm(w)] = done;
	w->set->level[SG_C_SQ_INST_LEVEL_LDS] += done - t;
	return true;
}

/* From the program's addresses to the model's. Every wave slot of the GPU has its slice of scratch. */
static void place(const struct sg_cu *cu, const struct sg_model_wave *w, struct sg_trace_access *a)
{
	uint64_t slot = (cu->index * 4ull + w->simd) * cu->model->hw->simd_waves + w->wave_slot;

	if (a->space == SG_SPACE_SCRATCH) {
		sg_trace_move(a, SG_SCRATCH_START + slot * cu->model->d->scratch_wave_bytes);
	} else if (a->affine) {
		int lane = a->mask ? __builtin_ctzll(a->mask)
				   : 0; /* the others need not be anywhere */
		uint64_t first = a->base + (uint64_t)((int64_t)a->stride * lane);

		sg_trace_move(a, sg_model_address(cu->model, first) - first);
	} else {
		for (uint64_t m = a->mask; m; m &= m - 1) {
			uint64_t *addr = &a->addr[__builtin_ctzll(m)];

			*addr = sg_model_address(cu->model, *addr);
		}
	}
}

/*
 * Keeps the lines of an access whose list of distances has been used before, for those that follow with the same
 * one: if all of it is in the device's memory, because then the lines move along with the base.
 */
static void keep_lines(struct sg_model *m, struct sg_model_wave *w,
		       const struct sg_trace_access *access, uint64_t base, uint64_t digest)
{
	struct sg_lines_memo **memo = &w->page->lines[w->slot];
	uint64_t from = base - m->d->origin, last = from;

	for (uint64_t lanes = access->mask; lanes; lanes &= lanes - 1) {
		uint64_t a = access->addr[__builtin_ctzll(lanes)];

		last = a > last ? a : last;
	}
	if (last >= m->d->extent || from > last || m->accesses.n > SG_MEMO_LINES)
		return;
	if (!*memo)
		*memo = malloc(sizeof(**memo));
	if (*memo)
		sg_lines_keep(*memo, &m->accesses, access->mask, digest, from, last);
}

/*
 * The lines of a follower whose lanes are in order, as its leader's are, whose access is in model->accesses: they are moved.
 * False: not such an access, nothing was done.
 */
static bool move_lines(struct sg_model *m, const struct sg_model_wave *w,
		       struct sg_trace_records *records)
{
	struct sg_in_order *last = &m->in_order, next;
	uint64_t by;

	if (!last->is_known || !sg_next_in_order(records, &next))
		return false;
	by = next.base - last->base;
	if (next.stride != last->stride || by % SG_MOVES_BY || !sg_is_own_memory(m, &next, w->exec))
		return false;
	m->accesses.first += (uint64_t)((int64_t)by / 64);
	last->base = next.base;
	records->at += SG_TRACE_SHORT_BYTES;
	return true;
}

/* The lines of the access that comes next in the trace, in model->accesses. False: the trace is damaged. */
static bool next_lines(struct sg_cu *cu, struct sg_model_wave *w, struct sg_memory_trace trace,
		       const struct sg_timing_insn *inst, bool *is_scratch, uint32_t *n_lanes)
{
	struct sg_model *m = cu->model;
	struct sg_trace_access access;
	struct sg_trace_short next;
	bool is_list;

	*is_scratch = false;
	if (cu != w->home && move_lines(m, w, trace.records)) {
		*n_lanes = w->lanes;
		return true;
	}
	m->in_order.is_known = false;
	is_list = sg_trace_like(trace.records, w->exec, SG_SPACE_GLOBAL, trace.lists, &next);
	if (is_list && w->page->lines[w->slot] &&
	    sg_lines_again(w->page->lines[w->slot], w->exec, next.digest, next.base - m->d->origin,
			   m->d->extent, &m->accesses)) {
		trace.records->at += SG_TRACE_SHORT_BYTES;
		*n_lanes = w->lanes;
		return true;
	}
	if (!sg_trace_memory(trace.records, w->exec, &access))
		return false;
	*is_scratch = access.space == SG_SPACE_SCRATCH;
	if (access.affine && access.space == SG_SPACE_GLOBAL && access.mask == w->exec && w->exec) {
		m->in_order = (struct sg_in_order){ access.base, access.stride, true };
		m->in_order.is_known = sg_is_own_memory(m, &m->in_order, w->exec);
	}
	place(cu, w, &access);
	sg_coalesce(&access, inst->bytes, &m->accesses);
	m->in_order.is_known &= m->accesses.per_line != 0;
	/* popcount is a call on baseline x86-64 */
	*n_lanes = access.mask == w->exec ? w->lanes : (uint32_t)__builtin_popcountll(access.mask);
	if (is_list)
		keep_lines(m, w, &access, next.base, next.digest);
	return true;
}

/*
 * The access of the wave's home, whose lines are in m->accesses, as one with those of its followers. NULL: it is not like theirs.
 */
static struct sg_joint_op *join(struct sg_model *m, struct sg_model_wave *w,
				const struct sg_trace_records *home,
				const struct sg_timing_insn *inst)
{
	struct sg_joint_op *joint = NULL;

	if (!m->joins)
		return NULL;
	if (inst->mem_kind == SG_MEM_LOAD || inst->mem_kind == SG_MEM_STORE)
		joint = sg_joint_gather(m, w, home);
	if (!joint)
		sg_joint_end(m);
	return joint;
}

/* Reads the lanes' addresses and sends the instruction on its way. *joined: and those of all that follow the wave. */
static bool access_vector(struct sg_cu *cu, struct sg_model_wave *w, struct sg_memory_trace trace,
			  const struct sg_timing_insn *inst, uint64_t t, bool *joined)
{
	struct sg_joint_op *joint = NULL;
	struct sg_trace_records before;
	bool all, is_scratch;
	uint32_t n_lanes;

	if (inst->mem_kind == SG_MEM_CONTROL) {
		if (cu->model->joins)
			sg_joint_l1_part(cu->model, w->cu->index);
		sg_tcp_control(&cu->tcp, w, inst, t);
		return true;
	}
	if (cu == w->home)
		cu->model->in_order.is_known = false; /* of another instruction */
	if (sg_reaches_lds(trace.records, inst)) {
		all = sg_trace_space(trace.records) == SG_SPACE_LDS;
		SQ(SQ_INSTS_LDS)++;
		SQ(SQ_INSTS_FLAT_NO_LDS)--; /* finish_engines() adds all flat ones */
		if (!sg_local_memory(cu, w, trace, inst, t))
			return false;
		if (all) {
			SQ(SQ_INSTS_FLAT_LDS_ONLY)++;
			sg_tcp_pass(&cu->tcp, inst);
			if (cu == w->home)
				w->vm_done[sg_push_vm(w)] =
					w->lgkm_done[(w->lgkm.n_issued - 1) % SG_MAX_LGKM];
			return true;
		}
	}
	before = *trace.records;
	if (!next_lines(cu, w, trace, inst, &is_scratch, &n_lanes))
		return false;
	sg_trace_prefetch(trace.records);
	if (cu == w->home)
		joint = join(cu->model, w, &before, inst);
	*joined = joint;
	sg_tcp_issue(joint ? sg_joint_of(w->cu) : &cu->tcp, w, inst, &cu->model->accesses, joint,
		     n_lanes, is_scratch, t);
	return true;
}

bool sg_vector_memory(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t t)
{
	bool joined = false;

	if (!access_vector(w->home, w, sg_memory_of(w), inst, t, &joined))
		return false;
	for (uint32_t k = 0; k < w->n_followers && !joined; k++)
		if (!access_vector(sg_follower_cu(w, k), w, sg_memory_of_follower(w, k), inst, t,
				   &joined))
			return false;
	return true;
}

static bool access_scalar(struct sg_cu *cu, struct sg_model_wave *w,
			  struct sg_trace_records *records, const struct sg_timing_insn *inst,
			  uint64_t t)
{
	uint64_t addr = 0;

	if (inst->mem_kind != SG_MEM_CONTROL && !sg_trace_address(records, &addr))
		return false;
	sg_sqc_load(cu, w, inst, sg_model_address(cu->model, addr), t);
	return true;
}

static bool follow_scalar(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t t)
{
	for (uint32_t k = 0; k < w->n_followers; k++)
		if (!access_scalar(sg_follower_cu(w, k), w, &w->followers[k].records, inst, t))
			return false;
	return true;
}

/* All read the same: a kernel's arguments, mostly. Does not advance the readers. */
static bool common_address(const struct sg_model_wave *w, uint64_t *addr)
{
	const struct sg_follower *f = w->followers;
	uint64_t first, other;

	if (!sg_trace_peek_address(&w->trace.reader.memory, &first))
		return false;
	for (uint32_t k = 0, n = w->n_followers; k < n; k++)
		if (!sg_trace_peek_address(&f[k].records, &other) || other != first)
			return false;
	*addr = first;
	return true;
}

static void skip_address(struct sg_trace_records *records)
{
	records->at += SG_TRACE_SHORT_BYTES;
	sg_trace_prefetch(records);
}

/* The leader's load is the first of those in step every other time: they compete for L2. */
bool sg_scalar_memory(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t t)
{
	struct sg_model *m = w->cu->model;
	uint64_t addr = 0;
	bool is_common =
		w->n_followers && inst->mem_kind == SG_MEM_LOAD && common_address(w, &addr);

	if (is_common && sg_sqc_load_common(w, inst, sg_model_address(m, addr), t)) {
		skip_address(&w->trace.reader.memory);
		for (uint32_t k = 0; k < w->n_followers; k++)
			skip_address(&w->followers[k].records);
		return true;
	}
	if (w->n_followers && m->n_issued & 1) {
		if (!follow_scalar(w, inst, t) ||
		    !access_scalar(w->home, w, &w->trace.reader.memory, inst, t))
			return false;
	} else if (!access_scalar(w->home, w, &w->trace.reader.memory, inst, t) ||
		   !follow_scalar(w, inst, t)) {
		return false;
	}
	if (is_common)
		sg_sqc_note_common(w, sg_model_address(m, addr));
	return true;
}
