/* Which files a workload consists of, and the frames made from them. */
#include "workload/workload_priv.h"

#include "base/log.h"
#include "base/path.h"
#include "base/utf8.h"
#include "workload/names.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ws_status wl_load_csv(struct wl_workload *load, const char *dir, const char *name,
			   struct wl_csv **out_csv, struct ws_err *err)
{
	static const char *const kernels[] = { WL_COL_KERNEL, WL_COL_COUNTER, NULL };
	struct wl_workload_priv *priv = load->priv;
	struct wl_csv_how how = { .texts = kernels, .dict = &priv->kernels };
	struct wl_csv *csv = ws_arena_new(&load->arena, struct wl_csv);
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(dir, name, path, err);

	if (!csv)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st && priv->n_csvs == priv->cap_csvs) {
		size_t cap = priv->cap_csvs ? priv->cap_csvs * 2 : 32;
		struct wl_csv **grown = realloc(priv->csvs, cap * sizeof(*grown));

		if (!grown)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		priv->csvs = grown;
		priv->cap_csvs = cap;
	}
	if (!st)
		st = wl_csv_read(path, &how, &load->arena, csv, err);
	if (st)
		return st;
	priv->csvs[priv->n_csvs++] = csv;
	load->n_rows_bad += csv->n_rows_bad;
	load->n_bytes_csv += csv->n_bytes;
	if (csv->n_rows_bad)
		ws_log_warn("%s:%zu: truncated or damaged: %zu rows were skipped, the report is "
			    "partial",
			    path, csv->first_bad, csv->n_rows_bad);
	*out_csv = csv;
	return WS_OK;
}

double *wl_load_column(struct wl_workload *load, size_t n)
{
	struct wl_workload_priv *priv = load->priv;
	double *at;

	if (priv->n_owned == priv->cap_owned) {
		size_t cap = priv->cap_owned ? priv->cap_owned * 2 : 64;
		void *grown = realloc(priv->owned, cap * sizeof(*priv->owned));

		if (!grown)
			return NULL;
		priv->owned = grown;
		priv->cap_owned = cap;
	}
	at = wl_doubles(n);
	if (at) {
		priv->owned[priv->n_owned].at = at;
		priv->owned[priv->n_owned++].n = n;
	}
	return at;
}

struct wl_frame *wl_load_frame(struct wl_workload *load, const char *name, size_t n_rows,
			       size_t n_columns, struct ws_err *err)
{
	struct wl_frame *frame = ws_arena_new(&load->arena, struct wl_frame);
	struct wl_frame **frames =
		ws_arena_array(&load->arena, load->n_frames + 1, sizeof(*frames));

	if (frame)
		frame->columns = ws_arena_array(&load->arena, WS_MAX(n_columns, (size_t)1),
						sizeof(*frame->columns));
	if (!frame || !frames || !frame->columns) {
		ws_fail(err, WS_E_NOMEM, "out of memory");
		return NULL;
	}
	frame->name = name;
	frame->n_rows = n_rows;
	ws_map_init(&frame->by_name, WS_MAP_STR, 1u << 20);
	if (load->n_frames)
		memcpy(frames, load->frames, load->n_frames * sizeof(*frames));
	frames[load->n_frames++] = frame;
	load->frames = frames;
	return frame;
}

enum ws_status wl_load_add_column(struct wl_frame *frame, struct wl_column column,
				  struct ws_err *err)
{
	struct ws_str name = ws_str_from(column.name);

	if (ws_map_find(&frame->by_name, name))
		return WS_OK;
	frame->columns[frame->n_columns] = column;
	return ws_map_put(&frame->by_name, name, &frame->columns[frame->n_columns++], err);
}

enum ws_status wl_load_frame_from(struct wl_workload *load, const char *name,
				  const struct wl_csv *csv, struct wl_frame **out_frame,
				  struct ws_err *err)
{
	struct wl_frame *frame = wl_load_frame(load, name, csv->n_rows, csv->n_columns, err);
	enum ws_status st = frame ? WS_OK : WS_E_NOMEM;

	for (size_t i = 0; !st && i < csv->n_columns; i++) {
		const struct wl_csv_column *col = &csv->columns[i];

		st = wl_load_add_column(frame,
					(struct wl_column){ .name = col->name,
							    .at = col->at,
							    .is_text = col->is_text || col->is_dict,
							    .is_int = col->is_int },
					err);
	}
	*out_frame = frame;
	return st;
}

static const char *glob_begin, *glob_end; /* scandir() passes no context */

static int glob_match(const struct dirent *entry)
{
	struct ws_str name = ws_str_from(entry->d_name);

	/* A pass may have left a trace beside its counters: <pass>_hip_api_trace.csv. */
	return ws_str_starts(name, glob_begin) && ws_str_ends(name, glob_end) &&
	       !ws_str_ends(name, "_trace.csv");
}

