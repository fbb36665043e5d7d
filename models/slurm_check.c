#include "base/doc_edit.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/vec.h"
#include "models/places.h"
#include "models/slurm_priv.h"

#include <string.h>

#define CHECK_NODES_MAX 100
#define CHECK_TIMEOUT_MS 30000
#define LIST_TIMEOUT_MS 10000

enum ws_status mdl_slurm_programs(struct ws_err *err)
{
	static const char *const programs[] = { "sbatch", "squeue", "scontrol" };
	char path[PATH_MAX];

	for (size_t i = 0; i < WS_ARRAY_LEN(programs); i++) {
		if (ws_path_program(programs[i], path, err))
			return ws_fail(
				err, WS_E_NOTFOUND,
				"there is no %s in PATH: run madengine on a login node of the "
				"cluster, or remove 'slurm' from the context to run here",
				programs[i]);
	}
	if (ws_path_program("madengine", path, err))
		return ws_fail(err, WS_E_NOTFOUND,
			       "there is no madengine in PATH, which the nodes "
			       "inherit: add its folder to PATH");
	return WS_OK;
}

/* What the check says of one node; "" is clean. */
static void check_node(const struct mdl_slurm_plan *plan, const char *partition, const char *node,
		       const char *script, char *out_finding, size_t room)
{
	const char *reservation = ws_doc_get_text(plan->slurm, "reservation", NULL);
	char *argv[16];
	struct ws_err err = { .status = WS_OK };
	struct ws_buf out;
	struct ws_str rest, line;
	size_t n = 0;

	argv[n++] = "srun";
	argv[n++] = "--partition";
	argv[n++] = (char *)partition;
	argv[n++] = "--nodelist";
	argv[n++] = (char *)node;
	argv[n++] = "--nodes=1";
	argv[n++] = "--ntasks=1";
	argv[n++] = "--time=2";
	argv[n++] = "--immediate=20";
	argv[n++] = "--job-name=madengine-node-check";
	if (reservation) {
		argv[n++] = "--reservation";
		argv[n++] = (char *)reservation;
	}
	argv[n++] = "bash";
	argv[n++] = "-c";
	argv[n++] = (char *)script;
	argv[n] = NULL;
	ws_buf_init(&out, 1u << 16);
	*out_finding = 0;
	if (mdl_deploy_ask(argv, CHECK_TIMEOUT_MS, &out, &err)) {
		snprintf(out_finding, room, "%s", err.text);
	} else {
		rest = ws_buf_view(&out);
		if (ws_str_next(&rest, '\n', &line) && !ws_str_is(line, "checked"))
			snprintf(out_finding, room, "%.*s", WS_STR_ARGS(line));
	}
	ws_buf_fini(&out);
}

struct check {
	struct ws_buf script, cleaning; /* the check, and with "clean" as its argument */
	struct ws_buf clean, bad;       /* comma lists of nodes */
	size_t n_clean, n_bad, n_idle;
};

static void add_name(struct ws_buf *list, struct ws_str name)
{
	ws_buf_printf(list, "%s%.*s", list->n ? "," : "", WS_STR_ARGS(name));
}

static void check_idle(const struct mdl_slurm_plan *plan, const char *partition,
		       struct ws_str nodes, struct check *check)
{
	bool cleanup = ws_doc_get_bool(plan->slurm, "auto_cleanup_nodes", false);
	bool verbose = ws_doc_get_bool(plan->slurm, "verbose_node_check", false);
	struct ws_str line;

