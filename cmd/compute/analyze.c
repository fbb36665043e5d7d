/* rocprof-compute analyze: options, and the order of things. */
#include "cmd/compute/analyze.h"

#include "base/file.h"
#include "base/log.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T struct an_args

static const char *const format_words[] = { "stdout", "txt", "csv", "json", "db", NULL };
static const char *const time_words[] = { "s", "ms", "us", "ns", NULL };
static const char *const sort_words[] = { "kernels", "dispatches", NULL };
static const char *const chart_words[] = { "auto", "wide", "narrow", NULL };
static const char *const pc_sort_words[] = { "offset", "count", NULL };

static const struct ws_opt opts[] = {
	WS_OPT_GROUP("What to read"),
	WS_OPT_SETS(T, paths, 'p', "path", "DIR",
		    "a workload; the first of several is the baseline"),
	WS_OPT_SETS(T, nodes, 0, "nodes", "NAME...", "sub-directories of -p; none named: all"),
	WS_OPT_BOOL(T, list_nodes, 0, "list-nodes", "print the sub-directories that are workloads"),
	WS_OPT_BOOL(T, spatial, 0, "spatial-multiplexing", "merge the sub-directories of -p"),
	WS_OPT_STR(T, specs_correction, 0, "specs-correction", "NAME:N,...",
		   "replace fields of sysinfo.csv"),
	WS_OPT_GROUP("What to show"),
	WS_OPT_MANY(T, blocks, 'b', "block", "ID...",
		    "blocks, tables or metrics: 2, 12.1, 17.3.2, lds"),
	WS_OPT_SETS(T, kernels, 'k', "kernel", "N...", "kernels, by row of the top-kernel table"),
	WS_OPT_SETS(T, dispatches, 'd', "dispatch", "N...",
		    "dispatches, by row; >N: those after N"),
	WS_OPT_SETS(T, gpu_ids, 0, "gpu-id", "ID...", "dispatches of one GPU"),
	WS_OPT_SETS(T, torch_operators, 0, "torch-operator", "GLOB...",
		    "kernels of PyTorch operators; needs --experimental"),
	WS_OPT_BOOL(T, list_torch, 0, "list-torch-operators",
		    "print operators and their kernels; needs --experimental"),
	WS_OPT_BOOL(T, list_stats, 0, "list-stats", "print kernels and dispatches only"),
	WS_OPT_BOOL(T, list_available, 0, "list-available-metrics",
		    "print the metrics of the workload's architecture"),
	WS_OPT_I64(T, max_stat_num, 0, "max-stat-num", "N", "rows of the top tables (10)"),
	WS_OPT_MANY(T, cols, 0, "cols", "N...", "columns of metric tables, 0 is the name"),
	WS_OPT_MANY(T, include_cols, 0, "include-cols", "NAME...",
		    "hidden columns to show: Description, coll_level"),
	WS_OPT_GROUP("How to show it"),
	WS_OPT_CHOICE(T, norm, 'n', "normal-unit", "UNIT", ana_norm_words,
		      "per_wave, per_cycle, per_second or per_kernel (the default)"),
	WS_OPT_CHOICE(T, time_unit, 't', "time-unit", "UNIT", time_words, "s, ms, us or ns"),
	WS_OPT_I64(T, decimal, 0, "decimal", "N", "digits after the point (2)"),
	WS_OPT_I64(T, kernel_verbose, 0, "kernel-verbose", "N",
		   "template depth of kernel names, 0 to 4; 5: names as recorded"),
	WS_OPT_I64(T, report_diff, 0, "report-diff", "PERCENT",
		   "warn about metrics that differ by more between workloads"),
	WS_OPT_BOOL(T, debug, 'g', "debug", "print every formula, its counters and its value"),
	WS_OPT_BOOL(T, like_3_3, 0, "like-3.3", "print as AMD's 3.3 does, oddities included"),
	WS_OPT_BOOL(T, ea_aliases, 0, "ea-aliases",
		    "take TCC_EA_* counters where formulas ask for TCC_EA0_*, and back"),
	WS_OPT_GROUP("Where it goes"),
	WS_OPT_STR(T, output, 'o', "output", "FILE", "the report, as text"),
	WS_OPT_CHOICE(T, format, 0, "output-format", "FORMAT", format_words,
		      "stdout, txt, csv, json or db"),
	WS_OPT_STR(T, output_name, 0, "output-name", "NAME", "of the file or folder written"),
	WS_OPT_STR(T, save_dfs, 0, "save-dfs", "DIR", "one CSV file per table"),
	WS_OPT_GROUP("Charts"),
	WS_OPT_MANY(T, roofline_types, 'R', "roofline-data-type", "TYPE...",
		    "FP4 FP6 FP8 FP16 BF16 FP32 FP64 I8 I32 I64"),
	WS_OPT_MANY(T, mem_levels, 'm', "mem-level", "LEVEL...", "HBM, L2, vL1D, LDS"),
	WS_OPT_ONE_OF(T, sort, 0, "sort", "WHAT", sort_words,
		      "what a point is: kernels, dispatches"),
	WS_OPT_ONE_OF(T, pc_sort, 0, "pc-sampling-sorting-type", "HOW", pc_sort_words,
		      "offset or count"),
	WS_OPT_CHOICE(T, memory_chart, 0, "memory-chart", "FORM", chart_words,
		      "wide (234 columns), narrow (100), or auto: what the terminal has room for"),
	WS_OPT_STR(T, charts, 0, "charts", "DIR",
		   "write roofline.html, roofline_TYPE.svg and memory_chart.svg to DIR"),
	WS_OPT_GROUP("Comparing and explaining"),
	WS_OPT_BOOL(T, diff, 0, "diff",
		    "compare with the first -p per kernel: what changed by more than noise"),
	WS_OPT_LIST(T, fail_on, 0, "fail-on", "COND,...",
		    "compare, and end with 3 when COND holds: duration>5%, 2.1.14<-3%, "
		    "vecCopy:SQ_WAVES>0%, duration>2ms"),
	WS_OPT_MANY(T, explain, 0, "explain", "ID...",
		    "what a metric means, its formula, counters and steps; an id or a name"),
	WS_OPT_BOOL(T, dependency, 0, "dependency", NULL),
	COMPUTE_GENERAL_OPTS(T, general.),
};

