#include "models/k8s.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "models/k8s_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define K8S_FOLDER "k8s_manifests"
#define K8S_RESULTS "k8s_results"
#define YAML_BYTES_MAX (8u << 20)
#define KUBECTL_TIMEOUT_MS 60000
#define LOG_TIMEOUT_MS 300000
#define LOG_BYTES_MAX (256u << 20)
#define POLL_FAILURES_MAX 10

const char *mdl_k8s_name(const char *model, struct ws_arena *arena)
{
	/* 63 characters are a label; pods add an index and a random end. */
	char name[53];
	size_t n = (size_t)snprintf(name, sizeof(name), "madengine-");

	for (; *model && n + 1 < sizeof(name); model++) {
		unsigned char c = (unsigned char)*model;

		if (isalnum(c))
			name[n++] = (char)tolower(c);
		else if (name[n - 1] != '-')
			name[n++] = '-';
	}
	while (n > 1 && name[n - 1] == '-')
		n--;
	return ws_arena_strndup(arena, name, n);
}

/* ---- the plan ---- */

static enum ws_status count_gpus(const struct mdl_model *model, const struct ws_doc *context,
				 const struct ws_doc *k8s, size_t *out_n, struct ws_err *err)
{
	static const char *const keys[] = { "gpus_per_node", "gpu_count", "n_gpus", "num_gpus",
					    "ngpus" };
	const char *text = NULL;
	int64_t n;

	for (size_t i = 0; !text && i < WS_ARRAY_LEN(keys); i++)
		text = ws_doc_get_scalar(context, keys[i], NULL);
	if (!text)
		text = ws_doc_get_scalar(k8s, "gpu_count", NULL);
	if (!text)
		text = *model->n_gpus ? model->n_gpus : "1";
	if (!ws_str_i64(ws_str_from(text), &n) || n < 1 || n > MDL_GPUS_MAX)
		return ws_fail(err, WS_E_USAGE,
			       "%s GPUs cannot be requested of Kubernetes: give k8s.gpu_count",
			       text);
	*out_n = (size_t)n;
	return WS_OK;
}

/* The presets for a job of this size. */
static size_t choose_presets(bool nvidia, size_t n_nodes, size_t n_gpus, const char *names[4])
{
	bool many = n_nodes > 1 || n_gpus > 1;
	size_t n = 0;

	names[n++] = "k8s/defaults";
	names[n++] = nvidia ? "k8s/nvidia" : "k8s/amd";
	names[n++] = n_nodes > 1 ? "k8s/multi-node" : many ? "k8s/multi-gpu" : "k8s/single-gpu";
	if (many && !nvidia)
		names[n++] = "k8s/amd-multi-gpu";
	return n;
}

enum ws_status mdl_k8s_plan(const struct mdl_entry *entry, const struct ws_doc *context,
			    const struct mdl_chain *chain, const char *root, struct ws_arena *arena,
			    struct mdl_k8s_plan *out_plan, struct ws_err *err)
{
	struct mdl_k8s_plan plan = { .entry = entry, .chain = chain, .root = root };
	bool nvidia = !strcasecmp(ws_doc_get_text(context, "gpu_vendor", "AMD"), "NVIDIA");
	const struct ws_doc *asked = ws_doc_get(context, "k8s");
	const char *names[4];
	struct ws_doc *merged, *user;
	enum ws_status st;

