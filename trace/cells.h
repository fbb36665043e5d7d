/*
 * cells: a large table of numbers, rows times columns.
 *
 * A small one is memory; a large one is a file without a name in TMPDIR, mapped, so that
 * its size is bounded by the disk and the kernel decides what stays in memory.
 */
#ifndef WS_TRACE_CELLS_H
#define WS_TRACE_CELLS_H

#include "base/error.h"

#include <stddef.h>

struct trc_cells {
	double *at;
	size_t n_rows, n_columns;
	size_t n_bytes;
};

/* All cells are NaN. */
enum ws_status trc_cells_init(struct trc_cells *cells, size_t n_rows, size_t n_columns,
			      struct ws_err *err);
void trc_cells_fini(struct trc_cells *cells); /* zeroed is fine */

static inline double *trc_cells_row(const struct trc_cells *cells, size_t row)
{
	return cells->at + row * cells->n_columns;
}

#endif
