/* Conditions on a comparison: what --fail-on names is found, compared and judged. */
#include "analysis/diff_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- what a condition is about ---- */

static bool looks_like_id(const char *text)
{
	return text[strspn(text, "0123456789.")] == '\0';
}

static enum ws_status not_found(const struct ana_metrics *metrics, const char *text,
				struct ws_err *err)
{
	return ws_fail(
		err, WS_E_USAGE,
		"no metric '%s' on %s: 'rocprof-compute analyze --list-metrics %s' lists them",
		text, metrics->arch, metrics->arch);
}

/* Names repeat between tables; the same formula under two ids is no question. */
static enum ws_status lookup_name(const struct ana_metrics *metrics, const char *text,
				  const struct ana_metric **out_metric, struct ws_err *err)
{
	const struct ana_metric *found = NULL;
	char ids[120] = "";
	size_t n = 0;

	for (size_t b = 0; b < metrics->n_blocks; b++) {
		for (size_t t = 0; t < metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = metrics->blocks[b]->tables[t];
			int header = ana_metric_main_header(table);

			for (size_t i = 0; header >= 0 && i < table->n_metrics; i++) {
				const struct ana_metric *metric = &table->metrics[i];

				if (strcasecmp(metric->name, text))
					continue;
				if (found &&
				    metric->cells[header].expr ==
					    found->cells[ana_metric_main_header(found->table)].expr)
					continue;
				if (found && metric->table->block == 3)
					continue; /* the chart rounds what other tables have */
				if (!found || found->table->block == 3) {
					found = metric;
					n = 0;
				}
				if (strlen(ids) + 16 < sizeof(ids))
					snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids),
						 "%s%u.%u.%u", ids[0] ? ", " : "", table->block,
						 table->index, metric->index);
				n++;
			}
		}
	}
	if (!found)
		return not_found(metrics, text, err);
	if (n > 1)
		return ws_fail(err, WS_E_USAGE, "'%s' names several metrics (%s): use the id", text,
			       ids);
	*out_metric = found;
	return WS_OK;
}

enum ws_status ana_metric_lookup(const struct ana_metrics *metrics, const char *text,
				 const struct ana_metric **out_metric, struct ws_err *err)
{
	struct ana_metric_id id;

	if (!looks_like_id(text))
		return lookup_name(metrics, text, out_metric, err);
	if (!ana_metric_id_parse(metrics, text, &id) || id.table < 0 || id.index < 0)
		return ws_fail(err, WS_E_USAGE,
			       "'%s' is not a metric id: an id has three numbers, such as 2.1.14",
			       text);
	*out_metric = ana_metric_find(metrics, id.block, (unsigned)id.table, (unsigned)id.index);
	return *out_metric ? WS_OK : not_found(metrics, text, err);
}

enum subject_kind { DURATION, TOTAL_DURATION, METRIC, COUNTER };

struct subject {
	enum subject_kind kind;
	const struct ana_metric *metric;
	int header;
};

static bool has_counter(const struct wl_workload *load, const char *name)
{
	for (size_t f = 0; f < load->n_frames; f++)
		if (wl_frame_column(load->frames[f], name))
			return true;
	return false;
}

static enum ws_status find_subject(const struct ana_diff_side *a, const struct ana_gate *gate,
				   struct subject *out, struct ws_err *err)
{
	enum ws_status st;

	*out = (struct subject){ 0 };
	if (!strcasecmp(gate->what, "duration")) {
		out->kind = DURATION;
		return WS_OK;
	}
	if (!strcasecmp(gate->what, "total_duration")) {
		out->kind = TOTAL_DURATION;
		if (gate->kernel)
			return ws_fail(err, WS_E_USAGE,
				       "condition '%s': total_duration is of all "
				       "kernels; use 'duration' for one",
				       gate->text);
		return WS_OK;
	}
	if (has_counter(a->load, gate->what)) {
		out->kind = COUNTER;
	} else {
		st = ana_metric_lookup(a->metrics, gate->what, &out->metric, err);
		if (st)
			return ws_fail_in(err, st, "condition '%s'", gate->text);
		out->kind = METRIC;
		out->header = ana_metric_main_header(out->metric->table);
		if (out->header < 0 || out->metric->table->kind != ANA_TABLE_METRICS)
			return ws_fail(err, WS_E_USAGE,
				       "condition '%s': table %u.%u has no numbers to "
				       "compare",
				       gate->text, out->metric->table->block,
				       out->metric->table->index);
	}
	if (gate->time_ns > 0)
		return ws_fail(err, WS_E_USAGE,
			       "condition '%s': only durations are times; use a plain number or a "
			       "percentage",
			       gate->text);
	return WS_OK;
}

/* ---- judging ---- */

