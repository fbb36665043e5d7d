/* The memory chart in 234 x 42 characters, to the character as AMD's tool draws it. */
#include "report/braille.h"
#include "report/memchart.h"
#include "report/number.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDE_ROWS 42u
#define YELLOW 3

/*
 * A value with its key. With whole numbers the width is a minimum and longer ones run on to
 * the right; FLOAT cells show the number as Python does, "8.0".
 */
enum form { WHOLE, FLOAT };

struct cell {
	double x, y;
	const char *key; /* NULL: the value alone */
	enum ana_memchart_id metric;
	int width; /* negative: to the left */
	enum form form;
	const char *unit; /* only after a number */
	int colour;
};

#define PLAIN RPT_BRAILLE_PLAIN

/* clang-format off */
static const struct cell cells[] = {
	{  12, 16,   NULL,       ANA_MC_WAVE_OCCUPANCY,     3, WHOLE, "",        YELLOW },
	{  10, 14,   NULL,       ANA_MC_WAVE_LIFE,          5, WHOLE, "",        YELLOW },
	{  41, 35,   "SALU",     ANA_MC_SALU,              -4, WHOLE, "",        PLAIN },
	{  41, 32,   "SMEM",     ANA_MC_SMEM,              -4, WHOLE, "",        PLAIN },
	{  41, 29,   "VALU",     ANA_MC_VALU,              -4, WHOLE, "",        PLAIN },
	{  41, 26,   "MFMA",     ANA_MC_MFMA,              -4, WHOLE, "",        PLAIN },
	{  41, 23,   "VMEM",     ANA_MC_VMEM,              -4, WHOLE, "",        PLAIN },
	{  41, 20,   "LDS",      ANA_MC_LDS,               -4, WHOLE, "",        PLAIN },
	{  41, 17,   "GWS",      ANA_MC_GWS,               -4, WHOLE, "",        PLAIN },
	{  41, 14,   "BRANCH",   ANA_MC_BR,                -4, WHOLE, "",        PLAIN },
	{  62, 30,   "RVGPRseq", ANA_MC_VGPR,               5, FLOAT, "",        PLAIN },
	{  62, 27,   "SGPRs",    ANA_MC_SGPR,               5, WHOLE, "",        PLAIN },
	{  62, 22,   NULL,       ANA_MC_LDS_ALLOC,         13, WHOLE, "",        PLAIN },
	{  62, 18,   NULL,       ANA_MC_SCRATCH_ALLOC,     13, WHOLE, "",        PLAIN },
	{  62, 13,   NULL,       ANA_MC_WAVEFRONTS,        13, WHOLE, "",        PLAIN },
	{  62,  9,   NULL,       ANA_MC_WORKGROUPS,        13, WHOLE, "",        PLAIN },
	{  81, 34,   "Req",      ANA_MC_LDS_REQ,            4, WHOLE, "",        PLAIN },
	{  81, 26,   "Rd",       ANA_MC_VL1_RD,             4, WHOLE, "",        PLAIN },
	{  81, 24,   "Wt",       ANA_MC_VL1_WR,             4, WHOLE, "",        PLAIN },
	{  81, 22,   "Atomic",   ANA_MC_VL1_ATOMIC,         4, WHOLE, "",        PLAIN },
	{  81, 14,   "Rd",       ANA_MC_SL1D_RD,            4, WHOLE, "",        PLAIN },
	{  41.5, 6,  "Fetch",    ANA_MC_IL1_FETCH,          4, WHOLE, "",        PLAIN },
	{  97, 34,   "Util",     ANA_MC_LDS_UTIL,           6, WHOLE, " %",      PLAIN },
	{  97, 32,   "Lat",      ANA_MC_LDS_LAT,            6, WHOLE, " cycles", PLAIN },
	{  97, 26,   "Hit",      ANA_MC_VL1_HIT,            6, WHOLE, " %",      PLAIN },
	{  97, 24,   "Lat",      ANA_MC_VL1_LAT,            6, WHOLE, " cycles", PLAIN },
	{  97, 22,   "Coales",   ANA_MC_VL1_COALESCE,       6, WHOLE, " %",      PLAIN },
	{  97, 20,   "Stall",    ANA_MC_VL1_STALL,          6, WHOLE, " cycles", PLAIN },
	{  97, 14,   "Hit",      ANA_MC_SL1D_HIT,           6, FLOAT, " %",      PLAIN },
	{  97, 12,   "Lat",      ANA_MC_SL1D_LAT,           6, FLOAT, " cycles", PLAIN },
	{  97,  6,   "Hit",      ANA_MC_IL1_HIT,            6, WHOLE, " %",      PLAIN },
	{  97,  4,   "Lat",      ANA_MC_IL1_LAT,            6, FLOAT, " cycles", PLAIN },
	{ 123, 26,   "Rd",       ANA_MC_VL1_L2_RD,          4, WHOLE, "",        PLAIN },
	{ 123, 24,   "Wr",       ANA_MC_VL1_L2_WR,          4, WHOLE, "",        PLAIN },
	{ 123, 22,   "Atomic",   ANA_MC_VL1_L2_ATOMIC,      4, WHOLE, "",        PLAIN },
	{ 123, 16,   "Rd",       ANA_MC_SL1D_L2_RD,         4, WHOLE, "",        PLAIN },
	{ 123, 14,   "Wr",       ANA_MC_SL1D_L2_WR,         4, WHOLE, "",        PLAIN },
	{ 123, 12,   "Atomic",   ANA_MC_SL1D_L2_ATOMIC,     4, WHOLE, "",        PLAIN },
	{ 123,  6,   "Req",      ANA_MC_IL1_L2_RD,          4, WHOLE, "",        PLAIN },
	{ 142, 32,   "Hit",      ANA_MC_L2_HIT,             6, WHOLE, " %",      PLAIN },
	{ 142, 26,   "Rd",       ANA_MC_L2_RD,              6, WHOLE, "",        PLAIN },
	{ 142, 24,   "Wr",       ANA_MC_L2_WR,              6, WHOLE, "",        PLAIN },
	{ 142, 22,   "Atomic",   ANA_MC_L2_ATOMIC,          6, WHOLE, "",        PLAIN },
	{ 142, 14,   "Rd",       ANA_MC_L2_RD_LAT,          6, WHOLE, "",        PLAIN },
	{ 142, 12,   "Wr",       ANA_MC_L2_WR_LAT,          6, WHOLE, "",        PLAIN },
	{ 166, 24,   "Rd",       ANA_MC_FABRIC_L2_RD,       4, WHOLE, "",        PLAIN },
	{ 166, 22,   "Wr",       ANA_MC_FABRIC_L2_WR,       4, WHOLE, "",        PLAIN },
	{ 166, 20,   "Atomic",   ANA_MC_FABRIC_L2_ATOMIC,   4, WHOLE, "",        PLAIN },
	{ 185, 21.5, "Rd",       ANA_MC_FABRIC_RD_LAT,      6, WHOLE, "",        PLAIN },
	{ 185, 20.5, "Wr",       ANA_MC_FABRIC_WR_LAT,      6, WHOLE, "",        PLAIN },
	{ 185, 19.5, "Atomic",   ANA_MC_FABRIC_ATOMIC_LAT,  6, WHOLE, "",        PLAIN },
	{ 209, 23,   "Rd",       ANA_MC_HBM_RD,             4, WHOLE, "",        PLAIN },
	{ 209, 21,   "Wr",       ANA_MC_HBM_WR,             4, WHOLE, "",        PLAIN },
};

