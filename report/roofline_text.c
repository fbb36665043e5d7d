/* The roofline in characters: slopes and roofs in braille dots, points as letters. */
#include "report/braille.h"
#include "report/number.h"
#include "report/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_COLUMNS 9 /* left of the frame */
#define N_COLUMNS_MIN 60u
#define N_COLUMNS_MAX 160u
#define N_ROWS_MIN 16u
#define N_ROWS_MAX 48u

#define WHITE 15
#define MAGENTA 13

/* Bright blue, green, red, orange, as AMD's tool has them. */
static const int level_colours[] = {
	[ANA_ROOF_HBM] = 12,
	[ANA_ROOF_L2] = 10,
	[ANA_ROOF_L1] = 9,
	[ANA_ROOF_LDS] = 11,
};

const char *rpt_roof_rate_unit(enum ana_roof_type type)
{
	return ana_roof_type_is_int(type) ? "GOP/s" : "GFLOP/s";
}

const char *rpt_roof_intensity_unit(enum ana_roof_type type)
{
	return ana_roof_type_is_int(type) ? "OP/byte" : "FLOP/byte";
}

char rpt_roof_letter(size_t point)
{
	return (char)('A' + point % 26);
}

struct rpt_roof_range rpt_roof_range(const struct rpt_roof_model *model, size_t type)
{
	const struct ana_roof_ceilings *roofs = &model->types[type];
	double x0 = ANA_ROOF_X_MIN, x1 = ANA_ROOF_X_MAX, y0 = INFINITY, y1 = roofs->peak;

	for (size_t i = 0; i < roofs->n_slopes; i++)
		y0 = fmin(y0, roofs->slopes[i].y0);
	for (size_t i = 0; i < model->points->n; i++) {
		const struct ana_roof_point *point = &model->points->at[i];
		double rate = ana_roof_rate(point, roofs->type);

		for (size_t level = 0; rate > 0 && level < ANA_ROOF_LEVEL_COUNT; level++) {
			double x =
				ana_roof_intensity(point, roofs->type, (enum ana_roof_level)level);

			if (isnan(x))
				continue;
			x0 = fmin(x0, x);
			x1 = fmax(x1, x);
			y0 = fmin(y0, rate);
			y1 = fmax(y1, rate);
		}
	}
	/* Whole decades below, and room for a label above the highest roof. */
	return (struct rpt_roof_range){ floor(log10(x0) + 1e-9), ceil(log10(x1) - 1e-9),
					floor(log10(y0) + 1e-9), log10(y1) + 0.25 };
}

struct plot {
	struct rpt_braille canvas;
	const struct rpt_roof_model *model;
	const struct ana_roof_ceilings *roofs;
	struct rpt_roof_range range;
	unsigned w, h; /* of the inside */
};

/* World coordinates of the canvas: y grows upwards from the x axis' labels. */
static double at_x(const struct plot *plot, double x)
{
	return LABEL_COLUMNS + 1 +
	       (log10(x) - plot->range.x0) / (plot->range.x1 - plot->range.x0) * (plot->w - 1);
}

static double at_y(const struct plot *plot, double y)
{
	return 3 + (log10(y) - plot->range.y0) / (plot->range.y1 - plot->range.y0) * (plot->h - 1);
}

/* A straight line, cut at the left and lower edge of the frame. */
static void draw_line(struct plot *plot, double x0, double y0, double x1, double y1, int colour)
{
	double left = pow(10, plot->range.x0), right = pow(10, plot->range.x1);
	double low = pow(10, plot->range.y0);

	if (y0 < low && y1 > y0) { /* slopes rise by one decade per decade */
		x0 *= low / y0;
		y0 = low;
	}
	x0 = fmax(x0, left);
	x1 = fmin(x1, right);
	if (x0 < x1)
		rpt_braille_line(&plot->canvas, at_x(plot, x0), at_y(plot, y0), at_x(plot, x1),
				 at_y(plot, y1), colour);
}

