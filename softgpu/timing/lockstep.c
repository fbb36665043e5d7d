/*
 * lockstep: shader engines, of one die or of several, while all of them do the same.
 *
 * Most kernels take one path in all workgroups. The engines then issue the same instructions at almost the same
 * times, so the issue of one of them is simulated: the first one of the first die leads. With every workgroup it is given
 * one for each other engine, of the engine's die, on the CU with the same number. Their waves follow the leader's
 * (sg_model_wave.followers). When the leader issues a memory instruction, they execute theirs, with their addresses: LDS,
 * scalar cache, translation, L1 and the way to L2 are simulated for every CU, by one pipeline as long as their lines are
 * alike (joint.c). The leader's wave waits for the answers to one of them, that of its home, which is on another die each
 * time: memory does not treat all alike.
 *
 * So what follows from instructions and addresses is counted as if every engine were simulated, and what follows from
 * waiting is that of the leader. Counters of issue are counted apart (sg_count_set), by the engines that have such waves, and
 * added to each engine in the end.
 *
 * Where the workgroups of dies differ, each die continues with a leader of its own, and where those take too many paths
 * (bundle.c), the engines part (part.c). tests/softgpu/test_lockstep.c and compare_engines.c compare.
 */
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

#define MIN_WGS 8 /* for each engine: a leader with fewer would be a poor sample */

/*
 * Sets of counters: of waves that all engines have that have such a CU; on the last CU, which some engines lack; others by
 * the engines that have them, as they come. A die has one for each engine that it leads, at most.
 */
enum { ON_ALL, ON_LAST_CU, N_COMMON };

struct sg_issue_counts {
	uint64_t sq[SG_N_SQ], level[SG_N_SQ];
	struct sg_count_set set;
};

static struct sg_issue_counts *counts_of(const struct sg_model *m, uint32_t xcc, uint32_t set)
{
	return &m->issue_counts[xcc * m->hw->n_se + set];
}

struct sg_issue_counts *sg_lockstep_create(const struct sg_hw *hw)
{
	return calloc(sg_hw_n_engines(hw), sizeof(struct sg_issue_counts));
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

	for (uint32_t k = 0; k < sg_lockstep_n(leader->model, leader->xcc); k++)
		engines |= sg_lockstep_cu(leader, k) ? 1u << k : 0;
	return engines;
}

static struct sg_count_set *begin_set(struct sg_model *m, uint32_t xcc, uint32_t engines)
{
	uint32_t k = m->spi.dies[xcc].n_sets++;
	struct sg_issue_counts *counts = counts_of(m, xcc, k);

	memset(counts, 0, sizeof(*counts));
	counts->set = (struct sg_count_set){ .sq = counts->sq,
					     .level = counts->level,
					     .count_at = SG_MAX_SE + xcc * m->hw->n_se + k,
					     .engines = engines };
	return &counts->set;
}

uint32_t sg_lockstep_number(const struct sg_count_set *set)
{
	return set->count_at - SG_MAX_SE;
}

void sg_lockstep_begin_die(struct sg_model *m, uint32_t xcc)
{
	const struct sg_hw *hw = m->hw;
	struct sg_spi_die *die = &m->spi.dies[xcc];
	struct sg_cu *first = &m->cus[(size_t)xcc * hw->n_se * hw->cus_per_se];
	const struct sg_count_set *all, *last;
	uint32_t n = hw->cus_per_se;

	die->n_led = die->in_step ? die->n_dies * hw->n_se : 1;
	for (uint32_t k = 0; k < die->n_dies * hw->n_se * n; k++) {
		first[k].tcp.follows = die->in_step && k >= n;
		first[k].set = &first[k].own;
	}
	if (!die->in_step)
		return;
	die->n_sets = 0;
	all = begin_set(m, xcc, engines_with(first));
	last = begin_set(m, xcc, engines_with(first + n - 1));
	for (uint32_t k = 0; k < n; k++)
		first[k].set = k == n - 1 && hw->n_missing ? last : all;
}

void sg_lockstep_begin(struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;
	bool in_step = hw->n_se > N_COMMON && !m->d->sample_cycles && !m->d->apart &&
		       m->d->n_wgs >= (uint64_t)MIN_WGS * sg_hw_n_engines(hw);

	for (uint32_t xcc = 0; xcc < hw->n_xcc; xcc++) {
		struct sg_spi_die *die = &m->spi.dies[xcc];

		die->in_step = in_step && !xcc;
		die->n_dies = !in_step ? 1 : xcc ? 0 : hw->n_xcc;
	}
	for (uint32_t xcc = 0; xcc < hw->n_xcc; xcc++)
		sg_lockstep_begin_die(m, xcc);
}