	/* Both spellings are one key. */
	user = ws_doc_overlay(context, context, arena);
	if (!asked)
		asked = ws_doc_get(context, "kubernetes");
	if (asked && asked->kind == WS_DOC_MAP && !ws_doc_put(user, "k8s", asked, arena))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = mdl_deploy_nodes(&entry->model, user, &plan.n_nodes, err);
	if (!st)
		st = count_gpus(&entry->model, user, asked, &plan.n_gpus, err);
	if (!st)
		st = mdl_deploy_merge(names,
				      choose_presets(nvidia, plan.n_nodes, plan.n_gpus, names),
				      &entry->model, user, arena, &merged, err);
	if (!st)
		st = mdl_launch_find(merged, entry->model.doc, plan.n_gpus, &plan.launch, err);
	if (st)
		return st;
	plan.context = merged;
	plan.k8s = ws_doc_get(merged, "k8s");
	plan.launch.n_nodes = plan.n_nodes;
	plan.job = mdl_k8s_name(entry->model.name, arena);
	plan.name_space = ws_doc_get_text(plan.k8s, "namespace", "default");
	plan.privileged =
		ws_doc_get_bool(plan.k8s, "allow_privileged_profiling", chain->n_tools > 0);
	plan.image = ws_doc_get_text(entry->built, "registry_image", "");
	if (!*plan.image)
		plan.image = ws_doc_get_text(entry->built, "docker_image", "");
	if (!*plan.image)
		plan.image = ws_doc_get_text(context, "MAD_CONTAINER_IMAGE", "");
	if (!*plan.image)
		return ws_fail(
			err, WS_E_USAGE,
			"model %s has no image, which a pod needs: build one with --registry, or "
			"give MAD_CONTAINER_IMAGE",
			entry->model.name);
	if (!plan.job)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	*out_plan = plan;
	return WS_OK;
}

/* ---- kubectl ---- */

struct kubectl {
	char config[PATH_MAX]; /* "": its own default */
	const struct mdl_k8s_plan *plan;
};

static void find_config(const struct mdl_k8s_plan *plan, struct kubectl *out_kubectl)
{
	const char *path = ws_doc_get_text(plan->k8s, "kubeconfig", "");
	const char *home = getenv("HOME");

	*out_kubectl = (struct kubectl){ .plan = plan };
	if (!strncmp(path, "~/", 2) && home)
		snprintf(out_kubectl->config, sizeof(out_kubectl->config), "%s/%s", home, path + 2);
	else
		snprintf(out_kubectl->config, sizeof(out_kubectl->config), "%s", path);
	/* One that is not there would hide KUBECONFIG and the account of a pod. */
	if (!ws_path_exists(out_kubectl->config))
		*out_kubectl->config = 0;
}

/* kubectl with @args, NULL at the end. */
static enum ws_status ask_kubectl(const struct kubectl *k, const char *const *args, int timeout_ms,
				  struct ws_buf *out, struct ws_err *err)
{
	char *argv[16];
	size_t n = 0;

	argv[n++] = "kubectl";
	if (*k->config) {
		argv[n++] = "--kubeconfig";
		argv[n++] = (char *)k->config;
	}
	argv[n++] = "--namespace";
	argv[n++] = (char *)k->plan->name_space;
	while (*args && n + 1 < WS_ARRAY_LEN(argv))
		argv[n++] = (char *)*args++;
	argv[n] = NULL;
	return mdl_deploy_ask(argv, timeout_ms, out, err);
}

/* Polls until the job is Complete or Failed. False: a signal came, or it cannot be asked. */
static enum ws_status wait_for_job(const struct kubectl *k, bool *out_complete,
				   bool *out_interrupted, struct ws_err *err)
{
	static const char form[] =
		"jsonpath={.status.active} active, {.status.succeeded} succeeded, "
		"{.status.failed} failed: {.status.conditions[*].type}";
	const char *const args[] = { "get", "job", k->plan->job, "-o", form, NULL };
	char shown[200] = "";
	struct mdl_wait wait;
	struct ws_buf out;
	int n_failures = 0;
	enum ws_status st = WS_OK;
	bool ended = false;

	ws_buf_init(&out, 1u << 16);
	mdl_wait_begin(&wait);
	while (!mdl_wait_interrupted()) {
		ws_buf_clear(&out);
		st = ask_kubectl(k, args, KUBECTL_TIMEOUT_MS, &out, err);
		n_failures = st ? n_failures + 1 : 0;
		if (n_failures >= POLL_FAILURES_MAX)
			break;
		if (!st && strncmp(shown, out.at, sizeof(shown) - 1) != 0) {
			snprintf(shown, sizeof(shown), "%s", out.at);
			ws_print(stderr, "madengine: job %s: %.*s\n", k->plan->job,
				 WS_STR_ARGS(ws_str_trim(ws_buf_view(&out))));
		}
		*out_complete = strstr(out.at, "Complete") != NULL;
		ended = *out_complete || strstr(out.at, ": Failed") || strstr(out.at, " Failed");
		if (ended)
			break;
		mdl_wait_pause(&wait);
	}
	*out_interrupted = mdl_wait_interrupted();
	mdl_wait_end(&wait);
	ws_buf_fini(&out);
	return *out_interrupted ? WS_OK : st;
}

