/*
 * peaks: roofline.csv, what a GPU was measured to reach.
 *
 * Bandwidths per memory level and peaks per data type, one row per device; the first one
 * counts, as in AMD's tool.
 *
 * Memory   in the arena that was given.
 * Failure  a file that is no roofline.csv, or has no row, is an error naming file and line.
 */
#ifndef WS_WORKLOAD_PEAKS_H
#define WS_WORKLOAD_PEAKS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stddef.h>

struct wl_peaks {
	const char **columns;
	double *values; /* of the first device; NaN: an empty cell */
	size_t n_columns, n_devices;
};

/* @name is for messages. */
enum ws_status wl_peaks_parse(const char *name, struct ws_str text, struct ws_arena *arena,
			      struct wl_peaks *out_peaks, struct ws_err *err);
/* WS_E_NOTFOUND when there is no such file. */
enum ws_status wl_peaks_read(const char *path, struct ws_arena *arena, struct wl_peaks *out_peaks,
			     struct ws_err *err);
/*
 * Of the first device; NaN: no such column, empty, or 0, which means unsupported. So is what
 * no GPU will reach (above 1e12 GB/s or GFLOP/s), or cannot be as slow as (below 1e-3).
 */
double wl_peaks_value(const struct wl_peaks *peaks, const char *column);

#endif
