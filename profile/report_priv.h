/* What the files of a report have in common. For report*.c and metadata.c. */
#ifndef WS_PROFILE_REPORT_PRIV_H
#define WS_PROFILE_REPORT_PRIV_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/report.h"
#include "profile/tree.h"

#include <stdio.h>

/* ---- tables ---- */

/* clang-format off */
#define PROF_COLUMN_TABLE(X)                       \
	X(LABEL, "LABEL")   X(LAPS, "COUNT")       \
	X(DEPTH, "DEPTH")   X(METRIC, "METRIC")    \
	X(UNITS, "UNITS")   X(SUM, "SUM")          \
	X(MEAN, "MEAN")     X(MIN, "MIN")          \
	X(MAX, "MAX")       X(VAR, "VAR")          \
	X(STDDEV, "STDDEV") X(SELF, "% SELF")
/* clang-format on */

enum prof_column {
#define PROF_COLUMN_ROW(id, title) PROF_COLUMN_##id,
	PROF_COLUMN_TABLE(PROF_COLUMN_ROW)
#undef PROF_COLUMN_ROW
		PROF_COLUMN_COUNT
};
#define PROF_COLUMN_BIT(NAME) (1u << PROF_COLUMN_##NAME)
#define PROF_COLUMNS_ALL ((1u << PROF_COLUMN_COUNT) - 1)
#define PROF_COLUMNS_COUNTER                                                                       \
	(PROF_COLUMNS_ALL &                                                                        \
	 ~(PROF_COLUMN_BIT(DEPTH) | PROF_COLUMN_BIT(UNITS) | PROF_COLUMN_BIT(SELF)))
#define PROF_COLUMNS_TRIPS                                                                         \
	(PROF_COLUMN_BIT(LABEL) | PROF_COLUMN_BIT(LAPS) | PROF_COLUMN_BIT(DEPTH) |                 \
	 PROF_COLUMN_BIT(METRIC) | PROF_COLUMN_BIT(SUM))
#define PROF_COLUMNS_DIFF                                                                          \
	(PROF_COLUMNS_ALL &                                                                        \
	 ~(PROF_COLUMN_BIT(VAR) | PROF_COLUMN_BIT(STDDEV) | PROF_COLUMN_BIT(SELF)))

/* What a row shows of its node. */
enum prof_value {
	PROF_VALUE_WALL, /* stat[PROF_CLOCK_WALL], of which a metric or counter is one, too */
	PROF_VALUE_CPU,
	PROF_VALUE_TRIPS,
	PROF_VALUE_PERCENT, /* of the thread's samples */
};

/* A table and the JSON file of the same content. */
struct prof_sheet {
	const char *name;  /* of the files */
	const char *label; /* METRIC */
	const char *description;
	const char *unit_text;
	double unit; /* a value is divided by this */
	int precision, width;
	bool scientific;
	unsigned columns;
	enum prof_value value;
	const struct prof_tree *trees[2]; /* one after the other for each thread */
	size_t n_trees;
	/* The run: what JSON says about it. */
	size_t n_ranks;
	uint32_t n_threads;
	bool tree; /* "graph" in JSON */
	uint32_t max_width;
	const char *note; /* below the table; NULL: none */
};

/* A row: a node, or the difference to another run. */
struct prof_row {
	const char *name;
	uint32_t depth;
	struct prof_stat stat; /* in the values' own unit */
	double mean;
	double self_percent;
};

/*
 * Walks the rows of a sheet in the order of the table. Node and thread are those of the row;
 * the label is as long as it is, and valid until the next row.
 */
struct prof_row_walk {
	const struct prof_sheet *sheet;
	size_t thread, tree;
	const struct prof_tree_thread *at;
	const struct prof_node *node;
	double thread_total;
	unsigned rank_digits, thread_digits;
	struct ws_buf label;
	struct prof_row row;
	bool failed; /* no memory for some label */
};
void prof_rows_begin(struct prof_row_walk *walk, const struct prof_sheet *sheet);
bool prof_rows_next(struct prof_row_walk *walk);
void prof_rows_end(struct prof_row_walk *walk);
/* "|0>>> ": what is in front of a name. */
void prof_rows_thread(const struct prof_row_walk *walk, struct ws_buf *out);
bool prof_sheet_empty(const struct prof_sheet *sheet);
uint64_t prof_name_hash(const char *name);

/* False: no memory; what was written is not complete. */
bool prof_sheet_text(const struct prof_sheet *sheet, FILE *to);
bool prof_sheet_json(const struct prof_sheet *sheet, FILE *to);

/* A text table of rows from elsewhere: the caller fills them one by one, in two passes. */
struct prof_table {
	const struct prof_sheet *sheet;
	size_t widths[PROF_COLUMN_COUNT];
	bool failed; /* no memory for some label */
};
void prof_table_measure(struct prof_table *table, const char *label, const struct prof_row *row);
void prof_table_head(struct prof_table *table, const char *description, FILE *to);
void prof_table_row(struct prof_table *table, const char *label, const struct prof_row *row,
		    FILE *to);
