#include "models/context.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "models/places.h"
#include "models/pyliteral.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KIND(name) (1u << WS_DOC_##name)
#define NUMBER (KIND(INT) | KIND(REAL))
#define SCALAR (KIND(BOOL) | KIND(INT) | KIND(REAL) | KIND(TEXT))

/* clang-format off */
static const struct mdl_context_key keys[] = {
	{ "gpu_vendor",                KIND(TEXT) },
	{ "guest_os",                  KIND(TEXT) },
	{ "tools",                     KIND(LIST) },
	{ "pre_scripts",               KIND(LIST) },
	{ "post_scripts",              KIND(LIST) },
	{ "encapsulate_script",        KIND(TEXT) },
	{ "docker_gpus",               KIND(TEXT) },
	{ "docker_cpus",               KIND(TEXT) },
	{ "docker_env_vars",           KIND(MAP) },
	{ "docker_mounts",             KIND(MAP) },
	{ "docker_build_arg",          KIND(MAP) },
	{ "env_vars",                  KIND(MAP) },
	{ "distributed",               KIND(MAP) },
	{ "slurm",                     KIND(MAP) },
	{ "k8s",                       KIND(MAP) },
	{ "kubernetes",                KIND(MAP) },
	{ "vllm",                      KIND(MAP) },
	{ "deploy",                    KIND(MAP) | KIND(TEXT) },
	{ "deployment_config",         KIND(MAP) },
	{ "target",                    KIND(TEXT) }, /* of a manifest */
	{ "model_args",                KIND(TEXT) },
	{ "MAD_CONTAINER_IMAGE",       KIND(TEXT) },
	{ "MAD_ROCM_PATH",             KIND(TEXT) },
	{ "timeout",                   NUMBER },
	{ "debug",                     KIND(BOOL) },
	{ "gpus_per_node",             KIND(INT) },
	{ "gpu_count",                 KIND(INT) },
	{ "n_gpus",                    KIND(INT) },
	{ "num_gpus",                  KIND(INT) },
	{ "ngpus",                     KIND(INT) },
	{ "rocenv_mode",               KIND(TEXT) },
	{ "gen_sys_env_details",       KIND(BOOL) },
	{ "generate_sys_env_details",  KIND(BOOL) },
	{ "skip_perf_collection",      KIND(BOOL) },
	{ "live_output",               KIND(BOOL) },
	{ "monitor",                   KIND(BOOL) },
	{ "cleanup_on_failure",        KIND(BOOL) },
	{ "shared_data",               SCALAR | KIND(LIST) | KIND(MAP) },
	{ "log_error_pattern_scan",    SCALAR },
	{ "log_error_benign_patterns", KIND(LIST) },
	{ "log_error_patterns",        KIND(LIST) },
};
/* clang-format on */

const struct mdl_context_key *mdl_context_key(size_t i)
{
	return i < WS_ARRAY_LEN(keys) ? &keys[i] : NULL;
}

/* ---- reading ---- */

/* Keys of these belong to others: no comments among them. */
static bool is_foreign(const char *key)
{
	return strcmp(key, "env_vars") == 0 || strncmp(key, "docker_", 7) == 0;
}

static void drop_comments(struct ws_doc *doc)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < doc->n; i++) {
		struct ws_doc *member = doc->at[i];

		if (doc->kind == WS_DOC_MAP && member->key[0] == '_')
			continue;
		doc->at[n_kept++] = member;
		if (doc->kind != WS_DOC_MAP || !is_foreign(member->key))
			drop_comments(member);
	}
	doc->n = n_kept;
}

enum ws_status mdl_context_parse(const char *name, struct ws_str text, struct ws_arena *arena,
				 struct ws_doc **out_doc, struct ws_err *err)
{
	struct ws_err as_json, as_python;
	const char *quote = NULL;

	if (!ws_doc_parse_json(name, text, arena, out_doc, &as_json))
		return WS_OK;
	if (!mdl_pyliteral_parse(name, text, arena, out_doc, &as_python))
		return WS_OK;
	/* The message of the language that was meant: JSON has no single quotes. */
	for (size_t i = 0; i < text.n && !quote; i++)
		if (text.at[i] == '\'' || text.at[i] == '"')
			quote = text.at + i;
	if (quote && *quote == '\'')
		return ws_fail(err, WS_E_FORMAT, "%s", as_python.text);
	return ws_fail(err, WS_E_FORMAT, "%s", as_json.text);
}

