#include "models/launchers.h"

#include "base/doc_edit.h"
#include "base/log.h"
#include "models/shell.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */

#define TORCHRUN_HERE "torchrun --standalone --nproc_per_node={G}"
#define TORCHRUN_NODES                                                                             \
	"torchrun --nnodes={N} --nproc_per_node={G} --node_rank=${NODE_RANK} "                     \
	"--master_addr=${MASTER_ADDR} --master_port={P}"
/* Pods start at different times and come back under other addresses: they meet by rendezvous. */
#define TORCHRUN_PODS                                                                              \
	"torchrun --nnodes={N} --nproc_per_node={G} --node_rank=${NODE_RANK} --rdzv_backend=c10d " \
	"--rdzv_endpoint=${MASTER_ADDR}:{P} --rdzv_id=${mad_job} --role=worker --tee=3"
#define TORCHRUN .here = TORCHRUN_HERE, .nodes = TORCHRUN_NODES, .pods = TORCHRUN_PODS

/*
 * {G} processes per node, {N} nodes, {R} ranks of all nodes, {P} port.
 * `here` is also the form of a batch job on one node. NULL: MAD_MULTI_NODE_RUNNER is not set.
 * `needs` are shell lines that come first, on each node. The script around them has mad_job, the
 * name of the job, and mad_hosts, which prints the names of its nodes.
 */
static const struct launcher {
	const char *name, *alias;
	const char *here;
	const char *nodes;
	const char *pods; /* of Kubernetes; NULL: as nodes */
	const char *needs;
	bool first_node; /* the runner of `nodes` is that of the first node; elsewhere it is `true` */
	bool slurm_only; /* on several nodes */
	bool ray;
	size_t min_nodes; /* of a batch job */
} launchers[] = {
	{ .name = "torchrun",    TORCHRUN },
	{ .name = "torchtitan",  TORCHRUN },
	{ .name = "deepspeed",   .here = "deepspeed --num_gpus={G}",
	  .nodes = "deepspeed --hostfile=/tmp/deepspeed_hostfile_${mad_job}.txt "
		   "--master_addr=${MASTER_ADDR} --master_port={P}",
	  .needs = "mad_hosts | sed 's/$/ slots={G}/' >\"/tmp/deepspeed_hostfile_${mad_job}.txt\"\n" },
	{ .name = "megatron-lm", .alias = "megatron", TORCHRUN },
	{ .name = "primus",      .here = "" },
	{ .name = "vllm",        .here = "", .ray = true },
	{ .name = "sglang",      .here = "", .ray = true },
	{ .name = "sglang-disagg", .alias = "sglang_disagg", .here = "", .min_nodes = 3,
	  .needs = "SGLANG_NODE_IPS=$(mad_hosts |\n"
		   "\twhile read -r mad_host; do getent hosts \"$mad_host\"; done |\n"
		   "\tawk '{ print $1 }' | paste -sd, -)\n"
		   "export SGLANG_NODE_IPS\n" },
	{ .name = MDL_LAUNCHER_SLURM_MULTI, .alias = "slurm-multi", .here = "", .slurm_only = true },
	{ .name = "mpirun",      .here = "mpirun -np {G}",
	  .nodes = "mpirun -np {R} --host ${MAD_MPI_HOSTS}",
	  .first_node = true, .slurm_only = true,
	  .needs = "MAD_MPI_HOSTS=$(mad_hosts | sed 's/$/:{G}/' | paste -sd, -)\n"
		   "export MAD_MPI_HOSTS\n" },
	{ .name = "srun",        .here = "srun --overlap --nodes=1 --ntasks={G}",
	  .nodes = "srun --overlap --nodes={N} --ntasks={R} --ntasks-per-node={G}",
	  .first_node = true, .slurm_only = true },
	/* What is known and none of these: the model's script decides. */
	{ .name = "docker",      .alias = "native", .here = TORCHRUN_HERE },
};
#define N_REAL (WS_ARRAY_LEN(launchers) - 1) /* without "docker" */

