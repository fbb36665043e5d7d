/* Buffer objects: allocation, mapping to GPUs, handles. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "softgpu/kfd/kfd_priv.h"

#define FLAG(name) KFD_IOC_ALLOC_MEM_FLAGS_##name

const int sg_kfd_errno_of_vm[] = {
	[SG_VM_OK] = 0,
	[SG_VM_NO_MEMORY] = ENOMEM,
	[SG_VM_BAD_ARGUMENT] = EINVAL,
	[SG_VM_NOT_FOUND] = EFAULT,
	[SG_VM_NO_ACCESS] = EACCES,
};

/* --- handles: the GPU's id and a number, as the driver makes them --- */

struct sg_kfd_bo *sg_kfd_bo_find(struct sg_kfd *kfd, uint64_t handle)
{
	uint32_t at = (uint32_t)handle;
	struct sg_kfd_bo *bo = at && at <= kfd->n_bos ? kfd->bos[at - 1] : NULL;

	if (bo && handle >> 32 != sg_kfd_gpu_id(&kfd->machine.topology, bo->node))
		return NULL;
	return bo;
}

static bool grow(struct sg_kfd *kfd)
{
	uint32_t max = kfd->max_bos ? kfd->max_bos * 2 : 256;
	void *grown = realloc(kfd->bos, max * sizeof(struct sg_kfd_bo *));

	if (!grown)
		return false;
	kfd->bos = grown;
	kfd->max_bos = max;
	return true;
}

/* Lowest free number first, as the driver's. */
int sg_kfd_bo_add(struct sg_kfd *kfd, struct sg_kfd_bo *bo, uint64_t *out_handle)
{
	uint32_t at = kfd->first_free_bo;

	while (at < kfd->n_bos && kfd->bos[at])
		at++;
	if (at == kfd->max_bos && !grow(kfd))
		return ENOMEM;
	kfd->n_bos = at < kfd->n_bos ? kfd->n_bos : at + 1;
	kfd->first_free_bo = at + 1;
	kfd->bos[at] = bo;
	*out_handle = (uint64_t)sg_kfd_gpu_id(&kfd->machine.topology, bo->node) << 32 | (at + 1);
	return 0;
}

void sg_kfd_bo_remove(struct sg_kfd *kfd, uint64_t handle)
{
	uint32_t at = (uint32_t)handle - 1;

	kfd->bos[at] = NULL;
	if (at < kfd->first_free_bo)
		kfd->first_free_bo = at;
}

/* --- memory --- */

static enum sg_vm_kind kind_of(const struct sg_kfd_bo *bo)
{
	if (bo->file >= 0)
		return SG_VM_IMPORTED;
	return bo->flags & FLAG(VRAM) ? SG_VM_VRAM : SG_VM_HOST;
}

static struct sg_vm_info describe(const struct sg_kfd_bo *bo, uint64_t va, uint64_t size)
{
	return (struct sg_vm_info){
		.kind = kind_of(bo),
		.node = bo->flags & FLAG(VRAM) || bo->file >= 0 ? bo->node : 0,
		.flags = bo->flags,
		.start = va,
		.size = size,
	};
}

int sg_kfd_bo_show(struct sg_kfd *kfd, const struct sg_kfd_bo *bo, uint64_t va, uint64_t offset,
		   uint64_t size)
{
	struct sg_vm_info what = describe(bo, va, size);
	struct sg_vm_backed backed = {
		.by = SG_VM_VIEW,
		.fd = bo->file >= 0 ? bo->file : sg_vm_file(kfd->machine.vm),
		.at = bo->offset + offset,
	};
	uint64_t addr;

	return sg_kfd_errno_of_vm[sg_vm_alloc_reserved(kfd->machine.vm, &what, &backed, &addr)];
}

/* Memory of the program: at its own address, where the runtime has mapped it for this, or at
 * another one. */
