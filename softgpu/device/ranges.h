/*
 * ranges: a set of address ranges that is read often, by many threads, and seldom changed.
 *
 * Readers take no lock: the sorted array never moves, and a sequence number tells a reader that a
 * writer was there meanwhile. It costs a binary search, about 20 ns with ten thousand ranges; less
 * where the last address of the same neighbourhood was found, which is remembered.
 *
 * Threads  contains: any.  add, remove: one writer at a time (the owner's lock).
 * Memory   one reservation of WS_RANGES_MAX entries, touched as it fills.
 */
#ifndef WS_SOFTGPU_DEVICE_RANGES_H
#define WS_SOFTGPU_DEVICE_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_RANGES_MAX (1u << 20)
#define WS_RANGES_HINTS 16u

struct ws_range {
	_Atomic uint64_t start, end;
};

struct ws_ranges {
	_Atomic uint64_t sequence;    /* odd while a writer is at work */
	_Atomic size_t n;
	struct ws_range *entries;     /* sorted, disjoint */
	_Atomic uint32_t hints[WS_RANGES_HINTS]; /* index of a range that had such an address */
};

bool ws_ranges_init(struct ws_ranges *ranges); /* false: out of memory */
void ws_ranges_fini(struct ws_ranges *ranges);

/* The range must not overlap one that is in the set. False: the set is full. */
bool ws_ranges_add(struct ws_ranges *ranges, uint64_t start, uint64_t end);
void ws_ranges_remove(struct ws_ranges *ranges, uint64_t start);
/* Replace everything by n sorted, disjoint pairs of start and end. */
bool ws_ranges_set(struct ws_ranges *ranges, const uint64_t (*pairs)[2], size_t n);

/* Is [addr, addr + size) inside one range? */
bool ws_ranges_contain(struct ws_ranges *ranges, uint64_t addr, uint64_t size);

#endif
