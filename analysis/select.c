/* Choosing dispatches, and the kernels by time. */
#include "analysis/select.h"
#include "workload/workload.h"

#include "base/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ana_selection_fini(struct ana_selection *sel)
{
	free(sel->rows);
	*sel = (struct ana_selection){ 0 };
}

static enum ws_status take_all(const struct wl_workload *load, struct ana_selection *sel,
			       struct ws_err *err)
{
	sel->rows = malloc(WS_MAX(load->n_rows, (size_t)1) * sizeof(*sel->rows));
	if (!sel->rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < load->n_rows; i++)
		sel->rows[i] = (uint32_t)i;
	sel->n = load->n_rows;
	return WS_OK;
}

static enum ws_status copy(const struct ana_selection *from, struct ana_selection *to,
			   struct ws_err *err)
{
	to->rows = malloc(WS_MAX(from->n, (size_t)1) * sizeof(*to->rows));
	if (!to->rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	memcpy(to->rows, from->rows, from->n * sizeof(*to->rows));
	to->n = from->n;
	return WS_OK;
}

/* GPU ids are compared as texts: "02" is not "2". */
static enum ws_status keep_gpus(const struct wl_workload *load, const struct ana_filter *filter,
				struct ana_selection *sel, struct ws_err *err)
{
	size_t kept = 0;

	if (!filter->n_gpu_ids)
		return WS_OK;
	for (size_t i = 0; i < sel->n; i++) {
		char text[32];
		bool keep = false;

		snprintf(text, sizeof(text), "%.0f", load->gpu_id[sel->rows[i]]);
		for (size_t g = 0; g < filter->n_gpu_ids; g++)
			keep |= strcmp(text, filter->gpu_ids[g]) == 0;
		if (keep)
			sel->rows[kept++] = sel->rows[i];
	}
	if (!kept)
		return ws_fail(err, WS_E_NOTFOUND,
			       "%s is an invalid gpu-id: '%s' was recorded on GPU %.0f",
			       filter->gpu_ids[0], load->path,
			       load->n_rows ? load->gpu_id[0] : 0.0);
	sel->n = kept;
	return WS_OK;
}

static enum ws_status chosen_kernels(const struct wl_workload *load,
				     const struct ana_filter *filter,
				     const struct ana_selection *sel, bool *chosen,
				     struct ws_err *err)
{
	struct ana_kernel_stat *stats;
	struct ws_arena arena;
	enum ws_status st;
	size_t n;

	ws_arena_init(&arena, SIZE_MAX);
	st = ana_top_kernels(load, sel, &arena, &stats, &n, err);
	for (size_t i = 0; !st && i < filter->n_kernels; i++) {
		uint64_t id;

		if (!ws_str_u64(ws_str_from(filter->kernels[i]), &id) || id >= n)
			st = ws_fail(err, WS_E_NOTFOUND,
				     "%s is an invalid kernel id. Please enter an id between 0-%zu",
				     filter->kernels[i], n ? n - 1 : 0);
		else
			chosen[stats[id].kernel] = true;
	}
	ws_arena_fini(&arena);
	return st;
}

/* Kernel ids are rows of the top-kernel table, which is made of @listed. */
static enum ws_status keep_kernels(const struct wl_workload *load, const struct ana_filter *filter,
				   const struct ana_selection *listed, struct ana_selection *sel,
				   struct ws_err *err)
{
	bool *chosen, *torch;
	enum ws_status st = WS_OK;
	size_t kept = 0;

	if (!filter->n_kernels && !filter->by_kernel_set)
		return WS_OK;
	chosen = calloc(load->n_kernels * 2 + 1, sizeof(*chosen));
	if (!chosen)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	torch = chosen + load->n_kernels;
	if (filter->n_kernels)
		st = chosen_kernels(load, filter, listed, chosen, err);
	for (size_t i = 0; i < filter->n_kernel_set; i++)
		torch[filter->kernel_set[i]] = true;
	for (size_t i = 0; !st && i < sel->n; i++) {
		uint32_t kernel = load->kernel_of[sel->rows[i]];

		if ((!filter->n_kernels || chosen[kernel]) &&
		    (!filter->by_kernel_set || torch[kernel]))
			sel->rows[kept++] = sel->rows[i];
	}
	free(chosen);
	if (!st)
		sel->n = kept;
	return st;
}

/* "3", ">3", "> 3": a row label, or all dispatches with a greater id. */
static enum ws_status keep_dispatches(const struct wl_workload *load,
				      const struct ana_filter *filter, struct ana_selection *sel,
				      bool by_id, struct ws_err *err)
{
	uint8_t *keep;
	enum ws_status st = WS_OK;
	size_t kept = 0;

	if (!filter->n_dispatches)
		return WS_OK;
	keep = calloc(load->n_rows + 1, 1);
	if (!keep)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t d = 0; !st && d < filter->n_dispatches; d++) {
		struct ws_str text = ws_str_trim(ws_str_from(filter->dispatches[d]));
		bool above = text.n && text.at[0] == '>';
		uint64_t id;

		if (above)
			text = ws_str_trim((struct ws_str){ text.at + 1, text.n - 1 });
		if (!text.n && above && d + 1 < filter->n_dispatches)
			text = ws_str_from(filter->dispatches[++d]);
		if (!ws_str_u64(text, &id) || (!above && id >= sel->n && !by_id) ||
		    (!above && !by_id && id >= load->n_rows)) {
			st = ws_fail(err, WS_E_NOTFOUND,
				     "%.*s is an invalid dispatch id.: there are %zu, from 0",
				     WS_STR_ARGS(text), sel->n);
			break;
		}
		for (size_t i = 0; i < sel->n; i++) {
			uint32_t row = sel->rows[i];
			double own = by_id || above ? load->dispatch_id[row] : (double)row;

			if (above ? own > (double)id : own == (double)id)
				keep[row] = 1;
		}
		if (!above && !by_id && !keep[id])
			st = ws_fail(err, WS_E_NOTFOUND,
				     "dispatch %llu is excluded by the other filters: choose "
				     "another or remove a filter",
				     (unsigned long long)id);
	}
	for (size_t i = 0; !st && i < sel->n; i++)
		if (keep[sel->rows[i]])
			sel->rows[kept++] = sel->rows[i];
	free(keep);
	if (!st)
		sel->n = kept;
	return st;
}

