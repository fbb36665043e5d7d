/* fold: a column of values into a number. NaN is skipped; infinity is not. */
#ifndef WS_BASE_FOLD_H
#define WS_BASE_FOLD_H

#include <stddef.h>

struct ws_fold {
	size_t n;             /* values that are numbers */
	double sum, min, max; /* NaN when there are none */
};

struct ws_fold ws_fold_values(const double *at, size_t n);
double ws_fold_mean(const struct ws_fold *fold);
double ws_fold_std(const double *at, size_t n); /* over n - 1; NaN for fewer than two */

/* Drop NaN from @at in place; how many are left. */
size_t ws_fold_pack(double *at, size_t n);
/* At position (n - 1) * q of the sorted values, between neighbours in proportion. Reorders @at. */
double ws_fold_quantile(double *at, size_t n, double q);

#endif
