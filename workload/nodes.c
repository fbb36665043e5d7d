/*
 * Several directories as one workload: the nodes of a job one after the other, or, with
 * spatial multiplexing, merged kernel by kernel, for there each node counted other things.
 */
#include "workload/workload_priv.h"

#include "base/fold.h"
#include "base/path.h"
#include "workload/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct nodes {
	struct wl_workload *load;
	struct wl_workload **parts;
	size_t n;
	struct ws_err *err;
};

/* A column over all nodes; a node that lacks it has empty cells. */
static double *concatenate(struct nodes *s, const char *frame_name, const char *name)
{
	double *at = wl_load_column(s->load, s->load->n_rows);
	size_t row = 0;

	for (size_t p = 0; at && p < s->n; p++) {
		const struct wl_workload *part = s->parts[p];
		const struct wl_frame *frame = wl_workload_frame(part, frame_name);
		const struct wl_column *col = frame ? wl_frame_column(frame, name) : NULL;

		for (size_t i = 0; i < part->n_rows; i++, row++)
			at[row] = col && !col->is_text ? col->at[i] : NAN;
	}
	return at;
}

static enum ws_status kernel_column(struct nodes *s, struct wl_frame *frame)
{
	double *at = wl_load_column(s->load, s->load->n_rows);
	size_t row = 0;

	for (size_t p = 0; at && p < s->n; p++)
		for (size_t i = 0; i < s->parts[p]->n_rows; i++) {
			const struct wl_workload *part = s->parts[p];
			size_t text =
				wl_dict_add(&s->load->priv->kernels,
					    ws_str_from(part->kernels[part->kernel_of[i]].name));

			if (text == SIZE_MAX)
				return ws_fail(s->err, WS_E_NOMEM, "out of memory");
			at[row++] = (double)text;
		}
	if (!at)
		return ws_fail(s->err, WS_E_NOMEM, "out of memory");
	return wl_load_add_column(
		frame, (struct wl_column){ .name = WL_COL_KERNEL, .at = at, .is_text = true },
		s->err);
}

static enum ws_status add_frame(struct nodes *s, const char *name)
{
	size_t room = 1;
	struct wl_frame *frame;
	enum ws_status st;

	for (size_t p = 0; p < s->n; p++) {
		const struct wl_frame *own = wl_workload_frame(s->parts[p], name);

		room += own ? own->n_columns : 0;
	}
	frame = wl_load_frame(s->load, name, s->load->n_rows, room, s->err);
	if (!frame)
		return WS_E_NOMEM;
	st = kernel_column(s, frame);
	for (size_t p = 0; !st && p < s->n; p++) {
		const struct wl_frame *own = wl_workload_frame(s->parts[p], name);

		for (size_t c = 0; own && !st && c < own->n_columns; c++) {
			const char *column = ws_arena_strdup(&s->load->arena, own->columns[c].name);
			struct wl_column made = { .name = column };

			if (own->columns[c].is_text || !column || wl_frame_column(frame, column))
				continue;
			made.at = concatenate(s, name, column);
			st = made.at ? wl_load_add_column(frame, made, s->err)
				     : ws_fail(s->err, WS_E_NOMEM, "out of memory");
		}
	}
	return st;
}

static enum ws_status name_nodes(struct nodes *s, const char *const *names)
{
	const char **kept = ws_arena_array(&s->load->arena, s->n, sizeof(*kept));
	uint32_t *node_of = ws_arena_array(&s->load->arena, s->load->n_rows + 1, sizeof(*node_of));
	size_t row = 0;

	if (!kept || !node_of)
		return ws_fail(s->err, WS_E_NOMEM, "out of memory");
	for (size_t p = 0; p < s->n; p++) {
		kept[p] = ws_arena_strdup(&s->load->arena, names[p]);
		if (!kept[p])
			return ws_fail(s->err, WS_E_NOMEM, "out of memory");
		for (size_t i = 0; i < s->parts[p]->n_rows; i++)
			node_of[row++] = (uint32_t)p;
	}
	s->load->nodes = kept;
	s->load->n_nodes = s->n;
	s->load->node_of = node_of;
	return WS_OK;
}

/* Spatial multiplexing: kernels by how often they ran, one row each. */

static enum ws_status order_kernels(const struct wl_workload *load, uint32_t *order, size_t *counts,
				    struct ws_err *err)
{
	for (size_t i = 0; i < load->n_rows; i++)
		counts[load->kernel_of[i]]++;
	for (uint32_t k = 0; k < load->n_kernels; k++) {
		size_t at = k;

		for (; at > 0 && counts[order[at - 1]] < counts[k]; at--)
			order[at] = order[at - 1];
		order[at] = k;
	}
	return WS_OK;
}