enum ws_status wl_load_glob(struct wl_workload *load, const char *dir, const char *begin,
			    const char *end, const char ***out_names, size_t *out_n,
			    struct ws_err *err)
{
	struct dirent **entries = NULL;
	const char **names;
	int n;

	glob_begin = begin;
	glob_end = end;
	n = scandir(dir, &entries, glob_match, versionsort);
	if (n < 0)
		return ws_fail_errno(err, errno, "cannot read the directory '%s'", dir);
	names = ws_arena_array(&load->arena, (size_t)n + 1, sizeof(*names));
	for (int i = 0; i < n; i++) {
		if (names)
			names[i] = ws_arena_strdup(&load->arena, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (!names || (n && !names[n - 1]))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	*out_names = names;
	*out_n = (size_t)n;
	return WS_OK;
}

static const double *column_at(const struct wl_frame *frame, const char *name)
{
	const struct wl_column *col = wl_frame_column(frame, name);

	return col && !col->is_text ? col->at : NULL;
}

/* Kernels by first appearance, and which one each row ran. */
static enum ws_status number_kernels(struct wl_workload *load, struct ws_err *err)
{
	const struct wl_column *names = wl_frame_column(load->frames[0], WL_COL_KERNEL);
	struct wl_dict *dict = &load->priv->kernels;
	uint32_t *kernel_of = ws_arena_array(&load->arena, load->n_rows + 1, sizeof(*kernel_of));
	uint32_t *number = ws_arena_array(&load->arena, dict->n + 1, sizeof(*number));
	struct wl_kernel_name *kernels =
		ws_arena_array(&load->arena, dict->n + 1, sizeof(*kernels));

	if (!names)
		return ws_fail(err, WS_E_FORMAT,
			       "'%s': the counter file has no column Kernel_Name: profile again",
			       load->path);
	if (!kernel_of || !number || !kernels)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t row = 0; row < load->n_rows; row++) {
		size_t text = (size_t)names->at[row];

		if (!number[text]) {
			kernels[load->n_kernels].name = dict->texts[text];
			kernels[load->n_kernels].shown =
				ws_shown_text(dict->texts[text], &load->arena);
			if (!kernels[load->n_kernels].shown)
				return ws_fail(err, WS_E_NOMEM, "out of memory");
			number[text] = (uint32_t)++load->n_kernels;
		}
		kernel_of[row] = number[text] - 1;
	}
	load->kernel_of = kernel_of;
	load->kernels = kernels;
	return WS_OK;
}

enum ws_status wl_load_finish(struct wl_workload *load, struct ws_err *err)
{
	struct wl_frame *main = load->frames[0];
	size_t n = main->n_rows;
	enum ws_status st;

	load->n_kernels = 0;
	for (size_t i = 1; i < load->n_frames; i++)
		n = WS_MIN(n, load->frames[i]->n_rows);
	load->n_rows_bad += main->n_rows - n;
	if (n < main->n_rows)
		ws_log_warn("%s: a level pass holds %zu dispatches, the counter passes %zu: the "
			    "rest is skipped, the report is partial",
			    load->path, n, main->n_rows);
	load->n_rows = n;
	if (!n)
		return ws_fail(err, WS_E_FORMAT,
			       "'%s' contains no dispatch: no kernel ran, or the filters of "
			       "profile excluded all",
			       load->path);
	if (n > UINT32_MAX)
		return ws_fail(err, WS_E_LIMIT, "'%s' contains more than 2^32 dispatches",
			       load->path);
	st = number_kernels(load, err);
	if (st)
		return st;
	load->start_ns = column_at(main, WL_COL_START);
	load->end_ns = column_at(main, WL_COL_END);
	load->gpu_id = column_at(main, WL_COL_GPU);
	load->dispatch_id = column_at(main, WL_COL_DISPATCH);
	if (!load->gpu_id && !(load->gpu_id = wl_load_column(load, n)))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!load->dispatch_id) {
		double *ids = wl_load_column(load, n);

		if (!ids)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t i = 0; i < n; i++)
			ids[i] = (double)i;
		load->dispatch_id = ids;
	}
	return WS_OK;
}

/* A row of the level pass should be the dispatch of that row of the counter passes. */
static void check_alignment(const struct wl_workload *load, const struct wl_frame *frame)
{
	const struct wl_column *a = wl_frame_column(load->frames[0], WL_COL_KERNEL);
	const struct wl_column *b = wl_frame_column(frame, WL_COL_KERNEL);
	size_t n = WS_MIN(load->frames[0]->n_rows, frame->n_rows);

	for (size_t i = 0; a && b && i < n; i++)
		if (a->at[i] != b->at[i]) {
			ws_log_warn("%s: row %zu of %s.csv is another kernel than that of "
				    "pmc_perf.csv: metrics that use both are unreliable",
				    load->path, i, frame->name);
			return;
		}
}

