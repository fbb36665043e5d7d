/* Objects under the handles of a render node, and their mappings: the way of ROCr's virtual
 * memory calls. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/kfd/drm_abi.h"
#include "softgpu/kfd/kfd_priv.h"

#define FLAG(name) KFD_IOC_ALLOC_MEM_FLAGS_##name
#define MAX_HANDLES 65536u

/* Memory of other processes is in files of their own. Its mmap offset names the handle; no offset in the
 * machine's file is so large. */
#define MMAP_FOREIGN (1ull << 62)
#define MMAP_HANDLE_SHIFT 40
#define MMAP_TYPE (3ull << 62)

struct handle {
	struct sg_kfd_bo *bo; /* NULL: free */
};

/* The handles of one GPU's render node; a handle is its place plus one. */
struct sg_kfd_gem {
	struct handle *handles;
	uint32_t n, max;
};

/* One view of an object. GPUs map it one by one, at the same address. */
struct sg_kfd_mapping {
	struct sg_kfd_bo *bo;
	uint64_t va, offset, size;
	uint32_t nodes;
	struct sg_kfd_mapping *next;
};

/* Locked. */
static struct handle *find(struct sg_kfd *kfd, uint32_t node, uint32_t handle)
{
	struct sg_kfd_gem *gem = kfd->gem[node - 1];

	return gem && handle && handle <= gem->n && gem->handles[handle - 1].bo
		       ? &gem->handles[handle - 1]
		       : NULL;
}

/* Locked. The handle that the object has already, or a new one; 0: out of memory. */
static uint32_t handle_of(struct sg_kfd *kfd, uint32_t node, struct sg_kfd_bo *bo, bool *out_new)
{
	struct sg_kfd_gem *gem = kfd->gem[node - 1];
	uint32_t at;

	*out_new = false;
	if (!gem && !(gem = kfd->gem[node - 1] = calloc(1, sizeof(*gem))))
		return 0;
	for (uint32_t i = 0; i < gem->n; i++)
		if (gem->handles[i].bo == bo)
			return i + 1;
	for (at = 0; at < gem->n && gem->handles[at].bo;)
		at++;
	if (at == MAX_HANDLES)
		return 0;
	if (at == gem->max) {
		uint32_t max = gem->max ? 2 * gem->max : 64;
		void *grown = realloc(gem->handles, max * sizeof(*gem->handles));

		if (!grown)
			return 0;
		gem->handles = grown;
		gem->max = max;
	}
	gem->n = at < gem->n ? gem->n : at + 1;
	gem->handles[at] = (struct handle){ .bo = bo };
	*out_new = true;
	return at + 1;
}

int sg_kfd_gem_import(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_prime *args = args_;
	struct sg_kfd_bo *bo;
	bool is_new = false;
	int error = sg_kfd_bo_of_dmabuf(kfd, args->fd, &bo);

	if (error)
		return error;
	pthread_mutex_lock(&kfd->lock);
	args->handle = handle_of(kfd, node, bo, &is_new);
	pthread_mutex_unlock(&kfd->lock);
	if (!is_new) /* it is held by its handle already, or could not get one */
		sg_kfd_bo_put(kfd, bo);
	return args->handle ? 0 : ENOMEM;
}

int sg_kfd_gem_export(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_prime *args = args_;
	struct handle *handle;
	int error = ENOENT, fd = -1;

	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, args->handle);
	if (handle)
		error = sg_kfd_dmabuf_of_bo(kfd, handle->bo, &fd);
	pthread_mutex_unlock(&kfd->lock);
	args->fd = fd;
	return error;
}

int sg_kfd_gem_close(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_gem_close *args = args_;
	struct sg_kfd_bo *bo = NULL;
	struct handle *handle;

	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, args->handle);
	if (handle) {
		bo = handle->bo;
		handle->bo = NULL;
	}
	pthread_mutex_unlock(&kfd->lock);
	if (!bo)
		return EINVAL;
	sg_kfd_bo_put(kfd, bo);
	return 0;
}

int sg_kfd_gem_mmap(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_gem_mmap *args = args_;
	struct handle *handle;
	int error = ENOENT;

	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, (uint32_t)args->handle_or_offset);
	if (handle) {
		args->handle_or_offset =
			handle->bo->file < 0 ? handle->bo->offset
					     : MMAP_FOREIGN | (args->handle_or_offset & UINT32_MAX)
								      << MMAP_HANDLE_SHIFT;
		error = 0;
	}
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

int sg_kfd_foreign_open(struct sg_kfd *kfd, uint32_t node, uint64_t mmap_offset, uint64_t size,
			uint64_t *out_offset)
{
	uint64_t at = mmap_offset & ((1ull << MMAP_HANDLE_SHIFT) - 1);
	struct handle *handle;
	int fd = -1;

	if ((mmap_offset & MMAP_TYPE) != MMAP_FOREIGN || !node)
		return -1;
	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, (uint32_t)((mmap_offset & ~MMAP_TYPE) >> MMAP_HANDLE_SHIFT));
	if (handle && handle->bo->file >= 0 && at <= handle->bo->size &&
	    size <= handle->bo->size - at) {
		*out_offset = handle->bo->offset + at;
		fd = fcntl(handle->bo->file, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&kfd->lock);
	return fd;
}

