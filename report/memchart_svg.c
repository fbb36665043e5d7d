/*
 * The memory chart as a picture: boxes from the instruction buffer to HBM, wires between
 * them as thick as their traffic, and bars for what is a percentage.
 */
#include "report/memchart.h"
#include "report/number.h"
#include "report/svg.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 1530
#define HEIGHT 610
#define ROW_STEP 25

/* clang-format off */
static const char css[] =
	".page{fill:#ffffff}\n"
	".box{fill:#f6f8fb;stroke:#8a99ad;stroke-width:1.2}\n"
	".head{font-size:13.5px;font-weight:600;fill:#1b2733}\n"
	".key{font-size:12.5px;fill:#4a5a6b}\n"
	".sub{font-size:11.5px;fill:#4a5a6b;font-style:italic}\n"
	".num{font-size:12.5px;font-weight:600;fill:#1b2733;font-variant-numeric:tabular-nums}\n"
	".none{font-size:12.5px;fill:#8a99ad}\n"
	".title{font-size:18px;font-weight:650;fill:#1b2733}\n"
	".note{font-size:12.5px;fill:#4a5a6b}\n"
	".track{fill:#dfe6ee}\n"
	".bar{fill:#0072b2}\n"
	".mix{fill:#009e73}\n"
	".read{stroke:#0072b2;fill:none}\n"
	".write{stroke:#d55e00;fill:none}\n"
	".atomic{stroke:#aa6b9e;fill:none}\n"
	".flow{stroke:#8a99ad;fill:none}\n"
	".aread{fill:#0072b2}\n"
	".awrite{fill:#d55e00}\n"
	".aatomic{fill:#aa6b9e}\n"
	".aflow{fill:#8a99ad}\n";

static const char dark_css[] =
	".page{fill:#12171e}\n"
	".box{fill:#1b232d;stroke:#5f7185}\n"
	".head,.num,.title{fill:#e8eef5}\n"
	".key,.sub,.note{fill:#a9b7c6}\n"
	".none{fill:#6c7c8d}\n"
	".track{fill:#2d3946}\n"
	".bar{fill:#56b4e9}\n"
	".mix{fill:#2fc79b}\n"
	".read{stroke:#56b4e9}\n"
	".write{stroke:#f0883e}\n"
	".atomic{stroke:#d79bc9}\n"
	".flow{stroke:#5f7185}\n"
	".aread{fill:#56b4e9}\n"
	".awrite{fill:#f0883e}\n"
	".aatomic{fill:#d79bc9}\n"
	".aflow{fill:#5f7185}\n";

struct box {
	double x, y, w, h;
	const char *title;
};

static const struct box boxes[] = {
	{   20,  80, 160, 120, "Instr Buffer" },
	{  225,  80, 170, 265, "Instr Dispatch" },
	{  440,  80, 180, 265, "Execution" },
	{  750,  80, 180,  90, "LDS" },
	{  750, 195, 180, 150, "Vector L1 Cache" },
	{  750, 370, 180, 105, "Scalar L1D Cache" },
	{  750, 500, 180,  90, "Instr L1 Cache" },
	{ 1060,  80, 160, 510, "L2 Cache" },
	{ 1350,  80,  96,  44, "xGMI/PCIe" },
	{ 1350, 180, 160, 150, "Fabric" },
	{ 1350, 400, 160,  60, "HBM" },
	{ 1456,  80,  54,  44, "GMI" },
};

/* How a row of a box is drawn. */
enum look { NUMBER, PERCENT, MIX, OF_TOTAL };

struct row {
	unsigned box, place; /* place: rows below the title, from 0 */
	const char *key;
	enum ana_memchart_id metric;
	const char *unit;
	enum look look;
};

