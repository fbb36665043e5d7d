/*
 * spi: launches workgroups. Dies are dealt the workgroups one by one; what follows is each die's alone. As long as there are
 * any, every shader engine asks for one: it gets the next in order once it has a CU with room (wave slots, registers, LDS,
 * barriers) and scratch for its waves. Engines that could take it at the same time take turns, and so do the CUs of an
 * engine. Of engines in step, of one die or several, one asks for all (lockstep.c).
 *
 * An engine's resources are checked once in `ra_check` cycles (four, up to MI200), and that is what the SPI_RA counters
 * count, summed over engines: a quarter of the time at most. SPI_RA_TMP_STALL_CSN alone counts cycles: an engine without
 * scratch does not ask. Each resource is checked for itself, so several can be short at the same time.
 */
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

#define SPI(name) spi->c[(size_t)se * SG_N_SPI + SG_C_##name]

static uint32_t granules(uint32_t n, uint32_t granule)
{
	return (n + granule - 1) / granule * granule;
}

bool sg_spi_begin(struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;
	const struct sg_model_dispatch *d = m->d;
	struct sg_spi *spi = &m->spi;
	uint32_t vgprs = granules(d->vgprs ? d->vgprs : 1, hw->vgpr_granule);
	uint32_t sgprs = granules(d->sgprs ? d->sgprs : 1, hw->sgpr_granule) + hw->trap_sgprs;

	*spi = (struct sg_spi){ .first = SG_NEVER,
				.n_left = d->n_wgs,
				.lds_bytes = granules(d->lds_bytes, hw->lds_granule),
				.c = m->r->values[SG_BLOCK_SPI] };
	for (uint32_t k = 0; k < hw->n_xcc; k++) {
		spi->dies[k].next_wg = k;
		spi->dies[k].n_dies = 1;
	}
	spi->vgpr_cap = hw->simd_vgprs / vgprs;
	spi->sgpr_cap = hw->simd_sgprs / sgprs;
	spi->simd_cap = hw->simd_waves;
	if (spi->vgpr_cap < spi->simd_cap)
		spi->simd_cap = spi->vgpr_cap;
	if (spi->sgpr_cap < spi->simd_cap)
		spi->simd_cap = spi->sgpr_cap;
	if (!spi->simd_cap)
		spi->simd_cap = 1;
	/* what cannot fit an empty CU would wait for ever */
	if ((d->waves_per_wg + 3) / 4 > spi->simd_cap)
		spi->simd_cap = (d->waves_per_wg + 3) / 4;
	spi->scratch_cap = d->scratch_waves ? d->scratch_waves / sg_hw_n_engines(hw) : UINT32_MAX;
	if (spi->scratch_cap < d->waves_per_wg)
		spi->scratch_cap = d->waves_per_wg;
	return spi->simd_cap <= SG_MAX_SIMD_WAVES && d->waves_per_wg <= SG_MAX_WG_WAVES &&
	       spi->lds_bytes <= hw->lds_bytes;
}

uint32_t sg_spi_room(const struct sg_model *m)
{
	const struct sg_model_dispatch *d = m->d;
	uint32_t n = 4 * m->spi.simd_cap / d->waves_per_wg, lds = m->spi.lds_bytes;

	if (lds && m->hw->lds_bytes / lds < n)
		n = m->hw->lds_bytes / lds;
	return d->waves_per_wg > 1 && m->hw->barriers < n ? m->hw->barriers : n;
}

static bool fits(const struct sg_model *m, const struct sg_cu *cu)
{
	const struct sg_model_dispatch *d = m->d;
	uint32_t n_free = 0;

	if (cu->missing || cu->tcp.follows || cu->lds_used + m->spi.lds_bytes > m->hw->lds_bytes ||
	    (d->waves_per_wg > 1 && cu->barriers_used == m->hw->barriers))
		return false;
	for (unsigned s = 0; s < 4; s++)
		n_free += m->spi.simd_cap - cu->simd[s].n_waves;
	return n_free >= d->waves_per_wg;
}

/* The next CU of the engine, in turn, that can take a workgroup. NULL: none can. */
static struct sg_cu *find_cu(struct sg_model *m, uint32_t se)
{
	const struct sg_hw *hw = m->hw;
	uint32_t *next = &m->spi.next_cu[se];

