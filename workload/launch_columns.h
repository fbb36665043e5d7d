/* launch_columns: the columns of a file that say what was launched, for dispatch_match.h. */
#ifndef WS_WORKLOAD_LAUNCH_COLUMNS_H
#define WS_WORKLOAD_LAUNCH_COLUMNS_H

#include "trace/dispatch_match.h"

#include <stddef.h>

struct trc_counted_row;
struct wl_csv;
struct wl_frame;

/* Cells by row; NULL: there is no such column. Kernels are numbers of a dictionary. */
struct wl_launch_columns {
	const double *kernel, *grid, *workgroup, *lds;
};

struct wl_launch_columns wl_launch_columns_of_csv(const struct wl_csv *csv);
struct wl_launch_columns wl_launch_columns_of_frame(const struct wl_frame *frame);
/* Files name neither the process nor the GPU in a way that holds for every pass. */
struct trc_launch wl_launch_of_file(const struct wl_launch_columns *columns, size_t row);
/* The same of a row that is to be written. */
struct trc_launch wl_launch_of_row(const struct trc_counted_row *row, size_t kernel);

#endif
