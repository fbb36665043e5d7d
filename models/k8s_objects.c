#include "base/doc_edit.h"
#include "base/utf8.h"
#include "models/k8s_priv.h"
#include "models/shell.h"
#include "models/yaml.h"

#include <string.h>
#include <strings.h>

#define OBJECTS_BYTES_MAX (4u << 20)

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- the form ---- */

static const char *results_claim(const struct mdl_k8s_plan *plan, struct ws_arena *arena)
{
	const char *own = ws_doc_get_text(plan->k8s, "results_pvc", NULL);

	return own ? own : ws_arena_printf(arena, "%s-results", plan->job);
}

/* templates/k8s_objects.yaml as a tree, with the texts of this run. */
static enum ws_status read_form(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
				struct ws_doc **out_form, struct ws_err *err)
{
	bool many = plan->n_nodes > 1;
	const char *texts[][2] = {
		{ "job", plan->job },
		{ "namespace", plan->name_space },
		{ "label", plan->job + sizeof("madengine-") - 1 },
		{ "access", many ? "ReadWriteMany" : "ReadWriteOnce" },
		{ "storage_class",
		  ws_doc_get_text(plan->k8s, many ? "nfs_storage_class" : "storage_class", "") },
		{ "results_size", ws_doc_get_text(plan->k8s, "results_size", "10Gi") },
		{ "claim", results_claim(plan, arena) },
	};
	struct mdl_slot slots[WS_ARRAY_LEN(texts)];
	struct ws_buf text;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(texts); i++) {
		struct ws_buf quoted; /* the form has them in double quotes */

		if (!texts[i][1])
			return no_memory(err);
		ws_buf_init(&quoted, 4096);
		ws_buf_add_json(&quoted, texts[i][1], strlen(texts[i][1]));
		slots[i] = (struct mdl_slot){ texts[i][0], ws_arena_strdup(arena, quoted.at) };
		ws_buf_fini(&quoted);
		if (!slots[i].text)
			return no_memory(err);
	}
	ws_buf_init(&text, OBJECTS_BYTES_MAX);
	st = mdl_template_fill("k8s_objects.yaml", slots, WS_ARRAY_LEN(slots), &text, err);
	if (!st)
		st = ws_doc_parse_yaml("k8s_objects.yaml", ws_buf_view(&text), arena, out_form,
				       err);
	ws_buf_fini(&text);
	return st;
}

/* A member of the form that is about to be changed: the tree of a reader can be changed. */
static struct ws_doc *part(struct ws_doc *map, const char *key)
{
	return (struct ws_doc *)ws_doc_get(map, key);
}

/* ---- the pod ---- */

static bool add_variable(struct ws_doc *list, const char *name, const char *value,
			 struct ws_arena *arena)
{
	struct ws_doc *map = ws_doc_map(arena);

	return ws_doc_put_text(map, "name", name, arena) &&
	       ws_doc_put_text(map, "value", value, arena) && ws_doc_add(list, map, arena);
}

/* Variables, later ones over earlier ones of the same name. */
static enum ws_status make_variables(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
				     struct ws_doc **out_list, struct ws_err *err)
{
	char gpus[24], nodes[24];
	const char *vendor = ws_doc_get_text(plan->context, "gpu_vendor", "AMD");
	const char *const own[][2] = {
		{ "MAD_MODEL_NAME", plan->entry->model.name },
		{ "MAD_GPU_VENDOR", vendor },
		{ "MAD_RUNTIME_NGPUS", gpus },
		{ "MAD_GUEST_OS", ws_doc_get_text(plan->context, "guest_os", "UBUNTU") },
		{ "MAD_DEPLOYMENT_TYPE", "kubernetes" },
		{ "MAD_K8S_JOB", "true" },
		{ "MAD_K8S_NAMESPACE", plan->name_space },
		{ "MAD_TOTAL_NODES", nodes },
		{ "MAD_LAUNCHER_TYPE", plan->launch.launcher },
	};
	const struct ws_doc *sources[] = { ws_doc_get(plan->context, "env_vars"),
					   ws_doc_get(plan->context, "docker_env_vars"),
					   plan->chain->env };
	struct ws_doc *all = ws_doc_map(arena), *list = ws_doc_list(arena);
	bool ok = all && list;