/* First non-empty value of each kernel; times are the median start and duration. */
static enum ws_status merge_frame(struct wl_workload *load, struct wl_frame *frame,
				  const uint32_t *order, struct ws_err *err)
{
	size_t n = load->n_kernels;
	double *values = malloc((load->n_rows + 1) * sizeof(*values));
	double *start = wl_load_column(load, n), *end = wl_load_column(load, n);

	if (!values || !start || !end) {
		free(values);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	for (size_t k = 0; k < n; k++) {
		size_t count = 0;

		for (size_t i = 0; load->start_ns && load->end_ns && i < load->n_rows; i++)
			if (load->kernel_of[i] == order[k])
				values[count++] = load->start_ns[i];
		start[k] = ws_fold_quantile(values, ws_fold_pack(values, count), 0.5);
		count = 0;
		for (size_t i = 0; load->start_ns && load->end_ns && i < load->n_rows; i++)
			if (load->kernel_of[i] == order[k])
				values[count++] = load->end_ns[i] - load->start_ns[i];
		end[k] = start[k] + ws_fold_quantile(values, ws_fold_pack(values, count), 0.5);
	}
	free(values);
	for (size_t c = 0; c < frame->n_columns; c++) {
		struct wl_column *col = &frame->columns[c];
		double *at = wl_load_column(load, n);

		if (!at)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t k = 0; k < n; k++) {
			at[k] = NAN;
			for (size_t i = 0; isnan(at[k]) && i < load->n_rows; i++)
				if (load->kernel_of[i] == order[k])
					at[k] = col->at[i];
		}
		col->at = strcmp(col->name, WL_COL_START) == 0 ? start
			  : strcmp(col->name, WL_COL_END) == 0 ? end
							       : at;
	}
	frame->n_rows = n;
	return WS_OK;
}

static enum ws_status merge_spatial(struct wl_workload *load, struct ws_err *err)
{
	uint32_t *order = calloc(load->n_kernels + 1, sizeof(*order));
	size_t *counts = calloc(load->n_kernels + 1, sizeof(*counts));
	enum ws_status st = order && counts ? order_kernels(load, order, counts, err)
					    : ws_fail(err, WS_E_NOMEM, "out of memory");

	for (size_t f = 0; !st && f < load->n_frames; f++)
		st = merge_frame(load, load->frames[f], order, err);
	free(order);
	free(counts);
	if (st)
		return st;
	load->node_of = NULL;
	load->n_kernels = 0;
	st = wl_load_finish(load, err);
	return st;
}

static enum ws_status same_arch(struct nodes *s, const char *const *names)
{
	for (size_t p = 1; p < s->n; p++)
		if (strcmp(s->parts[p]->arch, s->parts[0]->arch) != 0)
			return ws_fail(s->err, WS_E_UNSUPPORTED,
				       "node '%s' is %s and node '%s' is %s: nodes of one "
				       "architecture can "
				       "be analysed together, choose them with --nodes",
				       names[0], s->parts[0]->arch, names[p], s->parts[p]->arch);
	return WS_OK;
}

enum ws_status wl_load_nodes(struct wl_workload *load, const char *dir, const char *const *names,
			     size_t n, const struct wl_workload_how *how, struct ws_err *err)
{
	struct wl_workload_how plain = *how;
	struct nodes s = { .load = load, .n = n, .err = err };
	enum ws_status st = WS_OK;
	char path[PATH_MAX];

	plain.nodes = NULL;
	plain.n_nodes = 0;
	plain.by_nodes = plain.spatial = false;
	plain.kernel_verbose = 5;
	s.parts = calloc(n + 1, sizeof(*s.parts));
	if (!s.parts)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t p = 0; !st && p < n; p++) {
		st = ws_path_join(dir, names[p], path, err);
		if (!st)
			st = wl_workload_open(path, &plain, &s.parts[p], err);
	}
	if (!st)
		st = same_arch(&s, names);
	for (size_t p = 0; !st && p < n; p++) {
		load->n_rows += s.parts[p]->n_rows;
		load->n_rows_bad += s.parts[p]->n_rows_bad;
	}
	load->layout = st ? 0 : s.parts[0]->layout;
	for (size_t f = 0; !st && f < s.parts[0]->n_frames; f++) {
		char *name = ws_arena_strdup(&load->arena, s.parts[0]->frames[f]->name);

		st = name ? add_frame(&s, name) : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!st)
		st = name_nodes(&s, names);
	if (!st)
		st = wl_load_finish(load, err);
	if (!st && how->spatial)
		st = merge_spatial(load, err);
	for (size_t p = 0; p < n; p++)
		wl_workload_close(s.parts[p]);
	free(s.parts);
	return st;
}
