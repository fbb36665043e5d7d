/*
 * intervals: counters of whole GPUs over time, in the formats that AMD's tool has for counters of kernels. AMD's has no such
 * files. The first reading of a GPU marks where its first interval begins.
 */
#include "output/output_priv.h"

#include <stdlib.h>

static const struct trc_metric *counter_of(const struct trc_process *process, uint32_t id)
{
	const struct trc_metric *metric = id < process->metrics.n ? &process->metrics.at[id] : NULL;

	return metric && metric->id && metric->category == CAP_METRIC_DEVICE_COUNTER ? metric
										     : NULL;
}

bool output_has_intervals(const struct trc_process *process)
{
	for (size_t i = 0; i < process->metrics.n; i++)
		if (counter_of(process, (uint32_t)i))
			return true;
	return false;
}

static const struct trc_agent *agent_of(const struct trc_process *process, int32_t device)
{
	for (size_t i = 0; i < process->agents.n; i++) {
		const struct cap_rec_agent *info = process->agents.at[i]->info;

		if (info->type == CAP_AGENT_GPU && (int32_t)info->logical_node_type_id == device)
			return process->agents.at[i];
	}
	return NULL;
}

struct walk {
	output_interval_fn *each;
	void *ctx;
	uint64_t *since_ns; /* by metric: its last reading; 0: none yet */
};

static enum ws_status take_reading(struct walk *walk, const struct trc_event *ev)
{
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; i < ev->metrics.n_values && !st; i++) {
		const struct cap_metric_value *value = &ev->metrics.values[i];
		const struct trc_metric *metric = counter_of(ev->process, value->metric);
		struct output_interval interval;

		if (!metric)
			continue;
		interval = (struct output_interval){
			.process = ev->process,
			.metric = metric,
			.agent = agent_of(ev->process, metric->device),
			.value = value->value,
			.start_ns = walk->since_ns[metric->id],
			.end_ns = ev->start_ns,
		};
		walk->since_ns[metric->id] = ev->start_ns;
		if (interval.start_ns)
			st = walk->each(walk->ctx, &interval);
	}
	return st;
}

enum ws_status output_each_interval(struct output_run *run, const struct trc_process *process,
				    enum output_format format, output_interval_fn *each, void *ctx,
				    struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(METRICS),
					 .order = TRC_ORDER_START,
					 .process = process };
	struct walk walk = { each, ctx, NULL };
	enum ws_status st, closing;
	const struct trc_event *ev;
	struct trc_events *events;

	if (!output_has_intervals(process))
		return WS_OK;
	walk.since_ns = calloc(process->metrics.n + 1, sizeof(*walk.since_ns));
	if (!walk.since_ns)
		return ws_fail(err, WS_E_NOMEM, "no memory for counters");
	st = trc_events_open(run->trace, &query, &events, err);
	if (st) {
		free(walk.since_ns);
		return st;
	}
	while (!st && (ev = trc_events_next(events))) {
		st = take_reading(&walk, ev);
		run->result->n_written[format][CAP_DOMAIN_METRICS]++;
	}
	closing = trc_events_close(events, st ? NULL : err);
	free(walk.since_ns);
	return st ? st : closing;
}

/* ---- CSV ---- */

struct table {
	struct output_run *run;
	struct output_sink *sink;
};

static enum ws_status put_row(void *ctx, const struct output_interval *interval)
{
	struct table *table = ctx;
	struct output_sink *sink = table->sink;
	char agent[64];
	char *p;

	output_agent_text(interval->agent, table->run->cfg->agent_index, ' ', agent, sizeof(agent));
	output_csv_text(sink, agent);
	p = output_sink_room(sink, 64);
	*p++ = ',';
	p = output_fmt_u64(p, interval->process->pid);
	*p++ = ',';
	output_sink_at(sink, p);
	output_csv_text(sink, interval->metric->counter);
	p = output_sink_room(sink, 2 * OUTPUT_FMT_F64_MAX);
	*p++ = ',';
	p = output_fmt_counter(p, interval->value);
	*p++ = ',';
	p = output_fmt_u64(p, interval->start_ns);
	*p++ = ',';
	p = output_fmt_u64(p, interval->end_ns);
	*p++ = '\n';
	output_sink_at(sink, p);
	sink->n_rows++;
	return sink->err.status;
}

enum ws_status output_csv_intervals(struct output_run *run, struct ws_err *err)
{
	struct output_sink sink;
	struct table table = { run, &sink };
	enum ws_status st = WS_OK;
	size_t n = 0;

	for (size_t k = 0; k < run->n_processes; k++)
		n += output_has_intervals(run->processes[k]);
	if (!n)
		return WS_OK;
	st = output_run_open(run, &sink, "counter_intervals.csv", err);
	if (st)
		return st;
	output_sink_lit(&sink, "\"Agent_Id\",\"Process_Id\",\"Counter_Name\",\"Counter_Value\","
			       "\"Start_Timestamp\",\"End_Timestamp\"\n");
	for (size_t k = 0; k < run->n_processes && !st; k++)
		st = output_each_interval(run, run->processes[k], OUTPUT_CSV, put_row, &table, err);
	if (!st || sink.err.status)
		st = output_run_finish(run, OUTPUT_CSV, &sink, err);
	output_sink_abandon(&sink);
	return st;
}
