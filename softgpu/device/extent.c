#include "softgpu/device/extent.h"

#include <stdlib.h>

/* A treap: random priorities keep it balanced, split and merge are all it needs. */

static uint64_t largest(const struct sg_extent *e)
{
	return e ? e->largest_free : 0;
}

static void update(struct sg_extent *e)
{
	uint64_t most = e->owner ? 0 : e->size;

	if (largest(e->left) > most)
		most = largest(e->left);
	if (largest(e->right) > most)
		most = largest(e->right);
	e->largest_free = most;
}

/* Everything that starts below `at` goes to *low. */
static void split(struct sg_extent *e, uint64_t at, struct sg_extent **low, struct sg_extent **high)
{
	if (!e) {
		*low = *high = NULL;
	} else if (e->start < at) {
		split(e->right, at, &e->right, high);
		*low = e;
		update(e);
	} else {
		split(e->left, at, low, &e->left);
		*high = e;
		update(e);
	}
}

static struct sg_extent *merge(struct sg_extent *low, struct sg_extent *high)
{
	if (!low || !high)
		return low ? low : high;
	if (low->priority > high->priority) {
		low->right = merge(low->right, high);
		update(low);
		return low;
	}
	high->left = merge(low, high->left);
	update(high);
	return high;
}

static struct sg_extent *new_extent(struct sg_extents *extents, uint64_t start, uint64_t size,
				    void *owner)
{
	struct sg_extent *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	extents->seed ^= extents->seed << 13;
	extents->seed ^= extents->seed >> 17;
	extents->seed ^= extents->seed << 5;
	e->start = start;
	e->size = size;
	e->owner = owner;
	e->priority = extents->seed;
	update(e);
	return e;
}

static void insert(struct sg_extents *extents, struct sg_extent *e)
{
	struct sg_extent *low, *high;

	update(e);
	split(extents->root, e->start, &low, &high);
	extents->root = merge(merge(low, e), high);
}

static struct sg_extent *take_out(struct sg_extents *extents, uint64_t start)
{
	struct sg_extent *low, *middle, *high;

	split(extents->root, start, &low, &high);
	split(high, start + 1, &middle, &high);
	extents->root = merge(low, high);
	if (middle)
		middle->left = middle->right = NULL;
	return middle;
}

bool sg_extents_init(struct sg_extents *extents, uint64_t start, uint64_t size)
{
	extents->seed = 0x9e3779b9;
	extents->root = new_extent(extents, start, size, NULL);
	return extents->root != NULL;
}

static void free_tree(struct sg_extent *e)
{
	if (!e)
		return;
	free_tree(e->left);
	free_tree(e->right);
	free(e);
}

void sg_extents_fini(struct sg_extents *extents)
{
	free_tree(extents->root);
	extents->root = NULL;
}

static struct sg_extent *lowest_fit(struct sg_extent *e, uint64_t size)
{
	while (e && e->largest_free >= size) {
		if (largest(e->left) >= size)
			e = e->left;
		else if (!e->owner && e->size >= size)
			return e;
		else
			e = e->right;
	}
	return NULL;
}

/* Cut [start, start + size) out of the free piece `hole`. */
static struct sg_extent *carve(struct sg_extents *extents, struct sg_extent *hole, uint64_t start,
			       uint64_t size, void *owner)
{
	uint64_t before = start - hole->start;
	uint64_t after = hole->size - before - size;
	struct sg_extent *head = NULL, *tail = NULL;

	if (before && !(head = new_extent(extents, hole->start, before, NULL)))
		return NULL;
	if (after && !(tail = new_extent(extents, start + size, after, NULL))) {
		free(head);
		return NULL;
	}
	take_out(extents, hole->start);
	hole->start = start;
	hole->size = size;
	hole->owner = owner;
	insert(extents, hole);
	if (head)
		insert(extents, head);
	if (tail)
		insert(extents, tail);
	return hole;
}

struct sg_extent *sg_extents_take(struct sg_extents *extents, uint64_t size, uint64_t align,
				  void *owner)
{
	/* A hole with room for the worst misalignment always fits; space is plenty. */
	uint64_t need = size + align - 4096;
	struct sg_extent *hole = need < size ? NULL : lowest_fit(extents->root, need);

	if (!hole)
		return NULL;
	return carve(extents, hole, (hole->start + align - 1) & ~(align - 1), size, owner);
}

struct sg_extent *sg_extents_take_at(struct sg_extents *extents, uint64_t start, uint64_t size,
				     void *owner)
{
	struct sg_extent *hole = sg_extents_find(extents, start);

	if (!hole || hole->owner || size > hole->size - (start - hole->start))
		return NULL;
	return carve(extents, hole, start, size, owner);
}

void sg_extents_give(struct sg_extents *extents, uint64_t start)
{
	struct sg_extent *e = take_out(extents, start), *other;

	if (!e)
		return;
	e->owner = NULL;
	other = sg_extents_find(extents, e->start + e->size);
	if (other && !other->owner) {
		take_out(extents, other->start);
		e->size += other->size;
		free(other);
	}
	other = e->start ? sg_extents_find(extents, e->start - 1) : NULL;
	if (other && !other->owner) {
		take_out(extents, other->start);
		e->start = other->start;
		e->size += other->size;
		free(other);
	}
	insert(extents, e);
}

struct sg_extent *sg_extents_find(const struct sg_extents *extents, uint64_t addr)
{
	struct sg_extent *e = extents->root;

	while (e) {
		if (addr < e->start)
			e = e->left;
		else if (addr - e->start >= e->size)
			e = e->right;
		else
			return e;
	}
	return NULL;
}
