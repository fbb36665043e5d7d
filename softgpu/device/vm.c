#include "softgpu/device/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "softgpu/device/log.h"
#include "softgpu/device/svm.h"
#include "softgpu/device/vm_priv.h"

#define PAGE 4096ull
#define FRAGMENT (2ull << 20) /* ROCr cuts its pools into pieces of this alignment */
#define GUARD (64ull << 10)
#define APERTURE_MOST (4ull << 40)
#define APERTURE_LEAST (64ull << 30)
#define ALIASES_PART 8        /* of the aperture is for aliases */
#define USER_END (1ull << 47) /* addresses of a program are below it */

static const struct {
	uint64_t small_align; /* blocks below FRAGMENT */
	uint64_t large_align;
} kinds[] = {
	[SG_VM_HOST] = { PAGE, PAGE },
	[SG_VM_VRAM] = { 64ull << 10, FRAGMENT },
	[SG_VM_SCRATCH] = { FRAGMENT, FRAGMENT },
};

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* Limits on the address space or on file sizes make the machine smaller, not impossible. */
static bool reserve_aperture(struct sg_vm *vm)
{
	struct rlimit limit;

	for (uint64_t size = APERTURE_MOST; size >= APERTURE_LEAST; size /= 2) {
		uint8_t *map;

		if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
		    limit.rlim_cur < size) {
			errno = EFBIG; /* growing the file would send SIGXFSZ */
			continue;
		}
		map = mmap(NULL, size + FRAGMENT, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (map == MAP_FAILED)
			continue;
		vm->start = round_up((uint64_t)map, FRAGMENT);
		vm->end = vm->start + size;
		munmap(map, vm->start - (uint64_t)map);
		munmap((void *)vm->end, FRAGMENT - (vm->start - (uint64_t)map));
		madvise((void *)vm->start, size, MADV_DONTFORK);
		if (!ftruncate(vm->memfd, (off_t)size))
			return true;
		munmap((void *)vm->start, size);
		vm->start = vm->end = 0;
	}
	return false;
}