static enum ws_status add_level_frames(struct wl_workload *load, const char *dir,
				       struct ws_err *err)
{
	const char **names;
	enum ws_status st;
	size_t n;

	st = wl_load_glob(load, dir, WL_LEVEL_PREFIX, WL_CSV, &names, &n, err);
	for (size_t i = 0; !st && i < n; i++) {
		struct wl_frame *frame;
		struct wl_csv *csv;
		char *name = ws_arena_strndup(&load->arena, names[i], strlen(names[i]) - 4);

		st = name ? wl_load_csv(load, dir, names[i], &csv, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
		if (!st)
			st = wl_load_frame_from(load, name, csv, &frame, err);
		if (!st)
			check_alignment(load, frame);
	}
	return st;
}

static enum ws_status load_merged(struct wl_workload *load, const char *dir, enum trc_alike alike,
				  struct ws_err *err)
{
	struct wl_frame *frame;
	struct wl_csv *csv;
	enum ws_status st = wl_load_csv(load, dir, WL_FILE_MERGED, &csv, err);

	if (st)
		return st;
	if (wl_csv_column(csv, WL_COL_COUNTER)) {
		load->layout = WL_LAYOUT_LONG;
		return wl_load_pivot(load, &csv, 1, alike, err);
	}
	load->layout = WL_LAYOUT_MERGED;
	if (csv->n_rows && csv->n_rows_holed == csv->n_rows && !load->multiplexed)
		return ws_fail(err, WS_E_FORMAT,
			       "every row of '%s/pmc_perf.csv' has empty cells: the profile may be "
			       "damaged, profile again",
			       dir);
	st = wl_load_frame_from(load, WL_MERGED_NAME, csv, &frame, err);
	return st ? st : add_level_frames(load, dir, err);
}

static enum ws_status load_passes(struct wl_workload *load, const char *dir, const char *const *pmc,
				  size_t n_pmc, enum trc_alike alike, struct ws_err *err)
{
	const char **levels, **all;
	size_t n_levels;
	enum ws_status st =
		wl_load_glob(load, dir, WL_LEVEL_PREFIX, WL_CSV, &levels, &n_levels, err);

	if (st)
		return st;
	load->layout = WL_LAYOUT_PASSES;
	all = ws_arena_array(&load->arena, n_pmc + n_levels, sizeof(*all));
	if (!all)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	memcpy(all, pmc, n_pmc * sizeof(*all));
	if (n_levels)
		memcpy(all + n_pmc, levels, n_levels * sizeof(*all));
	return wl_load_join(load, dir, all, n_pmc + n_levels, alike, err);
}

static enum ws_status load_results(struct wl_workload *load, const char *dir,
				   const char *const *names, size_t n, enum trc_alike alike,
				   struct ws_err *err)
{
	struct wl_csv **csvs = ws_arena_array(&load->arena, n, sizeof(*csvs));
	enum ws_status st = WS_OK;

	load->layout = WL_LAYOUT_RESULTS;
	if (!csvs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; !st && i < n; i++)
		st = wl_load_csv(load, dir, names[i], &csvs[i], err);
	return st ? st : wl_load_pivot(load, csvs, n, alike, err);
}

enum ws_status wl_load_layout(struct wl_workload *load, const char *dir,
			      const struct wl_workload_how *how, struct ws_err *err)
{
	bool by_kernel = how->join ? strcmp(how->join, "kernel") == 0 : load->by_kernel;
	enum trc_alike alike = by_kernel ? TRC_ALIKE_KERNEL : TRC_ALIKE_GRID;
	char path[PATH_MAX];
	const char **names;
	enum ws_status st = ws_path_join(dir, WL_FILE_MERGED, path, err);
	size_t n = 0;

	if (!st && ws_path_exists(path)) {
		st = load_merged(load, dir, alike, err);
	} else if (!st) {
		st = wl_load_glob(load, dir, WL_PASS_PREFIX, WL_CSV, &names, &n, err);
		if (!st && n)
			st = load_passes(load, dir, names, n, alike, err);
		else if (!st)
			st = wl_load_glob(load, dir, WL_LONG_PREFIX, WL_CSV, &names, &n, err);
		if (!st && n && !load->n_frames)
			st = load_results(load, dir, names, n, alike, err);
	}
	if (st || !load->n_frames)
		return st;
	st = wl_load_finish(load, err);
	if (!st && load->multiplexed)
		st = wl_load_fill(load, err);
	return st;
}
