#include "output/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void output_stats_init(struct output_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	ws_arena_init(&stats->arena, (size_t)1 << 30);
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		ws_map_init(&stats->domains[d].names, WS_MAP_STR, OUTPUT_NAMES_MAX);
		stats->domains[d].total.name = trc_domain_name(d);
		stats->domains[d].total.domain = d;
	}
}

void output_stats_fini(struct output_stats *stats)
{
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++)
		ws_map_fini(&stats->domains[d].names);
	ws_arena_fini(&stats->arena);
}

void output_stat_add(struct output_stat *stat, uint64_t ns)
{
	if (!stat->count || ns < stat->min_ns)
		stat->min_ns = ns;
	if (ns > stat->max_ns)
		stat->max_ns = ns;
	stat->count++;
	stat->sum_ns += ns;
	stat->sqr_ns += (unsigned __int128)ns * ns;
}

void output_stat_merge(struct output_stat *into, const struct output_stat *from)
{
	if (!from->count)
		return;
	into->min_ns = into->count ? WS_MIN(into->min_ns, from->min_ns) : from->min_ns;
	into->max_ns = WS_MAX(into->max_ns, from->max_ns);
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	into->sqr_ns += from->sqr_ns;
}

double output_stat_mean(const struct output_stat *stat)
{
	return stat->count ? (double)((long double)stat->sum_ns / (long double)stat->count) : 0;
}

double output_stat_variance(const struct output_stat *stat)
{
	unsigned __int128 n = stat->count, mean, rest, about_mean;

	if (n < 2)
		return 0;
	/*
	 * Squares about the whole part of the mean: exact, and small enough for what
	 * follows to be rounded once. S2 - S*S/n cancels, and S*S needs 256 bits.
	 */
	mean = stat->sum_ns / n;
	rest = stat->sum_ns % n;
	about_mean = stat->sqr_ns - 2 * mean * stat->sum_ns + n * mean * mean;
	return (double)(((long double)about_mean -
			 (long double)rest * (long double)rest / (long double)n) /
			(long double)(n - 1));
}

int output_stat_by_total(const void *a, const void *b)
{
	const struct output_stat *x = *(struct output_stat *const *)a,
				 *y = *(struct output_stat *const *)b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	return strcmp(x->name, y->name); /* so that two runs of the writer agree */
}

static struct output_stat *new_stat(struct output_stats *stats, enum cap_domain domain,
				    const char *name)
{
	struct output_stat *stat = ws_arena_new(&stats->arena, struct output_stat);

	if (!stat)
		return NULL;
	stat->domain = domain;
	stat->name = ws_arena_strdup(&stats->arena, name);
	return stat->name ? stat : NULL;
}

static struct output_stat *find(struct output_stats *stats, enum cap_domain domain,
				const char *name)
{
	struct output_stat_table *table = &stats->domains[domain];
	struct ws_str key = ws_str_from(name);
	struct ws_map_entry *entry = ws_map_find(&table->names, key);
	struct output_stat *stat;

	if (entry)
		return entry->value;
	if (table->names.n < OUTPUT_NAMES_MAX) {
		stat = new_stat(stats, domain, name);
		key.at = stat ? stat->name : NULL;
		if (stat && !ws_map_put(&table->names, key, stat, NULL))
			return stat;
	}
	if (!table->other)
		table->other = new_stat(stats, domain, OUTPUT_OTHER_NAMES);
	return table->other;
}

enum ws_status output_stats_add(struct output_stats *stats, enum cap_domain domain,
				const char *name, bool stable, uint64_t ns, struct ws_err *err)
{
	struct output_stat_table *table = &stats->domains[domain];
	struct output_stat *stat = NULL;
	size_t slot = 0;

	if (stable) {
		slot = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 15) % OUTPUT_STATS_CACHE;
		if (stats->cache[slot].name == name && stats->cache[slot].stat->domain == domain)
			stat = stats->cache[slot].stat;
	}
	if (!stat) {
		stat = find(stats, domain, name);
		if (!stat)
			return ws_fail(err, WS_E_NOMEM, "no memory for the statistics");
		if (stable) {
			stats->cache[slot].name = name;
			stats->cache[slot].stat = stat;
		}
	}
	stats->n_unnamed += stat == table->other;
	output_stat_add(stat, ns);
	output_stat_add(&table->total, ns);
	return WS_OK;
}

enum ws_status output_stats_sort(struct output_stats *stats, struct ws_err *err)
{
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		struct output_stat_table *table = &stats->domains[d];
		size_t n = table->names.n + (table->other != NULL);

		table->n_sorted = 0;
		if (!n)
			continue;
		table->sorted = ws_arena_array(&stats->arena, n, sizeof(*table->sorted));
		if (!table->sorted)
			return ws_fail(err, WS_E_NOMEM, "no memory for the statistics");
		ws_map_each(entry, &table->names)
			table->sorted[table->n_sorted++] = entry->value;
		if (table->other)
			table->sorted[table->n_sorted++] = table->other;
		qsort(table->sorted, n, sizeof(*table->sorted), output_stat_by_total);
	}
	return WS_OK;
}
