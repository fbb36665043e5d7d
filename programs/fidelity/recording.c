/* Recordings of rocprof-compute's 'profile' as it leaves them: pmc_perf.csv and friends. */
#include "programs/fidelity/compare.h"

#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const files[] = { "pmc_perf.csv",           "SQ_IFETCH_LEVEL.csv",
				     "SQ_INST_LEVEL_SMEM.csv", "SQ_INST_LEVEL_VMEM.csv",
				     "SQ_LEVEL_WAVES.csv",     "SQ_INST_LEVEL_LDS.csv",
				     "timestamps.csv" };

static bool read_whole(const char *path, struct ws_buf *out)
{
	FILE *f = fopen(path, "re");
	char piece[4096];
	size_t n;

	if (!f)
		return false;
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		ws_buf_add_n(out, piece, n);
	fclose(f);
	return ws_buf_status(out, NULL) == WS_OK;
}

enum ws_status fid_recording_read(struct fid_recording *rec, const char *dir, const char *chip,
				  struct ws_err *err)
{
	char path[PATH_MAX];
	bool any = false;

	rec->n = sizeof(files) / sizeof(files[0]);
	for (unsigned k = 0; k < rec->n; k++) {
		ws_buf_init(&rec->text[k], 16u << 20);
		snprintf(path, sizeof(path), "%s/%s/%s", dir, chip, files[k]);
		any |= read_whole(path, &rec->text[k]);
	}
	if (any)
		return WS_OK;
	fid_recording_fini(rec);
	return ws_fail(err, WS_E_NOTFOUND, "no recordings in '%s/%s': pmc_perf.csv was not found",
		       dir, chip);
}

void fid_recording_fini(struct fid_recording *rec)
{
	for (unsigned k = 0; k < rec->n; k++)
		ws_buf_fini(&rec->text[k]);
	rec->n = 0;
}

/* The next field of a line; fields in quotes hold commas. False: there is none. */
static bool next_field(struct ws_str *rest, struct ws_str *out)
{
	bool quoted = false;
	size_t at = 0;

	if (!rest->at)
		return false;
	while (at < rest->n && (quoted || rest->at[at] != ','))
		quoted ^= rest->at[at++] == '"';
	*out = ws_str_trim((struct ws_str){ rest->at, at });
	if (at == rest->n)
		*rest = (struct ws_str){ 0 };
	else
		*rest = (struct ws_str){ rest->at + at + 1, rest->n - at - 1 };
	return true;
}

static bool line_of(const struct ws_buf *text, unsigned n, struct ws_str *out)
{
	struct ws_str rest = ws_buf_view(text);

	do
		if (!ws_str_next(&rest, '\n', out))
			return false;
	while (n--);
	return out->n != 0;
}

static bool column(const struct ws_buf *text, struct ws_str name, unsigned dispatch, double *out)
{
	struct ws_str head, line, title, cell;

	if (!line_of(text, 0, &head) || !line_of(text, dispatch + 1, &line))
		return false;
	while (next_field(&head, &title) && next_field(&line, &cell))
		if (fid_is_counter(title, name))
			return ws_str_f64(cell, out);
	return false;
}

bool fid_recording_find(const struct fid_recording *rec, struct ws_str counter, unsigned dispatch,
			double *out)
{
	double start, end;

	if (ws_str_is(counter, "duration_ns")) {
		const struct ws_buf *times = &rec->text[rec->n - 1];

		if (!column(times, WS_STR("Start_Timestamp"), dispatch, &start) ||
		    !column(times, WS_STR("End_Timestamp"), dispatch, &end))
			return false;
		*out = end - start;
		return end > start; /* some were written with too few digits */
	}
	if (ws_str_ends(counter, "_ACCUM")) { /* in the file of its level counter */
		for (unsigned k = 1; k < rec->n - 1; k++) {
			struct ws_str name = ws_str_from(files[k]);

			if (name.n - 4 == counter.n - 6 &&
			    !memcmp(name.at, counter.at, counter.n - 6))
				return column(&rec->text[k], WS_STR("SQ_ACCUM_PREV_HIRES"),
					      dispatch, out);
		}
		return false;
	}
	for (unsigned k = 0; k < rec->n; k++)
		if (column(&rec->text[k], counter, dispatch, out))
			return true;
	return false;
}

bool fid_recording_range(const struct fid_recording *rec, struct ws_str counter, unsigned dispatch,
			 double *out_low, double *out_high)
{
	double value;

	if (!fid_recording_find(rec, counter, dispatch, &value))
		return false;
	*out_low = *out_high = value;
	for (unsigned k = 0; k < rec->n; k++)
		if (column(&rec->text[k], counter, dispatch, &value)) {
			*out_low = value < *out_low ? value : *out_low;
			*out_high = value > *out_high ? value : *out_high;
		}
	return true;
}
