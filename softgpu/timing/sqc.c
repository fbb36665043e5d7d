/*
 * sqc: the scalar data cache and the instruction cache that a group of CUs shares.
 *
 * Accesses to a line in flight wait for it. The first 30 of them count as duplicates, as on hardware, where
 * the queue of a miss has that length and later accesses enter it only after the answer.
 */
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

static struct sg_pending_line *pending_line(struct sg_scalar_side *side, uint64_t line, uint64_t t)
{
	for (unsigned k = 0, n = side->n_pending; n; k++) {
		struct sg_pending_line *p = &side->pending[k];

		if (!p->used)
			continue;
		n--;
		if (p->ready <= t) {
			p->used = false;
			side->n_pending--;
		} else if (p->line == line) {
			return p;
		}
	}
	return NULL;
}

static struct sg_pending_line *new_pending(struct sg_scalar_side *side, uint64_t line)
{
	struct sg_pending_line *p = NULL;

	for (unsigned k = 0; k < SG_MAX_PENDING && !p; k++)
		if (!side->pending[k].used)
			p = &side->pending[k];
	if (!p)
		p = &side->pending[line % SG_MAX_PENDING];
	side->n_pending += !p->used;
	*p = (struct sg_pending_line){ .line = line, .ready = SG_NEVER, .used = true };
	return p;
}

static void send(struct sg_scalar_group *g, uint64_t line, enum sg_req_kind kind, uint64_t t)
{
	struct sg_request r = { .time = t + g->model->hw->request,
				.addr = line << 6,
				.owner = g,
				.source = (uint16_t)(SG_SOURCE_SQC + g->index),
				.kind = (uint8_t)kind,
				.lines = 1,
				.bytes = ~0ull,
				.memory = sg_model_memory(g->model, line << 6).kind };

	sg_tcc_send(&g->model->tcc, g->xcc, &r);
}

void sg_sqc_wait(struct sg_scalar_group *g, struct sg_scalar_side *side, struct sg_scalar_wait wait)
{
	if (side->n_waits == side->waits_room) {
		uint32_t room = side->waits_room ? 2 * side->waits_room : 64;
		struct sg_scalar_wait *waits = realloc(side->waits, room * sizeof(*waits));

		if (!waits) {
			g->model->failed = true;
			return;
		}
		side->waits = waits;
		side->waits_room = room;
	}
	side->waits[side->n_waits++] = wait;
}

#define SQ(name) cu->own.sq[SG_C_##name]
#define ISSUE(name) set->sq[SG_C_##name]

void sg_sqc_request_code(struct sg_scalar_group *g, uint64_t line, uint64_t t)
{
	struct sg_cu *cu = g->cus[0];

	SQ(SQC_TC_INST_REQ)++;
	SQ(SQC_TC_REQ)++;
	send(g, line, SG_REQ_INST, t);
}

/* A line of code, for the cache of each engine that has such a wave; the leader's is for the first of them. Returns the
 * engines. */
static uint32_t request_code(const struct sg_cu *cu, const struct sg_count_set *set, uint64_t line,
			     uint64_t t)
{
	uint32_t others = set->engines & (set->engines - 1);

	send(cu->group, line, SG_REQ_INST, t);
	for (uint32_t left = others; left; left &= left - 1)
		send(sg_lockstep_cu(cu, (uint32_t)__builtin_ctz(left))->group, line, SG_REQ_INST,
		     t);
	return others | 1;
}

/* The line becomes the most recent one of its set. True: it was there. */
static bool touch_code(struct sg_scalar_group *g, uint64_t line)
{
	if (sg_cache_set(&g->inst.tags, line)[0] == line + 1)
		return true;
	g->model->state_is_known = false;
	return sg_cache_touch(&g->inst.tags, line);
}

uint64_t sg_sqc_fetch(struct sg_cu *cu, struct sg_model_wave *w, uint64_t pc, uint64_t t)
{
	struct sg_scalar_group *g = cu->group;
	const struct sg_hw *hw = cu->model->hw;
	const struct sg_count_set *set = w->set;
	struct sg_scalar_side *side = &g->inst;
	uint64_t line = (pc - cu->model->d->origin) >> 6;
	struct sg_pending_line *p = pending_line(side, line, t);

	ISSUE(SQ_IFETCH)++;
	ISSUE(SQC_ICACHE_REQ)++;
	if (p) {
		if (p->waiting++ < hw->scalar_waiting)
			ISSUE(SQC_ICACHE_MISSES_DUPLICATE)++;
		else
			ISSUE(SQC_ICACHE_HITS)++;
		if (p->ready != SG_NEVER) {
			set->level[SG_C_SQ_IFETCH_LEVEL] += p->ready - t + hw->fetch;
			return p->ready + hw->fetch;
		}
	} else if (touch_code(g, line)) {
		ISSUE(SQC_ICACHE_HITS)++;
		set->level[SG_C_SQ_IFETCH_LEVEL] += hw->fetch;
		return t + hw->fetch;
	} else {
		ISSUE(SQC_ICACHE_MISSES)++;
		for (uint32_t k = 0; k <= hw->icache_ahead; k++) {
			if (k && touch_code(g, line + k))
				continue;
			ISSUE(SQC_TC_INST_REQ)++;
			ISSUE(SQC_TC_REQ)++;
			new_pending(side, line + k)->engines = request_code(cu, set, line + k, t);
		}
	}
	sg_sqc_wait(g, side,
		    (struct sg_scalar_wait){ .wave = w, .issued = t, .line = line, .fetch = true });
	return SG_NEVER;
}

