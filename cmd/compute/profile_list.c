/* Options that print something and end. */
#include "cmd/compute/profile.h"

#include "report/table.h"
#include "workload/sysinfo.h"

#include <stdio.h>
#include <string.h>

#define TEXT_WIDTH 40u

/* Lines of at most TEXT_WIDTH columns, broken at blanks; in the arena. */
static const char *wrap(struct ws_arena *arena, const char *text)
{
	char *copy = ws_arena_strdup(arena, text);
	char *line = copy, *blank = NULL;

	for (char *c = copy; c && *c; c++) {
		if (*c == ' ')
			blank = c;
		if ((size_t)(c - line) >= TEXT_WIDTH && blank) {
			*blank = '\n';
			line = blank + 1;
			blank = NULL;
		}
	}
	return copy ? copy : "";
}

static enum ws_status print_specs(struct pf *pf, struct ws_err *err)
{
	static const char *const headers[] = { "Spec", "Value", "Description", "Unit" };
	struct wl_sysinfo info;
	struct rpt_grid grid;
	struct ws_buf text;
	enum ws_status st = wl_sysinfo_look("", pf->gpu, NULL, &pf->arena, &info, err);

	if (!st)
		st = rpt_grid_init(&grid, &pf->arena, headers, WS_ARRAY_LEN(headers), err);
	if (st)
		return st;
	grid.none = "";
	for (size_t i = 0; i < WL_SYSINFO_COUNT && !st; i++) {
		const struct wl_sysinfo_row *row = &wl_sysinfo_rows[i];
		struct rpt_cell *cells;

		if (!*row->shown)
			continue;
		cells = rpt_grid_row(&grid);
		if (!cells)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		cells[0] = rpt_cell_text(row->shown);
		cells[1] = rpt_cell_text(info.at[i]);
		cells[2] = rpt_cell_text(wrap(&pf->arena, row->text));
		cells[3] = rpt_cell_text(row->unit);
	}
	ws_buf_init(&text, 1 << 20);
	st = rpt_grid_draw(&grid, &text, err);
	if (!st)
		printf("Machine Specifications: describing the state of the machine that ROCm "
		       "Compute Profiler data was collected on.\nOutput version: %s\n%s",
		       info.at[WL_SYSINFO_version], text.at);
	ws_buf_fini(&text);
	return st;
}

/* The listings of analyze, for an architecture that is typed or for this machine's. */
static enum ws_status print_metrics(const struct pf *pf, struct ws_err *err)
{
	struct compute_general general = pf->args->general;

	if (pf->args->list_available)
		general.list_metrics = pf->gpu->arch;
	return compute_list(&general, false, err);
}

enum ws_status pf_list(struct pf *pf, bool *out_done, struct ws_err *err)
{
	const struct pf_args *args = pf->args;
	bool metrics =
		args->list_available || args->general.list_metrics || args->general.list_blocks;
	enum ws_status st = WS_OK;

	*out_done = metrics || args->list_sets || args->general.specs;
	if (args->list_available || args->list_sets || args->general.specs)
		st = pf_find_gpu(pf, err);
	if (!st && metrics)
		return print_metrics(pf, err);
	if (!st && args->list_sets)
		return pf_print_sets(pf, err);
	if (!st && args->general.specs)
		return print_specs(pf, err);
	return st;
}

enum ws_status compute_print_specs(struct ws_err *err)
{
	static const struct pf_args none;
	static struct pf pf;
	enum ws_status st;

	pf = (struct pf){ .args = &none };
	ws_arena_init(&pf.arena, 64 << 20);
	st = pf_find_gpu(&pf, err);
	if (!st)
		st = print_specs(&pf, err);
	ws_arena_fini(&pf.arena);
	return st;
}
