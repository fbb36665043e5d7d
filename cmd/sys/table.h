/*
 * table: the tables of rocprof-sys-avail, as AMD's tool draws them.
 *
 *	|---------------------|-------|
 *	| ENVIRONMENT VARIABLE| VALUE |
 *	|---------------------|-------|
 *	| ROCPROFSYS_TRACE    | true  |
 *	|---------------------|-------|
 *
 * A column is as wide as its longest cell and some padding. If the table is wider than
 * allowed, its widest columns are narrowed, down to 40 characters: cells are then cut, and
 * end in "...", or go on in the next line where the column wraps.
 */
#ifndef WS_CMD_SYS_TABLE_H
#define WS_CMD_SYS_TABLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SYS_TABLE_COLUMNS_MAX 8u

struct sys_column {
	const char *label;
	size_t at_least; /* its width, with one bar */
	size_t exactly;  /* 0: as wide as its label and its cells */
	bool centered;
	bool wraps; /* long cells go on in the next line */
	bool code;  /* in `backticks` in markdown */
	bool shown;
};

struct sys_table_style {
	bool csv, markdown;
	const char *separator; /* of csv */
	size_t padding;
	size_t max_width;   /* of a column; 0: any */
	size_t total_width; /* of all; 0: any */
};

struct sys_filter;

struct sys_table {
	struct sys_column columns[SYS_TABLE_COLUMNS_MAX];
	size_t n_columns;
	const char *const *cells; /* n_columns per row */
	size_t n_rows;
	size_t extra; /* padding of cells, besides the style's */
};

/*
 * Rows of which a shown cell is selected by @filter; NULL: all. With @highlight matches are
 * shown in colour.
 */
enum ws_status sys_table_print(FILE *to, const struct sys_table *table,
			       const struct sys_table_style *style, const struct sys_filter *filter,
			       bool highlight, struct ws_err *err);

#endif
