#include "cmd/madengine/run.h"

#include "base/doc_edit.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "models/folder.h"
#include "models/manifest.h"
#include "models/places.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SINFO_TIMEOUT_MS 30000

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- what to run ---- */

static enum ws_status from_manifest(struct mad_job *job, const struct ws_doc *typed,
				    struct ws_err *err)
{
	const char *path = job->args->manifest_file;
	const char *root;
	enum ws_status st = mdl_manifest_read(path, &job->arena, &job->manifest, err);

	if (st)
		return st;
	root = ws_doc_get_text(job->manifest, "model_root", ".");
	if (strlen(root) >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "%s: model_root is too long", path);
	strcpy(job->root, root);
	job->manifest_path = path;
	st = mdl_manifest_merge(job->manifest, typed, &job->arena, err);
	return st ? st : ws_doc_write_json(path, job->manifest, err);
}

static enum ws_status from_tags(struct mad_job *job, const struct ws_doc *typed, int *exit_code,
				struct ws_err *err)
{
	const struct mad_build how = {
		.root = job->root,
		.registry = job->args->registry,
		.no_cache = job->args->clean_docker_cache,
		.live_output = job->args->live_output,
	};
	struct mdl_models chosen;
	enum ws_status st = mad_find_root(job->root, err);

	if (!st)
		st = mad_select(job->root, &job->args->tags, &job->arena, &chosen, err);
	if (st) {
		*exit_code = MAD_EXIT_ARGS;
		return st;
	}
	st = mad_make_manifest(&chosen, typed, &how, &job->arena, &job->manifest, exit_code, err);
	job->manifest_path = job->args->manifest_output;
	return st ? st : ws_doc_write_json(job->manifest_path, job->manifest, err);
}

/* --verbose */
static void show_work(const struct mad_job *job)
{
	struct ws_buf text;

	if (!ws_log_shows(WS_LOG_INFO))
		return;
	ws_buf_init(&text, 1 << 20);
	ws_doc_to_json(job->context, 0, &text);
	ws_log_info("models of %s, manifest %s", job->root, job->manifest_path);
	ws_log_info("context: %s", text.at);
	ws_buf_fini(&text);
}

static enum ws_status find_work(struct mad_job *job, int *exit_code, struct ws_err *err)
{
	const struct mad_run_args *args = job->args;
	bool given = args->manifest_file && *args->manifest_file;
	struct ws_doc *typed;
	enum ws_status st = mdl_context_load(args->additional_context_file,
					     args->additional_context, &job->arena, &typed, err);

	if (!st && !args->tags.n && !given)
		st = ws_fail(
			err, WS_E_USAGE,
			"nothing to run: give --tags, or --manifest-file of 'madengine build'");
	if (!st && given && !ws_path_exists(args->manifest_file) && !args->tags.n)
		st = ws_fail(err, WS_E_USAGE, "no manifest '%s', and no --tags to build one",
			     args->manifest_file);
	if (st) {
		*exit_code = MAD_EXIT_ARGS;
		return st;
	}
	if (given && !ws_path_exists(args->manifest_file))
		ws_log_warn("no manifest '%s': building from the tags", args->manifest_file);
	if (given && ws_path_exists(args->manifest_file))
		st = from_manifest(job, typed, err);
	else
		st = from_tags(job, typed, exit_code, err);
	if (!st)
		st = mdl_manifest_entries(job->manifest_path, job->manifest, &job->arena,
					  &job->entries, err);
	if (st)
		return st;
	job->context = mdl_manifest_context(job->manifest, typed, &job->arena);
	if (!job->context)
		return no_memory(err);
	show_work(job);
	st = mdl_context_target(job->context, &job->target, err);
	if (st)
		*exit_code = MAD_EXIT_ARGS;
	return st;
}

/* Slurm's programs can be installed where no cluster is: they find no configuration then. */
static bool has_slurm(void)
{
	char *argv[] = { "sinfo", "--noheader", "--format=%P", NULL };
	struct ws_proc_end end;
	char path[PATH_MAX];
	struct ws_buf text;
	bool lacks_one;

	if (ws_path_program("sbatch", path, NULL))
		return false;
	ws_buf_init(&text, 1 << 16);
	lacks_one = !ws_proc_read("sinfo", argv, environ, WS_PROC_STDERR_JOIN, SINFO_TIMEOUT_MS,
				  &text, &end, NULL) &&
		    end.exit_code && strstr(text.at, "Could not establish a configuration source");
	ws_buf_fini(&text);
	return !lacks_one;
}

