/*
 * extent: an address space cut into free and used pieces.
 *
 * All pieces, free and used, are nodes of one tree ordered by address that also knows the largest
 * free piece below each node: finding the block around an address and the lowest hole that is large
 * enough are both O(log n), and neighbours for merging are next to each other.
 *
 * Threads  the caller locks.
 */
#ifndef WS_SOFTGPU_DEVICE_EXTENT_H
#define WS_SOFTGPU_DEVICE_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

struct sg_extent {
	uint64_t start, size;
	void *owner; /* NULL: free */
	/* tree */
	struct sg_extent *left, *right;
	uint64_t largest_free;
	uint32_t priority;
};

struct sg_extents {
	struct sg_extent *root;
	uint32_t seed;
};

bool sg_extents_init(struct sg_extents *extents, uint64_t start, uint64_t size);
void sg_extents_fini(struct sg_extents *extents);

/* Lowest free piece of that size and alignment; size and align are multiples of 4 KiB. */
struct sg_extent *sg_extents_take(struct sg_extents *extents, uint64_t size, uint64_t align,
				  void *owner); /* NULL: no such hole, or out of memory */
/* That very piece of the address space. */
struct sg_extent *sg_extents_take_at(struct sg_extents *extents, uint64_t start, uint64_t size,
				     void *owner);
/* Give back the piece that starts there; it merges with free neighbours. */
void sg_extents_give(struct sg_extents *extents, uint64_t start);
/* The piece, free or used, that contains addr; NULL outside of the space. */
struct sg_extent *sg_extents_find(const struct sg_extents *extents, uint64_t addr);

#endif
