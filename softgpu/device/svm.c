#include "softgpu/device/svm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/device/vm_priv.h"

#define PAGE 4096ull
#define LARGE_PAGE (2ull << 20)
#define DEFAULT_GRANULARITY 9 /* log2 of pages: 2 MiB, as the driver's */
#define MAX_GRANULARITY 0x3f
#define FEW_RANGES 64

/* --- the ranges: sorted, disjoint, neighbours differ --- */

static bool same(const struct sg_svm_range *a, const struct sg_svm_range *b)
{
	return a->end == b->start && a->place + (a->end - a->start) == b->place &&
	       a->preferred == b->preferred && a->prefetch == b->prefetch && a->flags == b->flags &&
	       a->granularity == b->granularity && !memcmp(a->access, b->access, sizeof(a->access));
}

static void set_defaults(const struct sg_vm *vm, struct sg_svm_range *r)
{
	r->preferred = r->prefetch = SG_SVM_NOWHERE;
	r->flags = SG_SVM_HOST_ACCESS | SG_SVM_COHERENT;
	r->granularity = DEFAULT_GRANULARITY;
	memset(r->access, sg_svm_xnack(vm) ? SG_SVM_ACCESS : SG_SVM_NO_ACCESS, sizeof(r->access));
}

static bool reserve(struct sg_vm *vm, size_t n)
{
	size_t max = vm->max_svm ? vm->max_svm : FEW_RANGES;
	void *grown;

	while (max < vm->n_svm + n)
		max *= 2;
	if (max == vm->max_svm)
		return true;
	grown = realloc(vm->svm, max * sizeof(*vm->svm));
	if (!grown)
		return false;
	vm->svm = grown;
	vm->max_svm = max;
	return true;
}

static void insert(struct sg_vm *vm, size_t at, const struct sg_svm_range *r)
{
	memmove(&vm->svm[at + 1], &vm->svm[at], (vm->n_svm - at) * sizeof(*r));
	vm->svm[at] = *r;
	vm->n_svm++;
}

static void erase(struct sg_vm *vm, size_t at)
{
	memmove(&vm->svm[at], &vm->svm[at + 1], (vm->n_svm - at - 1) * sizeof(*vm->svm));
	vm->n_svm--;
}