/* The line is the most recent one of its set, and nothing is on its way: to read it again changes nothing. */
static bool is_settled(const struct sg_scalar_side *side, uint64_t line)
{
	return !side->n_pending && sg_cache_set(&side->tags, line)[0] == line + 1;
}

bool sg_sqc_fetch_again(struct sg_cu *cu, const struct sg_count_set *set, uint64_t pc)
{
	const struct sg_scalar_side *side = &cu->group->inst;
	uint64_t line = (pc - cu->model->d->origin) >> 6;

	if (!is_settled(side, line))
		return false;
	ISSUE(SQ_IFETCH)++;
	ISSUE(SQC_ICACHE_REQ)++;
	ISSUE(SQC_ICACHE_HITS)++;
	set->level[SG_C_SQ_IFETCH_LEVEL] += cu->model->hw->fetch;
	return true;
}

/* Counts in `set`. */
static void count_load(const struct sg_count_set *set, const struct sg_timing_insn *inst)
{
	ISSUE(SQC_DCACHE_REQ)++;
	if (inst->mem_kind == SG_MEM_ATOMIC || inst->mem_kind == SG_MEM_ATOMIC_RTN)
		ISSUE(SQC_DCACHE_ATOMIC)++;
	if (inst->mem_kind != SG_MEM_LOAD)
		return;
	if (inst->bytes >= 4 && inst->bytes <= 64) /* a power of two */
		set->sq[SG_C_SQC_DCACHE_REQ_READ_1 + __builtin_ctz(inst->bytes / 4)]++;
}

/* The queue of the miss is full: from now on, until the answer, the CU has a request that the cache does not take. */
static void wait_behind(struct sg_cu *cu, struct sg_pending_line *p, uint64_t t)
{
	uint64_t *since = &p->behind_since[cu->in_group];

	p->n_behind[cu->in_group]++;
	if (*since)
		return;
	*since = t;
	if (p->ready != SG_NEVER)
		SQ(SQC_DCACHE_INPUT_VALID_READYB) += p->ready - t;
}

uint64_t sg_sqc_ready(const struct sg_cu *cu, uint64_t t)
{
	const struct sg_scalar_side *side = &cu->group->data;
	uint64_t when = t;

	for (unsigned k = 0, n = side->n_pending; n; k++) {
		const struct sg_pending_line *p = &side->pending[k];

		n -= p->used;
		if (!p->used || p->ready <= t ||
		    p->n_behind[cu->in_group] < cu->model->hw->scalar_queue)
			continue;
		/* an answer of L2 is not known before the next window */
		when = p->ready == SG_NEVER ? cu->model->window_end : sg_quads_up(p->ready);
	}
	return when;
}

/* For those that follow, the leader's time counts. */
static void loaded(bool leads, struct sg_model_wave *w, uint32_t slot, uint64_t issued,
		   uint64_t done)
{
	if (!leads)
		return;
	w->lgkm_done[slot] = done;
	/* in units of SQ_INSTS_SMEM_NORM, by which AMD divides it to get the latency: two for each instruction */
	w->set->level[SG_C_SQ_INST_LEVEL_SMEM] += 2 * (done - issued);
	w->set->level[SG_C_SQC_DCACHE_INFLIGHT_LEVEL] += done - issued;
}