static const struct row rows[] = {
	{ 0, 0, "Wave occupancy", ANA_MC_WAVE_OCCUPANCY, "",     NUMBER },
	{ 0, 1, "Wave life",      ANA_MC_WAVE_LIFE,      " cyc", NUMBER },
	{ 1, 0, "SALU",   ANA_MC_SALU, "", MIX }, { 1, 1, "SMEM",   ANA_MC_SMEM, "", MIX },
	{ 1, 2, "VALU",   ANA_MC_VALU, "", MIX }, { 1, 3, "MFMA",   ANA_MC_MFMA, "", MIX },
	{ 1, 4, "VMEM",   ANA_MC_VMEM, "", MIX }, { 1, 5, "LDS",    ANA_MC_LDS,  "", MIX },
	{ 1, 6, "GWS",    ANA_MC_GWS,  "", MIX }, { 1, 7, "Branch", ANA_MC_BR,   "", MIX },
	{ 2, 0, "Active CUs",    ANA_MC_ACTIVE_CUS,    "",   OF_TOTAL },
	{ 2, 1, "VGPRs",         ANA_MC_VGPR,          "",   NUMBER },
	{ 2, 2, "SGPRs",         ANA_MC_SGPR,          "",   NUMBER },
	{ 2, 3, "LDS alloc",     ANA_MC_LDS_ALLOC,     " B", NUMBER },
	{ 2, 4, "Scratch alloc", ANA_MC_SCRATCH_ALLOC, " B", NUMBER },
	{ 2, 5, "Wavefronts",    ANA_MC_WAVEFRONTS,    "",   NUMBER },
	{ 2, 6, "Workgroups",    ANA_MC_WORKGROUPS,    "",   NUMBER },
	{ 3, 0, "Utilization", ANA_MC_LDS_UTIL,     " %",   PERCENT },
	{ 3, 1, "Latency",     ANA_MC_LDS_LAT,      " cyc", NUMBER },
	{ 4, 0, "Hit",         ANA_MC_VL1_HIT,      " %",   PERCENT },
	{ 4, 1, "Coalescing",  ANA_MC_VL1_COALESCE, " %",   PERCENT },
	{ 4, 2, "Stall",       ANA_MC_VL1_STALL,    " %",   PERCENT },
	{ 4, 3, "Latency",     ANA_MC_VL1_LAT,      " cyc", NUMBER },
	{ 5, 0, "Hit",         ANA_MC_SL1D_HIT,     " %",   PERCENT },
	{ 5, 1, "Latency",     ANA_MC_SL1D_LAT,     " cyc", NUMBER },
	{ 6, 0, "Hit",         ANA_MC_IL1_HIT,      " %",   PERCENT },
	{ 6, 1, "Latency",     ANA_MC_IL1_LAT,      " cyc", NUMBER },
	{ 7, 0, "Hit",           ANA_MC_L2_HIT,     " %",   PERCENT },
	{ 7, 2, "Reads",         ANA_MC_L2_RD,      "",     NUMBER },
	{ 7, 3, "Writes",        ANA_MC_L2_WR,      "",     NUMBER },
	{ 7, 4, "Atomics",       ANA_MC_L2_ATOMIC,  "",     NUMBER },
	{ 7, 6, "Read lat.",     ANA_MC_L2_RD_LAT,  " cyc", NUMBER },
	{ 7, 7, "Write lat.",    ANA_MC_L2_WR_LAT,  " cyc", NUMBER },
	{ 9, 0, "Read lat.",     ANA_MC_FABRIC_RD_LAT,     " cyc", NUMBER },
	{ 9, 1, "Write lat.",    ANA_MC_FABRIC_WR_LAT,     " cyc", NUMBER },
	{ 9, 2, "Atomic lat.",   ANA_MC_FABRIC_ATOMIC_LAT, " cyc", NUMBER },
};

enum way { LEFT, RIGHT, BOTH };

struct wire {
	double x0, x1, y;
	const char *key;
	enum ana_memchart_id metric;
	const char *cls;
	enum way way;
};

