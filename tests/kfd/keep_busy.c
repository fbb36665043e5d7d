/*
 * keep_busy: holds memory of the first GPU and fills it over and over, with ROCr's own kernel, until
 * it is killed.
 *
 *	keep_busy MEGABYTES READY_FILE     the file appears when the memory was filled once
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static hsa_amd_memory_pool_t pool;

static hsa_status_t find_pool(hsa_amd_memory_pool_t candidate, void *data)
{
	uint32_t flags = 0;

	hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
		return HSA_STATUS_SUCCESS;
	pool = candidate;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	return type == HSA_DEVICE_TYPE_GPU
		       ? hsa_amd_agent_iterate_memory_pools(agent, find_pool, NULL)
		       : HSA_STATUS_SUCCESS;
}

int main(int argc, char **argv)
{
	uint64_t n_bytes = argc == 3 ? strtoull(argv[1], NULL, 10) << 20 : 0;
	void *memory;
	FILE *ready;

	if (!n_bytes || hsa_init() != HSA_STATUS_SUCCESS)
		return 2;
	hsa_iterate_agents(find_gpu, NULL);
	if (hsa_amd_memory_pool_allocate(pool, n_bytes, 0, &memory) != HSA_STATUS_SUCCESS)
		return 3;
	for (uint32_t i = 0;; i++) {
		if (hsa_amd_memory_fill(memory, i, n_bytes / 4) != HSA_STATUS_SUCCESS)
			return 4;
		if (i == 0 && (ready = fopen(argv[2], "w")))
			fclose(ready);
	}
}
