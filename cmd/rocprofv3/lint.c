#include "cmd/rocprofv3/lint.h"

#include "base/log.h"
#include "cmd/rocprofv3/checks.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/jobs.h"

#include <stdlib.h>

/* The counters of one job that no GPU here has. One of several jobs is then left out: false. */
static bool check_counters(const struct rp_job *job, bool alone, struct mdl_lint_report *report)
{
	static struct launch_counting counting; /* tens of kilobytes */
	struct launch_count_request request;
	struct ws_err err;
	enum ws_status st = rp_counting_init(&counting, &request, &job->args, &err);
	enum mdl_lint_rule rule = alone ? MDL_LINT_UNKNOWN_COUNTER : MDL_LINT_MISSING_COUNTER;

	for (size_t i = 0;
	     st && counting.n_gone && counting.n_gpus && i < counting.plans[0].plan->n_requests;
	     i++) {
		const struct cnt_plan_request *asked = &counting.plans[0].plan->requests[i];

		if (asked->state != CNT_PLAN_AVAILABLE)
			mdl_lint_add(report, rule, "%s%s%s", job->folder, *job->folder ? ": " : "",
				     asked->why);
	}
	if (st && !counting.n_gone)
		mdl_lint_add(report, MDL_LINT_REJECTED_OPTION, "rocprofv3: %s", err.text);
	launch_counting_fini(&counting);
	return !st;
}

/* How often the program is run for the jobs from @first on, which share their runs. */
static void count_runs(struct rp_jobs *jobs, size_t first, size_t n, struct mdl_lint_report *report)
{
	static struct launch_counting counting;
	struct launch_count_request request;
	static struct rp_args all;
	struct launch_passes passes = { .tool = "rocprofv3" };
	struct ws_err err;
	enum ws_status st =
		rp_jobs_merged(&jobs->list.at[first], n, &jobs->list.at[first].args, &all, &err);

	if (!st && rp_counting_init(&counting, &request, &all, &err) == WS_OK) {
		launch_counting_passes(&counting, &request, &passes);
		mdl_lint_add(report, MDL_LINT_APPLICATION_RUNS,
			     "the application is run %zu %s: %zu %s of counters in %zu %s; AMD's "
			     "rocprofv3 runs it %zu times",
			     launch_passes_n_runs(&passes),
			     launch_passes_n_runs(&passes) == 1 ? "time" : "times", n,
			     n == 1 ? "set" : "sets", counting.n_passes,
			     counting.n_passes == 1 ? "pass" : "passes", n);
	}
	if (!st)
		launch_counting_fini(&counting);
	ws_vec_fini(&all.pmc);
}

/* As plan_jobs() of rocprofv3.c judges them. */
static void check_jobs(struct rp_jobs *jobs, struct mdl_lint_report *report)
{
	for (size_t i = 0, n; i < jobs->list.n; i += n) {
		size_t n_counted = 0;

		n = rp_jobs_together(jobs, i);
		for (size_t k = i; k < i + n; k++) {
			struct rp_job *job = &jobs->list.at[k];

			if (!rp_counts(&job->args))
				continue;
			job->skipped = !check_counters(job, n == 1, report);
			n_counted += !job->skipped;
		}
		if (!rp_counts(&jobs->list.at[i].args))
			continue;
		if (n_counted)
			count_runs(jobs, i, n, report);
		else if (n > 1)
			mdl_lint_add(report, MDL_LINT_UNKNOWN_COUNTER,
				     "the GPUs here have the counters of no line: "
				     "'rocprofv3-avail list --pmc' lists those that they have");
	}
}

static void check_options(const struct rp_args *typed, struct mdl_lint_report *report)
{
	struct rp_jobs jobs;
	struct ws_err err;
	enum ws_status st = rp_jobs_init(&jobs, typed, &err);

	for (size_t i = 0; i < jobs.list.n && !st; i++)
		st = rp_check(&jobs.list.at[i].args, true, &err);
	if (st)
		mdl_lint_add(report, MDL_LINT_REJECTED_OPTION, "rocprofv3: %s", err.text);
	else
		check_jobs(&jobs, report);
	rp_jobs_fini(&jobs);
}

void rp_lint(char **words, size_t n_words, struct mdl_lint_report *report)
{
	static struct rp_args typed;
	char **argv = calloc(n_words + 2, sizeof(*argv));
	enum ws_log_level level = WS_LOG_ERROR;
	struct ws_opt_rest rest;
	struct ws_err err;
	enum ws_status st;

	if (!argv)
		return;
	argv[0] = "rocprofv3";
	for (size_t i = 0; i < n_words; i++)
		argv[1 + i] = words[i];
	while (level < WS_LOG_TRACE && ws_log_shows(level + 1))
		level++;
	ws_log_set_level(WS_LOG_ERROR); /* its warnings belong to the run */
	typed = (struct rp_args){ 0 };
	st = ws_opt_parse(rp_opts, WS_OPT_MIXED, (int)n_words + 1, argv, &typed, &rest, &err);
	if (st)
		mdl_lint_add(report, MDL_LINT_REJECTED_OPTION, "rocprofv3: %s", err.text);
	else if (rest.n)
		mdl_lint_add(report, MDL_LINT_REJECTED_OPTION,
			     "rocprofv3: '%s' is not an option: the program goes after '--'",
			     rest.operands[0]);
	else
		check_options(&typed, report);
	ws_log_set_level(level);
	ws_opt_fini(rp_opts, &typed);
	free(argv);
}