static int adopt(struct sg_kfd *kfd, struct sg_kfd_bo *bo, uint64_t host)
{
	struct sg_vm_info what = describe(bo, bo->va, bo->size);
	struct sg_vm_backed backed = { .by = host == bo->va ? SG_VM_IN_USE : SG_VM_ALIASED,
				       .at = host };
	uint64_t addr;

	what.kind = host == bo->va ? SG_VM_HOST : SG_VM_PINNED;
	return sg_kfd_errno_of_vm[sg_vm_alloc_reserved(kfd->machine.vm, &what, &backed, &addr)];
}

/* What other processes held and have given back. */
static void collect_lent(struct sg_kfd *kfd)
{
	struct sg_kfd_bo **link, *bo, *done = NULL;

	pthread_mutex_lock(&kfd->lock);
	for (link = &kfd->lent; (bo = *link);) {
		if (sg_kfd_is_lent(bo)) {
			link = &bo->next;
			continue;
		}
		*link = bo->next;
		bo->next = done;
		done = bo;
	}
	pthread_mutex_unlock(&kfd->lock);
	while ((bo = done)) {
		done = bo->next;
		sg_vm_free_reserved(kfd->machine.vm, bo->place);
		sg_kfd_close(kfd, bo->export);
		free(bo);
	}
}

int sg_kfd_bo_allocate(struct sg_kfd *kfd, struct sg_kfd_bo *bo)
{
	struct sg_vm_info what = describe(bo, 0, bo->size);
	struct sg_vm_backed backed = { .by = SG_VM_OWN };
	int error;

	collect_lent(kfd);
	error = sg_kfd_errno_of_vm[sg_vm_alloc_reserved(kfd->machine.vm, &what, &backed,
							&bo->place)];
	if (error)
		return error;
	bo->offset = sg_vm_file_offset(kfd->machine.vm, bo->place);
	if (bo->va)
		error = sg_kfd_bo_show(kfd, bo, bo->va, 0, bo->size);
	if (error) {
		sg_vm_free_reserved(kfd->machine.vm, bo->place);
		bo->place = 0;
	}
	return error;
}

void sg_kfd_bo_put(struct sg_kfd *kfd, struct sg_kfd_bo *bo)
{
	bool last, lent = false;

	if (!bo)
		return;
	pthread_mutex_lock(&kfd->lock);
	last = --bo->n_holders == 0;
	if (last && bo->export >= 0 && bo->place && sg_kfd_is_lent(bo)) {
		bo->next = kfd->lent;
		kfd->lent = bo;
		lent = true;
	}
	pthread_mutex_unlock(&kfd->lock);
	if (!last || lent)
		return;
	if (bo->place)
		sg_vm_free_reserved(kfd->machine.vm, bo->place);
	sg_kfd_close(kfd, bo->export);
	sg_kfd_close(kfd, bo->file);
	free(bo);
}

/* --- requests --- */

/* The one page of doorbells of a GPU, and system memory under the name that the runtime chose. */
static int allocate_special(struct sg_kfd *kfd, struct sg_kfd_bo *bo, uint64_t *mmap_offset)
{
	const struct sg_machine *machine = &kfd->machine;

	if (bo->flags & FLAG(MMIO_REMAP))
		return ENOMEM; /* a driver without the page says the same */
	if (bo->flags & FLAG(USERPTR))
		return bo->va % SG_KFD_PAGE || *mmap_offset % SG_KFD_PAGE
			       ? EINVAL
			       : adopt(kfd, bo, *mmap_offset);
	if (bo->size != SG_DOORBELL_BYTES)
		return EINVAL;
	bo->offset = sg_vm_file_offset(machine->vm, machine->doorbells[bo->node - 1]);
	*mmap_offset = sg_kfd_doorbell_offset(kfd, bo->node);
	return sg_kfd_bo_show(kfd, bo, bo->va, 0, bo->size);
}

static int allocate(struct sg_kfd *kfd, struct sg_kfd_bo *bo, uint64_t *mmap_offset)
{
	int error;

	if (bo->flags & (FLAG(USERPTR) | FLAG(DOORBELL) | FLAG(MMIO_REMAP)))
		return allocate_special(kfd, bo, mmap_offset);
	if (!(bo->flags & (FLAG(VRAM) | FLAG(GTT))))
		return EINVAL;
	error = sg_kfd_bo_allocate(kfd, bo);
	*mmap_offset = bo->offset;
	return error;
}

