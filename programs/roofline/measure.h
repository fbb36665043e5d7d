/*
 * measure: the peak of one benchmark on one GPU.
 *
 * A dispatch costs something whatever it does: launch, first misses, the last waves. So a kernel is
 * run with n and with 2 n turns, and the rate is that of the additional turns. n is doubled until
 * the GPU's own time is long enough and the rate does not change with it any more; then the pair is
 * repeated until the mean is known well enough, or `max` times.
 */
#ifndef WS_ROOFLINE_MEASURE_H
#define WS_ROOFLINE_MEASURE_H

#include "base/error.h"
#include "programs/roofline/device.h"
#include "programs/roofline/peak.h"

#include <stdint.h>

struct roof_limits {
	uint32_t min, max; /* experiments; min 0: as many as the clock needs */
	/* Called before every dispatch; NULL: not called. */
	void (*progress)(void *ctx);
	void *ctx;
};

/* May this GPU be measured so? NULL: yes. Otherwise why not. */
const char *roof_cannot(const struct roof_device *device, const struct roof_bench *bench);

enum ws_status roof_measure(struct roof_device *device, const struct roof_bench *bench,
			    const struct roof_limits *limits, struct roof_peak *out,
			    struct ws_err *err);

#endif
