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
#include "programs/roofline/bench.h"

#define ROOF_WORKGROUP 256
#define ROOF_WAVES 4 /* of a workgroup */

struct roof_device {
	struct gpu_runner *runner;
	const struct gpu_agent *agent;
	enum roof_family family;
	uint32_t n_workgroups; /* all of them resident at once */
};

/* What kernels.s takes as arguments, and how much of the buffer is read. */
struct roof_run {
	const char *kernel;
	uint32_t turns, step, mask;
	uint64_t offset; /* of what it reads, in the buffer */
	uint64_t buffer_bytes;
};

/* @index: as HIP counts, from 0. WS_E_UNSUPPORTED: there are no kernels for this GPU. */
enum ws_status roof_device_open(struct roof_device *device, uint32_t index, struct ws_err *err);
void roof_device_close(struct roof_device *device);

/* On all of the GPU. */
enum ws_status roof_device_run(struct roof_device *device, const struct roof_run *run,
			       uint64_t *out_ns, struct ws_err *err);

#endif
