#include "cmd/compute/profile.h"

#include "analysis/counters_needed.h"
#include "analysis/roofline.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"
#include "cmd/compute/profile_collect.h"
#include "cmd/compute/profile_files.h"
#include "cmd/compute/profile_log.h"
#include "workload/merge.h"
#include "workload/names.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_MAX ((size_t)4 << 30) /* mostly which launch stands in for which: 4 bytes each */

/* ---- words of the log ---- */

/* For people at a terminal; a log or a pipe is better off without. */
static void print_banner(void)
{
	static const char banner[] =
		"\n"
		"                                 __                                       _\n"
		" _ __ ___   ___ _ __  _ __ ___  / _|       ___ ___  _ __ ___  _ __  _   _| |_ "
		"___\n"
		"| '__/ _ \\ / __| '_ \\| '__/ _ \\| |_ _____ / __/ _ \\| '_ ` _ \\| '_ \\| | | | "
		"__/ _ \\\n"
		"| | | (_) | (__| |_) | | | (_) |  _|_____| (_| (_) | | | | | | |_) | |_| | ||  "
		"__/\n"
		"|_|  \\___/ \\___| .__/|_|  \\___/|_|        \\___\\___/|_| |_| |_| .__/ "
		"\\__,_|\\__\\___|\n"
		"               |_|                                           |_|\n\n";

	if (isatty(STDOUT_FILENO))
		fputs(banner, stdout);
	fflush(stdout);
}

/* None, or ['a', 'b'] as AMD's tool shows lists. */
static void log_list(const char *label, const char *const *words, size_t n, const char *none)
{
	struct ws_buf text;

	ws_buf_init(&text, 1 << 20);
	for (size_t i = 0; i < n; i++)
		ws_buf_printf(&text, "%s'%s'", i ? ", " : "", words[i]);
	if (n)
		pf_log(PF_LOG_INFO, "%s: [%s]", label, text.at);
	else
		pf_log(PF_LOG_INFO, "%s: %s", label, none);
	ws_buf_fini(&text);
}

/* A folder is about one architecture: its counters, its metrics. */
static void warn_of_others(const struct pf *pf)
{
	for (size_t i = 1; i < pf->agents.n; i++)
		if (strcmp(pf->agents.at[i].arch, pf->gpu->arch) != 0)
			pf_log(PF_LOG_WARNING,
			       "GPU %zu is a %s, but the counters are planned for %s: its kernels "
			       "are "
			       "not counted. ROCR_VISIBLE_DEVICES=%zu profiles it",
			       i, pf->agents.at[i].arch, pf->gpu->arch, i);
}

static void log_header(const struct pf *pf)
{
	const struct pf_args *args = pf->args;

	pf_log(PF_LOG_INFO, "Rocprofiler-Compute version: %s", COMPUTE_VERSION);
	pf_log(PF_LOG_INFO, "Profiler choice: rocprofiler-sdk");
	pf_log(PF_LOG_INFO, "Path: %s", pf->dir);
	pf_log(PF_LOG_INFO, "Target: %s", pf->target);
	pf_log(PF_LOG_INFO, "Command: %s", pf->command);
	if (args->torch_trace)
		pf_log(PF_LOG_INFO, "Torch Trace: Enabled");
	log_list("Kernel Selection", args->kernels.at, args->kernels.n, "None");
	log_list("Dispatch Selection", args->dispatches.at, args->dispatches.n, "None");
	if (args->set)
		pf_log(PF_LOG_INFO, "Set Selection: %s", args->set);
	if (pf->n_sections)
		log_list("Report Sections", pf->sections, pf->n_sections, "All");
	else
		pf_log(PF_LOG_INFO, "Hardware Blocks: All");
	if (pf->agents.soft)
		pf_log(PF_LOG_INFO, "GPU: the software %s: times are simulated", pf->gpu->product);
	warn_of_others(pf);
}