/* A preset for one node of a cluster, on a machine that belongs to none, is run here. */
static void settle_target(struct mad_job *job)
{
	int64_t n_nodes = ws_doc_get_int(ws_doc_get(job->context, "slurm"), "nodes", 1);
	bool lacks_slurm = job->target == MDL_TARGET_SLURM && !has_slurm();
	char path[PATH_MAX];

	if (lacks_slurm && n_nodes <= 1) {
		ws_log_warn("the context asks for Slurm, and there is no cluster here: running on "
			    "this machine");
		job->target = MDL_TARGET_LOCAL;
	} else if (lacks_slurm && !ws_path_program("sbatch", path, NULL)) {
		job->mistake = "Slurm has no configuration on this machine: run madengine on a "
			       "login node of the cluster";
	}
	if (job->target != MDL_TARGET_LOCAL &&
	    (job->args->keep_alive || job->args->keep_model_dir || job->args->skip_model_run))
		ws_log_warn("--keep-alive, --keep-model-dir and --skip-model-run have no effect on "
			    "a cluster");
}

/* A node of a job: its results are collected elsewhere. */
static bool keeps_no_rows(const struct mad_job *job)
{
	return ws_doc_get_bool(job->context, "skip_perf_collection", false);
}

static enum ws_status run_all(struct mad_job *job, int *exit_code, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < job->entries.n && !st && !job->interrupted; i++) {
		const struct mdl_entry *entry = &job->entries.at[i];
		struct mdl_result result;

		printf("madengine: %s: running on %s\n", entry->model.name,
		       mdl_target_name(job->target));
		fflush(stdout);
		st = mad_run_entry(job, entry, &result, err);
		/* What goes on elsewhere, though nobody waits for it any more, has no result yet. */
		if (!st && !keeps_no_rows(job) &&
		    !(result.interrupted && result.outcome == MDL_SKIPPED))
			st = mdl_perf_write(job->args->output, &result, &job->arena, err);
		if (st)
			break;
		if (job->manifest_path == job->args->manifest_output)
			mad_join_logs(entry, &job->arena);
		mad_print_result(job, entry, &result);
		job->interrupted |= result.interrupted;
		if (result.outcome == MDL_FAILURE)
			*exit_code = MAD_EXIT_RUN;
		if (!ws_doc_add(result.outcome == MDL_FAILURE ? job->failed : job->done,
				ws_doc_text(result.model, &job->arena), &job->arena))
			st = no_memory(err);
	}
	if (job->interrupted)
		*exit_code = WS_EXIT_FAILED;
	return st;
}

/* ---- the whole ---- */

static enum ws_status write_summary(struct mad_job *job, struct ws_err *err)
{
	struct ws_doc *summary = ws_doc_map(&job->arena);
	bool ok = ws_doc_put_text(summary, "status", job->interrupted ? "interrupted" : "completed",
				  &job->arena) &&
		  ws_doc_put(summary, "successful_runs", job->done, &job->arena) &&
		  ws_doc_put(summary, "failed_runs", job->failed, &job->arena) &&
		  ws_doc_put_int(summary, "total_runs", (int64_t)(job->done->n + job->failed->n),
				 &job->arena);

	return ok ? ws_doc_write_json(job->args->summary_output, summary, err) : no_memory(err);
}

/* A mistake that a run would meet after an hour fails every model before it is started. */
static enum ws_status check_profile(struct mad_job *job, struct ws_err *err)
{
	struct mdl_findings findings;
	enum ws_status st = mad_lint(job->context, job->tools, &job->arena, &findings, err);

