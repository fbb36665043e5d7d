/*
 * explain: an explanation of a metric, as text for a terminal.
 */
#ifndef WS_REPORT_EXPLAIN_H
#define WS_REPORT_EXPLAIN_H

#include "analysis/explain.h"
#include "base/str.h"

struct rpt_report;

/* What the metrics of the first run are explained from. */
struct ana_explain_source rpt_explain_source(const struct rpt_report *rpt);

struct rpt_explain_style {
	int n_decimals;
	unsigned n_columns; /* text is filled to it */
};

void rpt_explain_text(const struct ana_explanation *what, const struct wl_workload *load,
		      const struct rpt_explain_style *style, struct ws_buf *out);

/* Words in lines of at most @n_columns; the first behind @indent spaces, others behind @hang. */
void rpt_text_fill(const char *text, unsigned indent, unsigned hang, unsigned n_columns,
		   struct ws_buf *out);

#endif
