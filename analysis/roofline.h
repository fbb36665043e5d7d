/*
 * roofline: what a GPU can do at most, and how near kernels come to it.
 *
 * Ceilings are measured (workload/peaks.h). Points are counted: operations and bytes per
 * dispatch, added up per kernel.
 *
 *	st = ana_roof_ceilings(peaks, ANA_ROOF_FP32, levels, &roofs, err);
 *	st = ana_roof_points(load, &sel, ANA_ROOF_BY_KERNEL, 10, &arena, &points, err);
 *
 * A quantity whose counters were not collected is NaN and gives no point; it is not 0.
 *
 * Memory   results live in the arena that was given; names are the workload's.
 */
#ifndef WS_ANALYSIS_ROOFLINE_H
#define WS_ANALYSIS_ROOFLINE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wl_peaks;
struct wl_workload;
struct ana_selection;

/* clang-format off */
#define ANA_ROOF_LEVEL_TABLE(X)  /* name, option word, column of roofline.csv */ \
	X(HBM, "HBM", "HBM",  "HBMBw")                                          \
	X(L2,  "L2",  "L2",   "L2Bw")                                           \
	X(L1,  "L1",  "vL1D", "L1Bw")                                           \
	X(LDS, "LDS", "LDS",  "LDSBw")

/* name; columns of the vector and the matrix peak, "" where the units have no such type */
#define ANA_ROOF_TYPE_TABLE(X)                                     \
	X(FP4,  "FP4",  "",          "MFMAF4Flops")               \
	X(FP6,  "FP6",  "",          "MFMAF6Flops")               \
	X(FP8,  "FP8",  "FP8Flops",  "MFMAF8Flops")               \
	X(FP16, "FP16", "FP16Flops", "MFMAF16Flops")              \
	X(BF16, "BF16", "BF16Flops", "MFMABF16Flops")             \
	X(FP32, "FP32", "FP32Flops", "MFMAF32Flops")              \
	X(FP64, "FP64", "FP64Flops", "MFMAF64Flops")              \
	X(I8,   "I8",   "I8Ops",     "MFMAI8Ops")                 \
	X(I32,  "I32",  "I32Ops",    "")                          \
	X(I64,  "I64",  "I64Ops",    "")
/* clang-format on */

enum ana_roof_level {
#define ANA_ROOF_ROW(id, name, word, column) ANA_ROOF_##id,
	ANA_ROOF_LEVEL_TABLE(ANA_ROOF_ROW)
#undef ANA_ROOF_ROW
		ANA_ROOF_LEVEL_COUNT
};

enum ana_roof_type {
#define ANA_ROOF_ROW(id, name, valu, matrix) ANA_ROOF_##id,
	ANA_ROOF_TYPE_TABLE(ANA_ROOF_ROW)
#undef ANA_ROOF_ROW
		ANA_ROOF_TYPE_COUNT
};

const char *ana_roof_level_name(enum ana_roof_level level);
const char *ana_roof_type_name(enum ana_roof_type type);
static inline bool ana_roof_type_is_int(enum ana_roof_type type)
{
	return type >= ANA_ROOF_I8;
}

/* By option word, in any case ("vL1D" and "L1" are one); false: no such word. */
bool ana_roof_level_find(const char *word, enum ana_roof_level *out_level);
bool ana_roof_type_find(const char *word, enum ana_roof_type *out_type);
/* Whether AMD's tool plots the type on this architecture; none on gfx908. */
bool ana_roof_type_on(enum ana_roof_type type, const char *arch);
bool ana_roof_arch_known(const char *arch);

/* The variable $<column>_empirical_peak; false: @name is none of those. @peaks may be NULL. */
bool ana_roof_variable(const struct wl_peaks *peaks, const char *name, double *out_value);

/* ---- ceilings of one data type ---- */

struct ana_roof_slope {
	enum ana_roof_level level;
	double gb_s;
	double x0, y0, x1, y1; /* from 0.01 operations per byte up to the highest roof */
};

struct ana_roof_top {
	double peak;   /* GFLOP/s, GOP/s; NaN: none */
	double x0, x1; /* from where the last slope meets it, to 1000 */
};

