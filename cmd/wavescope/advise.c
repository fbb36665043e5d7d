/* wavescope advise: what to look at in a profile or a trace. */
#include "cmd/wavescope/wavescope.h"

#include "analysis/findings.h"
#include "base/log.h"
#include "base/utf8.h"
#include "base/util.h"
#include "cmd/merge_inputs.h"
#include "report/findings.h"
#include "trace/trace.h"
#include "workload/folder.h"

#include <stdio.h>
#include <string.h>

#define TRACE_ARCH "gfx90a" /* rules about traces are the same for all */

struct advise_args {
	const char *config_dir, *check;
	bool json, list;
	double min_share, min_gain;
	uint64_t max;
};

static const struct ws_opt advise_opts[] = {
	WS_OPT_BOOL(struct advise_args, json, 0, "json", "print JSON"),
	WS_OPT_U64(struct advise_args, max, 'n', "max", "N", "findings to print (10)"),
	WS_OPT_F64(struct advise_args, min_share, 0, "min-share", "PERCENT",
		   "only kernels, GPUs and processes with this share of the time (as each rule "
		   "says, mostly 5)"),
	WS_OPT_F64(struct advise_args, min_gain, 0, "min-gain", "PERCENT",
		   "only findings that could save this share of the time (1)"),
	WS_OPT_STR(struct advise_args, check, 0, "check", "RULE",
		   "print for each kernel, GPU or process why RULE fires or does not"),
	WS_OPT_BOOL(struct advise_args, list, 0, "list-rules", "print all rules"),
	WS_OPT_STR(struct advise_args, config_dir, 0, "config-dir", "DIR",
		   "use the .finding and .metrics files of DIR as well"),
};

static void set_defaults(void *values)
{
	struct advise_args *args = values;

	args->min_share = args->min_gain = -1;
	args->max = 10;
}

struct advice {
	const struct advise_args *args;
	const char *path;
	struct ana_findings_how how;
	struct ana_metrics *metrics;
	struct ws_arena arena;
};

static const char *rule_id(const void *list, size_t i)
{
	const struct ana_metrics *metrics = list;

	return i < metrics->n_rules ? metrics->rules[i].id : NULL;
}

static enum ws_status load_rules(struct advice *a, const char *arch, struct ws_err *err)
{
	enum ws_status st = ana_metrics_load(arch, a->args->config_dir, &a->metrics, err);
	const char *near;

	if (st || !a->args->check)
		return st;
	for (size_t i = 0; i < a->metrics->n_rules; i++)
		if (strcmp(a->metrics->rules[i].id, a->args->check) == 0)
			return WS_OK;
	near = ws_str_nearest(a->args->check, rule_id, a->metrics);
	return ws_fail(err, WS_E_USAGE, "unknown rule '%s'%s%s: --list-rules prints all",
		       a->args->check, near ? ", did you mean " : "", near ? near : "");
}

static enum ws_status print_findings(struct advice *a, const struct ana_findings *found,
				     struct ws_err *err)
{
	struct ws_buf out;
	enum ws_status st;

	ws_buf_init(&out, SIZE_MAX);
	if (a->args->json)
		rpt_findings_json(found, a->path, &out);
	else if (a->args->check)
		rpt_findings_check(found, &a->arena, &out);
	else
		rpt_findings_text(found, a->args->max, "--max", &a->arena, &out);
	st = ws_buf_status(&out, err);
	if (!st)
		ws_print(stdout, "%s", out.at);
	ws_buf_fini(&out);
	return st;
}

static enum ws_status advise_profile(struct advice *a, struct ws_err *err)
{
	struct ana_finding_profile profile = { 0 };
	struct ana_selection rows = { 0 }, listed = { 0 };
	struct ana_kernel_stat *top = NULL;
	struct ana_findings *found;
	struct wl_workload *load;
	enum ws_status st = wl_workload_open(a->path, NULL, &load, err);

	if (st)
		return st;
	profile.load = load;
	profile.rows = &rows;
	st = load_rules(a, load->arch, err);
	profile.metrics = a->metrics;
	if (!st)
		st = ana_select_rows(load, &(struct ana_filter){ 0 }, &rows, &listed, err);
	if (!st)
		st = ana_top_kernels(load, &rows, &a->arena, &top, &profile.n_top, err);
	profile.top = top;
	if (!st)
		st = ana_findings_of_profile(&profile, &a->how, &a->arena, &found, err);
	if (!st)
		st = print_findings(a, found, err);
	ana_selection_fini(&rows);
	ana_selection_fini(&listed);
	wl_workload_close(load);
	return st;
}

static enum ws_status advise_trace(struct advice *a, struct ws_err *err)
{
	struct merge_inputs inputs = { .folder = "" };
	char *operand = (char *)a->path;
	struct trc_trace *trace = NULL;
	struct ana_findings *found;
	enum ws_status st = merge_inputs_find(&operand, 1, NULL, &inputs, err);

	if (!st)
		st = trc_open(inputs.captures.at, inputs.captures.n, NULL, &trace, err);
	if (!st)
		st = load_rules(a, TRACE_ARCH, err);
	if (!st)
		st = ana_findings_of_trace(trace, a->path, a->metrics, &a->how, &a->arena, &found,
					   err);
	if (!st && !found->n_subjects)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "'%s' has no kernels or copies with times: record them with "
			     "'rocprofv3 --sys-trace'",
			     a->path);
	if (!st)
		st = print_findings(a, found, err);
	trc_close(trace);
	merge_inputs_release(&inputs);
	return st;
}

static enum ws_status list_rules(struct advice *a, struct ws_err *err)
{
	struct ws_buf out;
	enum ws_status st = load_rules(a, TRACE_ARCH, err);

	if (st)
		return st;
	ws_buf_init(&out, SIZE_MAX);
	rpt_rules_text(a->metrics, &out);
	st = ws_buf_status(&out, err);
	if (!st)
		ws_print(stdout, "%s", out.at);
	ws_buf_fini(&out);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct advise_args *args = call->values;
	struct advice a = {
		.args = args,
		.how = { args->min_share, args->min_gain, args->check },
	};
	enum ws_status st;

	(void)exit_code;
	if (call->rest.n != 1 && !args->list)
		return ws_fail(err, WS_E_USAGE,
			       "name one profile folder, capture, database or folder of these");
	ws_arena_init(&a.arena, SIZE_MAX);
	if (!args->list)
		a.path = call->rest.operands[0];
	st = args->list                     ? list_rules(&a, err)
	     : wl_folder_is_profile(a.path) ? advise_profile(&a, err)
					    : advise_trace(&a, err);
	ana_metrics_free(a.metrics);
	ws_arena_fini(&a.arena);
	return st;
}

const struct ws_cmd wavescope_advise_cmd = {
	.name = "advise",
	.summary = "what to look at in a profile or a trace, with the numbers",
	.usage = "[options] DIR|CAPTURE|DATABASE",
	.about = "Checks a profile of 'rocprof-compute profile', or a trace (captures that "
		 "--keep-captures left, or rocpd databases), with rules. Prints what costs time, "
		 "the numbers that say so, an upper bound of what could be gained and what that "
		 "is computed from, and the next command to type.",
	.notes = "Examples:\n"
		 "  wavescope advise workloads/vcopy/MI200\n"
		 "  wavescope advise trace_results.db --json\n"
		 "  wavescope advise workloads/vcopy/MI200 --check lds_bank_conflicts\n",
	.opts = { advise_opts, WS_ARRAY_LEN(advise_opts) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct advise_args),
	.set_defaults = set_defaults,
	.run = run,
};
