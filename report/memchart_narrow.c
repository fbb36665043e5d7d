/*
 * The memory chart in 100 columns: what the wide one says, in the same order, for a terminal
 * that is not 234 columns wide. Numbers too long for their place are shortened (1.05M).
 */
#include "report/braille.h"
#include "report/memchart.h"
#include "report/number.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_ROWS 27u
#define YELLOW 3
#define PLAIN RPT_BRAILLE_PLAIN

struct box {
	unsigned x, y, w, h; /* y from the top, in all of these tables */
	const char *title;
};

/* The key, then the value to the right of @width, then the unit; an empty key: the value alone. */
struct cell {
	unsigned x, y;
	const char *key;
	unsigned key_width;
	enum ana_memchart_id metric;
	unsigned width;
	const char *unit;
	int colour;
};

struct label {
	unsigned x, y;
	const char *text;
};

/* clang-format off */
static const struct box boxes[] = {
	{  0,  1, 21,  6, "Instr Buff" },
	{ 24,  1, 33,  6, "Instr Dispatch" },
	{ 60,  1, 40,  6, "Exec" },
	{ 15,  8, 20,  4, "LDS" },
	{ 15, 12, 20,  6, "Vector L1 Cache" },
	{ 15, 18, 20,  5, "Scalar L1D" },
	{ 15, 23, 20,  4, "Instr L1 Cache" },
	{ 51, 12, 17, 15, "L2 Cache" },
	{ 84,  8, 16,  4, "" },
	{ 84, 13, 16,  6, "Fabric" },
	{ 84, 21, 16,  3, "" },
};

