#include "counters/over_time.h"

#include "base/arena.h"
#include "trace/agent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 30)
#define SCRATCH_MAX (64u << 20)
#define NO_READ UINT32_MAX

struct gpu {
	struct cnt_gpu_plan plan;
	int32_t device;
	bool simulated;
	uint32_t first_metric; /* of its requests: the numbers that they have in the trace */
	uint32_t *first_cell;  /* by read; the last is behind all */
};

/* What a recorded metric is: a cell of a GPU, or one that stays as it is. */
struct place {
	uint32_t gpu, cell; /* NO_READ: it stays */
};

struct cnt_over_time {
	struct ws_arena arena;
	struct gpu *gpus;
	uint32_t n_gpus;
	struct place *places; /* by recorded metric */
	size_t n_places;
	struct trc_metric *metrics;
	size_t n_metrics;
	struct trc_remetric shown;
};

/* ---- values ---- */

/* The request's sum over instances; NAN: it has no value. */
static double sum_of(const struct cnt_plan *plan, size_t request,
		     const struct cnt_plan_sample *samples, struct ws_arena *scratch)
{
	struct cnt_values values = { .n = 0 };
	struct ws_err err;
	size_t n_valid = 0;
	double sum = 0;

	if (plan->requests[request].state != CNT_PLAN_AVAILABLE ||
	    cnt_plan_value(plan, request, samples, scratch, &values, &err) || !values.n)
		return NAN;
	for (size_t i = 0; i < values.n; i++) {
		n_valid += isfinite(values.at[i]) != 0;
		sum += isfinite(values.at[i]) ? values.at[i] : 0;
	}
	return n_valid ? sum : NAN;
}

/* Cells of a reading that were recorded, as samples; a read without all of them has none. */
static bool take_samples(const struct gpu *gpu, const double *cells,
			 struct cnt_plan_sample *samples)
{
	const struct cnt_plan *plan = gpu->plan.plan;
	bool any = false;

	for (size_t r = 0; r < plan->n_reads; r++) {
		size_t n = gpu->first_cell[r + 1] - gpu->first_cell[r];
		const double *at = cells + gpu->first_cell[r];

		samples[r] = (struct cnt_plan_sample){ at, n && !isnan(at[0]) ? n : 0 };
		any |= samples[r].n > 0;
	}
	return any;
}

static size_t compute_gpu(const struct gpu *gpu, const double *cells, struct ws_arena *scratch,
			  struct cap_metric_value *to, size_t room, size_t n)
{
	const struct cnt_plan *plan = gpu->plan.plan;
	struct cnt_plan_sample *samples =
		ws_arena_array(scratch, plan->n_reads + 1, sizeof(*samples));

	if (!samples || !take_samples(gpu, cells, samples))
		return n;
	for (size_t i = 0; i < plan->n_requests; i++) {
		double sum = sum_of(plan, i, samples, scratch);

		if (isnan(sum))
			continue;
		if (n < room)
			to[n] = (struct cap_metric_value){ .metric =
								   gpu->first_metric + (uint32_t)i,
							   .value = sum };
		n++;
	}
	return n;
}

static size_t give_values(void *ctx, const struct cap_metric_value *recorded, size_t n_recorded,
			  struct cap_metric_value *to, size_t room)
{
	const struct cnt_over_time *o = ctx;
	struct ws_arena scratch;
	size_t n = 0;

	ws_arena_init(&scratch, SCRATCH_MAX);
	for (uint32_t g = 0; g < o->n_gpus; g++) {
		const struct gpu *gpu = &o->gpus[g];
		size_t n_cells = gpu->first_cell[gpu->plan.plan->n_reads];
		double *cells = ws_arena_array(&scratch, n_cells + 1, sizeof(*cells));

		for (size_t i = 0; cells && i < n_cells; i++)
			cells[i] = NAN;
		for (size_t i = 0; cells && i < n_recorded; i++) {
			const struct place *place = recorded[i].metric < o->n_places
							    ? &o->places[recorded[i].metric]
							    : NULL;

			if (place && place->cell != NO_READ && place->gpu == g)
				cells[place->cell] = recorded[i].value;
		}
		if (cells)
			n = compute_gpu(gpu, cells, &scratch, to, room, n);
	}
	for (size_t i = 0; i < n_recorded; i++) {
		if (recorded[i].metric < o->n_places &&
		    o->places[recorded[i].metric].cell != NO_READ)
			continue;
		if (n < room)
			to[n] = recorded[i];
		n++;
	}
	ws_arena_fini(&scratch);
	return n;
}

/* ---- metrics ---- */

static const struct trc_agent *agent_of(const struct trc_process *process, int32_t device)
{
	for (size_t i = 0; i < process->agents.n; i++) {
		const struct cap_rec_agent *info = process->agents.at[i]->info;

		if (info->type == CAP_AGENT_GPU && (int32_t)info->logical_node_type_id == device)
			return process->agents.at[i];
	}
	return NULL;
}

static size_t n_recorded_of(const struct trc_process *process, int32_t device, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < process->metrics.n; i++) {
		const struct trc_metric *m = &process->metrics.at[i];

		if (m->category == CAP_METRIC_DEVICE_COUNTER && m->device == device &&
		    strcmp(m->counter, name) == 0)
			n = WS_MAX(n, (size_t)m->instance + 1);
	}
	return n;
}

