/*
 * device: a GPU that is measured: the benchmark's kernels on a runner, and the sizes that they need.
 *
 * On the software GPU times are modelled device time, because a counter is chosen there
 * (softgpu/counters/service.h).
 */
#ifndef WS_ROOFLINE_DEVICE_H
#define WS_ROOFLINE_DEVICE_H

#include "base/error.h"
#include "gpu/runner.h"
#include "roofline/bench.h"

#define WS_ROOF_WORKGROUP 256
#define WS_ROOF_WAVES 4 /* of a workgroup */

struct ws_roof_device {
	struct ws_runner *runner;
	const struct ws_runner_info *info;
	enum ws_roof_family family;
	uint32_t n_workgroups; /* all of them resident at once */
};

/* What kernels.s takes as arguments, and how much of the buffer is read. */
struct ws_roof_run {
	const char *kernel;
	uint32_t turns, step, mask;
	uint64_t buffer_bytes;
};

/* @index: as HIP counts, from 0. WS_E_UNSUPPORTED: there are no kernels for this GPU. */
enum ws_status ws_roof_device_open(struct ws_roof_device *device, uint32_t index,
				   struct ws_err *err);
void ws_roof_device_close(struct ws_roof_device *device);

/* On all of the GPU. */
enum ws_status ws_roof_device_run(struct ws_roof_device *device, const struct ws_roof_run *run,
				  uint64_t *out_ns, struct ws_err *err);

#endif
