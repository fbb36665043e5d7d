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
static void format_arch(uint64_t version, char out_arch[16])
{
	snprintf(out_arch, 16, "gfx%u%x%x", (unsigned)(version / 10000 % 100),
		 (unsigned)(version / 100 % 100), (unsigned)(version % 100));
}

static enum ws_status read_node(const char *dir, unsigned node, struct gpu_set *set,
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
	if (!st && property(ws_buf_view(&text), "simd_count") && set->n < GPU_PRESENT_MAX) {
		struct gpu_here *gpu = &set->gpus[set->n++];
		struct ws_str view = ws_buf_view(&text);
		uint64_t per_cu = property(view, "simd_per_cu");

		*gpu = (struct gpu_here){
			.node = node,
			.n_cus = (unsigned)(property(view, "simd_count") / WS_MAX(per_cu, 1u)),
			.device_id = (unsigned)property(view, "device_id"),
			.render_minor = (unsigned)property(view, "drm_render_minor"),
			.pci_domain = (unsigned)property(view, "domain"),
			.pci_location = (unsigned)property(view, "location_id"),
			.freq_mhz = (unsigned)property(view, "max_engine_clk_fcompute"),
			.unique_id = property(view, "unique_id"),
		};
		format_arch(property(view, "gfx_target_version"), gpu->arch);
		gpu->model = gpu_model_by_chip(gpu->device_id);
		/* Same folder, shorter file name: this fits where "properties" did. */
		strcpy(strrchr(path, '/'), "/name");
		if (!ws_file_line(path, gpu->name, sizeof(gpu->name)))
			gpu->name[0] = '\0';
	}
	ws_buf_fini(&text);
	return st;
}

static int by_node(const void *a, const void *b)
{
	const struct gpu_here *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

enum ws_status gpu_present(const char *sys, struct gpu_set *out_set, struct ws_err *err)
{
	char nodes[PATH_MAX], path[PATH_MAX];
	enum ws_status st;
	struct dirent *entry;
	uint64_t node;
	DIR *dir;

	*out_set = (struct gpu_set){ .n = 0 };
	st = ws_path_join(sys, "module/amdgpu/version", path, err);
	if (!st)
		st = ws_path_join(sys, NODES, nodes, err);
	if (st)
		return st;
	if (!ws_file_line(path, out_set->driver, sizeof(out_set->driver)))
		out_set->driver[0] = '\0';
	dir = opendir(nodes);
	if (!dir)
		return errno == ENOENT ? WS_OK
				       : ws_fail_errno(err, errno, "cannot open '%s'", nodes);
	out_set->has_driver = true;
	while (!st && (entry = readdir(dir)))
		if (ws_str_u64(ws_str_from(entry->d_name), &node))
			st = read_node(nodes, (unsigned)node, out_set, err);
	closedir(dir);
	if (!st)
		qsort(out_set->gpus, out_set->n, sizeof(out_set->gpus[0]), by_node);
	return st;
}
