#include "roofline/device.h"

#include "base/util.h"
#include "gpu/hsa.h"
#include "roofline/code.h"
#include "softgpu/counters/service.h"

#include <dlfcn.h>
#include <errno.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GPUS 64
#define WORKGROUP 256
#define WAVES_PER_WORKGROUP 4
#define QUEUE_PACKETS 64
#define TIMEOUT_S                                                                                  \
	120 /* for one dispatch: none takes longer than a few on the slowest of machines */

/* clang-format off */
#define HSA_FUNCTIONS(X)                            \
	X(hsa_init)                                 \
	X(hsa_shut_down)                            \
	X(hsa_system_get_info)                      \
	X(hsa_iterate_agents)                       \
	X(hsa_agent_get_info)                       \
	X(hsa_queue_create)                         \
	X(hsa_queue_destroy)                        \
	X(hsa_queue_add_write_index_relaxed)        \
	X(hsa_signal_create)                        \
	X(hsa_signal_destroy)                       \
	X(hsa_signal_store_relaxed)                 \
	X(hsa_signal_store_screlease)               \
	X(hsa_signal_wait_scacquire)                \
	X(hsa_code_object_reader_create_from_memory) \
	X(hsa_code_object_reader_destroy)           \
	X(hsa_executable_create_alt)                \
	X(hsa_executable_load_agent_code_object)    \
	X(hsa_executable_freeze)                    \
	X(hsa_executable_destroy)                   \
	X(hsa_executable_get_symbol_by_name)        \
	X(hsa_executable_symbol_get_info)           \
	X(hsa_amd_agent_iterate_memory_pools)       \
	X(hsa_amd_memory_pool_get_info)             \
	X(hsa_amd_memory_pool_allocate)             \
	X(hsa_amd_memory_pool_free)                 \
	X(hsa_amd_agents_allow_access)              \
	X(hsa_amd_profiling_set_profiler_enabled)   \
	X(hsa_amd_profiling_get_dispatch_time)
/* clang-format on */

static struct {
	HSA_FUNCTIONS(WS_HSA_POINTER)
} hsa;
static const char *const hsa_names[] = { HSA_FUNCTIONS(WS_HSA_NAME) };

static struct {
	hsa_agent_t gpus[MAX_GPUS], cpu;
	uint32_t n_gpus;
	uint64_t ticks_per_s;
} machine;

/* As kernels.s reads them. */
struct arguments {
	uint64_t buffer;
	uint32_t turns, step, mask, unused;
};

struct ws_roof_device {
	struct ws_roof_info info;
	hsa_agent_t agent;
	hsa_amd_memory_pool_t vram, kernarg;
	hsa_executable_t executable;
	hsa_code_object_reader_t reader;
	hsa_queue_t *queue;
	hsa_signal_t done;
	struct arguments *arguments;
	void *buffer;
	uint64_t buffer_bytes;
	uint32_t node;
	__typeof__(&ws_softgpu_count) count; /* NULL: it is no software GPU */
	char queue_error[sizeof(((struct ws_err *)0)->text)];
};

/* ---- the machine ---- */

static hsa_status_t add_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;
	hsa_status_t hs = hsa.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);

	(void)data;
	if (hs)
		return hs;
	if (type == HSA_DEVICE_TYPE_GPU && machine.n_gpus < MAX_GPUS)
		machine.gpus[machine.n_gpus++] = agent;
	else if (type == HSA_DEVICE_TYPE_CPU && !machine.cpu.handle)
		machine.cpu = agent;
	return HSA_STATUS_SUCCESS;
}

enum ws_status ws_roof_runtime_open(uint32_t *out_n, struct ws_err *err)
{
	enum ws_status st = ws_hsa_open(hsa_names, (void **)&hsa, WS_ARRAY_LEN(hsa_names), err);
	hsa_status_t hs;

	if (st)
		return st;
	hs = hsa.hsa_init();
	if (hs)
		return ws_hsa_fail(err, hs, "the HSA runtime cannot start");
	hs = hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &machine.ticks_per_s);
	if (!hs)
		hs = hsa.hsa_iterate_agents(add_agent, NULL);
	if (hs)
		return ws_hsa_fail(err, hs, "the HSA runtime does not tell its agents");
	if (!machine.n_gpus)
		return ws_fail(err, WS_E_NOTFOUND,
			       "the HSA runtime sees no GPU: 'wavescope doctor' may tell why, "
			       "'wavescope run -- %s' measures the software GPU",
			       program_invocation_short_name);
	*out_n = machine.n_gpus;
	return WS_OK;
}

