#include "cmd/madengine/madengine.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "models/container.h"
#include "models/context.h"
#include "models/folder.h"
#include "models/k8s.h"
#include "models/manifest.h"
#include "models/places.h"
#include "models/run.h"
#include "models/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct run_args {
	struct ws_strv tags;
	const char *manifest_file;
	const char *registry;
	int64_t timeout;
	const char *additional_context;
	const char *additional_context_file;
	bool keep_alive;
	bool keep_model_dir;
	bool clean_docker_cache;
	bool skip_model_run;
	const char *manifest_output;
	const char *summary_output;
	bool live_output;
	const char *output;
	bool ignore_deprecated;
	const char *data_config;
	const char *tools_config;
	bool sys_env_details;
	const char *force_mirror_local;
	bool disable_skip_gpu_arch;
	bool verbose;
	bool cleanup_perf;
};

static const struct ws_opt opts[] = {
	WS_OPT_GROUP("What"),
	WS_OPT_MANY(struct run_args, tags, 't', "tags", "TAG",
		    "models with these names or tags, scope/tag, tag:key=value; repeatable, commas "
		    "are fine"),
	WS_OPT_STR(struct run_args, manifest_file, 'm', "manifest-file", "FILE",
		   "run what 'madengine build' wrote; without it, build and run"),
	WS_OPT_STR(struct run_args, additional_context, 'c', "additional-context", "JSON",
		   "tools, environment, target; replaces keys of the file. A Python dict is fine"),
	WS_OPT_STR(struct run_args, additional_context_file, 'f', "additional-context-file", "FILE",
		   "the same from a JSON file; presets are found by their name"),
	WS_OPT_STR(struct run_args, tools_config, 0, "tools-config", "FILE",
		   "definitions of tools; default: scripts/common/tools.json"),
	WS_OPT_STR(struct run_args, data_config, 0, "data-config", "FILE",
		   "where data is; default: data.json"),
	WS_OPT_STR(struct run_args, force_mirror_local, 0, "force-mirror-local", "DIR",
		   "folder for local copies of data"),
	WS_OPT_GROUP("How"),
	WS_OPT_I64(struct run_args, timeout, 0, "timeout", "SECONDS",
		   "limit for each model; 0: none; default: the model's own, or 7200"),
	WS_OPT_BOOL(struct run_args, live_output, 'l', "live-output",
		    "print the log while the model runs"),
	WS_OPT_BOOL(struct run_args, skip_model_run, 0, "skip-model-run",
		    "do everything but the model: status SKIPPED"),
	WS_OPT_BOOL(struct run_args, keep_alive, 0, "keep-alive",
		    "leave the container and the run folder"),
	WS_OPT_BOOL(struct run_args, keep_model_dir, 0, "keep-model-dir", "leave the run folder"),
	WS_OPT_BOOL(struct run_args, ignore_deprecated, 0, "ignore-deprecated",
		    "run models that are marked deprecated"),
	WS_OPT_BOOL(struct run_args, disable_skip_gpu_arch, 0, "disable-skip-gpu-arch",
		    "run models also on architectures that they list in skip_gpu_arch"),
	WS_OPT_BOOL(struct run_args, sys_env_details, 0, "sys-env-details",
		    "write <model>_env.csv; default: yes"),
	WS_OPT_STR(struct run_args, registry, 'r', "registry", "HOST", "registry of the images"),
	WS_OPT_BOOL(struct run_args, clean_docker_cache, 0, "clean-docker-cache",
		    "build images without the cache"),
	WS_OPT_GROUP("Output"),
	WS_OPT_STR(struct run_args, output, 'o', "output", "FILE",
		   "results, one row per run; default: perf.csv"),
	WS_OPT_STR(struct run_args, summary_output, 's', "summary-output", "FILE",
		   "a summary as JSON"),
	WS_OPT_STR(struct run_args, manifest_output, 0, "manifest-output", "FILE",
		   "the manifest of build and run; default: build_manifest.json"),
	WS_OPT_BOOL(struct run_args, verbose, 'v', "verbose", "print what is done"),
	WS_OPT_BOOL(struct run_args, cleanup_perf, 0, "cleanup-perf", NULL),
};

static void set_defaults(void *values)
{
	struct run_args *args = values;

	args->timeout = -1;
	args->manifest_output = MDL_MANIFEST_FILE;
	args->output = "perf.csv";
	args->data_config = "data.json";
	args->sys_env_details = true;
}

/* All that the steps below share. */
struct job {
	const struct run_args *args;
	struct ws_arena arena;
	char root[PATH_MAX];
	const char *manifest_path;
	struct ws_doc *manifest;
	struct ws_doc *context; /* of the command line, over the manifest's */
	struct ws_doc *tools;
	struct mdl_entries entries;
	struct mdl_machine machine;
	struct mdl_run_options options;
	enum mdl_target target;
	struct ws_doc *done, *failed; /* names, for the summary */
	const char *mistake;          /* of the context; NULL: none was found */
	bool interrupted;
};

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- what to run ---- */

static enum ws_status from_manifest(struct job *job, const struct ws_doc *typed, struct ws_err *err)
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