static void draw_frame(struct plot *plot)
{
	struct rpt_braille *canvas = &plot->canvas;
	unsigned right = LABEL_COLUMNS + 1 + plot->w, top = 3 + plot->h;
	char text[RPT_NUMBER_ROOM + 8], number[RPT_NUMBER_ROOM];

	for (unsigned x = LABEL_COLUMNS + 1; x < right; x++) {
		rpt_braille_text(canvas, x, 2, "─", RPT_BRAILLE_PLAIN);
		rpt_braille_text(canvas, x, top, "─", RPT_BRAILLE_PLAIN);
	}
	for (unsigned y = 3; y < top; y++) {
		rpt_braille_text(canvas, LABEL_COLUMNS, y, "│", RPT_BRAILLE_PLAIN);
		rpt_braille_text(canvas, right, y, "│", RPT_BRAILLE_PLAIN);
	}
	rpt_braille_text(canvas, LABEL_COLUMNS, 2, "└", RPT_BRAILLE_PLAIN);
	rpt_braille_text(canvas, right, 2, "┘", RPT_BRAILLE_PLAIN);
	rpt_braille_text(canvas, LABEL_COLUMNS, top, "┌", RPT_BRAILLE_PLAIN);
	rpt_braille_text(canvas, right, top, "┐", RPT_BRAILLE_PLAIN);
	for (double e = ceil(plot->range.y0); e <= plot->range.y1; e++) {
		double y = rint(at_y(plot, pow(10, e)));

		snprintf(text, sizeof(text), "%*s", LABEL_COLUMNS - 1,
			 rpt_number_plain(number, pow(10, e), 1));
		rpt_braille_text(canvas, 0, y, text, RPT_BRAILLE_PLAIN);
		rpt_braille_text(canvas, LABEL_COLUMNS, y, "┤", RPT_BRAILLE_PLAIN);
	}
	for (double e = ceil(plot->range.x0); e <= plot->range.x1; e++) {
		double x = floor(at_x(plot, pow(10, e)));

		rpt_number_plain(number, pow(10, e), 1);
		rpt_braille_text(canvas, x, 2, "┬", RPT_BRAILLE_PLAIN);
		rpt_braille_text(canvas, fmin(x, right - (double)strlen(number)), 1, number,
				 RPT_BRAILLE_PLAIN);
	}
}

/* Whether a letter of a point falls on a label of @n characters at (@x, @row). */
static bool is_taken(const struct plot *plot, double x, double row, double n)
{
	const struct ana_roof_points *points = plot->model->points;

	for (size_t i = 0; i < points->n; i++) {
		double rate = ana_roof_rate(&points->at[i], plot->roofs->type);

		for (size_t s = 0; s < plot->roofs->n_slopes && rate > 0; s++) {
			double at = ana_roof_intensity(&points->at[i], plot->roofs->type,
						       plot->roofs->slopes[s].level);

			if (!isnan(at) && floor(at_y(plot, rate)) == row &&
			    floor(at_x(plot, at)) >= x && floor(at_x(plot, at)) < x + n)
				return true;
		}
	}
	return false;
}

/* The row nearest to @row, below it first, where a label is not in the way. */
static double free_row(const struct plot *plot, double x, double row, double n)
{
	static const int steps[] = { 0, -1, -2, -3, 1, 2 };

	for (size_t i = 0; i < WS_ARRAY_LEN(steps); i++)
		if (!is_taken(plot, x, row + steps[i], n))
			return row + steps[i];
	return row;
}

static void draw_roof(struct plot *plot, const struct ana_roof_top *roof, const char *kind,
		      enum ana_roof_type type, int colour)
{
	char text[RPT_NUMBER_ROOM + 64];
	double x;