void ws_roof_runtime_close(void)
{
	if (hsa.hsa_shut_down)
		hsa.hsa_shut_down();
}

/* ---- opening a GPU ---- */

static hsa_status_t find_vram(hsa_amd_memory_pool_t pool, void *data)
{
	struct ws_roof_device *d = data;
	hsa_amd_segment_t segment;
	uint32_t flags = 0;
	size_t size = 0;

	if (hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ||
	    segment != HSA_AMD_SEGMENT_GLOBAL ||
	    hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) ||
	    !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) ||
	    hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size))
		return HSA_STATUS_SUCCESS;
	if (size > d->info.memory_bytes) {
		d->vram = pool;
		d->info.memory_bytes = size;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_kernarg(hsa_amd_memory_pool_t pool, void *data)
{
	struct ws_roof_device *d = data;
	uint32_t flags = 0;

	if (!hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
					      &flags) &&
	    flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		d->kernarg = pool;
	return HSA_STATUS_SUCCESS;
}

static enum ws_status describe(struct ws_roof_device *d, struct ws_err *err)
{
	struct ws_roof_info *info = &d->info;
	uint32_t caches[4] = { 0 }, waves = 0, domain = 0, bdf = 0;
	const struct {
		int attribute;
		void *to;
	} asked[] = {
		{ HSA_AGENT_INFO_NAME, info->target },
		{ HSA_AMD_AGENT_INFO_PRODUCT_NAME, info->product },
		{ HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &info->n_cus },
		{ HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, &waves },
		{ HSA_AGENT_INFO_CACHE_SIZE, caches },
		{ HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &d->node },
		{ HSA_AMD_AGENT_INFO_BDFID, &bdf },
		{ HSA_AMD_AGENT_INFO_DOMAIN, &domain },
	};
	hsa_status_t hs = HSA_STATUS_SUCCESS;

	for (size_t i = 0; i < WS_ARRAY_LEN(asked) && !hs; i++)
		hs = hsa.hsa_agent_get_info(d->agent, (hsa_agent_info_t)asked[i].attribute,
					    asked[i].to);
	if (!hs)
		hs = hsa.hsa_amd_agent_iterate_memory_pools(d->agent, find_vram, d);
	if (!hs)
		hs = hsa.hsa_amd_agent_iterate_memory_pools(machine.cpu, find_kernarg, d);
	if (hs)
		return ws_hsa_fail(err, hs, "the GPU does not describe itself");
	if (!info->memory_bytes || !d->kernarg.handle)
		return ws_fail(err, WS_E_STATE, "the GPU has no memory to measure");
	info->bus = domain << 16 | bdf;
	info->l2_bytes = caches[1];
	info->l3_bytes = caches[2];
	info->family = ws_roof_family(info->target);
	/* kernels use few registers: wave slots decide; half of them are enough to keep all units
	 * busy, where a CU has 40 */
	info->n_workgroups = info->n_cus * (waves >= 32 ? 32 : waves) / WAVES_PER_WORKGROUP;
	return WS_OK;
}

static const struct ws_roof_code *find_code(const char *target)
{
	for (const struct ws_roof_code *c = ws_roof_codes; c->target; c++)
		if (!strcmp(c->target, target))
			return c;
	return NULL;
}

static enum ws_status load(struct ws_roof_device *d, struct ws_err *err)
{
	const struct ws_roof_code *code = find_code(d->info.target);
	char targets[120] = "";
	hsa_status_t hs;

	if (!code || d->info.family == WS_ROOF_FAMILIES) {
		for (const struct ws_roof_code *c = ws_roof_codes; c->target; c++)
			snprintf(targets + strlen(targets), sizeof(targets) - strlen(targets),
				 " %s", c->target);
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "no kernels for %s: this program has them for%s", d->info.target,
			       *targets ? targets : " no GPU: it was built without clang");
	}
	hs = hsa.hsa_code_object_reader_create_from_memory(code->at, code->n, &d->reader);
	if (!hs)
		hs = hsa.hsa_executable_create_alt(HSA_PROFILE_FULL,
						   HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
						   &d->executable);
	if (!hs)
		hs = hsa.hsa_executable_load_agent_code_object(d->executable, d->agent, d->reader,
							       NULL, NULL);
	if (!hs)
		hs = hsa.hsa_executable_freeze(d->executable, NULL);
	return hs ? ws_hsa_fail(err, hs, "the kernels cannot be loaded") : WS_OK;
}

