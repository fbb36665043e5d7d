#include "report/diff.h"

#include "report/number.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 30

/* ---- words ---- */

/* "+14.7%", or "new" for what was 0 before. */
static const char *change_text(struct ws_arena *arena, const struct ana_comparison *c)
{
	if (c->change == ANA_CHANGE_ABSENT)
		return "";
	if (isnan(c->percent))
		return isnan(c->delta) ? "" : c->delta > 0 ? "from 0" : "from 0 down";
	return ws_arena_printf(arena, "%+.*f%%", fabs(c->percent) < 9.995 ? 2 : 1, c->percent);
}

static const char *why_text(struct ws_arena *arena, const struct ana_comparison *c)
{
	if (c->method == ANA_METHOD_EXACT)
		return "no spread";
	if (isnan(c->p))
		return "one value each";
	return ws_arena_printf(arena, c->p < 0.0001 ? "p < 0.0001" : "p = %.2g", c->p);
}

static const char *verdict_text(struct ws_arena *arena, const struct ana_comparison *c,
				const char *up, const char *down)
{
	switch (c->change) {
	case ANA_CHANGE_REAL:
		return ws_arena_printf(arena, "%s (%s)", c->delta > 0 ? up : down,
				       why_text(arena, c));
	case ANA_CHANGE_NOISE:
		return ws_arena_printf(arena, "noise (%s)", why_text(arena, c));
	case ANA_CHANGE_UNKNOWN:
		return ws_arena_printf(arena, "unknown (%s)", why_text(arena, c));
	default:
		return ana_change_name(c->change);
	}
}

static const char *short_name(struct ws_arena *arena, const char *name)
{
	if (strlen(name) <= NAME_COLUMNS)
		return name;
	return ws_arena_printf(arena, "%.*s...", NAME_COLUMNS - 3, name);
}

/* "16051 ± 214"; one value alone has no spread to show. */
static struct rpt_cell sample_cell(struct ws_arena *arena, const struct ana_sample *sample,
				   double divisor)
{
	char mean[RPT_NUMBER_ROOM], sd[RPT_NUMBER_ROOM];

	if (!sample->n)
		return (struct rpt_cell){ .kind = RPT_CELL_NONE };
	rpt_number_plain(mean, sample->mean / divisor, 5);
	if (isnan(sample->sd))
		return rpt_cell_text(ws_arena_strdup(arena, mean));
	rpt_number_plain(sd, sample->sd / divisor, 2);
	return rpt_cell_text(ws_arena_printf(arena, "%s \302\261 %s", mean, sd));
}

static struct rpt_cell text_cell(const char *text)
{
	return text && text[0] ? rpt_cell_text(text) : (struct rpt_cell){ .kind = RPT_CELL_NONE };
}

/* ---- kernels ---- */

static enum ws_status draw(struct rpt_grid *grid, const struct rpt_diff_style *style,
			   struct ws_buf *out, struct ws_err *err)
{
	grid->decimals = style->n_decimals;
	grid->none = "";
	grid->form = RPT_GRID_NUMBERS;
	return rpt_grid_draw(grid, out, err);
}

static enum ws_status kernel_table(const struct ana_diff *diff, const struct rpt_diff_style *style,
				   struct ws_arena *arena, struct ws_buf *out, struct ws_err *err)
{
	const char *mean = ws_arena_printf(arena, "A(%s)", style->time_unit);
	const char *other = ws_arena_printf(arena, "B(%s)", style->time_unit);
	const char *total = ws_arena_printf(arena, "Sum(%s)", style->time_unit);
	const char *headers[] = { "", "Kernel", "Count", mean, other, "Change", total, "Verdict" };
	size_t n_shown = WS_MIN(diff->n_common, style->n_rows);
	struct rpt_grid grid;
	enum ws_status st;

	if (!mean || !other || !total)
		return ws_fail(err, WS_E_NOMEM, "no memory for a table");
	st = rpt_grid_init(&grid, arena, headers, WS_ARRAY_LEN(headers), err);
	for (size_t i = 0; !st && i < n_shown; i++) {
		const struct ana_diff_kernel *kernel = &diff->kernels[i];
		const struct ana_comparison *c = &kernel->duration;
		struct rpt_cell *row = rpt_grid_row(&grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "no memory for a table");
		row[0] = rpt_cell_int((int64_t)i);
		row[1] = rpt_cell_text(short_name(arena, kernel->shown));
		row[2] = text_cell(
			kernel->n_a == kernel->n_b
				? ws_arena_printf(arena, "%zu", kernel->n_a)
				: ws_arena_printf(arena, "%zu, %zu", kernel->n_a, kernel->n_b));
		row[3] = sample_cell(arena, &c->a, style->time_divisor);
		row[4] = sample_cell(arena, &c->b, style->time_divisor);
		row[5] = text_cell(change_text(arena, c));
		row[6] = rpt_cell_number((kernel->sum_b_ns - kernel->sum_a_ns) /
					 style->time_divisor);
		row[7] = text_cell(verdict_text(arena, c, "slower", "faster"));
	}
	if (st)
		return st;
	ws_buf_add(out, "\nKernels in both runs, by change of their total time (Sum): mean "
			"\302\261 standard "
			"deviation\n");
	st = draw(&grid, style, out, err);
	if (diff->n_common > n_shown)
		ws_buf_printf(out, "%zu more kernels changed less; --max-stat-num shows more.\n",
			      diff->n_common - n_shown);
	return st;
}

