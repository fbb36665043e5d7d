/*
 * agents: the agents of the machine, as metadata records.
 *
 * HSA lists the agents and their properties. The rest is the driver's topology, read from
 * the thunk library that ROCr has loaded (with the software GPU, its own) or, if ROCr
 * contains the thunk, from /sys.
 */
#include "collector/hsa/hsa_priv.h"
#include "collector/softgpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <hsakmt.h>
#include <string.h>
#include <unistd.h>

#define POOLS_MAX 512u
#define PARTS_MAX 1024u /* banks, caches or links of one agent */
#define TEXT_BYTES 96

struct agent {
	struct cap_rec_agent rec;
	char isa[TEXT_BYTES], vendor[TEXT_BYTES], product[TEXT_BYTES], model[TEXT_BYTES];
	struct cap_rec_agent_bank *banks;
	struct cap_rec_agent_cache *caches;
	struct cap_rec_agent_link *links;
	uint32_t n_banks, n_caches, n_links;
};

static struct {
	struct agent *all; /* (COL_AGENT_IDS - 1) */
	uint32_t n;        /* release: those below are whole */
	struct {
		uint64_t handle;
		uint32_t agent;
	} pools[POOLS_MAX];
	uint32_t n_pools;
} agents;

/* The thunk's functions, under their own names. */
static struct {
	HSAKMT_STATUS (*node)(HSAuint32, HsaNodeProperties *);
	HSAKMT_STATUS (*banks)(HSAuint32, HSAuint32, HsaMemoryProperties *);
	HSAKMT_STATUS (*caches)(HSAuint32, HSAuint32, HSAuint32, HsaCacheProperties *);
	HSAKMT_STATUS (*links)(HSAuint32, HSAuint32, HsaIoLinkProperties *);
	bool soft;
} thunk;

/* ---- looking things up ---- */

/* Linear: a machine has a dozen agents. */
#define FIND(key, value)                                                                           \
	do {                                                                                       \
		uint32_t n = __atomic_load_n(&agents.n, __ATOMIC_ACQUIRE);                         \
                                                                                                   \
		for (uint32_t i = 0; i < n; i++) {                                                 \
			if (agents.all[i].rec.key == (value))                                      \
				return agents.all[i].rec.h.what;                                   \
		}                                                                                  \
		return 0;                                                                          \
	} while (0)

uint32_t col_agent_by_handle(uint64_t handle)
{
	FIND(handle, handle);
}

uint32_t col_agent_by_gpu(uint32_t gpu_index)
{
	FIND(gpu_index, (int32_t)gpu_index);
}

uint32_t col_agent_by_node(uint32_t node)
{
	FIND(node_id, node);
}

#undef FIND

uint32_t col_agent_node(uint32_t id)
{
	return id ? agents.all[id - 1].rec.node_id : UINT32_MAX;
}

const struct cap_rec_agent *col_agent_facts(uint32_t id)
{
	return &agents.all[id - 1].rec;
}

uint64_t col_agent_first_cpu(void)
{
	uint32_t n = __atomic_load_n(&agents.n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		if (agents.all[i].rec.type == CAP_AGENT_CPU)
			return agents.all[i].rec.handle;
	}
	return 0;
}

bool col_agent_is_gpu(uint32_t id)
{
	return id && agents.all[id - 1].rec.type == CAP_AGENT_GPU;
}

const char *col_agent_isa(uint32_t id)
{
	return id ? agents.all[id - 1].isa : "";
}

uint32_t col_agent_of_pool(uint64_t pool)
{
	for (uint32_t i = 0; i < agents.n_pools; i++) {
		if (agents.pools[i].handle == pool)
			return agents.pools[i].agent;
	}
	return 0;
}

/* ---- topology ---- */

