/*
 * Passes of one program, one file each, joined dispatch by dispatch: the k-th launch of
 * a kernel (with a grid) in one pass is the k-th launch of it in the others.
 */
#include "workload/workload_priv.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

/* Columns of a pass that say nothing once passes are joined. */
static const char *const dropped[] = { "Queue_ID",   "Queue_Index", "PID",         "TID",
				       "SIG",        "OBJ",         "sig",         "queue-id",
				       "pid",        "queue-index", "tid",         "fbar",
				       "DispatchNs", "CompleteNs",  "HostDuration" };

/* Descriptions that should not change from pass to pass. */
static const char *const constant[] = { "GPU_ID",    "Grid_Size",         "Workgroup_Size",
					"SGPR",      "LDS_Per_Workgroup", "Scratch_Per_Workitem",
					"Arch_VGPR", "Accum_VGPR" };

struct pass {
	struct wl_csv *csv;
	const char *name;     /* without .csv */
	uint32_t *row_of;     /* row of the joined frame to row of this pass */
	bool straight;        /* row_of[i] == i */
	const double *kernel; /* numbers of the dictionary */
	const double *grid;   /* NULL: not part of the key */
};

static bool is_dropped(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(dropped); i++)
		if (strncmp(name, dropped[i], strlen(dropped[i])) == 0)
			return true;
	return false;
}

struct key {
	double kernel, grid;
	uint64_t ordinal;
};

static struct ws_str key_text(const struct key *key)
{
	return (struct ws_str){ (const char *)key, sizeof(*key) };
}

/* Number the launches of each kernel (and grid) of a pass: 0, 1, 2, ... */
static enum ws_status number_launches(const struct pass *pass, struct key *keys, struct ws_err *err)
{
	struct ws_map seen;
	enum ws_status st = WS_OK;

	ws_map_init(&seen, WS_MAP_STR, (1u << 31) - 1);
	for (size_t i = 0; !st && i < pass->csv->n_rows; i++) {
		struct ws_map_entry *entry;

		/* The key's own bytes serve as the map's: ordinal 0 while it is looked up. */
		memset(&keys[i], 0, sizeof(keys[i]));
		keys[i].kernel = pass->kernel[i];
		keys[i].grid = pass->grid ? pass->grid[i] : 0;
		entry = ws_map_find(&seen, key_text(&keys[i]));
		if (!entry) {
			st = ws_map_put(&seen, key_text(&keys[i]), (void *)(uintptr_t)1, err);
			continue;
		}
		keys[i].ordinal = (uint64_t)(uintptr_t)entry->value;
		entry->value = (void *)(uintptr_t)(keys[i].ordinal + 1);
	}
	ws_map_fini(&seen);
	return st;
}

/* Where each launch of @first is in @pass. */
static enum ws_status match(const struct key *first, size_t n_first, struct pass *pass,
			    struct ws_arena *arena, struct ws_err *err)
{
	size_t n = pass->csv->n_rows;
	struct key *keys = calloc(n + 1, sizeof(*keys));
	struct ws_map rows;
	enum ws_status st;

	pass->row_of = ws_arena_array(arena, n_first + 1, sizeof(*pass->row_of));
	if (!keys || !pass->row_of) {
		free(keys);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_map_init(&rows, WS_MAP_STR, (1u << 31) - 1);
	st = number_launches(pass, keys, err);
	pass->straight = n >= n_first;
	for (size_t i = 0; pass->straight && i < n_first; i++)
		pass->straight = memcmp(&keys[i], &first[i], sizeof(*keys)) == 0;
	/* The usual case needs no map: the program did the same in the same order. */
	for (size_t i = 0; !st && !pass->straight && i < n; i++)
		st = ws_map_put(&rows, key_text(&keys[i]), (void *)(uintptr_t)i, err);
	for (size_t i = 0; !st && i < n_first; i++) {
		struct ws_map_entry *entry =
			pass->straight ? NULL : ws_map_find(&rows, key_text(&first[i]));

		pass->row_of[i] = pass->straight ? (uint32_t)i
				  : entry        ? (uint32_t)(uintptr_t)entry->value
						 : NO_ROW;
	}
	ws_map_fini(&rows);
	free(keys);
	return st;
}

static enum ws_status open_pass(struct wl_workload *load, const char *dir, const char *name,
				bool by_grid, struct pass *pass, struct ws_err *err)
{
	const struct wl_csv_column *kernel, *grid;
	enum ws_status st = wl_load_csv(load, dir, name, &pass->csv, err);

	if (st)
		return st;
	pass->name = ws_arena_strndup(&load->arena, name, strlen(name) - 4);
	kernel = wl_csv_column(pass->csv, "Kernel_Name");
	grid = wl_csv_column(pass->csv, "Grid_Size");
	if (!pass->name)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!kernel)
		return ws_fail(err, WS_E_FORMAT, "'%s/%s' has no column Kernel_Name: profile again",
			       dir, name);
	pass->kernel = kernel->at;
	pass->grid = by_grid && grid ? grid->at : NULL;
	return WS_OK;
}

/* Drop the launches that some pass lacks; what is left keeps the order of the first. */
static size_t keep_common(struct pass *passes, size_t n_passes, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool all = true;

		for (size_t p = 0; p < n_passes; p++)
			all &= passes[p].row_of[i] != NO_ROW;
		if (!all)
			continue;
		for (size_t p = 0; p < n_passes; p++)
			passes[p].row_of[kept] = passes[p].row_of[i];
		kept++;
	}
	if (kept < n)
		for (size_t p = 0; p < n_passes; p++)
			passes[p].straight = false;
	return kept;
}

