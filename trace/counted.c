/*
 * counted: the table. Columns come from the facts of all runs, rows from the dispatches
 * of the first; counted_join.c finds them again in the others.
 */
#include "trace/counted_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX ((size_t)1 << 28)
#define COLUMNS_MAX 65536u
#define INSTANCES_MAX 65536u /* of one counter */
#define CELLS_MAX (1u << 24) /* of a row */
#define ARENA_MAX ((size_t)1 << 30)

/* ---- columns ---- */

/* As the record says, within reason: a flipped bit must not become a gigabyte of table. */
static uint32_t n_instances(const struct trc_counter *counter)
{
	uint64_t n = 1;

	for (uint32_t d = 0; d < counter->info->n_dims; d++)
		n = WS_MIN(n * WS_MAX(counter->dims[d].n, 1u), (uint64_t)INSTANCES_MAX);
	return (uint32_t)n;
}

static enum ws_status see_counter(struct trc_counted *table, uint32_t run,
				  const struct trc_process *process,
				  const struct trc_counter *counter, struct ws_err *err)
{
	size_t at = (size_t)(uintptr_t)ws_map_get(&table->by_name, counter->name);
	struct trc_counted_column *column;
	enum ws_status st = WS_OK;

	if (!at) {
		static const struct trc_counted_column none;

		st = ws_vec_push(&table->columns, none, err);
		if (!st)
			st = ws_map_put(&table->by_name, ws_str_from(counter->name),
					(void *)(uintptr_t)table->columns.n, err);
		if (st)
			return st;
		at = table->columns.n;
		table->columns.at[at - 1] = (struct trc_counted_column){
			.name = counter->name,
			.block = counter->block,
			.description = counter->description,
			.run = run,
			.n_dims = counter->info->n_dims,
			.dims = counter->dims,
			.process = process,
		};
	}
	column = &table->columns.at[at - 1];
	column->n = WS_MAX(column->n, n_instances(counter));
	if (!counter->agent || !(counter->agent->info->flags & CAP_AGENT_SOFT))
		column->fidelity = TRC_COUNTED_HARDWARE;
	else if (counter->info->flags & CAP_COUNTER_IS_MODELLED)
		column->fidelity = WS_MAX(column->fidelity, TRC_COUNTED_MODELLED);
	return WS_OK;
}

static enum ws_status make_columns(struct trc_counted *table, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	uint32_t first = 0;

	for (size_t r = 0; r < table->n_runs; r++) {
		for (size_t p = 0; p < trc_n_processes(table->runs[r]); p++) {
			const struct trc_process *process = trc_process_at(table->runs[r], p);

			for (size_t c = 0; c < process->counters.n && !st; c++)
				if (process->counters.at[c].info)
					st = see_counter(table, (uint32_t)r, process,
							 &process->counters.at[c], err);
		}
	}
	ws_vec_each(column, &table->columns) {
		if (!st && column->n > CELLS_MAX - first)
			st = ws_fail(err, WS_E_LIMIT, "more than %u values per dispatch",
				     CELLS_MAX);
		column->first = first;
		first += st ? 0 : column->n;
	}
	table->n_cells = first;
	return st;
}

/* ---- rows ---- */

static struct trc_counted_row row_of(const struct trc_event *ev)
{
	const struct cap_rec_dispatch *d = ev->dispatch.info;

	return (struct trc_counted_row){
		.process = ev->process,
		.kernel = ev->dispatch.kernel,
		.agent = ev->dispatch.agent,
		.queue = ev->dispatch.queue,
		.thread = ev->thread,
		.stream = ev->stream,
		.name = ev->name,
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns,
		.dispatch_id = d->dispatch_id,
		.corr_id = d->corr_id,
		.external_id = d->external_id,
		.grid = { d->grid[0], d->grid[1], d->grid[2] },
		.workgroup = { d->workgroup[0], d->workgroup[1], d->workgroup[2] },
		.private_bytes = d->private_bytes,
		.group_bytes = d->group_bytes,
		.sampled = 1,
		.n_executed = 1,
		.n_runs = 1,
	};
}

static int by_dispatch(const void *a, const void *b)
{
	const struct trc_counted_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process->index < y->process->index ? -1 : 1;
	return x->dispatch_id < y->dispatch_id ? -1 : x->dispatch_id > y->dispatch_id;
}

static enum ws_status make_rows(struct trc_counted *table, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) };
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st = trc_events_open(table->runs[0], &query, &events, err), end;

	while (!st && (ev = trc_events_next(events)))
		if (ev->dispatch.info->n_values)
			st = ws_vec_push(&table->rows, row_of(ev), err);
	end = trc_events_close(events, st ? NULL : err);
	ws_vec_sort(&table->rows, by_dispatch);
	return st ? st : end;
}

size_t trc_counted_find_row(const struct trc_counted *table, const struct trc_process *process,
			    uint64_t dispatch_id)
{
	struct trc_counted_row key = { .process = process, .dispatch_id = dispatch_id };
	const struct trc_counted_row *row =
		table->rows.n
			? bsearch(&key, table->rows.at, table->rows.n, sizeof(key), by_dispatch)
			: NULL;

	return row ? (size_t)(row - table->rows.at) : SIZE_MAX;
}

/* ---- values ---- */

