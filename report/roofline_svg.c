/* The roofline of one data type as a picture that can be printed. */
#include "report/number.h"
#include "report/roofline.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 1200
#define PLOT_X0 84.0
#define PLOT_X1 800.0
#define PLOT_Y0 84.0 /* the top */
#define PLOT_Y1 600.0
#define LIST_X 836.0
#define LABELS_MAX 64

/* clang-format off */
/* Okabe and Ito's colours: they stay apart for every kind of colour blindness. */
static const char css[] =
	".page{fill:#ffffff}\n"
	".frame{fill:none;stroke:#8a99ad}\n"
	".grid{stroke:#e3e9f0;stroke-width:1}\n"
	".grid2{stroke:#f1f4f8;stroke-width:1}\n"
	".tick{font-size:12px;fill:#4a5a6b}\n"
	".axis{font-size:13px;fill:#1b2733}\n"
	".title{font-size:18px;font-weight:650;fill:#1b2733}\n"
	".note{font-size:12.5px;fill:#4a5a6b}\n"
	".name{font-size:12.5px;fill:#1b2733}\n"
	".small{font-size:11.5px;fill:#4a5a6b}\n"
	".letter{font-size:12px;font-weight:700;fill:#1b2733;stroke:#ffffff;stroke-width:3px;paint-order:stroke}\n"
	".roofname{font-size:11.5px;font-weight:600;stroke:#ffffff;stroke-width:3px;paint-order:stroke}\n"
	".HBM{stroke:#d55e00}\n.L2{stroke:#009e73}\n.L1{stroke:#0072b2}\n.LDS{stroke:#e69f00}\n"
	".VALU{stroke:#cc79a7}\n.MFMA{stroke:#56b4e9}\n"
	".tHBM{fill:#b24e00}\n.tL2{fill:#007a59}\n.tL1{fill:#0072b2}\n.tLDS{fill:#9a6a00}\n"
	".tVALU{fill:#a8487f}\n.tMFMA{fill:#1f7fb4}\n"
	".mHBM{fill:#d55e00}\n.mL2{fill:#009e73}\n.mL1{fill:#0072b2}\n.mLDS{fill:#e69f00}\n"
	".slope{stroke-width:2;fill:none}\n"
	".roof{stroke-width:2.4;fill:none}\n"
	".join{stroke:#8a99ad;stroke-width:1;stroke-dasharray:2 3}\n"
	".mark{stroke:#ffffff;stroke-width:1}\n";

static const char dark_css[] =
	".page{fill:#12171e}\n"
	".frame{stroke:#5f7185}\n.grid{stroke:#27313c}\n.grid2{stroke:#1b232c}\n"
	".tick,.note,.small{fill:#a9b7c6}\n.axis,.title,.name{fill:#e8eef5}\n"
	".letter{fill:#e8eef5;stroke:#12171e}\n.roofname{stroke:#12171e}\n"
	".HBM{stroke:#f0883e}\n.L2{stroke:#2fc79b}\n.L1{stroke:#4aa8e0}\n.LDS{stroke:#f0c040}\n"
	".VALU{stroke:#e09cc4}\n.MFMA{stroke:#8fd0f5}\n"
	".tHBM{fill:#f0883e}\n.tL2{fill:#2fc79b}\n.tL1{fill:#4aa8e0}\n.tLDS{fill:#f0c040}\n"
	".tVALU{fill:#e09cc4}\n.tMFMA{fill:#8fd0f5}\n"
	".mHBM{fill:#f0883e}\n.mL2{fill:#2fc79b}\n.mL1{fill:#4aa8e0}\n.mLDS{fill:#f0c040}\n"
	".join{stroke:#5f7185}\n.mark{stroke:#12171e}\n";
/* clang-format on */

struct plot {
	struct ws_buf *out;
	const struct rpt_roof_model *model;
	const struct ana_roof_ceilings *roofs;
	struct rpt_roof_range range;
	struct {
		double x, y;
	} labels[LABELS_MAX]; /* letters that are already placed */
	size_t n_labels;
};