static void queue_failed(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct ws_roof_device *d = data;
	struct ws_err err;

	(void)queue;
	ws_hsa_fail(&err, status, "the GPU stopped");
	memcpy(d->queue_error, err.text, sizeof(err.text));
	hsa.hsa_signal_store_screlease(d->done, -1); /* whoever waits sees it */
}

static enum ws_status make_queue(struct ws_roof_device *d, struct ws_err *err)
{
	hsa_status_t hs = hsa.hsa_signal_create(1, 0, NULL, &d->done);

	if (!hs)
		hs = hsa.hsa_queue_create(d->agent, QUEUE_PACKETS, HSA_QUEUE_TYPE_SINGLE,
					  queue_failed, d, UINT32_MAX, UINT32_MAX, &d->queue);
	if (!hs)
		hs = hsa.hsa_amd_profiling_set_profiler_enabled(d->queue, 1);
	if (!hs)
		hs = hsa.hsa_amd_memory_pool_allocate(d->kernarg, sizeof(*d->arguments), 0,
						      (void **)&d->arguments);
	if (!hs)
		hs = hsa.hsa_amd_agents_allow_access(1, &d->agent, NULL, d->arguments);
	return hs ? ws_hsa_fail(err, hs, "no queue on the GPU") : WS_OK;
}

/* The software GPU has the counter service in its driver library. */
static enum ws_status model_times(struct ws_roof_device *d, struct ws_err *err)
{
	static const char *const any[] = { "GRBM_COUNT" };
	void *driver = dlopen("libhsakmt.so.1", RTLD_NOW | RTLD_NOLOAD);
	char text[160] = "";

	if (driver)
		*(void **)&d->count = dlsym(driver, "ws_softgpu_count");
	if (!d->count)
		return WS_OK;
	d->info.modelled = true;
	if (d->count(d->node, any, 1, text, sizeof(text)))
		return ws_fail(err, WS_E_STATE, "the software GPU does not model times: %s", text);
	return WS_OK;
}

enum ws_status ws_roof_device_open(uint32_t index, struct ws_roof_device **out_device,
				   struct ws_err *err)
{
	struct ws_roof_device *d;
	enum ws_status st;

	if (index >= machine.n_gpus)
		return ws_fail(err, WS_E_NOTFOUND, "no GPU %u: there %s %u, counted from 0", index,
			       machine.n_gpus == 1 ? "is" : "are", machine.n_gpus);
	d = calloc(1, sizeof(*d));
	if (!d)
		return ws_fail(err, WS_E_NOMEM, "no memory");
	d->agent = machine.gpus[index];
	st = describe(d, err);
	if (!st)
		st = load(d, err);
	if (!st)
		st = model_times(d, err);
	if (!st)
		st = make_queue(d, err);
	if (st)
		ws_roof_device_close(d);
	else
		*out_device = d;
	return st;
}

void ws_roof_device_close(struct ws_roof_device *d)
{
	if (!d)
		return;
	if (d->queue)
		hsa.hsa_queue_destroy(d->queue);
	if (d->done.handle)
		hsa.hsa_signal_destroy(d->done);
	if (d->executable.handle)
		hsa.hsa_executable_destroy(d->executable);
	if (d->reader.handle)
		hsa.hsa_code_object_reader_destroy(d->reader);
	if (d->arguments)
		hsa.hsa_amd_memory_pool_free(d->arguments);
	if (d->buffer)
		hsa.hsa_amd_memory_pool_free(d->buffer);
	if (d->count)
		d->count(d->node, NULL, 0, NULL, 0);
	free(d);
}

const struct ws_roof_info *ws_roof_device_info(const struct ws_roof_device *d)
{
	return &d->info;
}