/* Variables, with the value on one node and on several; NULL: not set there. {T} is {G} up to 8. */
static const struct variable {
	const char *launcher;
	const char *name;
	const char *here, *nodes;
} variables[] = {
	{ "torchtitan",    "TORCHTITAN_TENSOR_PARALLEL_SIZE",   "{G}",  "{G}" },
	{ "torchtitan",    "TORCHTITAN_PIPELINE_PARALLEL_SIZE", "1",    "{N}" },
	{ "torchtitan",    "TORCHTITAN_FSDP_ENABLED",           NULL,   "1" },
	{ "torchtitan",    "TORCHTITAN_CONTEXT_PARALLEL_SIZE",  NULL,   "1" },
	{ "megatron-lm",   "TENSOR_MODEL_PARALLEL_SIZE",        "{T}",  "{G}" },
	{ "megatron-lm",   "PIPELINE_MODEL_PARALLEL_SIZE",      "1",    "{N}" },
	{ "megatron-lm",   "CONTEXT_PARALLEL_SIZE",             "1",    "1" },
	/* Open MPI refuses root otherwise, who every user of a container is. */
	{ "mpirun",        "OMPI_ALLOW_RUN_AS_ROOT",            "1",    "1" },
	{ "mpirun",        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",    "1",    "1" },
	{ "vllm",          "VLLM_TENSOR_PARALLEL_SIZE",         "{G}",  "{G}" },
	{ "vllm",          "VLLM_PIPELINE_PARALLEL_SIZE",       "1",    "1" },
	{ "vllm",          "VLLM_DISTRIBUTED_BACKEND",          "auto", "none" },
	{ "sglang",        "SGLANG_TENSOR_PARALLEL_SIZE",       "{G}",  "{G}" },
	{ "sglang",        "SGLANG_PIPELINE_PARALLEL_SIZE",     "1",    "1" },
	{ "sglang-disagg", "SGLANG_DISAGG_MODE",                NULL,   "enabled" },
	{ "sglang-disagg", "SGLANG_DISAGG_PREFILL_NODES",       NULL,   "{prefill}" },
	{ "sglang-disagg", "SGLANG_DISAGG_DECODE_NODES",        NULL,   "{decode}" },
	{ "sglang-disagg", "SGLANG_DISAGG_TOTAL_NODES",         NULL,   "{N}" },
	{ "sglang-disagg", "SGLANG_TP_SIZE",                    NULL,   "{G}" },
	{ "sglang-disagg", "SGLANG_NODE_RANK",                  NULL,   "${NODE_RANK}" },
};

/* Variables with the text of a member of distributed.<launcher>; NULL: not set without it. */
static const struct given {
	const char *launcher;
	const char *name;
	const char *key;
	const char *fallback;
} givens[] = {
	{ "primus", "PRIMUS_CONFIG_PATH", "config_path", "exp_pretrain.yaml" },
	{ "primus", "PRIMUS_CLI_EXTRA",   "cli_extra",   NULL },
	{ "primus", "BACKEND",            "backend",     NULL },
};

/* clang-format on */

static const struct launcher *find_launcher(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(launchers); i++) {
		const struct launcher *l = &launchers[i];

		if (!strcmp(l->name, name) || (l->alias && !strcmp(l->alias, name)))
			return l;
	}
	return NULL;
}

const char *mdl_launcher_name(size_t i)
{
	return i < N_REAL ? launchers[i].name : NULL;
}

const char *mdl_launcher_known(const char *name)
{
	const struct launcher *l = find_launcher(name);

	return l ? l->name : NULL;
}

bool mdl_launcher_uses_ray(const char *name)
{
	const struct launcher *l = find_launcher(name);

	return l && l->ray;
}

static const char *next_name(const void *list, size_t i)
{
	(void)list;
	return mdl_launcher_name(i);
}

/* A count of nodes or processes as a person writes it: 2 or "2". */
static enum ws_status read_count(const struct ws_doc *map, const char *map_name, const char *key,
				 size_t *io_count, struct ws_err *err)
{
	const char *text = ws_doc_get_scalar(map, key, NULL);
	uint64_t count;

	if (!text)
		return WS_OK;
	if (!ws_str_u64(ws_str_from(text), &count) || count < 1 || count > 65536)
		return ws_fail(err, WS_E_USAGE, "%s.%s is '%s': give a number from 1 to 65536",
			       map_name, key, text);
	*io_count = (size_t)count;
	return WS_OK;
}

