#include "models/slurm.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "models/slurm_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SCRIPT_BYTES_MAX (1u << 20)

extern char **environ;

static enum ws_status write_files(const struct mdl_slurm_plan *plan, const struct ws_doc *manifest,
				  struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *local = mdl_slurm_manifest(plan, manifest, arena);
	struct ws_buf script;
	enum ws_status st;

	if (!local)
		return ws_fail(err, WS_E_FORMAT, "the manifest has no image '%s'",
			       plan->entry->image);
	ws_buf_init(&script, SCRIPT_BYTES_MAX);
	st = mdl_slurm_script(plan, &script, err);
	if (!st)
		st = ws_mkdirs(plan->output_dir, err);
	if (!st)
		st = ws_doc_write_json(plan->manifest, local, err);
	if (!st)
		st = ws_file_replace(plan->script, script.at, script.n, err);
	if (!st && chmod(plan->script, 0755))
		st = ws_fail(err, WS_E_IO, "cannot make %s executable", plan->script);
	ws_buf_fini(&script);
	return st;
}

/* slurm_multi inside an allocation: the nodes are there, so nothing is submitted. */
static enum ws_status run_here(const struct mdl_slurm_plan *plan, struct mdl_slurm_state *out_state,
			       struct ws_err *err)
{
	char *argv[] = { "bash", (char *)plan->script, NULL };
	struct mdl_log log = { .live = plan->options->live_output };
	struct mdl_child_end end = { 0 };
	enum ws_status st;

	st = mdl_child_run(argv, environ, NULL, 0, &log, &end, err);
	if (!st && end.interrupted)
		st = ws_fail(err, WS_E_STATE, "interrupted");
	mdl_slurm_read_state(end.exit_code ? WS_STR("FAILED") : WS_STR("COMPLETED"), out_state);
	return st;
}

static enum ws_status submit(struct mdl_slurm_plan *plan, const struct ws_doc *manifest,
			     struct ws_arena *arena, struct ws_err *err)
{
	enum ws_status st = mdl_slurm_check(plan, arena, err);

	if (!st)
		st = write_files(plan, manifest, arena, err);
	if (!st)
		st = mdl_slurm_submit(plan->script, &plan->job, err);
	if (!st)
		ws_print(stderr, "madengine: submitted job %llu: %s on %zu node%s, script %s\n",
			 (unsigned long long)plan->job, plan->entry->model.name, plan->n_nodes,
			 plan->n_nodes == 1 ? "" : "s", plan->script);
	return st;
}

enum ws_status mdl_slurm_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			     const struct ws_doc *context, const struct mdl_run_options *options,
			     struct ws_arena *arena, struct mdl_result *out_result,
			     struct ws_err *err)
{
	const char *allocation = getenv("SLURM_JOB_ID");
	struct mdl_slurm_state state;
	struct mdl_slurm_plan plan;
	struct mdl_result result = { 0 };
	char job[24];
	enum ws_status st;

	st = mdl_slurm_plan(entry, manifest, context, options, arena, &plan, err);
	if (!st)
		st = mdl_slurm_programs(err);
	if (st)
		return st;
	mdl_deploy_warn(options, "Slurm");
	st = mdl_result_begin(entry, context, arena, &result, err);
	if (st)
		return st;
	if (plan.own_containers && allocation && !plan.job) {
		snprintf(job, sizeof(job), "%s", allocation);
		st = write_files(&plan, manifest, arena, err);
		if (!st)
			st = run_here(&plan, &state, err);
	} else {
		if (!plan.job)
			st = submit(&plan, manifest, arena, err);
		snprintf(job, sizeof(job), "%llu", (unsigned long long)plan.job);
		if (!st && !mdl_slurm_wait(&plan, plan.job, arena, &state)) {
			result.outcome = MDL_SKIPPED;
			result.interrupted = true;
			result.reason = ws_arena_printf(arena, "job %s goes on", job);
			*out_result = result;
			return WS_OK;
		}
	}
	if (!st)
		st = mdl_slurm_collect(&plan, job, &state, arena, &result, err);
	if (!st)
		*out_result = result;
	return st;
}
