/*
 * csv_counters: counter_info.csv, one row per counter and agent. AMD's tool has no such file;
 * its counter_collection.csv has no column for how good a number is.
 */
#include "output/output_priv.h"
#include "output/sink.h"

static bool anything_to_say(const struct output_run *run)
{
	for (size_t k = 0; k < run->n_processes; k++)
		for (size_t i = 0; i < run->processes[k]->counters.n; i++)
			if (*run->processes[k]->counters.at[i].fidelity)
				return true;
	return false;
}

static void put_counter(struct output_run *run, struct output_sink *sink,
			const struct trc_counter *counter)
{
	char agent[64];

	output_agent_text(counter->agent, run->cfg->agent_index, ' ', agent, sizeof(agent));
	output_csv_text(sink, agent);
	output_sink_lit(sink, ",");
	output_csv_text(sink, counter->name);
	output_sink_lit(sink, ",");
	output_csv_text(sink, counter->fidelity);
	output_sink_lit(sink, ",");
	output_csv_text(sink, counter->block);
	output_sink_lit(sink, ",");
	output_csv_text(sink, counter->expression);
	output_sink_lit(sink, ",");
	output_csv_text(sink, counter->description);
	output_sink_lit(sink, "\n");
	sink->n_rows++;
}

enum ws_status output_csv_counter_info(struct output_run *run, struct ws_err *err)
{
	struct output_sink sink;
	enum ws_status st;

	if (!anything_to_say(run))
		return WS_OK;
	st = output_run_open(run, &sink, "counter_info.csv", err);
	if (st)
		return st;
	output_sink_lit(&sink,
			"\"Agent_Id\",\"Counter_Name\",\"Fidelity\",\"Block\",\"Expression\","
			"\"Description\"\n");
	for (size_t k = 0; k < run->n_processes; k++)
		for (size_t i = 0; i < run->processes[k]->counters.n; i++)
			if (run->processes[k]->counters.at[i].info)
				put_counter(run, &sink, &run->processes[k]->counters.at[i]);
	return output_run_finish(run, OUTPUT_CSV, &sink, err);
}
