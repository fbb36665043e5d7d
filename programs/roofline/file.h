/*
 * file: roofline.csv, as rocprof-compute reads it: a row per GPU, three columns per peak.
 *
 * Two generations of the file are about. The current one has a column for everything that is
 * measured, 0 for what a GPU cannot do; the first one has eleven peaks, two of whose names are
 * misspelt, and readers of that time know them so.
 */
#ifndef WS_ROOFLINE_FILE_H
#define WS_ROOFLINE_FILE_H

#include "base/error.h"
#include "base/str.h"
#include "programs/roofline/bench.h"
#include "programs/roofline/peak.h"

#include <stdint.h>

enum roof_layout { ROOF_CURRENT, ROOF_FIRST };
extern const char *const roof_layouts[]; /* "current", "first", NULL */

struct roof_row {
	uint32_t device;
	struct roof_peak peaks[ROOF_BENCHES]; /* in the order of roof_benches */
};

void roof_file_text(enum roof_layout layout, const struct roof_row *rows, uint32_t n,
		    struct ws_buf *out);

/* The file appears whole, or not at all. */
enum ws_status roof_file_write(const char *path, enum roof_layout layout,
			       const struct roof_row *rows, uint32_t n, struct ws_err *err);

#endif
