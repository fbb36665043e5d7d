#include "collector/hsa/packet_memory.h"

#include "collector/hsa/hsa_priv.h"

#include <string.h>

#define EXECUTABLE_FLAG 4u /* of later ROCr: HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG */

struct search {
	uint32_t flag;
	hsa_amd_memory_pool_t found;
};

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *ctx)
{
	hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GROUP;
	uint32_t flags = 0;
	bool may_allocate = false;
	struct search *search = ctx;

	col_hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	col_hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	col_hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					     &may_allocate);
	if (!may_allocate || !(flags & search->flag))
		return HSA_STATUS_SUCCESS;
	search->found = pool;
	return HSA_STATUS_INFO_BREAK;
}

uint64_t col_packet_pool(uint64_t agent, uint32_t flag)
{
	struct search search = { .flag = flag };

	if (agent && col_hsa.hsa_amd_agent_iterate_memory_pools &&
	    col_hsa.hsa_amd_memory_pool_get_info && col_hsa.hsa_amd_memory_pool_allocate &&
	    col_hsa.hsa_amd_agents_allow_access)
		col_hsa.hsa_amd_agent_iterate_memory_pools((hsa_agent_t){ agent }, take_pool,
							   &search);
	return search.found.handle;
}

static hsa_amd_memory_pool_t host_pool(void)
{
	return (hsa_amd_memory_pool_t){
		col_packet_pool(col_agent_first_cpu(), HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
	};
}

static void *allocate(const struct col_aql_agent *agent, size_t n_bytes)
{
	hsa_amd_memory_pool_t pool = host_pool();
	hsa_agent_t gpu = { agent->handle };
	void *memory = NULL;
	size_t n = (n_bytes + 4095) / 4096 * 4096;

	/* Later GPUs fetch commands only from memory with this flag; earlier runtimes refuse it. */
	if (col_hsa.hsa_amd_memory_pool_allocate(pool, n, EXECUTABLE_FLAG, &memory) !=
		    HSA_STATUS_SUCCESS &&
	    col_hsa.hsa_amd_memory_pool_allocate(pool, n, 0, &memory) != HSA_STATUS_SUCCESS)
		return NULL;
	if (col_hsa.hsa_amd_agents_allow_access(1, &gpu, NULL, memory) != HSA_STATUS_SUCCESS)
		return NULL;
	memset(memory, 0, n);
	return memory;
}

bool col_packet_agent(uint32_t id, struct col_aql_agent *out_agent)
{
	const struct cap_rec_agent *facts;

	if (!id || !host_pool().handle)
		return false;
	facts = col_agent_facts(id);
	*out_agent = (struct col_aql_agent){
		.handle = facts->handle,
		.name = col_agent_isa(id),
		.n_dies = WS_MAX(facts->num_xcc, 1u),
		.n_engines = facts->num_shader_banks,
		.n_cus = facts->cu_count,
		.n_arrays = WS_MAX(facts->simd_arrays_per_engine, 1u),
		.domain = facts->domain,
		.location = facts->location_id,
		.allocate = allocate,
	};
	return true;
}