static void log_rule(const struct pf_args *args)
{
	pf_log(PF_LOG_INFO, "%s", "");
	pf_log(PF_LOG_INFO, "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
	pf_log(PF_LOG_INFO, "Collecting Performance Counters%s",
	       args->roof_only ? " (Roofline Only)" : "");
	pf_log(PF_LOG_INFO, "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
	pf_log(PF_LOG_INFO, "%s", "");
}

static void log_plan(const struct pf_collect *c)
{
	static const char *const policies[] = { "", "kernel", "kernel_launch_params" };

	if (c->n_there)
		pf_log(PF_LOG_INFO, "%zu counters are in the folder already; %zu will be collected",
		       c->n_there, c->n_counters);
	if (c->missing)
		pf_log(PF_LOG_WARNING,
		       "Following counters might not be supported by rocprof: %s: metrics that "
		       "need "
		       "them stay empty",
		       c->missing);
	if (!c->plan)
		return;
	if (c->multiplex)
		pf_log(PF_LOG_INFO, "Iteration multiplexing: %s", policies[c->multiplex]);
	if (c->pf->args->attach_pid) {
		pf_log(PF_LOG_INFO, "%zu counter%s in %zu pass%s: attached to process %lld",
		       c->n_counters, c->n_counters == 1 ? "" : "s", c->plan->n_passes,
		       c->plan->n_passes == 1 ? "" : "es", (long long)c->pf->args->attach_pid);
		return;
	}
	pf_log(PF_LOG_INFO, "%zu counter%s in %zu pass%s: %zu run%s of the program%s",
	       c->n_counters, c->n_counters == 1 ? "" : "s", c->plan->n_passes,
	       c->plan->n_passes == 1 ? "" : "es", c->n_runs, c->n_runs == 1 ? "" : "s",
	       c->multiplex ? ", one pass per launch of a kernel"
	       : c->n_runs == 1 && c->plan->n_passes > 1
		       ? ", the GPU repeats each dispatch (kernel replay)"
		       : "");
}

/* ---- setting up ---- */

static enum ws_status join_command(struct pf *pf, struct ws_err *err)
{
	struct ws_buf text;

	ws_buf_init(&text, 4 << 20);
	for (size_t i = 0; pf->argv[i]; i++)
		ws_buf_printf(&text, "%s%s", i ? " " : "", pf->argv[i]);
	pf->command = ws_arena_strndup(&pf->arena, text.at, text.n);
	ws_buf_fini(&text);
	return pf->command ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}

enum ws_status pf_find_gpu(struct pf *pf, struct ws_err *err)
{
	enum ws_status st = launch_gpu_agents(&pf->agents, err);

	if (st)
		return st;
	pf->gpu = &pf->agents.at[0];
	if (pf->args && (pf->args->device < -1 || pf->args->device >= (int64_t)pf->agents.n))
		return ws_fail(err, WS_E_USAGE,
			       "--device %lld: there %s %zu GPU%s, counted from 0; "
			       "-1 is all",
			       (long long)pf->args->device, pf->agents.n == 1 ? "is" : "are",
			       (size_t)pf->agents.n, pf->agents.n == 1 ? "" : "s");
	pf->target = gpu_target_name(pf->gpu->arch, pf->gpu->model);
	return WS_OK;
}

enum ws_status pf_load_metrics(struct pf *pf, struct ws_err *err)
{
	return pf->metrics ? WS_OK
			   : ana_metrics_load(pf->gpu->arch, pf->args->general.config_dir,
					      &pf->metrics, err);
}

static enum ws_status choose_sections(struct pf *pf, struct ws_err *err)
{
	static const char *const roofline[] = { "4" };

	if (pf->args->set) {
		enum ws_status st = pf_load_metrics(pf, err);

		return st ? st
			  : ana_set_sections(pf->metrics, pf->args->set, &pf->arena, &pf->sections,
					     &pf->n_sections, err);
	}
	pf->sections = pf->args->roof_only ? roofline : pf->args->blocks.at;
	pf->n_sections = pf->args->roof_only ? 1 : pf->args->blocks.n;
	return WS_OK;
}

/* --resume alone: the program is the one of the profile that is there. */
static enum ws_status recall_command(struct pf *pf, struct ws_err *err)
{
	struct wl_state old;
	char **argv;
	char cwd[PATH_MAX] = "";
	enum ws_status st = wl_state_read(pf->dir, &pf->arena, &old, err);

	if (st == WS_E_NOTFOUND)
		ws_fail(err, st, "--resume: there is no profile in '%s'", pf->dir);
	if (!st && (!old.argv.n || !getcwd(cwd, sizeof(cwd)) || strcmp(cwd, old.directory) != 0))
		st = ws_fail(
			err, WS_E_STATE,
			"--resume: the profile was started in '%s': change to that folder first",
			old.directory);
	/* U+FFFD stands for a byte that a file of text cannot hold: another argument. */
	for (size_t i = 0; !st && i < old.argv.n; i++)
		if (strstr(old.argv.at[i], "\xef\xbf\xbd"))
			st = ws_fail(err, WS_E_STATE,
				     "--resume: argument %zu of the program is not UTF-8 and was "
				     "not saved: specify the program again, after '--'",
				     i);
	argv = st ? NULL : ws_arena_array(&pf->arena, old.argv.n + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < old.argv.n; i++)
		argv[i] = (char *)old.argv.at[i];
	if (!st && !argv)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st && !pf->n_sections && old.sections.n) {
		const char **sections =
			ws_arena_array(&pf->arena, old.sections.n, sizeof(*sections));

		if (!sections)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t i = 0; sections && i < old.sections.n; i++)
			sections[i] = old.sections.at[i];
		pf->sections = sections;
		pf->n_sections = old.sections.n;
	}
	wl_state_fini(&old);
	pf->argv = argv;
	return st;
}

/* ---- the order of it all ---- */

static enum ws_status bench_only(struct pf *pf, int *exit_code, struct ws_err *err)
{
	struct pf_peaks peaks = { .measured = false };
	enum ws_status st;

