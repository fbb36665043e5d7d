#include "base/fold.h"

#include <math.h>

struct ws_fold ws_fold_values(const double *at, size_t n)
{
	struct ws_fold fold = { 0, 0, INFINITY, -INFINITY };
	double rest = 0; /* what the sum lost to rounding (Kahan, Neumaier) */

	for (size_t i = 0; i < n; i++) {
		double x = at[i], sum;

		if (x != x)
			continue;
		fold.n++;
		fold.min = x < fold.min ? x : fold.min;
		fold.max = x > fold.max ? x : fold.max;
		sum = fold.sum + x;
		rest += fabs(fold.sum) >= fabs(x) ? fold.sum - sum + x : x - sum + fold.sum;
		fold.sum = sum;
	}
	if (isfinite(rest))
		fold.sum += rest;
	if (!fold.n)
		fold.sum = fold.min = fold.max = NAN;
	return fold;
}

double ws_fold_mean(const struct ws_fold *fold)
{
	return fold->n ? fold->sum / (double)fold->n : NAN;
}

double ws_fold_std(const double *at, size_t n)
{
	struct ws_fold fold = ws_fold_values(at, n);
	double mean = ws_fold_mean(&fold), squares = 0;

	if (fold.n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		if (at[i] == at[i])
			squares += (at[i] - mean) * (at[i] - mean);
	return sqrt(squares / (double)(fold.n - 1));
}

size_t ws_fold_pack(double *at, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (at[i] == at[i])
			at[kept++] = at[i];
	return kept;
}

/* Put the value of rank @k in its place, smaller ones before it, larger ones behind. */
static void place(double *at, size_t n, size_t k)
{
	ptrdiff_t lo = 0, hi = (ptrdiff_t)n - 1, rank = (ptrdiff_t)k;

	while (lo < hi) {
		double a = at[lo], b = at[lo + (hi - lo) / 2], c = at[hi], pivot;
		ptrdiff_t i = lo, j = hi;

		pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		while (i <= j) {
			while (at[i] < pivot)
				i++;
			while (at[j] > pivot)
				j--;
			if (i <= j) {
				a = at[i];
				at[i++] = at[j];
				at[j--] = a;
			}
		}
		if (rank <= j)
			hi = j;
		else if (rank >= i)
			lo = i;
		else
			return; /* between the two: equal to the pivot */
	}
}

double ws_fold_quantile(double *at, size_t n, double q)
{
	double pos = (double)(n ? n - 1 : 0) * q, low, high;
	size_t k = (size_t)floor(pos);

	if (!n)
		return NAN;
	place(at, n, k);
	low = at[k];
	if (pos == (double)k || k + 1 >= n)
		return low;
	high = at[k + 1];
	for (size_t i = k + 2; i < n; i++)
		high = at[i] < high ? at[i] : high;
	/* Also right when both are infinite, where the difference would be NaN. */
	return low == high ? low : low + (high - low) * (pos - (double)k);
}