static void find_thunk(void)
{
	void *library = dlopen("libhsakmt.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *soft = col_softgpu_open();

	memset(&thunk, 0, sizeof(thunk));
	thunk.soft = soft && dlsym(soft, "softgpu_wave_instructions");
	if (soft)
		dlclose(soft);
	if (!library)
		return;
#define FIND(field, name) *(void **)&thunk.field = dlsym(library, name)
	FIND(node, "hsaKmtGetNodeProperties");
	FIND(banks, "hsaKmtGetNodeMemoryProperties");
	FIND(caches, "hsaKmtGetNodeCacheProperties");
	FIND(links, "hsaKmtGetNodeIoLinkProperties");
#undef FIND
	dlclose(library);
}

#define FIRST_WITH_DIES 90400u /* gfx940, as in gfx_target_version */

static void from_node(struct agent *agent, const HsaNodeProperties *node)
{
	struct cap_rec_agent *rec = &agent->rec;

	rec->cpu_cores_count = node->NumCPUCores;
	rec->simd_count = node->NumFComputeCores;
	rec->mem_banks_count = node->NumMemoryBanks;
	rec->caches_count = node->NumCaches;
	rec->io_links_count = node->NumIOLinks;
	rec->cpu_core_id_base = node->CComputeIdLo;
	rec->simd_id_base = node->FComputeIdLo;
	rec->max_waves_per_simd = node->MaxWavesPerSIMD;
	rec->lds_size_in_kb = node->LDSSizeInKB;
	rec->gds_size_in_kb = node->GDSSizeInKB;
	rec->num_gws = node->NumGws;
	rec->wave_front_size = node->WaveFrontSize;
	rec->array_count = node->NumShaderBanks * node->NumArrays;
	rec->num_shader_banks = node->NumShaderBanks;
	rec->simd_arrays_per_engine = node->NumArrays;
	rec->cu_per_simd_array = node->NumCUPerArray;
	rec->simd_per_cu = node->NumSIMDPerCU;
	rec->max_slots_scratch_cu = node->MaxSlotsScratchCU;
	rec->gfx_target_version = node->EngineId.ui32.Major * 10000u +
				  node->EngineId.ui32.Minor * 100u + node->EngineId.ui32.Stepping;
	rec->vendor_id = node->VendorId;
	rec->device_id = node->DeviceId;
	rec->location_id = node->LocationId;
	rec->domain = node->Domain;
	rec->drm_render_minor = (uint32_t)node->DrmRenderMinor;
	rec->num_sdma_engines = node->NumSdmaEngines;
	rec->num_sdma_xgmi_engines = node->NumSdmaXgmiEngines;
	rec->num_sdma_queues_per_engine = node->NumSdmaQueuesPerEngine;
	rec->num_cp_queues = node->NumCpQueues;
	rec->max_engine_clk_ccompute = node->MaxEngineClockMhzCCompute;
	rec->max_engine_clk_fcompute = node->MaxEngineClockMhzFCompute;
	rec->sdma_fw_version = node->uCodeEngineVersions.uCodeSDMA;
	rec->fw_version = node->EngineId.ui32.uCode;
	rec->capability = node->Capability.Value;
	rec->local_mem_size = node->LocalMemSize;
	rec->hive_id = node->HiveID;
	rec->num_xcc = node->NumFComputeCores ? 1 : 0; /* this thunk knows no others */
	rec->cu_count = node->NumSIMDPerCU ? node->NumFComputeCores / node->NumSIMDPerCU : 0;
	rec->cu_per_engine = node->NumShaderBanks ? rec->cu_count / node->NumShaderBanks : 0;
	rec->max_waves_per_cu = node->MaxWavesPerSIMD * node->NumSIMDPerCU;
	memcpy(agent->model, node->AMDName, WS_MIN(sizeof(node->AMDName), TEXT_BYTES - 1));
}

/* Banks, caches and links: the thunk fills an array of its own type, we keep ours. */
static void parts_of_node(struct agent *agent)
{
	struct cap_rec_agent *rec = &agent->rec;
	uint32_t id = rec->h.what, node = rec->node_id;
	size_t n_bytes = PARTS_MAX * sizeof(HsaCacheProperties); /* the largest of the three */
	char *buffer = col_pages(n_bytes);
	uint32_t n;

	if (!buffer)
		return;
	n = WS_MIN(rec->mem_banks_count, PARTS_MAX);
	agent->banks = n ? col_pages(n * sizeof(*agent->banks)) : NULL;
	if (agent->banks && thunk.banks &&
	    thunk.banks(node, n, (HsaMemoryProperties *)buffer) == HSAKMT_STATUS_SUCCESS) {
		const HsaMemoryProperties *from = (const void *)buffer;

		for (agent->n_banks = 0; agent->n_banks < n; agent->n_banks++, from++)
			agent->banks[agent->n_banks] = (struct cap_rec_agent_bank){
				{ CAP_REC_FIXED_TAG(AGENT_BANK, struct cap_rec_agent_bank), id, 0 },
				from->SizeInBytes,
				from->HeapType,
				from->Flags.MemoryProperty,
				from->Width,
				from->MemoryClockMax,
			};
	}
	n = WS_MIN(rec->caches_count, PARTS_MAX);
	agent->caches = n ? col_pages(n * sizeof(*agent->caches)) : NULL;
	if (agent->caches && thunk.caches &&
	    thunk.caches(node, rec->cpu_cores_count ? rec->cpu_core_id_base : rec->simd_id_base, n,
			 (HsaCacheProperties *)buffer) == HSAKMT_STATUS_SUCCESS) {
		const HsaCacheProperties *from = (const void *)buffer;

		for (agent->n_caches = 0; agent->n_caches < n; agent->n_caches++, from++)
			agent->caches[agent->n_caches] = (struct cap_rec_agent_cache){
				{ CAP_REC_FIXED_TAG(AGENT_CACHE, struct cap_rec_agent_cache), id,
				  0 },
				from->ProcessorIdLow,
				from->CacheSize,
				from->CacheLevel,
				from->CacheLineSize,
				from->CacheLinesPerTag,
				from->CacheAssociativity,
				from->CacheLatency,
				from->CacheType.Value,
			};
	}
	n = WS_MIN(rec->io_links_count, PARTS_MAX);
	agent->links = n ? col_pages(n * sizeof(*agent->links)) : NULL;
	if (agent->links && thunk.links &&
	    thunk.links(node, n, (HsaIoLinkProperties *)buffer) == HSAKMT_STATUS_SUCCESS) {
		const HsaIoLinkProperties *from = (const void *)buffer;

		for (agent->n_links = 0; agent->n_links < n; agent->n_links++, from++)
			agent->links[agent->n_links] = (struct cap_rec_agent_link){
				{ CAP_REC_FIXED_TAG(AGENT_LINK, struct cap_rec_agent_link), id, 0 },
				from->IoLinkType,
				from->VersionMajor,
				from->VersionMinor,
				from->NodeFrom,
				from->NodeTo,
				from->Weight,
				from->MinimumLatency,
				from->MaximumLatency,
				from->MinimumBandwidth,
				from->MaximumBandwidth,
				from->RecTransferSize,
				from->Flags.LinkProperty,
			};
	}
	col_pages_free(buffer, n_bytes);
}

static bool ask_thunk(struct agent *agent)
{
	/* Later thunks have longer structs; the fields that are named here stay where they are. */
	union {
		HsaNodeProperties properties;
		char room[sizeof(HsaNodeProperties) + 1024];
	} node;

	memset(&node, 0, sizeof(node));
	if (!thunk.node ||
	    thunk.node(agent->rec.node_id, &node.properties) != HSAKMT_STATUS_SUCCESS)
		return false;
	from_node(agent, &node.properties);
	parts_of_node(agent);
	return true;
}

/* "key value" lines of the driver's own topology; the record's fields have its names. */
static void read_sysfs(struct agent *agent)
{
#define KEY(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct cap_rec_agent, name)                                        \
	}
	static const struct {
		const char *key;
		size_t at;
	} keys[] = {
		KEY(cpu_cores_count),
		KEY(simd_count),
		KEY(mem_banks_count),
		KEY(caches_count),
		KEY(io_links_count),
		KEY(cpu_core_id_base),
		KEY(simd_id_base),
		KEY(max_waves_per_simd),
		KEY(lds_size_in_kb),
		KEY(gds_size_in_kb),
		KEY(num_gws),
		KEY(wave_front_size),
		KEY(num_xcc),
		KEY(array_count),
		KEY(simd_arrays_per_engine),
		KEY(cu_per_simd_array),
		KEY(simd_per_cu),
		KEY(max_slots_scratch_cu),
		KEY(gfx_target_version),
		KEY(vendor_id),
		KEY(device_id),
		KEY(location_id),
		KEY(domain),
		KEY(drm_render_minor),
		KEY(num_sdma_engines),
		KEY(num_sdma_xgmi_engines),
		KEY(num_sdma_queues_per_engine),
		KEY(num_cp_queues),
		KEY(max_engine_clk_ccompute),
		KEY(max_engine_clk_fcompute),
		KEY(sdma_fw_version),
		KEY(fw_version),
		KEY(capability),
	};
#undef KEY
	char path[96] = "/sys/class/kfd/kfd/topology/nodes/", text[4096];
	struct cap_rec_agent *rec = &agent->rec;
	ssize_t n;
	int fd;

	col_capture_name(rec->node_id, 0, path + strlen(path)); /* "NODE-0.wcap": digits */
	strcpy(strchr(path, '-'), "/properties");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	for (char *line = text, *end; *line; line = end + (*end != 0)) {
		size_t n_key = strcspn(line, " \n");
		uint64_t value = 0;

		end = line + strcspn(line, "\n");
		for (const char *c = line + n_key + 1; c < end && *c >= '0' && *c <= '9'; c++)
			value = value * 10 + (uint64_t)(*c - '0');
		if (n_key == 7 && strncmp(line, "hive_id", n_key) == 0)
			rec->hive_id = value;
		for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++) {
			if (strlen(keys[i].key) == n_key && !strncmp(keys[i].key, line, n_key)) {
				uint32_t low = (uint32_t)value;

				memcpy((char *)rec + keys[i].at, &low, sizeof(low));
			}
		}
	}
	rec->num_shader_banks =
		rec->simd_arrays_per_engine ? rec->array_count / rec->simd_arrays_per_engine : 0;
	rec->cu_count = rec->simd_per_cu ? rec->simd_count / rec->simd_per_cu : 0;
	rec->cu_per_engine = rec->num_shader_banks ? rec->cu_count / rec->num_shader_banks : 0;
	rec->max_waves_per_cu = rec->max_waves_per_simd * rec->simd_per_cu;
}