	for (uint32_t tried = 0; tried < hw->cus_per_se; tried++) {
		struct sg_cu *cu = &m->cus[se * hw->cus_per_se + *next];

		*next = (*next + 1) % hw->cus_per_se;
		if (fits(m, cu))
			return cu;
	}
	return NULL;
}

static bool has_room(const struct sg_model *m, uint32_t se)
{
	uint32_t n = m->hw->cus_per_se, k = 0;

	while (k < n && !fits(m, &m->cus[se * n + k]))
		k++;
	return k < n;
}

/* Of SIMDs and of CUs: how many lack what a workgroup needs. */
struct shortage {
	uint32_t waves, vgprs, sgprs; /* SIMDs */
	uint32_t lds, barriers;       /* CUs */
};

/* Adds what a CU lacks, n times: -1 takes it back. */
static void add_shortage(const struct sg_model *m, const struct sg_cu *cu, uint32_t n,
			 struct shortage *sum)
{
	const struct sg_spi *spi = &m->spi;
	const struct sg_hw *hw = m->hw;
	uint32_t share = (m->d->waves_per_wg + 3) / 4; /* of a SIMD */

	for (unsigned s = 0; s < 4; s++) {
		uint32_t n_waves = cu->simd[s].n_waves + share;

		sum->waves += n * (n_waves > hw->simd_waves);
		sum->vgprs += n * (n_waves > spi->vgpr_cap);
		sum->sgprs += n * (n_waves > spi->sgpr_cap);
	}
	sum->lds += n * (cu->lds_used + spi->lds_bytes > hw->lds_bytes);
	sum->barriers += n * (m->d->waves_per_wg > 1 && cu->barriers_used == hw->barriers);
}

/* Why the request of an engine, and of those in step with it, is refused. */
struct refusal {
	uint32_t engine;
	bool for_scratch;
	struct shortage lacks; /* otherwise: of all CUs */
};

static struct refusal refusal_of(const struct sg_model *m, uint32_t se)
{
	const struct sg_spi *spi = &m->spi;
	/* scratch is allocated wave by wave: as long as there is some, the first wave asks for the rest */
	struct refusal r = { se,
			     spi->scratch_used[se] >= spi->scratch_cap || has_room(m, se),
			     { 0 } };

	for (uint32_t k = 0; !r.for_scratch && k < m->hw->cus_per_se; k++)
		add_shortage(m, &m->cus[se * m->hw->cus_per_se + k], 1, &r.lacks);
	return r;
}

/* No CU of the engine can take a workgroup, for so many checks: which resources are short, and where? Only its last CU may be
 * missing. */
static void count_stall(struct sg_model *m, uint32_t se, const struct refusal *r, uint64_t checks)
{
	struct sg_spi *spi = &m->spi;
	struct shortage all = r->lacks;
	uint32_t last = m->hw->cus_per_se - 1;

	if (m->cus[se * (last + 1) + last].missing)
		add_shortage(m, &m->cus[r->engine * (last + 1) + last], -1u, &all);
	SPI(SPI_RA_RES_STALL_CSN) += checks;
	SPI(SPI_RA_LDS_CU_FULL_CSN) += all.lds * checks;
	SPI(SPI_RA_BAR_CU_FULL_CSN) += all.barriers * checks;
	SPI(SPI_RA_WAVE_SIMD_FULL_CSN) += all.waves * checks;
	SPI(SPI_RA_VGPR_SIMD_FULL_CSN) += all.vgprs * checks;
	SPI(SPI_RA_SGPR_SIMD_FULL_CSN) += all.sgprs * checks;
}

/* The waves of a workgroup, by how many lanes they have. */
struct wave_counts {
	uint32_t n, n_lanes, lt_64, lt_48, lt_32, lt_16;
};

static struct wave_counts waves_of(struct sg_model_wave *const *waves, uint32_t n)
{
	struct wave_counts of = { .n = n };

	for (uint32_t k = 0; k < n; k++) {
		uint32_t lanes = waves[k]->lanes;

		of.n_lanes += lanes;
		of.lt_64 += lanes < 64;
		of.lt_48 += lanes < 48;
		of.lt_32 += lanes < 32;
		of.lt_16 += lanes < 16;
	}
	return of;
}