static void list_others(const struct ana_diff *diff, const struct rpt_diff_style *style,
			struct ws_buf *out, bool in_a)
{
	size_t n = 0;

	for (size_t i = diff->n_common; i < diff->n_kernels; i++) {
		const struct ana_diff_kernel *kernel = &diff->kernels[i];
		size_t n_dispatches = in_a ? kernel->n_a : kernel->n_b;
		double ns = in_a ? kernel->sum_a_ns : kernel->sum_b_ns;
		char number[RPT_NUMBER_ROOM];

		if (!n_dispatches)
			continue;
		if (!n++)
			ws_buf_printf(out, "\nKernels only in %s\n", in_a ? "A" : "B");
		ws_buf_printf(out, "  %s: %zu dispatch%s, %s %s\n", kernel->shown, n_dispatches,
			      n_dispatches == 1 ? "" : "es",
			      rpt_number_plain(number, ns / style->time_divisor, 6),
			      style->time_unit);
	}
}

/* ---- metrics of a kernel ---- */

static bool is_shown(const struct ana_diff_value *value)
{
	return (value->c.change == ANA_CHANGE_REAL || value->c.change == ANA_CHANGE_UNKNOWN) &&
	       value->c.delta != 0;
}

static void summary(const struct ana_diff_kernel *kernel, size_t n_changed, size_t n_shown,
		    struct ws_buf *out)
{
	const size_t *n = kernel->n_by_change;

	ws_buf_printf(out, "%zu of %zu metrics changed", n[ANA_CHANGE_REAL], kernel->n_values);
	if (n[ANA_CHANGE_UNKNOWN])
		ws_buf_printf(out, ", %zu differ but have no spread to test",
			      n[ANA_CHANGE_UNKNOWN]);
	if (n_shown < n_changed)
		ws_buf_printf(out, " (the first %zu are shown: --max-stat-num)", n_shown);
	ws_buf_printf(out, "; %zu equal, %zu within noise", n[ANA_CHANGE_NONE],
		      n[ANA_CHANGE_NOISE]);
	if (n[ANA_CHANGE_ABSENT])
		ws_buf_printf(out, ", %zu without a value on a side", n[ANA_CHANGE_ABSENT]);
	ws_buf_add(out, ".\n");
}

static enum ws_status metric_table(const struct ana_diff_kernel *kernel, size_t index,
				   const struct rpt_diff_style *style, struct ws_arena *arena,
				   struct ws_buf *out, struct ws_err *err)
{
	static const char *const headers[] = { "Metric_ID", "Metric", "A",      "B",
					       "Unit",      "Change", "Verdict" };
	size_t n_changed = 0, n_shown = 0;
	struct rpt_grid grid;
	enum ws_status st = rpt_grid_init(&grid, arena, headers, WS_ARRAY_LEN(headers), err);

	for (size_t i = 0; !st && i < kernel->n_values; i++) {
		const struct ana_diff_value *value = &kernel->values[i];
		const struct ana_table *table = value->metric->table;
		struct rpt_cell *row;

		if (!is_shown(value))
			continue;
		if (n_changed++ >= style->n_rows)
			continue;
		n_shown++;
		row = rpt_grid_row(&grid);
		if (!row)
			return ws_fail(err, WS_E_NOMEM, "no memory for a table");
		row[0] = text_cell(ws_arena_printf(arena, "%u.%u.%u", table->block, table->index,
						   value->metric->index));
		row[1] = text_cell(value->metric->name);
		row[2] = sample_cell(arena, &value->c.a, 1);
		row[3] = sample_cell(arena, &value->c.b, 1);
		row[4] = text_cell(value->unit);
		row[5] = text_cell(change_text(arena, &value->c));
		row[6] = text_cell(verdict_text(arena, &value->c, "up", "down"));
	}
	if (st)
		return st;
	ws_buf_printf(out, "\nKernel %zu: %s\n", index, kernel->shown);
	if (n_shown)
		st = draw(&grid, style, out, err);
	summary(kernel, n_changed, n_shown, out);
	return st;
}

