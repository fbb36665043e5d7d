/* What came of a run: columns of the result, files of the tools, what the log says. */
#include "models/run_priv.h"

#include "base/doc_edit.h"
#include "base/path.h"
#include "models/folder.h"
#include "models/launchers.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- the result's columns ---- */

static const char *joined_tags(const struct ws_doc *model, struct ws_arena *arena)
{
	const struct ws_doc *tags = ws_doc_get(model, "tags");
	const char *text = tags && tags->kind == WS_DOC_TEXT ? tags->text : "";

	for (size_t i = 0; tags && tags->kind == WS_DOC_LIST && i < tags->n && text; i++)
		text = ws_arena_printf(arena, "%s%s%s", text, i ? "," : "", tags->at[i]->text);
	return text;
}

enum ws_status mdl_result_begin(const struct mdl_entry *entry, const struct ws_doc *context,
				struct ws_arena *arena, struct mdl_result *out_result,
				struct ws_err *err)
{
	const char *build = getenv("BUILD_NUMBER"), *jenkins = getenv("JENKINS_BUILD_NUMBER");
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	*out_result = (struct mdl_result){
		.model = entry->model.name,
		.nnodes = "1",
		.training_precision = entry->model.training_precision,
		.pipeline = getenv("pipeline"),
		.args = ws_doc_get_text(context, "model_args", entry->model.args),
		.tags = joined_tags(entry->model.doc, arena),
		.docker_file = ws_doc_get_scalar(entry->built, "dockerfile", ""),
		.base_docker = ws_doc_get_scalar(entry->built, "base_docker", ""),
		.docker_sha = ws_doc_get_scalar(entry->built, "docker_sha", ""),
		.docker_image = ws_doc_get_scalar(entry->built, "docker_image", ""),
		.machine_name = ws_arena_strdup(arena, host),
		.gpu_architecture = ws_doc_get_scalar(entry->built, "gpu_architecture", ""),
		.build_duration = ws_doc_get_scalar(entry->built, "build_duration", ""),
		.dataname = entry->model.data,
		.build_number = build     ? build
				: jenkins ? jenkins
					  : "0",
		.additional_docker_run_options = entry->model.additional_docker_run_options,
		.outcome = MDL_FAILURE,
	};
	return out_result->tags && out_result->machine_name ? WS_OK : no_memory(err);
}

const char *mdl_log_stem(const struct mdl_entry *entry, struct ws_arena *arena)
{
	/* The image is named after the same two things. */
	const char *image = strncmp(entry->image, "ci-", 3) == 0 ? entry->image + 3 : entry->image;
	char *stem = ws_arena_strdup(arena, image);

	for (char *at = stem; at && *at; at++)
		if (*at == '/')
			*at = '_';
	return stem;
}

enum ws_status mdl_run_columns(struct mdl_run *run, struct ws_err *err)
{
	struct mdl_result *result = run->result;
	struct mdl_launch launch;
	enum ws_status st =
		mdl_launch_find(run->context, run->entry->model.doc, run->gpus.n, &launch, err);

	if (st)
		return st;
	result->n_gpus = ws_arena_printf(run->arena, "%zu", run->gpus.n);
	result->gpus_per_node = result->n_gpus;
	result->deployment_type = run->carrier->ops->name;
	result->launcher = launch.launcher;
	result->gpu_architecture = run->job.machine->architecture;
	return result->n_gpus ? WS_OK : no_memory(err);
}

/* The word after --config in the arguments; NULL: none. In the arena. */
static const char *config_path(struct mdl_run *run)
{
	const char *at = strstr(run->result->args, "--config");

	if (!at)
		return NULL;
	at += strlen("--config");
	if (*at != ' ' && *at != '=')
		return NULL;
	at += strspn(at, " =");
	return ws_arena_strndup(run->arena, at, strcspn(at, " "));
}

void mdl_run_read_config(struct mdl_run *run, const char *from)
{
	const char *name = config_path(run);
	struct ws_doc *doc = NULL;
	char path[PATH_MAX];
	struct ws_err err;

	if (!name || !*name || ws_path_join(from, name, path, NULL))
		return;
	if (!ws_doc_read(path, run->arena, &doc, &err))
		run->result->configs = doc;
	else
		mdl_log_line(&run->log,
			     "madengine: warning: perf_super.json is without configs: %s",
			     err.text);
}

/* ---- what came of it ---- */

static bool has_content(const char *path)
{
	struct stat st;
	char pattern[PATH_MAX];
	glob_t inside;
	bool found = false;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return stat(path, &st) == 0 && st.st_size > 0;
	if (snprintf(pattern, sizeof(pattern), "%s/*", path) < PATH_MAX &&
	    glob(pattern, GLOB_NOSORT, NULL, &inside) == 0) {
		for (size_t i = 0; i < inside.gl_pathc && !found; i++)
			found = has_content(inside.gl_pathv[i]);
		globfree(&inside);
	}
	return found;
}