/* A workgroup of the CU. */
static void count_wg(const struct sg_cu *cu, const struct wave_counts *waves)
{
	struct sg_spi *spi = &cu->model->spi;
	uint32_t se = cu->se;
	uint64_t *sq = cu->own.sq;

	SPI(SPI_CSN_NUM_THREADGROUPS)++;
	SPI(SPI_CSN_WAVE) += waves->n;
	SPI(SPI_VWC_CSC_WR) += waves->n;
	SPI(SPI_SWC_CSC_WR) += (uint64_t)waves->n * cu->model->hw->sgpr_init;
	sq[SG_C_SQ_WAVES] += waves->n;
	sq[SG_C_SQ_ITEMS] += waves->n_lanes;
	sq[SG_C_SQ_WAVES_EQ_64] += waves->n - waves->lt_64;
	sq[SG_C_SQ_WAVES_LT_64] += waves->lt_64;
	sq[SG_C_SQ_WAVES_LT_48] += waves->lt_48;
	sq[SG_C_SQ_WAVES_LT_32] += waves->lt_32;
	sq[SG_C_SQ_WAVES_LT_16] += waves->lt_16;
}

struct sg_model_wave *sg_spi_new_wave(struct sg_cu *cu, struct sg_model_wg *wg, uint32_t index)
{
	struct sg_model_wave *w = sg_reuse_take(&cu->model->waves);

	if (!w) {
		w = aligned_alloc(_Alignof(struct sg_model_wave), sizeof(*w));
		if (!w)
			return NULL;
		memset(w, 0, sizeof(*w));
	}
	w->cu = w->home = cu;
	w->wg = wg;
	w->index = index;
	w->n_followers = 0;
	w->followers = NULL;
	w->followers_have_lists = false;
	return w;
}

static uint32_t followers_room(const struct sg_model *m)
{
	return sg_hw_n_engines(m->hw) - 1;
}

bool sg_spi_new_followers(struct sg_model_wave *w)
{
	struct sg_model *m = w->cu->model;
	uint32_t n = followers_room(m);

	w->followers = sg_reuse_take(&m->followers); /* has no lists */
	if (!w->followers)
		w->followers = calloc(n, sizeof(*w->followers) + sizeof(*w->rest));
	w->rest = (struct sg_follower_rest *)(w->followers + n);
	return w->followers;
}

void sg_spi_put_followers(struct sg_model_wave *w)
{
	struct sg_model *m = w->cu->model;

	if (!w->followers)
		return;
	for (uint32_t k = 0; w->followers_have_lists && k < followers_room(m); k++)
		w->rest[k].lists.n_added = 0;
	sg_reuse_put(&m->followers, w->followers);
}

static struct sg_model_wave *launch_wave(struct sg_model *m, struct sg_cu *cu,
					 struct sg_model_wg *wg, uint32_t index,
					 const struct sg_count_set *set, uint64_t t)
{
	struct sg_model_wave *w = sg_spi_new_wave(cu, wg, index);
	struct sg_simd *simd;

	if (!w)
		return NULL;
	w->set = set;
	wg->n_alive++;
	while (cu->simd[cu->next_simd].n_waves >= m->spi.simd_cap)
		cu->next_simd = (cu->next_simd + 1) % 4;
	simd = &cu->simd[cu->next_simd];
	w->simd = (uint8_t)cu->next_simd;
	w->wave_slot = (uint8_t)__builtin_ctz(~simd->slots_used);
	simd->slots_used |= 1u << w->wave_slot;
	cu->next_simd = (cu->next_simd + 1) % 4;
	w->age = (uint8_t)simd->n_waves++;
	simd->waves[w->age] = w;
	if (!cu->n_waves++)
		cu->busy_from = t;
	if (!m->spi.se_waves[cu->se]++)
		m->spi.se_from[cu->se] = t;
	m->n_alive++;
	if (!sg_wave_begin(cu, w, t))
		return NULL;
	sg_wave_wake(w);
	return w;
}

static void release_wg(struct sg_model *m, struct sg_model_wg *wg)
{
	if (m->d->release)
		m->d->release(m->d->ctx, wg->id, wg->traces);
	sg_reuse_put(&m->wgs, wg);
}