static const struct wire wires[] = {
	{  620,  750, 125, "Req",    ANA_MC_LDS_REQ,          "read",   LEFT },
	{  620,  750, 228, "Rd",     ANA_MC_VL1_RD,           "read",   LEFT },
	{  620,  750, 270, "Wr",     ANA_MC_VL1_WR,           "write",  RIGHT },
	{  620,  750, 312, "Atomic", ANA_MC_VL1_ATOMIC,       "atomic", BOTH },
	{  930, 1060, 228, "Rd",     ANA_MC_VL1_L2_RD,        "read",   LEFT },
	{  930, 1060, 270, "Wr",     ANA_MC_VL1_L2_WR,        "write",  RIGHT },
	{  930, 1060, 312, "Atomic", ANA_MC_VL1_L2_ATOMIC,    "atomic", BOTH },
	{  930, 1060, 396, "Rd",     ANA_MC_SL1D_L2_RD,       "read",   LEFT },
	{  930, 1060, 428, "Wr",     ANA_MC_SL1D_L2_WR,       "write",  RIGHT },
	{  930, 1060, 460, "Atomic", ANA_MC_SL1D_L2_ATOMIC,   "atomic", BOTH },
	{  930, 1060, 545, "Req",    ANA_MC_IL1_L2_RD,        "read",   LEFT },
	{ 1220, 1350, 215, "Rd",     ANA_MC_FABRIC_L2_RD,     "read",   LEFT },
	{ 1220, 1350, 255, "Wr",     ANA_MC_FABRIC_L2_WR,     "write",  RIGHT },
	{ 1220, 1350, 295, "Atomic", ANA_MC_FABRIC_L2_ATOMIC, "atomic", RIGHT },
};
/* clang-format on */

struct drawing {
	struct ws_buf *out;
	const struct ana_memchart *chart;
	const struct rpt_memchart_style *style;
	double most_traffic, most_instructions;
};

static double value_of(const struct drawing *d, enum ana_memchart_id id)
{
	return rpt_round_half_even(d->chart->value[id], d->style->n_decimals);
}

static const char *shown_number(double value, const char *unit, char *text)
{
	char number[RPT_NUMBER_ROOM];

	snprintf(text, RPT_NUMBER_ROOM + 8, "%s%s", rpt_number_short(number, value, 9),
		 isnan(value) ? "" : unit);
	return text;
}

static void draw_bar(const struct drawing *d, double x, double y, double w, double share,
		     const char *cls)
{
	rpt_svg_rect(d->out, x, y, w, 4, 2, "track");
	if (share > 0)
		rpt_svg_rect(d->out, x, y, fmax(3, w * fmin(1, share)), 4, 2, cls);
}

static void draw_row(const struct drawing *d, const struct row *row)
{
	const struct box *box = &boxes[row->box];
	double x = box->x + 14, w = box->w - 28, y = box->y + 52 + row->place * ROW_STEP;
	double value = value_of(d, row->metric), total = value_of(d, ANA_MC_NUM_CUS);
	char text[2 * RPT_NUMBER_ROOM + 8], number[RPT_NUMBER_ROOM + 8];

	shown_number(value, row->unit, number);
	if (row->look == OF_TOTAL) {
		char total_text[RPT_NUMBER_ROOM];

		snprintf(text, sizeof(text), "%s of %s", number,
			 rpt_number_short(total_text, total, 9));
	} else {
		snprintf(text, sizeof(text), "%s", number);
	}
	rpt_svg_text(d->out, x, y, "start", "key", row->key);
	rpt_svg_text(d->out, x + w, y, "end", isnan(value) ? "none" : "num", text);
	if (row->look == PERCENT)
		draw_bar(d, x, y + 5, w, value / 100, "bar");
	else if (row->look == OF_TOTAL)
		draw_bar(d, x, y + 5, w, value / total, "bar");
	else if (row->look == MIX)
		draw_bar(d, x, y + 5, w, value / d->most_instructions, "mix");
}

