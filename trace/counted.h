/*
 * counted: what dispatches counted, joined from one or more runs of a program.
 *
 * A table: a row per dispatch that was counted in the first run, a cell per counter and
 * hardware instance. Values of later runs are put beside those of the first where it is
 * the same dispatch (dispatch_match.h): the same process of the program (by command line
 * and order of start), kernel, GPU, grid, workgroup and LDS, and the same ordinal among
 * those. Times and everything else of a row are the first run's. Dispatches that only some
 * runs have are reported by trc_counted_difference(), never mixed with others.
 *
 *	trc_counted_open(runs, n_runs, &table, err);
 *	for (size_t i = 0; i < trc_counted_n_rows(table); i++) {
 *		const struct trc_counted_row *row = trc_counted_row(table, i);
 *		const double *cells = trc_counted_cells(table, i);
 *
 *		print(row->kernel->formatted, cells[waves->first]);
 *	}
 *
 * Memory   facts and rows in memory; cells in a file without a name, mapped, so that the
 *          table may be larger than memory. The traces are the table's from open on.
 * Threads  constant after open.
 */
#ifndef WS_TRACE_COUNTED_H
#define WS_TRACE_COUNTED_H

#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_counted;

/* How good a number is; of a column: the worst of its cells. */
enum trc_counted_as {
	TRC_COUNTED_EXACT,    /* follows from the program */
	TRC_COUNTED_MODELLED, /* follows from a model of the hardware */
	TRC_COUNTED_SAMPLED,  /* the same, of a part of the workgroups, scaled */
	TRC_COUNTED_HARDWARE, /* a real GPU counted it */
};

struct trc_counted_column {
	const char *name; /* as requested of the GPU: "SQ_WAVES", "TCC_HIT", "TCC_HIT_sum" */
	const char *block, *description;
	enum trc_counted_as fidelity;
	uint32_t first; /* its cells in a row: first .. first + n - 1, one per instance */
	uint32_t n;     /* the most that any GPU of the trace has */
	uint32_t run;   /* which run counted it first, from 0 */
	uint32_t n_dims;
	const struct cap_counter_dim *dims; /* names are strings of the process of the first row */
	const struct trc_process *process;
	uint64_t n_seen; /* rows in which it has a value: fewer than all when multiplexed */
};

struct trc_counted_row {
	const struct trc_process *process; /* of the first run, as the rest */
	const struct trc_kernel *kernel;
	const struct trc_agent *agent; /* NULL: unknown */
	const struct trc_queue *queue;
	const struct trc_thread *thread;
	const struct trc_stream *stream;
	const char *name; /* rename message or formatted kernel name; lives as long as the table */
	uint64_t start_ns, end_ns;
	uint64_t dispatch_id, corr_id, external_id;
	uint32_t grid[3], workgroup[3]; /* in work-items */
	uint32_t private_bytes, group_bytes;
	/* How it was counted; over all runs. */
	double sampled;       /* 1, or the part of the workgroups that was modelled */
	uint32_t n_executed;  /* times the kernel ran in the first run: more than 1 is replay */
	uint64_t saved_bytes; /* put back between these */
	uint64_t replay_ns;   /* host time of the additional ones */
	uint32_t n_runs;      /* runs in which it was found */
};

/* Takes the traces, in the order of runs; closes them also when it fails. */
enum ws_status trc_counted_open(struct trc_trace **runs, size_t n_runs,
				struct trc_counted **out_table, struct ws_err *err);
void trc_counted_close(struct trc_counted *table); /* and the traces */

/* The trace of the first run: what the rows refer to, and what other services recorded. */
struct trc_trace *trc_counted_trace(const struct trc_counted *table);

/* All runs, from 0; for what their processes have to say. */
size_t trc_counted_n_runs(const struct trc_counted *table);
struct trc_trace *trc_counted_run(const struct trc_counted *table, size_t i);

size_t trc_counted_n_rows(const struct trc_counted *table); /* by process, then dispatch id */
const struct trc_counted_row *trc_counted_row(const struct trc_counted *table, size_t i);
const double *trc_counted_cells(const struct trc_counted *table, size_t i); /* NaN: no value */
/* The row of a dispatch, or SIZE_MAX. */
size_t trc_counted_find_row(const struct trc_counted *table, const struct trc_process *process,
			    uint64_t dispatch_id);

size_t trc_counted_n_columns(const struct trc_counted *table);
const struct trc_counted_column *trc_counted_column(const struct trc_counted *table, size_t i);
const struct trc_counted_column *trc_counted_find(const struct trc_counted *table,
						  const char *name);
size_t trc_counted_n_cells(const struct trc_counted *table); /* of a row */

/* A kernel that a later run launched more or less often than the first, by name. */
struct trc_counted_difference {
	uint32_t run; /* from 1: the first is what it is compared with */
	const char *kernel;
	uint64_t n_missing; /* dispatches of the first run that this one lacks */
	uint64_t n_more;    /* dispatches that the first run lacks: they are in no row */
};
size_t trc_counted_n_differences(const struct trc_counted *table);
const struct trc_counted_difference *trc_counted_difference(const struct trc_counted *table,
							    size_t i);

#endif
