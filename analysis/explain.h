/*
 * explain: how a metric's number comes about, from its counters, step by step.
 *
 * A formula runs over all dispatches at once; people follow it on one. The steps are those
 * of one dispatch (the first that has a value), with every intermediate result; the values
 * of all dispatches and what the table prints follow from the same engine.
 *
 * Memory   everything lives in the arena that was given, and borrows from the metrics.
 */
#ifndef WS_ANALYSIS_EXPLAIN_H
#define WS_ANALYSIS_EXPLAIN_H

#include "analysis/eval.h"
#include "analysis/metric.h"
#include "analysis/select.h"
#include "workload/workload.h"

#define ANA_EXPLAIN_STEPS_MAX 200u

struct ana_explain_name {
	const char *name; /* a variable begins with '$' */
	bool is_variable;
	double here; /* in the dispatch that is shown */
	double mean; /* over the selection */
};

struct ana_explain_step {
	const char *label;   /* "a", "b", .. */
	const char *text;    /* "100 * SQ_BUSY_CYCLES" with labels of earlier steps */
	const char *numbers; /* "100 * 4212" */
	double value;
};

struct ana_explain_cell {
	const char *header;
	const char *formula; /* with the fewest parentheses */
	/* only its aggregate ("MIN") differs from the main formula; else NULL */
	const char *same_as;
	double value;
	const char *why; /* without a value: the reason; else NULL */
};

struct ana_explanation {
	const struct ana_metric *metric;
	const char *unit;
	struct ana_explain_cell *cells;
	size_t n_cells;
	struct ana_explain_name *names; /* of the main formula */
	size_t n_names;
	struct ana_explain_step *steps;
	size_t n_steps;
	bool cut;             /* there were more steps */
	uint32_t row;         /* the dispatch that is shown */
	double here;          /* its value */
	const double *values; /* of every selected dispatch; NULL: the formula has no such inside */
	size_t n_values;
	const char *fold; /* "AVG": how they become one; NULL: it is more than one call */
};

struct ana_explain_source {
	const struct wl_workload *load;
	const struct ana_selection *rows;
	const struct ana_metrics *metrics;
	struct ana_eval *eval; /* of all rows */
	struct ana_eval_how how;
};

enum ws_status ana_explain(const struct ana_explain_source *source, const struct ana_metric *metric,
			   struct ws_arena *arena, struct ana_explanation *out, struct ws_err *err);

#endif
