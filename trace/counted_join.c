/*
 * counted_join: the values of every run, put into the rows of the first.
 *
 * Processes are alike by command line and order of start; dispatches as dispatch_match.h
 * says. A run that does something else shows as rows without a partner, which are counted
 * by kernel.
 */
#include "trace/counted_priv.h"

#include "trace/dispatch_match.h"

#include <stdlib.h>
#include <string.h>

#define DISPATCHES_MAX ((size_t)1 << 28)

struct keyed {
	uint32_t process; /* of the run */
	uint32_t kind;    /* of the match */
	uint64_t dispatch_id;
	size_t row; /* TRC_NO_ROW: the first run has none for it */
	const char *kernel;
};

struct join {
	struct trc_counted *table;
	uint32_t run;
	struct ws_arena arena;
	struct trc_match match;
	WS_VEC(struct keyed) list;
	uint64_t *partner; /* by process of the run: index of the first run's, + 1 */
	struct ws_err *err;
};

/* ---- processes ---- */

static bool same_command(const struct trc_process *a, const struct trc_process *b)
{
	if (a->n_argv != b->n_argv)
		return false;
	for (size_t i = 0; i < a->n_argv; i++)
		if (strcmp(a->argv[i], b->argv[i]) != 0)
			return false;
	return true;
}

/* How many processes before this one, in the order of start, have its command line. */
static size_t ordinal(const struct trc_trace *trace, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += same_command(trc_process_at(trace, i), trc_process_at(trace, at));
	return n;
}

static uint64_t find_partner(const struct join *j, size_t at)
{
	const struct trc_trace *first = j->table->runs[0], *own = j->table->runs[j->run];
	const struct trc_process *process = trc_process_at(own, at);
	size_t which = ordinal(own, at);

	for (size_t i = 0; i < trc_n_processes(first); i++)
		if (same_command(trc_process_at(first, i), process) && which-- == 0)
			return i + 1;
	return 0;
}

/* ---- dispatches ---- */

/* @process: which of the first run's, + 1; 0: it has no such. */
static struct trc_launch launch_of(uint64_t process, const struct trc_kernel *kernel,
				   const struct trc_agent *agent, const uint32_t grid[3],
				   const uint32_t workgroup[3], uint32_t group_bytes)
{
	return (struct trc_launch){
		.process = process,
		.gpu = agent ? agent->info->node_id : UINT32_MAX,
		.kernel = ws_hash_bytes(kernel->symbol, strlen(kernel->symbol)),
		.grid = { grid[0], grid[1], grid[2] },
		.workgroup = { workgroup[0], workgroup[1], workgroup[2] },
		.group_bytes = group_bytes,
	};
}

static enum ws_status add_first_run(struct join *j)
{
	struct trc_counted *table = j->table;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < table->rows.n && !st; i++) {
		const struct trc_counted_row *row = &table->rows.at[i];
		struct trc_launch launch =
			launch_of(row->process->index + 1, row->kernel, row->agent, row->grid,
				  row->workgroup, row->group_bytes);
		uint32_t kind;

		st = trc_match_kind(&j->match, &launch, &kind, j->err);
		if (!st)
			st = trc_match_add(&j->match, kind, j->err);
	}
	return st;
}

/* ---- matching ---- */

static int by_submission(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->dispatch_id < y->dispatch_id ? -1 : x->dispatch_id > y->dispatch_id;
}

static enum ws_status list_dispatches(struct join *j)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) };
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st = trc_events_open(j->table->runs[j->run], &query, &events, j->err), end;

	while (!st && (ev = trc_events_next(events))) {
		const struct cap_rec_dispatch *d = ev->dispatch.info;
		struct trc_launch launch =
			launch_of(j->partner[ev->process->index], ev->dispatch.kernel,
				  ev->dispatch.agent, d->grid, d->workgroup, d->group_bytes);
		struct keyed one = { ev->process->index, 0, d->dispatch_id, TRC_NO_ROW,
				     ev->dispatch.kernel->formatted };

		if (!d->n_values)
			continue;
		st = trc_match_kind(&j->match, &launch, &one.kind, j->err);
		if (!st)
			st = ws_vec_push(&j->list, one, j->err);
	}
	end = trc_events_close(events, st ? NULL : j->err);
	ws_vec_sort(&j->list, by_submission);
	return st ? st : end;
}

static void match_dispatches(struct join *j)
{
	trc_match_rewind(&j->match);
	ws_vec_each(one, &j->list) {
		one->row = trc_match_take(&j->match, one->kind);
		if (one->row != TRC_NO_ROW)
			j->table->rows.at[one->row].n_runs++;
	}
}

