#include "counters/derived.h"

#include "counters/derived_priv.h"
#include "trace/agent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 30)
#define SCRATCH_MAX (64u << 20)

/* ---- what was requested of a GPU ---- */

/* The most values that a request can have. */
static uint32_t room_for(const struct cnt_derived_gpu *gpu, const struct cnt_plan_request *request)
{
	size_t n = request->counter ? cnt_shape_size(&request->counter->shape) : 1;

	for (size_t i = 0; i < request->n_reads; i++) {
		const struct trc_counted_column *column = gpu->columns[request->reads[i]];

		n = WS_MAX(n, column ? (size_t)column->n : 1);
	}
	return (uint32_t)n;
}

static int by_catalogue(const void *a, const void *b)
{
	const struct cnt_derived_request *x = a, *y = b;
	uint32_t ix = x->request->counter ? x->request->counter->id : 0;
	uint32_t iy = y->request->counter ? y->request->counter->id : 0;

	if (ix != iy)
		return ix < iy ? -1 : 1;
	return strcmp(x->request->name, y->request->name);
}

/* In the order of the catalogue, as AMD's ids are; each name once. */
static enum ws_status list_requests(struct cnt_derived *d, struct cnt_derived_gpu *gpu,
				    struct ws_err *err)
{
	const struct cnt_plan *plan = gpu->plan.plan;
	uint32_t first = 0;

	gpu->requests = ws_arena_array(&d->arena, plan->n_requests + 1, sizeof(*gpu->requests));
	gpu->columns = ws_arena_array(&d->arena, plan->n_reads + 1, sizeof(*gpu->columns));
	if (!gpu->requests || !gpu->columns)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < plan->n_reads; i++)
		gpu->columns[i] = trc_counted_find(d->table, plan->reads[i].spelling);
	for (size_t i = 0; i < plan->n_requests; i++)
		if (cnt_plan_find(plan, plan->requests[i].name) == i)
			gpu->requests[gpu->n_requests++] = (struct cnt_derived_request){
				.request = &plan->requests[i],
				.number = i,
				.least_sampled = 1,
			};
	qsort(gpu->requests, gpu->n_requests, sizeof(*gpu->requests), by_catalogue);
	for (size_t i = 0; i < gpu->n_requests; i++) {
		gpu->requests[i].first = first;
		gpu->requests[i].room = room_for(gpu, gpu->requests[i].request);
		first += gpu->requests[i].room;
	}
	d->n_cells = WS_MAX(d->n_cells, (size_t)first);
	return WS_OK;
}

static enum ws_status add_gpus(struct cnt_derived *d, const struct cnt_plan_words *words,
			       struct trc_trace *trace, struct ws_err *err)
{
	size_t n_processes = trc_n_processes(trace), n = 0;
	enum ws_status st = WS_OK;

	for (size_t p = 0; p < n_processes; p++)
		n += trc_process_at(trace, p)->agents.n;
	d->gpus = ws_arena_array(&d->arena, n + 1, sizeof(*d->gpus));
	d->shown = ws_arena_array(&d->arena, n_processes + 1, sizeof(*d->shown));
	if (!d->gpus || !d->shown)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t p = 0; p < n_processes; p++) {
		const struct trc_process *process = trc_process_at(trace, p);

		for (size_t a = 0; a < process->agents.n && !st; a++) {
			const struct trc_agent *agent = process->agents.at[a];
			struct cnt_derived_gpu *gpu = &d->gpus[d->n_gpus];
			struct gpu_agent facts;

			if (agent->info->type != CAP_AGENT_GPU)
				continue;
			gpu->agent = agent;
			gpu->process = process;
			d->n_gpus++;
			trc_agent_describe(agent, &facts);
			st = cnt_gpu_plan_init(&gpu->plan, words, agent->info->node_id - 1, &facts,
					       err);
			if (!st)
				st = list_requests(d, gpu, err);
		}
	}
	return st;
}

static struct cnt_derived_gpu *gpu_of(const struct cnt_derived *d, const struct trc_agent *agent)
{
	for (size_t i = 0; i < d->n_gpus; i++)
		if (d->gpus[i].agent == agent)
			return &d->gpus[i];
	return NULL;
}

/* ---- values ---- */

/*
 * A product has fewer compute units than its engines have places for: what is not there is
 * no value, and the catalogue's shape stays whole.
 */
static const double *padded(const double *values, size_t n, size_t n_places, struct ws_arena *arena)
{
	double *all = ws_arena_array(arena, n_places, sizeof(*all));

	for (size_t i = 0; all && i < n_places; i++)
		all[i] = i < n ? values[i] : NAN;
	return all;
}

static enum ws_status take_samples(const struct cnt_derived *d, const struct cnt_derived_gpu *gpu,
				   size_t row, struct cnt_plan_sample *samples,
				   struct ws_arena *arena, struct ws_err *err)
{
	const double *cells = trc_counted_cells(d->table, row);

