/* Options that print something and end. */
#include "cmd/compute/profile.h"

#include "report/report.h"
#include "workload/sysinfo.h"

#include <stdio.h>
#include <string.h>

static enum ws_status print_specs(struct pf *pf, struct ws_err *err)
{
	struct wl_sysinfo info;
	struct ws_buf text;
	enum ws_status st = wl_sysinfo_look("", pf->gpu, NULL, &pf->arena, &info, err);

	ws_buf_init(&text, 1 << 20);
	if (!st)
		st = rpt_specs(&info, &text, err);
	if (!st)
		fputs(text.at, stdout);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status print_sets(struct pf *pf, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st = pf_load_metrics(pf, err);

	if (st)
		return st;
	ws_buf_init(&text, 1 << 20);
	rpt_list_sets(pf->metrics, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		fputs(text.at, stdout);
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
		return print_sets(pf, err);
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
