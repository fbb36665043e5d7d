#include "softgpu/device/reserve.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/device/log.h"
#include "softgpu/device/vm_priv.h"

#define PAGE 4096ull
#define LARGE_PAGE (2ull << 20)

static bool is_reserved(const struct sg_vm *vm, const struct sg_extent *extent)
{
	return extent && extent->owner == &vm->reserved;
}

bool sg_vm_is_reserved(struct sg_vm *vm, uint64_t start, uint64_t end)
{
	if (start < vm->start || end > sg_vm_aliases(vm))
		return false;
	for (uint64_t at = start; at < end;) {
		const struct sg_extent *extent = sg_extents_find(&vm->extents, at);

		if (!is_reserved(vm, extent))
			return false;
		at = extent->start + extent->size;
	}
	return true;
}

static bool take_at(struct sg_extents *space, uint64_t start, uint64_t end, void *owner)
{
	return start >= end || sg_extents_take_at(space, start, end - start, owner);
}

/*
 * Locked. All of [start, end) is reserved: give it to a block, or to nobody. Pieces of
 * reservations that a block or a hole lay between are separate ones in the tree; what is left
 * over at both ends stays reserved.
 */
static bool hand_over(struct sg_vm *vm, uint64_t start, uint64_t end, struct sg_vm_block *block)
{
	struct sg_extents *space = sg_vm_space(vm, start);
	uint64_t first = start, last = end;

	for (uint64_t at = start; at < end; at = last) {
		const struct sg_extent *extent = sg_extents_find(space, at);

		if (!is_reserved(vm, extent))
			return false;
		first = extent->start < first ? extent->start : first;
		last = extent->start + extent->size;
	}
	for (uint64_t at = first; at < last;) {
		const struct sg_extent *extent = sg_extents_find(space, at);
		uint64_t piece = extent->start, next = extent->start + extent->size;

		sg_extents_give(space, piece);
		at = next;
	}
	last = last > end ? last : end;
	if (!take_at(space, first, start, &vm->reserved) ||
	    !take_at(space, end, last, &vm->reserved))
		sg_gpu_log(SG_GPU_LOG_ERROR, "out of memory: reserved address space is lost");
	return !block || take_at(space, start, end, block);
}

/* Locked. */
static void make_unreachable(uint64_t start, uint64_t size)
{
	void *at = mmap((void *)start, size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (at != MAP_FAILED)
		madvise(at, size, MADV_DONTFORK);
}

uint64_t sg_vm_reserve(struct sg_vm *vm, uint64_t size, bool for_alias)
{
	struct sg_extent *extent = NULL;
	uint64_t start;

	if (!size || size % PAGE || size > vm->end - vm->start)
		return 0;
	pthread_mutex_lock(&vm->lock);
	extent = sg_extents_take(for_alias ? &vm->alias_space : &vm->extents, size, PAGE,
				 &vm->reserved);
	start = extent ? extent->start : 0;
	pthread_mutex_unlock(&vm->lock);
	return start;
}

void sg_vm_release(struct sg_vm *vm, uint64_t start, uint64_t size)
{
	uint64_t end = start + size, next;
	bool shared;

	if (start < vm->start || end > vm->end || end < start || start % PAGE || size % PAGE)
		return;
	pthread_mutex_lock(&vm->lock);
	shared = sg_svm_forget(vm, start, end);
	pthread_mutex_unlock(&vm->lock);
	if (shared)
		sg_vm_wait_for_accesses(vm);
	pthread_mutex_lock(&vm->lock);
	for (uint64_t at = start; at < end; at = next) {
		const struct sg_extent *extent = sg_extents_find(sg_vm_space(vm, at), at);
		bool reserved = is_reserved(vm, extent);

		next = extent->start + extent->size;
		next = next < end ? next : end;
		if (!reserved)
			continue;
		make_unreachable(at, next - at);
		hand_over(vm, at, next, NULL);
	}
	pthread_mutex_unlock(&vm->lock);
}

/* Locked. */
static enum sg_vm_status map_pages(struct sg_vm *vm, const struct sg_vm_block *block,
				   const struct sg_vm_backed *backed)
{
	int fd = backed->by == SG_VM_OWN ? vm->memfd : backed->fd;
	uint64_t offset = backed->by == SG_VM_OWN ? block->start - vm->start : backed->at;
	uint64_t end = block->start + block->size;
	void *at;

	if (backed->by == SG_VM_ALIASED)
		return sg_ranges_add_shifted(&vm->aliases, block->start, end,
					     backed->at - block->start)
			       ? SG_VM_OK
			       : SG_VM_NO_MEMORY;
	if (backed->by != SG_VM_IN_USE) {
		at = mmap((void *)block->start, block->size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)offset);
		if (at == MAP_FAILED)
			return SG_VM_NO_MEMORY;
		madvise(at, block->size, MADV_DONTFORK);
	}
	return sg_ranges_add(&vm->blocks, block->start, end) ? SG_VM_OK : SG_VM_NO_MEMORY;
}

/* Locked. A place in the file alone; its address is never mapped. */
static enum sg_vm_status place_in_file(struct sg_vm *vm, struct sg_vm_block *block)
{
	struct sg_extent *extent =
		sg_extents_take(&vm->extents, block->size,
				block->size < LARGE_PAGE ? PAGE : LARGE_PAGE, block);