static void set_defaults(void *values)
{
	struct an_args *args = values;

	args->norm = ANA_PER_KERNEL;
	args->time_unit = AN_NS;
	args->decimal = 2;
	args->max_stat_num = 10;
	args->kernel_verbose = 5;
}

/* The members of group @number of a grouped list: at[*first], *n of them. */
static bool group(const struct ws_strv *list, size_t number, size_t *first, size_t *n)
{
	size_t seen = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->at[i] || seen++ != number)
			continue;
		*first = i + 1;
		for (*n = 0; *first + *n < list->n && list->at[*first + *n]; ++*n)
			;
		return true;
	}
	return false;
}

static size_t count_groups(const struct ws_strv *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += !list->at[i];
	return n;
}

/* Filters come in one group for all paths, or one per path. */
static enum ws_status pick(const struct ws_strv *list, const char *option, size_t run,
			   size_t n_paths, const char *const **out_at, size_t *out_n,
			   struct ws_err *err)
{
	size_t n_groups = count_groups(list), first;

	*out_n = 0;
	if (!n_groups)
		return WS_OK;
	if (n_groups != 1 && n_groups != n_paths)
		return ws_fail(err, WS_E_USAGE,
			       "%zu times %s for %zu workloads: give it once, or once for each",
			       n_groups, option, n_paths);
	group(list, n_groups == 1 ? 0 : run, &first, out_n);
	*out_at = list->at + first;
	return WS_OK;
}

/* One id for all paths, or the i-th id for the i-th path. */
static enum ws_status pick_gpu(const struct an_args *args, size_t run, size_t n_paths,
			       struct ana_filter *filter, struct ws_err *err)
{
	const char *const *at;
	enum ws_status st =
		pick(&args->gpu_ids, "--gpu-id", run, n_paths, &at, &filter->n_gpu_ids, err);

	if (st || !filter->n_gpu_ids)
		return st;
	filter->gpu_ids = at;
	if (n_paths > 1 && filter->n_gpu_ids == n_paths) {
		filter->gpu_ids = at + run;
		filter->n_gpu_ids = 1;
	}
	return WS_OK;
}

static enum ws_status find_paths(struct an *an, struct ws_err *err)
{
	const struct an_args *args = an->args;
	size_t n = count_groups(&args->paths);
	enum ws_status st = WS_OK;

