/* Pinned memory of the program: ranges are counted, may overlap, and are merged for the readers. */
#include <stdlib.h>
#include <string.h>

#include "softgpu/device/vm_priv.h"

#define LARGE_PAGE (2ull << 20)

/* Index of the first pin that starts above `addr`. */
static size_t first_above(const struct sg_vm *vm, uint64_t addr)
{
	size_t low = 0, high = vm->n_pins;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vm->pins[middle]->start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The innermost pin around an address: the one that starts last. Ranges that overlap without one
 * holding the other are rare, so walking back a few entries is all it takes.
 */
struct sg_vm_block *sg_vm_pin_at(struct sg_vm *vm, uint64_t addr)
{
	for (size_t i = first_above(vm, addr); i-- > 0;) {
		if (addr - vm->pins[i]->start < vm->pins[i]->size)
			return vm->pins[i];
	}
	return NULL;
}

static bool publish(struct sg_vm *vm)
{
	uint64_t(*pairs)[2] = malloc((vm->n_pins ? vm->n_pins : 1) * sizeof(*pairs));
	size_t n = 0;
	bool ok;

	if (!pairs)
		return false;
	for (size_t i = 0; i < vm->n_pins; i++) {
		/* Pages are what a device maps: neighbours on the same page come along. */
		uint64_t start = vm->pins[i]->start & ~4095ull;
		uint64_t end = (vm->pins[i]->start + vm->pins[i]->size + 4095) & ~4095ull;

		if (n && start <= pairs[n - 1][1]) {
			if (end > pairs[n - 1][1])
				pairs[n - 1][1] = end;
			continue;
		}
		pairs[n][0] = start;
		pairs[n++][1] = end;
	}
	ok = sg_ranges_set(&vm->pinned, (const uint64_t(*)[2])pairs, n);
	free(pairs);
	return ok;
}

static void remove_pin(struct sg_vm *vm, size_t at)
{
	free(vm->pins[at]);
	memmove(&vm->pins[at], &vm->pins[at + 1], (vm->n_pins - at - 1) * sizeof(*vm->pins));
	vm->n_pins--;
}

static enum sg_vm_status add_pin(struct sg_vm *vm, uint64_t addr, uint64_t size, uint32_t flags)
{
	size_t at = first_above(vm, addr);
	struct sg_vm_block *pin;

	for (size_t i = at; i-- > 0 && vm->pins[i]->start == addr;) {
		if (vm->pins[i]->size == size) {
			vm->pins[i]->n_pins++;
			return SG_VM_OK;
		}
	}
	if (vm->n_pins == vm->max_pins) {
		size_t max = vm->max_pins ? vm->max_pins * 2 : 64;
		void *grown = realloc(vm->pins, max * sizeof(*vm->pins));

		if (!grown)
			return SG_VM_NO_MEMORY;
		vm->pins = grown;
		vm->max_pins = max;
	}
	pin = calloc(1, sizeof(*pin));
	if (!pin)
		return SG_VM_NO_MEMORY;
	*pin = (struct sg_vm_block){ .kind = SG_VM_PINNED,
				     .flags = flags,
				     .start = addr,
				     .size = size,
				     .n_pins = 1,
				     .pin_place = vm->next_pin_place + addr % 4096 };
	memmove(&vm->pins[at + 1], &vm->pins[at], (vm->n_pins - at) * sizeof(*vm->pins));
	vm->pins[at] = pin;
	vm->n_pins++;
	if (!publish(vm)) {
		remove_pin(vm, at);
		return SG_VM_NO_MEMORY;
	}
	vm->next_pin_place = (pin->pin_place + size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	return SG_VM_OK;
}

enum sg_vm_status sg_vm_pin(struct sg_vm *vm, uint64_t addr, uint64_t size, uint32_t flags)
{
	struct sg_vm_block *block;
	enum sg_vm_status status;

	if (!addr || !size || addr + size < addr)
		return SG_VM_BAD_ARGUMENT;
	pthread_mutex_lock(&vm->lock);
	block = sg_vm_block_at(vm, addr);
	if (block && size <= block->size - (addr - block->start))
		status = SG_VM_OK; /* our own memory: the device sees it anyway */
	else if (addr < vm->end && addr + size > vm->start)
		status = SG_VM_BAD_ARGUMENT;
	else
		status = add_pin(vm, addr, size, flags);
	pthread_mutex_unlock(&vm->lock);
	return status;
}

/* *out_gone: the device cannot reach it any more. */
static enum sg_vm_status drop_pin(struct sg_vm *vm, uint64_t addr, bool *out_gone)
{
	size_t at = first_above(vm, addr);

	/* Several ranges may start here; the youngest goes first, as calls nest. */
	if (!at || vm->pins[at - 1]->start != addr)
		return SG_VM_NOT_FOUND;
	if (--vm->pins[at - 1]->n_pins)
		return SG_VM_OK;
	remove_pin(vm, at - 1);
	publish(vm);
	*out_gone = true;
	return SG_VM_OK;
}

enum sg_vm_status sg_vm_unpin(struct sg_vm *vm, uint64_t addr)
{
	struct sg_vm_block *block;
	enum sg_vm_status status = SG_VM_OK;
	bool gone = false;

	pthread_mutex_lock(&vm->lock);
	block = sg_vm_block_at(vm, addr);
	if (!block) {
		status = drop_pin(vm, addr & ~SG_PINNED_ALIAS, &gone);
	} else if (block->kind == SG_VM_IMPORTED && block->start == addr && !block->retired) {
		sg_vm_retire(vm, block);
		sg_vm_unplace(vm, block);
		free(block);
	}
	pthread_mutex_unlock(&vm->lock);
	/* accesses under way end before the program may unmap its memory */
	if (gone)
		sg_vm_wait_for_accesses(vm);
	return status;
}
