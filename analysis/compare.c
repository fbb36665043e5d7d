#include "analysis/compare.h"

#include "base/util.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Counters and what is computed from them: below this, values are the same value. */
#define SAME_RELATIVE 1e-12

const char *ana_change_name(enum ana_change change)
{
	static const char *const names[] = {
#define ANA_CHANGE_ROW(name, text) text,
		ANA_CHANGE_TABLE(ANA_CHANGE_ROW)
#undef ANA_CHANGE_ROW
	};

	return names[change];
}

const char *ana_compare_method_name(enum ana_compare_method method)
{
	static const char *const names[] = {
#define ANA_METHOD_ROW(name, text) text,
		ANA_COMPARE_METHOD_TABLE(ANA_METHOD_ROW)
#undef ANA_METHOD_ROW
	};

	return names[method];
}

/* ---- Student's t ---- */

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m <= 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2)) /* where the fraction converges fast */
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double ana_student_p(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return 0;
	return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* ---- Mann and Whitney's U ---- */

struct ranked {
	double value;
	bool in_a;
	unsigned twice_rank; /* of ties the mean, which may be a half */
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;

	return p->value < q->value ? -1 : p->value > q->value;
}

/* Returns the sum of t^3 - t over groups of equal values. */
static double rank_all(struct ranked *all, size_t n)
{
	double ties = 0;

	qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 0; i < n;) {
		size_t end = i + 1;
		double t;

		while (end < n && all[end].value == all[i].value)
			end++;
		t = (double)(end - i);
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			all[k].twice_rank = (unsigned)(i + 1 + end);
		i = end;
	}
	return ties;
}

/*
 * How many of all ways to choose n_a of the values give a rank sum at least as far from the
 * expected one. Counting goes value by value over (how many chosen, their sum); with the
 * ranks that ties leave, so that it is exact for them as well.
 */
static double exact_p(const struct ranked *all, size_t n, size_t n_a, unsigned twice_sum)
{
	enum { SUM_MAX = ANA_COMPARE_EXACT_MAX * (ANA_COMPARE_EXACT_MAX + 1) };
	static _Thread_local double ways[ANA_COMPARE_EXACT_MAX + 1][SUM_MAX + 1];
	double total = 0, far = 0, expected = (double)n_a * (double)(n + 1);
	double distance = fabs((double)twice_sum - expected);

	memset(ways, 0, sizeof(ways));
	ways[0][0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t chosen = WS_MIN(i + 1, n_a); chosen >= 1; chosen--)
			for (size_t sum = SUM_MAX; sum >= all[i].twice_rank; sum--)
				ways[chosen][sum] += ways[chosen - 1][sum - all[i].twice_rank];
	for (size_t sum = 0; sum <= SUM_MAX; sum++) {
		total += ways[n_a][sum];
		if (fabs((double)sum - expected) >= distance - 1e-9)
			far += ways[n_a][sum];
	}
	return far / total;
}

static double normal_p(size_t n_a, size_t n_b, double rank_sum, double ties)
{
	double n = (double)(n_a + n_b), product = (double)n_a * (double)n_b;
	double u = rank_sum - (double)n_a * (double)(n_a + 1) / 2;
	double variance = product / 12 * (n + 1 - ties / (n * (n - 1)));
	/* The sum is a whole number and the normal is not: half a step towards the middle. */
	double distance = fmax(0, fabs(u - product / 2) - 0.5);

	return variance > 0 ? erfc(distance / sqrt(variance) / sqrt(2)) : 1;
}

double ana_ranks_p(const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t n = n_a + n_b;
	struct ranked few[ANA_COMPARE_EXACT_MAX], *all = few;
	unsigned long twice_sum = 0;
	double ties, p;

	if (!n_a || !n_b)
		return NAN;
	if (n > ANA_COMPARE_EXACT_MAX) {
		all = malloc(n * sizeof(*all));
		if (!all)
			return NAN;
	}
	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){ i < n_a ? a[i] : b[i - n_a], i < n_a, 0 };
	ties = rank_all(all, n);
	for (size_t i = 0; i < n; i++)
		twice_sum += all[i].in_a ? all[i].twice_rank : 0;
	if (n <= ANA_COMPARE_EXACT_MAX)
		p = exact_p(all, n, n_a, (unsigned)twice_sum);
	else
		p = normal_p(n_a, n_b, (double)twice_sum / 2, ties);
	if (all != few)
		free(all);
	return p;
}

/* ---- two samples ---- */

static struct ana_sample describe(const double *at, size_t n)
{
	struct ana_sample sample = { .mean = NAN, .sd = NAN, .min = NAN, .max = NAN };
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(at[i]))
			continue;
		sample.n++;
		sum += at[i];
		sample.min = fmin(sample.min, at[i]); /* of NaN and a number: the number */
		sample.max = fmax(sample.max, at[i]);
	}
	if (!sample.n)
		return sample;
	sample.mean = sum / (double)sample.n;
	for (size_t i = 0; i < n; i++)
		if (!isnan(at[i]))
			squares += (at[i] - sample.mean) * (at[i] - sample.mean);
	if (sample.n > 1)
		sample.sd = sqrt(squares / (double)(sample.n - 1));
	return sample;
}

