/*
 * csv: a CSV file as columns of numbers, read in one pass over a mapping.
 *
 * No cell is allocated. A column is an array of doubles whose pages come from the host as
 * zeroes, and zeroes are not written: counters that never counted take no memory. Pages
 * of the file are given back as they are consumed, so that reading costs little more
 * than the columns themselves.
 *
 * Cells that are empty, NA or nan are NaN. A column with other text in it is marked;
 * columns named in `texts` hold indices into the dictionary instead. Quotes and doubled
 * quotes are understood, also around line ends.
 *
 * A row with too few or too many cells is left out and counted: the file was cut off.
 */
#ifndef WS_WORKLOAD_CSV_H
#define WS_WORKLOAD_CSV_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Distinct texts, numbered in order of appearance. */
struct wl_dict {
	struct ws_arena *arena;
	struct ws_map index;
	const char **texts;
	size_t n, cap;
};

void wl_dict_init(struct wl_dict *dict, struct ws_arena *arena);
void wl_dict_fini(struct wl_dict *dict);
/* The number of @text; it is added when new. SIZE_MAX: no memory. */
size_t wl_dict_add(struct wl_dict *dict, struct ws_str text);

struct wl_csv_column {
	const char *name; /* renamed as docs/formats say: KernelName is Kernel_Name */
	double *at;       /* n_rows values; a text column holds numbers of the dictionary */
	bool is_text;     /* a cell was no number */
	bool is_dict;     /* its cells are numbers of the dictionary */
	bool is_int;      /* no cell had a point */
};

struct wl_csv {
	struct wl_csv_column *columns;
	size_t n_columns;
	size_t n_rows;
	size_t n_rows_bad;   /* left out: cells missing or left over */
	size_t first_bad;    /* its line in the file */
	size_t n_rows_holed; /* rows with at least one empty cell */
	size_t n_bytes;      /* of the file */
	void *values;        /* the mapping behind the columns */
	size_t values_bytes;
};

struct wl_csv_how {
	const char *const *texts; /* columns to put into @dict, NULL at the end */
	struct wl_dict *dict;
};

/* Names and headers come from @arena. On failure the text begins with the path. */
enum ws_status wl_csv_read(const char *path, const struct wl_csv_how *how, struct ws_arena *arena,
			   struct wl_csv *out_csv, struct ws_err *err);
/* The same from memory; @bytes is not kept. */
enum ws_status wl_csv_parse(const char *bytes, size_t n_bytes, const struct wl_csv_how *how,
			    struct ws_arena *arena, struct wl_csv *out_csv, struct ws_err *err);
void wl_csv_fini(struct wl_csv *csv); /* releases the columns; a zeroed one is fine */

const struct wl_csv_column *wl_csv_column(const struct wl_csv *csv, const char *name);

/* Pages of zeroes for @n doubles; NULL: no memory. Released by wl_doubles_free(). */
double *wl_doubles(size_t n);
void wl_doubles_free(double *at, size_t n);

/*
 * One record of a small CSV file (sysinfo.csv) as texts: row 0 is the header. From @arena.
 * False after the last record; *@at moves past it.
 */
bool wl_csv_record(const char **at, const char *end, struct ws_arena *arena,
		   const char ***out_cells, size_t *out_n);

#endif