static const char *why_no_memory(int error)
{
	struct rlimit limit;

	if (error == EFBIG)
		return "the limit on the size of files is too low: raise it (ulimit -f)";
	if (error == ENOMEM && !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		return "the limit on address space is too low: remove it (ulimit -v unlimited)";
	return strerror(error);
}

struct sg_vm *sg_vm_create(const uint64_t *capacities, uint32_t n_nodes)
{
	struct sg_vm *vm = calloc(1, sizeof(*vm));
	pthread_rwlockattr_t attr;

	if (!vm)
		return NULL;
	pthread_mutex_init(&vm->lock, NULL);
	/* Device threads enter all the time: who frees memory must get in between. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&vm->presence, &attr);
	pthread_rwlockattr_destroy(&attr);
	vm->n_nodes = n_nodes;
	memcpy(vm->capacity, capacities, n_nodes * sizeof(*capacities));
	vm->memfd = memfd_create(SG_VM_MEMFD_NAME, MFD_CLOEXEC);
	if (vm->memfd < 0 || !reserve_aperture(vm) ||
	    !sg_extents_init(&vm->extents, vm->start, sg_vm_aliases(vm) - vm->start) ||
	    !sg_extents_init(&vm->alias_space, sg_vm_aliases(vm), vm->end - sg_vm_aliases(vm)) ||
	    !sg_ranges_init(&vm->blocks) || !sg_ranges_init(&vm->pinned) ||
	    !sg_ranges_init(&vm->svm_reachable) || !sg_ranges_init(&vm->aliases)) {
		sg_gpu_log(SG_GPU_LOG_ERROR, "cannot set up device memory: %s",
			   why_no_memory(errno));
		sg_vm_destroy(vm);
		return NULL;
	}
	return vm;
}

static void free_blocks(struct sg_extent *e)
{
	struct sg_vm_block *block = e ? e->owner : NULL;

	if (!e)
		return;
	free_blocks(e->left);
	free_blocks(e->right);
	if (block && block->size) /* not reserved address space */
		free(block);
}

void sg_vm_destroy(struct sg_vm *vm)
{
	if (!vm)
		return;
	free_blocks(vm->extents.root);
	free_blocks(vm->alias_space.root);
	sg_extents_fini(&vm->extents);
	sg_extents_fini(&vm->alias_space);
	for (size_t i = 0; i < vm->n_pins; i++)
		free(vm->pins[i]);
	free(vm->pins);
	sg_ranges_fini(&vm->blocks);
	sg_ranges_fini(&vm->pinned);
	sg_ranges_fini(&vm->svm_reachable);
	sg_ranges_fini(&vm->aliases);
	free(vm->svm);
	if (vm->end)
		munmap((void *)vm->start, vm->end - vm->start);
	if (vm->memfd >= 0)
		close(vm->memfd);
	pthread_rwlock_destroy(&vm->presence);
	pthread_mutex_destroy(&vm->lock);
	free(vm);
}

uint64_t sg_vm_start(const struct sg_vm *vm)
{
	return vm->start;
}

uint64_t sg_vm_end(const struct sg_vm *vm)
{
	return vm->end;
}

uint64_t sg_vm_aliases(const struct sg_vm *vm)
{
	return vm->end - (vm->end - vm->start) / ALIASES_PART;
}

uint64_t sg_vm_available(struct sg_vm *vm, uint32_t node)
{
	uint64_t available;

	pthread_mutex_lock(&vm->lock);
	available = node < vm->n_nodes ? vm->capacity[node] - vm->used[node] : 0;
	pthread_mutex_unlock(&vm->lock);
	return available;
}

void sg_vm_count(struct sg_vm *vm, uint32_t node, int64_t more_bytes)
{
	vm->used[node] += (uint64_t)more_bytes;
	if (node && vm->published)
		atomic_store_explicit(&vm->published[node - 1], vm->used[node],
				      memory_order_relaxed);
}

void sg_vm_publish(struct sg_vm *vm, _Atomic uint64_t *used)
{
	pthread_mutex_lock(&vm->lock);
	vm->published = used;
	for (uint32_t node = 1; node < vm->n_nodes; node++)
		sg_vm_count(vm, node, 0);
	pthread_mutex_unlock(&vm->lock);
}

enum sg_vm_status sg_vm_place(struct sg_vm *vm, struct sg_vm_block *block, uint64_t align, int fd,
			      uint64_t offset)
{
	uint64_t size = round_up(block->size + GUARD, align);
	struct sg_extent *extent;
	void *at;

	extent = block->start ? sg_extents_take_at(&vm->extents, block->start, size, block)
			      : sg_extents_take(&vm->extents, size, align, block);
	if (!extent)
		return SG_VM_NO_MEMORY;
	block->start = extent->start;
	if (fd < 0) {
		fd = vm->memfd;
		offset = block->start - vm->start;
	}
	/* Never executable: code is data for an interpreter. */
	at = mmap((void *)block->start, block->size, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)offset);
	if (at == MAP_FAILED) {
		sg_extents_give(&vm->extents, block->start);
		return SG_VM_NO_MEMORY;
	}
	madvise(at, block->size, MADV_DONTFORK);
	if (!sg_ranges_add(&vm->blocks, block->start, block->start + block->size)) {
		sg_vm_unplace(vm, block);
		return SG_VM_NO_MEMORY;
	}
	return SG_VM_OK;
}

void sg_vm_wait_for_accesses(struct sg_vm *vm)
{
	pthread_rwlock_wrlock(&vm->presence);
	pthread_rwlock_unlock(&vm->presence);
}

