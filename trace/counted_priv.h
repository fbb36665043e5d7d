/* What counted.c and counted_join.c share. */
#ifndef WS_TRACE_COUNTED_PRIV_H
#define WS_TRACE_COUNTED_PRIV_H

#include "trace/counted.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "trace/cells.h"

struct trc_counted {
	struct trc_trace **runs;
	size_t n_runs;
	struct ws_arena arena;
	struct ws_map by_name; /* column number + 1 */
	WS_VEC(struct trc_counted_column) columns;
	WS_VEC(struct trc_counted_row) rows; /* by process and dispatch id */
	WS_VEC(struct trc_counted_difference) differences;
	size_t n_cells;
	struct trc_cells cells;
	uint64_t n_sampled;
};

/* Column number + 1 by counter id of @process, 0 where there is none. In the arena. */
enum ws_status trc_counted_columns_of(struct trc_counted *table, const struct trc_process *process,
				      size_t **out_columns, struct ws_err *err);
/* @columns: of the event's process. */
void trc_counted_take_values(struct trc_counted *table, size_t row, const struct trc_event *ev,
			     size_t *columns);
void trc_counted_take_how(struct trc_counted *table, size_t row, const struct cap_rec_counted *how);

/* Puts the values of one run into the rows, and notes what does not fit together. */
enum ws_status trc_counted_join(struct trc_counted *table, uint32_t run, struct ws_err *err);

#endif
