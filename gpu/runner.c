#include "gpu/runner.h"

#include "base/util.h"
#include "gpu/hsa.h"
#include "gpu/hsa_agents.h"

#include <assert.h>
#include <errno.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GPUS 64
#define QUEUE_PACKETS 64
#define TIMEOUT_S 120 /* for one dispatch; none takes longer than a few on a slow machine */

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
	X(hsa_memory_copy)                          \
	X(hsa_amd_profiling_set_profiler_enabled)   \
	X(hsa_amd_profiling_get_dispatch_time)
/* clang-format on */

static struct {
	HSA_FUNCTIONS(GPU_HSA_POINTER)
} hsa;
static const char *const hsa_names[] = { HSA_FUNCTIONS(GPU_HSA_NAME) };

static struct {
	hsa_agent_t gpus[MAX_GPUS], cpu;
	uint32_t n_gpus;
	uint64_t ticks_per_s;
} machine;

struct gpu_runner {
	struct gpu_agent facts;
	hsa_agent_t agent;
	hsa_amd_memory_pool_t vram, kernarg;
	uint64_t vram_bytes;
	hsa_executable_t executable;
	hsa_code_object_reader_t reader;
	hsa_queue_t *queue;
	hsa_signal_t done;
	void *arguments;
	void *buffer;
	uint64_t buffer_bytes;
	void *memories[GPU_RUNNER_N_MEMORIES];
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

enum ws_status gpu_runner_machine(uint32_t *out_n_gpus, struct ws_err *err)
{
	enum ws_status st = gpu_hsa_open(hsa_names, (void **)&hsa, WS_ARRAY_LEN(hsa_names), err);
	hsa_status_t hs;

	if (st)
		return st;
	hs = hsa.hsa_init();
	if (hs) /* the runtime's own text for "no driver" is about threads and events */
		return ws_fail(
			err, WS_E_NOTFOUND,
			"the HSA runtime failed to start (status 0x%x), probably for lack of a "
			"GPU: 'wavescope doctor' checks why, 'wavescope run -- %s' uses the "
			"software "
			"GPU",
			(unsigned)hs, program_invocation_short_name);
	hs = hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &machine.ticks_per_s);
	if (!hs)
		hs = hsa.hsa_iterate_agents(add_agent, NULL);
	if (hs)
		return gpu_hsa_fail(err, hs, "the HSA runtime failed to list its agents");
	if (!machine.n_gpus)
		return ws_fail(err, WS_E_NOTFOUND,
			       "the HSA runtime found no GPU: 'wavescope doctor' checks why, "
			       "'wavescope run -- %s' uses the software GPU",
			       program_invocation_short_name);
	*out_n_gpus = machine.n_gpus;
	return WS_OK;
}

void gpu_runner_machine_close(void)
{
	if (hsa.hsa_shut_down)
		hsa.hsa_shut_down();
}

/* ---- opening a GPU ---- */