static bool same(double x, double y)
{
	return x == y || fabs(x - y) <= SAME_RELATIVE * fmax(fabs(x), fabs(y));
}

/* All values equal. True of one value as well: then nothing is known. */
static bool is_flat(const struct ana_sample *sample)
{
	return same(sample->min, sample->max);
}

static double welch_p(const struct ana_sample *a, const struct ana_sample *b)
{
	double va = a->sd * a->sd / (double)a->n, vb = b->sd * b->sd / (double)b->n;
	double df = (va + vb) * (va + vb) /
		    (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));

	return ana_student_p((a->mean - b->mean) / sqrt(va + vb), df);
}

/* Would the many side give a value like the single one? */
static double single_p(double single, const struct ana_sample *many)
{
	double error = many->sd * sqrt(1 + 1 / (double)many->n);

	return ana_student_p((single - many->mean) / error, (double)(many->n - 1));
}

static double ranks_without_gaps(const double *a, size_t n_a, const double *b, size_t n_b)
{
	double few[ANA_COMPARE_EXACT_MAX], *all = few, p;
	size_t n = 0, n_left = 0;

	if (n_a + n_b > ANA_COMPARE_EXACT_MAX)
		all = malloc((n_a + n_b) * sizeof(*all));
	if (!all)
		return NAN;
	for (size_t i = 0; i < n_a; i++)
		if (!isnan(a[i]))
			all[n++] = a[i];
	n_left = n;
	for (size_t i = 0; i < n_b; i++)
		if (!isnan(b[i]))
			all[n++] = b[i];
	p = ana_ranks_p(all, n_left, all + n_left, n - n_left);
	if (all != few)
		free(all);
	return p;
}

static void judge(const double *a, size_t n_a, const double *b, size_t n_b,
		  struct ana_comparison *out)
{
	size_t n_least = WS_MIN(out->a.n, out->b.n), n_most = WS_MAX(out->a.n, out->b.n);

	if (!n_least) {
		out->change = ANA_CHANGE_ABSENT;
		return;
	}
	if (is_flat(&out->a) && is_flat(&out->b)) {
		bool equal = same(out->a.mean, out->b.mean);

		out->method = n_most > 1 ? ANA_METHOD_EXACT : ANA_METHOD_NONE;
		out->p = equal ? 1 : n_most > 1 ? 0 : NAN;
		out->change = equal        ? ANA_CHANGE_NONE
			      : n_most > 1 ? ANA_CHANGE_REAL
					   : ANA_CHANGE_UNKNOWN;
		return;
	}
	if (isinf(out->a.mean) || isinf(out->b.mean)) {
		out->change = ANA_CHANGE_UNKNOWN; /* x/0: shown, but nothing to reckon with */
		return;
	}
	if (n_least == 1) {
		out->method = ANA_METHOD_SINGLE;
		out->p = out->a.n == 1 ? single_p(out->a.mean, &out->b)
				       : single_p(out->b.mean, &out->a);
	} else if (n_least < ANA_COMPARE_RANKS_MIN) {
		out->method = ANA_METHOD_WELCH;
		out->p = welch_p(&out->a, &out->b);
	} else {
		out->method = ANA_METHOD_RANKS;
		out->p = ranks_without_gaps(a, n_a, b, n_b);
	}
	out->change = isnan(out->p)                    ? ANA_CHANGE_UNKNOWN
		      : out->p < ANA_COMPARE_ALPHA     ? ANA_CHANGE_REAL
		      : same(out->a.mean, out->b.mean) ? ANA_CHANGE_NONE
						       : ANA_CHANGE_NOISE;
}

void ana_compare(const double *a, size_t n_a, const double *b, size_t n_b,
		 struct ana_comparison *out)
{
	*out = (struct ana_comparison){ .a = describe(a, n_a), .b = describe(b, n_b), .p = NAN };
	out->delta = out->b.mean - out->a.mean;
	if (same(out->a.mean, out->b.mean))
		out->delta = 0;
	out->percent = out->delta == 0 ? 0 : 100 * out->delta / fabs(out->a.mean);
	if (isinf(out->percent))
		out->percent = NAN;
	judge(a, n_a, b, n_b, out);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void ana_compare_adjust(struct ana_comparison **at, size_t n, double alpha, double *scratch)
{
	size_t n_tested = 0;
	double limit = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(at[i]->p) && at[i]->method != ANA_METHOD_EXACT)
			scratch[n_tested++] = at[i]->p;
	qsort(scratch, n_tested, sizeof(*scratch), by_number);
	for (size_t i = 0; i < n_tested; i++)
		if (scratch[i] <= alpha * (double)(i + 1) / (double)n_tested)
			limit = scratch[i]; /* the largest p that holds the rate */
	for (size_t i = 0; i < n; i++)
		if (at[i]->change == ANA_CHANGE_REAL && at[i]->method != ANA_METHOD_EXACT &&
		    at[i]->p > limit)
			at[i]->change = ANA_CHANGE_NOISE;
}
