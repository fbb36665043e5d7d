/*
 * hold_memory: holds memory of the first GPU until it is killed. It is not touched.
 *
 *	hold_memory MEGABYTES READY_FILE     the file appears when the memory is allocated
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static hsa_amd_memory_pool_t pool;

static hsa_status_t find_pool(hsa_amd_memory_pool_t candidate, void *data)
{
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (segment != HSA_AMD_SEGMENT_GLOBAL ||
	    !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
		return HSA_STATUS_SUCCESS;
	pool = candidate;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	return hsa_amd_agent_iterate_memory_pools(agent, find_pool, NULL);
}

int main(int argc, char **argv)
{
	void *memory;
	FILE *ready;

	if (argc != 3 || hsa_init() != HSA_STATUS_SUCCESS)
		return 2;
	hsa_iterate_agents(find_gpu, NULL);
	if (hsa_amd_memory_pool_allocate(pool, strtoull(argv[1], NULL, 10) << 20, 0, &memory) !=
	    HSA_STATUS_SUCCESS)
		return 3;
	ready = fopen(argv[2], "w");
	if (ready)
		fclose(ready);
	for (;;)
		pause();
}