	if (!n)
		return ws_fail(
			err, WS_E_USAGE,
			"The following arguments are required: -p/--path: the directory that "
			"'rocprof-compute profile' wrote");
	an->runs = ws_arena_array(&an->arena, n, sizeof(*an->runs));
	if (!an->runs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; !st && i < n; i++) {
		struct stat a, b;
		size_t first, n_here;

		group(&args->paths, i, &first, &n_here);
		if (!n_here)
			return ws_fail(err, WS_E_USAGE, "-p without a directory");
		an->runs[i].path = args->paths.at[first];
		for (size_t k = 0; !st && k < i; k++)
			if (stat(an->runs[k].path, &a) == 0 && stat(an->runs[i].path, &b) == 0 &&
			    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
				st = ws_fail(err, WS_E_USAGE,
					     "You cannot provide the same path twice.: '%s'",
					     an->runs[i].path);
		an->n_runs++;
	}
	return st;
}

/* A clock that never ran makes every rate meaningless. */
static enum ws_status check_active(const struct an_run *run, struct ws_err *err)
{
	const struct wl_column *col = wl_frame_column(run->load->frames[0], "GRBM_GUI_ACTIVE");
	const char *blocks = wl_workload_fact(run->load, "ip_blocks");

	if (!col || col->is_text || (blocks && strcmp(blocks, "roofline") == 0))
		return WS_OK;
	for (size_t i = 0; i < run->rows.n; i++)
		if (col->at[run->rows.rows[i]] == 0)
			return ws_fail(err, WS_E_FORMAT,
				       "GRBM_GUI_ACTIVE == 0 in dispatch %u of '%s': the GPU's "
				       "counters did "
				       "not run, profile again or leave it out with -d",
				       run->rows.rows[i], run->path);
	return WS_OK;
}

static enum ws_status mark_chosen(struct an *an, struct an_run *run,
				  const struct ana_filter *filter, struct ws_err *err)
{
	if (!filter->n_kernels)
		return WS_OK;
	run->chosen = ws_arena_array(&an->arena, run->n_top + 1, sizeof(*run->chosen));
	if (!run->chosen)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < filter->n_kernels; i++) {
		uint64_t id;

		if (ws_str_u64(ws_str_from(filter->kernels[i]), &id) && id < run->n_top)
			run->chosen[id] = true;
	}
	return WS_OK;
}

static enum ws_status open_run(struct an *an, size_t number, struct ws_err *err)
{
	const struct an_args *args = an->args;
	struct an_run *run = &an->runs[number];
	struct wl_workload_how how = { .corrections = args->specs_correction,
				       .kernel_verbose = (int)args->kernel_verbose,
				       .spatial = args->spatial };
	struct ana_eval_how eval_how = { .norm = (enum ana_norm)args->norm,
					 .own_level_frame = args->like_3_3,
					 .ea_aliases = args->ea_aliases };
	struct ana_filter filter = { 0 };
	size_t first = 0;
	enum ws_status st;

	how.by_nodes = group(&args->nodes, 0, &first, &how.n_nodes);
	how.nodes = args->nodes.at + first;
	st = wl_workload_open(run->path, &how, &run->load, err);
	st = an_name_resume(an, run, st, err);
	if (!st)
		st = pick(&args->kernels, "-k", number, an->n_runs, &filter.kernels,
			  &filter.n_kernels, err);
	if (!st)
		st = pick(&args->dispatches, "-d", number, an->n_runs, &filter.dispatches,
			  &filter.n_dispatches, err);
	if (!st)
		st = pick_gpu(args, number, an->n_runs, &filter, err);
	if (!st && args->torch_operators.n && !args->list_torch)
		st = an_torch_filter(an, run, &filter, err);
	if (!st)
		st = ana_select_rows(run->load, &filter, &run->rows, &run->listed, err);
	if (!st)
		st = ana_top_kernels(run->load, &run->listed, &an->arena, &run->top, &run->n_top,
				     err);
	if (!st)
		st = mark_chosen(an, run, &filter, err);
	if (!st && !args->list_stats)
		st = check_active(run, err);
	if (st)
		return st;
	/* Definitions are loaded once per architecture. */
	for (size_t i = 0; i < number && !run->metrics; i++)
		if (strcmp(an->runs[i].load->arch, run->load->arch) == 0)
			run->metrics = an->runs[i].metrics;
	if (!run->metrics) {
		struct ana_metrics *metrics;

		st = ana_metrics_load(run->load->arch, args->general.config_dir, &metrics, err);
		if (st)
			return ws_fail_in(err, st, "%s", run->path);
		run->metrics = metrics;
		run->owns_metrics = true;
	}
	if (number && strcmp(run->load->arch, an->runs[0].load->arch) != 0)
		ws_log_warn("%s is %s, the baseline %s: only metrics that both have are compared",
			    run->path, run->load->arch, an->runs[0].load->arch);
	return ana_eval_create(run->load, &run->rows, run->metrics, &eval_how, &run->eval, err);
}