static hsa_status_t find_vram(hsa_amd_memory_pool_t pool, void *data)
{
	struct gpu_runner *d = data;
	hsa_amd_segment_t segment;
	uint32_t flags = 0;
	size_t size = 0;

	if (hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ||
	    segment != HSA_AMD_SEGMENT_GLOBAL ||
	    hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) ||
	    !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) ||
	    hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size))
		return HSA_STATUS_SUCCESS;
	if (size > d->vram_bytes) {
		d->vram = pool;
		d->vram_bytes = size;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_kernarg(hsa_amd_memory_pool_t pool, void *data)
{
	struct gpu_runner *d = data;
	uint32_t flags = 0;

	if (!hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
					      &flags) &&
	    flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		d->kernarg = pool;
	return HSA_STATUS_SUCCESS;
}

static enum ws_status describe(struct gpu_runner *d, struct ws_err *err)
{
	struct gpu_hsa_agent *report = malloc(sizeof(*report));
	enum ws_status st;
	hsa_status_t hs;

	if (!report)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = gpu_hsa_agent_query(d->agent.handle, report, err);
	if (!st)
		gpu_agent_of_hsa(report, gpu_hsa_is_soft(), &d->facts);
	free(report);
	if (st)
		return st;
	hs = hsa.hsa_amd_agent_iterate_memory_pools(d->agent, find_vram, d);
	if (!hs)
		hs = hsa.hsa_amd_agent_iterate_memory_pools(machine.cpu, find_kernarg, d);
	if (hs)
		return gpu_hsa_fail(err, hs, "the runtime does not list the memory of the GPU");
	if (!d->vram_bytes || !d->kernarg.handle)
		return ws_fail(err, WS_E_STATE, "the GPU has no memory");
	return WS_OK;
}

static const struct gpu_runner_code *find_code(const struct gpu_runner_code *codes,
					       const char *target)
{
	for (const struct gpu_runner_code *c = codes; c->target; c++)
		if (!strcmp(c->target, target))
			return c;
	return NULL;
}

static enum ws_status load(struct gpu_runner *d, const struct gpu_runner_code *codes,
			   struct ws_err *err)
{
	const struct gpu_runner_code *code = find_code(codes, d->facts.arch);
	char targets[120] = "";
	hsa_status_t hs;

	if (!code) {
		for (const struct gpu_runner_code *c = codes; c->target; c++)
			snprintf(targets + strlen(targets), sizeof(targets) - strlen(targets),
				 " %s", c->target);
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "no kernels for %s: this program has them for%s", d->facts.arch,
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
	return hs ? gpu_hsa_fail(err, hs, "the kernels cannot be loaded") : WS_OK;
}

static void queue_failed(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct gpu_runner *d = data;
	struct ws_err err;

	(void)queue;
	gpu_hsa_fail(&err, status, "the GPU stopped");
	memcpy(d->queue_error, err.text, sizeof(err.text));
	hsa.hsa_signal_store_screlease(d->done, -1); /* the waiting thread sees it */
}

static enum ws_status make_queue(struct gpu_runner *d, struct ws_err *err)
{
	hsa_status_t hs = hsa.hsa_signal_create(1, 0, NULL, &d->done);

	if (!hs)
		hs = hsa.hsa_queue_create(d->agent, QUEUE_PACKETS, HSA_QUEUE_TYPE_SINGLE,
					  queue_failed, d, UINT32_MAX, UINT32_MAX, &d->queue);
	if (!hs)
		hs = hsa.hsa_amd_profiling_set_profiler_enabled(d->queue, 1);
	if (!hs)
		hs = hsa.hsa_amd_memory_pool_allocate(d->kernarg, GPU_RUNNER_ARGUMENTS, 0,
						      &d->arguments);
	if (!hs)
		hs = hsa.hsa_amd_agents_allow_access(1, &d->agent, NULL, d->arguments);
	return hs ? gpu_hsa_fail(err, hs, "no queue on the GPU") : WS_OK;
}

enum ws_status gpu_runner_open(uint32_t index, const struct gpu_runner_code *codes,
			       struct gpu_runner **out_runner, struct ws_err *err)
{
	struct gpu_runner *d;
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
		st = load(d, codes, err);
	if (!st)
		st = make_queue(d, err);
	if (st)
		gpu_runner_close(d);
	else
		*out_runner = d;
	return st;
}

void gpu_runner_close(struct gpu_runner *d)
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
	for (size_t i = 0; i < WS_ARRAY_LEN(d->memories); i++)
		if (d->memories[i])
			hsa.hsa_amd_memory_pool_free(d->memories[i]);
	free(d);
}

const struct gpu_agent *gpu_runner_agent(const struct gpu_runner *d)
{
	return &d->facts;
}

/* ---- running kernels ---- */

static bool find_symbol(const struct gpu_runner *d, const char *kernel,
			hsa_executable_symbol_t *out)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.kd", kernel);
	return !hsa.hsa_executable_get_symbol_by_name(d->executable, name, &d->agent, out);
}

bool gpu_runner_has(const struct gpu_runner *d, const char *kernel)
{
	hsa_executable_symbol_t symbol;

	return find_symbol(d, kernel, &symbol);
}

