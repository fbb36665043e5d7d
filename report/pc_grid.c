/* Block 21: PC samples, by source line, or by instruction for one kernel. */
#include "report/report.h"

#include "workload/pcsample.h"

#include <string.h>

static const char *only_kernel(const struct rpt_run *run, size_t *out_n)
{
	const char *name = NULL;

	*out_n = 0;
	for (size_t i = 0; run->chosen && i < run->n_top; i++)
		if (run->chosen[i]) {
			name = run->load->kernels[run->top[i].kernel].name;
			++*out_n;
		}
	return name;
}

static void fill(struct rpt_report *rpt, const struct wl_pcsamples *samples,
		 const struct wl_pcsample_row *from, struct rpt_cell *row)
{
	*row++ = rpt_cell_int((int64_t)from->label);
	*row++ = rpt_cell_text(from->source_line);
	*row++ = rpt_cell_text(from->instruction);
	if (samples->by_kernel)
		*row++ = rpt_cell_text(
			ws_arena_printf(&rpt->arena, "0x%llx", (unsigned long long)from->offset));
	*row++ = rpt_cell_int((int64_t)from->n);
	if (samples->by_kernel && samples->stochastic) {
		*row++ = rpt_cell_int((int64_t)from->n_issued);
		*row++ = rpt_cell_int((int64_t)from->n_stalled);
		*row++ = rpt_cell_text(from->stalls ? from->stalls : "");
	}
}

/* The file stays open in the run; @run may be a view of that run. */
static enum ws_status samples_of_kernel(struct rpt_report *rpt, struct rpt_run *run,
					const char *name, bool by_count, struct wl_pcsamples *out,
					struct ws_err *err)
{
	struct rpt_run *whole = run;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < rpt->n_runs; i++)
		if (rpt->runs[i].load == run->load)
			whole = &rpt->runs[i];
	if (!whole->samples)
		st = wl_pcsamples_open(run->path, &whole->samples, err);
	return st ? st : wl_pcsamples_kernel(whole->samples, name, by_count, &rpt->arena, out, err);
}

enum ws_status rpt_pc_grid(struct rpt_report *rpt, struct rpt_run *run, struct rpt_grid *grid,
			   struct ws_err *err)
{
	static const char *const all[] = { "", "source_line", "instruction", "count" };
	static const char *const kernel[] = {
		"",      "source_line",  "instruction",   "offset",
		"count", "count_issued", "count_stalled", "stall_reason"
	};
	bool by_count = rpt->how->pc_sort && strcmp(rpt->how->pc_sort, "offset") != 0;
	struct wl_pcsamples samples = { 0 };
	size_t n_kernels;
	const char *name = only_kernel(run, &n_kernels);
	enum ws_status st;

	if (n_kernels > 1)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"PC sampling supports single kernel only! Please specify -k with single "
			"kernel.");
	st = name ? samples_of_kernel(rpt, run, name, by_count, &samples, err)
		  : wl_pcsamples_all(run->path, &rpt->arena, &samples, err);
	if (st)
		return st;
	st = rpt_grid_init(grid, &rpt->arena, name ? kernel : all,
			   !name                ? 4
			   : samples.stochastic ? WS_ARRAY_LEN(kernel)
						: 5,
			   err);
	for (size_t i = 0; !st && i < samples.n; i++) {
		struct rpt_cell *row = rpt_grid_row(grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		fill(rpt, &samples, &samples.rows[i], row);
	}
	return st;
}
