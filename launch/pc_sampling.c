#include "launch/pc_sampling.h"

#include "base/file.h"
#include "gpu/agent.h"
#include "gpu/pc_sampler.h"
#include "gpu/present.h"
#include "launch/count_events.h"
#include "launch/elf_symbol.h"
#include "launch/inject.h"
#include "launch/library.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST_RUNTIME_MINOR 18u
#define GPU_ID "/sys/class/kfd/kfd/topology/nodes/%u/gpu_id"

/* The query of AMD's kernel packages; with no room for answers it returns their number. */
struct pcs_query {
	uint64_t infos;
	uint32_t n_infos, operation, gpu_id, trace_id, flags, reserved;
};
#define KFD_PC_SAMPLE _IOWR('K', 0x85, struct pcs_query)

/* True: it offers a method for some GPU. */
static bool ask_driver(int kfd)
{
	static struct gpu_agents gpus; /* too large for the stack */
	bool offers = false;

	if (gpu_present("/sys", &gpus, NULL))
		return false;
	for (size_t i = 0; i < gpus.n && !offers; i++) {
		struct pcs_query query = { 0 };
		char path[sizeof(GPU_ID) + 16], line[32];

		snprintf(path, sizeof(path), GPU_ID, gpus.at[i].node);
		if (!ws_file_line(path, line, sizeof(line)))
			continue;
		query.gpu_id = (uint32_t)strtoul(line, NULL, 10);
		offers = query.gpu_id && ioctl(kfd, KFD_PC_SAMPLE, &query) == 0 && query.n_infos;
	}
	return offers;
}

/* libhsa-runtime64.so.1.MINOR: 18 is ROCm 7.0; that of ROCm 6.4, 15, writes beyond its buffers. */
static bool is_recent(const char *path)
{
	char real[PATH_MAX];
	const char *version = realpath(path, real) ? strstr(real, ".so.1.") : NULL;

	return version && strtoul(version + strlen(".so.1."), NULL, 10) >= LEAST_RUNTIME_MINOR;
}

static bool runtime_has_it(void)
{
	struct launch_elf_symbol create = { .name = "hsa_ven_amd_pcs_create" };
	char path[PATH_MAX];
	struct ws_buf cache;
	bool has;

	ws_buf_init(&cache, 4 << 20);
	launch_library_cache(&cache);
	has = launch_library_find(&cache, "libhsa-runtime64.so.1", path) && is_recent(path) &&
	      !launch_elf_symbols(path, &create, 1, NULL) && create.offset;
	ws_buf_fini(&cache);
	return has;
}

static const char *runtime_obstacle(void)
{
	return runtime_has_it()
		       ? NULL
		       : "the runtime (libhsa-runtime64.so.1) has no PC sampling that works: "
			 "ROCm 7.0 and later have it";
}

const char *launch_pc_obstacle(void)
{
	int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	bool offers = kfd >= 0 && ask_driver(kfd);

	if (kfd < 0)
		return "/dev/kfd cannot be opened: join the group 'render', or in a container pass "
		       "--device=/dev/kfd";
	close(kfd);
	if (!offers)
		return "the kernel driver has no PC sampling for these GPUs: install AMD's "
		       "amdgpu-dkms of ROCm 6.2 or later, Linux itself does not have it";
	return runtime_obstacle();
}

static bool offers_interval(const struct gpu_agent *gpu, const struct launch_pc_request *request)
{
	for (const struct gpu_pc_sampler *s = NULL;
	     (s = gpu_pc_sampler_next(gpu->arch, gpu->soft, s));)
		if (strcmp(s->method, request->method) == 0 && request->interval >= s->min &&
		    request->interval <= s->max)
			return true;
	return false;
}

enum ws_status launch_check_pc_sampling(const struct launch_pc_request *request, struct ws_err *err)
{
	static struct gpu_agents gpus; /* too large for the stack */
	bool has_method = false, has_interval = false, by_runtime;
	const char *why;
	enum ws_status st = launch_inject_gpus(&gpus, err);

	if (!st)
		st = launch_counts_by_packets(gpus.soft, &by_runtime, err);
	if (st || !gpus.n)
		return st; /* without a GPU there is another message */
	if (by_runtime && request->counts)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "PC sampling and counters exclude each other on a GPU: collect them "
			       "in two runs");
	if (request->is_report && !by_runtime)
		return WS_OK;
	for (size_t i = 0; i < gpus.n; i++) {
		has_method |= gpu_pc_sampler_has(gpus.at[i].arch, gpus.soft, request->method);
		has_interval |= offers_interval(&gpus.at[i], request);
	}
	if (!has_method && strcmp(request->method, "stochastic") == 0)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "stochastic PC sampling exists from MI300 on, and not on %s: use "
			       "--pc-sampling-method host_trap --pc-sampling-unit time%s",
			       gpus.at[0].arch,
			       gpus.soft ? ", or --pc-report, which models stall reasons" : "");
	if (!has_method)
		return ws_fail(err, WS_E_UNSUPPORTED, "PC sampling is not supported on %s",
			       gpus.at[0].arch);
	if (!has_interval)
		return ws_fail(
			err, WS_E_USAGE,
			"--pc-sampling-interval %llu is not one of this GPU: rocprofv3-avail "
			"info --pc-sampling prints its limits",
			(unsigned long long)request->interval);
	why = !gpus.soft ? launch_pc_obstacle() : by_runtime ? runtime_obstacle() : NULL;
	return why ? ws_fail(err, WS_E_UNSUPPORTED, "PC sampling: %s", why) : WS_OK;
}

const char *launch_pc_best_method(void)
{
	static struct gpu_agents gpus; /* too large for the stack */

	if (launch_inject_gpus(&gpus, NULL) || gpus.soft || !gpus.n ||
	    gpu_pc_sampler_has(gpus.at[0].arch, false, "stochastic"))
		return "stochastic";
	return "host_trap";
}
