#include "ranks/offset.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

#define BOUNDS_MAX ((size_t)1 << 28)
#define STEPS 200 /* of a search; each narrows it to two thirds or half */

void rnk_bounds_init(struct rnk_bounds *bounds, uint64_t origin_ns)
{
	*bounds = (struct rnk_bounds){ .origin_ns = origin_ns };
	ws_vec_init(&bounds->above, BOUNDS_MAX);
	ws_vec_init(&bounds->below, BOUNDS_MAX);
}

void rnk_bounds_fini(struct rnk_bounds *bounds)
{
	ws_vec_fini(&bounds->above);
	ws_vec_fini(&bounds->below);
}

static enum ws_status add(struct rnk_bounds *bounds, struct rnk_bound_list *to, uint64_t at_ns,
			  int64_t limit_ns, struct ws_err *err)
{
	if (!bounds->has_base) {
		bounds->base_ns = limit_ns;
		bounds->has_base = true;
	}
	return ws_vec_push(to,
			   ((struct rnk_bound){ (double)(int64_t)(at_ns - bounds->origin_ns),
						(double)((__int128)limit_ns - bounds->base_ns) }),
			   err);
}

enum ws_status rnk_bounds_above(struct rnk_bounds *bounds, uint64_t at_ns, int64_t limit_ns,
				struct ws_err *err)
{
	return add(bounds, &bounds->above, at_ns, limit_ns, err);
}

enum ws_status rnk_bounds_below(struct rnk_bounds *bounds, uint64_t at_ns, int64_t limit_ns,
				struct ws_err *err)
{
	return add(bounds, &bounds->below, at_ns, limit_ns, err);
}

/* ---- hulls: the bounds that matter for some line ---- */

struct problem {
	struct rnk_bound_list above, below; /* hulls, by time */
	double slack;                       /* both sides give way by this */
	double from, until;
};

static int by_time(const void *a, const void *b)
{
	const struct rnk_bound *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->limit_ns < y->limit_ns ? -1 : x->limit_ns > y->limit_ns;
}

/* Whether @b lies on the far side of the line from @a to @c: @sign 1 above it, -1 below. */
static bool is_idle(const struct rnk_bound *a, const struct rnk_bound *b, const struct rnk_bound *c,
		    double sign)
{
	return sign * ((b->limit_ns - a->limit_ns) * (c->at_ns - a->at_ns) -
		       (c->limit_ns - a->limit_ns) * (b->at_ns - a->at_ns)) >=
	       0;
}

static enum ws_status make_hull(const struct rnk_bound_list *sorted, double sign,
				struct rnk_bound_list *out, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	ws_vec_clear(out);
	for (size_t i = 0; !st && i < sorted->n; i++) {
		const struct rnk_bound *point = &sorted->at[i];

		if (out->n && out->at[out->n - 1].at_ns == point->at_ns) {
			if (sign * (point->limit_ns - out->at[out->n - 1].limit_ns) >= 0)
				continue;
			out->n--;
		}
		while (out->n >= 2 &&
		       is_idle(&out->at[out->n - 2], &out->at[out->n - 1], point, sign))
			out->n--;
		st = ws_vec_push(out, *point, err);
	}
	return st;
}

/* ---- lines: offset(x) = a + drift * x ---- */

/* The largest a that the upper bounds allow at this drift, and which one stops it. */
static double highest(const struct problem *p, double drift, size_t *out_at)
{
	double best = INFINITY;

	for (size_t i = 0; i < p->above.n; i++) {
		double a = p->above.at[i].limit_ns - drift * p->above.at[i].at_ns;

		if (a < best) {
			best = a;
			if (out_at)
				*out_at = i;
		}
	}
	return best + p->slack;
}

static double lowest(const struct problem *p, double drift, size_t *out_at)
{
	double best = -INFINITY;

	for (size_t i = 0; i < p->below.n; i++) {
		double a = p->below.at[i].limit_ns - drift * p->below.at[i].at_ns;

		if (a > best) {
			best = a;
			if (out_at)
				*out_at = i;
		}
	}
	return best - p->slack;
}

