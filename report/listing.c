/* Lists in place of a report: kernels and dispatches, specifications, sets, metrics. */
#include "analysis/counters_needed.h"
#include "report/report.h"
#include "workload/sysinfo.h"

#include <string.h>

static const char rule[] =
	"--------------------------------------------------------------------------------";

enum ws_status rpt_list_stats(struct rpt_report *rpt, struct ws_err *err)
{
	static const char *const headers[] = { "", "Kernel_Name" };
	struct rpt_run *run = &rpt->runs[0];
	const struct ana_table *table = ana_table_find(rpt->metrics, 0, 2);
	struct rpt_grid grid;
	enum ws_status st = rpt_grid_init(&grid, &rpt->arena, headers, 2, err);

	for (size_t i = 0; !st && i < run->n_top; i++) {
		struct rpt_cell *row = rpt_grid_row(&grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = rpt_cell_int((int64_t)i);
		row[1] = rpt_cell_text(run->load->kernels[run->top[i].kernel].shown);
	}
	ws_buf_printf(&rpt->out, "\n%s\nDetected Kernels (sorted descending by duration)\n", rule);
	if (!st)
		st = rpt_grid_draw(&grid, &rpt->out, err);
	ws_buf_printf(&rpt->out, "\n%s\nDispatch list\n", rule);
	if (!st && table)
		st = rpt_metric_grid(rpt, run, table, true, &grid, err);
	if (!st && table)
		st = rpt_grid_draw(&grid, &rpt->out, err);
	return st;
}

enum ws_status rpt_specs(const struct wl_sysinfo *info, struct ws_buf *out, struct ws_err *err)
{
	static const char *const headers[] = { "Spec", "Value", "Description", "Unit" };
	struct ws_arena arena;
	struct rpt_grid grid;
	enum ws_status st;

	ws_arena_init(&arena, 64u << 20);
	st = rpt_grid_init(&grid, &arena, headers, 4, err);
	for (size_t i = 0; !st && i < WL_SYSINFO_COUNT; i++) {
		const struct wl_sysinfo_row *spec = &wl_sysinfo_rows[i];
		struct rpt_cell *row;

		if (!spec->shown[0])
			continue;
		row = rpt_grid_row(&grid);
		if (!row) {
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
			break;
		}
		row[0] = rpt_cell_text(spec->shown);
		row[1] = rpt_cell_text(info->at[i]);
		row[2] = rpt_cell_text(rpt_wrap_words(&arena, spec->text, 40));
		row[3] = rpt_cell_text(spec->unit);
	}
	ws_buf_printf(out,
		      "Machine Specifications: describing the state of the machine that ROCm "
		      "Compute Profiler data was collected on.\nOutput version: %s\n",
		      info->at[WL_SYSINFO_version]);
	if (!st)
		st = rpt_grid_draw(&grid, out, err);
	ws_arena_fini(&arena);
	return st;
}

static void line_of(char c, struct ws_buf *out)
{
	ws_buf_add_c(out, c, 115);
	ws_buf_add(out, "\n");
}

void rpt_list_sets(const struct ana_metrics *metrics, struct ws_buf *out)
{
	bool any = false;

	ws_buf_add(out, "\nAvailable Sets:\n");
	line_of('=', out);
	ws_buf_printf(out, "%-35s %-35s %-30s %-10s\n", "Set Option", "Set Title", "Metric Name",
		      "Metric ID");
	line_of('-', out);
	for (size_t s = 0; s < metrics->n_sets; s++) {
		const struct ana_set *set = &metrics->sets[s];
		bool first = true;

		for (size_t i = 0; i < set->n_metrics; i++) {
			const struct ana_metric *metric =
				ana_set_metric_find(metrics, &set->metrics[i]);
			char id[48];

			if (!metric)
				continue;
			if (first && any)
				ws_buf_add(out, "\n");
			snprintf(id, sizeof(id), "%u.%u.%u", metric->table->block,
				 metric->table->index, metric->index);
			ws_buf_printf(out, "%-35s %-35s %-30s %-10s\n", first ? set->name : "",
				      first ? set->title : "", metric->name, id);
			first = false;
			any = true;
		}
	}
	ws_buf_add(out, "\nUsage Examples:\n"
			"  rocprof-compute profile --set compute_thruput_util  # Profile this set\n"
			"  rocprof-compute profile --list-sets        # Show this help\n\n");
}

static void add_help(const char *help, struct ws_buf *out)
{
	struct ws_arena arena;
	struct ws_str rest, line;

	ws_arena_init(&arena, 1u << 20);
	rest = ws_str_from(rpt_wrap_words(&arena, help, 40));
	while (rest.n && ws_str_next(&rest, '\n', &line))
		ws_buf_printf(out, "\t\t%.*s\n", WS_STR_ARGS(line));
	ws_buf_add(out, "\n");
	ws_arena_fini(&arena);
}

void rpt_list_metrics(const struct ana_metrics *metrics, bool with_help, struct ws_buf *out)
{
	const char *end = with_help ? "\n\n" : "\n";

	for (size_t b = 0; b < metrics->n_blocks; b++) {
		const struct ana_block *block = metrics->blocks[b];

		ws_buf_printf(out, "%u -> %s%s", block->id, block->title, end);
		for (size_t t = 0; t < block->n_tables; t++) {
			const struct ana_table *table = block->tables[t];

			if (!table->n_metrics)
				continue;
			ws_buf_printf(out, "\t%u.%u -> %s%s", table->block, table->index,
				      table->title, end);
			for (size_t m = 0; m < table->n_metrics; m++) {
				const struct ana_metric *metric = &table->metrics[m];

				ws_buf_printf(out, "\t\t%u.%u.%u -> %s%s", table->block,
					      table->index, metric->index, metric->name, end);
				if (with_help)
					add_help(metric->help, out);
			}
		}
	}
}

void rpt_list_blocks(const struct ana_metrics *metrics, struct ws_buf *out)
{
	ws_buf_printf(out, "%-8s%-18s%s\n", "INDEX", "BLOCK ALIAS", "BLOCK NAME");
	for (size_t b = 0; b < metrics->n_blocks; b++)
		ws_buf_printf(out, "%-8u%-18s%s\n", metrics->blocks[b]->id,
			      metrics->blocks[b]->alias, metrics->blocks[b]->title);
}
