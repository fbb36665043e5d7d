/*
 * part: engines in step part. A leader of several dies leads one from now on, and each other die has its own; or each engine
 * of the die is simulated. A wave that follows continues where its leader is, with answers of its own that come later.
 *
 * Of the engines that stay together, one wave stands for all: the leader's own, if its home is there, or a new one.
 */
#include <stddef.h>
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

/* Engines that part, and how many stay together. */
struct parting {
	struct sg_model *m;
	uint32_t leader, n, together;
};

/* The engine stays together with the first of them. */
static bool is_led_by(const struct parting *p, uint32_t engine, uint32_t se)
{
	return engine - se < p->together;
}

/* The first of the engines that stay together with it. */
static uint32_t new_leader(const struct parting *p, uint32_t se)
{
	return se - (se - p->leader) % p->together;
}

/* n_followers: there is none. */
static uint32_t first_follower(const struct parting *p, const struct sg_model_wave *w, uint32_t se)
{
	uint32_t k = 0;

	while (k < w->n_followers && !is_led_by(p, w->followers[k].engine, se))
		k++;
	return k;
}

/* What stands for the wave and its followers on the engines that stay together with this one; NULL: they have none. */
static struct sg_model_wave *heir(const struct parting *p, struct sg_model_wave *w, uint32_t se)
{
	uint32_t first;

	if (is_led_by(p, w->home->se, se))
		return w;
	first = first_follower(p, w, se);
	return first < w->n_followers ? w->rest[first].wave : NULL;
}

/* ---- waves ---- */

/* A follower becomes a wave, where its leader is. What it waits for of its own comes later. NULL: no memory. */
static struct sg_model_wave *catch_up(const struct parting *p, const struct sg_model_wave *leader,
				      uint32_t follower, uint32_t se)
{
	struct sg_cu *cu = sg_follower_cu(leader, follower);
	struct sg_model_wg *wg = leader->rest[follower].wg;
	struct sg_model_wave *w = sg_spi_new_wave(cu, wg, leader->index);
	const struct sg_wave_trace *trace = &wg->traces->waves[leader->index];

	if (!w)
		return NULL;
	memcpy(w, leader, offsetof(struct sg_model_wave, followers));
	w->followers_have_lists = true;
	w->cu = &p->m->cus[leader->cu->index + (se - p->leader) * p->m->hw->cus_per_se];
	w->home = cu;
	w->wg = wg;
	w->n_followers = 0;
	w->trace.lists = leader->rest[follower].lists;
	w->trace.reader.memory = leader->followers[follower].records;
	w->trace.reader.control =
		(struct sg_trace_view){ trace->control.bytes, trace->control.size };
	w->vm.n_retired = w->vm.n_issued > SG_MAX_VM ? w->vm.n_issued - SG_MAX_VM : 0;
	memset(w->vm_done, 0, sizeof(w->vm_done));
	w->wg->n_at_barrier = leader->wg->n_at_barrier;
	w->wg->n_alive = leader->wg->n_alive;
	return w;
}

/* Those of its first follower, and so on. */
static bool find_wgs(const struct parting *p, struct sg_model_wave *leader, uint32_t se)
{
	struct sg_model_wg *wg = leader->wg->followers;

	for (uint32_t k = 0; k < leader->n_followers; k++, wg = wg->next) {
		leader->rest[k].wg = wg;
		leader->rest[k].wave = NULL;
	}
	return true;
}

/* Finds who stands for the leader's followers there. The leader keeps them: others are looked up with them. */
static bool make_heir(const struct parting *p, struct sg_model_wave *leader, uint32_t se)
{
	uint32_t first = first_follower(p, leader, se);
	struct sg_model_wave *w = leader;

	if (first == leader->n_followers)
		return true;
	if (!is_led_by(p, leader->home->se, se)) {
		w = catch_up(p, leader, first, se);
		if (!w)
			return false;
		if (p->together > 1 && !sg_spi_new_followers(w)) {
			sg_reuse_put(&p->m->waves, w);
			return false;
		}
	}
	for (uint32_t k = 0; k < leader->n_followers; k++) {
		if (!is_led_by(p, leader->followers[k].engine, se))
			continue;
		leader->rest[k].wave = w;
		if (w == leader || k == first)
			continue;
		w->followers[w->n_followers] = leader->followers[k];
		w->rest[w->n_followers++] = leader->rest[k];
	}
	return true;
}

/* No memory for all of them: nobody has those that were made. */
static bool drop_heir(const struct parting *p, struct sg_model_wave *leader, uint32_t se)
{
	uint32_t first = first_follower(p, leader, se);
	struct sg_model_wave *w = first < leader->n_followers ? leader->rest[first].wave : NULL;

	if (!w || w == leader)
		return true;
	sg_spi_put_followers(w);
	sg_reuse_put(&p->m->waves, w);
	return true;
}

