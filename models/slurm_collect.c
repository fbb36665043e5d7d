#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "models/slurm_priv.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* "node 1 (host) ended with 143" */
static void describe_node(size_t rank, const struct mdl_node *node, struct ws_buf *out)
{
	ws_buf_printf(out, "%snode %zu", out->n ? ", " : "", rank);
	if (*node->host)
		ws_buf_printf(out, " (%s)", node->host);
	if (!*node->host)
		ws_buf_add(out, " never started");
	else if (!node->ended)
		ws_buf_add(out, " did not finish");
	else
		ws_buf_printf(out, " ended with %d", node->exit_code);
}

/* The reason why the result is a failure; NULL: it is none. */
static const char *find_reason(const struct mdl_slurm_state *state, const struct mdl_node *nodes,
			       size_t n_nodes, bool has_number, struct ws_arena *arena)
{
	const char *reason = NULL;
	size_t n_bad = 0;
	struct ws_buf text;

	ws_buf_init(&text, 4096);
	for (size_t i = 0; i < n_nodes; i++) {
		if (nodes[i].ended && !nodes[i].exit_code)
			continue;
		if (n_bad++ < 8)
			describe_node(i, &nodes[i], &text);
	}
	if (n_bad > 8)
		ws_buf_printf(&text, " and %zu more", n_bad - 8);
	/* A job that nobody remembers is judged by its nodes alone. */
	if (n_bad || (state->phase != MDL_SLURM_COMPLETED && strcmp(state->name, "UNKNOWN") != 0)) {
		ws_buf_printf(&text, "%sthe job's state is %s%s%s", n_bad ? ": " : "", state->name,
			      state->advice ? ": " : "", state->advice ? state->advice : "");
		reason = ws_arena_strdup(arena, text.at);
	} else if (!has_number) {
		reason = "no node printed a performance line";
	}
	ws_buf_fini(&text);
	return reason;
}

/* What is there, and what is not, so that nobody takes a part for the whole. */
static void print_nodes(const struct mdl_node *nodes, size_t n_nodes)
{
	for (size_t i = 0; i < n_nodes; i++) {
		const struct mdl_node *node = &nodes[i];
		struct ws_buf line;

		if (node->lost)
			ws_log_warn("node %zu (%s): %s could not be copied", i, node->host,
				    node->lost);
		if (node->ended && !node->exit_code)
			continue;
		ws_buf_init(&line, 512);
		describe_node(i, node, &line);
		ws_log_warn("%s: %zu of its files are in %s", line.at, node->n_files, node->dir);
		ws_buf_fini(&line);
	}
}

/* What came back from a job. */
struct collected {
	const struct mdl_slurm_plan *plan;
	const struct mdl_slurm_state *state;
	const char *job, *dir;
	struct mdl_node *nodes;
	size_t n;        /* of nodes that hand back: one, if a script makes its own containers */
	const char *how; /* numbers were combined; NULL: there are none */
};

static enum ws_status write_summary(const struct collected *all, const struct mdl_result *result,
				    struct ws_arena *arena, struct ws_err *err)
{
	const struct mdl_slurm_plan *plan = all->plan;
	struct ws_doc *doc = ws_doc_map(arena), *list = ws_doc_list(arena);
	bool ok = ws_doc_put_text(doc, "job_id", all->job, arena);
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(all->dir, "results_summary.json", path, err);

	if (st)
		return st;
	ok &= ws_doc_put_text(doc, "model", plan->entry->model.name, arena);
	ok &= ws_doc_put_int(doc, "nodes", (int64_t)plan->n_nodes, arena);
	ok &= ws_doc_put_text(doc, "state", all->state->name, arena);
	ok &= ws_doc_put_text(doc, "status", mdl_status_name(result->outcome), arena);
	ok &= ws_doc_put_text(doc, "reason", result->reason, arena);
	for (size_t i = 0; ok && i < all->n; i++) {
		const struct mdl_node *node = &all->nodes[i];
		struct ws_doc *map = ws_doc_map(arena);

		ok &= ws_doc_put_int(map, "node", (int64_t)i, arena);
		ok &= ws_doc_put_text(map, "host", *node->host ? node->host : NULL, arena);
		ok &= ws_doc_put_text(map, "status",
				      !*node->host      ? "never started"
				      : !node->ended    ? "did not finish"
				      : node->exit_code ? "failed"
							: "ended",
				      arena);
		if (node->ended)
			ok &= ws_doc_put_int(map, "exit_code", node->exit_code, arena);
		ok &= ws_doc_put_text(map, "performance", node->number, arena);
		ok &= ws_doc_put_text(map, "metric", node->metric, arena);
		if (node->seconds >= 0)
			ok &= ws_doc_put(map, "test_duration", ws_doc_real(node->seconds, arena),
					 arena);
		ok &= ws_doc_put_text(map, "lost", node->lost, arena);
		ok &= ws_doc_put_text(map, "folder", node->dir, arena);
		ok &= ws_doc_add(list, map, arena);
	}
	ok &= ws_doc_put(doc, "per_node_metrics", list, arena);
	ok &= ws_doc_put_text(doc, "combined_by", all->how, arena);
	ok &= ws_doc_put_text(doc, "final_metric", result->metric, arena);
	ok &= ws_doc_put_text(doc, "final_performance", result->performance, arena);
	if (!ok)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return ws_doc_write_json(path, doc, err);
}

