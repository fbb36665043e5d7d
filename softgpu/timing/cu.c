/*
 * cu: issue. Every four cycles a SIMD issues at most one instruction to each unit, of different waves,
 * oldest first; a wave issues at most one. A wave waits for a known time, or for an answer that
 * provides it, so idle cycles are not simulated.
 */
#include "softgpu/timing/model_priv.h"

#define LDS_QUEUE 64 /* cycles of work that wait for LDS */
#define SQ(name) cu->sq[SG_C_##name]

static void end_wave(struct sg_cu *cu, struct sg_model_wave *w, uint64_t t)
{
	uint64_t life = t - w->started;

	SQ(SQ_WAVE_CYCLES) += life / SG_QUAD;
	cu->level[SG_C_SQ_LEVEL_WAVES] += life;
	if (t > w->issued_at)
		SQ(SQ_WAIT_ANY) += (t - w->issued_at) / SG_QUAD;
	sg_spi_wave_done(cu, w, t);
}

/* ---- instructions ---- */

static void barrier(struct sg_cu *cu, struct sg_model_wave *w, uint64_t t)
{
	struct sg_model_wg *wg = w->wg;

	w->stall = SG_STALL_BARRIER;
	w->waits = true;
	w->ready_at = SG_NEVER;
	if (++wg->n_at_barrier < wg->n_alive)
		return;
	wg->n_at_barrier = 0;
	for (unsigned s = 0; s < 4; s++)
		for (uint32_t k = 0; k < cu->simd[s].n_waves; k++) {
			struct sg_model_wave *other = cu->simd[s].waves[k];

			if (other->wg != wg || other->ready_at != SG_NEVER ||
			    other->stall != SG_STALL_BARRIER)
				continue;
			other->ready_at = sg_quads_up(t + 8);
			sg_wave_wake(other);
		}
}

static uint64_t valu_free(const struct sg_simd *simd, const struct sg_timing_insn *inst)
{
	return inst->matrix_passes && simd->matrix_free > simd->valu_free ? simd->matrix_free
									  : simd->valu_free;
}

static void occupy(uint64_t *unit_free, uint64_t t, uint32_t passes)
{
	*unit_free = (*unit_free > t ? *unit_free : t) + (uint64_t)SG_QUAD * passes;
}

/* A vector memory instruction waits for the address unit. Returns when to try again. */
static uint64_t wait_for_room(struct sg_cu *cu, const struct sg_timing_insn *inst, uint64_t t)
{
	/* an answer of L2 frees an entry: not before the next window */
	uint64_t until = cu->tcp.blocked ? cu->model->window_end : t + 4 * SG_QUAD;

	SQ(SQ_VMEM_TA_ADDR_FIFO_FULL) += (until - t) / SG_QUAD;
	SQ(SQ_VMEM_TA_CMD_FIFO_FULL) += (until - t) / SG_QUAD;
	if (inst->mem_kind == SG_MEM_STORE)
		SQ(SQ_VMEM_WR_TA_DATA_FIFO_FULL) += (until - t) / SG_QUAD;
	return until;
}

/* A counter must not overflow: the ring is as long as the counter counts. */
static uint64_t lgkm_ready(struct sg_model_wave *w, uint64_t t)
{
	if (w->lgkm.n_issued - w->lgkm.n_retired < SG_MAX_LGKM - 1)
		return t;
	w->wait_vm = SG_NO_WAIT;
	w->wait_lgkm = SG_MAX_LGKM - 2;
	sg_wave_wait(w, t);
	return w->ready_at;
}

/* t, if the instruction can issue at t; otherwise when to try again. */
static uint64_t unit_ready(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w,
			   const struct sg_timing_insn *inst, uint64_t t)
{
	if (inst->unit == SG_UNIT_VALU) {
		uint64_t when = valu_free(simd, inst);

		if (when <= t)
			return t;
		w->stall = SG_STALL_UNIT;
		return when;
	}
	switch (inst->unit) {
	case SG_UNIT_VMEM:
	case SG_UNIT_FLAT:
		if (inst->mem_kind == SG_MEM_CONTROL)
			return t;
		if (w->vm.n_issued - w->vm.n_retired >= SG_MAX_VM - 1) {
			w->wait_vm = SG_MAX_VM - 2;
			w->wait_lgkm = SG_NO_WAIT;
			sg_wave_wait(w, t);
			if (w->ready_at > t)
				return w->ready_at;
		}
		if (sg_tcp_room(cu, t))
			return sg_reaches_lds(w) ? lgkm_ready(w, t) : t;
		w->stall = SG_STALL_QUEUE;
		return wait_for_room(cu, inst, t);
	default:
		break;
	}
	return inst->unit == SG_UNIT_LDS || inst->unit == SG_UNIT_SMEM ? lgkm_ready(w, t) : t;
}