static void conceal(struct sg_kfd *kfd, struct sg_kfd_bo *bo)
{
	if (bo->va)
		sg_vm_free_reserved(kfd->machine.vm, bo->va);
	/* Any GPU may run code from any memory that allows it. */
	for (uint32_t g = 0; bo->flags & FLAG(EXECUTABLE) && g < kfd->machine.topology.n_gpus; g++)
		sg_device_memory_freed(kfd->machine.devices[g], bo->va, bo->size);
	bo->va = 0;
}

int sg_kfd_alloc_memory(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id);
	uint64_t mmap_offset = args->mmap_offset, handle;
	struct sg_kfd_bo *bo;
	int error;

	if (!node || !args->size || args->size % SG_KFD_PAGE || args->va_addr % SG_KFD_PAGE)
		return EINVAL;
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return ENOMEM;
	*bo = (struct sg_kfd_bo){ .va = args->va_addr,
				  .size = args->size,
				  .flags = args->flags,
				  .node = node,
				  .n_holders = 1,
				  .file = -1,
				  .export = -1 };
	error = allocate(kfd, bo, &mmap_offset);
	if (error) {
		free(bo);
		return error;
	}
	pthread_mutex_lock(&kfd->lock);
	error = sg_kfd_bo_add(kfd, bo, &handle);
	pthread_mutex_unlock(&kfd->lock);
	if (error) {
		conceal(kfd, bo);
		sg_kfd_bo_put(kfd, bo);
		return error;
	}
	args->mmap_offset = mmap_offset;
	args->handle = handle;
	return 0;
}

int sg_kfd_free_memory(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_free_memory_of_gpu_args *args = args_;
	struct sg_kfd_bo *bo;

	pthread_mutex_lock(&kfd->lock);
	bo = sg_kfd_bo_find(kfd, args->handle);
	if (bo)
		sg_kfd_bo_remove(kfd, args->handle);
	pthread_mutex_unlock(&kfd->lock);
	if (!bo)
		return EINVAL;
	conceal(kfd, bo);
	sg_kfd_bo_put(kfd, bo);
	return 0;
}

/* The ids are the caller's memory. */
static int check_gpus(const struct sg_kfd *kfd, uint64_t ids, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < n; i++) {
		uint32_t id;

		if (!sg_kfd_read(ids + 4ull * i, &id, sizeof(id)))
			return EFAULT;
		if (!sg_kfd_node_of(kfd, id))
			return EINVAL;
	}
	return 0;
}

/*
 * All GPUs reach what is allocated, so mapping is checked and counted only. n_success is where an
 * interrupted call goes on: it counts those done before.
 */
static int count_mapped(struct sg_kfd *kfd, struct kfd_ioctl_map_memory_to_gpu_args *args)
{
	bool found;
	int error;

	if (!args->n_devices || args->n_success > args->n_devices || args->n_devices > 1024)
		return EINVAL;
	error = check_gpus(kfd, args->device_ids_array_ptr, args->n_success, args->n_devices);
	if (error)
		return error;
	pthread_mutex_lock(&kfd->lock);
	found = sg_kfd_bo_find(kfd, args->handle) != NULL;
	pthread_mutex_unlock(&kfd->lock);
	if (!found)
		return EINVAL;
	args->n_success = args->n_devices;
	return 0;
}

int sg_kfd_map_memory(struct sg_kfd *kfd, void *args, size_t size)
{
	return count_mapped(kfd, args);
}

int sg_kfd_unmap_memory(struct sg_kfd *kfd, void *args, size_t size)
{
	_Static_assert(sizeof(struct kfd_ioctl_map_memory_to_gpu_args) ==
			       sizeof(struct kfd_ioctl_unmap_memory_from_gpu_args),
		       "the same fields");
	return count_mapped(kfd, args);
}
