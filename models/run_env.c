/* The variables of a run, and the file that keeps its environment. */
#include "models/run_priv.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "models/launchers.h"
#include "workload/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Variables of our own environment that a run gets wherever it runs. */
static const char *const passed_on[] = {
	"MASTER_ADDR",
	"MASTER_PORT",
	"WORLD_SIZE",
	"RANK",
	"NODE_RANK",
	"NNODES",
	"NPROC_PER_NODE",
	"MAD_MULTI_NODE_RUNNER",
	"MAD_COLLECT_METRICS",
	"NCCL_SOCKET_IFNAME",
	"GLOO_SOCKET_IFNAME",
	"NCCL_DEBUG",
	"NCCL_IB_DISABLE",
	"NCCL_NET_GDR_LEVEL",
	"PRIMUS_CONFIG_PATH",
	"PRIMUS_CLI_EXTRA",
	"TORCH_ELASTIC_RDZV_TIMEOUT",
	"HIP_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES",
	"CUDA_VISIBLE_DEVICES",
	"MIOPEN_USER_DB_PATH",
	"WAVESCOPE_GPU",
};

bool mdl_is_secret(const char *variable)
{
	return strncmp(variable, "MAD_SECRETS", strlen("MAD_SECRETS")) == 0;
}

static bool pass_on(struct ws_doc *env, struct ws_arena *arena)
{
	bool ok = true;

	for (size_t i = 0; i < WS_ARRAY_LEN(passed_on) && ok; i++)
		if (getenv(passed_on[i]))
			ok = ws_doc_put_text(env, passed_on[i], getenv(passed_on[i]), arena);
	if (ok && getenv("HIP_VISIBLE_DEVICES"))
		ok = ws_doc_put_text(env, "RAY_EXPERIMENTAL_NOSET_HIP_VISIBLE_DEVICES", "", arena);
	for (char **at = environ; *at && ok; at++)
		if (mdl_is_secret(*at) && strchr(*at, '=')) {
			const char *equals = strchr(*at, '=');
			char *name = ws_arena_strndup(arena, *at, (size_t)(equals - *at));

			ok = name && ws_doc_put_text(env, name, equals + 1, arena);
		}
	return ok;
}

/* Members of a map of scalars as texts. */
static bool put_all(struct ws_doc *env, const struct ws_doc *map, struct ws_arena *arena)
{
	bool ok = true;

	for (size_t i = 0; map && i < map->n && ok; i++)
		ok = ws_doc_put_text(env, map->at[i]->key, map->at[i]->text, arena);
	return ok;
}

/* Programs of the sample models. */
static const char *samples_folder(char path[PATH_MAX])
{
	static const char *const places[] = { "../lib/wavescope/samples", "../samples", NULL };

	if (ws_path_beside(places, "vcopy", path, NULL))
		return "";
	ws_path_parent(path);
	return path;
}

static bool put_own(struct ws_doc *env, const struct mdl_entry *entry, const struct ws_doc *context,
		    const struct mdl_machine *machine, const struct mdl_gpus *gpus,
		    struct ws_arena *arena)
{
	const char *build = getenv("JENKINS_BUILD_NUMBER");
	char samples[PATH_MAX];
	const struct {
		const char *name, *value;
	} own[] = {
		{ "MAD_MODEL_NAME", entry->model.name },
		{ "MAD_OUTPUT_CSV",
		  *entry->model.multiple_results ? entry->model.multiple_results : NULL },
		{ "JENKINS_BUILD_NUMBER", build ? build : "0" },
		{ "MAD_GPU_VENDOR", ws_doc_get_text(context, "gpu_vendor", "AMD") },
		{ "MAD_SYSTEM_NGPUS",
		  ws_arena_printf(arena, "%zu", WS_MAX(machine->n_gpus, gpus->n)) },
		{ "MAD_SYSTEM_GPU_ARCHITECTURE", machine->architecture },
		{ "MAD_SYSTEM_HIP_VERSION", machine->hip_version },
		{ "MAD_SYSTEM_GPU_PRODUCT_NAME", machine->product },
		{ "MAD_RUNTIME_NGPUS", ws_arena_printf(arena, "%zu", gpus->n) },
		{ "MAD_GUEST_OS", ws_doc_get_text(context, "guest_os", "UBUNTU") },
		{ "ROCM_PATH", ws_doc_get_text(context, "MAD_ROCM_PATH", machine->rocm_path) },
		{ "MAD_DATANAME", *entry->model.data ? entry->model.data : NULL },
		{ "WAVESCOPE_SAMPLES", samples_folder(samples) },
	};
	bool ok = true;

	for (size_t i = 0; i < WS_ARRAY_LEN(own) && ok; i++)
		if (own[i].value)
			ok = ws_doc_put_text(env, own[i].name, own[i].value, arena);
	return ok;
}

/* rocprofv3 writes these formats in addition to those of its command line. */
static bool put_formats(struct ws_doc *env, const struct mdl_chain *chain, struct ws_arena *arena)
{
	bool profiled = false;

	for (size_t i = 0; i < chain->n_tools; i++)
		profiled |= mdl_tool_is_rocprof(chain->names[i]);
	if (!profiled || getenv("ROCPROF_OUTPUT_FORMAT") ||
	    ws_doc_get(env, "ROCPROF_OUTPUT_FORMAT"))
		return true;
	return ws_doc_put_text(env, "ROCPROF_OUTPUT_FORMAT", "csv,rocpd", arena);
}

