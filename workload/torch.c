#include "workload/torch.h"

#include "base/path.h"
#include "base/vec.h"
#include "workload/csv.h"
#include "workload/names.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

WS_VEC_TYPE(uses, struct wl_torch_use);

struct reader {
	struct ws_arena *arena;
	struct wl_dict dict;
	struct ws_map seen;     /* operator, place, kernel: to number + 1 of the use */
	struct ws_map launches; /* use and start of a kernel: counted once, not once per counter */
	struct uses uses;
	struct ws_err *err;
};

static enum ws_status add(struct reader *r, const char *op, const char *context, const char *kernel,
			  double start, double end)
{
	char *key = ws_arena_printf(r->arena, "%s\n%s\n%s", op, context, kernel), *launch;
	struct ws_map_entry *entry;
	struct wl_torch_use *use;
	enum ws_status st;
	size_t number;

	if (!key)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	entry = ws_map_find(&r->seen, ws_str_from(key));
	number = entry ? (size_t)(uintptr_t)entry->value : r->uses.n;
	if (!entry) {
		st = ws_vec_push(
			&r->uses,
			((struct wl_torch_use){ .op = op, .context = context, .kernel = kernel }),
			r->err);
		if (!st)
			st = ws_map_put(&r->seen, ws_str_from(key), (void *)(uintptr_t)number,
					r->err);
		if (st)
			return st;
	}
	use = &r->uses.at[number];
	launch = ws_arena_printf(r->arena, "%zu %.0f", number, start);
	if (!launch)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	if (ws_map_find(&r->launches, ws_str_from(launch)))
		return WS_OK;
	use->n_launches++;
	use->total_ns += isnan(end - start) ? 0 : end - start;
	return ws_map_put(&r->launches, ws_str_from(launch), use, r->err);
}

static enum ws_status read_consolidated(struct reader *r, const char *path)
{
	static const char *const texts[] = { WL_COL_OPERATOR, WL_COL_CONTEXT, WL_COL_KERNEL,
					     WL_COL_COUNTER, NULL };
	struct wl_csv_how how = { texts, &r->dict };
	const struct wl_csv_column *cols[5];
	static const char *const names[] = { WL_COL_OPERATOR, WL_COL_CONTEXT, WL_COL_KERNEL,
					     WL_COL_START_KERNEL, WL_COL_END_KERNEL };
	struct wl_csv csv;
	enum ws_status st = wl_csv_read(path, &how, r->arena, &csv, r->err);

	if (st)
		return st;
	for (size_t i = 0; !st && i < 5; i++) {
		cols[i] = wl_csv_column(&csv, names[i]);
		if (!cols[i])
			st = ws_fail(r->err, WS_E_FORMAT, "'%s' has no column %s", path, names[i]);
	}
	for (size_t i = 0; !st && i < csv.n_rows; i++)
		st = add(r, r->dict.texts[(size_t)cols[0]->at[i]],
			 r->dict.texts[(size_t)cols[1]->at[i]],
			 r->dict.texts[(size_t)cols[2]->at[i]], cols[3]->at[i], cols[4]->at[i]);
	wl_csv_fini(&csv);
	return st;
}

/* A marker range and the kernels that carry its correlation id. */
static enum ws_status read_raw(struct reader *r, const char *dir, const char *marker_name)
{
	static const char suffix[] = "marker_api_trace.csv";
	static const char *const texts[] = { "Function", WL_COL_KERNEL, WL_COL_COUNTER, NULL };
	struct wl_csv_how how = { texts, &r->dict };
	char *marker_path = ws_arena_printf(r->arena, "%s/%s", dir, marker_name);
	char *counter_path =
		ws_arena_printf(r->arena, "%s/%.*scounter_collection.csv", dir,
				(int)(strlen(marker_name) - sizeof(suffix) + 1), marker_name);
	const struct wl_csv_column *function, *corr, *k_corr, *kernel, *start, *end;
	struct wl_csv markers = { 0 }, kernels = { 0 };
	struct ws_map by_corr;
	enum ws_status st;

