#include "base/doc_edit.h"
#include "base/path.h"
#include "models/slurm_priv.h"

#include <string.h>
#include <unistd.h>

/* A text, or a list of texts joined by commas; NULL: not given. */
static enum ws_status read_list(const struct ws_doc *slurm, const char *key, struct ws_arena *arena,
				const char **out_list, struct ws_err *err)
{
	const struct ws_doc *member = ws_doc_get(slurm, key);
	struct ws_buf text;
	enum ws_status st;

	*out_list = NULL;
	if (!member || member->kind == WS_DOC_NULL)
		return WS_OK;
	if (member->kind != WS_DOC_LIST) {
		*out_list = member->text && *member->text ? member->text : NULL;
		return WS_OK;
	}
	ws_buf_init(&text, 1u << 16);
	for (size_t i = 0; i < member->n; i++)
		ws_buf_printf(&text, "%s%s", i ? "," : "", member->at[i]->text);
	st = ws_buf_status(&text, err);
	if (!st && text.n && !(*out_list = ws_arena_strdup(arena, text.at)))
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_buf_fini(&text);
	return st;
}

/* Keys of slurm, and what their values must be. */
/* clang-format off */
static const struct {
	const char *key;
	unsigned kinds;
	const char *what;
} slurm_keys[] = {
#define TEXT (1u << WS_DOC_TEXT)
#define NUMBER (1u << WS_DOC_INT)
#define BOOL (1u << WS_DOC_BOOL)
#define LIST (1u << WS_DOC_LIST)
	{ "partition",                        TEXT,          "a text" },
	{ "nodes",                            NUMBER | TEXT, "a number" },
	{ "gpus_per_node",                    NUMBER | TEXT, "a number" },
	{ "time",                             TEXT | NUMBER, "a time as sbatch reads it" },
	{ "output_dir",                       TEXT,          "a folder" },
	{ "exclusive",                        BOOL,          "true or false" },
	{ "modules",                          LIST,          "a list of texts" },
	{ "nodelist",                         TEXT | LIST,   "a text or a list" },
	{ "exclude",                          TEXT | LIST,   "a text or a list" },
	{ "constraint",                       TEXT,          "a text" },
	{ "qos",                              TEXT,          "a text" },
	{ "account",                          TEXT,          "a text" },
	{ "reservation",                      TEXT,          "a text" },
	{ "network_interface",                TEXT,          "a text" },
	{ "shared_workspace",                 TEXT,          "a folder" },
	{ "results_dir",                      TEXT,          "a folder" },
	{ "enable_node_check",                BOOL,          "true or false" },
	{ "auto_cleanup_nodes",               BOOL,          "true or false" },
	{ "allow_submit_without_clean_nodes", BOOL,          "true or false" },
	{ "verbose_node_check",               BOOL,          "true or false" },
	{ "job_id",                           NUMBER | TEXT, "the number of a job" },
#undef TEXT
#undef NUMBER
#undef BOOL
#undef LIST
};
/* clang-format on */

const char *mdl_slurm_key(size_t i)
{
	return i < WS_ARRAY_LEN(slurm_keys) ? slurm_keys[i].key : NULL;
}

static enum ws_status check_values(const struct ws_doc *slurm, struct ws_err *err)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(slurm_keys); i++) {
		const struct ws_doc *value = ws_doc_get(slurm, slurm_keys[i].key);

		if (value && value->kind != WS_DOC_NULL &&
		    !(slurm_keys[i].kinds & 1u << value->kind))
			return ws_fail(err, WS_E_USAGE, "slurm.%s is %s: give %s",
				       slurm_keys[i].key, ws_doc_kind_name(value->kind),
				       slurm_keys[i].what);
	}
	return WS_OK;
}

static enum ws_status find_places(struct mdl_slurm_plan *plan, struct ws_arena *arena,
				  struct ws_err *err)
{
	const char *asked = ws_doc_get_text(plan->slurm, "output_dir", "./slurm_results");
	char here[PATH_MAX], path[PATH_MAX];
	enum ws_status st;

	if (!getcwd(here, sizeof(here)))
		return ws_fail(err, WS_E_IO, "cannot find the working folder");
	while (!strncmp(asked, "./", 2))
		asked += 2;
	st = ws_path_join(here, asked, path, err);
	if (st)
		return ws_fail_in(err, st, "slurm.output_dir");
	plan->model = mdl_deploy_file_name(plan->entry->model.name, arena);
	plan->submit_dir = ws_arena_strdup(arena, here);
	plan->output_dir = ws_arena_strdup(arena, path);
	plan->script = ws_arena_printf(arena, "%s/madengine_%s.sh", path, plan->model);
	plan->manifest = ws_arena_printf(arena, "%s/madengine_%s.manifest.json", path, plan->model);
	if (!plan->model || !plan->submit_dir || !plan->output_dir || !plan->script ||
	    !plan->manifest)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return WS_OK;
}

