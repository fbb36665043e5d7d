/* Memory: allocation, mapping, pinning, pointers, sharing between processes. */
#include <string.h>
#include <sys/uio.h>

#include "softgpu/thunk/thunk_priv.h"

static const HSAKMT_STATUS vm_statuses[] = {
	[SG_VM_OK] = HSAKMT_STATUS_SUCCESS,
	[SG_VM_NO_MEMORY] = HSAKMT_STATUS_NO_MEMORY,
	[SG_VM_BAD_ARGUMENT] = HSAKMT_STATUS_INVALID_PARAMETER,
	[SG_VM_NOT_FOUND] = HSAKMT_STATUS_MEMORY_NOT_REGISTERED,
	[SG_VM_NO_ACCESS] = HSAKMT_STATUS_ERROR,
};

static const HSA_POINTER_TYPE pointer_types[] = {
	[SG_VM_HOST] = HSA_POINTER_ALLOCATED,
	[SG_VM_VRAM] = HSA_POINTER_ALLOCATED,
	[SG_VM_SCRATCH] = HSA_POINTER_ALLOCATED,
	[SG_VM_IMPORTED] = HSA_POINTER_REGISTERED_SHARED,
	[SG_VM_PINNED] = HSA_POINTER_REGISTERED_USER,
	[SG_VM_SVM] = HSA_POINTER_UNKNOWN, /* sg_vm_query() does not find it */
};

/* Word 6 of a handle is ROCr's: it stores where in the block a shared piece lies. */
enum {
	WORD_PID,
	WORD_FD,
	WORD_OFFSET,
	WORD_OFFSET_HI,
	WORD_SIZE,
	WORD_NODE,
	WORD_ROCR,
	WORD_MAGIC
};
#define HANDLE_MAGIC 0x57534d31u

EXPORT HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 PreferredNode, HSAuint64 SizeInBytes,
				       HsaMemFlags MemFlags, void **MemoryAddress)
{
	enum sg_vm_kind kind;
	uint64_t addr;
	enum sg_vm_status status;

	THUNK_OR_RETURN(thunk);
	if (!MemoryAddress || !SizeInBytes || SizeInBytes % 4096)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!thunk_is_node(thunk, PreferredNode))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	if (MemFlags.ui32.GDSMemory)
		return HSAKMT_STATUS_NOT_SUPPORTED;
	if (MemFlags.ui32.Scratch)
		kind = SG_VM_SCRATCH;
	else
		kind = PreferredNode ? SG_VM_VRAM : SG_VM_HOST;
	if (kind == SG_VM_SCRATCH && !PreferredNode)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	addr = MemFlags.ui32.FixedAddress ? (uint64_t)*MemoryAddress : 0;
	status = sg_vm_alloc(thunk->machine.vm, kind, PreferredNode, SizeInBytes, MemFlags.Value,
			     MemFlags.ui32.FixedAddress, &addr);
	if (status)
		return vm_statuses[status];
	if (MemFlags.ui32.ExecuteAccess && PreferredNode)
		sg_device_memory_allocated(thunk_device(thunk, PreferredNode), addr, SizeInBytes);
	*MemoryAddress = (void *)addr;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtFreeMemory(void *MemoryAddress, HSAuint64 SizeInBytes)
{
	uint64_t addr = (uint64_t)MemoryAddress;
	struct sg_vm_info info;
	enum sg_vm_status status;
	HsaMemFlags flags;

	THUNK_OR_RELEASED(thunk);
	if (!MemoryAddress || sg_vm_query(thunk->machine.vm, addr, &info) || info.start != addr ||
	    info.kind == SG_VM_PINNED)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	status = sg_vm_free(thunk->machine.vm, addr);
	flags.Value = info.flags;
	/* Any GPU may run code from any memory that allows it. */
	for (uint32_t g = 0;
	     !status && flags.ui32.ExecuteAccess && g < thunk->machine.topology.n_gpus; g++)
		sg_device_memory_freed(thunk->machine.devices[g], addr, info.size);
	return vm_statuses[status];
}

static HSAKMT_STATUS pin(struct thunk *thunk, void *addr, HSAuint64 size, HSAuint32 flags)
{
	return vm_statuses[sg_vm_pin(thunk->machine.vm, (uint64_t)addr, size, flags)];
}

/* What AMD's library makes of memory that is registered without flags. */
static HsaMemFlags coarse_grained(void)
{
	HsaMemFlags flags = { .Value = 0 };

	flags.ui32.CoarseGrain = 1;
	return flags;
}

EXPORT HSAKMT_STATUS hsaKmtRegisterMemory(void *MemoryAddress, HSAuint64 MemorySizeInBytes)
{
	THUNK_OR_RETURN(thunk);
	return pin(thunk, MemoryAddress, MemorySizeInBytes, coarse_grained().Value);
}

