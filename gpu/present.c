#include "gpu/present.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES "class/kfd/kfd/topology/nodes"

/* The driver writes "name value" lines; some fifty, none of them long. */
#define PROPERTIES_MAX 16384

static uint64_t property(struct ws_str text, const char *name)
{
	struct ws_str line;
	size_t n = strlen(name);
	uint64_t value;

	while (ws_str_next(&text, '\n', &line))
		if (ws_str_starts(line, name) && line.n > n && line.at[n] == ' ' &&
		    ws_str_u64(ws_str_trim((struct ws_str){ line.at + n, line.n - n }), &value))
			return value;
	return 0;
}

/* gfx_target_version is major * 10000 + minor * 100 + stepping; the last two print in hex. */
static void format_arch(uint64_t version, char out_arch[64])
{
	snprintf(out_arch, 64, "gfx%u%x%x", (unsigned)(version / 10000 % 100),
		 (unsigned)(version / 100 % 100), (unsigned)(version % 100));
}

static void describe(struct ws_str text, unsigned node, struct gpu_agent *out_agent)
{
	*out_agent = (struct gpu_agent){
		.is_gpu = true,
		.node = node,
		.freq_mhz = (uint32_t)property(text, "max_engine_clk_fcompute"),
	};
	for (size_t i = 0; i < GPU_AGENT_N_PROPERTIES; i++)
		gpu_agent_set_property(out_agent, i, property(text, gpu_agent_properties[i].name));
	format_arch(out_agent->gfx_target_version, out_agent->arch);
	out_agent->model = gpu_model_by_chip((unsigned)out_agent->device_id);
	/* Drivers that know no partitions do not say how many dies an agent has. */
	if (!out_agent->num_xcc && out_agent->model)
		out_agent->num_xcc = out_agent->model->n_xcds;
}

static enum ws_status read_node(const char *dir, unsigned node, struct gpu_agents *agents,
				struct ws_err *err)
{
	char path[PATH_MAX];
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, PROPERTIES_MAX);
	if (snprintf(path, sizeof(path), "%s/%u/properties", dir, node) >= (int)sizeof(path))
		return ws_fail(err, WS_E_LIMIT, "path too long: '%.60s...'", dir);
	st = ws_file_read(path, &text, err);
	/* A GPU that a container may not use has a node that cannot be read. */
	if (st == WS_E_ACCESS)
		st = WS_OK;
	if (!st && property(ws_buf_view(&text), "simd_count") && agents->n < GPU_AGENTS_MAX)
		describe(ws_buf_view(&text), node, &agents->at[agents->n++]);
	ws_buf_fini(&text);
	return st;
}

static int by_node(const void *a, const void *b)
{
	const struct gpu_agent *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

enum ws_status gpu_present(const char *sys, struct gpu_agents *out_agents, struct ws_err *err)
{
	char nodes[PATH_MAX];
	enum ws_status st = ws_path_join(sys, NODES, nodes, err);
	struct dirent *entry;
	uint64_t node;
	DIR *dir;

	*out_agents = (struct gpu_agents){ .n = 0 };
	if (st)
		return st;
	dir = opendir(nodes);
	if (!dir)
		return errno == ENOENT ? WS_OK
				       : ws_fail_errno(err, errno, "cannot open '%s'", nodes);
	while (!st && (entry = readdir(dir)))
		if (ws_str_u64(ws_str_from(entry->d_name), &node))
			st = read_node(nodes, (unsigned)node, out_agents, err);
	closedir(dir);
	if (!st)
		qsort(out_agents->at, out_agents->n, sizeof(out_agents->at[0]), by_node);
	return st;
}

void gpu_driver_version(const char *sys, char *out_text, size_t n_bytes)
{
	char path[PATH_MAX];

	if (ws_path_join(sys, "module/amdgpu/version", path, NULL) ||
	    !ws_file_line(path, out_text, n_bytes))
		out_text[0] = '\0';
}