static bool execute(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w,
		    const struct sg_timing_insn *inst, uint64_t t)
{
	const struct sg_hw *hw = cu->model->hw;

	w->ready_at = t + SG_QUAD * inst->passes;
	if (inst->unit == SG_UNIT_VALU) {
		occupy(&simd->valu_free, t, inst->passes);
		if (inst->matrix_passes)
			occupy(&simd->matrix_free, t, inst->matrix_passes);
		SQ(SQ_THREAD_CYCLES_VALU) += w->lanes * inst->passes;
		return true;
	}
	switch (inst->unit) {
	case SG_UNIT_SMEM:
		return sg_scalar_memory(cu, w, inst, t);
	case SG_UNIT_VMEM:
	case SG_UNIT_FLAT:
		return sg_vector_memory(cu, w, inst, t);
	case SG_UNIT_LDS:
		return sg_local_memory(cu, w, inst, t);
	case SG_UNIT_MISC:
		if (inst->flags & SG_INSN_BARRIER)
			barrier(cu, w, t);
		else if (inst->flags & SG_INSN_BRANCH)
			w->ready_at = t + hw->branch;
		return true;
	case SG_UNIT_NONE:
		if (inst->wait_vm != SG_NO_WAIT || inst->wait_lgkm != SG_NO_WAIT) {
			w->wait_vm = inst->wait_vm;
			w->wait_lgkm = inst->wait_lgkm;
			sg_wave_wait(w, t + SG_QUAD);
		} else if (inst->idle) {
			w->stall = SG_STALL_SLEEP;
			w->waits = true;
			w->ready_at = sg_quads_up(t + SG_QUAD + inst->idle);
		}
		return true;
	default:
		return true;
	}
}

/* s_endpgm: the slot is free once the stores are done. */
static void finish(struct sg_model_wave *w, uint64_t t)
{
	w->ending = true;
	w->wait_vm = w->wait_lgkm = 0;
	w->issued_at = t + SG_QUAD;
	sg_wave_wait(w, t + SG_QUAD);
}

/*
 * Fast path for half of all instructions: arithmetic of one quad-cycle whose successor is in the same fetch
 * block. Equivalent to execute() and sg_wave_follow(). False: not such an instruction, nothing was done.
 */
static bool go_straight(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w,
			const struct sg_timing_insn *inst, uint64_t t)
{
	uint32_t slot = w->slot + inst->dwords;

	if (!inst->simple || w->reader.run < 2 || slot >= SG_MAP_SLOTS ||
	    !inst[inst->dwords].dwords || (w->page->base + 4ull * slot) >> 5 != w->fetch_block)
		return false;
	w->ready_at = t + SG_QUAD;
	w->reader.run--;
	w->slot = slot;
	if (inst->unit == SG_UNIT_VALU) {
		occupy(&simd->valu_free, t, 1);
		SQ(SQ_THREAD_CYCLES_VALU) += w->lanes;
	}
	return true;
}

static void issue(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w, uint64_t t)
{
	const struct sg_timing_insn *inst = sg_wave_inst(w);
	uint64_t ready = w->ready_at;

	w->page->count[cu->se][w->slot]++;
	cu->model->n_issued++;
	if (w->waits && ready > w->issued_at) {
		SQ(SQ_WAIT_ANY) += (ready - w->issued_at) / SG_QUAD;
		SQ(SQ_WAIT_INST_ANY) += (t - ready) / SG_QUAD;
	} else {
		SQ(SQ_WAIT_INST_ANY) += (t - w->issued_at) / SG_QUAD;
	}
	w->waits = false;
	w->stall = SG_STALL_NONE;
	w->last_pc = sg_model_pc(w);
	w->issued_at = t + SG_QUAD * inst->passes;
	if (go_straight(cu, simd, w, inst, t))
		return;
	if (inst->flags & SG_INSN_END) {
		finish(w, t);
		return;
	}
	if (!execute(cu, simd, w, inst, t) ||
	    !sg_wave_follow(cu, w, sg_model_pc(w) + 4 * inst->dwords, t))
		cu->model->failed = true;
}