EXPORT HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
						 HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
	HSAKMT_STATUS status;

	THUNK_OR_RETURN(thunk);
	if ((NumberOfNodes && !NodeArray) || NumberOfNodes > SG_VM_MAX_NODES)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	status = pin(thunk, MemoryAddress, MemorySizeInBytes, coarse_grained().Value);
	if (status)
		return status;
	return vm_statuses[sg_vm_set_nodes(thunk->machine.vm, (uint64_t)MemoryAddress, NodeArray,
					   (uint32_t)NumberOfNodes)];
}

EXPORT HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
						   HsaMemFlags MemFlags)
{
	THUNK_OR_RETURN(thunk);
	return pin(thunk, MemoryAddress, MemorySizeInBytes, MemFlags.Value);
}

EXPORT HSAKMT_STATUS hsaKmtDeregisterMemory(void *MemoryAddress)
{
	THUNK_OR_RELEASED(thunk);
	return vm_statuses[sg_vm_unpin(thunk->machine.vm, (uint64_t)MemoryAddress)];
}

static HSAKMT_STATUS map(struct thunk *thunk, void *addr, HSAuint64 size, HSAuint64 *alternate,
			 const HSAuint32 *nodes, HSAuint64 n_nodes)
{
	enum sg_vm_status status;
	struct sg_vm_info info;
	uint64_t offset;

	if (!addr || n_nodes > SG_VM_MAX_NODES || (n_nodes && !nodes))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (sg_vm_query(thunk->machine.vm, (uint64_t)addr, &info))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	offset = ((uint64_t)addr & ~SG_PINNED_ALIAS) - info.start;
	if (size > info.size - offset)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	status = sg_vm_set_nodes(thunk->machine.vm, (uint64_t)addr, nodes, (uint32_t)n_nodes);
	if (status)
		return vm_statuses[status];
	if (alternate)
		*alternate = info.device_start + offset;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
					  HSAuint64 *AlternateVAGPU)
{
	HSAuint32 nodes[SG_MAX_GPUS];

	THUNK_OR_RETURN(thunk);
	for (uint32_t g = 0; g < thunk->machine.topology.n_gpus; g++)
		nodes[g] = g + 1;
	return map(thunk, MemoryAddress, MemorySizeInBytes, AlternateVAGPU, nodes,
		   thunk->machine.topology.n_gpus);
}

EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
					       HSAuint64 *AlternateVAGPU,
					       HsaMemMapFlags MemMapFlags, HSAuint64 NumberOfNodes,
					       HSAuint32 *NodeArray)
{
	THUNK_OR_RETURN(thunk);
	return map(thunk, MemoryAddress, MemorySizeInBytes, AlternateVAGPU, NodeArray,
		   NumberOfNodes);
}

EXPORT HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *MemoryAddress)
{
	struct sg_vm_info info;

	THUNK_OR_RELEASED(thunk);
	if (!MemoryAddress)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	/* Pieces of the scratch pool come and go; only a whole block loses its nodes. */
	if (!sg_vm_query(thunk->machine.vm, (uint64_t)MemoryAddress, &info) &&
	    info.start == (uint64_t)MemoryAddress)
		sg_vm_set_nodes(thunk->machine.vm, info.start, NULL, 0);
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *Pointer, HsaPointerInfo *PointerInfo)
{
	struct sg_vm_info info;

	THUNK_OR_RETURN(thunk);
	if (!PointerInfo)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(PointerInfo, 0, sizeof(*PointerInfo));
	PointerInfo->Type = HSA_POINTER_UNKNOWN;
	if (sg_vm_query(thunk->machine.vm, (uint64_t)Pointer, &info))
		return HSAKMT_STATUS_ERROR;
	PointerInfo->Type = pointer_types[info.kind];
	PointerInfo->Node = info.node;
	PointerInfo->MemFlags.Value = info.flags;
	PointerInfo->CPUAddress = (void *)info.start;
	PointerInfo->GPUAddress = info.device_start;
	PointerInfo->SizeInBytes = info.size;
	PointerInfo->NMappedNodes = info.n_mapped_nodes;
	PointerInfo->MappedNodes = info.mapped_nodes;
	PointerInfo->UserData = info.user_data;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *Pointer, void *UserData)
{
	THUNK_OR_RETURN(thunk);
	return vm_statuses[sg_vm_set_user_data(thunk->machine.vm, (uint64_t)Pointer, UserData)];
}

