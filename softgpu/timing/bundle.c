/*
 * bundle: which workgroups are launched next. One, on an engine of its own. Where engines are in step (lockstep.c): one for
 * each of them, of the same path.
 *
 * Kernels have workgroups of few paths: at the edges of a grid not all lanes have work. Workgroups are held until
 * there is one of the same path for each engine. One that waits in vain is launched alone, on the engine that leads, as long as
 * these are few: they change its load. The last ones of a path are launched together as well, and count for the engines
 * that have one. If there are too many paths, the engines part.
 */
#include "softgpu/timing/model_priv.h"

#define PATIENCE 2    /* bundles that may be launched before a workgroup that is held */
#define MAX_ALONE 64u /* one of so many workgroups may be launched alone */
#define FILLS 4

static bool is_same_path(const struct sg_wg_traces *a, const struct sg_wg_traces *b)
{
	if (a->n_waves != b->n_waves)
		return false;
	for (uint32_t k = 0; k < a->n_waves; k++) {
		const struct sg_wave_trace *x = &a->waves[k], *y = &b->waves[k];

		if (x->lost || y->lost || x->entry != y->entry || x->exec != y->exec ||
		    x->control.size != y->control.size ||
		    memcmp(x->control.bytes, y->control.bytes, x->control.size))
			return false;
	}
	return true;
}

static bool has_more(const struct sg_model *m, const struct sg_spi_die *die)
{
	return die->next_wg < m->d->n_wgs;
}

/* The next workgroup of the die. NULL: it is missing. */
static struct sg_model_wg *read_wg(struct sg_model *m, struct sg_spi_die *die)
{
	struct sg_model_wg *wg = sg_reuse_take(&m->wgs);

	if (!wg)
		wg = malloc(sizeof(*wg));
	if (!wg)
		return NULL;
	wg->id = die->next_wg;
	wg->traces = m->d->next(m->d->ctx, wg->id);
	if (!wg->traces || !wg->traces->n_waves || wg->traces->n_waves > m->d->waves_per_wg) {
		free(wg); /* whoever made the traces knows of them */
		return NULL;
	}
	wg->n_waves = wg->traces->n_waves;
	wg->n_alive = wg->n_at_barrier = wg->n_followers = 0;
	wg->counted_on = NULL;
	die->next_wg += m->hw->n_xcc;
	for (uint32_t k = 0; k < wg->n_waves;
	     k++) { /* another thread wrote them: they are in its cache */
		__builtin_prefetch(wg->traces->waves[k].control.bytes);
		__builtin_prefetch(wg->traces->waves[k].memory.bytes);
	}
	return wg;
}

static uint32_t n_of_path(const struct sg_spi_die *die, uint32_t path)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < die->n_held; k++)
		n += die->held[k]->path == path;
	return n;
}

/* Reads one more and holds it. Returns how many of its path are held; 0: it is missing. */
static uint32_t hold(struct sg_model *m, struct sg_spi_die *die)
{
	struct sg_model_wg *wg = read_wg(m, die);
	uint32_t k = 0;

	if (!wg)
		return 0;
	while (k < die->n_held && !is_same_path(die->held[k]->traces, wg->traces))
		k++;
	wg->path = k < die->n_held ? die->held[k]->path : die->n_paths++;
	wg->held_at = die->n_bundles;
	die->held[die->n_held++] = wg;
	return n_of_path(die, wg->path);
}

/* A path of which there are n; the oldest one's, if none is. */
static uint32_t find_path(const struct sg_spi_die *die, uint32_t n)
{
	for (uint32_t k = 0; k < die->n_held; k++)
		if (n_of_path(die, die->held[k]->path) >= n)
			return die->held[k]->path;
	return die->held[0]->path;
}

/* Moves up to n of the path to the bundle. */
static void take_held(struct sg_spi_die *die, uint32_t path, uint32_t n, struct sg_bundle *out)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < die->n_held; k++)
		if (die->held[k]->path == path && out->n < n)
			out->wgs[out->n++] = die->held[k];
		else
			die->held[kept++] = die->held[k];
	die->n_held = kept;
}

/* Those that follow the first are on the CUs of the same number. Returns how many there can be. */
static uint32_t find_cus(struct sg_cu *cu, uint32_t n_engines, struct sg_bundle *out)
{
	uint32_t n = 0;

	out->cus[n++] = cu;
	for (uint32_t k = 1; k < n_engines; k++) {
		struct sg_cu *other = sg_lockstep_cu(cu, k);

		if (other)
			out->cus[n++] = other;
	}
	return n;
}

/* Whether n more may be launched alone: all workgroups of the engine fit it then, or it fills up so often that more of them
 * change little. */
static bool may_be_alone(const struct sg_model *m, const struct sg_spi_die *die, uint32_t n)
{
	uint64_t n_wgs = m->d->n_wgs / m->hw->n_xcc, n_alone = die->n_alone + n;
	uint64_t of_engine = n_wgs / m->hw->n_se + 1 + n_alone,
		 room = (uint64_t)m->hw->cus_per_se * sg_spi_room(m);

	return !n ||
	       (n_alone * MAX_ALONE <= n_wgs && (of_engine <= room || of_engine >= FILLS * room));
}

/* Of engines in step. False: there are too many paths. */
static bool next_in_step(struct sg_model *m, struct sg_cu *cu, struct sg_bundle *out)
{
	struct sg_spi_die *die = &m->spi.dies[cu->xcc];
	uint32_t n_cus = find_cus(cu, m->hw->n_se, out), path, n;
	bool late = die->n_held && die->n_bundles - die->held[0]->held_at > PATIENCE;
	bool whole = die->n_held && n_of_path(die, find_path(die, n_cus)) >= n_cus;

	if (!whole && late && may_be_alone(m, die, 1)) {
		out->set = sg_lockstep_last(m, cu, 1);
		take_held(die, die->held[0]->path, 1, out);
		die->n_alone++;
		return true;
	}
	while (!whole && has_more(m, die) && die->n_held < SG_MAX_HELD) {
		n = hold(m, die);
		if (!n)
			return true;
		whole = n >= n_cus;
	}
	path = find_path(die, n_cus);
	n = n_of_path(die, path);
	out->set = cu->set;
	if (n < n_cus) {
		if (has_more(m, die) || !may_be_alone(m, die, die->n_held - n))
			return false;
		out->set = sg_lockstep_last(m, cu, n);
		if (!out->set)
			out->set = sg_lockstep_last(m, cu, n = 1);
	}
	take_held(die, path, n < n_cus ? n : n_cus, out);
	die->n_bundles++;
	return true;
}

bool sg_bundle_next(struct sg_model *m, struct sg_cu *cu, struct sg_bundle *out)
{
	struct sg_spi_die *die = &m->spi.dies[cu->xcc];

	out->n = 0;
	if (die->in_step) {
		if (next_in_step(m, cu, out))
			return out->n;
		sg_lockstep_part(m, cu->xcc);
	}
	out->set = cu->set;
	out->cus[0] = cu;
	if (die->n_held)
		take_held(die, die->held[0]->path, 1, out);
	else if ((out->wgs[0] = read_wg(m, die)))
		out->n = 1;
	return out->n;
}

uint64_t sg_bundle_n_left(const struct sg_model *m, const struct sg_spi_die *die)
{
	uint64_t n = has_more(m, die) ? m->d->n_wgs - die->next_wg : 0;

	return die->n_held + (n + m->hw->n_xcc - 1) / m->hw->n_xcc;
}
