/* Values over time: metrics, allocated memory, scratch memory, counters of dispatches. */
#include "timeline/timeline_priv.h"

#include "base/util.h"

#include <math.h>
#include <stdio.h>

/* Series of a process, by kind, agent and number; also their order in the picture. */
enum series_kind { SERIES_ALLOCATED, SERIES_SCRATCH, SERIES_COUNTER, SERIES_METRIC };

struct allocation {
	uint64_t n_bytes;
	struct series *series;
};

struct series {
	struct tl_made_track *track;
	uint64_t total_bytes;
};

static struct series *find_series(struct tl_process *p, enum series_kind kind, uint32_t agent,
				  uint32_t number, const char *title, const char *unit,
				  bool simulated, struct ws_err *err)
{
	uint64_t key = (uint64_t)kind << 62 | (uint64_t)(agent & 0x3fffffff) << 32 | number;
	struct series *series = ws_map_get_u64(&p->series, key);

	if (series)
		return series;
	series = ws_arena_new(&p->arena, struct series);
	if (!series || ws_map_put_u64(&p->series, key, series, NULL)) {
		ws_fail(err, WS_E_NOMEM, "no memory for the counters of a timeline");
		return NULL;
	}
	series->track = tl_track_create(p->tl, TL_TRACK_COUNTER, p->process, key, title, err);
	if (!series->track)
		return NULL;
	series->track->track.unit = unit;
	series->track->track.simulated = simulated;
	return series;
}

static struct series *memory_series(struct tl_process *p, enum series_kind kind,
				    const struct trc_agent *agent, struct ws_err *err)
{
	char title[128], name[64];

	tl_agent_title(p, agent, name, sizeof(name));
	snprintf(title, sizeof(title), "%s on %s",
		 kind == SERIES_SCRATCH ? "Scratch memory" : "Allocated memory", name);
	return find_series(p, kind, agent ? agent->info->h.what : 0, 0, title, "bytes", false, err);
}

enum ws_status tl_take_metrics(struct tl_process *p, const struct trc_event *ev, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; !st && i < ev->metrics.n_values; i++) {
		const struct cap_metric_value *value = &ev->metrics.values[i];
		const struct trc_metric *metric =
			&p->process->metrics
				 .at[value->metric < p->process->metrics.n ? value->metric : 0];
		struct series *series = find_series(p, SERIES_METRIC, 0, metric->id, metric->name,
						    metric->unit, metric->simulated, err);

		if (!series)
			return WS_E_NOMEM;
		if (isfinite(value->value))
			st = tl_track_value(p->tl, series->track, ev->start_ns, value->value, err);
	}
	return st;
}

static enum ws_status change_total(struct tl_process *p, struct series *series, uint64_t at_ns,
				   uint64_t add, uint64_t take, struct ws_err *err)
{
	series->total_bytes += add;
	series->total_bytes -= WS_MIN(take, series->total_bytes);
	return tl_track_value(p->tl, series->track, at_ns, (double)series->total_bytes, err);
}

enum ws_status tl_take_alloc(struct tl_process *p, const struct trc_event *ev, struct ws_err *err)
{
	const struct cap_rec_alloc *info = ev->alloc.info;
	struct allocation *live = ws_map_get_u64(&p->live, info->address);
	struct series *series;
	uint64_t taken;

	if (info->h.what == CAP_ALLOC_FREE || info->h.what == CAP_ALLOC_VMEM_FREE) {
		if (!live || !live->series)
			return WS_OK; /* allocated before recording began */
		series = live->series;
		live->series = NULL;
		return change_total(p, series, ev->end_ns, 0, live->n_bytes, err);
	}
	series = memory_series(p, SERIES_ALLOCATED, ev->alloc.agent, err);
	if (!series)
		return WS_E_NOMEM;
	if (!live) {
		live = ws_arena_new(&p->arena, struct allocation);
		if (!live || ws_map_put_u64(&p->live, info->address, live, NULL))
			return ws_fail(err, WS_E_NOMEM, "no memory for the counters of a timeline");
	}
	/* still there: its free was not recorded */
	taken = live->series == series ? live->n_bytes : 0;
	live->n_bytes = info->n_bytes;
	live->series = series;
	return change_total(p, series, ev->end_ns, info->n_bytes, taken, err);
}

enum ws_status tl_take_scratch(struct tl_process *p, const struct trc_event *ev, struct ws_err *err)
{
	struct series *series = memory_series(p, SERIES_SCRATCH, ev->scratch.agent, err);
	bool alloc = ev->scratch.info->h.what == CAP_SCRATCH_ALLOC;

	if (!series)
		return WS_E_NOMEM;
	return tl_track_value(p->tl, series->track, ev->end_ns,
			      alloc ? (double)ev->scratch.info->n_bytes : 0, err);
}

/* The sum of a counter over its instances; those of one counter come together. */
static double counter_sum(const struct trc_event *ev, uint32_t from, uint32_t *out_next)
{
	const struct cap_counter_value *values = ev->dispatch.values;
	uint32_t i = from;
	double sum = 0;

	for (; i < ev->dispatch.info->n_values && values[i].counter == values[from].counter; i++)
		sum += values[i].value;
	*out_next = i;
	return sum;
}

enum ws_status tl_take_counters(struct tl_process *p, const struct trc_event *ev,
				struct ws_err *err)
{
	const struct trc_agent *agent = ev->dispatch.agent;
	bool simulated = trc_process_gpu_times(p->process) != TRC_GPU_TIMES_HARDWARE;
	enum ws_status st = WS_OK;

	for (uint32_t i = 0, next; !st && i < ev->dispatch.info->n_values; i = next) {
		uint32_t id = ev->dispatch.values[i].counter;
		double sum = counter_sum(ev, i, &next);
		char title[256], name[64];
		struct series *series;

		tl_agent_title(p, agent, name, sizeof(name));
		snprintf(title, sizeof(title), "%.150s on %s",
			 id < p->process->counters.n ? p->process->counters.at[id].name : "?",
			 name);
		series = find_series(p, SERIES_COUNTER, agent ? agent->info->h.what : 0, id, title,
				     "", simulated, err);
		if (!series)
			return WS_E_NOMEM;
		if (!isfinite(sum))
			continue;
		st = tl_track_value(p->tl, series->track, ev->start_ns, sum, err);
		if (!st)
			st = tl_track_value(p->tl, series->track, ev->end_ns, 0, err);
	}
	return st;
}