static size_t row_of(const struct join *j, const struct trc_process *process, uint64_t dispatch_id)
{
	struct keyed key = { .process = process->index, .dispatch_id = dispatch_id };
	const struct keyed *found;

	if (!j->run)
		return trc_counted_find_row(j->table, process, dispatch_id);
	found = j->list.n ? bsearch(&key, j->list.at, j->list.n, sizeof(key), by_submission) : NULL;
	return found ? found->row : TRC_NO_ROW;
}

/* ---- values ---- */

static enum ws_status take_values(struct join *j)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION) |
						    TRC_DOMAIN_BIT(COUNTER_VALUES) };
	struct trc_trace *trace = j->table->runs[j->run];
	size_t n_processes = trc_n_processes(trace);
	size_t **columns = ws_arena_array(&j->arena, n_processes + 1, sizeof(*columns));
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st = columns ? WS_OK : ws_fail(j->err, WS_E_NOMEM, "out of memory"), end;

	for (size_t i = 0; i < n_processes && !st; i++)
		st = trc_counted_columns_of(j->table, trc_process_at(trace, i), &columns[i],
					    j->err);
	if (!st)
		st = trc_events_open(trace, &query, &events, j->err);
	if (st)
		return st;
	while ((ev = trc_events_next(events))) {
		bool how = ev->domain == CAP_DOMAIN_COUNTER_VALUES;
		size_t row = row_of(j, ev->process,
				    how ? ev->counted.info->dispatch_id
					: ev->dispatch.info->dispatch_id);

		if (row == TRC_NO_ROW)
			continue;
		if (how)
			trc_counted_take_how(j->table, row, ev->counted.info);
		else
			trc_counted_take_values(j->table, row, ev, columns[ev->process->index]);
	}
	end = trc_events_close(events, j->err);
	return end;
}

/* ---- differences ---- */

static enum ws_status difference_of(struct join *j, struct ws_map *seen, const char *kernel,
				    struct trc_counted_difference **out)
{
	size_t at = (size_t)(uintptr_t)ws_map_get(seen, kernel);
	enum ws_status st;

	if (!at) {
		st = ws_vec_push(&j->table->differences,
				 ((struct trc_counted_difference){ j->run, kernel, 0, 0 }), j->err);
		at = j->table->differences.n;
		if (!st)
			st = ws_map_put(seen, ws_str_from(kernel), (void *)(uintptr_t)at, j->err);
		if (st)
			return st;
	}
	*out = &j->table->differences.at[at - 1];
	return WS_OK;
}

static enum ws_status find_differences(struct join *j)
{
	struct trc_counted_difference *d;
	struct ws_map seen; /* by kernel: place + 1 */
	enum ws_status st = WS_OK;

	ws_map_init(&seen, WS_MAP_STR, DISPATCHES_MAX);
	/* Rows of the first run without a match, and dispatches that match no row. */
	for (size_t k = 0; k < j->match.rows.n; k++) {
		size_t row;

		while (!st && (row = trc_match_take(&j->match, (uint32_t)k)) != TRC_NO_ROW) {
			st = difference_of(j, &seen, j->table->rows.at[row].kernel->formatted, &d);
			if (!st)
				d->n_missing++;
		}
	}
	ws_vec_each(one, &j->list) {
		if (one->row != TRC_NO_ROW || st)
			continue;
		st = difference_of(j, &seen, one->kernel, &d);
		if (!st)
			d->n_more++;
	}
	ws_map_fini(&seen);
	return st;
}

enum ws_status trc_counted_join(struct trc_counted *table, uint32_t run, struct ws_err *err)
{
	struct join j = { .table = table, .run = run, .err = err };
	size_t n_processes = trc_n_processes(table->runs[run]);
	enum ws_status st = WS_OK;

	ws_arena_init(&j.arena, (size_t)4 << 30);
	trc_match_init(&j.match, TRC_ALIKE_LAUNCH);
	ws_vec_init(&j.list, DISPATCHES_MAX);
	if (run) {
		j.partner = ws_arena_array(&j.arena, n_processes + 1, sizeof(*j.partner));
		if (!j.partner)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t i = 0; i < n_processes && !st; i++)
			j.partner[i] = find_partner(&j, i);
		if (!st)
			st = add_first_run(&j);
		if (!st)
			st = list_dispatches(&j);
		if (!st)
			match_dispatches(&j);
		if (!st)
			st = find_differences(&j);
	}
	if (!st)
		st = take_values(&j);
	trc_match_fini(&j.match);
	ws_vec_fini(&j.list);
	ws_arena_fini(&j.arena);
	return st;
}