static const struct cell cells[] = {
	{  2,  2, "Occupancy",  9, ANA_MC_WAVE_OCCUPANCY, 7, "", YELLOW },
	{  2,  3, "Wave life",  9, ANA_MC_WAVE_LIFE,      7, "", YELLOW },
	{ 26,  2, "SALU",   6, ANA_MC_SALU, 7, "", PLAIN }, { 41,  2, "VMEM",   6, ANA_MC_VMEM, 7, "", PLAIN },
	{ 26,  3, "SMEM",   6, ANA_MC_SMEM, 7, "", PLAIN }, { 41,  3, "LDS",    6, ANA_MC_LDS,  7, "", PLAIN },
	{ 26,  4, "VALU",   6, ANA_MC_VALU, 7, "", PLAIN }, { 41,  4, "GWS",    6, ANA_MC_GWS,  7, "", PLAIN },
	{ 26,  5, "MFMA",   6, ANA_MC_MFMA, 7, "", PLAIN }, { 41,  5, "BRANCH", 6, ANA_MC_BR,   7, "", PLAIN },
	{ 62,  2, "Active CUs", 10, ANA_MC_ACTIVE_CUS,    6, "", YELLOW },
	{ 80,  2, "of",          2, ANA_MC_NUM_CUS,       4, "", YELLOW },
	{ 62,  3, "VGPRs",      10, ANA_MC_VGPR,          6, "", PLAIN },
	{ 81,  3, "SGPRs",      10, ANA_MC_SGPR,          6, "", PLAIN },
	{ 62,  4, "LDS alloc",  10, ANA_MC_LDS_ALLOC,     6, "", PLAIN },
	{ 81,  4, "Scratch",    10, ANA_MC_SCRATCH_ALLOC, 6, "", PLAIN },
	{ 62,  5, "Wavefronts", 10, ANA_MC_WAVEFRONTS,    6, "", PLAIN },
	{ 81,  5, "Workgroups", 10, ANA_MC_WORKGROUPS,    6, "", PLAIN },
	/* between Exec and the first caches */
	{  0,  9, "Req",    6, ANA_MC_LDS_REQ,    6, "", PLAIN },
	{  0, 13, "Rd",     6, ANA_MC_VL1_RD,     6, "", PLAIN },
	{  0, 14, "Wr",     6, ANA_MC_VL1_WR,     6, "", PLAIN },
	{  0, 15, "Atomic", 6, ANA_MC_VL1_ATOMIC, 6, "", PLAIN },
	{  0, 19, "Rd",     6, ANA_MC_SL1D_RD,    6, "", PLAIN },
	{  0, 24, "Fetch",  6, ANA_MC_IL1_FETCH,  6, "", PLAIN },
	/* the first caches */
	{ 17,  9, "Util",   6, ANA_MC_LDS_UTIL,     5, "%",   PLAIN },
	{ 17, 10, "Lat",    6, ANA_MC_LDS_LAT,      5, "cyc", PLAIN },
	{ 17, 13, "Hit",    6, ANA_MC_VL1_HIT,      5, "%",   PLAIN },
	{ 17, 14, "Lat",    6, ANA_MC_VL1_LAT,      5, "cyc", PLAIN },
	{ 17, 15, "Coales", 6, ANA_MC_VL1_COALESCE, 5, "%",   PLAIN },
	{ 17, 16, "Stall",  6, ANA_MC_VL1_STALL,    5, "%"  , PLAIN },
	{ 17, 19, "Hit",    6, ANA_MC_SL1D_HIT,     5, "%",   PLAIN },
	{ 17, 20, "Lat",    6, ANA_MC_SL1D_LAT,     5, "cyc", PLAIN },
	{ 17, 24, "Hit",    6, ANA_MC_IL1_HIT,      5, "%",   PLAIN },
	{ 17, 25, "Lat",    6, ANA_MC_IL1_LAT,      5, "cyc", PLAIN },
	/* between them and the L2 */
	{ 38, 13, "Rd",     6, ANA_MC_VL1_L2_RD,      6, "", PLAIN },
	{ 38, 14, "Wr",     6, ANA_MC_VL1_L2_WR,      6, "", PLAIN },
	{ 38, 15, "Atomic", 6, ANA_MC_VL1_L2_ATOMIC,  6, "", PLAIN },
	{ 38, 19, "Rd",     6, ANA_MC_SL1D_L2_RD,     6, "", PLAIN },
	{ 38, 20, "Wr",     6, ANA_MC_SL1D_L2_WR,     6, "", PLAIN },
	{ 38, 21, "Atomic", 6, ANA_MC_SL1D_L2_ATOMIC, 6, "", PLAIN },
	{ 38, 24, "Req",    6, ANA_MC_IL1_L2_RD,      6, "", PLAIN },
	/* L2 */
	{ 53, 13, "Hit",    6, ANA_MC_L2_HIT,    4, "%", PLAIN },
	{ 53, 16, "Rd",     6, ANA_MC_L2_RD,     6, "",  PLAIN },
	{ 53, 17, "Wr",     6, ANA_MC_L2_WR,     6, "",  PLAIN },
	{ 53, 18, "Atomic", 6, ANA_MC_L2_ATOMIC, 6, "",  PLAIN },
	{ 53, 21, "Rd",     6, ANA_MC_L2_RD_LAT, 6, "",  PLAIN },
	{ 53, 22, "Wr",     6, ANA_MC_L2_WR_LAT, 6, "",  PLAIN },
	/* beyond */
	{ 71, 15, "Rd",     6, ANA_MC_FABRIC_L2_RD,      6, "", PLAIN },
	{ 71, 16, "Wr",     6, ANA_MC_FABRIC_L2_WR,      6, "", PLAIN },
	{ 71, 17, "Atomic", 6, ANA_MC_FABRIC_L2_ATOMIC,  6, "", PLAIN },
	{ 86, 15, "Rd",     6, ANA_MC_FABRIC_RD_LAT,     5, "", PLAIN },
	{ 86, 16, "Wr",     6, ANA_MC_FABRIC_WR_LAT,     5, "", PLAIN },
	{ 86, 17, "Atomic", 6, ANA_MC_FABRIC_ATOMIC_LAT, 5, "", PLAIN },
	{ 88, 19, "Rd",     4, ANA_MC_HBM_RD,            6, "", PLAIN },
	{ 88, 20, "Wr",     4, ANA_MC_HBM_WR,            6, "", PLAIN },
};

