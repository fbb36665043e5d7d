/*
 * counted: running a kernel of ours on the software GPU with counters chosen.
 *
 * A block counts only so many counters at once, as hardware's: what does not fit is counted in further
 * runs of the same kernel.
 *
 * Threads  one.
 */
#ifndef WS_FIDELITY_COUNTED_H
#define WS_FIDELITY_COUNTED_H

#include "base/error.h"
#include "gpu/runner.h"
#include "softgpu/counters/service.h"

#include <stddef.h>
#include <stdint.h>

#define WS_COUNTED_MAX 64

extern const struct ws_runner_code ws_fidelity_codes[]; /* made of kernels.s */

/* The counter service of the software GPU, once the runtime is open. */
struct ws_counted {
	struct ws_runner *runner;
	const struct ws_runner_info *info;
	struct ws_softgpu_counter *all; /* what can be counted */
	size_t n_all;
	uint64_t last; /* result that was read */
	__typeof__(&ws_softgpu_count) choose;
	__typeof__(&ws_softgpu_next_result) next_result;
	__typeof__(&ws_softgpu_drop) drop;
};

/* Opens the runtime and its first GPU, which has to be a software GPU. */
enum ws_status ws_counted_open(struct ws_counted *counted, struct ws_err *err);
void ws_counted_close(struct ws_counted *counted);

struct ws_counted_value {
	const char *name; /* NAME_sum, or NAME: summed over its instances, too */
	double value;
	enum ws_softgpu_fidelity fidelity;
};

/* Fills values[].value and fidelity. WS_E_NOTFOUND: this GPU has no such counter. */
enum ws_status ws_counted_run(struct ws_counted *counted, const struct ws_runner_call *call,
			      struct ws_counted_value *values, size_t n, struct ws_err *err);

/* From the next dispatch on; n 0: no more. */
enum ws_status ws_counted_choose(struct ws_counted *counted, const char *const *names, size_t n,
				 struct ws_err *err);
/* The next result that was not read yet; false: there is none. */
bool ws_counted_next(struct ws_counted *counted, struct ws_softgpu_result *out);
double ws_counted_sum(const struct ws_softgpu_value *value);

extern const char *const ws_counted_classes[]; /* by enum ws_softgpu_fidelity */

#endif