/* Data that is a folder of this machine. Other providers would download it. */
static enum ws_status put_data(struct ws_doc *env, const char *name, const char *file,
			       struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *all = NULL;
	const char *path;
	enum ws_status st;

	if (!*name)
		return WS_OK;
	if (!file || !ws_path_exists(file))
		return ws_fail(
			err, WS_E_NOTFOUND,
			"the model needs the data '%s', and there is no %s that says where it is",
			name, file ? file : "data.json");
	st = ws_doc_read(file, arena, &all, err);
	if (st)
		return st;
	path = ws_doc_get_text(ws_doc_get(ws_doc_get(all, name), "local"), "path", NULL);
	if (!path)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"%s has no local path for '%s': only data of the provider 'local' is "
			"supported",
			file, name);
	return ws_doc_put_text(env, "MAD_DATAHOME", path, arena)
		       ? WS_OK
		       : ws_fail(err, WS_E_NOMEM, "out of memory");
}

enum ws_status mdl_run_variables(const struct mdl_entry *entry, const struct ws_doc *context,
				 const struct mdl_chain *chain, const struct mdl_machine *machine,
				 const struct mdl_gpus *gpus, const char *data_file,
				 struct ws_arena *arena, struct ws_doc **out_env,
				 struct ws_err *err)
{
	struct ws_doc *env = ws_doc_map(arena);
	struct mdl_launch launch;
	enum ws_status st;
	bool ok = env && pass_on(env, arena) &&
		  put_own(env, entry, context, machine, gpus, arena) &&
		  put_all(env, ws_doc_get(entry->model.doc, "env_vars"), arena) &&
		  put_all(env, ws_doc_get(context, "env_vars"), arena) &&
		  put_all(env, ws_doc_get(context, "docker_env_vars"), arena) &&
		  put_all(env, chain->env, arena) && put_formats(env, chain, arena);

	if (!ok)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = put_data(env, entry->model.data, data_file, arena, err);
	if (st)
		return st;
	st = mdl_launch_find(context, entry->model.doc, gpus->n, &launch, err);
	if (!st)
		st = mdl_launch_local(&launch, env, arena, err);
	*out_env = env;
	return st;
}

size_t mdl_run_n_present(const struct ws_doc *context, const struct mdl_machine *machine)
{
	static const char *const names[] = { "gpus_per_node", "gpu_count", "n_gpus", "num_gpus",
					     "ngpus" };
	int64_t n = ws_doc_get_int(ws_doc_get(context, "distributed"), "nproc_per_node", 0);

	if (!machine->simulated || getenv("WAVESCOPE_GPU"))
		return machine->n_gpus;
	n = WS_MAX(n, ws_doc_get_int(ws_doc_get(context, "slurm"), "gpus_per_node", 0));
	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		n = WS_MAX(n, ws_doc_get_int(context, names[i], 0));
	return WS_MAX(machine->n_gpus, (size_t)WS_MIN(n, (int64_t)MDL_GPUS_MAX));
}

/* ---- <model>_env.csv ---- */

static void put_row(FILE *to, const char *section, const char *name, const char *value)
{
	wl_put_text(to, section, ',');
	wl_put_text(to, name, ',');
	wl_put_text(to, value, '\n');
}

static void put_line_of(FILE *to, const char *name, const char *path, const char *key)
{
	char line[512], *value;
	FILE *from = fopen(path, "re");

	while (from && fgets(line, sizeof(line), from))
		if (strncmp(line, key, strlen(key)) == 0) {
			value = line + strlen(key);
			value += strspn(value, " \t:=\"");
			value[strcspn(value, "\"\n")] = '\0';
			put_row(to, "host", name, value);
			break;
		}
	if (from)
		fclose(from);
}

enum ws_status mdl_environment_write(const char *path, const struct mdl_machine *machine,
				     const struct ws_doc *env, bool full, struct ws_err *err)
{
	char number[24], host[256] = "";
	struct utsname kernel;
	FILE *file = NULL;
	enum ws_status st = ws_file_begin(path, &file, err);

	if (st)
		return st;
	put_row(file, "section", "name", "value");
	gethostname(host, sizeof(host) - 1);
	put_row(file, "host", "name", host);
	if (uname(&kernel) == 0)
		put_row(file, "host", "kernel", kernel.release);
	put_line_of(file, "system", "/etc/os-release", "PRETTY_NAME=");
	put_line_of(file, "cpu", "/proc/cpuinfo", "model name");
	put_line_of(file, "memory", "/proc/meminfo", "MemTotal:");
	snprintf(number, sizeof(number), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	put_row(file, "host", "cores", number);
	snprintf(number, sizeof(number), "%zu", machine->n_gpus);
	put_row(file, "gpu", "count", number);
	put_row(file, "gpu", "architecture", machine->architecture);
	put_row(file, "gpu", "product", machine->product);
	put_row(file, "gpu", "simulated", machine->simulated ? "yes" : "no");
	put_row(file, "rocm", "path", machine->rocm_path);
	put_row(file, "rocm", "version", machine->hip_version);
	for (size_t i = 0; i < env->n; i++)
		if (!mdl_is_secret(env->at[i]->key))
			put_row(file, "variable", env->at[i]->key, env->at[i]->text);
	for (char **at = environ; full && *at; at++) {
		char *name = strndup(*at, strcspn(*at, "="));

		if (name && !mdl_is_secret(name) && strchr(*at, '='))
			put_row(file, "inherited", name, strchr(*at, '=') + 1);
		free(name);
	}
	return ws_file_commit(path, file, err);
}
