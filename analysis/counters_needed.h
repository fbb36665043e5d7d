/*
 * counters_needed: the counters that blocks, tables and metrics of a report are computed from.
 *
 * Memory   results are in the arena that is given.
 */
#ifndef WS_ANALYSIS_COUNTERS_NEEDED_H
#define WS_ANALYSIS_COUNTERS_NEEDED_H

#include "analysis/metric.h"
#include "base/arena.h"
#include "base/error.h"
#include "workload/sheet.h"

#include <stdbool.h>
#include <stddef.h>

#define ANA_BLOCK_ROOFLINE 4u
#define ANA_BLOCK_PC_SAMPLING 21u

/* What to report: ids as typed ("12.1", "lds"); none: everything. */
struct ana_report_choice {
	const char *const *sections;
	size_t n_sections;
	bool roofline_only;
};

/* A section that this architecture does not have: "block", "table" or "metric". */
struct ana_skipped {
	const char *section, *what;
};

struct ana_counters {
	struct wl_want *at; /* by name */
	size_t n;
	struct ana_skipped *skipped;
	size_t n_skipped;
};

/* WS_E_USAGE: a section is no id, or none of them exists; `skipped` is filled in then, too. */
enum ws_status ana_counters_needed(const struct ana_metrics *metrics,
				   const struct ana_report_choice *choice, struct ws_arena *arena,
				   struct ana_counters *out_counters, struct ws_err *err);

/* The metric that a member of a set is here, or NULL. */
const struct ana_metric *ana_set_metric_find(const struct ana_metrics *metrics,
					     const struct ana_set_metric *member);
/* The ids of a set's metrics, as sections. WS_E_USAGE: no such set; the message lists them. */
enum ws_status ana_set_sections(const struct ana_metrics *metrics, const char *set,
				struct ws_arena *arena, const char *const **out_sections,
				size_t *out_n, struct ws_err *err);

#endif
