/* rocprof-compute analyze: options, and the order of things. */
#include "cmd/compute/analyze.h"

#include "base/file.h"
#include "base/log.h"
#include "base/utf8.h"
#include "screen/screen.h"
#include "workload/pcsample.h"
#include "workload/sysinfo.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T struct an_args

static const char *const format_words[] = { "stdout", "txt", "csv", "json", "db", "html", NULL };
static const char *const sort_words[] = { "kernels", "dispatches", NULL };
static const char *const chart_words[] = { "auto", "wide", "narrow", NULL };
static const char *const pc_sort_words[] = { "offset", "count", NULL };

static const struct ws_opt opts[] = {
	WS_OPT_GROUP("What to read"),
	WS_OPT_SETS(T, paths, 'p', "path", "DIR",
		    "a workload; the first of several is the baseline"),
	WS_OPT_SETS(T, nodes, 0, "nodes", "NAME", "sub-directories of -p; none named: all"),
	WS_OPT_BOOL(T, list_nodes, 0, "list-nodes", "print the sub-directories that are workloads"),
	WS_OPT_BOOL(T, spatial, 0, "spatial-multiplexing", "merge the sub-directories of -p"),
	WS_OPT_STR(T, specs_correction, 0, "specs-correction", "NAME:N,...",
		   "replace fields of sysinfo.csv"),
	WS_OPT_GROUP("What to show"),
	WS_OPT_MANY(T, show.blocks, 'b', "block", "ID",
		    "blocks, tables or metrics: 2, 12.1, 17.3.2, lds"),
	WS_OPT_SETS(T, kernels, 'k', "kernel", "N", "kernels, by row of the top-kernel table"),
	WS_OPT_SETS(T, dispatches, 'd', "dispatch", "N", "dispatches, by row; >N: those after N"),
	WS_OPT_SETS(T, gpu_ids, 0, "gpu-id", "ID", "dispatches of one GPU"),
	WS_OPT_SETS(T, torch_operators, 0, "torch-operator", "GLOB",
		    "kernels of PyTorch operators; needs --experimental"),
	WS_OPT_BOOL(T, list_torch, 0, "list-torch-operators",
		    "print operators and their kernels; needs --experimental"),
	WS_OPT_BOOL(T, list_stats, 0, "list-stats", "print kernels and dispatches only"),
	WS_OPT_BOOL(T, list_available, 0, "list-available-metrics",
		    "print the metrics of the workload's architecture"),
	WS_OPT_I64(T, show.n_findings, 0, "findings", "N",
		   "print up to N findings first, with all blocks or -b 0 (5); 0: none"),
	WS_OPT_I64(T, show.max_stat_num, 0, "max-stat-num", "N", "rows of the top tables (10)"),
	WS_OPT_MANY(T, show.cols, 0, "cols", "N", "columns of metric tables, 0 is the name"),
	WS_OPT_MANY(T, show.include_cols, 0, "include-cols", "NAME",
		    "hidden columns to show: Description, coll_level"),
	WS_OPT_GROUP("Display"),
	WS_OPT_CHOICE(T, show.norm, 'n', "normal-unit", "UNIT", ana_norm_words,
		      "per_wave, per_cycle, per_second or per_kernel (the default)"),
	WS_OPT_CHOICE(T, show.time_unit, 't', "time-unit", "UNIT", RPT_TIME_WORDS,
		      "s, ms, us or ns"),
	WS_OPT_I64(T, show.decimal, 0, "decimal", "N", "digits after the point (2)"),
	WS_OPT_I64(T, kernel_verbose, 0, "kernel-verbose", "N",
		   "template depth of kernel names, 0 to 4; 5: names as recorded"),
	WS_OPT_I64(T, show.report_diff, 0, "report-diff", "PERCENT",
		   "warn about metrics that differ by more between workloads"),
	WS_OPT_BOOL(T, debug, 'g', "debug", "print every formula, its counters and its value"),
	WS_OPT_BOOL(T, show.like_3_3, 0, "like-3.3", "print exactly as AMD's 3.3 does"),
	WS_OPT_BOOL(T, ea_aliases, 0, "ea-aliases",
		    "use TCC_EA_* counters where formulas have TCC_EA0_*, and vice versa"),
	WS_OPT_GROUP("Where it goes"),
	WS_OPT_STR(T, output, 'o', "output", "FILE", "the report, as text"),
	WS_OPT_CHOICE(T, format, 0, "output-format", "FORMAT", format_words,
		      "stdout, txt, csv, json, db or html (a page for a browser)"),
	WS_OPT_STR(T, output_name, 0, "output-name", "NAME", "of the file or folder written"),
	WS_OPT_STR(T, save_dfs, 0, "save-dfs", "DIR", "one CSV file per table"),
	WS_OPT_BOOL(T, tui, 0, "tui",
		    "look around on the terminal: kernels, findings, tables, charts, comparison"),
	WS_OPT_WORDS(T, gui, 0, "gui", "[PORT]",
		     "look around in a browser: serve the page of --output-format html, with "
		     "filters, on port 8050 of this machine; 0: any port"),
	WS_OPT_BOOL(T, random_port, 0, "random-port", "--gui on any port that is free"),
	WS_OPT_GROUP("Charts"),
	WS_OPT_MANY(T, show.roofline_types, 'R', "roofline-data-type", "TYPE",
		    "FP4 FP6 FP8 FP16 BF16 FP32 FP64 I8 I32 I64"),
	WS_OPT_MANY(T, show.mem_levels, 'm', "mem-level", "LEVEL", "HBM, L2, vL1D, LDS"),
	WS_OPT_ONE_OF(T, show.sort, 0, "sort", "WHAT", sort_words,
		      "what a point is: kernels, dispatches"),
	WS_OPT_ONE_OF(T, show.pc_sort, 0, "pc-sampling-sorting-type", "HOW", pc_sort_words,
		      "offset or count"),
	WS_OPT_CHOICE(T, show.memory_chart, 0, "memory-chart", "FORM", chart_words,
		      "wide (234 columns), narrow (100), or auto: by the width of the terminal"),
	WS_OPT_STR(T, charts, 0, "charts", "DIR",
		   "write roofline.html, roofline_TYPE.svg and memory_chart.svg to DIR"),
	WS_OPT_GROUP("Comparing and explaining"),
	WS_OPT_BOOL(T, diff, 0, "diff",
		    "compare kernels with the first -p: changes that are more than noise"),
	WS_OPT_LIST(T, fail_on, 0, "fail-on", "COND,...",
		    "compare, and exit with 3 if COND holds: duration>5%, 2.1.14<-3%, "
		    "vecCopy:SQ_WAVES>0%, duration>2ms"),
	WS_OPT_MANY(T, explain, 0, "explain", "ID",
		    "explain a metric: meaning, formula, counters and steps; an id or a name"),
	WS_OPT_BOOL(T, dependency, 0, "dependency", NULL),
	COMPUTE_GENERAL_OPTS(T, general.),
};

