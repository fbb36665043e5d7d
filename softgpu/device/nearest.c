/* The allocation next to an address: what a program probably meant that missed it. */
#include "softgpu/device/vm_priv.h"

static uint64_t distance(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr < start ? start - addr : addr - start < size ? 0 : addr - (start + size - 1);
}

struct search {
	uint64_t addr, best;
	struct sg_vm_info *out;
};

static void offer(struct search *s, enum sg_vm_kind kind, uint32_t node, uint64_t start,
		  uint64_t size)
{
	uint64_t d = distance(s->addr, start, size);

	if (d >= s->best)
		return;
	s->best = d;
	*s->out = (struct sg_vm_info){
		.kind = kind, .node = node, .start = start, .device_start = start, .size = size
	};
}

/* All of them: this is done once, when a kernel has failed. */
static void walk(struct search *s, const struct sg_extent *e)
{
	const struct sg_vm_block *block;

	if (!e)
		return;
	block = e->owner;
	/* scratch is the runtime's, not the program's */
	if (block && block->size && !block->placeless && block->kind != SG_VM_SCRATCH)
		offer(s, block->kind, block->node, block->start, block->size);
	walk(s, e->left);
	walk(s, e->right);
}

bool sg_vm_nearest(struct sg_vm *vm, uint64_t addr, struct sg_vm_info *out_info)
{
	struct search s = { .addr = addr & ~SG_PINNED_ALIAS, .best = UINT64_MAX, .out = out_info };

	pthread_mutex_lock(&vm->lock);
	walk(&s, vm->extents.root);
	for (size_t i = 0; i < vm->n_pins; i++)
		offer(&s, SG_VM_PINNED, 0, vm->pins[i]->start, vm->pins[i]->size);
	for (size_t i = 0; i < vm->n_svm; i++)
		offer(&s, SG_VM_SVM, 0, vm->svm[i].start, vm->svm[i].end - vm->svm[i].start);
	pthread_mutex_unlock(&vm->lock);
	return s.best != UINT64_MAX;
}