/* A tool that wrote nothing recorded nothing, whatever its exit code says. */
void mdl_run_check_outputs(struct mdl_run *run)
{
	for (size_t i = 0; i < run->chain->n_outputs; i++) {
		const struct mdl_output *output = &run->chain->outputs[i];
		char pattern[PATH_MAX];
		bool found = false;
		glob_t files;

		if (snprintf(pattern, sizeof(pattern), "%s/%s", run->rd, output->pattern) <
			    PATH_MAX &&
		    glob(pattern, GLOB_NOSORT, NULL, &files) == 0) {
			for (size_t k = 0; k < files.gl_pathc && !found; k++)
				found = has_content(files.gl_pathv[k]);
			globfree(&files);
		}
		if (!found)
			mdl_run_fail(run, "tool %s recorded nothing: there is no %s", output->tool,
				     output->pattern);
	}
}

/* rocprofv3 says what was requested and never observed: users read that here, not in the log. */
static void note_unseen(struct mdl_run *run, struct ws_str text)
{
	struct ws_str line;

	while (ws_str_next(&text, '\n', &line))
		if (ws_str_starts(line, "rocprofv3: requested, but never observed: "))
			run->result->note = ws_arena_strndup(run->arena, line.at, line.n);
}

/* Performance and errors in the model's part of the log. */
void mdl_run_read_log(struct mdl_run *run)
{
	size_t n = (size_t)(run->output_end - run->output_at);
	off_t page = run->output_at & ~(off_t)(sysconf(_SC_PAGESIZE) - 1);
	int fd = open(run->log_path, O_RDONLY | O_CLOEXEC);
	struct mdl_performance performance;
	struct mdl_scan scan;
	struct ws_str text, line;
	const char *pattern;
	char *map;

	if (fd < 0 || run->output_end <= run->output_at) {
		if (fd >= 0)
			close(fd);
		return;
	}
	map = mmap(NULL, n + (size_t)(run->output_at - page), PROT_READ, MAP_PRIVATE, fd, page);
	close(fd);
	if (map == MAP_FAILED) {
		mdl_run_fail(run, "%s: %s", run->log_path, strerror(errno));
		return;
	}
	text = (struct ws_str){ map + (run->output_at - page), n };
	ws_str_next(&text, '\n', &line); /* the command line: no output of the model */
	if (mdl_performance_find(text, run->arena, &performance)) {
		run->result->performance = performance.number;
		run->result->metric = performance.metric;
	}
	note_unseen(run, text);
	mdl_scan_from(run->context, run->entry->model.doc, &scan);
	if (!run->failed && mdl_scan_log(&scan, text, &line, &pattern))
		mdl_run_fail(run, "the log has '%s': %.*s", pattern,
			     (int)WS_MIN(line.n, (size_t)160), line.at);
	munmap(map, n + (size_t)(run->output_at - page));
}

void mdl_run_judge(struct mdl_run *run)
{
	const char *metrics = getenv("MAD_COLLECT_METRICS");
	struct mdl_result *result = run->result;

	if (run->failed)
		result->outcome = MDL_FAILURE;
	else if (run->options->skip_model_run)
		result->outcome = MDL_SKIPPED;
	else if (result->performance || result->multiple_results ||
		 (metrics && strcmp(metrics, "false") == 0))
		result->outcome = MDL_SUCCESS;
	else
		mdl_run_fail(run, "the log has no line 'performance: NUMBER METRIC'");
}

/* Files that users look for in the working folder. */
void mdl_run_collect(struct mdl_run *run)
{
	static const char *const patterns[] = { "*_output.csv", "*_trace.csv", "*_env.csv" };
	const char *many = run->entry->model.multiple_results;
	char pattern[PATH_MAX];
	struct ws_err err;
	glob_t files;

	for (size_t i = 0; i < WS_ARRAY_LEN(patterns); i++) {
		if (snprintf(pattern, sizeof(pattern), "%s/%s", run->rd, patterns[i]) >= PATH_MAX ||
		    glob(pattern, 0, NULL, &files) != 0)
			continue;
		for (size_t k = 0; k < files.gl_pathc; k++)
			if (mdl_copy(files.gl_pathv[k], strrchr(files.gl_pathv[k], '/') + 1, &err))
				mdl_log_line(&run->log, "madengine: warning: %s", err.text);
		globfree(&files);
	}
	if (!*many || run->options->skip_model_run)
		return;
	snprintf(pattern, sizeof(pattern), "%s/%s", run->rd, many);
	if (!ws_path_exists(pattern))
		mdl_run_fail(run, "the model wrote no %s, which is to hold its results", many);
	else if (mdl_copy(pattern, many, &err))
		mdl_run_fail(run, "%s", err.text);
	else
		run->result->multiple_results = many;
}
