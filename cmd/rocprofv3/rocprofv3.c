/*
 * rocprofv3: run a program and record what it does with GPUs.
 *
 * We stay its parent: the program ends when it wants, killed or not, and its records
 * are in files by then; we turn them into output and end as it did.
 */
#include "cmd/cmd.h"

#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "cmd/rocprofv3/checks.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/jobs.h"
#include "cmd/rocprofv3/run.h"
#include "cmd/rocprofv3/services.h"
#include "cmd/rocprofv3/version.h"
#include "launch/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ['./app', '-n', '4'] */
static void print_command(FILE *to, char *const *argv)
{
	fputc('[', to);
	for (size_t i = 0; argv[i]; i++)
		fprintf(to, "%s'%s'", i ? ", " : "", argv[i]);
	fputc(']', to);
}

static void set_log_level(const char *level)
{
	static const struct {
		const char *name;
		enum ws_log_level level;
	} levels[] = {
		{ "fatal", WS_LOG_ERROR }, { "error", WS_LOG_ERROR }, { "warning", WS_LOG_WARN },
		{ "info", WS_LOG_INFO },   { "trace", WS_LOG_TRACE },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(levels); i++)
		if (level && strcmp(level, levels[i].name) == 0)
			ws_log_set_level(levels[i].level);
}

/* The listing is rocprofv3-avail's work. */
static enum ws_status list_available(struct ws_err *err)
{
	static const char *const places[] = { ".", NULL };
	char program[PATH_MAX];
	char *const lists[][4] = {
		{ program, "info", "--pc-sampling", NULL },
		{ program, "info", "--pmc", NULL },
	};
	struct ws_proc_end end;
	enum ws_status st = ws_path_beside(places, "rocprofv3-avail", program, err);

	if (st)
		st = ws_path_program("rocprofv3-avail", program, err);
	if (st)
		return ws_fail_in(err, st, "--list-avail");
	for (size_t i = 0; i < WS_ARRAY_LEN(lists) && !st; i++) {
		fflush(stdout);
		st = ws_proc_run(program, lists[i], environ, &end, err);
		if (!st && end.exit_code)
			st = ws_fail(err, WS_E_STATE, "rocprofv3-avail exited with code %d",
				     end.exit_code);
	}
	return st;
}

/* Several jobs: the first program that fails ends them all. */
static enum ws_status judge(const struct rp_result *result, bool several, char *const *argv,
			    struct ws_err *err)
{
	struct ws_buf words;

	if (!several || !result->end.exit_code)
		return WS_OK;
	ws_buf_init(&words, 150);
	for (size_t i = 0; argv[i]; i++)
		ws_buf_printf(&words, "%s'%s'", i ? ", " : "", argv[i]);
	ws_fail(err, WS_E_STATE, "Fatal error: Command '[%s]' returned non-zero exit status %d.",
		words.at, result->end.signal ? -result->end.signal : result->end.exit_code);
	ws_buf_fini(&words);
	return WS_E_STATE;
}

/*
 * Checks the names, devices, definitions and limits of all jobs before anything runs. Among
 * lines that share runs, one may request counters that this GPU does not have, because
 * preset files are written for several architectures. It is reported and skipped.
 */
static enum ws_status plan_jobs(struct rp_jobs *jobs, struct ws_err *err)
{
	static struct launch_counting counting; /* tens of kilobytes */
	struct launch_count_request request;
	enum ws_status st = WS_OK;

	for (size_t i = 0, n; i < jobs->list.n && !st; i += n) {
		size_t n_skipped = 0;

		n = rp_jobs_together(jobs, i);
		for (size_t k = i; k < i + n && !st; k++) {
			struct rp_job *job = &jobs->list.at[k];

			if (!rp_counts(&job->args))
				continue;
			st = rp_counting_init(&counting, &request, &job->args, err);
			if (!st)
				launch_counting_warn(&counting, &request);
			job->skipped = n > 1 && counting.n_gone &&
				       (st == WS_E_NOTFOUND || st == WS_E_UNSUPPORTED);
			launch_counting_fini(&counting);
			if (job->skipped && ++n_skipped < n) {
				ws_log_warn("%s: %s: skipped, the others are counted", job->folder,
					    err->text);
				st = WS_OK;
			}
		}
	}
	return st;
}

