/*
 * lockstep: the shader engines of a die, while all of them do the same.
 *
 * Most kernels take one path in all workgroups. The engines then issue the same instructions at almost the same
 * times, so the issue of one of them is simulated: the first one leads. With every workgroup of its own it is given
 * one for each other engine, on the CU with the same number. Their waves follow the leader's
 * (sg_model_wave.followers). When the leader issues a memory instruction, they execute theirs, with their addresses: LDS,
 * scalar cache, translation, L1 and the way to L2 are simulated for every CU. Only nobody waits for their answers.
 *
 * So what follows from instructions and addresses is counted as if every engine were simulated, and what follows from
 * waiting is that of the leader. Counters of issue are counted apart (sg_count_set) and added to each engine in the end.
 *
 * The engines part when workgroups take too many paths (bundle.c): every wave that followed continues where its leader
 * is, and is simulated from then on. tests/softgpu/test_lockstep.c compares.
 */
#include <stddef.h>
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

#define MIN_WGS 8 /* for each engine: a leader with fewer would be a poor sample */

/*
 * Waves by the engines that have them: workgroups for all engines, on CUs that all have; on the last CU, which some engines
 * lack; the last workgroups of a path; and single ones.
 */
enum { ON_ALL, ON_LAST_CU, FEW, SINGLE, N_SETS };

struct sg_issue_counts {
	uint64_t sq[SG_N_SQ], level[SG_N_SQ];
	struct sg_count_set set;
};

static struct sg_issue_counts *counts_of(const struct sg_model *m, uint32_t xcc, uint32_t set)
{
	return &m->issue_counts[xcc * N_SETS + set];
}

struct sg_issue_counts *sg_lockstep_create(const struct sg_hw *hw)
{
	return calloc((size_t)hw->n_xcc * N_SETS, sizeof(struct sg_issue_counts));
}

struct sg_cu *sg_lockstep_cu(const struct sg_cu *leader, uint32_t engine)
{
	const struct sg_model *m = leader->model;
	struct sg_cu *cu = &m->cus[leader->index + engine * m->hw->cus_per_se];

	return cu->missing ? NULL : cu;
}

/* The engines that have the CU. */
static uint32_t engines_with(const struct sg_cu *leader)
{
	uint32_t engines = 0;

	for (uint32_t k = 0; k < leader->model->hw->n_se; k++)
		engines |= sg_lockstep_cu(leader, k) ? 1u << k : 0;
	return engines;
}

static void begin_cu(struct sg_cu *cu, bool in_step)
{
	const struct sg_hw *hw = cu->model->hw;
	bool is_last = cu->index % hw->cus_per_se == hw->cus_per_se - 1;
	uint32_t set = is_last && hw->n_missing ? ON_LAST_CU : ON_ALL;

	cu->set = in_step ? &counts_of(cu->model, cu->xcc, set)->set : &cu->own;
	cu->follows = in_step && cu->se % hw->n_se;
}

static void begin_sets(struct sg_model *m, uint32_t xcc)
{
	const struct sg_hw *hw = m->hw;
	const struct sg_cu *leader = &m->cus[(size_t)xcc * hw->n_se * hw->cus_per_se];

	for (uint32_t k = 0; k < N_SETS; k++) {
		struct sg_issue_counts *counts = counts_of(m, xcc, k);

		memset(counts, 0, sizeof(*counts));
		counts->set = (struct sg_count_set){ .sq = counts->sq,
						     .level = counts->level,
						     .count_at = xcc * hw->n_se + k };
	}
	counts_of(m, xcc, ON_ALL)->set.engines = (1u << hw->n_se) - 1;
	counts_of(m, xcc, ON_LAST_CU)->set.engines = engines_with(leader + hw->cus_per_se - 1);
	counts_of(m, xcc, SINGLE)->set.engines = 1;
}

void sg_lockstep_begin(struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;
	/* what sets count of each instruction has the places of engines */
	bool in_step = hw->n_se >= N_SETS && !m->d->sample_cycles && !m->d->apart &&
		       m->d->n_wgs >= (uint64_t)MIN_WGS * sg_hw_n_engines(hw);

	for (uint32_t xcc = 0; xcc < hw->n_xcc; xcc++) {
		m->spi.dies[xcc].in_step = in_step;
		if (in_step)
			begin_sets(m, xcc);
	}
	for (uint32_t k = 0; k < m->n_cus; k++)
		begin_cu(&m->cus[k], in_step);
}