enum ws_status gpu_runner_buffer(struct gpu_runner *d, uint64_t bytes, uint64_t *out_address,
				 struct ws_err *err)
{
	hsa_status_t hs = HSA_STATUS_SUCCESS;

	if (bytes > d->buffer_bytes) {
		if (d->buffer)
			hsa.hsa_amd_memory_pool_free(d->buffer);
		d->buffer = NULL;
		d->buffer_bytes = 0;
		hs = hsa.hsa_amd_memory_pool_allocate(d->vram, bytes, 0, &d->buffer);
	}
	if (hs)
		return gpu_hsa_fail(err, hs, "no memory on the GPU");
	d->buffer_bytes = WS_MAX(bytes, d->buffer_bytes);
	*out_address = (uintptr_t)d->buffer;
	return WS_OK;
}

enum ws_status gpu_runner_copy_in(struct gpu_runner *d, uint64_t offset, const void *from, size_t n,
				  struct ws_err *err)
{
	hsa_status_t hs = hsa.hsa_memory_copy((char *)d->buffer + offset, from, n);

	return hs ? gpu_hsa_fail(err, hs, "no copy to the GPU") : WS_OK;
}

/* ---- memory elsewhere ---- */

struct pool_search {
	uint32_t wanted, unwanted; /* flags */
	hsa_amd_memory_pool_t found;
};

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
	struct pool_search *search = data;
	hsa_amd_segment_t segment;
	uint32_t flags = 0;
	bool allowed = false;

	if (hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ||
	    segment != HSA_AMD_SEGMENT_GLOBAL ||
	    hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) ||
	    hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					     &allowed) ||
	    !allowed || !(flags & search->wanted) || flags & search->unwanted)
		return HSA_STATUS_SUCCESS;
	search->found = pool;
	return HSA_STATUS_INFO_BREAK;
}

/* The agent whose memory it is; handle 0: there is none. */
static hsa_agent_t owner_of(const struct gpu_runner *d, enum gpu_runner_memory memory)
{
	if (memory <= GPU_RUNNER_OWN_FINE)
		return d->agent;
	if (memory <= GPU_RUNNER_HOST_FINE)
		return machine.cpu;
	for (uint32_t i = 0; i < machine.n_gpus; i++)
		if (machine.gpus[i].handle != d->agent.handle)
			return machine.gpus[i];
	return (hsa_agent_t){ 0 };
}

enum ws_status gpu_runner_memory(struct gpu_runner *d, enum gpu_runner_memory memory,
				 uint64_t bytes, uint64_t *out_address, struct ws_err *err)
{
	bool fine = memory % 2;
	struct pool_search search = {
		.wanted = fine ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
			       : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
		.unwanted = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
	};
	hsa_agent_t owner = owner_of(d, memory);
	hsa_status_t hs = HSA_STATUS_SUCCESS;

	if (owner.handle)
		hs = hsa.hsa_amd_agent_iterate_memory_pools(owner, find_pool, &search);
	if (hs && hs != HSA_STATUS_INFO_BREAK)
		return gpu_hsa_fail(err, hs, "the runtime does not list the memory of an agent");
	if (!search.found.handle)
		return ws_fail(err, WS_E_NOTFOUND, "this machine has no such memory");
	assert(!d->memories[memory]);
	hs = hsa.hsa_amd_memory_pool_allocate(search.found, bytes, 0, &d->memories[memory]);
	if (!hs)
		hs = hsa.hsa_amd_agents_allow_access(1, &d->agent, NULL, d->memories[memory]);
	if (hs)
		return gpu_hsa_fail(err, hs, "no memory");
	*out_address = (uintptr_t)d->memories[memory];
	return WS_OK;
}

/* ---- kernels ---- */

/* What a packet needs to know of a kernel. */
struct kernel {
	uint64_t object;
	uint32_t lds_bytes, private_bytes;
};

