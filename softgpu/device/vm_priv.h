/* Shared by the files of the memory manager. */
#ifndef WS_SOFTGPU_DEVICE_VM_PRIV_H
#define WS_SOFTGPU_DEVICE_VM_PRIV_H

#include <pthread.h>

#include "softgpu/device/extent.h"
#include "softgpu/device/ranges.h"
#include "softgpu/device/reserve.h"
#include "softgpu/device/vm.h"

struct sg_vm_block {
	enum sg_vm_kind kind;
	uint32_t node;
	uint32_t flags;
	uint64_t start, size;
	uint32_t n_pins; /* pins: holders of this very range */
	uint64_t pin_place;
	bool retired;     /* it is being freed */
	bool in_reserved; /* see reserve.h */
	bool placeless;   /* ... without an address of its own */
	enum sg_vm_backing backing;
	uint32_t nodes[SG_VM_MAX_NODES];
	uint32_t n_nodes;
	void *user_data;
};

/* svm.h */
struct sg_svm_range {
	uint64_t start, end;
	uint64_t place;               /* as pin_place */
	uint32_t preferred, prefetch; /* nodes, or SG_SVM_NOWHERE */
	uint32_t flags, granularity;
	uint8_t access[SG_VM_MAX_NODES];
};

struct sg_vm {
	pthread_mutex_t lock;      /* everything below, except what readers may look at */
	pthread_rwlock_t presence; /* held shared while the command processor touches memory */
	uint64_t start, end;
	int memfd;
	struct sg_extents extents;
	struct sg_ranges blocks; /* what is mapped in the aperture */
	struct sg_ranges pinned; /* what is pinned outside, overlaps merged */

	struct sg_vm_block
		reserved; /* the owner of reserved address space: not a block, its size is 0 */
	struct sg_extents alias_space; /* from sg_vm_aliases() to the end of the aperture */
	struct sg_ranges aliases;      /* shifted to the memory of the program */

	struct sg_vm_block **pins; /* sorted by start, then by age */
	size_t n_pins, max_pins;
	uint64_t next_pin_place;

	struct sg_svm_range *svm; /* sorted, disjoint */
	size_t n_svm, max_svm, n_svm_checked;
	struct sg_ranges svm_reachable; /* those that a device may access */
	_Atomic bool xnack;

	uint32_t n_nodes;
	uint64_t capacity[SG_VM_MAX_NODES];
	uint64_t used[SG_VM_MAX_NODES];
	_Atomic uint64_t *published; /* of the GPUs; NULL: not */
};

/* Which of the two address spaces has an address of the aperture. */
static inline struct sg_extents *sg_vm_space(struct sg_vm *vm, uint64_t addr)
{
	return addr < sg_vm_aliases(vm) ? &vm->extents : &vm->alias_space;
}

/* reserve.c: all of it is reserved and holds no block. Locked. */
bool sg_vm_is_reserved(struct sg_vm *vm, uint64_t start, uint64_t end);
/* svm.c: the program unmaps these pages. Locked. False: nothing was known about them. */
bool sg_svm_forget(struct sg_vm *vm, uint64_t start, uint64_t end);

/* Take address space and map fd at `offset` there (fd < 0: our memfd at the address). Locked. */
enum sg_vm_status sg_vm_place(struct sg_vm *vm, struct sg_vm_block *block, uint64_t align, int fd,
			      uint64_t offset);
/* Memory of a node is in use, or is not any more. Node 0 is the host. Locked. */
void sg_vm_count(struct sg_vm *vm, uint32_t node, int64_t more_bytes);
/* Gives the pages of a block of the memory file back; it must be unmapped afterwards. */
void sg_vm_discard(struct sg_vm *vm, const struct sg_vm_block *block);
/* Withdraws access; no device accesses the block when this returns. */
void sg_vm_unplace(struct sg_vm *vm, struct sg_vm_block *block);
/*
 * No new access to the block starts, and those in progress have ended when this returns. Locked, except while
 * it waits: a thread inside sg_vm_enter() may look allocations up.
 */
void sg_vm_retire(struct sg_vm *vm, struct sg_vm_block *block);
/* Waits for the accesses in progress at the time of the call. Not locked. */
void sg_vm_wait_for_accesses(struct sg_vm *vm);
/* The block or pin around an address. Locked. */
struct sg_vm_block *sg_vm_block_at(struct sg_vm *vm, uint64_t addr);
struct sg_vm_block *sg_vm_pin_at(struct sg_vm *vm, uint64_t addr);

#endif