	for (size_t i = 0; i < gpu->plan.plan->n_reads; i++) {
		const struct trc_counted_column *column = gpu->columns[i];
		size_t n_places = cnt_shape_size(&gpu->plan.plan->reads[i].counter->shape), n = 0;

		/* A GPU with fewer instances than another leaves the rest empty. */
		while (column && n < column->n && !isnan(cells[column->first + n]))
			n++;
		samples[i] = (struct cnt_plan_sample){ n ? cells + column->first : NULL, n };
		if (n > 1 && n < n_places) {
			samples[i].at = padded(samples[i].at, n, n_places, arena);
			samples[i].n = n_places;
			if (!samples[i].at)
				return ws_fail(err, WS_E_NOMEM, "out of memory");
		}
	}
	return WS_OK;
}

/* A name that is in several groups has the value of whichever was counted. */
static enum ws_status value_of(const struct cnt_derived_gpu *gpu,
			       const struct cnt_derived_request *wanted,
			       const struct cnt_plan_sample *samples, struct ws_arena *arena,
			       struct cnt_values *out_values, struct ws_err *err)
{
	const struct cnt_plan *plan = gpu->plan.plan;
	enum ws_status st = WS_OK;

	out_values->n = 0;
	for (size_t i = wanted->number; i < plan->n_requests && !st && !out_values->n; i++)
		if (i == wanted->number ||
		    strcmp(plan->requests[i].name, wanted->request->name) == 0)
			st = cnt_plan_value(plan, i, samples, arena, out_values, err);
	return st;
}

static enum ws_status compute_row(struct cnt_derived *d, size_t row, struct ws_arena *arena,
				  struct ws_err *err)
{
	const struct trc_counted_row *facts = trc_counted_row(d->table, row);
	struct cnt_derived_gpu *gpu = gpu_of(d, facts->agent);
	double *cells = trc_cells_row(&d->cells, row);
	struct cnt_plan_sample *samples;
	enum ws_status st = WS_OK;

	if (!gpu)
		return WS_OK;
	samples = ws_arena_array(arena, gpu->plan.plan->n_reads + 1, sizeof(*samples));
	if (!samples)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = take_samples(d, gpu, row, samples, arena, err);
	gpu->n_rows++;
	for (size_t i = 0; i < gpu->n_requests && !st; i++) {
		struct cnt_derived_request *wanted = &gpu->requests[i];
		struct cnt_values values;

		if (wanted->request->state != CNT_PLAN_AVAILABLE)
			continue;
		st = value_of(gpu, wanted, samples, arena, &values, err);
		if (st)
			return ws_fail_in(err, st, "counter '%s'", wanted->request->name);
		if (!values.n)
			continue;
		memcpy(cells + wanted->first, values.at,
		       WS_MIN(values.n, (size_t)wanted->room) * sizeof(*cells));
		wanted->n_seen++;
		wanted->shape = values.shape;
		wanted->least_sampled = WS_MIN(wanted->least_sampled, facts->sampled);
	}
	return st;
}

static size_t give_values(void *ctx, const struct trc_process *process,
			  const struct cap_rec_dispatch *dispatch, struct cap_counter_value *to,
			  size_t room)
{
	const struct cnt_derived *d = ctx;
	size_t row = trc_counted_find_row(d->table, process, dispatch->dispatch_id), n = 0;
	const struct cnt_derived_gpu *gpu =
		row == SIZE_MAX ? NULL : gpu_of(d, trc_counted_row(d->table, row)->agent);
	const double *cells;

	if (!gpu)
		return 0;
	cells = trc_cells_row(&d->cells, row);
	for (size_t i = 0; i < gpu->n_requests; i++) {
		const struct cnt_derived_request *wanted = &gpu->requests[i];

		for (uint32_t k = 0; k < wanted->room; k++) {
			if (isnan(cells[wanted->first + k]))
				continue;
			if (n < room)
				to[n] = (struct cap_counter_value){ wanted->id, k,
								    cells[wanted->first + k] };
			n++;
		}
	}
	return n;
}

/* ---- the whole ---- */

enum ws_status cnt_derive(struct trc_counted *table, const struct cnt_plan_words *words,
			  struct cnt_derived **out_derived, struct ws_err *err)
{
	struct cnt_derived *d = calloc(1, sizeof(*d));
	struct trc_trace *trace = trc_counted_trace(table);
	struct ws_arena scratch;
	enum ws_status st;

	if (!d)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	d->table = table;
	ws_arena_init(&d->arena, ARENA_MAX);
	ws_arena_init(&scratch, SCRATCH_MAX);
	st = add_gpus(d, words, trace, err);
	if (!st)
		st = trc_cells_init(&d->cells, trc_counted_n_rows(table), d->n_cells, err);
	for (size_t i = 0; i < trc_counted_n_rows(table) && !st; i++) {
		st = compute_row(d, i, &scratch, err);
		ws_arena_reset(&scratch);
	}
	for (size_t p = 0; p < trc_n_processes(trace) && !st; p++) {
		st = cnt_derived_show(d, trace, p, give_values, err);
	}
	ws_arena_fini(&scratch);
	if (st) {
		cnt_derived_destroy(d);
		return st;
	}
	*out_derived = d;
	return WS_OK;
}

void cnt_derived_destroy(struct cnt_derived *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_gpus; i++)
		cnt_gpu_plan_fini(&d->gpus[i].plan);
	trc_cells_fini(&d->cells);
	ws_arena_fini(&d->arena);
	free(d);
}