static enum ws_status find_kernel(const struct gpu_runner *d, const char *name, struct kernel *out,
				  struct ws_err *err)
{
	const struct {
		hsa_executable_symbol_info_t attribute;
		void *to;
	} asked[] = {
		{ HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &out->object },
		{ HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &out->lds_bytes },
		{ HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &out->private_bytes },
	};
	hsa_executable_symbol_t symbol;
	hsa_status_t hs = HSA_STATUS_SUCCESS;

	if (!find_symbol(d, name, &symbol))
		return ws_fail(err, WS_E_NOTFOUND, "no kernel '%s' for %s", name, d->facts.arch);
	for (size_t i = 0; i < WS_ARRAY_LEN(asked) && !hs; i++)
		hs = hsa.hsa_executable_symbol_get_info(symbol, asked[i].attribute, asked[i].to);
	return hs ? gpu_hsa_fail(err, hs, name) : WS_OK;
}

static void submit(struct gpu_runner *d, const struct gpu_runner_call *call,
		   const struct kernel *kernel)
{
	uint64_t at = hsa.hsa_queue_add_write_index_relaxed(d->queue, 1);
	hsa_kernel_dispatch_packet_t *slot =
		(hsa_kernel_dispatch_packet_t *)d->queue->base_address + at % d->queue->size;
	uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
			  1u << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  (call->system_scope ? HSA_FENCE_SCOPE_SYSTEM : HSA_FENCE_SCOPE_AGENT)
				  << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
	hsa_kernel_dispatch_packet_t packet = {
		.workgroup_size_x = (uint16_t)call->workgroup,
		.workgroup_size_y = (uint16_t)(call->workgroup_y ? call->workgroup_y : 1),
		.workgroup_size_z = 1,
		.grid_size_x = call->grid,
		.grid_size_y = call->grid_y ? call->grid_y : 1,
		.grid_size_z = 1,
		.group_segment_size = kernel->lds_bytes + call->lds_bytes,
		.private_segment_size = kernel->private_bytes,
		.kernel_object = kernel->object,
		.kernarg_address = d->arguments,
		.completion_signal = d->done,
	};
	/* The header is written last: the packet processor may start reading at once. Until then the one
	 * of the free slot has to stay as it is, which an assignment of the whole would not promise. */
	memcpy((uint32_t *)slot + 1, (uint32_t *)&packet + 1, sizeof(packet) - sizeof(uint32_t));
	__atomic_store_n((uint32_t *)slot, header | (call->grid_y ? 2u : 1u) << 16,
			 __ATOMIC_RELEASE);
	hsa.hsa_signal_store_screlease(d->queue->doorbell_signal, (hsa_signal_value_t)at);
}

enum ws_status gpu_runner_run(struct gpu_runner *d, const struct gpu_runner_call *call,
			      uint64_t *out_ns, struct ws_err *err)
{
	hsa_amd_profiling_dispatch_time_t time;
	hsa_signal_value_t left;
	struct kernel kernel;
	hsa_status_t hs;
	enum ws_status st = find_kernel(d, call->kernel, &kernel, err);

	if (st)
		return st;
	assert(call->n_arguments <= GPU_RUNNER_ARGUMENTS);
	memcpy(d->arguments, call->arguments, call->n_arguments);
	hsa.hsa_signal_store_relaxed(d->done, 1);
	submit(d, call, &kernel);
	left = hsa.hsa_signal_wait_scacquire(d->done, HSA_SIGNAL_CONDITION_LT, 1,
					     TIMEOUT_S * machine.ticks_per_s,
					     HSA_WAIT_STATE_BLOCKED);
	if (left > 0)
		return ws_fail(err, WS_E_TIMEOUT, "kernel '%s' did not end within %d s",
			       call->kernel, TIMEOUT_S);
	if (left < 0)
		return ws_fail(err, WS_E_STATE, "kernel '%s': %s", call->kernel, d->queue_error);
	hs = hsa.hsa_amd_profiling_get_dispatch_time(d->agent, d->done, &time);
	if (hs || time.end <= time.start)
		return gpu_hsa_fail(err, hs, "the runtime has no times of the dispatch");
	*out_ns = (uint64_t)((double)(time.end - time.start) * 1e9 / (double)machine.ticks_per_s);
	return WS_OK;
}
