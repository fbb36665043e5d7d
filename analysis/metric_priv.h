/* What reading definitions (metric_text.c) and putting metrics together (metric_cells.c) share. */
#ifndef WS_ANALYSIS_METRIC_PRIV_H
#define WS_ANALYSIS_METRIC_PRIV_H

#include "analysis/metric.h"
#include "base/vec.h"

WS_VEC_TYPE(ws_reader_blocks, struct ws_block *);
WS_VEC_TYPE(ws_reader_tables, struct ws_table *);
WS_VEC_TYPE(ws_reader_metrics, struct ws_metric);
WS_VEC_TYPE(ws_reader_variables, struct ws_variable);

struct ws_reader_rename {
	struct ws_str from, to;
};
WS_VEC_TYPE(ws_reader_renames, struct ws_reader_rename);

struct ws_reader_pair {
	struct ws_str key, value;
	unsigned line;
};
WS_VEC_TYPE(ws_reader_pairs, struct ws_reader_pair);

struct ws_reader {
	struct ws_metrics *into;
	struct ws_err *err;
	const char *file;
	unsigned line; /* where the logical line at hand began */
	unsigned arch; /* index into ws_metric_archs */
	struct ws_reader_blocks blocks;
	struct ws_reader_tables tables;   /* of the block at hand */
	struct ws_reader_metrics metrics; /* of the table at hand */
	struct ws_reader_variables vars;
	struct ws_reader_renames renames;
	struct ws_map lets; /* to struct ws_expr */
	struct ws_block *block;
	struct ws_table *table;
	const char *table_help;
	/* the metric at hand */
	struct ws_str name;
	bool in_metric, present;
	unsigned metric_line;
	struct ws_reader_pairs pairs;
};

#define WS_READER_FAIL(r, ...)                                                                     \
	ws_fail_in((r)->err, ws_fail((r)->err, WS_E_FORMAT, __VA_ARGS__), "%s:%u", (r)->file,      \
		   (r)->line)
#define WS_READER_NOMEM(r) ws_fail((r)->err, WS_E_NOMEM, "out of memory for metric definitions")

struct ws_str ws_reader_kept(struct ws_reader *r, struct ws_str text); /* a copy in the arena */
enum ws_status ws_reader_formula(struct ws_reader *r, struct ws_str text,
				 const struct ws_expr **out);
/* The metric at hand is complete: check it, make its cells, add it to its table. */
enum ws_status ws_reader_end_metric(struct ws_reader *r);

#endif
