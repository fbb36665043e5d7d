#include "gpu/hsa_agents.h"

#include "base/file.h"
#include "base/str.h"
#include "base/util.h"
#include "gpu/hsa.h"
#include "softgpu/counters/service.h"

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
#define HSA_FUNCTIONS(X)                      \
	X(hsa_init)                           \
	X(hsa_shut_down)                      \
	X(hsa_system_get_info)                \
	X(hsa_iterate_agents)                 \
	X(hsa_agent_get_info)                 \
	X(hsa_agent_iterate_isas)             \
	X(hsa_isa_get_info_alt)               \
	X(hsa_amd_agent_iterate_memory_pools) \
	X(hsa_amd_memory_pool_get_info)
/* clang-format on */

static struct {
	HSA_FUNCTIONS(GPU_HSA_POINTER)
} hsa;
static const char *const hsa_names[] = { HSA_FUNCTIONS(GPU_HSA_NAME) };

/* ---- attributes ---- */

struct attribute {
	const char *name;
	int number;
	size_t offset, n_bytes;
};

#define IN(structure, member, number)                                                              \
	{ #number, (int)(number), offsetof(struct structure, member),                              \
	  sizeof(((struct structure *)0)->member) },
#define IN_AGENT(type, member, length, number) IN(gpu_hsa_agent, member, number)
#define IN_POOL(type, member, length, number) IN(gpu_hsa_pool, member, number)
#define IN_ISA(type, member, length, number) IN(gpu_hsa_isa, member, number)
static const struct attribute agent_attributes[] = { GPU_HSA_AGENT_TABLE(IN_AGENT) };
static const struct attribute kernel_attributes[] = { GPU_HSA_KERNEL_AGENT_TABLE(IN_AGENT) };
static const struct attribute pool_attributes[] = { GPU_HSA_POOL_TABLE(IN_POOL) };
static const struct attribute isa_attributes[] = { GPU_HSA_ISA_TABLE(IN_ISA) };

/* A function that the runtime has for each kind of object. */
typedef hsa_status_t get_info(uint64_t handle, int attribute, void *out);

static hsa_status_t get_agent(uint64_t handle, int attribute, void *out)
{
	return hsa.hsa_agent_get_info((hsa_agent_t){ handle }, (hsa_agent_info_t)attribute, out);
}

static hsa_status_t get_pool(uint64_t handle, int attribute, void *out)
{
	return hsa.hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){ handle },
						(hsa_amd_memory_pool_info_t)attribute, out);
}

static hsa_status_t get_isa(uint64_t handle, int attribute, void *out)
{
	return hsa.hsa_isa_get_info_alt((hsa_isa_t){ handle }, (hsa_isa_info_t)attribute, out);
}

/* Through a buffer: a newer runtime may answer with more bytes than the headers say. */
static enum ws_status get_all(get_info *get, uint64_t handle, const struct attribute *all, size_t n,
			      void *to, struct ws_err *err)
{
	for (size_t i = 0; i < n; i++) {
		char value[512] = "";
		hsa_status_t hs = get(handle, all[i].number, value);

		if (hs)
			return gpu_hsa_fail(err, hs, all[i].name);
		memcpy((char *)to + all[i].offset, value, all[i].n_bytes);
	}
	return WS_OK;
}

/* ---- one agent ---- */

/* What the runtime's callbacks carry along. */
struct walk {
	struct gpu_hsa_agents *all;
	struct gpu_hsa_agent *agent;
	enum ws_status st;
	struct ws_err *err;
};

/* HSA_STATUS_INFO_BREAK stops every iterator. */
static hsa_status_t stop(struct walk *walk, enum ws_status st)
{
	walk->st = st;
	return st ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data)
{
	struct walk *walk = data;
	struct gpu_hsa_agent *agent = walk->agent;

	if (agent->n_pools == GPU_HSA_POOLS_MAX)
		return stop(walk,
			    ws_fail(walk->err, WS_E_LIMIT,
				    "the agent has more than %u memory pools", GPU_HSA_POOLS_MAX));
	return stop(walk,
		    get_all(get_pool, pool.handle, pool_attributes, WS_ARRAY_LEN(pool_attributes),
			    &agent->pools[agent->n_pools++], walk->err));
}