/* Of each wave, on the engines that stay together. False: one of them could not. */
static bool each_heir(const struct parting *p,
		      bool (*what)(const struct parting *p, struct sg_model_wave *leader,
				   uint32_t se))
{
	const struct sg_hw *hw = p->m->hw;

	for (uint32_t k = 0; k < 4 * hw->cus_per_se; k++) {
		const struct sg_simd *simd =
			&p->m->cus[p->leader * hw->cus_per_se + k / 4].simd[k % 4];

		for (uint32_t n = 0; n < simd->n_waves; n++)
			for (uint32_t se = p->leader; se < p->leader + p->n; se += p->together)
				if (!what(p, simd->waves[n], se))
					return false;
	}
	return true;
}

/* ---- what waves wait for ---- */

/* An instruction of a CU whose wave was led: the heir waits for it, or leads it, unless the wave has ended. */
static void part_op(const struct parting *p, const struct sg_cu *cu, struct sg_vmem_op *op)
{
	struct sg_model_wave *leader = op->wave;
	const struct sg_simd *simd;

	if (!op->follows || !leader)
		return;
	op->wave = NULL;
	simd = &leader->cu->simd[leader->simd];
	if (leader->age < simd->n_waves && simd->waves[leader->age] == leader &&
	    op->issued >= leader->started)
		op->wave = heir(p, leader, new_leader(p, cu->se));
	if (!op->wave || op->wave->home != cu)
		return;
	op->follows = false;
	op->wave->vm_done[op->vm_slot] = SG_NEVER;
	p->m->n_behind--;
}

static void part_ops(const struct parting *p, struct sg_cu *cu)
{
	struct sg_tcp *tcp = &cu->tcp;

	for (uint32_t k = 0; k < tcp->queue.n; k++)
		part_op(p, cu, sg_tcp_lookup(tcp, k));
	for (struct sg_vmem_op *op = tcp->loads.head; op; op = op->next)
		part_op(p, cu, op);
	for (struct sg_vmem_op *op = tcp->stores.head; op; op = op->next)
		part_op(p, cu, op);
}

/* Code on its way to the leader's cache is on its way to the new leader's, too, or is requested now. */
static void part_code(const struct parting *p, struct sg_scalar_group *g,
		      const struct sg_scalar_group *leader)
{
	uint32_t engine = g->se - leader->se;

	memcpy(g->inst.pending, leader->inst.pending, sizeof(g->inst.pending));
	g->inst.n_pending = leader->inst.n_pending;
	for (unsigned k = 0; k < SG_MAX_PENDING; k++) {
		struct sg_pending_line *line = &g->inst.pending[k];

		if (!line->used || line->ready != SG_NEVER)
			continue;
		if (!(line->engines >> engine & 1))
			sg_sqc_request_code(g, line->line, p->m->window_start);
		line->engines = line->engines >> engine | 1;
	}
	for (uint32_t k = 0; k < leader->inst.n_waits; k++) {
		struct sg_scalar_wait wait = leader->inst.waits[k];

		wait.wave = heir(p, wait.wave, g->se);
		if (wait.wave)
			sg_sqc_wait(g, &g->inst, wait);
	}
}

/* The leader's cache: those that wait there and have their home elsewhere wait there. */
static void part_leaders_code(const struct parting *p, struct sg_scalar_group *g)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < g->inst.n_waits; k++) {
		struct sg_scalar_wait wait = g->inst.waits[k];

		wait.wave = heir(p, wait.wave, g->se);
		if (wait.wave)
			g->inst.waits[kept++] = wait;
	}
	g->inst.n_waits = kept;
}

/* Where a wave waits for data at home, its heir on other engines waits for the same line, if that is on its way, too. */
static void part_data(const struct parting *p, const struct sg_scalar_wait *of_leader, uint32_t se)
{
	struct sg_scalar_wait wait = *of_leader;
	struct sg_scalar_group *g;
	uint64_t there = p->m->window_start;

	wait.wave = heir(p, of_leader->wave, se);
	if (!wait.wave || wait.wave == of_leader->wave)
		return;
	g = wait.wave->home->group;
	for (unsigned n = 0; n < SG_MAX_PENDING; n++)
		if (g->data.pending[n].used && g->data.pending[n].line == wait.line)
			there = g->data.pending[n].ready;
	if (there == SG_NEVER)
		sg_sqc_wait(g, &g->data, wait);
	else
		wait.wave->lgkm_done[wait.lgkm_slot] = there + p->m->hw->fetch;
}

