/*
 * vm: the memory of the machine as its GPUs see it.
 *
 * One stretch of address space is reserved per process; every block, device memory as well as host
 * memory that the runtime asks for, comes out of it and has the same address on host and device.
 * Blocks are pieces of one sparse memfd (at the offset of their address), so another process can map
 * them. Between blocks lie unmapped guards. Memory is zeroed, appears when touched, and goes back to
 * the system when freed.
 *
 * Memory of the program becomes visible to the device by pinning it, counted per range; its device
 * address is SG_PINNED_ALIAS above its own. Functions that look something up take either. The addresses
 * of the program's memory differ from run to run. A place depends only on the order and the sizes of
 * pinned ranges; the models use it to get the same results every time.
 *
 * Threads  any. sg_vm_accessible() takes no lock. sg_vm_enter()/leave() bracket accesses by the
 *          command processor: no block disappears in between.
 * Fork     the mappings are not inherited; a child does not see device memory.
 */
#ifndef WS_SOFTGPU_DEVICE_VM_H
#define WS_SOFTGPU_DEVICE_VM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "softgpu/device/model.h"
#include "softgpu/mem/address.h"

/* As the links of /proc/PID/fd show the memory of a machine. */
#define SG_VM_MEMFD_NAME "wavescope-gpu-memory"

struct sg_vm;

enum sg_vm_status {
	SG_VM_OK,
	SG_VM_NO_MEMORY,
	SG_VM_BAD_ARGUMENT,
	SG_VM_NOT_FOUND,
	SG_VM_NO_ACCESS, /* the exporting process has ended or denies access */
};

enum sg_vm_kind {
	SG_VM_HOST,     /* system memory */
	SG_VM_VRAM,     /* counts against the capacity of its GPU */
	SG_VM_SCRATCH,  /* address space for scratch: counts when touched */
	SG_VM_IMPORTED, /* a block of another process */
	SG_VM_PINNED,   /* memory of the program */
	SG_VM_SVM,      /* memory of the program at its own address, see svm.h */
};

#define SG_VM_MAX_NODES (SG_MAX_GPUS + 1)

struct sg_vm_info {
	enum sg_vm_kind kind;
	uint32_t node;
	uint32_t flags; /* as given; not interpreted here */
	uint64_t start, size;
	uint64_t device_start; /* pinned memory has another address there */
	uint64_t pin_place;    /* pinned memory's place among all that was pinned; see below */
	const uint32_t *mapped_nodes; /* lives as long as the block */
	uint32_t n_mapped_nodes;
	void *user_data;
};

/* What another process needs to map a block. Plain numbers, for any transport. */
struct sg_vm_handle {
	int32_t pid;
	int32_t fd;
	uint64_t offset;
	uint64_t size;
	uint32_t node;
};

/* capacities: host memory first, then one per GPU. NULL: no address space or no memfd. */
struct sg_vm *sg_vm_create(const uint64_t *capacities, uint32_t n_nodes);
void sg_vm_destroy(struct sg_vm *vm);

uint64_t sg_vm_start(const struct sg_vm *vm);
uint64_t sg_vm_end(const struct sg_vm *vm);
uint64_t sg_vm_aliases(
	const struct sg_vm *vm); /* where the part for aliases starts, see reserve.h */
uint64_t sg_vm_available(struct sg_vm *vm, uint32_t node);
/* From now on the bytes in use of each GPU are also stored at @used (board.h); NULL: nowhere. */
void sg_vm_publish(struct sg_vm *vm, _Atomic uint64_t *used);

/* *addr is 0 or, with `fixed`, where the block has to be. */
enum sg_vm_status sg_vm_alloc(struct sg_vm *vm, enum sg_vm_kind kind, uint32_t node, uint64_t size,
			      uint32_t flags, bool fixed, uint64_t *addr);
enum sg_vm_status sg_vm_free(struct sg_vm *vm, uint64_t addr);

enum sg_vm_status sg_vm_pin(struct sg_vm *vm, uint64_t addr, uint64_t size, uint32_t flags);
/* Undoes one pin, or one import. */
enum sg_vm_status sg_vm_unpin(struct sg_vm *vm, uint64_t addr);

/* Any address inside of a block or a pinned range. */
enum sg_vm_status sg_vm_query(struct sg_vm *vm, uint64_t addr, struct sg_vm_info *out_info);
enum sg_vm_status sg_vm_set_nodes(struct sg_vm *vm, uint64_t addr, const uint32_t *nodes,
				  uint32_t n_nodes);
enum sg_vm_status sg_vm_set_user_data(struct sg_vm *vm, uint64_t addr, void *user_data);

enum sg_vm_status sg_vm_export(struct sg_vm *vm, uint64_t addr, struct sg_vm_handle *out_handle);
enum sg_vm_status sg_vm_import(struct sg_vm *vm, const struct sg_vm_handle *handle,
			       uint64_t *out_addr);

/* The allocation around an address, or nearest to it; not scratch. False: there is none. */
bool sg_vm_nearest(struct sg_vm *vm, uint64_t addr, struct sg_vm_info *out_info);

/*
 * May the command processor touch [addr, addr + size)? That is memory of this module and pinned memory: what
 * it reads there cannot fail. Waves and copies reach more, see below.
 */
bool sg_vm_accessible(struct sg_vm *vm, uint64_t addr, uint64_t size);
/*
 * May a wave or a copy, outside of the aperture? Shared memory (svm.h) included, which may be gone
 * when it is touched: only where a guard is. struct sg_mem_map's callback.
 */
bool sg_vm_reachable(void *vm, uint64_t addr, uint64_t size);

void sg_vm_enter(struct sg_vm *vm);
void sg_vm_leave(struct sg_vm *vm);

#endif
