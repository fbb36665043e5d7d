/*
 * cu: issue. Every four cycles a SIMD issues at most one instruction to each unit, of different waves,
 * oldest first; a wave issues at most one. A wave waits for a known time, or for an answer that
 * provides it, so idle cycles are not simulated.
 */
#include "softgpu/timing/model_priv.h"

#define LDS_QUEUE 64 /* cycles of work that wait for LDS */
#define SQ(name) w->set->sq[SG_C_##name]

static void end_wave(struct sg_cu *cu, struct sg_model_wave *w, uint64_t t)
{
	uint64_t life = t - w->started;

	SQ(SQ_WAVE_CYCLES) += life / SG_QUAD;
	w->set->level[SG_C_SQ_LEVEL_WAVES] += life;
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

/*
 * A vector memory instruction waits for the address unit. Returns when to try again: each wave in steps of its
 * own. If all tried at once, the oldest would always win and run so far ahead of the youngest that their pages
 * would not fit UTCL1 (measured in the HBM benchmark: a third of the bandwidth).
 */
static uint64_t wait_for_room(const struct sg_tcp *full, const struct sg_model_wave *w,
			      const struct sg_timing_insn *inst, uint64_t t)
{
	uint64_t full_until = sg_tcp_full_until(full), step = 4 * SG_QUAD;
	uint64_t until = t + step + (full_until > t ? (full_until - t) / step * step : 0);

	SQ(SQ_VMEM_TA_ADDR_FIFO_FULL) += (until - t) / SG_QUAD;
	SQ(SQ_VMEM_TA_CMD_FIFO_FULL) += (until - t) / SG_QUAD;
	if (inst->mem_kind == SG_MEM_STORE)
		SQ(SQ_VMEM_WR_TA_DATA_FIFO_FULL) += (until - t) / SG_QUAD;
	return until;
}

/* The pipeline of the CU, or the first of those in step with it, whose address unit is full; NULL: none is. */
static const struct sg_tcp *full_tcp(struct sg_cu *cu, uint64_t t)
{
	uint32_t n = sg_lockstep_n(cu->model, cu->xcc);

	if (cu->model->joins)
		return sg_tcp_room(sg_joint_of(cu), t) ? NULL : sg_joint_of(cu);
	for (uint32_t k = 0; k < n; k++) {
		struct sg_cu *other = k ? sg_lockstep_cu(cu, k) : cu;

		if (other && !sg_tcp_room(&other->tcp, t))
			return &other->tcp;
	}
	return NULL;
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
	const struct sg_tcp *full;

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
		full = full_tcp(cu, t);
		if (!full)
			return sg_reaches_lds(&w->trace.reader.memory, inst) ? lgkm_ready(w, t) : t;
		w->stall = SG_STALL_QUEUE;
		return wait_for_room(full, w, inst, t);
	default:
		break;
	}
	if (inst->unit == SG_UNIT_SMEM) {
		uint64_t when = sg_sqc_ready(w->home, t);

		if (when > t) {
			w->stall = SG_STALL_QUEUE;
			return when;
		}
	}
	return inst->unit == SG_UNIT_LDS || inst->unit == SG_UNIT_SMEM ? lgkm_ready(w, t) : t;
}

