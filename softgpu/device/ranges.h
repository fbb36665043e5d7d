/*
 * ranges: a set of address ranges that is read often, by many threads, and seldom changed.
 *
 * Readers take no lock: the sorted array never moves, and a sequence number shows a reader that a writer
 * interfered. A look-up is a binary search, about 20 ns with ten thousand ranges, or less when the
 * remembered range of a nearby address matches.
 *
 * Threads  contains: any.  add, remove: one writer at a time (the owner's lock).
 * Memory   one reservation of SG_RANGES_MAX entries, touched as it fills.
 */
#ifndef WS_SOFTGPU_DEVICE_RANGES_H
#define WS_SOFTGPU_DEVICE_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_RANGES_MAX (1u << 20)
#define SG_RANGES_HINTS 16u

struct sg_range {
	_Atomic uint64_t start, end;
	_Atomic uint64_t shift; /* from an address in it to another one; 0 unless given */
};

struct sg_ranges {
	_Atomic uint64_t sequence; /* odd while a writer is active */
	_Atomic size_t n;
	struct sg_range *entries;                /* sorted, disjoint */
	_Atomic uint32_t hints[SG_RANGES_HINTS]; /* index of a range that had such an address */
};

bool sg_ranges_init(struct sg_ranges *ranges); /* false: out of memory */
void sg_ranges_fini(struct sg_ranges *ranges);

/* The range must not overlap one that is in the set. False: the set is full. */
bool sg_ranges_add(struct sg_ranges *ranges, uint64_t start, uint64_t end);
bool sg_ranges_add_shifted(struct sg_ranges *ranges, uint64_t start, uint64_t end, uint64_t shift);
void sg_ranges_remove(struct sg_ranges *ranges, uint64_t start);
/* Replace everything by n sorted, disjoint pairs of start and end. */
bool sg_ranges_set(struct sg_ranges *ranges, const uint64_t (*pairs)[2], size_t n);

/* Is [addr, addr + size) inside one range? */
bool sg_ranges_contain(struct sg_ranges *ranges, uint64_t addr, uint64_t size);
/* The same, and how far from there the range's other addresses are. */
bool sg_ranges_shift(struct sg_ranges *ranges, uint64_t addr, uint64_t size, uint64_t *out_shift);

#endif