/* One of its waves is not alive any more. */
static void leave_wg(struct sg_model *m, struct sg_model_wg *wg)
{
	if (--wg->n_alive)
		return;
	for (struct sg_model_wg *f = wg->followers, *next; f; f = next) {
		next = f->next;
		release_wg(m, f);
	}
	release_wg(m, wg);
}

static bool launch_wg(struct sg_model *m, struct sg_cu *cu, struct sg_model_wg *wg,
		      const struct sg_count_set *set, struct sg_model_wave **waves, uint64_t t)
{
	struct sg_spi *spi = &m->spi;
	uint32_t se = cu->se;

	cu->n_wgs++;
	cu->lds_used += spi->lds_bytes;
	cu->barriers_used += m->d->waves_per_wg > 1;
	spi->scratch_used[se] += wg->n_waves;
	spi->first = t < spi->first ? t : spi->first;
	for (uint32_t k = 0; k < wg->n_waves; k++) {
		waves[k] = launch_wave(m, cu, wg, k, set, t);
		if (!waves[k])
			return false;
		t += m->hw->wave_launch;
	}
	spi->launch_free[se] = t;
	spi->last = t > spi->last ? t : spi->last;
	return true;
}

static bool launch(struct sg_model *m, struct sg_cu *cu, uint64_t t)
{
	struct sg_model_wave *waves[SG_MAX_WG_WAVES];
	struct wave_counts counts;
	struct sg_bundle b;

	if (!sg_bundle_next(m, cu, &b))
		return false;
	m->spi.n_left -= b.n;
	for (uint32_t k = b.n - 1; k; k--) { /* first: if that fails, they are its followers */
		b.wgs[k]->next = b.wgs[0]->followers;
		b.wgs[0]->followers = b.wgs[k];
	}
	if (!launch_wg(m, cu, b.wgs[0], b.set, waves, t))
		return false;
	for (uint32_t k = 0; k < b.wgs[0]->n_waves; k++) {
		waves[k]->home = b.cus[0];
		if (b.n > 1 && !sg_spi_new_followers(waves[k]))
			return false;
	}
	counts = waves_of(waves, b.wgs[0]->n_waves);
	for (uint32_t k = 0; k < b.n; k++) {
		if (k)
			sg_lockstep_join(waves, b.cus[k], b.wgs[k]);
		count_wg(b.cus[k], &counts);
	}
	return true;
}

/* An engine that asked in vain until `to`, from `from` on. */
static void count_wait(struct sg_model *m, uint32_t se, const struct refusal *r, uint64_t from,
		       uint64_t to)
{
	struct sg_spi *spi = &m->spi;

	if (r->for_scratch)
		SPI(SPI_RA_TMP_STALL_CSN) += to - from;
	else
		count_stall(m, se, r, to / m->hw->ra_check - from / m->hw->ra_check);
}

/* The k-th engine of a die, from the one on whose turn it is. */
static uint32_t engine_of(const struct sg_model *m, uint32_t xcc, uint32_t k)
{
	return xcc * m->hw->n_se + (m->spi.dies[xcc].se + k) % m->hw->n_se;
}

/* Those whose turn it is ask for what is left of the die's, in vain: like the leader's, or for themselves. */
static void count_waits(struct sg_model *m, uint32_t xcc, uint32_t leader, uint32_t full,
			uint64_t from, uint64_t to)
{
	const struct sg_spi *spi = &m->spi;
	const struct sg_spi_die *die = &spi->dies[leader];
	uint64_t n = sg_bundle_n_left_of(m, die, xcc);
	struct refusal r = { .engine = SG_MAX_SE };

	for (uint32_t k = 0; k < m->hw->n_se && k < n; k++) {
		uint32_t se = engine_of(m, xcc, k), like = die->in_step ? leader * m->hw->n_se : se;
		uint64_t since = spi->launch_free[like] > from ? spi->launch_free[like] : from;

		if (!(full >> like & 1) || since >= to || m->failed)
			continue;
		if (r.engine != like)
			r = refusal_of(m, like);
		count_wait(m, se, &r, since, to);
	}
}

/* Engines that ask for themselves. */
static uint32_t n_asking(const struct sg_model *m, uint32_t xcc)
{
	return m->spi.dies[xcc].in_step ? 1 : m->hw->n_se;
}

/*
 * The engine that can take the next workgroup of the die first, and its CU; *out_t: when. NULL: none can before
 * `to`. An engine that cannot is not looked at again: nothing ends within a window.
 */