static enum ws_status from_tags(struct job *job, const struct ws_doc *typed, int *exit_code,
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
static void show_work(const struct job *job)
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

static enum ws_status find_work(struct job *job, int *exit_code, struct ws_err *err)
{
	const struct run_args *args = job->args;
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

/* A preset for one node of a cluster, on a machine that is none, is run here. */
static void settle_target(struct job *job)
{
	int64_t n_nodes = ws_doc_get_int(ws_doc_get(job->context, "slurm"), "nodes", 1);
	char path[PATH_MAX];

	if (job->target == MDL_TARGET_SLURM && n_nodes <= 1 &&
	    ws_path_program("sbatch", path, NULL)) {
		ws_log_warn(
			"the context asks for Slurm, and there is no sbatch here: running on this "
			"machine");
		job->target = MDL_TARGET_LOCAL;
	}
	if (job->target != MDL_TARGET_LOCAL &&
	    (job->args->keep_alive || job->args->keep_model_dir || job->args->skip_model_run))
		ws_log_warn(
			"--keep-alive, --keep-model-dir and --skip-model-run have no effect on a "
			"cluster");
}

/* ---- one entry ---- */

/* Why this machine does not run the entry; NULL: it does. */
static const char *skip_reason(const struct job *job, const struct mdl_entry *entry)
{
	const char *vendor = ws_doc_get_text(entry->built, "gpu_vendor", "AMD");
	const char *arch = ws_doc_get_text(entry->built, "gpu_architecture", "");
	const char *here = job->machine.architecture;

	if (entry->model.deprecated && !job->args->ignore_deprecated)
		return "it is marked deprecated: --ignore-deprecated runs it";
	if (job->target != MDL_TARGET_LOCAL)
		return NULL;
	if (strcasecmp(vendor, "AMD") != 0 && !ws_path_exists("/usr/bin/nvidia-smi"))
		return "its image is for GPUs of another vendor";
	if (*arch && *here && strcmp(arch, here) != 0)
		return "its image is for another GPU architecture";
	if (!job->args->disable_skip_gpu_arch &&
	    mdl_model_lists(&entry->model, "skip_gpu_arch", here))
		return "it lists this GPU architecture in skip_gpu_arch";
	return NULL;
}

static enum ws_status run_here(struct job *job, const struct mdl_entry *entry,
			       const struct mdl_chain *chain, struct mdl_result *result,
			       struct ws_err *err)
{
	const char *image = ws_doc_get_text(entry->built, "docker_image", "");
	const char *engine = *image ? mdl_container_engine() : NULL;
	struct mdl_carrier *carrier = engine ? mdl_carrier_container(engine, &job->arena)
					     : mdl_carrier_local(&job->arena);

	if (!carrier)
		return no_memory(err);
	if (*image && !engine)
		ws_log_warn("%s: there is neither docker nor podman for its image: running it as a "
			    "process",
			    entry->model.name);
	return mdl_run_model(entry, job->context, chain, job->root, &job->machine, carrier,
			     &job->options, &job->arena, result, err);
}

/* A failure to set up is a failed run: it has a row, and the next model goes on. */
static enum ws_status run_entry(struct job *job, const struct mdl_entry *entry,
				struct mdl_result *result, struct ws_err *err)
{
	const char *skip = skip_reason(job, entry);
	struct mdl_chain chain;
	struct ws_err why;
	enum ws_status st = mdl_result_begin(entry, job->context, &job->arena, result, err);

	if (st)
		return st;
	if (skip) {
		result->outcome = MDL_SKIPPED;
		result->reason = skip;
		return WS_OK;
	}
	if (job->mistake) {
		result->outcome = MDL_FAILURE;
		result->reason = job->mistake;
		return WS_OK;
	}
	st = mdl_chain_build(job->tools, job->context, &job->arena, &chain, &why);
	if (!st)
		ws_log_info("%s: %zu tool%s, prefix: %s", entry->model.name, chain.n_tools,
			    chain.n_tools == 1 ? "" : "s", *chain.prefix ? chain.prefix : "none");
	if (!st && job->target == MDL_TARGET_SLURM)
		st = mdl_slurm_run(entry, job->manifest, job->context, &job->options, &job->arena,
				   result, &why);
	else if (!st && job->target == MDL_TARGET_K8S)
		st = mdl_k8s_run(entry, job->manifest, job->context, &chain, job->root,
				 &job->options, &job->arena, result, &why);
	else if (!st)
		st = run_here(job, entry, &chain, result, &why);
	if (!st)
		return WS_OK;
	result->outcome = MDL_FAILURE;
	result->reason = ws_arena_strdup(&job->arena, why.text);
	return result->reason ? WS_OK : no_memory(err);
}

/* The log of a run on this machine; NULL: none. */
static const char *log_of(struct job *job, const struct mdl_entry *entry)
{
	const char *stem = mdl_log_stem(entry, &job->arena);
	const char *log = stem ? ws_arena_printf(&job->arena, "%s.run.live.log", stem) : NULL;

	return job->target == MDL_TARGET_LOCAL && log && ws_path_exists(log) ? log : NULL;
}

static void print_result(const struct mdl_result *result, const char *log)
{
	if (result->note)
		ws_log_warn("%s: %s", result->model, result->note);
	if (result->outcome == MDL_FAILURE) {
		ws_log_error("%s: FAILURE: %s", result->model,
			     result->reason ? result->reason : "unknown");
		if (log)
			fprintf(stderr, "madengine: %s: the log is %s\n", result->model, log);
		return;
	}
	printf("madengine: %s: %s", result->model, mdl_status_name(result->outcome));
	if (result->outcome == MDL_SKIPPED && result->reason)
		printf(": %s", result->reason);
	if (result->performance)
		ws_print(stdout, ": performance %s %s", result->performance, result->metric);
	if (result->test_duration)
		printf(", %s s", result->test_duration);
	printf("\n");
	fflush(stdout);
}

/* <stem>.live.log: the build's log and the run's. */
static void join_logs(const struct mdl_entry *entry, struct ws_arena *arena)
{
	static const char *const parts[] = { "build", "run" };
	const char *stem = mdl_log_stem(entry, arena);
	char path[PATH_MAX], block[1 << 14];
	FILE *to = NULL;
	size_t n;

	snprintf(path, sizeof(path), "%s.build.live.log", stem ? stem : "");
	if (!stem || !ws_path_exists(path))
		return;
	snprintf(path, sizeof(path), "%s.live.log", stem);
	if (ws_file_begin(path, &to, NULL))
		return;
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++) {
		char part[PATH_MAX];
		FILE *from;

		snprintf(part, sizeof(part), "%s.%s.live.log", stem, parts[i]);
		from = fopen(part, "re");
		while (from && (n = fread(block, 1, sizeof(block), from)) > 0)
			fwrite(block, 1, n, to);
		if (from)
			fclose(from);
	}
	ws_file_commit(path, to, NULL);
}

static enum ws_status run_all(struct job *job, int *exit_code, struct ws_err *err)
{
	bool no_rows = ws_doc_get_bool(job->context, "skip_perf_collection", false);
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < job->entries.n && !st && !job->interrupted; i++) {
		const struct mdl_entry *entry = &job->entries.at[i];
		struct mdl_result result;

		printf("madengine: %s: running on %s\n", entry->model.name,
		       mdl_target_name(job->target));
		fflush(stdout);
		st = run_entry(job, entry, &result, err);
		/* What goes on elsewhere, though nobody waits for it any more, has no result yet. */
		if (!st && !no_rows && !(result.interrupted && result.outcome == MDL_SKIPPED))
			st = mdl_perf_write(job->args->output, &result, &job->arena, err);
		if (st)
			break;
		if (job->manifest_path == job->args->manifest_output)
			join_logs(entry, &job->arena);
		print_result(&result, log_of(job, entry));
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

static enum ws_status write_summary(struct job *job, struct ws_err *err)
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
static enum ws_status check_profile(struct job *job, struct ws_err *err)
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
static enum ws_status run_with_tools(struct job *job, int *exit_code, struct ws_err *err)
{
	static const char own[] = MDL_PLACE_COMMON "/tools.json";
	const char *typed = job->args->tools_config;
	enum ws_status st = mdl_tools_read(typed                 ? typed
					   : ws_path_exists(own) ? own
								 : NULL,
					   &job->arena, &job->tools, err);

	if (!st)
		st = check_profile(job, err);
	return st ? st : run_all(job, exit_code, err);
}

/* With scripts/common in the working folder, and nobody else in it. */
static enum ws_status run_with_common(struct job *job, int *exit_code, struct ws_err *err)
{
	struct mdl_common common = { .dir = NULL };
	char from[PATH_MAX];
	int lock = -1;
	enum ws_status st = mdl_folder_lock(".", &lock, err);

	if (!st)
		st = mdl_place_find(MDL_PLACE_COMMON, from, err);
	if (!st)
		st = mdl_common_lay(".", from, &job->arena, &common, err);
	if (!st)
		st = run_with_tools(job, exit_code, err);
	mdl_common_remove(&common);
	if (lock >= 0)
		close(lock);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct run_args *args = call->values;
	struct job job = {
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

const struct ws_cmd mad_run_cmd = {
	.name = "run",
	.summary = "run models, with the tools that the context names",
	.usage = "--tags TAG... [options]",
	.about = "Runs each selected model in a folder of its own (run_directory), with the "
		 "prefixes, "
		 "variables and scripts of the tools around it. The log is "
		 "<model>_<dockerfile>.run.live.log; results are appended to perf.csv.",
	.notes = "Examples:\n"
		 "  madengine run --tags dummy_prof\n"
		 "  madengine run --tags dummy_prof \\\n"
		 "      --additional-context-file rocprofv3_lightweight.json\n"
		 "  madengine run --tags dummy_prof \\\n"
		 "      --additional-context '{\"tools\": [{\"name\": \"rocprofv3_compute\"}]}'",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct run_args),
	.set_defaults = set_defaults,
	.run = run,
};