void prof_table_foot(const struct prof_table *table, FILE *to);

/* ---- JSON text ---- */

void prof_json_text(FILE *to, const char *text); /* with quotes */
void prof_json_text_n(FILE *to, const char *text, size_t n);
void prof_json_number(FILE *to, double value); /* as few digits as read back; not finite: null */

/* ---- JSON reports, read back ---- */

struct prof_read_row {
	const char *label; /* "|0>>> |_work" */
	size_t n_thread;   /* bytes of "|0>>> " */
	const char *name;
	uint32_t depth;
	struct prof_stat stat;
	enum prof_kind kind;          /* C, unless it ran on the GPU */
	uint64_t n_periods, n_inside; /* of sampling_percent */
};

struct prof_read {
	struct ws_arena arena;
	const char *metric, *description, *unit_text;
	const char *note; /* NULL: none */
	double unit;
	int precision;
	WS_VEC(struct prof_read_row) rows; /* in the order of the table */
};

/*
 * @metric NULL: the one that the file has; WS_E_NOTFOUND if it is JSON, but no report. Rows that
 * make no sense are left out.
 */
enum ws_status prof_read_parse(const char *name, struct ws_str text, const char *metric,
			       struct prof_read **out_read, struct ws_err *err);
enum ws_status prof_read_file(const char *path, const char *metric, struct prof_read **out_read,
			      struct ws_err *err);
void prof_read_destroy(struct prof_read *read); /* NULL is fine */

/* ---- the difference to an earlier run ---- */

struct prof_before; /* the rows of a JSON report, by path */
enum ws_status prof_before_parse(const char *name, struct ws_str text, const char *metric,
				 struct prof_before **out_before, struct ws_err *err);
enum ws_status prof_before_read(const char *path, const char *metric,
				struct prof_before **out_before, struct ws_err *err);
void prof_before_destroy(struct prof_before *before); /* NULL is fine */
enum ws_status prof_diff_text(const struct prof_sheet *sheet, struct prof_before *before, FILE *to,
			      struct ws_err *err);

/* ---- a report in the making ---- */

/* What was read of a metric. */
struct prof_metric_sum {
	struct prof_stat stat;
	double last;
};

struct prof_report {
	const struct trc_trace *trace;
	const struct trc_process *const *processes;
	size_t n_processes;
	const struct prof_report_opts *opts;
	struct prof_report_result *result;
	struct ws_arena arena;
	struct prof_frames **frames;      /* of each process */
	struct prof_metric_sum **metrics; /* of each process, by id */
	struct prof_tree *calls, *samples, *flat_samples;
	enum ws_status st; /* first failure */
	struct ws_err *err;
};

/* The path of a file, in the arena; NULL: no memory. */
const char *prof_report_path(struct prof_report *r, const char *name, const char *extension);
/* Opens a file of the report; NULL: it cannot be written, which is noted. */
FILE *prof_report_begin(struct prof_report *r, const char *path);
/* Closes it; from then on it is in the result. */
void prof_report_finish(struct prof_report *r, FILE *file, const char *format, const char *label,
			const char *path);
void prof_report_failed(struct prof_report *r, enum ws_status st, const struct ws_err *err);
void prof_report_say(struct prof_report *r, const char *fmt, ...) WS_PRINTF(2, 3);
int prof_report_rank(const struct prof_report *r, size_t process);

/* How times are printed. */
void prof_report_style_time(const struct prof_report *r, struct prof_sheet *sheet);
/* Writes a sheet in all the forms that the options request. */
void prof_report_sheet(struct prof_report *r, struct prof_sheet *sheet);
/* Fills in what is the same for all sheets. */
struct prof_sheet prof_report_new_sheet(struct prof_report *r, const char *name);

/* Summaries of metrics and GPU counters. The first reads, the others write. */
void prof_report_read_metrics(struct prof_report *r);
void prof_report_metrics(struct prof_report *r);
void prof_report_counters(struct prof_report *r);
/* CPU events that were counted with samples: a table each. */
void prof_report_events(struct prof_report *r);
/* A component that has a value per thread. False: it is none, or has no values. */
bool prof_report_thread_component(struct prof_report *r, const char *component);
bool prof_report_is_thread_component(const char *component);
bool prof_report_is_process_component(const char *component);
/* A component that is a value of the whole process. False: it is none, or has no values. */
bool prof_report_process_component(struct prof_report *r, const char *component);
void prof_report_totals(struct prof_report *r); /* for the result */

void prof_report_metadata(struct prof_report *r);
void prof_report_functions(struct prof_report *r);

#endif