/* ---- HSA ---- */

static void parse_uuid(const char *text, uint8_t out[16])
{
	const char *hex = strchr(text, '-'); /* "GPU-1a2b..." or "GPU-XX" when it has none */
	unsigned n = 0;

	for (hex = hex ? hex + 1 : ""; *hex && n < 32; hex++, n++) {
		unsigned digit = *hex >= '0' && *hex <= '9'   ? (unsigned)(*hex - '0')
				 : *hex >= 'a' && *hex <= 'f' ? (unsigned)(*hex - 'a' + 10)
				 : *hex >= 'A' && *hex <= 'F' ? (unsigned)(*hex - 'A' + 10)
							      : 16;

		if (digit > 15) {
			memset(out, 0, 16);
			return;
		}
		out[n / 2] |= (uint8_t)(digit << (n % 2 ? 0 : 4));
	}
}

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *arg)
{
	const struct agent *agent = arg;

	if (agents.n_pools < POOLS_MAX) {
		agents.pools[agents.n_pools].handle = pool.handle;
		agents.pools[agents.n_pools++].agent = agent->rec.h.what;
	}
	return HSA_STATUS_SUCCESS;
}

static void ask_hsa(struct agent *agent, hsa_agent_t handle)
{
	struct cap_rec_agent *rec = &agent->rec;
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
	uint16_t workgroup[3] = { 0 };
	hsa_dim3_t grid = { 0 };
	char uuid[64] = "";

#define INFO(what, to) col_hsa.hsa_agent_get_info(handle, (hsa_agent_info_t)(what), to)
	INFO(HSA_AGENT_INFO_DEVICE, &type);
	rec->type = type == HSA_DEVICE_TYPE_GPU ? CAP_AGENT_GPU : CAP_AGENT_CPU;
	INFO(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &rec->node_id);
	INFO(HSA_AGENT_INFO_NAME, agent->isa);
	INFO(HSA_AGENT_INFO_VENDOR_NAME, agent->vendor);
	INFO(HSA_AMD_AGENT_INFO_PRODUCT_NAME, agent->product);
	if (rec->type == CAP_AGENT_GPU) {
		INFO(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, &rec->workgroup_max_size);
		INFO(HSA_AGENT_INFO_WORKGROUP_MAX_DIM, workgroup);
		INFO(HSA_AGENT_INFO_GRID_MAX_SIZE, &rec->grid_max_size);
		INFO(HSA_AGENT_INFO_GRID_MAX_DIM, &grid);
		INFO(HSA_AMD_AGENT_INFO_UUID, uuid);
	}
#undef INFO
	for (int i = 0; i < 3; i++)
		rec->workgroup_max_dim[i] = workgroup[i];
	rec->grid_max_dim[0] = grid.x;
	rec->grid_max_dim[1] = grid.y;
	rec->grid_max_dim[2] = grid.z;
	parse_uuid(uuid, rec->uuid);
}