	snprintf(gpus, sizeof(gpus), "%zu", plan->n_gpus);
	snprintf(nodes, sizeof(nodes), "%zu", plan->n_nodes);
	for (size_t i = 0; i < WS_ARRAY_LEN(own); i++)
		ok &= ws_doc_put_text(all, own[i][0], own[i][1], arena);
	if (*plan->entry->model.multiple_results)
		ok &= ws_doc_put_text(all, "MAD_OUTPUT_CSV", plan->entry->model.multiple_results,
				      arena);
	for (size_t s = 0; s < WS_ARRAY_LEN(sources); s++) {
		for (size_t i = 0; sources[s] && i < sources[s]->n; i++) {
			const struct ws_doc *var = sources[s]->at[i];

			if (!mdl_shell_name_ok(var->key))
				return ws_fail(err, WS_E_USAGE,
					       "'%s' cannot be the name of a variable", var->key);
			ok &= ws_doc_put_text(all, var->key, var->text ? var->text : "", arena);
		}
	}
	for (size_t i = 0; ok && i < all->n; i++)
		ok = add_variable(list, all->at[i]->key, all->at[i]->text, arena);
	*out_list = list;
	return ok ? WS_OK : no_memory(err);
}

static struct ws_doc *make_resources(const struct mdl_k8s_plan *plan, struct ws_arena *arena)
{
	/* In the order requests, limits; memory and cpu are left out where nothing is given. */
	static const char *const keys[][3] = { { "requests", "memory", "cpu" },
					       { "limits", "memory_limit", "cpu_limit" } };
	const char *gpu = ws_doc_get_text(plan->k8s, "gpu_resource_name", "amd.com/gpu");
	struct ws_doc *resources = ws_doc_map(arena);
	bool ok = resources;
	char gpus[24];

	snprintf(gpus, sizeof(gpus), "%zu", plan->n_gpus);
	for (size_t i = 0; ok && i < WS_ARRAY_LEN(keys); i++) {
		const char *memory = ws_doc_get_scalar(plan->k8s, keys[i][1], NULL);
		const char *cpu = ws_doc_get_scalar(plan->k8s, keys[i][2], NULL);
		struct ws_doc *map = ws_doc_map(arena);

		ok = ws_doc_put_text(map, gpu, gpus, arena);
		if (ok && memory)
			ok = ws_doc_put_text(map, "memory", memory, arena);
		if (ok && cpu)
			ok = ws_doc_put_text(map, "cpu", cpu, arena);
		ok = ok && ws_doc_put(resources, keys[i][0], map, arena);
	}
	return ok ? resources : NULL;
}

static struct ws_doc *parse_small(const char *json, struct ws_arena *arena)
{
	struct ws_doc *doc;

	return ws_doc_parse_json("k8s", ws_str_from(json), arena, &doc, NULL) ? NULL : doc;
}

static struct ws_doc *list_of(const struct ws_doc *one, const struct ws_doc *two,
			      struct ws_arena *arena)
{
	struct ws_doc *list = ws_doc_list(arena);

	return list && ws_doc_add(list, one, arena) && (!two || ws_doc_add(list, two, arena))
		       ? list
		       : NULL;
}

static enum ws_status make_container(const struct mdl_k8s_plan *plan, struct ws_doc *form,
				     const char *script, struct ws_arena *arena,
				     struct ws_doc **out_container, struct ws_err *err)
{
	struct ws_doc *container = ws_doc_map(arena), *variables = NULL;
	enum ws_status st = make_variables(plan, arena, &variables, err);
	bool ok;

	if (st)
		return st;
	ok = ws_doc_put_text(container, "name", "madengine", arena);
	ok &= ws_doc_put_text(container, "image", plan->image, arena);
	ok &= ws_doc_put_text(container, "imagePullPolicy",
			      ws_doc_get_text(plan->k8s, "image_pull_policy", "Always"), arena);
	ok &= ws_doc_put_text(container, "workingDir", "/workspace", arena);
	ok &= ws_doc_put(container, "command",
			 list_of(ws_doc_text("/bin/bash", arena), ws_doc_text("-c", arena), arena),
			 arena);
	ok &= ws_doc_put(container, "args", list_of(ws_doc_text(script, arena), NULL, arena),
			 arena);
	ok &= ws_doc_put(container, "resources", make_resources(plan, arena), arena);
	ok &= ws_doc_put(container, "env", variables, arena);
	ok &= ws_doc_put(container, "volumeMounts", ws_doc_get(form, "mounts"), arena);
	if (plan->privileged)
		ok &= ws_doc_put(container, "securityContext",
				 parse_small("{\"capabilities\": {\"add\": [\"SYS_PTRACE\"]}, "
					     "\"seccompProfile\": {\"type\": \"Unconfined\"}}",
					     arena),
				 arena);
	*out_container = container;
	return ok ? WS_OK : no_memory(err);
}

/* Names of secrets, and what the user gives for the scheduler, as it stands. */
static bool add_pod_options(const struct mdl_k8s_plan *plan, struct ws_doc *pod,
			    struct ws_arena *arena)
{
	static const char *const same[][2] = { { "node_selector", "nodeSelector" },
					       { "tolerations", "tolerations" },
					       { "host_ipc", "hostIPC" } };
	const struct ws_doc *names =
		ws_doc_get(ws_doc_get(plan->k8s, "secrets"), "image_pull_secret_names");
	struct ws_doc *secrets = ws_doc_list(arena);
	bool ok = secrets;