void sg_vm_retire(struct sg_vm *vm, struct sg_vm_block *block)
{
	block->retired = true; /* its place is taken until nobody is there any more */
	sg_ranges_remove(&vm->blocks, block->start);
	pthread_mutex_unlock(&vm->lock);
	sg_vm_wait_for_accesses(vm);
	pthread_mutex_lock(&vm->lock);
}

/*
 * Not by fallocate(), if it can be avoided: a program in a sandbox may have listed the system calls
 * of AMD's runtime only, and madvise() is one of them.
 */
void sg_vm_discard(struct sg_vm *vm, const struct sg_vm_block *block)
{
	void *at = (void *)block->start;
	off_t offset = (off_t)(block->start - vm->start);

	if (block->placeless)
		at = mmap(at, block->size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, vm->memfd, offset);
	if (at == MAP_FAILED || madvise(at, block->size, MADV_REMOVE))
		fallocate(vm->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
			  (off_t)block->size);
}

void sg_vm_unplace(struct sg_vm *vm, struct sg_vm_block *block)
{
	void *at;

	if (block->kind != SG_VM_IMPORTED)
		sg_vm_discard(vm, block);
	at = mmap((void *)block->start, block->size, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		/* Out of mappings: the range stays as it is and is never given out again. */
		sg_gpu_log(SG_GPU_LOG_ERROR, "cannot unmap device memory: %s", strerror(errno));
		return;
	}
	madvise(at, block->size, MADV_DONTFORK);
	sg_extents_give(&vm->extents, block->start);
}

enum sg_vm_status sg_vm_alloc(struct sg_vm *vm, enum sg_vm_kind kind, uint32_t node, uint64_t size,
			      uint32_t flags, bool fixed, uint64_t *addr)
{
	struct sg_vm_block *block;
	enum sg_vm_status status;
	uint64_t counted = kind == SG_VM_SCRATCH ? 0 : size;
	uint64_t align;

	if (kind > SG_VM_SCRATCH || node >= vm->n_nodes || !size || size % PAGE ||
	    size > vm->end - vm->start || (fixed && *addr % PAGE))
		return SG_VM_BAD_ARGUMENT;
	align = fixed ? PAGE : size < FRAGMENT ? kinds[kind].small_align : kinds[kind].large_align;
	block = calloc(1, sizeof(*block));
	if (!block)
		return SG_VM_NO_MEMORY;
	*block = (struct sg_vm_block){
		.kind = kind, .node = node, .flags = flags, .size = size, .start = fixed ? *addr : 0
	};

	pthread_mutex_lock(&vm->lock);
	if (counted > vm->capacity[node] - vm->used[node])
		status = SG_VM_NO_MEMORY;
	else
		status = sg_vm_place(vm, block, align, -1, 0);
	if (!status)
		sg_vm_count(vm, node, (int64_t)counted);
	pthread_mutex_unlock(&vm->lock);

	if (status) {
		free(block);
		return status;
	}
	*addr = block->start;
	return SG_VM_OK;
}

struct sg_vm_block *sg_vm_block_at(struct sg_vm *vm, uint64_t addr)
{
	struct sg_extent *extent;
	struct sg_vm_block *block;

	if (addr < vm->start || addr >= vm->end)
		return NULL;
	extent = sg_extents_find(sg_vm_space(vm, addr), addr);
	block = extent ? extent->owner : NULL;
	return block && addr - block->start < block->size ? block : NULL;
}

enum sg_vm_status sg_vm_free(struct sg_vm *vm, uint64_t addr)
{
	struct sg_vm_block *block;

	pthread_mutex_lock(&vm->lock);
	block = sg_vm_block_at(vm, addr);
	if (!block || block->start != addr || block->retired || block->in_reserved) {
		pthread_mutex_unlock(&vm->lock);
		return SG_VM_NOT_FOUND;
	}
	sg_vm_retire(vm, block);
	if (block->kind == SG_VM_HOST || block->kind == SG_VM_VRAM)
		sg_vm_count(vm, block->node, -(int64_t)block->size);
	sg_vm_unplace(vm, block);
	pthread_mutex_unlock(&vm->lock);
	free(block);
	return SG_VM_OK;
}

