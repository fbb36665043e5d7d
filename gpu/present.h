/*
 * present: which AMD GPUs are really in this machine.
 *
 * Read from the kernel driver's topology in /sys, without ROCm and without
 * opening a device, so that it also works where neither would.
 */
#ifndef WS_GPU_PRESENT_H
#define WS_GPU_PRESENT_H

#include "base/error.h"
#include "gpu/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_PRESENT_MAX 64

struct gpu_here {
	unsigned node; /* of the topology; agents are numbered in this order */
	unsigned n_cus;
	unsigned device_id;
	unsigned render_minor; /* /dev/dri/renderD<minor> */
	unsigned pci_domain, pci_location;
	unsigned freq_mhz;
	uint64_t unique_id;
	char arch[16];                 /* "gfx90a" */
	char name[64];                 /* the kernel's name for it, or "" */
	const struct gpu_model *model; /* NULL: not in our table */
};

struct gpu_set {
	struct gpu_here gpus[GPU_PRESENT_MAX];
	size_t n;
	bool has_driver; /* the topology is there at all */
	char driver[64]; /* version of the amdgpu module, or "" */
};

/* @sys is "/sys", or a tree that looks like it. No GPU is WS_OK and n = 0. */
enum ws_status gpu_present(const char *sys, struct gpu_set *out_set, struct ws_err *err);

#endif
