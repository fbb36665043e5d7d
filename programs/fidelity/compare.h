/*
 * compare: the counters that the fidelity kernels report, next to the values they must have.
 *
 * The expected value of a kernel with known counters is printed by the program itself. That of
 * vcopy comes from a recording made on hardware: the built-in one, or the files of a profile.
 *
 * Threads  one.
 */
#ifndef WS_PROGRAMS_FIDELITY_COMPARE_H
#define WS_PROGRAMS_FIDELITY_COMPARE_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>

#define FID_DISPATCHES 3 /* of vcopy, in a recording */
#define FID_NEAR 0.3     /* a modelled value within this relative error counts as near */
#define FID_N_CHIPS 6

struct fid_chip {
	const char *gpu; /* the software GPU's model */
	const char *
		linked; /* two GPUs of that kind with a link between them; NULL: nothing is known of links */
	const char *recording; /* folder of the recordings that it is compared with */
	bool elsewhere;        /* Debian 12's runtime does not know it: only on request */
	bool other_part;       /* what was recorded has another shape and clock */
	bool window_varies; /* the packet processor's part of the recorded windows does, from pass to pass */
};
extern const struct fid_chip fid_chips[FID_N_CHIPS];

/* A counter of a dispatch: its expected value, if that is known, and the value counted. */
struct fid_row {
	unsigned chip;                        /* index into fid_chips */
	struct ws_str kernel, counter, class; /* borrowed from the program's output */
	unsigned dispatch;
	bool exact, has_expected;
	double expected, value;
	double low, high;     /* of all recorded values of this work; shares, see judge.h */
	struct ws_str reason; /* why it is not supported; then it has no value */
};

WS_VEC_TYPE(fid_rows, struct fid_row);

/* Is this the counter, in the name of a recording: NAME or NAME_sum, and TCC_EA0_ for TCC_EA_? */
bool fid_is_counter(struct ws_str recorded, struct ws_str counter);

/* Relative error; 0: equal; INFINITY: a value where 0 is expected. */
double fid_error(const struct fid_row *row);

/* The raw recordings of one chip: CSV files whose columns are counters, one row per dispatch. */
struct fid_recording {
	struct ws_buf text[8]; /* the files; columns are looked up in them */
	unsigned n;
};

/* Reads the files of dir/chip (chip: fid_chip.recording) that exist; none is WS_E_NOTFOUND. */
enum ws_status fid_recording_read(struct fid_recording *rec, const char *dir, const char *chip,
				  struct ws_err *err);
void fid_recording_fini(struct fid_recording *rec);
/* False: it was not recorded. */
bool fid_recording_find(const struct fid_recording *rec, struct ws_str counter, unsigned dispatch,
			double *out);
/* The same, of all passes that recorded it: the least and the greatest. */
bool fid_recording_range(const struct fid_recording *rec, struct ws_str counter, unsigned dispatch,
			 double *out_low, double *out_high);

/* Appends a row per line of @text, the program's output on @chip. @rec NULL: built-in values. */
enum ws_status fid_compare(unsigned chip, const struct fid_recording *rec, struct ws_str text,
			   struct fid_rows *rows, struct ws_err *err);

/* How a modelled value compares, see judge.h: the first that holds. */
enum fid_verdict {
	FID_WITHIN,
	FID_SHARE,
	FID_SPREAD,
	FID_SMALL,
	FID_EXCEPTED,
	FID_OUTSIDE,
	FID_N_VERDICTS
};

struct fid_tally {
	unsigned n_exact, n_exact_off, n_modelled;
	unsigned n_verdicts[FID_N_VERDICTS]; /* of modelled ones */
	unsigned n_unsupported;              /* recorded counters without a value */
};
struct fid_tally fid_tally(struct fid_rows *rows);

/* The rows of @chip as a table on stdout, then what is not supported or not compared, and why; @all: also those
 * without an expected value. */
void fid_print(unsigned chip, struct fid_rows *rows, bool all);

/* The tables of docs/fidelity.md on stdout. @chips: names by index, NULL: not run. */
void fid_markdown(struct fid_rows *rows, const char *const *chips, unsigned n_chips);

#endif
