/*
 * What reading definitions (metric_text.c), putting metrics together (metric_cells.c) and reading
 * rules of findings (finding_text.c) share.
 */
#ifndef WS_ANALYSIS_METRIC_PRIV_H
#define WS_ANALYSIS_METRIC_PRIV_H

#include "analysis/findings.h"
#include "analysis/metric.h"
#include "base/vec.h"

WS_VEC_TYPE(ana_reader_blocks, struct ana_block *);
WS_VEC_TYPE(ana_reader_tables, struct ana_table *);
WS_VEC_TYPE(ana_reader_metrics, struct ana_metric);
WS_VEC_TYPE(ana_reader_variables, struct ana_variable);
WS_VEC_TYPE(ana_reader_sets, struct ana_set);

struct ana_reader_rename {
	struct ws_str from, to;
};
WS_VEC_TYPE(ana_reader_renames, struct ana_reader_rename);

struct ana_reader_pair {
	struct ws_str key, value;
	unsigned line;
};
WS_VEC_TYPE(ana_reader_pairs, struct ana_reader_pair);

WS_VEC_TYPE(ana_reader_rules, struct ana_rule);
WS_VEC_TYPE(ana_reader_needs, struct ana_rule_need);
WS_VEC_TYPE(ana_reader_values, struct ana_rule_value);

struct ana_reader {
	struct ana_metrics *into;
	struct ws_err *err;
	const char *file;
	unsigned line; /* where the logical line at hand began */
	unsigned arch; /* index into ana_metric_archs */
	struct ana_reader_blocks blocks;
	struct ana_reader_tables tables;   /* of the block at hand */
	struct ana_reader_metrics metrics; /* of the table at hand */
	struct ana_reader_variables vars;
	struct ana_reader_sets sets;
	struct ana_reader_renames renames;
	struct ws_map lets; /* to struct ana_expr */
	struct ana_block *block;
	struct ana_table *table;
	const char *table_help;
	/* the metric at hand */
	struct ws_str name;
	bool in_metric, present;
	unsigned metric_line;
	struct ana_reader_pairs pairs;
	/* the rule at hand */
	struct ana_reader_rules rules;
	struct ana_rule rule;
	bool in_rule;
	unsigned rule_line;
	struct ana_reader_needs needs;
	struct ana_reader_values values;
	struct ws_map rule_lets; /* names that only this rule knows; to struct ana_expr */
};

#define ANA_READER_FAIL(r, ...)                                                                    \
	ws_fail_in((r)->err, ws_fail((r)->err, WS_E_FORMAT, __VA_ARGS__), "%s:%u", (r)->file,      \
		   (r)->line)
#define ANA_READER_NOMEM(r) ws_fail((r)->err, WS_E_NOMEM, "out of memory for metric definitions")

struct ws_str ana_reader_kept(struct ana_reader *r, struct ws_str text); /* a copy in the arena */
enum ws_status ana_reader_formula(struct ana_reader *r, struct ws_str text,
				  const struct ana_expr **out);
/* The word up to white space; *@rest moves past it and the space. */
struct ws_str ana_reader_word(struct ws_str *rest);
/* Takes " when ARCH..." off the end of *@head. */
enum ws_status ana_reader_guard(struct ana_reader *r, struct ws_str *head, bool *out_applies);
/* @rest is a title in double quotes, and nothing else. */
enum ws_status ana_reader_quoted(struct ana_reader *r, struct ws_str rest, const char **out_text);
enum ws_status ana_reader_end_block(struct ana_reader *r);
/* The metric at hand is complete: check it, make its cells, add it to its table. */
enum ws_status ana_reader_end_metric(struct ana_reader *r);

/* finding_text.c */
/* finding ID "Title": all tables are complete. */
enum ws_status ana_reader_finding(struct ana_reader *r, struct ws_str rest);
enum ws_status ana_reader_finding_line(struct ana_reader *r, struct ws_str line);
enum ws_status ana_reader_end_finding(struct ana_reader *r);

#endif
