/*
 * table: a grid of cells, drawn with box characters for a terminal.
 *
 *	╒═════╤═══════╕
 *	│ id  │   Avg │
 *	╞═════╪═══════╡
 *	│ 2.1 │  3.50 │
 *	╘═════╧═══════╛
 *
 * Numbers of a column line up at the point; text is on the left; cells may hold several
 * lines. Widths count what a terminal shows, not bytes.
 *
 * Memory   cells and text live in the table's arena, or are borrowed as noted.
 */
#ifndef WS_REPORT_TABLE_H
#define WS_REPORT_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum rpt_cell_kind {
	RPT_CELL_NONE,   /* no value */
	RPT_CELL_NUMBER, /* printed with the table's decimals */
	RPT_CELL_INT,
	RPT_CELL_TEXT, /* may hold line ends; borrowed */
};

struct rpt_cell {
	enum rpt_cell_kind kind;
	double number;
	const char *text;
};

enum rpt_grid_form {
	RPT_GRID_NUMBERS, /* a column of numbers with gaps stays a column of numbers */
	RPT_GRID_OLD,     /* as tabulate 0.9 and before: one gap makes the column text */
};

struct rpt_grid {
	struct ws_arena *arena;
	const char **headers;
	size_t n_columns;
	struct rpt_cell *cells; /* row by row */
	size_t n_rows, cap_rows;
	int decimals;
	const char *none; /* what a cell without a value shows: "N/A", "" */
	enum rpt_grid_form form;
};

/* @headers are copied. */
enum ws_status rpt_grid_init(struct rpt_grid *grid, struct ws_arena *arena,
			     const char *const *headers, size_t n_columns, struct ws_err *err);
/* The cells of one more row, all RPT_CELL_NONE; NULL: no memory. Valid until the next. */
struct rpt_cell *rpt_grid_row(struct rpt_grid *grid);

static inline struct rpt_cell rpt_cell_text(const char *text)
{
	return (struct rpt_cell){ .kind = RPT_CELL_TEXT, .text = text };
}
struct rpt_cell rpt_cell_number(double number); /* NaN: no value */
static inline struct rpt_cell rpt_cell_int(int64_t number)
{
	return (struct rpt_cell){ .kind = RPT_CELL_INT, .number = (double)number };
}

enum ws_status rpt_grid_draw(const struct rpt_grid *grid, struct ws_buf *to, struct ws_err *err);
enum ws_status rpt_grid_csv(const struct rpt_grid *grid, struct ws_buf *to, struct ws_err *err);

/* A number as Python's str(round(x, decimals)) gives it: "0.0", "427.03", "1e-05", "inf". */
void rpt_number_text(double number, int decimals, char out_text[64]);
double rpt_round_half_even(double number, int decimals);

#endif