	while (check->n_clean < plan->n_nodes && check->n_idle < CHECK_NODES_MAX && nodes.n &&
	       ws_str_next(&nodes, '\n', &line)) {
		char node[256], finding[sizeof(((struct ws_err *)0)->text)];

		line = ws_str_trim(line);
		if (!line.n)
			continue;
		check->n_idle++;
		snprintf(node, sizeof(node), "%.*s", WS_STR_ARGS(line));
		check_node(plan, partition, node, check->script.at, finding, sizeof(finding));
		if (*finding && cleanup) {
			ws_log_warn("node %s: %s: cleaning it", node, finding);
			check_node(plan, partition, node, check->cleaning.at, finding,
				   sizeof(finding));
		}
		if (*finding)
			ws_log_warn("node %s is not used: %s", node, finding);
		else if (verbose)
			ws_print(stderr, "madengine: node %s is free\n", node);
		add_name(*finding ? &check->bad : &check->clean, line);
		*(*finding ? &check->n_bad : &check->n_clean) += 1;
	}
}

static enum ws_status read_check(struct check *check, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = mdl_place_find("templates/node_check.sh", path, err);

	if (!st)
		st = ws_file_read(path, &check->script, err);
	/* `bash -c SCRIPT` has no arguments of its own, so they are set in front. */
	ws_buf_printf(&check->cleaning, "set -- clean\n%s", check->script.at);
	return st ? st : ws_buf_status(&check->cleaning, err);
}

/* The list of @key of the plan and more nodes. */
static const char *joined(const char *list, const char *more, struct ws_arena *arena)
{
	return list ? ws_arena_printf(arena, "%s,%s", list, more) : ws_arena_strdup(arena, more);
}

static enum ws_status use_findings(struct mdl_slurm_plan *plan, const struct check *check,
				   struct ws_arena *arena, struct ws_err *err)
{
	if (check->n_bad && !(plan->exclude = joined(plan->exclude, check->bad.at, arena)))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (check->n_clean >= plan->n_nodes) {
		plan->nodelist = ws_arena_strdup(arena, check->clean.at);
		return plan->nodelist ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	/* Nothing is idle: the job waits in the queue, and nobody knows for which nodes. */
	if (!check->n_bad || plan->n_nodes == 1)
		return WS_OK;
	if (ws_doc_get_bool(plan->slurm, "allow_submit_without_clean_nodes", false)) {
		ws_log_warn("%zu of %zu nodes are free of leftovers: submitting all the same",
			    check->n_clean, plan->n_nodes);
		return WS_OK;
	}
	return ws_fail(err, WS_E_STATE,
		       "%zu of %zu nodes are free of leftovers: not submitted: clean them, or set "
		       "slurm.auto_cleanup_nodes or slurm.allow_submit_without_clean_nodes",
		       check->n_clean, plan->n_nodes);
}

enum ws_status mdl_slurm_check(struct mdl_slurm_plan *plan, struct ws_arena *arena,
			       struct ws_err *err)
{
	const char *partition = ws_doc_get_text(plan->slurm, "partition", "");
	char *argv[] = { "sinfo", "-p", (char *)partition, "-N", "-h", "-o", "%N", "-t",
			 "idle",  NULL };
	struct check check = { 0 };
	struct ws_buf *bufs[] = { &check.script, &check.cleaning, &check.clean, &check.bad, NULL };
	struct ws_buf nodes;
	char path[PATH_MAX];
	enum ws_status st;

	if (plan->nodelist || !ws_doc_get_bool(plan->slurm, "enable_node_check", true))
		return WS_OK;
	if (ws_path_program("sinfo", path, NULL) || ws_path_program("srun", path, NULL)) {
		ws_log_warn("nodes are not checked for leftovers: there is no sinfo or srun");
		return WS_OK;
	}
	ws_buf_init(&nodes, 1u << 20);
	for (size_t i = 0; bufs[i]; i++)
		ws_buf_init(bufs[i], 1u << 16);
	st = mdl_deploy_ask(argv, LIST_TIMEOUT_MS, &nodes, err);
	if (!st)
		st = read_check(&check, err);
	if (!st) {
		check_idle(plan, partition, ws_buf_view(&nodes), &check);
		st = use_findings(plan, &check, arena, err);
	}
	for (size_t i = 0; bufs[i]; i++)
		ws_buf_fini(bufs[i]);
	ws_buf_fini(&nodes);
	return st;
}