/* --dry-run: what these jobs would count, and how. */
static enum ws_status show_plan(const struct rp_job *jobs, size_t n_jobs, struct ws_err *err)
{
	static struct launch_counting counting; /* tens of kilobytes */
	struct launch_count_request request;
	static struct rp_args all;
	enum ws_status st = rp_jobs_merged(jobs, n_jobs, &jobs[0].args, &all, err);

	if (*jobs[0].folder)
		printf(n_jobs > 1 ? "%s to %s, together:\n" : "%s:\n", jobs[0].folder,
		       jobs[n_jobs - 1].folder);
	if (!st && !rp_counts(&all)) {
		puts("no counters were requested: one run, nothing to plan");
	} else if (!st) {
		st = rp_counting_init(&counting, &request, &all, err);
		/* Also with names that are not there: the plan says what is wrong with each. */
		rp_counting_print(&counting, &all);
		launch_counting_fini(&counting);
	}
	ws_vec_fini(&all.pmc);
	return st;
}

static enum ws_status run_jobs(struct rp_jobs *jobs, char **argv, int *exit_code,
			       struct ws_err *err)
{
	struct rp_result result = { .ran = false }, sum = { .ran = false };
	uint32_t env_formats = rp_format_bits(&jobs->env.output_format);
	bool strict = false, several = jobs->list.n > 1;
	enum ws_status st = WS_OK;

	for (size_t i = 0, n; i < jobs->list.n; i += n) {
		struct rp_job *job = &jobs->list.at[i];

		n = rp_jobs_together(jobs, i);
		if (job->args.list_avail == WS_TRI_YES) {
			st = list_available(err);
			if (st || !argv[0])
				return st;
		}
		if (job->args.dry_run == WS_TRI_YES) {
			st = show_plan(job, n, err);
			if (st)
				return st;
			continue;
		}
		if (job->args.echo == WS_TRI_YES) {
			for (size_t k = 0; k < n; k++) {
				fputs("command: ", stdout);
				print_command(stdout, argv);
				fputc('\n', stdout);
			}
			continue;
		}
		fflush(stdout);
		st = rp_run(job, n, env_formats, argv, &result, err);
		if (st)
			return st;
		strict |= job->args.strict == WS_TRI_YES;
		sum.incomplete |= result.incomplete || result.unrecorded;
		sum.short_of_strict |= result.short_of_strict;
		st = judge(&result, several, argv, err);
		if (st)
			return st;
	}
	if (sum.incomplete)
		*exit_code = WS_EXIT_FAILED;
	else if (strict && sum.short_of_strict)
		*exit_code = RP_EXIT_STRICT;
	/* The program's own end, if it has anything to tell. */
	if (result.ran && (result.end.exit_code || result.end.signal)) {
		if (ws_cmd_flush(err))
			ws_log_error("%s", err->text);
		launch_inject_explain_end(&result.end);
		ws_proc_end_as(&result.end);
	}
	return WS_OK;
}

static enum ws_status recover(const struct rp_args *typed, int *exit_code, struct ws_err *err)
{
	struct rp_result result;
	enum ws_status st = rp_recover(typed, &result, err);

	if (!st && result.incomplete)
		*exit_code = WS_EXIT_FAILED;
	else if (!st && typed->strict == WS_TRI_YES && result.short_of_strict)
		*exit_code = RP_EXIT_STRICT;
	return st;
}

static enum ws_status unexpected_words(const struct ws_cmd_call *call, struct ws_err *err)
{
	const char *first = call->rest.operands[0];
	struct ws_buf words;
	enum ws_status st;

