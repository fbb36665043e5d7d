/* Lists in place of a report: kernels and dispatches, the specifications of a machine. */
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

enum ws_status rpt_specs(const struct wl_workload *load, struct ws_buf *out, struct ws_err *err)
{
	static const char *const headers[] = { "Spec", "Value", "Description", "Unit" };
	const char *version = wl_workload_fact(load, "version");
	struct ws_arena arena;
	struct rpt_grid grid;
	enum ws_status st;

	ws_arena_init(&arena, 64u << 20);
	st = rpt_grid_init(&grid, &arena, headers, 4, err);
	for (size_t i = 0; !st && i < WL_SYSINFO_COUNT; i++) {
		const struct wl_sysinfo_row *spec = &wl_sysinfo_rows[i];
		const char *text = wl_workload_fact(load, spec->name);
		struct rpt_cell *row;

		if (!spec->shown[0])
			continue;
		row = rpt_grid_row(&grid);
		if (!row) {
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
			break;
		}
		row[0] = rpt_cell_text(spec->shown);
		row[1] = rpt_cell_text(text ? text : "");
		row[2] = rpt_cell_text(rpt_wrap_words(&arena, spec->text, 40));
		row[3] = rpt_cell_text(spec->unit);
	}
	ws_buf_printf(out,
		      "Machine Specifications: describing the state of the machine that ROCm "
		      "Compute Profiler data was collected on.\nOutput version: %s\n",
		      version ? version : "");
	if (!st)
		st = rpt_grid_draw(&grid, out, err);
	ws_arena_fini(&arena);
	return st;
}