/* The wave may issue, and the unit is free. Returns when to check the wave again. */
static uint64_t try_issue(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w,
			  uint32_t *used, uint64_t t)
{
	const struct sg_timing_insn *inst = sg_wave_inst(w);
	uint64_t when = unit_ready(cu, simd, w, inst, t);

	if (when > t)
		return when;
	if (inst->unit != SG_UNIT_NONE)
		*used |= 1u << inst->unit;
	issue(cu, simd, w, t);
	return w->ready_at;
}

/*
 * When the queue of the unit can take the wave's next instruction, judged without reading the wave; t: possibly
 * now. Vector memory is not checked here: each wave tries at its own time. If all tried at once, the oldest
 * would always win and run so far ahead of the youngest that their pages would not fit UTCL1 (measured in the
 * HBM benchmark: a third of the bandwidth).
 */
static uint64_t queue_ready(const struct sg_cu *cu, uint32_t unit, uint64_t t)
{
	if (unit != SG_UNIT_LDS || cu->lds_free <= (t + LDS_QUEUE) << 4)
		return t;
	return sg_quads_up((cu->lds_free >> 4) - LDS_QUEUE + SG_QUAD);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A wave that issued to the vector unit continues, quad-cycle by quad-cycle, while nothing else on the SIMD
 * can interfere: before `until`, younger waves that need the same unit do not matter, nor do fetches without
 * effect. Returns the cycle after the last issue.
 */
static uint64_t go_on(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w, uint64_t t,
		      uint64_t until)
{
	uint64_t *count = w->page->count[cu->se];
	uint32_t slot = w->slot, n = 0;
	const struct sg_timing_insn *inst = &w->page->inst[slot];

	while (w->ready_at < until && w->reader.run > 1 && inst->unit == SG_UNIT_VALU &&
	       inst->passes == 1 && !inst->matrix_passes && slot + inst->dwords < SG_MAP_SLOTS &&
	       inst[inst->dwords].dwords) {
		uint64_t pc = w->page->base + 4ull * (slot + inst->dwords);
		uint64_t at = w->ready_at > simd->valu_free ? w->ready_at : simd->valu_free;

		if (at >= until || (pc >> 5 != w->fetch_block && !sg_sqc_fetch_again(cu, pc)))
			break;
		if (pc >> 5 != w->fetch_block)
			sg_fetch_queue(cu, simd, at);
		w->fetch_block = pc >> 5;
		count[slot]++;
		n++;
		SQ(SQ_WAIT_INST_ANY) += (at - w->ready_at) / SG_QUAD;
		simd->valu_free = at + SG_QUAD;
		w->reader.run--;
		slot += inst->dwords;
		inst += inst->dwords;
		w->ready_at = w->issued_at = t = at + SG_QUAD;
	}
	w->slot = slot;
	cu->model->n_issued += n;
	SQ(SQ_THREAD_CYCLES_VALU) += (uint64_t)n * w->lanes;
	return t;
}

/* Waves that are at their end, a bit for each age. */
static void end_waves(struct sg_cu *cu, struct sg_simd *simd, uint32_t ending, uint64_t t)
{
	while (ending) { /* the youngest first: the others keep their places */
		uint32_t age = 31 - (uint32_t)__builtin_clz(ending);

		ending &= ~(1u << age);
		end_wave(cu, simd->waves[age], t);
	}
}

/*
 * One quad-cycle of a SIMD. Most waves that are checked have to wait for another one, so the data for that
 * check is in the SIMD itself.
 */
static void issue_quad(struct sg_cu *cu, struct sg_simd *simd, uint64_t t, uint64_t end)
{
	struct sg_model_wave *vector = NULL;         /* issued to the vector unit */
	uint64_t others = SG_NEVER, next = SG_NEVER; /* others: when another wave may interfere */
	uint32_t used = 0, due = 0, ending = 0;
	bool sampled = cu->next_sample != SG_NEVER;

	for (uint32_t k = 0; k < simd->n_waves; k++)
		due |= (uint32_t)(simd->ready[k] <= t) << k;
	*simd->next = SG_NEVER; /* an issue may release others */
	for (uint32_t left = due; left; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctz(left), unit = simd->unit[k];
		struct sg_model_wave *w = simd->waves[k];
		uint64_t again;

		if (used >> unit & 1) {
			if (sampled)
				w->stall = SG_STALL_NOT_CHOSEN;
			next = t + SG_QUAD;
			others = vector && unit == SG_UNIT_VALU ? others : t;
			continue;
		}
		if (unit == SG_UNIT_ENDING) {
			ending |= 1u << k;
			continue;
		}
		again = queue_ready(cu, unit, t);
		if (again > t) {
			if (sampled)
				w->stall = SG_STALL_QUEUE;
			simd->ready[k] = again;
			next = earlier(next, again);
			others = earlier(others, again);
			continue;
		}
		again = try_issue(cu, simd, w, &used, t);
		simd->ready[k] = again;
		simd->unit[k] = w->ending ? SG_UNIT_ENDING : sg_wave_inst(w)->unit;
		if (unit == SG_UNIT_VALU && again == w->issued_at && again > t) {
			vector = w;
			continue;
		}
		next = earlier(next, again);
		others = earlier(others, again);
	}
	for (uint32_t k = 0; k < simd->n_waves; k++) {
		uint64_t ready = due >> k & 1 ? SG_NEVER : simd->ready[k];

		next = earlier(next, ready);
		others = earlier(others, vector && k > vector->age && simd->unit[k] == SG_UNIT_VALU
						 ? SG_NEVER
						 : ready);
	}
	end_waves(cu, simd, ending, t);
	if (vector && !sampled) {
		others = earlier(earlier(others, *simd->next), end);
		if (vector->ready_at < others) {
			go_on(cu, simd, vector, t, others);
			simd->ready[vector->age] = vector->ready_at;
			simd->unit[vector->age] = sg_wave_inst(vector)->unit;
			/* waves that waited for it are checked now */
			next = next < vector->ready_at ? earlier(vector->ready_at, others) : next;
		}
	}
	if (vector)
		next = earlier(next, vector->ready_at);
	*simd->next = earlier(*simd->next, next);
}

static void prefetch(const struct sg_simd *simd, uint64_t end)
{
	for (uint32_t n = 0; n < simd->n_waves; n++) {
		const char *w = (const char *)simd->waves[n];

		if (simd->ready[n] >= end)
			continue;
		__builtin_prefetch(w, 1);
		__builtin_prefetch(w + 64, 1);
		__builtin_prefetch(w + 128, 1);
	}
}

void sg_cu_window(struct sg_scalar_group *group, uint64_t end)
{
	uint32_t n_simds = 4 * group->n_cus;
	uint64_t t = SG_NEVER;

	for (uint32_t k = 0; k < n_simds; k++) {
		t = earlier(t, group->next[k]);
		/* thousands of waves do not fit the host's L1 cache */
		if (group->next[k] < end)
			prefetch(&group->cus[k / 4]->simd[k % 4], end);
	}
	while (t < end && !group->model->failed) {
		for (uint32_t k = 0; k < n_simds; k++) {
			struct sg_cu *cu = group->cus[k / 4];

			if (k % 4 == 0 && cu->next_sample <= t)
				sg_sample_window(cu, t);
			if (group->next[k] <= t)
				issue_quad(cu, &cu->simd[k % 4], t, end);
		}
		t = SG_NEVER;
		for (uint32_t k = 0; k < n_simds; k++)
			t = earlier(t, group->next[k]);
	}
	for (uint32_t c = 0; c < group->n_cus; c++) {
		if (group->cus[c]->tcp.queue.head)
			sg_tcp_advance(group->cus[c], end);
		if (group->cus[c]->next_sample < end)
			sg_sample_window(group->cus[c], end - 1);
	}
}
