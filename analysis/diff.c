#include "analysis/diff.h"

#include "analysis/diff_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that repeat what others have: the memory chart and the roofline. */
#define REPEATS(block) ((block) == 3 || (block) == 4)

int ana_metric_main_header(const struct ana_table *table)
{
	static const char *const names[] = { "Avg", "Value", "Median" };

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		int at = ana_header_index(table, names[i]);

		if (at >= 0)
			return at;
	}
	for (size_t i = 0; i < table->n_headers; i++)
		if (table->headers[i].kind == ANA_HEADER_VALUE)
			return (int)i;
	return -1;
}

/* ---- the dispatches of one kernel, on both sides ---- */

static uint32_t kernel_index(const struct wl_workload *load, const char *name)
{
	for (size_t i = 0; i < load->n_kernels; i++)
		if (!strcmp(load->kernels[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

enum ws_status ana_pair_open(const struct ana_diff_side *a, const struct ana_diff_side *b,
			     const struct ana_diff_how *how, const char *kernel,
			     struct ana_pair *out, struct ws_err *err)
{
	const struct ana_diff_side *sides[2] = { a, b };
	enum ws_status st = WS_OK;

	*out = (struct ana_pair){ 0 };
	for (size_t s = 0; s < 2 && !st; s++) {
		const struct wl_workload *load = sides[s]->load;
		struct ana_selection *sel = &out->rows[s];
		uint32_t wanted = kernel_index(load, kernel);

		out->side[s] = sides[s];
		sel->rows = malloc((sides[s]->rows->n + 1) * sizeof(*sel->rows));
		out->values[s] = malloc((sides[s]->rows->n + 1) * sizeof(*out->values[s]));
		if (!sel->rows || !out->values[s]) {
			st = ws_fail(err, WS_E_NOMEM, "no memory to compare '%s'", kernel);
			break;
		}
		for (size_t i = 0; i < sides[s]->rows->n; i++)
			if (load->kernel_of[sides[s]->rows->rows[i]] == wanted)
				sel->rows[sel->n++] = sides[s]->rows->rows[i];
		sel->all = sel->n == load->n_rows;
	}
	if (st)
		ana_pair_close(out);
	else
		out->how = how;
	return st;
}

void ana_pair_close(struct ana_pair *pair)
{
	for (size_t s = 0; s < 2; s++) {
		ana_eval_destroy(pair->eval[s]);
		free(pair->rows[s].rows);
		free(pair->values[s]);
	}
	*pair = (struct ana_pair){ 0 };
}

static enum ws_status open_evals(struct ana_pair *pair, struct ws_err *err)
{
	for (size_t s = 0; s < 2; s++) {
		enum ws_status st;

		if (pair->eval[s])
			continue;
		st = ana_eval_create(pair->side[s]->load, &pair->rows[s], pair->side[s]->metrics,
				     &pair->how->eval, &pair->eval[s], err);
		if (st)
			return st;
	}
	return WS_OK;
}

void ana_pair_durations(struct ana_pair *pair, struct ana_comparison *out)
{
	for (size_t s = 0; s < 2; s++) {
		const struct wl_workload *load = pair->side[s]->load;

		for (size_t i = 0; i < pair->rows[s].n; i++) {
			uint32_t row = pair->rows[s].rows[i];

			pair->values[s][i] = load->start_ns && load->end_ns
						     ? load->end_ns[row] - load->start_ns[row]
						     : NAN;
		}
	}
	ana_compare(pair->values[0], pair->rows[0].n, pair->values[1], pair->rows[1].n, out);
}

/* The metric of the other side's architecture that has the same table and name. */
static const struct ana_metric *same_metric(const struct ana_diff_side *side,
					    const struct ana_metric *metric)
{
	const struct ana_table *table;

	table = ana_table_find(side->metrics, metric->table->block, metric->table->index);
	return table ? ana_metric_named(table, metric->name) : NULL;
}

static double mean_of(const double *at, size_t n)
{
	double sum = 0;
	size_t n_numbers = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(at[i])) {
			sum += at[i];
			n_numbers++;
		}
	}
	return n_numbers ? sum / (double)n_numbers : NAN;
}

static bool nearly(double x, double y)
{
	return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

enum ws_status ana_pair_metric(struct ana_pair *pair, const struct ana_metric *metric, int header,
			       struct ana_comparison *out, struct ws_err *err)
{
	double cell[2] = { NAN, NAN }, factor[2] = { 1, 1 };
	size_t n[2] = { 0, 0 };
	bool spread = true;
	enum ws_status st = open_evals(pair, err);

	if (st)
		return st;
	for (size_t s = 0; s < 2; s++) {
		const struct ana_metric *own = same_metric(pair->side[s], metric);
		int at = own ? ana_header_index(own->table, metric->table->headers[header].name)
			     : -1;
		double mean;

		if (at < 0)
			continue;
		cell[s] = ana_eval_cell(pair->eval[s], own, (unsigned)at, 0);
		if (ana_eval_per_dispatch(pair->eval[s], own, (unsigned)at, pair->values[s]))
			n[s] = pair->rows[s].n;
		mean = mean_of(pair->values[s], n[s]);
		spread = spread && n[s];
		/* "AVG(x) * 100": what stands outside the average is applied to its inside. */
		if (mean != 0 && isfinite(mean) && isfinite(cell[s]))
			factor[s] = cell[s] / mean;
		else if (!nearly(mean, cell[s]) && !isnan(cell[s]))
			spread = false;
	}
	if (!spread || !nearly(factor[0], factor[1])) {
		/* One number for all dispatches: it has no spread to show. */
		ana_compare(&cell[0], 1, &cell[1], 1, out);
		return WS_OK;
	}
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < n[s] && !nearly(factor[s], 1); i++)
			pair->values[s][i] *= factor[0];
	ana_compare(pair->values[0], n[0], pair->values[1], n[1], out);
	return WS_OK;
}

bool ana_pair_counter(struct ana_pair *pair, const char *counter, struct ana_comparison *out)
{
	bool found = true;

	for (size_t s = 0; s < 2; s++) {
		const struct wl_column *column = NULL;

		for (size_t f = 0; f < pair->side[s]->load->n_frames && !column; f++)
			column = wl_frame_column(pair->side[s]->load->frames[f], counter);
		found = found && column && !column->is_text;
		for (size_t i = 0; i < pair->rows[s].n; i++)
			pair->values[s][i] = column ? column->at[pair->rows[s].rows[i]] : NAN;
	}
	ana_compare(pair->values[0], pair->rows[0].n, pair->values[1], pair->rows[1].n, out);
	return found;
}

/* ---- all metrics of a kernel ---- */

/* 1 for a change out of nothing; percentages count by their points. */
static double importance(const struct ana_diff_value *value)
{
	const struct ana_comparison *c = &value->c;

	if ((c->change != ANA_CHANGE_REAL && c->change != ANA_CHANGE_UNKNOWN) ||
	    !isfinite(c->delta))
		return 0;
	if (!strncmp(value->unit, "Pct", 3) || !strncmp(value->unit, "Percent", 7))
		return fabs(c->delta) / 100;
	return fabs(c->delta) / fmax(fabs(c->a.mean), fabs(c->b.mean));
}

static int by_importance(const void *a, const void *b)
{
	const struct ana_diff_value *p = a, *q = b;
	const struct ana_table *s = p->metric->table, *t = q->metric->table;

	if ((p->c.change == ANA_CHANGE_REAL) != (q->c.change == ANA_CHANGE_REAL))
		return p->c.change == ANA_CHANGE_REAL ? -1 : 1;
	if (p->importance != q->importance)
		return p->importance < q->importance ? 1 : -1;
	if (s->block != t->block)
		return s->block < t->block ? -1 : 1;
	if (s->index != t->index)
		return s->index < t->index ? -1 : 1;
	return p->metric->index < q->metric->index ? -1 : p->metric->index > q->metric->index;
}

/* Whether the same formula stands among the values already made: nodes are shared. */
static bool is_repeated(const struct ana_diff_kernel *kernel, const struct ana_expr *expr)
{
	for (size_t i = 0; i < kernel->n_values; i++) {
		const struct ana_metric *other = kernel->values[i].metric;
		int header = ana_metric_main_header(other->table);

		if (other->cells[header].expr == expr)
			return true;
	}
	return false;
}

static bool wants(const struct ana_diff_how *how, const struct ana_metric *metric)
{
	return how->wants ? how->wants(how->of, metric) : !REPEATS(metric->table->block);
}

static enum ws_status compare_table(struct ana_pair *pair, const struct ana_table *table,
				    struct ana_diff_kernel *kernel, struct ws_arena *arena,
				    struct ws_err *err)
{
	int header = ana_metric_main_header(table);

	if (table->kind != ANA_TABLE_METRICS || header < 0)
		return WS_OK;
	for (size_t i = 0; i < table->n_metrics; i++) {
		const struct ana_metric *metric = &table->metrics[i];
		struct ana_diff_value *value = &kernel->values[kernel->n_values];
		enum ws_status st;

		if (!metric->cells[header].expr || !wants(pair->how, metric) ||
		    is_repeated(kernel, metric->cells[header].expr))
			continue;
		*value = (struct ana_diff_value){ .metric = metric };
		st = ana_pair_metric(pair, metric, header, &value->c, err);
		if (st)
			return st;
		value->unit = ana_eval_unit(pair->eval[0], metric->unit, arena);
		kernel->n_values++;
	}
	return WS_OK;
}

static enum ws_status compare_kernel(const struct ana_diff_side *a, const struct ana_diff_side *b,
				     const struct ana_diff_how *how, struct ana_diff_kernel *kernel,
				     struct ws_arena *arena, struct ws_err *err)
{
	const struct ana_metrics *metrics = a->metrics;
	struct ana_pair pair;
	size_t n_max = 1;
	enum ws_status st;

	for (size_t i = 0; i < metrics->n_blocks; i++)
		for (size_t t = 0; t < metrics->blocks[i]->n_tables; t++)
			n_max += metrics->blocks[i]->tables[t]->n_metrics;
	kernel->values = ws_arena_array(arena, n_max, sizeof(*kernel->values));
	if (!kernel->values)
		return ws_fail(err, WS_E_NOMEM, "no memory to compare '%s'", kernel->name);
	st = ana_pair_open(a, b, how, kernel->name, &pair, err);
	if (st)
		return st;
	ana_pair_durations(&pair, &kernel->duration);
	for (size_t i = 0; i < metrics->n_blocks && !st; i++)
		for (size_t t = 0; t < metrics->blocks[i]->n_tables && !st; t++)
			st = compare_table(&pair, metrics->blocks[i]->tables[t], kernel, arena,
					   err);
	ana_pair_close(&pair);
	return st;
}

/* ---- kernels ---- */

static struct ana_diff_kernel *kernel_named(struct ana_diff *diff, struct ws_map *index,
					    const struct wl_kernel_name *kernel, struct ws_err *err)
{
	struct ana_diff_kernel *found = ws_map_get(index, kernel->name);

	if (found)
		return found;
	found = &diff->kernels[diff->n_kernels++];
	found->name = kernel->name;
	found->shown = kernel->shown;
	return ws_map_put(index, ws_str_from(kernel->name), found, err) ? NULL : found;
}

static enum ws_status count_dispatches(struct ana_diff *diff, struct ws_map *index,
				       const struct ana_diff_side *side, bool is_b,
				       struct ws_err *err)
{
	const struct wl_workload *load = side->load;

	for (size_t i = 0; i < side->rows->n; i++) {
		uint32_t row = side->rows->rows[i];
		struct ana_diff_kernel *kernel =
			kernel_named(diff, index, &load->kernels[load->kernel_of[row]], err);
		double ns = load->start_ns && load->end_ns ? load->end_ns[row] - load->start_ns[row]
							   : 0;

		if (!kernel)
			return WS_E_NOMEM;
		ns = isnan(ns) ? 0 : ns;
		*(is_b ? &kernel->n_b : &kernel->n_a) += 1;
		*(is_b ? &kernel->sum_b_ns : &kernel->sum_a_ns) += ns;
		*(is_b ? &diff->sum_b_ns : &diff->sum_a_ns) += ns;
	}
	return WS_OK;
}

static int by_time_change(const void *a, const void *b)
{
	const struct ana_diff_kernel *p = a, *q = b;
	bool p_common = p->n_a && p->n_b, q_common = q->n_a && q->n_b;
	double p_change = fabs(p->sum_b_ns - p->sum_a_ns),
	       q_change = fabs(q->sum_b_ns - q->sum_a_ns);

	if (p_common != q_common)
		return p_common ? -1 : 1;
	if (p_change != q_change)
		return p_change < q_change ? 1 : -1;
	return strcmp(p->name, q->name);
}

/* Chance finds are held down over the whole report, then what is left is put in order. */
static enum ws_status judge_all(struct ana_diff *diff, struct ws_arena *arena, struct ws_err *err)
{
	size_t n = diff->n_common, at = 0;
	struct ana_comparison **all;
	double *scratch;

	for (size_t i = 0; i < diff->n_common; i++)
		n += diff->kernels[i].n_values;
	all = ws_arena_array(arena, n + 1, sizeof(*all));
	scratch = ws_arena_array(arena, n + 1, sizeof(*scratch));
	if (!all || !scratch)
		return ws_fail(err, WS_E_NOMEM, "no memory for %zu comparisons", n);
	for (size_t i = 0; i < diff->n_common; i++) {
		all[at++] = &diff->kernels[i].duration;
		for (size_t v = 0; v < diff->kernels[i].n_values; v++)
			all[at++] = &diff->kernels[i].values[v].c;
	}
	ana_compare_adjust(all, n, ANA_COMPARE_ALPHA, scratch);
	for (size_t i = 0; i < diff->n_common; i++) {
		struct ana_diff_kernel *kernel = &diff->kernels[i];

		for (size_t v = 0; v < kernel->n_values; v++) {
			kernel->values[v].importance = importance(&kernel->values[v]);
			kernel->n_by_change[kernel->values[v].c.change]++;
		}
		qsort(kernel->values, kernel->n_values, sizeof(*kernel->values), by_importance);
	}
	return WS_OK;
}

enum ws_status ana_diff_make(const struct ana_diff_side *a, const struct ana_diff_side *b,
			     const struct ana_diff_how *how, struct ws_arena *arena,
			     struct ana_diff **out_diff, struct ws_err *err)
{
	struct ana_diff *diff = ws_arena_new(arena, struct ana_diff);
	size_t n_max = a->load->n_kernels + b->load->n_kernels;
	struct ws_map index;
	enum ws_status st;

	if (diff)
		diff->kernels = ws_arena_array(arena, n_max + 1, sizeof(*diff->kernels));
	if (!diff || !diff->kernels)
		return ws_fail(err, WS_E_NOMEM, "no memory to compare %zu kernels", n_max);
	diff->same_arch = !strcmp(a->load->arch, b->load->arch);
	ws_map_init(&index, WS_MAP_STR, n_max + 1);
	st = count_dispatches(diff, &index, a, false, err);
	if (!st)
		st = count_dispatches(diff, &index, b, true, err);
	ws_map_fini(&index);
	if (st)
		return st;
	qsort(diff->kernels, diff->n_kernels, sizeof(*diff->kernels), by_time_change);
	for (size_t i = 0; i < diff->n_kernels; i++)
		diff->n_common += diff->kernels[i].n_a && diff->kernels[i].n_b;
	for (size_t i = 0; i < diff->n_common; i++) {
		st = compare_kernel(a, b, how, &diff->kernels[i], arena, err);
		if (st)
			return st;
	}
	st = judge_all(diff, arena, err);
	if (!st)
		*out_diff = diff;
	return st;
}