static hsa_status_t add_isa(hsa_isa_t isa, void *data)
{
	struct walk *walk = data;
	struct gpu_hsa_agent *agent = walk->agent;
	uint32_t n = 0;
	hsa_status_t hs = get_isa(isa.handle, HSA_ISA_INFO_NAME_LENGTH, &n);

	if (hs)
		return stop(walk, gpu_hsa_fail(walk->err, hs, "HSA_ISA_INFO_NAME_LENGTH"));
	if (agent->n_isas == GPU_HSA_ISAS_MAX || n >= sizeof(agent->isas[0].name))
		return stop(walk, ws_fail(walk->err, WS_E_LIMIT,
					  "the agent has more than %u ISAs, or one with a name of "
					  "%u characters",
					  GPU_HSA_ISAS_MAX, n));
	return stop(walk, get_all(get_isa, isa.handle, isa_attributes, WS_ARRAY_LEN(isa_attributes),
				  &agent->isas[agent->n_isas++], walk->err));
}

enum ws_status gpu_hsa_agent_query(uint64_t handle, struct gpu_hsa_agent *out_agent,
				   struct ws_err *err)
{
	struct walk walk = { .agent = out_agent, .err = err };
	enum ws_status st = WS_OK;
	hsa_status_t hs;

	memset(out_agent, 0, sizeof(*out_agent));
	if (!hsa.hsa_init)
		st = gpu_hsa_open(hsa_names, (void **)&hsa, WS_ARRAY_LEN(hsa_names), err);
	if (!st)
		st = get_all(get_agent, handle, agent_attributes, WS_ARRAY_LEN(agent_attributes),
			     out_agent, err);
	out_agent->runs_kernels = (out_agent->feature & HSA_AGENT_FEATURE_KERNEL_DISPATCH) != 0;
	if (!st && out_agent->runs_kernels)
		st = get_all(get_agent, handle, kernel_attributes, WS_ARRAY_LEN(kernel_attributes),
			     out_agent, err);
	if (st)
		return st;
	hs = hsa.hsa_amd_agent_iterate_memory_pools((hsa_agent_t){ handle }, add_pool, &walk);
	if (!walk.st && hs)
		return gpu_hsa_fail(err, hs, "memory pools");
	if (walk.st)
		return walk.st;
	hs = hsa.hsa_agent_iterate_isas((hsa_agent_t){ handle }, add_isa, &walk);
	out_agent->has_isas = hs != HSA_STATUS_ERROR_INVALID_AGENT;
	if (!walk.st && hs && out_agent->has_isas)
		return gpu_hsa_fail(err, hs, "ISAs");
	return walk.st;
}

/* ---- all of them ---- */

static hsa_status_t add_agent(hsa_agent_t agent, void *data)
{
	struct walk *walk = data;

	if (walk->all->n_agents == GPU_AGENTS_MAX)
		return stop(walk, ws_fail(walk->err, WS_E_LIMIT, "there are more than %u agents",
					  GPU_AGENTS_MAX));
	return stop(walk,
		    gpu_hsa_agent_query(agent.handle, &walk->all->agents[walk->all->n_agents++],
					walk->err));
}

static enum ws_status query_system(struct gpu_hsa_agents *out, struct ws_err *err)
{
	const struct {
		hsa_system_info_t attribute;
		void *to;
	} asked[] = {
		{ HSA_SYSTEM_INFO_VERSION_MAJOR, &out->version_major },
		{ HSA_SYSTEM_INFO_VERSION_MINOR, &out->version_minor },
		{ HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &out->timestamp_hz },
		{ HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, &out->max_wait },
		{ HSA_SYSTEM_INFO_ENDIANNESS, &out->endianness },
		{ HSA_SYSTEM_INFO_MACHINE_MODEL, &out->machine_model },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(asked); i++) {
		hsa_status_t hs = hsa.hsa_system_get_info(asked[i].attribute, asked[i].to);

		if (hs)
			return gpu_hsa_fail(err, hs, "system attributes");
	}
	return WS_OK;
}

/* Builds of one version differ in the size and time of the file. */
static void describe_library(char *to, size_t n_bytes)
{
	char path[PATH_MAX];
	struct stat file;
	Dl_info where;

	if (dladdr((void *)hsa.hsa_init, &where) && realpath(where.dli_fname, path) &&
	    !stat(path, &file))
		snprintf(to, n_bytes, "%.400s, %lld bytes, %lld", path, (long long)file.st_size,
			 (long long)file.st_mtim.tv_sec);
}

/* Whether the runtime took the driver library that it was meant to take. */
static enum ws_status check_through(const char *library, struct ws_err *err)
{
	enum ws_status st;
	struct ws_buf maps;

	ws_buf_init(&maps, 16 << 20);
	st = ws_file_read("/proc/self/maps", &maps, err);
	if (!st && !strstr(maps.at, library))
		st = ws_fail(err, WS_E_STATE,
			     "the HSA runtime did not load %s: it may contain its driver library "
			     "(ROCm 6.3 and later) or have an RPATH (try --preload)",
			     library);
	ws_buf_fini(&maps);
	return st;
}

