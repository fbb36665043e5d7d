/*
 * csv_counters: counter_info.csv, one row per counter and agent. AMD's tool has no such file;
 * its counter_collection.csv has no column for how good a number is.
 */
#include "output/output_priv.h"
#include "output/sink.h"

static bool anything_to_say(const struct ws_output_run *run)
{
	for (size_t k = 0; k < run->n_processes; k++)
		for (size_t i = 0; i < run->processes[k]->counters.n; i++)
			if (*run->processes[k]->counters.at[i].fidelity)
				return true;
	return false;
}

static void put_counter(struct ws_output_run *run, struct ws_sink *sink,
			const struct ws_counter *counter)
{
	char agent[64];

	ws_output_agent_text(counter->agent, run->cfg->agent_index, ' ', agent, sizeof(agent));
	ws_csv_text(sink, agent);
	ws_sink_lit(sink, ",");
	ws_csv_text(sink, counter->name);
	ws_sink_lit(sink, ",");
	ws_csv_text(sink, counter->fidelity);
	ws_sink_lit(sink, ",");
	ws_csv_text(sink, counter->block);
	ws_sink_lit(sink, ",");
	ws_csv_text(sink, counter->expression);
	ws_sink_lit(sink, ",");
	ws_csv_text(sink, counter->description);
	ws_sink_lit(sink, "\n");
	sink->n_rows++;
}

enum ws_status ws_csv_counter_info(struct ws_output_run *run, struct ws_err *err)
{
	struct ws_sink sink;
	enum ws_status st;

	if (!anything_to_say(run))
		return WS_OK;
	st = ws_run_open(run, &sink, "counter_info.csv", err);
	if (st)
		return st;
	ws_sink_lit(&sink, "\"Agent_Id\",\"Counter_Name\",\"Fidelity\",\"Block\",\"Expression\","
			   "\"Description\"\n");
	for (size_t k = 0; k < run->n_processes; k++)
		for (size_t i = 0; i < run->processes[k]->counters.n; i++)
			if (run->processes[k]->counters.at[i].info)
				put_counter(run, &sink, &run->processes[k]->counters.at[i]);
	return ws_run_finish(run, WS_OUTPUT_CSV, &sink, err);
}