const struct sg_count_set *sg_lockstep_set(struct sg_model *m, const struct sg_cu *cu,
					   uint32_t engines)
{
	const struct sg_spi_die *die = &m->spi.dies[cu->xcc];

	if (cu->set->engines == engines)
		return cu->set;
	for (uint32_t k = N_COMMON; k < die->n_sets; k++)
		if (counts_of(m, cu->xcc, k)->set.engines == engines)
			return &counts_of(m, cu->xcc, k)->set;
	return die->n_sets < sg_lockstep_n(m, cu->xcc) ? begin_set(m, cu->xcc, engines) : NULL;
}

void sg_lockstep_join(struct sg_model_wave *const *leaders, struct sg_cu *cu,
		      struct sg_model_wg *wg)
{
	for (uint32_t k = 0; k < wg->n_waves; k++) {
		leaders[k]->followers[leaders[k]->n_followers++] = (struct sg_follower){
			.records = sg_trace_records_of(&wg->traces->waves[k]),
			.cu = (uint16_t)cu->index,
			.engine = (uint8_t)cu->se,
			.xcc = (uint8_t)cu->xcc,
		};
	}
	cu->tcp.touched = true;
}

/* ---- counters ---- */

static void add_counts(uint64_t *to, const uint64_t *from)
{
	for (uint32_t k = 0; k < SG_N_SQ; k++)
		to[k] += from[k];
}

/* How often each instruction was executed. */
static void share_executed(struct sg_model *m, uint32_t xcc, const struct sg_count_set *set)
{
	for (struct sg_map_page *page = m->code.pages; page; page = page->next)
		for (uint32_t slot = 0; slot < SG_MAP_SLOTS; slot++) {
			uint64_t n = page->count[set->count_at][slot];

			page->count[set->count_at][slot] = 0;
			for (uint32_t left = n ? set->engines : 0; left; left &= left - 1) {
				uint32_t engine = (uint32_t)__builtin_ctz(left);

				page->count[xcc * m->hw->n_se + engine][slot] += n;
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

static void share_cu(const struct sg_cu *leader, struct sg_cu *cu)
{
	cu->busy_from = leader->busy_from;
	cu->busy = leader->busy;
	cu->lds_full = leader->lds_full;
	cu->common_end = leader->common_end;
}

static void share_code(const struct sg_scalar_group *leader, struct sg_scalar_group *g)
{
	const struct sg_cache *from = &leader->inst.tags;
	size_t n_bytes = (size_t)from->n_sets * from->n_ways * sizeof(*from->tag);

	if (!memcmp(g->inst.tags.tag, from->tag, n_bytes))
		return;
	g->model->state_is_known = false;
	memcpy(g->inst.tags.tag, from->tag, n_bytes);
}

/* Returns whether the engine has waves that not all have. */
static bool share_counts(struct sg_model *m, uint32_t xcc, uint32_t engine)
{
	size_t at = (size_t)(xcc * m->hw->n_se + engine) * SG_N_SQ;
	bool has_others = false;

	for (uint32_t k = 0; k < m->spi.dies[xcc].n_sets; k++) {
		const struct sg_issue_counts *counts = counts_of(m, xcc, k);

		if (!(counts->set.engines >> engine & 1))
			continue;
		add_counts(m->r->values[SG_BLOCK_SQ] + at, counts->sq);
		add_counts(m->r->accumulated + at, counts->level);
		has_others |= k >= N_COMMON;
	}
	return has_others;
}

/* From the last to the first: the leader's are used until then. */
void sg_lockstep_share(struct sg_model *m, uint32_t xcc)
{
	const struct sg_hw *hw = m->hw;
	uint32_t leader = xcc * hw->n_se;
	uint64_t common_end = 0;

	for (uint32_t k = 0; k < hw->cus_per_se; k++) {
		uint64_t end = m->cus[leader * hw->cus_per_se + k].common_end;

		common_end = end > common_end ? end : common_end;
	}
	for (uint32_t k = 0; k < m->spi.dies[xcc].n_sets; k++)
		share_executed(m, xcc, &counts_of(m, xcc, k)->set);
	for (uint32_t n = sg_lockstep_n(m, xcc); n--;) {
		uint32_t se = leader + n;
		bool has_others = share_counts(m, xcc, n);

		share_launches(&m->spi, leader, se);
		if (!has_others)
			shorten(&m->spi.se_busy[se], common_end);
		for (uint32_t k = 0; n && k < hw->n_groups; k++)
			share_code(&m->groups[leader * hw->n_groups + k],
				   &m->groups[se * hw->n_groups + k]);
		for (uint32_t k = 0; k < hw->cus_per_se; k++) {
			const struct sg_cu *from = &m->cus[leader * hw->cus_per_se + k];
			struct sg_cu *cu = sg_lockstep_cu(from, n);

			if (!cu)
				continue;
			share_cu(from, cu);
			if (!has_others)
				shorten(&cu->busy, cu->common_end);
		}
	}
}

void sg_lockstep_finish(struct sg_model *m)
{
	for (uint32_t xcc = 0; xcc < m->hw->n_xcc; xcc++)
		if (m->spi.dies[xcc].in_step)
			sg_lockstep_share(m, xcc);
}
