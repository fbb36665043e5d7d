#include "workload/launch_columns.h"

#include "trace/counted.h"
#include "workload/csv.h"
#include "workload/names.h"
#include "workload/workload.h"

#define SIZE_LIMIT 9e18 /* fits 64 bits; a cell beyond it is damaged */

static const double *of_csv(const struct wl_csv *csv, const char *name)
{
	const struct wl_csv_column *column = wl_csv_column(csv, name);

	return column ? column->at : NULL;
}

struct wl_launch_columns wl_launch_columns_of_csv(const struct wl_csv *csv)
{
	return (struct wl_launch_columns){
		.kernel = of_csv(csv, WL_COL_KERNEL),
		.grid = of_csv(csv, WL_COL_GRID),
		.workgroup = of_csv(csv, WL_COL_WORKGROUP),
		.lds = of_csv(csv, WL_COL_LDS),
	};
}

static const double *of_frame(const struct wl_frame *frame, const char *name)
{
	const struct wl_column *column = wl_frame_column(frame, name);

	return column ? column->at : NULL;
}

struct wl_launch_columns wl_launch_columns_of_frame(const struct wl_frame *frame)
{
	return (struct wl_launch_columns){
		.kernel = of_frame(frame, WL_COL_KERNEL),
		.grid = of_frame(frame, WL_COL_GRID),
		.workgroup = of_frame(frame, WL_COL_WORKGROUP),
		.lds = of_frame(frame, WL_COL_LDS),
	};
}

/* Empty and damaged cells are 0: such rows are still of one kind. */
static uint64_t whole(const double *column, size_t row)
{
	return column && column[row] > 0 && column[row] < SIZE_LIMIT ? (uint64_t)column[row] : 0;
}

struct trc_launch wl_launch_of_file(const struct wl_launch_columns *columns, size_t row)
{
	return (struct trc_launch){
		.kernel = whole(columns->kernel, row),
		.grid = { whole(columns->grid, row) },
		.workgroup = { whole(columns->workgroup, row) },
		.group_bytes = whole(columns->lds, row),
	};
}

struct trc_launch wl_launch_of_row(const struct trc_counted_row *row, size_t kernel)
{
	return (struct trc_launch){
		.kernel = kernel,
		.grid = { row->grid[0], row->grid[1], row->grid[2] },
		.workgroup = { row->workgroup[0], row->workgroup[1], row->workgroup[2] },
		.group_bytes = row->group_bytes,
	};
}
