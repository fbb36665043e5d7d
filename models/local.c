/* The carrier that is a process on this machine. */
#include "models/run.h"

#include "base/env.h"
#include "base/path.h"
#include "launch/inject.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX 256 /* command lines of one run: scripts of some tools and the model */

struct local {
	struct mdl_carrier carrier;
	const struct mdl_job *job;
	struct ws_env env;
	pid_t groups[GROUPS_MAX];
	size_t n_groups;
};

/* As many software GPUs as were chosen, unless the user said which there are. */
static enum ws_status set_soft_gpus(struct local *local, struct ws_err *err)
{
	const struct mdl_gpus *gpus = local->job->gpus;
	const struct mdl_machine *machine = local->job->machine;
	struct ws_buf list;
	enum ws_status st;

	if (!machine->simulated || ws_env_get(&local->env, "WAVESCOPE_GPU") ||
	    gpus->n <= machine->n_gpus)
		return WS_OK;
	ws_buf_init(&list, 4096);
	for (size_t i = 0; i < gpus->n; i++)
		ws_buf_printf(&list, "%smi210", i ? "," : "");
	st = ws_buf_status(&list, err);
	if (!st)
		st = ws_env_set(&local->env, "WAVESCOPE_GPU", list.at, err);
	ws_buf_fini(&list);
	return st;
}

/* Others than the chosen GPUs are not to be seen. A container has their devices instead. */
static enum ws_status set_visible(struct local *local, struct ws_err *err)
{
	const struct mdl_gpus *gpus = local->job->gpus;
	struct ws_buf list;
	enum ws_status st;

	if (gpus->n >= local->job->machine->n_gpus ||
	    ws_env_get(&local->env, "ROCR_VISIBLE_DEVICES") ||
	    ws_env_get(&local->env, "HIP_VISIBLE_DEVICES"))
		return WS_OK;
	ws_buf_init(&list, 4096);
	for (size_t i = 0; i < gpus->n; i++)
		ws_buf_printf(&list, "%s%u", i ? "," : "", gpus->at[i]);
	st = ws_buf_status(&list, err);
	if (!st)
		st = ws_env_set(&local->env, "ROCR_VISIBLE_DEVICES", list.at, err);
	ws_buf_fini(&list);
	return st;
}

/* The profilers are those of this installation: their folder comes first. */
static enum ws_status set_path(struct local *local, struct ws_err *err)
{
	char self[PATH_MAX], pid[24];
	enum ws_status st = ws_path_self(self, err);

	if (st)
		return st;
	ws_path_parent(self);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	st = ws_env_prepend(&local->env, "PATH", self, ':', err);
	return st ? st : ws_env_set(&local->env, "MADENGINE_PID", pid, err);
}

static enum ws_status local_start(struct mdl_carrier *carrier, const struct mdl_job *job,
				  struct ws_err *err)
{
	struct local *local = (struct local *)carrier;
	enum ws_status st = ws_env_init(&local->env, environ, err);
	bool soft;

	local->job = job;
	for (size_t i = 0; i < job->env->n && !st; i++)
		st = ws_env_set(&local->env, job->env->at[i]->key, job->env->at[i]->text, err);
	if (!st)
		st = set_path(local, err);
	if (!st)
		st = set_soft_gpus(local, err);
	if (!st)
		st = set_visible(local, err);
	/* Last: a tool's LD_LIBRARY_PATH must not hide the software GPU. */
	return st ? st : launch_inject_gpu(&local->env, &soft, err);
}

static enum ws_status local_exec(struct mdl_carrier *carrier, const char *command, double timeout_s,
				 struct mdl_child_end *out_end, struct ws_err *err)
{
	struct local *local = (struct local *)carrier;
	char *argv[] = { "bash", "-c", (char *)command, NULL };
	enum ws_status st = mdl_child_run(argv, local->env.at, local->job->workspace, timeout_s,
					  local->job->log, out_end, err);

	if (!st && local->n_groups < GROUPS_MAX)
		local->groups[local->n_groups++] = out_end->group;
	return st;
}

static void local_stop(struct mdl_carrier *carrier)
{
	struct local *local = (struct local *)carrier;
	size_t n = 0;

	if (local->job && !local->job->keep_alive)
		n = mdl_child_sweep(local->groups, local->n_groups);
	if (n)
		mdl_log_line(local->job->log,
			     "madengine: %zu command%s had left processes running; "
			     "they were ended",
			     n, n == 1 ? "" : "s");
	local->n_groups = 0;
	ws_env_fini(&local->env);
}

struct mdl_carrier *mdl_carrier_local(struct ws_arena *arena)
{
	static const struct mdl_carrier_ops ops = {
		.name = "local",
		.start = local_start,
		.exec = local_exec,
		.stop = local_stop,
	};
	struct local *local = ws_arena_new(arena, struct local);

	if (!local)
		return NULL;
	local->carrier.ops = &ops;
	return &local->carrier;
}