const struct sg_count_set *sg_lockstep_last(struct sg_model *m, const struct sg_cu *cu, uint32_t n)
{
	struct sg_count_set *set = &counts_of(m, cu->xcc, FEW)->set;
	uint32_t with = engines_with(cu), engines = 0;

	if (n == 1)
		return &counts_of(m, cu->xcc, SINGLE)->set;
	for (; n; n--, with &= with - 1) /* the first n of these */
		engines |= with & -with;
	if (!set->engines)
		set->engines = engines;
	return set->engines == engines ? set : NULL;
}

void sg_lockstep_join(struct sg_model_wave *const *leaders, struct sg_cu *cu,
		      struct sg_model_wg *wg)
{
	for (uint32_t k = 0; k < wg->n_waves; k++) {
		struct sg_follower *f = &leaders[k]->followers[leaders[k]->n_followers++];

		f->cu = cu;
		f->wg = wg;
		f->trace.lists.n_added = 0;
		sg_trace_read(&f->trace.reader, &wg->traces->waves[k]);
	}
}

/* ---- counters ---- */

static void add_counts(uint64_t *to, const uint64_t *from)
{
	for (uint32_t k = 0; k < SG_N_SQ; k++)
		to[k] += from[k];
}

/* How often each instruction was executed. */
static void share_executed(struct sg_model *m, uint32_t xcc)
{
	uint32_t first_se = xcc * m->hw->n_se;

	for (struct sg_map_page *page = m->code.pages; page; page = page->next)
		for (uint32_t slot = 0; slot < SG_MAP_SLOTS; slot++) {
			uint64_t n[N_SETS];

			for (uint32_t k = 0; k < N_SETS; k++) {
				n[k] = page->count[first_se + k][slot];
				page->count[first_se + k][slot] = 0;
			}
			for (uint32_t k = 0; k < N_SETS * m->hw->n_se; k++) {
				uint32_t set = k % N_SETS, engine = k / N_SETS;

				if (counts_of(m, xcc, set)->set.engines >> engine & 1)
					page->count[first_se + engine][slot] += n[set];
			}
		}
}

/* The launcher of an engine launched what the leader's did, at the same time. */
static void share_launches(struct sg_spi *spi, uint32_t leader, uint32_t se)
{
	spi->next_cu[se] = spi->next_cu[leader];
	spi->launch_free[se] = spi->launch_free[leader];
	spi->se_from[se] = spi->se_from[leader];
	spi->se_busy[se] = spi->se_busy[leader];
}

/* Up to the end of the last wave that all had, if the engine has none of the others. */
static void shorten(struct sg_busy *busy, uint64_t common_end)
{
	if (busy->until > common_end)
		busy->cycles -= busy->until - common_end;
}

static void share_cu(const struct sg_cu *leader, struct sg_cu *cu, bool has_all)
{
	cu->busy_from = leader->busy_from;
	cu->busy = leader->busy;
	cu->lds_full = leader->lds_full;
	if (!has_all)
		shorten(&cu->busy, leader->common_end);
}

static void share_code(const struct sg_scalar_group *leader, struct sg_scalar_group *g)
{
	const struct sg_cache *from = &leader->inst.tags;

	memcpy(g->inst.tags.tag, from->tag,
	       (size_t)from->n_sets * from->n_ways * sizeof(*from->tag));
}

/* What has been counted for the engines of the die together becomes each one's. */
static void share(struct sg_model *m, uint32_t xcc)
{
	const struct sg_hw *hw = m->hw;
	uint32_t leader = xcc * hw->n_se;
	uint64_t common_end = 0;
	bool has_all;

	for (uint32_t k = 0; k < hw->cus_per_se; k++) {
		uint64_t end = m->cus[leader * hw->cus_per_se + k].common_end;

		common_end = end > common_end ? end : common_end;
	}
	share_executed(m, xcc);
	for (uint32_t n = 0; n < hw->n_se; n++) {
		uint32_t se = leader + n;
		uint64_t *sq = m->r->values[SG_BLOCK_SQ] + (size_t)se * SG_N_SQ;
		uint64_t *level = m->r->accumulated + (size_t)se * SG_N_SQ;

		for (uint32_t k = 0; k < N_SETS; k++) {
			const struct sg_issue_counts *counts = counts_of(m, xcc, k);

			if (!(counts->set.engines >> n & 1))
				continue;
			add_counts(sq, counts->sq);
			add_counts(level, counts->level);
		}
		if (!n)
			continue;
		share_launches(&m->spi, leader, se);
		has_all = counts_of(m, xcc, FEW)->set.engines >> n & 1;
		if (!has_all)
			shorten(&m->spi.se_busy[se], common_end);
		for (uint32_t k = 0; k < hw->n_groups; k++)
			share_code(&m->groups[leader * hw->n_groups + k],
				   &m->groups[se * hw->n_groups + k]);
		for (uint32_t k = 0; k < hw->cus_per_se; k++) {
			const struct sg_cu *from = &m->cus[leader * hw->cus_per_se + k];
			struct sg_cu *cu = sg_lockstep_cu(from, n);

			if (cu)
				share_cu(from, cu, has_all);
		}
	}
}

