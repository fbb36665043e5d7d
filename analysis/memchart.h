/*
 * memchart: the values of the memory chart, which is table 3.1 seen as a picture.
 *
 * The chart has one value per metric of the table; which of them are drawn where is
 * the report's business. A value that could not be computed is NaN, and is drawn as
 * N/A: it is not 0.
 *
 * Memory   in place; the unit's name is borrowed.
 */
#ifndef WS_ANALYSIS_MEMCHART_H
#define WS_ANALYSIS_MEMCHART_H

#include <stdbool.h>
#include <stddef.h>

/* In the order of table 3.1, so that 3.1.N is row N. */
/* clang-format off */
#define ANA_MEMCHART_TABLE(X)                               \
	X(WAVE_OCCUPANCY,     "Wavefront Occupancy")       \
	X(WAVE_LIFE,          "Wave Life")                 \
	X(SALU,               "SALU")                      \
	X(SMEM,               "SMEM")                      \
	X(VALU,               "VALU")                      \
	X(MFMA,               "MFMA")                      \
	X(VMEM,               "VMEM")                      \
	X(LDS,                "LDS")                       \
	X(GWS,                "GWS")                       \
	X(BR,                 "BR")                        \
	X(ACTIVE_CUS,         "Active CUs")                \
	X(NUM_CUS,            "Num CUs")                   \
	X(VGPR,               "VGPR")                      \
	X(SGPR,               "SGPR")                      \
	X(LDS_ALLOC,          "LDS Allocation")            \
	X(SCRATCH_ALLOC,      "Scratch Allocation")        \
	X(WAVEFRONTS,         "Wavefronts")                \
	X(WORKGROUPS,         "Workgroups")                \
	X(LDS_REQ,            "LDS Req")                   \
	X(LDS_UTIL,           "LDS Util")                  \
	X(LDS_LAT,            "LDS Latency")               \
	X(VL1_RD,             "VL1 Rd")                    \
	X(VL1_WR,             "VL1 Wr")                    \
	X(VL1_ATOMIC,         "VL1 Atomic")                \
	X(VL1_HIT,            "VL1 Hit")                   \
	X(VL1_LAT,            "VL1 Lat")                   \
	X(VL1_COALESCE,       "VL1 Coalesce")              \
	X(VL1_STALL,          "VL1 Stall")                 \
	X(VL1_L2_RD,          "VL1_L2 Rd")                 \
	X(VL1_L2_WR,          "VL1_L2 Wr")                 \
	X(VL1_L2_ATOMIC,      "VL1_L2 Atomic")             \
	X(SL1D_RD,            "sL1D Rd")                   \
	X(SL1D_HIT,           "sL1D Hit")                  \
	X(SL1D_LAT,           "sL1D Lat")                  \
	X(SL1D_L2_RD,         "sL1D_L2 Rd")                \
	X(SL1D_L2_WR,         "sL1D_L2 Wr")                \
	X(SL1D_L2_ATOMIC,     "sL1D_L2 Atomic")            \
	X(IL1_FETCH,          "IL1 Fetch")                 \
	X(IL1_HIT,            "IL1 Hit")                   \
	X(IL1_LAT,            "IL1 Lat")                   \
	X(IL1_L2_RD,          "IL1_L2 Rd")                 \
	X(L2_RD,              "L2 Rd")                     \
	X(L2_WR,              "L2 Wr")                     \
	X(L2_ATOMIC,          "L2 Atomic")                 \
	X(L2_HIT,             "L2 Hit")                    \
	X(L2_RD_LAT,          "L2 Rd Lat")                 \
	X(L2_WR_LAT,          "L2 Wr Lat")                 \
	X(FABRIC_L2_RD,       "Fabric_L2 Rd")              \
	X(FABRIC_L2_WR,       "Fabric_L2 Wr")              \
	X(FABRIC_L2_ATOMIC,   "Fabric_L2 Atomic")          \
	X(FABRIC_RD_LAT,      "Fabric Rd Lat")             \
	X(FABRIC_WR_LAT,      "Fabric Wr Lat")             \
	X(FABRIC_ATOMIC_LAT,  "Fabric Atomic Lat")         \
	X(HBM_RD,             "HBM Rd")                    \
	X(HBM_WR,             "HBM Wr")
/* clang-format on */

enum ana_memchart_id {
#define ANA_MEMCHART_ROW(id, name) ANA_MC_##id,
	ANA_MEMCHART_TABLE(ANA_MEMCHART_ROW)
#undef ANA_MEMCHART_ROW
		ANA_MC_COUNT
};

struct ana_memchart {
	double value[ANA_MC_COUNT]; /* NaN: no value */
	const char *normal_unit;    /* "per_kernel"; lives as long as the caller says */
};

void ana_memchart_init(struct ana_memchart *chart, const char *normal_unit); /* all NaN */

/* Set the value of the metric called @name; false when the chart has no such metric. */
bool ana_memchart_set(struct ana_memchart *chart, const char *name, double value);

const char *ana_memchart_name(enum ana_memchart_id id);

#endif
