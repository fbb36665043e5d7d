/*
 * stats: how often, how long, per name and per domain.
 *
 * Sums and sums of squares are exact in 128 bits, so that deviations do not dissolve
 * after four seconds of total time as they do in 64.
 *
 * Memory   names are copied; at most OUTPUT_NAMES_MAX per domain, the rest shares
 *          one entry.
 */
#ifndef WS_OUTPUT_STATS_H
#define WS_OUTPUT_STATS_H

#include "base/arena.h"
#include "base/map.h"
#include "output/output.h"

struct output_stat {
	const char *name;
	enum cap_domain domain;
	uint64_t count, min_ns, max_ns;
	unsigned __int128 sum_ns, sqr_ns;
};

struct output_stat_table {
	struct ws_map names;         /* to struct output_stat */
	struct output_stat total;    /* named after the domain */
	struct output_stat *other;   /* when there are too many names */
	struct output_stat **sorted; /* by total, largest first; after output_stats_sort() */
	size_t n_sorted;
};

#define OUTPUT_STATS_CACHE 4096u

struct output_stats {
	struct ws_arena arena;
	struct output_stat_table domains[CAP_DOMAIN_COUNT];
	struct {
		const char *name;
		struct output_stat *stat;
	} cache[OUTPUT_STATS_CACHE]; /* most names are at one address for ever */
	uint64_t n_unnamed;
};

void output_stats_init(struct output_stats *stats);
void output_stats_fini(struct output_stats *stats);

/* @stable: the text stays where it is, unchanged, as long as the trace. */
enum ws_status output_stats_add(struct output_stats *stats, enum cap_domain domain,
				const char *name, bool stable, uint64_t duration_ns,
				struct ws_err *err);
enum ws_status output_stats_sort(struct output_stats *stats, struct ws_err *err);

void output_stat_add(struct output_stat *stat, uint64_t duration_ns);
void output_stat_merge(struct output_stat *into, const struct output_stat *from);
double output_stat_mean(const struct output_stat *stat);
double output_stat_variance(const struct output_stat *stat); /* of a sample; 0 below two */
int output_stat_by_total(const void *a, const void *b);      /* struct output_stat *const * */

#endif