/* Metrics that AMD's 3.3.0 looks up under names that do not exist. */
static const enum ana_memchart_id lost_in_3_3_0[] = {
	ANA_MC_SL1D_RD, ANA_MC_SL1D_L2_RD, ANA_MC_SL1D_L2_WR, ANA_MC_SL1D_L2_ATOMIC,
};

struct label {
	double x, y;
	const char *text;
};

#define RIGHT_18 "------------------>"
#define LEFT_15  "<---------------"
#define RIGHT_15 "--------------->"
#define BOTH_14  "<-------------->"
#define DASHES_20 "--------------------"

static const struct label labels[] = {
	{   2, 37,   "Instr Buff" },          {   7, 33, "Wave   0 Instr Buf" },
	{   7, 29,   "Wave N-1 Instr Buf" },  {   9, 17, "Wave Occupancy" },
	{   9, 15,   "Wave Life" },           {  38, 37, "Instr Dispatch" },
	{  58, 37,   "Exec" },                {  60, 34, "Active CUs" },
	{  62, 23,   "LDS Alloc:" },          {  62, 19, "Scratch Alloc:" },
	{  62, 14,   "Wavefronts:" },         {  62, 10, "Workgroups:" },
	{  95, 37,   "LDS" },                 {  95, 29, "Vector L1 Cache" },
	{  95, 17,   "Scalar L1D Cache" },    {  95,  9, "Instr L1 Cache" },
	{ 138, 37,   "L2 Cache" },            { 140, 29, "Request" },
	{ 140, 17,   "Latency (cycles)" },    { 189, 34, "xGMI/PCIe" },
	{ 187, 25,   "   Fabric" },           { 183, 23, "Latency (cycles)" },
	{ 192,  9,   "GMI" },                 { 224, 22, "HBM" },
	/* wires */
	{  38, 34.5, RIGHT_18 }, {  38, 31.5, RIGHT_18 }, {  38, 28.5, RIGHT_18 },
	{  38, 25.5, RIGHT_18 }, {  38, 22.5, RIGHT_18 }, {  38, 19.5, RIGHT_18 },
	{  38, 16.5, RIGHT_18 }, {  38, 13.5, RIGHT_18 },
	{  79, 33,   LEFT_15 },  {  79, 25,   LEFT_15 },  {  79, 23,   RIGHT_15 },
	{  79, 21,   BOTH_14 },  {  79, 13,   LEFT_15 },
	{  14.5, 11, "^" }, { 14.5, 10, "|" }, { 14.5, 9, "|" }, { 14.5, 8, "|" },
	{  14.5, 7,  "|" }, { 14.5, 6,  "|" },
	{  14.5, 5,  DASHES_20 DASHES_20 DASHES_20 DASHES_20 },
	{ 121, 25,   LEFT_15 },  { 121, 23,   RIGHT_15 }, { 121, 21,   BOTH_14 },
	{ 121, 15,   LEFT_15 },  { 121, 13,   RIGHT_15 }, { 121, 11,   BOTH_14 },
	{ 121,  5,   LEFT_15 },
	{ 164, 23,   LEFT_15 },  { 164, 21,   RIGHT_15 }, { 164, 19,   RIGHT_15 },
	{ 191, 31,   "^   |" },  { 191, 30,   "|   |" },  { 191, 29,   "|   |" },
	{ 191, 28,   "|   v" },  { 191, 15,   "^   |" },  { 191, 14,   "|   |" },
	{ 191, 13,   "|   |" },  { 191, 12,   "|   v" },
	{ 207, 22,   "<-----------" }, { 207, 20, "----------->" },
};

