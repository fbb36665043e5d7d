/* fold: a column of values into a number. NaN is skipped; infinity is not. */
#ifndef WS_ANALYSIS_FOLD_H
#define WS_ANALYSIS_FOLD_H

#include <stddef.h>

struct ana_fold {
	size_t n;             /* values that are numbers */
	double sum, min, max; /* NaN when there are none */
};

struct ana_fold ana_fold_values(const double *at, size_t n);
double ana_fold_mean(const struct ana_fold *fold);
double ana_fold_std(const double *at, size_t n); /* over n - 1; NaN for fewer than two */

/* Drop NaN from @at in place; how many are left. */
size_t ana_fold_pack(double *at, size_t n);
/* At position (n - 1) * q of the sorted values, between neighbours in proportion. Reorders @at. */
double ana_fold_quantile(double *at, size_t n, double q);

#endif