static hsa_status_t see_agent(hsa_agent_t handle, void *arg)
{
	uint32_t n = agents.n, n_same = 0, node_id = UINT32_MAX;
	struct agent *agent = &agents.all[n];

	if (n == (COL_AGENT_IDS - 1))
		return HSA_STATUS_INFO_BREAK;
	col_hsa.hsa_agent_get_info(handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,
				   &node_id);
	if (agent->rec.h.what && agent->rec.node_id == node_id) {
		agent->rec.handle = handle.handle; /* the same, after another hsa_init() */
		goto known;
	}
	memset(agent, 0, sizeof(*agent));
	agent->rec.h.tag = CAP_REC_FIXED_TAG(AGENT, struct cap_rec_agent);
	agent->rec.h.what = n + 1;
	agent->rec.handle = handle.handle;
	ask_hsa(agent, handle);
	for (uint32_t i = 0; i < n; i++)
		n_same += agents.all[i].rec.type == agent->rec.type;
	agent->rec.logical_node_id = n;
	agent->rec.logical_node_type_id = n_same;
	agent->rec.gpu_index = agent->rec.type == CAP_AGENT_GPU ? (int32_t)n_same : -1;
	agent->rec.visibility = agent->rec.type == CAP_AGENT_GPU ? 3 : 1;
	/* The thunk that this file is built for knows no dies; from MI300 on the driver's files say them. */
	if (!ask_thunk(agent) || agent->rec.gfx_target_version >= FIRST_WITH_DIES)
		read_sysfs(agent);
	if (thunk.soft && agent->rec.type == CAP_AGENT_GPU)
		agent->rec.flags |= CAP_AGENT_SOFT;
known:
	if (col_hsa.hsa_amd_agent_iterate_memory_pools)
		col_hsa.hsa_amd_agent_iterate_memory_pools(handle, see_pool, agent);
	__atomic_store_n(&agents.n, n + 1, __ATOMIC_RELEASE);
	return HSA_STATUS_SUCCESS;
}

