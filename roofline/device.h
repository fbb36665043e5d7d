/*
 * device: a GPU on which the benchmark's kernels are run and timed, through AMD's HSA runtime.
 *
 * Times are those of the dispatch packet: the GPU's own stamps. On the software GPU they are
 * modelled device time, because a counter is chosen there (softgpu/counters/service.h).
 *
 * Threads  one.
 */
#ifndef WS_ROOFLINE_DEVICE_H
#define WS_ROOFLINE_DEVICE_H

#include "base/error.h"
#include "roofline/bench.h"

#include <stdbool.h>
#include <stdint.h>

struct ws_roof_device;

struct ws_roof_info {
	char target[64]; /* "gfx90a" */
	char product[64];
	uint32_t bus; /* PCI: domain, bus, device, function */
	enum ws_roof_family family;
	uint32_t n_cus, n_workgroups; /* workgroups: of 256 lanes, all of them resident at once */
	uint64_t l2_bytes, l3_bytes, memory_bytes;
	bool modelled; /* the software GPU: times have no noise */
};

/* Opens the runtime and counts the GPUs; call it once. WS_E_NOTFOUND: none. */
enum ws_status ws_roof_runtime_open(uint32_t *out_n, struct ws_err *err);
void ws_roof_runtime_close(void);

/* @index: as HIP counts, from 0. WS_E_UNSUPPORTED: there are no kernels for this GPU. */
enum ws_status ws_roof_device_open(uint32_t index, struct ws_roof_device **out_device,
				   struct ws_err *err);
void ws_roof_device_close(struct ws_roof_device *device); /* NULL is fine */
const struct ws_roof_info *ws_roof_device_info(const struct ws_roof_device *device);

/* Is the kernel in the code object of this target? */
bool ws_roof_device_has(const struct ws_roof_device *device, const char *kernel);

struct ws_roof_run {
	const char *kernel;
	uint32_t turns, step, mask; /* see kernels.s */
	uint64_t buffer_bytes;      /* that it reads; what is allocated grows to it */
};

/* Runs it on all of the GPU and waits. */
enum ws_status ws_roof_device_run(struct ws_roof_device *device, const struct ws_roof_run *run,
				  uint64_t *out_ns, struct ws_err *err);

#endif
