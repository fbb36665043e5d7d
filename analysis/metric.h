/*
 * metric: the report's blocks, tables and metrics, defined once for all architectures.
 *
 * Definitions are text (data/metrics/, one topic per file, embedded in the program; the language
 * is in docs/metrics.md). Loading them for one architecture gives this tree:
 * what differs there is resolved, ids are given, formulas are parsed.
 *
 *	st = ws_metrics_load("gfx90a", NULL, &metrics, err);
 *	metric = ws_metric_find(metrics, 17, 2, 0);            17.2.0
 *
 * Memory   everything lives until ws_metrics_free().
 * Failure  an error names file, line and token: "lds.metrics:12: unknown key 'exprr'".
 */
#ifndef WS_ANALYSIS_METRIC_H
#define WS_ANALYSIS_METRIC_H

#include "analysis/expr.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum ws_table_kind {
	WS_TABLE_METRICS,
	WS_TABLE_CHANNELS, /* one row per L2 channel: `metrics[0]` is the pattern */
	WS_TABLE_TOP_KERNELS,
	WS_TABLE_DISPATCHES,
	WS_TABLE_SYSINFO,
	WS_TABLE_ROOFLINE,
	WS_TABLE_PC_SAMPLING,
};

enum ws_header_kind {
	WS_HEADER_VALUE, /* a formula: Avg, Peak, Q1, "L2 Read" */
	WS_HEADER_TEXT,  /* Unit, Xfer, Coherency, Type, Transaction */
};

struct ws_header {
	const char *name;
	enum ws_header_kind kind;
};

struct ws_cell_def {
	const struct ws_expr *expr; /* VALUE; NULL: always without a value */
	const char *text;           /* TEXT; units still hold "normUnit" */
};

struct ws_metric {
	const char *name;
	const char *unit;          /* "" where the table has no unit; may hold "normUnit" */
	const char *help;          /* what it means, and when to worry */
	const char *coll_level;    /* the level pass that counts it; NULL: any */
	struct ws_cell_def *cells; /* one per header of the table */
	const struct ws_table *table;
	unsigned index; /* 17.2.<index> */
};

struct ws_table {
	unsigned block, index; /* 17, 2 */
	const char *title;
	enum ws_table_kind kind;
	const char *style; /* "", "mem_chart", "simple_bar", "simple_box", "simple_multiple_bar" */
	const char *key;   /* header of the first column: "Metric" or "Channel" */
	struct ws_header *headers; /* after the first column */
	size_t n_headers;
	struct ws_metric *metrics;
	size_t n_metrics;
};

struct ws_block {
	unsigned id;
	const char *title, *alias;
	struct ws_table **tables;
	size_t n_tables;
};

struct ws_variable {
	const char *name;
	const struct ws_expr *expr;
};

struct ws_metrics {
	const char *arch;
	struct ws_variable *vars; /* built-in variables: formulas of their own */
	size_t n_vars;
	struct ws_block **blocks; /* ascending */
	size_t n_blocks;
	struct ws_expr_pool pool;
	struct ws_arena arena;
};

extern const char *const ws_metric_archs[]; /* NULL at the end */

/*
 * @config_dir: a directory whose *.metrics files stand in for the embedded ones of the
 * same name, or add to them; NULL: none.
 */
enum ws_status ws_metrics_load(const char *arch, const char *config_dir,
			       struct ws_metrics **out_metrics, struct ws_err *err);
void ws_metrics_free(struct ws_metrics *metrics); /* NULL is fine */

/* The embedded files: name and text; NULL name at the end. */
struct ws_metric_file {
	const char *name;
	const char *text;
};
extern const struct ws_metric_file ws_metric_files[];

/* Load from texts in memory alone; what ws_metrics_load() does after reading files. */
enum ws_status ws_metrics_parse(const char *arch, const struct ws_metric_file *files,
				struct ws_metrics **out_metrics, struct ws_err *err);

const struct ws_expr *ws_metrics_variable(const struct ws_metrics *metrics, const char *name);
const struct ws_block *ws_block_find(const struct ws_metrics *metrics, unsigned block);
const struct ws_table *ws_table_find(const struct ws_metrics *metrics, unsigned block,
				     unsigned table);
const struct ws_metric *ws_metric_find(const struct ws_metrics *metrics, unsigned block,
				       unsigned table, unsigned index);
/* By printed name within a table, for charts; NULL: not on this architecture. */
const struct ws_metric *ws_metric_named(const struct ws_table *table, const char *name);
int ws_header_index(const struct ws_table *table, const char *name); /* -1: none */

/* "12", "12.1", "12.1.3" or an alias such as "lds" or "lds.1". */
struct ws_metric_id {
	unsigned block;
	int table, index; /* -1: not given */
};
bool ws_metric_id_parse(const struct ws_metrics *metrics, const char *text,
			struct ws_metric_id *out_id);

#endif