/* How far apart the bounds are at a drift; concave, so it has one maximum. */
static double gap(const struct problem *p, double drift, double at)
{
	(void)at;
	return highest(p, drift, NULL) - lowest(p, drift, NULL);
}

/* The highest and lowest possible offset at a time, for one drift. */
static double top_at(const struct problem *p, double drift, double at)
{
	return highest(p, drift, NULL) + drift * at;
}

static double bottom_at(const struct problem *p, double drift, double at)
{
	return -(lowest(p, drift, NULL) + drift * at);
}

/* Where a concave function of the drift is largest. */
static double search(const struct problem *p, double low, double high,
		     double (*value)(const struct problem *p, double drift, double at), double at)
{
	for (int i = 0; i < STEPS; i++) {
		double left = low + (high - low) / 3, right = high - (high - low) / 3;

		if (value(p, left, at) < value(p, right, at))
			low = left;
		else
			high = right;
	}
	return (low + high) / 2;
}

/* The last possible drift from a possible one in the direction of @end. */
static double last_possible(const struct problem *p, double inside, double end)
{
	if (gap(p, end, 0) >= 0)
		return end;
	for (int i = 0; i < STEPS; i++) {
		double middle = (inside + end) / 2;

		if (gap(p, middle, 0) >= 0)
			inside = middle;
		else
			end = middle;
	}
	return inside;
}

/* ---- bounds that contradict ---- */

/* How many bounds of the other side exclude this one, at a drift. */
static size_t n_against(const struct rnk_bound_list *others, const struct rnk_bound *bound,
			double drift, double sign)
{
	double a = bound->limit_ns - drift * bound->at_ns;
	size_t n = 0;

	for (size_t i = 0; i < others->n; i++)
		n += sign * (others->at[i].limit_ns - drift * others->at[i].at_ns - a) > 0;
	return n;
}

static void drop(struct rnk_bound_list *list, const struct rnk_bound *bound)
{
	size_t at = 0;

	while (at < list->n &&
	       (list->at[at].at_ns != bound->at_ns || list->at[at].limit_ns != bound->limit_ns))
		at++;
	if (at < list->n) {
		memmove(&list->at[at], &list->at[at + 1], (list->n - at - 1) * sizeof(*list->at));
		list->n--;
	}
}

static void drop_worst(struct rnk_bounds *bounds, const struct problem *p, double drift)
{
	size_t above = 0, below = 0, against_above, against_below;

	highest(p, drift, &above);
	lowest(p, drift, &below);
	against_above = n_against(&bounds->below, &p->above.at[above], drift, 1);
	against_below = n_against(&bounds->above, &p->below.at[below], drift, -1);
	if (against_above >= against_below)
		drop(&bounds->above, &p->above.at[above]);
	if (against_below >= against_above)
		drop(&bounds->below, &p->below.at[below]);
}

/* Hulls between which there are lines, with as much slack as that takes. */
static enum ws_status solve(struct rnk_bounds *bounds, struct problem *p, double *out_drift,
			    size_t *out_outliers, struct ws_err *err)
{
	size_t n = bounds->above.n + bounds->below.n;
	double wander = RNK_WANDER_NS + RNK_WANDER * (p->until - p->from);

	for (;;) {
		double best, missing;
		enum ws_status st = make_hull(&bounds->above, 1, &p->above, err);

		if (!st)
			st = make_hull(&bounds->below, -1, &p->below, err);
		if (st)
			return st;
		if (!p->above.n || !p->below.n)
			return ws_fail(err, WS_E_STATE, "all bounds of the clock contradict");
		best = search(p, -RNK_DRIFT_MAX, RNK_DRIFT_MAX, gap, 0);
		missing = -gap(p, best, 0) / 2;
		*out_drift = best;
		*out_outliers = n - bounds->above.n - bounds->below.n;
		if (missing <= wander) {
			/* Twice: so far is the truth from a line that gives way by half of it. */
			p->slack = WS_MAX(2 * missing, 0.0);
			return WS_OK;
		}
		if ((*out_outliers + 1) * RNK_OUTLIERS > n)
			return ws_fail(err, WS_E_STATE,
				       "the bounds contradict each other by %.3f ms for any "
				       "offset and drift",
				       missing / 1e6);
		drop_worst(bounds, p, best);
	}
}

