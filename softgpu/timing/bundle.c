/*
 * bundle: which workgroups are launched next. One, on an engine of its own. Where engines are in step (lockstep.c): one for
 * each of them, of the same path.
 *
 * Kernels have workgroups of few paths: at the edges of a grid not all lanes have work. Workgroups are held until
 * there is one of the same path for each engine of each die. One that waits in vain is launched alone, as long as these are
 * few: the engine that leads issues for it, which changes its load, and a CU of the workgroup's die has its memory. The last
 * ones of a path are launched together as well, and count for the engines that have one. If there are too many paths, or
 * some of one die alone, the dies part; with too many for one die, its engines.
 */
#include "softgpu/timing/model_priv.h"

/*
 * Bundles that may be launched before a workgroup that is held. On a GPU of 8 engines, those at the edges of a grid of up to 24
 * columns find enough others meanwhile. An engine has more workgroups than that at a time, so none is late by much; launched alone,
 * they would distort what is counted more.
 */
#define PATIENCE 24
#define MAX_ALONE 8u /* one of so many workgroups of the engine that leads may be alone */
#define FILLS 4
#define MIN_ROOM 96 /* to hold workgroups; SG_MAX_HELD is more */

_Static_assert(MIN_ROOM <= SG_MAX_HELD, "there is room");

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

/* Those of the die that have not been read. */
static uint64_t n_unread(const struct sg_model *m, const struct sg_spi_die *die)
{
	uint64_t n = die->next_wg < m->d->n_wgs ? m->d->n_wgs - die->next_wg : 0;

	return (n + m->hw->n_xcc - 1) / m->hw->n_xcc;
}

/* Of the dies that this one leads: the one that has the next workgroup. */
static struct sg_spi_die *next_to_read(struct sg_spi_die *leader)
{
	struct sg_spi_die *next = leader;

	for (uint32_t k = 1; k < leader->n_dies; k++)
		if (leader[k].next_wg < next->next_wg)
			next = &leader[k];
	return next;
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
	wg->n_alive = wg->n_at_barrier = wg->parted = 0;
	wg->followers = NULL;
	die->next_wg += m->hw->n_xcc;
	for (uint32_t k = 0; k < wg->n_waves;
	     k++) { /* another thread wrote them: they are in its cache */
		__builtin_prefetch(wg->traces->waves[k].control.bytes);
		__builtin_prefetch(wg->traces->waves[k].memory.bytes);
	}
	return wg;
}

/* Reads one more and holds it. False: it is missing. */
static bool hold(struct sg_model *m, struct sg_spi_die *die)
{
	struct sg_model_wg *wg = read_wg(m, next_to_read(die));
	uint32_t k = 0;

	if (!wg)
		return false;
	while (k < die->n_held && !is_same_path(die->held[k]->traces, wg->traces))
		k++;
	wg->path = k < die->n_held ? die->held[k]->path : die->n_paths++;
	wg->held_at = die->n_bundles;
	die->held[die->n_held++] = wg;
	return true;
}

/* The die of a workgroup, from the one that leads it on. */
static uint32_t die_of(const struct sg_model *m, const struct sg_spi_die *leader,
		       const struct sg_model_wg *wg)
{
	return (uint32_t)(wg->id % m->hw->n_xcc) - (uint32_t)(leader - m->spi.dies);
}

/* Those of a path that are held, by die. */
static void count_path(const struct sg_model *m, const struct sg_spi_die *die, uint32_t path,
		       uint32_t n[SG_MAX_XCC])
{
	memset(n, 0, SG_MAX_XCC * sizeof(*n));
	for (uint32_t k = 0; k < die->n_held; k++)
		if (die->held[k]->path == path)
			n[die_of(m, die, die->held[k])]++;
}

/* There are n of the path for each die. */
static bool is_whole(const struct sg_model *m, const struct sg_spi_die *die, uint32_t path,
		     uint32_t n)
{
	uint32_t of_die[SG_MAX_XCC], k = 0;

	if (die->n_held < n * die->n_dies)
		return false;
	count_path(m, die, path, of_die);
	while (k < die->n_dies && of_die[k] >= n)
		k++;
	return k == die->n_dies;
}

/* The first of its path that is held. */
static bool is_first(const struct sg_spi_die *die, uint32_t k)
{
	uint32_t n = 0;

	while (die->held[n]->path != die->held[k]->path)
		n++;
	return n == k;
}

/* A path of which there are n for each die. False: there is none, and *path is the oldest one's. */
static bool find_path(const struct sg_model *m, const struct sg_spi_die *die, uint32_t n,
		      uint32_t *path)
{
	for (uint32_t k = 0; k < die->n_held && die->n_held >= n * die->n_dies; k++) {
		*path = die->held[k]->path;
		if (is_first(die, k) && is_whole(m, die, *path, n))
			return true;
	}
	if (die->n_held)
		*path = die->held[0]->path;
	return false;
}

/* Into how many bundles those fit that are held: there is one engine that launches them all. */
static uint32_t n_bundles_held(const struct sg_model *m, const struct sg_spi_die *die)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < die->n_held; k++) {
		uint32_t of_die[SG_MAX_XCC], most = 0;

		if (!is_first(die, k))
			continue;
		count_path(m, die, die->held[k]->path, of_die);
		for (uint32_t x = 0; x < die->n_dies; x++)
			most = of_die[x] > most ? of_die[x] : most;
		n += (most + m->hw->n_se - 1) / m->hw->n_se;
	}
	return n;
}