/* 1.2 to 7 units, by the logarithm: traffic of levels differs by orders of magnitude. */
static double thickness(const struct drawing *d, double traffic)
{
	if (!(traffic > 0) || !(d->most_traffic > 1))
		return 1.2;
	return 1.6 + 5.4 * log10(1 + traffic) / log10(1 + d->most_traffic);
}

static void arrow_head(const struct drawing *d, double x, double y, int dx, int dy, double size,
		       const char *cls)
{
	double back = 5 + size * 1.3, side = 3 + size * 0.9;

	ws_buf_printf(d->out, "<path d=\"M%.1f %.1f L%.1f %.1f L%.1f %.1f Z\" class=\"a%s\"/>\n", x,
		      y, x - dx * back - dy * side, y - dy * back - dx * side,
		      x - dx * back + dy * side, y - dy * back + dx * side, cls);
}

static void draw_wire(const struct drawing *d, const struct wire *wire)
{
	double value = value_of(d, wire->metric), thick = thickness(d, value);
	const char *cls = value > 0 ? wire->cls : "flow";
	double gap = 5 + thick * 1.3, left = wire->x0 + 3, right = wire->x1 - 3;
	char number[RPT_NUMBER_ROOM + 8];

	ws_buf_printf(d->out,
		      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\" "
		      "stroke-width=\"%.1f\"/>\n",
		      left + (wire->way != RIGHT ? gap - 1 : 0), wire->y,
		      right - (wire->way != LEFT ? gap - 1 : 0), wire->y, cls, thick);
	if (wire->way != RIGHT)
		arrow_head(d, left, wire->y, -1, 0, thick, cls);
	if (wire->way != LEFT)
		arrow_head(d, right, wire->y, 1, 0, thick, cls);
	rpt_svg_text(d->out, wire->x0 + 12, wire->y - 6 - thick * 0.8, "start", "key", wire->key);
	rpt_svg_text(d->out, wire->x1 - 12, wire->y - 6 - thick * 0.8, "end",
		     isnan(value) ? "none" : "num", shown_number(value, "", number));
}

/* A path with a head at its end, for what does not go straight. */
static void draw_path(const struct drawing *d, const char *path, double end_x, double end_y, int dx,
		      int dy, double thick, const char *cls)
{
	ws_buf_printf(d->out, "<path d=\"%s\" class=\"%s\" stroke-width=\"%.1f\"/>\n", path, cls,
		      thick);
	arrow_head(d, end_x, end_y, dx, dy, thick, cls);
}

static void draw_label(const struct drawing *d, double x, double y, const char *key,
		       enum ana_memchart_id id)
{
	char number[RPT_NUMBER_ROOM + 8];
	double value = value_of(d, id);

	rpt_svg_text(d->out, x, y, "start", "key", key);
	rpt_svg_text(d->out, x + 104, y, "end", isnan(value) ? "none" : "num",
		     shown_number(value, "", number));
}

/* Scalar reads, fetches, HBM and the links beyond the fabric. */
static void draw_odd_wires(const struct drawing *d)
{
	double scalar = thickness(d, value_of(d, ANA_MC_SL1D_RD));
	double fetch = thickness(d, value_of(d, ANA_MC_IL1_FETCH));
	double hbm_rd = thickness(d, value_of(d, ANA_MC_HBM_RD));
	double hbm_wr = thickness(d, value_of(d, ANA_MC_HBM_WR));

	draw_path(d, "M182 150 H216", 223, 150, 1, 0, 2, "flow");
	draw_path(d, "M397 150 H431", 438, 150, 1, 0, 2, "flow");
	draw_path(d, "M747 422 H560 V360", 560, 348, 0, -1, scalar, "read");
	draw_label(d, 632, 413, "Rd", ANA_MC_SL1D_RD);
	draw_path(d, "M747 545 H100 V215", 100, 203, 0, -1, fetch, "read");
	draw_label(d, 632, 536, "Fetch", ANA_MC_IL1_FETCH);
	draw_path(d, "M1370 397 V345", 1370, 333, 0, -1, hbm_rd, "read");
	draw_path(d, "M1490 333 V385", 1490, 397, 0, 1, hbm_wr, "write");
	draw_path(d, "M1385 178 V135", 1385, 127, 0, -1, 1.2, "flow");
	draw_path(d, "M1410 126 V169", 1410, 177, 0, 1, 1.2, "flow");
	draw_path(d, "M1474 178 V135", 1474, 127, 0, -1, 1.2, "flow");
	draw_path(d, "M1492 126 V169", 1492, 177, 0, 1, 1.2, "flow");
}