void sg_lockstep_finish(struct sg_model *m)
{
	for (uint32_t xcc = 0; xcc < m->hw->n_xcc; xcc++)
		if (m->spi.dies[xcc].in_step)
			share(m, xcc);
}

/* ---- parting ---- */

/* Of the leader's wave on another engine; NULL: there is none. */
static struct sg_follower *follower(struct sg_model_wave *leader, uint32_t se)
{
	for (uint32_t k = 0; k < leader->n_followers; k++)
		if (leader->followers[k].cu->se == se)
			return &leader->followers[k];
	return NULL;
}

static struct sg_model_wave *wave_of(struct sg_model_wave *leader, uint32_t se)
{
	struct sg_follower *f = follower(leader, se);

	return f ? f->wave : NULL;
}

/* The follower becomes a wave, where its leader is. What it waits for of its own comes later. NULL: no memory. */
static struct sg_model_wave *catch_up(const struct sg_model_wave *leader, struct sg_follower *f)
{
	struct sg_model_wave *w = sg_spi_new_wave(f->cu, f->wg, leader->index);

	f->wave = w;
	if (!w)
		return NULL;
	memcpy(w, leader, offsetof(struct sg_model_wave, followers));
	w->cu = f->cu;
	w->wg = f->wg;
	w->set = &f->cu->own;
	w->n_followers = 0;
	w->trace.lists = f->trace.lists;
	w->trace.reader.memory = f->trace.reader.memory;
	w->trace.reader.memory_at = f->trace.reader.memory_at;
	w->trace.reader.control = f->trace.reader.control;
	w->vm.n_retired = w->vm.n_issued > SG_MAX_VM ? w->vm.n_issued - SG_MAX_VM : 0;
	memset(w->vm_done, 0, sizeof(w->vm_done));
	w->wg->n_at_barrier = leader->wg->n_at_barrier;
	w->wg->n_alive = leader->wg->n_alive;
	return w;
}

/* Waves that the engine has none of leave no gap. */
static void part_simd(struct sg_cu *cu, struct sg_simd *simd, const struct sg_simd *leader)
{
	struct sg_model *m = cu->model;
	uint32_t n = 0;

	*simd = *leader;
	simd->slots_used = 0;
	for (uint32_t k = 0; k < leader->n_waves && !m->failed; k++) {
		struct sg_follower *f = follower(leader->waves[k], cu->se);
		struct sg_model_wave *w = f ? catch_up(leader->waves[k], f) : NULL;

		m->failed |= f && !w;
		if (!w)
			continue;
		w->age = (uint8_t)n;
		simd->waves[n] = w;
		simd->ready[n] = leader->ready[k];
		simd->unit[n] = leader->unit[k];
		simd->slots_used |= 1u << w->wave_slot;
		if (w->wg->counted_on != cu)
			cu->n_wgs++;
		w->wg->counted_on = cu;
		n++;
	}
	simd->n_waves = n;
	cu->n_waves += n;
	cu->group->next[simd->in_group] =
		m->groups[cu->group->index - (cu->se % m->hw->n_se) * m->hw->n_groups]
			.next[simd->in_group];
	m->n_alive += n;
	m->spi.se_waves[cu->se] += n;
	m->spi.scratch_used[cu->se] += n;
}

/* An instruction of a CU that followed: its wave waits for it, unless that has ended. */
static void part_op(struct sg_model *m, const struct sg_cu *cu, struct sg_vmem_op *op)
{
	struct sg_model_wave *leader = op->wave;
	const struct sg_simd *simd = &leader->cu->simd[leader->simd];

	op->wave = NULL;
	if (leader->age < simd->n_waves && simd->waves[leader->age] == leader &&
	    op->issued >= leader->started)
		op->wave = wave_of(leader, cu->se);
	if (!op->wave)
		return;
	op->wave->vm_done[op->vm_slot] = SG_NEVER;
	m->n_behind--;
}

