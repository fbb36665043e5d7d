#include "cmd/avail/avail.h"

#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "cmd/wavescope/wavescope.h"
#include "gpu/present.h"
#include "launch/inject.h"
#include "launch/rundir.h"
#include "launch/softgpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_MS 120000 /* AMD's runtime on a busy machine */

/* The last line of what a child printed: its complaint. */
static struct ws_str last_line(struct ws_buf *out)
{
	struct ws_str rest = ws_str_trim((struct ws_str){ out->at, out->n }), line = { "", 0 };

	while (ws_str_next(&rest, '\n', &line))
		;
	return line;
}

/* AMD's runtime would complain about resources. */
static enum ws_status check_native(struct ws_err *err)
{
	static struct gpu_set here;
	const char *gpus = getenv("WAVESCOPE_GPU");

	if (!gpus || strcmp(gpus, SOFTGPU_NATIVE) != 0)
		return WS_OK;
	if (gpu_present("/sys", &here, err))
		return err->status;
	if (here.n)
		return WS_OK;
	return ws_fail(
		err, WS_E_NOTFOUND,
		"no AMD GPU in this machine: without WAVESCOPE_GPU=%s it is the software GPU",
		SOFTGPU_NATIVE);
}

/* Runs ourselves once, as a program that starts AMD's runtime and ends. */
static enum ws_status record_agents(const struct launch_rundir *dir, struct ws_err *err)
{
	static struct col_collect_config config;
	static struct ws_strv none;
	struct launch_inject inject = { .config = &config, .preload = &none, .no_roctx = true };
	char *argv[] = { "wavescope", WAVESCOPE_AGENTS_NAME, "--brief", NULL };
	char self[PATH_MAX];
	struct ws_proc_end end;
	struct ws_buf out;
	struct ws_env env;
	enum ws_status st = ws_path_self(self, err);

	if (st)
		return st;
	memset(&config, 0, sizeof(config));
	snprintf(config.dir, sizeof(config.dir), "%s", dir->path);
	config.services =
		COL_SERVICE_BIT(SCRATCH_MEMORY); /* the least: nothing is wrapped for it */
	ws_buf_init(&out, 1u << 20);
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = launch_inject_env(&inject, &env, err);
	if (!st)
		st = ws_proc_read(self, argv, env.at, true, START_MS, &out, &end, err);
	if (!st && end.exit_code)
		st = ws_fail(err, WS_E_STATE,
			     "AMD's runtime does not start (%.*s): 'wavescope doctor' may tell why",
			     WS_STR_ARGS(last_line(&out)));
	ws_env_fini(&env);
	ws_buf_fini(&out);
	return st;
}

static enum ws_status open_capture(const struct launch_rundir *dir, struct trc_trace **out_trace,
				   struct ws_err *err)
{
	struct ws_strv paths = { .max_n = 64 };
	struct ws_arena arena;
	enum ws_status st;

	ws_arena_init(&arena, 1u << 20);
	st = launch_rundir_captures(dir, &arena, &paths, err);
	if (!st && !paths.n)
		st = ws_fail(err, WS_E_STATE,
			     "the collector recorded nothing: 'wavescope doctor' may "
			     "tell why");
	if (!st)
		st = trc_open(paths.at, paths.n, &(struct trc_opts){ 0 }, out_trace, err);
	ws_vec_fini(&paths);
	ws_arena_fini(&arena);
	return st;
}

static struct cnt_agent_props props_of(const struct cap_rec_agent *info)
{
	struct cnt_agent_props props = {
#define NUM_FIELD(name) .name = info->name,
		CNT_AGENT_PROP_TABLE(NUM_FIELD)
#undef NUM_FIELD
	};

	props.soft = info->flags & CAP_AGENT_SOFT;
	return props;
}

static enum ws_status add_gpu(struct av_machine *machine, const struct trc_agent *agent,
			      const char *extra_counters, struct ws_err *err)
{
	struct av_gpu *gpu = &machine->gpus[machine->n];
	struct cnt_agent_props props = props_of(agent->info);
	enum ws_status st;

	if (agent->info->type != CAP_AGENT_GPU || machine->n == AV_GPUS_MAX)
		return WS_OK;
	gpu->agent = agent;
	gpu->number = agent->info->logical_node_type_id;
	st = cnt_catalogue_create(agent->name, &props, &gpu->cat, err);
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
	st = record_agents(&dir, err);
	if (!st)
		st = open_capture(&dir, &out_machine->trace, err);
	for (size_t p = 0; !st && p < trc_n_processes(out_machine->trace); p++) {
		const struct trc_process *process = trc_process_at(out_machine->trace, p);

		if (out_machine->n)
			break; /* more processes would say the same */
		for (size_t i = 0; !st && i < process->agents.n; i++)
			st = add_gpu(out_machine, process->agents.at[i], extra_counters, err);
	}
	launch_rundir_remove(&dir);
	if (!st && !out_machine->n)
		st = ws_fail(err, WS_E_NOTFOUND, "no GPU: 'wavescope doctor' may tell why");
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
