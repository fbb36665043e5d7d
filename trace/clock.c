#include "trace/trace_priv.h"

#include <stdlib.h>

static int by_ticks(const void *a, const void *b)
{
	const struct cap_rec_clock *x = a, *y = b;

	return x->h.time < y->h.time ? -1 : x->h.time > y->h.time;
}

/* Pairs that go back in time, or are wide while others are not, would bend the line: leave them. */
static size_t keep_sound(struct cap_rec_clock *pairs, size_t n)
{
	uint32_t best = UINT32_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		best = WS_MIN(best, pairs[i].h.what);
	for (size_t i = 0; i < n; i++) {
		bool wide = pairs[i].h.what > 2000 && pairs[i].h.what / 20 > best;

		if (wide || (kept && (pairs[i].h.time <= pairs[kept - 1].h.time ||
				      pairs[i].boottime_ns <= pairs[kept - 1].boottime_ns)))
			continue;
		pairs[kept++] = pairs[i];
	}
	return kept;
}

enum ws_status trc_clock_map_init(struct trc_clock_map *map, struct cap_rec_clock *pairs, size_t n,
				  bool is_ns, struct ws_err *err)
{
	*map = (struct trc_clock_map){ .is_ns = is_ns, .ns_per_tick = 1 };
	if (is_ns || !n)
		return WS_OK;
	qsort(pairs, n, sizeof(*pairs), by_ticks);
	n = keep_sound(pairs, n);
	map->segs = calloc(n, sizeof(*map->segs));
	if (!map->segs)
		return ws_fail(err, WS_E_NOMEM, "clock pairs");
	map->n = n;
	if (n > 1)
		map->ns_per_tick = (double)(pairs[n - 1].boottime_ns - pairs[0].boottime_ns) /
				   (double)(pairs[n - 1].h.time - pairs[0].h.time);
	for (size_t i = 0; i < n; i++) {
		map->segs[i] = (struct trc_clock_seg){ pairs[i].h.time, pairs[i].boottime_ns,
						       map->ns_per_tick };
		if (i + 1 < n)
			map->segs[i].ns_per_tick =
				(double)(pairs[i + 1].boottime_ns - pairs[i].boottime_ns) /
				(double)(pairs[i + 1].h.time - pairs[i].h.time);
	}
	return WS_OK;
}

void trc_clock_map_fini(struct trc_clock_map *map)
{
	free(map->segs);
	map->segs = NULL;
	map->n = 0;
}

static size_t find_seg(const struct trc_clock_map *map, uint64_t ticks)
{
	size_t low = 0, high = map->n; /* segs[low] begins at or before, segs[high] after */

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (map->segs[mid].ticks <= ticks)
			low = mid;
		else
			high = mid;
	}
	return low;
}

uint64_t trc_clock_ns(const struct trc_clock_map *map, uint64_t ticks, size_t *hint)
{
	const struct trc_clock_seg *seg;
	size_t i = *hint;
	double ns;

	if (map->is_ns || !map->n)
		return ticks;
	if (i >= map->n || map->segs[i].ticks > ticks ||
	    (i + 1 < map->n && map->segs[i + 1].ticks <= ticks))
		*hint = i = find_seg(map, ticks);
	seg = &map->segs[i];
	if (ticks < seg->ticks) { /* before the first pair */
		ns = (double)(seg->ticks - ticks) * map->ns_per_tick;
		return ns < (double)seg->ns ? seg->ns - (uint64_t)ns : 0;
	}
	ns = (double)(ticks - seg->ticks) * seg->ns_per_tick;
	if (ns > 9e18) /* a damaged number: far away, but still a number */
		return INT64_MAX;
	if (i + 1 < map->n && seg->ns + (uint64_t)ns > map->segs[i + 1].ns)
		return map->segs[i + 1].ns; /* rounding must not step over the next pair */
	return seg->ns + (uint64_t)ns;
}
