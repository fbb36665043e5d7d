/*
 * reserve: address space of the device that a runtime manages by itself.
 *
 * The user of a kernel driver reserves address space first, cuts it up as it likes, and names an
 * address when it allocates memory. Such reservations lie in the aperture of the machine's memory
 * (vm.h), because waves reach that without a look-up. Memory is placed inside of them without
 * guards, at the address named, and the address space is reserved again when it is freed.
 *
 * A user pointer is memory of the program that the device sees at another address, an alias. Two
 * addresses cannot share a private page, so aliases are translated. They have their own part of
 * the aperture, behind the rest: only accesses there are looked up.
 *
 * Threads  any; sg_vm_host_of() takes no lock.
 */
#ifndef WS_SOFTGPU_DEVICE_RESERVE_H
#define WS_SOFTGPU_DEVICE_RESERVE_H

#include "softgpu/device/vm.h"

/* size: whole pages. 0: the address space is full. */
uint64_t sg_vm_reserve(struct sg_vm *vm, uint64_t size, bool for_alias);
/* Parts of reservations, or several. What holds memory stays. */
void sg_vm_release(struct sg_vm *vm, uint64_t start, uint64_t size);

/* Where a block gets its pages from. */
enum sg_vm_backing {
	SG_VM_OWN,     /* the memory file */
	SG_VM_VIEW,    /* a file, from an offset on: another block's pages */
	SG_VM_IN_USE,  /* the program has mapped memory there, which the device uses as it is */
	SG_VM_ALIASED, /* memory of the program at another address */
};

struct sg_vm_backed {
	enum sg_vm_backing by;
	int fd;      /* of a view; not kept */
	uint64_t at; /* of a view: the offset; of an alias: the address of the program's memory */
};

/*
 * A block in reserved address space. addr 0, with SG_VM_OWN only: the block has no address of its
 * own, only a place in the memory file; *out_addr then stands for it, and no device can access
 * it.
 */
enum sg_vm_status sg_vm_alloc_reserved(struct sg_vm *vm, const struct sg_vm_info *what,
				       const struct sg_vm_backed *backed, uint64_t *out_addr);
/* The address space is reserved again or, if the block had no address of its own, free. */
enum sg_vm_status sg_vm_free_reserved(struct sg_vm *vm, uint64_t addr);

/* The memory file, and where in it a block of SG_VM_OWN is. */
int sg_vm_file(const struct sg_vm *vm);
uint64_t sg_vm_file_offset(const struct sg_vm *vm, uint64_t addr);

/* The program's address of an alias; other addresses stay. struct sg_mem_map's callback. */
uint64_t sg_vm_host_of(void *vm, uint64_t addr);

#endif