/* The log of one pod into <results>/node_<rank>/, with its exit code in node.txt. */
static enum ws_status read_pod(const struct kubectl *k, const char *dir, size_t rank,
			       struct ws_err *err)
{
	bool many = k->plan->n_nodes > 1;
	char selector[200], path[PATH_MAX], facts[120], mark[64];
	const char *const args[] = { "logs", "--tail=-1", "-l", selector, NULL };
	const char *found;
	struct ws_buf log;
	enum ws_status st;

	snprintf(selector, sizeof(selector),
		 many ? "job-name=%s,batch.kubernetes.io/job-completion-index=%zu" : "job-name=%s",
		 k->plan->job, rank);
	ws_buf_init(&log, LOG_BYTES_MAX);
	st = ask_kubectl(k, args, LOG_TIMEOUT_MS, &log, err);
	if (!st && snprintf(path, sizeof(path), "%s/node_%zu", dir, rank) >= (int)sizeof(path))
		st = ws_fail(err, WS_E_LIMIT, "%s is too long", dir);
	if (!st)
		st = ws_mkdirs(path, err);
	if (!st)
		st = ws_path_join(path, "stdout.out", path, err);
	if (!st)
		st = ws_file_replace(path, log.at, log.n, err);
	snprintf(mark, sizeof(mark), "madengine: node %zu ended with ", rank);
	found = st ? NULL : strstr(log.at, mark);
	snprintf(facts, sizeof(facts), found ? "host=pod-%zu\nexit_code=%d\n" : "host=pod-%zu\n",
		 rank, found ? atoi(found + strlen(mark)) : 0);
	if (!st) {
		ws_path_parent(path);
		st = ws_path_join(path, "node.txt", path, err);
	}
	if (!st)
		st = ws_file_replace(path, facts, strlen(facts), err);
	ws_buf_fini(&log);
	return st;
}

/* ---- results ---- */

static enum ws_status collect_pods(const struct kubectl *k, bool complete, struct ws_arena *arena,
				   struct mdl_result *result, struct ws_err *err)
{
	const struct mdl_k8s_plan *plan = k->plan;
	struct mdl_node *nodes = ws_arena_array(arena, plan->n_nodes, sizeof(*nodes));
	const char *dir = ws_arena_printf(arena, K8S_RESULTS "/%s", plan->job);
	const char *how;
	enum ws_status st = WS_OK;
	bool has_number;

	if (!nodes || !dir)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; !st && i < plan->n_nodes; i++) {
		struct ws_err why = { .status = WS_OK };

		if (read_pod(k, dir, i, &why))
			ws_log_warn("node %zu: its log cannot be read: %s", i, why.text);
		st = mdl_node_read(dir, i, arena, &nodes[i], err);
	}
	if (st)
		return st;
	has_number = mdl_nodes_combine(nodes, plan->n_nodes, arena, result, &how);
	result->outcome = complete && has_number ? MDL_SUCCESS : MDL_FAILURE;
	if (!complete)
		result->reason =
			ws_arena_printf(arena, "job %s failed: the logs are in %s", plan->job, dir);
	else if (!has_number)
		result->reason = "no pod printed a performance line";
	ws_print(stderr,
		 "madengine: logs are in %s, files of the pods in the claim %s, folder %s\n", dir,
		 ws_doc_get_text(plan->k8s, "results_pvc",
				 ws_arena_printf(arena, "%s-results", plan->job)),
		 plan->job);
	return WS_OK;
}