int sg_kfd_gem_metadata(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	enum { SET = 1, GET = 2 };
	struct sg_drm_gem_metadata *args = args_;
	const size_t n = sizeof(*args) - offsetof(struct sg_drm_gem_metadata, flags);
	struct handle *handle;
	int error = ENOENT;

	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, args->handle);
	if (handle && args->op == GET) {
		if (!sg_kfd_get_metadata(handle->bo, &args->flags, n))
			memset(&args->flags, 0, n);
		error = 0;
	} else if (handle && args->op == SET && args->n_bytes <= sizeof(args->data)) {
		error = sg_kfd_set_metadata(kfd, handle->bo, &args->flags, n);
	} else if (handle) {
		error = EINVAL;
	}
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

int sg_kfd_gem_op(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	enum { GET_CREATE_INFO = 0 };
	struct sg_drm_gem_op *args = args_;
	struct sg_drm_gem_create_info created = { .alignment = SG_KFD_PAGE };
	struct handle *handle;

	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, args->handle);
	if (handle) {
		created.size = handle->bo->size;
		created.domains =
			handle->bo->flags & FLAG(VRAM) ? SG_DRM_DOMAIN_VRAM : SG_DRM_DOMAIN_GTT;
	}
	pthread_mutex_unlock(&kfd->lock);
	if (!handle)
		return ENOENT;
	if (args->op != GET_CREATE_INFO)
		return EINVAL;
	return sg_kfd_write(args->value, &created, sizeof(created)) ? 0 : EFAULT;
}

/* --- mappings --- */

/* Locked. The link to the mapping at an address. */
static struct sg_kfd_mapping **mapping_at(struct sg_kfd *kfd, uint64_t va)
{
	struct sg_kfd_mapping **link = &kfd->mappings;

	while (*link && (*link)->va != va)
		link = &(*link)->next;
	return link;
}

static int map(struct sg_kfd *kfd, uint32_t node, const struct sg_drm_gem_va *args)
{
	struct sg_kfd_mapping *mapping = calloc(1, sizeof(*mapping)), *there;
	struct handle *handle;
	int error = 0;

	if (!mapping)
		return ENOMEM;
	pthread_mutex_lock(&kfd->lock);
	handle = find(kfd, node, args->handle);
	there = *mapping_at(kfd, args->va);
	if (!handle || args->offset > handle->bo->size ||
	    args->size > handle->bo->size - args->offset) {
		error = handle ? EINVAL : ENOENT;
	} else if (there) {
		/* Another GPU joins; anything else is in the way. */
		if (there->offset == args->offset && there->size == args->size &&
		    there->bo->offset == handle->bo->offset && !(there->nodes & 1u << node))
			there->nodes |= 1u << node;
		else
			error = EINVAL;
	} else {
		*mapping = (struct sg_kfd_mapping){ .bo = handle->bo,
						    .va = args->va,
						    .offset = args->offset,
						    .size = args->size,
						    .nodes = 1u << node,
						    .next = kfd->mappings };
		error = sg_kfd_bo_show(kfd, handle->bo, args->va, args->offset, args->size);
		if (!error) {
			handle->bo->n_holders++;
			kfd->mappings = mapping;
			mapping = NULL;
		}
	}
	pthread_mutex_unlock(&kfd->lock);
	free(mapping);
	return error;
}

static int unmap(struct sg_kfd *kfd, uint32_t node, uint64_t va)
{
	struct sg_kfd_mapping **link, *mapping;
	bool last = false;

	pthread_mutex_lock(&kfd->lock);
	link = mapping_at(kfd, va);
	mapping = *link;
	if (mapping) {
		mapping->nodes &= ~(1u << node);
		last = !mapping->nodes;
		if (last)
			*link = mapping->next;
	}
	pthread_mutex_unlock(&kfd->lock);
	if (!mapping)
		return ENOENT;
	if (last) {
		sg_vm_free_reserved(kfd->machine.vm, va);
		sg_kfd_bo_put(kfd, mapping->bo);
		free(mapping);
	}
	return 0;
}

int sg_kfd_gem_va(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_gem_va *args = args_;

	if (!args->size || (args->va | args->offset | args->size) % SG_KFD_PAGE)
		return EINVAL;
	switch (args->operation) {
	case SG_DRM_VA_MAP:
		return map(kfd, node, args);
	case SG_DRM_VA_REPLACE:
		unmap(kfd, node, args->va);
		return map(kfd, node, args);
	case SG_DRM_VA_UNMAP:
	case SG_DRM_VA_CLEAR:
		return unmap(kfd, node, args->va);
	default:
		return EINVAL;
	}
}

void sg_kfd_gem_fini(struct sg_kfd *kfd)
{
	struct sg_kfd_mapping *mapping;

	while ((mapping = kfd->mappings)) {
		kfd->mappings = mapping->next;
		sg_kfd_bo_put(kfd, mapping->bo);
		free(mapping);
	}
	for (uint32_t g = 0; g < SG_MAX_GPUS; g++) {
		struct sg_kfd_gem *gem = kfd->gem[g];

		for (uint32_t i = 0; gem && i < gem->n; i++)
			sg_kfd_bo_put(kfd, gem->handles[i].bo);
		if (gem)
			free(gem->handles);
		free(gem);
	}
}