static const struct label labels[] = {
	{  2,  4, "Wave 0 .. N-1" },
	{ 21,  3, "──>" }, { 57,  3, "──>" },
	{ 14,  9, "<" }, { 14, 13, "<" }, { 14, 14, ">" }, { 14, 15, "=" }, { 14, 19, "<" },
	{ 14, 24, "<" },
	{ 35, 13, "<─" }, { 35, 14, "─>" }, { 35, 15, "<>" },
	{ 35, 19, "<─" }, { 35, 20, "─>" }, { 35, 21, "<>" }, { 35, 24, "<─" },
	{ 53, 15, "Requests" }, { 53, 20, "Lat (cycles)" },
	{ 68, 15, "<─" }, { 68, 16, "─>" }, { 68, 17, "─>" },
	{ 86,  9, "xGMI/PCIe" }, { 86, 10, "GMI" }, { 88, 12, "^     v" },
	{ 86, 14, "Lat (cycles)" },
	{ 86, 19, "^" }, { 86, 20, "v" }, { 86, 22, "    HBM" },
};
/* clang-format on */

static void put(struct rpt_braille *canvas, unsigned x, unsigned y, const char *text, int colour)
{
	rpt_braille_text(canvas, x, N_ROWS - 1 - y, text, colour);
}

static void draw_box(struct rpt_braille *canvas, const struct box *box)
{
	unsigned right = box->x + box->w - 1, bottom = box->y + box->h - 1;

	for (unsigned x = box->x + 1; x < right; x++) {
		put(canvas, x, box->y, "─", PLAIN);
		put(canvas, x, bottom, "─", PLAIN);
	}
	for (unsigned y = box->y + 1; y < bottom; y++) {
		put(canvas, box->x, y, "│", PLAIN);
		put(canvas, right, y, "│", PLAIN);
	}
	put(canvas, box->x, box->y, "┌", PLAIN);
	put(canvas, right, box->y, "┐", PLAIN);
	put(canvas, box->x, bottom, "└", PLAIN);
	put(canvas, right, bottom, "┘", PLAIN);
	if (box->title[0]) {
		char title[32];

		snprintf(title, sizeof(title), " %s ", box->title);
		put(canvas, box->x + 2, box->y, title, PLAIN);
	}
}

static void draw_cell(struct rpt_braille *canvas, const struct cell *cell, double value)
{
	char text[RPT_NUMBER_ROOM + 32], number[RPT_NUMBER_ROOM];

	rpt_number_short(number, value, (int)cell->width);
	snprintf(text, sizeof(text), "%-*s %*s%s%s", (int)cell->key_width, cell->key,
		 (int)cell->width, number, cell->unit[0] ? " " : "",
		 isnan(value) ? "" : cell->unit);
	put(canvas, cell->x, cell->y, text, cell->colour);
}

enum ws_status rpt_memchart_narrow(const struct ana_memchart *chart,
				   const struct rpt_memchart_style *style, struct ws_buf *out,
				   struct ws_err *err)
{
	struct rpt_braille canvas;
	char text[64];
	enum ws_status st;

	st = rpt_braille_init(&canvas, RPT_MEMCHART_NARROW_COLUMNS, N_ROWS, err);
	if (st)
		return st;
	for (size_t i = 0; i < WS_ARRAY_LEN(boxes); i++)
		draw_box(&canvas, &boxes[i]);
	for (size_t i = 0; i < WS_ARRAY_LEN(labels); i++)
		put(&canvas, labels[i].x, labels[i].y, labels[i].text, PLAIN);
	snprintf(text, sizeof(text), "(Normalization: %s)", chart->normal_unit);
	put(&canvas, 0, 0, text, PLAIN);
	for (size_t i = 0; i < WS_ARRAY_LEN(cells); i++)
		draw_cell(&canvas, &cells[i],
			  rpt_round_half_even(chart->value[cells[i].metric], style->n_decimals));
	rpt_braille_print(&canvas, RPT_BRAILLE_BLANK_SPACES, style->colours, out);
	rpt_braille_fini(&canvas);
	return ws_buf_status(out, err);
}
