#include "softgpu/timing/model.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/timing/model_priv.h"
#include "softgpu/trace/trace_digest.h"

/* No wave waits a million cycles: the traces contradict each other then, and the dispatch fails. */
#define MAX_IDLE_WINDOWS 10000
#define ASK_CYCLES (1u << 24) /* 10 ms */

const struct sg_hw *sg_model_hw(const struct sg_model *m)
{
	return m->hw;
}

static bool create_groups(struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;
	uint32_t cu = 0;

	for (uint32_t g = 0; g < m->n_groups; g++) {
		struct sg_scalar_group *group = &m->groups[g];

		group->model = m;
		group->index = g;
		group->se = g / hw->n_groups;
		group->xcc = group->se / hw->n_se;
		group->n_cus = hw->group_cus[g % hw->n_groups];
		for (uint32_t k = 0; k < group->n_cus; k++) {
			group->cus[k] = &m->cus[cu++];
			group->cus[k]->group = group;
			group->cus[k]->in_group = k;
		}
		if (!sg_cache_init(&group->inst.tags, hw->icache_bytes / 64 / hw->scalar_ways,
				   hw->scalar_ways) ||
		    !sg_cache_init(&group->data.tags, hw->dcache_bytes / 64 / hw->scalar_ways,
				   hw->scalar_ways))
			return false;
	}
	return true;
}

static bool create_cus(struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;

	for (uint32_t k = 0; k < m->n_cus; k++) {
		struct sg_cu *cu = &m->cus[k];

		cu->model = m;
		cu->index = k;
		cu->se = k / hw->cus_per_se;
		cu->xcc = cu->se / hw->n_se;
		cu->missing = k % hw->cus_per_se == hw->cus_per_se - 1 &&
			      cu->se % hw->n_se >= hw->n_se - hw->n_missing;
		if (!sg_cache_init(&cu->tcp.tags, hw->l1_bytes / hw->l1_line / hw->l1_ways,
				   hw->l1_ways) ||
		    !sg_cache_init(&cu->tcp.pages, 1, hw->utcl1_pages))
			return false;
	}
	return true;
}

struct sg_model *sg_model_create(const struct sg_hw *hw)
{
	struct sg_model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->hw = hw;
	assert(!(hw->l1_misses & (hw->l1_misses - 1)) && hw->l1_misses <= SG_MAX_SLOTS);
	/* times of issue are whole quad-cycles, and those of a window are counted in bytes */
	assert(hw->request % SG_QUAD == 0 && hw->request / SG_QUAD < SG_DUE_LATER);
	assert(hw->ta_queue + SG_LOOKUPS_BEHIND <= SG_MAX_LOOKUPS);
	assert(hw->n_xcc && hw->n_xcc <= SG_MAX_XCC && sg_hw_n_engines(hw) <= SG_MAX_SE);
	m->n_cus = sg_hw_n_engines(hw) * hw->cus_per_se;
	m->n_groups = sg_hw_n_engines(hw) * hw->n_groups;
	m->cus = calloc(m->n_cus, sizeof(*m->cus));
	m->groups = calloc(m->n_groups, sizeof(*m->groups));
	if (!m->cus || !m->groups || !create_groups(m) || !create_cus(m) ||
	    !sg_tcc_init(&m->tcc, hw) || !sg_cache_init(&m->walked, 1, 512) ||
	    !(m->steady = sg_steady_create()) || !(m->issue_counts = sg_lockstep_create(hw)) ||
	    !sg_joint_create(m)) {
		sg_model_destroy(m);
		return NULL;
	}
	return m;
}

void sg_model_destroy(struct sg_model *m)
{
	if (!m)
		return;
	for (uint32_t k = 0; m->cus && k < m->n_cus; k++) {
		sg_cache_free(&m->cus[k].tcp.tags);
		sg_cache_free(&m->cus[k].tcp.pages);
	}
	for (uint32_t k = 0; m->groups && k < m->n_groups; k++) {
		sg_cache_free(&m->groups[k].inst.tags);
		sg_cache_free(&m->groups[k].data.tags);
		free(m->groups[k].inst.waits);
		free(m->groups[k].data.waits);
	}
	sg_tcc_free(&m->tcc);
	sg_cache_free(&m->walked);
	sg_steady_destroy(m->steady);
	free(m->issue_counts);
	sg_joint_destroy(m);
	sg_code_map_clear(&m->code);
	sg_reuse_free(&m->waves);
	sg_reuse_free(&m->wgs);
	sg_reuse_free(&m->followers);
	for (unsigned k = 0; k < sizeof(m->ops) / sizeof(m->ops[0]); k++)
		sg_reuse_free(&m->ops[k]);
	free(m->saved);
	free(m->cus);
	free(m->groups);
	free(m);
}