static void part_ops(struct sg_cu *cu)
{
	struct sg_tcp *tcp = &cu->tcp;

	for (uint32_t k = 0; k < tcp->queue.n; k++)
		part_op(cu->model, cu, sg_tcp_lookup(tcp, k));
	for (struct sg_vmem_op *op = tcp->loads.head; op; op = op->next)
		part_op(cu->model, cu, op);
	for (struct sg_vmem_op *op = tcp->stores.head; op; op = op->next)
		part_op(cu->model, cu, op);
}

static void part_cu(struct sg_cu *cu, const struct sg_cu *leader)
{
	for (unsigned s = 0; s < 4; s++)
		part_simd(cu, &cu->simd[s], &leader->simd[s]);
	if (leader->n_wgs) {
		cu->lds_used = leader->lds_used / leader->n_wgs * cu->n_wgs;
		cu->barriers_used = leader->barriers_used / leader->n_wgs * cu->n_wgs;
	}
	cu->lds_free = leader->lds_free;
	cu->next_simd = leader->next_simd;
	part_ops(cu);
}

/* Code on its way to the leader's cache is on its way to this one, too. */
static void part_code(struct sg_scalar_group *g, const struct sg_scalar_group *leader)
{
	memcpy(g->inst.pending, leader->inst.pending, sizeof(g->inst.pending));
	g->inst.n_pending = leader->inst.n_pending;
	for (uint32_t k = 0; k < leader->inst.n_waits; k++) {
		struct sg_scalar_wait wait = leader->inst.waits[k];

		wait.wave = wave_of(wait.wave, g->se);
		if (wait.wave)
			sg_sqc_wait(g, &g->inst, wait);
	}
}

/* Where the leader waits for data, the wave waits for the same line, if that is on its way, too. */
static void part_data(struct sg_scalar_group *g, const struct sg_scalar_group *leader)
{
	const struct sg_model *m = g->model;

	for (uint32_t k = 0; k < leader->data.n_waits; k++) {
		struct sg_scalar_wait wait = leader->data.waits[k];
		uint64_t there = m->window_start;

		wait.wave = wave_of(wait.wave, g->se);
		if (!wait.wave)
			continue;
		for (unsigned n = 0; n < SG_MAX_PENDING; n++)
			if (g->data.pending[n].used && g->data.pending[n].line == wait.line)
				there = g->data.pending[n].ready;
		if (there == SG_NEVER)
			sg_sqc_wait(g, &g->data, wait);
		else
			wait.wave->lgkm_done[wait.lgkm_slot] = there + m->hw->fetch;
	}
}

/* What its leader still waits for may be there. */
static void find_answers(const struct sg_simd *simd, uint64_t now)
{
	for (uint32_t k = 0; k < simd->n_waves; k++)
		sg_wave_answered(simd->waves[k], now);
}

static void leave_alone(const struct sg_cu *cu, const struct sg_simd *simd)
{
	for (uint32_t k = 0; k < simd->n_waves; k++) {
		simd->waves[k]->n_followers = simd->waves[k]->wg->n_followers = 0;
		simd->waves[k]->set = &cu->own;
	}
}

void sg_lockstep_part(struct sg_model *m, uint32_t xcc)
{
	const struct sg_hw *hw = m->hw;
	uint32_t leader = xcc * hw->n_se, first_cu = leader * hw->cus_per_se;

	share(m, xcc);
	m->spi.dies[xcc].in_step = false;
	for (uint32_t n = 1; n < hw->n_se; n++) {
		for (uint32_t k = 0; k < hw->cus_per_se && !m->failed; k++) {
			struct sg_cu *cu = sg_lockstep_cu(&m->cus[first_cu + k], n);

			if (cu)
				part_cu(cu, &m->cus[first_cu + k]);
		}
		for (uint32_t k = 0; k < hw->n_groups && !m->failed; k++) {
			struct sg_scalar_group *g = &m->groups[(leader + n) * hw->n_groups + k];

			part_code(g, &m->groups[leader * hw->n_groups + k]);
			part_data(g, &m->groups[leader * hw->n_groups + k]);
		}
	}
	for (uint32_t k = 0; k < hw->n_se * hw->cus_per_se; k++) {
		struct sg_cu *cu = &m->cus[first_cu + k];

		for (unsigned s = 0; s < 4; s++) {
			if (cu->follows)
				find_answers(&cu->simd[s], m->window_start);
			leave_alone(cu, &cu->simd[s]);
		}
		begin_cu(cu, false);
	}
}
