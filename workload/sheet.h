/*
 * sheet: the counters of one pass as a file, pmc_perf_N.csv or named after a level counter.
 *
 * AMD's tool keeps a file per pass, and counts a level (number of things in flight) in a
 * file of its own, where the accumulated level is the column SQ_ACCUM_PREV_HIRES. Our
 * planner may put two levels into one pass; such a pass is written as two sheets.
 *
 *	wl_sheets_make(plan, wants, n_wants, 0, &arena, &sheets, err);
 *	for each sheet: wl_perfmon_write(...); run its pass; wl_sheet_write(...)
 *
 * Memory   in the arena; refers to the plan.
 */
#ifndef WS_WORKLOAD_SHEET_H
#define WS_WORKLOAD_SHEET_H

#include "base/arena.h"
#include "base/error.h"
#include "counters/plan.h"
#include "trace/counted.h"

#include <stdbool.h>
#include <stddef.h>

/* A counter that a report needs: "SQ_WAVES", "TCC_HIT_sum", "SQ_IFETCH_LEVEL_ACCUM". */
struct wl_want {
	const char *name; /* as the planner understands it */
	bool channels;    /* one column per instance: TCC_HIT[0], TCC_HIT[1], ... */
};

struct wl_sheet_column {
	const char *header; /* in the CSV */
	const char *name;   /* in the perfmon input: differs for accumulated levels */
	size_t request;     /* in the plan */
	int instance;       /* -1: all of them added up */
};

struct wl_sheet {
	const char *name;                /* "pmc_perf_0", "SQ_IFETCH_LEVEL" */
	unsigned pass;                   /* of the plan */
	const char *level;               /* the level counter it is about, or NULL */
	struct wl_sheet_column *columns; /* by header, as plain text */
	size_t n_columns;
};

struct wl_sheets {
	const struct cnt_plan *plan;
	struct wl_sheet *at; /* levels by name, then pmc_perf_N by number */
	size_t n;
};

/*
 * @wants are the plan's requests, in the same order. Files that are not about a level are
 * numbered from @first_number.
 */
enum ws_status wl_sheets_make(const struct cnt_plan *plan, const struct wl_want *wants,
			      size_t n_wants, unsigned first_number, struct ws_arena *arena,
			      struct wl_sheets *out_sheets, struct ws_err *err);

/*
 * Whose values the rows of a table show: of pass p, row i shows those of row
 * from[i * n_passes + p], or none where that is WL_NO_ROW. A NULL pointer to it, or a NULL
 * `from`: each row its own.
 */
struct wl_sheet_rows {
	const uint32_t *from;
	const uint32_t *number; /* Dispatch_ID of row i in the long form; NULL: i */
};
#define WL_NO_ROW UINT32_MAX

/*
 * The file of a pass, in the arena: "pmc_perf_0.csv" after @name, or, in the long form,
 * "results_0.csv" after its @number in the folder. NULL: no memory.
 */
const char *wl_pass_file(const char *name, size_t number, bool long_form, struct ws_arena *arena);

/* dir/@file, one row per dispatch. */
enum ws_status wl_sheet_write_csv(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				  const struct trc_counted *table, const struct wl_sheet_rows *rows,
				  const char *dir, const char *file, struct ws_err *err);
/* dir/@file, one row per dispatch and counter, as from a rocpd database. */
enum ws_status wl_sheet_write_long(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				   const struct trc_counted *table,
				   const struct wl_sheet_rows *rows, const char *dir,
				   const char *file, struct ws_err *err);
/* The values of a sheet, row by row; those that are not there are left out. */
enum ws_status wl_sheet_each(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
			     const struct trc_counted *table, const struct wl_sheet_rows *rows,
			     void (*each)(void *of, size_t row,
					  const struct wl_sheet_column *column, double value),
			     void *of, struct ws_err *err);
/* dir/timestamps.csv: the same rows without counters. */
enum ws_status wl_timestamps_write(const struct trc_counted *table, const char *dir,
				   struct ws_err *err);

/* dir/perfmon/<name>.txt and, for counters per channel, <name>.yaml. */
struct wl_perfmon_filter {
	const char *kernels, *ranges; /* as they stand on the lines kernel: and range:, or NULL */
};
enum ws_status wl_perfmon_write(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				const struct wl_perfmon_filter *filter, const char *dir,
				struct ws_err *err);

void wl_perfmon_remove(const char *dir, const char *name); /* both, if they exist */

#endif