static double px(const struct plot *p, double x)
{
	return PLOT_X0 +
	       (log10(x) - p->range.x0) / (p->range.x1 - p->range.x0) * (PLOT_X1 - PLOT_X0);
}

static double py(const struct plot *p, double y)
{
	return PLOT_Y1 -
	       (log10(y) - p->range.y0) / (p->range.y1 - p->range.y0) * (PLOT_Y1 - PLOT_Y0);
}

static void draw_axes(const struct plot *p)
{
	char number[RPT_NUMBER_ROOM];

	for (double e = p->range.x0; e <= p->range.x1; e++) {
		for (int i = 2; i < 10 && e < p->range.x1; i++)
			rpt_svg_line(p->out, px(p, i * pow(10, e)), PLOT_Y0, px(p, i * pow(10, e)),
				     PLOT_Y1, "grid2");
		rpt_svg_line(p->out, px(p, pow(10, e)), PLOT_Y0, px(p, pow(10, e)), PLOT_Y1,
			     "grid");
		rpt_svg_text(p->out, px(p, pow(10, e)), PLOT_Y1 + 20, "middle", "tick",
			     rpt_number_plain(number, pow(10, e), 1));
	}
	for (double e = ceil(p->range.y0); e <= p->range.y1; e++) {
		rpt_svg_line(p->out, PLOT_X0, py(p, pow(10, e)), PLOT_X1, py(p, pow(10, e)),
			     "grid");
		rpt_svg_text(p->out, PLOT_X0 - 10, py(p, pow(10, e)) + 4, "end", "tick",
			     rpt_number_plain(number, pow(10, e), 1));
	}
	rpt_svg_rect(p->out, PLOT_X0, PLOT_Y0, PLOT_X1 - PLOT_X0, PLOT_Y1 - PLOT_Y0, 0, "frame");
}

/* How near markers come to the stretch that begins at (ax, ay) and is @length long. */
static double nearest_marker(const struct plot *p, double ax, double ay, double ux, double uy,
			     double length)
{
	double nearest = INFINITY;

	for (size_t i = 0; i < p->model->points->n; i++) {
		const struct ana_roof_point *point = &p->model->points->at[i];
		double rate = ana_roof_rate(point, p->roofs->type);

		for (size_t s = 0; s < p->roofs->n_slopes && rate > 0; s++) {
			double x = ana_roof_intensity(point, p->roofs->type,
						      p->roofs->slopes[s].level);
			double dx = px(p, x) - ax, dy = py(p, rate) - ay;
			double along = fmax(0, fmin(length, dx * ux + dy * uy));

			if (!isnan(x))
				nearest = fmin(nearest, hypot(dx - along * ux, dy - along * uy));
		}
	}
	return nearest;
}

/* How far up its slope a label begins: at the lower end, unless points are there. */
static double label_start(const struct plot *p, double left, double bottom, double ux, double uy,
			  double length, double n_characters)
{
	double wide = n_characters * 6.4;

	for (double d = 26; d + wide < length - 10; d += 30)
		if (nearest_marker(p, left + ux * d + uy * 10, bottom + uy * d - ux * 10, ux, uy,
				   wide) > 16)
			return d;
	return fmin(26, length / 2);
}