EXPORT HSAKMT_STATUS hsaKmtShareMemory(void *MemoryAddress, HSAuint64 SizeInBytes,
				       HsaSharedMemoryHandle *SharedMemoryHandle)
{
	struct sg_vm_handle handle;
	HSAuint32 *words;
	uint64_t page;

	THUNK_OR_RETURN(thunk);
	if (!SharedMemoryHandle)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (sg_vm_export(thunk->machine.vm, (uint64_t)MemoryAddress, &handle) ||
	    handle.size != SizeInBytes)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	words = *SharedMemoryHandle;
	page = handle.offset / 4096;
	words[WORD_PID] = (HSAuint32)handle.pid;
	words[WORD_FD] = (HSAuint32)handle.fd;
	words[WORD_OFFSET] = (HSAuint32)page;
	words[WORD_OFFSET_HI] = (HSAuint32)(page >> 32);
	words[WORD_SIZE] = (HSAuint32)(handle.size / 4096);
	words[WORD_NODE] = handle.node;
	words[WORD_ROCR] = 0;
	words[WORD_MAGIC] = HANDLE_MAGIC;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *SharedMemoryHandle,
						void **MemoryAddress, HSAuint64 *SizeInBytes)
{
	struct sg_vm_handle handle;
	const HSAuint32 *words;
	enum sg_vm_status status;
	uint64_t addr;

	THUNK_OR_RETURN(thunk);
	if (!SharedMemoryHandle || !MemoryAddress)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	words = *SharedMemoryHandle;
	if (words[WORD_MAGIC] != HANDLE_MAGIC)
		return HSAKMT_STATUS_INVALID_HANDLE;
	handle = (struct sg_vm_handle){
		.pid = (int32_t)words[WORD_PID],
		.fd = (int32_t)words[WORD_FD],
		.offset = (words[WORD_OFFSET] | (uint64_t)words[WORD_OFFSET_HI] << 32) * 4096,
		.size = (uint64_t)words[WORD_SIZE] * 4096,
		.node = words[WORD_NODE],
	};
	status = sg_vm_import(thunk->machine.vm, &handle, &addr);
	if (status)
		return vm_statuses[status];
	*MemoryAddress = (void *)addr;
	if (SizeInBytes)
		*SizeInBytes = handle.size;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(
	const HsaSharedMemoryHandle *SharedMemoryHandle, void **MemoryAddress,
	HSAuint64 *SizeInBytes, HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
	HSAKMT_STATUS status;

	if ((NumberOfNodes && !NodeArray) || NumberOfNodes > SG_VM_MAX_NODES)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	status = hsaKmtRegisterSharedHandle(SharedMemoryHandle, MemoryAddress, SizeInBytes);
	if (!status && NumberOfNodes)
		sg_vm_set_nodes(thunk_get()->machine.vm, (uint64_t)*MemoryAddress, NodeArray,
				(uint32_t)NumberOfNodes);
	return status;
}

/* Device memory is memory of the process, so the kernel's own calls do what is asked. */
static HSAKMT_STATUS copy_process(HSAuint32 pid, HsaMemoryRange *local, HSAuint64 n_local,
				  HsaMemoryRange *remote, HSAuint64 n_remote, HSAuint64 *copied,
				  ssize_t (*move)(pid_t, const struct iovec *, unsigned long,
						  const struct iovec *, unsigned long,
						  unsigned long))
{
	struct iovec here[64], there[64];
	ssize_t n;

	if (!local || !remote || !n_local || !n_remote || n_local > 64 || n_remote > 64)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	for (HSAuint64 i = 0; i < n_local; i++)
		here[i] = (struct iovec){ local[i].MemoryAddress, local[i].SizeInBytes };
	for (HSAuint64 i = 0; i < n_remote; i++)
		there[i] = (struct iovec){ remote[i].MemoryAddress, remote[i].SizeInBytes };
	n = move((pid_t)pid, here, n_local, there, n_remote, 0);
	if (copied)
		*copied = n < 0 ? 0 : (HSAuint64)n;
	return n < 0 ? HSAKMT_STATUS_ERROR : HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtProcessVMRead(HSAuint32 Pid, HsaMemoryRange *LocalMemoryArray,
					 HSAuint64 LocalMemoryArrayCount,
					 HsaMemoryRange *RemoteMemoryArray,
					 HSAuint64 RemoteMemoryArrayCount, HSAuint64 *SizeCopied)
{
	THUNK_OR_RETURN(thunk);
	(void)thunk;
	return copy_process(Pid, LocalMemoryArray, LocalMemoryArrayCount, RemoteMemoryArray,
			    RemoteMemoryArrayCount, SizeCopied, process_vm_readv);
}

EXPORT HSAKMT_STATUS hsaKmtProcessVMWrite(HSAuint32 Pid, HsaMemoryRange *LocalMemoryArray,
					  HSAuint64 LocalMemoryArrayCount,
					  HsaMemoryRange *RemoteMemoryArray,
					  HSAuint64 RemoteMemoryArrayCount, HSAuint64 *SizeCopied)
{
	THUNK_OR_RETURN(thunk);
	(void)thunk;
	return copy_process(Pid, LocalMemoryArray, LocalMemoryArrayCount, RemoteMemoryArray,
			    RemoteMemoryArrayCount, SizeCopied, process_vm_writev);
}