void *gpu_soft_function(const char *name)
{
	static const char *const libraries[] = SOFTGPU_LIBRARIES;

	for (size_t i = 0; i < WS_ARRAY_LEN(libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
		void *function = library ? dlsym(library, name) : NULL;

		if (function)
			return function;
	}
	return NULL;
}

bool gpu_hsa_is_soft(void)
{
	return gpu_soft_function("softgpu_count");
}

static enum ws_status query(const char *through, struct gpu_hsa_agents *out, struct ws_err *err)
{
	struct walk walk = { .all = out, .err = err };
	enum ws_status st = gpu_hsa_open(hsa_names, (void **)&hsa, WS_ARRAY_LEN(hsa_names), err);
	hsa_status_t hs;

	if (!st && through)
		st = check_through(through, err);
	if (st)
		return st;
	describe_library(out->library, sizeof(out->library));
	out->soft = gpu_hsa_is_soft();
	hs = hsa.hsa_init();
	if (hs)
		return gpu_hsa_fail(err, hs, "the HSA runtime failed to start");
	st = query_system(out, err);
	if (!st) {
		hs = hsa.hsa_iterate_agents(add_agent, &walk);
		st = walk.st ? walk.st : hs ? gpu_hsa_fail(err, hs, "agents") : WS_OK;
	}
	hsa.hsa_shut_down();
	return st;
}

enum ws_status gpu_hsa_agents_query(const char *through, struct gpu_hsa_agents *out_agents,
				    struct ws_err *err)
{
	struct ws_err why = { .status = WS_OK };

	memset(out_agents, 0, sizeof(*out_agents));
	out_agents->status = query(through, out_agents, &why);
	snprintf(out_agents->error, sizeof(out_agents->error), "%s", why.text);
	return why.status ? ws_fail(err, why.status, "%s", why.text) : WS_OK;
}

/* ---- as descriptions ---- */

void gpu_agent_of_hsa(const struct gpu_hsa_agent *from, bool soft, struct gpu_agent *out_agent)
{
	const uint32_t simds_per_cu = WS_MAX(from->simds_per_cu, 1u);
	const uint32_t arrays_per_se = WS_MAX(from->arrays_per_se, 1u);

	*out_agent = (struct gpu_agent){
		.is_gpu = from->device_type == HSA_DEVICE_TYPE_GPU,
		.node = from->driver_node,
		.freq_mhz = from->freq_mhz,
		.workgroup_max = from->workgroup_max,
		.l1_kib = from->cache_bytes[0] / 1024,
		.l2_kib = from->cache_bytes[1] / 1024,
		.l3_kib = from->cache_bytes[2] / 1024,
		.device_id = from->chip_id,
		.location_id = from->bdfid,
		.domain = from->domain,
	};
	snprintf(out_agent->arch, sizeof(out_agent->arch), "%s", from->name);
	snprintf(out_agent->product, sizeof(out_agent->product), "%s", from->product);
	/* Of several global pools (coarse and fine grained) each is the whole memory. */
	for (size_t i = 0; i < from->n_pools; i++)
		if (from->pools[i].segment == HSA_AMD_SEGMENT_GLOBAL)
			out_agent->mem_kib =
				WS_MAX(out_agent->mem_kib, from->pools[i].size_bytes / 1024);
	if (!out_agent->is_gpu) {
		out_agent->cpu_cores_count = from->n_cus;
		return;
	}
	out_agent->soft = soft;
	out_agent->model = gpu_model_by_chip(from->chip_id);
	out_agent->simd_count = (uint64_t)from->n_cus * simds_per_cu;
	out_agent->simd_per_cu = simds_per_cu;
	out_agent->max_waves_per_simd = from->waves_per_cu / simds_per_cu;
	out_agent->array_count = (uint64_t)from->n_ses * arrays_per_se;
	out_agent->simd_arrays_per_engine = arrays_per_se;
	out_agent->wave_front_size = from->wave_size;
	out_agent->num_xcc = gpu_agent_n_xccs(out_agent); /* the runtime does not say */
}

void gpu_agents_of_hsa(const struct gpu_hsa_agents *from, struct gpu_agents *out_agents)
{
	*out_agents = (struct gpu_agents){ .soft = from->soft };
	snprintf(out_agents->runtime, sizeof(out_agents->runtime), "%s", from->library);
	for (size_t i = 0; i < from->n_agents; i++)
		if (from->agents[i].device_type == HSA_DEVICE_TYPE_GPU)
			gpu_agent_of_hsa(&from->agents[i], from->soft,
					 &out_agents->at[out_agents->n++]);
}