static void close_runs(struct an *an)
{
	for (size_t i = 0; i < an->n_runs; i++) {
		struct an_run *run = &an->runs[i];

		ana_eval_destroy(run->eval);
		if (run->owns_metrics)
			ana_metrics_free((struct ana_metrics *)(uintptr_t)run->metrics);
		ana_selection_fini(&run->rows);
		ana_selection_fini(&run->listed);
		wl_workload_close(run->load);
	}
}

bool an_may_write(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && st.st_mode & 0222 && access(dir, W_OK) == 0;
}

/* What analyze has always left beside the data; a workload may be read-only, and that is fine. */
static void leave_top_files(struct an *an, struct an_run *run)
{
	static const struct {
		const char *name;
		unsigned table;
	} files[] = { { "pmc_kernel_top.csv", 1 }, { "pmc_dispatch_info.csv", 2 } };

	if (!an_may_write(run->path))
		return;
	for (size_t i = 0; i < WS_ARRAY_LEN(files); i++) {
		const struct ana_table *table = ana_table_find(an->metrics, 0, files[i].table);
		char *path = ws_arena_printf(&an->arena, "%s/%s", run->path, files[i].name);
		struct rpt_grid grid;
		struct ws_buf text;

		ws_buf_init(&text, SIZE_MAX);
		if (path && table && !an_grid(an, run, table, true, &grid, NULL) && grid.n_rows) {
			an_drop_labels(&grid);
			if (!rpt_grid_csv(&grid, &text, NULL))
				ws_file_replace(path, text.at, text.n, NULL);
		}
		ws_buf_fini(&text);
	}
}

/* The length of a colour of ours ("\033[1;31m") at @at; 0: it is none. */
static size_t colour_length(const char *at)
{
	size_t n = at[0] == '\033' && at[1] == '[' ? 2 + strspn(at + 2, "0123456789;") : 0;

	return n && at[n] == 'm' ? n + 1 : 0;
}

/*
 * Paths, fields of sysinfo.csv and the like come from others. This is the one place through which
 * the report reaches a terminal: what it would obey, but for colours, is written in words.
 */
static void make_shown(struct an *an)
{
	struct ws_buf made;

	if (ws_shown_ok(an->out.at, an->out.n, "\n\t"))
		return;
	ws_buf_init(&made, SIZE_MAX);
	for (const char *at = an->out.at, *end = at + an->out.n; at < end;) {
		size_t n = (size_t)(end - at), colour = colour_length(at);
		const char *next = memchr(at + 1, '\033', n - 1);

		n = next ? (size_t)(next - at) : n;
		ws_buf_add_n(&made, at, colour);
		ws_buf_add_shown(&made, at + colour, n - colour, "\n\t");
		at += n;
	}
	ws_buf_fini(&an->out);
	an->out = made;
}

static enum ws_status write_text(struct an *an, const char *path, struct ws_err *err)
{
	FILE *to = path ? fopen(path, "we") : stdout;
	bool ok;

	if (!to)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	make_shown(an);
	ok = fwrite(an->out.at, 1, an->out.n, to) == an->out.n;
	if ((to != stdout && fclose(to) != 0) || (path && !ok))
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	return WS_OK;
}

static enum ws_status write_report(struct an *an, struct ws_err *err)
{
	static const char *const suffixes[] = {
		[AN_TXT] = ".txt", [AN_CSV] = "", [AN_JSON] = ".json", [AN_DB] = ".db"
	};
	const char *path = an->args->output;
	enum ws_status st = WS_OK;

