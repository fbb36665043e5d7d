/*
 * stats: how often, how long, per name and per domain.
 *
 * Sums and sums of squares are exact in 128 bits, so that deviations do not dissolve
 * after four seconds of total time as they do in 64.
 *
 * Memory   names are copied; at most WS_OUTPUT_NAMES_MAX per domain, the rest shares
 *          one entry.
 */
#ifndef WS_OUTPUT_STATS_H
#define WS_OUTPUT_STATS_H

#include "base/arena.h"
#include "base/map.h"
#include "output/output.h"

struct ws_stat {
	const char *name;
	enum ws_domain domain;
	uint64_t count, min_ns, max_ns;
	unsigned __int128 sum_ns, sqr_ns;
};

struct ws_stat_table {
	struct ws_map names;     /* to struct ws_stat */
	struct ws_stat total;    /* named after the domain */
	struct ws_stat *other;   /* when there are too many names */
	struct ws_stat **sorted; /* by total, largest first; after ws_stats_sort() */
	size_t n_sorted;
};

#define WS_STATS_CACHE 4096u

struct ws_stats {
	struct ws_arena arena;
	struct ws_stat_table domains[WS_DOMAIN_COUNT];
	struct {
		const char *name;
		struct ws_stat *stat;
	} cache[WS_STATS_CACHE]; /* most names are at one address for ever */
	uint64_t n_unnamed;
};

void ws_stats_init(struct ws_stats *stats);
void ws_stats_fini(struct ws_stats *stats);

/* @stable: the text stays where it is, unchanged, as long as the trace. */
enum ws_status ws_stats_add(struct ws_stats *stats, enum ws_domain domain, const char *name,
			    bool stable, uint64_t duration_ns, struct ws_err *err);
enum ws_status ws_stats_sort(struct ws_stats *stats, struct ws_err *err);

void ws_stat_add(struct ws_stat *stat, uint64_t duration_ns);
void ws_stat_merge(struct ws_stat *into, const struct ws_stat *from);
double ws_stat_mean(const struct ws_stat *stat);
double ws_stat_variance(const struct ws_stat *stat); /* of a sample; 0 below two */
int ws_stat_by_total(const void *a, const void *b);  /* struct ws_stat *const * */

#endif