struct ana_roof_ceilings {
	enum ana_roof_type type;
	struct ana_roof_slope slopes[ANA_ROOF_LEVEL_COUNT];
	size_t n_slopes;
	struct ana_roof_top valu, matrix;
	double peak; /* the higher of the two */
};

#define ANA_ROOF_X_MIN 0.01
#define ANA_ROOF_X_MAX 1000.0

/* @levels is a set of 1 << level; 0: all. WS_E_NOTFOUND: the file lacks what is needed. */
enum ws_status ana_roof_ceilings(const struct wl_peaks *peaks, enum ana_roof_type type,
				 unsigned levels, struct ana_roof_ceilings *out_roofs,
				 struct ws_err *err);

/* ---- points ---- */

/* clang-format off */
#define ANA_ROOF_PART_TABLE(X)  /* where operations were done; the name is for hover texts */ \
	X(VALU_F16,   "VALU F16")   \
	X(VALU_F32,   "VALU F32")   \
	X(VALU_F64,   "VALU F64")   \
	X(MFMA_F16,   "MFMA F16")   \
	X(MFMA_BF16,  "MFMA BF16")  \
	X(MFMA_F32,   "MFMA F32")   \
	X(MFMA_F64,   "MFMA F64")   \
	X(MFMA_F8,    "MFMA F8")    \
	X(MFMA_F6F4,  "MFMA F6F4")  \
	X(VALU_INT32, "VALU INT32") \
	X(VALU_INT64, "VALU INT64") \
	X(MFMA_I8,    "MFMA I8")
/* clang-format on */

enum ana_roof_part {
#define ANA_ROOF_ROW(id, name) ANA_ROOF_PART_##id,
	ANA_ROOF_PART_TABLE(ANA_ROOF_ROW)
#undef ANA_ROOF_ROW
		ANA_ROOF_PART_COUNT
};
const char *ana_roof_part_name(enum ana_roof_part part);

enum ana_roof_by { ANA_ROOF_BY_KERNEL, ANA_ROOF_BY_DISPATCH };

struct ana_roof_point {
	uint32_t kernel; /* index into the workload's kernels */
	uint32_t row;    /* by dispatch: its row; else of the first one */
	size_t n;        /* dispatches in it */
	double sum_ns, mean_ns;
	double flops, iops; /* per dispatch */
	double parts[ANA_ROOF_PART_COUNT];
	double bytes[ANA_ROOF_LEVEL_COUNT];
};

struct ana_roof_points {
	struct ana_roof_point *at; /* by total time, descending; equal ones by name */
	size_t n;
	size_t n_left_out;         /* points beyond the limit */
	struct ana_roof_point all; /* the whole selection as one */
	const char *missing;       /* a counter of the FLOPs that was not collected, or NULL */
};

/* The counters that points are made from on @arch; how many. */
#define ANA_ROOF_COUNTERS_MAX 64
size_t ana_roof_counters(const char *arch, const char *out_names[ANA_ROOF_COUNTERS_MAX]);

/* @max_n: how many are kept. */
enum ws_status ana_roof_points(const struct wl_workload *load, const struct ana_selection *sel,
			       enum ana_roof_by by, size_t max_n, struct ws_arena *arena,
			       struct ana_roof_points *out_points, struct ws_err *err);

/* Operations of the kind that @type counts: all FLOPs, or all integer operations. */
double ana_roof_ops(const struct ana_roof_point *point, enum ana_roof_type type);
/* Operations per byte and per nanosecond; NaN when there is nothing to divide or to divide by. */
double ana_roof_intensity(const struct ana_roof_point *point, enum ana_roof_type type,
			  enum ana_roof_level level);
double ana_roof_rate(const struct ana_roof_point *point, enum ana_roof_type type);

/*
 * Where the slope of @level meets the higher roof, in operations per byte: kernels
 * left of it are bound by that memory, right of it by the units. NaN: no such slope.
 */
double ana_roof_ridge(const struct ana_roof_ceilings *roofs, enum ana_roof_level level);
/* The most that is possible at @intensity on that level. */
double ana_roof_bound(const struct ana_roof_ceilings *roofs, enum ana_roof_level level,
		      double intensity);

#endif