	if (st)
		return st;
	for (size_t i = 0; i < findings.n; i++) {
		const struct mdl_finding *finding = &findings.at[i];

		if (finding->level == MDL_LINT_WARNING)
			ws_log_warn("%s: %s [%s]", finding->where, finding->text, finding->rule);
		else if (finding->level == MDL_LINT_ERROR && job->mistake)
			ws_log_error("%s: %s [%s]", finding->where, finding->text, finding->rule);
		else if (finding->level == MDL_LINT_ERROR) /* the reason of each failure */
			job->mistake = ws_arena_printf(&job->arena, "%s: %s [%s]", finding->where,
						       finding->text, finding->rule);
	}
	return WS_OK;
}

/* The user's definitions of tools; without them, those that scripts/common has or would have. */
static enum ws_status run_with_tools(struct mad_job *job, int *exit_code, struct ws_err *err)
{
	static const char own[] = MDL_PLACE_COMMON "/tools.json";
	const char *typed = job->args->tools_config;
	enum ws_status st = mdl_tools_read(typed                 ? typed
					   : ws_path_exists(own) ? own
								 : NULL,
					   &job->arena, &job->tools, err);

	if (!st)
		st = check_profile(job, err);
	if (!st && !keeps_no_rows(job))
		st = mdl_perf_check(job->args->output, &job->arena, err);
	return st ? st : run_all(job, exit_code, err);
}

/* With scripts/common in the working folder, and nobody else in it. */
static enum ws_status run_with_common(struct mad_job *job, int *exit_code, struct ws_err *err)
{
	struct mdl_common common = { .dir = NULL };
	char of_models[PATH_MAX], installed[PATH_MAX];
	bool elsewhere = strcmp(job->root, ".") != 0;
	const char *const from[] = { elsewhere ? of_models : installed,
				     elsewhere ? installed : NULL, NULL };
	int lock = -1;
	enum ws_status st = mdl_folder_lock(".", &lock, err);

	if (!st)
		st = ws_path_join(job->root, MDL_PLACE_COMMON, of_models, err);
	if (!st)
		st = mdl_place_find(MDL_PLACE_COMMON, installed, err);
	if (!st)
		st = mdl_common_lay(".", from, &job->arena, &common, err);
	if (!st)
		st = run_with_tools(job, exit_code, err);
	mdl_common_remove(&common);
	if (lock >= 0)
		close(lock);
	return st;
}

enum ws_status mad_run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct mad_run_args *args = call->values;
	struct mad_job job = {
		.args = args,
		.options = {
			.timeout_s = (double)args->timeout,
			.live_output = args->live_output,
			.keep_alive = args->keep_alive,
			.keep_run_folder = args->keep_model_dir,
			.skip_model_run = args->skip_model_run,
			.no_environment_collector = !args->sys_env_details,
			.ignore_deprecated = args->ignore_deprecated,
			.any_architecture = args->disable_skip_gpu_arch,
			.output = args->output,
			.tools_file = args->tools_config,
			.data_file = args->data_config,
			.mirror = args->force_mirror_local,
		},
	};
	enum ws_status st;

	if (args->timeout < -1)
		return ws_fail(err, WS_E_USAGE, "--timeout %lld: give seconds, or 0 for no limit",
			       (long long)args->timeout);
	if (args->cleanup_perf)
		ws_log_warn("--cleanup-perf has no effect");
	if (args->verbose)
		ws_log_set_level(WS_LOG_INFO);
	ws_arena_init(&job.arena, MAD_ARENA_BYTES);
	job.done = ws_doc_list(&job.arena);
	job.failed = ws_doc_list(&job.arena);
	st = find_work(&job, exit_code, err);
	if (!st) {
		settle_target(&job);
		job.options.manifest_path = job.manifest_path;
		st = mdl_machine_look(&job.arena, &job.machine, err);
	}
	if (!st && job.machine.simulated && job.target == MDL_TARGET_LOCAL)
		fprintf(stderr, "madengine: no GPU here: models run on the software GPU\n");
	/* Jobs of a cluster do not run in this folder: any number can be submitted from it. */
	if (!st)
		st = job.target == MDL_TARGET_LOCAL ? run_with_common(&job, exit_code, err)
						    : run_with_tools(&job, exit_code, err);
	if (!st && args->summary_output)
		st = write_summary(&job, err);
	ws_arena_fini(&job.arena);
	return st;
}