void sg_sqc_load(struct sg_cu *cu, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		 uint64_t addr, uint64_t t)
{
	struct sg_scalar_group *g = cu->group;
	const struct sg_hw *hw = cu->model->hw;
	struct sg_scalar_side *side = &g->data;
	bool leads = cu == w->home;
	uint32_t slot = leads ? sg_push_lgkm(w) : 0;
	uint64_t last = (addr + inst->bytes - 1) >> 6, done = t + hw->scalar_hit;
	uint64_t unknown = SG_NEVER; /* the line that the answer depends on */

	if (inst->mem_kind == SG_MEM_CONTROL) { /* s_dcache_inv, s_memtime */
		loaded(leads, w, slot, t, done);
		return;
	}
	count_load(&cu->own, inst);
	if (inst->mem_kind != SG_MEM_LOAD) {
		bool store = inst->mem_kind == SG_MEM_STORE;

		SQ(SQC_TC_REQ)++;
		SQ(SQC_DCACHE_HITS)++;
		*(store ? &SQ(SQC_TC_DATA_WRITE_REQ) : &SQ(SQC_TC_DATA_ATOMIC_REQ)) += 1;
		send(g, addr >> 6, store ? SG_REQ_WRITE : SG_REQ_ATOMIC, t);
		loaded(leads, w, slot, t, done);
		return;
	}
	if (addr >> 6 == last && is_settled(side, last)) {
		SQ(SQC_DCACHE_HITS)++; /* again: nothing else changes */
		loaded(leads, w, slot, t, done);
		return;
	}
	memset(w->cu->group->common, 0, sizeof(w->cu->group->common));
	/* counters count the first line; a load across two lines requests both */
	for (uint64_t line = addr >> 6; line <= last; line++) {
		struct sg_pending_line *p = pending_line(side, line, t);
		bool first = line == addr >> 6;

		if (p) {
			if (p->waiting++ < hw->scalar_waiting) {
				SQ(SQC_DCACHE_MISSES_DUPLICATE) += first;
			} else {
				SQ(SQC_DCACHE_HITS) += first;
				wait_behind(cu, p, t);
			}
			if (p->ready == SG_NEVER)
				unknown = line;
			else if (p->ready + hw->fetch > done)
				done = p->ready + hw->fetch;
		} else if (sg_cache_touch(&side->tags, line)) {
			SQ(SQC_DCACHE_HITS) += first;
		} else {
			SQ(SQC_DCACHE_MISSES) += first;
			SQ(SQC_TC_DATA_READ_REQ)++;
			SQ(SQC_TC_REQ)++;
			new_pending(side, line);
			send(g, line, SG_REQ_SCALAR, t);
			unknown = line;
		}
	}
	if (unknown == SG_NEVER)
		loaded(leads, w, slot, t, done);
	else if (leads)
		sg_sqc_wait(g, side,
			    (struct sg_scalar_wait){
				    .wave = w, .lgkm_slot = slot, .issued = t, .line = unknown });
}

/* Its place among those in common. */
static uint64_t *common_line(struct sg_scalar_group *leader, uint64_t line)
{
	return &leader->common[line % SG_COMMON_LINES];
}

bool sg_sqc_load_common(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t addr,
			uint64_t t)
{
	uint64_t line = addr >> 6;

	if (*common_line(w->cu->group, line) != line + 1 || (addr + inst->bytes - 1) >> 6 != line)
		return false;
	count_load(w->set, inst);
	w->set->sq[SG_C_SQC_DCACHE_HITS]++;
	loaded(true, w, sg_push_lgkm(w), t, t + w->cu->model->hw->scalar_hit);
	return true;
}

void sg_sqc_note_common(struct sg_model_wave *w, uint64_t addr)
{
	uint64_t line = addr >> 6;

	if (w->n_followers + 1u < sg_lockstep_n(w->cu->model, w->cu->xcc) ||
	    !is_settled(&w->home->group->data, line))
		return;
	for (uint32_t k = 0; k < w->n_followers; k++)
		if (!is_settled(&sg_follower_cu(w, k)->group->data, line))
			return;
	*common_line(w->cu->group, line) = line + 1;
}

static void fetched(struct sg_model_wave *w, uint64_t t)
{
	t = (t + 3) / 4 * 4;
	w->ready_at = t > w->not_before ? t : w->not_before;
	sg_wave_wake(w);
}

static void answer_line(struct sg_scalar_group *g, struct sg_pending_line *p, uint64_t time)
{
	p->ready = time;
	for (uint32_t c = 0; c < g->n_cus; c++)
		if (p->behind_since[c])
			g->cus[c]->own.sq[SG_C_SQC_DCACHE_INPUT_VALID_READYB] +=
				time - p->behind_since[c];
}

void sg_sqc_answer(struct sg_scalar_group *g, const struct sg_request *r, uint64_t time)
{
	struct sg_scalar_side *side = r->kind == SG_REQ_INST ? &g->inst : &g->data;
	uint64_t line = r->addr >> 6;
	uint32_t fetch = g->model->hw->fetch, kept = 0;

	if (r->kind != SG_REQ_INST && r->kind != SG_REQ_SCALAR)
		return;
	for (unsigned k = 0; k < SG_MAX_PENDING; k++)
		if (side->pending[k].used && side->pending[k].line == line)
			answer_line(g, &side->pending[k], time);
	for (uint32_t k = 0; k < side->n_waits; k++) {
		struct sg_scalar_wait *wait = &side->waits[k];

		if (wait->line != line) {
			side->waits[kept++] = *wait;
			continue;
		}
		if (wait->fetch) {
			wait->wave->set->level[SG_C_SQ_IFETCH_LEVEL] += time + fetch - wait->issued;
			fetched(wait->wave, time + fetch);
		} else {
			loaded(true, wait->wave, wait->lgkm_slot, wait->issued, time + fetch);
			sg_wave_answered(wait->wave, time);
		}
	}
	side->n_waits = kept;
}
