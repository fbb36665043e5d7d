/* Kernels by the PyTorch operator that launched them. */
#include "analysis/select.h"

#include "base/str.h"
#include "workload/torch.h"
#include "workload/workload.h"

#include <stdio.h>
#include <string.h>

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

enum ws_status ana_torch_filter(const struct wl_workload *load, const struct ws_strv *patterns,
				struct ws_arena *arena, struct ana_filter *filter,
				struct ws_err *err)
{
	uint32_t *set = ws_arena_array(arena, load->n_kernels + 1, sizeof(*set));
	struct wl_torch torch;
	enum ws_status st = set ? wl_torch_load(load, arena, &torch, err)
				: ws_fail(err, WS_E_NOMEM, "no memory");

	for (uint32_t k = 0; !st && k < load->n_kernels; k++)
		for (size_t u = 0; u < torch.n; u++)
			if (strcmp(torch.uses[u].kernel, load->kernels[k].name) == 0 &&
			    chosen(patterns, torch.uses[u].op)) {
				set[filter->n_kernel_set++] = k;
				break;
			}
	if (!st && !filter->n_kernel_set)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "no kernel of '%s' belongs to such an operator: "
			     "--list-torch-operators lists the operators",
			     load->path);
	filter->kernel_set = set;
	filter->by_kernel_set = true;
	return st;
}
