#include "workload/peaks.h"

#include "base/file.h"
#include "workload/csv.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* A file of a hundred devices is 100 KB; anything much larger is something else. */
#define BYTES_MAX (4u << 20)

/* In GB/s and GFLOP/s: what is outside is damage, not a GPU. */
#define PEAK_MIN 1e-3
#define PEAK_MAX 1e12

static enum ws_status keep(const char *name, const struct wl_csv *csv, struct ws_arena *arena,
			   struct wl_peaks *out_peaks, struct ws_err *err)
{
	struct wl_peaks peaks = { .n_columns = csv->n_columns, .n_devices = csv->n_rows };

	if (!csv->n_columns || strcmp(csv->columns[0].name, "device"))
		return ws_fail(
			err, WS_E_FORMAT,
			"%s: the first column is '%.40s', not 'device': this is not a roofline.csv",
			name, csv->n_columns ? csv->columns[0].name : "");
	if (csv->n_rows_bad)
		return ws_fail(err, WS_E_FORMAT,
			       "%s:%zu: wrong number of cells: the file is truncated; measure "
			       "again with 'rocprof-compute profile --roof-only'",
			       name, csv->first_bad);
	if (!csv->n_rows)
		return ws_fail(err, WS_E_FORMAT,
			       "%s has no row below its header: measure again with "
			       "'rocprof-compute profile --roof-only'",
			       name);
	peaks.columns = ws_arena_array(arena, csv->n_columns, sizeof(*peaks.columns));
	peaks.values = ws_arena_array(arena, csv->n_columns, sizeof(*peaks.values));
	if (!peaks.columns || !peaks.values)
		return ws_fail(err, WS_E_NOMEM, "no memory for %s", name);
	for (size_t i = 0; i < csv->n_columns; i++) {
		if (csv->columns[i].is_text)
			return ws_fail(err, WS_E_FORMAT,
				       "%s: a cell of column '%.40s' is not a number", name,
				       csv->columns[i].name);
		peaks.columns[i] = csv->columns[i].name;
		peaks.values[i] = csv->columns[i].at[0];
	}
	*out_peaks = peaks;
	return WS_OK;
}

enum ws_status wl_peaks_parse(const char *name, struct ws_str text, struct ws_arena *arena,
			      struct wl_peaks *out_peaks, struct ws_err *err)
{
	struct wl_csv csv = { 0 };
	enum ws_status st = wl_csv_parse(text.at, text.n, NULL, arena, &csv, err);

	if (st)
		return ws_fail_in(err, st, "%s", name);
	st = keep(name, &csv, arena, out_peaks, err);
	wl_csv_fini(&csv);
	return st;
}

enum ws_status wl_peaks_read(const char *path, struct ws_arena *arena, struct wl_peaks *out_peaks,
			     struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	if (access(path, F_OK))
		return ws_fail(err, WS_E_NOTFOUND,
			       "no %s: 'rocprof-compute profile' without "
			       "--no-roof measures it",
			       path);
	ws_buf_init(&text, BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = wl_peaks_parse(path, ws_buf_view(&text), arena, out_peaks, err);
	ws_buf_fini(&text);
	return st;
}

double wl_peaks_value(const struct wl_peaks *peaks, const char *column)
{
	for (size_t i = 0; column[0] && i < peaks->n_columns; i++)
		if (!strcmp(peaks->columns[i], column))
			return peaks->values[i] >= PEAK_MIN && peaks->values[i] <= PEAK_MAX
				       ? peaks->values[i]
				       : NAN;
	return NAN;
}