enum ws_status ana_select_rows(const struct wl_workload *load, const struct ana_filter *filter,
			       struct ana_selection *out_rows, struct ana_selection *out_listed,
			       struct ws_err *err)
{
	struct ana_selection rows = { 0 }, listed = { 0 };
	enum ws_status st = take_all(load, &rows, err);

	if (!st)
		st = keep_gpus(load, filter, &rows, err);
	if (!st)
		st = copy(&rows, &listed, err);
	if (!st)
		st = keep_dispatches(load, filter, &listed, true, err);
	if (!st)
		st = keep_kernels(load, filter, &listed, &rows, err);
	if (!st)
		st = keep_dispatches(load, filter, &rows, false, err);
	if (!st && !rows.n)
		st = ws_fail(
			err, WS_E_NOTFOUND,
			"no dispatch left after filtering '%s': --list-stats lists the dispatches",
			load->path);
	if (st) {
		ana_selection_fini(&rows);
		ana_selection_fini(&listed);
		return st;
	}
	rows.all = rows.n == load->n_rows;
	listed.all = listed.n == load->n_rows;
	*out_rows = rows;
	*out_listed = listed;
	return WS_OK;
}

static const struct wl_workload *sort_load; /* qsort() passes no context */

static int by_time(const void *a, const void *b)
{
	const struct ana_kernel_stat *x = a, *y = b;

	if (x->sum_ns > y->sum_ns)
		return -1;
	if (x->sum_ns < y->sum_ns)
		return 1;
	return strcmp(sort_load->kernels[x->kernel].shown, sort_load->kernels[y->kernel].shown);
}

/* Durations of the choice, kernel after kernel; first[k] is where kernel k begins. */
static void spread(const struct wl_workload *load, const struct ana_selection *sel, size_t *first,
		   double *spans)
{
	for (size_t i = 0; i < sel->n; i++)
		first[load->kernel_of[sel->rows[i]] + 2]++;
	for (size_t k = 2; k <= load->n_kernels; k++)
		first[k] += first[k - 1];
	for (size_t i = 0; i < sel->n; i++) {
		uint32_t row = sel->rows[i];

		spans[first[load->kernel_of[row] + 1]++] =
			load->start_ns && load->end_ns ? load->end_ns[row] - load->start_ns[row]
						       : NAN;
	}
}

enum ws_status ana_top_kernels(const struct wl_workload *load, const struct ana_selection *sel,
			       struct ws_arena *arena, struct ana_kernel_stat **out_stats,
			       size_t *out_n, struct ws_err *err)
{
	struct ana_kernel_stat *stats = ws_arena_array(arena, load->n_kernels + 1, sizeof(*stats));
	size_t *first = calloc(load->n_kernels + 3, sizeof(*first)), n = 0;
	double *spans = malloc((sel->n + 1) * sizeof(*spans)), total = 0;

	if (!stats || !first || !spans) {
		free(first);
		free(spans);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	spread(load, sel, first, spans);
	for (uint32_t k = 0; k < load->n_kernels; k++) {
		double *at = spans + first[k];
		size_t count = first[k + 1] - first[k];
		struct ws_fold fold = ws_fold_values(at, count);

		if (!count)
			continue;
		stats[n] = (struct ana_kernel_stat){ .kernel = k, .n = count, .sum_ns = fold.sum };
		stats[n].mean_ns = ws_fold_mean(&fold);
		stats[n].median_ns = ws_fold_quantile(at, ws_fold_pack(at, count), 0.5);
		total += fold.n ? fold.sum : 0;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		stats[i].percent = stats[i].sum_ns / total * 100;
	sort_load = load;
	qsort(stats, n, sizeof(*stats), by_time);
	free(first);
	free(spans);
	*out_stats = stats;
	*out_n = n;
	return WS_OK;
}