static enum ws_status read_number(const struct ws_doc *slurm, const char *key, uint64_t max,
				  uint64_t *out_number, struct ws_err *err)
{
	const char *text = ws_doc_get_scalar(slurm, key, "0");

	if (!ws_str_u64(ws_str_from(text), out_number) || *out_number > max)
		return ws_fail(err, WS_E_USAGE, "slurm.%s is '%s': give a number", key, text);
	return WS_OK;
}

enum ws_status mdl_slurm_plan(const struct mdl_entry *entry, const struct ws_doc *manifest,
			      const struct ws_doc *context, const struct mdl_run_options *options,
			      struct ws_arena *arena, struct mdl_slurm_plan *out_plan,
			      struct ws_err *err)
{
	const char *presets[] = { "slurm/defaults", NULL };
	struct mdl_slurm_plan plan = { .entry = entry, .options = options };
	struct ws_doc *merged, *slurm;
	uint64_t n_gpus;
	enum ws_status st;

	st = mdl_deploy_nodes(&entry->model, context, &plan.n_nodes, err);
	if (st)
		return st;
	presets[1] = plan.n_nodes > 1 ? "slurm/multi-node" : "slurm/single-node";
	st = mdl_deploy_merge(presets, WS_ARRAY_LEN(presets), &entry->model, context, arena,
			      &merged, err);
	if (st)
		return st;
	slurm = ws_doc_copy(ws_doc_get(merged, "slurm"), arena);
	if (!ws_doc_put_int(slurm, "nodes", (int64_t)plan.n_nodes, arena) ||
	    !ws_doc_put(merged, "slurm", slurm, arena))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	plan.context = merged;
	plan.slurm = ws_doc_get(merged, "slurm");
	st = check_values(plan.slurm, err);
	if (!st)
		st = read_number(plan.slurm, "gpus_per_node", MDL_GPUS_MAX, &n_gpus, err);
	if (!st)
		st = read_number(plan.slurm, "job_id", UINT32_MAX, &plan.job, err);
	if (!st)
		st = mdl_launch_find(merged, entry->model.doc, (size_t)n_gpus, &plan.launch, err);
	if (!st)
		st = find_places(&plan, arena, err);
	if (!st)
		st = read_list(plan.slurm, "nodelist", arena, &plan.nodelist, err);
	if (!st)
		st = read_list(plan.slurm, "exclude", arena, &plan.exclude, err);
	if (st)
		return st;
	plan.root = ws_doc_get_text(manifest, "model_root", plan.submit_dir);
	plan.n_gpus = (size_t)n_gpus;
	plan.own_containers = !strcmp(plan.launch.launcher, MDL_LAUNCHER_SLURM_MULTI);
	*out_plan = plan;
	return WS_OK;
}

/* The member @image of a map, alone in a new map. */
static struct ws_doc *only(const struct ws_doc *map, const char *image, struct ws_arena *arena)
{
	struct ws_doc *one = ws_doc_map(arena);
	const struct ws_doc *member = ws_doc_get(map, image);

	return one && member && ws_doc_put(one, image, member, arena) ? one : NULL;
}

struct ws_doc *mdl_slurm_manifest(const struct mdl_slurm_plan *plan, const struct ws_doc *manifest,
				  struct ws_arena *arena)
{
	static const char *const schedulers[] = { "slurm", "k8s", "kubernetes" };
	struct ws_doc *local = ws_doc_copy(manifest, arena);
	struct ws_doc *config = ws_doc_map(arena), *context = ws_doc_map(arena);
	const char *image = plan->entry->image;

	if (!local || !config || !context)
		return NULL;
	if (ws_doc_get(manifest, "deployment_config"))
		config = ws_doc_copy(ws_doc_get(manifest, "deployment_config"), arena);
	if (ws_doc_get(manifest, "context"))
		context = ws_doc_copy(ws_doc_get(manifest, "context"), arena);
	if (!config || !context)
		return NULL;
	for (size_t i = 0; i < WS_ARRAY_LEN(schedulers); i++)
		ws_doc_remove(config, schedulers[i]);
	if (!ws_doc_put_text(config, "target", "docker", arena) ||
	    (plan->n_gpus &&
	     !ws_doc_put_int(config, "gpus_per_node", (int64_t)plan->n_gpus, arena)) ||
	    !ws_doc_put_bool(context, "skip_perf_collection", true, arena) ||
	    !ws_doc_put(local, "deployment_config", config, arena) ||
	    !ws_doc_put(local, "context", context, arena) ||
	    !ws_doc_put(local, "built_images",
			only(ws_doc_get(manifest, "built_images"), image, arena), arena) ||
	    !ws_doc_put(local, "built_models",
			only(ws_doc_get(manifest, "built_models"), image, arena), arena))
		return NULL;
	return local;
}