	if (!ana_roof_arch_known(pf->gpu->arch))
		return ws_fail(err, WS_E_STATE, "%s does not support roofline analysis",
			       pf->gpu->arch);
	st = ws_mkdirs(pf->dir, err);
	if (!st)
		st = pf_log_open(pf->dir, true, err);
	if (!st)
		st = pf_write_sysinfo(pf, true, err);
	if (!st)
		st = pf_roofline_measure(pf, &peaks, err);
	if (st && peaks.stop_signal)
		*exit_code = 128 + peaks.stop_signal;
	if (!st)
		pf_log(PF_LOG_INFO, "Results: %s/roofline.csv", pf->dir);
	else
		pf_log_to_file(err->text);
	return st;
}

/* --merge */
static enum ws_status merge(const struct pf *pf, struct ws_err *err)
{
	size_t n = 0;
	enum ws_status st;

	if (pf->args->format == PF_FORMAT_ROCPD) {
		st = wl_merge_long(pf->dir, &n, err);
		if (!st)
			pf_log(PF_LOG_INFO, WL_FILE_MERGED " has the rows of %zu passes", n);
	} else {
		st = wl_merge_wide(pf->dir, pf_alike(pf->args), &n, err);
		if (!st)
			pf_log(PF_LOG_INFO, WL_FILE_MERGED " has %zu dispatches, all passes joined",
			       n);
	}
	return st ? ws_fail_in(err, st, "--merge") : WS_OK;
}

/* After the counters: samples, peaks, and the file of all passes. */
static enum ws_status complete(struct pf_collect *c, struct ws_err *err)
{
	struct pf_peaks peaks = { .measured = false };
	enum ws_status st = pf_account(c, err);

	if (!st)
		st = pf_sample(c, err);
	if (!st)
		st = pf_runs_interrupted(c, err);
	if (!st && pf_roofline_wanted(c->pf)) {
		st = pf_roofline_measure(c->pf, &peaks, err);
		c->stop_signal = peaks.stop_signal;
	}
	if (!st && c->pf->args->merge)
		st = merge(c->pf, err);
	return st ? st : pf_finish(c, peaks.measured, err);
}

static enum ws_status collect(struct pf *pf, int *exit_code, struct ws_err *err)
{
	struct pf_collect c = { .pf = pf };
	enum ws_status st = pf->args->torch_trace ? pf_torch_begin(pf, err) : WS_OK;

	if (!st) {
		st = pf_collect_init(&c, pf, err);
		if (st)
			pf_unmake_dir(pf);
	}
	if (!st)
		st = pf_log_open(pf->dir, c.before != PF_FRESH, err);
	if (!st)
		st = pf_write_sysinfo(pf, pf_roofline_wanted(pf), err);
	if (!st)
		st = pf_write_config(pf, &c.state.sections, err);
	if (!st) {
		log_header(pf);
		log_rule(pf->args);
		log_plan(&c);
		st = pf_collect_run(&c, err);
		if (!st)
			st = complete(&c, err);
		if (st)
			pf_log_kept(&c);
	}
	if (st && c.stop_signal)
		*exit_code = 128 + c.stop_signal;
	if (st)
		pf_log_to_file(err->text);
	pf_collect_fini(&c);
	return st;
}

static enum ws_status profile(struct pf *pf, int *exit_code, struct ws_err *err)
{
	bool done = false;
	enum ws_status st = pf_list(pf, &done, err);

	if (st || done)
		return st;
	if (pf->args->attach_pid)
		st = pf_attach_begin(pf, err);
	if (!st)
		st = pf_find_gpu(pf, err);
	if (!st)
		st = pf_pc_interval(pf, err);
	if (!st)
		st = choose_sections(pf, err);
	if (!st)
		st = pf_choose_dir(pf, err);
	if (!st && pf->args->resume && !pf->argv[0])
		st = recall_command(pf, err);
	if (!st)
		st = join_command(pf, err);
	if (st)
		return st;
	return pf->args->bench_only ? bench_only(pf, exit_code, err) : collect(pf, exit_code, err);
}

static enum ws_status unexpected(const struct ws_cmd_call *call, struct ws_err *err)
{
	return ws_fail(err, WS_E_USAGE, "unrecognized arguments: %s: the program goes after '--'",
		       call->rest.operands[0]);
}

enum ws_status pf_run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	static struct pf pf; /* agents are too large for a stack */
	const struct pf_args *args = call->values;
	bool done;
	enum ws_status st = compute_general_apply(&args->general, "profile", &done, err);

	if (st || done)
		return st;
	if (call->rest.n_before)
		return unexpected(call, err);
	pf = (struct pf){ .args = args, .argv = call->rest.operands };
	st = pf_check(args, pf.argv, err);
	if (!st)
		st = pf_log_init(args->general.verbose, args->general.quiet, err);
	if (st)
		return st;
	launch_rank_find_first(launch_lookup_own(), &pf.rank, &pf.launcher);
	if (!pf.rank.rank) /* of many ranks one is enough */
		print_banner();
	if (pf.rank.known && pf.rank.size != 1)
		pf_log_name_rank(pf.rank.rank);
	ws_arena_init(&pf.arena, ARENA_MAX);
	st = profile(&pf, exit_code, err);
	ana_metrics_free(pf.metrics);
	ws_arena_fini(&pf.arena);
	pf_log_fini();
	return st;
}
