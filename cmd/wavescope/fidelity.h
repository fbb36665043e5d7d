/* fidelity: what its files share. */
#ifndef WS_CMD_WAVESCOPE_FIDELITY_H
#define WS_CMD_WAVESCOPE_FIDELITY_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>

#define WAVESCOPE_FIDELITY_DISPATCHES 3
#define WAVESCOPE_FIDELITY_NEAR 0.3 /* modelled values within this are counted as near */

/* A counter of a dispatch: what it has to be, if that is known, and what it was. */
struct wavescope_fidelity_row {
	unsigned chip;                        /* in the order in which they were run */
	struct ws_str kernel, counter, class; /* live as long as what the kernels printed */
	unsigned dispatch;
	bool exact, has_expected;
	double expected, value;
};

WS_VEC_TYPE(wavescope_fidelity_rows, struct wavescope_fidelity_row);

/* Of the expected value; 0 is equal, INFINITY: something where nothing should be. */
double wavescope_fidelity_error(const struct wavescope_fidelity_row *row);

/* The tables of docs/fidelity.md. */
void wavescope_fidelity_markdown(struct wavescope_fidelity_rows *rows, const char *const *chips,
				 unsigned n_chips);

/* The raw recordings of one chip: CSV files whose columns are counters, one row per dispatch. */
struct wavescope_recording {
	struct ws_buf text[8]; /* the files; columns are looked up in them */
	unsigned n;
};

/* dir/MI200, dir/MI100: reads what is there; none at all is an error. */
enum ws_status wavescope_recording_read(struct wavescope_recording *rec, const char *dir,
					const char *chip, struct ws_err *err);
void wavescope_recording_fini(struct wavescope_recording *rec);
/* False: it was not recorded. */
bool wavescope_recording_find(const struct wavescope_recording *rec, struct ws_str counter,
			      unsigned dispatch, double *out);

#endif