static void set_defaults(void *values)
{
	struct an_args *args = values;

	args->show.norm = ANA_PER_KERNEL;
	args->show.time_unit = RPT_TIME_NS;
	args->show.decimal = 2;
	args->show.max_stat_num = 10;
	args->show.n_findings = 5;
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
			       "%zu times %s for %zu workloads: use it once, or once for each",
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
	an->rpt.runs = ws_arena_array(&an->rpt.arena, n, sizeof(*an->rpt.runs));
	if (!an->rpt.runs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; !st && i < n; i++) {
		struct stat a, b;
		size_t first, n_here;

		group(&args->paths, i, &first, &n_here);
		if (!n_here)
			return ws_fail(err, WS_E_USAGE, "-p without a directory");
		an->rpt.runs[i].path = args->paths.at[first];
		for (size_t k = 0; !st && k < i; k++)
			if (stat(an->rpt.runs[k].path, &a) == 0 &&
			    stat(an->rpt.runs[i].path, &b) == 0 && a.st_dev == b.st_dev &&
			    a.st_ino == b.st_ino)
				st = ws_fail(err, WS_E_USAGE,
					     "You cannot provide the same path twice.: '%s'",
					     an->rpt.runs[i].path);
		an->rpt.n_runs++;
	}
	return st;
}

/* A clock that never ran makes every rate meaningless. */
static enum ws_status check_active(const struct rpt_run *run, struct ws_err *err)
{
	const struct wl_column *col = wl_frame_column(run->load->frames[0], "GRBM_GUI_ACTIVE");
	const char *blocks = wl_workload_fact(run->load, "ip_blocks");

	if (!col || col->is_text || (blocks && strcmp(blocks, "roofline") == 0))
		return WS_OK;
	for (size_t i = 0; i < run->rows.n; i++)
		if (col->at[run->rows.rows[i]] == 0)
			return ws_fail(err, WS_E_FORMAT,
				       "GRBM_GUI_ACTIVE == 0 in dispatch %u of '%s': the GPU's "
				       "counters did not run, profile again or exclude it with -d",
				       run->rows.rows[i], run->path);
	return WS_OK;
}