void trc_counted_take_values(struct trc_counted *table, size_t row, const struct trc_event *ev,
			     size_t *columns)
{
	double *cells = trc_cells_row(&table->cells, row);
	const struct cap_counter_value *values = ev->dispatch.values;
	uint32_t last = UINT32_MAX;
	struct trc_counted_column *column = NULL;
	bool fresh = false;

	for (uint32_t i = 0; i < ev->dispatch.info->n_values; i++) {
		const struct cap_counter_value *v = &values[i];

		/* Instances of a counter come together. */
		if (v->counter != last) {
			last = v->counter;
			column = v->counter < ev->process->counters.n && columns[v->counter]
					 ? &table->columns.at[columns[v->counter] - 1]
					 : NULL;
			fresh = column && isnan(cells[column->first]);
			if (fresh)
				column->n_seen++;
		}
		/* What two runs counted is the first one's. */
		if (fresh && v->instance < column->n)
			cells[column->first + v->instance] = v->value;
	}
}

void trc_counted_take_how(struct trc_counted *table, size_t row, const struct cap_rec_counted *how)
{
	struct trc_counted_row *r = &table->rows.at[row];

	r->sampled = WS_MIN(r->sampled, how->sampled);
	r->n_executed = WS_MAX(r->n_executed, how->n_executed);
	r->saved_bytes += how->saved_bytes;
	r->replay_ns += how->replay_ns;
	if (how->sampled < 1)
		table->n_sampled++;
}

enum ws_status trc_counted_columns_of(struct trc_counted *table, const struct trc_process *process,
				      size_t **out_columns, struct ws_err *err)
{
	size_t *columns = ws_arena_array(&table->arena, process->counters.n + 1, sizeof(*columns));

	if (!columns)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < process->counters.n; i++)
		columns[i] = process->counters.at[i].info
				     ? (size_t)(uintptr_t)ws_map_get(&table->by_name,
								     process->counters.at[i].name)
				     : 0;
	*out_columns = columns;
	return WS_OK;
}

/* ---- the whole ---- */

enum ws_status trc_counted_open(struct trc_trace **runs, size_t n_runs,
				struct trc_counted **out_table, struct ws_err *err)
{
	struct trc_counted *table = calloc(1, sizeof(*table));
	enum ws_status st = WS_OK;

	if (table)
		table->runs = calloc(n_runs + 1, sizeof(*table->runs));
	if (!table || !table->runs) {
		for (size_t i = 0; i < n_runs; i++)
			trc_close(runs[i]);
		free(table);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	memcpy(table->runs, runs, n_runs * sizeof(*runs));
	table->n_runs = n_runs;
	ws_arena_init(&table->arena, ARENA_MAX);
	ws_map_init(&table->by_name, WS_MAP_STR, COLUMNS_MAX);
	ws_vec_init(&table->columns, COLUMNS_MAX);
	ws_vec_init(&table->rows, ROWS_MAX);
	ws_vec_init(&table->differences, COLUMNS_MAX);
	if (!n_runs)
		st = ws_fail(err, WS_E_NOTFOUND, "no runs for a table");
	if (!st)
		st = make_columns(table, err);
	if (!st)
		st = make_rows(table, err);
	if (!st)
		st = trc_cells_init(&table->cells, table->rows.n, table->n_cells, err);
	for (size_t r = 0; r < n_runs && !st; r++)
		st = trc_counted_join(table, (uint32_t)r, err);
	ws_vec_each(column, &table->columns)
		if (table->n_sampled && column->fidelity == TRC_COUNTED_MODELLED)
			column->fidelity = TRC_COUNTED_SAMPLED;
	if (st) {
		trc_counted_close(table);
		return st;
	}
	*out_table = table;
	return WS_OK;
}

void trc_counted_close(struct trc_counted *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_runs; i++)
		trc_close(table->runs[i]);
	free(table->runs);
	trc_cells_fini(&table->cells);
	ws_map_fini(&table->by_name);
	ws_vec_fini(&table->columns);
	ws_vec_fini(&table->rows);
	ws_vec_fini(&table->differences);
	ws_arena_fini(&table->arena);
	free(table);
}

struct trc_trace *trc_counted_trace(const struct trc_counted *table)
{
	return table->runs[0];
}

size_t trc_counted_n_runs(const struct trc_counted *table)
{
	return table->n_runs;
}

struct trc_trace *trc_counted_run(const struct trc_counted *table, size_t i)
{
	return table->runs[i];
}

size_t trc_counted_n_rows(const struct trc_counted *table)
{
	return table->rows.n;
}

const struct trc_counted_row *trc_counted_row(const struct trc_counted *table, size_t i)
{
	return &table->rows.at[i];
}

const double *trc_counted_cells(const struct trc_counted *table, size_t i)
{
	return trc_cells_row(&table->cells, i);
}

size_t trc_counted_n_columns(const struct trc_counted *table)
{
	return table->columns.n;
}

const struct trc_counted_column *trc_counted_column(const struct trc_counted *table, size_t i)
{
	return &table->columns.at[i];
}

const struct trc_counted_column *trc_counted_find(const struct trc_counted *table, const char *name)
{
	size_t at = (size_t)(uintptr_t)ws_map_get(&table->by_name, name);

	return at ? &table->columns.at[at - 1] : NULL;
}

size_t trc_counted_n_cells(const struct trc_counted *table)
{
	return table->n_cells;
}

size_t trc_counted_n_differences(const struct trc_counted *table)
{
	return table->differences.n;
}

const struct trc_counted_difference *trc_counted_difference(const struct trc_counted *table,
							    size_t i)
{
	return &table->differences.at[i];
}
