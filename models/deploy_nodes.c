#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "models/deploy.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NODE_LOG_BYTES_MAX (256u << 20)
#define NODE_FACTS_BYTES_MAX (64u << 10)

/* The value of the last line "@key=..." of node.txt; NULL: none. In @arena. */
static const char *find_fact(struct ws_str facts, const char *key, struct ws_arena *arena)
{
	const char *value = NULL;
	struct ws_str line;
	size_t n = strlen(key);

	while (ws_str_next(&facts, '\n', &line)) {
		if (ws_str_starts(line, key) && line.n > n && line.at[n] == '=')
			value = ws_arena_strndup(arena, line.at + n + 1, line.n - n - 1);
	}
	return value;
}

/* "test_duration: 12.34s" of the last line that has one; < 0: none. */
static double find_seconds(struct ws_str log)
{
	double seconds = -1;
	struct ws_str line;

	while (ws_str_next(&log, '\n', &line)) {
		struct ws_str number;
		double value;

		line = ws_str_trim(line);
		if (!ws_str_starts(line, "test_duration: ") || !ws_str_ends(line, "s"))
			continue;
		number = (struct ws_str){ line.at + 15, line.n - 16 };
		if (ws_str_f64(number, &value) && isfinite(value) && value >= 0)
			seconds = value;
	}
	return seconds;
}

/* What the log @path says of the run; what is there already is kept. */
static void read_log(const char *path, struct ws_arena *arena, struct mdl_node *node)
{
	struct mdl_performance found;
	struct ws_buf log;
	struct ws_err err = { .status = WS_OK };

	ws_buf_init(&log, NODE_LOG_BYTES_MAX);
	if (ws_file_read(path, &log, &err)) {
		ws_log_warn("%s is not searched for results: %s", path, err.text);
	} else {
		if (!node->number && mdl_performance_find(ws_buf_view(&log), arena, &found)) {
			node->number = found.number;
			node->metric = found.metric;
		}
		if (node->seconds < 0)
			node->seconds = find_seconds(ws_buf_view(&log));
	}
	ws_buf_fini(&log);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* stdout of the node first, then the logs of its runs. */
static enum ws_status read_logs(struct mdl_node *node, struct ws_arena *arena, struct ws_err *err)
{
	DIR *dir = opendir(node->dir);
	struct dirent *entry;
	const char *logs[64];
	char path[PATH_MAX];
	size_t n_logs = 0;

	if (!dir)
		return WS_OK; /* it handed nothing back */
	while ((entry = readdir(dir))) {
		struct ws_str name = ws_str_from(entry->d_name);

		if (*entry->d_name == '.')
			continue;
		node->n_files++;
		if (ws_str_ends(name, ".run.live.log") && n_logs < WS_ARRAY_LEN(logs) &&
		    (logs[n_logs] = ws_arena_strdup(arena, entry->d_name)))
			n_logs++;
	}
	closedir(dir);
	if (!ws_path_join(node->dir, "stdout.out", path, err) && ws_path_exists(path))
		read_log(path, arena, node);
	qsort(logs, n_logs, sizeof(logs[0]), by_name);
	for (size_t i = 0; i < n_logs; i++) {
		enum ws_status st = ws_path_join(node->dir, logs[i], path, err);

		if (st)
			return st;
		read_log(path, arena, node);
	}
	return WS_OK;
}

enum ws_status mdl_node_read(const char *dir, size_t rank, struct ws_arena *arena,
			     struct mdl_node *out_node, struct ws_err *err)
{
	struct mdl_node node = { .host = "", .seconds = -1 };
	char path[PATH_MAX];
	struct ws_buf facts;
	const char *code;
	int64_t exit_code;
	enum ws_status st;

	node.dir = ws_arena_printf(arena, "%s/node_%zu", dir, rank);
	if (!node.dir)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_path_join(node.dir, "node.txt", path, err);
	if (st)
		return st;
	ws_buf_init(&facts, NODE_FACTS_BYTES_MAX);
	if (!ws_file_read(path, &facts, NULL)) {
		const char *host = find_fact(ws_buf_view(&facts), "host", arena);

		node.host = host ? host : "";
		node.lost = find_fact(ws_buf_view(&facts), "lost", arena);
		code = find_fact(ws_buf_view(&facts), "exit_code", arena);
		node.ended = code && ws_str_i64(ws_str_from(code), &exit_code) && exit_code >= 0 &&
			     exit_code <= 255;
		if (node.ended)
			node.exit_code = (int)exit_code;
	}
	ws_buf_fini(&facts);
	st = read_logs(&node, arena, err);
	if (!st)
		*out_node = node;
	return st;
}

bool mdl_nodes_combine(const struct mdl_node *nodes, size_t n_nodes, struct ws_arena *arena,
		       struct mdl_result *result, const char **out_how)
{
	static const char *const names[] = {
		[MDL_COMBINE_SUM] = "sum",
		[MDL_COMBINE_MEAN] = "mean",
		[MDL_COMBINE_MAX] = "max",
		[MDL_COMBINE_UNKNOWN] = "sum",
	};
	const struct mdl_node *first = NULL;
	enum mdl_combine how;
	double sum = 0, max = 0, seconds = -1;
	size_t n = 0;

	for (size_t i = 0; i < n_nodes; i++) {
		double value;

		seconds = WS_MAX(seconds, nodes[i].seconds);
		if (!nodes[i].number || !ws_str_f64(ws_str_from(nodes[i].number), &value))
			continue;
		if (!first)
			first = &nodes[i];
		if (strcmp(nodes[i].metric, first->metric) != 0) {
			ws_log_warn("node %zu measured '%s', not '%s': its number is left out", i,
				    nodes[i].metric, first->metric);
			continue;
		}
		sum += value;
		max = n++ ? WS_MAX(max, value) : value;
	}
	if (seconds >= 0)
		result->test_duration = ws_arena_printf(arena, "%.2f", seconds);
	if (!first)
		return false;
	result->metric = first->metric;
	how = mdl_metric_combine(first->metric);
	if (n == 1) {
		*out_how = "one node";
		result->performance = first->number;
		return true;
	}
	if (how == MDL_COMBINE_UNKNOWN)
		ws_log_warn(
			"the metric '%s' does not say how numbers of %zu nodes combine: they are "
			"added",
			first->metric, n);
	*out_how = names[how];
	result->performance = ws_arena_printf(arena, "%.10g",
					      how == MDL_COMBINE_MEAN  ? sum / (double)n
					      : how == MDL_COMBINE_MAX ? max
								       : sum);
	return true;
}