/* ---- running kernels ---- */

static bool find_symbol(const struct ws_roof_device *d, const char *kernel,
			hsa_executable_symbol_t *out)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.kd", kernel);
	return !hsa.hsa_executable_get_symbol_by_name(d->executable, name, &d->agent, out);
}

bool ws_roof_device_has(const struct ws_roof_device *d, const char *kernel)
{
	hsa_executable_symbol_t symbol;

	return find_symbol(d, kernel, &symbol);
}

static enum ws_status need_buffer(struct ws_roof_device *d, uint64_t bytes, struct ws_err *err)
{
	hsa_status_t hs;

	if (bytes <= d->buffer_bytes)
		return WS_OK;
	if (d->buffer)
		hsa.hsa_amd_memory_pool_free(d->buffer);
	d->buffer = NULL;
	d->buffer_bytes = 0;
	hs = hsa.hsa_amd_memory_pool_allocate(d->vram, bytes, 0, &d->buffer);
	if (hs)
		return ws_hsa_fail(err, hs, "no memory on the GPU");
	d->buffer_bytes = bytes;
	return WS_OK;
}

static void submit(struct ws_roof_device *d, uint64_t kernel, uint32_t lds_bytes)
{
	uint64_t at = hsa.hsa_queue_add_write_index_relaxed(d->queue, 1);
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)d->queue->base_address + at % d->queue->size;
	uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
			  1u << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;

	*packet = (hsa_kernel_dispatch_packet_t){
		.header = HSA_PACKET_TYPE_INVALID,
		.workgroup_size_x = WORKGROUP,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = WORKGROUP * d->info.n_workgroups,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.group_segment_size = lds_bytes,
		.kernel_object = kernel,
		.kernarg_address = d->arguments,
		.completion_signal = d->done,
	};
	/* the header is written last: the packet processor may start reading at once */
	__atomic_store_n((uint32_t *)packet, header | 1u << 16, __ATOMIC_RELEASE);
	hsa.hsa_signal_store_screlease(d->queue->doorbell_signal, (hsa_signal_value_t)at);
}

enum ws_status ws_roof_device_run(struct ws_roof_device *d, const struct ws_roof_run *run,
				  uint64_t *out_ns, struct ws_err *err)
{
	hsa_amd_profiling_dispatch_time_t time;
	hsa_executable_symbol_t symbol;
	uint32_t lds_bytes = 0;
	uint64_t kernel = 0;
	hsa_signal_value_t left;
	hsa_status_t hs;
	enum ws_status st = need_buffer(d, run->buffer_bytes, err);

	if (st)
		return st;
	if (!find_symbol(d, run->kernel, &symbol))
		return ws_fail(err, WS_E_NOTFOUND, "no kernel '%s' for %s", run->kernel,
			       d->info.target);
	hs = hsa.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
						&kernel);
	if (!hs)
		hs = hsa.hsa_executable_symbol_get_info(
			symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &lds_bytes);
	if (hs)
		return ws_hsa_fail(err, hs, run->kernel);
	*d->arguments =
		(struct arguments){ (uintptr_t)d->buffer, run->turns, run->step, run->mask, 0 };
	hsa.hsa_signal_store_relaxed(d->done, 1);
	submit(d, kernel, lds_bytes);
	left = hsa.hsa_signal_wait_scacquire(d->done, HSA_SIGNAL_CONDITION_LT, 1,
					     TIMEOUT_S * machine.ticks_per_s,
					     HSA_WAIT_STATE_BLOCKED);
	if (left > 0)
		return ws_fail(err, WS_E_TIMEOUT, "kernel '%s' does not end: waited %d s",
			       run->kernel, TIMEOUT_S);
	if (left < 0)
		return ws_fail(err, WS_E_STATE, "kernel '%s': %s", run->kernel, d->queue_error);
	hs = hsa.hsa_amd_profiling_get_dispatch_time(d->agent, d->done, &time);
	if (hs || time.end <= time.start)
		return ws_hsa_fail(err, hs, "the GPU does not tell times");
	*out_ns = (uint64_t)((double)(time.end - time.start) * 1e9 / (double)machine.ticks_per_s);
	return WS_OK;
}
