/* Findings of traces: rules about rows of quantities.h. */
#include "analysis/finding_priv.h"
#include "analysis/quantities.h"
#include "trace/trace.h"

#include <string.h>

struct trace_search {
	struct ana_finding_search search;
	const struct ana_quantities *quantities;
	const struct ana_quantity_row *row; /* at hand; NULL: all */
};

/* ---- records ---- */

/* The list that 'records =' of a rule names; NULL: no such list. */
static const struct ana_longest *longest_of(const struct ana_quantity_row *row, const char *word)
{
	if (strcmp(word, "Idle") == 0)
		return &row->idle;
	if (strcmp(word, "Copies") == 0)
		return &row->copies;
	for (unsigned c = 0; c < ANA_CALL_COUNT; c++)
		if (strcmp(word, ana_call_words[c]) == 0)
			return &row->calls[c];
	return NULL;
}

static void add_records(void *of, struct ana_finding_case *one)
{
	struct trace_search *ts = of;
	const struct ana_longest *longest = NULL;

	if (ts->row && one->rule->records)
		longest = longest_of(ts->row, one->rule->records);
	if (!longest)
		return;
	memcpy(one->records, longest->at, sizeof(longest->at));
	one->n_records = longest->n;
}

/* ---- subjects ---- */

static const char *subject_name(struct trace_search *ts, const struct ana_quantity_row *row)
{
	const char *program = trc_process_program(row->process);

	if (!row->agent)
		return ws_arena_printf(ts->search.arena, "process %u, %s", row->process->pid,
				       program);
	return ws_arena_printf(ts->search.arena, "GPU %u (%s) of process %u, %s",
			       row->agent->info->node_id, row->agent->name, row->process->pid,
			       program);
}

static double span_of(const struct ana_quantities *q)
{
	return (double)(q->last_ns - q->first_ns);
}

static enum ws_status check_rows(struct trace_search *ts, const struct wl_workload *table,
				 struct ana_selection *sel, enum ana_finding_subject kind,
				 struct ana_finding_case *subject, struct ws_err *err)
{
	struct ana_eval *eval = NULL;
	enum ws_status st;

	if (!subject->subject)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ana_eval_create(table, sel, ts->search.metrics, NULL, &eval, err);
	if (!st)
		st = ana_finding_check(&ts->search, kind, subject, eval, add_records, ts, err);
	ana_eval_destroy(eval);
	return st;
}

static enum ws_status check_each(struct trace_search *ts, const struct wl_workload *table,
				 const struct ana_quantity_row *rows, enum ana_finding_subject kind,
				 struct ws_err *err)
{
	const struct wl_column *kernels = wl_frame_column(table->frames[0], "Kernels");
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; !st && i < table->n_rows; i++) {
		struct ana_selection sel = { .rows = &i, .n = 1, .all = table->n_rows == 1 };
		struct ana_finding_case subject = {
			.subject = subject_name(ts, &rows[i]),
			.time_ns = (double)(rows[i].last_ns - rows[i].first_ns),
			.start_ns = rows[i].first_ns,
			.end_ns = rows[i].last_ns,
			.process = rows[i].process,
			.agent = rows[i].agent,
			.n_dispatches = (size_t)kernels->at[i],
			.kernel_row = i,
		};

		subject.share_pct = 100 * subject.time_ns / span_of(ts->quantities);
		ts->row = &rows[i];
		st = check_rows(ts, table, &sel, kind, &subject, err);
	}
	ts->row = NULL;
	return st;
}

/* Rules that compare: with one row there is nothing to compare, and nothing is missing. */
static void leave_out(struct trace_search *ts, enum ana_finding_subject kind)
{
	for (size_t i = 0; i < ts->search.metrics->n_rules; i++)
		ts->search.counted[i] |= ts->search.metrics->rules[i].subject == kind;
}

/* All rows of a table at once, if there are several. */
static enum ws_status check_all(struct trace_search *ts, const struct wl_workload *table,
				const char *name, enum ana_finding_subject kind, struct ws_err *err)
{
	const struct wl_column *kernels = wl_frame_column(table->frames[0], "Kernels");
	uint32_t *rows = ws_arena_array(ts->search.arena, table->n_rows + 1, sizeof(*rows));
	struct ana_selection sel = { .rows = rows, .n = table->n_rows, .all = true };
	struct ana_finding_case subject = {
		.subject = ws_arena_printf(ts->search.arena, "%zu %s", table->n_rows, name),
		.time_ns = span_of(ts->quantities),
		.start_ns = ts->quantities->first_ns,
		.end_ns = ts->quantities->last_ns,
		.share_pct = 100,
	};

	if (table->n_rows < 2) {
		leave_out(ts, kind);
		return WS_OK;
	}
	if (!rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < table->n_rows; i++) {
		rows[i] = i;
		subject.n_dispatches += (size_t)kernels->at[i];
	}
	return check_rows(ts, table, &sel, kind, &subject, err);
}

/* Where the times of all processes come from. */
static const char *times_of(const struct trc_trace *trace)
{
	const char *word = trc_gpu_times_word(TRC_GPU_TIMES_HARDWARE);

	for (size_t i = 0; i < trc_n_processes(trace); i++) {
		enum trc_gpu_times times = trc_process_gpu_times(trc_process_at(trace, i));

		if (times != TRC_GPU_TIMES_HARDWARE)
			word = times == TRC_GPU_TIMES_HOST
				       ? "how long the host took to simulate the GPU"
				       : trc_gpu_times_word(times);
	}
	return word;
}

enum ws_status ana_findings_of_trace(const struct trc_trace *trace, const char *path,
				     const struct ana_metrics *metrics,
				     const struct ana_findings_how *how, struct ws_arena *arena,
				     struct ana_findings **out_findings, struct ws_err *err)
{
	struct ana_quantities *q = NULL;
	struct trace_search ts = { .row = NULL };
	enum ws_status st = ana_finding_begin(&ts.search, path, metrics, how, arena, err);

	if (!st)
		st = ana_quantities_create(trace, &q, err);
	ts.quantities = q;
	if (!st && q->last_ns > q->first_ns) {
		ts.search.span_ns = span_of(q);
		st = check_each(&ts, &q->gpus, q->gpu_rows, ANA_FINDING_PER_GPU, err);
		if (!st)
			st = check_each(&ts, &q->processes, q->process_rows,
					ANA_FINDING_PER_PROCESS, err);
		if (!st)
			st = check_all(&ts, &q->gpus, "GPUs", ANA_FINDING_ALL_GPUS, err);
		if (!st)
			st = check_all(&ts, &q->processes, "processes", ANA_FINDING_ALL_PROCESSES,
				       err);
	}
	if (!st)
		st = ana_finding_end(&ts.search, times_of(trace), ANA_FINDING_PER_GPU,
				     ANA_FINDING_ALL_PROCESSES, out_findings, err);
	ana_finding_search_fini(&ts.search);
	ana_quantities_destroy(q);
	return st;
}
