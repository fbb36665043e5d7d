/*
 * present: the AMD GPUs in this machine, as the kernel driver lists them.
 *
 * Read from the driver's topology files in /sys, without ROCm and without opening a device, so it
 * works without either, and takes no time. It answers whether there is hardware;
 * what a program sees of it is a question for the runtime (gpu/hsa_agents.h).
 */
#ifndef WS_GPU_PRESENT_H
#define WS_GPU_PRESENT_H

#include "base/error.h"
#include "gpu/agent.h"

/* @sys is "/sys", or a tree that looks like it. No GPU is WS_OK and n = 0. */
enum ws_status gpu_present(const char *sys, struct gpu_agents *out_agents, struct ws_err *err);

/* Version of the amdgpu module; "": not loaded, or built with the kernel. */
void gpu_driver_version(const char *sys, char *out_text, size_t n_bytes);

#endif
