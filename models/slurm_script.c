#include "base/doc_edit.h"
#include "base/path.h"
#include "models/shell.h"
#include "models/slurm_priv.h"

#include <string.h>

#define SCRIPT_PART_MAX (1u << 18)

/* ---- directives ---- */

/* Text that sbatch reads from a comment: no line end, no quotes inside. */
static enum ws_status add_directive(const char *option, const char *value, struct ws_buf *out,
				    struct ws_err *err)
{
	for (const char *c = value; *c; c++) {
		if ((unsigned char)*c < ' ' || strchr("\"'\\", *c))
			return ws_fail(err, WS_E_USAGE,
				       "--%s of sbatch would be '%s': it may not have quotes, "
				       "backslashes or control characters",
				       option, value);
	}
	ws_buf_printf(out, strchr(value, ' ') ? "#SBATCH --%s=\"%s\"\n" : "#SBATCH --%s=%s\n",
		      option, value);
	return WS_OK;
}

static enum ws_status add_directives(const struct mdl_slurm_plan *plan, struct ws_buf *out,
				     struct ws_err *err)
{
	char name[PATH_MAX], nodes[24], gpus[24], stdout_path[PATH_MAX], stderr_path[PATH_MAX];
	const struct {
		const char *option;
		const char *value; /* NULL: left out */
	} directives[] = {
		{ "job-name", name },
		{ "output", stdout_path },
		{ "error", stderr_path },
		{ "partition", ws_doc_get_text(plan->slurm, "partition", NULL) },
		{ "nodes", nodes },
		{ "ntasks", nodes },
		{ "ntasks-per-node", "1" },
		{ "gpus-per-node", plan->n_gpus ? gpus : NULL },
		{ "time", ws_doc_get_scalar(plan->slurm, "time", NULL) },
		{ "nodelist", plan->nodelist },
		{ "exclude", plan->exclude },
		{ "constraint", ws_doc_get_text(plan->slurm, "constraint", NULL) },
		{ "qos", ws_doc_get_text(plan->slurm, "qos", NULL) },
		{ "account", ws_doc_get_text(plan->slurm, "account", NULL) },
		{ "reservation", ws_doc_get_text(plan->slurm, "reservation", NULL) },
	};

	snprintf(name, sizeof(name), "madengine-%s", plan->model);
	snprintf(nodes, sizeof(nodes), "%zu", plan->n_nodes);
	snprintf(gpus, sizeof(gpus), "%zu", plan->n_gpus);
	snprintf(stdout_path, sizeof(stdout_path), "%.3000s/madengine-%.900s_%%j_%%t.out",
		 plan->output_dir, plan->model);
	snprintf(stderr_path, sizeof(stderr_path), "%.3000s/madengine-%.900s_%%j_%%t.err",
		 plan->output_dir, plan->model);
	for (size_t i = 0; i < WS_ARRAY_LEN(directives); i++) {
		enum ws_status st = WS_OK;

		if (directives[i].value && *directives[i].value)
			st = add_directive(directives[i].option, directives[i].value, out, err);
		if (st)
			return st;
	}
	if (ws_doc_get_bool(plan->slurm, "exclusive", true))
		ws_buf_add(out, "#SBATCH --exclusive\n");
	/* A job that runs again after a node failed would mix its results with the first try's. */
	ws_buf_add(out, "#SBATCH --no-requeue\n");
	return WS_OK;
}

/* ---- variables ---- */

static void add_modules(const struct mdl_slurm_plan *plan, struct ws_buf *out)
{
	const struct ws_doc *modules = ws_doc_get(plan->slurm, "modules");

	for (size_t i = 0; modules && modules->kind == WS_DOC_LIST && i < modules->n; i++) {
		ws_buf_add(out, "module load ");
		mdl_shell_word(modules->at[i]->text, out);
		ws_buf_add(out, " || exit 1\n");
	}
}

