/*
 * reach: calls of the program that make memory reachable for GPUs or others, or write to it, while kernels are
 * replayed (ranges.h). Allocations are in the generated hooks, copies in memory.c.
 */
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/ranges.h"

static void note_shared(hsa_status_t status)
{
	if (status == HSA_STATUS_SUCCESS)
		col_ranges_shared();
}

hsa_status_t col_hsa_hook_hsa_amd_ipc_memory_create(void *ptr, size_t len,
						    hsa_amd_ipc_memory_t *handle)
{
	hsa_status_t status = col_hsa.hsa_amd_ipc_memory_create(ptr, len, handle);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *handle, size_t len,
						    uint32_t num_agents,
						    const hsa_agent_t *mapping_agents,
						    void **mapped_ptr)
{
	hsa_status_t status = col_hsa.hsa_amd_ipc_memory_attach(handle, len, num_agents,
								mapping_agents, mapped_ptr);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_interop_map_buffer(uint32_t num_agents, hsa_agent_t *agents,
						     int interop_handle, uint32_t flags,
						     size_t *size, void **ptr,
						     size_t *metadata_size, const void **metadata)
{
	hsa_status_t status =
		col_hsa.hsa_amd_interop_map_buffer(num_agents, agents, interop_handle, flags, size,
						   ptr, metadata_size, metadata);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_portable_export_dmabuf(const void *ptr, size_t size, int *dmabuf,
							 uint64_t *offset)
{
	hsa_status_t status = col_hsa.hsa_amd_portable_export_dmabuf(ptr, size, dmabuf, offset);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_portable_export_dmabuf_v2(const void *ptr, size_t size,
							    int *dmabuf, uint64_t *offset,
							    uint64_t flags)
{
	hsa_status_t status =
		col_hsa.hsa_amd_portable_export_dmabuf_v2(ptr, size, dmabuf, offset, flags);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_vmem_export_shareable_handle(int *dmabuf_fd, uint64_t handle,
							       uint64_t flags)
{
	hsa_status_t status =
		col_hsa.hsa_amd_vmem_export_shareable_handle(dmabuf_fd, handle, flags);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_vmem_import_shareable_handle(int dmabuf_fd, uint64_t *handle)
{
	hsa_status_t status = col_hsa.hsa_amd_vmem_import_shareable_handle(dmabuf_fd, handle);

	note_shared(status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_agent_t *agents,
					      int num_agent, void **agent_ptr)
{
	hsa_status_t status =
		col_hsa.hsa_amd_memory_lock(host_ptr, size, agents, num_agent, agent_ptr);

	if (status == HSA_STATUS_SUCCESS)
		col_ranges_add((uint64_t)(uintptr_t)host_ptr, size, 0, COL_RANGE_COMPARED);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_memory_lock_to_pool(void *host_ptr, size_t size,
						      hsa_agent_t *agents, int num_agent,
						      hsa_amd_memory_pool_t pool, uint32_t flags,
						      void **agent_ptr)
{
	hsa_status_t status = col_hsa.hsa_amd_memory_lock_to_pool(host_ptr, size, agents, num_agent,
								  pool, flags, agent_ptr);

	if (status == HSA_STATUS_SUCCESS)
		col_ranges_add((uint64_t)(uintptr_t)host_ptr, size, 0, COL_RANGE_COMPARED);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_memory_unlock(void *host_ptr)
{
	col_ranges_remove((uint64_t)(uintptr_t)host_ptr);
	return col_hsa.hsa_amd_memory_unlock(host_ptr);
}

/* Memory that moves between host and GPUs by page faults. */
hsa_status_t col_hsa_hook_hsa_amd_svm_attributes_set(void *ptr, size_t size,
						     hsa_amd_svm_attribute_pair_t *attribute_list,
						     size_t attribute_count)
{
	hsa_status_t status =
		col_hsa.hsa_amd_svm_attributes_set(ptr, size, attribute_list, attribute_count);

	if (status == HSA_STATUS_SUCCESS)
		col_ranges_add((uint64_t)(uintptr_t)ptr, size, 0, COL_RANGE_COMPARED);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_vmem_map(void *va, size_t size, size_t in_offset,
					   uint64_t memory_handle, uint64_t flags)
{
	hsa_status_t status = col_hsa.hsa_amd_vmem_map(va, size, in_offset, memory_handle, flags);
	hsa_amd_memory_pool_t pool = { 0 };
	uint32_t type;

	if (status == HSA_STATUS_SUCCESS &&
	    col_hsa.hsa_amd_vmem_get_alloc_properties_from_handle(memory_handle, &pool, &type) ==
		    HSA_STATUS_SUCCESS)
		col_ranges_allocated((uint64_t)(uintptr_t)va, size, pool.handle);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_vmem_unmap(void *va, size_t size)
{
	col_ranges_remove((uint64_t)(uintptr_t)va);
	return col_hsa.hsa_amd_vmem_unmap(va, size);
}

hsa_status_t col_hsa_hook_hsa_amd_agents_allow_access(uint32_t num_agents,
						      const hsa_agent_t *agents,
						      const uint32_t *flags, const void *ptr)
{
	hsa_status_t status = col_hsa.hsa_amd_agents_allow_access(num_agents, agents, flags, ptr);

	for (uint32_t i = 0; status == HSA_STATUS_SUCCESS && i < num_agents; i++)
		col_ranges_allowed((uint64_t)(uintptr_t)ptr, col_agent_by_handle(agents[i].handle));
	return status;
}

hsa_status_t col_hsa_hook_hsa_memory_copy(void *dst, const void *src, size_t size)
{
	bool waits = col_ranges_write_begin((uint64_t)(uintptr_t)dst);
	hsa_status_t status = col_hsa.hsa_memory_copy(dst, src, size);

	if (waits)
		col_ranges_write_end(0, 0, NULL, 0);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	bool waits = col_ranges_write_begin((uint64_t)(uintptr_t)ptr);
	hsa_status_t status = col_hsa.hsa_amd_memory_fill(ptr, value, count);

	if (waits)
		col_ranges_write_end(0, 0, NULL, 0);
	return status;
}
