/*
 * Passes of one program, one file each, joined dispatch by dispatch (trace/dispatch_match.h).
 */
#include "workload/workload_priv.h"

#include "base/log.h"
#include "workload/launch_columns.h"
#include "workload/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

/* Columns of a pass that say nothing once passes are joined. */
static const char *const dropped[] = { WL_COL_QUEUE, "Queue_Index", WL_COL_PID,    WL_COL_TID,
				       "SIG",        "OBJ",         "sig",         "queue-id",
				       "pid",        "queue-index", "tid",         "fbar",
				       "DispatchNs", "CompleteNs",  "HostDuration" };

/* Descriptions that should not change from pass to pass. */
static const char *const constant[] = { WL_COL_GPU,       WL_COL_GRID,      WL_COL_WORKGROUP,
					WL_COL_SGPR,      WL_COL_LDS,       WL_COL_SCRATCH,
					WL_COL_ARCH_VGPR, WL_COL_ACCUM_VGPR };

struct pass {
	struct wl_csv *csv;
	const char *name; /* without .csv */
	uint32_t *row_of; /* row of the joined frame to row of this pass */
	bool straight;    /* row_of[i] == i */
	struct wl_launch_columns launches;
};

static bool is_dropped(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(dropped); i++)
		if (strncmp(name, dropped[i], strlen(dropped[i])) == 0)
			return true;
	return false;
}

/* The first pass decides which dispatches there are. */
static enum ws_status add_first(struct trc_match *match, const struct pass *pass,
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < pass->csv->n_rows; i++) {
		struct trc_launch launch = wl_launch_of_file(&pass->launches, i);
		uint32_t kind;

		st = trc_match_kind(match, &launch, &kind, err);
		if (!st)
			st = trc_match_add(match, kind, err);
	}
	return st;
}

/* Where each dispatch of the first pass is in @pass. */
static enum ws_status match_pass(struct trc_match *match, size_t n_first, struct pass *pass,
				 struct ws_arena *arena, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	pass->row_of = ws_arena_array(arena, n_first + 1, sizeof(*pass->row_of));
	if (!pass->row_of)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n_first; i++)
		pass->row_of[i] = NO_ROW;
	trc_match_rewind(match);
	for (size_t i = 0; !st && i < pass->csv->n_rows; i++) {
		struct trc_launch launch = wl_launch_of_file(&pass->launches, i);
		uint32_t kind;
		size_t row;

		st = trc_match_kind(match, &launch, &kind, err);
		row = st ? TRC_NO_ROW : trc_match_take(match, kind);
		if (row != TRC_NO_ROW)
			pass->row_of[row] = (uint32_t)i;
	}
	pass->straight = !st;
	for (size_t i = 0; pass->straight && i < n_first; i++)
		pass->straight = pass->row_of[i] == i;
	return st;
}

static enum ws_status open_pass(struct wl_workload *load, const char *dir, const char *name,
				struct pass *pass, struct ws_err *err)
{
	enum ws_status st = wl_load_csv(load, dir, name, &pass->csv, err);

	if (st)
		return st;
	pass->name = ws_arena_strndup(&load->arena, name, strlen(name) - strlen(WL_CSV));
	pass->launches = wl_launch_columns_of_csv(pass->csv);
	if (!pass->name)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!pass->launches.kernel)
		return ws_fail(err, WS_E_FORMAT,
			       "'%s/%s' has no column " WL_COL_KERNEL ": profile again", dir, name);
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
		if (!own &&
		    (strcmp(col->name, WL_COL_START) == 0 || strcmp(col->name, WL_COL_END) == 0 ||
		     strcmp(col->name, WL_COL_ACCUM) == 0))
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
			    size_t n_names, enum trc_alike alike, struct ws_err *err)
{
	struct pass *passes = ws_arena_array(&load->arena, n_names, sizeof(*passes));
	struct wl_frame *frame = NULL, *own;
	struct trc_match match;
	size_t n = 0, n_first, n_columns = 2;
	enum ws_status st = passes ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");

	for (size_t p = 0; !st && p < n_names; p++) {
		st = open_pass(load, dir, names[p], &passes[p], err);
		n_columns += st ? 0 : passes[p].csv->n_columns;
	}
	trc_match_init(&match, alike);
	if (!st) {
		n = passes[0].csv->n_rows;
		st = add_first(&match, &passes[0], err);
	}
	for (size_t p = 0; !st && p < n_names; p++)
		st = match_pass(&match, n, &passes[p], &load->arena, err);
	trc_match_fini(&match);
	if (st)
		return st;
	n_first = n;
	n = keep_common(passes, n_names, n);
	load->n_rows_bad += n_first - n;
	if (n < n_first)
		ws_log_warn("%s: %zu of %zu dispatches are not in every pass and were left out",
			    load->path, n_first - n, n_first);
	frame = wl_load_frame(load, WL_MERGED_NAME, n, n_columns, err);
	if (!frame)
		return WS_E_NOMEM;
	for (size_t p = 0; !st && p < n_names; p++) {
		st = add_columns(load, frame, &passes[p], false, err);
		if (!st && p)
			warn_differing(load, frame, &passes[p]);
	}
	if (!st)
		st = add_mean_time(load, frame, passes, n_names, WL_COL_START, err);
	if (!st)
		st = add_mean_time(load, frame, passes, n_names, WL_COL_END, err);
	for (size_t p = 0; !st && p < n_names; p++) {
		if (strncmp(passes[p].name, "SQ", 2) != 0)
			continue;
		own = wl_load_frame(load, passes[p].name, n, passes[p].csv->n_columns, err);
		st = own ? add_columns(load, own, &passes[p], true, err) : WS_E_NOMEM;
	}
	return st;
}