static enum ws_status add_user_variables(const struct ws_doc *vars, struct ws_buf *out,
					 struct ws_err *err)
{
	for (size_t i = 0; vars && vars->kind == WS_DOC_MAP && i < vars->n; i++) {
		const struct ws_doc *var = vars->at[i];

		if (!mdl_shell_name_ok(var->key))
			return ws_fail(err, WS_E_USAGE,
				       "env_vars: '%s' cannot be the name of a variable", var->key);
		/* Each task sets its own: ranks that share the database damage it. */
		if (strcmp(var->key, "MIOPEN_USER_DB_PATH") != 0)
			mdl_shell_export(var->key, var->text ? var->text : "", out);
	}
	return WS_OK;
}

/* Which GPUs a rank sees. Ray refuses to start when it finds two different variables. */
static void add_visible_gpus(const struct mdl_slurm_plan *plan, struct ws_buf *out)
{
	bool nvidia = !strcasecmp(ws_doc_get_text(plan->context, "gpu_vendor", "AMD"), "NVIDIA");
	bool ray = mdl_launcher_uses_ray(plan->launch.launcher);
	const struct {
		const char *name;
		bool with_ray;
	} names[] = {
		{ "HIP_VISIBLE_DEVICES", !nvidia },
		{ "ROCR_VISIBLE_DEVICES", false },
		{ "CUDA_VISIBLE_DEVICES", nvidia },
	};
	for (size_t i = 0; plan->n_gpus && i < WS_ARRAY_LEN(names); i++) {
		if (ray && !names[i].with_ray) {
			ws_buf_printf(out, "unset %s\n", names[i].name);
			continue;
		}
		ws_buf_printf(out, "export %s=0", names[i].name);
		for (size_t gpu = 1; gpu < plan->n_gpus; gpu++)
			ws_buf_printf(out, ",%zu", gpu);
		ws_buf_add(out, "\n");
	}
	if (ray)
		ws_buf_add(out, "unset RAY_EXPERIMENTAL_NOSET_HIP_VISIBLE_DEVICES\n");
}

/* The output folder as tar names it below the submit folder; for one elsewhere, the usual name. */
static const char *name_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	return !strncmp(dir, path, n) && path[n] == '/' ? path + n + 1 : "slurm_results";
}

static enum ws_status add_exports(const struct mdl_slurm_plan *plan, struct ws_buf *out,
				  struct ws_err *err)
{
	const struct mdl_model *model = &plan->entry->model;
	const struct ws_doc *distributed = ws_doc_get(plan->context, "distributed");
	const char *interface = ws_doc_get_text(plan->slurm, "network_interface", "");
	char nodes[24], gpus[24], port[24];
	const struct {
		const char *name;
		const char *value;
	} exports[] = {
		{ "MASTER_PORT", port },
		{ "NNODES", nodes },
		{ "GPUS_PER_NODE", gpus },
		{ "DISTRIBUTED_BACKEND", ws_doc_get_text(distributed, "backend", "nccl") },
		{ "MAD_DEPLOYMENT_TYPE", "slurm" },
		{ "MAD_TOTAL_NODES", nodes },
		{ "MAD_IN_SLURM_JOB", "1" },
		{ "MAD_LAUNCHER_TYPE", plan->launch.launcher },
		{ "mad_model", plan->model },
		{ "mad_submit_dir", plan->submit_dir },
		{ "mad_output_dir", plan->output_dir },
		{ "mad_output_name", name_below(plan->submit_dir, plan->output_dir) },
		{ "mad_manifest", plan->manifest },
		{ "mad_multiple_results", model->multiple_results },
		{ "mad_shared_workspace", ws_doc_get_text(plan->slurm, "shared_workspace", "") },
	};
	enum ws_status st;

	snprintf(nodes, sizeof(nodes), "%zu", plan->n_nodes);
	snprintf(gpus, sizeof(gpus), "%zu", plan->n_gpus);
	snprintf(port, sizeof(port), "%u", plan->launch.port);
	st = add_user_variables(ws_doc_get(plan->context, "env_vars"), out, err);
	if (st)
		return st;
	if (*interface) {
		mdl_shell_export("NCCL_SOCKET_IFNAME", interface, out);
		mdl_shell_export("GLOO_SOCKET_IFNAME", interface, out);
	}
	add_visible_gpus(plan, out);
	for (size_t i = 0; i < WS_ARRAY_LEN(exports); i++)
		mdl_shell_export(exports[i].name, exports[i].value, out);
	return WS_OK;
}

/* ---- commands ---- */