static bool ends_in_preset(const char *file, const char **out_name)
{
	static const char *const folders[] = { MDL_PLACE_PRESETS "/", "presets/" };
	const char *slash = strrchr(file, '/');

	*out_name = slash ? slash + 1 : file;
	if (!slash)
		return true;
	for (size_t i = 0; i < WS_ARRAY_LEN(folders); i++) {
		size_t n = strlen(folders[i]), before = (size_t)(*out_name - file);

		if (before >= n && strncmp(*out_name - n, folders[i], n) == 0)
			return true;
	}
	return false;
}

enum ws_status mdl_context_find(const char *file, char out_path[PATH_MAX], struct ws_err *err)
{
	char inside[PATH_MAX];
	const char *name;

	if (ws_path_exists(file))
		return ws_path_join(".", file, out_path, err);
	if (ends_in_preset(file, &name) && *name &&
	    !ws_path_join(MDL_PLACE_PRESETS, name, inside, err) &&
	    !mdl_place_find(inside, out_path, NULL))
		return WS_OK;
	if (!mdl_place_find(MDL_PLACE_PRESETS, inside, NULL))
		return ws_fail(err, WS_E_NOTFOUND, "no context file '%s': the presets are in %s",
			       file, inside);
	return ws_fail(err, WS_E_NOTFOUND, "no context file '%s'", file);
}

static enum ws_status read_file(const char *file, struct ws_arena *arena, struct ws_doc **out_doc,
				struct ws_err *err)
{
	char path[PATH_MAX];
	struct ws_buf text;
	enum ws_status st = mdl_context_find(file, path, err);

