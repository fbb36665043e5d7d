/* What derived.c (values) and derived_text.c (how good they are, in words) share. */
#ifndef WS_COUNTERS_DERIVED_PRIV_H
#define WS_COUNTERS_DERIVED_PRIV_H

#include "base/arena.h"
#include "counters/derived.h"
#include "trace/cells.h"

/* One name that was requested of one GPU. */
struct cnt_derived_request {
	const struct cnt_plan_request *request;
	size_t number;          /* in the plan: the first of its name */
	uint32_t id;            /* of the counter in the trace */
	uint32_t first, room;   /* its cells in a row */
	struct cnt_shape shape; /* of its values, once there were any */
	uint64_t n_seen;        /* dispatches with a value */
	double least_sampled;
};

struct cnt_derived_gpu {
	const struct trc_process *process;
	const struct trc_agent *agent;
	struct cnt_gpu_plan plan;
	const struct trc_counted_column **columns; /* by read; NULL: it was not counted */
	struct cnt_derived_request *requests;
	size_t n_requests;
	uint64_t n_rows; /* dispatches counted on it */
};

struct cnt_derived {
	struct trc_counted *table;
	struct ws_arena arena;
	struct cnt_derived_gpu *gpus; /* of all processes */
	size_t n_gpus;
	size_t n_cells;
	struct trc_cells cells;    /* by row of the table */
	struct trc_recount *shown; /* by process */
};

/* Number and describe the counters of a process, and put them into the trace. */
enum ws_status cnt_derived_show(struct cnt_derived *d, struct trc_trace *trace, size_t process,
				size_t (*values)(void *, const struct trc_process *,
						 const struct cap_rec_dispatch *,
						 struct cap_counter_value *, size_t),
				struct ws_err *err);

#endif