static void write_agents(struct cap_writer *writer, bool parts)
{
	uint32_t n = __atomic_load_n(&agents.n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		const struct agent *agent = &agents.all[i];
		struct cap_rec_agent rec = agent->rec;

		rec.name_str = cap_writer_intern(writer, agent->isa, strlen(agent->isa));
		rec.vendor_name_str =
			cap_writer_intern(writer, agent->vendor, strlen(agent->vendor));
		rec.product_name_str =
			cap_writer_intern(writer, agent->product, strlen(agent->product));
		rec.model_name_str = cap_writer_intern(writer, agent->model, strlen(agent->model));
		cap_writer_meta(writer, &rec.h);
		if (!parts)
			continue; /* a second record replaces the first, a second bank does not */
		for (uint32_t k = 0; k < agent->n_banks; k++)
			cap_writer_meta(writer, &agent->banks[k].h);
		for (uint32_t k = 0; k < agent->n_caches; k++)
			cap_writer_meta(writer, &agent->caches[k].h);
		for (uint32_t k = 0; k < agent->n_links; k++)
			cap_writer_meta(writer, &agent->links[k].h);
	}
}

void col_agents_state(struct cap_writer *writer)
{
	write_agents(writer, true);
}

/* Once per hsa_init() of a process; a second one finds the same machine under new handles. */
void col_agents_load(void)
{
	struct cap_writer *writer = col_capture();
	bool first = agents.all == NULL;

	if (!agents.all)
		agents.all = col_pages((COL_AGENT_IDS - 1) * sizeof(*agents.all));
	if (!agents.all)
		return;
	find_thunk();
	__atomic_store_n(&agents.n, 0, __ATOMIC_RELEASE);
	agents.n_pools = 0;
	col_hsa.hsa_iterate_agents(see_agent, NULL);
	if (writer) {
		write_agents(writer, first);
		col_agent_names_state(writer);
	}
}