	if (!extent)
		return SG_VM_NO_MEMORY;
	block->start = extent->start;
	block->placeless = true;
	return SG_VM_OK;
}

static enum sg_vm_status place(struct sg_vm *vm, struct sg_vm_block *block,
			       const struct sg_vm_backed *backed)
{
	enum sg_vm_status status;

	if (!block->start)
		return place_in_file(vm, block);
	if (!hand_over(vm, block->start, block->start + block->size, block))
		return SG_VM_BAD_ARGUMENT;
	status = map_pages(vm, block, backed);
	if (status) {
		sg_extents_give(sg_vm_space(vm, block->start), block->start);
		sg_extents_take_at(sg_vm_space(vm, block->start), block->start, block->size,
				   &vm->reserved);
	}
	return status;
}

static bool is_valid(const struct sg_vm *vm, const struct sg_vm_info *what,
		     const struct sg_vm_backed *backed)
{
	uint64_t first = backed->by == SG_VM_ALIASED ? sg_vm_aliases(vm) : vm->start;
	uint64_t end = backed->by == SG_VM_ALIASED ? vm->end : sg_vm_aliases(vm);

	if (what->node >= vm->n_nodes || !what->size || what->size % PAGE || what->start % PAGE)
		return false;
	if (!what->start)
		return backed->by == SG_VM_OWN && what->size <= end - first;
	return what->start >= first && what->start < end && what->size <= end - what->start;
}

enum sg_vm_status sg_vm_alloc_reserved(struct sg_vm *vm, const struct sg_vm_info *what,
				       const struct sg_vm_backed *backed, uint64_t *out_addr)
{
	uint64_t counted = backed->by == SG_VM_OWN && what->kind != SG_VM_SCRATCH ? what->size : 0;
	struct sg_vm_block *block;
	enum sg_vm_status status;

	if (!is_valid(vm, what, backed))
		return SG_VM_BAD_ARGUMENT;
	block = calloc(1, sizeof(*block));
	if (!block)
		return SG_VM_NO_MEMORY;
	*block = (struct sg_vm_block){ .kind = what->kind,
				       .node = what->node,
				       .flags = what->flags,
				       .start = what->start,
				       .size = what->size,
				       .in_reserved = true,
				       .backing = backed->by };
	pthread_mutex_lock(&vm->lock);
	if (counted > vm->capacity[what->node] - vm->used[what->node])
		status = SG_VM_NO_MEMORY;
	else
		status = place(vm, block, backed);
	if (!status) {
		sg_vm_count(vm, block->node, (int64_t)counted);
		if (backed->by ==
		    SG_VM_ALIASED) { /* the models need a place that is the same every time */
			block->pin_place = vm->next_pin_place + backed->at % PAGE;
			vm->next_pin_place = (block->pin_place + block->size + LARGE_PAGE - 1) /
					     LARGE_PAGE * LARGE_PAGE;
		}
	}
	pthread_mutex_unlock(&vm->lock);
	if (status) {
		free(block);
		return status;
	}
	*out_addr = block->start;
	return SG_VM_OK;
}

/* Locked, except while it waits for accesses. */
static void withdraw(struct sg_vm *vm, struct sg_vm_block *block)
{
	if (block->backing == SG_VM_ALIASED)
		sg_ranges_remove(&vm->aliases, block->start);
	if (!block->placeless)
		sg_vm_retire(vm, block);
	if (block->backing == SG_VM_OWN)
		sg_vm_discard(vm, block);
	if (block->backing == SG_VM_OWN || block->backing == SG_VM_VIEW)
		make_unreachable(block->start, block->size);
}

enum sg_vm_status sg_vm_free_reserved(struct sg_vm *vm, uint64_t addr)
{
	struct sg_vm_block *block;
	struct sg_extents *space;

	pthread_mutex_lock(&vm->lock);
	block = sg_vm_block_at(vm, addr);
	if (!block || block->start != addr || block->retired || !block->in_reserved) {
		pthread_mutex_unlock(&vm->lock);
		return SG_VM_NOT_FOUND;
	}
	block->retired = true;
	withdraw(vm, block);
	if (block->backing == SG_VM_OWN && block->kind != SG_VM_SCRATCH)
		sg_vm_count(vm, block->node, -(int64_t)block->size);
	space = sg_vm_space(vm, block->start);
	sg_extents_give(space, block->start);
	if (!block->placeless)
		sg_extents_take_at(space, block->start, block->size, &vm->reserved);
	pthread_mutex_unlock(&vm->lock);
	free(block);
	return SG_VM_OK;
}

int sg_vm_file(const struct sg_vm *vm)
{
	return vm->memfd;
}

uint64_t sg_vm_file_offset(const struct sg_vm *vm, uint64_t addr)
{
	return addr - vm->start;
}

uint64_t sg_vm_host_of(void *vm_, uint64_t addr)
{
	struct sg_vm *vm = vm_;
	uint64_t shift = 0;

	return sg_ranges_shift(&vm->aliases, addr, 1, &shift) ? addr + shift : addr;
}
