/*
 * memchart: the memory chart drawn for the terminal and as SVG.
 *
 * The wide drawing is 234 x 42 characters, equal to what rocprof-compute has always
 * printed; the narrow one says the same in 100 columns.
 *
 * Failure  WS_E_NOMEM; otherwise every chart can be drawn, with N/A for what is missing.
 */
#ifndef WS_REPORT_MEMCHART_H
#define WS_REPORT_MEMCHART_H

#include "analysis/memchart.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

#define RPT_MEMCHART_WIDE_COLUMNS 234u
#define RPT_MEMCHART_NARROW_COLUMNS 100u

struct rpt_memchart_style {
	int n_decimals;   /* values are rounded to these before they are drawn */
	bool colours;     /* escape sequences: for a terminal */
	bool as_3_3_0;    /* the scalar cache's wires show N/A, as AMD's 3.3.0 does */
	bool modelled;    /* SVG: say that a software GPU made the numbers */
	const char *name; /* SVG: of the workload, for the title; NULL: none */
};

enum ws_status rpt_memchart_wide(const struct ana_memchart *chart,
				 const struct rpt_memchart_style *style, struct ws_buf *out,
				 struct ws_err *err);
enum ws_status rpt_memchart_narrow(const struct ana_memchart *chart,
				   const struct rpt_memchart_style *style, struct ws_buf *out,
				   struct ws_err *err);
enum ws_status rpt_memchart_svg(const struct ana_memchart *chart,
				const struct rpt_memchart_style *style, struct ws_buf *out,
				struct ws_err *err);

#endif