enum ws_status mdl_launch_find(const struct ws_doc *context, const struct ws_doc *model,
			       size_t n_gpus, struct mdl_launch *out_launch, struct ws_err *err)
{
	const struct ws_doc *ours = ws_doc_get(context, "distributed");
	const struct ws_doc *theirs = ws_doc_get(model, "distributed");
	const char *asked = ws_doc_get_text(ours, "launcher", NULL);
	struct mdl_launch launch = {
		.n_nodes = 1,
		.n_per_node = WS_MAX(n_gpus, (size_t)1),
		.distributed = ours ? ours : theirs,
	};
	size_t port = MDL_LAUNCH_PORT;
	enum ws_status st;

	if (!asked)
		asked = ws_doc_get_text(theirs, "launcher", NULL);
	if (!asked)
		asked = getenv("MAD_LAUNCHER");
	if (!asked || !*asked)
		asked = "torchrun";
	launch.launcher = mdl_launcher_known(asked);
	if (!launch.launcher) {
		const char *near = ws_str_nearest(asked, next_name, NULL);

		launch.launcher = "docker";
		ws_log_warn("unknown launcher '%s'%s%s%s: the ranks are started with torchrun",
			    asked, near ? ", nearest is '" : "", near ? near : "", near ? "'" : "");
	}
	st = read_count(launch.distributed, "distributed", "nnodes", &launch.n_nodes, err);
	if (!st)
		st = read_count(ws_doc_get(context, "slurm"), "slurm", "nodes", &launch.n_nodes,
				err);
	if (!st)
		st = read_count(launch.distributed, "distributed", "nproc_per_node",
				&launch.n_per_node, err);
	if (!st)
		st = read_count(launch.distributed, "distributed", "port", &port, err);
	if (st)
		return st;
	if (port > 65535)
		return ws_fail(err, WS_E_USAGE, "distributed.port is %zu: ports end at 65535",
			       port);
	launch.port = (unsigned)port;
	*out_launch = launch;
	return WS_OK;
}

/* Nodes of sglang-disagg: one proxy, 2 of 5 of the others prefill, the rest decode. */
static enum ws_status split_nodes(const struct mdl_launch *launch, size_t *out_prefill,
				  size_t *out_decode, struct ws_err *err)
{
	const struct ws_doc *split = ws_doc_get(launch->distributed, "sglang_disagg");
	size_t n_workers = launch->n_nodes - 1;
	size_t prefill = WS_MAX(n_workers * 2 / 5, (size_t)1), decode = n_workers - prefill;
	enum ws_status st;

	if (ws_doc_get(split, "prefill_nodes") && ws_doc_get(split, "decode_nodes")) {
		st = read_count(split, "distributed.sglang_disagg", "prefill_nodes", &prefill, err);
		if (!st)
			st = read_count(split, "distributed.sglang_disagg", "decode_nodes", &decode,
					err);
		if (st)
			return st;
		if (prefill + decode != n_workers)
			return ws_fail(
				err, WS_E_USAGE,
				"sglang_disagg: %zu prefill and %zu decode nodes are not the "
				"%zu that remain besides the proxy: change them or nnodes",
				prefill, decode, n_workers);
	}
	*out_prefill = prefill;
	*out_decode = decode;
	return WS_OK;
}

struct places {
	const struct mdl_launch *launch;
	size_t prefill, decode;
};

/* Appends @form with its {..} replaced. */
static void fill_form(const char *form, const struct places *places, struct ws_buf *out)
{
	const struct mdl_launch *l = places->launch;
	const struct {
		const char *name;
		size_t number;
	} numbers[] = {
		{ "{G}", l->n_per_node },
		{ "{N}", l->n_nodes },
		{ "{R}", l->n_per_node * l->n_nodes },
		{ "{P}", l->port },
		{ "{T}", WS_MIN(l->n_per_node, (size_t)8) },
		{ "{prefill}", places->prefill },
		{ "{decode}", places->decode },
	};

	while (*form) {
		size_t i, n = 1;

		for (i = 0; i < WS_ARRAY_LEN(numbers); i++) {
			n = strlen(numbers[i].name);
			if (!strncmp(form, numbers[i].name, n))
				break;
		}
		if (i < WS_ARRAY_LEN(numbers)) {
			ws_buf_printf(out, "%zu", numbers[i].number);
			form += n;
		} else {
			ws_buf_add_c(out, *form++, 1);
		}
	}
}

/* The text of a variable that the user gives; NULL: none, or of another launcher. */
static const char *given_text(const struct mdl_launch *launch, const struct given *g)
{
	const char *text;

	if (strcmp(g->launcher, launch->launcher) != 0)
		return NULL;
	text = ws_doc_get_scalar(ws_doc_get(launch->distributed, g->launcher), g->key, NULL);
	return text && *text ? text : g->fallback;
}

