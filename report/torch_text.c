/* PyTorch operators as a tree, with the kernels they launched. */
#include "report/report.h"

#include "workload/torch.h"

#include <string.h>

/* The id of a kernel: its row of the top-kernel table; -1: not among those. */
static int kernel_id(const struct rpt_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_top; i++)
		if (strcmp(run->load->kernels[run->top[i].kernel].name, name) == 0)
			return (int)i;
	return -1;
}

/* One use, below those of its path that were printed already. */
static void print_use(struct rpt_report *rpt, const struct rpt_run *run,
		      const struct wl_torch_use *use, const struct wl_torch_use *before)
{
	struct ws_str rest = ws_str_from(use->op), part;
	const char *place = strchr(use->context, '@');
	size_t shared = 0, at = 0, depth = 0;
	int id = kernel_id(run, use->kernel);

	for (size_t i = 0; before && use->op[i] && use->op[i] == before->op[i]; i++)
		if (use->op[i + 1] == '/' || !use->op[i + 1])
			if (before->op[i + 1] == '/' || !before->op[i + 1])
				shared = i + 1;
	while (ws_str_next(&rest, '/', &part)) {
		at += part.n + (depth > 0);
		if (at > shared)
			ws_buf_printf(&rpt->out, "%*s└── %.*s\n", (int)(depth * 4), "",
				      WS_STR_ARGS(part));
		depth++;
	}
	ws_buf_printf(&rpt->out, "%*s└── %s (kernel_launches: %zu, total_duration: %.6f ms)\n",
		      (int)(depth * 4), "", place ? place + 1 : use->context, use->n_launches,
		      use->total_ns / 1e6);
	ws_buf_printf(&rpt->out, "%*s└── %s", (int)(depth * 4 + 4), "", use->kernel);
	if (id >= 0)
		ws_buf_printf(&rpt->out, " (id %d)", id);
	ws_buf_add(&rpt->out, "\n");
}

enum ws_status rpt_torch_list(struct rpt_report *rpt, struct ws_err *err)
{
	for (size_t r = 0; r < rpt->n_runs; r++) {
		struct rpt_run *run = &rpt->runs[r];
		struct wl_torch torch;
		enum ws_status st = wl_torch_load(run->load, &rpt->arena, &torch, err);

		if (st)
			return st;
		ws_buf_printf(&rpt->out, "PyTorch Operator Call Tree: %s\n", run->path);
		for (size_t u = 0; u < torch.n; u++)
			print_use(rpt, run, &torch.uses[u], u ? &torch.uses[u - 1] : NULL);
	}
	return ws_buf_status(&rpt->out, err);
}
