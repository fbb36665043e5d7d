/*
 * roofline: the roofline drawn for the terminal, as SVG and as an HTML page.
 *
 * The page is one file: data, style and script are in it, and it asks nothing of the
 * network. All three draw the same model; `types[0]` is the data type shown first.
 *
 * Failure  WS_E_NOMEM; a model without points draws its roofs alone.
 */
#ifndef WS_REPORT_ROOFLINE_H
#define WS_REPORT_ROOFLINE_H

#include "analysis/roofline.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

#define RPT_ROOF_POINTS_MAX 10u /* as many kernels as AMD's tool plots */

struct rpt_roof_model {
	const char *path; /* of the workload, for titles */
	const char *gpu;  /* "MI200 (gfx90a)" */
	bool modelled;    /* a software GPU made the numbers */
	const struct ana_roof_ceilings *types;
	size_t n_types;
	size_t n_shown;  /* types the page shows at first: types[0] and on */
	unsigned levels; /* that the page shows at first: a set of 1 << level; 0: all */
	const struct ana_roof_points *points;
	enum ana_roof_by by;
	const char *const *kernel_names; /* one per point */
};

/* The part of the plane that is drawn: ten to the power of these. */
struct rpt_roof_range {
	double x0, x1, y0, y1;
};

/* Around the roofs of @type, and the points with it. */
struct rpt_roof_range rpt_roof_range(const struct rpt_roof_model *model, size_t type);

/* "GFLOP/s" or "GOP/s", "FLOP/byte" or "OP/byte". */
const char *rpt_roof_rate_unit(enum ana_roof_type type);
const char *rpt_roof_intensity_unit(enum ana_roof_type type);
char rpt_roof_letter(size_t point); /* 'A' and on */

struct rpt_roof_text_style {
	unsigned n_columns, n_rows; /* of the plot; brought within reason */
	bool colours;
};

enum ws_status rpt_roof_text(const struct rpt_roof_model *model,
			     const struct rpt_roof_text_style *style, struct ws_buf *out,
			     struct ws_err *err);
enum ws_status rpt_roof_svg(const struct rpt_roof_model *model, size_t type, struct ws_buf *out,
			    struct ws_err *err);
enum ws_status rpt_roof_html(const struct rpt_roof_model *model, struct ws_buf *out,
			     struct ws_err *err);

/* The controls, the plot, the table and the data of the page, for the script roofline.js. */
void rpt_roof_markup(const struct rpt_roof_model *model, struct ws_buf *out);

#endif