static void draw_slope(const struct plot *p, const struct ana_roof_slope *slope)
{
	const char *name = ana_roof_level_name(slope->level);
	double low = pow(10, p->range.y0);
	/* From the frame's left edge or its bottom, whichever the slope meets first. */
	double x0 = fmax(pow(10, p->range.x0), low / slope->gb_s);
	double left = px(p, x0), bottom = py(p, x0 * slope->gb_s);
	double right = px(p, slope->x1), top = py(p, slope->y1);
	double degrees = atan2(top - bottom, right - left) * 180 / M_PI;
	double length = hypot(right - left, top - bottom);
	double ux = (right - left) / length, uy = (top - bottom) / length, up;
	char text[RPT_NUMBER_ROOM + 32], cls[32];

	snprintf(cls, sizeof(cls), "slope %s", name);
	rpt_svg_line(p->out, left, bottom, right, top, cls);
	snprintf(text, sizeof(text), "%s  %.0f GB/s", name, slope->gb_s);
	snprintf(cls, sizeof(cls), "roofname t%s", name);
	up = label_start(p, left, bottom, ux, uy, length, (double)strlen(text));
	rpt_svg_text_turned(p->out, left + ux * up + uy * 6, bottom + uy * up - ux * 6, degrees,
			    "start", cls, text);
}

static void draw_roof(const struct plot *p, const struct ana_roof_top *roof, const char *kind,
		      bool label_below)
{
	char text[RPT_NUMBER_ROOM + 64], cls[32];
	double y, right, wide;

	if (isnan(roof->peak))
		return;
	y = py(p, roof->peak);
	snprintf(cls, sizeof(cls), "roof %s", kind);
	rpt_svg_line(p->out, px(p, roof->x0), y, PLOT_X1, y, cls);
	snprintf(text, sizeof(text), "%s %s  %.0f %s", kind, ana_roof_type_name(p->roofs->type),
		 roof->peak, rpt_roof_rate_unit(p->roofs->type));
	snprintf(cls, sizeof(cls), "roofname t%s", kind);
	right = PLOT_X1 - 8;
	wide = (double)strlen(text) * 6.6;
	/* To the left of points, if there is a place. */
	while (right - wide > (PLOT_X0 + PLOT_X1) / 2 &&
	       nearest_marker(p, right - wide, y + (label_below ? 12 : -11), 1, 0, wide) < 16)
		right -= 20;
	rpt_svg_text(p->out, right, y + (label_below ? 16 : -7), "end", cls, text);
}

/* One shape per level, so that levels can be distinguished without colour. */
static void draw_marker(const struct plot *p, enum ana_roof_level level, double x, double y,
			double r)
{
	ws_buf_printf(p->out, "<path class=\"mark m%s\" d=\"", ana_roof_level_name(level));
	switch (level) {
	case ANA_ROOF_HBM: /* a cross */
		ws_buf_printf(p->out,
			      "M%.1f %.1f h%.1f v%.1f h%.1f v%.1f h%.1f v%.1f h%.1f v%.1f h%.1f "
			      "v%.1f h%.1f z",
			      x - r * 0.4, y - r * 1.1, r * 0.8, r * 0.7, r * 0.7, r * 0.8,
			      -r * 0.7, r * 0.7, -r * 0.8, -r * 0.7, -r * 0.7, -r * 0.8, r * 0.7);
		break;
	case ANA_ROOF_L2: /* a diamond */
		ws_buf_printf(p->out, "M%.1f %.1f l%.1f %.1f l%.1f %.1f l%.1f %.1f z", x,
			      y - r * 1.2, r * 1.2, r * 1.2, -r * 1.2, r * 1.2, -r * 1.2, -r * 1.2);
		break;
	case ANA_ROOF_L1: /* a square */
		ws_buf_printf(p->out, "M%.1f %.1f h%.1f v%.1f h%.1f z", x - r * 0.9, y - r * 0.9,
			      r * 1.8, r * 1.8, -r * 1.8);
		break;
	default: /* a triangle */
		ws_buf_printf(p->out, "M%.1f %.1f l%.1f %.1f h%.1f z", x, y - r * 1.15, r * 1.1,
			      r * 2, -r * 2.2);
	}
	ws_buf_add(p->out, "\"/>\n");
}

static bool label_is_free(const struct plot *p, double x, double y)
{
	for (size_t i = 0; i < p->n_labels; i++)
		if (fabs(p->labels[i].x - x) < 13 && fabs(p->labels[i].y - y) < 13)
			return false;
	return true;
}