/* ---- the estimate ---- */

static double clamp(double value, double low, double high)
{
	return WS_MIN(WS_MAX(value, low), high);
}

static long double clamp_shift(long double ns)
{
	const long double most = (long double)(INT64_MAX / 2);

	return roundl(ns > most ? most : ns < -most ? -most : ns);
}

static void estimate(const struct problem *p, double possible, const struct rnk_bounds *bounds,
		     struct rnk_offset *out)
{
	double low = last_possible(p, possible, -RNK_DRIFT_MAX);
	double high = last_possible(p, possible, RNK_DRIFT_MAX);
	double at[2] = { p->from, p->until }, top[2], bottom[2], drift, a;
	double slope = 0;

	for (int i = 0; i < 2; i++) {
		top[i] = top_at(p, search(p, low, high, top_at, at[i]), at[i]);
		bottom[i] = -bottom_at(p, search(p, low, high, bottom_at, at[i]), at[i]);
	}
	if (at[1] > at[0])
		slope = (top[1] + bottom[1] - top[0] - bottom[0]) / 2 / (at[1] - at[0]);
	drift = clamp(slope, low, high);
	a = (top[0] + bottom[0] + top[1] + bottom[1]) / 4 - drift * (at[0] + at[1]) / 2;
	a = clamp(a, lowest(p, drift, NULL), highest(p, drift, NULL));
	out->uncertainty_ns = 0;
	for (int i = 0; i < 2; i++) {
		double here = a + drift * at[i];

		out->uncertainty_ns =
			WS_MAX(out->uncertainty_ns, WS_MAX(top[i] - here, here - bottom[i]));
	}
	out->uncertainty_ns += RNK_READING_NS;
	out->drift_uncertainty = WS_MAX(high - drift, drift - low);
	out->wander_ns = p->slack / 2;
	out->line = (struct trc_clock_line){
		/* Times of damaged captures are far away; the sum of two such is still a number. */
		.shift_ns = (int64_t)clamp_shift((long double)bounds->base_ns + a + drift * at[0]),
		.at_ns = bounds->origin_ns + (uint64_t)(int64_t)at[0],
		.drift = drift,
	};
}

enum ws_status rnk_offset_estimate(struct rnk_bounds *bounds, uint64_t from_ns, uint64_t until_ns,
				   struct rnk_offset *out_offset, struct ws_err *err)
{
	struct problem p = { .from = (double)(int64_t)(from_ns - bounds->origin_ns),
			     .until = (double)(int64_t)(until_ns - bounds->origin_ns) };
	struct rnk_offset offset = { .n_bounds = bounds->above.n + bounds->below.n };
	double possible = 0;
	enum ws_status st;

	if (!bounds->above.n || !bounds->below.n)
		return ws_fail(err, WS_E_NOTFOUND, "no event bounds the offset of the clock");
	ws_vec_init(&p.above, BOUNDS_MAX);
	ws_vec_init(&p.below, BOUNDS_MAX);
	ws_vec_sort(&bounds->above, by_time);
	ws_vec_sort(&bounds->below, by_time);
	st = solve(bounds, &p, &possible, &offset.n_outliers, err);
	if (!st) {
		estimate(&p, possible, bounds, &offset);
		*out_offset = offset;
	}
	ws_vec_fini(&p.above);
	ws_vec_fini(&p.below);
	return st;
}
