/*
 * peak: what repeated measurements of one thing say.
 */
#ifndef WS_ROOFLINE_PEAK_H
#define WS_ROOFLINE_PEAK_H

#include <stdint.h>

struct roof_peak {
	double mean, low, high, sd; /* in 1e9 per second; low and high: 95 % of the mean */
	uint32_t n;                 /* experiments; 0: it was not measured */
	double work, seconds;       /* of the longer dispatch: bytes or operations */
};

/* Mean, spread and interval of @n rates; out->work and seconds stay. */
void roof_statistics(const double *rates, uint32_t n, struct roof_peak *out);

#endif
