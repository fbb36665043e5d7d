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

static void put(struct sg_range *entry, uint64_t start, uint64_t end, uint64_t shift)
{
	POKE(&entry->start, start);
	POKE(&entry->end, end);
	POKE(&entry->shift, shift);
}

static void copy(struct sg_range *to, const struct sg_range *from)
{
	put(to, PEEK(&from->start), PEEK(&from->end), PEEK(&from->shift));
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
	return sg_ranges_add_shifted(ranges, start, end, 0);
}

bool sg_ranges_add_shifted(struct sg_ranges *ranges, uint64_t start, uint64_t end, uint64_t shift)
{
	size_t n = PEEK(&ranges->n), at = upper_bound(ranges, start);

	if (n == SG_RANGES_MAX)
		return false;
	begin_write(ranges);
	for (size_t i = n; i > at; i--)
		copy(&ranges->entries[i], &ranges->entries[i - 1]);
	put(&ranges->entries[at], start, end, shift);
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
		copy(&ranges->entries[i - 1], &ranges->entries[i]);
	POKE(&ranges->n, n - 1);
	end_write(ranges);
}

bool sg_ranges_set(struct sg_ranges *ranges, const uint64_t (*pairs)[2], size_t n)
{
	if (n > SG_RANGES_MAX)
		return false;
	begin_write(ranges);
	for (size_t i = 0; i < n; i++)
		put(&ranges->entries[i], pairs[i][0], pairs[i][1], 0);
	POKE(&ranges->n, n);
	end_write(ranges);
	return true;
}

/* The range that has addr; NULL: none has. */
static const struct sg_range *find(struct sg_ranges *ranges, uint64_t addr)
{
	_Atomic uint32_t *hint = &ranges->hints[(addr >> 16) % SG_RANGES_HINTS];
	size_t at = atomic_load_explicit(hint, memory_order_relaxed);
	const struct sg_range *range = &ranges->entries[at];

	if (at < PEEK(&ranges->n) && PEEK(&range->start) <= addr && addr < PEEK(&range->end))
		return range;
	at = upper_bound(ranges, addr);
	if (!at || addr >= PEEK(&ranges->entries[at - 1].end))
		return NULL;
	atomic_store_explicit(hint, (uint32_t)(at - 1), memory_order_relaxed);
	return &ranges->entries[at - 1];
}

bool sg_ranges_shift(struct sg_ranges *ranges, uint64_t addr, uint64_t size, uint64_t *out_shift)
{
	for (;;) {
		uint64_t before = PEEK(&ranges->sequence);
		const struct sg_range *range = find(ranges, addr);
		uint64_t end = range ? PEEK(&range->end) : 0;
		uint64_t shift = range ? PEEK(&range->shift) : 0;
		bool inside = addr < end && size <= end - addr;

		if (!(before & 1) &&
		    atomic_load_explicit(&ranges->sequence, memory_order_relaxed) == before) {
			*out_shift = shift;
			return inside;
		}
	}
}

bool sg_ranges_contain(struct sg_ranges *ranges, uint64_t addr, uint64_t size)
{
	uint64_t shift;

	return sg_ranges_shift(ranges, addr, size, &shift);
}