struct box {
	double x0, y0, x1, y1;
};

static const struct box boxes[] = {
	{   0,  0,   233, 41 },   {   2, 12,    27, 35 },   {   3, 12.5,  28, 35.5 },
	{   4, 13,    29, 36 },   {   6, 32.5,  25, 34 },   {   6, 28.5,  25, 30 },
	{  58,  6,    78, 36 },   {  60, 29,    76, 31 },   {  60, 26,    76, 28 },
	{  60, 21,    76, 24 },   {  60, 17,    76, 20 },   {  60, 12,    76, 15 },
	{  60,  8,    76, 11 },   {  95, 31,   119, 36 },   {  95, 19,   119, 28 },
	{  95, 11,   119, 16 },   {  95,  3,   119,  8 },   { 138,  3,   162, 36 },
	{ 140, 31,   160, 33 },   { 140, 20,   160, 28.5 }, { 140, 11,   160, 16.5 },
	{ 188, 32,   198, 36 },   { 181, 16,   205, 27 },   { 183, 18,   203, 22.5 },
	{ 188,  7,   198, 11 },   { 220, 20,   230, 24 },
};

/* The funnel in front of the dispatch wires. */
static const struct box lines[] = {
	{ 32, 12, 32, 36 }, { 36, 13.5, 36, 34.5 }, { 32, 12, 36, 13.5 }, { 32, 36, 35.5, 34.5 },
};
/* clang-format on */

