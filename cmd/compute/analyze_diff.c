/* --diff and --fail-on: every further -p against the first. */
#include "cmd/compute/analyze.h"

#include "analysis/diff.h"
#include "report/diff.h"

static bool wants(void *of, const struct ana_metric *metric)
{
	const struct an *an = of;

	return rpt_shows_table(&an->rpt, metric->table) &&
	       rpt_shows_metric(&an->rpt, metric->table, metric->index);
}

static struct ana_diff_side side_of(const struct rpt_run *run)
{
	return (struct ana_diff_side){ .load = run->load,
				       .rows = &run->rows,
				       .metrics = run->metrics };
}

static enum ws_status compare_with(struct an *an, size_t number, const struct ana_gates *gates,
				   size_t *n_failed, struct ws_err *err)
{
	struct ana_diff_side a = side_of(&an->rpt.runs[0]), b = side_of(&an->rpt.runs[number]);
	struct ana_diff_how how = {
		.eval = { .norm = (enum ana_norm)an->args->show.norm,
			  .own_level_frame = an->args->show.like_3_3 },
		/* Chosen blocks are compared as they are; else repetitions are left out. */
		.wants = an->args->show.blocks.n ? wants : NULL,
		.of = an,
	};
	struct rpt_diff_style style = {
		.n_decimals = (int)an->args->show.decimal,
		.time_divisor = rpt_time_divisor(&an->args->show),
		.time_unit = rpt_time_word(&an->args->show),
		.n_rows = an->args->show.max_stat_num > 0 ? (size_t)an->args->show.max_stat_num : 0,
	};
	struct ana_gate_result *results;
	struct ana_diff *diff;
	size_t failed = 0;
	enum ws_status st = ana_diff_make(&a, &b, &how, &an->rpt.arena, &diff, err);

	if (!st)
		st = rpt_diff_text(diff, &a, &b, &style, &an->rpt.arena, &an->rpt.out, err);
	if (!st && gates->n)
		st = ana_diff_check(&a, &b, &how, diff, gates, &an->rpt.arena, &results, err);
	if (!st && gates->n)
		st = rpt_gate_text(results, gates->n, &an->rpt.out, &failed, err);
	*n_failed += failed;
	return st;
}

enum ws_status an_diff(struct an *an, struct ws_err *err)
{
	struct ana_gates gates;
	size_t n_failed = 0;
	enum ws_status st = WS_OK;

	if (an->rpt.n_runs < 2)
		return ws_fail(err, WS_E_USAGE,
			       "%s compares workloads: it requires two, -p BEFORE -p AFTER",
			       an->args->diff ? "--diff" : "--fail-on");
	ws_vec_init(&gates, ANA_GATES_MAX);
	for (size_t i = 0; !st && i < an->args->fail_on.n; i++)
		st = ana_gate_parse(an->args->fail_on.at[i], &an->rpt.arena, &gates, err);
	if (st)
		st = ws_fail_in(err, st, "--fail-on");
	for (size_t i = 1; !st && i < an->rpt.n_runs; i++) {
		if (i > 1)
			ws_buf_add(&an->rpt.out, "\n");
		st = compare_with(an, i, &gates, &n_failed, err);
	}
	if (n_failed)
		an->exit_code = AN_EXIT_FAIL_ON;
	ws_vec_fini(&gates);
	return st;
}