	if (ws_opt_find(rp_opts, first))
		return ws_fail(err, WS_E_USAGE, "unrecognized arguments: %s: did you mean '--%s'?",
			       first, first);
	ws_buf_init(&words, 120);
	for (int i = 0; i < call->rest.n_before; i++)
		ws_buf_printf(&words, " %s", call->rest.operands[i]);
	st = ws_fail(err, WS_E_USAGE, "unrecognized arguments:%s: the program goes after '--'",
		     words.at);
	ws_buf_fini(&words);
	return st;
}

static bool nothing_typed(const struct rp_args *args)
{
	for (size_t i = 0; i < rp_opts.n; i++)
		if (rp_is_set(&rp_opts.at[i], args))
			return false;
	return true;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct rp_args *typed = call->values;
	char **argv = call->rest.operands;
	struct rp_jobs jobs;
	char path[PATH_MAX];
	enum ws_status st;

	if (typed->version) {
		rp_print_version();
		return WS_OK;
	}
	if (call->rest.n_before)
		return unexpected_words(call, err);
	if (!call->rest.n && nothing_typed(typed)) {
		ws_help_print(stdout, &cmd_rocprofv3, "rocprofv3", ws_help_columns());
		return WS_OK;
	}
	set_log_level(typed->log_level);
	if (typed->recover)
		return recover(typed, exit_code, err);
	st = rp_jobs_init(&jobs, typed, err);
	/* All jobs before the first is run: a mistake in the last should not cost an hour. */
	for (size_t i = 0; i < jobs.list.n && !st; i++)
		st = rp_check(&jobs.list.at[i].args, call->rest.n > 0, err);
	if (!st)
		st = rp_check_names(&jobs.list.at[0].args, argv, err);
	if (!st && jobs.list.at[0].args.echo != WS_TRI_YES)
		st = rp_attach_gpu(&jobs.list.at[0].args, err);
	if (!st && jobs.list.at[0].args.echo != WS_TRI_YES &&
	    jobs.list.at[0].args.dry_run != WS_TRI_YES)
		st = plan_jobs(&jobs, err);
	if (!st && call->rest.n && jobs.list.at[0].args.echo != WS_TRI_YES) {
		st = ws_path_program(argv[0], path, err);
		if (st)
			*exit_code = ws_proc_exit_code(st);
		else if (rp_n_enabled(&jobs.list.at[0].args) && launch_inject_obstacle(path))
			ws_log_warn("'%s' %s", argv[0], launch_inject_obstacle(path));
	}
	if (!st)
		st = run_jobs(&jobs, argv, exit_code, err);
	rp_jobs_fini(&jobs);
	return st;
}

const struct ws_cmd cmd_rocprofv3 = {
	.name = "rocprofv3",
	.summary = "run a program and record its GPU activity",
	.usage = "[options] -- PROGRAM [ARG...]",
	.about = "Runs PROGRAM and records its kernels, copies, API calls and markers, on AMD GPUs "
		 "or, without one, on the software GPU. After PROGRAM has ended, the output files "
		 "are written, and a summary shows the requested, observed, written and dropped "
		 "records. Flags take an optional yes or no: --sys-trace --hsa-trace=no.",
	.notes =
		"Placeholders in -o and -d:\n"
		"  %hostname% %pid% %ppid% %rank% %size% %job% %nid% %tag% %arg1% %cwd%\n"
		"  %launch_time% %env{NAME}% and more, also as {pid}.\n"
		"\n"
		"Exit code:\n"
		"  that of PROGRAM, also for signals. If PROGRAM succeeded: 1 if output could not\n"
		"  be written, 3 with --strict if a requested service was not observed or records\n"
		"  were lost. 2 for wrong usage, 126 and 127 if PROGRAM cannot be executed.\n"
		"\n"
		"Examples:\n"
		"  rocprofv3 --stats --kernel-trace -f csv -- ./vcopy -n 1048576\n"
		"  rocprofv3 --sys-trace -f pftrace -d out -- python3 train.py\n"
		"  srun -n 4 rocprofv3 -s -o rank%rank% -- ./app",
	.opts = { rp_rows, RP_N_ROWS },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct rp_args),
	.run = run,
};
