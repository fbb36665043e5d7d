#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "base/utf8.h"
#include "models/k8s_priv.h"
#include "models/places.h"
#include "models/shell.h"

#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#define K8S_PART_MAX (256u << 10)
#define CONFIG_BYTES_MAX (900u << 10) /* a ConfigMap holds 1 MiB, names and escapes included */

/* ---- files ---- */

struct files {
	struct ws_doc *data;  /* of the ConfigMap */
	struct ws_doc *items; /* of the volume that lays them: keys have no folders */
	struct ws_arena *arena;
	size_t n_bytes;
};

/* @inside: its path in the volume. */
static enum ws_status add_file(struct files *files, const char *path, const char *inside,
			       bool executable, struct ws_err *err)
{
	char *key = ws_arena_strdup(files->arena, inside);
	struct ws_doc *item = ws_doc_map(files->arena);
	struct ws_buf text;
	enum ws_status st;

	if (!key)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (char *c = key; *c; c++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-",
			    *c))
			*c = '-';
	}
	ws_buf_init(&text, CONFIG_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	files->n_bytes += text.n;
	if (st || files->n_bytes > CONFIG_BYTES_MAX) {
		st = ws_fail(
			err, WS_E_LIMIT,
			"the scripts have more than %u KiB with %s: a ConfigMap holds 1 MiB: put "
			"large files into the image",
			CONFIG_BYTES_MAX >> 10, path);
	} else if (!ws_utf8_ok(text.at, text.n) || strlen(text.at) != text.n) {
		st = ws_fail(err, WS_E_FORMAT, "%s is not text: put it into the image", path);
	} else if (!ws_doc_put_text(files->data, key, text.at, files->arena) ||
		   !ws_doc_put_text(item, "key", key, files->arena) ||
		   !ws_doc_put_text(item, "path", inside, files->arena) ||
		   !ws_doc_put_int(item, "mode", executable ? 0755 : 0644, files->arena) ||
		   !ws_doc_add(files->items, item, files->arena)) {
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_buf_fini(&text);
	return st;
}

static int by_entry_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* All files below @dir, as @inside/... */
static enum ws_status add_folder(struct files *files, const char *dir, const char *inside,
				 struct ws_err *err)
{
	char *const roots[] = { (char *)dir, NULL };
	FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_entry_name);
	size_t n = strlen(dir);
	enum ws_status st = WS_OK;
	FTSENT *entry;

	if (!walk)
		return ws_fail(err, WS_E_IO, "cannot read %s", dir);
	while (!st && (entry = fts_read(walk))) {
		char path[PATH_MAX];

		if (entry->fts_info != FTS_F || *entry->fts_name == '.' ||
		    strstr(entry->fts_path, "__pycache__"))
			continue;
		if (snprintf(path, sizeof(path), "%s%s", inside, entry->fts_path + n) >=
		    (int)sizeof(path))
			st = ws_fail(err, WS_E_LIMIT, "%s has too long a name", entry->fts_path);
		else
			st = add_file(files, entry->fts_path, path,
				      entry->fts_statp->st_mode & S_IXUSR, err);
	}
	fts_close(walk);
	return st;
}

/* The folder of the model's scripts, below the root; "." when they are in it. */
static const char *scripts_folder(const struct mdl_model *model, const char *root,
				  struct ws_arena *arena, const char **out_file)
{
	const char *slash = strrchr(model->scripts, '/');
	char path[PATH_MAX];
	struct stat st;

	if (!ws_path_join(root, model->scripts, path, NULL) && !stat(path, &st) &&
	    S_ISDIR(st.st_mode)) {
		*out_file = "run.sh";
		return model->scripts;
	}
	*out_file = slash ? slash + 1 : model->scripts;
	return slash ? ws_arena_strndup(arena, model->scripts, (size_t)(slash - model->scripts))
		     : ".";
}

enum ws_status mdl_k8s_files(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
			     struct ws_doc **out_data, struct ws_doc **out_items,
			     struct ws_err *err)
{
	struct files files = { ws_doc_map(arena), ws_doc_list(arena), arena, 0 };
	const char *file, *folder = scripts_folder(&plan->entry->model, plan->root, arena, &file);
	char path[PATH_MAX];
	enum ws_status st;