	if (isnan(roof->peak))
		return;
	draw_line(plot, roof->x0, roof->peak, pow(10, plot->range.x1), roof->peak, colour);
	snprintf(text, sizeof(text), "%s-%s %.0f %s", kind, ana_roof_type_name(type), roof->peak,
		 rpt_roof_rate_unit(type));
	x = LABEL_COLUMNS + plot->w - (double)strlen(text);
	rpt_braille_text(&plot->canvas, x,
			 free_row(plot, x, floor(at_y(plot, roof->peak)), (double)strlen(text)),
			 text, colour);
}

/* Labels stand at the left end of their slopes; slopes of close bandwidths move up a row. */
static void label_slopes(struct plot *plot, const struct ana_roof_ceilings *roofs)
{
	double lowest_free = 3;

	for (size_t i = 0; i < roofs->n_slopes; i++) {
		const struct ana_roof_slope *slope = &roofs->slopes[i];
		char text[RPT_NUMBER_ROOM + 64];
		double row = floor(at_y(plot, pow(10, plot->range.x0) * slope->gb_s)) + 1;

		row = fmax(row, lowest_free);
		while (is_taken(plot, LABEL_COLUMNS + 1, row, 16) && row < plot->h)
			row++;
		snprintf(text, sizeof(text), "%s %.0f GB/s", ana_roof_level_name(slope->level),
			 slope->gb_s);
		rpt_braille_text(&plot->canvas, LABEL_COLUMNS + 1, row, text,
				 level_colours[slope->level]);
		lowest_free = row + 1;
	}
}

static void draw_points(struct plot *plot, const struct rpt_roof_model *model,
			const struct ana_roof_ceilings *roofs)
{
	for (size_t i = model->points->n; i-- > 0;) { /* the longest last, on top */
		const struct ana_roof_point *point = &model->points->at[i];
		double rate = ana_roof_rate(point, roofs->type);
		char letter[] = { rpt_roof_letter(i), '\0' };

		for (size_t s = 0; s < roofs->n_slopes && rate > 0; s++) {
			enum ana_roof_level level = roofs->slopes[s].level;
			double x = ana_roof_intensity(point, roofs->type, level);

			if (!isnan(x))
				rpt_braille_text(&plot->canvas, floor(at_x(plot, x)),
						 floor(at_y(plot, rate)), letter,
						 level_colours[level]);
		}
	}
}

/* ---- what the letters are, below the plot ---- */

static void add_coloured(struct ws_buf *out, const char *text, int colour, bool colours)
{
	if (colours)
		ws_buf_printf(out, "\033[38;5;%dm%s\033[0m", colour, text);
	else
		ws_buf_add(out, text);
}

static void list_point(const struct rpt_roof_model *model, const struct ana_roof_ceilings *roofs,
		       size_t i, const struct rpt_roof_text_style *style, struct ws_buf *out)
{
	const struct ana_roof_point *point = &model->points->at[i];
	double rate = ana_roof_rate(point, roofs->type);
	const char *name = model->kernel_names[i];
	char number[RPT_NUMBER_ROOM];
	unsigned n_here = 0;
	int room = (int)WS_MAX(style->n_columns, N_COLUMNS_MIN) - 4;

	ws_buf_printf(out, "%c  %.*s%s\n", rpt_roof_letter(i),
		      (int)strlen(name) > room ? room - 3 : room, name,
		      (int)strlen(name) > room ? "..." : "");
	if (!(rate > 0)) {
		const char *what = ana_roof_type_is_int(roofs->type) ? "integer" : "floating-point";

		if (isnan(ana_roof_ops(point, roofs->type)))
			ws_buf_printf(out, "   no point: its %s operations were not counted\n",
				      what);
		else
			ws_buf_printf(out, "   no point: it executes no %s operations\n", what);
		return;
	}
	ws_buf_printf(out, "   %s %s", rpt_number_plain(number, rate, 4),
		      rpt_roof_rate_unit(roofs->type));
	for (size_t s = 0; s < roofs->n_slopes; s++) {
		enum ana_roof_level level = roofs->slopes[s].level;
		double x = ana_roof_intensity(point, roofs->type, level);

		if (isnan(x))
			continue;
		/* Four levels do not fit into 80 columns. */
		ws_buf_add(out, ++n_here == 3 && style->n_columns < 100 ? "\n      " : "   ");
		add_coloured(out, ana_roof_level_name(level), level_colours[level], style->colours);
		ws_buf_printf(out, " %s (%.0f%% %s)", rpt_number_plain(number, x, 3),
			      100 * rate / ana_roof_bound(roofs, level, x),
			      x < ana_roof_ridge(roofs, level) ? "mem" : "comp");
	}
	ws_buf_add(out, "\n");
}