static enum ws_status mark_chosen(struct an *an, struct rpt_run *run,
				  const struct ana_filter *filter, struct ws_err *err)
{
	if (!filter->n_kernels)
		return WS_OK;
	run->chosen = ws_arena_array(&an->rpt.arena, run->n_top + 1, sizeof(*run->chosen));
	if (!run->chosen)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < filter->n_kernels; i++) {
		uint64_t id;

		if (ws_str_u64(ws_str_from(filter->kernels[i]), &id) && id < run->n_top)
			run->chosen[id] = true;
	}
	return WS_OK;
}

static struct ana_eval_how how_to_evaluate(const struct an_args *args)
{
	return (struct ana_eval_how){ .norm = (enum ana_norm)args->show.norm,
				      .own_level_frame = args->show.like_3_3,
				      .ea_aliases = args->ea_aliases };
}

static enum ws_status open_run(struct an *an, size_t number, struct ws_err *err)
{
	const struct an_args *args = an->args;
	struct rpt_run *run = &an->rpt.runs[number];
	struct wl_workload_how how = { .corrections = args->specs_correction,
				       .kernel_verbose = (int)args->kernel_verbose,
				       .spatial = args->spatial };
	struct ana_eval_how eval_how = how_to_evaluate(args);
	struct ana_filter filter = { 0 };
	size_t first = 0;
	enum ws_status st;

	how.by_nodes = group(&args->nodes, 0, &first, &how.n_nodes);
	how.nodes = args->nodes.at + first;
	st = wl_workload_open(run->path, &how, &run->load, err);
	st = an_name_resume(an, run, st, err);
	if (!st)
		st = pick(&args->kernels, "-k", number, an->rpt.n_runs, &filter.kernels,
			  &filter.n_kernels, err);
	if (!st)
		st = pick(&args->dispatches, "-d", number, an->rpt.n_runs, &filter.dispatches,
			  &filter.n_dispatches, err);
	if (!st)
		st = pick_gpu(args, number, an->rpt.n_runs, &filter, err);
	if (!st && args->torch_operators.n && !args->list_torch)
		st = ana_torch_filter(run->load, &args->torch_operators, &an->rpt.arena, &filter,
				      err);
	if (!st)
		st = ana_select_rows(run->load, &filter, &run->rows, &run->listed, err);
	if (!st)
		st = ana_top_kernels(run->load, &run->listed, &an->rpt.arena, &run->top,
				     &run->n_top, err);
	if (!st)
		st = mark_chosen(an, run, &filter, err);
	if (!st && !args->list_stats)
		st = check_active(run, err);
	if (st)
		return st;
	/* Definitions are loaded once per architecture. */
	for (size_t i = 0; i < number && !run->metrics; i++)
		if (strcmp(an->rpt.runs[i].load->arch, run->load->arch) == 0)
			run->metrics = an->rpt.runs[i].metrics;
	if (!run->metrics) {
		struct ana_metrics *metrics;

		st = ana_metrics_load(run->load->arch, args->general.config_dir, &metrics, err);
		if (st)
			return ws_fail_in(err, st, "%s", run->path);
		run->metrics = metrics;
		run->owns_metrics = true;
	}
	if (number && strcmp(run->load->arch, an->rpt.runs[0].load->arch) != 0)
		ws_log_warn("%s is %s, the baseline %s: only metrics that both have are compared",
			    run->path, run->load->arch, an->rpt.runs[0].load->arch);
	return ana_eval_create(run->load, &run->rows, run->metrics, &eval_how, &run->eval, err);
}

static void close_runs(struct an *an)
{
	for (size_t i = 0; i < an->rpt.n_runs; i++) {
		struct rpt_run *run = &an->rpt.runs[i];

		ana_eval_destroy(run->eval);
		if (run->owns_metrics)
			ana_metrics_free((struct ana_metrics *)(uintptr_t)run->metrics);
		ana_selection_fini(&run->rows);
		ana_selection_fini(&run->listed);
		wl_pcsamples_close(run->samples);
		wl_workload_close(run->load);
	}
}

/* --output-name, or a unique name. */
static enum ws_status output_name(struct an *an, const char *suffix, const char **out_path,
				  struct ws_err *err)
{
	const char *name = an->args->output_name;
	char uuid[64] = "";
	FILE *random;