enum ws_status mdl_launch_local(const struct mdl_launch *launch, struct ws_doc *env,
				struct ws_arena *arena, struct ws_err *err)
{
	const struct launcher *l = find_launcher(launch->launcher);
	struct mdl_launch one_node = *launch;
	struct places places = { .launch = &one_node };
	struct ws_buf text;
	bool ok = true;

	one_node.n_nodes = 1;
	ws_buf_init(&text, 1u << 16);
	if (!ws_doc_get(env, "MAD_MULTI_NODE_RUNNER")) {
		fill_form(l ? l->here : TORCHRUN_HERE, &places, &text);
		ok = !text.failed && ws_doc_put_text(env, "MAD_MULTI_NODE_RUNNER", text.at, arena);
	}
	for (size_t i = 0; ok && i < WS_ARRAY_LEN(variables); i++) {
		const struct variable *v = &variables[i];

		if (strcmp(v->launcher, launch->launcher) != 0 || !v->here ||
		    ws_doc_get(env, v->name))
			continue;
		ws_buf_clear(&text);
		fill_form(v->here, &places, &text);
		ok = !text.failed && ws_doc_put_text(env, v->name, text.at, arena);
	}
	for (size_t i = 0; ok && i < WS_ARRAY_LEN(givens); i++) {
		const char *given = given_text(launch, &givens[i]);

		if (given && !ws_doc_get(env, givens[i].name))
			ok = ws_doc_put_text(env, givens[i].name, given, arena);
	}
	ws_buf_fini(&text);
	return ok ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* export NAME="form": variables in it are the task's. */
static void export_form(const char *name, const char *form, const struct places *places,
			struct ws_buf *out)
{
	ws_buf_printf(out, "export %s=\"", name);
	fill_form(form, places, out);
	ws_buf_add(out, "\"\n");
}

static void export_runner(const struct launcher *l, bool pods, const struct places *places,
			  struct ws_buf *out)
{
	static const char name[] = "MAD_MULTI_NODE_RUNNER";
	bool one = places->launch->n_nodes == 1;
	const char *form = one ? l->here : pods && l->pods ? l->pods : l->nodes;

	if (!form)
		return;
	if (one || !l->first_node) {
		export_form(name, form, places, out);
		return;
	}
	ws_buf_add(out, "if [ \"$NODE_RANK\" = 0 ]; then\n\t");
	export_form(name, form, places, out);
	ws_buf_printf(out, "else\n\texport %s=true\nfi\n", name);
}

enum ws_status mdl_launch_script(const struct mdl_launch *launch, bool pods, struct ws_buf *out,
				 struct ws_err *err)
{
	const struct launcher *l = find_launcher(launch->launcher);
	struct places places = { .launch = launch };
	bool one = launch->n_nodes == 1;
	enum ws_status st;

	if (!l)
		return ws_fail(err, WS_E_USAGE, "unknown launcher '%s'", launch->launcher);
	if (launch->n_nodes < l->min_nodes)
		return ws_fail(err, WS_E_USAGE,
			       "%s needs at least %zu nodes and gets %zu: raise "
			       "slurm.nodes",
			       l->name, l->min_nodes, launch->n_nodes);
	if (pods && !one && l->slurm_only)
		return ws_fail(err, WS_E_USAGE,
			       "%s starts the ranks of several nodes on Slurm only: choose another "
			       "launcher for Kubernetes",
			       l->name);
	if (l->min_nodes) {
		st = split_nodes(launch, &places.prefill, &places.decode, err);
		if (st)
			return st;
	}
	export_form("NNODES", "{N}", &places, out);
	export_form("NPROC_PER_NODE", "{G}", &places, out);
	export_form("MASTER_PORT", "{P}", &places, out);
	if (l->needs && !one)
		fill_form(l->needs, &places, out);
	export_runner(l, pods, &places, out);
	for (size_t i = 0; i < WS_ARRAY_LEN(variables); i++) {
		const struct variable *v = &variables[i];
		const char *form = one ? v->here : v->nodes;

		if (!strcmp(v->launcher, l->name) && form)
			export_form(v->name, form, &places, out);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(givens); i++) {
		const char *given = given_text(launch, &givens[i]);

		if (given)
			mdl_shell_export(givens[i].name, given, out);
	}
	return ws_buf_status(out, err);
}