/* slurm_multi: perf*.csv that the model's own script wrote. */
static const char *find_own_results(const struct mdl_slurm_plan *plan, struct ws_arena *arena)
{
	const char *dir = ws_doc_get_text(plan->slurm, "results_dir", NULL);
	const char *found = NULL;
	char pattern[PATH_MAX];
	glob_t files;

	if (!dir || snprintf(pattern, sizeof(pattern), "%s/perf*.csv", dir) >= (int)sizeof(pattern))
		return NULL;
	if (!glob(pattern, 0, NULL, &files) && files.gl_pathc)
		found = ws_arena_strdup(arena, files.gl_pathv[files.gl_pathc - 1]);
	globfree(&files);
	return found;
}

static const char *find_multiple_results(const struct mdl_slurm_plan *plan, const char *dir,
					 struct ws_arena *arena)
{
	const char *name = plan->entry->model.multiple_results;
	const char *path;

	if (plan->own_containers)
		return find_own_results(plan, arena);
	path = *name ? ws_arena_printf(arena, "%s/node_0/%s", dir, name) : NULL;
	return path && ws_path_exists(path) ? path : NULL;
}

/* Columns that only a job has. */
static bool fill_columns(const struct collected *all, struct ws_arena *arena,
			 struct mdl_result *result)
{
	const struct mdl_slurm_plan *plan = all->plan;
	struct ws_buf hosts;

	ws_buf_init(&hosts, 1u << 16);
	for (size_t i = 0; i < all->n; i++) {
		if (*all->nodes[i].host)
			ws_buf_printf(&hosts, "%s%s", hosts.n ? "," : "", all->nodes[i].host);
	}
	result->n_gpus = ws_arena_printf(arena, "%zu", plan->n_nodes * plan->n_gpus);
	result->nnodes = ws_arena_printf(arena, "%zu", plan->n_nodes);
	result->gpus_per_node = ws_arena_printf(arena, "%zu", plan->n_gpus);
	result->deployment_type = "slurm";
	result->launcher = plan->launch.launcher;
	result->machine_name = ws_arena_strdup(arena, hosts.at);
	ws_buf_fini(&hosts);
	return result->n_gpus && result->nnodes && result->gpus_per_node && result->machine_name;
}

enum ws_status mdl_slurm_collect(const struct mdl_slurm_plan *plan, const char *job,
				 const struct mdl_slurm_state *state, struct ws_arena *arena,
				 struct mdl_result *result, struct ws_err *err)
{
	struct collected all = { .plan = plan, .state = state, .job = job };
	bool has_number;
	enum ws_status st;

	all.n = plan->own_containers ? 1 : plan->n_nodes;
	all.nodes = ws_arena_array(arena, all.n, sizeof(*all.nodes));
	all.dir = ws_arena_printf(arena, "%s/%s/%s", plan->output_dir, plan->model, job);
	if (!all.nodes || !all.dir)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_mkdirs(all.dir, err);
	for (size_t i = 0; !st && i < all.n; i++)
		st = mdl_node_read(all.dir, i, arena, &all.nodes[i], err);
	if (st)
		return ws_fail_in(err, st, "results of job %s", job);
	if (!fill_columns(&all, arena, result))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	has_number = mdl_nodes_combine(all.nodes, all.n, arena, result, &all.how);
	result->multiple_results = find_multiple_results(plan, all.dir, arena);
	result->reason =
		find_reason(state, all.nodes, all.n, has_number || result->multiple_results, arena);
	result->outcome = result->reason ? MDL_FAILURE : MDL_SUCCESS;
	print_nodes(all.nodes, all.n);
	st = write_summary(&all, result, arena, err);
	if (!st)
		ws_print(stderr, "madengine: results of job %s are in %s\n", job, all.dir);
	return st;
}