static size_t n_tags(const struct sg_cache *c)
{
	return (size_t)c->n_sets * c->n_ways;
}

uint64_t *sg_model_copy_state(const struct sg_model *m, size_t *n_bytes)
{
	size_t n = n_tags(&m->groups[0].inst.tags), n_hbm = sg_hbm_n_state(&m->tcc.hbm);
	uint64_t *state = malloc((n * m->n_groups + n_hbm) * sizeof(*state));

	for (uint32_t g = 0; state && g < m->n_groups; g++)
		memcpy(state + g * n, m->groups[g].inst.tags.tag, n * sizeof(*state));
	if (state && n_hbm)
		memcpy(state + m->n_groups * n, m->tcc.hbm.mall, n_hbm * sizeof(*state));
	*n_bytes += (n * m->n_groups + n_hbm) * sizeof(*state);
	return state;
}

void sg_model_set_state(struct sg_model *m, const uint64_t *state)
{
	size_t n = n_tags(&m->groups[0].inst.tags), n_hbm = sg_hbm_n_state(&m->tcc.hbm);

	m->state_is_known = false;
	for (uint32_t g = 0; g < m->n_groups; g++)
		memcpy(m->groups[g].inst.tags.tag, state + g * n, n * sizeof(*state));
	if (n_hbm)
		memcpy(m->tcc.hbm.mall, state + m->n_groups * n, n_hbm * sizeof(*state));
}

/* Kept until the caches change: computing it would dominate a loop of small, cached dispatches. */
uint64_t sg_model_state(struct sg_model *m)
{
	uint64_t digest = 0;

	if (m->state_is_known)
		return m->state;
	for (uint32_t g = 0; g < m->n_groups; g++) {
		const struct sg_cache *c = &m->groups[g].inst.tags;

		digest = sg_digest(digest, c->tag, n_tags(c) * sizeof(*c->tag));
	}
	if (m->tcc.hbm.mall)
		digest = sg_digest(digest, m->tcc.hbm.mall,
				   sg_hbm_n_state(&m->tcc.hbm) * sizeof(uint64_t));
	m->state_is_known = true;
	m->state = digest;
	return digest;
}

bool sg_model_save(struct sg_model *m)
{
	size_t n_bytes = 0;

	free(m->saved);
	m->saved = sg_model_copy_state(m, &n_bytes);
	return m->saved;
}

void sg_model_restore(struct sg_model *m)
{
	if (m->saved)
		sg_model_set_state(m, m->saved);
}

uint64_t sg_model_n_repeated(const struct sg_model *m)
{
	return m->n_repeated;
}

uint32_t sg_model_n_leaders(const struct sg_model *m)
{
	uint32_t n = 0;

	for (uint32_t xcc = 0; xcc < m->hw->n_xcc; xcc++)
		if (m->spi.dies[xcc].n_dies)
			n += m->spi.dies[xcc].in_step ? 1 : m->hw->n_se;
	return n;
}

uint64_t sg_model_n_joint(const struct sg_model *m)
{
	return m->n_joint;
}

void sg_model_code(const struct sg_model *m, void (*each)(void *ctx, uint64_t pc), void *ctx)
{
	for (const struct sg_map_page *page = m->code.pages; page; page = page->next)
		for (uint32_t k = 0; k < SG_MAP_SLOTS; k++)
			if (page->inst[k].dwords)
				each(ctx, page->base + 4ull * k);
}

/* ---- a dispatch ---- */

static void begin_cu(struct sg_model *m, struct sg_cu *cu)
{
	struct sg_tcp *tcp = &cu->tcp;

	memset(cu->simd, 0, sizeof(cu->simd));
	for (unsigned s = 0; s < 4; s++) {
		cu->simd[s].in_group = 4 * cu->in_group + s;
		cu->group->next[cu->simd[s].in_group] = SG_NEVER;
	}
	cu->n_waves = cu->n_wgs = cu->lds_used = cu->barriers_used = cu->next_simd = 0;
	cu->lds_free = cu->common_end = 0;
	cu->busy = cu->lds_full = (struct sg_busy){ 0 };
	cu->own = (struct sg_count_set){
		.sq = m->r->values[SG_BLOCK_SQ] + (size_t)cu->se * SG_N_SQ,
		.level = m->r->accumulated + (size_t)cu->se * SG_N_SQ,
		.count_at = cu->se,
	};
	/* CUs are sampled one after the other, not in the same cycle */
	cu->next_sample = m->d->sample_cycles
				  ? m->d->sample_cycles + cu->index % m->d->sample_cycles
				  : SG_NEVER;
	cu->sample_rr = 0;
	sg_tcp_begin(tcp, m, cu->index, cu->xcc);
	tcp->own.ta = m->r->values[SG_BLOCK_TA] + (size_t)cu->index * SG_N_TA;
	tcp->own.td = m->r->values[SG_BLOCK_TD] + (size_t)cu->index * SG_N_TD;
	tcp->own.tcp = m->r->values[SG_BLOCK_TCP] + (size_t)cu->index * SG_N_TCP;
}