static struct sg_cu *first_cu(struct sg_model *m, uint32_t xcc, uint32_t *full, uint64_t from,
			      uint64_t to, uint64_t *out_t)
{
	const struct sg_spi *spi = &m->spi;

	for (;;) {
		uint32_t first = SG_MAX_SE;
		uint64_t first_t = to;
		struct sg_cu *cu = NULL;

		for (uint32_t k = 0; k < n_asking(m, xcc); k++) {
			uint32_t se = engine_of(m, xcc, k);
			uint64_t t = spi->launch_free[se] > from ? spi->launch_free[se] : from;

			if (t >= first_t || *full >> se & 1)
				continue;
			first = se;
			first_t = t;
		}
		if (first == SG_MAX_SE)
			return NULL;
		if (spi->scratch_used[first] + m->d->waves_per_wg <= spi->scratch_cap)
			cu = find_cu(m, first);
		*out_t = first_t;
		if (cu)
			return cu;
		*full |= 1u << first;
	}
}

static void die_window(struct sg_model *m, uint32_t xcc, uint64_t from, uint64_t to)
{
	struct sg_spi *spi = &m->spi;
	struct sg_spi_die *die = &spi->dies[xcc];
	const struct sg_hw *hw = m->hw;
	uint32_t full = 0;
	struct sg_cu *cu;
	uint64_t t;

	while (sg_bundle_n_left(m, die) && !m->failed &&
	       (cu = first_cu(m, xcc, &full, from, to, &t))) {
		if (!launch(m, cu, t))
			m->failed = true;
		die->se = die->in_step ? 0 : (cu->se + 1) % hw->n_se;
	}
	for (uint32_t k = 0; k < die->n_dies; k++)
		count_waits(m, xcc + k, xcc, full, from, to);
}

void sg_spi_window(struct sg_model *m, uint64_t from, uint64_t to)
{
	for (uint32_t xcc = 0; xcc < m->hw->n_xcc && m->spi.n_left; xcc++)
		if (m->spi.dies[xcc].n_dies)
			die_window(m, xcc, from, to);
}

void sg_spi_wave_done(struct sg_cu *cu, struct sg_model_wave *w, uint64_t t)
{
	struct sg_model *m = cu->model;
	struct sg_spi *spi = &m->spi;
	struct sg_simd *simd = &cu->simd[w->simd];
	struct sg_model_wg *wg = w->wg;

	simd->n_waves--;
	for (uint32_t k = w->age; k < simd->n_waves; k++) {
		simd->waves[k] = simd->waves[k + 1];
		simd->waves[k]->age = (uint8_t)k;
		simd->ready[k] = simd->ready[k + 1];
		simd->due[k] = simd->due[k + 1];
		simd->unit[k] = simd->unit[k + 1];
	}
	simd->due[simd->n_waves] = SG_DUE_LATER;
	simd->slots_used &= ~(1u << w->wave_slot);
	spi->scratch_used[cu->se]--;
	m->n_alive--;
	m->last_end = t > m->last_end ? t : m->last_end;
	if (w->set == cu->set)
		cu->common_end = t;
	if (!--cu->n_waves)
		sg_busy_add(&cu->busy, cu->busy_from, t);
	if (!--spi->se_waves[cu->se])
		sg_busy_add(&spi->se_busy[cu->se], spi->se_from[cu->se], t);
	if (wg->n_alive == 1) {
		cu->n_wgs--;
		cu->lds_used -= spi->lds_bytes;
		cu->barriers_used -= m->d->waves_per_wg > 1;
	} else if (wg->n_at_barrier == wg->n_alive - 1) {
		/* the last wave that the others waited for is gone */
		for (unsigned s = 0; s < 4; s++)
			for (uint32_t n = 0; n < cu->simd[s].n_waves; n++) {
				struct sg_model_wave *other = cu->simd[s].waves[n];

				if (other->wg != wg || other->stall != SG_STALL_BARRIER)
					continue;
				other->ready_at = (t + 11) / 4 * 4;
				sg_wave_wake(other);
			}
		wg->n_at_barrier = 0;
	}
	leave_wg(m, wg);
	sg_spi_put_followers(w);
	sg_reuse_put(&m->waves, w);
}