static void draw_hbm(const struct drawing *d)
{
	char text[2 * RPT_NUMBER_ROOM + 32], number[RPT_NUMBER_ROOM + 8];
	double rd = value_of(d, ANA_MC_HBM_RD), wr = value_of(d, ANA_MC_HBM_WR);

	snprintf(text, sizeof(text), "Rd %s", shown_number(rd, "", number));
	rpt_svg_text(d->out, 1384, 361, "start", isnan(rd) ? "none" : "num", text);
	snprintf(text, sizeof(text), "Wr %s", shown_number(wr, "", number));
	rpt_svg_text(d->out, 1476, 384, "end", isnan(wr) ? "none" : "num", text);
}

static void measure(struct drawing *d)
{
	static const enum ana_memchart_id mix[] = { ANA_MC_SALU, ANA_MC_SMEM, ANA_MC_VALU,
						    ANA_MC_MFMA, ANA_MC_VMEM, ANA_MC_LDS,
						    ANA_MC_GWS,  ANA_MC_BR };

	for (size_t i = 0; i < WS_ARRAY_LEN(wires); i++)
		d->most_traffic = fmax(d->most_traffic, value_of(d, wires[i].metric));
	for (size_t i = 0; i < WS_ARRAY_LEN(mix); i++)
		d->most_instructions = fmax(d->most_instructions, value_of(d, mix[i]));
}

enum ws_status rpt_memchart_svg(const struct ana_memchart *chart,
				const struct rpt_memchart_style *style, struct ws_buf *out,
				struct ws_err *err)
{
	struct drawing d = { .out = out, .chart = chart, .style = style };
	char text[512];

	measure(&d);
	rpt_svg_begin(out, WIDTH, HEIGHT, "Memory chart",
		      "Traffic and hit rates from the instruction buffer to memory", css, dark_css);
	rpt_svg_rect(out, 0, 0, WIDTH, HEIGHT, 0, "page");
	snprintf(text, sizeof(text), "Memory chart%s%.400s", style->name ? " \342\200\223 " : "",
		 style->name ? style->name : "");
	rpt_svg_text(out, 20, 34, "start", "title", text);
	snprintf(text, sizeof(text),
		 "Values %s. Wires are as thick as the logarithm of their requests.%s",
		 chart->normal_unit,
		 style->modelled ? " Modelled: counted and timed on a software GPU." : "");
	rpt_svg_text(out, 20, 58, "start", "note", text);
	draw_odd_wires(&d);
	for (size_t i = 0; i < WS_ARRAY_LEN(wires); i++)
		draw_wire(&d, &wires[i]);
	for (size_t i = 0; i < WS_ARRAY_LEN(boxes); i++) {
		const struct box *box = &boxes[i];

		rpt_svg_rect(out, box->x, box->y, box->w, box->h, 7, "box");
		rpt_svg_text(out, box->x + 14, box->y + 24, "start", "head", box->title);
	}
	rpt_svg_text(out, boxes[7].x + 14, boxes[7].y + 52 + ROW_STEP, "start", "sub", "Requests");
	rpt_svg_text(out, boxes[7].x + 14, boxes[7].y + 52 + 5 * ROW_STEP, "start", "sub",
		     "Latency");
	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++)
		draw_row(&d, &rows[i]);
	draw_hbm(&d);
	rpt_svg_end(out);
	return ws_buf_status(out, err);
}