	for (size_t i = 0; i < WS_ARRAY_LEN(same); i++) {
		const struct ws_doc *given = ws_doc_get(plan->k8s, same[i][0]);

		if (given && given->kind != WS_DOC_NULL)
			ok &= ws_doc_put(pod, same[i][1], given, arena);
	}
	for (size_t i = 0; ok && names && i < names->n; i++) {
		struct ws_doc *map = ws_doc_map(arena);

		ok = ws_doc_put_text(map, "name", names->at[i]->text, arena) &&
		     ws_doc_add(secrets, map, arena);
	}
	if (ok && secrets->n)
		ok = ws_doc_put(pod, "imagePullSecrets", secrets, arena);
	return ok;
}

/* ---- objects ---- */

static enum ws_status make_job(const struct mdl_k8s_plan *plan, struct ws_doc *form,
			       const char *script, struct ws_arena *arena, struct ws_doc **out_job,
			       struct ws_err *err)
{
	struct ws_doc *job = part(form, "job"), *spec = part(job, "spec");
	struct ws_doc *pod = part(part(spec, "template"), "spec"), *container;
	const struct ws_doc *ttl = ws_doc_get(plan->k8s, "ttl_seconds_after_finished");
	int64_t n = (int64_t)plan->n_nodes;
	enum ws_status st = make_container(plan, form, script, arena, &container, err);
	bool ok = true;

	if (st)
		return st;
	ok &= ws_doc_put_int(spec, "completions", n, arena);
	ok &= ws_doc_put_int(spec, "parallelism", n, arena);
	if (n > 1) {
		ok &= ws_doc_put_text(spec, "completionMode", "Indexed", arena);
		ok &= ws_doc_put_text(pod, "subdomain", plan->job, arena);
	}
	ok &= ws_doc_put_int(spec, "backoffLimit", ws_doc_get_int(plan->k8s, "backoff_limit", 3),
			     arena);
	if (ttl && ttl->kind == WS_DOC_INT)
		ok &= ws_doc_put(spec, "ttlSecondsAfterFinished", ttl, arena);
	ok &= add_pod_options(plan, pod, arena);
	ok &= ws_doc_put(pod, "containers", list_of(container, NULL, arena), arena);
	ok &= ws_doc_put(pod, "volumes", ws_doc_get(form, "volumes"), arena);
	*out_job = job;
	return ok ? WS_OK : no_memory(err);
}

static bool add_port(const struct mdl_k8s_plan *plan, struct ws_doc *service,
		     struct ws_arena *arena)
{
	struct ws_doc *port = ws_doc_map(arena);

	return ws_doc_put_text(port, "name", "ranks", arena) &&
	       ws_doc_put_int(port, "port", plan->launch.port, arena) &&
	       ws_doc_put(part(service, "spec"), "ports", list_of(port, NULL, arena), arena);
}

/* The files of the run: into the ConfigMap, and into the volume made of it. */
static enum ws_status add_files(const struct mdl_k8s_plan *plan, struct ws_doc *form,
				struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *volumes = part(form, "volumes"), *data, *items;
	enum ws_status st = mdl_k8s_files(plan, arena, &data, &items, err);

	if (st)
		return st;
	if (!ws_doc_put(part(form, "config"), "data", data, arena))
		return no_memory(err);
	for (size_t i = 0; i < volumes->n; i++) {
		struct ws_doc *map = part(volumes->at[i], "configMap");

		if (map && !ws_doc_put(map, "items", items, arena))
			return no_memory(err);
	}
	return WS_OK;
}

enum ws_status mdl_k8s_objects(const struct mdl_k8s_plan *plan, struct ws_arena *arena,
			       struct ws_buf *out, struct ws_err *err)
{
	struct ws_doc *form, *job = NULL;
	struct ws_buf script;
	enum ws_status st = read_form(plan, arena, &form, err);

	if (st)
		return st;
	ws_buf_init(&script, OBJECTS_BYTES_MAX);
	st = add_files(plan, form, arena, err);
	if (!st)
		st = mdl_k8s_script(plan, &script, err);
	if (!st)
		st = make_job(plan, form, script.at, arena, &job, err);
	if (!st && plan->n_nodes > 1 && !add_port(plan, part(form, "service"), arena))
		st = no_memory(err);
	if (!st) {
		mdl_yaml_add(ws_doc_get(form, "config"), out);
		if (!ws_doc_get_text(plan->k8s, "results_pvc", NULL))
			mdl_yaml_add(ws_doc_get(form, "results"), out);
		if (plan->n_nodes > 1)
			mdl_yaml_add(ws_doc_get(form, "service"), out);
		mdl_yaml_add(job, out);
		st = ws_buf_status(out, err);
	}
	ws_buf_fini(&script);
	return st;
}