static void add_inner_run(const struct mdl_slurm_plan *plan, struct ws_buf *out)
{
	/* The run folder stays: a job that is ended may have no time to copy all of it. */
	ws_buf_printf(out,
		      "madengine run --manifest-file build_manifest_local.json --keep-model-dir "
		      "--timeout %.0f",
		      plan->options->timeout_s < 0 ? -1.0 : plan->options->timeout_s);
	if (plan->options->mirror) {
		ws_buf_add(out, " --force-mirror-local ");
		mdl_shell_word(plan->options->mirror, out);
	}
	if (plan->options->live_output)
		ws_buf_add(out, " --live-output");
}

/* slurm_multi: the script of the model, on the first node, in its own folder. */
static enum ws_status add_own_script(const struct mdl_slurm_plan *plan, struct ws_buf *exports,
				     struct ws_buf *pull, struct ws_buf *command,
				     struct ws_err *err)
{
	const struct mdl_model *model = &plan->entry->model;
	const struct ws_doc *split =
		ws_doc_get(ws_doc_get(plan->context, "distributed"), "sglang_disagg");
	const struct ws_doc *env = ws_doc_get(plan->context, "env_vars");
	const char *image = ws_doc_get_text(plan->entry->built, "docker_image", "");
	const char *base = strrchr(model->scripts, '/');
	char path[PATH_MAX];
	enum ws_status st;

	base = base ? base + 1 : model->scripts;
	st = ws_path_join(plan->root, model->scripts, path, err);
	if (st)
		return st;
	if (!*model->scripts || !ws_path_exists(path))
		return ws_fail(err, WS_E_NOTFOUND,
			       "slurm_multi runs the model's script, and there is no %s", path);
	ws_path_parent(path);
	mdl_shell_export("mad_script_dir", path, exports);
	if (split && !ws_doc_get(env, "xP")) {
		mdl_shell_export("xP", ws_doc_get_scalar(split, "prefill_nodes", "1"), exports);
		mdl_shell_export("yD", ws_doc_get_scalar(split, "decode_nodes", "1"), exports);
	}
	if (!*image)
		image = ws_doc_get_scalar(env, "DOCKER_IMAGE_NAME", "");
	if (*image)
		mdl_shell_export("DOCKER_IMAGE_NAME", image, exports);
	/* An image of a registry is loaded by all nodes at once, before the model needs it. */
	if (strpbrk(image, "/.") && strncmp(image, "ci-", 3) != 0)
		ws_buf_add(pull, "srun docker pull \"$DOCKER_IMAGE_NAME\" || exit 1\n");
	ws_buf_add(command, "bash ");
	mdl_shell_word(base, command);
	if (*model->args)
		ws_buf_printf(command, " %s", model->args);
	return WS_OK;
}

enum ws_status mdl_slurm_script(const struct mdl_slurm_plan *plan, struct ws_buf *out,
				struct ws_err *err)
{
	struct ws_buf directives, modules, exports, launcher, pull, command;
	struct ws_buf *parts[] = { &directives, &modules, &exports, &launcher, &pull, &command };
	enum ws_status st;

	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++)
		ws_buf_init(parts[i], SCRIPT_PART_MAX);
	st = add_directives(plan, &directives, err);
	if (!st)
		st = add_exports(plan, &exports, err);
	add_modules(plan, &modules);
	if (!st && plan->own_containers)
		st = add_own_script(plan, &exports, &pull, &command, err);
	else if (!st)
		st = mdl_launch_script(&plan->launch, false, &launcher, err);
	if (!plan->own_containers)
		add_inner_run(plan, &command);
	for (size_t i = 0; !st && i < WS_ARRAY_LEN(parts); i++)
		st = ws_buf_status(parts[i], err);
	if (!st) {
		const struct mdl_slot slots[] = {
			{ "directives", directives.at },
			{ "modules", modules.at },
			{ "exports", exports.at },
			{ "launcher", launcher.at },
			{ "pull", pull.at },
			{ "command", command.at },
		};

		st = mdl_template_fill(plan->own_containers ? "slurm_multi.sh" : "slurm_job.sh",
				       slots, WS_ARRAY_LEN(slots), out, err);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++)
		ws_buf_fini(parts[i]);
	return st;
}
