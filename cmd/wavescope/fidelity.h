/* fidelity: what its two files share. */
#ifndef WS_CMD_WAVESCOPE_FIDELITY_H
#define WS_CMD_WAVESCOPE_FIDELITY_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>

#define WS_FIDELITY_DISPATCHES 3

/* The raw recordings of one chip: CSV files whose columns are counters, one row per dispatch. */
struct ws_recording {
	struct ws_buf text[8]; /* the files; columns are looked up in them */
	unsigned n;
};

/* dir/MI200, dir/MI100: reads what is there; none at all is an error. */
enum ws_status ws_recording_read(struct ws_recording *rec, const char *dir, const char *chip,
				 struct ws_err *err);
void ws_recording_fini(struct ws_recording *rec);
/* False: it was not recorded. */
bool ws_recording_find(const struct ws_recording *rec, struct ws_str counter, unsigned dispatch,
		       double *out);

#endif