static enum ws_status write_objects(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
				    char out_path[PATH_MAX], struct ws_err *err)
{
	struct ws_buf yaml;
	enum ws_status st;

	ws_buf_init(&yaml, YAML_BYTES_MAX);
	st = mdl_k8s_objects(plan, arena, &yaml, err);
	if (!st)
		st = ws_mkdirs(K8S_FOLDER, err);
	snprintf(out_path, PATH_MAX, K8S_FOLDER "/%s.yaml", plan->job);
	if (!st)
		st = ws_file_replace(out_path, yaml.at, yaml.n, err);
	ws_buf_fini(&yaml);
	return st;
}

static enum ws_status run_job(const struct kubectl *k, const char *path, struct ws_arena *arena,
			      struct mdl_result *result, struct ws_err *err)
{
	const char *const replaced[] = { "delete", "job", k->plan->job, "--ignore-not-found",
					 NULL };
	const char *const apply[] = { "apply", "-f", path, NULL };
	bool complete = false, interrupted = false;
	struct ws_buf out;
	enum ws_status st;

	ws_buf_init(&out, 1u << 16);
	/* The pods of a job cannot be changed; one of an earlier run makes way. */
	st = ask_kubectl(k, replaced, KUBECTL_TIMEOUT_MS, &out, err);
	if (!st)
		st = ask_kubectl(k, apply, KUBECTL_TIMEOUT_MS, &out, err);
	ws_buf_fini(&out);
	if (st)
		return ws_fail_in(err, st, "%s is not applied", path);
	ws_print(stderr, "madengine: applied %s: job %s in namespace %s\n", path, k->plan->job,
		 k->plan->name_space);
	st = wait_for_job(k, &complete, &interrupted, err);
	if (st)
		return st;
	if (!interrupted)
		return collect_pods(k, complete, arena, result, err);
	ws_print(stderr,
		 "madengine: job %s goes on.\n"
		 "  look at it  kubectl -n %s get job %s\n"
		 "  cancel it   kubectl -n %s delete job %s\n",
		 k->plan->job, k->plan->name_space, k->plan->job, k->plan->name_space,
		 k->plan->job);
	result->outcome = MDL_SKIPPED;
	result->interrupted = true;
	result->reason = ws_arena_printf(arena, "job %s goes on", k->plan->job);
	return WS_OK;
}

enum ws_status mdl_k8s_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			   const struct ws_doc *context, const struct mdl_chain *chain,
			   const char *root, const struct mdl_run_options *options,
			   struct ws_arena *arena, struct mdl_result *out_result,
			   struct ws_err *err)
{
	struct mdl_result result = { 0 };
	struct mdl_k8s_plan plan;
	struct kubectl kubectl;
	char path[PATH_MAX], program[PATH_MAX];
	enum ws_status st;

	st = mdl_k8s_plan(entry, context, chain, root, arena, &plan, err);
	if (!st)
		st = mdl_result_begin(entry, context, arena, &result, err);
	if (!st)
		st = write_objects(&plan, arena, path, err);
	if (st)
		return st;
	mdl_deploy_warn(options, "Kubernetes");
	result.deployment_type = "kubernetes";
	result.launcher = plan.launch.launcher;
	result.machine_name = plan.job;
	result.n_gpus = ws_arena_printf(arena, "%zu", plan.n_nodes * plan.n_gpus);
	result.nnodes = ws_arena_printf(arena, "%zu", plan.n_nodes);
	result.gpus_per_node = ws_arena_printf(arena, "%zu", plan.n_gpus);
	if (ws_path_program("kubectl", program, NULL)) {
		result.outcome = MDL_SKIPPED;
		result.reason =
			ws_arena_printf(arena, "there is no kubectl: apply %s where there is one",
					path);
	} else {
		find_config(&plan, &kubectl);
		st = run_job(&kubectl, path, arena, &result, err);
	}
	if (!st)
		*out_result = result;
	return st;
}
