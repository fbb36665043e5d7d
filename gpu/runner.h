/*
 * runner: kernels of our own on a GPU, through AMD's HSA runtime: no HIP, no compiler.
 *
 * Kernels come as code objects, one per target (gpu/embed.py makes the table). One dispatch runs at a
 * time, timed by the GPU's own timestamps. They share one buffer in the GPU's memory, which grows;
 * other kinds of memory have a buffer each.
 *
 * Threads  one.
 */
#ifndef WS_GPU_RUNNER_H
#define WS_GPU_RUNNER_H

#include "base/error.h"
#include "gpu/agent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_runner;

struct gpu_runner_code {
	const char *target; /* "gfx90a"; NULL ends a table */
	const unsigned char *at;
	size_t n;
};

/* Opens the runtime and counts the GPUs; call it once. WS_E_NOTFOUND: no runtime, or no GPU. */
enum ws_status gpu_runner_machine(uint32_t *out_n_gpus, struct ws_err *err);
void gpu_runner_machine_close(void);

/* @index: as HIP counts, from 0. WS_E_UNSUPPORTED: @codes has nothing for this GPU. */
enum ws_status gpu_runner_open(uint32_t index, const struct gpu_runner_code *codes,
			       struct gpu_runner **out_runner, struct ws_err *err);
void gpu_runner_close(struct gpu_runner *runner); /* NULL is fine */
const struct gpu_agent *gpu_runner_agent(const struct gpu_runner *runner);

/* Is the kernel in the code object of this target? */
bool gpu_runner_has(const struct gpu_runner *runner, const char *kernel);

/* The buffer, of @bytes at least; it may move, and what was in it is lost then. */
enum ws_status gpu_runner_buffer(struct gpu_runner *runner, uint64_t bytes, uint64_t *out_address,
				 struct ws_err *err);
enum ws_status gpu_runner_copy_in(struct gpu_runner *runner, uint64_t offset, const void *from,
				  size_t n, struct ws_err *err);

/* Owner of the memory, and whether it is coherent for all (fine grained). */
enum gpu_runner_memory {
	GPU_RUNNER_OWN,
	GPU_RUNNER_OWN_FINE,
	GPU_RUNNER_HOST,
	GPU_RUNNER_HOST_FINE,
	GPU_RUNNER_PEER, /* another GPU's */
	GPU_RUNNER_PEER_FINE,
	GPU_RUNNER_N_MEMORIES
};

/* A buffer of @bytes of it, which lives as long as the runner; one of each. WS_E_NOTFOUND: this machine has
 * no such memory. */
enum ws_status gpu_runner_memory(struct gpu_runner *runner, enum gpu_runner_memory memory,
				 uint64_t bytes, uint64_t *out_address, struct ws_err *err);

#define GPU_RUNNER_ARGUMENTS 64

struct gpu_runner_call {
	const char *kernel;
	const void *arguments;        /* GPU_RUNNER_ARGUMENTS at most */
	size_t n_arguments;           /* bytes */
	uint32_t grid, workgroup;     /* lanes */
	uint32_t grid_y, workgroup_y; /* in a second dimension; 0: 1 */
	uint32_t lds_bytes;           /* besides what the kernel has of its own */
	bool system_scope;            /* its end writes L2 back to memory */
};

/* Runs it and waits; @out_ns: how long it took on the GPU. */
enum ws_status gpu_runner_run(struct gpu_runner *runner, const struct gpu_runner_call *call,
			      uint64_t *out_ns, struct ws_err *err);

#endif