static void list_points(const struct rpt_roof_model *model, const struct ana_roof_ceilings *roofs,
			const struct rpt_roof_text_style *style, struct ws_buf *out)
{
	if (model->points->n)
		ws_buf_printf(out,
			      "%s by time. Per memory level: %s (percent of its roof, which is\n"
			      "memory left of the ridge and compute right of it).\n",
			      model->by == ANA_ROOF_BY_KERNEL ? "Kernels" : "Dispatches",
			      rpt_roof_intensity_unit(roofs->type));
	for (size_t i = 0; i < model->points->n; i++)
		list_point(model, roofs, i, style, out);
	if (model->points->n_left_out)
		ws_buf_printf(out, "%zu more with less time are not shown.\n",
			      model->points->n_left_out);
}

enum ws_status rpt_roof_text(const struct rpt_roof_model *model,
			     const struct rpt_roof_text_style *style, struct ws_buf *out,
			     struct ws_err *err)
{
	const struct ana_roof_ceilings *roofs = &model->types[0];
	unsigned n_columns = WS_MIN(WS_MAX(style->n_columns, N_COLUMNS_MIN), N_COLUMNS_MAX);
	unsigned n_rows = WS_MIN(WS_MAX(style->n_rows, N_ROWS_MIN), N_ROWS_MAX);
	struct plot plot = { .model = model, .roofs = roofs, .range = rpt_roof_range(model, 0) };
	char text[128];
	enum ws_status st;

	plot.w = n_columns - LABEL_COLUMNS - 2;
	plot.h = n_rows - 4;
	st = rpt_braille_init(&plot.canvas, n_columns, n_rows, err);
	if (st)
		return st;
	ws_buf_printf(out, "Roofline (%s) - %s%s\n", ana_roof_type_name(roofs->type), model->path,
		      model->modelled ? " (modelled: a software GPU)" : "");
	ws_buf_printf(out, "Performance (%s)\n", rpt_roof_rate_unit(roofs->type));
	draw_frame(&plot);
	for (size_t i = 0; i < roofs->n_slopes; i++)
		draw_line(&plot, pow(10, plot.range.x0),
			  pow(10, plot.range.x0) * roofs->slopes[i].gb_s, roofs->slopes[i].x1,
			  roofs->slopes[i].y1, level_colours[roofs->slopes[i].level]);
	draw_roof(&plot, &roofs->valu, "VALU", roofs->type, WHITE);
	draw_roof(&plot, &roofs->matrix, "MFMA", roofs->type, MAGENTA);
	label_slopes(&plot, roofs);
	draw_points(&plot, model, roofs);
	snprintf(text, sizeof(text), "Arithmetic Intensity (%s)",
		 rpt_roof_intensity_unit(roofs->type));
	rpt_braille_text(&plot.canvas, (n_columns - (double)strlen(text)) / 2, 0, text,
			 RPT_BRAILLE_PLAIN);
	rpt_braille_print(&plot.canvas, RPT_BRAILLE_BLANK_SPACES, style->colours, out);
	rpt_braille_fini(&plot.canvas);
	list_points(model, roofs, style, out);
	return ws_buf_status(out, err);
}