static void part_waits(const struct parting *p)
{
	const struct sg_hw *hw = p->m->hw;
	struct sg_scalar_group *groups = &p->m->groups[p->leader * hw->n_groups];
	uint32_t n_waits[SG_MAX_SE * SG_MAX_GROUPS], n_groups = p->n * hw->n_groups;

	for (uint32_t k = 0; k < n_groups; k++)
		n_waits[k] = groups[k].data.n_waits;
	for (uint32_t k = 0; k < n_groups; k++)
		for (uint32_t n = 0; n < n_waits[k]; n++) {
			struct sg_scalar_wait wait = groups[k].data.waits[n];

			for (uint32_t se = p->leader; se < p->leader + p->n; se += p->together)
				part_data(p, &wait, se);
		}
	for (uint32_t k = p->together * hw->n_groups; k < n_groups; k++)
		if (k / hw->n_groups % p->together == 0)
			part_code(p, &groups[k], &groups[k % hw->n_groups]);
	for (uint32_t k = 0; k < hw->n_groups; k++)
		part_leaders_code(p, &groups[k]);
}

/* ---- SIMDs ---- */

/* A leader's wave keeps the followers that stay together with it. */
static void leave_followers(const struct parting *p, struct sg_model_wave *w, uint32_t se)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < w->n_followers; k++) {
		if (!is_led_by(p, w->followers[k].engine, se))
			continue;
		w->followers[kept] = w->followers[k];
		w->rest[kept++] = w->rest[k];
	}
	w->n_followers = (uint8_t)kept;
}

/* Of each workgroup's first wave: the workgroups that follow are those of its followers. */
static void part_wg(const struct parting *p, struct sg_cu *cu, const struct sg_model_wave *w)
{
	struct sg_model_wg *wg = w->wg;

	if (wg->parted == p->m->spi.n_parted)
		return;
	wg->parted = p->m->spi.n_parted;
	wg->followers = NULL;
	for (uint32_t k = w->n_followers; k--;) {
		w->rest[k].wg->next = wg->followers;
		wg->followers = w->rest[k].wg;
	}
	cu->n_wgs++;
}

/* Waves that its engines have none of leave no gap. */
static void part_simd(const struct parting *p, struct sg_cu *cu, struct sg_simd *simd,
		      const struct sg_simd *leader)
{
	uint32_t n = 0;

	*simd = *leader;
	simd->slots_used = 0;
	for (uint32_t k = 0; k < leader->n_waves; k++) {
		struct sg_model_wave *w = heir(p, leader->waves[k], cu->se);

		if (!w)
			continue;
		w->cu = cu;
		w->age = (uint8_t)n;
		simd->waves[n] = w;
		simd->ready[n] = leader->ready[k];
		simd->unit[n] = leader->unit[k];
		simd->slots_used |= 1u << w->wave_slot;
		n++;
	}
	simd->n_waves = n;
	cu->n_waves += n;
	p->m->n_alive += n;
	p->m->spi.se_waves[cu->se] += n;
	p->m->spi.scratch_used[cu->se] += n;
}

static void part_cu(const struct parting *p, struct sg_cu *leader)
{
	const struct sg_cu old = *leader;
	struct sg_model *m = p->m;

	m->n_alive -= old.n_waves;
	leader->n_waves = leader->n_wgs = 0;
	for (unsigned s = 0; s < 4; s++) {
		for (uint32_t n = 0; n < p->n; n += p->together) {
			struct sg_cu *cu = sg_lockstep_cu(leader, n);

			if (cu)
				part_simd(p, cu, &cu->simd[s], &old.simd[s]);
		}
		for (uint32_t k = 0; k < old.simd[s].n_waves; k++) /* nobody looks for heirs now */
			leave_followers(p, old.simd[s].waves[k],
					new_leader(p, old.simd[s].waves[k]->home->se));
	}
	for (uint32_t n = 0; n < p->n; n += p->together) {
		struct sg_cu *cu = sg_lockstep_cu(leader, n);

		if (!cu)
			continue;
		for (uint32_t k = 0; k < 4 * SG_MAX_SIMD_WAVES; k++) {
			const struct sg_simd *simd = &cu->simd[k / SG_MAX_SIMD_WAVES];

			if (k % SG_MAX_SIMD_WAVES < simd->n_waves)
				part_wg(p, cu, simd->waves[k % SG_MAX_SIMD_WAVES]);
		}
		if (old.n_wgs) {
			cu->lds_used = old.lds_used / old.n_wgs * cu->n_wgs;
			cu->barriers_used = old.barriers_used / old.n_wgs * cu->n_wgs;
		}
		if (old.n_waves && !cu->n_waves)
			sg_busy_add(&cu->busy, cu->busy_from, m->window_start);
		cu->lds_free = old.lds_free;
		cu->next_simd = old.next_simd;
	}
}

