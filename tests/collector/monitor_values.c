/*
 * monitor_values: the metrics of captures as lines of tab-separated cells, for monitor.py.
 *
 *	VALUE pid time_ns name unit category device simulated value
 *	NOTE pid text
 *	LEDGER pid written dropped paused
 *	PROCESS pid n_threads ended
 */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>

static int die(const struct ws_err *err)
{
	fprintf(stderr, "monitor_values: %s\n", err->text);
	return 1;
}

static void print_process(const struct trc_process *p)
{
	const struct trc_ledger_sum *sum = &p->ledger[CAP_DOMAIN_METRICS];

	printf("PROCESS\t%u\t%zu\t%d\n", p->pid, p->threads.n, p->ended);
	for (size_t i = 0; i < p->n_notes; i++)
		printf("NOTE\t%u\t%s\n", p->pid, p->notes[i]);
	printf("LEDGER\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", p->pid, sum->written,
	       sum->dropped, sum->paused);
}

static void print_values(const struct trc_event *ev)
{
	for (uint32_t i = 0; i < ev->metrics.n_values; i++) {
		const struct cap_metric_value *value = &ev->metrics.values[i];
		const struct trc_metric *metric = &ev->process->metrics.at[value->metric];

		printf("VALUE\t%u\t%" PRIu64 "\t%s\t%s\t%s\t%d\t%d\t%.9g\n", ev->process->pid,
		       ev->start_ns, metric->name, metric->unit,
		       trc_metric_category_name(metric->category), metric->device,
		       metric->simulated, value->value);
	}
}

int main(int argc, char **argv)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(METRICS),
					 .order = TRC_ORDER_START };
	const struct trc_event *ev;
	struct trc_events *events;
	struct trc_trace *trace;
	struct ws_err err = { 0 };

	if (trc_open((const char *const *)argv + 1, (size_t)argc - 1, NULL, &trace, &err))
		return die(&err);
	for (size_t i = 0; i < trc_n_processes(trace); i++)
		print_process(trc_process_at(trace, i));
	if (trc_events_open(trace, &query, &events, &err))
		return die(&err);
	while ((ev = trc_events_next(events)))
		print_values(ev);
	if (trc_events_close(events, &err))
		return die(&err);
	trc_close(trace);
	return 0;
}
