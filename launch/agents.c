#include "launch/agents.h"

#include "base/path.h"
#include "base/proc.h"
#include "launch/inject.h"
#include "launch/rundir.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The runtime starts in well under a second; a driver that hangs must not hang us. */
#define ASK_TIMEOUT_MS 30000
#define RECORD_TIMEOUT_MS 120000 /* under the collector, on a busy machine */

enum ws_status launch_hsa_agents(const struct ws_env *env, const char *through, int timeout_ms,
				 struct gpu_hsa_agents *out_agents, struct ws_err *err)
{
	char *argv[] = { "wavescope", LAUNCH_AGENTS_COMMAND, through ? "--through" : NULL,
			 (char *)through, NULL };
	char self[PATH_MAX];
	struct gpu_hsa_ask ask = {
		.program = self, .argv = argv, .envp = env->at, .timeout_ms = timeout_ms
	};
	enum ws_status st = ws_path_self(self, err);

	return st ? st : gpu_hsa_agents_ask(&ask, out_agents, err);
}

enum ws_status launch_gpu_agents(struct gpu_agents *out_agents, struct ws_err *err)
{
	struct gpu_hsa_agents *agents = malloc(sizeof(*agents));
	struct ws_env env;
	enum ws_status st;
	bool soft;

	if (!agents)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = launch_inject_gpu(&env, &soft, err);
	if (!st) {
		st = launch_hsa_agents(&env, NULL, ASK_TIMEOUT_MS, agents, err);
		if (st)
			ws_fail_in(err, st, "AMD's runtime failed to start");
	}
	ws_env_fini(&env);
	if (!st)
		gpu_agents_of_hsa(agents, out_agents);
	if (!st && !out_agents->n)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "AMD's runtime found no GPU: run 'wavescope doctor' to find out why");
	free(agents);
	return st;
}

/* Run the child under the collector, which describes the agents when the runtime starts. */
static enum ws_status record(const char *dir, struct ws_err *err)
{
	struct col_collect_config *config = calloc(1, sizeof(*config));
	struct launch_inject inject = { .config = config, .no_roctx = true };
	char *argv[] = { "wavescope", LAUNCH_AGENTS_COMMAND, NULL };
	struct ws_proc_end end = { 0 };
	struct ws_buf text;
	char self[PATH_MAX];
	struct ws_env env;
	enum ws_status st;

	if (!config)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	snprintf(config->dir, sizeof(config->dir), "%s", dir);
	config->services = COL_SERVICE_BIT(SCRATCH_MEMORY); /* the least: it wraps nothing */
	ws_buf_init(&text, 1 << 20);
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = ws_path_self(self, err);
	if (!st)
		st = launch_inject_env(&inject, &env, err);
	if (!st)
		st = ws_proc_read(self, argv, env.at, WS_PROC_STDERR_JOIN, RECORD_TIMEOUT_MS, &text,
				  &end, err);
	if (!st && end.exit_code)
		st = ws_fail(err, WS_E_STATE,
			     "AMD's runtime failed to start (%.*s): 'wavescope doctor' checks why",
			     WS_STR_ARGS(ws_str_last_line(ws_buf_view(&text))));
	ws_env_fini(&env);
	ws_buf_fini(&text);
	free(config);
	return st;
}

enum ws_status launch_agents_trace(const char *dir, struct trc_trace **out_trace,
				   struct ws_err *err)
{
	struct ws_strv paths = { .max_n = 64 };
	struct launch_rundir probe = { "" };
	struct ws_arena arena;
	enum ws_status st;

	ws_arena_init(&arena, 1 << 20);
	st = launch_rundir_create(dir, LAUNCH_RUNDIR_ROCPROFV3, &probe, err);
	if (!st)
		st = record(probe.path, err);
	if (!st)
		st = launch_rundir_captures(&probe, &arena, &paths, err);
	if (!st && !paths.n)
		st = ws_fail(err, WS_E_STATE,
			     "the collector recorded nothing: 'wavescope doctor' checks why");
	if (!st)
		st = trc_open((const char *const *)paths.at, 1, &(struct trc_opts){ 0 }, out_trace,
			      err);
	ws_vec_fini(&paths);
	launch_rundir_remove(&probe); /* what was opened is mapped, and stays */
	ws_arena_fini(&arena);
	return st;
}