static void answer(void *ctx, const struct sg_request *r, const struct sg_answers *a)
{
	struct sg_model *m = ctx;

	if (r->source >= SG_SOURCE_SQC)
		sg_sqc_answer(&m->groups[r->source - SG_SOURCE_SQC], r, a->last);
	else
		sg_tcp_answer(r->source < m->n_cus ? &m->cus[r->source].tcp
						   : &m->joint[r->source - m->n_cus],
			      r, a);
}

static void begin(struct sg_model *m)
{
	m->mhz = m->d->cold ? m->hw->cold_sclk_mhz : m->hw->sclk_mhz;
	m->utcl2_cycles = m->hw->utcl2_ns * m->mhz / 1000;
	m->walk_cycles = m->hw->walk_ns * m->mhz / 1000;
	m->n_alive = m->n_behind = m->n_issued = m->n_repeated = m->last_end = 0;
	m->state_is_known &= !m->d->cold && !m->tcc.hbm.mall;
	m->walk_page = SG_NEVER;
	m->n_outside = 0;
	m->failed = false;
	m->code.dispatch = m->d;
	m->code.hw = m->hw;
	sg_code_map_clear(&m->code);
	sg_steady_clear(m->steady);
	sg_cache_clear(&m->walked);
	for (uint32_t k = 0; k < m->n_cus; k++)
		begin_cu(m, &m->cus[k]);
	for (uint32_t k = 0; k < m->n_groups; k++) {
		struct sg_scalar_group *g = &m->groups[k];

		sg_cache_clear(&g->data.tags);
		if (m->d->cold)
			sg_cache_clear(&g->inst.tags);
		memset(g->inst.pending, 0, sizeof(g->inst.pending));
		memset(g->data.pending, 0, sizeof(g->data.pending));
		g->inst.n_waits = g->data.n_waits = 0;
		g->inst.n_pending = g->data.n_pending = 0;
		memset(g->common, 0, sizeof(g->common));
	}
	m->tcc.answer = answer;
	m->tcc.ctx = m;
	sg_tcc_begin(&m->tcc, m->mhz, m->r->values[SG_BLOCK_TCC], SG_N_TCC);
}

/* ---- a run that failed leaves waves and instructions behind ---- */

static void abandon_wg(const struct sg_model *m, struct sg_model_wg *wg)
{
	for (struct sg_model_wg *f = wg->followers, *next; f; f = next) {
		next = f->next;
		abandon_wg(m, f);
	}
	if (m->d->release)
		m->d->release(m->d->ctx, wg->id, wg->traces);
	free(wg);
}

static void abandon_ops(struct sg_vmem_op *op)
{
	while (op) {
		struct sg_vmem_op *next = op->next;

		free(op->joint);
		free(op);
		op = next;
	}
}

static void abandon_pipeline(const struct sg_tcp *tcp)
{
	for (uint32_t n = 0; n < tcp->queue.n; n++) {
		free(sg_tcp_lookup(tcp, n)->joint);
		free(sg_tcp_lookup(tcp, n));
	}
	abandon_ops(tcp->loads.head);
	abandon_ops(tcp->stores.head);
}

static void abandon(struct sg_model *m)
{
	for (uint32_t k = 0; k < m->n_cus; k++)
		abandon_pipeline(&m->cus[k].tcp);
	for (uint32_t k = 0; k < m->hw->cus_per_se; k++)
		abandon_pipeline(&m->joint[k]);
	for (uint32_t xcc = 0; xcc < m->hw->n_xcc; xcc++)
		for (uint32_t k = 0; k < m->spi.dies[xcc].n_held; k++)
			abandon_wg(m, m->spi.dies[xcc].held[k]);
	for (uint32_t k = 0; k < 4 * m->n_cus; k++)
		for (uint32_t n = 0; n < m->cus[k / 4].simd[k % 4].n_waves; n++) {
			struct sg_model_wave *w = m->cus[k / 4].simd[k % 4].waves[n];

			if (!--w->wg->n_alive)
				abandon_wg(m, w->wg);
			free(w->followers);
			free(w);
		}
}

/*
 * When every wave sleeps or waits for an answer, nothing happens until the first of them continues; all windows
 * before that are skipped. Long sleeps are thousands of cycles, and so is an access to host memory. When a
 * request has been served, the time of its answer is known, and the wave's next time with it.
 */