static struct sg_vm_block *any_at(struct sg_vm *vm, uint64_t addr)
{
	struct sg_vm_block *block = sg_vm_block_at(vm, addr);

	return block ? block : sg_vm_pin_at(vm, addr & ~SG_PINNED_ALIAS);
}

enum sg_vm_status sg_vm_query(struct sg_vm *vm, uint64_t addr, struct sg_vm_info *out_info)
{
	struct sg_vm_block *block;

	pthread_mutex_lock(&vm->lock);
	block = any_at(vm, addr);
	if (block)
		*out_info = (struct sg_vm_info){
			.kind = block->kind,
			.node = block->node,
			.flags = block->flags,
			.start = block->start,
			.device_start =
				block->start | (block->kind == SG_VM_PINNED ? SG_PINNED_ALIAS : 0),
			.pin_place = block->pin_place,
			.size = block->size,
			.mapped_nodes = block->nodes,
			.n_mapped_nodes = block->n_nodes,
			.user_data = block->user_data,
		};
	pthread_mutex_unlock(&vm->lock);
	return block ? SG_VM_OK : SG_VM_NOT_FOUND;
}

enum sg_vm_status sg_vm_set_nodes(struct sg_vm *vm, uint64_t addr, const uint32_t *nodes,
				  uint32_t n_nodes)
{
	struct sg_vm_block *block;

	for (uint32_t i = 0; i < n_nodes; i++) {
		if (nodes[i] >= vm->n_nodes)
			return SG_VM_BAD_ARGUMENT;
	}
	if (n_nodes > SG_VM_MAX_NODES)
		return SG_VM_BAD_ARGUMENT;
	pthread_mutex_lock(&vm->lock);
	block = any_at(vm, addr);
	if (block) {
		if (n_nodes)
			memcpy(block->nodes, nodes, n_nodes * sizeof(*nodes));
		block->n_nodes = n_nodes;
	}
	pthread_mutex_unlock(&vm->lock);
	return block ? SG_VM_OK : SG_VM_NOT_FOUND;
}

enum sg_vm_status sg_vm_set_user_data(struct sg_vm *vm, uint64_t addr, void *user_data)
{
	struct sg_vm_block *block;

	pthread_mutex_lock(&vm->lock);
	block = any_at(vm, addr);
	if (block)
		block->user_data = user_data;
	pthread_mutex_unlock(&vm->lock);
	return block ? SG_VM_OK : SG_VM_NOT_FOUND;
}

static bool is_pinned(struct sg_vm *vm, uint64_t addr, uint64_t size)
{
	return sg_ranges_contain(&vm->pinned, addr & ~SG_PINNED_ALIAS, size);
}

bool sg_vm_reachable(void *vm_, uint64_t addr, uint64_t size)
{
	struct sg_vm *vm = vm_;

	return is_pinned(vm, addr, size) || sg_ranges_contain(&vm->svm_reachable, addr, size) ||
	       sg_ranges_contain(&vm->aliases, addr, size) ||
	       (sg_svm_xnack(vm) && size <= USER_END && addr <= USER_END - size);
}

bool sg_vm_accessible(struct sg_vm *vm, uint64_t addr, uint64_t size)
{
	if (addr >= vm->start && addr < vm->end)
		return sg_ranges_contain(&vm->blocks, addr, size) ||
		       sg_ranges_contain(&vm->aliases, addr, size) ||
		       sg_ranges_contain(&vm->svm_reachable, addr, size);
	return is_pinned(vm, addr, size);
}

void sg_vm_enter(struct sg_vm *vm)
{
	pthread_rwlock_rdlock(&vm->presence);
}

void sg_vm_leave(struct sg_vm *vm)
{
	pthread_rwlock_unlock(&vm->presence);
}