/* Index of the first range that ends above `addr`. */
static size_t first_behind(const struct sg_vm *vm, uint64_t addr)
{
	size_t low = 0, high = vm->n_svm;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vm->svm[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A boundary at `addr`, if a range goes across it. There is space. */
static void cut(struct sg_vm *vm, uint64_t addr)
{
	size_t at = first_behind(vm, addr);
	struct sg_svm_range tail;

	if (at == vm->n_svm || vm->svm[at].start >= addr)
		return;
	tail = vm->svm[at];
	tail.place += addr - tail.start;
	tail.start = vm->svm[at].end = addr;
	insert(vm, at + 1, &tail);
}

static void merge(struct sg_vm *vm)
{
	size_t n = 0;

	for (size_t i = 1; i < vm->n_svm; i++) {
		if (same(&vm->svm[n], &vm->svm[i]))
			vm->svm[n].end = vm->svm[i].end;
		else
			vm->svm[++n] = vm->svm[i];
	}
	vm->n_svm = vm->n_svm ? n + 1 : 0;
}

static bool accessible(const struct sg_svm_range *r)
{
	for (size_t node = 1; node < SG_VM_MAX_NODES; node++)
		if (r->access[node] != SG_SVM_NO_ACCESS)
			return true;
	return false;
}

static bool publish(struct sg_vm *vm)
{
	uint64_t(*pairs)[2] = malloc((vm->n_svm + 1) * sizeof(*pairs));
	size_t n = 0;
	bool ok;

	if (!pairs)
		return false;
	for (size_t i = 0; i < vm->n_svm; i++) {
		const struct sg_svm_range *r = &vm->svm[i];

		if (!accessible(r))
			continue;
		if (n && pairs[n - 1][1] == r->start) {
			pairs[n - 1][1] = r->end;
			continue;
		}
		pairs[n][0] = r->start;
		pairs[n++][1] = r->end;
	}
	ok = sg_ranges_set(&vm->svm_reachable, (const uint64_t(*)[2])pairs, n);
	free(pairs);
	return ok;
}

/* --- the program's mappings --- */

static bool mapped(uint64_t start, uint64_t size)
{
	/* looks whether all pages are mapped; a call that a program in a sandbox makes anyhow (docs/kernel-driver.md) */
	return !madvise((void *)start, size, MADV_NORMAL) || errno != ENOMEM;
}

static bool untouched(uint64_t start, uint64_t size)
{
	unsigned char resident[1024];

	for (uint64_t at = 0; at < size; at += sizeof(resident) * PAGE) {
		uint64_t n = (size - at) / PAGE;

		n = n < sizeof(resident) ? n : sizeof(resident);
		if (mincore((void *)(start + at), n * PAGE, resident))
			return true;
		for (uint64_t k = 0; k < n; k++)
			if (resident[k] & 1)
				return false;
	}
	return true;
}

/* What was unmapped meanwhile; asked once for as many new ranges as there are old ones. */
static void forget_unmapped(struct sg_vm *vm)
{
	if (vm->n_svm < 2 * vm->n_svm_checked + FEW_RANGES)
		return;
	for (size_t i = vm->n_svm; i-- > 0;)
		if (!mapped(vm->svm[i].start, vm->svm[i].end - vm->svm[i].start))
			erase(vm, i);
	vm->n_svm_checked = vm->n_svm;
}

/* --- setting --- */

static bool is_valid(const struct sg_vm *vm, uint64_t start, uint64_t size,
		     const struct sg_svm_attr *attrs, uint32_t n)
{
	if (!start || !size || start % PAGE || size % PAGE || start + size < start || (n && !attrs))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		bool node = attrs[i].value < vm->n_nodes,
		     nowhere = attrs[i].value == SG_SVM_NOWHERE;

		if (attrs[i].what > SG_SVM_GRANULARITY ||
		    (attrs[i].what == SG_SVM_PREFERRED && !node && !nowhere) ||
		    (attrs[i].what == SG_SVM_PREFETCH && !node) ||
		    (attrs[i].what >= SG_SVM_ACCESS && attrs[i].what <= SG_SVM_NO_ACCESS &&
		     (!node || !attrs[i].value)))
			return false;
	}
	return true;
}

static void apply(struct sg_svm_range *r, const struct sg_svm_attr *attr)
{
	switch (attr->what) {
	case SG_SVM_PREFERRED:
		r->preferred = attr->value;
		break;
	case SG_SVM_PREFETCH:
		r->prefetch = attr->value;
		break;
	case SG_SVM_ACCESS:
	case SG_SVM_IN_PLACE:
	case SG_SVM_NO_ACCESS:
		r->access[attr->value] = (uint8_t)attr->what;
		break;
	case SG_SVM_SET_FLAGS:
		r->flags |= attr->value;
		break;
	case SG_SVM_CLEAR_FLAGS:
		r->flags &= ~attr->value;
		break;
	case SG_SVM_GRANULARITY:
		r->granularity = attr->value < MAX_GRANULARITY ? attr->value : MAX_GRANULARITY;
		break;
	}
}

/* hipMallocManaged() begins with access for all; what is known of such pages is about earlier memory. */
static bool is_new(const struct sg_vm *vm, uint64_t start, uint64_t size,
		   const struct sg_svm_attr *attrs, uint32_t n)
{
	uint32_t n_access = 0;

	for (uint32_t i = 0; i < n; i++)
		n_access += attrs[i].what == SG_SVM_ACCESS;
	return n_access == n && n == vm->n_nodes - 1 && untouched(start, size);
}

/* Ranges for the pages of [start, end) that have none. There is space. */
static void fill(struct sg_vm *vm, uint64_t start, uint64_t end)
{
	struct sg_svm_range r = { .start = start };

	set_defaults(vm, &r);
	for (size_t i = first_behind(vm, start); r.start < end; i++) {
		r.end = i < vm->n_svm && vm->svm[i].start < end ? vm->svm[i].start : end;
		if (r.end > r.start) {
			r.place = vm->next_pin_place;
			vm->next_pin_place = (r.place + r.end - r.start + LARGE_PAGE - 1) /
					     LARGE_PAGE * LARGE_PAGE;
			insert(vm, i, &r);
			i++;
		}
		r.start = i < vm->n_svm && vm->svm[i].start < end ? vm->svm[i].end : end;
	}
}

static enum sg_vm_status set_locked(struct sg_vm *vm, uint64_t start, uint64_t end,
				    const struct sg_svm_attr *attrs, uint32_t n)
{
	size_t i;

	/* as many gaps as ranges, and two cuts */
	if (!reserve(vm, vm->n_svm + 3))
		return SG_VM_NO_MEMORY;
	cut(vm, start);
	cut(vm, end);
	i = first_behind(vm, start);
	if (i < vm->n_svm && vm->svm[i].start < end && is_new(vm, start, end - start, attrs, n))
		while (i < vm->n_svm && vm->svm[i].start < end)
			erase(vm, i);
	fill(vm, start, end);
	for (; i < vm->n_svm && vm->svm[i].start < end; i++)
		for (uint32_t k = 0; k < n; k++)
			apply(&vm->svm[i], &attrs[k]);
	merge(vm);
	forget_unmapped(vm);
	return publish(vm) ? SG_VM_OK : SG_VM_NO_MEMORY;
}

enum sg_vm_status sg_svm_set(struct sg_vm *vm, uint64_t start, uint64_t size,
			     const struct sg_svm_attr *attrs, uint32_t n)
{
	enum sg_vm_status status;

	if (!is_valid(vm, start, size, attrs, n))
		return SG_VM_BAD_ARGUMENT;
	if (!mapped(start, size))
		return SG_VM_NOT_FOUND;
	pthread_mutex_lock(&vm->lock);
	if (start < vm->end && start + size > vm->start &&
	    !sg_vm_is_reserved(vm, start, start + size))
		status = SG_VM_BAD_ARGUMENT;
	else
		status = set_locked(vm, start, start + size, attrs, n);
	pthread_mutex_unlock(&vm->lock);
	return status;
}

bool sg_svm_forget(struct sg_vm *vm, uint64_t start, uint64_t end)
{
	size_t i = first_behind(vm, start);

	if (i == vm->n_svm || vm->svm[i].start >= end || !reserve(vm, 2))
		return false;
	cut(vm, start);
	cut(vm, end);
	i = first_behind(vm, start);
	while (i < vm->n_svm && vm->svm[i].start < end)
		erase(vm, i);
	publish(vm);
	return true;
}

/* --- asking --- */

struct summary {
	struct sg_svm_range r; /* what all agree on */
	uint32_t set, clear;   /* flags of all */
};

static void add(struct summary *s, const struct sg_svm_range *r)
{
	if (s->r.preferred != r->preferred)
		s->r.preferred = SG_SVM_NOWHERE;
	if (s->r.prefetch != r->prefetch)
		s->r.prefetch = SG_SVM_NOWHERE;
	if (r->granularity < s->r.granularity)
		s->r.granularity = r->granularity;
	for (size_t node = 0; node < SG_VM_MAX_NODES; node++)
		if (s->r.access[node] != r->access[node])
			s->r.access[node] = SG_SVM_NO_ACCESS;
	s->set &= r->flags;
	s->clear &= ~r->flags;
}

/* Pages without a range count only where none has one: so does the driver. */
static void summarise(const struct sg_vm *vm, uint64_t start, uint64_t end, struct summary *s)
{
	size_t i = first_behind(vm, start);

	if (i < vm->n_svm && vm->svm[i].start < end)
		s->r = vm->svm[i];
	else
		set_defaults(vm, &s->r);
	s->set = s->r.flags;
	s->clear = ~s->r.flags;
	for (; i < vm->n_svm && vm->svm[i].start < end; i++)
		add(s, &vm->svm[i]);
}

enum sg_vm_status sg_svm_get(struct sg_vm *vm, uint64_t start, uint64_t size,
			     struct sg_svm_attr *attrs, uint32_t n)
{
	struct summary s;

	if (!is_valid(vm, start, size, NULL, 0) || (n && !attrs))
		return SG_VM_BAD_ARGUMENT;
	for (uint32_t i = 0; i < n; i++)
		if (attrs[i].what > SG_SVM_GRANULARITY ||
		    (attrs[i].what >= SG_SVM_ACCESS && attrs[i].what <= SG_SVM_NO_ACCESS &&
		     (!attrs[i].value || attrs[i].value >= vm->n_nodes)))
			return SG_VM_BAD_ARGUMENT;
	if (!mapped(start, size))
		return SG_VM_NOT_FOUND;
	pthread_mutex_lock(&vm->lock);
	summarise(vm, start, start + size, &s);
	pthread_mutex_unlock(&vm->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct sg_svm_attr *a = &attrs[i];

		switch (a->what) {
		case SG_SVM_PREFERRED:
			a->value = s.r.preferred;
			break;
		case SG_SVM_PREFETCH:
			a->value = s.r.prefetch;
			break;
		case SG_SVM_SET_FLAGS:
			a->value = s.set;
			break;
		case SG_SVM_CLEAR_FLAGS:
			a->value = s.clear;
			break;
		case SG_SVM_GRANULARITY:
			a->value = s.r.granularity;
			break;
		default:
			a->what = s.r.access[a->value];
			break;
		}
	}
	return SG_VM_OK;
}

enum sg_vm_status sg_svm_query(struct sg_vm *vm, uint64_t addr, struct sg_vm_info *out_info)
{
	enum sg_vm_status status = SG_VM_NOT_FOUND;
	size_t i;

	pthread_mutex_lock(&vm->lock);
	i = first_behind(vm, addr);
	if (i < vm->n_svm && vm->svm[i].start <= addr) {
		const struct sg_svm_range *r = &vm->svm[i];

		*out_info =
			(struct sg_vm_info){ .kind = SG_VM_SVM,
					     .start = r->start,
					     .device_start = r->start,
					     .size = r->end - r->start,
					     .pin_place = r->place,
					     .flags = r->flags,
					     .node = r->prefetch == SG_SVM_NOWHERE ? 0
										   : r->prefetch };
		status = SG_VM_OK;
	}
	pthread_mutex_unlock(&vm->lock);
	return status;
}

void sg_svm_set_xnack(struct sg_vm *vm, bool on)
{
	atomic_store(&vm->xnack, on);
}

bool sg_svm_xnack(const struct sg_vm *vm)
{
	return atomic_load_explicit(&vm->xnack, memory_order_relaxed);
}