static double value_of(const struct ana_memchart *chart, const struct rpt_memchart_style *style,
		       enum ana_memchart_id id)
{
	for (size_t i = 0; style->as_3_3_0 && i < WS_ARRAY_LEN(lost_in_3_3_0); i++)
		if (lost_in_3_3_0[i] == id)
			return NAN;
	return rpt_round_half_even(chart->value[id], style->n_decimals);
}

static void format_value(char *text, size_t room, double value, int width, enum form form,
			 int n_decimals)
{
	char number[64];

	if (isnan(value)) {
		snprintf(text, room, "%*s", width, "N/A");
	} else if (form == FLOAT) {
		rpt_number_text(value, n_decimals, number);
		snprintf(text, room, "%*s", width, number);
	} else {
		snprintf(text, room, "%*.0f", width, value);
	}
}

static void draw_cell(struct rpt_braille *canvas, const struct cell *cell, double value,
		      int n_decimals)
{
	char text[RPT_NUMBER_ROOM + 32], number[RPT_NUMBER_ROOM];

	format_value(number, sizeof(number), value, cell->width, cell->form, n_decimals);
	snprintf(text, sizeof(text), "%s%s%s%s", cell->key ? cell->key : "", cell->key ? ": " : "",
		 number, isnan(value) ? "" : cell->unit);
	rpt_braille_text(canvas, cell->x, cell->y, text, cell->colour);
}

/*
 * Of the two numbers the active one stands where the others have their key. 3.3 takes a key
 * of 0 for none.
 */
static void draw_compute_units(struct rpt_braille *canvas, double active, double total,
			       bool as_3_3_0)
{
	char text[2 * RPT_NUMBER_ROOM + 4], active_text[RPT_NUMBER_ROOM],
		total_text[RPT_NUMBER_ROOM];

	format_value(active_text, sizeof(active_text), active, 3, WHOLE, 0);
	if (as_3_3_0 && (active == 0 || isnan(active)))
		snprintf(active_text, sizeof(active_text), "None");
	format_value(total_text, sizeof(total_text), total, -3, WHOLE, 0);
	snprintf(text, sizeof(text), "%s: %s", active_text, total_text);
	rpt_braille_text(canvas, 60, 33, text, YELLOW);
}

enum ws_status rpt_memchart_wide(const struct ana_memchart *chart,
				 const struct rpt_memchart_style *style, struct ws_buf *out,
				 struct ws_err *err)
{
	struct rpt_braille canvas;
	char text[64];
	enum ws_status st;

	st = rpt_braille_init(&canvas, RPT_MEMCHART_WIDE_COLUMNS, WIDE_ROWS, err);
	if (st)
		return st;
	for (size_t i = 0; i < WS_ARRAY_LEN(boxes); i++)
		rpt_braille_rect(&canvas, boxes[i].x0, boxes[i].y0, boxes[i].x1, boxes[i].y1,
				 PLAIN);
	for (size_t i = 0; i < WS_ARRAY_LEN(lines); i++)
		rpt_braille_line(&canvas, lines[i].x0, lines[i].y0, lines[i].x1, lines[i].y1,
				 PLAIN);
	snprintf(text, sizeof(text), "(Normalization: %s)", chart->normal_unit);
	rpt_braille_text(&canvas, 2, 39, text, PLAIN);
	for (size_t i = 0; i < WS_ARRAY_LEN(cells); i++)
		draw_cell(&canvas, &cells[i], value_of(chart, style, cells[i].metric),
			  style->n_decimals);
	draw_compute_units(&canvas, value_of(chart, style, ANA_MC_ACTIVE_CUS),
			   value_of(chart, style, ANA_MC_NUM_CUS), style->as_3_3_0);
	/* Last: where a value is too long, what its neighbour is called stays readable. */
	for (size_t i = 0; i < WS_ARRAY_LEN(labels); i++)
		rpt_braille_text(&canvas, labels[i].x, labels[i].y, labels[i].text, PLAIN);
	rpt_braille_print(&canvas, RPT_BRAILLE_BLANK_DOTS, style->colours, out);
	rpt_braille_fini(&canvas);
	return ws_buf_status(out, err);
}