/* A letter beside its points, where no other letter stands. */
static void place_letter(struct plot *p, double left, double right, double y, char letter)
{
	const struct {
		double x, y;
	} places[] = {
		{ right + 9, y },       { left - 9, y },       { right + 9, y - 13 },
		{ right + 13, y + 13 }, { left - 13, y - 13 }, { left - 13, y + 13 },
		{ right, y - 17 },      { right, y + 17 },     { right + 29, y },
	};
	char text[] = { letter, '\0' };
	size_t at = 0;

	while (at + 1 < WS_ARRAY_LEN(places) && !label_is_free(p, places[at].x, places[at].y))
		at++;
	rpt_svg_text(p->out, places[at].x, places[at].y + 4, "middle", "letter", text);
	if (p->n_labels < LABELS_MAX) {
		p->labels[p->n_labels].x = places[at].x;
		p->labels[p->n_labels++].y = places[at].y;
	}
}

static void draw_point(struct plot *p, size_t i, double most_ns)
{
	const struct ana_roof_point *point = &p->model->points->at[i];
	double rate = ana_roof_rate(point, p->roofs->type);
	double r = 4 + 4 * sqrt(point->sum_ns / most_ns), y, left = INFINITY, right = -INFINITY;

	if (!(rate > 0))
		return;
	y = py(p, rate);
	for (size_t s = 0; s < p->roofs->n_slopes; s++) {
		double x = ana_roof_intensity(point, p->roofs->type, p->roofs->slopes[s].level);

		if (!isnan(x)) {
			left = fmin(left, px(p, x));
			right = fmax(right, px(p, x));
		}
	}
	if (left > right)
		return;
	rpt_svg_line(p->out, left, y, right, y, "join");
	/* Levels that coincide stand inside each other, the outermost memory on top. */
	for (size_t s = p->roofs->n_slopes; s-- > 0;) {
		enum ana_roof_level level = p->roofs->slopes[s].level;
		double x = ana_roof_intensity(point, p->roofs->type, level), size = r;

		for (size_t above = 0; above < s; above++)
			if (fabs(px(p, x) -
				 px(p, ana_roof_intensity(point, p->roofs->type,
							  p->roofs->slopes[above].level))) < 6)
				size *= 1.5;
		if (!isnan(x))
			draw_marker(p, level, px(p, x), y, size);
	}
	place_letter(p, left - r, right + r, y, rpt_roof_letter(i));
}

static void list_point(const struct plot *p, size_t i, double y)
{
	const struct ana_roof_point *point = &p->model->points->at[i];
	const char *name = p->model->kernel_names[i];
	double rate = ana_roof_rate(point, p->roofs->type);
	double share = 100 * point->sum_ns / (p->model->points->all.sum_ns);
	char text[160], number[RPT_NUMBER_ROOM];
	char letter[] = { rpt_roof_letter(i), '\0' };
	enum ana_roof_level outer = p->roofs->slopes[0].level;
	double x = ana_roof_intensity(point, p->roofs->type, outer);
	size_t n_used;

	rpt_svg_text(p->out, LIST_X, y, "start", "letter", letter);
	snprintf(text, sizeof(text), "%.44s%s", name, strlen(name) > 44 ? "\342\200\246" : "");
	rpt_svg_text(p->out, LIST_X + 22, y, "start", "name", text);
	if (!(rate > 0)) {
		rpt_svg_text(p->out, LIST_X + 22, y + 16, "start", "small",
			     isnan(ana_roof_ops(point, p->roofs->type))
				     ? "operations not counted"
				     : "no operations of this kind");
		return;
	}
	n_used = (size_t)snprintf(text, sizeof(text), "%.60s %s", rpt_number_plain(number, rate, 4),
				  rpt_roof_rate_unit(p->roofs->type));
	if (share >= 0 && share <= 100.5)
		n_used += (size_t)snprintf(text + n_used, sizeof(text) - n_used, ", %.1f%% of time",
					   share);
	if (!isnan(x))
		snprintf(text + n_used, sizeof(text) - n_used, ", %.0f%% of %s roof",
			 100 * rate / ana_roof_bound(p->roofs, outer, x),
			 x < ana_roof_ridge(p->roofs, outer) ? ana_roof_level_name(outer)
							     : "compute");
	rpt_svg_text(p->out, LIST_X + 22, y + 16, "start", "small", text);
}