	if (an->args->save_dfs)
		st = an_save_csv(an, an->args->save_dfs, err);
	if (st || an->args->format == AN_STDOUT)
		return st ? st : write_text(an, path, err);
	st = an_output_name(an, suffixes[an->args->format], &path, err);
	if (st)
		return st;
	switch (an->args->format) {
	case AN_CSV:
		st = an_save_csv(an, path, err);
		break;
	case AN_JSON:
		st = an_save_json(an, path, err);
		break;
	case AN_DB:
		st = an_save_db(an, path, err);
		break;
	default:
		st = write_text(an, path, err);
	}
	if (!st && !an->args->general.quiet)
		printf("Report written to %s\n", path);
	return st;
}

static enum ws_status run_report(struct an *an, struct ws_err *err)
{
	enum ws_status st = find_paths(an, err);

	for (size_t i = 0; !st && i < an->n_runs; i++)
		st = open_run(an, i, err);
	if (st)
		return st;
	an->metrics = (struct ana_metrics *)(uintptr_t)an->runs[0].metrics;
	st = an_check_blocks(an, err);
	if (st)
		return st;
	if (an->args->list_torch) {
		st = an_torch_list(an, err);
	} else if (an->args->list_stats) {
		st = an_list_stats(an, err);
	} else if (an->args->explain.n) {
		st = an_explain(an, err);
	} else if (an->args->diff || an->args->fail_on.n) {
		st = an_diff(an, err);
	} else {
		leave_top_files(an, &an->runs[0]);
		if (an->args->debug)
			an_debug(an);
		st = an_report(an, err);
	}
	if (!st && an->args->charts)
		st = an_write_charts(an, err);
	return st ? st : write_report(an, err);
}

/* -s and --list-available-metrics: the machine of the first workload is enough. */
static enum ws_status print_facts(const struct an_args *args, struct ws_err *err)
{
	struct wl_workload_how how = { .facts_only = true, .corrections = args->specs_correction };
	struct compute_general general = args->general;
	struct wl_workload *load;
	size_t first, n;
	enum ws_status st;

	if (!group(&args->paths, 0, &first, &n) || !n)
		return ws_fail(err, WS_E_USAGE, "%s wants the workload: -p DIR",
			       args->list_available ? "--list-available-metrics" : "-s");
	st = wl_workload_open(args->paths.at[first], &how, &load, err);
	if (st)
		return st;
	general.list_metrics = load->arch;
	st = args->list_available ? compute_list(&general, true, err) : an_print_specs(load, err);
	wl_workload_close(load);
	return st;
}

static enum ws_status run_analyze(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err)
{
	const struct an_args *args = call->values;
	struct an an = { .args = args };
	enum ws_status st;
	bool done;

	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "unexpected '%s': workloads are given with -p",
			       call->rest.operands[0]);
	if (args->decimal < 0 || args->decimal > 30)
		return ws_fail(err, WS_E_USAGE, "--decimal wants a number from 0 to 30");
	st = compute_general_apply(&args->general, "analyze", &done, err);
	if (st || done)
		return st;
	if (args->general.list_metrics || args->general.list_blocks)
		return compute_list(&args->general, true, err);
	if (args->general.specs || args->list_available)
		return print_facts(args, err);
	if (args->list_nodes)
		return an_list_nodes(args, err);
	if (args->list_torch || args->torch_operators.n)
		st = an_torch_check(args, err);
	if (st)
		return st;
	ws_arena_init(&an.arena, SIZE_MAX);
	ws_buf_init(&an.out, SIZE_MAX);
	st = run_report(&an, err);
	close_runs(&an);
	ws_buf_fini(&an.out);
	ws_arena_fini(&an.arena);
	*exit_code = an.exit_code;
	return st;
}

const struct ws_cmd compute_analyze_cmd = {
	.name = "analyze",
	.summary = "metrics of a profiled workload: tables, charts, comparison",
	.usage = "-p DIR [options]",
	.about = "Reads what 'rocprof-compute profile' wrote, of any version, and prints the "
		 "metrics "
		 "of its kernels. Several -p compare workloads with the first.",
	.notes = "Examples:\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200 -b 2 lds 17.2 -k 0\n"
		 "  rocprof-compute analyze -p before -p after -b 2 --report-diff 5\n"
		 "  rocprof-compute analyze -p before -p after --diff --fail-on 'duration>5%'\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200 --explain 11.2.4\n"
		 "Exit codes: 0, 1 for a failure, 2 for wrong usage, 3 when a condition of\n"
		 "--fail-on failed.\n",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct an_args),
	.set_defaults = set_defaults,
	.run = run_analyze,
};
