#include "softgpu/device/ranges.h"

#include <sys/mman.h>

/*
 * The orders make the sequence number work without fences: a reader that sees any new entry
 * (acquire) also sees the odd sequence number stored before it (release), and tries again.
 */
#define PEEK(p) atomic_load_explicit(p, memory_order_acquire)
#define POKE(p, v) atomic_store_explicit(p, v, memory_order_release)

bool sg_ranges_init(struct sg_ranges *ranges)
{
	void *map = mmap(NULL, SG_RANGES_MAX * sizeof(struct sg_range), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return false;
	atomic_init(&ranges->sequence, 0);
	atomic_init(&ranges->n, 0);
	for (size_t i = 0; i < SG_RANGES_HINTS; i++)
		atomic_init(&ranges->hints[i], 0);
	ranges->entries = map;
	return true;
}

void sg_ranges_fini(struct sg_ranges *ranges)
{
	if (ranges->entries)
		munmap(ranges->entries, SG_RANGES_MAX * sizeof(struct sg_range));
	ranges->entries = NULL;
}

static void begin_write(struct sg_ranges *ranges)
{
	uint64_t sequence = atomic_load_explicit(&ranges->sequence, memory_order_relaxed);

	POKE(&ranges->sequence, sequence + 1);
}

static void end_write(struct sg_ranges *ranges)
{
	uint64_t sequence = atomic_load_explicit(&ranges->sequence, memory_order_relaxed);

	POKE(&ranges->sequence, sequence + 1);
}

static void put(struct sg_range *entry, uint64_t start, uint64_t end)
{
	POKE(&entry->start, start);
	POKE(&entry->end, end);
}

/* Index of the first range that starts above `addr`. */
static size_t upper_bound(const struct sg_ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = PEEK(&ranges->n);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (PEEK(&ranges->entries[middle].start) <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool sg_ranges_add(struct sg_ranges *ranges, uint64_t start, uint64_t end)
{
	size_t n = PEEK(&ranges->n), at = upper_bound(ranges, start);

	if (n == SG_RANGES_MAX)
		return false;
	begin_write(ranges);
	for (size_t i = n; i > at; i--)
		put(&ranges->entries[i], PEEK(&ranges->entries[i - 1].start),
		    PEEK(&ranges->entries[i - 1].end));
	put(&ranges->entries[at], start, end);
	POKE(&ranges->n, n + 1);
	end_write(ranges);
	return true;
}

void sg_ranges_remove(struct sg_ranges *ranges, uint64_t start)
{
	size_t n = PEEK(&ranges->n), at = upper_bound(ranges, start);

	if (!at || PEEK(&ranges->entries[at - 1].start) != start)
		return;
	begin_write(ranges);
	for (size_t i = at; i < n; i++)
		put(&ranges->entries[i - 1], PEEK(&ranges->entries[i].start),
		    PEEK(&ranges->entries[i].end));
	POKE(&ranges->n, n - 1);
	end_write(ranges);
}

bool sg_ranges_set(struct sg_ranges *ranges, const uint64_t (*pairs)[2], size_t n)
{
	if (n > SG_RANGES_MAX)
		return false;
	begin_write(ranges);
	for (size_t i = 0; i < n; i++)
		put(&ranges->entries[i], pairs[i][0], pairs[i][1]);
	POKE(&ranges->n, n);
	end_write(ranges);
	return true;
}

/* The end of the range that has addr; 0: none has. */
static uint64_t end_of(struct sg_ranges *ranges, uint64_t addr)
{
	_Atomic uint32_t *hint = &ranges->hints[(addr >> 16) % SG_RANGES_HINTS];
	size_t at = atomic_load_explicit(hint, memory_order_relaxed);
	uint64_t end;

	if (at < PEEK(&ranges->n) && PEEK(&ranges->entries[at].start) <= addr) {
		end = PEEK(&ranges->entries[at].end);
		if (addr < end)
			return end;
	}
	at = upper_bound(ranges, addr);
	end = at ? PEEK(&ranges->entries[at - 1].end) : 0;
	if (addr >= end)
		return 0;
	atomic_store_explicit(hint, (uint32_t)(at - 1), memory_order_relaxed);
	return end;
}

bool sg_ranges_contain(struct sg_ranges *ranges, uint64_t addr, uint64_t size)
{
	for (;;) {
		uint64_t before = PEEK(&ranges->sequence);
		uint64_t end = end_of(ranges, addr);
		bool inside = end && size <= end - addr;

		if (!(before & 1) &&
		    atomic_load_explicit(&ranges->sequence, memory_order_relaxed) == before)
			return inside;
	}
}