/* Of the wave and those that follow it, each on its CU. */
static bool local_memory(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t t)
{
	if (!sg_local_memory(w->home, w, sg_memory_of(w), inst, t))
		return false;
	for (uint32_t k = 0; k < w->n_followers; k++)
		if (!sg_local_memory(sg_follower_cu(w, k), w, sg_memory_of_follower(w, k), inst, t))
			return false;
	return true;
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
		return sg_scalar_memory(w, inst, t);
	case SG_UNIT_VMEM:
	case SG_UNIT_FLAT:
		return sg_vector_memory(w, inst, t);
	case SG_UNIT_LDS:
		return local_memory(w, inst, t);
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

/* Fast path of sg_wave_follow(): to the next instruction, in the same fetch block. False: it is elsewhere. */
static inline bool step(struct sg_model_wave *w, const struct sg_timing_insn *inst)
{
	if (w->trace.reader.run < 2 || !inst->in_block || !inst[inst->dwords].dwords)
		return false;
	w->trace.reader.run--;
	w->slot += inst->dwords;
	return true;
}

/*
 * Fast path for half of all instructions: arithmetic of one quad-cycle whose successor is in the same fetch
 * block. Equivalent to execute() and sg_wave_follow(). False: not such an instruction, nothing was done.
 */
static bool go_straight(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w,
			const struct sg_timing_insn *inst, uint64_t t)
{
	if (!inst->simple || !step(w, inst))
		return false;
	w->ready_at = t + SG_QUAD;
	if (inst->unit == SG_UNIT_VALU) {
		occupy(&simd->valu_free, t, 1);
		SQ(SQ_THREAD_CYCLES_VALU) += w->lanes;
	}
	return true;
}

/* The next instruction waits for results that are late. */
static void wait_for_operands(struct sg_model_wave *w, uint64_t t)
{
	uint64_t *at = w->ready_at == SG_NEVER ? &w->not_before : &w->ready_at, ready;

	if (w->late.until <= t) /* it issues later than that anyway */
		return;
	/* nothing to do, or the end is far off; of the unknown ones, only a fetch may be short */
	if (w->ending || w->late.until <= *at ||
	    (w->ready_at == SG_NEVER && w->stall != SG_STALL_FETCH))
		return;
	ready = sg_scoreboard_ready(&w->late, sg_wave_inst(w), *at);
	if (ready == *at)
		return;
	if (w->ready_at != SG_NEVER && !w->waits)
		w->stall = SG_STALL_DEPENDENCY;
	*at = ready;
}

static void issue(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w, uint64_t t)
{
	const struct sg_timing_insn *inst = sg_wave_inst(w);
	uint64_t ready = w->ready_at;

	w->page->count[w->set->count_at][w->slot]++;
	cu->model->n_issued++;
	if (w->waits && ready > w->issued_at)
		SQ(SQ_WAIT_ANY) += (ready - w->issued_at) / SG_QUAD;
	else
		ready = w->issued_at;
	SQ(SQ_WAIT_INST_ANY) += (t - ready) / SG_QUAD;
	if (inst->unit == SG_UNIT_LDS)
		SQ(SQ_WAIT_INST_LDS) += (t - ready) / SG_QUAD;
	w->waits = false;
	w->stall = SG_STALL_NONE;
	w->last_pc = sg_model_pc(w);
	w->issued_at = t + SG_QUAD * inst->passes;
	if (inst->late_most)
		sg_scoreboard_add(&w->late, inst, t);
	if (go_straight(cu, simd, w, inst, t)) {
		wait_for_operands(w, t);
		return;
	}
	if (inst->flags & SG_INSN_END) {
		finish(w, t);
		return;
	}
	if (!execute(cu, simd, w, inst, t) ||
	    (!step(w, inst) && !sg_wave_follow(cu, w, sg_model_pc(w) + 4 * inst->dwords, t)))
		cu->model->failed = true;
	else
		wait_for_operands(w, t);
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
 * now. Vector memory is not checked here: see wait_for_room().
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

static uint32_t earlier_due(uint32_t a, uint32_t b)
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
	uint64_t *count = w->page->count[w->set->count_at];
	uint32_t slot = w->slot, n = 0;
	const struct sg_timing_insn *inst = &w->page->inst[slot];

	while (w->ready_at < until && w->trace.reader.run > 1 && inst->unit == SG_UNIT_VALU &&
	       inst->simple && slot + inst->dwords < SG_MAP_SLOTS && inst[inst->dwords].dwords &&
	       w->late.vector_until <= w->ready_at) {
		uint64_t pc = w->page->base + 4ull * (slot + inst->dwords);
		uint64_t at = w->ready_at > simd->valu_free ? w->ready_at : simd->valu_free;

		if (at >= until ||
		    (pc >> 5 != w->fetch_block && !sg_sqc_fetch_again(cu, w->set, pc)))
			break;
		if (pc >> 5 != w->fetch_block)
			sg_fetch_queue(cu, simd, at);
		w->fetch_block = pc >> 5;
		count[slot]++;
		n++;
		SQ(SQ_WAIT_INST_ANY) += (at - w->ready_at) / SG_QUAD;
		simd->valu_free = at + SG_QUAD;
		if (inst->late_most)
			sg_scoreboard_add(&w->late, inst, at);
		w->trace.reader.run--;
		slot += inst->dwords;
		inst += inst->dwords;
		w->ready_at = w->issued_at = t = at + SG_QUAD;
	}
	w->slot = slot;
	wait_for_operands(w, t);
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

/* In the quad-cycle these waves could issue, but another one did. */
static void pass_over(const struct sg_simd *simd, uint32_t waves)
{
	for (; waves; waves &= waves - 1)
		simd->waves[__builtin_ctz(waves)]->stall = SG_STALL_NOT_CHOSEN;
}

/* The queue of their unit is full until then. */
static void wait_for_queue(const struct sg_cu *cu, struct sg_simd *simd, uint32_t waves,
			   uint64_t until, bool sampled)
{
	for (; waves; waves &= waves - 1) {
		uint32_t k = (uint32_t)__builtin_ctz(waves);

		sg_simd_ready(cu->model, simd, k, until);
		if (sampled)
			simd->waves[k]->stall = SG_STALL_QUEUE;
	}
}

/* The wave just issued to the vector unit at t. Continues, at most until others are due, and returns when they
 * have to be checked. */
static uint64_t continue_alone(struct sg_cu *cu, struct sg_simd *simd, struct sg_model_wave *w,
			       uint64_t t, uint32_t others)
{
	const struct sg_model *m = cu->model;
	uint64_t until, check = t + SG_QUAD;

	until = others == SG_DUE_LATER ? m->window_end : m->window_start + SG_QUAD * others;
	if (w->ready_at < until) {
		go_on(cu, simd, w, t, until);
		check = earlier(w->ready_at, until);
	}
	sg_simd_ready(m, simd, w->age, w->ready_at);
	simd->unit[w->age] = sg_wave_inst(w)->unit;
	return check;
}

/*
 * One quad-cycle of a SIMD. Most waves that are checked have to wait for another one, so the data for that
 * check is in the SIMD itself.
 */
uint32_t sg_simd_quad(struct sg_cu *cu, struct sg_simd *simd, uint64_t t)
{
	const struct sg_model *m = cu->model;
	struct sg_model_wave *vector = NULL; /* issued to the vector unit */
	struct sg_dues dues = sg_dues_load(simd->due, simd->unit);
	uint32_t used = 0, ending = 0, at = (uint32_t)(t - m->window_start) / SG_QUAD;
	uint32_t vector_age = 0;      /* before waves end */
	uint32_t passed = 0;          /* another one was issued to their unit */
	uint32_t next = SG_DUE_LATER; /* when one of those that were looked at is due again */
	uint8_t *released = &cu->group->due[simd->in_group];
	uint64_t check = t + SG_QUAD; /* those that are left: the earliest time */
	bool sampled = cu->next_sample != SG_NEVER;

	*released = SG_DUE_LATER;
	for (uint32_t left = sg_dues_take(&dues, at); left;) {
		uint32_t k = (uint32_t)__builtin_ctz(left), unit = simd->unit[k], same;
		struct sg_model_wave *w = simd->waves[k];
		uint64_t again;

		left &= left - 1;
		if (unit == SG_UNIT_ENDING) {
			ending |= 1u << k;
			continue;
		}
		again = queue_ready(cu, unit, t);
		if (again > t) { /* for the others as well */
			same = 1u << k | (left & sg_dues_of(&dues, unit));
			left &= ~same;
			wait_for_queue(cu, simd, same, again, sampled);
			next = earlier_due(next, simd->due[k]);
			sg_busy_add(&cu->lds_full, t, again);
			continue;
		}
		again = try_issue(cu, simd, w, &used, t);
		if (unit == SG_UNIT_VALU && again == w->issued_at && again > t && !sampled) {
			vector = w;
			vector_age = k;
		} else {
			sg_simd_ready(m, simd, k, again);
			simd->unit[k] = w->ending ? SG_UNIT_ENDING : sg_wave_inst(w)->unit;
			next = earlier_due(next, simd->due[k]);
		}
		if (!(used >> unit & 1))
			continue;
		same = left & sg_dues_of(&dues, unit);
		left &= ~same;
		passed |= same;
		if (sampled)
			pass_over(simd, same);
	}
	end_waves(cu, simd, ending, t);
	next = earlier_due(next, *released);
	if (vector) { /* younger ones that need the same unit do not matter */
		uint32_t younger = sg_dues_of(&dues, SG_UNIT_VALU) & ~((2u << vector_age) - 1);
		uint32_t others = passed & ~younger
					  ? at
					  : sg_dues_first_other(&dues, vector_age, SG_UNIT_VALU);

		check = continue_alone(cu, simd, vector, t, earlier_due(next, others));
		next = earlier_due(next, simd->due[vector->age]);
	}
	next = passed ? at : earlier_due(next, sg_dues_first(&dues));
	at = sg_due_at(check, m->window_start, m->window_end);
	next = next > at ? next : at;
	*released = (uint8_t)next;
	return next;
}

static void prefetch(const struct sg_simd *simd)
{
	for (uint32_t n = 0; n < simd->n_waves; n++) {
		const char *w = (const char *)simd->waves[n];

		if (simd->due[n] == SG_DUE_LATER)
			continue;
		__builtin_prefetch(w, 1);
		__builtin_prefetch(w + 64, 1);
		__builtin_prefetch(w + 128, 1);
	}
}

/* What each SIMD has to do in the window. False: nothing. */
static bool begin_window(struct sg_scalar_group *group, uint64_t end)
{
	const struct sg_model *m = group->model;
	bool is_active = false, compares = !m->d->sample_cycles && !m->d->every_window;

	memset(group->due, SG_DUE_LATER, sizeof(group->due));
	for (uint32_t k = 0; k < 4 * group->n_cus; k++) {
		struct sg_cu *cu = group->cus[k / 4];
		struct sg_simd *simd = &cu->simd[k % 4];

		memset(simd->due, SG_DUE_LATER, sizeof(simd->due));
		if (group->next[k] >= end)
			continue;
		is_active = true;
		if (compares && sg_steady_repeat(cu, simd))
			continue;
		group->due[k] = sg_due_at(group->next[k], m->window_start, end);
		for (uint32_t n = 0; n < simd->n_waves; n++)
			simd->due[n] = sg_due_at(simd->ready[n], m->window_start, end);
		if (compares && simd->is_new)
			sg_steady_keep(cu, simd);
		else
			prefetch(simd); /* thousands of waves do not fit the host's L1 cache */
	}
	return is_active;
}

/* When each SIMD has something to do again. */
static void find_next(struct sg_scalar_group *group, uint64_t end)
{
	for (uint32_t k = 0; k < 4 * group->n_cus; k++) {
		const struct sg_simd *simd = &group->cus[k / 4]->simd[k % 4];
		uint64_t next = SG_NEVER;

		for (uint32_t n = 0; n < simd->n_waves; n++)
			next = earlier(next, simd->ready[n]);
		group->next[k] = next > end ? next : end;
	}
}

void sg_cu_window(struct sg_scalar_group *group, uint64_t end)
{
	const struct sg_model *m = group->model;
	bool is_active = begin_window(group, end);
	sg_due_bytes due = sg_due_load(group->due);
	uint32_t at;

	group->has_woken = false;
	while ((at = sg_due_min(due)) != SG_DUE_LATER && !m->failed) {
		uint64_t t = m->window_start + SG_QUAD * at;

		for (uint32_t c = 0; m->d->sample_cycles && c < group->n_cus; c++)
			if (group->cus[c]->next_sample <= t)
				sg_sample_window(group->cus[c], t);
		for (uint32_t simds = sg_due_equal(due, at); simds; simds &= simds - 1) {
			uint32_t k = (uint32_t)__builtin_ctz(simds);
			struct sg_cu *cu = group->cus[k / 4];

			due = sg_due_with(due, k, sg_simd_quad(cu, &cu->simd[k % 4], t));
		}
		if (group->has_woken) { /* rare: at barriers, and where the last wave before one ends */
			due = sg_due_load(group->due);
			group->has_woken = false;
		}
	}
	if (is_active)
		find_next(group, end);
}

void sg_cu_end_window(struct sg_scalar_group *group, uint64_t end)
{
	for (uint32_t c = 0; c < group->n_cus; c++) {
		if (group->cus[c]->tcp.queue.n)
			sg_tcp_advance(&group->cus[c]->tcp, end);
		if (group->cus[c]->next_sample < end)
			sg_sample_window(group->cus[c], end - 1);
	}
}