static void describe_side(char letter, const struct ana_diff_side *side, struct ws_buf *out)
{
	ws_buf_printf(out, "  %c  %s  (%s, %zu dispatch%s)\n", letter, side->load->path,
		      side->load->arch, side->rows->n, side->rows->n == 1 ? "" : "es");
}

enum ws_status rpt_diff_text(const struct ana_diff *diff, const struct ana_diff_side *a,
			     const struct ana_diff_side *b, const struct rpt_diff_style *style,
			     struct ws_arena *arena, struct ws_buf *out, struct ws_err *err)
{
	struct ana_comparison total;
	char before[RPT_NUMBER_ROOM], after[RPT_NUMBER_ROOM];
	enum ws_status st = WS_OK;

	ws_buf_add(out, "Comparison of B with A\n");
	describe_side('A', a, out);
	describe_side('B', b, out);
	if (!diff->same_arch)
		ws_buf_add(out,
			   "The architectures differ: metrics are matched by table and name.\n");
	ana_compare(&diff->sum_a_ns, 1, &diff->sum_b_ns, 1, &total);
	ws_buf_printf(out, "Time in kernels: %s -> %s %s (%s)\n",
		      rpt_number_plain(before, diff->sum_a_ns / style->time_divisor, 6),
		      rpt_number_plain(after, diff->sum_b_ns / style->time_divisor, 6),
		      style->time_unit, change_text(arena, &total));
	if (diff->n_common)
		st = kernel_table(diff, style, arena, out, err);
	else
		ws_buf_add(out, "No kernel is in both runs: nothing to compare.\n");
	list_others(diff, style, out, true);
	list_others(diff, style, out, false);
	for (size_t i = 0; !st && i < WS_MIN(diff->n_common, style->n_rows); i++)
		st = metric_table(&diff->kernels[i], i, style, arena, out, err);
	return st ? st : ws_buf_status(out, err);
}

/* ---- conditions ---- */

static void measured(const struct ana_gate_result *result, struct ws_buf *out)
{
	char before[RPT_NUMBER_ROOM], after[RPT_NUMBER_ROOM];
	const struct ana_comparison *c = &result->c;

	if (result->kernel)
		ws_buf_printf(out, "%s: ", result->kernel);
	ws_buf_printf(out, "%s -> %s%s%s", rpt_number_plain(before, c->a.mean, 6),
		      rpt_number_plain(after, c->b.mean, 6),
		      result->unit && result->unit[0] ? " " : "", result->unit ? result->unit : "");
	if (c->change == ANA_CHANGE_NONE) {
		ws_buf_add(out, ", equal");
		return;
	}
	if (!isnan(c->percent))
		ws_buf_printf(out, ", %+.3g%%", c->percent);
	if (!result->gate->percent)
		return;
	if (c->method == ANA_METHOD_EXACT)
		ws_buf_add(out, " (no spread: certain)");
	else if (!isnan(c->p))
		ws_buf_printf(out, " (p = %.2g, %s)", c->p, ana_compare_method_name(c->method));
	else if (c->change == ANA_CHANGE_UNKNOWN && result->kernel)
		ws_buf_add(out, " (one value each: spread unknown)");
}

enum ws_status rpt_gate_text(const struct ana_gate_result *results, size_t n, struct ws_buf *out,
			     size_t *out_failed, struct ws_err *err)
{
	static const char *const words[] = {
		[ANA_GATE_HOLDS] = "holds",
		[ANA_GATE_IN_NOISE] = "noise",
		[ANA_GATE_FAILED] = "FAILED",
		[ANA_GATE_UNCHECKED] = "FAILED",
	};
	size_t n_failed = 0;

	for (size_t i = 0; i < n; i++)
		n_failed += results[i].verdict >= ANA_GATE_FAILED;
	ws_buf_printf(out, "\nConditions of --fail-on: %zu of %zu failed\n", n_failed, n);
	for (size_t i = 0; i < n; i++) {
		const struct ana_gate_result *result = &results[i];

		ws_buf_printf(out, "  %-6s  %s  ", words[result->verdict], result->gate->text);
		if (result->verdict == ANA_GATE_UNCHECKED)
			ws_buf_printf(out, "cannot be checked: %s", result->why);
		else
			measured(result, out);
		if (result->verdict == ANA_GATE_IN_NOISE)
			ws_buf_add(out, ": not more than noise");
		if (result->n_failed > 1)
			ws_buf_printf(out, "; and %zu more kernels", result->n_failed - 1);
		ws_buf_add(out, "\n");
	}
	*out_failed = n_failed;
	return ws_buf_status(out, err);
}