	if (!marker_path || !counter_path)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	if (!ws_path_exists(counter_path))
		return WS_OK;
	ws_map_init(&by_corr, WS_MAP_U64, 1u << 30);
	st = wl_csv_read(marker_path, &how, r->arena, &markers, r->err);
	if (!st)
		st = wl_csv_read(counter_path, &how, r->arena, &kernels, r->err);
	function = st ? NULL : wl_csv_column(&markers, "Function");
	corr = st ? NULL : wl_csv_column(&markers, "Correlation_Id");
	k_corr = st ? NULL : wl_csv_column(&kernels, "Correlation_Id");
	kernel = st ? NULL : wl_csv_column(&kernels, WL_COL_KERNEL);
	start = st ? NULL : wl_csv_column(&kernels, WL_COL_START);
	end = st ? NULL : wl_csv_column(&kernels, WL_COL_END);
	if (!st && (!function || !corr || !k_corr || !kernel || !start || !end))
		st = ws_fail(
			r->err, WS_E_FORMAT,
			"'%s' or its counters lack Function, Correlation_Id, Kernel_Name or times",
			marker_path);
	for (size_t i = 0; !st && i < markers.n_rows; i++)
		st = ws_map_put_u64(&by_corr, (uint64_t)corr->at[i],
				    (void *)(uintptr_t)r->dict.texts[(size_t)function->at[i]],
				    r->err);
	for (size_t i = 0; !st && i < kernels.n_rows; i++) {
		const char *name = ws_map_get_u64(&by_corr, (uint64_t)k_corr->at[i]);
		const char *mark = name ? strstr(name, ":#") : NULL;

		/* "op/path:#context": ranges of other kinds have no such mark. */
		if (mark)
			st = add(r, ws_arena_strndup(r->arena, name, (size_t)(mark - name)),
				 mark + 2, r->dict.texts[(size_t)kernel->at[i]], start->at[i],
				 end->at[i]);
	}
	ws_map_fini(&by_corr);
	wl_csv_fini(&markers);
	wl_csv_fini(&kernels);
	return st;
}

static enum ws_status read_raw_dir(struct reader *r, const char *dir, int depth)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, NULL, alphasort);
	enum ws_status st = WS_OK;

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char *path = ws_arena_printf(r->arena, "%s/%s", dir, name);
		struct stat info;

		if (!st && path && name[0] != '.') {
			if (ws_str_starts(ws_str_from(name), "torch_trace_") &&
			    ws_str_ends(ws_str_from(name), "marker_api_trace.csv"))
				st = read_raw(r, dir, name);
			else if (depth > 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
				st = read_raw_dir(r, path, depth - 1);
		}
		free(entries[i]);
	}
	free(entries);
	return st;
}

enum ws_status wl_torch_load(const struct wl_workload *load, struct ws_arena *arena,
			     struct wl_torch *out_torch, struct ws_err *err)
{
	struct reader r = { .arena = arena, .err = err };
	char *path = ws_arena_printf(arena, "%s/" WL_DIR_TORCH "/" WL_FILE_TORCH, load->path);
	enum ws_status st;

	if (!load->torch_trace)
		return ws_fail(err, WS_E_STATE,
			       "'%s' was profiled without --torch-trace: it has no operators",
			       load->path);
	if (!path)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	wl_dict_init(&r.dict, arena);
	ws_map_init(&r.seen, WS_MAP_STR, 1u << 24);
	ws_map_init(&r.launches, WS_MAP_STR, 1u << 30);
	ws_vec_init(&r.uses, 1u << 24);
	st = ws_path_exists(path) ? read_consolidated(&r, path) : read_raw_dir(&r, load->path, 1);
	if (!st && !r.uses.n)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "'%s' contains no PyTorch operators: profile it with --torch-trace",
			     load->path);
	if (!st) {
		out_torch->uses = ws_arena_array(arena, r.uses.n, sizeof(*out_torch->uses));
		out_torch->n = r.uses.n;
		if (out_torch->uses)
			memcpy(out_torch->uses, r.uses.at, r.uses.n * sizeof(*r.uses.at));
		else
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_vec_fini(&r.uses);
	ws_map_fini(&r.seen);
	ws_map_fini(&r.launches);
	wl_dict_fini(&r.dict);
	return st;
}

bool wl_torch_matches(const char *pattern, const char *op)
{
	const char *p_end = pattern + strlen(pattern), *o_end = op + strlen(op);

	if (!strcmp(pattern, "all") || !strcmp(pattern, "*") || !strcmp(pattern, "**"))
		return true;
	for (;;) {
		const char *p = p_end, *o = o_end;
		char part[512], name[512];

		while (p > pattern && p[-1] != '/')
			p--;
		while (o > op && o[-1] != '/')
			o--;
		snprintf(part, sizeof(part), "%.*s", (int)(p_end - p), p);
		snprintf(name, sizeof(name), "%.*s", (int)(o_end - o), o);
		if (fnmatch(part, name, 0) != 0)
			return false;
		if (p == pattern)
			return true;
		if (o == op)
			return false;
		p_end = p - 1;
		o_end = o - 1;
	}
}
