/* One entry of a manifest: where it runs, and what is printed of it. */
#include "cmd/madengine/run.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "models/container.h"
#include "models/k8s.h"
#include "models/slurm.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* Why this machine does not run the entry; NULL: it does. */
static const char *skip_reason(const struct mad_job *job, const struct mdl_entry *entry)
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

static enum ws_status run_here(struct mad_job *job, const struct mdl_entry *entry,
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

enum ws_status mad_run_entry(struct mad_job *job, const struct mdl_entry *entry,
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
static const char *log_of(struct mad_job *job, const struct mdl_entry *entry)
{
	const char *stem = mdl_log_stem(entry, &job->arena);
	const char *log = stem ? ws_arena_printf(&job->arena, "%s.run.live.log", stem) : NULL;

	return job->target == MDL_TARGET_LOCAL && log && ws_path_exists(log) ? log : NULL;
}

void mad_print_result(struct mad_job *job, const struct mdl_entry *entry,
		      const struct mdl_result *result)
{
	const char *log = log_of(job, entry);

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

void mad_join_logs(const struct mdl_entry *entry, struct ws_arena *arena)
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