static uint64_t next_window(const struct sg_model *m, uint64_t t, uint32_t window)
{
	uint64_t next = SG_NEVER;

	if (m->spi.n_left || m->tcc.n_spreads)
		return t;
	for (uint32_t k = 0; k < sg_hw_n_channels(m->hw); k++)
		if (m->tcc.channels[k].n_inbox)
			return t;
	for (uint32_t k = 0; k < m->hw->cus_per_se; k++)
		if (m->joint[k].queue.n)
			return t;
	for (uint32_t k = 0; k < m->n_cus; k++) {
		if (m->cus[k].tcp.queue.n)
			return t;
		if (m->cus[k].next_sample < next)
			next = m->cus[k].next_sample;
	}
	for (uint32_t g = 0; g < m->n_groups; g++)
		for (uint32_t k = 0; k < 4 * m->groups[g].n_cus; k++)
			if (m->groups[g].next[k] < next)
				next = m->groups[g].next[k];
	return next == SG_NEVER || next < t ? t : next - (next - t) % window;
}

/*
 * L2 serves what arrives at the same time in the order of the senders. Engines in step always send at the same time, so
 * that their leader must be neither the first nor the last of them more often than the others: they take turns.
 */
static void run_die(struct sg_model *m, uint32_t xcc, uint32_t window)
{
	const struct sg_hw *hw = m->hw;
	uint32_t first = xcc * hw->n_se * hw->n_groups, n_se = m->spi.dies[xcc].n_dies * hw->n_se;
	uint32_t n = n_se * hw->n_groups;
	bool in_step = m->spi.dies[xcc].in_step;

	for (uint32_t k = 0; k < (in_step ? hw->n_groups : n) && !m->failed; k++) {
		sg_cu_window(&m->groups[first + k], m->window_end);
		if (!in_step)
			sg_cu_end_window(&m->groups[first + k], m->window_end);
	}
	for (uint32_t k = window % n_se * hw->n_groups, end = k + n; in_step && k < end; k++)
		sg_cu_end_window(&m->groups[first + k % n], m->window_end);
}

/* L2 serves what arrives in the window. */
static void serve(struct sg_model *m, uint64_t from, uint32_t window)
{
	uint64_t n_before = m->tcc.n_unawaited, last;

	sg_tcc_serve(&m->tcc, from, window);
	if (m->tcc.n_unawaited == n_before)
		return;
	m->n_behind -= m->tcc.n_unawaited - n_before;
	last = m->tcc.last_unawaited + m->hw->td_latency;
	m->last_end = last > m->last_end ? last : m->last_end;
}

bool sg_model_run(struct sg_model *m, const struct sg_model_dispatch *d, struct sg_model_result *r)
{
	uint64_t t = 0, n_before = 0, ask_at = ASK_CYCLES, end;
	uint32_t window = m->hw->request, n_idle = 0;
	bool idle;

	m->d = d;
	m->r = r;
	if (!sg_result_init(m, r)) {
		sg_model_result_free(r);
		return false;
	}
	begin(m);
	m->failed = !sg_spi_begin(m);
	sg_lockstep_begin(m);
	sg_joint_begin(m);
	while ((m->spi.n_left || m->n_alive || m->n_behind) && !m->failed) {
		m->window_start = t;
		m->window_end = t + window;
		sg_spi_window(m, t, m->window_end);
		for (uint32_t xcc = 0; xcc < m->hw->n_xcc; xcc++)
			if (m->spi.dies[xcc].n_dies)
				run_die(m, xcc, (uint32_t)(t / window));
		for (uint32_t k = 0; k < m->hw->cus_per_se; k++)
			if (m->joint[k].queue.n)
				sg_tcp_advance(&m->joint[k], m->window_end);
		m->failed |= m->tcc.lost;
		serve(m, t + window, window);
		t += window;
		idle = m->n_issued == n_before;
		n_idle = idle && t > m->tcc.last_answer ? n_idle + 1 : 0;
		n_before = m->n_issued;
		m->failed |= n_idle > MAX_IDLE_WINDOWS;
		if (idle)
			t = next_window(m, t, window);
		if (d->is_too_long && t >= ask_at) {
			m->failed |= d->is_too_long(d->ctx, t);
			ask_at = t + ASK_CYCLES;
		}
	}
	if (m->failed) {
		abandon(m);
		sg_model_result_free(r);
		return false;
	}
	end = m->last_end;
	/* other dies read what this one wrote from memory (recorded: at the end of every kernel) */
	if (d->system_release || m->hw->n_xcc > 1)
		end = sg_tcc_write_back(&m->tcc, end);
	sg_result_finish(m, end);
	return true;
}
