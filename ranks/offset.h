/*
 * offset: how far one clock is from another, from bounds that events put on it.
 *
 * The clock is t + offset(t), and offset(t) is a line: clocks are wrong by a constant and run
 * at slightly different rates. An event that cannot have happened before another one puts a
 * bound on the line at one time, from above or from below. All lines between the bounds
 * are possible. The estimate is a line in the middle of them, and the uncertainty is how far the
 * outermost ones are from it. So the true offset is within the uncertainty if the bounds are
 * right and the drift is constant.
 *
 *	rnk_bounds_init(&bounds, origin_ns);
 *	st = rnk_bounds_above(&bounds, at_ns, limit_ns, err);   offset(at_ns) <= limit_ns
 *	st = rnk_bounds_below(&bounds, at_ns, limit_ns, err);   offset(at_ns) >= limit_ns
 *	...
 *	st = rnk_offset_estimate(&bounds, from_ns, until_ns, &offset, err);
 *	rnk_bounds_fini(&bounds);
 *
 * Bounds that contradict each other by less than RNK_WANDER are explained by a drift that is
 * not constant, and add to the uncertainty. Otherwise those that contradict most others are left
 * out, up to one in RNK_OUTLIERS. If that is not enough the clocks are not known, which is
 * an error.
 *
 * Memory   16 bytes per bound.
 */
#ifndef WS_RANKS_OFFSET_H
#define WS_RANKS_OFFSET_H

#include "base/error.h"
#include "base/vec.h"
#include "trace/trace.h"

#include <stddef.h>
#include <stdint.h>

#define RNK_DRIFT_MAX 500e-6 /* quartz: 50 to 100 ppm at worst, and there are two of them */
#define RNK_WANDER_NS 10e3   /* of bounds that contradict: this, */
#define RNK_WANDER 0.5e-6    /* and this part of the time that they span */
#define RNK_OUTLIERS 20
#define RNK_READING_NS 1e3 /* two clocks were read, neither in no time */

struct rnk_bound {
	double at_ns, limit_ns; /* from the origin, and from the base */
};
WS_VEC_TYPE(rnk_bound_list, struct rnk_bound);

struct rnk_bounds {
	uint64_t origin_ns;
	int64_t base_ns; /* limits are kept as differences from the first: doubles have 53 bits */
	bool has_base;
	struct rnk_bound_list above, below;
};

struct rnk_offset {
	struct trc_clock_line line; /* the estimate */
	double uncertainty_ns;      /* the largest between the two times */
	double drift_uncertainty;
	size_t n_bounds, n_outliers;
	double wander_ns; /* part of the uncertainty: by how much bounds contradict */
};

void rnk_bounds_init(struct rnk_bounds *bounds, uint64_t origin_ns);
void rnk_bounds_fini(struct rnk_bounds *bounds);
enum ws_status rnk_bounds_above(struct rnk_bounds *bounds, uint64_t at_ns, int64_t limit_ns,
				struct ws_err *err);
enum ws_status rnk_bounds_below(struct rnk_bounds *bounds, uint64_t at_ns, int64_t limit_ns,
				struct ws_err *err);

/*
 * For times from @from_ns until @until_ns. WS_E_NOTFOUND: not bounded from both sides.
 * WS_E_STATE: the bounds contradict each other. The bounds are sorted, and outliers removed.
 */
enum ws_status rnk_offset_estimate(struct rnk_bounds *bounds, uint64_t from_ns, uint64_t until_ns,
				   struct rnk_offset *out_offset, struct ws_err *err);

#endif
