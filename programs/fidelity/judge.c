#include "programs/fidelity/judge.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

#define SMALL 0.01

/* What a counter is part of, where the time of the packet processor is in both. */
static const struct {
	const char *counter, *of;
} shares[] = {
	{ "SQ_CYCLES", "GRBM_COUNT" },
	{ "SPI_CSN_WINDOW_VALID", "GRBM_COUNT" },
	{ "CPC_CPC_STAT_BUSY", "GRBM_COUNT" },
	{ "CPC_CPC_TCIU_IDLE", "GRBM_COUNT" },
	{ "CPC_CPC_UTCL2IU_IDLE", "GRBM_COUNT" },
	{ "CPF_CPF_STAT_BUSY", "GRBM_COUNT" },
	{ "TCC_CYCLE", "GRBM_COUNT" },
	{ "TCC_BUSY", "TCC_CYCLE" },
};

/* What a unit did, by the first letters of its counters; the first that fits. */
static const struct {
	const char *prefix, *work;
} units[] = {
	{ "CPC_", "GRBM_COUNT" },
	{ "CPF_", "GRBM_COUNT" },
	{ "SPI_", "SPI_CSN_BUSY" },
	{ "SQC_ICACHE_", "SQC_ICACHE_REQ" },
	{ "SQC_DCACHE_", "SQC_DCACHE_REQ" },
	{ "SQ_", "SQ_BUSY_CU_CYCLES" },
	{ "TA_", "TA_TA_BUSY" },
	{ "TD_", "TD_TD_BUSY" },
	{ "TCP_", "TCP_GATE_EN2" },
	{ "TCC_", "TCC_BUSY" },
};

/* Recorded values that contradict others of the same recording, or are of that part only. */
#define DISPATCH(n) (1u << (n))
#define LATER (DISPATCH(1) | DISPATCH(2))
static const struct {
	const char *recording, *counter;
	unsigned dispatches;
	const char *why;
} exceptions[] = {
	{ "MI300X_A1", "CPC_ME1_DC0_SPI_BUSY", DISPATCH(0),
	  "longer than GRBM_SPI_BUSY, of which it is a part: this pass was disturbed" },
	{ "MI300X_A1", "SPI_RA_RES_STALL_CSN", DISPATCH(0),
	  "12 SIMDs are full at each stalled check, 27 to 32 in all other recordings" },
	{ "MI300X_A1", "SPI_RA_REQ_NO_ALLOC", DISPATCH(0),
	  "includes SPI_RA_RES_STALL_CSN of the same dispatch" },
	{ "MI350", "SQ_WAIT_INST_ANY", DISPATCH(0) | LATER,
	  "6 quad-cycles for each wave, but 40 in the first dispatch: others have 40 to 390 in "
	  "all" },
	{ "MI350", "SQC_TC_INST_REQ", DISPATCH(0) | LATER,
	  "this part requests 18 lines of code for each miss, an MI300X 4" },
	{ "MI350", "SQC_ICACHE_MISSES", LATER,
	  "its runtime invalidates the instruction caches before every dispatch" },
	{ "MI350", "SQC_ICACHE_MISSES_DUPLICATE", LATER,
	  "its runtime invalidates the instruction caches before every dispatch" },
};

const char *fid_share_of(const struct fid_chip *chip, struct ws_str counter)
{
	for (size_t k = 0; chip->window_varies && k < WS_ARRAY_LEN(shares); k++)
		if (ws_str_is(counter, shares[k].counter))
			return shares[k].of;
	return NULL;
}

const char *fid_exception(const struct fid_row *row)
{
	if (fid_chips[row->chip].other_part)
		return FID_OTHER_PART;
	for (size_t k = 0; k < WS_ARRAY_LEN(exceptions); k++)
		if (!strcmp(exceptions[k].recording, fid_chips[row->chip].recording) &&
		    exceptions[k].dispatches & DISPATCH(row->dispatch) &&
		    ws_str_is(row->counter, exceptions[k].counter) &&
		    ws_str_is(row->kernel, "vcopy"))
			return exceptions[k].why;
	return NULL;
}

/* What the same dispatch counted of it; 0: nothing. */
static double counted(struct fid_rows *rows, const struct fid_row *like, const char *counter)
{
	ws_vec_each(row, rows)
		if (row->chip == like->chip && row->dispatch == like->dispatch &&
		    ws_str_is(row->counter, counter) && ws_str_eq(row->kernel, like->kernel))
			return row->value;
	return 0;
}

static double distance(double value, double low, double high)
{
	return value < low ? low - value : value > high ? value - high : 0;
}

static bool is_near(double value, double low, double high)
{
	return distance(value, low, high) <= FID_NEAR * (value < low ? low : high);
}

static const char *unit_of(struct ws_str counter)
{
	for (size_t k = 0; k < WS_ARRAY_LEN(units); k++)
		if (ws_str_starts(counter, units[k].prefix))
			return units[k].work;
	return NULL;
}

enum fid_verdict fid_judge(struct fid_rows *rows, const struct fid_row *row)
{
	const char *of = fid_share_of(&fid_chips[row->chip], row->counter);
	const char *unit = unit_of(row->counter);
	double value = row->value;

	if (!of && is_near(value, row->expected, row->expected))
		return FID_WITHIN;
	if (of) {
		double whole = counted(rows, row, of);

		value = whole ? value / whole : INFINITY;
	}
	if (is_near(value, row->low, row->high))
		return of ? FID_SHARE : FID_SPREAD;
	if (!of && unit && distance(value, row->low, row->high) <= SMALL * counted(rows, row, unit))
		return FID_SMALL;
	return fid_exception(row) ? FID_EXCEPTED : FID_OUTSIDE;
}