static void draw_legend(const struct plot *p)
{
	double x = PLOT_X1 - 24 - 70.0 * (double)p->roofs->n_slopes, y = PLOT_Y1 - 22;

	for (size_t s = 0; s < p->roofs->n_slopes; s++, x += 70) {
		enum ana_roof_level level = p->roofs->slopes[s].level;

		draw_marker(p, level, x + 20, y, 6);
		rpt_svg_text(p->out, x + 33, y + 4, "start", "tick", ana_roof_level_name(level));
	}
}

static void draw_titles(const struct plot *p)
{
	enum ana_roof_type type = p->roofs->type;
	char text[600];

	snprintf(text, sizeof(text), "Roofline (%s) \342\200\223 %.400s", ana_roof_type_name(type),
		 p->model->path);
	rpt_svg_text(p->out, 24, 34, "start", "title", text);
	snprintf(text, sizeof(text), "%.100s. Roofs as measured.%s", p->model->gpu,
		 p->model->modelled ? " Modelled: counted, timed and measured on a software GPU."
				    : "");
	rpt_svg_text(p->out, 24, 58, "start", "note", text);
	snprintf(text, sizeof(text), "Arithmetic intensity (%s)", rpt_roof_intensity_unit(type));
	rpt_svg_text(p->out, (PLOT_X0 + PLOT_X1) / 2, PLOT_Y1 + 46, "middle", "axis", text);
	snprintf(text, sizeof(text), "Performance (%s)", rpt_roof_rate_unit(type));
	rpt_svg_text_turned(p->out, 28, (PLOT_Y0 + PLOT_Y1) / 2, -90, "middle", "axis", text);
}

enum ws_status rpt_roof_svg(const struct rpt_roof_model *model, size_t type, struct ws_buf *out,
			    struct ws_err *err)
{
	struct plot p = {
		.out = out,
		.model = model,
		.roofs = &model->types[type],
		.range = rpt_roof_range(model, type),
	};
	size_t n = model->points->n;
	double most_ns = n ? model->points->at[0].sum_ns : 1;
	double height = fmax(PLOT_Y1 + 64, PLOT_Y0 + 40 + 44.0 * (double)n + 30);
	bool close = fabs(py(&p, p.roofs->valu.peak) - py(&p, p.roofs->matrix.peak)) < 20;

	rpt_svg_begin(out, WIDTH, height, "Roofline",
		      "Kernels against the measured bandwidths and peaks of the GPU", css,
		      dark_css);
	rpt_svg_rect(out, 0, 0, WIDTH, height, 0, "page");
	draw_titles(&p);
	draw_axes(&p);
	for (size_t i = 0; i < p.roofs->n_slopes; i++)
		draw_slope(&p, &p.roofs->slopes[i]);
	draw_roof(&p, &p.roofs->valu, "VALU", close && p.roofs->valu.peak < p.roofs->matrix.peak);
	draw_roof(&p, &p.roofs->matrix, "MFMA",
		  close && p.roofs->matrix.peak <= p.roofs->valu.peak);
	draw_legend(&p);
	for (size_t i = n; i-- > 0;)
		draw_point(&p, i, most_ns > 0 ? most_ns : 1);
	rpt_svg_text(out, LIST_X, PLOT_Y0 + 12, "start", "axis",
		     model->by == ANA_ROOF_BY_KERNEL ? "Kernels by time" : "Dispatches by time");
	for (size_t i = 0; i < n; i++)
		list_point(&p, i, PLOT_Y0 + 42 + 44.0 * (double)i);
	rpt_svg_end(out);
	return ws_buf_status(out, err);
}