/* The CUs that have the number of the leader's, of a die. */
static uint32_t n_cus_of_die(const struct sg_model *m, const struct sg_cu *cu)
{
	uint32_t n = 1;

	while (n < m->hw->n_se && sg_lockstep_cu(cu, n))
		n++;
	return n;
}

/*
 * Moves the oldest of the path to the bundle, up to n for each die and up to `most`, each to a CU that is in step with the
 * leader's. The leader waits for one of another die in each bundle, so that what it counts is the mean of all.
 */
static void take_held(const struct sg_model *m, struct sg_spi_die *die, const struct sg_cu *cu,
		      uint32_t path, uint32_t n, uint32_t most, struct sg_bundle *out)
{
	struct sg_model_wg *of_engine[SG_MAX_SE];
	uint32_t n_of_die[SG_MAX_XCC] = { 0 }, kept = 0, engines = 0, n_se = m->hw->n_se;

	for (uint32_t k = 0; k < die->n_held; k++) {
		struct sg_model_wg *wg = die->held[k];
		uint32_t x = die_of(m, die, wg);

		if (wg->path == path && most && n_of_die[x] < n) {
			of_engine[x * n_se + n_of_die[x]++] = wg;
			most--;
		} else {
			die->held[kept++] = wg;
		}
	}
	die->n_held = kept;
	for (uint32_t k = 0; k < die->n_dies; k++) {
		uint32_t x = (die->n_bundles + k) % die->n_dies;

		for (uint32_t engine = x * n_se, end = engine + n_of_die[x]; engine < end;
		     engine++) {
			out->cus[out->n] = sg_lockstep_cu(cu, engine);
			out->wgs[out->n++] = of_engine[engine];
			engines |= 1u << engine;
		}
	}
	out->set = sg_lockstep_set(cu->model, cu, engines);
}

/* Whether n more bundles may be launched that not all have: all workgroups of the engine that leads fit it then, or it
 * fills up so often that more of them change little. */
static bool may_be_alone(const struct sg_model *m, const struct sg_spi_die *die, uint32_t n)
{
	uint32_t n_engines = die->n_dies * m->hw->n_se;
	uint64_t n_wgs = m->d->n_wgs / m->hw->n_xcc * die->n_dies, n_alone = die->n_alone + n;
	uint64_t of_engine = n_wgs / n_engines + 1 + n_alone,
		 room = (uint64_t)m->hw->cus_per_se * sg_spi_room(m);

	return !n || (n_alone * MAX_ALONE * n_engines <= n_wgs &&
		      (of_engine <= room || of_engine >= FILLS * room));
}

/* Of engines in step. False: there are too many paths. */
static bool next_in_step(struct sg_model *m, struct sg_cu *cu, struct sg_bundle *out)
{
	struct sg_spi_die *die = &m->spi.dies[cu->xcc];
	uint32_t n = n_cus_of_die(m, cu), path = 0, room = 4 * die->n_dies * m->hw->n_se;
	bool late = die->n_held && die->n_bundles - die->held[0]->held_at > PATIENCE;
	bool whole = find_path(m, die, n, &path);

	if (!whole && late && may_be_alone(m, die, 1)) {
		die->n_alone++;
		take_held(m, die, cu, path, 1, 1, out);
		return out->set;
	}
	while (!whole && next_to_read(die)->next_wg < m->d->n_wgs &&
	       die->n_held < (room > MIN_ROOM ? room : MIN_ROOM)) {
		if (!hold(m, die))
			return true;
		path = die->held[die->n_held - 1]->path;
		whole = is_whole(m, die, path, n);
	}
	if (!whole) {
		if (next_to_read(die)->next_wg < m->d->n_wgs ||
		    !may_be_alone(m, die, n_bundles_held(m, die) - 1))
			return false;
		path = die->held[0]->path;
	}
	take_held(m, die, cu, path, n, UINT32_MAX, out);
	die->n_bundles++;
	return out->set;
}

bool sg_bundle_next(struct sg_model *m, struct sg_cu *cu, struct sg_bundle *out)
{
	struct sg_spi_die *die = &m->spi.dies[cu->xcc];

	out->n = 0;
	while (die->in_step) {
		if (next_in_step(m, cu, out))
			return out->n;
		while (out->n) /* there are too many sets */
			die->held[die->n_held++] = out->wgs[--out->n];
		sg_lockstep_part(m, cu->xcc);
	}
	out->set = cu->set;
	out->cus[0] = cu;
	if (die->n_held) {
		out->wgs[out->n++] = die->held[0];
		memmove(die->held, die->held + 1, --die->n_held * sizeof(*die->held));
	} else if ((out->wgs[0] = read_wg(m, die))) {
		out->n = 1;
	}
	return out->n;
}

uint64_t sg_bundle_n_left(const struct sg_model *m, const struct sg_spi_die *die)
{
	uint64_t n = die->n_held;

	for (uint32_t k = 0; k < die->n_dies; k++)
		n += n_unread(m, &die[k]);
	return n;
}

uint64_t sg_bundle_n_left_of(const struct sg_model *m, const struct sg_spi_die *leader,
			     uint32_t xcc)
{
	uint64_t n = n_unread(m, &m->spi.dies[xcc]);

	for (uint32_t k = 0; k < leader->n_held; k++)
		n += leader->held[k]->id % m->hw->n_xcc == xcc;
	return n;
}