	if (name && (!name[0] || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789_-") != strlen(name)))
		return ws_fail(err, WS_E_USAGE,
			       "--output-name '%s': letters, digits, '_' and '-' only", name);
	if (!name) {
		random = fopen("/proc/sys/kernel/random/uuid", "re");
		if (!random || !fgets(uuid, sizeof(uuid), random))
			snprintf(uuid, sizeof(uuid), "%ld", (long)getpid());
		if (random)
			fclose(random);
		uuid[strcspn(uuid, "\n")] = '\0';
		name = ws_arena_printf(&an->rpt.arena, "rocprof_compute_%s", uuid);
	}
	*out_path = name ? ws_arena_printf(&an->rpt.arena, "%s%s", name, suffix) : NULL;
	if (!*out_path)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (access(*out_path, F_OK) == 0)
		return ws_fail(err, WS_E_EXISTS,
			       "'%s' exists already: choose another --output-name", *out_path);
	return WS_OK;
}

static enum ws_status write_report(struct an *an, struct ws_err *err)
{
	static const char *const suffixes[] = {
		[AN_TXT] = ".txt", [AN_CSV] = "",       [AN_JSON] = ".json",
		[AN_DB] = ".db",   [AN_HTML] = ".html",
	};
	const char *path = an->args->output;
	enum ws_status st = WS_OK;

	if (an->args->save_dfs)
		st = rpt_save_csv(&an->rpt, an->args->save_dfs, err);
	if (st || an->args->format == AN_STDOUT)
		return st ? st : rpt_save_text(&an->rpt, path, err);
	st = output_name(an, suffixes[an->args->format], &path, err);
	if (st)
		return st;
	switch (an->args->format) {
	case AN_CSV:
		st = rpt_save_csv(&an->rpt, path, err);
		break;
	case AN_JSON:
		st = rpt_save_json(&an->rpt, path, err);
		break;
	case AN_DB:
		st = rpt_save_db(&an->rpt, path, err);
		break;
	case AN_HTML:
		st = rpt_save_html(&an->rpt, path, err);
		break;
	default:
		st = rpt_save_text(&an->rpt, path, err);
	}
	if (!st && !an->args->general.quiet)
		printf("Report written to %s\n", path);
	return st;
}

static enum ws_status run_report(struct an *an, struct ws_err *err)
{
	struct ana_eval_how eval_how = how_to_evaluate(an->args);
	enum ws_status st = find_paths(an, err);

	if (!st && an->args->tui)
		st = scr_check(SCR_WITHOUT_PROFILE, err);
	for (size_t i = 0; !st && i < an->rpt.n_runs; i++)
		st = open_run(an, i, err);
	if (st)
		return st;
	an->rpt.metrics = an->rpt.runs[0].metrics;
	st = an_check_blocks(an, err);
	if (st)
		return st;
	if (an->args->tui || an->args->gui.n)
		return an->args->tui ? scr_profile(&an->rpt, &eval_how, err)
				     : an_gui(an, &eval_how, err);
	if (an->args->list_torch) {
		st = rpt_torch_list(&an->rpt, err);
	} else if (an->args->list_stats) {
		st = rpt_list_stats(&an->rpt, err);
	} else if (an->args->explain.n) {
		st = rpt_explain(&an->rpt, &an->args->explain, err);
	} else if (an->args->diff || an->args->fail_on.n) {
		st = an_diff(an, err);
	} else {
		rpt_leave_top_files(&an->rpt);
		if (an->args->debug)
			rpt_formulas(&an->rpt);
		st = rpt_report_text(&an->rpt, err);
	}
	if (!st && an->args->charts)
		st = rpt_write_charts(&an->rpt, an->args->charts, err);
	return st ? st : write_report(an, err);
}

/* --list-nodes */
static enum ws_status list_nodes(const struct an_args *args, struct ws_err *err)
{
	struct ws_arena arena;
	const char **names;
	enum ws_status st = WS_OK;
	size_t n;

	ws_arena_init(&arena, 16u << 20);
	for (size_t i = 0; !st && i + 1 < args->paths.n; i++) {
		if (args->paths.at[i])
			continue;
		st = wl_workload_nodes(args->paths.at[i + 1], &arena, &names, &n, err);
		if (st)
			break;
		printf("Node list:\n");
		for (size_t k = 0; k < n; k++)
			printf("%s%s", k ? "  " : "", names[k]);
		printf("\n");
	}
	ws_arena_fini(&arena);
	return st;
}

static enum ws_status print_specs(const struct wl_workload *load, struct ws_err *err)
{
	struct wl_sysinfo info;
	struct ws_buf out;
	enum ws_status st;

	ws_buf_init(&out, 16u << 20);
	for (size_t i = 0; i < WL_SYSINFO_COUNT; i++) {
		const char *text = wl_workload_fact(load, wl_sysinfo_rows[i].name);

		info.at[i] = text ? text : "";
	}
	st = rpt_specs(&info, &out, err);
	if (!st)
		fputs(out.at, stdout);
	ws_buf_fini(&out);
	return st;
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
		return ws_fail(err, WS_E_USAGE, "%s requires a workload: -p DIR",
			       args->list_available ? "--list-available-metrics" : "-s");
	st = wl_workload_open(args->paths.at[first], &how, &load, err);
	if (st)
		return st;
	general.list_metrics = load->arch;
	st = args->list_available ? compute_list(&general, true, err) : print_specs(load, err);
	wl_workload_close(load);
	return st;
}

static enum ws_status analyze(const struct an_args *args, int *exit_code, struct ws_err *err)
{
	struct an an = {
		.args = args,
		.rpt = { .how = &args->show,
			 .quiet = args->general.quiet,
			 .on_terminal = !args->output && args->format == AN_STDOUT &&
					isatty(STDOUT_FILENO) },
	};
	enum ws_status st;

	ws_arena_init(&an.rpt.arena, SIZE_MAX);
	ws_buf_init(&an.rpt.out, SIZE_MAX);
	st = run_report(&an, err);
	close_runs(&an);
	ws_buf_fini(&an.rpt.out);
	ws_arena_fini(&an.rpt.arena);
	*exit_code = an.exit_code;
	return st;
}

static enum ws_status run_analyze(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err)
{
	const struct an_args *args = call->values;
	enum ws_status st;
	bool done;

	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "unexpected '%s': workloads are given with -p",
			       call->rest.operands[0]);
	if (args->show.decimal < 0 || args->show.decimal > 30)
		return ws_fail(err, WS_E_USAGE, "--decimal requires a number from 0 to 30");
	st = an_check_gui(args, err);
	if (st)
		return st;
	st = compute_general_apply(&args->general, "analyze", &done, err);
	if (st || done)
		return st;
	if (args->general.list_metrics || args->general.list_blocks)
		return compute_list(&args->general, true, err);
	if (args->general.specs || args->list_available)
		return print_facts(args, err);
	if (args->list_nodes)
		return list_nodes(args, err);
	if (args->list_torch || args->torch_operators.n)
		st = an_check_torch(args, err);
	if (st)
		return st;
	return analyze(args, exit_code, err);
}

enum ws_status an_look_around(char *const *paths, size_t n, const char *config_dir,
			      const char *port, struct ws_err *err)
{
	const char *gui[] = { NULL, port };
	struct an_args args = { .general.config_dir = config_dir, .tui = !port };
	enum ws_status st = WS_OK;
	int ignored;

	set_defaults(&args);
	if (port)
		args.gui = (struct ws_strv){ .at = gui, .n = 2 };
	ws_vec_init(&args.paths, 2 * n);
	for (size_t i = 0; !st && i < n; i++) {
		st = ws_vec_push(&args.paths, NULL, err);
		if (!st)
			st = ws_vec_push(&args.paths, paths[i], err);
	}
	if (!st)
		st = analyze(&args, &ignored, err);
	ws_vec_fini(&args.paths);
	return st;
}

const struct ws_cmd compute_analyze_cmd = {
	.name = "analyze",
	.summary = "metrics of a profiled workload: tables, charts, comparison",
	.usage = "-p DIR [options]",
	.about = "Reads a workload of 'rocprof-compute profile', of any version, and prints the "
		 "metrics of its kernels. With several -p, compares workloads with the first.",
	.notes = "Examples:\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200 -b 0\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200 -b 2 lds 17.2 -k 0\n"
		 "  rocprof-compute analyze -p before -p after -b 2 --report-diff 5\n"
		 "  rocprof-compute analyze -p before -p after --diff --fail-on 'duration>5%'\n"
		 "  rocprof-compute analyze -p workloads/vcopy/MI200 --explain 11.2.4\n"
		 "  rocprof-compute analyze -p before -p after --tui\n"
		 "  rocprof-compute analyze -p before -p after --gui\n"
		 "Exit codes: 0, 1 for a failure, 2 for wrong usage, 3 when a condition of\n"
		 "--fail-on failed.\n",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct an_args),
	.set_defaults = set_defaults,
	.run = run_analyze,
};