	if (!files.data || !files.items || !folder)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_path_join(plan->root, folder, path, err);
	if (!st)
		st = add_folder(&files, path, "model", err);
	if (!st)
		st = mdl_place_find(MDL_PLACE_COMMON, path, err);
	if (!st && plan->chain->n_tools)
		st = add_folder(&files, path, MDL_PLACE_COMMON, err);
	/* Scripts of the user, which are relative to the working folder. */
	for (size_t i = 0; !st && i < plan->chain->pre.n + plan->chain->post.n; i++) {
		const struct mdl_script *script =
			i < plan->chain->pre.n ? &plan->chain->pre.at[i]
					       : &plan->chain->post.at[i - plan->chain->pre.n];

		if (strncmp(script->path, MDL_PLACE_COMMON "/", sizeof(MDL_PLACE_COMMON)) != 0)
			st = add_file(&files, script->path, script->path, true, err);
	}
	if (!st) {
		*out_data = files.data;
		*out_items = files.items;
	}
	return st;
}

/* ---- the script ---- */

static void add_scripts(const struct mdl_scripts *scripts, struct ws_buf *out)
{
	for (size_t i = 0; i < scripts->n; i++) {
		ws_buf_add(out, "before_or_after ");
		mdl_shell_word(scripts->at[i].path, out);
		ws_buf_printf(out, "%s%s\n", *scripts->at[i].args ? " " : "", scripts->at[i].args);
	}
}

static void add_hosts(const struct mdl_k8s_plan *plan, struct ws_buf *out)
{
	ws_buf_add(out, "printf '%s\\n'");
	for (size_t i = 0; i < plan->n_nodes; i++)
		ws_buf_printf(out, " %s-%zu.%s.%s.svc.cluster.local", plan->job, i, plan->job,
			      plan->name_space);
}

/* As a local run: bash run.sh, python3 x.py. torchrun starts a Python program itself. */
static void add_command(const struct mdl_k8s_plan *plan, const char *file, struct ws_buf *out)
{
	const struct mdl_model *model = &plan->entry->model;
	const char *args = ws_doc_get_text(plan->context, "model_args", model->args);
	bool python = ws_str_ends(ws_str_from(file), ".py");

	if (python && plan->n_nodes > 1)
		ws_buf_add(out, "${MAD_MULTI_NODE_RUNNER:-python3} ");
	else
		ws_buf_add(out, python ? "python3 " : "bash ");
	mdl_shell_word(file, out);
	ws_buf_printf(out, "%s%s", *args ? " " : "", args);
}

enum ws_status mdl_k8s_script(const struct mdl_k8s_plan *plan, struct ws_buf *out,
			      struct ws_err *err)
{
	struct ws_buf hosts, exports, launcher, pre, post, command, results;
	struct ws_buf *parts[] = { &hosts, &exports, &launcher, &pre, &post, &command, &results };
	struct ws_arena arena;
	const char *file;
	enum ws_status st;

	ws_arena_init(&arena, 1u << 20);
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++)
		ws_buf_init(parts[i], K8S_PART_MAX);
	scripts_folder(&plan->entry->model, plan->root, &arena, &file);
	add_hosts(plan, &hosts);
	if (plan->n_nodes > 1)
		ws_buf_printf(&exports, "export MASTER_ADDR=%s-0.%s.%s.svc.cluster.local\n",
			      plan->job, plan->job, plan->name_space);
	else
		ws_buf_add(&exports, "export MASTER_ADDR=localhost\n");
	st = mdl_launch_script(&plan->launch, true, &launcher, err);
	add_scripts(&plan->chain->pre, &pre);
	add_scripts(&plan->chain->post, &post);
	add_command(plan, file, &command);
	if (*plan->entry->model.multiple_results)
		mdl_shell_word(plan->entry->model.multiple_results, &results);
	for (size_t i = 0; !st && i < WS_ARRAY_LEN(parts); i++)
		st = ws_buf_status(parts[i], err);
	if (!st) {
		const struct mdl_slot slots[] = {
			{ "job", plan->job },
			{ "hosts", hosts.at },
			{ "exports", exports.at },
			{ "launcher", launcher.at },
			{ "pre_scripts", pre.at },
			{ "post_scripts", post.at },
			{ "prefix", plan->chain->prefix },
			{ "command", command.at },
			{ "multiple_results", results.at },
		};

		st = mdl_template_fill("k8s_job.sh", slots, WS_ARRAY_LEN(slots), out, err);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++)
		ws_buf_fini(parts[i]);
	ws_arena_fini(&arena);
	return st;
}
