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

#define FID_COUNTED_MAX 64

extern const struct gpu_runner_code fid_codes[]; /* made of kernels.s */

/* The counter service of the software GPU, once the runtime is open. */
struct fid_counted {
	struct gpu_runner *runner;
	const struct gpu_agent *agent;
	struct softgpu_counter *all; /* what can be counted */
	size_t n_all;
	uint64_t last;         /* result that was read */
	bool plain;            /* without the service */
	uint64_t n_dispatches; /* kernels run without it */
	__typeof__(&softgpu_count) choose;
	__typeof__(&softgpu_count_sets) choose_sets;
	__typeof__(&softgpu_next_result) next_result;
	__typeof__(&softgpu_drop) drop;
};

/* Opens the runtime and its first GPU, which has to be a software GPU. */
enum ws_status fid_counted_open(struct fid_counted *counted, struct ws_err *err);
/* Any GPU: kernels are run once each, and a profiler counts them, if at all. Values are not known here. */
enum ws_status fid_counted_open_plain(struct fid_counted *counted, struct ws_err *err);
void fid_counted_close(struct fid_counted *counted);

struct fid_counted_value {
	const char *name; /* NAME_sum, or NAME: summed over its instances, too */
	double value;
	enum softgpu_fidelity fidelity;
};

/* Fills values[].value and fidelity. WS_E_NOTFOUND: this GPU has no such counter. */
enum ws_status fid_counted_run(struct fid_counted *counted, const struct gpu_runner_call *call,
			       struct fid_counted_value *values, size_t n, struct ws_err *err);

/* From the next dispatch on; n 0: no more. */
enum ws_status fid_counted_choose(struct fid_counted *counted, const char *const *names, size_t n,
				  struct ws_err *err);
/* From the next dispatch on, every one is repeated for each set. The names live as long as that. */
enum ws_status fid_counted_replay(struct fid_counted *counted, const struct softgpu_set *sets,
				  size_t n, struct ws_err *err);
/* The next result that was not read yet; false: there is none. */
bool fid_counted_next(struct fid_counted *counted, struct softgpu_result *out);
double fid_counted_sum(const struct softgpu_value *value);

extern const char *const fid_counted_classes[]; /* by enum softgpu_fidelity */

#endif