static const double *in_order(struct wl_workload *load, const struct pass *pass,
			      const struct wl_csv_column *col, size_t n)
{
	double *at;

	if (pass->straight)
		return col->at;
	at = wl_load_column(load, n);
	for (size_t i = 0; at && i < n; i++) {
		double value = col->at[pass->row_of[i]];

		if (value != 0)
			at[i] = value;
	}
	return at;
}

static enum ws_status add_columns(struct wl_workload *load, struct wl_frame *frame,
				  const struct pass *pass, bool own, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t c = 0; !st && c < pass->csv->n_columns; c++) {
		const struct wl_csv_column *col = &pass->csv->columns[c];
		struct wl_column made = { .name = col->name,
					  .is_int = col->is_int,
					  .is_text = col->is_text || col->is_dict };

		if (is_dropped(col->name) || wl_frame_column(frame, col->name))
			continue;
		/*
		 * Times of the joined frame are means over the passes, added later. The sum of
		 * a level means nothing without its pass: any one would pass for all of them.
		 */
		if (!own && (strcmp(col->name, "Start_Timestamp") == 0 ||
			     strcmp(col->name, "End_Timestamp") == 0 ||
			     strcmp(col->name, "SQ_ACCUM_PREV_HIRES") == 0))
			continue;
		made.at = in_order(load, pass, col, frame->n_rows);
		st = made.at ? wl_load_add_column(frame, made, err)
			     : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	return st;
}

static enum ws_status add_mean_time(struct wl_workload *load, struct wl_frame *frame,
				    const struct pass *passes, size_t n_passes, const char *name,
				    struct ws_err *err)
{
	double *mean = wl_load_column(load, frame->n_rows);
	size_t n = 0;

	if (!mean)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t p = 0; p < n_passes; p++) {
		const struct wl_csv_column *col = wl_csv_column(passes[p].csv, name);

		for (size_t i = 0; col && i < frame->n_rows; i++)
			mean[i] += col->at[passes[p].row_of[i]];
		n += col != NULL;
	}
	if (!n)
		return WS_OK;
	for (size_t i = 0; i < frame->n_rows; i++)
		mean[i] /= (double)n;
	return wl_load_add_column(frame, (struct wl_column){ .name = name, .at = mean }, err);
}

static void warn_differing(const struct wl_workload *load, const struct wl_frame *frame,
			   const struct pass *pass)
{
	for (size_t c = 0; c < WS_ARRAY_LEN(constant); c++) {
		const struct wl_column *a = wl_frame_column(frame, constant[c]);
		const struct wl_csv_column *b = wl_csv_column(pass->csv, constant[c]);

		for (size_t i = 0; a && b && i < frame->n_rows; i++)
			if (a->at[i] != b->at[pass->row_of[i]]) {
				ws_log_warn("%s: %s differs between passes (%s, dispatch %zu): the "
					    "passes "
					    "may not have run the same work",
					    load->path, constant[c], pass->name, i);
				break;
			}
	}
}

enum ws_status wl_load_join(struct wl_workload *load, const char *dir, const char *const *names,
			    size_t n_names, bool by_grid, struct ws_err *err)
{
	struct pass *passes = ws_arena_array(&load->arena, n_names, sizeof(*passes));
	struct wl_frame *frame = NULL, *own;
	struct key *keys = NULL;
	size_t n = 0, n_first, n_columns = 2;
	enum ws_status st = passes ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");

	for (size_t p = 0; !st && p < n_names; p++) {
		st = open_pass(load, dir, names[p], by_grid, &passes[p], err);
		n_columns += st ? 0 : passes[p].csv->n_columns;
	}
	if (!st) {
		n = passes[0].csv->n_rows;
		keys = calloc(n + 1, sizeof(*keys));
		st = keys ? number_launches(&passes[0], keys, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	for (size_t p = 0; !st && p < n_names; p++)
		st = match(keys, n, &passes[p], &load->arena, err);
	free(keys);
	if (st)
		return st;
	n_first = n;
	n = keep_common(passes, n_names, n);
	load->n_rows_bad += n_first - n;
	if (n < n_first)
		ws_log_warn("%s: %zu of %zu dispatches are not in every pass and were left out",
			    load->path, n_first - n, n_first);
	frame = wl_load_frame(load, "pmc_perf", n, n_columns, err);
	if (!frame)
		return WS_E_NOMEM;
	for (size_t p = 0; !st && p < n_names; p++) {
		st = add_columns(load, frame, &passes[p], false, err);
		if (!st && p)
			warn_differing(load, frame, &passes[p]);
	}
	if (!st)
		st = add_mean_time(load, frame, passes, n_names, "Start_Timestamp", err);
	if (!st)
		st = add_mean_time(load, frame, passes, n_names, "End_Timestamp", err);
	for (size_t p = 0; !st && p < n_names; p++) {
		if (strncmp(passes[p].name, "SQ", 2) != 0)
			continue;
		own = wl_load_frame(load, passes[p].name, n, passes[p].csv->n_columns, err);
		st = own ? add_columns(load, own, &passes[p], true, err) : WS_E_NOMEM;
	}
	return st;
}