/* What its leader still waits for may be there. */
static void find_answers(const struct sg_cu *cu)
{
	for (unsigned s = 0; s < 4; s++)
		for (uint32_t k = 0; k < cu->simd[s].n_waves; k++)
			sg_wave_answered(cu->simd[s].waves[k], cu->model->window_start);
}

static void part_waves(const struct parting *p)
{
	const struct sg_hw *hw = p->m->hw;
	struct sg_cu *cus = &p->m->cus[p->leader * hw->cus_per_se];
	struct sg_scalar_group *groups = &p->m->groups[p->leader * hw->n_groups];
	struct sg_spi *spi = &p->m->spi;
	bool had_waves = spi->se_waves[p->leader];

	each_heir(p, find_wgs);
	if (!each_heir(p, make_heir)) {
		each_heir(p, drop_heir);
		p->m->failed = true;
		return;
	}
	for (uint32_t k = 0; k < p->n * hw->cus_per_se; k++)
		part_ops(p, &cus[k]);
	part_waits(p);
	for (uint32_t n = 0; n < p->n; n++)
		spi->se_waves[p->leader + n] = spi->scratch_used[p->leader + n] = 0;
	for (uint32_t k = p->together * hw->n_groups; k < p->n * hw->n_groups; k++)
		memcpy(groups[k].next, groups[k % hw->n_groups].next, sizeof(groups[k].next));
	for (uint32_t k = 0; k < hw->cus_per_se; k++)
		part_cu(p, &cus[k]);
	for (uint32_t n = 0; n < p->n; n += p->together)
		if (had_waves && !spi->se_waves[p->leader + n])
			sg_busy_add(&spi->se_busy[p->leader + n], spi->se_from[p->leader + n],
				    p->m->window_start);
	for (uint32_t k = 0; k < p->n * hw->cus_per_se; k++)
		find_answers(&cus[k]);
}

/* ---- dies ---- */

/* Workgroups that are held are for the dies that they were dealt to. */
static void part_held(struct sg_model *m, struct sg_spi_die *leader)
{
	uint32_t n = leader->n_held;

	for (uint32_t k = 1; k < m->hw->n_xcc; k++) {
		m->spi.dies[k].n_held = 0;
		m->spi.dies[k].n_paths = leader->n_paths;
		m->spi.dies[k].n_bundles = leader->n_bundles;
		m->spi.dies[k].n_alone = leader->n_alone;
	}
	leader->n_held = 0;
	for (uint32_t k = 0; k < n; k++) {
		struct sg_model_wg *wg = leader->held[k];
		struct sg_spi_die *die = &m->spi.dies[wg->id % m->hw->n_xcc];

		die->held[die->n_held++] = wg;
	}
}

/* The counters of the wave and its followers. False: there are too many sets. */
static bool find_set(struct sg_model_wave *w)
{
	struct sg_cu *cu = w->cu;
	uint32_t engines = 1u << (w->home->se - cu->se);

	w->set = &cu->own;
	if (cu->set == &cu->own)
		return true;
	for (uint32_t k = 0; k < w->n_followers; k++)
		engines |= 1u << (w->followers[k].engine - cu->se);
	w->set = sg_lockstep_set(cu->model, cu, engines);
	return w->set;
}

static bool find_sets(const struct sg_model *m, uint32_t xcc)
{
	uint32_t n = m->hw->n_se * m->hw->cus_per_se;
	bool found = true;

	for (uint32_t k = 0; k < 4 * n; k++) {
		const struct sg_simd *simd = &m->cus[xcc * n + k / 4].simd[k % 4];

		for (uint32_t i = 0; i < simd->n_waves; i++)
			found &= find_set(simd->waves[i]);
	}
	return found;
}

void sg_lockstep_part(struct sg_model *m, uint32_t xcc)
{
	struct sg_spi_die *die = &m->spi.dies[xcc];
	uint32_t n_dies = die->n_dies, n_se = m->hw->n_se;
	struct parting p = { m, xcc * n_se, n_dies * n_se, n_dies > 1 ? n_se : 1 };

	sg_lockstep_share(m, xcc);
	m->spi.n_parted++;
	sg_joint_end(m);
	part_waves(&p);
	if (n_dies > 1)
		part_held(m, die);
	for (uint32_t k = 0; k < n_dies; k++) {
		die[k].n_dies = 1;
		die[k].in_step = n_dies > 1;
		sg_lockstep_begin_die(m, xcc + k);
	}
	for (uint32_t k = 0; k < n_dies && !m->failed; k++)
		if (!find_sets(m, xcc + k))
			sg_lockstep_part(m, xcc + k);
}