static enum ws_status add_gpu(struct cnt_over_time *o, const struct trc_process *process,
			      const struct trc_agent *agent, const struct trc_metric *metric,
			      const struct cnt_plan_words *words, struct ws_err *err)
{
	struct gpu *gpu = &o->gpus[o->n_gpus++];
	const struct cnt_plan *plan;
	struct gpu_agent facts;
	enum ws_status st;
	size_t n_cells = 0;

	gpu->device = metric->device;
	gpu->simulated = metric->simulated;
	trc_agent_describe(agent, &facts);
	st = cnt_gpu_plan_init(&gpu->plan, words, agent->info->node_id - 1, &facts, err);
	if (st)
		return st;
	plan = gpu->plan.plan;
	gpu->first_cell = ws_arena_array(&o->arena, plan->n_reads + 1, sizeof(*gpu->first_cell));
	if (!gpu->first_cell)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t r = 0; r < plan->n_reads; r++) {
		size_t n = n_recorded_of(process, gpu->device, plan->reads[r].spelling);

		gpu->first_cell[r] = (uint32_t)n_cells;
		/* the catalogue's shape stays whole where a product has fewer compute units */
		n_cells += n > 1 ? WS_MAX(n, cnt_shape_size(&plan->reads[r].counter->shape)) : n;
	}
	gpu->first_cell[plan->n_reads] = (uint32_t)n_cells;
	return WS_OK;
}

static enum ws_status add_gpus(struct cnt_over_time *o, const struct trc_process *process,
			       const struct cnt_plan_words *words, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	o->gpus = ws_arena_array(&o->arena, process->agents.n + 1, sizeof(*o->gpus));
	if (!o->gpus)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < process->metrics.n && !st; i++) {
		const struct trc_metric *m = &process->metrics.at[i];
		const struct trc_agent *agent;
		uint32_t g = 0;

		if (m->category != CAP_METRIC_DEVICE_COUNTER || !m->id)
			continue;
		while (g < o->n_gpus && o->gpus[g].device != m->device)
			g++;
		agent = agent_of(process, m->device);
		if (g == o->n_gpus && agent && o->n_gpus < process->agents.n)
			st = add_gpu(o, process, agent, m, words, err);
	}
	return st;
}

static void find_place(const struct cnt_over_time *o, const struct trc_metric *m,
		       struct place *out_place)
{
	*out_place = (struct place){ 0, NO_READ };
	for (uint32_t g = 0; g < o->n_gpus && m->category == CAP_METRIC_DEVICE_COUNTER; g++) {
		const struct cnt_plan *plan = o->gpus[g].plan.plan;

		for (size_t r = 0; o->gpus[g].device == m->device && r < plan->n_reads; r++)
			if (strcmp(plan->reads[r].spelling, m->counter) == 0) {
				*out_place =
					(struct place){ g, o->gpus[g].first_cell[r] + m->instance };
				return;
			}
	}
}

/* Those that stay keep their numbers; requests follow, GPU by GPU. */
static enum ws_status list_metrics(struct cnt_over_time *o, const struct trc_process *process,
				   struct ws_err *err)
{
	size_t n = process->metrics.n, n_requests = 0;

	for (uint32_t g = 0; g < o->n_gpus; g++)
		n_requests += o->gpus[g].plan.plan->n_requests;
	o->places = ws_arena_array(&o->arena, n + 1, sizeof(*o->places));
	o->metrics = ws_arena_array(&o->arena, n + n_requests + 1, sizeof(*o->metrics));
	if (!o->places || !o->metrics)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	o->n_places = n;
	for (size_t i = 0; i < n; i++) {
		find_place(o, &process->metrics.at[i], &o->places[i]);
		o->metrics[i] = process->metrics.at[i];
		if (o->places[i].cell != NO_READ)
			o->metrics[i] = (struct trc_metric){
				.name = "", .unit = "", .counter = "", .device = -1
			};
	}
	for (uint32_t g = 0; g < o->n_gpus; g++) {
		const struct cnt_plan *plan = o->gpus[g].plan.plan;

		o->gpus[g].first_metric = (uint32_t)n;
		for (size_t i = 0; i < plan->n_requests; i++, n++) {
			const char *name = plan->requests[i].name;
			char *track = ws_arena_printf(&o->arena, "GPU Counter %s [%d] (S)", name,
						      (int)o->gpus[g].device);

			if (!track)
				return ws_fail(err, WS_E_NOMEM, "out of memory");
			o->metrics[n] = (struct trc_metric){
				.id = (uint32_t)n,
				.category = CAP_METRIC_DEVICE_COUNTER,
				.name = track,
				.unit = "",
				.counter = name,
				.device = o->gpus[g].device,
				.simulated = o->gpus[g].simulated,
			};
		}
	}
	o->n_metrics = n;
	return WS_OK;
}

enum ws_status cnt_over_time_create(struct trc_trace *trace, size_t process,
				    const struct cnt_plan_words *words,
				    struct cnt_over_time **out_over_time, struct ws_err *err)
{
	const struct trc_process *facts = trc_process_at(trace, process);
	struct cnt_over_time *o = calloc(1, sizeof(*o));
	enum ws_status st;

	if (!o)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_arena_init(&o->arena, ARENA_MAX);
	st = add_gpus(o, facts, words, err);
	if (!st)
		st = list_metrics(o, facts, err);
	if (st) {
		cnt_over_time_destroy(o);
		return st;
	}
	o->shown = (struct trc_remetric){ o->metrics, o->n_metrics, give_values, o };
	trc_set_remetric(trace, process, &o->shown);
	*out_over_time = o;
	return WS_OK;
}

void cnt_over_time_destroy(struct cnt_over_time *o)
{
	if (!o)
		return;
	for (uint32_t g = 0; g < o->n_gpus; g++)
		cnt_gpu_plan_fini(&o->gpus[g].plan);
	ws_arena_fini(&o->arena);
	free(o);
}