static enum ana_gate_verdict judge(const struct ana_gate *gate, const struct ana_comparison *c)
{
	if (c->change == ANA_CHANGE_ABSENT)
		return ANA_GATE_UNCHECKED;
	if (!gate->percent) {
		double unit = gate->time_ns > 0 ? gate->time_ns : 1;

		return ana_gate_fails(gate, c->b.mean / unit) ? ANA_GATE_FAILED : ANA_GATE_HOLDS;
	}
	if (isnan(c->percent)) {
		/* From 0 to something: more than any percentage, in its direction. */
		if (!ana_gate_fails(gate, c->delta > 0 ? INFINITY : -INFINITY))
			return ANA_GATE_HOLDS;
	} else if (!ana_gate_fails(gate, c->percent)) {
		return ANA_GATE_HOLDS;
	}
	/* Noise is no change, which fails where a change is required ("IPC<5%"); unknown counts. */
	return c->change == ANA_CHANGE_NOISE && !ana_gate_fails(gate, 0) ? ANA_GATE_IN_NOISE
									 : ANA_GATE_FAILED;
}

static double badness(const struct ana_gate *gate, const struct ana_comparison *c)
{
	double value = gate->percent ? c->percent : c->b.mean;

	if (isnan(value))
		value = c->delta > 0 ? INFINITY : -INFINITY;
	return gate->op == ANA_GATE_GT || gate->op == ANA_GATE_GE ? value : -value;
}

static enum ws_status compare_subject(struct ana_pair *pair, const struct subject *subject,
				      const struct ana_gate *gate, struct ana_comparison *out,
				      struct ws_err *err)
{
	switch (subject->kind) {
	case METRIC:
		return ana_pair_metric(pair, subject->metric, subject->header, out, err);
	case COUNTER:
		ana_pair_counter(pair, gate->what, out);
		return WS_OK;
	default:
		ana_pair_durations(pair, out);
		return WS_OK;
	}
}

static void check_total(const struct ana_diff *diff, struct ana_gate_result *result)
{
	ana_compare(&diff->sum_a_ns, 1, &diff->sum_b_ns, 1, &result->c);
	result->unit = "ns";
	result->n_kernels = diff->n_kernels;
	result->verdict = judge(result->gate, &result->c);
	result->n_failed = result->verdict == ANA_GATE_FAILED;
}

/* The worst of the kernels stands for the condition. */
static void take_worse(struct ana_gate_result *result, const struct ana_comparison *c,
		       const char *kernel, bool first)
{
	enum ana_gate_verdict verdict = judge(result->gate, c);

	result->n_failed += verdict == ANA_GATE_FAILED;
	if (!first && (verdict < result->verdict ||
		       (verdict == result->verdict &&
			badness(result->gate, c) <= badness(result->gate, &result->c))))
		return;
	result->verdict = verdict;
	result->c = *c;
	result->kernel = kernel;
}

static enum ws_status check_kernels(const struct ana_diff_side *a, const struct ana_diff_side *b,
				    const struct ana_diff_how *how, const struct ana_diff *diff,
				    const struct subject *subject, struct ana_gate_result *result,
				    struct ws_arena *arena, struct ws_err *err)
{
	for (size_t i = 0; i < diff->n_common; i++) {
		struct ana_comparison c;
		struct ana_pair pair;
		enum ws_status st;

		if (!ana_gate_names(result->gate, diff->kernels[i].name))
			continue;
		st = ana_pair_open(a, b, how, diff->kernels[i].name, &pair, err);
		if (st)
			return st;
		st = compare_subject(&pair, subject, result->gate, &c, err);
		if (!st && subject->kind == METRIC && !result->unit)
			result->unit = ana_eval_unit(pair.eval[0], subject->metric->unit, arena);
		ana_pair_close(&pair);
		if (st)
			return st;
		/* A kernel for which there is no value tells nothing while another has one. */
		if (c.change == ANA_CHANGE_ABSENT)
			continue;
		take_worse(result, &c, diff->kernels[i].shown, !result->n_kernels);
		result->n_kernels++;
	}
	if (!result->n_kernels) {
		result->verdict = ANA_GATE_UNCHECKED;
		result->why = !diff->n_common ? "no kernel is in both runs"
			      : result->gate->kernel && subject->kind == DURATION
				      ? "no such kernel is in both runs"
			      : result->gate->kernel ? "no such kernel with a value is in both runs"
						     : "it has no value in both runs";
	}
	return WS_OK;
}

enum ws_status ana_diff_check(const struct ana_diff_side *a, const struct ana_diff_side *b,
			      const struct ana_diff_how *how, const struct ana_diff *diff,
			      const struct ana_gates *gates, struct ws_arena *arena,
			      struct ana_gate_result **out_results, struct ws_err *err)
{
	struct ana_gate_result *results = ws_arena_array(arena, gates->n + 1, sizeof(*results));

	if (!results)
		return ws_fail(err, WS_E_NOMEM, "no memory for %zu conditions", gates->n);
	for (size_t i = 0; i < gates->n; i++) {
		struct subject subject;
		enum ws_status st = find_subject(a, &gates->at[i], &subject, err);

		if (st)
			return st;
		results[i].gate = &gates->at[i];
		if (subject.kind == TOTAL_DURATION) {
			check_total(diff, &results[i]);
			continue;
		}
		results[i].unit = subject.kind == DURATION  ? "ns"
				  : subject.kind == COUNTER ? ""
							    : NULL;
		st = check_kernels(a, b, how, diff, &subject, &results[i], arena, err);
		if (st)
			return st;
	}
	*out_results = results;
	return WS_OK;
}
