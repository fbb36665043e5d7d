#include "cmd/avail/avail.h"

#include "base/file.h"
#include "gpu/present.h"
#include "launch/agents.h"
#include "launch/rundir.h"
#include "launch/softgpu.h"
#include "trace/agent.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* AMD's runtime would complain about resources. */
static enum ws_status check_native(struct ws_err *err)
{
	static struct gpu_agents here;
	const char *gpus = getenv("WAVESCOPE_GPU");

	if (!gpus || strcmp(gpus, SOFTGPU_NATIVE) != 0)
		return WS_OK;
	if (gpu_present("/sys", &here, err))
		return err->status;
	if (here.n)
		return WS_OK;
	return ws_fail(err, WS_E_NOTFOUND,
		       "no AMD GPU in this machine: unset WAVESCOPE_GPU=%s to use the software GPU",
		       SOFTGPU_NATIVE);
}

static enum ws_status add_gpu(struct av_machine *machine, const struct trc_agent *agent,
			      const char *extra_counters, struct ws_err *err)
{
	struct av_gpu *gpu = &machine->gpus[machine->n];
	struct gpu_agent facts;
	enum ws_status st;

	if (agent->info->type != CAP_AGENT_GPU || machine->n == AV_GPUS_MAX)
		return WS_OK;
	gpu->agent = agent;
	gpu->number = agent->info->logical_node_type_id;
	trc_agent_describe(agent, &facts);
	st = cnt_catalogue_create(&facts, &gpu->cat, err);
	machine->n++;
	if (st == WS_E_NOTFOUND)
		return WS_OK; /* a GPU of which nothing can be counted is still a GPU */
	if (!st && extra_counters)
		st = cnt_catalogue_add_file(gpu->cat, extra_counters, err);
	return st;
}

static int by_number(const void *a, const void *b)
{
	const struct av_gpu *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

enum ws_status av_machine_look(const char *extra_counters, struct av_machine *out_machine,
			       struct ws_err *err)
{
	struct launch_rundir dir = { "" };
	enum ws_status st;

	memset(out_machine, 0, sizeof(*out_machine));
	st = check_native(err);
	if (st)
		return st;
	st = ws_dir_temp("rocprofv3-avail", dir.path, err);
	if (st)
		return st;
	st = launch_agents_trace(dir.path, &out_machine->trace, err);
	for (size_t p = 0; !st && p < trc_n_processes(out_machine->trace); p++) {
		const struct trc_process *process = trc_process_at(out_machine->trace, p);

		if (out_machine->n)
			break; /* more processes would say the same */
		for (size_t i = 0; !st && i < process->agents.n; i++)
			st = add_gpu(out_machine, process->agents.at[i], extra_counters, err);
	}
	launch_rundir_remove(&dir);
	if (!st && !out_machine->n)
		st = ws_fail(err, WS_E_NOTFOUND, "no GPU: 'wavescope doctor' checks why");
	if (st)
		av_machine_fini(out_machine);
	else
		qsort(out_machine->gpus, out_machine->n, sizeof(*out_machine->gpus), by_number);
	return st;
}

void av_machine_fini(struct av_machine *machine)
{
	for (size_t i = 0; i < machine->n; i++)
		cnt_catalogue_destroy(machine->gpus[i].cat);
	if (machine->trace)
		trc_close(machine->trace);
	memset(machine, 0, sizeof(*machine));
}
