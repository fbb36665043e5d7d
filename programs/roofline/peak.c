#include "programs/roofline/peak.h"

#include <math.h>

static double sq(double x)
{
	return x * x;
}

void roof_statistics(const double *rates, uint32_t n, struct roof_peak *out)
{
	double sum = 0, squares = 0, half;

	for (uint32_t k = 0; k < n; k++)
		sum += rates[k];
	out->n = n;
	out->mean = n ? sum / n : 0;
	for (uint32_t k = 0; k < n; k++)
		squares += sq(rates[k] - out->mean);
	out->sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
	half = n ? 1.96 * out->sd / sqrt(n) : 0;
	out->low = out->mean - half;
	out->high = out->mean + half;
}
