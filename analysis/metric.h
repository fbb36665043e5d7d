/*
 * metric: the report's blocks, tables and metrics, defined once for all architectures.
 *
 * Definitions are text (data/metrics/, one topic per file, embedded in the program; the language
 * is in docs/metrics.md). Loading them for one architecture gives this tree:
 * what differs there is resolved, ids are given, formulas are parsed.
 *
 *	st = ana_metrics_load("gfx90a", NULL, &metrics, err);
 *	metric = ana_metric_find(metrics, 17, 2, 0);            17.2.0
 *
 * Memory   everything lives until ana_metrics_free().
 * Failure  an error names file, line and token: "lds.metrics:12: unknown key 'exprr'".
 */
#ifndef WS_ANALYSIS_METRIC_H
#define WS_ANALYSIS_METRIC_H

#include "analysis/expr.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum ana_table_kind {
	ANA_TABLE_METRICS,
	ANA_TABLE_CHANNELS, /* one row per L2 channel: `metrics[0]` is the pattern */
	ANA_TABLE_TOP_KERNELS,
	ANA_TABLE_DISPATCHES,
	ANA_TABLE_SYSINFO,
	ANA_TABLE_ROOFLINE,
	ANA_TABLE_PC_SAMPLING,
};

enum ana_header_kind {
	ANA_HEADER_VALUE, /* a formula: Avg, Peak, Q1, "L2 Read" */
	ANA_HEADER_TEXT,  /* Unit, Xfer, Coherency, Type, Transaction */
};

struct ana_header {
	const char *name;
	enum ana_header_kind kind;
};

struct ana_cell_def {
	const struct ana_expr *expr; /* VALUE; NULL: always without a value */
	const char *text;            /* TEXT; units still hold "normUnit" */
};

struct ana_metric {
	const char *name;
	const char *unit;           /* "" where the table has no unit; may hold "normUnit" */
	const char *help;           /* what it means, and when to worry */
	const char *coll_level;     /* the level pass that counts it; NULL: any */
	struct ana_cell_def *cells; /* one per header of the table */
	const struct ana_table *table;
	unsigned index; /* 17.2.<index> */
};

struct ana_table {
	unsigned block, index; /* 17, 2 */
	const char *title;
	enum ana_table_kind kind;
	const char *style; /* "", "mem_chart", "simple_bar", "simple_box", "simple_multiple_bar" */
	const char *key;   /* header of the first column: "Metric" or "Channel" */
	struct ana_header *headers; /* after the first column */
	size_t n_headers;
	struct ana_metric *metrics;
	size_t n_metrics;
};

struct ana_block {
	unsigned id;
	const char *title, *alias;
	struct ana_table **tables;
	size_t n_tables;
};

struct ana_variable {
	const char *name;
	const struct ana_expr *expr;
};

struct ana_set_metric {
	unsigned block, table;
	const char *name;
};

/* Metrics that one pass collects. */
struct ana_set {
	const char *name, *title;
	struct ana_set_metric *metrics; /* may name metrics that this architecture lacks */
	size_t n_metrics;
};

struct ana_rule; /* analysis/findings.h */

struct ana_metrics {
	const char *arch;
	struct ana_variable *vars; /* built-in variables: formulas of their own */
	size_t n_vars;
	struct ana_block **blocks; /* ascending */
	size_t n_blocks;
	struct ana_set *sets; /* in order of definition */
	size_t n_sets;
	struct ana_rule *rules; /* of findings, in order of their files */
	size_t n_rules;
	struct ana_expr_pool pool;
	struct ws_arena arena;
};

extern const char *const ana_metric_archs[]; /* NULL at the end */

/*
 * @config_dir: a directory whose *.metrics and *.finding files stand in for the embedded ones of
 * the same name, or add to them; NULL: none.
 */
enum ws_status ana_metrics_load(const char *arch, const char *config_dir,
				struct ana_metrics **out_metrics, struct ws_err *err);
void ana_metrics_free(struct ana_metrics *metrics); /* NULL is fine */

/* The embedded files: name and text; NULL name at the end. */
struct ana_metric_file {
	const char *name;
	const char *text;
};
extern const struct ana_metric_file ana_metric_files[];

/* Load from texts in memory alone; what ana_metrics_load() does after reading files. */
enum ws_status ana_metrics_parse(const char *arch, const struct ana_metric_file *files,
				 struct ana_metrics **out_metrics, struct ws_err *err);

const struct ana_expr *ana_metrics_variable(const struct ana_metrics *metrics, const char *name);
const struct ana_block *ana_block_find(const struct ana_metrics *metrics, unsigned block);
const struct ana_table *ana_table_find(const struct ana_metrics *metrics, unsigned block,
				       unsigned table);
const struct ana_metric *ana_metric_find(const struct ana_metrics *metrics, unsigned block,
					 unsigned table, unsigned index);
/* By printed name within a table, for charts; NULL: not on this architecture. */
const struct ana_metric *ana_metric_named(const struct ana_table *table, const char *name);
int ana_header_index(const struct ana_table *table, const char *name); /* -1: none */

/* "12", "12.1", "12.1.3" or an alias such as "lds" or "lds.1". */
struct ana_metric_id {
	unsigned block;
	int table, index; /* -1: not given */
};
bool ana_metric_id_parse(const struct ana_metrics *metrics, const char *text,
			 struct ana_metric_id *out_id);

#endif