	if (st)
		return st;
	ws_buf_init(&text, WS_DOC_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = ws_doc_parse_json(file, ws_buf_view(&text), arena, out_doc, err);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status must_be_map(const char *name, const struct ws_doc *doc, struct ws_err *err)
{
	if (doc->kind == WS_DOC_MAP)
		return WS_OK;
	return ws_fail(err, WS_E_FORMAT, "%s: a JSON object is expected, not %s", name,
		       ws_doc_kind_name(doc->kind));
}

enum ws_status mdl_context_load(const char *file, const char *text, struct ws_arena *arena,
				struct ws_doc **out_context, struct ws_err *err)
{
	struct ws_doc *under = ws_doc_map(arena), *over = ws_doc_map(arena), *context;
	enum ws_status st = WS_OK;
	bool ok;

	if (file && *file) {
		st = read_file(file, arena, &under, err);
		if (!st)
			st = must_be_map(file, under, err);
	}
	if (!st && text && *text) {
		st = mdl_context_parse("--additional-context", ws_str_from(text), arena, &over,
				       err);
		if (!st)
			st = must_be_map("--additional-context", over, err);
	}
	if (st)
		return st;
	context = ws_doc_overlay(under, over, arena);
	ok = context != NULL;
	if (ok)
		drop_comments(context);
	if (ok && !ws_doc_get(context, "gpu_vendor"))
		ok = ws_doc_put_text(context, "gpu_vendor", "AMD", arena);
	if (ok && !ws_doc_get(context, "guest_os"))
		ok = ws_doc_put_text(context, "guest_os", "UBUNTU", arena);
	if (!ok)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = mdl_context_check(context, err);
	if (!st)
		*out_context = context;
	return st;
}

/* ---- checking ---- */

/* What to write instead, in words. */
static const char *expected(unsigned kinds)
{
	if (kinds & KIND(REAL))
		return kinds & KIND(TEXT) ? "a text or a number" : ws_doc_kind_name(WS_DOC_REAL);
	for (unsigned kind = 0; kind <= WS_DOC_MAP; kind++)
		if (kinds & 1u << kind)
			return ws_doc_kind_name(kind);
	return "";
}

static enum ws_status check_kind(const char *where, const struct ws_doc *doc, unsigned kinds,
				 struct ws_err *err)
{
	if (!doc || kinds & 1u << doc->kind)
		return WS_OK;
	return ws_fail(err, WS_E_USAGE, "context key '%s' must be %s, not %s", where,
		       expected(kinds), ws_doc_kind_name(doc->kind));
}

static bool is_variable(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

static enum ws_status check_variables(const char *where, const struct ws_doc *map,
				      struct ws_err *err)
{
	enum ws_status st = check_kind(where, map, KIND(MAP), err);
	char whole[160];

	for (size_t i = 0; map && i < map->n && !st; i++) {
		if (!is_variable(map->at[i]->key))
			return ws_fail(err, WS_E_USAGE,
				       "context key '%s': '%s' is not the name of a variable",
				       where, map->at[i]->key);
		snprintf(whole, sizeof(whole), "%s.%s", where, map->at[i]->key);
		st = check_kind(whole, map->at[i], SCALAR, err);
	}
	return st;
}

/* Objects of a list: one text that must be there, others that may, and perhaps variables. */
static enum ws_status check_objects(const struct ws_doc *context, const char *key,
				    const char *needed, const char *optional, struct ws_err *err)
{
	const struct ws_doc *list = ws_doc_get(context, key);
	enum ws_status st = WS_OK;
	char where[80];

	for (size_t i = 0; list && i < list->n && !st; i++) {
		snprintf(where, sizeof(where), "%s[%zu]", key, i);
		st = check_kind(where, list->at[i], KIND(MAP), err);
		if (!st && !ws_doc_get(list->at[i], needed))
			return ws_fail(err, WS_E_USAGE, "context key '%s': '%s' is missing", where,
				       needed);
		if (!st)
			st = check_kind(where, ws_doc_get(list->at[i], needed), KIND(TEXT), err);
		if (!st)
			st = check_kind(where, ws_doc_get(list->at[i], optional), KIND(TEXT), err);
		snprintf(where, sizeof(where), "%s[%zu].env_vars", key, i);
		if (!st)
			st = check_variables(where, ws_doc_get(list->at[i], "env_vars"), err);
	}
	return st;
}

static enum ws_status check_texts(const struct ws_doc *context, const char *key, struct ws_err *err)
{
	const struct ws_doc *list = ws_doc_get(context, key);

	for (size_t i = 0; list && i < list->n; i++)
		if (list->at[i]->kind != WS_DOC_TEXT)
			return ws_fail(err, WS_E_USAGE, "context key '%s' must be a list of texts",
				       key);
	return WS_OK;
}

static enum ws_status check_one_of(const struct ws_doc *context, const char *key, const char *a,
				   const char *b, struct ws_err *err)
{
	const char *value = ws_doc_get_text(context, key, a);

	if (strcasecmp(value, a) == 0 || strcasecmp(value, b) == 0)
		return WS_OK;
	return ws_fail(err, WS_E_USAGE, "context key '%s' must be %s or %s, not '%s'", key, a, b,
		       value);
}

enum ws_status mdl_context_check(const struct ws_doc *context, struct ws_err *err)
{
	const struct ws_doc *patterns = ws_doc_get(context, "log_error_patterns");
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(keys) && !st; i++)
		st = check_kind(keys[i].name, ws_doc_get(context, keys[i].name), keys[i].kinds,
				err);
	if (!st)
		st = check_one_of(context, "gpu_vendor", "AMD", "NVIDIA", err);
	if (!st)
		st = check_one_of(context, "guest_os", "UBUNTU", "CENTOS", err);
	if (!st)
		st = check_objects(context, "tools", "name", "cmd", err);
	if (!st)
		st = check_objects(context, "pre_scripts", "path", "args", err);
	if (!st)
		st = check_objects(context, "post_scripts", "path", "args", err);
	if (!st)
		st = check_variables("env_vars", ws_doc_get(context, "env_vars"), err);
	if (!st)
		st = check_variables("docker_env_vars", ws_doc_get(context, "docker_env_vars"),
				     err);
	if (!st)
		st = check_texts(context, "log_error_patterns", err);
	if (!st)
		st = check_texts(context, "log_error_benign_patterns", err);
	if (!st && patterns && !patterns->n)
		st = ws_fail(err, WS_E_USAGE,
			     "context key 'log_error_patterns' is empty: 'log_error_pattern_scan': "
			     "false turns the scan off");
	return st;
}

/* ---- target and GPUs ---- */

const char *mdl_target_name(enum mdl_target target)
{
	static const char *const names[] = {
#define MDL_TARGET_NAME(name, text) text,
		MDL_TARGET_TABLE(MDL_TARGET_NAME)
#undef MDL_TARGET_NAME
	};

	return names[target];
}

enum ws_status mdl_context_target(const struct ws_doc *context, enum mdl_target *out_target,
				  struct ws_err *err)
{
	bool k8s = ws_doc_get(context, "k8s") || ws_doc_get(context, "kubernetes");
	bool slurm = ws_doc_get(context, "slurm") != NULL;

	if (k8s && slurm)
		return ws_fail(
			err, WS_E_USAGE,
			"the context has both slurm and k8s: remove the one that is not meant");
	*out_target = k8s ? MDL_TARGET_K8S : slurm ? MDL_TARGET_SLURM : MDL_TARGET_LOCAL;
	return WS_OK;
}

static enum ws_status add_gpu(struct mdl_gpus *gpus, uint64_t gpu, size_t n_present,
			      struct ws_err *err)
{
	for (size_t i = 0; i < gpus->n; i++)
		if (gpus->at[i] == gpu)
			return WS_OK;
	if (gpu >= n_present)
		return ws_fail(err, WS_E_USAGE,
			       "docker_gpus: there is no GPU %llu: this machine has %zu",
			       (unsigned long long)gpu, n_present);
	if (gpus->n == MDL_GPUS_MAX)
		return ws_fail(err, WS_E_LIMIT, "docker_gpus: more than %d GPUs", MDL_GPUS_MAX);
	gpus->at[gpus->n++] = (unsigned)gpu;
	return WS_OK;
}

/* "0,2-5"; "all". */
static enum ws_status listed_gpus(const char *list, size_t n_present, struct mdl_gpus *out_gpus,
				  struct ws_err *err)
{
	struct ws_str rest = ws_str_from(list), part, from;
	enum ws_status st = WS_OK;
	uint64_t first, last;

	out_gpus->n = 0;
	if (strcasecmp(list, "all") == 0) {
		for (size_t i = 0; i < n_present && !st; i++)
			st = add_gpu(out_gpus, i, n_present, err);
		return st;
	}
	while (!st && ws_str_next(&rest, ',', &part)) {
		part = ws_str_trim(part);
		ws_str_next(&part, '-', &from);
		if (!ws_str_u64(ws_str_trim(from), &first))
			return ws_fail(err, WS_E_USAGE,
				       "docker_gpus '%s': write numbers, ranges or all: 0,2-5",
				       list);
		last = first;
		if (part.at && part.n && !ws_str_u64(ws_str_trim(part), &last))
			return ws_fail(err, WS_E_USAGE,
				       "docker_gpus '%s': write numbers, ranges or all: 0,2-5",
				       list);
		if (last < first)
			return ws_fail(err, WS_E_USAGE, "docker_gpus '%s': %llu-%llu is no range",
				       list, (unsigned long long)first, (unsigned long long)last);
		for (uint64_t gpu = first; gpu <= last && !st; gpu++)
			st = add_gpu(out_gpus, gpu, n_present, err);
	}
	return st;
}

/* How many are wanted, and by whom; -1: all. */
static enum ws_status wanted_gpus(const struct ws_doc *context, const char *model_n_gpus,
				  int64_t *out_n, const char **out_who, struct ws_err *err)
{
	static const char *const names[] = { "gpus_per_node", "gpu_count", "n_gpus", "num_gpus",
					     "ngpus" };
	const struct ws_doc *k8s = ws_doc_get(context, "k8s");

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		if (ws_doc_get(context, names[i])) {
			*out_n = ws_doc_get_int(context, names[i], 1);
			*out_who = names[i];
			return WS_OK;
		}
	*out_who = "slurm.gpus_per_node";
	*out_n = ws_doc_get_int(ws_doc_get(context, "slurm"), "gpus_per_node", INT64_MIN);
	if (*out_n == INT64_MIN) {
		*out_who = "k8s.gpu_count";
		*out_n = ws_doc_get_int(k8s ? k8s : ws_doc_get(context, "kubernetes"), "gpu_count",
					INT64_MIN);
	}
	if (*out_n != INT64_MIN)
		return WS_OK;
	*out_who = "n_gpus of the model";
	*out_n = 1;
	if (model_n_gpus && *model_n_gpus && !ws_str_i64(ws_str_from(model_n_gpus), out_n))
		return ws_fail(err, WS_E_USAGE, "n_gpus of the model: '%s' is not a number",
			       model_n_gpus);
	return WS_OK;
}

enum ws_status mdl_context_gpus(const struct ws_doc *context, const char *model_n_gpus,
				size_t n_present, struct mdl_gpus *out_gpus, struct ws_err *err)
{
	const char *who;
	int64_t n;
	enum ws_status st = listed_gpus(ws_doc_get_text(context, "docker_gpus", "all"),
					WS_MIN(n_present, (size_t)MDL_GPUS_MAX), out_gpus, err);

	if (!st)
		st = wanted_gpus(context, model_n_gpus, &n, &who, err);
	if (st)
		return st;
	if (n < -1 || n == 0)
		return ws_fail(err, WS_E_USAGE, "%s is %lld: write a number of GPUs, or -1 for all",
			       who, (long long)n);
	if (n > 0 && (size_t)n > out_gpus->n)
		return ws_fail(err, WS_E_USAGE, "%s asks for %lld GPUs, and there are %zu%s", who,
			       (long long)n, out_gpus->n,
			       ws_doc_get(context, "docker_gpus") ? " in docker_gpus" : "");
	if (n > 0)
		out_gpus->n = (size_t)n;
	return WS_OK;
}
