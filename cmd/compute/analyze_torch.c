/* --list-torch-operators and --torch-operator: kernels by the operator that launched them. */
#include "cmd/compute/analyze.h"

#include "workload/torch.h"

#include <string.h>

enum ws_status an_torch_check(const struct an_args *args, struct ws_err *err)
{
	const char *option = args->list_torch ? "--list-torch-operators" : "--torch-operator";

	if (!args->general.experimental)
		return ws_fail(err, WS_E_USAGE,
			       "%s is an experimental feature. Use --experimental to enable it.",
			       option);
	if (args->spatial || args->format != AN_STDOUT)
		return ws_fail(err, WS_E_USAGE,
			       "%s does not go with --spatial-multiplexing or --output-format",
			       option);
	return WS_OK;
}

static enum ws_status load(struct an *an, struct an_run *run, struct wl_torch *torch,
			   struct ws_err *err)
{
	if (!run->load->torch_trace)
		return ws_fail(
			err, WS_E_STATE,
			"'%s' was profiled without --torch-trace: there are no operators to show",
			run->path);
	return wl_torch_load(run->load, &an->arena, torch, err);
}

static bool chosen(const struct ws_strv *patterns, const char *op)
{
	bool any = false;

	for (size_t i = 0; i < patterns->n; i++) {
		struct ws_str rest = ws_str_from(patterns->at[i]), part;
		char text[512];

		while (patterns->at[i] && ws_str_next(&rest, ',', &part)) {
			any = true;
			snprintf(text, sizeof(text), "%.*s", WS_STR_ARGS(ws_str_trim(part)));
			if (wl_torch_matches(text, op))
				return true;
		}
	}
	return !any; /* the bare option means all */
}

enum ws_status an_torch_filter(struct an *an, struct an_run *run, struct ana_filter *filter,
			       struct ws_err *err)
{
	uint32_t *set = ws_arena_array(&an->arena, run->load->n_kernels + 1, sizeof(*set));
	struct wl_torch torch;
	enum ws_status st =
		set ? load(an, run, &torch, err) : ws_fail(err, WS_E_NOMEM, "no memory");

	for (uint32_t k = 0; !st && k < run->load->n_kernels; k++)
		for (size_t u = 0; u < torch.n; u++)
			if (strcmp(torch.uses[u].kernel, run->load->kernels[k].name) == 0 &&
			    chosen(&an->args->torch_operators, torch.uses[u].op)) {
				set[filter->n_kernel_set++] = k;
				break;
			}
	if (!st && !filter->n_kernel_set)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "no kernel of '%s' belongs to such an operator: "
			     "--list-torch-operators shows "
			     "them",
			     run->path);
	filter->kernel_set = set;
	filter->by_kernel_set = true;
	return st;
}

/* The id of a kernel: its row of the top-kernel table; -1: not among those. */
static int kernel_id(const struct an_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_top; i++)
		if (strcmp(run->load->kernels[run->top[i].kernel].name, name) == 0)
			return (int)i;
	return -1;
}

/* One use, below those of its path that were printed already. */
static void print_use(struct an *an, const struct an_run *run, const struct wl_torch_use *use,
		      const struct wl_torch_use *before)
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
			ws_buf_printf(&an->out, "%*s└── %.*s\n", (int)(depth * 4), "",
				      WS_STR_ARGS(part));
		depth++;
	}
	ws_buf_printf(&an->out, "%*s└── %s (kernel_launches: %zu, total_duration: %.6f ms)\n",
		      (int)(depth * 4), "", place ? place + 1 : use->context, use->n_launches,
		      use->total_ns / 1e6);
	ws_buf_printf(&an->out, "%*s└── %s", (int)(depth * 4 + 4), "", use->kernel);
	if (id >= 0)
		ws_buf_printf(&an->out, " (id %d)", id);
	ws_buf_add(&an->out, "\n");
}

enum ws_status an_torch_list(struct an *an, struct ws_err *err)
{
	for (size_t r = 0; r < an->n_runs; r++) {
		struct an_run *run = &an->runs[r];
		struct wl_torch torch;
		enum ws_status st = load(an, run, &torch, err);

		if (st)
			return st;
		ws_buf_printf(&an->out, "PyTorch Operator Call Tree: %s\n", run->path);
		for (size_t u = 0; u < torch.n; u++)
			print_use(an, run, &torch.uses[u], u ? &torch.uses[u - 1] : NULL);
	}
	return ws_buf_status(&an->out, err);
}
